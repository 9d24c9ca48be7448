// SPDX-License-Identifier: Apache-2.0
#include "games/shogi.h"

#include <algorithm>
#include <utility>

#include "base/zobrist.h"
#include "games/text_fields.h"

namespace hyoka {

using namespace shogi;

namespace {

using Kind = Shogi::Kind;
using Move = Shogi::Move;

constexpr auto piece_keys = zobrist_keys<std::size_t{2} * 16 * 81>(0x50);
constexpr auto hand_keys = zobrist_keys<std::size_t{2} * 8 * 20>(0x51);
constexpr auto side_key = zobrist_keys<1>(0x52)[0];

constexpr std::uint64_t piece_key(Player player, Kind kind, int square) {
    return piece_keys[static_cast<std::size_t>((index_of(player) * 16 + kind) * 81 + square)];
}
constexpr std::uint64_t hand_key(Player player, Kind kind, int count) {
    return count ? hand_keys[static_cast<std::size_t>((index_of(player) * 8 + kind) * 20 + count)] : 0;
}

constexpr std::string_view letters = ".PLNSBRGK";
constexpr std::array<int, 9> piece_limits = {0, 18, 4, 4, 4, 2, 2, 4, 2};

constexpr bool can_promote(Kind kind) { return kind >= Shogi::pawn && kind <= Shogi::rook; }
constexpr Kind promoted(Kind kind) { return static_cast<Kind>(kind + 8); }
constexpr Kind unpromoted(Kind kind) { return kind > Shogi::king ? static_cast<Kind>(kind - 8) : kind; }

/// Black plays towards rank a.
constexpr int forward(Player player) { return player == Player::first ? -1 : 1; }
constexpr Direction forward_ray(Player player) { return player == Player::first ? up : down; }
/// The n-th rank from a player's far side.
constexpr int far_rank(Player player, int n) { return player == Player::first ? n : 8 - n; }
/// Facts about squares that depend on which way a player goes, worked out once.
struct Territory {
    Bitboard zone = 0;                     // where pieces promote
    std::array<Bitboard, 16> dead_ends{};  // by kind: squares from which such a piece could never move again
    std::array<Bitboard, 81> promoting{};  // by square of origin: where a piece from there may promote
};
constexpr std::array<Territory, 2> territories = [] {
    std::array<Territory, 2> both{};
    for (const Player player : {Player::first, Player::second}) {
        Territory& own = both[static_cast<std::size_t>(player)];
        const Bitboard last = rank_mask(far_rank(player, 0));
        const Bitboard second = rank_mask(far_rank(player, 1));
        own.zone = last | second | rank_mask(far_rank(player, 2));
        own.dead_ends[Shogi::pawn] = own.dead_ends[Shogi::lance] = last;
        own.dead_ends[Shogi::knight] = last | second;
        for (int square = 0; square < 81; ++square)
            own.promoting[static_cast<std::size_t>(square)] = own.zone & bit(square) ? whole_board : own.zone;
    }
    return both;
}();
constexpr const Territory& territory(Player player) { return territories[static_cast<std::size_t>(player)]; }
constexpr Bitboard promotion_zone(Player player) { return territory(player).zone; }
constexpr Bitboard dead_end(Kind kind, Player player) { return territory(player).dead_ends[kind]; }

// Output of the generator: sets of moves, each handed over whole.

/// Lists all moves.
struct MoveLister {
    Moves<Shogi> moves;
    void piece(int from, Bitboard targets, bool promotes) {
        for_each_bit(targets, [&](int to) { moves.push_back({from, to, promotes}); });
    }
    void pawns(int step, Bitboard targets, bool promotes) {
        for_each_bit(targets, [&](int to) { moves.push_back({to - step, to, promotes}); });
    }
    void drops(Kind kind, Bitboard targets) {
        for_each_bit(targets, [&](int to) { moves.push_back(Move::drop(kind, to)); });
    }
};

/// Lists the moves that give check.
struct CheckLister {
    int enemy_king;
    std::array<Bitboard, 16> squares{};  // by kind: where such a piece checks
    Bitboard shields = 0;                // pieces of the mover that open a check when they leave the line
    Moves<Shogi> moves;
    const std::array<Kind, 81>& board;

    Kind kind_after(int from, bool promotes) const {
        const Kind kind = board[static_cast<std::size_t>(from)];
        return promotes ? promoted(kind) : kind;
    }
    void piece(int from, Bitboard targets, bool promotes) {
        Bitboard checks = squares[kind_after(from, promotes)];
        if (shields & bit(from)) checks |= ~line_through(enemy_king, from);
        for_each_bit(targets & checks, [&](int to) { moves.push_back({from, to, promotes}); });
    }
    void pawns(int step, Bitboard targets, bool promotes) {
        // A pawn that shields along the file stays on it.
        const Bitboard opening = shields & ~(tables.rays[up][enemy_king] | tables.rays[down][enemy_king]);
        const Bitboard checks =
            squares[promotes ? Shogi::promoted_pawn : Shogi::pawn] | (step < 0 ? opening >> 1 : opening << 1);
        for_each_bit(targets & checks, [&](int to) { moves.push_back({to - step, to, promotes}); });
    }
    void drops(Kind kind, Bitboard targets) {
        for_each_bit(targets & squares[kind], [&](int to) { moves.push_back(Move::drop(kind, to)); });
    }
};

/// Lists captures and promotions. Drops are neither, so it takes none.
struct NoisyLister {
    Bitboard enemy;
    Moves<Shogi> moves;
    explicit NoisyLister(Bitboard enemy_pieces) : enemy(enemy_pieces) {}
    void piece(int from, Bitboard targets, bool promotes) {
        for_each_bit(promotes ? targets : targets & enemy, [&](int to) { moves.push_back({from, to, promotes}); });
    }
    void pawns(int step, Bitboard targets, bool promotes) {
        for_each_bit(promotes ? targets : targets & enemy, [&](int to) { moves.push_back({to - step, to, promotes}); });
    }
};

/// Lists all other moves.
struct QuietLister : MoveLister {
    Bitboard enemy;
    explicit QuietLister(Bitboard enemy_pieces) : enemy(enemy_pieces) {}
    void piece(int from, Bitboard targets, bool promotes) {
        if (!promotes) MoveLister::piece(from, targets & ~enemy, false);
    }
    void pawns(int step, Bitboard targets, bool promotes) {
        if (!promotes) MoveLister::pawns(step, targets & ~enemy, false);
    }
};

/// Keeps the sets as they are.
struct SetLister {
    Shogi::MoveSets sets;
    void add(Bitboard targets, int from, bool promotes) {
        if (targets) sets.push_back({targets, static_cast<std::uint8_t>(from), promotes});
    }
    void piece(int from, Bitboard targets, bool promotes) { add(targets, from, promotes); }
    void pawns(int, Bitboard targets, bool promotes) { add(targets, Shogi::MoveSet::pawn_steps, promotes); }
    void drops(Kind kind, Bitboard targets) { add(targets, 81 + kind, false); }
};

/// Counts them without writing one down.
struct MoveCounter {
    std::size_t count = 0;
    void piece(int, Bitboard targets, bool) { count += static_cast<std::size_t>(count_bits(targets)); }
    void pawns(int, Bitboard targets, bool) { count += static_cast<std::size_t>(count_bits(targets)); }
    void drops(Kind, Bitboard targets) { count += static_cast<std::size_t>(count_bits(targets)); }
};

std::string square_text(int square) {
    return {static_cast<char>('1' + file_of(square)), static_cast<char>('a' + rank_of(square))};
}

struct Handicap {
    std::string_view name;
    std::string_view rows;
};
constexpr std::array<Handicap, 11> handicaps = {{
    {"lance", "lnsgkgsn1/1r5b1/"},
    {"right-lance", "1nsgkgsnl/1r5b1/"},
    {"bishop", "lnsgkgsnl/1r7/"},
    {"rook", "lnsgkgsnl/7b1/"},
    {"rook-lance", "lnsgkgsn1/7b1/"},
    {"two-piece", "lnsgkgsnl/9/"},
    {"four-piece", "1nsgkgsn1/9/"},
    {"five-piece", "2sgkgsn1/9/"},
    {"six-piece", "2sgkgs2/9/"},
    {"eight-piece", "3gkg3/9/"},
    {"ten-piece", "4k4/9/"},
}};

}  // namespace

std::string Shogi::Move::text() const {
    if (*this == declaration()) return "win";
    if (is_drop()) return std::string{letters[dropped()], '*'} + square_text(to());
    return square_text(from()) + square_text(to()) + (promotes() ? "+" : "");
}

Shogi::Shogi() {
    static const Shogi start = from_text("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    *this = start;
}

std::vector<std::string> Shogi::handicap_names() {
    std::vector<std::string> names;
    for (const auto& handicap : handicaps) names.emplace_back(handicap.name);
    return names;
}

Shogi Shogi::with_handicap(std::string_view name) {
    for (const auto& handicap : handicaps)
        if (handicap.name == name)
            return from_text(std::string(handicap.rows) + "ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    std::string known;
    for (const auto& handicap : handicaps) known += (known.empty() ? "" : ", ") + std::string(handicap.name);
    throw NotationError("no handicap '" + std::string(name) + "' (known: " + known + ")");
}

void Shogi::put(Player player, Kind kind, int square) {
    kinds_[kind] |= bit(square);
    colors_[at(player)] |= bit(square);
    board_[static_cast<std::size_t>(square)] = kind;
    hash_ ^= piece_key(player, kind, square);
}

void Shogi::take(Player player, Kind kind, int square) {
    kinds_[kind] ^= bit(square);
    colors_[at(player)] ^= bit(square);
    board_[static_cast<std::size_t>(square)] = no_piece;
    hash_ ^= piece_key(player, kind, square);
}

void Shogi::change_hand(Player player, Kind kind, int by) {
    auto& count = hands_[at(player)][kind];
    hash_ ^= hand_key(player, kind, count);
    count = static_cast<std::uint8_t>(count + by);
    hash_ ^= hand_key(player, kind, count);
}

Shogi::Bitboard Shogi::gold_movers() const {
    return kinds_[gold] | kinds_[promoted_pawn] | kinds_[promoted_lance] | kinds_[promoted_knight] |
           kinds_[promoted_silver];
}

Shogi::Bitboard Shogi::attackers(int square, Player player, Bitboard occupied) const {
    const int seen_from = index_of(other(player));  // attacks are symmetric with colors swapped
    Bitboard found =
        (tables.pawn[seen_from][square] & kinds_[pawn]) | (tables.knight[seen_from][square] & kinds_[knight]) |
        (tables.silver[seen_from][square] & kinds_[silver]) | (tables.gold[seen_from][square] & gold_movers()) |
        (tables.king[square] & (kinds_[king] | kinds_[horse] | kinds_[dragon]));
    const Bitboard own = colors_[at(player)];
    // Sliders are few and seldom in line: look before working out what blocks them.
    const Direction behind = opposite(forward_ray(player));
    if (tables.rays[behind][square] & kinds_[lance] & own)
        found |= ray_attacks(behind, square, occupied) & kinds_[lance];
    const Bitboard straight = kinds_[rook] | kinds_[dragon];
    if (tables.cross[square] & straight & own) found |= rook_attacks(square, occupied) & straight;
    const Bitboard diagonal = kinds_[bishop] | kinds_[horse];
    if (tables.diagonal[square] & diagonal & own) found |= bishop_attacks(square, occupied) & diagonal;
    return found & own;
}

bool Shogi::in_check() const {
    const int king_at = kings_[at(to_play_)];
    return king_at != no_square && attackers(king_at, other(to_play_), occupied());
}

Shogi::Bitboard Shogi::piece_attacks(Kind kind, Player player, int square, Bitboard occupied) const {
    const int color = index_of(player);
    switch (kind) {
        case pawn: return tables.pawn[color][square];
        case lance: return ray_attacks(forward_ray(player), square, occupied);
        case knight: return tables.knight[color][square];
        case silver: return tables.silver[color][square];
        case bishop: return bishop_attacks(square, occupied);
        case rook: return rook_attacks(square, occupied);
        case king: return tables.king[square];
        case horse: return bishop_attacks(square, occupied) | tables.king[square];
        case dragon: return rook_attacks(square, occupied) | tables.king[square];
        case no_piece: return 0;
        default: return tables.gold[color][square];
    }
}

bool Shogi::king_may_go(int to) const {
    return !attackers(to, other(to_play_), occupied() ^ bit(kings_[at(to_play_)]));
}

/// The square from which a pawn of the side to move checks, or no_square.
int Shogi::front_of_enemy_king() const {
    const int king_at = kings_[at(other(to_play_))];
    if (king_at == no_square || rank_of(king_at) == far_rank(to_play_, 8)) return no_square;
    return king_at - forward(to_play_);
}

bool Shogi::is_drop_mate(int square) const {
    Shogi after = *this;
    after.play(Move::drop(pawn, square));
    return !after.has_move();
}

template <class Sink>
void Shogi::generate_drops(Sink& sink, Bitboard goal) const {
    const auto& hand = hands_[at(to_play_)];
    if (hand[pawn]) {
        Bitboard targets = goal & ~whole_files(pieces(to_play_, pawn)) & ~dead_end(pawn, to_play_);
        const int checking = front_of_enemy_king();
        if (checking != no_square && (targets & bit(checking)) && is_drop_mate(checking)) targets ^= bit(checking);
        sink.drops(pawn, targets);
    }
    for (const Kind kind : {lance, knight, silver, bishop, rook, gold})
        if (hand[kind]) sink.drops(kind, goal & ~dead_end(kind, to_play_));
}

/// Hands all legal moves to the sink in sets.
template <class Sink>
void Shogi::generate(Sink& sink) const {
    const Player us = to_play_;
    const Player them = other(us);
    const Bitboard own = colors_[at(us)];
    const Bitboard enemy = colors_[at(them)];
    const Bitboard all = own | enemy;
    const int king_at = kings_[at(us)];

    // Squares a move must reach: all; in check the checker or a square before it; in double check none.
    Bitboard goal = whole_board & ~own;
    Bitboard drop_goal = whole_board & ~all;
    Bitboard pinned = 0;
    if (king_at != no_square) {
        Bitboard flights = 0;
        for_each_bit(tables.king[king_at] & ~own, [&](int to) { flights |= king_may_go(to) ? bit(to) : 0; });
        sink.piece(king_at, flights, false);

        if (const Bitboard checking = attackers(king_at, them, all)) {
            if (checking & (checking - 1)) return;
            const Bitboard shields = between(king_at, lowest_bit(checking));
            goal = shields | checking;
            drop_goal = shields;
        }
        const Bitboard lances = tables.rays[forward_ray(us)][king_at] & kinds_[lance];
        const Bitboard straight = tables.cross[king_at] & (kinds_[rook] | kinds_[dragon]);
        const Bitboard diagonal = tables.diagonal[king_at] & (kinds_[bishop] | kinds_[horse]);
        for_each_bit((lances | straight | diagonal) & enemy, [&](int slider) {
            const Bitboard shields = between(king_at, slider) & all;
            if (shields && !(shields & (shields - 1))) pinned |= shields & own;
        });
    }
    const Territory& land = territory(us);
    const auto piece_moves = [&](Kind kind, int from, Bitboard targets) {
        if (pinned & bit(from)) targets &= line_through(king_at, from);
        targets &= goal;
        sink.piece(from, targets & ~land.dead_ends[kind], false);
        if (can_promote(kind)) sink.piece(from, targets & land.promoting[static_cast<std::size_t>(from)], true);
    };

    // Pawns all step the same way; a pinned one may only do so along the file.
    const Bitboard file_of_king =
        king_at == no_square ? whole_board : tables.rays[up][king_at] | tables.rays[down][king_at];
    const Bitboard free_pawns = own & kinds_[pawn] & (~pinned | file_of_king);
    const Bitboard pushed = (us == Player::first ? free_pawns >> 1 : free_pawns << 1) & goal;
    sink.pawns(forward(us), pushed & ~land.dead_ends[pawn], false);
    sink.pawns(forward(us), pushed & land.zone, true);

    // One loop for all that step, one for each way to slide: the fewer loops, the fewer surprises for the processor.
    const std::array<const Bitboard*, 3> steps = {tables.knight[index_of(us)], tables.silver[index_of(us)],
                                                  tables.gold[index_of(us)]};
    for_each_bit(own & (kinds_[knight] | kinds_[silver] | gold_movers()), [&](int from) {
        const Kind kind = piece_on(from);
        piece_moves(kind, from, steps[kind == knight ? 0 : kind == silver ? 1 : 2][from]);
    });
    for_each_bit(own & kinds_[lance],
                 [&](int from) { piece_moves(lance, from, ray_attacks(forward_ray(us), from, all)); });
    for_each_bit(own & (kinds_[bishop] | kinds_[horse]), [&](int from) {
        const bool steps_too = kinds_[horse] & bit(from);
        piece_moves(steps_too ? horse : bishop, from, bishop_attacks(from, all) | (steps_too ? tables.king[from] : 0));
    });
    for_each_bit(own & (kinds_[rook] | kinds_[dragon]), [&](int from) {
        const bool steps_too = kinds_[dragon] & bit(from);
        piece_moves(steps_too ? dragon : rook, from, rook_attacks(from, all) | (steps_too ? tables.king[from] : 0));
    });

    if constexpr (requires { sink.drops(pawn, drop_goal); })
        if (drop_goal) generate_drops(sink, drop_goal);
}

bool Shogi::has_move() const {
    MoveCounter counter;
    generate(counter);
    return counter.count > 0;
}

bool Shogi::may_declare() const {
    const int king_at = kings_[at(to_play_)];
    const Bitboard zone = promotion_zone(to_play_);
    if (king_at == no_square || !(zone & bit(king_at)) || in_check()) return false;
    const Bitboard inside = colors_[at(to_play_)] & zone & ~kinds_[king];
    if (count_bits(inside) < 10) return false;
    const Bitboard big = kinds_[bishop] | kinds_[rook] | kinds_[horse] | kinds_[dragon];
    int points = count_bits(inside) + 4 * count_bits(inside & big);
    for (const Kind kind : {pawn, lance, knight, silver, bishop, rook, gold})
        points += in_hand(to_play_, kind) * (kind == bishop || kind == rook ? 5 : 1);
    return points >= (to_play_ == Player::first ? 28 : 27);
}

std::optional<Outcome> Shogi::outcome() const {
    if (declared_) return Outcome{win_for(other(to_play_)), Reason::declaration};
    if (!has_move()) return Outcome{win_for(other(to_play_)), in_check() ? Reason::checkmate : Reason::stalemate};
    if (over_by_rule()) return Outcome{Result::draw, Reason::ply_limit};
    return std::nullopt;
}

double Shogi::score() const {
    const auto over = outcome();
    return over ? static_cast<double>(over->result) : 0;
}

std::optional<Outcome> Shogi::outcome_after(std::span<const Trace> past) const {
    if (declared_) return std::nullopt;  // a declaration leaves the board, and so its hash, as it was
    int seen = 1;
    std::size_t first = past.size();
    for (std::size_t back = 4; back <= past.size(); back += 2) {
        if (past[past.size() - back].hash != hash_) continue;
        first = past.size() - back;
        if (++seen == 4) break;
    }
    if (seen < 4) return std::nullopt;
    // Whose moves since the first occurrence were all checks? Positions alternate sides; the last is this one.
    bool they_checked = in_check();  // the side that has just moved
    bool we_checked = true;
    for (std::size_t i = first + 1; i < past.size(); ++i) {
        const bool our_turn = (past.size() - i) % 2 == 0;
        (our_turn ? they_checked : we_checked) &= past[i].in_check;
    }
    if (they_checked) return Outcome{win_for(to_play_), Reason::perpetual_check};
    if (we_checked) return Outcome{win_for(other(to_play_)), Reason::perpetual_check};
    return Outcome{Result::draw, Reason::repetition};
}

Moves<Shogi> Shogi::legal_moves() const {
    MoveLister lister;
    if (over_by_rule()) return lister.moves;
    generate(lister);
    if (rules_.declaration && may_declare() && !lister.moves.empty()) lister.moves.push_back(Move::declaration());
    return lister.moves;
}

Moves<Shogi> Shogi::checking_moves() const {
    const Player them = other(to_play_);
    const int target = kings_[at(them)];
    CheckLister lister{.enemy_king = target, .moves = {}, .board = board_};
    if (over_by_rule() || target == no_square) return lister.moves;
    const Bitboard all = occupied();
    const Bitboard own = colors_[at(to_play_)];
    // A piece checks from where the same piece of the other side, put in the king's place, would attack.
    for (int kind = pawn; kind < kind_count; ++kind)
        if (kind != king)
            lister.squares[static_cast<std::size_t>(kind)] = piece_attacks(static_cast<Kind>(kind), them, target, all);
    const Bitboard lances = tables.rays[forward_ray(them)][target] & kinds_[lance];
    const Bitboard straight = tables.cross[target] & (kinds_[rook] | kinds_[dragon]);
    const Bitboard diagonal = tables.diagonal[target] & (kinds_[bishop] | kinds_[horse]);
    for_each_bit((lances | straight | diagonal) & own, [&](int slider) {
        const Bitboard shields = between(target, slider) & all;
        if (shields && !(shields & (shields - 1))) lister.shields |= shields & own;
    });
    generate(lister);
    return lister.moves;
}

Moves<Shogi> Shogi::noisy_moves() const {
    NoisyLister lister(pieces(other(to_play_)));
    if (over_by_rule()) return lister.moves;
    generate(lister);
    if (is_legal(Move::declaration())) lister.moves.push_back(Move::declaration());
    return lister.moves;
}

Moves<Shogi> Shogi::quiet_moves() const {
    QuietLister lister(pieces(other(to_play_)));
    if (!over_by_rule()) generate(lister);
    return lister.moves;
}

Shogi::MoveSets Shogi::move_sets() const {
    SetLister lister;
    if (!over_by_rule()) generate(lister);
    return lister.sets;
}

std::size_t Shogi::count_moves() const {
    if (over_by_rule()) return 0;
    MoveCounter counter;
    generate(counter);
    return counter.count + (rules_.declaration && counter.count > 0 && may_declare());
}

namespace {

/// A lottery over moves. Each kind of piece holds, for every square it stands on, as many tickets as such a piece can
/// ever have moves there; pawn steps and drops hold one for each square they can go to. Most tickets are blanks, but
/// every legal move is on exactly one, so drawing until one wins is uniform, and no move list is made.
struct Stake {
    Kind kind;
    int tickets;                           // for each square
    int reciprocal = 65536 / tickets + 1;  // divides numbers up to a thousand exactly
};
enum StakeIndex : std::uint8_t { first_drop, last_drop = 6, pawn_step, pawn_promotion, first_piece };
constexpr std::array<Stake, 21> stakes = {{
    {Shogi::pawn, 1},    {Shogi::lance, 1},   {Shogi::knight, 1}, {Shogi::silver, 1},
    {Shogi::bishop, 1},  {Shogi::rook, 1},    {Shogi::gold, 1},  // drops
    {Shogi::pawn, 1},    {Shogi::pawn, 1},                       // steps, promotions
    {Shogi::knight, 4},  {Shogi::gold, 6},    {Shogi::king, 8},   {Shogi::horse, 20},
    {Shogi::dragon, 20}, {Shogi::lance, 11},   // 8 squares and 3 promotions
    {Shogi::silver, 5},  {Shogi::silver, 10},  // out of reach of the promotion zone, and within
    {Shogi::bishop, 22}, {Shogi::bishop, 32},  // below the zone (three squares of it on each diagonal), and in it
    {Shogi::rook, 19},   {Shogi::rook, 32},
}};

}  // namespace

std::optional<Shogi::Move> Shogi::random_move(Rng& rng) const {
    if (over_by_rule()) return std::nullopt;
    // In check few moves are legal: listing them is quicker.
    if (in_check() || (rules_.declaration && may_declare())) return draw_move(*this, rng);
    const Player us = to_play_;
    const Bitboard own = colors_[at(us)];
    const Bitboard all = occupied();
    const Territory& land = territory(us);
    const Bitboard near = land.zone | rank_mask(far_rank(us, 3));
    const auto& hand = hands_[at(us)];
    const Bitboard pawns = own & kinds_[pawn];
    const Bitboard pushed = (us == Player::first ? pawns >> 1 : pawns << 1) & ~own;
    std::array<Bitboard, stakes.size()> squares;
    const Bitboard open = whole_board & ~all;
#pragma GCC unroll 8
    for (std::size_t i = first_drop; i <= last_drop; ++i)
        squares[i] = hand[stakes[i].kind] ? open & ~land.dead_ends[stakes[i].kind] : 0;
    squares[first_drop] &= ~whole_files(pawns);
    squares[pawn_step] = pushed & ~land.dead_ends[pawn];
    squares[pawn_promotion] = pushed & land.zone;
    const std::array<Bitboard, stakes.size() - first_piece> origins = {kinds_[knight],
                                                                       gold_movers(),
                                                                       kinds_[king],
                                                                       kinds_[horse],
                                                                       kinds_[dragon],
                                                                       kinds_[lance],
                                                                       kinds_[silver] & ~near,
                                                                       kinds_[silver] & near,
                                                                       kinds_[bishop] & ~land.zone,
                                                                       kinds_[bishop] & land.zone,
                                                                       kinds_[rook] & ~land.zone,
                                                                       kinds_[rook] & land.zone};
#pragma GCC unroll 16
    for (std::size_t i = 0; i < origins.size(); ++i) squares[first_piece + i] = origins[i] & own;
    std::array<int, stakes.size()> ends;  // tickets up to the end of each stake
    int total = 0;
#pragma GCC unroll 32
    for (std::size_t i = 0; i < stakes.size(); ++i) ends[i] = total += count_bits(squares[i]) * stakes[i].tickets;
    const int king_at = kings_[at(us)];
    for (int blanks = 0; total > 0 && blanks < 200; ++blanks) {
        const int ticket = static_cast<int>(rng.below(static_cast<std::uint32_t>(total)));
        std::size_t index = 0;
        while (ticket >= ends[index]) ++index;
        const Stake stake = stakes[index];
        const int offset = ticket - (index ? ends[index - 1] : 0);
        const int which = offset * stake.reciprocal >> 16;
        const int square = nth_bit(squares[index], which);
        Move move;
        if (index < pawn_step) {
            if (stake.kind == pawn && square == front_of_enemy_king() && is_drop_mate(square)) continue;
            return Move::drop(stake.kind, square);
        }
        if (index < first_piece) {
            move = {square - forward(us), square, index == pawn_promotion};
        } else {
            const Kind kind = piece_on(square);
            const Bitboard targets = piece_attacks(kind, us, square, all) & ~own;
            const Bitboard plain = targets & ~land.dead_ends[kind];
            const int plain_count = count_bits(plain);
            int n = offset - which * stake.tickets;
            if (n < plain_count) {
                move = {square, nth_bit(plain, n)};
            } else {
                n -= plain_count;
                const Bitboard promoting =
                    can_promote(kind) ? targets & land.promoting[static_cast<std::size_t>(square)] : 0;
                if (n >= count_bits(promoting)) continue;
                move = {square, nth_bit(promoting, n), true};
            }
            if (kind == king) {
                if (!king_may_go(move.to())) continue;
                return move;
            }
        }
        // Only a piece in line with its king can be pinned.
        if (king_at == no_square || tables.direction[king_at][move.from()] == no_direction) return move;
        if (!(attackers(king_at, other(us), (all ^ bit(move.from())) | bit(move.to())) & ~bit(move.to()))) return move;
    }
    return draw_move(*this, rng);
}

/// Judges one move independently of the generator: how the piece moves, then whether the own king is left attacked.
bool Shogi::is_legal(Move move) const {
    if (over_by_rule()) return false;
    if (move == Move::declaration()) return rules_.declaration && may_declare() && has_move();
    const Player us = to_play_;
    const Player them = other(us);
    const Bitboard own = colors_[at(us)];
    const Bitboard all = occupied();
    const int to = move.to();
    const int king_at = kings_[at(us)];
    if (to >= 81 || (move.bits >> 15)) return false;
    if (move.is_drop()) {
        const Kind kind = move.dropped();
        if (move.promotes() || !in_hand(us, kind) || (all & bit(to)) || (dead_end(kind, us) & bit(to))) return false;
        if (king_at != no_square && attackers(king_at, them, all | bit(to))) return false;
        if (kind != pawn) return true;
        for (int rank = 0; rank < 9; ++rank)
            if (pieces(us, pawn) & bit(square_at(file_of(to), rank))) return false;
        return to != front_of_enemy_king() || !is_drop_mate(to);
    }
    const int from = move.from();
    if (from >= 81 || !(own & bit(from)) || (own & bit(to))) return false;
    const Kind kind = piece_on(from);
    if (!(piece_attacks(kind, us, from, all) & bit(to))) return false;
    if (move.promotes()) {
        if (!can_promote(kind) || !(promotion_zone(us) & (bit(from) | bit(to)))) return false;
    } else if (dead_end(kind, us) & bit(to)) {
        return false;
    }
    if (king_at == no_square) return true;
    const Bitboard after = (all ^ bit(from)) | bit(to);
    return !(attackers(kind == king ? to : king_at, them, after) & ~bit(to));
}

void Shogi::play(Move move) {
    const Player us = to_play_;
    const int to = move.to();
    if (move == Move::declaration()) {
        declared_ = true;
    } else if (move.is_drop()) {
        change_hand(us, move.dropped(), -1);
        put(us, move.dropped(), to);
    } else {
        const Kind kind = piece_on(move.from());
        if (const Kind victim = piece_on(to); victim != no_piece) {
            take(other(us), victim, to);
            change_hand(us, unpromoted(victim), 1);
        }
        take(us, kind, move.from());
        put(us, move.promotes() ? promoted(kind) : kind, to);
        if (kind == king) kings_[at(us)] = static_cast<std::uint8_t>(to);
    }
    if (ply_ < 65534) ++ply_;
    to_play_ = other(us);
    hash_ ^= side_key;
}

std::uint64_t Shogi::board_hash() const {
    std::uint64_t hash = hash_;
    for (const Player player : {Player::first, Player::second})
        for (const Kind kind : {pawn, lance, knight, silver, bishop, rook, gold})
            hash ^= hand_key(player, kind, in_hand(player, kind));
    return hash;
}

std::uint64_t Shogi::board_hash_after(std::uint64_t board_hash, Move move) const {
    const int to = move.to();
    if (move.is_drop()) return board_hash ^ side_key ^ piece_key(to_play_, move.dropped(), to);
    const Kind kind = piece_on(move.from());
    if (const Kind victim = piece_on(to); victim != no_piece) board_hash ^= piece_key(other(to_play_), victim, to);
    return board_hash ^ side_key ^ piece_key(to_play_, kind, move.from()) ^
           piece_key(to_play_, move.promotes() ? promoted(kind) : kind, to);
}

void Shogi::skip_turn() {
    if (ply_ < 65534) ++ply_;
    to_play_ = other(to_play_);
    hash_ ^= side_key;
}

int Shogi::see(Move move) const {
    if (move == Move::declaration()) return 0;
    const int to = move.to();
    Kind standing = move.is_drop() ? move.dropped() : piece_on(move.from());
    Bitboard all = occupied();
    std::array<int, 41> gains;
    std::size_t depth = 0;
    gains[0] = exchange_values[piece_on(to)];
    if (move.is_drop()) {
        all |= bit(to);
    } else {
        all ^= bit(move.from());
        if (move.promotes()) {
            gains[0] += exchange_values[promoted(standing)] - exchange_values[standing];
            standing = promoted(standing);
        }
    }
    static constexpr auto by_value = [] {
        std::array<Kind, kind_count - 1> order{};
        for (int i = 1; i < kind_count; ++i) order[static_cast<std::size_t>(i - 1)] = static_cast<Kind>(i);
        std::sort(order.begin(), order.end(), [](Kind a, Kind b) { return exchange_values[a] < exchange_values[b]; });
        return order;
    }();
    for (Player side = other(to_play_);; side = other(side)) {
        const Bitboard able = attackers(to, side, all) & all;
        if (!able) break;
        const Kind cheapest =
            *std::find_if(by_value.begin(), by_value.end(), [&](Kind kind) { return (able & kinds_[kind]) != 0; });
        ++depth;
        gains[depth] = exchange_values[standing] - gains[depth - 1];
        all ^= bit(lowest_bit(able & kinds_[cheapest]));
        standing = cheapest;
    }
    for (; depth > 0; --depth) gains[depth - 1] = -std::max(-gains[depth - 1], gains[depth]);
    return gains[0];
}

Shogi Shogi::from_text(std::string_view sfen) {
    const auto bad = [&](const std::string& why) {
        return NotationError("bad SFEN '" + std::string(sfen) + "': " + why);
    };
    const auto fields = split_fields(sfen);
    if (fields.size() < 3) throw bad("expected board, b or w, and pieces in hand");
    Shogi game{Empty{}};
    std::array<int, 9> used{};
    const auto use = [&](Kind kind, int count) {
        used[unpromoted(kind)] += count;
        if (used[unpromoted(kind)] > piece_limits[unpromoted(kind)])
            throw bad(std::string("more than ") + std::to_string(piece_limits[unpromoted(kind)]) + " of '" +
                      letters[unpromoted(kind)] + "'");
    };
    int rank = 0;
    int column = 0;
    bool plus = false;
    for (const char c : fields[0]) {
        if (c == '/' && !plus) {
            if (column != 9)
                throw bad("rank " + std::to_string(rank + 1) + " has " + std::to_string(column) + " squares");
            if (++rank > 8) throw bad("more than 9 ranks");
            column = 0;
        } else if (c >= '1' && c <= '9' && !plus) {
            column += c - '0';
        } else if (c == '+' && !plus) {
            plus = true;
        } else {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            const auto found = letter ? letters.find(static_cast<char>(c & ~32)) : std::string_view::npos;
            if (found == std::string_view::npos) throw bad(std::string("'") + c + "' is no piece");
            auto kind = static_cast<Kind>(found);
            if (plus && !can_promote(kind)) throw bad(std::string("'+") + c + "' is no piece");
            if (plus) kind = promoted(kind);
            plus = false;
            if (column > 8) throw bad("rank " + std::to_string(rank + 1) + " has more than 9 squares");
            const Player player = c < 'a' ? Player::first : Player::second;
            const int square = square_at(8 - column, rank);
            use(kind, 1);
            if (kind == king) {
                if (game.kings_[at(player)] != no_square) throw bad("two kings of one side");
                game.kings_[at(player)] = static_cast<std::uint8_t>(square);
            }
            if (dead_end(kind, player) & bit(square)) throw bad("a piece that can never move");
            if (kind == pawn)
                for (int r = 0; r < 9; ++r)
                    if (game.pieces(player, pawn) & bit(square_at(file_of(square), r)))
                        throw bad("two pawns on one file");
            game.put(player, kind, square);
            ++column;
        }
        if (column > 9) throw bad("rank " + std::to_string(rank + 1) + " has more than 9 squares");
    }
    if (rank != 8 || column != 9 || plus) throw bad("9 ranks of 9 squares are needed");

    if (fields[1] != "b" && fields[1] != "w") throw bad("side to move is '" + std::string(fields[1]) + "', not b or w");
    game.to_play_ = fields[1] == "b" ? Player::first : Player::second;
    if (game.to_play_ == Player::second) game.hash_ ^= side_key;

    if (fields[2] != "-") {
        int count = 0;
        for (const char c : fields[2]) {
            if (c >= '0' && c <= '9') {
                count = 10 * count + c - '0';
                if (count == 0 || count > 18) throw bad("pieces in hand");
                continue;
            }
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            const auto found = letter ? letters.find(static_cast<char>(c & ~32)) : std::string_view::npos;
            if (found == std::string_view::npos || static_cast<Kind>(found) == king)
                throw bad(std::string("'") + c + "' in hand is no piece");
            const auto kind = static_cast<Kind>(found);
            use(kind, std::max(count, 1));
            game.change_hand(c < 'a' ? Player::first : Player::second, kind, std::max(count, 1));
            count = 0;
        }
        if (count) throw bad("pieces in hand end in a number");
    }
    std::size_t next = 3;
    if (next < fields.size() && fields[next][0] >= '0' && fields[next][0] <= '9') {
        const auto number = parse_number(fields[next], 0, 65535);
        if (!number) throw bad("move number '" + std::string(fields[next]) + "'");
        game.ply_ = static_cast<std::uint16_t>(std::max(0, *number - 1));
        ++next;
    }
    for (; next < fields.size(); ++next) {
        const auto field = fields[next];
        if (field == "declaration") {
            game.rules_.declaration = true;
        } else if (field == "declared") {
            game.declared_ = true;
        } else if (field.starts_with("limit=")) {
            const auto limit = parse_number(field.substr(6), 1, 60000);
            if (!limit) throw bad("'" + std::string(field) + "'");
            game.rules_.ply_limit = static_cast<std::uint16_t>(*limit);
        } else {
            throw bad("'" + std::string(field) + "' after the move number");
        }
    }
    const int idle_king = game.kings_[at(other(game.to_play_))];
    if (idle_king != no_square && game.attackers(idle_king, game.to_play_, game.occupied()))
        throw bad("the side that has just moved is in check");
    return game;
}

std::string Shogi::text() const {
    std::string sfen;
    for (int rank = 0; rank < 9; ++rank) {
        int empty = 0;
        for (int file = 8; file >= 0; --file) {
            const int square = square_at(file, rank);
            const Kind kind = piece_on(square);
            if (kind == no_piece) {
                ++empty;
                continue;
            }
            if (empty) sfen += static_cast<char>('0' + std::exchange(empty, 0));
            if (kind > king) sfen += '+';
            const char letter = letters[unpromoted(kind)];
            sfen += colors_[0] & bit(square) ? letter : static_cast<char>(letter | 32);
        }
        if (empty) sfen += static_cast<char>('0' + empty);
        if (rank < 8) sfen += '/';
    }
    sfen += to_play_ == Player::first ? " b " : " w ";
    std::string hands;
    for (const Player player : {Player::first, Player::second}) {
        for (const Kind kind : {rook, bishop, gold, silver, knight, lance, pawn}) {
            const int count = in_hand(player, kind);
            if (count == 0) continue;
            if (count > 1) hands += std::to_string(count);
            hands += player == Player::first ? letters[kind] : static_cast<char>(letters[kind] | 32);
        }
    }
    sfen += hands.empty() ? "-" : hands;
    sfen += ' ' + std::to_string(ply_ + 1);
    if (rules_.declaration) sfen += " declaration";
    if (rules_.ply_limit) sfen += " limit=" + std::to_string(rules_.ply_limit);
    if (declared_) sfen += " declared";
    return sfen;
}

std::vector<std::int8_t> Shogi::cells() const {
    std::vector<std::int8_t> cells(81, 0);
    for (int square = 0; square < 81; ++square) {
        const int code = piece_on(square);
        cells[static_cast<std::size_t>(9 * rank_of(square) + 8 - file_of(square))] =
            static_cast<std::int8_t>(colors_[0] & bit(square) ? code : -code);
    }
    return cells;
}

Shogi::Move Shogi::transformed(Move move, int symmetry) {
    if (symmetry == 0 || move == Move::declaration()) return move;
    const auto mirrored = [](int square) { return square_at(8 - file_of(square), rank_of(square)); };
    return {move.is_drop() ? move.from() : mirrored(move.from()), mirrored(move.to()), move.promotes()};
}

Shogi Shogi::transformed(int symmetry) const {
    if (symmetry == 0) return *this;
    Shogi game{Empty{}};
    game.hands_ = hands_;
    game.hash_ = to_play_ == Player::second ? side_key : 0;
    for (const Player player : {Player::first, Player::second}) {
        for_each_bit(colors_[at(player)], [&](int square) {
            const int mirrored = square_at(8 - file_of(square), rank_of(square));
            game.put(player, piece_on(square), mirrored);
            if (piece_on(square) == king) game.kings_[at(player)] = static_cast<std::uint8_t>(mirrored);
        });
        for (const Kind kind : {pawn, lance, knight, silver, bishop, rook, gold})
            game.hash_ ^= hand_key(player, kind, in_hand(player, kind));
    }
    game.ply_ = ply_;
    game.rules_ = rules_;
    game.to_play_ = to_play_;
    game.declared_ = declared_;
    return game;
}

void Shogi::check_consistency() const {
    std::uint64_t hash = to_play_ == Player::second ? side_key : 0;
    Bitboard seen = 0;
    for (std::size_t kind = 1; kind < kind_count; ++kind) {
        require_consistent(!(seen & kinds_[kind]), "two pieces on one square");
        seen |= kinds_[kind];
        for_each_bit(kinds_[kind], [&](int square) {
            require_consistent(piece_on(square) == kind, "the board and the pieces' sets");
            hash ^=
                piece_key(colors_[0] & bit(square) ? Player::first : Player::second, static_cast<Kind>(kind), square);
        });
    }
    require_consistent(seen == occupied() && !(colors_[0] & colors_[1]), "the colors' sets");
    require_consistent(std::count(board_.begin(), board_.end(), no_piece) == 81 - count_bits(seen), "empty squares");
    for (const Player player : {Player::first, Player::second}) {
        const Bitboard kings = pieces(player, king);
        require_consistent(kings == (kings_[at(player)] == no_square ? Bitboard{0} : bit(kings_[at(player)])),
                           "the king's square");
        for (const Kind kind : {pawn, lance, knight, silver, bishop, rook, gold})
            hash ^= hand_key(player, kind, in_hand(player, kind));
    }
    require_consistent(hash == hash_, "the hash");
}

static_assert(Game<Shogi>);

}  // namespace hyoka
