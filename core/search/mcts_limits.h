// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hyoka::search {

/// Limits of a tree search; 0: none.
struct MctsLimits {
    std::uint64_t playouts = 0;
    std::uint64_t nodes = 0;  // with children
    double time_s = 0;
    bool early_stop = false;  // once the most visited move can't be overtaken
};

/// Why a tree search ended.
enum class MctsEnd : std::uint8_t { playouts, nodes, time, early, proven, interrupted };

}  // namespace hyoka::search
