// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/bits.h"

/// Attacks on the shogi board: bit 9 * file + rank, file 1 and rank a first, so a file is nine neighboring bits.
namespace hyoka::shogi {

using Bitboard = uint128;

/// Looked up: shifting 128 bits by a variable takes several instructions.
inline constexpr auto bits = [] {
    std::array<Bitboard, 81> table{};
    for (int square = 0; square < 81; ++square) table[static_cast<std::size_t>(square)] = Bitboard{1} << square;
    return table;
}();
constexpr Bitboard bit(int square) { return bits[static_cast<std::size_t>(square)]; }
constexpr int file_of(int square) { return square / 9; }
constexpr int rank_of(int square) { return square % 9; }
constexpr int square_at(int file, int rank) { return 9 * file + rank; }

inline constexpr Bitboard first_rank = [] {
    Bitboard ranks = 0;
    for (int file = 0; file < 9; ++file) ranks |= bit(square_at(file, 0));
    return ranks;
}();
inline constexpr Bitboard whole_board = (Bitboard{1} << 81) - 1;
constexpr Bitboard rank_mask(int rank) { return first_rank << rank; }

// Directions of rays: the first four go to higher squares, direction d + 4 is opposite to d.
enum Direction : std::uint8_t { down, left_up, left, left_down, up, right_down, right, right_up, no_direction };
constexpr Direction opposite(Direction d) { return static_cast<Direction>((d + 4) % 8); }

struct AttackTables {
    Bitboard rays[9][81];  // the last row is empty
    Bitboard pawn[2][81];
    Bitboard knight[2][81];
    Bitboard silver[2][81];
    Bitboard gold[2][81];
    Bitboard king[81];
    Bitboard cross[81];     // all a rook could attack
    Bitboard diagonal[81];  // all a bishop could attack
    Direction direction[81][81];
    AttackTables();
};
extern const AttackTables tables;

/// Attacks along one ray; the nearest blocker is included.
inline Bitboard ray_attacks(Direction direction, int square, Bitboard occupied) {
    const Bitboard ray = tables.rays[direction][square];
    const Bitboard blockers = ray & occupied;
    if (direction < 4) return ray & (blockers ^ (blockers - 1));
    // Square 0 is a corner that no ray leaves downwards in number, so it also stands for "no blocker".
    return ray ^ tables.rays[direction][highest_bit(blockers | 1)];
}
inline Bitboard rook_attacks(int square, Bitboard occupied) {
    return ray_attacks(up, square, occupied) | ray_attacks(down, square, occupied) |
           ray_attacks(left, square, occupied) | ray_attacks(right, square, occupied);
}
inline Bitboard bishop_attacks(int square, Bitboard occupied) {
    return ray_attacks(left_up, square, occupied) | ray_attacks(left_down, square, occupied) |
           ray_attacks(right_up, square, occupied) | ray_attacks(right_down, square, occupied);
}

/// The squares strictly between two squares of one line, else none.
inline Bitboard between(int a, int b) {
    const Direction direction = tables.direction[a][b];
    if (direction == no_direction) return 0;
    return tables.rays[direction][a] & tables.rays[opposite(direction)][b];
}
/// The whole line through two different squares of one line, without `a` itself.
inline Bitboard line_through(int a, int b) {
    const Direction direction = tables.direction[a][b];
    return tables.rays[direction][a] | tables.rays[opposite(direction)][a];
}

/// Every square of the files that hold one of `bits`; pre: at most one bit a file.
constexpr Bitboard whole_files(Bitboard bits) {
    // Adding eight ones to a file with a bit in it sets the file's ninth bit and no further one.
    const Bitboard ninth = ((bits + (rank_mask(8) - first_rank)) | bits) & rank_mask(8);
    return (ninth << 1) - (ninth >> 8);
}

}  // namespace hyoka::shogi
