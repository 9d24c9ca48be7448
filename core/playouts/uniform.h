// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playouts/stepwise.h"

namespace hyoka::playouts {

/// All moves alike (Go: but those that fill an own eye). The same Rng gives the same playout as play_out.
template <Game G>
class UniformPlayout final : public StepwisePlayout<G> {
public:
    using typename StepwisePlayout<G>::Context;

    std::optional<typename G::Move> choose(RandomPlayout<G>& playout, const Context&, Rng& rng) override {
        return playout.draw(rng);
    }
    PlayoutResult play(const PlayoutStart<G>& start, Rng& rng, std::vector<PlayedMove<G>>* played) override {
        if (played) return StepwisePlayout<G>::play(start, rng, played);
        this->playout_.restart(start.game);
        const PlayoutEnd end = play_out(this->playout_, rng, playout_limit<G>());
        return {end.score, value_of_score(end.score), end.plies};
    }
    std::unique_ptr<StepwisePlayout<G>> copy() const override { return std::make_unique<UniformPlayout>(*this); }
};

}  // namespace hyoka::playouts
