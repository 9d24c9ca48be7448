// SPDX-License-Identifier: Apache-2.0
// FEN, UCI and SAN.
#include <algorithm>
#include <utility>

#include "games/chess.h"
#include "games/text_fields.h"

namespace hyoka {

using namespace chess;

namespace {

using Type = Chess::Move::Type;

constexpr std::string_view letters = "PNBRQK";

}  // namespace

std::string Chess::Move::text() const {
    const auto square = [](int s) {
        return std::string{static_cast<char>('a' + file_of(s)), static_cast<char>('1' + rank_of(s))};
    };
    if (type() == Type::castling && file_of(from()) == 4 && (file_of(to()) == 0 || file_of(to()) == 7))
        return square(from()) + square(castled_king(from(), to()));
    std::string text = square(from()) + square(to());
    if (type() == Type::promotion) text += "nbrq"[promoted() - knight];
    return text;
}

Chess Chess::from_text(std::string_view fen) {
    const auto fields = split_fields(fen);
    if (fields.empty()) throw NotationError("an empty FEN");
    const auto field = [&](std::size_t i, std::string_view fallback) {
        return i < fields.size() ? fields[i] : fallback;
    };
    Chess game{Empty{}};

    const auto bad = [&](const std::string& why) {
        return NotationError("bad FEN '" + std::string(fen) + "': " + why);
    };
    int rank = 7;
    int file = 0;
    for (const char c : fields[0]) {
        if (c == '/') {
            if (file != 8) throw bad("rank " + std::to_string(rank + 1) + " has " + std::to_string(file) + " files");
            if (--rank < 0) throw bad("more than 8 ranks");
            file = 0;
        } else if (c >= '1' && c <= '8') {
            file += c - '0';
        } else {
            const auto kind = letters.find(static_cast<char>(c & ~32));
            if (kind == std::string_view::npos || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
                throw bad(std::string("'") + c + "' is no piece");
            if (file > 7) throw bad("rank " + std::to_string(rank + 1) + " has more than 8 files");
            game.put(c < 'a' ? Player::first : Player::second, static_cast<Kind>(kind), 8 * rank + file);
            ++file;
        }
        if (file > 8) throw bad("rank " + std::to_string(rank + 1) + " has more than 8 files");
    }
    if (rank != 0 || file != 8) throw bad("8 ranks of 8 files are needed");
    for (const Player player : {Player::first, Player::second}) {
        const std::string name = player == Player::first ? "White" : "Black";
        if (count_bits(game.pieces(player, king)) != 1) throw bad(name + " must have exactly one king");
        if (count_bits(game.colors_[at(player)]) > 16) throw bad(name + " has more than 16 pieces");
    }
    if (game.kinds_[pawn] & (rank_mask(0) | rank_mask(7))) throw bad("a pawn stands on the first or last rank");

    const auto side = field(1, "w");
    if (side != "w" && side != "b") throw bad("side to move is '" + std::string(side) + "', not w or b");
    if (side == "b") game.change_side();
    if (game.attackers(game.king_square(other(game.to_play_)), game.to_play_, game.occupied()))
        throw bad("the side that has just moved is in check");

    const auto rights = field(2, "-");
    for (const char c : rights == "-" ? std::string_view{} : rights) {
        const Player player = c < 'a' ? Player::first : Player::second;
        const int king_at = game.king_square(player);
        const Bitboard home = rank_mask(player == Player::first ? 0 : 7);
        const Bitboard rooks = game.pieces(player, rook) & home;
        const char upper = static_cast<char>(c & ~32);
        Bitboard castler = 0;
        if (upper == 'K' || upper == 'Q') {
            const Bitboard before = bit(king_at) - 1;
            const Bitboard side_rooks = rooks & (upper == 'K' ? ~before : before);
            if (side_rooks) castler = bit(upper == 'K' ? highest_bit(side_rooks) : lowest_bit(side_rooks));
        } else if (upper >= 'A' && upper <= 'H') {
            castler = rooks & (file_a << (upper - 'A'));
        } else {
            throw bad(std::string("'") + c + "' is no castling right");
        }
        if (!castler || !(home & bit(king_at)))
            throw bad(std::string("no rook or king in place for castling '") + c + "'");
        if (game.castling_ & castler) throw bad(std::string("castling '") + c + "' is named twice");
        game.change_castling(castler);
    }

    if (const auto target = field(3, "-"); target != "-") {
        if (target.size() != 2 || target[0] < 'a' || target[0] > 'h' || (target[1] != '3' && target[1] != '6'))
            throw bad("en passant square '" + std::string(target) + "'");
        const int square = 8 * (target[1] - '1') + target[0] - 'a';
        const int pushed = game.to_play_ == Player::first ? square - 8 : square + 8;
        const int origin = game.to_play_ == Player::first ? square + 8 : square - 8;
        const bool right_rank = rank_of(square) == (game.to_play_ == Player::first ? 5 : 2);
        if (!right_rank || !(game.pieces(other(game.to_play_), pawn) & bit(pushed)) ||
            (game.occupied() & (bit(square) | bit(origin))))
            throw bad("no pawn has just passed " + std::string(target));
        if (game.en_passant_possible(square, game.to_play_)) game.set_en_passant(square);
    }
    const auto number = [&](std::string_view digits, std::string_view what) {
        const auto value = parse_number(digits, 0, 65535);
        if (!value) throw bad(std::string(what) + " '" + std::string(digits) + "'");
        return static_cast<std::uint16_t>(*value);
    };
    game.halfmove_ = number(field(4, "0"), "halfmove clock");
    game.fullmove_ = std::max<std::uint16_t>(1, number(field(5, "1"), "move number"));
    if (const auto draws = field(6, "claimed"); draws == "automatic")
        game.draws_ = Draws::automatic;
    else if (draws == "ignored")
        game.draws_ = Draws::ignored;
    else if (draws != "claimed")
        throw bad("seventh field '" + std::string(draws) + "'");
    if (fields.size() > 7) throw bad("more than seven fields");
    return game;
}

std::string Chess::text() const {
    std::string fen;
    for (int rank = 7; rank >= 0; --rank) {
        int empty = 0;
        for (int file = 0; file < 8; ++file) {
            const int square = 8 * rank + file;
            if (piece_on(square) == no_piece) {
                ++empty;
                continue;
            }
            if (empty) fen += static_cast<char>('0' + std::exchange(empty, 0));
            const char letter = letters[piece_on(square)];
            fen += colors_[0] & bit(square) ? letter : static_cast<char>(letter | 32);
        }
        if (empty) fen += static_cast<char>('0' + empty);
        if (rank) fen += '/';
    }
    fen += to_play_ == Player::first ? " w " : " b ";
    std::string rights;
    for (const Player player : {Player::first, Player::second}) {
        const Bitboard home = rank_mask(player == Player::first ? 0 : 7);
        const Bitboard rooks = pieces(player, rook) & home;
        Bitboard castlers = castling_ & home;
        while (castlers) {  // the king's side first
            const int square = highest_bit(castlers);
            castlers ^= bit(square);
            const bool kingside = square > king_square(player);
            const int outermost = kingside ? highest_bit(rooks) : lowest_bit(rooks);
            const char right = square != outermost ? static_cast<char>('A' + file_of(square)) : kingside ? 'K' : 'Q';
            rights += player == Player::first ? right : static_cast<char>(right | 32);
        }
    }
    fen += rights.empty() ? "-" : rights;
    fen += ' ';
    if (en_passant_ == no_square)
        fen += '-';
    else
        fen += {static_cast<char>('a' + file_of(en_passant_)), static_cast<char>('1' + rank_of(en_passant_))};
    fen += ' ' + std::to_string(halfmove_) + ' ' + std::to_string(fullmove_);
    if (draws_ == Draws::automatic) fen += " automatic";
    if (draws_ == Draws::ignored) fen += " ignored";
    return fen;
}

Chess::Move Chess::parse_uci(std::string_view text) const {
    const int from = 8 * (text[1] - '1') + text[0] - 'a';
    const int to = 8 * (text[3] - '1') + text[2] - 'a';
    const Bitboard own = colors_[at(to_play_)];
    if (text.size() == 5) {
        const auto kind = std::string_view("nbrq").find(static_cast<char>(text[4] | 32));
        return {from, to, Type::promotion, static_cast<Kind>(knight + static_cast<int>(kind))};
    }
    if (piece_on(from) == king && (own & bit(from))) {
        if (castling_ & own & bit(to)) return {from, to, Type::castling};
        const bool jumps = rank_of(from) == rank_of(to) && file_of(from) == 4 && (file_of(to) == 6 || file_of(to) == 2);
        if (jumps) {
            const Bitboard side = to > from ? ~(bit(from) - 1) : bit(from) - 1;
            if (const Bitboard rooks = castling_ & own & side) return {from, lowest_bit(rooks), Type::castling};
        }
    }
    if (piece_on(from) == pawn && to == en_passant_ && file_of(from) != file_of(to))
        return {from, to, Type::en_passant};
    return {from, to};
}

/// Finds the pieces that reach the square by their attack masks, and among them the one that may go there.
Chess::SanError Chess::read_san(std::string_view text, Move& move) const {
    const auto is_suffix = [](char c) { return c == '+' || c == '#' || c == '!' || c == '?'; };
    while (!text.empty() && is_suffix(text.back())) text.remove_suffix(1);
    if (text.size() < 2) return SanError::unreadable;
    const Player us = to_play_;
    const Bitboard own = colors_[at(us)];

    if (text[0] == 'O' || text[0] == '0') {
        const bool kingside = text == "O-O" || text == "0-0";
        if (!kingside && text != "O-O-O" && text != "0-0-0") return SanError::unreadable;
        const int king_at = king_square(us);
        const Bitboard beyond = kingside ? ~(bit(king_at) - 1) : bit(king_at) - 1;
        const Bitboard rooks = castling_ & own & beyond;
        if (!rooks) return SanError::illegal;
        move = {king_at, lowest_bit(rooks), Type::castling};
        return is_legal(move) ? SanError::none : SanError::illegal;
    }
    Kind kind = pawn;
    switch (text[0]) {
        case 'N': kind = knight; break;
        case 'B': kind = bishop; break;
        case 'R': kind = rook; break;
        case 'Q': kind = queen; break;
        case 'K': kind = king; break;
        default: break;
    }
    std::size_t begin = kind == pawn ? 0 : 1;
    std::size_t end = text.size();
    std::optional<Kind> promoted;
    if (kind == pawn && end >= 3) {
        if (const auto found = std::string_view("NBRQ").find(text[end - 1]); found != std::string_view::npos) {
            promoted = static_cast<Kind>(knight + static_cast<int>(found));
            --end;
            if (text[end - 1] == '=') --end;
        }
    }
    const auto file_in = [&](std::size_t i) { return static_cast<unsigned>(text[i] - 'a'); };
    const auto rank_in = [&](std::size_t i) { return static_cast<unsigned>(text[i] - '1'); };
    if (end < begin + 2 || file_in(end - 2) > 7 || rank_in(end - 1) > 7) return SanError::unreadable;
    const int to = static_cast<int>(8 * rank_in(end - 1) + file_in(end - 2));
    end -= 2;
    if (end > begin && (text[end - 1] == 'x' || text[end - 1] == ':' || text[end - 1] == '-')) --end;
    Bitboard origins = own & kinds_[kind];
    if (end > begin && file_in(begin) <= 7) origins &= file_a << file_in(begin++);
    if (end > begin && rank_in(begin) <= 7) origins &= rank_mask(static_cast<int>(rank_in(begin++)));
    if (begin != end) return SanError::unreadable;

    const Bitboard all = occupied();
    if ((own & bit(to)) || drawn_by_rule()) return SanError::illegal;
    Type type = Type::normal;
    Bitboard captured = all & bit(to);
    if (kind == pawn) {
        const int forward = us == Player::first ? 8 : -8;
        if (promoted.has_value() != (rank_of(to) == 0 || rank_of(to) == 7)) return SanError::illegal;
        if (promoted) type = Type::promotion;
        Bitboard reaching = tables.pawn[index_of(other(us))][to];
        if (to == en_passant_) {
            type = Type::en_passant;
            captured = bit(to - forward);
        }
        if (!captured || type == Type::en_passant) {
            // Nothing stands there: a push, unless only a pawn beside can get there.
            Bitboard pushing = 0;
            if (const int behind = to - forward; behind >= 0 && behind < 64) {
                pushing = bit(behind);
                if (rank_of(to) == (us == Player::first ? 3 : 4) && !(all & bit(behind)))
                    pushing = bit(behind - forward);
            }
            reaching = type == Type::en_passant ? reaching | pushing : pushing;
        }
        origins &= reaching;
    } else {
        origins &= piece_attacks(kind, to, all);
    }

    int found = 0;
    for_each_bit(origins, [&](int from) {
        const bool passing = type == Type::en_passant && file_of(from) != file_of(to);
        const Type of_this = type == Type::en_passant && !passing ? Type::normal : type;
        if (!leaves_king_safe(from, to, type == Type::en_passant && !passing ? Bitboard{0} : captured)) return;
        move = {from, to, of_this, promoted.value_or(knight)};
        ++found;
    });
    return found == 1 ? SanError::none : found == 0 ? SanError::illegal : SanError::ambiguous;
}

Chess::Move Chess::parse_move(std::string_view text) const {
    const auto square = [&](std::size_t i) {
        return text[i] >= 'a' && text[i] <= 'h' && text[i + 1] >= '1' && text[i + 1] <= '8';
    };
    const bool uci = (text.size() == 4 ||
                      (text.size() == 5 && std::string_view("nbrqNBRQ").find(text[4]) != std::string_view::npos)) &&
                     square(0) && square(2);
    if (uci) return parse_uci(text);
    Move move;
    switch (read_san(text, move)) {
        case SanError::none: return move;
        case SanError::unreadable:
            throw NotationError("not a chess move: '" + std::string(text) + "' (expected UCI or SAN)");
        case SanError::ambiguous: throw NotationError("ambiguous move " + std::string(text) + " in " + this->text());
        case SanError::illegal: break;
    }
    throw IllegalMoveError("illegal move " + std::string(text) + " in " + this->text());
}

std::string Chess::san(Move move) const {
    std::string san;
    const int to = move.to();
    if (move.type() == Type::castling) {
        san = to > move.from() ? "O-O" : "O-O-O";
    } else {
        const Kind kind = piece_on(move.from());
        const bool captures = piece_on(to) != no_piece || move.type() == Type::en_passant;
        const auto from_file = static_cast<char>('a' + file_of(move.from()));
        const auto from_rank = static_cast<char>('1' + rank_of(move.from()));
        if (kind == pawn) {
            if (captures) san += from_file;
        } else {
            san += letters[kind];
            bool ambiguous = false;
            bool same_file = false;
            bool same_rank = false;
            for (const Move rival : legal_moves()) {
                if (rival.type() == Type::castling || rival.to() != to || rival.from() == move.from() ||
                    piece_on(rival.from()) != kind)
                    continue;
                ambiguous = true;
                same_file |= file_of(rival.from()) == file_of(move.from());
                same_rank |= rank_of(rival.from()) == rank_of(move.from());
            }
            if (ambiguous && (!same_file || same_rank)) san += from_file;
            if (same_file) san += from_rank;
        }
        if (captures) san += 'x';
        san += static_cast<char>('a' + file_of(to));
        san += static_cast<char>('1' + rank_of(to));
        if (move.type() == Type::promotion) {
            san += '=';
            san += letters[move.promoted()];
        }
    }
    Chess after = *this;
    after.play(move);
    if (after.in_check()) san += after.has_move() ? '+' : '#';
    return san;
}

}  // namespace hyoka
