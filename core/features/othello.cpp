// SPDX-License-Identifier: Apache-2.0
#include "features/othello.h"

#include <array>

#include "base/bits.h"

namespace hyoka::features {
namespace {

using namespace othello;
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
