// SPDX-License-Identifier: Apache-2.0
#include "strengths/chess.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

#include "strengths/bands.h"

namespace hyoka::strengths {

using namespace chess;

namespace {

using Kind = Chess::Kind;
using Move = Chess::Move;
using Type = Chess::Move::Type;

constexpr std::size_t z(int i) { return static_cast<std::size_t>(i); }
constexpr std::size_t z(Player player) { return static_cast<std::size_t>(player); }

constexpr std::size_t kind_count = 6;
constexpr std::array<std::string_view, kind_count> kind_names = {"pawn", "knight", "bishop", "rook", "queen", "king"};

/// Attackers by rank, the lowest first.
constexpr std::size_t class_count = 3;
constexpr std::array<std::string_view, class_count> class_names = {"pawn", "minor_piece", "major_piece"};
constexpr std::array<std::uint8_t, kind_count> class_of = {0, 1, 1, 2, 2, 2};

// Where the features of each sort begin; the king has no place of its own among `escape` and `moved`.
constexpr std::size_t see_bands = 9;
constexpr std::size_t exchange = 0;
constexpr std::size_t recapture = exchange + see_bands;
constexpr std::size_t other_capture = recapture + 1;
constexpr std::size_t promotion_to_queen = other_capture + 1;
constexpr std::size_t other_promotion = promotion_to_queen + 1;
constexpr std::size_t check = other_promotion + 1;
constexpr std::size_t pawn_to_sixth = check + 1;
constexpr std::size_t pawn_to_seventh = pawn_to_sixth + 1;
constexpr std::size_t castling_short = pawn_to_seventh + 1;
constexpr std::size_t castling_long = castling_short + 1;
constexpr std::size_t escape = castling_long + 1;                           // + class_count * kind + class
constexpr std::size_t moved = escape + class_count * (kind_count - 1);      // + change_bands * kind + band
constexpr std::size_t king_calm = moved + change_bands * (kind_count - 1);  // fewer attacks, as many, more
constexpr std::size_t king_in_check = king_calm + 3;                        // the same
constexpr std::size_t previous_piece = king_in_check + 3;                   // + kind
constexpr std::size_t returns_quietly = previous_piece + kind_count;
constexpr std::size_t returns_capturing = returns_quietly + 1;
constexpr std::size_t near_last = returns_capturing + 1;  // distance at most 1, 2, more
constexpr std::size_t near_before_last = near_last + 3;   // the same
[[maybe_unused]] constexpr std::size_t feature_count = near_before_last + 3;

struct Range {
    double low;
    double high;
};

std::vector<Feature> make_features() {
    std::vector<Feature> features = {
        {"exchange_loses_queen", 0.02f},
        {"exchange_loses_rook", 0.04f},
        {"exchange_loses_piece", 0.08f},
        {"exchange_loses_pawn", 0.3f},
        {"exchange_even", 1},
        {"exchange_wins_pawn", 2.5f},
        {"exchange_wins_piece", 5},
        {"exchange_wins_rook", 8},
        {"exchange_wins_queen", 15},
        {"recapture", 10},
        {"other_capture", 1.9f},
        {"promotion_to_queen", 4},
        {"other_promotion", 0.2f},
        {"check", 3},
        {"pawn_to_sixth", 1.5f},
        {"pawn_to_seventh", 3},
        {"castling_short", 8},
        {"castling_long", 5},
    };
    const auto add = [&](std::string name, double strength) {
        features.push_back({std::move(name), static_cast<float>(strength)});
    };
    constexpr std::array<Range, kind_count - 1> by_escape = {{{1.1, 1.3}, {2, 3}, {2, 3}, {2.5, 5}, {5, 12}}};
    for (std::size_t kind = 0; kind < kind_count - 1; ++kind)
        for (std::size_t by = 0; by < class_count; ++by)
            add("escape_of_" + std::string(kind_names[kind]) + "_from_" + std::string(class_names[by]),
                spread(by_escape[kind].high, by_escape[kind].low, by, class_count));
    constexpr std::array<Range, kind_count - 1> by_move = {{{0.8, 1.8}, {0.3, 2.5}, {0.5, 2}, {0.5, 1.5}, {0.4, 1.2}}};
    for (std::size_t kind = 0; kind < kind_count - 1; ++kind)
        for (std::size_t band = 0; band < change_bands; ++band)
            add("move_of_" + std::string(kind_names[kind]) + "_" + std::string(change_band_names[band]),
                spread(by_move[kind].low, by_move[kind].high, band, change_bands));
    const auto add_king = [&](const std::string& when, Range range) {
        add("king_" + when + "_to_fewer_attacks", range.high);
        add("king_" + when + "_to_as_many_attacks", spread(range.low, range.high, 1, 3));
        add("king_" + when + "_to_more_attacks", range.low);
    };
    add_king("goes", {0.2, 0.8});
    add_king("in_check_goes", {0.5, 2});
    constexpr std::array<double, kind_count> by_previous = {1.2, 1.2, 0.9, 0.9, 0.9, 0.9};
    for (std::size_t kind = 0; kind < kind_count; ++kind)
        add("previous_piece_is_" + std::string(kind_names[kind]), by_previous[kind]);
    add("return_without_capture", 0.1);
    add("return_with_capture", 0.9);
    const auto add_distances = [&](const std::string& to, Range range) {
        for (std::size_t step = 0; step < 3; ++step)
            add("distance_to_" + to + std::array{"_1", "_2", "_3_or_more"}[step],
                spread(range.high, range.low, step, 3));
    };
    add_distances("last_move", {0.9, 1.5});
    add_distances("move_before", {0.95, 1.3});
    assert(features.size() == feature_count);
    return features;
}

constexpr int apart(int a, int b) {
    const int files = file_of(a) < file_of(b) ? file_of(b) - file_of(a) : file_of(a) - file_of(b);
    const int ranks = rank_of(a) < rank_of(b) ? rank_of(b) - rank_of(a) : rank_of(a) - rank_of(b);
    return std::max(files, ranks);
}
/// Distances in king's moves, capped at 3; the square itself counts as 1.
constexpr auto steps_apart = [] {
    std::array<std::array<std::uint8_t, 64>, 64> table{};
    for (int a = 0; a < 64; ++a)
        for (int b = 0; b < 64; ++b) table[z(a)][z(b)] = static_cast<std::uint8_t>(std::clamp(apart(a, b), 1, 3));
    return table;
}();

/// Value of a piece's square on the board and relative to the enemy's king, in centipawns.
struct PlaceValues {
    using Board = std::array<std::int8_t, 64>;
    using Kinds = std::array<Board, kind_count>;
    std::array<Kinds, 2> on_board{};   // by owner
    std::array<Kinds, 64> to_enemy{};  // by the enemy's king

    PlaceValues() {
        constexpr std::array<int, kind_count> center = {4, 12, 7, 2, 3, 0};  // a step nearer to the middle
        constexpr std::array<int, kind_count> forward = {6, 3, 2, 2, 1, 0};  // a rank further
        constexpr std::array<int, kind_count> siege = {2, 4, 2, 3, 6, 0};    // a step nearer to the king
        for (int square = 0; square < 64; ++square) {
            const int file = std::min(file_of(square), 7 - file_of(square));
            const int rank = std::min(rank_of(square), 7 - rank_of(square));
            for (std::size_t kind = 0; kind < kind_count; ++kind) {
                const int value =
                    center[kind] * (file + (kind == Chess::pawn ? 0 : rank)) + forward[kind] * rank_of(square);
                on_board[0][kind][z(square)] = static_cast<std::int8_t>(value);
                on_board[1][kind][z(square ^ 56)] = static_cast<std::int8_t>(value);
                for (int king = 0; king < 64; ++king)
                    to_enemy[z(king)][kind][z(square)] = static_cast<std::int8_t>(-siege[kind] * apart(square, king));
            }
        }
    }
};
const PlaceValues place_values;

/// Squares attacked by a player.
struct Threats {
    std::array<Bitboard, class_count> by{};  // by class of the attacker
    Bitboard all = 0;
    Bitboard sliding = 0;             // by pieces that slide
    std::array<Bitboard, 4> count{};  // bit i of how many attack each square, up to 15

    Threats(const Chess& game, Player attacker) {
        const Bitboard occupied = game.occupied();
        for_each_bit(game.pieces(attacker), [&](int square) {
            const Kind kind = game.piece_on(square);
            Bitboard attacks = 0;
            if (kind == Chess::pawn) attacks = tables.pawn[index_of(attacker)][square];
            if (kind == Chess::knight) attacks = tables.knight[square];
            if (kind == Chess::king) attacks = tables.king[square];
            if (kind == Chess::bishop || kind == Chess::queen) attacks = bishop_attacks(square, occupied);
            if (kind == Chess::rook || kind == Chess::queen) attacks |= rook_attacks(square, occupied);
            by[class_of[kind]] |= attacks;
            if (kind >= Chess::bishop && kind <= Chess::queen) sliding |= attacks;
            Bitboard carry = attacks;
            for (Bitboard& digit : count) {
                const Bitboard next = digit & carry;
                digit ^= carry;
                carry = next;
            }
        });
        all = by[0] | by[1] | by[2];
    }
    int attacks_on(Bitboard squares) const {
        return count_bits(count[0] & squares) + 2 * count_bits(count[1] & squares) +
               4 * count_bits(count[2] & squares) + 8 * count_bits(count[3] & squares);
    }
};

/// Which moves give check.
struct Checks {
    int king_at;
    std::array<Bitboard, kind_count> squares{};  // by kind: where such a piece checks
    Bitboard shields = 0;                        // the mover's pieces that open a check when they leave the line

    Checks(const Chess& game, Player us) : king_at(lowest_bit(game.pieces(other(us), Chess::king))) {
        const Bitboard occupied = game.occupied();
        squares[Chess::pawn] = tables.pawn[index_of(other(us))][king_at];
        squares[Chess::knight] = tables.knight[king_at];
        squares[Chess::bishop] = bishop_attacks(king_at, occupied);
        squares[Chess::rook] = rook_attacks(king_at, occupied);
        squares[Chess::queen] = squares[Chess::bishop] | squares[Chess::rook];
        const Bitboard queens = game.pieces(us, Chess::queen);
        const Bitboard in_line = (bishop_attacks(king_at, 0) & (game.pieces(us, Chess::bishop) | queens)) |
                                 (rook_attacks(king_at, 0) & (game.pieces(us, Chess::rook) | queens));
        for_each_bit(in_line, [&](int slider) {
            const Bitboard blockers = tables.between[king_at][slider] & occupied;
            if (blockers && !(blockers & (blockers - 1))) shields |= blockers & game.pieces(us);
        });
    }
    bool given_by(Kind kind_after, int from, int to) const {
        return ((squares[kind_after] & bit(to)) != 0) ||
               ((shields & bit(from)) && !(tables.line[king_at][from] & bit(to)));
    }
};

constexpr std::size_t exchange_band(int value) {
    return exchange + z((value >= -650) + (value >= -400) + (value >= -200) + (value >= -50) + (value > 50) +
                        (value > 200) + (value > 400) + (value > 650));
}

}  // namespace

const std::vector<Feature>& MoveFeatures<Chess>::all() {
    static const std::vector<Feature> features = make_features();
    return features;
}

template <class Sink>
void MoveFeatures<Chess>::visit(const Chess& game, const Context<Chess>& context, std::span<const Move> moves,
                                Sink sink) {
    if (moves.empty()) return;
    const Player us = game.to_play();
    const Threats threats(game, other(us));
    const Checks checks(game, us);
    const int king_at = lowest_bit(game.pieces(us, Chess::king));
    const auto& on_board = place_values.on_board[z(us)];
    const auto& beside_enemy = place_values.to_enemy[z(checks.king_at)];
    const auto place_value = [&](Kind kind, int square) {
        return on_board[kind][z(square)] + beside_enemy[kind][z(square)];
    };
    const std::size_t king_goes = threats.all & bit(king_at) ? king_in_check : king_calm;
    const int danger = threats.attacks_on(tables.king[king_at]);
    const int last_to = context.last ? context.last->to() : -1;
    const int previous_to = context.before_last ? context.before_last->to() : -1;
    const int previous_from = context.before_last ? context.before_last->from() : -1;

    for (const Move move : moves) {
        const int from = move.from();
        const int to = move.to();
        if (last_to >= 0) sink.add(near_last + steps_apart[z(last_to)][z(to)] - 1);
        if (previous_to >= 0) sink.add(near_before_last + steps_apart[z(previous_to)][z(to)] - 1);
        if (move.type() == Type::castling || move.type() == Type::en_passant) {
            // Two pieces leave their squares: rare enough to look at the position after.
            Chess after = game;
            after.play(move);
            if (after.in_check()) sink.add(check);
        }
        if (move.type() == Type::castling) {
            sink.add(to > from ? castling_short : castling_long);
            sink.end_move();
            continue;
        }
        const Kind kind = game.piece_on(from);
        const bool promotes = move.type() == Type::promotion;
        const bool passing = move.type() == Type::en_passant;
        const Kind kind_after = promotes ? move.promoted() : kind;
        const Kind victim = game.piece_on(to);
        // A slider that attacks the piece may reach through the square it leaves.
        if ((threats.all & bit(to)) || (threats.sliding & bit(from)) || passing) {
            sink.add(exchange_band(kind == Chess::king && victim == Chess::no_piece ? 0 : game.see(move)));
        } else {
            const int gain = victim == Chess::no_piece ? 0 : Chess::exchange_values[victim];
            sink.add(exchange_band(gain + Chess::exchange_values[kind_after] - Chess::exchange_values[kind]));
        }
        if (victim != Chess::no_piece || passing) sink.add(to == last_to ? recapture : other_capture);
        if (promotes) sink.add(kind_after == Chess::queen ? promotion_to_queen : other_promotion);
        if (!passing && checks.given_by(kind_after, from, to)) sink.add(check);
        if (kind == Chess::king) {
            const int danger_after = threats.attacks_on(tables.king[to]);
            sink.add(king_goes + (danger_after < danger ? 0 : danger_after == danger ? 1 : 2));
        } else {
            if (kind == Chess::pawn) {
                const int rank = us == Player::first ? rank_of(to) : 7 - rank_of(to);
                if (rank == 5) sink.add(pawn_to_sixth);
                if (rank == 6) sink.add(pawn_to_seventh);
            }
            if (threats.all & bit(from)) {
                std::size_t by = 0;
                while (!(threats.by[by] & bit(from))) ++by;
                sink.add(escape + class_count * kind + by);
            }
            sink.add(moved + change_bands * kind + change_band(place_value(kind_after, to) - place_value(kind, from)));
        }
        if (from == previous_to) {
            sink.add(previous_piece + kind);
            if (to == previous_from) sink.add(victim == Chess::no_piece ? returns_quietly : returns_capturing);
        }
        sink.end_move();
    }
}

template void MoveFeatures<Chess>::visit(const Chess&, const Context<Chess>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Chess>::visit(const Chess&, const Context<Chess>&, std::span<const Move>, ListSink);

}  // namespace hyoka::strengths
