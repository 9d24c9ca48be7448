// SPDX-License-Identifier: Apache-2.0
#include "sparse/shogi_terms.h"

namespace hyoka::sparse {
namespace {

/// The weights of relations, with piece values of zero.
std::vector<float> relations_of(std::span<const float> weights) {
    std::vector<float> relations(ShogiRelations::count());
    for (std::size_t i = shogi_pieces::value_count; i < relations.size(); ++i)
        relations[i] = weights[ShogiTerms::start() + i];
    return relations;
}

}  // namespace

std::vector<float> ShogiTerms::starting() {
    std::vector<float> weights(count());
    for (std::size_t i = 0; i < terms(); ++i) {
        weights[2 * i] = Terms::all()[i].weight.opening;
        weights[2 * i + 1] = Terms::all()[i].weight.ending;
    }
    return weights;
}

ShogiTerms::Table::Table(std::span<const float> weights) : relations_(relations_of(weights)) {
    for (std::size_t i = 0; i < terms(); ++i) terms_.push_back({weights[2 * i], weights[2 * i + 1]});
}

int ShogiTerms::Table::score(const Kept& kept, const Shogi& game) const {
    evaluation::ScoreSink sink(terms_.data());
    Terms::count(game, sink);
    return static_cast<int>(std::lround(sink.score() + static_cast<float>(relations_.sum(kept, game)) / steps_to_unit));
}

}  // namespace hyoka::sparse
