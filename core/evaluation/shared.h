// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include "model.h"

namespace hyoka::evaluation {

/// An evaluation on its way through a search: what it has found out at a ply helps at the next.
template <class G>
class FollowedEvaluation {
public:
    virtual ~FollowedEvaluation() = default;
    /// The same as StaticEvaluation::score; quick if a position a move or two away was asked for at this ply or at one
    /// just before it.
    virtual int score(const G& game, int ply) = 0;
};

/// Static evaluations of positions of G.
template <class G>
class StaticEvaluation : public Model {
public:
    /// For one search at a time; null if nothing is to be gained.
    virtual std::unique_ptr<FollowedEvaluation<G>> followed() const { return nullptr; }
    /// The first player's view.
    virtual int score(const G& game) const = 0;
    /// The same as an expected result of the first player, 0 to 1.
    virtual double value(const G& game, double scale) const { return 1 / (1 + std::exp(-score(game) / scale)); }
    /// Default argument of `value`.
    virtual double scale() const = 0;
};

/// Any static evaluation of G behind one type. Copies share it, and each follows its own search.
template <class G>
class SharedEvaluation {
public:
    /// Everything is worth the same.
    SharedEvaluation() = default;
    explicit SharedEvaluation(std::shared_ptr<const StaticEvaluation<G>> evaluation)
        : evaluation_(std::move(evaluation)), followed_(evaluation_ ? evaluation_->followed() : nullptr) {}
    SharedEvaluation(const SharedEvaluation& other) : SharedEvaluation(other.evaluation_) {}
    SharedEvaluation(SharedEvaluation&&) noexcept = default;
    SharedEvaluation& operator=(SharedEvaluation other) noexcept {
        evaluation_ = std::move(other.evaluation_);
        followed_ = std::move(other.followed_);
        return *this;
    }
    /// Of whatever has `int score(const G&) const`.
    template <class Evaluation>
    static SharedEvaluation of(Evaluation evaluation, double scale = 1) {
        return SharedEvaluation(std::make_shared<const Holder<Evaluation>>(std::move(evaluation), scale));
    }
    int score(const G& game) const { return evaluation_ ? evaluation_->score(game) : 0; }
    int score(const G& game, int ply) { return followed_ ? followed_->score(game, ply) : score(game); }
    double value(const G& game, double scale) const { return evaluation_ ? evaluation_->value(game, scale) : 0.5; }
    double scale() const { return evaluation_ ? evaluation_->scale() : 1; }

private:
    template <class Evaluation>
    struct Holder final : StaticEvaluation<G> {
        Holder(Evaluation evaluation, double scale) : held(std::move(evaluation)), own_scale(scale) {}
        int score(const G& game) const override { return held.score(game); }
        double scale() const override { return own_scale; }
        Evaluation held;
        double own_scale;
    };

    std::shared_ptr<const StaticEvaluation<G>> evaluation_;
    std::unique_ptr<FollowedEvaluation<G>> followed_;
};

/// Values of an evaluator, by ply in a search.
template <class Evaluator, class G>
int score_at_ply(Evaluator& evaluator, const G& game, [[maybe_unused]] int ply) {
    if constexpr (requires { evaluator.score(game, ply); })
        return evaluator.score(game, ply);
    else
        return evaluator.score(game);
}

}  // namespace hyoka::evaluation
