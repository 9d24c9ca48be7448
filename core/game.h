// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/inline_vector.h"
#include "base/rng.h"

namespace hyoka {

/// Black in Go, shogi and Othello; White in chess; the first to move in Blokus Duo.
enum class Player : std::uint8_t { first, second };

constexpr Player other(Player player) { return static_cast<Player>(1 - static_cast<int>(player)); }
constexpr int index_of(Player player) { return static_cast<int>(player); }

enum class Result : std::int8_t { second_wins = -1, draw = 0, first_wins = 1 };

constexpr Result win_for(Player player) { return player == Player::first ? Result::first_wins : Result::second_wins; }
/// The result of a final score seen by the first player.
constexpr Result result_of_score(double score) {
    return score > 0 ? Result::first_wins : score < 0 ? Result::second_wins : Result::draw;
}

/// Why a game is over.
enum class Reason : std::uint8_t {
    score,                  // Go, Othello, Blokus Duo: the board was counted
    checkmate,              // chess, shogi
    stalemate,              // chess: a draw; shogi: the side without a move loses
    insufficient_material,  // chess
    move_rule,              // chess: 50 or 75 moves without capture or pawn move
    repetition,             // chess, shogi
    perpetual_check,        // shogi: the checking side loses
    declaration,            // shogi: the entering king
    ply_limit,              // shogi
};

struct Outcome {
    Result result;
    Reason reason;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// The text cannot be read.
struct NotationError : std::invalid_argument {
    using invalid_argument::invalid_argument;
};

/// The move reads well, but the rules forbid it here.
struct IllegalMoveError : std::invalid_argument {
    using invalid_argument::invalid_argument;
};

template <class G>
using Moves = InlineVector<typename G::Move, G::max_moves>;

/// A game is its position: a small value that knows its own rules.
/// A forced pass is a move, so an unfinished game always has one.
template <class G>
concept Game = std::regular<G> && std::regular<typename G::Move> &&
               requires(G game, const G at, const typename G::Move move, const typename G::Undo token, Rng rng,
                        std::string_view text) {
                   { G::max_moves } -> std::convertible_to<std::size_t>;
                   { at.to_play() } -> std::same_as<Player>;
                   { at.outcome() } -> std::same_as<std::optional<Outcome>>;  // nullopt: not over yet
                   { at.score() } -> std::same_as<double>;             // of a finished game, for the first player
                   { at.legal_moves() } -> std::same_as<Moves<G>>;     // empty exactly when over
                   { at.count_moves() } -> std::same_as<std::size_t>;  // how many those are
                   { at.is_legal(move) } -> std::same_as<bool>;        // for any move value whatever
                   // Move of a random playout: uniform over the legal moves (Go: those that fill no own eye);
                   // nullopt exactly when over.
                   { at.random_move(rng) } -> std::same_as<std::optional<typename G::Move>>;
                   { game.play(move) } -> std::same_as<void>;  // pre: is_legal(move)
                   { game.play_undoable(move) } -> std::same_as<typename G::Undo>;
                   { game.undo(token) } -> std::same_as<void>;                 // exact inverse of play_undoable
                   { at.hash() } -> std::same_as<std::uint64_t>;               // equal games, equal hashes
                   { at.text() } -> std::same_as<std::string>;                 // equal texts, equal games
                   { G::from_text(text) } -> std::same_as<G>;                  // throws NotationError
                   { at.parse_move(text) } -> std::same_as<typename G::Move>;  // readable, perhaps not legal
                   { move.text() } -> std::same_as<std::string>;
                   { move.code() } -> std::same_as<std::uint32_t>;  // below Move::code_count; from_code goes back
                   { G::Move::from_code(0u) } -> std::same_as<typename G::Move>;
                   { G::Move::code_count } -> std::convertible_to<std::uint32_t>;
                   // The board as drawn, rows from the top: 0 empty, > 0 the first player's pieces, < 0 the second's.
                   { at.cells() } -> std::same_as<std::vector<std::int8_t>>;
                   { at.check_consistency() } -> std::same_as<void>;  // throws if incremental state lies
               };

/// The move that a number stands for, legal or not; throws NotationError if it stands for none.
template <class Move>
Move checked_move(std::uint32_t code) {
    bool known = code < Move::code_count;
    if constexpr (requires { Move::is_code(code); }) known = known && Move::is_code(code);
    if (!known) throw NotationError("no move has the code " + std::to_string(code));
    return Move::from_code(code);
}

/// Draws one of the legal moves; what a game uses that has no faster way.
template <class G>
std::optional<typename G::Move> draw_move(const G& game, Rng& rng) {
    const auto moves = game.legal_moves();
    if (moves.empty()) return std::nullopt;
    return moves[rng.below(static_cast<std::uint32_t>(moves.size()))];
}

/// For check_consistency: `what` is kept incrementally and must equal what a fresh computation gives.
inline void require_consistent(bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("inconsistent: ") + what);
}

}  // namespace hyoka
