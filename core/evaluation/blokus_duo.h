// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/linear.h"
#include "games/blokus_duo.h"

namespace hyoka::evaluation {

/// By default Nakamura 2007's evaluation in the reading that plays best (docs/results/003-readings.md): the difference
/// of the players' influence by Bouzy's 4/0 algorithm from all squares that a next piece could cover, kept out of
/// occupied squares. Other readings of the paper are terms of their own, named for what differs, with weight 0.
template <>
struct Terms<BlokusDuo> {
    static const std::vector<Term>& all();
    static constexpr std::string_view unit = "points";
    static constexpr double scale = 690;  // fitted beside 200 games of UCT: docs/results/003-readings.md
    template <class Sink>
    static void count(const BlokusDuo& game, Sink& sink);
};

extern template void Terms<BlokusDuo>::count(const BlokusDuo&, ScoreSink&);
extern template void Terms<BlokusDuo>::count(const BlokusDuo&, VectorSink&);

/// The squares that some piece of the player's could cover next, were it to move.
blokus::SquareSet coverable(const BlokusDuo& game, Player player);

}  // namespace hyoka::evaluation
