// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/shogi.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// The features of Sato 2010. Where its table 3 gives a range, the sub-features are spread over it: the worst change of
/// a piece's place has the lowest value, the best one the highest. The piece values by place are a rough set of our
/// own: golds and silvers like to be near their king, all pieces near the enemy's.
template <>
struct MoveFeatures<Shogi> {
    static const std::vector<Feature>& all();
    template <class Sink>
    static void visit(const Shogi& game, const Context<Shogi>& context, std::span<const Shogi::Move> moves, Sink sink);
};

extern template void MoveFeatures<Shogi>::visit(const Shogi&, const Context<Shogi>&, std::span<const Shogi::Move>,
                                                StrengthSink);
extern template void MoveFeatures<Shogi>::visit(const Shogi&, const Context<Shogi>&, std::span<const Shogi::Move>,
                                                ListSink);

}  // namespace hyoka::strengths
