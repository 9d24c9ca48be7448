// SPDX-License-Identifier: Apache-2.0
// Patterns of Blokus Duo and the perceptrons over them: every window has a pattern, mirrors change nothing, and a ply
// without a network has the nearest one's.
#include <cmath>
#include <stdexcept>

#include "base/rng.h"
#include "network/ply_perceptrons.h"
#include "tests/expect.h"

using namespace hyoka;
using namespace hyoka::network;
using hyoka::tests::expect;

namespace {

std::vector<int> counts_of(const BlokusDuo& game) {
    std::vector<int> counts(pattern_count + hand_count);
    for (const std::uint16_t pattern : pattern_windows(game)) ++counts.at(pattern);
    for_each_in_hand(game, [&](std::size_t input) { ++counts.at(input); });
    return counts;
}

std::vector<float> random_weights(const PerceptronShape& shape, Rng& rng) {
    std::vector<float> weights(shape.plies.size() * shape.weights());
    for (float& weight : weights) weight = static_cast<float>(static_cast<int>(rng.below(2001)) - 1000) / 5000;
    return weights;
}

/// The weights of network `number` alone.
std::vector<float> alone(const PerceptronShape& shape, const std::vector<float>& weights, std::size_t number) {
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(number * shape.weights());
    return {begin, begin + static_cast<std::ptrdiff_t>(shape.weights())};
}

void check_games(std::uint64_t seed, int games) {
    Rng rng = Rng::for_task(seed, 0);
    const PerceptronShape shape{.plies = {3, 8, 9}, .hidden = 21, .sees_hands = true};
    const auto weights = random_weights(shape, rng);
    const PlyPerceptrons all(shape, weights);
    const PerceptronShape one{.plies = {0}, .hidden = shape.hidden, .sees_hands = true};
    const std::vector<PlyPerceptrons> by_number = {
        {one, alone(shape, weights, 0)}, {one, alone(shape, weights, 1)}, {one, alone(shape, weights, 2)}};
    for (int i = 0; i < games; ++i) {
        BlokusDuo game;
        while (!game.outcome()) {
            expect(counts_of(game) == counts_of(game.transformed(1)), "a mirror changes no count");
            const int laid = pieces_laid(game);
            const std::size_t number = laid <= 5 ? 0 : laid <= 8 ? 1 : 2;
            expect(all.logit(game) == by_number[number].logit(game), "the nearest network, of two the earlier");
            expect(all.score(game) == std::lround(1000 * all.logit(game)), "a score is in thousandths of a logit");
            game.play(*game.random_move(rng));
        }
    }
}

template <class Make>
bool is_refused(Make&& make) {
    try {
        make();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

void check_refusals() {
    const std::vector<float> none;
    for (const std::vector<int>& plies : {std::vector<int>{}, {3, 3}, {-1}, {43}})
        expect(is_refused([&] { PlyPerceptrons({.plies = plies, .hidden = 1}, none); }), "plies that make no sense");
    expect(is_refused([&] { PlyPerceptrons({.plies = {1}, .hidden = 1}, none); }), "too few weights");
}

}  // namespace

int main() {
    check_games(1, 10);
    check_refusals();
    return tests::report();
}
