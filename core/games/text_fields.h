// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace hyoka {

/// The parts of `text` between runs of spaces and tabs.
inline std::vector<std::string_view> split_fields(std::string_view text) {
    std::vector<std::string_view> fields;
    constexpr std::string_view blank = " \t\r\n";
    for (auto start = text.find_first_not_of(blank); start != std::string_view::npos;) {
        const auto end = std::min(text.find_first_of(blank, start), text.size());
        fields.push_back(text.substr(start, end - start));
        start = text.find_first_not_of(blank, end);
    }
    return fields;
}

/// A whole decimal number within [low, high], or nothing.
inline std::optional<int> parse_number(std::string_view digits, int low, int high) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < low || value > high)
        return std::nullopt;
    return value;
}

}  // namespace hyoka
