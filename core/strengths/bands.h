// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hyoka::strengths {

/// Sato 2010's seven bands for the change of a piece's value by its place.
inline constexpr std::size_t change_bands = 7;
inline constexpr std::array<std::string_view, change_bands> change_band_names = {
    "much_worse", "worse", "slightly_worse", "same", "slightly_better", "better", "much_better"};
/// Below -100, to -11, to -1, 0, to 10, to 100, above. Pre: |change| <= 1000.
inline std::size_t change_band(int change) {
    static constexpr auto bands = [] {
        std::array<std::uint8_t, 2001> table{};
        for (int x = -1000; x <= 1000; ++x)
            table[static_cast<std::size_t>(x + 1000)] =
                static_cast<std::uint8_t>((x >= -100) + (x >= -10) + (x >= 0) + (x > 0) + (x > 10) + (x > 100));
        return table;
    }();
    return bands[static_cast<std::size_t>(change + 1000)];
}

/// A value between `low` and `high`, evenly spread on a logarithmic scale as `step` goes from 0 to `steps` - 1.
inline float spread(double low, double high, std::size_t step, std::size_t steps) {
    return static_cast<float>(low * std::pow(high / low, static_cast<double>(step) / static_cast<double>(steps - 1)));
}

}  // namespace hyoka::strengths
