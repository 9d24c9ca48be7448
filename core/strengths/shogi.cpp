// SPDX-License-Identifier: Apache-2.0
#include "strengths/shogi.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

#include "strengths/bands.h"
#include "strengths/shogi_places.h"

namespace hyoka::strengths {

using namespace shogi;

namespace {

using Kind = Shogi::Kind;
using Move = Shogi::Move;

constexpr std::size_t z(int i) { return static_cast<std::size_t>(i); }
constexpr std::size_t z(Player player) { return static_cast<std::size_t>(player); }

/// Pieces that table 3 tells apart.
constexpr std::size_t group_count = 10;
constexpr std::array<std::string_view, group_count> group_names = {
    "pawn", "lance", "knight", "silver", "gold", "bishop", "rook", "horse", "dragon", "other_promoted"};
constexpr std::size_t hand_groups = 7;  // the first of them may be dropped
constexpr std::array<std::uint8_t, Shogi::kind_count> group_of = {0, 0, 1, 2, 3, 5, 6, 4, 0, 9, 9, 9, 9, 7, 8};

/// Attackers by rank, the lowest first.
constexpr std::size_t class_count = 4;
constexpr std::array<std::string_view, class_count> class_names = {"pawn", "light_piece", "general", "major_piece"};
constexpr std::array<std::uint8_t, Shogi::kind_count> class_of = {0, 0, 1, 1, 2, 3, 3, 2, 3, 2, 2, 2, 2, 3, 3};

// Where the features of each sort begin.
constexpr std::size_t see_bands = 15;
constexpr std::size_t exchange = 0;
constexpr std::size_t recapture = exchange + see_bands;
constexpr std::size_t other_capture = recapture + 1;
constexpr std::size_t promotion = other_capture + 1;
constexpr std::size_t check = promotion + 1;
constexpr std::size_t escape = check + 1;                                // + class_count * group + class
constexpr std::size_t moved = escape + group_count * class_count;        // + change_bands * group + band
constexpr std::size_t dropped = moved + group_count * change_bands;      // the same
constexpr std::size_t king_calm = dropped + hand_groups * change_bands;  // fewer attacks, as many, more
constexpr std::size_t king_in_check = king_calm + 3;                     // the same
constexpr std::size_t previous_piece = king_in_check + 3;                // + class of the piece
constexpr std::size_t returns_quietly = previous_piece + class_count;
constexpr std::size_t returns_capturing = returns_quietly + 1;
constexpr std::size_t near_last = returns_capturing + 1;  // distance at most 1, 2, more
constexpr std::size_t near_before_last = near_last + 3;   // the same
constexpr std::size_t declares = near_before_last + 3;
constexpr std::size_t feature_count = declares + 1;
constexpr std::size_t none = feature_count;

struct Range {
    double low;
    double high;
};

std::vector<Feature> make_features() {
    std::vector<Feature> features;
    const auto add = [&](std::string name, double strength) {
        features.push_back({std::move(name), static_cast<float>(strength)});
    };
    constexpr std::array<double, see_bands> by_exchange = {0.02, 0.05, 0.06, 0.10, 0.32, 0.35,  0.47, 1.11,
                                                           2.55, 2.90, 3.89, 6.08, 9.54, 14.37, 20.04};
    for (std::size_t band = 0; band < see_bands; ++band) {
        const int hundreds = static_cast<int>(band) - 7;
        add(hundreds < 0   ? "exchange_loses_" + std::to_string(-100 * hundreds)
            : hundreds > 0 ? "exchange_wins_" + std::to_string(100 * hundreds)
                           : "exchange_even",
            by_exchange[band]);
    }
    add("recapture", 12.75);
    add("other_capture", 1.88);
    add("promotion", 1.47);
    add("check", 7.55);

    constexpr std::array<Range, group_count> by_escape = {{{1.13, 1.27},
                                                           {1.90, 3.19},
                                                           {1.70, 2.59},
                                                           {2.20, 2.60},
                                                           {4.38, 4.78},
                                                           {1.77, 5.12},
                                                           {6.85, 23.68},
                                                           {3.26, 9.98},
                                                           {8.53, 14.62},
                                                           {0.82, 1.65}}};
    for (std::size_t group = 0; group < group_count; ++group)
        for (std::size_t by = 0; by < class_count; ++by)
            add("escape_of_" + std::string(group_names[group]) + "_from_" + std::string(class_names[by]),
                spread(by_escape[group].high, by_escape[group].low, by, class_count));

    const auto add_changes = [&](const std::string& verb, std::size_t group, Range range) {
        for (std::size_t band = 0; band < change_bands; ++band)
            add(verb + std::string(group_names[group]) + "_" + std::string(change_band_names[band]),
                spread(range.low, range.high, band, change_bands));
    };
    constexpr std::array<Range, group_count> by_move = {{{1.04, 2.19},
                                                         {0.16, 0.90},
                                                         {0.57, 2.25},
                                                         {0.60, 3.00},
                                                         {0.33, 2.22},
                                                         {0.66, 1.45},
                                                         {0.38, 1.00},
                                                         {0.78, 1.49},
                                                         {0.66, 0.99},
                                                         {1.05, 2.21}}};
    constexpr std::array<Range, hand_groups> by_drop = {
        {{0.50, 2.21}, {0.24, 0.97}, {0.17, 1.66}, {0.19, 1.35}, {0.28, 1.45}, {0.16, 1.17}, {0.22, 1.89}}};
    for (std::size_t group = 0; group < group_count; ++group) add_changes("move_of_", group, by_move[group]);
    for (std::size_t group = 0; group < hand_groups; ++group) add_changes("drop_of_", group, by_drop[group]);

    const auto add_king = [&](const std::string& when, Range range, double as_many) {
        add("king_" + when + "_to_fewer_attacks", range.high);
        add("king_" + when + "_to_as_many_attacks", as_many);
        add("king_" + when + "_to_more_attacks", range.low);
    };
    add_king("goes", {0.30, 1.01}, 1.01);
    add_king("in_check_goes", {0.57, 4.21}, 1.55);

    constexpr std::array<double, class_count> by_previous = {1.55, 1.10, 1.18, 0.90};
    for (std::size_t kind = 0; kind < class_count; ++kind)
        add("previous_piece_is_" + std::string(class_names[kind]), by_previous[kind]);
    add("return_without_capture", 0.30);
    add("return_with_capture", 0.87);
    const auto add_distances = [&](const std::string& to, Range range) {
        for (std::size_t step = 0; step < 3; ++step)
            add("distance_to_" + to + std::array{"_1", "_2", "_3_or_more"}[step],
                spread(range.high, range.low, step, 3));
    };
    add_distances("last_move", {0.89, 1.97});
    add_distances("move_before", {0.94, 1.86});
    add("declaration", 1000);
    assert(features.size() == feature_count);
    return features;
}

/// Chebyshev distances, capped at 3; what lies within one step counts as 1.
constexpr auto steps_apart = [] {
    std::array<std::array<std::uint8_t, 81>, 81> table{};
    for (int a = 0; a < 81; ++a)
        for (int b = 0; b < 81; ++b) {
            const int files = file_of(a) < file_of(b) ? file_of(b) - file_of(a) : file_of(a) - file_of(b);
            const int ranks = rank_of(a) < rank_of(b) ? rank_of(b) - rank_of(a) : rank_of(a) - rank_of(b);
            table[z(a)][z(b)] = static_cast<std::uint8_t>(std::clamp(std::max(files, ranks), 1, 3));
        }
    return table;
}();

/// Value of a piece's square, relative to its own king and to the enemy's; row 81 is for no king and all 0.
struct PlaceValues {
    using Kinds = std::array<std::int16_t, std::size_t{81} * Shogi::kind_count>;  // 81 * kind + square
    std::array<std::array<Kinds, 82>, 2> to_own{};                                // by owner and king
    std::array<std::array<Kinds, 82>, 2> to_enemy{};                              // the same

    PlaceValues() {
        constexpr std::size_t ranks = 17;
        constexpr std::size_t files = 9;
        const auto learned = [](std::size_t whose, std::size_t kind, std::size_t rank, std::size_t file) {
            return shogi_places[((whose * Shogi::kind_count + kind) * ranks + rank) * files + file];
        };
        for (int king = 0; king < 81; ++king)
            for (int square = 0; square < 81; ++square) {
                const auto rank = z(rank_of(square) - rank_of(king) + 8);  // Black's piece: first those before the king
                const auto file = z(std::abs(file_of(square) - file_of(king)));
                for (std::size_t kind = Shogi::pawn; kind < Shogi::kind_count; ++kind) {
                    // Black's values; White sees the same from the other side.
                    to_own[0][z(king)][81 * kind + z(square)] = learned(0, kind, rank, file);
                    to_own[1][z(80 - king)][81 * kind + z(80 - square)] = learned(0, kind, rank, file);
                    to_enemy[0][z(king)][81 * kind + z(square)] = learned(1, kind, rank, file);
                    to_enemy[1][z(80 - king)][81 * kind + z(80 - square)] = learned(1, kind, rank, file);
                }
            }
    }
};
const PlaceValues place_values;

constexpr Kind promoted(Kind kind) { return static_cast<Kind>(kind + 8); }
constexpr Direction forward_ray(Player player) { return player == Player::first ? up : down; }

constexpr auto kinds_by_value = [] {
    std::array<Kind, Shogi::kind_count - 1> kinds{};
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = static_cast<Kind>(i + 1);
    std::sort(kinds.begin(), kinds.end(),
              [](Kind a, Kind b) { return Shogi::exchange_values[a] < Shogi::exchange_values[b]; });
    return kinds;
}();

/// Squares attacked by a player.
struct Threats {
    std::array<Bitboard, Shogi::kind_count> by_kind{};  // of the attacker
    std::array<Bitboard, class_count> by{};             // by class of the attacker
    Bitboard all = 0;
    Bitboard beyond = 0;            // what sliders would attack if the piece in their way, of either side, went
    Bitboard sliding = 0;           // by pieces that slide
    std::array<Bitboard, 4> count;  // bit i of how many attack each square, up to 15

    Threats(const Shogi& game, Player attacker) : count{} {
        const Bitboard occupied = game.occupied();
        const Bitboard own = game.pieces(attacker);
        const auto of = [&](auto... kinds) { return (game.pieces(attacker, kinds) | ...); };
        const auto add = [&](std::size_t kind, Bitboard attacks) {
            by_kind[kind] |= attacks;
            Bitboard carry = attacks;
            for (Bitboard& digit : count) {
                const Bitboard next = digit & carry;
                digit ^= carry;
                carry = next;
            }
        };
        const Bitboard pawns = of(Shogi::pawn);
        add(Shogi::pawn, attacker == Player::first ? pawns >> 1 : pawns << 1);  // no pawn stands on its last rank
        // As in the rules: one loop for all that step, one for each way to slide.
        const auto color = z(attacker);
        const Bitboard lances = of(Shogi::lance);
        const Bitboard bishops = of(Shogi::bishop, Shogi::horse);
        const Bitboard rooks = of(Shogi::rook, Shogi::dragon);
        const std::array<const Bitboard*, 4> steps = {tables.knight[color], tables.silver[color], tables.king,
                                                      tables.gold[color]};
        for_each_bit(own ^ pawns ^ lances ^ bishops ^ rooks, [&](int square) {
            const Kind kind = game.piece_on(square);
            const std::size_t way = kind == Shogi::knight ? 0 : kind == Shogi::silver ? 1 : kind == Shogi::king ? 2 : 3;
            add(kind, steps[way][square]);
        });
        const auto add_sliders = [&](Bitboard sliders, auto&& attacks_from) {
            for_each_bit(sliders, [&](int square) {
                const Kind kind = game.piece_on(square);
                const Bitboard attacks = attacks_from(square) | (kind > Shogi::king ? tables.king[square] : 0);
                add(kind, attacks);
                sliding |= attacks;
                for_each_bit(attacks & occupied,
                             [&](int blocker) { beyond |= tables.rays[tables.direction[square][blocker]][blocker]; });
            });
        };
        add_sliders(lances, [&](int square) { return ray_attacks(forward_ray(attacker), square, occupied); });
        add_sliders(bishops, [&](int square) { return bishop_attacks(square, occupied); });
        add_sliders(rooks, [&](int square) { return rook_attacks(square, occupied); });
        for (std::size_t kind = Shogi::pawn; kind < Shogi::kind_count; ++kind) by[class_of[kind]] |= by_kind[kind];
        all = by[0] | by[1] | by[2] | by[3];
    }
    /// The value of the cheapest piece that attacks a square; pre: there is one.
    int cheapest(int square) const {
        for (const Kind kind : kinds_by_value)
            if (by_kind[kind] & bit(square)) return Shogi::exchange_values[kind];
        return 0;
    }
    Bitboard twice() const { return count[1] | count[2] | count[3]; }
    int attacks_on(Bitboard squares) const {
        return count_bits(count[0] & squares) + 2 * count_bits(count[1] & squares) +
               4 * count_bits(count[2] & squares) + 8 * count_bits(count[3] & squares);
    }
};

/// Which moves give check.
struct Checks {
    int king_at = 81;
    std::array<Bitboard, Shogi::kind_count> squares{};  // by kind: where such a piece checks
    Bitboard shields = 0;                               // the mover's pieces that open a check when they leave the line

    Checks(const Shogi& game, Player us) {
        const Player them = other(us);
        const Bitboard king = game.pieces(them, Shogi::king);
        if (!king) return;
        king_at = lowest_bit(king);
        const Bitboard occupied = game.occupied();
        const int color = index_of(them);
        squares[Shogi::pawn] = tables.pawn[color][king_at];
        squares[Shogi::knight] = tables.knight[color][king_at];
        squares[Shogi::silver] = tables.silver[color][king_at];
        for (const Kind kind :
             {Shogi::gold, Shogi::promoted_pawn, Shogi::promoted_lance, Shogi::promoted_knight, Shogi::promoted_silver})
            squares[kind] = tables.gold[color][king_at];
        squares[Shogi::bishop] = bishop_attacks(king_at, occupied);
        squares[Shogi::rook] = rook_attacks(king_at, occupied);
        squares[Shogi::lance] = squares[Shogi::rook] & tables.rays[forward_ray(them)][king_at];
        squares[Shogi::horse] = squares[Shogi::bishop] | tables.king[king_at];
        squares[Shogi::dragon] = squares[Shogi::rook] | tables.king[king_at];
        const Bitboard own = game.pieces(us);
        const Bitboard lances = tables.rays[forward_ray(them)][king_at] & game.pieces(us, Shogi::lance);
        const Bitboard straight =
            tables.cross[king_at] & (game.pieces(us, Shogi::rook) | game.pieces(us, Shogi::dragon));
        const Bitboard diagonal =
            tables.diagonal[king_at] & (game.pieces(us, Shogi::bishop) | game.pieces(us, Shogi::horse));
        for_each_bit(lances | straight | diagonal, [&](int slider) {
            const Bitboard blockers = between(king_at, slider) & occupied;
            if (blockers && !(blockers & (blockers - 1))) shields |= blockers & own;
        });
    }
    bool given_by(Kind kind_after, int to) const { return (squares[kind_after] & bit(to)) != 0; }
    /// Pre: the piece is one of `shields`.
    bool opened_by(int from, int to) const { return !(line_through(king_at, from) & bit(to)); }
};

/// The pieces of both sides by the way they move, gathered once for many questions.
struct Movers {
    std::array<Bitboard, 2> pawns, lances, knights, silvers, golds;  // by player
    Bitboard kings, straight, diagonal;

    explicit Movers(const Shogi& game) {
        const auto of = [&](Player player, auto... kinds) { return (game.pieces(player, kinds) | ...); };
        const auto both = [&](auto... kinds) { return of(Player::first, kinds...) | of(Player::second, kinds...); };
        for (const Player player : {Player::first, Player::second}) {
            pawns[z(player)] = of(player, Shogi::pawn);
            lances[z(player)] = of(player, Shogi::lance);
            knights[z(player)] = of(player, Shogi::knight);
            silvers[z(player)] = of(player, Shogi::silver);
            golds[z(player)] = of(player, Shogi::gold, Shogi::promoted_pawn, Shogi::promoted_lance,
                                  Shogi::promoted_knight, Shogi::promoted_silver);
        }
        kings = both(Shogi::king, Shogi::horse, Shogi::dragon);
        straight = both(Shogi::rook, Shogi::dragon);
        diagonal = both(Shogi::bishop, Shogi::horse);
    }
    /// Those that attack a square when `occupied` squares block.
    Bitboard attackers(int square, Bitboard occupied) const {
        Bitboard found = tables.king[square] & kings;
        for (std::size_t player = 0; player < 2; ++player) {
            const std::size_t seen_from = 1 - player;  // attacks are symmetric with colors swapped
            found |= (tables.pawn[seen_from][square] & pawns[player]) |
                     (tables.knight[seen_from][square] & knights[player]) |
                     (tables.silver[seen_from][square] & silvers[player]) |
                     (tables.gold[seen_from][square] & golds[player]);
        }
        if (tables.rays[down][square] & lances[0]) found |= ray_attacks(down, square, occupied) & lances[0];
        if (tables.rays[up][square] & lances[1]) found |= ray_attacks(up, square, occupied) & lances[1];
        if (tables.cross[square] & straight) found |= rook_attacks(square, occupied) & straight;
        if (tables.diagonal[square] & diagonal) found |= bishop_attacks(square, occupied) & diagonal;
        return found & occupied;
    }
};

/// Attackers of both sides on one square, cheapest first.
class Exchange {
public:
    Exchange(const Shogi& game, const Movers& movers, int square, Bitboard occupied)
        : game_(game), square_(square), occupied_(occupied), able_(movers.attackers(square, occupied)) {}

    /// Static exchange value of capturing a piece of this value for `side`.
    int best_capture(Player side, int victim) {
        const Bitboard able = able_ & game_.pieces(side);
        if (!able) return 0;
        int cheapest = lowest_bit(able);
        for_each_bit(able & (able - 1), [&](int by) {
            if (value_of(by) < value_of(cheapest)) cheapest = by;
        });
        remove(cheapest);
        return std::max(0, victim - best_capture(other(side), value_of(cheapest)));
    }

private:
    int value_of(int square) const { return Shogi::exchange_values[game_.piece_on(square)]; }
    /// A capturer leaves its square; a slider behind it may take part now.
    void remove(int from) {
        able_ ^= bit(from);
        occupied_ ^= bit(from);
        const Direction direction = tables.direction[square_][from];
        if (direction == no_direction) return;
        const Bitboard behind = tables.rays[direction][from] & occupied_;
        if (!behind) return;
        const int next = direction < 4 ? lowest_bit(behind) : highest_bit(behind);
        const Player owner = game_.pieces(Player::first) & bit(next) ? Player::first : Player::second;
        if (reaches(game_.piece_on(next), owner, direction)) able_ |= bit(next);
    }
    /// Whether a piece of this kind attacks from afar against the direction.
    static bool reaches(Kind kind, Player owner, Direction direction) {
        switch (kind) {
            case Shogi::lance: return direction == opposite(forward_ray(owner));
            case Shogi::rook:
            case Shogi::dragon: return direction % 2 == 0;
            case Shogi::bishop:
            case Shogi::horse: return direction % 2 == 1;
            default: return false;
        }
    }

    const Shogi& game_;
    int square_;
    Bitboard occupied_;
    Bitboard able_;
};

constexpr std::size_t exchange_band(int value) {
    return exchange + static_cast<unsigned>(std::clamp(value, -750, 749) + 750) / 100;
}

/// All that the features of a position's moves are read from.
struct Scene {
    /// Where a move went that isn't known.
    static constexpr int no_square = 81;

    const Shogi& game;
    Player us = game.to_play();
    Player them = other(us);
    Bitboard occupied = game.occupied();
    Threats threats{game, them};
    Threats cover{game, us};
    Movers movers{game};
    Bitboard sliders = movers.straight | movers.diagonal | movers.lances[0] | movers.lances[1];
    // Where we may recapture: what we cover, and what our sliders may reach when an enemy captures.
    Bitboard held = cover.all | cover.beyond;            // after a drop
    Bitboard held_twice = cover.twice() | cover.beyond;  // after a move by one of those that cover it
    // Where more can follow on that than one capture and one recapture.
    Bitboard crowded = threats.twice() | threats.beyond | cover.beyond;
    Checks checks{game, us};
    Bitboard own_king = game.pieces(us, Shogi::king);
    int king_at = own_king ? lowest_bit(own_king) : no_square;
    const std::int16_t* beside_own = place_values.to_own[z(us)][z(king_at)].data();
    const std::int16_t* beside_enemy = place_values.to_enemy[z(us)][z(checks.king_at)].data();
    std::size_t king_goes = threats.all & own_king ? king_in_check : king_calm;
    int danger = threats.attacks_on(own_king ? tables.king[king_at] : 0);
    int last_to;
    int previous_to;
    int previous_from;

    Scene(const Shogi& position, const Context<Shogi>& context)
        : game(position),
          last_to(square_of(context.last)),
          previous_to(square_of(context.before_last)),
          previous_from(previous_to != no_square && !context.before_last->is_drop() ? context.before_last->from()
                                                                                    : no_square) {}
    static int square_of(const std::optional<Move>& move) {
        return move && *move != Move::declaration() ? move->to() : no_square;
    }
    int place_value(Kind kind, int square) const {
        return beside_own[81 * kind + square] + beside_enemy[81 * kind + square];
    }

    // Moves of one piece, and drops of one kind, have much in common, which is worked out once.

    struct Drops {
        Kind kind;
        Bitboard checking;
    };
    Drops drops_of(Kind kind) const { return {kind, checks.squares[kind]}; }
    /// What we get back for a piece that is dropped and captured: the same for all kinds.
    static constexpr int not_captured = 1 << 20;
    int return_for_drop(int to) const {
        if (!(threats.all & bit(to))) return not_captured;
        if (!(held & bit(to))) return 0;
        if (!(crowded & bit(to))) return threats.cheapest(to);
        return not_captured - Exchange(game, movers, to, occupied | bit(to)).best_capture(them, not_captured);
    }
    template <class Sink>
    void add(const Drops& drops, int to, int returned, Sink& sink) const {
        add_distances(to, sink);
        sink.add(exchange_band(std::min(0, returned - Shogi::exchange_values[drops.kind])));
        sink.add(dropped + change_bands * group_of[drops.kind] +
                 change_band(place_value(drops.kind, to) - shogi_hand_values[drops.kind]));
        if (drops.checking & bit(to)) sink.add(check);
    }

    struct Piece {
        Kind kind;
        int from;
        int place_before;
        std::size_t first_change;
        std::size_t escapes;
        bool shield;   // it opens a check when it leaves the line
        bool slid_at;  // a slider attacks or covers it
    };
    Piece piece_at(int from) const {
        const Kind kind = game.piece_on(from);
        std::size_t escapes = none;
        if (kind != Shogi::king && (threats.all & bit(from)))
            for (std::size_t by = class_count; by-- > 0;)
                if (threats.by[by] & bit(from)) escapes = escape + class_count * group_of[kind] + by;
        return {.kind = kind,
                .from = from,
                .place_before = place_value(kind, from),
                .first_change = moved + change_bands * group_of[kind],
                .escapes = escapes,
                .shield = (checks.shields & bit(from)) != 0,
                .slid_at = ((threats.sliding | cover.sliding) & bit(from)) != 0};
    }
    /// Where the piece gives check by going there.
    Bitboard checking(const Piece& piece, Kind kind_after) const {
        return checks.squares[kind_after] | (piece.shield ? ~line_through(checks.king_at, piece.from) : 0);
    }
    /// Whether a slider that attacks the piece or covers it may reach `to` through the square it leaves.
    bool reached_through(const Piece& piece, int to) const {
        return piece.slid_at && (tables.rays[tables.direction[to][piece.from]][piece.from] & sliders);
    }
    /// Static exchange value at the piece's target.
    int gain(const Piece& piece, int to, Kind victim, Kind kind_after) const {
        const int value_after = Shogi::exchange_values[kind_after];
        const int taken = Shogi::exchange_values[victim] + value_after - Shogi::exchange_values[piece.kind];
        if (piece.kind == Shogi::king) return taken;
        // The piece itself is one of those that cover where it goes.
        const bool threatened = (threats.all & bit(to)) != 0;
        if (reached_through(piece, to) || (threatened && (held_twice & crowded & bit(to)))) {
            const Bitboard after = (occupied ^ bit(piece.from)) | bit(to);
            return taken - Exchange(game, movers, to, after).best_capture(them, value_after);
        }
        if (!threatened) return taken;
        return taken - (held_twice & bit(to) ? std::max(0, value_after - threats.cheapest(to)) : value_after);
    }
    template <class Sink>
    void add(const Piece& piece, Move move, Sink& sink) const {
        const int to = move.to();
        const Kind kind_after = move.promotes() ? promoted(piece.kind) : piece.kind;
        const Kind victim = game.piece_on(to);
        add_distances(to, sink);
        sink.add(exchange_band(gain(piece, to, victim, kind_after)));
        if (victim != Shogi::no_piece) sink.add(to == last_to ? recapture : other_capture);
        if (move.promotes()) sink.add(promotion);
        if (checking(piece, kind_after) & bit(to)) sink.add(check);
        if (piece.kind == Shogi::king) {
            const int danger_after = threats.attacks_on(tables.king[to]);
            sink.add(king_goes + (danger_after < danger ? 0 : danger_after == danger ? 1 : 2));
        } else {
            if (piece.escapes != none) sink.add(piece.escapes);
            sink.add(piece.first_change + change_band(place_value(kind_after, to) - piece.place_before));
        }
        if (piece.from == previous_to) {
            sink.add(previous_piece + class_of[piece.kind]);
            if (to == previous_from) sink.add(victim == Shogi::no_piece ? returns_quietly : returns_capturing);
        }
    }

private:
    template <class Sink>
    void add_distances(int to, Sink& sink) const {
        if (last_to != no_square) sink.add(near_last + steps_apart[z(last_to)][z(to)] - 1);
        if (previous_to != no_square) sink.add(near_before_last + steps_apart[z(previous_to)][z(to)] - 1);
    }
};

}  // namespace

const std::vector<Feature>& MoveFeatures<Shogi>::all() {
    static const std::vector<Feature> features = make_features();
    return features;
}

template <class Sink>
void MoveFeatures<Shogi>::visit(const Shogi& game, const Context<Shogi>& context, std::span<const Move> moves,
                                Sink sink) {
    if (moves.empty()) return;
    const Scene scene(game, context);
    constexpr int unknown = -1;
    std::array<int, 81> returns;  // for drops, by square
    returns.fill(unknown);
    const auto end = moves.end();
    for (auto next = moves.begin(); next != end;) {
        const int from = next->from();
        if (*next == Move::declaration()) {
            sink.add(declares);
            sink.end_move();
            ++next;
        } else if (next->is_drop()) {
            const auto drops = scene.drops_of(next->dropped());
            for (; next != end && next->from() == from; ++next) {
                int& returned = returns[z(next->to())];
                if (returned == unknown) returned = scene.return_for_drop(next->to());
                scene.add(drops, next->to(), returned, sink);
                sink.end_move();
            }
        } else {
            const auto piece = scene.piece_at(from);
            for (; next != end && next->from() == from; ++next) {
                scene.add(piece, *next, sink);
                sink.end_move();
            }
        }
    }
}

template void MoveFeatures<Shogi>::visit(const Shogi&, const Context<Shogi>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Shogi>::visit(const Shogi&, const Context<Shogi>&, std::span<const Move>, ListSink);

namespace {

/// By eight bits: 1 where they are set.
constexpr auto spread_bits = [] {
    std::array<std::array<float, 8>, 256> table{};
    for (std::size_t bits = 0; bits < 256; ++bits)
        for (std::size_t i = 0; i < 8; ++i) table[bits][i] = static_cast<float>(bits >> i & 1);
    return table;
}();
constexpr std::size_t eights = 11;  // that hold all squares
const std::array<float, 8>& spread_eight(Bitboard squares, std::size_t i) {
    return spread_bits[static_cast<std::size_t>(squares >> (8 * i)) & 255];
}

}  // namespace

/// Moves whose strengths are known not to be above some bounds, drawn by these.
class MoveDraw<Shogi>::Lottery {
public:
    Lottery(MoveDraw& draw, const Scene& scene, const Shogi::MoveSets& sets) : draw_(draw), scene_(scene) {
        const Row& last = draw.near_last_[z(scene.last_to)];
        const Row& before = draw.near_before_last_[z(scene.previous_to)];
        for (std::size_t i = 0; i < last.size(); ++i) nearness_[i] = last[i] * before[i];
        std::size_t next = 0;
        for (; next < sets.size() && sets[next].from <= Shogi::MoveSet::pawn_steps; ++next) add_pieces(sets[next]);
        if (next == sets.size()) return;
        // A piece that is dropped where it's lost is known to be; elsewhere it might be safe.
        const Bitboard lost = scene.threats.all & ~scene.held;
        const float even = draw.at_most_[exchange_band(0) - exchange];
        for (std::size_t i = 0; i < eights; ++i)
            for (std::size_t j = 0; j < 8; ++j) {
                const float is_lost = spread_eight(lost, i)[j];
                safe_[8 * i + j] = nearness_[8 * i + j] * (1 - is_lost) * even;
                lost_[8 * i + j] = nearness_[8 * i + j] * is_lost;
            }
        places_ = &draw.drop_places(scene.us, scene.king_at, scene.checks.king_at);
        for (; next < sets.size(); ++next) add_drops(sets[next]);
    }

    /// A move and what bounds its strength; its number if it is one of those that are listed.
    struct Drawn {
        Move move;
        float bound;
        std::size_t listed;
    };
    Drawn draw(Rng& rng) const {
        float left = (listed_sum_ + drops_sum_) * static_cast<float>(rng.bits() >> 40) * 0x1p-24f;
        if (left < listed_sum_ || kinds_ == 0) {
            std::size_t drawn = 0;
            // Rounding may leave a little at the end: then it is the last one.
            while (drawn + 1 < listed_ && (left -= bounds_[drawn]) >= 0) ++drawn;
            return {moves_[drawn], bounds_[drawn], drawn};
        }
        left -= listed_sum_;
        std::size_t kind = 0;
        while (kind + 1 < kinds_ && left >= drops_[kind].sum) left -= drops_[kind++].sum;
        return draw_drop(drops_[kind], left);
    }
    /// The bound of a listed move turned out too high.
    void lower(std::size_t listed, float strength) {
        listed_sum_ += strength - bounds_[listed];
        bounds_[listed] = strength;
    }

private:
    struct DropsOfKind {
        Kind kind;
        Bitboard targets;
        float lost;  // the strength of losing such a piece
        float sum;
    };

    void list(Move move, float bound) {
        moves_[listed_] = move;
        bounds_[listed_++] = bound;
        listed_sum_ += bound;
    }
    float strength(std::size_t feature) const { return draw_.strengths_[feature]; }

    void add_pieces(const Shogi::MoveSet& set) {
        if (set.from != Shogi::MoveSet::pawn_steps) return add_piece(set.from, set.targets, set.promotes);
        for_each_bit(set.targets, [&](int to) { add_piece(set.move_to(to, scene_.us).from(), bit(to), set.promotes); });
    }
    void add_piece(int from, Bitboard targets, bool promotes) {
        const auto piece = scene_.piece_at(from);
        const Kind kind_after = promotes ? promoted(piece.kind) : piece.kind;
        const int value_after = Shogi::exchange_values[kind_after];
        const int gain = value_after - Shogi::exchange_values[piece.kind];
        const bool is_king = piece.kind == Shogi::king;
        const Bitboard checking = scene_.checking(piece, kind_after);
        float common = promotes ? strength(promotion) : 1;
        if (piece.escapes != none) common *= strength(piece.escapes);
        if (from == scene_.previous_to) common *= strength(previous_piece + class_of[piece.kind]);
        if (is_king)
            common *=
                std::max({strength(scene_.king_goes), strength(scene_.king_goes + 1), strength(scene_.king_goes + 2)});
        const auto place_change = [&](int to) {
            if (is_king) return 1.0f;
            return strength(piece.first_change + change_band(scene_.place_value(kind_after, to) - piece.place_before));
        };
        // Where it is threatened, covered by nothing else and nothing is hidden behind it, it is lost.
        const Bitboard lost = is_king ? 0 : scene_.threats.all & ~scene_.held_twice;
        Bitboard plain = targets & ~scene_.occupied & ~checking;
        if (piece.slid_at) plain &= ~lost;
        if (from == scene_.previous_to && scene_.previous_from != Scene::no_square) plain &= ~bit(scene_.previous_from);
        const auto add_plain = [&](Bitboard squares, float exchanged) {
            const float alike = common * exchanged;
            for_each_bit(squares,
                         [&](int to) { list({from, to, promotes}, alike * nearness_[z(to)] * place_change(to)); });
        };
        add_plain(plain & ~lost, draw_.at_most_[exchange_band(gain) - exchange]);
        add_plain(plain & lost, strength(exchange_band(gain - value_after)));
        for_each_bit(targets & ~plain, [&](int to) {
            const Kind victim = scene_.game.piece_on(to);
            const int taken = gain + Shogi::exchange_values[victim];
            float bound = common * nearness_[z(to)] * place_change(to);
            bound *= (lost & bit(to)) && !scene_.reached_through(piece, to)
                         ? strength(exchange_band(taken - value_after))
                         : draw_.at_most_[exchange_band(taken) - exchange];
            if (victim != Shogi::no_piece) bound *= strength(to == scene_.last_to ? recapture : other_capture);
            if (checking & bit(to)) bound *= strength(check);
            if (from == scene_.previous_to && to == scene_.previous_from)
                bound *= strength(victim == Shogi::no_piece ? returns_quietly : returns_capturing);
            list({from, to, promotes}, bound);
        });
    }

    void add_drops(const Shogi::MoveSet& set) {
        DropsOfKind drops{.kind = static_cast<Kind>(set.from - 81),
                          .targets = set.targets,
                          .lost = strength(exchange_band(-Shogi::exchange_values[set.from - 81])),
                          .sum = 0};
        // Checks are listed, so that the bounds of the others need not allow for them.
        const Bitboard checking = set.targets & scene_.checks.squares[drops.kind];
        for_each_bit(checking,
                     [&](int to) { list(Move::drop(drops.kind, to), drop_bound(drops, z(to)) * strength(check)); });
        drops.targets ^= checking;
        if (!drops.targets) return;
        std::array<float, 8> sums{};
        for (std::size_t i = 0; i < eights; ++i) {
            const auto& open = spread_eight(drops.targets, i);
            for (std::size_t j = 0; j < 8; ++j) sums[j] += open[j] * drop_bound(drops, 8 * i + j);
        }
        for (const float sum : sums) drops.sum += sum;
        drops_sum_ += drops.sum;
        drops_[kinds_++] = drops;
    }
    float drop_bound(const DropsOfKind& drops, std::size_t to) const {
        return places_->strengths[drops.kind - 1u][to] * (safe_[to] + drops.lost * lost_[to]);
    }
    Drawn draw_drop(const DropsOfKind& drops, float left) const {
        Bitboard open = drops.targets;
        while (true) {
            const int to = pop_lowest_bit(open);
            const float bound = drop_bound(drops, z(to));
            if (!open || (left -= bound) < 0) return {Move::drop(drops.kind, to), bound, max_listed};
        }
    }

    MoveDraw& draw_;
    const Scene& scene_;
    Row nearness_;
    Row safe_;
    Row lost_;
    const DropPlaces* places_ = nullptr;
    std::array<DropsOfKind, hand_groups> drops_;
    std::size_t kinds_ = 0;
    float drops_sum_ = 0;
    std::size_t listed_ = 0;
    float listed_sum_ = 0;
    std::array<Move, max_listed> moves_;
    std::array<float, max_listed> bounds_;
};

MoveDraw<Shogi>::MoveDraw(std::span<const float> strengths) : strengths_(strengths.begin(), strengths.end()) {
    assert(strengths.size() == feature_count);
    float greatest = 0;
    for (std::size_t band = 0; band < see_bands; ++band)
        at_most_[band] = greatest = std::max(greatest, strengths[exchange + band]);
    for (std::size_t square = 0; square < 81; ++square)
        for (std::size_t to = 0; to < 81; ++to) {
            near_last_[square][to] = strengths[near_last + steps_apart[square][to] - 1];
            near_before_last_[square][to] = strengths[near_before_last + steps_apart[square][to] - 1];
        }
    near_last_[Scene::no_square].fill(1);
    near_before_last_[Scene::no_square].fill(1);
}

const MoveDraw<Shogi>::DropPlaces& MoveDraw<Shogi>::drop_places(Player us, int own_king, int enemy_king) {
    const int key = (index_of(us) * 82 + own_king) * 82 + enemy_king;
    DropPlaces& places = known_places_[z(key) % known_places_.size()];
    if (places.key == key) return places;
    places.key = key;
    const std::int16_t* beside_own = place_values.to_own[z(us)][z(own_king)].data();
    const std::int16_t* beside_enemy = place_values.to_enemy[z(us)][z(enemy_king)].data();
    for (std::size_t kind = Shogi::pawn; kind <= Shogi::gold; ++kind)
        for (std::size_t to = 0; to < 81; ++to) {
            const int change = beside_own[81 * kind + to] + beside_enemy[81 * kind + to] - shogi_hand_values[kind];
            places.strengths[kind - 1][to] = strengths_[dropped + change_bands * group_of[kind] + change_band(change)];
        }
    return places;
}

std::optional<Move> MoveDraw<Shogi>::operator()(const Shogi& game, const Context<Shogi>& context, Rng& rng) {
    const auto sets = game.move_sets();
    if (sets.empty()) return std::nullopt;
    if (game.rules().declaration && game.may_declare()) return draw_from_all(game, context, rng);
    const Scene scene(game, context);
    Lottery lottery(*this, scene, sets);
    for (int tries = 0; tries < 50; ++tries) {
        const auto drawn = lottery.draw(rng);
        float exact = 0;
        StrengthSink sink(strengths_.data(), &exact);
        if (drawn.move.is_drop())
            scene.add(scene.drops_of(drawn.move.dropped()), drawn.move.to(), scene.return_for_drop(drawn.move.to()),
                      sink);
        else
            scene.add(scene.piece_at(drawn.move.from()), drawn.move, sink);
        sink.end_move();
        assert(exact <= drawn.bound * 1.0001f);
        if (static_cast<float>(rng.bits() >> 40) * 0x1p-24f * drawn.bound < exact) return drawn.move;
        if (drawn.listed < max_listed) lottery.lower(drawn.listed, exact);
    }
    return draw_from_all(game, context, rng);
}

std::optional<Move> MoveDraw<Shogi>::draw_from_all(const Shogi& game, const Context<Shogi>& context, Rng& rng) const {
    const auto moves = game.legal_moves();
    std::array<float, Shogi::max_moves> weights;
    MoveFeatures<Shogi>::visit(game, context, {moves.begin(), moves.size()},
                               StrengthSink(strengths_.data(), weights.data()));
    return moves[draw_weighted({weights.data(), moves.size()}, rng)];
}

}  // namespace hyoka::strengths
