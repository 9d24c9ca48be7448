// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "games/blokus_duo.h"

/// Network inputs of Nakamura 2007 for Blokus Duo: counts of each pattern of 1 x 1, 2 x 2 and 3 x 3 squares
/// lies on it. Squares are empty (0), covered by the side to move (1) or by the other (2); patterns that a rotation
/// or a mirror makes equal are one. Windows over the edge are not counted.
///
/// Patterns are numbered by size and, within a size, in the order of their smallest code: the squares of a window as
/// the digits of a number to the base 3, from the top left.
namespace hyoka::network {

inline constexpr int largest_pattern = 3;
inline constexpr std::array<std::size_t, largest_pattern> patterns_by_size = {3, 21, 2862};
inline constexpr std::size_t pattern_count = 3 + 21 + 2862;
/// Inputs after the patterns, if wanted: the 21 pieces that the side to move has in hand, then the other's.
inline constexpr std::size_t hand_count = std::size_t{2} * blokus::piece_count;

inline constexpr std::size_t window_count = 14 * 14 + 13 * 13 + 12 * 12;
/// The pattern in each window of the board.
using Windows = std::array<std::uint16_t, window_count>;
Windows pattern_windows(const BlokusDuo& game);

/// Visits the inputs after the patterns that are 1: numbers from `pattern_count` on.
template <class Visit>
void for_each_in_hand(const BlokusDuo& game, Visit&& visit) {
    const Player mover = game.to_play();
    std::size_t begin = pattern_count;
    for (const Player player : {mover, other(mover)}) {
        for_each_bit(std::uint64_t{game.pieces_left(player)},
                     [&](int piece) { visit(begin + static_cast<std::size_t>(piece)); });
        begin += blokus::piece_count;
    }
}

/// How many pieces both have laid: a ply of the game, but for passes, which leave no trace on the board.
int pieces_laid(const BlokusDuo& game);

}  // namespace hyoka::network
