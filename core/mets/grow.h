// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mets/tactical.h"
#include "mets/top.h"
#include "mets/tree.h"

namespace hyoka::mets {

/// Boards with a move on each: what a tree grows from. Views: somebody else keeps the arrays.
struct Patterns {
    int side = 0;
    std::span<const std::uint8_t> boards;  // `board_bytes` each: two bits a point, 0 first, 1 second, 2 none
    std::span<const std::int16_t> points;  // by board: where the move was played; -1: nowhere, left out
    std::span<const std::uint8_t> movers;  // by board: 0 the first player, 1 the second
    int symmetries = 1;                    // 8: each board in all its orientations
    std::span<const Answers> answers;      // by board: what tactics say of its move; empty if no top asks

    std::size_t board_bytes() const { return bytes_of(side); }
    static std::size_t bytes_of(int side) { return (static_cast<std::size_t>(side * side) * 2 + 7) / 8; }
};

/// How growing is done, and how far it is.
struct Growing {
    std::uint32_t threshold = 50;  // a node that fewer patterns reach is a leaf
    unsigned threads = 1;
    std::size_t worth_a_task = 50'000;  // minimum patterns at a node to make it a task of its own
    std::atomic<bool> stop = false;     // raised from another thread: ends soon, with a tree that is none
    std::atomic<std::size_t> done = 0;  // patterns that have reached their leaf
};

/// Grows a tree: of the nearest ring that has points not asked about yet, the point whose answers are most alike (of
/// the smallest entropy; of several, the first) is asked about. What comes out does not depend on the threads. Leaves
/// have no counts yet.
Tree grow(const Patterns& patterns, Growing& how);
/// The same below each end of a top that asks about tactics.
Tree grow(const Patterns& patterns, const Top& top, Growing& how);

}  // namespace hyoka::mets
