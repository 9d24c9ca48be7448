// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bits.h"

/// Attacks on the chess board: bit 8 * rank + file, a1 = 0.
namespace hyoka::chess {

using Bitboard = std::uint64_t;

constexpr Bitboard bit(int square) { return Bitboard{1} << square; }
constexpr int file_of(int square) { return square & 7; }
constexpr int rank_of(int square) { return square >> 3; }

inline constexpr Bitboard file_a = 0x0101010101010101ULL;
inline constexpr Bitboard file_h = file_a << 7;
constexpr Bitboard rank_mask(int rank) { return Bitboard{0xff} << (8 * rank); }

/// Castling ends with the king on the c or g file and the rook beside it.
constexpr int castled_king(int king, int rook) { return (king & 56) + (rook > king ? 6 : 2); }
constexpr int castled_rook(int king, int rook) { return (king & 56) + (rook > king ? 5 : 3); }

/// Where the sliders' attacks on one square are looked up: the occupied squares of `mask` are the index.
struct Slider {
    Bitboard mask;
    const Bitboard* attacks;
};

struct AttackTables {
    Bitboard rays[8][64];  // directions: N, NE, E, NW (rising squares), then S, SW, W, SE
    Bitboard king[64];
    Bitboard knight[64];
    Bitboard pawn[2][64];      // [color][square]: what a pawn there attacks
    Bitboard between[64][64];  // strictly between two squares of one line, else 0
    Bitboard line[64][64];     // the whole line through two squares, else 0
    Slider rook[64];
    Slider bishop[64];
    AttackTables();
};
extern const AttackTables tables;

/// Attacks along one ray without lookup tables for occupancy; the nearest blocker is included.
inline Bitboard ray_attacks(int direction, int square, Bitboard occupied) {
    const Bitboard ray = tables.rays[direction][square];
    const Bitboard blockers = ray & occupied;
    if (direction < 4) return ray & (blockers ^ (blockers - 1));
    return ray & (~Bitboard{0} << highest_bit(blockers | 1));
}
inline Bitboard rook_attacks_by_rays(int square, Bitboard occupied) {
    return ray_attacks(0, square, occupied) | ray_attacks(2, square, occupied) | ray_attacks(4, square, occupied) |
           ray_attacks(6, square, occupied);
}
inline Bitboard bishop_attacks_by_rays(int square, Bitboard occupied) {
    return ray_attacks(1, square, occupied) | ray_attacks(3, square, occupied) | ray_attacks(5, square, occupied) |
           ray_attacks(7, square, occupied);
}

#if defined(__BMI2__)
inline Bitboard rook_attacks(int square, Bitboard occupied) {
    const Slider& slider = tables.rook[square];
    return slider.attacks[_pext_u64(occupied, slider.mask)];
}
inline Bitboard bishop_attacks(int square, Bitboard occupied) {
    const Slider& slider = tables.bishop[square];
    return slider.attacks[_pext_u64(occupied, slider.mask)];
}
#else
inline Bitboard rook_attacks(int square, Bitboard occupied) { return rook_attacks_by_rays(square, occupied); }
inline Bitboard bishop_attacks(int square, Bitboard occupied) { return bishop_attacks_by_rays(square, occupied); }
#endif

}  // namespace hyoka::chess
