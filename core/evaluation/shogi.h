// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/linear.h"
#include "games/shogi.h"

namespace hyoka::evaluation {

/// Material by Sato 2010's table 1, pieces by where they stand from either king, mobility, and the kings' unsafety by
/// attackers and by defenders (Takeuchi 2010: king_attackers and king_defenders).
template <>
struct Terms<Shogi> {
    static const std::vector<Term>& all();
    static constexpr std::string_view unit = "centipawns";
    static constexpr double scale = 970;  // a logistic fit to 60,000 positions of floodgate games, quiet or not
    template <class Sink>
    static void count(const Shogi& game, Sink& sink);
};

extern template void Terms<Shogi>::count(const Shogi&, ScoreSink&);
extern template void Terms<Shogi>::count(const Shogi&, VectorSink&);

}  // namespace hyoka::evaluation
