// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hyoka::search {

/// How hard a position is to judge (Sato 2013's classes "best-move change" and "correct depth").
struct BestMoveChange {
    int changes = 0;        // how often the best move changes from one depth to the next: 0 ... depths - 1
    int correct_depth = 0;  // 1 ... depths; depths + 1: the expert's move is not the last depth's best
    friend bool operator==(const BestMoveChange&, const BestMoveChange&) = default;
};

}  // namespace hyoka::search
