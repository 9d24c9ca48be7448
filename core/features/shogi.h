// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "features/columns.h"
#include "games/shogi.h"

namespace hyoka::features {

/// From where a player's pieces that step reach the square of a king or one beside it.
struct StepReach {
    Shogi::Bitboard pawn = 0;
    Shogi::Bitboard knight = 0;
    Shogi::Bitboard silver = 0;
    Shogi::Bitboard gold = 0;
};
/// By the square of the king.
const std::array<StepReach, 81>& stepping_reach(Player player);

template <>
class Describer<Shogi> {
public:
    static std::span<const Column> columns();
    explicit Describer(const Shogi&) {}
    void play(const Shogi&, Shogi::Move) {}
    void describe(const Shogi& game, std::uint64_t wanted, std::int16_t* row) const;
};

}  // namespace hyoka::features
