// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "games/go.h"

namespace hyoka::features {

/// Reads ladders: is a chain captured by atari after atari?
///
/// The attacker plays on one of the chain's last two liberties each time, and has failed when there are three. The
/// owner answers every atari, and has no other resource than to extend or to capture stones around the chain. So all
/// moves are tried and the result is exact, but for two conventions:
/// - The attacker never takes a ko, and the owner may take one back at once: what is captured is captured without it.
/// - After `node_limit` moves of reading the chain counts as not captured.
template <int N>
class LadderReader {
public:
    using Move = typename Go<N>::Move;
    static constexpr int node_limit = 2000;

    /// Whether the chain of `stone` is captured when `first` moves first. If that is its owner, the chain must be in
    /// atari already: with two liberties it is free to do as it likes. A lone stone whose taker could be retaken at
    /// once, in a ko or a snapback, is not captured by a ladder.
    bool captures(const Go<N>& game, Move stone, Player first);

    /// Whether the side to move captures the other's chain of `stone` by a ladder that runs: the chain has two
    /// liberties, no atari leaves it in atari whatever its owner answers, and it is captured all the same.
    bool drives(const Go<N>& game, Move stone);

private:
    bool captures_at_once(const Go<N>& game, Move prey);
    bool read(std::size_t branch, Move prey);
    Go<N>& put(std::size_t branch, const Go<N>& board);

    std::deque<Go<N>> boards_;  // one for each choice under way; they stay, so that reading does not allocate
    int nodes_ = 0;
};

/// For one chain; for many, keep one reader.
template <int N>
bool ladder_captures(const Go<N>& game, typename Go<N>::Move stone, Player first) {
    return LadderReader<N>().captures(game, stone, first);
}

extern template class LadderReader<3>;
extern template class LadderReader<4>;
extern template class LadderReader<5>;
extern template class LadderReader<6>;
extern template class LadderReader<7>;
extern template class LadderReader<9>;
extern template class LadderReader<13>;
extern template class LadderReader<19>;

}  // namespace hyoka::features
