// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evaluation/shared.h"
#include "playouts/playout_policy.h"
#include "search/tree.h"
#include "strengths/move_model.h"

/// Interfaces for leaf evaluation in tree search, and their standard implementations.
namespace hyoka::search {

/// A position of the tree that is to be evaluated.
template <Game G>
struct Leaf {
    const G* game = nullptr;
    strengths::Context<G> context;  // the moves that led to it
    Rng rng;
    std::vector<playouts::PlayedMove<G>>* played = nullptr;  // receives the moves beyond the leaf, unless null
    std::span<const typename G::Move> moves;                 // the legal ones, if the evaluator rates them
    std::span<float> strengths;                              // of those moves: what the evaluator makes of them
    double value = 0.5;                                      // for the first player: what the evaluator finds
};

/// Leaf value for the first player, 0 to 1: a playout, a static evaluation, a network. One a thread.
template <Game G>
class LeafEvaluator : public Model {
public:
    virtual void evaluate(std::span<Leaf<G>> leaves) = 0;
    /// How many leaves it would like at a time.
    virtual std::size_t batch() const { return 1; }
    /// Whether it also rates the moves of a leaf.
    virtual bool weighs_moves() const { return false; }
    virtual std::unique_ptr<LeafEvaluator> clone() const = 0;
};

/// Evaluates by a playout.
template <Game G>
class PlayoutEvaluator final : public LeafEvaluator<G> {
public:
    explicit PlayoutEvaluator(std::unique_ptr<playouts::PlayoutPolicy<G>> policy) : policy_(std::move(policy)) {}
    void evaluate(std::span<Leaf<G>> leaves) override {
        for (Leaf<G>& leaf : leaves)
            leaf.value =
                policy_->play({*leaf.game, leaf.context.last, leaf.context.before_last}, leaf.rng, leaf.played).value;
    }
    std::unique_ptr<LeafEvaluator<G>> clone() const override {
        return std::make_unique<PlayoutEvaluator>(policy_->clone());
    }

private:
    std::unique_ptr<playouts::PlayoutPolicy<G>> policy_;
};

/// Evaluates statically.
template <Game G>
class StaticEvaluator final : public LeafEvaluator<G> {
public:
    StaticEvaluator(evaluation::SharedEvaluation<G> evaluation, double scale)
        : evaluation_(std::move(evaluation)), scale_(scale) {}
    void evaluate(std::span<Leaf<G>> leaves) override {
        for (Leaf<G>& leaf : leaves) leaf.value = evaluation_.value(*leaf.game, scale_);
    }
    std::unique_ptr<LeafEvaluator<G>> clone() const override {
        return std::make_unique<StaticEvaluator>(evaluation_, scale_);
    }

private:
    evaluation::SharedEvaluation<G> evaluation_;
    double scale_;
};

/// Two ways to evaluate, blended: so much of the one, the rest of the other.
template <Game G>
class MixedEvaluator final : public LeafEvaluator<G> {
public:
    MixedEvaluator(std::unique_ptr<LeafEvaluator<G>> one, double share, std::unique_ptr<LeafEvaluator<G>> other)
        : one_(std::move(one)), share_(share), other_(std::move(other)) {}
    void evaluate(std::span<Leaf<G>> leaves) override {
        one_->evaluate(leaves);
        values_.clear();
        for (const Leaf<G>& leaf : leaves) values_.push_back(leaf.value);
        other_->evaluate(leaves);
        for (std::size_t i = 0; i < leaves.size(); ++i)
            leaves[i].value = share_ * values_[i] + (1 - share_) * leaves[i].value;
    }
    std::unique_ptr<LeafEvaluator<G>> clone() const override {
        return std::make_unique<MixedEvaluator>(one_->clone(), share_, other_->clone());
    }

private:
    std::unique_ptr<LeafEvaluator<G>> one_;
    double share_;
    std::unique_ptr<LeafEvaluator<G>> other_;
    std::vector<double> values_;
};

using strengths::MoveModel;

/// Knows some positions for certain: a mate solver, an exact solver of endings. One a thread.
template <Game G>
class LeafProver {
public:
    virtual ~LeafProver() = default;
    /// Result for the side to move, if it is known.
    virtual Proof prove(const G& game) = 0;
    virtual std::unique_ptr<LeafProver> clone() const = 0;
};

/// Has a word on the moves at the root, beyond what simulations say.
template <Game G>
class RootJudge {
public:
    virtual ~RootJudge() = default;
    /// Penalty on a move's win rate (0 to 1): an absolute or a relative one, see MctsSettings::penalties_multiply.
    virtual double penalty(const G& root, typename G::Move move) = 0;
};

/// The moves to which a search in book is restricted, by the position's hash.
using Book = std::unordered_map<std::uint64_t, std::vector<std::uint16_t>>;

}  // namespace hyoka::search
