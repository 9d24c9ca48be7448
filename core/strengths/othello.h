// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/othello.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// The sort of square, and how many moves are left to the opponent. The default strengths are set by hand.
template <>
struct MoveFeatures<Othello> {
    static const std::vector<Feature>& all();
    template <class Sink>
    static void visit(const Othello& game, const Context<Othello>& context, std::span<const Othello::Move> moves,
                      Sink sink);
};

extern template void MoveFeatures<Othello>::visit(const Othello&, const Context<Othello>&,
                                                  std::span<const Othello::Move>, StrengthSink);
extern template void MoveFeatures<Othello>::visit(const Othello&, const Context<Othello>&,
                                                  std::span<const Othello::Move>, ListSink);

}  // namespace hyoka::strengths
