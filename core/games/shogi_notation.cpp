// SPDX-License-Identifier: Apache-2.0
// How moves of shogi are written: USI, CSA and KIF.
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
    const int to = move.to();
    std::string text = previous && previous->to() == to
                           ? "同　"
                           : std::string(kif_files[static_cast<std::size_t>(file_of(to))]) +
                                 std::string(kif_ranks[static_cast<std::size_t>(rank_of(to))]);
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
    int to = 0;
    if (take_prefix(rest, "同")) {
        if (!previous || *previous == Move::declaration()) throw bad("同 needs the move before");
        to = previous->to();
        while (take_prefix(rest, "　") || take_prefix(rest, " ")) {}
    } else {
        std::optional<int> file = take_name(rest, kif_files);
        if (!file && !rest.empty() && rest[0] >= '1' && rest[0] <= '9') {
            file = rest[0] - '1';
            rest.remove_prefix(1);
        }
        const auto rank = take_name(rest, kif_ranks);
        if (!file || !rank) throw bad("no square");
        to = square_at(*file, *rank);
    }
    std::optional<Kind> kind;
    for (const auto& alias : kif_aliases)
        if (!kind && take_prefix(rest, alias.name)) kind = alias.kind;
    if (!kind) {
        const auto named = take_name(rest, kif_names);
        if (!named) throw bad("no piece");
        kind = static_cast<Kind>(*named);
    }
    if (take_prefix(rest, "打")) {
        if (*kind > gold || !rest.empty()) throw bad("no drop");
        return Move::drop(*kind, to);
    }
    const bool promotes = !take_prefix(rest, "不成") && take_prefix(rest, "成");
    if (rest.size() != 4 || rest[0] != '(' || rest[3] != ')') throw bad("no square of origin");
    const auto from = digits_square(rest.substr(1, 2));
    if (!from) throw bad("no square of origin");
    if (piece_on(*from) != *kind)
        throw IllegalMoveError("no " + std::string(kif_names[*kind]) + " on " + digits_text(*from) + " for " +
                               std::string(text) + " in " + this->text());
    return {*from, to, promotes};
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
