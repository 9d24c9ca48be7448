// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <optional>

namespace hyoka::search {

// Scores are for the first player, in the evaluator's unit. Evaluations stay below games won by points, those below
// mates: the three can't be mixed up.
inline constexpr int highest_evaluation = 19999;
inline constexpr int won_by_points = 20000;   // and the margin
inline constexpr int mate = 30000;            // less the plies it takes
inline constexpr int quickest_mates = 29000;  // scores beyond are mates
inline constexpr int infinite_score = 32000;  // beyond all scores

/// The plies to a mate if `score` is one: positive if the first player mates.
inline std::optional<int> mate_plies(int score) {
    if (std::abs(score) <= quickest_mates) return std::nullopt;
    return score > 0 ? mate - score : -mate - score;
}

}  // namespace hyoka::search
