// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "features/columns.h"
#include "features/ladder.h"
#include "games/go.h"

namespace hyoka::features {

template <int N>
class Describer<Go<N>> {
public:
    static std::span<const Column> columns();
    explicit Describer(const Go<N>& start);
    void play(const Go<N>& before, typename Go<N>::Move move);
    void describe(const Go<N>& game, std::uint64_t wanted, std::int16_t* row);

private:
    std::array<int, 2> placed_{};  // by player: stones at the start and those played since, captured or not
    LadderReader<N> ladders_;
};

extern template class Describer<Go<3>>;
extern template class Describer<Go<4>>;
extern template class Describer<Go<5>>;
extern template class Describer<Go<6>>;
extern template class Describer<Go<7>>;
extern template class Describer<Go<9>>;
extern template class Describer<Go<13>>;
extern template class Describer<Go<19>>;

}  // namespace hyoka::features
