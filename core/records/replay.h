// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "records/table.h"

namespace hyoka::records {

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
