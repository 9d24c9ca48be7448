// SPDX-License-Identifier: Apache-2.0
#include "strengths/go_shapes.h"

#include <algorithm>
#include <bit>

#include "game.h"
#include "games/square_symmetry.h"

namespace hyoka::strengths {
namespace {

constexpr std::string_view letters = "oxeb";
constexpr int symmetries = 8;

/// By symmetry: where each point of a shape goes.
const std::array<std::array<std::uint16_t, shape_point_count>, symmetries>& turned_points() {
    static const auto table = [] {
        constexpr int side = 2 * shape_reach + 1;
        std::array<std::uint16_t, side * side> number{};
        const auto square_of = [](const ShapePoint& point) {
            return (point.down + shape_reach) * side + point.right + shape_reach;
        };
        for (std::size_t i = 0; i < shape_point_count; ++i)
            number[static_cast<std::size_t>(square_of(shape_points[i]))] = static_cast<std::uint16_t>(i);
        std::array<std::array<std::uint16_t, shape_point_count>, symmetries> made{};
        for (int symmetry = 0; symmetry < symmetries; ++symmetry)
            for (std::size_t i = 0; i < shape_point_count; ++i)
                made[static_cast<std::size_t>(symmetry)][i] =
                    number[static_cast<std::size_t>(transformed_square(square_of(shape_points[i]), side, symmetry))];
        return made;
    }();
    return table;
}

/// By size: the hash of a shape as it lies after a symmetry.
std::array<std::uint64_t, shape_sizes> hashes_turned(const ShapeStates& states, std::size_t points,
                                                     std::size_t symmetry) {
    const auto& to = turned_points()[symmetry];
    std::array<std::uint64_t, shape_sizes> rings{};
    for (std::size_t i = 0; i < points; ++i)
        rings[shape_points[i].size] ^= shape_keys[to[i]][static_cast<std::size_t>(states[i])];
    std::uint64_t hash = 0;
    for (std::size_t size = 0; size < shape_sizes; ++size) {
        hash ^= rings[size];
        rings[size] = with_size(hash, size);
    }
    return rings;
}

}  // namespace

std::array<std::uint64_t, shape_sizes> canonical_hashes(const ShapeStates& states) {
    auto lowest = hashes_turned(states, shape_point_count, 0);
    for (std::size_t symmetry = 1; symmetry < symmetries; ++symmetry) {
        const auto turned = hashes_turned(states, shape_point_count, symmetry);
        for (std::size_t size = 0; size < shape_sizes; ++size) lowest[size] = std::min(lowest[size], turned[size]);
    }
    return lowest;
}

std::string shape_text(const ShapeStates& states, std::size_t points) {
    std::string text;
    for (std::size_t i = 0; i < points; ++i) text += letters[static_cast<std::size_t>(states[i])];
    return text;
}

GoShapes::GoShapes(std::span<const std::string> texts) : count_(texts.size()) {
    const std::size_t room = std::bit_ceil(2 * symmetries * texts.size() + 2);
    entries_.resize(room);
    mask_ = room - 1;
    for (std::size_t number = 0; number < texts.size(); ++number) {
        const std::string& text = texts[number];
        const auto size = std::ranges::find(points_of_size, text.size());
        if (size == points_of_size.end())
            throw NotationError("no shape has " + std::to_string(text.size()) + " points around it");
        ShapeStates states{};
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto state = letters.find(text[i]);
            if (state == std::string_view::npos) throw NotationError("shapes are written with o, x, e and b");
            states[i] = static_cast<ShapeState>(state);
        }
        for (std::size_t symmetry = 0; symmetry < symmetries; ++symmetry) {
            const auto hashes = hashes_turned(states, text.size(), symmetry);
            add(hashes[static_cast<std::size_t>(size - points_of_size.begin())], static_cast<std::uint32_t>(number));
        }
    }
}

void GoShapes::add(std::uint64_t sized_hash, std::uint32_t number) {
    std::size_t i = sized_hash & mask_;
    while (entries_[i].number != none) {
        if (entries_[i].hash == sized_hash) return;  // a likeness that is the same, or a shape given twice
        i = (i + 1) & mask_;
    }
    entries_[i] = {sized_hash, number};
}

}  // namespace hyoka::strengths
