// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/go.h"
#include "games/othello.h"
#include "games/shogi.h"
#include "records/table.h"

namespace hyoka::records {

/// Calls visit(std::type_identity<G>{}) for the game's type.
template <class Visit>
decltype(auto) with_game(GameKind kind, Visit&& visit) {
    switch (kind) {
        case GameKind::go3: return visit(std::type_identity<Go<3>>{});
        case GameKind::go4: return visit(std::type_identity<Go<4>>{});
        case GameKind::go5: return visit(std::type_identity<Go<5>>{});
        case GameKind::go6: return visit(std::type_identity<Go<6>>{});
        case GameKind::go7: return visit(std::type_identity<Go<7>>{});
        case GameKind::go9: return visit(std::type_identity<Go<9>>{});
        case GameKind::go13: return visit(std::type_identity<Go<13>>{});
        case GameKind::go19: return visit(std::type_identity<Go<19>>{});
        case GameKind::othello: return visit(std::type_identity<Othello>{});
        case GameKind::chess: return visit(std::type_identity<Chess>{});
        case GameKind::shogi: return visit(std::type_identity<Shogi>{});
        case GameKind::blokus_duo: return visit(std::type_identity<BlokusDuo>{});
    }
    throw std::invalid_argument("no such game");
}

template <class G>
inline constexpr bool is_go = requires(const G& game) { game.resumed(); };

/// Chinese records may count komi in stones, half as many as points: 3.75 is 7.5 points.
constexpr double komi_in_points(double komi) {
    const double quarters = komi * 4;
    const bool stones = quarters == static_cast<double>(static_cast<std::int64_t>(quarters)) &&
                        static_cast<std::int64_t>(quarters) % 2 != 0;
    return stones ? 2 * komi : komi;
}

/// Our board's komi: half points; none is 0.
inline double board_komi(double komi) {
    return komi == komi ? std::clamp(std::round(2 * komi) / 2, -1000.0, 1000.0) : 0;
}

/// The position a record starts at. Text may throw NotationError or IllegalMoveError.
template <class G>
G start_position(std::string_view text, double komi) {
    if (!text.empty()) return G::from_text(text);
    if constexpr (is_go<G>)
        return G(board_komi(komi));
    else
        return G();
}

/// A position under the rules by which people go on playing: no draw ends a game of chess before they agree to it.
template <class G>
G as_recorded(const G& start) {
    if constexpr (std::is_same_v<G, Chess>)
        return start.with_draws(Chess::Draws::ignored);
    else
        return start;
}

/// Plays a move of a record and says whether the rules allow it. After two passes players of Go may go on.
template <class G>
bool play_recorded(G& game, typename G::Move move) {
    if constexpr (is_go<G>)
        if (game.passes() >= 2) game = game.resumed();
    if (!game.is_legal(move)) return false;
    game.play(move);
    return true;
}

}  // namespace hyoka::records
