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

/// What Sato 2010's quiescence at the root takes for a move's loss.
enum class RootLoss {
    change,   // of the mover's material between the root and the end of the captures
    balance,  // the mover's material less the opponent's at the end of the captures
};

/// Sato 2010's quiescence at the root: a penalty on the win rate of each move after which captures lose material.
template <Tactical G>
class RootQuiescence final : public RootJudge<G> {
public:
    explicit RootQuiescence(RootLoss loss) : loss_(loss) {}
    double penalty(const G& root, typename G::Move move) override {
        G after = root;
        after.play(move);
        const int before = loss_ == RootLoss::change ? Tactics<G>::material(root) : 0;
        const int gain = balance_.score(after) - before;
        return penalty_of(root.to_play() == Player::first ? gain : -gain);
    }
    /// Penalty by what the mover gains.
    static constexpr double penalty_of(int gain) {
        if (gain < -700) return 0.15;
        if (gain < -420) return 0.10;
        return gain < -100 ? 0.05 : 0;
    }

private:
    struct Material {
        int score(const G& game) const { return Tactics<G>::material(game); }
    };
    RootLoss loss_;
    QuietEvaluation<G, Material> balance_{Material{}, QuiescenceSearch<G, Material>::max_ply};
};

}  // namespace hyoka::search
