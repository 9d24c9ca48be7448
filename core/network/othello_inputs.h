// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/othello.h"
#include "network/inputs.h"

namespace hyoka::network {

/// Discs of either player, where each could place one, and who would move last if nobody had to pass.
template <>
struct Inputs<Othello> : NoMoveParts {
    static constexpr std::size_t side = 8;
    static constexpr std::size_t planes = 4;
    static constexpr std::size_t move_planes = 1;
    static constexpr std::size_t count = planes * 64 + 1;

    static void find(const Othello& game, const Context<Othello>&, InputSet<count>& inputs) {
        const Player mover = game.to_play();
        const std::uint64_t own = game.discs(mover);
        const std::uint64_t others = game.discs(other(mover));
        inputs.words[0] = own;
        inputs.words[1] = others;
        inputs.words[2] = game.playable(mover);
        inputs.words[3] = game.playable(other(mover));
        if (count_bits(~(own | others)) % 2) inputs.add(4 * 64);
    }
    static std::uint32_t seen(const Othello&, Othello::Move move) { return move.code(); }
    static std::uint32_t place(std::uint32_t seen) { return seen < 64 ? seen : no_place; }
};

}  // namespace hyoka::network
