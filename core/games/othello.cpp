// SPDX-License-Identifier: Apache-2.0
#include "games/othello.h"

#include <array>
#include <cctype>

#include "base/bits.h"
#include "games/othello_moves.h"
#include "games/square_symmetry.h"

namespace hyoka {
namespace {

using namespace othello;

/// The opponent's discs that a disc on `place` turns.
Bits flips(Bits place, Bits own, Bits opponent) {
    std::array<Bits, 4> found{};
    for (std::size_t d = 0; d < 4; ++d) {
        const int shift = shifts[d];
        const Bits run = opponent & run_masks[d];
        Bits up = run & (place << shift);
        Bits down = run & (place >> shift);
        for (int step = 0; step < 5; ++step) {
            up |= run & (up << shift);
            down |= run & (down >> shift);
        }
        // A run counts only if an own disc stands at its far end.
        const Bits up_end = (up << shift) & own;
        const Bits down_end = (down >> shift) & own;
        found[d] = (up_end ? up : 0) | (down_end ? down : 0);
    }
    return found[0] | found[1] | found[2] | found[3];
}

}  // namespace

std::string Othello::Move::text() const {
    if (square >= 64) return "pass";
    return {static_cast<char>('a' + square % 8), static_cast<char>('1' + square / 8)};
}

Othello::Move Othello::parse_move(std::string_view text) const {
    if (text == "pass" || text == "PASS" || text == "--") return Move::pass();
    if (text.size() == 2) {
        const int column = std::tolower(static_cast<unsigned char>(text[0])) - 'a';
        const int row = text[1] - '1';
        if (column >= 0 && column < 8 && row >= 0 && row < 8) return {static_cast<std::uint8_t>(8 * row + column)};
    }
    throw NotationError("not an Othello move: '" + std::string(text) + "' (expected a1 to h8, or pass)");
}

Othello Othello::from_text(std::string_view text) {
    if (text.size() < 66 || text[64] != ' ')
        throw NotationError("an Othello position is 64 squares, a space and X or O, e.g. " + Othello().text());
    Othello game;
    std::array<Bits, 2> discs{};
    for (std::size_t i = 0; i < 64; ++i) {
        const char c = text[i];
        if (c == 'X' || c == 'x' || c == '*')
            discs[0] |= Bits{1} << i;
        else if (c == 'O' || c == 'o')
            discs[1] |= Bits{1} << i;
        else if (c != '-' && c != '.')
            throw NotationError("square " + std::to_string(i + 1) + " of the Othello position is '" + c +
                                "': expected X, O or -");
    }
    const std::string_view side = text.substr(65);
    if (side == "X" || side == "x" || side == "*")
        game.to_play_ = Player::first;
    else if (side == "O" || side == "o")
        game.to_play_ = Player::second;
    else
        throw NotationError("the Othello position ends in '" + std::string(side) + "': expected X or O to play");
    game.own_ = discs[static_cast<std::size_t>(index_of(game.to_play_))];
    game.opponent_ = discs[static_cast<std::size_t>(index_of(other(game.to_play_)))];
    return game;
}

std::string Othello::text() const {
    std::string text(64, '-');
    for_each_bit(discs(Player::first), [&](int i) { text[static_cast<std::size_t>(i)] = 'X'; });
    for_each_bit(discs(Player::second), [&](int i) { text[static_cast<std::size_t>(i)] = 'O'; });
    return text + (to_play_ == Player::first ? " X" : " O");
}

std::uint64_t Othello::playable(Player player) const { return places(discs(player), discs(other(player))); }

std::optional<Outcome> Othello::outcome() const {
    if (places(own_, opponent_) || places(opponent_, own_)) return std::nullopt;
    return Outcome{result_of_score(score()), Reason::score};
}

double Othello::score() const {
    const int black = count_bits(discs(Player::first));
    const int white = count_bits(discs(Player::second));
    const int empty = 64 - black - white;
    return black - white + (black > white ? empty : black < white ? -empty : 0);
}

Moves<Othello> Othello::legal_moves() const {
    Moves<Othello> moves;
    for_each_bit(places(own_, opponent_), [&](int i) { moves.push_back({static_cast<std::uint8_t>(i)}); });
    if (moves.empty() && places(opponent_, own_)) moves.push_back(Move::pass());
    return moves;
}

std::size_t Othello::count_moves() const {
    const auto count = static_cast<std::size_t>(count_bits(places(own_, opponent_)));
    return count > 0 ? count : places(opponent_, own_) ? 1 : 0;
}

bool Othello::is_legal(Move move) const {
    if (move.square < 64) {
        const Bits place = Bits{1} << move.square;
        return !((own_ | opponent_) & place) && flips(place, own_, opponent_);
    }
    return move == Move::pass() && !places(own_, opponent_) && places(opponent_, own_);
}

std::optional<Othello::Move> Othello::random_move(Rng& rng) const {
    const Bits open = places(own_, opponent_);
    if (open) {
        const auto n = static_cast<std::uint32_t>(count_bits(open));
        return Move{static_cast<std::uint8_t>(nth_bit(open, static_cast<int>(rng.below(n))))};
    }
    if (places(opponent_, own_)) return Move::pass();
    return std::nullopt;
}

void Othello::play(Move move) {
    const Bits before = own_;
    if (move.square < 64) {
        const Bits place = Bits{1} << move.square;
        const Bits turned = flips(place, own_, opponent_);
        own_ = opponent_ & ~turned;
        opponent_ = before | place | turned;
    } else {
        own_ = opponent_;
        opponent_ = before;
    }
    to_play_ = other(to_play_);
}

std::uint64_t Othello::hash() const {
    // Two words and a bit are the whole position: mixing them costs less than keeping a key up to date.
    return split_mix(split_mix(own_) ^ opponent_) ^ (to_play_ == Player::first ? 0 : 0x5851f42d4c957f2dULL);
}

std::vector<std::int8_t> Othello::cells() const {
    std::vector<std::int8_t> cells(64, 0);
    for_each_bit(discs(Player::first), [&](int i) { cells[static_cast<std::size_t>(i)] = 1; });
    for_each_bit(discs(Player::second), [&](int i) { cells[static_cast<std::size_t>(i)] = -1; });
    return cells;
}

void Othello::check_consistency() const {
    require_consistent(!(own_ & opponent_), "a square holds discs of both colors");
}

Othello::Move Othello::transformed(Move move, int symmetry) {
    if (move.square >= 64) return move;
    return {static_cast<std::uint8_t>(transformed_square(move.square, size, symmetry))};
}

Othello Othello::transformed(int symmetry) const {
    const auto moved = [symmetry](Bits bits) {
        Bits result = 0;
        for_each_bit(bits, [&](int i) { result |= Bits{1} << transformed_square(i, size, symmetry); });
        return result;
    };
    Othello game = *this;
    game.own_ = moved(own_);
    game.opponent_ = moved(opponent_);
    return game;
}

static_assert(Game<Othello>);

}  // namespace hyoka
