// SPDX-License-Identifier: Apache-2.0
#include "features/shogi_castles.h"

#include <algorithm>

namespace hyoka::features {
namespace {

using namespace shogi;

struct Shape {
    std::string_view castle;
    std::string_view pieces;  // as Black builds it: king, golds, silvers, lances
};

/// The first that fits counts.
constexpr std::array shapes = {
    Shape{"anaguma", "K9i L9h S8h"},
    Shape{"anaguma", "K9i L9h G8h"},
    Shape{"yagura", "K8h G7h S7g G6g"},
    Shape{"gin_yagura", "K8h G7h S7g S6g"},
    Shape{"mino", "K2h S3h G4i G5h"},
    Shape{"takamino", "K2h S3h G4i G4g"},
    Shape{"kata_mino", "K2h S3h G4i"},
    Shape{"ginkanmuri", "K2h S2g G3h"},
    Shape{"kata_yagura", "K7h G6h S7g G6g"},
    Shape{"funagakoi", "K7h G6i S7i G5h"},
    Shape{"elmo", "K7h G7i S6h"},
    Shape{"kinmuso", "K3h S2h G4h G5h"},
    Shape{"gangi", "K6i G7h S6g S5g"},
    Shape{"kani", "K6i G7h S6h G5h"},
    Shape{"nakazumai", "K5h G7h G3h"},
    Shape{"igyoku", "K5i"},
};

/// A shape on the board: where the king and the others must be.
struct Plan {
    int castle = 0;
    int king = 0;
    Bitboard golds = 0;
    Bitboard silvers = 0;
    Bitboard lances = 0;
};

constexpr Plan plan_of(const Shape& shape, Player player, bool mirrored) {
    Plan plan{.castle = static_cast<int>(std::ranges::find(castle_names, shape.castle) - castle_names.begin())};
    for (std::size_t i = 0; i < shape.pieces.size(); i += 4) {
        int file = shape.pieces[i + 1] - '1';
        int rank = shape.pieces[i + 2] - 'a';
        if (player == Player::second) rank = 8 - rank;
        if (mirrored != (player == Player::second)) file = 8 - file;
        const int square = square_at(file, rank);
        switch (shape.pieces[i]) {
            case 'K': plan.king = square; break;
            case 'G': plan.golds |= bit(square); break;
            case 'S': plan.silvers |= bit(square); break;
            default: plan.lances |= bit(square);
        }
    }
    return plan;
}

struct Plans {
    std::array<Plan, 2 * shapes.size()> all;
    Bitboard kings = 0;  // where any of them has its king
};
constexpr std::array<Plans, 2> plans_by_player = [] {
    std::array<Plans, 2> both{};
    for (const Player player : {Player::first, Player::second}) {
        Plans& own = both[static_cast<std::size_t>(player)];
        for (std::size_t i = 0; i < own.all.size(); ++i) {
            own.all[i] = plan_of(shapes[i / 2], player, i % 2 == 1);
            own.kings |= bit(own.all[i].king);
        }
    }
    return both;
}();

}  // namespace

int castle_of(const Shogi& game, Player player) {
    const Plans& plans = plans_by_player[static_cast<std::size_t>(player)];
    const Bitboard king = game.pieces(player, Shogi::king) & plans.kings;
    if (!king) return 0;
    const int king_square = lowest_bit(king);
    const Bitboard golds = game.pieces(player, Shogi::gold);
    const Bitboard silvers = game.pieces(player, Shogi::silver);
    const Bitboard lances = game.pieces(player, Shogi::lance);
    for (const Plan& plan : plans.all)
        if (plan.king == king_square && !(plan.golds & ~golds) && !(plan.silvers & ~silvers) &&
            !(plan.lances & ~lances))
            return plan.castle;
    return 0;
}

}  // namespace hyoka::features
