// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playouts/playout_policy.h"
#include "strengths/move_model.h"

namespace hyoka::playouts {

template <class G>
struct PositionIn {
    using type = G;
};
template <class G>
    requires requires { typename G::Position; }
struct PositionIn<G> {
    using type = typename G::Position;
};
/// The board of a game: a line's last position, any other game itself.
template <class G>
using PositionOf = typename PositionIn<G>::type;

template <Game G>
const PositionOf<G>& position_of(const G& game) {
    if constexpr (requires { typename G::Position; })
        return game.position();
    else
        return game;
}

/// True with this probability.
inline bool chance(double probability, Rng& rng) {
    return static_cast<double>(rng.bits() >> 11) < probability * 0x1p53;
}

/// A policy that chooses move by move, and so can be mixed with others and cut short.
template <Game G>
class StepwisePlayout : public PlayoutPolicy<G> {
public:
    using Move = typename G::Move;
    using Context = strengths::Context<PositionOf<G>>;

    /// The next move of a playout; nullopt when the game is over.
    virtual std::optional<Move> choose(RandomPlayout<G>& playout, const Context& context, Rng& rng) = 0;
    /// The same policy for another thread.
    virtual std::unique_ptr<StepwisePlayout> copy() const = 0;

    PlayoutResult play(const PlayoutStart<G>& start, Rng& rng, std::vector<PlayedMove<G>>* played) override {
        const int plies = advance(start, rng, played, playout_limit<G>());
        const double score = reached().score();
        return {score, value_of_score(score), plies};
    }
    std::unique_ptr<PlayoutPolicy<G>> clone() const final { return copy(); }

    /// Plays from `start` until the game is over or `limit` moves are made, and tells how many were.
    int advance(const PlayoutStart<G>& start, Rng& rng, std::vector<PlayedMove<G>>* played, int limit) {
        playout_.restart(start.game);
        Context context{start.last, start.before_last};
        int plies = 0;
        for (; plies < limit; ++plies) {
            const auto move = choose(playout_, context, rng);
            if (!move) break;
            if (played) played->push_back({*move, playout_.game().to_play()});
            playout_.play(*move);
            context = context.after(*move);
        }
        return plies;
    }
    /// Where the last playout got to.
    const G& reached() const { return playout_.game(); }

protected:
    RandomPlayout<G> playout_{G{}};
};

}  // namespace hyoka::playouts
