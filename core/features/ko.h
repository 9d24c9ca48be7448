// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/go.h"

namespace hyoka::features {

/// Whether the stones that take this one, a lone stone in atari, could themselves be retaken at once: in a ko, or in a
/// snapback. Pre: the chain of `stone` is in atari.
template <int N>
bool is_bait(const Go<N>& game, typename Go<N>::Move stone) {
    using Point = typename Go<N>::Move;
    const Point taker = game.last_liberty(stone);
    bool bait = game.chain_size(stone) == 1 && game.open_sides(taker) == 0;
    Go<N>::for_each_neighbor(taker, [&](Point beside) {
        // The taker joins nobody who has a liberty left, and takes nothing else.
        if (bait && beside != stone) bait = (game.owner(beside) == game.owner(stone)) != game.in_atari(beside);
    });
    return bait;
}

/// Whether to take this stone is to take a ko: with a stone that joins no other. Pre: its chain is in atari.
template <int N>
bool is_ko(const Go<N>& game, typename Go<N>::Move stone) {
    using Point = typename Go<N>::Move;
    bool ko = is_bait(game, stone);
    Go<N>::for_each_neighbor(game.last_liberty(stone),
                             [&](Point beside) { ko = ko && game.owner(beside) == game.owner(stone); });
    return ko;
}

}  // namespace hyoka::features
