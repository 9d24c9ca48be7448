// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "network/convolution.h"
#include "network/models.h"

/// A convolution network as searches take it.
namespace hyoka::network {

/// Inference on single positions of G.
template <OnBoard G>
class Looker {
public:
    explicit Looker(std::shared_ptr<const Convolution> network)
        : network_(std::move(network)), sight_(network_->sight()) {}

    void look(const G& game, const Context<G>& context) {
        InputSet<Inputs<G>::count> inputs;
        Inputs<G>::find(game, context, inputs);
        network_->look(inputs.words, sight_);
    }
    /// Of the first player's expected result, at the position that was looked at.
    float logit(const G& game) const {
        const float own = network_->logit(sight_);
        return game.to_play() == Player::first ? own : -own;
    }
    /// The strongest has 1; others have something, however weak.
    void weigh(const G& game, std::span<const typename G::Move> moves, std::span<float> strengths) const {
        float greatest = -std::numeric_limits<float>::infinity();
        for (std::size_t i = 0; i < moves.size(); ++i) {
            strengths[i] = network_->move_logit(sight_, places()[Inputs<G>::seen(game, moves[i])]);
            greatest = std::max(greatest, strengths[i]);
        }
        for (std::size_t i = 0; i < moves.size(); ++i)
            strengths[i] = std::exp(std::max(strengths[i] - greatest, -20.0f));
    }
    const std::shared_ptr<const Convolution>& shared() const { return network_; }

private:
    static const std::vector<std::uint32_t>& places() {
        static const auto table = [] {
            std::vector<std::uint32_t> made;
            for (std::uint32_t code = 0; code < G::Move::code_count; ++code) made.push_back(Inputs<G>::place(code));
            return made;
        }();
        return table;
    }
    std::shared_ptr<const Convolution> network_;
    Convolution::Sight sight_;
};

/// How strong it finds moves.
template <OnBoard G>
class ConvolutionMoves final : public strengths::MoveModel<G> {
public:
    explicit ConvolutionMoves(std::shared_ptr<const Convolution> network) : looker_(std::move(network)) {}
    void weigh(const G& game, const Context<G>& context, std::span<const typename G::Move> moves,
               std::span<float> strengths) override {
        looker_.look(game, context);
        looker_.weigh(game, moves, strengths);
    }
    std::unique_ptr<strengths::MoveModel<G>> clone() const override {
        return std::make_unique<ConvolutionMoves>(looker_.shared());
    }

private:
    Looker<G> looker_;
};

/// As a static evaluation. It knows no last moves.
template <OnBoard G>
class ConvolutionEvaluation final : public evaluation::StaticEvaluation<G> {
public:
    explicit ConvolutionEvaluation(std::shared_ptr<const Convolution> network) : network_(std::move(network)) {}
    int score(const G& game) const override { return rounded_score<G>(logit(game)); }
    double value(const G& game, double scale) const override {
        return 1 / (1 + std::exp(-static_cast<double>(logit(game)) * this->scale() / scale));
    }
    double scale() const override { return score_scale<G>; }

private:
    float logit(const G& game) const {
        Looker<G> looker(network_);
        looker.look(game, {});
        return looker.logit(game);
    }
    std::shared_ptr<const Convolution> network_;
};

}  // namespace hyoka::network
