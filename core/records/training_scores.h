// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>

#include "records/commands.h"

namespace hyoka::records {

/// Puts a score of training data into the remark: 16 bits in the view of the side to move. A mate in n plies is
/// 32000 - n; beyond that there is no score.
inline void set_training_score(Remark& remark, int score, Player to_play, MateUnit unit) {
    constexpr int mate = 32'000;
    constexpr int longest_mate = 246;
    const int seen = to_play == Player::first ? score : -score;
    if (std::abs(seen) > mate) return;
    if (std::abs(seen) < mate - longest_mate) {
        remark.score = static_cast<float>(seen);
        return;
    }
    const int plies = std::max(1, mate - std::abs(seen));
    const int length = unit == MateUnit::plies ? plies : (plies + 1) / 2;
    remark.mate = static_cast<std::int16_t>(seen > 0 ? length : -length);
}

}  // namespace hyoka::records
