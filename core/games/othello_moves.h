// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Where discs may be placed, on bitboards.
namespace hyoka::othello {

using Bits = std::uint64_t;

inline constexpr Bits inner_columns = 0x7e7e7e7e7e7e7e7eULL;
// A run of opponent discs along a row or diagonal can't pass an edge column; along a column it can.
inline constexpr std::array<int, 4> shifts = {1, 7, 8, 9};
inline constexpr std::array<Bits, 4> run_masks = {inner_columns, inner_columns, ~Bits{0}, inner_columns};

/// Empty squares where `own` would flip something: discs spread along runs of the opponent in all directions
/// at once (doubling steps: 1, 2, 4 squares).
constexpr Bits places(Bits own, Bits opponent) {
    std::array<Bits, 4> found{};
    for (std::size_t d = 0; d < 4; ++d) {
        const int shift = shifts[d];
        const Bits run = opponent & run_masks[d];
        Bits up = run & (own << shift);
        Bits down = run & (own >> shift);
        up |= run & (up << shift);
        down |= run & (down >> shift);
        const Bits run_up = run & (run << shift);
        const Bits run_down = run & (run >> shift);
        up |= run_up & (up << (2 * shift));
        down |= run_down & (down >> (2 * shift));
        up |= run_up & (up << (2 * shift));
        down |= run_down & (down >> (2 * shift));
        found[d] = (up << shift) | (down >> shift);
    }
    return (found[0] | found[1] | found[2] | found[3]) & ~(own | opponent);
}

}  // namespace hyoka::othello
