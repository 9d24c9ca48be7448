// SPDX-License-Identifier: Apache-2.0
#include "evaluation/chess.h"

#include <algorithm>
#include <array>

namespace hyoka::evaluation {
namespace {

using namespace chess;

constexpr std::array<const char*, 6> kind_names = {"pawn", "knight", "bishop", "rook", "queen", "king"};

// Where the terms begin. Names and weights follow in `make_terms`, in this order.
enum ChessTerm : std::size_t {
    material = 0,                            // by kind, pawn to queen
    placement = material + 5,                // by kind and half_board; pawns have no first and last rank
    king_distance = placement + 6 * 32 - 8,  // by kind, knight to queen, own or enemy king, and distance 1 to 7
    tempo = king_distance + 4 * 2 * 7,
    castling_right,
    knight_mobility,  // beyond 4, of a bishop 6, a rook 6, a queen 12
    rook_mobility,
    queen_mobility,
    bishop_mobility,
    bishop_development,  // off the squares of the start
    bishop_pair,
    knight_outpost,
    rook_on_open_file,
    rook_on_half_open_file,
    rook_on_seventh,
    king_zone_attacks,                       // by kind, knight to queen: squares of the zone
    king_attackers = king_zone_attacks + 4,  // 2, 3, 4 or more pieces
    king_checks = king_attackers + 3,        // by kind, knight to queen: safe squares to give check from
    king_shield_near = king_checks + 4,      // pawns one rank before the king, on three files
    king_shield_far,                         // two ranks before it
    king_open_file,                          // of the three files
    king_half_open_file,                     // without own pawns only
    king_storm,                              // enemy pawns up to three ranks before the king
    leader_king_near,                        // steps by which the kings are nearer than 7, for who has more material
    passed_pawn,                             // by rank, 2 to 7
    passed_pawn_protected = passed_pawn + 6,
    passed_pawn_blocked,     // by an enemy piece
    passed_pawn_free,        // the next square is empty and not attacked
    passed_pawn_own_king,    // the king's distance from the next square, times the pawn's rank less one
    passed_pawn_enemy_king,  // the same
    isolated_pawn,
    doubled_pawn,
    backward_pawn,
    phalanx_pawn,
    supported_pawn,
    threat_by_pawn,   // on pieces
    threat_by_minor,  // on rooks and queens
    threat_by_rook,   // on queens
    hanging,          // attacked and not guarded
    term_count,
};

// A line a rank, the first on top: what files a to d are worth in the opening, then in the ending; e to h are alike.
constexpr std::array<std::array<std::int8_t, 64>, 6> placement_weights = {{
    {
        // pawn
        0,  0,  0,  0,   0,  0,  0,  0,   //
        -6, 2,  0,  -14, 2,  2,  0,  0,   //
        -4, 0,  2,  0,   0,  0,  -2, -4,  //
        -6, -4, 6,  18,  6,  4,  0,  -4,  //
        0,  4,  8,  20,  12, 8,  4,  2,   //
        8,  14, 18, 24,  26, 24, 18, 16,  //
        26, 34, 38, 40,  44, 42, 38, 34,  //
        0,  0,  0,  0,   0,  0,  0,  0    //
    },
    {
        // knight
        -60, -26, -22, -18, -40, -28, -18, -12,  //
        -28, -18, -8,  -2,  -24, -12, -6,  2,    //
        -18, -4,  6,   8,   -16, -4,  4,   12,   //
        -12, 2,   10,  16,  -10, 0,   12,  18,   //
        -8,  6,   16,  22,  -10, 0,   14,  20,   //
        -12, 8,   18,  22,  -16, -6,  8,   12,   //
        -36, -18, 8,   10,  -24, -14, -6,  0,    //
        -84, -48, -30, -24, -50, -30, -20, -16   //
    },
    {
        // bishop
        -10, -6,  -4,  -8, -14, -8, -6, -4,  //
        -2,  10,  4,   4,  -8,  -4, 0,  2,   //
        0,   8,   8,   6,  -4,  0,  4,  6,   //
        -2,  4,   6,   10, -2,  2,  6,  8,   //
        -4,  4,   8,   12, -2,  2,  6,  8,   //
        -4,  4,   6,   8,  -4,  0,  4,  6,   //
        -10, -4,  -4,  -2, -8,  -4, 0,  2,   //
        -16, -10, -10, -8, -14, -8, -6, -4   //
    },
    {
        // rook
        -8,  -4, 2,  8,  -6, -4, -2, -2,  //
        -14, -6, -2, 0,  -8, -6, -4, -4,  //
        -12, -6, -4, -2, -4, -2, -2, -2,  //
        -8,  -4, -2, 0,  0,  0,  0,  0,   //
        -4,  -2, 2,  4,  4,  4,  4,  4,   //
        0,   4,  8,  10, 6,  6,  6,  6,   //
        4,   6,  10, 12, 8,  8,  8,  8,   //
        4,   6,  8,  8,  8,  8,  8,  8    //
    },
    {
        // queen
        -8, -8, -6, 2, -24, -18, -14, -10,  //
        -6, -2, 4,  4, -16, -10, -4,  0,    //
        -4, 2,  2,  0, -8,  -2,  6,   10,   //
        -2, 0,  0,  0, -4,  4,   12,  18,   //
        -2, 0,  0,  0, -2,  6,   14,  20,   //
        0,  2,  4,  4, -6,  2,   10,  14,   //
        -4, 2,  4,  4, -12, -4,  4,   8,    //
        -4, -2, 0,  2, -16, -10, -6,  -4    //
    },
    {
        // king
        22,  34,  4,   -6,  -46, -32, -22, -18,  //
        14,  14,  -12, -22, -26, -12, -4,  0,    //
        -22, -26, -34, -42, -16, -2,  8,   12,   //
        -40, -44, -50, -56, -10, 8,   18,  24,   //
        -54, -58, -62, -66, -6,  14,  24,  30,   //
        -62, -66, -70, -74, -6,  16,  24,  26,   //
        -70, -74, -76, -80, -20, 0,   8,   10,   //
        -76, -80, -84, -88, -46, -30, -20, -16   //
    },
}};

std::vector<Term> make_terms() {
    std::vector<Term> terms;
    const auto add = [&](std::string name, float opening, float ending) {
        terms.push_back({std::move(name), {opening, ending}});
    };
    constexpr std::array<Weight, 5> values = {{{84, 116}, {328, 324}, {345, 340}, {485, 560}, {1010, 1030}}};
    for (std::size_t kind = 0; kind < 5; ++kind) add(kind_names[kind], values[kind].opening, values[kind].ending);
    for (std::size_t kind = 0; kind < 6; ++kind)
        for (std::size_t rank = 0; rank < 8; ++rank)
            for (std::size_t file = 0; file < 4; ++file)
                if (kind != Chess::pawn || (rank > 0 && rank < 7))
                    add(std::string(kind_names[kind]) + "_on_" + "abcd"[file] + std::to_string(rank + 1),
                        placement_weights[kind][8 * rank + file], placement_weights[kind][8 * rank + 4 + file]);
    constexpr std::array<std::array<Weight, 2>, 4> per_step = {{
        {{{-1, 0}, {-2, -2}}},
        {{{-1, 0}, {-1, -1}}},
        {{{0, 0}, {-2, 0}}},
        {{{0, 0}, {-4, -3}}},
    }};
    for (std::size_t kind = 0; kind < 4; ++kind)
        for (const std::size_t enemy : {0, 1})
            for (int distance = 1; distance <= 7; ++distance)
                add(std::string(kind_names[kind + 1]) + (enemy ? "_enemy" : "_own") + "_king_distance_" +
                        std::to_string(distance),
                    per_step[kind][enemy].opening * static_cast<float>(distance - 4),
                    per_step[kind][enemy].ending * static_cast<float>(distance - 4));
    add("tempo", 20, 14);
    add("castling_right", 12, 0);
    add("knight_mobility", 8, 11);
    add("rook_mobility", 5, 8);
    add("queen_mobility", 3, 6);
    add("bishop_mobility", 7, 10);
    add("bishop_development", 12, 0);
    add("bishop_pair", 28, 54);
    add("knight_outpost", 18, 10);
    add("rook_on_open_file", 26, 8);
    add("rook_on_half_open_file", 12, 4);
    add("rook_on_seventh", 8, 22);
    constexpr std::array<Weight, 4> zone = {{{6, 0}, {5, 1}, {6, 1}, {5, 4}}};
    for (std::size_t kind = 0; kind < 4; ++kind)
        add("king_zone_attacks_by_" + std::string(kind_names[kind + 1]), zone[kind].opening, zone[kind].ending);
    add("king_attackers_2", 18, 2);
    add("king_attackers_3", 54, 8);
    add("king_attackers_4", 100, 20);
    constexpr std::array<Weight, 4> checks = {{{16, 4}, {10, 2}, {18, 6}, {18, 8}}};
    for (std::size_t kind = 0; kind < 4; ++kind)
        add("king_checks_by_" + std::string(kind_names[kind + 1]), checks[kind].opening, checks[kind].ending);
    add("king_shield_near", 14, 0);
    add("king_shield_far", 7, 0);
    add("king_open_file", -22, 0);
    add("king_half_open_file", -11, 0);
    add("king_storm", -8, 0);
    add("leader_king_near", 0, 10);
    constexpr std::array<Weight, 6> passed = {{{0, 6}, {2, 10}, {8, 24}, {24, 48}, {48, 86}, {84, 136}}};
    for (std::size_t rank = 0; rank < 6; ++rank)
        add("passed_pawn_on_rank_" + std::to_string(rank + 2), passed[rank].opening, passed[rank].ending);
    add("passed_pawn_protected", 8, 12);
    add("passed_pawn_blocked", -8, -24);
    add("passed_pawn_free", 4, 24);
    add("passed_pawn_own_king", 0, -2);
    add("passed_pawn_enemy_king", 0, 5);
    add("isolated_pawn", -14, -16);
    add("doubled_pawn", -8, -18);
    add("backward_pawn", -13, -10);
    add("phalanx_pawn", 7, 6);
    add("supported_pawn", 12, 10);
    add("threat_by_pawn", 50, 38);
    add("threat_by_minor", 26, 26);
    add("threat_by_rook", 22, 22);
    add("hanging", 26, 24);
    assert(terms.size() == term_count);
    return terms;
}

constexpr std::size_t at(int square) { return static_cast<std::size_t>(square); }
/// A square as its player sees it, with files e to h folded onto d to a.
constexpr std::array<std::array<std::uint8_t, 64>, 2> half_board = [] {
    std::array<std::array<std::uint8_t, 64>, 2> table{};
    for (int square = 0; square < 64; ++square) {
        const int folded = 4 * rank_of(square) + std::min(file_of(square), 7 - file_of(square));
        table[0][at(square)] = static_cast<std::uint8_t>(folded);
        table[1][at(square ^ 56)] = static_cast<std::uint8_t>(folded);
    }
    return table;
}();
constexpr std::array<std::array<std::uint8_t, 64>, 64> distances = [] {
    std::array<std::array<std::uint8_t, 64>, 64> table{};
    for (int a = 0; a < 64; ++a)
        for (int b = 0; b < 64; ++b) {
            const int files = file_of(a) - file_of(b);
            const int ranks = rank_of(a) - rank_of(b);
            table[at(a)][at(b)] =
                static_cast<std::uint8_t>(std::max(files < 0 ? -files : files, ranks < 0 ? -ranks : ranks));
        }
    return table;
}();

constexpr Bitboard light_squares = 0x55aa55aa55aa55aaULL;

constexpr Bitboard leftward(Bitboard set) { return (set & ~file_a) >> 1; }
constexpr Bitboard rightward(Bitboard set) { return (set & ~file_h) << 1; }
constexpr Bitboard beside(Bitboard set) { return leftward(set) | rightward(set); }
template <Player player>
constexpr Bitboard forward(Bitboard set) {
    return player == Player::first ? set << 8 : set >> 8;
}
/// All squares ahead of a set, up to the edge of the board.
template <Player player>
constexpr Bitboard ahead(Bitboard set) {
    set = forward<player>(set);
    for (const int by : {8, 16, 32}) set |= player == Player::first ? set << by : set >> by;
    return set;
}
constexpr Bitboard whole_files(Bitboard set) { return set | ahead<Player::first>(set) | ahead<Player::second>(set); }
template <Player player>
constexpr Bitboard rank_of_player(int rank) {
    return rank_mask(player == Player::first ? rank - 1 : 8 - rank);
}

/// Cached facts about a side.
struct Side {
    Bitboard pawns;
    Bitboard pawn_attacks;
    Bitboard pawn_files;
    Bitboard pawn_reach;  // what pawns attack now or could after advancing
    int king;
    Bitboard king_zone;
    Bitboard close_attacks;  // of the king and pawns
    Bitboard minor_attacks = 0;
    Bitboard rook_attacks = 0;
    Bitboard attacks = 0;  // of all
};

template <Player player>
Side describe_side(const Chess& game) {
    const Bitboard pawns = game.pieces(player, Chess::pawn);
    const int king = lowest_bit(game.pieces(player, Chess::king));
    const Bitboard around = tables.king[king] | bit(king);
    const Bitboard pawn_attacks = beside(forward<player>(pawns));
    return {.pawns = pawns,
            .pawn_attacks = pawn_attacks,
            .pawn_files = whole_files(pawns),
            .pawn_reach = pawn_attacks | ahead<player>(pawn_attacks),
            .king = king,
            .king_zone = around | forward<player>(around),
            .close_attacks = tables.king[king] | pawn_attacks};
}

/// Adds what one side has, positively for the first player.
template <Player player, class Sink>
class SideCounter {
public:
    SideCounter(const Chess& game, Side& own, const Side& enemy, Sink& sink)
        : game_(game), own_(own), enemy_(enemy), sink_(sink) {}

    void count_pieces() {
        sink_.add(placement_of(Chess::king, own_.king), sign);
        const Bitboard all = game_.occupied();
        const Bitboard own = game_.pieces(player);
        open_ = ~(own_.pawns | bit(own_.king) | enemy_.pawn_attacks);
        check_rook_ = rook_attacks(enemy_.king, all);
        check_bishop_ = bishop_attacks(enemy_.king, all);
        checkable_ = ~(own | enemy_.close_attacks);

        const Bitboard knights = game_.pieces(player, Chess::knight);
        int mobility = 0;
        for_each_bit(knights, [&](int square) {
            const Bitboard attacks = tables.knight[square];
            mobility += add_piece(Chess::knight, square, attacks, tables.knight[enemy_.king]) - 4;
            own_.minor_attacks |= attacks;
        });
        add(knight_mobility, mobility);
        const Bitboard outposts = knights & own_.pawn_attacks & ~enemy_.pawn_reach & outpost_ranks;
        add(knight_outpost, count_bits(outposts));

        const Bitboard bishops = game_.pieces(player, Chess::bishop);
        mobility = 0;
        for_each_bit(bishops, [&](int square) {
            const Bitboard attacks = bishop_attacks(square, all);
            mobility += add_piece(Chess::bishop, square, attacks, check_bishop_) - 6;
            own_.minor_attacks |= attacks;
        });
        constexpr Bitboard homes = (bit(2) | bit(5)) << (player == Player::first ? 0 : 56);
        add(bishop_mobility, mobility);
        add(bishop_development, count_bits(bishops & ~homes));
        add(bishop_pair, (bishops & light_squares) && (bishops & ~light_squares));

        const Bitboard rooks = game_.pieces(player, Chess::rook);
        mobility = 0;
        for_each_bit(rooks, [&](int square) {
            const Bitboard attacks = rook_attacks(square, all);
            mobility += add_piece(Chess::rook, square, attacks, check_rook_) - 6;
            own_.rook_attacks |= attacks;
        });
        add(rook_mobility, mobility);
        const Bitboard without_own_pawns = rooks & ~own_.pawn_files;
        add(rook_on_open_file, count_bits(without_own_pawns & ~enemy_.pawn_files));
        add(rook_on_half_open_file, count_bits(without_own_pawns & enemy_.pawn_files));
        add(rook_on_seventh, count_bits(rooks & rank_of_player<player>(7)));

        mobility = 0;
        Bitboard queen_attacks = 0;
        for_each_bit(game_.pieces(player, Chess::queen), [&](int square) {
            const Bitboard attacks = bishop_attacks(square, all) | rook_attacks(square, all);
            mobility += add_piece(Chess::queen, square, attacks, check_bishop_ | check_rook_) - 12;
            queen_attacks |= attacks;
        });
        add(queen_mobility, mobility);
        own_.attacks = own_.close_attacks | own_.minor_attacks | own_.rook_attacks | queen_attacks;
        if (attackers_ >= 2) add(king_attackers + at(std::min(attackers_, 4) - 2), 1);
    }

    void count_pawns() {
        for_each_bit(own_.pawns, [&](int square) { sink_.add(placement_of(Chess::pawn, square), sign); });
        const Bitboard supported = own_.pawns & own_.pawn_attacks;
        const Bitboard phalanx = own_.pawns & beside(own_.pawns);
        const Bitboard isolated = own_.pawns & ~beside(own_.pawn_files);
        const Bitboard blocked_by_pawns = ahead<other(player)>(own_.pawns);
        const Bitboard stops = forward<player>(own_.pawns);
        // Own pawns that no neighbor can come to support, whose next step an enemy pawn guards.
        const Bitboard backward = forward<other(player)>(stops & enemy_.pawn_attacks & ~own_.pawn_reach) & ~isolated;
        add(isolated_pawn, count_bits(isolated));
        add(doubled_pawn, count_bits(own_.pawns & blocked_by_pawns));
        add(backward_pawn, count_bits(backward));
        add(phalanx_pawn, count_bits(phalanx));
        add(supported_pawn, count_bits(supported));

        const Bitboard enemy_front = ahead<other(player)>(enemy_.pawns);
        const Bitboard passed = own_.pawns & ~(enemy_front | enemy_.pawn_reach | blocked_by_pawns);
        if (!passed) return;
        int own_king = 0;
        int enemy_king = 0;
        for_each_bit(passed, [&](int square) {
            const int rank = player == Player::first ? rank_of(square) : 7 - rank_of(square);
            add(passed_pawn + at(rank - 1), 1);
            const int stop = player == Player::first ? square + 8 : square - 8;
            own_king += rank * distances[at(own_.king)][at(stop)];
            enemy_king += rank * distances[at(enemy_.king)][at(stop)];
        });
        add(passed_pawn_own_king, own_king);
        add(passed_pawn_enemy_king, enemy_king);
        add(passed_pawn_protected, count_bits(passed & supported));
        const Bitboard next = forward<player>(passed);
        add(passed_pawn_blocked, count_bits(next & game_.pieces(other(player))));
        add(passed_pawn_free, count_bits(next & ~(game_.occupied() | enemy_.attacks)));
    }

    void count_king() {
        const Bitboard king = bit(own_.king);
        const Bitboard three_files = king | beside(king);
        const Bitboard near = forward<player>(three_files);
        add(king_shield_near, count_bits(own_.pawns & near));
        add(king_shield_far, count_bits(own_.pawns & forward<player>(near)));
        const Bitboard open = whole_files(three_files) & rank_mask(0) & ~own_.pawn_files;
        add(king_open_file, count_bits(open & ~enemy_.pawn_files));
        add(king_half_open_file, count_bits(open & enemy_.pawn_files));
        const Bitboard coming = near | forward<player>(near) | forward<player>(forward<player>(near));
        add(king_storm, count_bits(enemy_.pawns & coming));
        add(castling_right, count_bits(game_.castling_rooks(player)));
    }

    void count_threats() {
        const Bitboard enemy = game_.pieces(other(player));
        const Bitboard pieces = enemy & ~enemy_.pawns;
        const Bitboard queens = game_.pieces(other(player), Chess::queen);
        const Bitboard heavy = queens | game_.pieces(other(player), Chess::rook);
        add(threat_by_pawn, count_bits(pieces & own_.pawn_attacks));
        add(threat_by_minor, count_bits(heavy & own_.minor_attacks));
        add(threat_by_rook, count_bits(queens & own_.rook_attacks));
        add(hanging, count_bits(enemy & own_.attacks & ~enemy_.attacks));
    }

private:
    static constexpr float sign = player == Player::first ? 1 : -1;
    static constexpr Bitboard outpost_ranks =
        rank_of_player<player>(4) | rank_of_player<player>(5) | rank_of_player<player>(6);

    void add(std::size_t term, int amount) { sink_.add(term, sign * static_cast<float>(amount)); }
    static std::size_t placement_of(Chess::Kind kind, int square) {
        const std::size_t start = placement + std::size_t{32} * kind - (kind == Chess::pawn ? 4 : 8);
        return start + half_board[at(index_of(player))][at(square)];
    }
    /// Returns the piece's mobility: squares not held by the own king or pawns, nor attacked by enemy pawns.
    int add_piece(Chess::Kind kind, int square, Bitboard attacks, Bitboard checks) {
        const std::size_t of_kind = at(kind - Chess::knight);
        sink_.add_each(sign, placement_of(kind, square),
                       king_distance + 14 * of_kind + distances[at(square)][at(own_.king)] - 1,
                       king_distance + 14 * of_kind + 7 + distances[at(square)][at(enemy_.king)] - 1);
        if (const Bitboard zone = attacks & enemy_.king_zone) {
            ++attackers_;
            add(king_zone_attacks + of_kind, count_bits(zone));
            add(king_checks + of_kind, count_bits(attacks & checks & checkable_));
        }
        return count_bits(attacks & open_);
    }

    const Chess& game_;
    Side& own_;
    const Side& enemy_;
    Sink& sink_;
    Bitboard open_ = 0;
    Bitboard check_rook_ = 0;
    Bitboard check_bishop_ = 0;
    Bitboard checkable_ = 0;
    int attackers_ = 0;
};

}  // namespace

const std::vector<Term>& Terms<Chess>::all() {
    static const auto terms = make_terms();
    return terms;
}

template <class Sink>
void Terms<Chess>::count(const Chess& game, Sink& sink) {
    constexpr Player white = Player::first;
    constexpr Player black = Player::second;
    constexpr std::array<int, 5> phase_values = {0, 1, 1, 2, 4};
    constexpr int full_phase = 24;
    int phase = 0;
    int lead = 0;
    for (const auto kind : {Chess::pawn, Chess::knight, Chess::bishop, Chess::rook, Chess::queen}) {
        const int of_white = count_bits(game.pieces(white, kind));
        const int of_black = count_bits(game.pieces(black, kind));
        sink.add(material + at(kind), static_cast<float>(of_white - of_black));
        phase += phase_values[kind] * (of_white + of_black);
        lead += Chess::exchange_values[kind] * (of_white - of_black);
    }
    sink.set_progress(static_cast<float>(full_phase - std::min(phase, full_phase)) / full_phase);
    sink.add(tempo, game.to_play() == white ? 1.0f : -1.0f);

    Side of_white = describe_side<white>(game);
    Side of_black = describe_side<black>(game);
    SideCounter<white, Sink> for_white(game, of_white, of_black, sink);
    SideCounter<black, Sink> for_black(game, of_black, of_white, sink);
    for_white.count_pieces();
    for_black.count_pieces();
    for_white.count_pawns();
    for_black.count_pawns();
    for_white.count_king();
    for_black.count_king();
    for_white.count_threats();
    for_black.count_threats();
    const int near = 7 - distances[at(of_white.king)][at(of_black.king)];
    sink.add(leader_king_near, static_cast<float>(lead > 0 ? near : lead < 0 ? -near : 0));
}

template void Terms<Chess>::count(const Chess&, ScoreSink&);
template void Terms<Chess>::count(const Chess&, VectorSink&);

}  // namespace hyoka::evaluation
