// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <stdexcept>
#include <string>

#include "mets/go_tactical.h"
#include "mets/othello_tactical.h"
#include "mets/point_game.h"
#include "mets/tree.h"
#include "strengths/move_model.h"

namespace hyoka::mets {

/// Where the questions about stones begin, by empty point of a position: at the root, or where tactics lead to.
template <ByPoints G>
class Starts {
public:
    /// Throws std::invalid_argument if the tree asks tactical questions that are not G's. Pre: the tree outlives it.
    explicit Starts(const Tree& tree) : tree_(&tree) {
        if (tree.tactics() == 0 || tree.tactics() == fingerprint(Tactical<G>::questions())) return;
        throw std::invalid_argument("the tree asks tactical questions that this version's " + std::string(G::name) +
                                    " does not know: learn it again");
    }
    void look(const G& game, const strengths::Context<G>& context) {
        if (tree_->tactics()) tactical_.answer(game, context, answers_);
    }
    Answers answers(std::size_t point) const { return answers_[point]; }
    Branch operator()(std::size_t point) const {
        return tree_->tactics() ? tree_->below_tactics(answers_[point]) : tree_->root();
    }

private:
    const Tree* tree_;
    Tactical<G> tactical_;
    std::array<Answers, std::size_t{PointGame<G>::side} * PointGame<G>::side> answers_{};
};

}  // namespace hyoka::mets
