// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/columns.h"
#include "games/blokus_duo.h"

namespace hyoka::features {

/// How far influence spreads: its sum over the board, and the squares that have some.
struct Spread {
    int sum = 0;
    int squares = 0;
};
/// Bouzy's dilations: influence 1 on each of `sources`; then, four times, every square with influence adds 1 to each of
/// its four neighbors that are `open`.
Spread spread_influence(const blokus::SquareSet& sources, const blokus::SquareSet& open);

/// The squares without a piece.
blokus::SquareSet empty_squares(const BlokusDuo& game);
/// A player's influence by Bouzy's 4/0 algorithm (Nakamura 2007): 1 on each square where a next piece can attach; then,
/// four times, every square with influence adds 1 to each of its four neighbors, except those that are occupied; the
/// sum over the board.
int influence(const BlokusDuo& game, Player player);

template <>
class Describer<BlokusDuo> {
public:
    static std::span<const Column> columns();
    explicit Describer(const BlokusDuo&) {}
    void play(const BlokusDuo&, BlokusDuo::Move) {}
    void describe(const BlokusDuo& game, std::uint64_t wanted, std::int16_t* row) const;
};

}  // namespace hyoka::features
