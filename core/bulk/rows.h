// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace hyoka::bulk {

/// Rows of any length in one array: row i is items [offsets[i], offsets[i + 1]).
template <class T>
struct Lists {
    std::vector<std::int64_t> offsets = {0};
    std::vector<T> items;

    void end_row() { offsets.push_back(static_cast<std::int64_t>(items.size())); }
};

/// Rows of which most numbers are 0: the others, with their columns rising within a row.
struct SparseRows {
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> columns;
    std::vector<float> amounts;

    /// Adds a row and leaves zeros behind.
    void take(std::span<float> row) {
        constexpr std::size_t at_once = 16;  // batch size; batching costs next to nothing
        std::size_t i = 0;
        const auto take_one = [&](std::size_t column) {
            if (row[column] == 0) return;
            columns.push_back(static_cast<std::int32_t>(column));
            amounts.push_back(row[column]);
            row[column] = 0;
        };
        for (; i + at_once <= row.size(); i += at_once) {
            std::uint32_t bits = 0;
            for (std::size_t j = 0; j < at_once; ++j) {
                std::uint32_t of_one = 0;
                std::memcpy(&of_one, &row[i + j], sizeof of_one);
                bits |= of_one;
            }
            if (bits)
                for (std::size_t j = 0; j < at_once; ++j) take_one(i + j);
        }
        for (; i < row.size(); ++i) take_one(i);
        offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
};

/// The vectors that `get` finds in the parts of a result, end to end; the parts are left without them.
template <class Part, class Get>
auto joined(std::vector<Part>& parts, Get&& get) {
    using Whole = std::remove_cvref_t<decltype(get(parts.front()))>;
    std::size_t size = 0;
    for (Part& part : parts) size += get(part).size();
    Whole whole;
    whole.reserve(size);
    for (Part& part : parts) {
        const Whole piece = std::exchange(get(part), Whole{});
        whole.insert(whole.end(), piece.begin(), piece.end());
    }
    return whole;
}
/// The same for offsets, each part's after those before.
template <class Part, class Get>
std::vector<std::int64_t> joined_offsets(std::vector<Part>& parts, Get&& get) {
    std::size_t size = 1;
    for (Part& part : parts) size += get(part).size() - 1;
    std::vector<std::int64_t> whole = {0};
    whole.reserve(size);
    for (Part& part : parts) {
        const std::int64_t behind = whole.back();
        const std::vector<std::int64_t>& piece = get(part);
        for (std::size_t i = 1; i < piece.size(); ++i) whole.push_back(behind + piece[i]);
    }
    return whole;
}

}  // namespace hyoka::bulk
