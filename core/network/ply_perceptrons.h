// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "evaluation/shared.h"
#include "network/blokus_patterns.h"

namespace hyoka::network {

/// Shape of a family of perceptrons.
struct PerceptronShape {
    std::vector<int> plies;  // rising; a network for each of these numbers of pieces laid
    std::size_t hidden = 0;
    bool sees_hands = false;  // whether pieces in hand are inputs, too

    std::size_t inputs() const { return pattern_count + (sees_hands ? hand_count : 0); }
    /// Of one network: from each input to all hidden units, their biases, from them to the output, its bias.
    std::size_t weights() const { return (inputs() + 2) * hidden + 1; }
};

/// Nakamura 2007's evaluation: a perceptron of three layers for each ply, from counts of patterns to the win rate of
/// the side to move. Hidden units and the output are sigmoids. A ply without a network has the nearest one's, of two
/// the earlier.
class PlyPerceptrons final : public evaluation::StaticEvaluation<BlokusDuo> {
public:
    /// Scores are thousandths of the logit of a win rate, so that alpha-beta can count in whole numbers.
    static constexpr double unit = 1000;
    static constexpr int largest_score = 15000;  // well below what games that are over score

    /// The weights of all networks in a row; throws std::invalid_argument if they don't fit the shape.
    PlyPerceptrons(const PerceptronShape& shape, std::span<const float> weights);

    /// The first player's; its sigmoid is the win rate.
    double logit(const BlokusDuo& game) const;
    int score(const BlokusDuo& game) const override;
    double value(const BlokusDuo& game, double scale) const override;
    double scale() const override { return unit; }

private:
    // Units are summed in blocks that fit into registers; those beyond the last have no weights.
    static constexpr std::size_t block = 16;
    using Block = std::array<float, block>;
    struct Network {
        std::vector<Block> by_input;  // the blocks of an input side by side
        std::vector<Block> biases;
        std::vector<Block> to_output;
        float output_bias = 0;
    };

    std::size_t blocks_;
    bool sees_hands_;
    std::vector<Network> networks_;
    std::array<std::uint8_t, std::size_t{2} * blokus::piece_count + 1> network_at_{};  // by pieces laid
};

}  // namespace hyoka::network
