// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/blokus_duo.h"
#include "features/chess.h"
#include "features/go.h"
#include "features/othello.h"
#include "features/shogi.h"

namespace hyoka::features {

/// A game without columns of its own. Defined after all that have some, so that none of them can be taken for one of
/// these.
template <class G>
class Describer {
public:
    static std::span<const Column> columns() { return {}; }
    explicit Describer(const G&) {}
    void play(const G&, typename G::Move) {}
    void describe(const G&, std::uint64_t, std::int16_t*) const {}
};

}  // namespace hyoka::features
