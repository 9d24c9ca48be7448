// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "games/go.h"
#include "games/othello.h"
#include "mets/questions.h"

namespace hyoka::mets {

/// A game whose moves are points of a square board: its side, whose stone is on a point, and which point a move is.
/// Points are counted along the rows. A game without one has no METS.
template <class G>
struct PointGame {};

template <int N>
struct PointGame<Go<N>> {
    static constexpr int side = N;
    /// 0 the first player's, 1 the second's, 2 none.
    static std::uint8_t stone(const Go<N>& game, int point) {
        const auto owner = game.owner(Go<N>::Move::from_code(static_cast<std::uint32_t>(point)));
        return owner ? static_cast<std::uint8_t>(*owner) : std::uint8_t{2};
    }
    /// -1 for a pass.
    static int point(typename Go<N>::Move move) { return move == Go<N>::Move::pass() ? -1 : move.point; }
};

template <>
struct PointGame<Othello> {
    static constexpr int side = Othello::size;
    static std::uint8_t stone(const Othello& game, int point) {
        const std::uint64_t square = std::uint64_t{1} << point;
        if (game.discs(Player::first) & square) return 0;
        return game.discs(Player::second) & square ? 1 : 2;
    }
    static int point(Othello::Move move) { return move == Othello::Move::pass() ? -1 : move.square; }
};

template <class G>
concept ByPoints = requires {
    { PointGame<G>::side } -> std::convertible_to<int>;
};

}  // namespace hyoka::mets
