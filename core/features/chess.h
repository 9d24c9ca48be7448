// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/columns.h"
#include "games/chess.h"

namespace hyoka::features {

template <>
class Describer<Chess> {
public:
    static std::span<const Column> columns();
    explicit Describer(const Chess&) {}
    void play(const Chess&, Chess::Move) {}
    void describe(const Chess& game, std::uint64_t wanted, std::int16_t* row) const;
};

}  // namespace hyoka::features
