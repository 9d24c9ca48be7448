// SPDX-License-Identifier: Apache-2.0
#include "games/chess_attacks.h"

#include <array>
#include <initializer_list>
#include <utility>

namespace hyoka::chess {
namespace {

using Step = std::pair<int, int>;  // files, ranks

constexpr std::array<Step, 8> directions = {
    {{0, 1}, {1, 1}, {1, 0}, {-1, 1}, {0, -1}, {-1, -1}, {-1, 0}, {1, -1}},
};

bool on_board(int file, int rank) { return file >= 0 && file < 8 && rank >= 0 && rank < 8; }

Bitboard leap(int square, std::initializer_list<Step> steps) {
    Bitboard attacks = 0;
    for (const auto& [files, ranks] : steps) {
        const int file = file_of(square) + files;
        const int rank = rank_of(square) + ranks;
        if (on_board(file, rank)) attacks |= bit(8 * rank + file);
    }
    return attacks;
}

#if defined(__BMI2__)
// 2^(inner squares of the lines) entries a square, over all squares.
Bitboard rook_room[102400];
Bitboard bishop_room[5248];

template <class Attacks>
Bitboard* fill_slider(Slider& slider, int square, Bitboard* room, Attacks&& attacks) {
    // A blocker on the far edge changes nothing, so edges the slider does not stand on are left out.
    const Bitboard edges = ((rank_mask(0) | rank_mask(7)) & ~rank_mask(rank_of(square))) |
                           ((file_a | file_h) & ~(file_a << file_of(square)));
    slider = {attacks(square, 0) & ~edges, room};
    const auto entries = std::uint64_t{1} << count_bits(slider.mask);
    for (std::uint64_t i = 0; i < entries; ++i) room[i] = attacks(square, _pdep_u64(i, slider.mask));
    return room + entries;
}
#endif

}  // namespace

AttackTables::AttackTables() : rays{}, king{}, knight{}, pawn{}, between{}, line{}, rook{}, bishop{} {
    for (int square = 0; square < 64; ++square) {
        for (int d = 0; d < 8; ++d) {
            const auto [files, ranks] = directions[static_cast<std::size_t>(d)];
            int file = file_of(square) + files;
            int rank = rank_of(square) + ranks;
            Bitboard passed = 0;
            for (; on_board(file, rank); file += files, rank += ranks) {
                const int target = 8 * rank + file;
                rays[d][square] |= bit(target);
                between[square][target] = passed;
                passed |= bit(target);
            }
        }
        king[square] = leap(square, {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}});
        knight[square] = leap(square, {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}});
        pawn[0][square] = leap(square, {{-1, 1}, {1, 1}});
        pawn[1][square] = leap(square, {{-1, -1}, {1, -1}});
    }
    for (int square = 0; square < 64; ++square)
        for (int d = 0; d < 8; ++d)
            for_each_bit(rays[d][square], [&](int target) {
                line[square][target] = rays[d][square] | rays[(d + 4) % 8][square] | bit(square);
            });
#if defined(__BMI2__)
    const auto along = [this](int square, Bitboard occupied, int first) {
        Bitboard attacks = 0;
        for (int d = first; d < 8; d += 2) {
            Bitboard ray = rays[d][square];
            while (ray) {  // nearest square first
                const int target = d < 4 ? lowest_bit(ray) : highest_bit(ray);
                ray ^= bit(target);
                attacks |= bit(target);
                if (occupied & bit(target)) break;
            }
        }
        return attacks;
    };
    Bitboard* rook_next = rook_room;
    Bitboard* bishop_next = bishop_room;
    for (int square = 0; square < 64; ++square) {
        rook_next = fill_slider(rook[square], square, rook_next, [&](int s, Bitboard o) { return along(s, o, 0); });
        bishop_next =
            fill_slider(bishop[square], square, bishop_next, [&](int s, Bitboard o) { return along(s, o, 1); });
    }
#endif
}

const AttackTables tables;

}  // namespace hyoka::chess
