// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>

#include "network/convolution_models.h"
#include "search/leaves.h"

namespace hyoka::search {

/// Value of a leaf and priors of its moves from one inference.
template <network::OnBoard G>
class ConvolutionLeaves final : public LeafEvaluator<G> {
public:
    explicit ConvolutionLeaves(std::shared_ptr<const network::Convolution> network) : looker_(std::move(network)) {}
    void evaluate(std::span<Leaf<G>> leaves) override {
        for (Leaf<G>& leaf : leaves) {
            looker_.look(*leaf.game, leaf.context);
            leaf.value = 1 / (1 + std::exp(-static_cast<double>(looker_.logit(*leaf.game))));
            looker_.weigh(*leaf.game, leaf.moves, leaf.strengths);
        }
    }
    bool weighs_moves() const override { return true; }
    std::unique_ptr<LeafEvaluator<G>> clone() const override {
        return std::make_unique<ConvolutionLeaves>(looker_.shared());
    }

private:
    network::Looker<G> looker_;
};

}  // namespace hyoka::search
