// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>

#include "games/go.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// Tactics (ladders read out), vital points, distances and 3x3 patterns, the same on all boards. Default strengths are
/// those that Coulom gives (Computing Elo Ratings of Move Patterns in the Game of Go, 2007) where he has the feature.
template <int N>
struct MoveFeatures<Go<N>> {
    using Move = typename Go<N>::Move;
    static const std::vector<Feature>& all();
    template <class Sink>
    static void visit(const Go<N>& game, const Context<Go<N>>& context, std::span<const Move> moves, Sink sink);
};

/// By the points around an empty one, as GoTactics::neighborhood codes them: whether that is one of the shapes where
/// MoGo's playouts answer: hane, cut and moves at the edge. The same for both colors. Made when first asked for.
const std::bitset<1 << 16>& known_shapes();

extern template void MoveFeatures<Go<3>>::visit(const Go<3>&, const Context<Go<3>>&, std::span<const Move>,
                                                StrengthSink);
extern template void MoveFeatures<Go<3>>::visit(const Go<3>&, const Context<Go<3>>&, std::span<const Move>, ListSink);
extern template void MoveFeatures<Go<4>>::visit(const Go<4>&, const Context<Go<4>>&, std::span<const Move>,
                                                StrengthSink);
extern template void MoveFeatures<Go<4>>::visit(const Go<4>&, const Context<Go<4>>&, std::span<const Move>, ListSink);
extern template void MoveFeatures<Go<5>>::visit(const Go<5>&, const Context<Go<5>>&, std::span<const Move>,
                                                StrengthSink);
extern template void MoveFeatures<Go<5>>::visit(const Go<5>&, const Context<Go<5>>&, std::span<const Move>, ListSink);
extern template void MoveFeatures<Go<6>>::visit(const Go<6>&, const Context<Go<6>>&, std::span<const Move>,
                                                StrengthSink);
extern template void MoveFeatures<Go<6>>::visit(const Go<6>&, const Context<Go<6>>&, std::span<const Move>, ListSink);
extern template void MoveFeatures<Go<7>>::visit(const Go<7>&, const Context<Go<7>>&, std::span<const Move>,
                                                StrengthSink);
extern template void MoveFeatures<Go<7>>::visit(const Go<7>&, const Context<Go<7>>&, std::span<const Move>, ListSink);
extern template void MoveFeatures<Go<9>>::visit(const Go<9>&, const Context<Go<9>>&, std::span<const Move>,
                                                StrengthSink);
extern template void MoveFeatures<Go<9>>::visit(const Go<9>&, const Context<Go<9>>&, std::span<const Move>, ListSink);
extern template void MoveFeatures<Go<13>>::visit(const Go<13>&, const Context<Go<13>>&, std::span<const Move>,
                                                 StrengthSink);
extern template void MoveFeatures<Go<13>>::visit(const Go<13>&, const Context<Go<13>>&, std::span<const Move>,
                                                 ListSink);
extern template void MoveFeatures<Go<19>>::visit(const Go<19>&, const Context<Go<19>>&, std::span<const Move>,
                                                 StrengthSink);
extern template void MoveFeatures<Go<19>>::visit(const Go<19>&, const Context<Go<19>>&, std::span<const Move>,
                                                 ListSink);

}  // namespace hyoka::strengths
