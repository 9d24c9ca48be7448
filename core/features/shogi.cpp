// SPDX-License-Identifier: Apache-2.0
#include "features/shogi.h"

#include <algorithm>
#include <array>

#include "features/shogi_castles.h"

namespace hyoka::features {
namespace {

using namespace shogi;
using enum Column::Kind;

enum ShogiColumn : std::size_t {
    progress,
    material,
    in_check,
    mate_in_one,
    hanging,
    king_danger_diff,
    black_king_attackers,
    white_king_attackers,
    black_king_defenders,
    white_king_defenders,
    black_castle,
    white_castle,
    black_entering,
    white_entering,
    black_hand,
    white_hand,
    black_hand_pawns,
    white_hand_pawns,
    black_promoted,
    white_promoted,
    column_count,
};

constexpr std::array<Column, column_count> shogi_columns = {{
    {"progress",
     "How far the game has come, from 0 to 100: 1 for each piece that is not where it started, 2 for each in hand, 3 "
     "for "
     "each in the enemy camp and for each that attacks around the enemy king.",
     number},
    {"material",
     "Black's pieces minus White's, in hand too: pawn 100, lance 280, knight 300, silver 420, gold 530, bishop 620, "
     "rook "
     "700; promoted 270, 320, 250, 430, -, 710, 850.",
     number},
    {"in_check", "Whether the side to move is in check.", flag},
    {"mate_in_one", "Whether the side to move can mate at once.", flag, true},
    {"hanging", "Whether the side to move has a capture that gains by static exchange.", flag, true},
    {"king_danger_diff",
     "Attackers of Black's king less its defenders, minus the same for White's: above 0, Black's is worse.", number},
    {"black_king_attackers", "White's pieces, the king aside, that attack Black's king or a square beside it.", number},
    {"white_king_attackers", "Black's pieces, the king aside, that attack White's king or a square beside it.", number},
    {"black_king_defenders", "Black's pieces, the king aside, that guard their king's square or one beside it.",
     number},
    {"white_king_defenders", "White's pieces, the king aside, that guard their king's square or one beside it.",
     number},
    {"black_castle", "Black's castle, by where the king and its generals stand, mirrored or not.", category, false,
     castle_names},
    {"white_castle", "White's castle, by where the king and its generals stand, mirrored or not.", category, false,
     castle_names},
    {"black_entering", "Whether Black's king is in White's camp, the three ranks where pieces promote.", flag},
    {"white_entering", "Whether White's king is in Black's camp, the three ranks where pieces promote.", flag},
    {"black_hand", "Pieces in Black's hand.", number},
    {"white_hand", "Pieces in White's hand.", number},
    {"black_hand_pawns", "Pawns in Black's hand.", number},
    {"white_hand_pawns", "Pawns in White's hand.", number},
    {"black_promoted", "Black's promoted pieces on the board.", number},
    {"white_promoted", "White's promoted pieces on the board.", number},
}};

constexpr std::array unpromoted_kinds = {Shogi::pawn,   Shogi::lance, Shogi::knight, Shogi::silver,
                                         Shogi::bishop, Shogi::rook,  Shogi::gold};
constexpr std::array promoted_kinds = {Shogi::promoted_pawn,   Shogi::promoted_lance, Shogi::promoted_knight,
                                       Shogi::promoted_silver, Shogi::horse,          Shogi::dragon};

constexpr Bitboard camp_of(Player player) {
    return player == Player::first ? rank_mask(6) | rank_mask(7) | rank_mask(8)
                                   : rank_mask(0) | rank_mask(1) | rank_mask(2);
}

/// The squares of a king and around it; none where it is missing.
Bitboard zone_of(Bitboard king) { return king ? tables.king[lowest_bit(king)] | king : 0; }

/// Pieces of one player, the king aside, that reach the square of a king or one beside it.
struct AroundKings {
    int own = 0;
    int enemy = 0;
};

AroundKings count_around_kings(const Shogi& game, Player player) {
    const Bitboard own_king = game.pieces(player, Shogi::king);
    const Bitboard enemy_king = game.pieces(other(player), Shogi::king);
    const Bitboard golds = game.pieces(player, Shogi::gold) | game.pieces(player, Shogi::promoted_pawn) |
                           game.pieces(player, Shogi::promoted_lance) | game.pieces(player, Shogi::promoted_knight) |
                           game.pieces(player, Shogi::promoted_silver);
    const auto& reach = stepping_reach(player);
    const auto steppers = [&](Bitboard king) {
        if (!king) return 0;
        const StepReach& to = reach[static_cast<std::size_t>(lowest_bit(king))];
        return count_bits((game.pieces(player, Shogi::pawn) & to.pawn) |
                          (game.pieces(player, Shogi::knight) & to.knight) |
                          (game.pieces(player, Shogi::silver) & to.silver) | (golds & to.gold));
    };
    AroundKings count{.own = steppers(own_king), .enemy = steppers(enemy_king)};

    const Bitboard own_zone = zone_of(own_king);
    const Bitboard enemy_zone = zone_of(enemy_king);
    const Bitboard all = game.occupied();
    const auto add = [&](Bitboard attacks) {
        count.own += (attacks & own_zone) != 0;
        count.enemy += (attacks & enemy_zone) != 0;
    };
    const Direction ahead = player == Player::first ? up : down;
    for_each_bit(game.pieces(player, Shogi::lance), [&](int square) { add(ray_attacks(ahead, square, all)); });
    for_each_bit(game.pieces(player, Shogi::bishop), [&](int square) { add(bishop_attacks(square, all)); });
    for_each_bit(game.pieces(player, Shogi::rook), [&](int square) { add(rook_attacks(square, all)); });
    for_each_bit(game.pieces(player, Shogi::horse),
                 [&](int square) { add(bishop_attacks(square, all) | tables.king[square]); });
    for_each_bit(game.pieces(player, Shogi::dragon),
                 [&](int square) { add(rook_attacks(square, all) | tables.king[square]); });
    return count;
}

int count_hand(const Shogi& game, Player player) {
    int count = 0;
    for (const auto kind : unpromoted_kinds) count += game.in_hand(player, kind);
    return count;
}

Bitboard promoted_pieces(const Shogi& game, Player player) {
    Bitboard promoted = 0;
    for (const auto kind : promoted_kinds) promoted |= game.pieces(player, kind);
    return promoted;
}

int material_of(const Shogi& game, Player player) {
    int sum = 0;
    for (const auto kind : unpromoted_kinds)
        sum += Shogi::exchange_values[kind] * (count_bits(game.pieces(player, kind)) + game.in_hand(player, kind));
    for_each_bit(promoted_pieces(game, player),
                 [&](int square) { sum += Shogi::exchange_values[game.piece_on(square)]; });
    return sum;
}

/// Pieces that stand where the game begins.
int count_at_home(const Shogi& game) {
    static const Shogi start;
    Bitboard home = 0;
    for (const Player player : {Player::first, Player::second})
        for (const auto kind : {Shogi::pawn, Shogi::lance, Shogi::knight, Shogi::silver, Shogi::bishop, Shogi::rook,
                                Shogi::gold, Shogi::king})
            home |= game.pieces(player, kind) & start.pieces(player, kind);
    return count_bits(home);
}

bool has_winning_capture(const Shogi& game) {
    const Shogi freely = game.movement_only();
    const auto moves = freely.legal_moves();
    return std::any_of(moves.begin(), moves.end(), [&](Shogi::Move move) {
        return freely.piece_on(move.to()) != Shogi::no_piece && freely.see(move) > 0;
    });
}

bool has_mate_in_one(const Shogi& game) {
    const Shogi freely = game.movement_only();
    const auto moves = freely.legal_moves();
    return std::any_of(moves.begin(), moves.end(), [&](Shogi::Move move) {
        Shogi after = freely;
        after.play(move);
        return after.in_check() && after.count_moves() == 0;
    });
}

constexpr Player black = Player::first;
constexpr Player white = Player::second;

void describe_kings_and_progress(const Shogi& game, Row& row) {
    const auto [black_defenders, white_attackers] = count_around_kings(game, black);
    const auto [white_defenders, black_attackers] = count_around_kings(game, white);
    row.set(king_danger_diff, (black_attackers - black_defenders) - (white_attackers - white_defenders));
    row.set(black_king_attackers, black_attackers);
    row.set(white_king_attackers, white_attackers);
    row.set(black_king_defenders, black_defenders);
    row.set(white_king_defenders, white_defenders);

    const Bitboard intruders = (game.pieces(black) & camp_of(white)) | (game.pieces(white) & camp_of(black));
    const Bitboard entered = intruders & (game.pieces(black, Shogi::king) | game.pieces(white, Shogi::king));
    row.set(black_entering, (game.pieces(black) & entered) != 0);
    row.set(white_entering, (game.pieces(white) & entered) != 0);

    const int held = count_hand(game, black) + count_hand(game, white);
    const int moved = count_bits(game.occupied()) + held - count_at_home(game);
    const int threats = count_bits(intruders ^ entered) + black_attackers + white_attackers;
    row.set(progress, std::min(100, moved + 2 * held + 3 * threats));
}

}  // namespace

const std::array<StepReach, 81>& stepping_reach(Player player) {
    // Made when first asked for, since it needs the attack tables.
    static const auto table = [] {
        std::array<std::array<StepReach, 81>, 2> reach{};
        for (std::size_t of = 0; of < 2; ++of) {
            for (int king = 0; king < 81; ++king) {
                const Bitboard zone = tables.king[king] | bit(king);
                StepReach& to = reach[of][static_cast<std::size_t>(king)];
                for (int from = 0; from < 81; ++from) {
                    if (tables.pawn[of][from] & zone) to.pawn |= bit(from);
                    if (tables.knight[of][from] & zone) to.knight |= bit(from);
                    if (tables.silver[of][from] & zone) to.silver |= bit(from);
                    if (tables.gold[of][from] & zone) to.gold |= bit(from);
                }
            }
        }
        return reach;
    }();
    return table[static_cast<std::size_t>(player)];
}

std::span<const Column> Describer<Shogi>::columns() { return shogi_columns; }

void Describer<Shogi>::describe(const Shogi& game, std::uint64_t wanted, std::int16_t* cells) const {
    Row row(wanted, cells);
    describe_kings_and_progress(game, row);
    row.set(material, material_of(game, black) - material_of(game, white));
    row.set(in_check, game.in_check());
    if (row.wants(mate_in_one)) row.set(mate_in_one, has_mate_in_one(game));
    if (row.wants(hanging)) row.set(hanging, has_winning_capture(game));
    row.set(black_castle, castle_of(game, black));
    row.set(white_castle, castle_of(game, white));
    row.set(black_hand, count_hand(game, black));
    row.set(white_hand, count_hand(game, white));
    row.set(black_hand_pawns, game.in_hand(black, Shogi::pawn));
    row.set(white_hand_pawns, game.in_hand(white, Shogi::pawn));
    row.set(black_promoted, count_bits(promoted_pieces(game, black)));
    row.set(white_promoted, count_bits(promoted_pieces(game, white)));
}

}  // namespace hyoka::features
