// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/blokus_duo.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// The piece, how far from the center it stays, the corners it opens and gives up, those it takes from the opponent and
/// how much of what the opponent reaches, and whether it answers the last move.
template <>
struct MoveFeatures<BlokusDuo> {
    using Move = BlokusDuo::Move;
    static const std::vector<Feature>& all();
    template <class Sink>
    static void visit(const BlokusDuo& game, const Context<BlokusDuo>& context, std::span<const BlokusDuo::Move> moves,
                      Sink sink);
};

extern template void MoveFeatures<BlokusDuo>::visit(const BlokusDuo&, const Context<BlokusDuo>&,
                                                    std::span<const BlokusDuo::Move>, StrengthSink);
extern template void MoveFeatures<BlokusDuo>::visit(const BlokusDuo&, const Context<BlokusDuo>&,
                                                    std::span<const BlokusDuo::Move>, ListSink);

}  // namespace hyoka::strengths
