// SPDX-License-Identifier: Apache-2.0
#include "features/othello.h"

#include <array>

#include "base/bits.h"

namespace hyoka::features {
namespace {

using Bits = std::uint64_t;
using enum Column::Kind;

enum OthelloColumn : std::size_t {
    empties,
    parity,
    disc_diff,
    mobility,
    black_mobility,
    white_mobility,
    corners,
    x_squares,
    frontier,
    stable_edge,
    column_count,
};

constexpr std::array<Column, column_count> othello_columns = {{
    {"empties", "Empty squares.", number},
    {"parity", "Whether the number of empty squares is odd.", flag},
    {"disc_diff", "Black's discs minus White's.", number},
    {"mobility", "Squares where Black could place a disc, were it to move, minus White's.", number},
    {"black_mobility", "Squares where Black could place a disc, were it to move.", number},
    {"white_mobility", "Squares where White could place a disc, were it to move.", number},
    {"corners", "Corners that Black holds minus White's.", number},
    {"x_squares", "Black's discs on b2, b7, g2 or g7 next to a corner that is still empty, minus White's.", number},
    {"frontier", "Black's discs beside an empty square, in any of eight directions, minus White's.", number},
    {"stable_edge",
     "Black's edge discs that nothing can turn, minus White's: in a row of own discs from a corner, or on a full edge.",
     number},
}};

constexpr Bits column_a = 0x0101010101010101ULL;
constexpr Bits column_h = column_a << 7;
constexpr Bits row_1 = 0xff;
constexpr Bits row_8 = row_1 << 56;
constexpr std::array<Bits, 4> edges = {column_a, column_h, row_1, row_8};
constexpr Bits all_corners = (column_a | column_h) & (row_1 | row_8);

/// The squares of a set and all that touch it.
constexpr Bits grown(Bits set) {
    const Bits wide = set | ((set & ~column_h) << 1) | ((set & ~column_a) >> 1);
    return wide | wide << 8 | wide >> 8;
}

/// The X-squares beside the given corners: one step inwards both ways.
constexpr Bits x_squares_of(Bits all) {
    return ((all & 1) << 9) | ((all & Bits{1} << 7) << 7) | ((all & Bits{1} << 56) >> 7) | ((all & Bits{1} << 63) >> 9);
}

Bits stable_on_edges(Bits own, Bits occupied) {
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

}  // namespace

std::span<const Column> Describer<Othello>::columns() { return othello_columns; }

void Describer<Othello>::describe(const Othello& game, std::uint64_t wanted, std::int16_t* cells) const {
    Row row(wanted, cells);
    const Bits black = game.discs(Player::first);
    const Bits white = game.discs(Player::second);
    const Bits empty = ~(black | white);
    const auto difference = [&](Bits set) { return count_bits(black & set) - count_bits(white & set); };

    row.set(empties, count_bits(empty));
    row.set(parity, count_bits(empty) % 2);
    row.set(disc_diff, difference(~Bits{0}));
    row.set_sides(mobility, black_mobility, white_mobility,
                  [&](Player player) { return count_bits(game.playable(player)); });
    row.set(corners, difference(all_corners));
    row.set(x_squares, difference(x_squares_of(all_corners & empty)));
    row.set(frontier, difference(grown(empty)));
    row.set(stable_edge, count_bits(stable_on_edges(black, ~empty)) - count_bits(stable_on_edges(white, ~empty)));
}

}  // namespace hyoka::features
