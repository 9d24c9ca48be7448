// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/chess.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// Sato 2010's features in terms of chess, with castling and far advanced pawns. The default strengths are set by hand.
template <>
struct MoveFeatures<Chess> {
    static const std::vector<Feature>& all();
    template <class Sink>
    static void visit(const Chess& game, const Context<Chess>& context, std::span<const Chess::Move> moves, Sink sink);
};

extern template void MoveFeatures<Chess>::visit(const Chess&, const Context<Chess>&, std::span<const Chess::Move>,
                                                StrengthSink);
extern template void MoveFeatures<Chess>::visit(const Chess&, const Context<Chess>&, std::span<const Chess::Move>,
                                                ListSink);

}  // namespace hyoka::strengths
