// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "mets/board.h"
#include "mets/point_game.h"
#include "strengths/move_model.h"

namespace hyoka::mets {

/// What leaves are worth: how many times likelier the move is than not. The paper's score is the inverse, and is that
/// of its counts alone; with the tree's smoothing so many points of the usual odds are added to each leaf's own.
struct Odds {
    std::vector<float> of_leaves;
    float of_nowhere;  // where no pattern came: below every leaf

    explicit Odds(const Tree& tree) {
        const double smoothing = tree.smoothing();
        double positive = 0;
        double negative = 0;
        for (const Leaf& leaf : tree.leaves()) {
            positive += leaf.positive;
            negative += static_cast<double>(leaf.negative);
        }
        const double usual = negative > 0 ? positive / negative : 1;
        for (const Leaf& leaf : tree.leaves()) {
            const double others = static_cast<double>(leaf.negative) + smoothing;
            const double odds = (leaf.positive + smoothing * usual) / std::max(others, 0.5);
            of_leaves.push_back(static_cast<float>(std::max(odds, 1e-9)));
        }
        of_nowhere = of_leaves.empty() ? 1.0f : std::min(1e-9f, *std::ranges::min_element(of_leaves) / 2);
    }
    float of(Branch branch) const { return is_leaf(branch) ? of_leaves[leaf_number(branch)] : of_nowhere; }
};

/// A tree with what its leaves are worth: one for all threads.
struct Ranking {
    Tree tree;
    Odds odds;

    explicit Ranking(Tree grown) : tree(std::move(grown)), odds(tree) {}
};

/// How good moves of G look to a tree. What is no point (a pass) looks worse than all that is.
template <ByPoints G>
class MetsModel final : public strengths::MoveModel<G> {
public:
    using Move = typename G::Move;
    using Points = PointGame<G>;

    explicit MetsModel(std::shared_ptr<const Ranking> ranking) : ranking_(std::move(ranking)) {}

    void weigh(const G& game, const strengths::Context<G>&, std::span<const Move> moves,
               std::span<float> strengths) override {
        for (int point = 0; point < Points::side * Points::side; ++point) board_.set(point, Points::stone(game, point));
        std::array<std::uint16_t, G::max_moves> points;
        std::array<float, Points::side * Points::side> odds;
        std::size_t number = 0;
        for (const Move move : moves)
            if (const int point = Points::point(move); point >= 0) points[number++] = static_cast<std::uint16_t>(point);
        using Found = typename Board<Points::side>::Found;
        board_.classify_all(ranking_->tree, {points.data(), number}, game.to_play(),
                            [&](std::size_t point, Found found) { odds[point] = ranking_->odds.of(found.branch); });
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const int point = Points::point(moves[i]);
            strengths[i] = point < 0 ? ranking_->odds.of_nowhere / 2 : odds[static_cast<std::size_t>(point)];
        }
    }
    std::unique_ptr<strengths::MoveModel<G>> clone() const override { return std::make_unique<MetsModel>(*this); }

private:
    std::shared_ptr<const Ranking> ranking_;
    Board<PointGame<G>::side> board_;
};

}  // namespace hyoka::mets
