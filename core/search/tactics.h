// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <span>

#include "games/chess.h"
#include "games/shogi.h"

namespace hyoka::search {

/// Game-specific tactics for alpha-beta. Most games have none: no noisy moves, so no quiescence, no checks, and
/// no turn that could be skipped.
template <class G>
struct Tactics {};

template <>
struct Tactics<Chess> {
    using Move = Chess::Move;
    /// How much a quiet move is thought to change the evaluation, in its unit.
    static constexpr int margin = 90;

    static bool is_noisy(const Chess& game, Move move) {
        return move.type() == Move::Type::normal ? game.piece_on(move.to()) != Chess::no_piece
                                                 : move.type() != Move::Type::castling;
    }
    /// Material gain of a noisy move without recapture.
    static int gain(const Chess& game, Move move) {
        using Type = Move::Type;
        const Chess::Kind victim = move.type() == Type::en_passant ? Chess::pawn : game.piece_on(move.to());
        const int won = victim == Chess::no_piece ? 0 : Chess::exchange_values[victim];
        if (move.type() != Type::promotion) return won;
        return won + Chess::exchange_values[move.promoted()] - Chess::exchange_values[Chess::pawn];
    }
    /// Value of the moving piece.
    static int stake(const Chess& game, Move move) { return Chess::exchange_values[game.piece_on(move.from())]; }
    /// Moving piece and target, below `shapes`.
    static constexpr std::uint32_t shapes = 6 * 64;
    static std::uint32_t shape(const Chess& game, Move move) {
        return static_cast<std::uint32_t>(game.piece_on(move.from()) * 64 + move.to());
    }
    static bool over_by_rule(const Chess& game) { return game.drawn_by_rule(); }
    /// Material difference, first minus second player.
    static int material(const Chess& game);
    /// With pawns alone, having to move is often the trouble: skipping a turn would prove nothing.
    static bool may_skip(const Chess& game) {
        const Player us = game.to_play();
        return (game.pieces(us) & ~game.pieces(us, Chess::pawn) & ~game.pieces(us, Chess::king)) != 0;
    }
    /// A position that comes back a first time may come back as often as it takes: a draw.
    static std::optional<Result> repetition(const Chess& game, std::span<const Chess::Trace> past);
};

template <>
struct Tactics<Shogi> {
    using Move = Shogi::Move;
    static constexpr int margin = 130;

    static bool is_noisy(const Shogi& game, Move move) {
        if (move == Move::declaration()) return true;
        return move.promotes() || game.piece_on(move.to()) != Shogi::no_piece;
    }
    static int gain(const Shogi& game, Move move) {
        if (move == Move::declaration()) return Shogi::exchange_values[Shogi::king];
        const int won = Shogi::exchange_values[game.piece_on(move.to())];
        if (!move.promotes()) return won;
        const Shogi::Kind kind = game.piece_on(move.from());
        return won + Shogi::exchange_values[kind + 8] - Shogi::exchange_values[kind];
    }
    static int stake(const Shogi& game, Move move) {
        if (move == Move::declaration()) return 0;
        return Shogi::exchange_values[move.is_drop() ? move.dropped() : game.piece_on(move.from())];
    }
    static constexpr std::uint32_t shapes = Shogi::kind_count * 81;
    static std::uint32_t shape(const Shogi& game, Move move) {
        if (move == Move::declaration()) return 0;
        const Shogi::Kind kind = move.is_drop() ? move.dropped() : game.piece_on(move.from());
        return static_cast<std::uint32_t>(kind * 81 + move.to());
    }
    static bool over_by_rule(const Shogi& game) { return game.over_by_rule(); }
    /// Material difference, first minus second player, of pieces on the board and in hand.
    static int material(const Shogi& game);
    static bool may_skip(const Shogi&) { return true; }
    /// As in chess; but a side that gave check all the time has lost.
    static std::optional<Result> repetition(const Shogi& game, std::span<const Shogi::Trace> past);
};

template <class G>
concept Tactical = requires(const G& game) { Tactics<G>::over_by_rule(game); };

template <class G>
bool in_check([[maybe_unused]] const G& game) {
    if constexpr (Tactical<G>)
        return game.in_check();
    else
        return false;
}

template <class G>
bool is_noisy([[maybe_unused]] const G& game, [[maybe_unused]] typename G::Move move) {
    if constexpr (Tactical<G>)
        return Tactics<G>::is_noisy(game, move);
    else
        return false;
}

/// A partial key of a move, so that pairs of moves fit into a table: below `shapes<G>`.
template <class G>
constexpr std::uint32_t shapes = [] {
    if constexpr (Tactical<G>)
        return Tactics<G>::shapes;
    else
        return 512;
}();
template <class G>
std::uint32_t shape_of([[maybe_unused]] const G& game, typename G::Move move) {
    if constexpr (Tactical<G>)
        return Tactics<G>::shape(game, move);
    else
        return move.code() % shapes<G>;
}

/// Whether the exchange on the move's square costs the mover more than `loss`. A capture that wins at once what it
/// risks needs no further look.
template <Tactical G>
bool loses_more_than(int loss, const G& game, typename G::Move move) {
    if (Tactics<G>::gain(game, move) - Tactics<G>::stake(game, move) >= -loss) return false;
    return game.see(move) < -loss;
}

}  // namespace hyoka::search
