// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace hyoka::evaluation {

/// Any static evaluation of G behind one type: whatever has `int score(const G&) const`, the first player's view.
/// Copies share it.
template <class G>
class SharedEvaluation {
public:
    /// Everything is worth the same.
    SharedEvaluation() = default;
    template <class Evaluation>
    static SharedEvaluation of(Evaluation evaluation) {
        SharedEvaluation shared;
        shared.evaluation_ = std::make_shared<const Holder<Evaluation>>(std::move(evaluation));
        return shared;
    }
    int score(const G& game) const { return evaluation_ ? evaluation_->score(game) : 0; }

private:
    struct Interface {
        virtual ~Interface() = default;
        virtual int score(const G& game) const = 0;
    };
    template <class Evaluation>
    struct Holder final : Interface {
        explicit Holder(Evaluation evaluation) : held(std::move(evaluation)) {}
        int score(const G& game) const override { return held.score(game); }
        Evaluation held;
    };

    std::shared_ptr<const Interface> evaluation_;
};

}  // namespace hyoka::evaluation
