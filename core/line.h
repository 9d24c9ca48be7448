// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "game.h"

namespace hyoka {

struct NoTrace {};

template <class G>
struct TraceOf {
    using type = NoTrace;
};
template <class G>
    requires requires { typename G::Trace; }
struct TraceOf<G> {
    using type = typename G::Trace;
};

/// How the positions before this one, oldest first, end a game that the position alone would not end.
template <class G, class Trace>
std::optional<Outcome> outcome_by_past(const G& game, [[maybe_unused]] std::span<const Trace> past) {
    if constexpr (requires { game.outcome_after(past); })
        return game.outcome_after(past);
    else
        return std::nullopt;
}

/// Positional superko: no stone may bring back an earlier board. Pre: the move is legal in the position.
template <class G, class Trace>
bool forbidden_by_past([[maybe_unused]] const G& game, [[maybe_unused]] std::span<const Trace> past,
                       [[maybe_unused]] typename G::Move move) {
    if constexpr (requires { game.trace_after(move); })
        return move != G::Move::pass() && std::find(past.begin(), past.end(), game.trace_after(move)) != past.end();
    else
        return false;
}

/// A game with its past, and so with the rules that look back: positional superko in Go, repetition in chess and
/// shogi. Itself a Game.
template <Game G>
class Line {
public:
    using Position = G;
    using Move = typename G::Move;
    using Undo = typename G::Undo;
    using Trace = typename TraceOf<G>::type;
    static constexpr std::size_t max_moves = G::max_moves;

    Line() = default;
    explicit Line(const G& start) : start_(start), game_(start) {}
    /// The start's text, then ` moves ` and the moves, if any.
    static Line from_text(std::string_view text) {
        constexpr std::string_view separator = " moves ";
        const auto split = text.find(separator);
        Line line(G::from_text(text.substr(0, split)));
        if (split == std::string_view::npos) return line;
        std::string_view rest = text.substr(split + separator.size());
        while (!rest.empty()) {
            const auto end = std::min(rest.find(' '), rest.size());
            if (end > 0) {
                const Move move = line.parse_move(rest.substr(0, end));
                if (!line.is_legal(move))
                    throw IllegalMoveError("illegal move " + move.text() + " at ply " +
                                           std::to_string(line.moves_.size() + 1));
                line.play(move);
            }
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return line;
    }

    const G& start() const { return start_; }
    const G& position() const { return game_; }
    std::span<const Move> moves() const { return moves_; }
    /// Traces of earlier positions for history-dependent rules, oldest first.
    std::span<const Trace> past() const { return past_; }

    Player to_play() const { return game_.to_play(); }
    std::optional<Outcome> outcome() const {
        // A position that has come back is not mate: at most a limit was reached with it.
        if (const auto over = outcome_by_past()) return over;
        return game_.outcome();
    }
    double score() const {
        if (const auto over = outcome_by_past()) return static_cast<double>(over->result);
        return game_.score();
    }
    Moves<Line> legal_moves() const {
        Moves<Line> moves;
        if (outcome_by_past()) return moves;
        for (const Move move : game_.legal_moves())
            if (!is_forbidden(move)) moves.push_back(move);
        return moves;
    }
    std::size_t count_moves() const { return legal_moves().size(); }
    bool is_legal(Move move) const { return !outcome_by_past() && game_.is_legal(move) && !is_forbidden(move); }
    std::optional<Move> random_move(Rng& rng) const {
        if (outcome_by_past()) return std::nullopt;
        auto move = game_.random_move(rng);
        if constexpr (forbids_moves) {
            // Go: a pass is never forbidden and is what is left if superko refuses every move drawn.
            for (int refused = 0; move && is_forbidden(*move); move = game_.random_move(rng))
                if (++refused == 64) return Move::pass();
        }
        return move;
    }
    void play(Move move) {
        remember(move);
        game_.play(move);
    }
    Undo play_undoable(Move move) {
        remember(move);
        return game_.play_undoable(move);
    }
    void undo(const Undo& token) {
        game_.undo(token);
        moves_.pop_back();
        if constexpr (!std::is_same_v<Trace, NoTrace>) past_.pop_back();
    }
    /// The line without its last move; pre: it has one.
    Line without_last() const {
        Line line(start_);
        for (const Move move : moves().first(moves_.size() - 1)) line.play(move);
        return line;
    }
    /// Perft starts here, with no past.
    Line movement_only() const
        requires requires(const G& game) { game.movement_only(); }
    {
        return Line(game_.movement_only());
    }
    std::uint64_t hash() const { return game_.hash(); }
    std::string text() const {
        std::string text = start_.text();
        if (!moves_.empty()) text += " moves";
        for (const Move move : moves_) text += ' ' + move.text();
        return text;
    }
    Move parse_move(std::string_view text) const {
        if constexpr (requires(Move previous) { game_.parse_move(text, previous); })
            if (!moves_.empty()) return game_.parse_move(text, moves_.back());
        return game_.parse_move(text);
    }
    std::vector<std::int8_t> cells() const { return game_.cells(); }
    void check_consistency() const {
        game_.check_consistency();
        Line fresh(start_);
        for (const Move move : moves_) fresh.play(move);
        require_consistent(fresh.game_ == game_, "the position and the moves that led to it");
    }

    /// Reserves room for further moves.
    void reserve(std::size_t plies) {
        moves_.reserve(moves_.size() + plies);
        past_.reserve(past_.size() + plies);
    }

    friend bool operator==(const Line& a, const Line& b) { return a.start_ == b.start_ && a.moves_ == b.moves_; }

private:
    static constexpr bool forbids_moves = requires(const G& game, Move move) { game.trace_after(move); };

    std::optional<Outcome> outcome_by_past() const { return hyoka::outcome_by_past(game_, past()); }
    bool is_forbidden(Move move) const { return forbidden_by_past(game_, past(), move); }
    void remember(Move move) {
        moves_.push_back(move);
        if constexpr (!std::is_same_v<Trace, NoTrace>) past_.push_back(game_.trace());
    }

    G start_;
    G game_;
    std::vector<Move> moves_;
    std::vector<Trace> past_;  // of the positions before this one, oldest first; unused by games without repetition
};

}  // namespace hyoka
