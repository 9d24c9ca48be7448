// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/linear.h"
#include "games/chess.h"

namespace hyoka::evaluation {

/// Material, piece squares, activity, king safety and pawns. The bishop evaluation that Takeuchi 2010 takes away and
/// fits anew is the terms bishop_mobility, bishop_development and bishop_pair.
template <>
struct Terms<Chess> {
    static const std::vector<Term>& all();
    static constexpr std::string_view unit = "centipawns";
    static constexpr double scale = 280;  // a logistic fit to 150,000 positions of TWIC games, draws as half
    template <class Sink>
    static void count(const Chess& game, Sink& sink);
};

extern template void Terms<Chess>::count(const Chess&, ScoreSink&);
extern template void Terms<Chess>::count(const Chess&, VectorSink&);

}  // namespace hyoka::evaluation
