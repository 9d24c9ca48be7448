// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

/// METS, the move evaluation tree (Yoshii 1998): a decision tree over the stones around a point.
namespace hyoka::mets {

/// Possible states of a point, in the view of the side to move.
enum State : std::uint8_t { own, others, vacant, outside };
inline constexpr int state_count = 4;

/// A pattern is what lies within this Manhattan distance of a point.
inline constexpr int farthest = 17;

/// How many points lie at distance 1 to `ring`.
constexpr int points_within(int ring) { return 2 * ring * (ring + 1); }
inline constexpr int question_count = points_within(farthest);

/// A point relative to the one in the middle.
struct Offset {
    int down = 0;
    int right = 0;
};

/// Possible questions: the points around the middle, nearest ring first, along the rows within a ring.
inline constexpr auto questions = [] {
    std::array<Offset, question_count> all{};
    std::size_t next = 0;
    for (int ring = 1; ring <= farthest; ++ring)
        for (int down = -ring; down <= ring; ++down) {
            const int right = ring - (down < 0 ? -down : down);
            all[next++] = {down, -right};
            if (right) all[next++] = {down, right};
        }
    return all;
}();

/// The distance of a question's point.
constexpr int ring_of(int question) {
    int ring = 1;
    while (points_within(ring) <= question) ++ring;
    return ring;
}

}  // namespace hyoka::mets
