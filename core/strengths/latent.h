// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "strengths/competitions.h"
#include "strengths/move_strengths.h"

namespace hyoka::strengths {

/// Features that matter otherwise together than each alone: the logarithm of a team's strength is the sum of its
/// features' logarithms and of the products of their factors, pair by pair (Rendle 2010; for moves of Go Wistuba and
/// Schmidt-Thieme 2013).
struct LatentFactors {
    std::size_t rank = 0;
    std::vector<float> logs;     // by feature
    std::vector<float> factors;  // by feature, `rank` each

    std::size_t features() const { return logs.size(); }
    /// `sum` has room for `rank` numbers, and is left with the sum of the factors.
    float log_strength(const std::uint16_t* team, std::size_t size, float* sum) const {
        float log = 0;
        float squares = 0;
        for (std::size_t k = 0; k < rank; ++k) sum[k] = 0;
        for (std::size_t i = 0; i < size; ++i) {
            log += logs[team[i]];
            const float* factor = factors.data() + team[i] * rank;
            for (std::size_t k = 0; k < rank; ++k) {
                sum[k] += factor[k];
                squares += factor[k] * factor[k];
            }
        }
        float square = 0;
        for (std::size_t k = 0; k < rank; ++k) square += sum[k] * sum[k];
        return log + (square - squares) / 2;
    }
};

/// How factors are learned: by stochastic gradients, a competition at a time.
struct LatentLearning {
    double rate = 0.05;
    double decay = 1e-4;  // how much of a number that was touched is forgotten each time, in units of the rate
    std::uint64_t seed = 0;
};

/// Accumulated squared gradients, which reduce the step sizes.
struct LatentHistory {
    std::vector<float> logs;
    std::vector<float> factors;
};

/// Goes through all competitions of the marked games once, in an order that `learning.seed` tells. Games: by number,
/// whether they are learned from.
void learn_once(const Competitions& competitions, std::span<const std::uint8_t> games, const LatentLearning& learning,
                LatentFactors& model, LatentHistory& history, const std::atomic<bool>& stop);

/// Mean of -log of the chance given to the winner, over the games that are not marked.
double loss_on_others(const Competitions& competitions, std::span<const std::uint8_t> games,
                      const LatentFactors& model);

/// How good moves of G look by their features and the pairs of them.
template <class G>
class LatentStrengths final : public MoveModel<G> {
public:
    using Move = typename G::Move;

    /// Pre: the factors are of the game's features and the shapes.
    LatentStrengths(std::shared_ptr<const LatentFactors> factors, std::shared_ptr<const GoShapes> shapes)
        : factors_(std::move(factors)), shapes_(std::move(shapes)), finder_(shapes_), sum_(factors_->rank) {}

    void weigh(const G& game, const Context<G>& context, std::span<const Move> moves,
               std::span<float> strengths) override {
        const FeatureLists& lists = finder_.list(game, context, moves);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const auto team = lists.of(i);
            // Far from what floats can hold: nothing but nonsense is so strong.
            const float log = std::clamp(factors_->log_strength(team.data(), team.size(), sum_.data()), -60.0f, 60.0f);
            strengths[i] = std::exp(log);
        }
    }
    std::unique_ptr<MoveModel<G>> clone() const override {
        return std::make_unique<LatentStrengths>(factors_, shapes_);
    }

private:
    std::shared_ptr<const LatentFactors> factors_;
    std::shared_ptr<const GoShapes> shapes_;
    FeatureFinder<G> finder_;
    std::vector<float> sum_;
};

}  // namespace hyoka::strengths
