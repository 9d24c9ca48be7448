// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/linear.h"
#include "games/othello.h"

namespace hyoka::evaluation {

/// Mobility, corners and what is near them, stable edges, parity and discs. The default weights are rounded from a
/// least-squares fit to the final margins of 20,000 positions of WTHOR games of 2015.
template <>
struct Terms<Othello> {
    static const std::vector<Term>& all();
    static constexpr std::string_view unit = "points";
    static constexpr double scale = 10;  // a logistic fit to 20,000 positions of WTHOR games of 2015
    template <class Sink>
    static void count(const Othello& game, Sink& sink);
};

extern template void Terms<Othello>::count(const Othello&, ScoreSink&);
extern template void Terms<Othello>::count(const Othello&, VectorSink&);

}  // namespace hyoka::evaluation
