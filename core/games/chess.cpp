// SPDX-License-Identifier: Apache-2.0
#include "games/chess.h"

#include <algorithm>
#include <utility>

#include "base/zobrist.h"

namespace hyoka {

using namespace chess;

namespace {

using Type = Chess::Move::Type;

constexpr auto piece_keys = zobrist_keys<std::size_t{2} * 6 * 64>(0xc0);
constexpr auto castling_keys = zobrist_keys<64>(0xc1);
constexpr auto en_passant_keys = zobrist_keys<64>(0xc2);
constexpr auto side_key = zobrist_keys<1>(0xc3)[0];

constexpr std::uint64_t piece_key(Player player, Chess::Kind kind, int square) {
    return piece_keys[static_cast<std::size_t>((index_of(player) * 6 + kind) * 64 + square)];
}

constexpr Bitboard light_squares = 0x55aa55aa55aa55aaULL;

constexpr Bitboard shift(Bitboard bits, int by) { return by > 0 ? bits << by : bits >> -by; }

// Output of the generator: sets of moves, each handed over whole.

/// Lists all moves.
struct MoveLister {
    Moves<Chess> moves;
    void piece(int from, Bitboard targets) {
        for_each_bit(targets, [&](int to) { moves.push_back({from, to}); });
    }
    void pawns(int step, Bitboard targets) {
        for_each_bit(targets, [&](int to) { moves.push_back({to - step, to}); });
    }
    void promotions(int step, Bitboard targets) {
        for_each_bit(targets, [&](int to) {
            for (auto kind : {Chess::queen, Chess::rook, Chess::bishop, Chess::knight})
                moves.push_back({to - step, to, Type::promotion, kind});
        });
    }
    void single(Chess::Move move) { moves.push_back(move); }
};

/// Lists the moves that give check.
struct CheckLister {
    const Chess& game;
    int enemy_king;
    std::array<Bitboard, 6> squares{};  // by kind: where such a piece checks
    Bitboard shields = 0;               // pieces of the mover that open a check when they leave the line
    Moves<Chess> moves;

    bool opens(int from, int to) const { return (shields & bit(from)) && !(tables.line[enemy_king][from] & bit(to)); }
    void piece(int from, Bitboard targets) {
        Bitboard checks = squares[game.piece_on(from)];
        if (shields & bit(from)) checks |= ~tables.line[enemy_king][from];
        for_each_bit(targets & checks, [&](int to) { moves.push_back({from, to}); });
    }
    void pawns(int step, Bitboard targets) {
        for_each_bit(targets & (squares[Chess::pawn] | shift(shields, step)), [&](int to) {
            if ((squares[Chess::pawn] & bit(to)) || opens(to - step, to)) moves.push_back({to - step, to});
        });
    }
    void promotions(int step, Bitboard targets) {
        for_each_bit(targets, [&](int to) {
            // The pawn that leaves may have stood in the way of its own new attack.
            const Bitboard after = game.occupied() ^ bit(to - step);
            const Bitboard straight = rook_attacks(to, after) & bit(enemy_king);
            const Bitboard diagonal = bishop_attacks(to, after) & bit(enemy_king);
            const auto add = [&](Chess::Kind kind, Bitboard checks) {
                if (checks || opens(to - step, to)) moves.push_back({to - step, to, Type::promotion, kind});
            };
            add(Chess::queen, straight | diagonal);
            add(Chess::rook, straight);
            add(Chess::bishop, diagonal);
            add(Chess::knight, squares[Chess::knight] & bit(to));
        });
    }
    void single(Chess::Move move) {
        Chess after = game;
        after.play(move);
        if (after.in_check()) moves.push_back(move);
    }
};

/// Lists captures and promotions.
struct NoisyLister : MoveLister {
    Bitboard enemy;
    explicit NoisyLister(Bitboard enemy_pieces) : enemy(enemy_pieces) {}
    void piece(int from, Bitboard targets) { MoveLister::piece(from, targets & enemy); }
    void pawns(int step, Bitboard targets) { MoveLister::pawns(step, targets & enemy); }
    void single(Chess::Move move) {
        if (move.type() == Type::en_passant) moves.push_back(move);
    }
};

/// Lists all other moves.
struct QuietLister : MoveLister {
    Bitboard enemy;
    explicit QuietLister(Bitboard enemy_pieces) : enemy(enemy_pieces) {}
    void piece(int from, Bitboard targets) { MoveLister::piece(from, targets & ~enemy); }
    void pawns(int step, Bitboard targets) { MoveLister::pawns(step, targets & ~enemy); }
    void promotions(int, Bitboard) {}
    void single(Chess::Move move) {
        if (move.type() == Type::castling) moves.push_back(move);
    }
};

/// Counts them without writing one down.
struct MoveCounter {
    std::size_t count = 0;
    void piece(int, Bitboard targets) { count += static_cast<std::size_t>(count_bits(targets)); }
    void pawns(int, Bitboard targets) { count += static_cast<std::size_t>(count_bits(targets)); }
    void promotions(int, Bitboard targets) { count += 4 * static_cast<std::size_t>(count_bits(targets)); }
    void single(Chess::Move) { ++count; }
};

/// Keeps the sets, so that one move can be drawn without listing all.
struct MoveSets {
    enum class Shape : std::uint8_t { piece, pawns, promotions, single };
    struct Set {
        Bitboard targets;
        int count;
        std::int16_t origin;  // from square, or step
        Shape shape;
        Chess::Move move;
    };
    InlineVector<Set, 64> sets;
    int total = 0;

    void add(Bitboard targets, int count, int origin, Shape shape, Chess::Move move = {}) {
        if (count == 0) return;
        sets.push_back({targets, count, static_cast<std::int16_t>(origin), shape, move});
        total += count;
    }
    void piece(int from, Bitboard targets) { add(targets, count_bits(targets), from, Shape::piece); }
    void pawns(int step, Bitboard targets) { add(targets, count_bits(targets), step, Shape::pawns); }
    void promotions(int step, Bitboard targets) { add(targets, 4 * count_bits(targets), step, Shape::promotions); }
    void single(Chess::Move move) { add(0, 1, 0, Shape::single, move); }

    Chess::Move nth(int n) const {
        const Set* set = sets.begin();
        while (n >= set->count) n -= (set++)->count;
        switch (set->shape) {
            case Shape::piece: return {set->origin, nth_bit(set->targets, n)};
            case Shape::pawns: {
                const int to = nth_bit(set->targets, n);
                return {to - set->origin, to};
            }
            case Shape::promotions: {
                const int to = nth_bit(set->targets, n / 4);
                return {to - set->origin, to, Type::promotion, static_cast<Chess::Kind>(Chess::knight + n % 4)};
            }
            case Shape::single: break;
        }
        return set->move;
    }
};

}  // namespace

Chess::Chess() {
    static const Chess start = from_text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    *this = start;
}

void Chess::put(Player player, Kind kind, int square) {
    kinds_[kind] |= bit(square);
    colors_[at(player)] |= bit(square);
    board_[static_cast<std::size_t>(square)] = kind;
    hash_ ^= piece_key(player, kind, square);
}

void Chess::take(Player player, Kind kind, int square) {
    kinds_[kind] ^= bit(square);
    colors_[at(player)] ^= bit(square);
    board_[static_cast<std::size_t>(square)] = no_piece;
    hash_ ^= piece_key(player, kind, square);
}

void Chess::change_castling(Bitboard rooks) {
    castling_ ^= rooks;
    for_each_bit(rooks, [&](int square) { hash_ ^= castling_keys[static_cast<std::size_t>(square)]; });
}

void Chess::drop_castling(Bitboard rooks) {
    if (const Bitboard dropped = castling_ & rooks) change_castling(dropped);
}

void Chess::change_side() {
    to_play_ = other(to_play_);
    hash_ ^= side_key;
}

void Chess::set_en_passant(int square) {
    en_passant_ = static_cast<std::uint8_t>(square);
    hash_ ^= en_passant_keys[static_cast<std::size_t>(square)];
}

Chess::Bitboard Chess::attackers(int square, Player player, Bitboard occupied) const {
    const Bitboard diagonal = kinds_[bishop] | kinds_[queen];
    const Bitboard straight = kinds_[rook] | kinds_[queen];
    return colors_[at(player)] &
           ((tables.pawn[index_of(other(player))][square] & kinds_[pawn]) | (tables.knight[square] & kinds_[knight]) |
            (tables.king[square] & kinds_[king]) | (bishop_attacks(square, occupied) & diagonal) |
            (rook_attacks(square, occupied) & straight));
}

Chess::Bitboard Chess::checkers() const { return attackers(king_square(to_play_), other(to_play_), occupied()); }

Chess::Bitboard Chess::piece_attacks(Kind kind, int square, Bitboard occupied) const {
    switch (kind) {
        case knight: return tables.knight[square];
        case bishop: return bishop_attacks(square, occupied);
        case rook: return rook_attacks(square, occupied);
        case queen: return bishop_attacks(square, occupied) | rook_attacks(square, occupied);
        case king: return tables.king[square];
        default: return 0;
    }
}

Chess::Bitboard Chess::attacks_of(Player player, Bitboard occupied) const {
    const Bitboard own_pawns = pieces(player, pawn);
    Bitboard attacks = player == Player::first ? ((own_pawns & ~file_a) << 7) | ((own_pawns & ~file_h) << 9)
                                               : ((own_pawns & ~file_a) >> 9) | ((own_pawns & ~file_h) >> 7);
    const Bitboard own = colors_[at(player)];
    for_each_bit(own & kinds_[knight], [&](int s) { attacks |= tables.knight[s]; });
    for_each_bit(own & (kinds_[bishop] | kinds_[queen]), [&](int s) { attacks |= bishop_attacks(s, occupied); });
    for_each_bit(own & (kinds_[rook] | kinds_[queen]), [&](int s) { attacks |= rook_attacks(s, occupied); });
    return attacks | tables.king[lowest_bit(own & kinds_[king])];
}

bool Chess::castling_allowed(int rook_square, Bitboard danger) const {
    const int from = king_square(to_play_);
    const int king_to = castled_king(from, rook_square);
    const int rook_to = castled_rook(from, rook_square);
    const Bitboard king_path = tables.between[from][king_to] | bit(king_to);
    const Bitboard rook_path = tables.between[rook_square][rook_to] | bit(rook_to);
    const Bitboard others = occupied() ^ bit(from) ^ bit(rook_square);
    if ((king_path | rook_path) & others) return false;
    if ((king_path | bit(from)) & danger) return false;
    // In Chess960 the castling rook itself may have shielded the king's new square.
    const Bitboard straight = colors_[at(other(to_play_))] & (kinds_[rook] | kinds_[queen]);
    return !(rook_attacks(king_to, others | bit(rook_to)) & straight);
}

/// Hands all legal moves to the sink in sets. Draw rules are not looked at.
template <class Sink>
void Chess::generate(Sink& sink) const {
    const Player us = to_play_;
    const Player them = other(us);
    const Bitboard own = colors_[at(us)];
    const Bitboard enemy = colors_[at(them)];
    const Bitboard all = own | enemy;
    const int king_at = king_square(us);

    const Bitboard danger = attacks_of(them, all ^ bit(king_at));
    sink.piece(king_at, tables.king[king_at] & ~own & ~danger);

    // Squares a move must reach: all; in check the checker or a square before it; in double check none.
    Bitboard goal = ~own;
    if (danger & bit(king_at)) {
        const Bitboard checking = checkers();
        if (checking & (checking - 1)) return;
        goal = tables.between[king_at][lowest_bit(checking)] | checking;
    } else {
        for_each_bit(castling_ & own, [&](int rook_square) {
            if (castling_allowed(rook_square, danger)) sink.single({king_at, rook_square, Type::castling});
        });
    }

    // A pinned piece stays on the line between its king and the pinning slider.
    const Bitboard enemy_diagonal = enemy & (kinds_[bishop] | kinds_[queen]);
    const Bitboard enemy_straight = enemy & (kinds_[rook] | kinds_[queen]);
    Bitboard pinned = 0;
    for_each_bit((bishop_attacks(king_at, enemy) & enemy_diagonal) | (rook_attacks(king_at, enemy) & enemy_straight),
                 [&](int slider) {
                     const Bitboard shields = tables.between[king_at][slider] & own;
                     if (shields && !(shields & (shields - 1))) pinned |= shields;
                 });
    const auto kept_on_line = [&](int from) { return pinned & bit(from) ? tables.line[king_at][from] : ~Bitboard{0}; };

    for_each_bit(own & kinds_[knight] & ~pinned, [&](int from) { sink.piece(from, tables.knight[from] & goal); });
    for_each_bit(own & (kinds_[bishop] | kinds_[queen]), [&](int from) {
        Bitboard targets = bishop_attacks(from, all);
        if (kinds_[queen] & bit(from)) targets |= rook_attacks(from, all);
        sink.piece(from, targets & goal & kept_on_line(from));
    });
    for_each_bit(own & kinds_[rook],
                 [&](int from) { sink.piece(from, rook_attacks(from, all) & goal & kept_on_line(from)); });

    const int forward = us == Player::first ? 8 : -8;
    const Bitboard last_rank = rank_mask(us == Player::first ? 7 : 0);
    const Bitboard third_rank = rank_mask(us == Player::first ? 2 : 5);
    const auto pawn_moves = [&](Bitboard pawns, Bitboard allowed) {
        const Bitboard once = shift(pawns, forward) & ~all;
        const Bitboard twice = shift(once & third_rank, forward) & ~all & allowed;
        const auto pushes = once & allowed;
        const auto left = shift(pawns & ~file_a, forward - 1) & enemy & allowed;
        const auto right = shift(pawns & ~file_h, forward + 1) & enemy & allowed;
        sink.pawns(forward, pushes & ~last_rank);
        sink.pawns(2 * forward, twice);
        sink.pawns(forward - 1, left & ~last_rank);
        sink.pawns(forward + 1, right & ~last_rank);
        if ((pushes | left | right) & last_rank) {
            sink.promotions(forward, pushes & last_rank);
            sink.promotions(forward - 1, left & last_rank);
            sink.promotions(forward + 1, right & last_rank);
        }
    };
    const Bitboard own_pawns = own & kinds_[pawn];
    pawn_moves(own_pawns & ~pinned, goal);
    for_each_bit(own_pawns & pinned, [&](int from) { pawn_moves(bit(from), goal & kept_on_line(from)); });

    if (en_passant_ != no_square) {
        const Bitboard captured = bit(en_passant_ - forward);
        for_each_bit(tables.pawn[index_of(them)][en_passant_] & own_pawns, [&](int from) {
            const Bitboard after = (all ^ bit(from) ^ captured) | bit(en_passant_);
            if (!(attackers(king_at, them, after) & ~captured)) sink.single({from, en_passant_, Type::en_passant});
        });
    }
}

bool Chess::insufficient_material() const {
    if (kinds_[pawn] | kinds_[rook] | kinds_[queen]) return false;
    const Bitboard minors = kinds_[knight] | kinds_[bishop];
    if (!(minors & (minors - 1))) return true;
    // Any number of bishops that all stand on squares of one color can't mate.
    return !kinds_[knight] && (!(kinds_[bishop] & light_squares) || !(kinds_[bishop] & ~light_squares));
}

bool Chess::drawn_by_rule() const {
    if (draws_ == Draws::ignored) return false;
    return halfmove_ >= (draws_ == Draws::claimed ? 100 : 150) || insufficient_material();
}

bool Chess::has_move() const {
    MoveCounter counter;
    generate(counter);
    return counter.count > 0;
}

std::optional<Outcome> Chess::outcome() const {
    if (!has_move()) {
        if (in_check()) return Outcome{win_for(other(to_play_)), Reason::checkmate};
        return Outcome{Result::draw, Reason::stalemate};
    }
    if (drawn_by_rule())
        return Outcome{Result::draw, insufficient_material() ? Reason::insufficient_material : Reason::move_rule};
    return std::nullopt;
}

double Chess::score() const {
    const auto over = outcome();
    return over ? static_cast<double>(over->result) : 0;
}

std::optional<Outcome> Chess::outcome_after(std::span<const Trace> past) const {
    if (draws_ == Draws::ignored) return std::nullopt;
    int seen = 1;
    const int wanted = draws_ == Draws::claimed ? 3 : 5;
    // Nothing before the last capture or pawn move can come back, and only every second position has this side to move.
    const auto reach = std::min<std::size_t>(past.size(), halfmove_);
    for (std::size_t back = 2; back <= reach; back += 2)
        if (past[past.size() - back] == hash_ && ++seen >= wanted) return Outcome{Result::draw, Reason::repetition};
    return std::nullopt;
}

Moves<Chess> Chess::legal_moves() const {
    MoveLister lister;
    if (!drawn_by_rule()) generate(lister);
    return lister.moves;
}

Moves<Chess> Chess::checking_moves() const {
    const Player them = other(to_play_);
    const int target = king_square(them);
    CheckLister lister{.game = *this, .enemy_king = target, .moves = {}};
    if (drawn_by_rule()) return lister.moves;
    const Bitboard all = occupied();
    const Bitboard own = colors_[at(to_play_)];
    lister.squares = {tables.pawn[index_of(them)][target],
                      tables.knight[target],
                      bishop_attacks(target, all),
                      rook_attacks(target, all),
                      bishop_attacks(target, all) | rook_attacks(target, all),
                      0};
    const Bitboard enemy = colors_[at(them)];
    const Bitboard sliders = (bishop_attacks(target, enemy) & (kinds_[bishop] | kinds_[queen])) |
                             (rook_attacks(target, enemy) & (kinds_[rook] | kinds_[queen]));
    for_each_bit(sliders & own, [&](int slider) {
        const Bitboard shields = tables.between[target][slider] & own;
        if (shields && !(shields & (shields - 1))) lister.shields |= shields;
    });
    generate(lister);
    return lister.moves;
}

Moves<Chess> Chess::noisy_moves() const {
    NoisyLister lister(pieces(other(to_play_)));
    if (!drawn_by_rule()) generate(lister);
    return lister.moves;
}

Moves<Chess> Chess::quiet_moves() const {
    QuietLister lister(pieces(other(to_play_)));
    if (!drawn_by_rule()) generate(lister);
    return lister.moves;
}

std::size_t Chess::count_moves() const {
    MoveCounter counter;
    if (!drawn_by_rule()) generate(counter);
    return counter.count;
}

std::optional<Chess::Move> Chess::random_move(Rng& rng) const {
    if (drawn_by_rule()) return std::nullopt;
    MoveSets sets;
    generate(sets);
    if (sets.total == 0) return std::nullopt;
    return sets.nth(static_cast<int>(rng.below(static_cast<std::uint32_t>(sets.total))));
}

/// Judges one move independently of the generator: how the piece moves, then whether the own king is left attacked.
bool Chess::is_legal(Move move) const {
    if (drawn_by_rule()) return false;
    const Player us = to_play_;
    const Player them = other(us);
    const Bitboard own = colors_[at(us)];
    const Bitboard all = occupied();
    const int from = move.from();
    const int to = move.to();
    const Kind kind = piece_on(from);
    if (!(own & bit(from))) return false;
    const bool promotes = move.type() == Type::promotion;
    if (move != Move(from, to, move.type(), promotes ? move.promoted() : knight)) return false;

    if (move.type() == Type::castling) {
        const int king_at = king_square(us);
        return from == king_at && (castling_ & own & bit(to)) &&
               castling_allowed(to, attacks_of(them, all ^ bit(king_at)));
    }
    if (own & bit(to)) return false;
    Bitboard captured = all & bit(to);
    if (kind == pawn) {
        const int forward = us == Player::first ? 8 : -8;
        const int home = us == Player::first ? 1 : 6;
        if (promotes != (rank_of(to) == 0 || rank_of(to) == 7)) return false;
        if (tables.pawn[index_of(us)][from] & bit(to)) {
            if (move.type() == Type::en_passant) {
                if (to != en_passant_) return false;
                captured = bit(to - forward);
            } else if (!captured) {
                return false;
            }
        } else {
            const bool once = to == from + forward && !captured;
            const bool twice =
                to == from + 2 * forward && rank_of(from) == home && !captured && !(all & bit(from + forward));
            if (move.type() == Type::en_passant || !(once || twice)) return false;
        }
    } else if (move.type() != Type::normal || !(piece_attacks(kind, from, all) & bit(to))) {
        return false;
    }
    return leaves_king_safe(from, to, captured);
}

/// Whether the mover's king is not attacked once its piece has gone from `from` to `to`.
bool Chess::leaves_king_safe(int from, int to, Bitboard captured) const {
    const Bitboard after = ((occupied() ^ bit(from)) & ~captured) | bit(to);
    const int king_at = piece_on(from) == king ? to : king_square(to_play_);
    return !(attackers(king_at, other(to_play_), after) & ~captured);
}

bool Chess::en_passant_possible(int square, Player capturer) const {
    const int captured = square + (capturer == Player::first ? -8 : 8);
    const int king_at = king_square(capturer);
    bool possible = false;
    for_each_bit(tables.pawn[index_of(other(capturer))][square] & pieces(capturer, pawn), [&](int from) {
        const Bitboard after = (occupied() ^ bit(from) ^ bit(captured)) | bit(square);
        possible |= !(attackers(king_at, other(capturer), after) & ~bit(captured));
    });
    return possible;
}

void Chess::play(Move move) {
    const Player us = to_play_;
    const Player them = other(us);
    const int from = move.from();
    const int to = move.to();
    const Kind kind = piece_on(from);

    if (en_passant_ != no_square) {
        hash_ ^= en_passant_keys[en_passant_];
        en_passant_ = no_square;
    }
    if (halfmove_ < 65535) ++halfmove_;
    if (move.type() == Type::castling) {
        take(us, king, from);
        take(us, rook, to);
        put(us, king, castled_king(from, to));
        put(us, rook, castled_rook(from, to));
        drop_castling(colors_[at(us)] | bit(to));
        drop_castling(rank_mask(rank_of(from)));
    } else {
        if (const Kind victim = piece_on(to); victim != no_piece) {
            take(them, victim, to);
            halfmove_ = 0;
        }
        take(us, kind, from);
        put(us, move.type() == Type::promotion ? move.promoted() : kind, to);
        drop_castling(bit(from) | bit(to));
        if (kind == pawn) {
            halfmove_ = 0;
            if (move.type() == Type::en_passant) {
                take(them, pawn, to + (us == Player::first ? -8 : 8));
            } else if ((from ^ to) == 16) {
                const int passed = (from + to) / 2;
                if ((tables.pawn[index_of(us)][passed] & pieces(them, pawn)) && en_passant_possible(passed, them))
                    set_en_passant(passed);
            }
        } else if (kind == king) {
            drop_castling(rank_mask(us == Player::first ? 0 : 7));
        }
    }
    if (fullmove_ < 65535) fullmove_ = static_cast<std::uint16_t>(fullmove_ + index_of(us));
    change_side();
}

void Chess::skip_turn() {
    if (en_passant_ != no_square) {
        hash_ ^= en_passant_keys[en_passant_];
        en_passant_ = no_square;
    }
    if (halfmove_ < 65535) ++halfmove_;
    if (fullmove_ < 65535) fullmove_ = static_cast<std::uint16_t>(fullmove_ + index_of(to_play_));
    change_side();
}

int Chess::see(Move move) const {
    if (move.type() == Type::castling) return 0;
    const int to = move.to();
    Kind standing = piece_on(move.from());
    int balance = piece_on(to) == no_piece ? 0 : exchange_values[piece_on(to)];
    Bitboard all = occupied() ^ bit(move.from());
    if (move.type() == Type::en_passant) {
        all ^= bit(to + (to_play_ == Player::first ? -8 : 8));
        balance = exchange_values[pawn];
    } else if (move.type() == Type::promotion) {
        standing = move.promoted();
        balance += exchange_values[standing] - exchange_values[pawn];
    }
    std::array<int, 33> gains;
    std::size_t depth = 0;
    gains[0] = balance;
    for (Player side = other(to_play_);; side = other(side)) {
        const Bitboard able = attackers(to, side, all) & all;
        if (!able) break;
        Kind cheapest = pawn;
        while (!(able & kinds_[cheapest])) cheapest = static_cast<Kind>(cheapest + 1);
        ++depth;
        gains[depth] = exchange_values[standing] - gains[depth - 1];
        all ^= bit(lowest_bit(able & kinds_[cheapest]));
        standing = cheapest;
    }
    for (; depth > 0; --depth) gains[depth - 1] = -std::max(-gains[depth - 1], gains[depth]);
    return gains[0];
}

std::vector<std::int8_t> Chess::cells() const {
    std::vector<std::int8_t> cells(64, 0);
    for (int square = 0; square < 64; ++square) {
        if (piece_on(square) == no_piece) continue;
        const int code = piece_on(square) + 1;
        cells[static_cast<std::size_t>(8 * (7 - rank_of(square)) + file_of(square))] =
            static_cast<std::int8_t>(colors_[0] & bit(square) ? code : -code);
    }
    return cells;
}

void Chess::check_consistency() const {
    std::uint64_t hash = to_play_ == Player::second ? side_key : 0;
    Bitboard seen = 0;
    for (std::size_t kind = 0; kind < 6; ++kind) {
        require_consistent(!(seen & kinds_[kind]), "two pieces on one square");
        seen |= kinds_[kind];
        for_each_bit(kinds_[kind], [&](int square) {
            require_consistent(piece_on(square) == kind, "the board and the pieces' sets");
            hash ^=
                piece_key(colors_[0] & bit(square) ? Player::first : Player::second, static_cast<Kind>(kind), square);
        });
    }
    require_consistent(seen == occupied() && !(colors_[0] & colors_[1]), "the colors' sets");
    require_consistent(std::count(board_.begin(), board_.end(), no_piece) == 64 - count_bits(seen), "empty squares");
    for_each_bit(castling_, [&](int square) {
        require_consistent(piece_on(square) == rook, "a castling right without its rook");
        hash ^= castling_keys[static_cast<std::size_t>(square)];
    });
    if (en_passant_ != no_square) {
        require_consistent(en_passant_possible(en_passant_, to_play_), "an en passant square without a legal capture");
        hash ^= en_passant_keys[en_passant_];
    }
    require_consistent(hash == hash_, "the hash");
}

static_assert(Game<Chess>);

}  // namespace hyoka
