// SPDX-License-Identifier: Apache-2.0
#include "features/blokus_duo.h"

#include <array>

namespace hyoka::features {
namespace {

using blokus::SquareSet;
using enum Column::Kind;

enum BlokusColumn : std::size_t {
    squares,
    first_squares,
    second_squares,
    first_pieces_left,
    second_pieces_left,
    attaching,
    first_attaching,
    second_attaching,
    influence_diff,
    first_influence,
    second_influence,
    mobility,
    first_mobility,
    second_mobility,
    column_count,
};

constexpr std::array<Column, column_count> blokus_columns = {{
    {"squares", "Squares that the first player's pieces cover minus the second's.", number},
    {"first_squares", "Squares that the first player's pieces cover.", number},
    {"second_squares", "Squares that the second player's pieces cover.", number},
    {"first_pieces_left", "Pieces the first player has still to lay, of 21.", number},
    {"second_pieces_left", "Pieces the second player has still to lay, of 21.", number},
    {"attaching", "Squares where the first player's next piece may attach minus the second's.", number},
    {"first_attaching", "Squares where the first player's next piece may attach.", number},
    {"second_attaching", "Squares where the second player's next piece may attach.", number},
    {"influence", "The first player's influence minus the second's, by Bouzy's 4/0 algorithm from attaching squares.",
     number},
    {"first_influence", "The first player's influence by Bouzy's 4/0 algorithm from attaching squares.", number},
    {"second_influence", "The second player's influence by Bouzy's 4/0 algorithm from attaching squares.", number},
    {"mobility", "Placements open to the first player, were it to move, minus the second's.", number, true},
    {"first_mobility", "Placements open to the first player, were it to move.", number, true},
    {"second_mobility", "Placements open to the second player, were it to move.", number, true},
}};

constexpr SquareSet squares_where(auto&& holds) {
    SquareSet set;
    for (int square = 0; square < blokus::area; ++square)
        if (holds(square)) set.add(square);
    return set;
}
constexpr SquareSet board = squares_where([](int) { return true; });
constexpr SquareSet not_left_edge = squares_where([](int square) { return square % blokus::size != 0; });
constexpr SquareSet not_right_edge =
    squares_where([](int square) { return square % blokus::size != blokus::size - 1; });

/// Every square moved up in number, by less than 64; some may then lie off the board.
constexpr SquareSet moved_up(const SquareSet& set, int by) {
    SquareSet moved;
    for (std::size_t i = 0; i < 4; ++i)
        moved.words[i] = set.words[i] << by | (i > 0 ? set.words[i - 1] >> (64 - by) : 0);
    return moved;
}
constexpr SquareSet moved_down(const SquareSet& set, int by) {
    SquareSet moved;
    for (std::size_t i = 0; i < 4; ++i)
        moved.words[i] = set.words[i] >> by | (i < 3 ? set.words[i + 1] << (64 - by) : 0);
    return moved;
}

}  // namespace

Spread spread_influence(const SquareSet& sources, const SquareSet& open) {
    // Only where there is influence matters for the next step, and only the sum in the end: sets and counts will do.
    SquareSet reached = sources;
    int sum = reached.count();
    for (int dilation = 0; dilation < 4; ++dilation) {
        const std::array<SquareSet, 4> steps = {
            moved_up(reached, blokus::size) & open, moved_down(reached, blokus::size) & open,
            moved_up(reached & not_right_edge, 1) & open, moved_down(reached & not_left_edge, 1) & open};
        for (const SquareSet& step : steps) {
            sum += step.count();
            reached |= step;
        }
    }
    return {.sum = sum, .squares = reached.count()};
}

SquareSet empty_squares(const BlokusDuo& game) {
    return board - game.squares(Player::first) - game.squares(Player::second);
}

int influence(const BlokusDuo& game, Player player) {
    return spread_influence(game.attaching(player), empty_squares(game)).sum;
}

std::span<const Column> Describer<BlokusDuo>::columns() { return blokus_columns; }

void Describer<BlokusDuo>::describe(const BlokusDuo& game, std::uint64_t wanted, std::int16_t* cells) const {
    Row row(wanted, cells);
    row.set_sides(squares, first_squares, second_squares, [&](Player player) { return game.squares(player).count(); });
    row.set_sides(attaching, first_attaching, second_attaching,
                  [&](Player player) { return game.attaching(player).count(); });
    row.set_sides(influence_diff, first_influence, second_influence,
                  [&](Player player) { return influence(game, player); });
    row.set_sides(mobility, first_mobility, second_mobility,
                  [&](Player player) { return game.count_placements(player); });
    row.set(first_pieces_left, std::popcount(game.pieces_left(Player::first)));
    row.set(second_pieces_left, std::popcount(game.pieces_left(Player::second)));
}

}  // namespace hyoka::features
