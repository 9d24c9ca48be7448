// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <utility>

#include "playouts/stepwise.h"

namespace hyoka::playouts {

/// Each move is a uniformly random one with probability `epsilon`, else another policy's.
template <Game G>
class MixedPlayout final : public StepwisePlayout<G> {
public:
    using typename StepwisePlayout<G>::Context;

    /// Pre: 0 <= epsilon <= 1.
    MixedPlayout(double epsilon, std::unique_ptr<StepwisePlayout<G>> other)
        : epsilon_(epsilon), other_(std::move(other)) {
        assert(epsilon >= 0 && epsilon <= 1);
    }

    std::optional<typename G::Move> choose(RandomPlayout<G>& playout, const Context& context, Rng& rng) override {
        if (chance(epsilon_, rng)) return playout.draw(rng);
        return other_->choose(playout, context, rng);
    }
    std::unique_ptr<StepwisePlayout<G>> copy() const override {
        return std::make_unique<MixedPlayout>(epsilon_, other_->copy());
    }

private:
    double epsilon_;
    std::unique_ptr<StepwisePlayout<G>> other_;
};

}  // namespace hyoka::playouts
