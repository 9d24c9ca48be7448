// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "game.h"
#include "playout.h"

namespace hyoka::playouts {

/// A position from which a playout starts, and the moves that led to it, as far as they are known.
template <Game G>
struct PlayoutStart {
    const G& game;
    std::optional<typename G::Move> last;
    std::optional<typename G::Move> before_last{};
};

/// A move made in a playout, and by whom; what all-moves-as-first statistics need.
template <Game G>
struct PlayedMove {
    typename G::Move move;
    Player player;
};

/// How a playout ended and what that is worth to the first player.
struct PlayoutResult {
    double score;  // in the game's points; that of an unfinished game is of its board as it stands
    double value;  // 1 won, 0.5 drawn, 0 lost; in between where the playout was cut short and evaluated
    int plies;
};

/// Result of a playout for the first player: 1 won, 0.5 drawn, 0 lost.
constexpr double value_of_score(double score) { return (static_cast<int>(result_of_score(score)) + 1) / 2.0; }

/// How playouts choose their moves and what their ends are worth. One for each thread: it may keep room to work in.
template <Game G>
class PlayoutPolicy {
public:
    virtual ~PlayoutPolicy() = default;
    /// Plays from `start` as far as it goes. The moves made are added to `played` if that is not null.
    virtual PlayoutResult play(const PlayoutStart<G>& start, Rng& rng, std::vector<PlayedMove<G>>* played) = 0;
    /// The same policy for another thread.
    virtual std::unique_ptr<PlayoutPolicy> clone() const = 0;
};

}  // namespace hyoka::playouts
