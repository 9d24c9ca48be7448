// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/go.h"
#include "network/inputs.h"

namespace hyoka::network {

/// Stones of either player by their chains' liberties, the last two moves, ko, passes, and what komi gives the mover.
template <int N>
struct Inputs<Go<N>> : NoMoveParts {
    using G = Go<N>;
    using Move = typename G::Move;
    static constexpr std::size_t area = G::area;
    static constexpr std::size_t liberty_kinds = 4;  // one, two, three, more
    static constexpr std::size_t last = 2 * liberty_kinds * area;
    static constexpr std::size_t before_last = last + area;
    static constexpr std::size_t ko = before_last + area;
    static constexpr std::size_t passed = ko + area;
    static constexpr std::size_t side = N;
    static constexpr std::size_t planes = passed / area;
    static constexpr std::size_t move_planes = 1;
    static constexpr std::size_t komi = passed + 1;
    static constexpr std::array<double, 9> komi_steps = {-7, -6, -5, -3, 0, 3, 5, 6, 7};
    static constexpr std::size_t count = komi + komi_steps.size();

    static void find(const G& game, const Context<G>& context, InputSet<count>& inputs) {
        const Player mover = game.to_play();
        game.for_each_chain([&](Move head) {
            const std::size_t liberties = static_cast<std::size_t>(std::min(game.liberties(head), 4)) - 1;
            const std::size_t side = *game.owner(head) == mover ? 0 : liberty_kinds;
            game.for_each_stone_of(head, [&](Move stone) { inputs.add((side + liberties) * area + stone.point); });
        });
        if (context.last && *context.last != Move::pass()) inputs.add(last + context.last->point);
        if (context.before_last && *context.before_last != Move::pass())
            inputs.add(before_last + context.before_last->point);
        if (const Move forbidden = game.ko(); forbidden != Move::pass()) inputs.add(ko + forbidden.point);
        if (game.passes() > 0) inputs.add(passed);
        const double given = mover == Player::first ? -game.komi() : game.komi();
        for (std::size_t i = 0; i < komi_steps.size(); ++i)
            if (given >= komi_steps[i]) inputs.add(komi + i);
    }
    static std::uint32_t seen(const G&, Move move) { return move.code(); }
    static std::uint32_t place(std::uint32_t seen) { return seen < area ? seen : no_place; }
};

}  // namespace hyoka::network
