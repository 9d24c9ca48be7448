// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "records/replay.h"

namespace hyoka::records {

/// A recorded game on its way from its start to its end. It goes forward move by move: nothing is played twice.
template <class G>
class RecordedGame {
public:
    using Move = typename G::Move;

    /// Throws NotationError or IllegalMoveError if the start's text is none. Pre: the codes outlive this.
    RecordedGame(std::string_view start, double komi, std::span<const std::uint16_t> codes)
        : game_(as_recorded(start_position<G>(start, komi))), codes_(codes) {}

    /// Moves played so far.
    std::size_t ply() const { return ply_; }
    bool at_end() const { return ply_ == codes_.size(); }
    /// The position reached, under the rules by which people go on playing.
    const G& position() const { return game_; }
    /// The same under the usual rules, by which it may be over although the record goes on.
    G usual_position() const {
        if constexpr (std::is_same_v<G, Chess>)
            return game_.with_draws(Chess::Draws::claimed);
        else
            return game_;
    }
    /// The same as the next move finds it: after two passes players of Go may go on.
    G open_position() const {
        if constexpr (is_go<G>)
            if (!at_end() && game_.passes() >= 2) return game_.resumed();
        return game_;
    }
    /// The move played in the position, if the record has one; throws NotationError if its code is of no move.
    std::optional<Move> next() const {
        return at_end() ? std::nullopt : std::optional(checked_move<Move>(codes_[ply_]));
    }
    /// The move that led to the position, and the one before that.
    std::optional<Move> last() const { return move_before(1); }
    std::optional<Move> before_last() const { return move_before(2); }

    /// Plays the next move; visit(before, move) sees it coming. Throws IllegalMoveError or NotationError. Pre: there is
    /// one.
    template <class Visit>
    void advance(Visit&& visit) {
        const Move move = checked_move<Move>(codes_[ply_]);
        if constexpr (is_go<G>)
            if (game_.passes() >= 2) game_ = game_.resumed();
        if (!game_.is_legal(move))
            throw IllegalMoveError("illegal move " + move.text() + " at ply " + std::to_string(ply_ + 1) + " in " +
                                   game_.text());
        visit(std::as_const(game_), move);
        game_.play(move);
        ++ply_;
    }
    void advance() {
        advance([](const G&, Move) {});
    }
    /// Pre: the game has at least that many moves, and no more are played.
    void advance_to(std::size_t ply) {
        while (ply_ < ply) advance();
    }

private:
    std::optional<Move> move_before(std::size_t plies) const {
        return ply_ < plies ? std::nullopt : std::optional(Move::from_code(codes_[ply_ - plies]));
    }

    G game_;
    std::span<const std::uint16_t> codes_;
    std::size_t ply_ = 0;
};

}  // namespace hyoka::records
