// SPDX-License-Identifier: Apache-2.0
#include "network/ply_perceptrons.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace hyoka::network {
namespace {

constexpr int last_ply = 2 * blokus::piece_count;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

bool is_rising(std::span<const int> plies) {
    return std::ranges::adjacent_find(plies, std::greater_equal<>{}) == plies.end();
}

}  // namespace

PlyPerceptrons::PlyPerceptrons(const PerceptronShape& shape, std::span<const float> weights)
    : blocks_((shape.hidden + block - 1) / block), sees_hands_(shape.sees_hands) {
    const std::vector<int>& plies = shape.plies;
    if (plies.empty() || plies.front() < 0 || plies.back() > last_ply || !is_rising(plies) || shape.hidden == 0)
        throw std::invalid_argument("perceptrons need rising plies from 0 to 42, and a hidden unit");
    if (weights.size() != plies.size() * shape.weights())
        throw std::invalid_argument("perceptrons: there are not as many weights as their shape has");
    for (std::size_t number = 0; number < plies.size(); ++number) {
        const float* from = weights.data() + number * shape.weights();
        const auto take = [&](std::size_t rows) {
            std::vector<Block> taken(rows * blocks_);
            for (std::size_t row = 0; row < rows; ++row)
                for (std::size_t unit_of = 0; unit_of < shape.hidden; ++unit_of)
                    taken[row * blocks_ + unit_of / block][unit_of % block] = *from++;
            return taken;
        };
        Network& made = networks_.emplace_back();
        made.by_input = take(shape.inputs());
        made.biases = take(1);
        made.to_output = take(1);
        made.output_bias = *from;
    }
    for (int ply = 0; ply <= last_ply; ++ply) {
        const auto nearest = std::ranges::min_element(plies, {}, [&](int each) { return std::abs(each - ply); });
        network_at_[static_cast<std::size_t>(ply)] = static_cast<std::uint8_t>(nearest - plies.begin());
    }
}

double PlyPerceptrons::logit(const BlokusDuo& game) const {
    const Network& network = networks_[network_at_[static_cast<std::size_t>(pieces_laid(game))]];
    const Windows windows = pattern_windows(game);
    double sum = network.output_bias;
    for (std::size_t part = 0; part < blocks_; ++part) {
        // Each unit adds up the same numbers in the same order, however wide the machine's registers are.
        Block sums = network.biases[part];
        const auto add = [&](std::size_t input) {
            const Block& weights = network.by_input[input * blocks_ + part];
            for (std::size_t i = 0; i < block; ++i) sums[i] += weights[i];
        };
        for (const std::uint16_t pattern : windows) add(pattern);
        if (sees_hands_) for_each_in_hand(game, add);
        for (std::size_t i = 0; i < block; ++i) sum += network.to_output[part][i] * sigmoid(sums[i]);
    }
    return game.to_play() == Player::first ? sum : -sum;
}

int PlyPerceptrons::score(const BlokusDuo& game) const {
    return static_cast<int>(std::lround(std::clamp<double>(unit * logit(game), -largest_score, largest_score)));
}

double PlyPerceptrons::value(const BlokusDuo& game, double scale) const { return sigmoid(unit * logit(game) / scale); }

}  // namespace hyoka::network
