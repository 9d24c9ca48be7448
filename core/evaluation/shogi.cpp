// SPDX-License-Identifier: Apache-2.0
#include "evaluation/shogi.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "features/shogi.h"

namespace hyoka::evaluation {
namespace {

using namespace shogi;

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr std::array<const char*, Shogi::kind_count> kind_names = {
    "",     "pawn",          "lance",          "knight",          "silver",          "bishop", "rook",  "gold",
    "king", "promoted_pawn", "promoted_lance", "promoted_knight", "promoted_silver", "horse",  "dragon"};
constexpr int hand_kinds = 7;
constexpr int piece_kinds = 13;
/// Where a kind comes among those that are no kings.
constexpr std::size_t piece_index(int kind) { return at(kind < Shogi::king ? kind - 1 : kind - 2); }

/// Kinds by how they move: all golds are one.
enum Mover : std::uint8_t { pawn, lance, knight, silver, gold, bishop, rook, horse, dragon, mover_count };
constexpr std::array<const char*, mover_count> mover_names = {"pawn",   "lance", "knight", "silver", "gold",
                                                              "bishop", "rook",  "horse",  "dragon"};
constexpr std::array<Mover, Shogi::kind_count> mover_of = {pawn, pawn, lance, knight, silver, bishop, rook,  gold,
                                                           gold, gold, gold,  gold,   gold,   horse,  dragon};

// Where a piece stands from a king: files beside it, and ranks ahead of it as the piece's owner sees the board.
// What is farther than five counts as five.
constexpr int farthest = 5;
constexpr int rank_classes = 2 * farthest + 1;
constexpr int relation_count = (farthest + 1) * rank_classes;
constexpr int relation_of(int beside, int ahead) {
    return std::min(beside < 0 ? -beside : beside, farthest) * rank_classes + std::clamp(ahead, -farthest, farthest) +
           farthest;
}
/// By the squares of king and piece, for Black's pieces.
constexpr auto relations = [] {
    std::array<std::array<std::uint8_t, 81>, 81> table{};
    for (int king = 0; king < 81; ++king)
        for (int square = 0; square < 81; ++square)
            table[at(king)][at(square)] = static_cast<std::uint8_t>(
                relation_of(file_of(square) - file_of(king), rank_of(king) - rank_of(square)));
    return table;
}();
/// By square, for Black's king: its rank from home, and its file from the nearer edge.
constexpr auto king_places = [] {
    std::array<std::uint8_t, 81> table{};
    for (int square = 0; square < 81; ++square)
        table[at(square)] =
            static_cast<std::uint8_t>(5 * (8 - rank_of(square)) + std::min(file_of(square), 8 - file_of(square)));
    return table;
}();

// Where the terms begin. Names and weights follow in `make_terms`, in this order.
enum ShogiTerm : std::size_t {
    material = 0,                                                // by piece_index; in hand too
    in_hand = material + piece_kinds,                            // by piece_index
    own_king = in_hand + hand_kinds,                             // by mover and relation
    enemy_king = own_king + at(mover_count * relation_count),    // by mover and relation
    king_place = enemy_king + at(mover_count * relation_count),  // by king_places
    tempo = king_place + 45,
    lance_mobility,
    bishop_mobility,
    rook_mobility,
    horse_mobility,
    dragon_mobility,
    king_attackers,       // own pieces that reach the enemy king or a square beside it
    king_defenders,       // own pieces, the king aside, that reach the own king or a square beside it
    king_many_attackers,  // 3, 4, 5 or more
    king_zone_open = king_many_attackers + 3,  // squares there that own pieces reach and only the enemy king may guard
    king_zone_guarded,                         // squares at the own king that own pieces reach
    king_exits,                                // squares beside the own king where it could go
    hanging,                                   // enemy pieces attacked and not guarded
    term_count,
};

/// Weights by distance, 1 to 5.
struct ByDistance {
    std::array<float, farthest> opening;
    std::array<float, farthest> ending;
    Weight operator[](int distance) const { return {opening[at(distance - 1)], ending[at(distance - 1)]}; }
};
constexpr Weight scaled(Weight weight, float by) { return {weight.opening * by, weight.ending * by}; }

Weight beside_own_king(Mover mover, int beside, int ahead) {
    const int distance = std::max({beside, std::abs(ahead), 1});
    constexpr std::array<ByDistance, mover_count> by_distance = {{
        {},                                            // pawn
        {{6, 2, 0, 0, 0}, {8, 4, 0, 0, 0}},            // lance
        {{6, 6, 0, 0, 0}, {10, 8, 2, 0, 0}},           // knight
        {{22, 14, 6, 0, -2}, {44, 22, 8, -4, -12}},    // silver
        {{28, 16, 6, 0, -4}, {52, 26, 8, -6, -14}},    // gold
        {{6, 6, 4, 0, 0}, {10, 8, 4, 0, -4}},          // bishop
        {{-26, -16, -6, 0, 2}, {-30, -16, -6, 0, 4}},  // rook
        {{20, 20, 16, 8, 0}, {36, 34, 26, 10, -4}},    // horse
        {{0, 0, 0, 0, 0}, {8, 8, 4, 0, -4}},           // dragon
    }};
    if (mover == pawn) {
        if (beside > 1 || ahead < 1 || ahead > 2) return {};
        return ahead == 1 ? Weight{12, 20} : Weight{6, 8};
    }
    const bool covers_less = (mover == gold || mover == silver) && ahead < 0 && distance <= 2;
    return scaled(by_distance[mover][distance], covers_less ? 0.75f : 1.0f);
}

Weight beside_enemy_king(Mover mover, int beside, int ahead) {
    const int distance = std::max({beside, std::abs(ahead), 1});
    constexpr std::array<ByDistance, mover_count> by_distance = {{
        {},                                           // pawn
        {},                                           // lance
        {},                                           // knight
        {{16, 12, 8, 2, 0}, {64, 48, 26, 6, -18}},    // silver
        {{20, 14, 8, 2, -4}, {80, 58, 32, 8, -22}},   // gold
        {{12, 10, 6, 2, 0}, {28, 22, 14, 4, -6}},     // bishop
        {{12, 10, 6, 2, 0}, {28, 22, 14, 4, -6}},     // rook
        {{20, 16, 10, 4, 0}, {56, 48, 32, 10, -16}},  // horse
        {{20, 18, 12, 4, 0}, {60, 54, 38, 12, -14}},  // dragon
    }};
    const bool passed = ahead >= 0;
    switch (mover) {
        case pawn:
            if (passed) return {0, -6};
            return beside > 1 || ahead < -3 ? Weight{} : scaled({2, 6}, static_cast<float>(4 + ahead));
        case lance:
            if (passed) return {-4, -16};
            return beside == 0 ? Weight{6, 18} : beside == 1 ? Weight{3, 8} : Weight{};
        case knight:
            if (ahead >= -1) return {-4, -14};
            return beside > 2 || ahead < -4 ? Weight{} : scaled({3, 12}, static_cast<float>(5 + ahead));
        case silver: return scaled(by_distance[mover][distance], passed && distance <= 3 ? 0.625f : 1.0f);
        case rook:
        case dragon: {
            const Weight near = by_distance[mover][distance];
            return beside == 0 || ahead == 0 ? Weight{near.opening + 4, near.ending + 10} : near;
        }
        default: return by_distance[mover][distance];
    }
}

// The king's place: five files from the edge, and the rank from home.
constexpr std::array<float, 45> place_opening = {26,  18,  8,   2,   -6,   //
                                                 14,  34,  26,  8,   -10,  //
                                                 -16, -8,  -8,  -20, -30,  //
                                                 -50, -46, -46, -50, -56,  //
                                                 -70, -70, -70, -74, -80,  //
                                                 -80, -80, -80, -80, -80,  //
                                                 -60, -60, -60, -60, -60,  //
                                                 -40, -40, -40, -40, -40,  //
                                                 -40, -40, -40, -40, -40};
constexpr std::array<float, 45> place_ending = {8,   8,   4,   0,   -8,   //
                                                8,   14,  10,  0,   -10,  //
                                                -2,  0,   -4,  -10, -16,  //
                                                -20, -16, -16, -20, -24,  //
                                                -16, -12, -12, -16, -20,  //
                                                20,  24,  20,  16,  10,   //
                                                90,  90,  84,  80,  76,   //
                                                120, 120, 116, 112, 110,  //
                                                130, 130, 126, 122, 120};

std::vector<Term> make_terms() {
    std::vector<Term> terms;
    const auto add = [&](std::string name, Weight weight) { terms.push_back({std::move(name), weight}); };
    for (int kind = 1; kind < Shogi::kind_count; ++kind) {
        const auto value = static_cast<float>(Shogi::exchange_values[at(kind)]);
        if (kind != Shogi::king) add(kind_names[at(kind)], {value, value});
    }
    constexpr std::array<Weight, hand_kinds> held = {
        {{-10, 0}, {8, 10}, {4, 6}, {24, 32}, {40, 50}, {40, 60}, {26, 60}}};
    for (int kind = 1; kind <= hand_kinds; ++kind)
        add(kind_names[at(kind)] + std::string("_in_hand"), held[piece_index(kind)]);
    for (const bool enemy : {false, true})
        for (std::size_t mover = 0; mover < mover_count; ++mover)
            for (int beside = 0; beside <= farthest; ++beside)
                for (int ahead = -farthest; ahead <= farthest; ++ahead)
                    add(mover_names[mover] + std::string(enemy ? "_enemy" : "_own") + "_king_beside_" +
                            std::to_string(beside) + (ahead < 0 ? "_behind_" : "_ahead_") +
                            std::to_string(std::abs(ahead)),
                        (enemy ? beside_enemy_king : beside_own_king)(static_cast<Mover>(mover), beside, ahead));
    for (int rank = 1; rank <= 9; ++rank)
        for (int file = 1; file <= 5; ++file) {
            const std::size_t place = at(5 * (rank - 1) + file - 1);
            add("king_on_file_" + std::to_string(file) + "_rank_" + std::to_string(rank),
                {place_opening[place], place_ending[place]});
        }
    add("tempo", {40, 120});
    add("lance_mobility", {12, 24});
    add("bishop_mobility", {8, 22});
    add("rook_mobility", {12, 24});
    add("horse_mobility", {3, 4});
    add("dragon_mobility", {3, 4});
    add("king_attackers", {30, 90});
    add("king_defenders", {2, 24});
    add("king_attackers_3", {4, 20});
    add("king_attackers_4", {8, 50});
    add("king_attackers_5", {12, 90});
    add("king_zone_open", {24, 60});
    add("king_zone_guarded", {-6, 8});
    add("king_exits", {0, 60});
    add("hanging", {40, 45});
    assert(terms.size() == term_count);
    return terms;
}

constexpr Bitboard left_of(Bitboard set) { return (set << 9) & whole_board; }
constexpr Bitboard right_of(Bitboard set) { return set >> 9; }
constexpr Bitboard beside(Bitboard set) { return left_of(set) | right_of(set); }
constexpr Bitboard above(Bitboard set) { return (set & ~rank_mask(0)) >> 1; }
constexpr Bitboard below(Bitboard set) { return (set & ~rank_mask(8)) << 1; }
template <Player player>
constexpr Bitboard forward(Bitboard set) {
    return player == Player::first ? above(set) : below(set);
}

/// The halves of a set apart: faster than as one number of 128 bits.
template <class Visit>
void for_each_square(Bitboard set, Visit&& visit) {
    for_each_bit(low_word(set), visit);
    for_each_bit(high_word(set), [&](int square) { visit(64 + square); });
}

/// Cached facts about a side.
struct Side {
    int king;  // -1: none, as in problems
    Bitboard king_zone;
    Bitboard attacks = 0;  // of all but the king
    int attackers = 0;     // pieces that reach the enemy king or a square beside it
};

Side describe_side(const Shogi& game, Player player) {
    const Bitboard king = game.pieces(player, Shogi::king);
    if (!king) return {.king = -1, .king_zone = 0};
    const int square = lowest_bit(king);
    return {.king = square, .king_zone = tables.king[square] | king};
}

/// Adds what one side has, positively for the first player.
template <Player player, class Sink>
class SideCounter {
public:
    SideCounter(const Shogi& game, Side& own, const Side& enemy, Sink& sink)
        : game_(game), own_(own), enemy_(enemy), sink_(sink) {}

    /// Where the pieces stand; counts them by kind into `balance`.
    void count_places(std::array<int, Shogi::kind_count>& balance) {
        if (own_.king >= 0) sink_.add(king_place + king_places[seen(own_.king)], sign);
        // A king that is missing has a row all the same, and nothing is added for it.
        const auto& from_own = relations[seen(std::max(own_.king, 0))];
        const auto& from_enemy = relations[seen(std::max(enemy_.king, 0))];
        for_each_square(game_.pieces(player) & ~game_.pieces(player, Shogi::king), [&](int square) {
            const auto kind = game_.piece_on(square);
            balance[kind] += player == Player::first ? 1 : -1;
            const std::size_t row = mover_of[kind] * at(relation_count);
            if (own_.king >= 0) sink_.add(own_king + row + from_own[seen(square)], sign);
            if (enemy_.king >= 0) sink_.add(enemy_king + row + from_enemy[seen(square)], sign);
        });
    }

    void count_attacks() {
        const Bitboard golds = pieces(Shogi::gold) | pieces(Shogi::promoted_pawn) | pieces(Shogi::promoted_lance) |
                               pieces(Shogi::promoted_knight) | pieces(Shogi::promoted_silver);
        const Bitboard generals = pieces(Shogi::silver) | golds;
        const Bitboard before_generals = forward<player>(generals);
        const Bitboard before_pawns = forward<player>(pieces(Shogi::pawn));
        const Bitboard before_knights = forward<player>(forward<player>(pieces(Shogi::knight)));
        const Bitboard behind_golds = forward<other(player)>(golds);
        const Bitboard behind_silvers = forward<other(player)>(pieces(Shogi::silver));
        own_.attacks = before_generals | before_pawns | behind_golds |
                       beside(before_generals | before_knights | golds | behind_silvers);

        const Bitboard all = game_.occupied();
        const Bitboard blocked = game_.pieces(player);
        int attackers = count_steppers(enemy_.king, golds);
        int defenders = count_steppers(own_.king, golds);
        const auto add_sliders = [&](Shogi::Kind kind, std::size_t term, int usual, auto&& attacks_from) {
            int mobility = 0;
            for_each_square(pieces(kind), [&](int square) {
                const Bitboard attacks = attacks_from(square);
                own_.attacks |= attacks;
                attackers += (attacks & enemy_.king_zone) != 0;
                defenders += (attacks & own_.king_zone) != 0;
                mobility += count_bits(attacks & ~blocked) - usual;
            });
            add(term, mobility);
        };
        constexpr Direction onward = player == Player::first ? up : down;
        add_sliders(Shogi::lance, lance_mobility, 2, [&](int square) { return ray_attacks(onward, square, all); });
        add_sliders(Shogi::bishop, bishop_mobility, 5, [&](int square) { return bishop_attacks(square, all); });
        add_sliders(Shogi::rook, rook_mobility, 6, [&](int square) { return rook_attacks(square, all); });
        add_sliders(Shogi::horse, horse_mobility, 10,
                    [&](int square) { return bishop_attacks(square, all) | tables.king[square]; });
        add_sliders(Shogi::dragon, dragon_mobility, 11,
                    [&](int square) { return rook_attacks(square, all) | tables.king[square]; });

        own_.attackers = attackers;
        add(king_attackers, attackers);
        add(king_defenders, defenders);
        if (attackers >= 3) add(king_many_attackers + at(std::min(attackers, 5) - 3), 1);
    }

    /// Pre: both sides' attacks are counted.
    void count_kings() {
        const Bitboard around = own_.king_zone & ~game_.pieces(player, Shogi::king);
        add(king_zone_guarded, count_bits(own_.king_zone & own_.attacks));
        add(king_exits, count_bits(around & ~(game_.pieces(player) | enemy_.attacks)));
        add(king_zone_open, count_bits(enemy_.king_zone & own_.attacks & ~enemy_.attacks));
        add(hanging, count_bits(game_.pieces(other(player)) & own_.attacks & ~(enemy_.attacks | enemy_.king_zone)));
    }

private:
    static constexpr float sign = player == Player::first ? 1 : -1;

    /// A square as the player sees it.
    static constexpr std::size_t seen(int square) { return at(player == Player::first ? square : 80 - square); }
    Bitboard pieces(Shogi::Kind kind) const { return game_.pieces(player, kind); }
    void add(std::size_t term, int amount) { sink_.add(term, sign * static_cast<float>(amount)); }
    int count_steppers(int king, Bitboard golds) const {
        if (king < 0) return 0;
        const auto& from = features::stepping_reach(player)[at(king)];
        return count_bits((pieces(Shogi::pawn) & from.pawn) | (pieces(Shogi::knight) & from.knight) |
                          (pieces(Shogi::silver) & from.silver) | (golds & from.gold));
    }

    const Shogi& game_;
    Side& own_;
    const Side& enemy_;
    Sink& sink_;
};

constexpr Bitboard black_camp = rank_mask(6) | rank_mask(7) | rank_mask(8);
constexpr Bitboard white_camp = rank_mask(0) | rank_mask(1) | rank_mask(2);

}  // namespace

const std::vector<Term>& Terms<Shogi>::all() {
    static const auto terms = make_terms();
    return terms;
}

template <class Sink>
void Terms<Shogi>::count(const Shogi& game, Sink& sink) {
    constexpr Player black = Player::first;
    constexpr Player white = Player::second;
    Side of_black = describe_side(game, black);
    Side of_white = describe_side(game, white);
    SideCounter<black, Sink> for_black(game, of_black, of_white, sink);
    SideCounter<white, Sink> for_white(game, of_white, of_black, sink);

    std::array<int, Shogi::kind_count> balance{};
    for_black.count_places(balance);
    for_white.count_places(balance);
    int held = 0;
    for (int kind = 1; kind <= hand_kinds; ++kind) {
        const int of_kind_black = game.in_hand(black, static_cast<Shogi::Kind>(kind));
        const int of_kind_white = game.in_hand(white, static_cast<Shogi::Kind>(kind));
        held += of_kind_black + of_kind_white;
        balance[at(kind)] += of_kind_black - of_kind_white;
        sink.add(in_hand + piece_index(kind), static_cast<float>(of_kind_black - of_kind_white));
    }
    for (int kind = 1; kind < Shogi::kind_count; ++kind)
        if (kind != Shogi::king) sink.add(material + piece_index(kind), static_cast<float>(balance[at(kind)]));

    for_black.count_attacks();
    for_white.count_attacks();
    for_black.count_kings();
    for_white.count_kings();
    sink.add(tempo, game.to_play() == black ? 1.0f : -1.0f);

    const int intruders = count_bits((game.pieces(black) & white_camp) | (game.pieces(white) & black_camp));
    const int fought = 2 * held + 3 * (intruders + of_black.attackers + of_white.attackers);
    sink.set_progress(std::min(1.0f, static_cast<float>(fought) / 60));
}

template void Terms<Shogi>::count(const Shogi&, ScoreSink&);
template void Terms<Shogi>::count(const Shogi&, VectorSink&);

}  // namespace hyoka::evaluation
