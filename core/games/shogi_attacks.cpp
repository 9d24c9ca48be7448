// SPDX-License-Identifier: Apache-2.0
#include "games/shogi_attacks.h"

#include <array>
#include <initializer_list>
#include <utility>

namespace hyoka::shogi {
namespace {

using Step = std::pair<int, int>;  // files, ranks

constexpr std::array<Step, 8> directions = {
    {{0, 1}, {1, -1}, {1, 0}, {1, 1}, {0, -1}, {-1, 1}, {-1, 0}, {-1, -1}},
};

bool on_board(int file, int rank) { return file >= 0 && file < 9 && rank >= 0 && rank < 9; }

Bitboard leap(int square, int color, std::initializer_list<Step> steps) {
    Bitboard attacks = 0;
    for (const auto& [files, ranks] : steps) {
        const int file = file_of(square) + files;
        const int rank = rank_of(square) + (color == 0 ? ranks : -ranks);
        if (on_board(file, rank)) attacks |= bit(square_at(file, rank));
    }
    return attacks;
}

}  // namespace

AttackTables::AttackTables() : rays{}, pawn{}, knight{}, silver{}, gold{}, king{}, cross{}, diagonal{}, direction{} {
    for (int square = 0; square < 81; ++square) {
        for (auto& entry : direction[square]) entry = no_direction;
        for (int d = 0; d < 8; ++d) {
            const auto [files, ranks] = directions[static_cast<std::size_t>(d)];
            int file = file_of(square) + files;
            int rank = rank_of(square) + ranks;
            for (; on_board(file, rank); file += files, rank += ranks) {
                rays[d][square] |= bit(square_at(file, rank));
                direction[square][square_at(file, rank)] = static_cast<Direction>(d);
            }
        }
        cross[square] = rays[up][square] | rays[down][square] | rays[left][square] | rays[right][square];
        diagonal[square] =
            rays[left_up][square] | rays[left_down][square] | rays[right_up][square] | rays[right_down][square];
        king[square] = leap(square, 0, {{0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}});
        for (int color = 0; color < 2; ++color) {  // steps as Black sees them: forward is a lower rank
            pawn[color][square] = leap(square, color, {{0, -1}});
            knight[color][square] = leap(square, color, {{-1, -2}, {1, -2}});
            silver[color][square] = leap(square, color, {{0, -1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}});
            gold[color][square] = leap(square, color, {{0, -1}, {-1, -1}, {1, -1}, {-1, 0}, {1, 0}, {0, 1}});
        }
    }
}

const AttackTables tables;

}  // namespace hyoka::shogi
