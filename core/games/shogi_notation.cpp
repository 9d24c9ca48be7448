// SPDX-License-Identifier: Apache-2.0
// How moves of shogi are written: USI, CSA, KIF and KI2.
#include <algorithm>
#include <array>

#include "games/shogi.h"

namespace hyoka {

using namespace shogi;

namespace {

using Kind = Shogi::Kind;

constexpr std::array<std::string_view, Shogi::kind_count> csa_names = {"",   "FU", "KY", "KE", "GI", "KA", "HI", "KI",
                                                                       "OU", "TO", "NY", "NK", "NG", "UM", "RY"};
constexpr std::array<std::string_view, Shogi::kind_count> kif_names = {
    "", "歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "成香", "成桂", "成銀", "馬", "龍"};
struct KifAlias {
    std::string_view name;
    Kind kind;
};
constexpr std::array<KifAlias, 6> kif_aliases = {{{"王", Shogi::king},
                                                  {"竜", Shogi::dragon},
                                                  {"杏", Shogi::promoted_lance},
                                                  {"圭", Shogi::promoted_knight},
                                                  {"全", Shogi::promoted_silver},
                                                  {"仝", Shogi::promoted_silver}}};
constexpr std::array<std::string_view, 9> kif_files = {"１", "２", "３", "４", "５", "６", "７", "８", "９"};
constexpr std::array<std::string_view, 9> kif_ranks = {"一", "二", "三", "四", "五", "六", "七", "八", "九"};

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// The index of the name that `text` starts with, which is removed.
template <std::size_t n>
std::optional<int> take_name(std::string_view& text, const std::array<std::string_view, n>& names) {
    for (std::size_t i = 0; i < n; ++i)
        if (!names[i].empty() && take_prefix(text, names[i])) return static_cast<int>(i);
    return std::nullopt;
}

/// A square written as two digits, file and rank.
std::optional<int> digits_square(std::string_view text) {
    if (text.size() != 2 || text[0] < '1' || text[0] > '9' || text[1] < '1' || text[1] > '9') return std::nullopt;
    return square_at(text[0] - '1', text[1] - '1');
}

std::string digits_text(int square) {
    return {static_cast<char>('1' + file_of(square)), static_cast<char>('1' + rank_of(square))};
}

std::optional<int> usi_square(std::string_view text) {
    if (text.size() != 2 || text[0] < '1' || text[0] > '9' || text[1] < 'a' || text[1] > 'i') return std::nullopt;
    return square_at(text[0] - '1', text[1] - 'a');
}

constexpr Kind promoted(Kind kind) { return kind <= Shogi::rook ? static_cast<Kind>(kind + 8) : kind; }

std::string kif_square(int square) {
    return std::string(kif_files[static_cast<std::size_t>(file_of(square))]) +
           std::string(kif_ranks[static_cast<std::size_t>(rank_of(square))]);
}

/// A digit of either width, counted from 0.
std::optional<int> take_digit(std::string_view& text) {
    if (text.empty() || text[0] < '1' || text[0] > '9') return take_name(text, kif_files);
    const int digit = text[0] - '1';
    text.remove_prefix(1);
    return digit;
}

/// The square that KIF and KI2 begin with: `７六`, or 同 for that of the move before.
std::optional<int> take_kif_square(std::string_view& text, std::optional<Shogi::Move> previous) {
    if (take_prefix(text, "同")) {
        while (take_prefix(text, "　") || take_prefix(text, " ")) {}
        if (!previous || *previous == Shogi::Move::declaration()) return std::nullopt;
        return previous->to();
    }
    const auto file = take_digit(text);
    auto rank = take_name(text, kif_ranks);
    if (!rank) rank = take_digit(text);
    if (!file || !rank) return std::nullopt;
    return square_at(*file, *rank);
}

std::optional<Kind> take_kif_piece(std::string_view& text) {
    for (const auto& alias : kif_aliases)
        if (take_prefix(text, alias.name)) return alias.kind;
    const auto named = take_name(text, kif_names);
    if (!named) return std::nullopt;
    return static_cast<Kind>(*named);
}

/// KI2 disambiguation of a piece from others of its kind that reach the same square.
/// https://www.shogi.or.jp/faq/kihuhyouki.html
struct Hint {
    enum Side : std::uint8_t { any_side, left, straight, right };
    enum Motion : std::uint8_t { any_motion, forward, sideways, backward };
    Side side = any_side;
    Motion motion = any_motion;
    bool is_empty() const { return side == any_side && motion == any_motion; }
};
constexpr std::array<std::string_view, 4> side_words = {"", "左", "直", "右"};
constexpr std::array<std::string_view, 4> motion_words = {"", "上", "寄", "引"};

Hint take_hint(std::string_view& text) {
    Hint hint;
    for (;;) {
        if (const auto side = hint.side == Hint::any_side ? take_name(text, side_words) : std::nullopt)
            hint.side = static_cast<Hint::Side>(*side);
        else if (const auto motion = hint.motion == Hint::any_motion ? take_name(text, motion_words) : std::nullopt)
            hint.motion = static_cast<Hint::Motion>(*motion);
        else if (hint.motion == Hint::any_motion && (take_prefix(text, "行") || take_prefix(text, "入")))
            hint.motion = Hint::forward;
        else
            return hint;
    }
}

/// Even ones are Black's.
constexpr std::array<std::string_view, 8> ki2_marks = {"▲", "△", "☗", "☖", "▼", "▽", "⛊", "⛉"};

/// How a piece moves as its owner sees it: squares forward, and how far left of its goal it comes from.
struct Way {
    int forward;
    int from_left;
    Hint::Motion motion() const { return forward > 0 ? Hint::forward : forward < 0 ? Hint::backward : Hint::sideways; }
    Hint::Side side() const {
        if (from_left != 0) return from_left > 0 ? Hint::left : Hint::right;
        return forward > 0 ? Hint::straight : Hint::any_side;
    }
};
Way way_of(Player player, int from, int to) {
    const int sign = player == Player::first ? 1 : -1;
    return {sign * (rank_of(from) - rank_of(to)), sign * (file_of(from) - file_of(to))};
}

/// The squares of `origins`, where pieces of one kind stand that can go to `to`, that fit the hint.
Bitboard fitting(Hint hint, Kind kind, Player player, Bitboard origins, int to) {
    Bitboard found = 0;
    for_each_bit(origins, [&](int from) {
        if (hint.motion == Hint::any_motion || hint.motion == way_of(player, from, to).motion()) found |= bit(from);
    });
    if (hint.side == Hint::any_side) return found;
    // Of horses and dragons there are two at most: left and right is how they stand to each other.
    const bool by_each_other = (kind == Shogi::horse || kind == Shogi::dragon) && hint.side != Hint::straight;
    const int sign = hint.side == Hint::left ? 1 : -1;
    int outermost = -9;
    for_each_bit(found, [&](int from) { outermost = std::max(outermost, sign * way_of(player, from, to).from_left); });
    Bitboard kept = 0;
    for_each_bit(found, [&](int from) {
        const Way way = way_of(player, from, to);
        if (by_each_other ? sign * way.from_left == outermost : way.side() == hint.side) kept |= bit(from);
    });
    return kept;
}

}  // namespace

std::string Shogi::csa(Move move) const {
    if (move == Move::declaration()) return "%KACHI";
    const std::string sign = to_play_ == Player::first ? "+" : "-";
    if (move.is_drop()) return sign + "00" + digits_text(move.to()) + std::string(csa_names[move.dropped()]);
    const Kind kind = piece_on(move.from());
    return sign + digits_text(move.from()) + digits_text(move.to()) +
           std::string(csa_names[move.promotes() ? promoted(kind) : kind]);
}

std::string Shogi::kif(Move move, std::optional<Move> previous) const {
    if (move == Move::declaration()) return "入玉勝ち";
    std::string text = previous && previous->to() == move.to() ? "同　" : kif_square(move.to());
    if (move.is_drop()) return text + std::string(kif_names[move.dropped()]) + "打";
    text += kif_names[piece_on(move.from())];
    if (move.promotes()) text += "成";
    return text + "(" + digits_text(move.from()) + ")";
}

Shogi::Move Shogi::parse_kif(std::string_view text, std::optional<Move> previous) const {
    const auto bad = [&](const char* why) {
        return NotationError("not a KIF move: '" + std::string(text) + "' (" + why + ")");
    };
    std::string_view rest = text;
    if (rest == "入玉勝ち") return Move::declaration();
    const bool same = rest.starts_with("同");
    const auto to = take_kif_square(rest, previous);
    if (!to) throw bad(same ? "同 needs the move before" : "no square");
    const auto kind = take_kif_piece(rest);
    if (!kind) throw bad("no piece");
    if (take_prefix(rest, "打")) {
        if (*kind > gold || !rest.empty()) throw bad("no drop");
        return Move::drop(*kind, *to);
    }
    const bool promotes = !take_prefix(rest, "不成") && take_prefix(rest, "成");
    if (rest.size() != 4 || rest[0] != '(' || rest[3] != ')') throw bad("no square of origin");
    const auto from = digits_square(rest.substr(1, 2));
    if (!from) throw bad("no square of origin");
    if (piece_on(*from) != *kind)
        throw IllegalMoveError("no " + std::string(kif_names[*kind]) + " on " + digits_text(*from) + " for " +
                               std::string(text) + " in " + this->text());
    return {*from, *to, promotes};
}

std::string Shogi::ki2(Move move, std::optional<Move> previous) const {
    if (move == Move::declaration()) return "入玉勝ち";
    const int to = move.to();
    const Kind kind = move.is_drop() ? move.dropped() : piece_on(move.from());
    // Printed records tell a piece from pinned ones too.
    const Bitboard origins = attackers(to, to_play_) & pieces(to_play_, kind);
    std::string words;
    if (move.is_drop()) {
        if (origins) words = "打";
    } else {
        const Way way = way_of(to_play_, move.from(), to);
        Hint::Side side = way.side();
        if (kind == horse || kind == dragon)
            side = fitting({Hint::left, way.motion()}, kind, to_play_, origins, to) & bit(move.from()) ? Hint::left
                                                                                                       : Hint::right;
        // The shortest hint will do; how it moves comes before where it stood.
        for (const Hint hint :
             {Hint{}, Hint{Hint::any_side, way.motion()}, Hint{side, Hint::any_motion}, Hint{side, way.motion()}}) {
            words = std::string(side_words[hint.side]) + std::string(motion_words[hint.motion]);
            if (fitting(hint, kind, to_play_, origins, to) == bit(move.from())) break;
        }
        const auto in_zone = [&](int square) {
            return to_play_ == Player::first ? rank_of(square) < 3 : rank_of(square) > 5;
        };
        if (move.promotes())
            words += "成";
        else if (promoted(kind) != kind && (in_zone(move.from()) || in_zone(to)))
            words += "不成";
    }
    std::string text = to_play_ == Player::first ? "▲" : "△";
    const bool same = previous && previous->to() == to;
    text += same ? "同" : kif_square(to);
    const std::string_view name = kif_names[kind];
    if (same && words.empty() && name.size() == kif_names[pawn].size()) text += "　";
    return text + std::string(name) + words;
}

Shogi::Move Shogi::parse_ki2(std::string_view text, std::optional<Move> previous) const {
    const auto bad = [&](const char* why) {
        return NotationError("not a KI2 move: '" + std::string(text) + "' (" + why + ")");
    };
    const auto illegal = [&](const char* why) {
        return IllegalMoveError(why + (" for " + std::string(text)) + " in " + this->text());
    };
    std::string_view rest = text;
    if (const auto mark = take_name(rest, ki2_marks); mark && (*mark % 2 == 0) != (to_play_ == Player::first))
        throw illegal("it is the other side's turn");
    if (rest == "入玉勝ち") return Move::declaration();
    const bool same = rest.starts_with("同");
    const auto to = take_kif_square(rest, previous);
    if (!to) throw bad(same ? "同 needs the move before" : "no square");
    const auto kind = take_kif_piece(rest);
    if (!kind) throw bad("no piece");
    const Hint hint = take_hint(rest);
    const bool drops = hint.is_empty() && take_prefix(rest, "打");
    const bool stays = !drops && (take_prefix(rest, "不成") || take_prefix(rest, "生"));
    const bool promotes = !drops && !stays && take_prefix(rest, "成");
    if (!rest.empty()) throw bad("something follows that is no part of it");

    const Move drop = *kind <= gold ? Move::drop(*kind, *to) : Move();
    if (drops && *kind > gold) throw bad("no drop");
    if (drops) return drop;
    const Bitboard origins = fitting(hint, *kind, to_play_, attackers(*to, to_play_) & pieces(to_play_, *kind), *to);
    Bitboard legal = 0;
    for_each_bit(origins, [&](int from) {
        if (is_legal({from, *to, promotes})) legal |= bit(from);
    });
    if (count_bits(legal) > 1) throw bad("more than one piece can go there");
    if (legal) return {lowest_bit(legal), *to, promotes};
    // 打 is left out where no piece on the board could be meant.
    const bool may_drop = hint.is_empty() && !stays && !promotes && *kind <= gold && in_hand(to_play_, *kind) > 0;
    if (may_drop && (origins == 0 || is_legal(drop))) return drop;
    if (count_bits(origins) != 1) throw illegal("no piece can go there");
    return {lowest_bit(origins), *to, promotes};
}

Shogi::Move Shogi::parse_move(std::string_view text, std::optional<Move> previous) const {
    if (text == "win" || text == "%KACHI") return Move::declaration();
    if (text.size() == 7 && (text[0] == '+' || text[0] == '-')) {  // CSA
        const auto to = digits_square(text.substr(3, 2));
        std::string_view name = text.substr(5);
        const auto kind = take_name(name, csa_names);
        if (to && kind && (text[0] == '+') != (to_play_ == Player::first))
            throw IllegalMoveError("it is the other side's turn for " + std::string(text) + " in " + this->text());
        if (to && kind && text.substr(1, 2) == "00" && *kind >= pawn && *kind <= gold)
            return Move::drop(static_cast<Kind>(*kind), *to);
        const auto from = digits_square(text.substr(1, 2));
        if (to && kind && from) {
            const Kind standing = piece_on(*from);
            const bool promotes = standing != *kind && promoted(standing) == *kind;
            if (standing != *kind && !promotes)
                throw IllegalMoveError("illegal move " + std::string(text) + " in " + this->text());
            return {*from, *to, promotes};
        }
    }
    if (text.size() == 4 && text[1] == '*') {
        const auto kind = std::string_view(".PLNSBRG").find(text[0]);
        const auto to = usi_square(text.substr(2));
        if (to && kind != std::string_view::npos && kind > 0) return Move::drop(static_cast<Kind>(kind), *to);
    }
    if (text.size() == 4 || (text.size() == 5 && text[4] == '+')) {
        const auto from = usi_square(text.substr(0, 2));
        const auto to = usi_square(text.substr(2, 2));
        if (from && to) return {*from, *to, text.size() == 5};
    }
    if (!text.empty() && (static_cast<unsigned char>(text[0]) >= 0x80 || text.find('(') != std::string_view::npos))
        return parse_kif(text, previous);
    throw NotationError("not a shogi move: '" + std::string(text) + "' (expected USI, CSA or KIF, e.g. 7g7f, +7776FU)");
}

}  // namespace hyoka
