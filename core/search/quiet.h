// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "evaluation/shared.h"
#include "search/leaves.h"
#include "search/quiescence.h"
#include "search/tactics.h"

/// Quiescence for tree searches: evaluates positions after captures are resolved.
namespace hyoka::search {

/// An evaluation that is asked where captures have come to rest. A copy has its own room to work in.
template <Tactical G, class Evaluation>
class QuietEvaluation {
public:
    /// `reach`: how many plies it may take.
    QuietEvaluation(Evaluation evaluation, int reach) : search_(made(std::move(evaluation), reach)), reach_(reach) {}
    QuietEvaluation(const QuietEvaluation& other) : QuietEvaluation(other.search_->evaluator(), other.reach_) {}
    QuietEvaluation(QuietEvaluation&&) noexcept = default;
    QuietEvaluation& operator=(QuietEvaluation other) noexcept {
        search_ = std::move(other.search_);
        reach_ = other.reach_;
        return *this;
    }

    /// The first player's view.
    int score(const G& game) { return search_->rest(game).score; }

private:
    using Search = QuiescenceSearch<G, Evaluation>;
    static std::unique_ptr<Search> made(Evaluation evaluation, int reach) {
        static const std::atomic<bool> never{false};
        return std::make_unique<Search>(std::move(evaluation), never, reach);
    }
    std::unique_ptr<Search> search_;
    int reach_;
};

/// How far a leaf's captures are followed: most are at rest by then, and the few that go on would cost more than all
/// others together.
inline constexpr int leaf_reach = 6;

/// Evaluates leaves where captures have come to rest.
template <Tactical G>
class QuietEvaluator final : public LeafEvaluator<G> {
public:
    using Evaluation = QuietEvaluation<G, evaluation::SharedEvaluation<G>>;
    QuietEvaluator(Evaluation evaluation, double scale) : evaluation_(std::move(evaluation)), scale_(scale) {}
    void evaluate(std::span<Leaf<G>> leaves) override {
        for (Leaf<G>& leaf : leaves) leaf.value = 1 / (1 + std::exp(-evaluation_.score(*leaf.game) / scale_));
    }
    std::unique_ptr<LeafEvaluator<G>> clone() const override {
        return std::make_unique<QuietEvaluator>(evaluation_, scale_);
    }

private:
    Evaluation evaluation_;
    double scale_;
};

/// Sato 2010's quiescence at the root: subtracts a constant from the win rate (0 to 1) of each move after which
/// captures lose material.
template <Tactical G>
class RootQuiescence final : public RootJudge<G> {
public:
    double penalty(const G& root, typename G::Move move) override {
        G after = root;
        after.play(move);
        const int change = balance_.score(after) - Tactics<G>::material(root);
        return penalty_of(root.to_play() == Player::first ? change : -change);
    }
    /// Penalty by the change of the mover's material.
    static constexpr double penalty_of(int change) {
        if (change < -700) return 0.15;
        if (change < -420) return 0.10;
        return change < -100 ? 0.05 : 0;
    }

private:
    struct Material {
        int score(const G& game) const { return Tactics<G>::material(game); }
    };
    QuietEvaluation<G, Material> balance_{Material{}, QuiescenceSearch<G, Material>::max_ply};
};

}  // namespace hyoka::search
