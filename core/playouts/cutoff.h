// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <concepts>
#include <utility>

#include "playouts/stepwise.h"

namespace hyoka::playouts {

/// Plays a few moves by another policy, then asks an evaluation: a score s, the first player's view, is worth
/// 1 / (1 + exp(-s / scale)). A game that is over before counts as it ended.
template <Game G, class Evaluator>
    requires requires(Evaluator& evaluator, const PositionOf<G>& position) {
        { evaluator.score(position) } -> std::convertible_to<double>;
    }
class CutoffPlayout final : public PlayoutPolicy<G> {
public:
    /// Pre: plies >= 0, scale > 0.
    CutoffPlayout(std::unique_ptr<StepwisePlayout<G>> moves, Evaluator evaluator, int plies, double scale)
        : moves_(std::move(moves)), evaluator_(std::move(evaluator)), plies_(plies), scale_(scale) {
        assert(plies >= 0 && scale > 0);
    }

    PlayoutResult play(const PlayoutStart<G>& start, Rng& rng, std::vector<PlayedMove<G>>* played) override {
        const int plies = moves_->advance(start, rng, played, std::min(plies_, playout_limit<G>()));
        const G& end = moves_->reached();
        const double score = end.score();
        if (plies < plies_ || end.outcome()) return {score, value_of_score(score), plies};
        const double evaluation = evaluator_.score(position_of(end));
        return {score, 1 / (1 + std::exp(-evaluation / scale_)), plies};
    }
    std::unique_ptr<PlayoutPolicy<G>> clone() const override {
        return std::make_unique<CutoffPlayout>(moves_->copy(), evaluator_, plies_, scale_);
    }

private:
    std::unique_ptr<StepwisePlayout<G>> moves_;
    Evaluator evaluator_;
    int plies_;
    double scale_;
};

}  // namespace hyoka::playouts
