// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "games/go.h"

/// Shapes of stones around an empty point, larger than 3x3: those that are met often enough to have a strength of
/// their own. Sizes are nested, by the distance |dx| + |dy| + max(|dx|, |dy|), and a point has the largest shape known.
namespace hyoka::strengths {

inline constexpr int smallest_shape = 4;  // the greatest distance in it; 3 are the eight points around
inline constexpr int largest_shape = 12;
inline constexpr std::size_t shape_sizes = largest_shape - smallest_shape + 1;
inline constexpr int shape_reach = largest_shape / 2;  // rows or columns away

constexpr int shape_distance(int down, int right) {
    const int rows = down < 0 ? -down : down;
    const int columns = right < 0 ? -right : right;
    return rows + columns + (rows > columns ? rows : columns);
}

struct ShapePoint {
    std::int8_t down;
    std::int8_t right;
    std::uint8_t size;  // number of the smallest size that has it
};
inline constexpr std::size_t shape_point_count = [] {
    std::size_t count = 0;
    for (int down = -shape_reach; down <= shape_reach; ++down)
        for (int right = -shape_reach; right <= shape_reach; ++right) {
            const int distance = shape_distance(down, right);
            count += distance > 0 && distance <= largest_shape;
        }
    return count;
}();
/// The nearest first, along the rows where they are as near.
inline constexpr auto shape_points = [] {
    std::array<ShapePoint, shape_point_count> points{};
    std::size_t next = 0;
    for (int distance = 1; distance <= largest_shape; ++distance)
        for (int down = -shape_reach; down <= shape_reach; ++down)
            for (int right = -shape_reach; right <= shape_reach; ++right)
                if (shape_distance(down, right) == distance)
                    points[next++] = {
                        static_cast<std::int8_t>(down), static_cast<std::int8_t>(right),
                        static_cast<std::uint8_t>(distance > smallest_shape ? distance - smallest_shape : 0)};
    return points;
}();
/// By size: how many points it has.
inline constexpr auto points_of_size = [] {
    std::array<std::size_t, shape_sizes> counts{};
    for (const ShapePoint& point : shape_points)
        for (std::size_t size = point.size; size < shape_sizes; ++size) ++counts[size];
    return counts;
}();

/// State of a point, in the view of the player to move.
enum class ShapeState : std::uint8_t { own, others, empty, outside };
using ShapeStates = std::array<ShapeState, shape_point_count>;

/// XOR contribution of a point to a shape's hash; 0 for empty points.
inline constexpr auto shape_keys = [] {
    std::array<std::array<std::uint64_t, 4>, shape_point_count> keys{};
    std::uint64_t state = 0x9e3779b97f4a7c15;
    for (auto& point : keys)
        for (const std::size_t what : {0u, 1u, 3u}) {
            std::uint64_t mixed = state += 0x9e3779b97f4a7c15;  // splitmix64
            mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
            point[what] = mixed ^ (mixed >> 31);
        }
    return keys;
}();
/// Tells sizes apart where nothing but empty points is added.
constexpr std::uint64_t with_size(std::uint64_t hash, std::size_t size) {
    return hash + (size + 1) * 0xd1342543de82ef95;
}

/// By size: the hash of the shape around a point, the same for its turned and mirrored likenesses.
std::array<std::uint64_t, shape_sizes> canonical_hashes(const ShapeStates& states);

/// Shapes numbered from 0 on, found by hash in whatever likeness.
class GoShapes {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    /// Each as letters, o own, x the other's, e empty, b off the board, in the order of the points; how many there are
    /// tells its size. Throws NotationError if one is none.
    explicit GoShapes(std::span<const std::string> texts);

    std::size_t count() const { return count_; }
    std::uint32_t find(std::uint64_t sized_hash) const {
        for (std::size_t i = sized_hash & mask_;; i = (i + 1) & mask_) {
            if (entries_[i].number == none || entries_[i].hash == sized_hash) return entries_[i].number;
        }
    }

private:
    struct Entry {
        std::uint64_t hash = 0;
        std::uint32_t number = none;
    };
    void add(std::uint64_t sized_hash, std::uint32_t number);

    std::size_t count_;
    std::size_t mask_ = 0;
    std::vector<Entry> entries_;
};

/// The letters of the smallest `points` of a shape.
std::string shape_text(const ShapeStates& states, std::size_t points);

/// The hashes of the shapes around all points of a board that changes a little from position to position.
template <int N>
class ShapeWatcher {
public:
    ShapeWatcher() {
        stones_.fill(empty);
        for (std::size_t size = 0; size < shape_sizes; ++size)
            for (auto& view : rings_) view[size] = outside_rings()[size];
    }
    /// Takes over what stands on the board.
    void look_at(const Go<N>& game) {
        for (int point = 0; point < N * N; ++point) {
            const auto owner = game.owner(Go<N>::Move::from_code(static_cast<std::uint32_t>(point)));
            const std::uint8_t stone = owner ? static_cast<std::uint8_t>(*owner) : empty;
            if (stone != stones_[z(point)]) set(point, stone);
        }
    }
    /// The number of the largest shape known around a point; GoShapes::none for none.
    std::uint32_t largest(const GoShapes& shapes, int point, Player mover) const {
        const auto& view = rings_[static_cast<std::size_t>(mover)];
        std::uint64_t hash = 0;
        std::uint32_t found = GoShapes::none;
        for (std::size_t size = 0; size < shape_sizes; ++size) {
            hash ^= view[size][z(point)];
            // A shape was met as often as what lies within it: where that is not known, it is not either.
            const std::uint32_t number = shapes.find(with_size(hash, size));
            if (number == GoShapes::none) break;
            found = number;
        }
        return found;
    }
    /// Stones around a point.
    static ShapeStates around(const Go<N>& game, int point) {
        ShapeStates states;
        for (std::size_t i = 0; i < shape_point_count; ++i) {
            const int row = point / N + shape_points[i].down;
            const int column = point % N + shape_points[i].right;
            if (row < 0 || row >= N || column < 0 || column >= N) {
                states[i] = ShapeState::outside;
                continue;
            }
            const auto owner = game.owner(Go<N>::Move::from_code(static_cast<std::uint32_t>(row * N + column)));
            states[i] = !owner ? ShapeState::empty : *owner == game.to_play() ? ShapeState::own : ShapeState::others;
        }
        return states;
    }

private:
    static constexpr std::uint8_t empty = 2;
    using Ring = std::array<std::uint64_t, std::size_t{N} * N>;  // by point: what the points of one size alone add
    static constexpr std::size_t z(int i) { return static_cast<std::size_t>(i); }

    void set(int point, std::uint8_t stone) {
        const std::uint8_t before = stones_[z(point)];
        stones_[z(point)] = stone;
        const int row = point / N;
        const int column = point % N;
        for (std::size_t i = 0; i < shape_point_count; ++i) {
            const int middle_row = row - shape_points[i].down;
            const int middle_column = column - shape_points[i].right;
            if (middle_row < 0 || middle_row >= N || middle_column < 0 || middle_column >= N) continue;
            const auto& keys = shape_keys[i];
            const std::size_t middle = z(middle_row * N + middle_column);
            const std::size_t size = shape_points[i].size;
            // The second player sees own what the first sees as the other's.
            rings_[0][size][middle] ^= keys[before] ^ keys[stone];
            rings_[1][size][middle] ^= keys[seen_by_second[before]] ^ keys[seen_by_second[stone]];
        }
    }
    static const std::array<Ring, shape_sizes>& outside_rings() {
        static const auto rings = [] {
            std::array<Ring, shape_sizes> made{};
            for (int point = 0; point < N * N; ++point)
                for (std::size_t i = 0; i < shape_point_count; ++i) {
                    const int row = point / N + shape_points[i].down;
                    const int column = point % N + shape_points[i].right;
                    if (row < 0 || row >= N || column < 0 || column >= N)
                        made[shape_points[i].size][z(point)] ^=
                            shape_keys[i][static_cast<std::size_t>(ShapeState::outside)];
                }
            return made;
        }();
        return rings;
    }
    static constexpr std::array<std::uint8_t, 3> seen_by_second = {1, 0, 2};

    std::array<std::uint8_t, std::size_t{N} * N> stones_;  // the first player's, the second's, none
    std::array<std::array<Ring, shape_sizes>, 2> rings_;   // by who is to move, and size
};

}  // namespace hyoka::strengths
