// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/rng.h"

namespace hyoka {

/// `n` fixed random keys; tables of different `salt` share none.
template <std::size_t n>
consteval std::array<std::uint64_t, n> zobrist_keys(std::uint64_t salt) {
    std::array<std::uint64_t, n> keys{};
    for (std::size_t i = 0; i < n; ++i) keys[i] = split_mix(split_mix(salt) + i * 0xd1342543de82ef95ULL);
    return keys;
}

}  // namespace hyoka
