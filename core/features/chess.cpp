// SPDX-License-Identifier: Apache-2.0
#include "features/chess.h"

#include <algorithm>
#include <array>

namespace hyoka::features {
namespace {

using namespace chess;
using enum Column::Kind;

enum ChessColumn : std::size_t {
    phase,
    material,
    pieces,
    pawns,
    queens,
    in_check,
    hanging,
    mobility,
    white_mobility,
    black_mobility,
    bishop_mobility,
    bishop_development,
    bishop_pair,
    opposite_bishops,
    white_king_attackers,
    black_king_attackers,
    white_king_shield,
    black_king_shield,
    king_danger_diff,
    white_castling,
    black_castling,
    passed,
    white_passed,
    black_passed,
    isolated,
    doubled,
    column_count,
};

constexpr std::array<Column, column_count> chess_columns = {{
    {"phase",
     "From 0, all pieces on the board, to 100, none but kings and pawns: the share that is gone, with a knight or "
     "bishop counted as 1, a rook as 2, a queen as 4.",
     number},
    {"material", "White's pieces minus Black's in centipawns: pawn 100, knight 320, bishop 330, rook 500, queen 900.",
     number},
    {"pieces", "Knights, bishops, rooks and queens on the board.", number},
    {"pawns", "Pawns on the board.", number},
    {"queens", "Queens on the board.", number},
    {"in_check", "Whether the side to move is in check.", flag},
    {"hanging", "Whether the side to move has a capture that gains by static exchange.", flag, true},
    {"mobility", "White's mobility minus Black's, in squares.", number},
    {"white_mobility", "Squares that White's knights, bishops, rooks and queens attack and own pieces do not block.",
     number},
    {"black_mobility", "Squares that Black's knights, bishops, rooks and queens attack and own pieces do not block.",
     number},
    {"bishop_mobility", "Squares that White's bishops attack and own pieces do not block, minus Black's.", number},
    {"bishop_development", "White's bishops that stand off c1 and f1 minus Black's off c8 and f8.", number},
    {"bishop_pair", "1 if White alone has bishops on both colors of squares, -1 if Black alone has.", number},
    {"opposite_bishops", "Whether each side has one bishop, and they stand on squares of different colors.", flag},
    {"white_king_attackers",
     "Black's knights, bishops, rooks and queens that attack White's king or a square beside it.", number},
    {"black_king_attackers",
     "White's knights, bishops, rooks and queens that attack Black's king or a square beside it.", number},
    {"white_king_shield", "White's pawns one or two ranks before the king, on its file or the next.", number},
    {"black_king_shield", "Black's pawns one or two ranks before the king, on its file or the next.", number},
    {"king_danger_diff",
     "Attackers of White's king less its shield, minus the same for Black's: above 0, White's is worse.", number},
    {"white_castling", "Sides to which White may still castle, now or later.", number},
    {"black_castling", "Sides to which Black may still castle, now or later.", number},
    {"passed", "White's passed pawns minus Black's.", number},
    {"white_passed", "White's passed pawns: no enemy pawn is ahead on their file or the next.", number},
    {"black_passed", "Black's passed pawns: no enemy pawn is ahead on their file or the next.", number},
    {"isolated", "White's pawns without a pawn of their own on a file beside them, minus Black's.", number},
    {"doubled", "White's pawns with another of their own ahead on the file, minus Black's.", number},
}};

constexpr Bitboard light_squares = 0x55aa55aa55aa55aaULL;

/// The squares of a set and those left and right of it.
constexpr Bitboard widened(Bitboard set) { return set | ((set & ~file_a) >> 1) | ((set & ~file_h) << 1); }
constexpr Bitboard forward(Player player, Bitboard set) { return player == Player::first ? set << 8 : set >> 8; }
/// All squares ahead of a set, up to the edge of the board.
constexpr Bitboard ahead(Player player, Bitboard set) {
    set = forward(player, set);
    for (const int by : {8, 16, 32}) set |= player == Player::first ? set << by : set >> by;
    return set;
}
constexpr Bitboard whole_files(Bitboard set) { return set | ahead(Player::first, set) | ahead(Player::second, set); }

struct PawnCounts {
    int passed;
    int isolated;
    int doubled;
};

PawnCounts count_pawns(const Chess& game, Player player) {
    const Bitboard own = game.pieces(player, Chess::pawn);
    const Bitboard files = whole_files(own);
    const Bitboard guarded = widened(ahead(other(player), game.pieces(other(player), Chess::pawn)));
    const Bitboard beside = ((files & ~file_a) >> 1) | ((files & ~file_h) << 1);
    return {.passed = count_bits(own & ~guarded),
            .isolated = count_bits(own & ~beside),
            .doubled = count_bits(own & ahead(other(player), own))};
}

int count_shield(const Chess& game, Player player) {
    const Bitboard before = forward(player, widened(game.pieces(player, Chess::king)));
    return count_bits((before | forward(player, before)) & game.pieces(player, Chess::pawn));
}

/// Activity of a player's knights, bishops, rooks and queens.
struct Activity {
    int mobility = 0;
    int bishop_mobility = 0;
    int king_attackers = 0;  // of the enemy king
};

Activity measure_activity(const Chess& game, Player player) {
    Activity activity;
    const Bitboard all = game.occupied();
    const Bitboard own = game.pieces(player);
    const int enemy_king = lowest_bit(game.pieces(other(player), Chess::king));
    const Bitboard zone = tables.king[enemy_king] | bit(enemy_king);
    const auto add = [&](Bitboard attacks) {
        const int squares = count_bits(attacks & ~own);
        activity.mobility += squares;
        activity.king_attackers += (attacks & zone) != 0;
        return squares;
    };
    for_each_bit(game.pieces(player, Chess::knight), [&](int square) { add(tables.knight[square]); });
    for_each_bit(game.pieces(player, Chess::bishop),
                 [&](int square) { activity.bishop_mobility += add(bishop_attacks(square, all)); });
    for_each_bit(game.pieces(player, Chess::rook), [&](int square) { add(rook_attacks(square, all)); });
    for_each_bit(game.pieces(player, Chess::queen),
                 [&](int square) { add(bishop_attacks(square, all) | rook_attacks(square, all)); });
    return activity;
}

bool has_winning_capture(const Chess& game) {
    const Chess freely = game.movement_only();  // a drawn position has captures too
    const auto moves = freely.legal_moves();
    return std::any_of(moves.begin(), moves.end(), [&](Chess::Move move) {
        const bool takes =
            move.type() == Chess::Move::Type::en_passant ||
            (move.type() != Chess::Move::Type::castling && freely.piece_on(move.to()) != Chess::no_piece);
        return takes && freely.see(move) > 0;
    });
}

constexpr Player white = Player::first;
constexpr Player black = Player::second;

void describe_material(const Chess& game, Row& row) {
    constexpr std::array<int, 5> phase_values = {0, 1, 1, 2, 4};
    constexpr int full_phase = 24;
    int balance = 0;
    int left = 0;
    int total = 0;
    for (const auto kind : {Chess::pawn, Chess::knight, Chess::bishop, Chess::rook, Chess::queen}) {
        const int of_white = count_bits(game.pieces(white, kind));
        const int of_black = count_bits(game.pieces(black, kind));
        balance += Chess::exchange_values[kind] * (of_white - of_black);
        left += phase_values[kind] * (of_white + of_black);
        total += of_white + of_black;
    }
    const int all_pawns = count_bits(game.pieces(white, Chess::pawn) | game.pieces(black, Chess::pawn));
    row.set(phase, 100 * (full_phase - std::min(left, full_phase)) / full_phase);
    row.set(material, balance);
    row.set(pieces, total - all_pawns);
    row.set(pawns, all_pawns);
    row.set(queens, count_bits(game.pieces(white, Chess::queen) | game.pieces(black, Chess::queen)));
}

void describe_bishops(const Chess& game, Row& row) {
    constexpr Bitboard homes = bit(2) | bit(5);  // White's; Black's are on the eighth rank
    const Bitboard of_white = game.pieces(white, Chess::bishop);
    const Bitboard of_black = game.pieces(black, Chess::bishop);
    const auto on_both_colors = [](Bitboard bishops) {
        return (bishops & light_squares) && (bishops & ~light_squares);
    };
    const bool one_each = count_bits(of_white) == 1 && count_bits(of_black) == 1;
    row.set(bishop_development, count_bits(of_white & ~homes) - count_bits(of_black & ~(homes << 56)));
    row.set(bishop_pair, on_both_colors(of_white) - on_both_colors(of_black));
    row.set(opposite_bishops, one_each && on_both_colors(of_white | of_black));
}

void describe_activity_and_kings(const Chess& game, Row& row) {
    const Activity of_white = measure_activity(game, white);
    const Activity of_black = measure_activity(game, black);
    row.set(mobility, of_white.mobility - of_black.mobility);
    row.set(white_mobility, of_white.mobility);
    row.set(black_mobility, of_black.mobility);
    row.set(bishop_mobility, of_white.bishop_mobility - of_black.bishop_mobility);

    const int white_shield = count_shield(game, white);
    const int black_shield = count_shield(game, black);
    row.set(white_king_attackers, of_black.king_attackers);
    row.set(black_king_attackers, of_white.king_attackers);
    row.set(white_king_shield, white_shield);
    row.set(black_king_shield, black_shield);
    row.set(king_danger_diff, (of_black.king_attackers - white_shield) - (of_white.king_attackers - black_shield));
    row.set(white_castling, count_bits(game.castling_rooks(white)));
    row.set(black_castling, count_bits(game.castling_rooks(black)));
}

void describe_pawns(const Chess& game, Row& row) {
    const PawnCounts of_white = count_pawns(game, white);
    const PawnCounts of_black = count_pawns(game, black);
    row.set(passed, of_white.passed - of_black.passed);
    row.set(white_passed, of_white.passed);
    row.set(black_passed, of_black.passed);
    row.set(isolated, of_white.isolated - of_black.isolated);
    row.set(doubled, of_white.doubled - of_black.doubled);
}

}  // namespace

std::span<const Column> Describer<Chess>::columns() { return chess_columns; }

void Describer<Chess>::describe(const Chess& game, std::uint64_t wanted, std::int16_t* cells) const {
    Row row(wanted, cells);
    describe_material(game, row);
    describe_bishops(game, row);
    describe_activity_and_kings(game, row);
    describe_pawns(game, row);
    row.set(in_check, game.in_check());
    if (row.wants(hanging)) row.set(hanging, has_winning_capture(game));
}

}  // namespace hyoka::features
