// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "network/ply_perceptrons.h"

/// The paper's network: counts of patterns into a perceptron a ply.
namespace hyoka::bindings {
namespace {

using network::PlyPerceptrons;
using Positions = nb::typed<nb::sequence, nb::object>;

template <class Visit>
void for_each_position(const Positions& objects, Visit&& visit) {
    for (const nb::handle object : nb::iter(objects)) visit(nb::cast<const BlokusDuo&>(object));
}

auto pattern_counts(const Positions& objects, bool with_hands) {
    const std::size_t inputs = network::pattern_count + (with_hands ? network::hand_count : 0);
    std::vector<std::uint8_t> counts;
    std::size_t rows = 0;
    for_each_position(objects, [&](const BlokusDuo& game) {
        counts.resize(++rows * inputs);
        std::uint8_t* row = counts.data() + (rows - 1) * inputs;
        for (const std::uint16_t pattern : network::pattern_windows(game)) ++row[pattern];
        if (with_hands) network::for_each_in_hand(game, [&](std::size_t input) { row[input] = 1; });
    });
    return to_numpy(std::move(counts), {rows, inputs});
}

auto pieces_laid(const Positions& objects) {
    std::vector<std::int32_t> laid;
    for_each_position(objects, [&](const BlokusDuo& game) { laid.push_back(network::pieces_laid(game)); });
    return to_numpy(std::move(laid));
}

std::shared_ptr<Model> ply_perceptrons(std::vector<int> plies, std::size_t hidden, bool sees_hands,
                                       const View<float>& weights) {
    const network::PerceptronShape shape{.plies = std::move(plies), .hidden = hidden, .sees_hands = sees_hands};
    return std::make_shared<PlyPerceptrons>(shape, span_of(weights));
}

auto perceptron_values(const std::shared_ptr<Model>& model, const Positions& objects) {
    const auto perceptrons = std::dynamic_pointer_cast<PlyPerceptrons>(model);
    if (!perceptrons) throw nb::type_error("a model that is no perceptrons");
    std::vector<double> values;
    for_each_position(objects,
                      [&](const BlokusDuo& game) { values.push_back(perceptrons->value(game, perceptrons->scale())); });
    return to_numpy(std::move(values));
}

}  // namespace

void bind_perceptrons(nb::module_& module) {
    module.def("pattern_counts", &pattern_counts, "positions"_a, "with_hands"_a,
               "How often each pattern of 1x1, 2x2 and 3x3 squares lies on boards of Blokus Duo, a row a position, as "
               "the side to move sees it; then, if wanted, which pieces both have in hand.");
    module.def("pieces_laid", &pieces_laid, "positions"_a, "How many pieces both players have laid, by position.");
    module.def("ply_perceptrons", &ply_perceptrons, "plies"_a, "hidden"_a, "sees_hands"_a, "weights"_a,
               "A perceptron for each number of pieces laid, as searches use them; see hyoka.models.ply_perceptrons.");
    module.def("perceptron_values", &perceptron_values, "model"_a, "positions"_a,
               "The win rates of the first player that perceptrons give.");
}

}  // namespace hyoka::bindings
