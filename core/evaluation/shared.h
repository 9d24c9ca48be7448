// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include "model.h"

namespace hyoka::evaluation {

/// What positions of G are worth by themselves.
template <class G>
class StaticEvaluation : public Model {
public:
    /// The first player's view.
    virtual int score(const G& game) const = 0;
    /// The same as an expected result of the first player, 0 to 1.
    virtual double value(const G& game, double scale) const { return 1 / (1 + std::exp(-score(game) / scale)); }
    /// What `value` takes unless something else is wanted.
    virtual double scale() const = 0;
};

/// Any static evaluation of G behind one type. Copies share it.
template <class G>
class SharedEvaluation {
public:
    /// Everything is worth the same.
    SharedEvaluation() = default;
    explicit SharedEvaluation(std::shared_ptr<const StaticEvaluation<G>> evaluation)
        : evaluation_(std::move(evaluation)) {}
    /// Of whatever has `int score(const G&) const`.
    template <class Evaluation>
    static SharedEvaluation of(Evaluation evaluation, double scale = 1) {
        return SharedEvaluation(std::make_shared<const Holder<Evaluation>>(std::move(evaluation), scale));
    }
    int score(const G& game) const { return evaluation_ ? evaluation_->score(game) : 0; }
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
};

}  // namespace hyoka::evaluation
