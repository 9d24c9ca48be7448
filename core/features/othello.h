// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "features/columns.h"
#include "games/othello.h"

namespace hyoka::features {

/// Sets of squares as Othello has them.
namespace othello {

using Bits = std::uint64_t;

inline constexpr Bits column_a = 0x0101010101010101ULL;
inline constexpr Bits column_h = column_a << 7;
inline constexpr Bits row_1 = 0xff;
inline constexpr Bits row_8 = row_1 << 56;
inline constexpr std::array<Bits, 4> edges = {column_a, column_h, row_1, row_8};
inline constexpr Bits all_corners = (column_a | column_h) & (row_1 | row_8);

/// The squares of a set and all that touch it.
constexpr Bits grown(Bits set) {
    const Bits wide = set | ((set & ~column_h) << 1) | ((set & ~column_a) >> 1);
    return wide | wide << 8 | wide >> 8;
}

/// The X-squares beside the given corners: one step inwards both ways.
constexpr Bits x_squares_of(Bits all) {
    return ((all & 1) << 9) | ((all & Bits{1} << 7) << 7) | ((all & Bits{1} << 56) >> 7) | ((all & Bits{1} << 63) >> 9);
}

/// Edge discs that nothing can turn: in a row of own discs from a corner, or on a full edge.
constexpr Bits stable_on_edges(Bits own, Bits occupied) {
    Bits stable = own & all_corners;
    for (int step = 0; step < 6; ++step) {
        const Bits along_rows = (stable << 1 | stable >> 1) & (row_1 | row_8);
        const Bits along_columns = (stable << 8 | stable >> 8) & (column_a | column_h);
        stable |= own & (along_rows | along_columns);
    }
    for (const Bits edge : edges)
        if (!(edge & ~occupied)) stable |= own & edge;
    return stable;
}

}  // namespace othello

template <>
class Describer<Othello> {
public:
    static std::span<const Column> columns();
    explicit Describer(const Othello&) {}
    void play(const Othello&, Othello::Move) {}
    void describe(const Othello& game, std::uint64_t wanted, std::int16_t* row) const;
};

}  // namespace hyoka::features
