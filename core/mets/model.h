// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "mets/board.h"
#include "mets/odds.h"
#include "mets/point_game.h"
#include "mets/starts.h"
#include "strengths/move_model.h"

namespace hyoka::mets {

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

    /// Throws std::invalid_argument if the tree is no tree for G.
    explicit MetsModel(std::shared_ptr<const Ranking> ranking)
        : ranking_(std::move(ranking)), starts_(ranking_->tree) {}

    void weigh(const G& game, const strengths::Context<G>& context, std::span<const Move> moves,
               std::span<float> strengths) override {
        for (int point = 0; point < Points::side * Points::side; ++point) board_.set(point, Points::stone(game, point));
        starts_.look(game, context);
        std::array<std::uint16_t, G::max_moves> points;
        std::array<float, Points::side * Points::side> odds;
        std::size_t number = 0;
        for (const Move move : moves)
            if (const int point = Points::point(move); point >= 0) points[number++] = static_cast<std::uint16_t>(point);
        using Found = typename Board<Points::side>::Found;
        board_.classify_all(
            ranking_->tree, {points.data(), number}, game.to_play(), starts_,
            [&](std::size_t point, Found found) { odds[point] = ranking_->odds.of(found.branch, found.above); });
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const int point = Points::point(moves[i]);
            strengths[i] = point < 0 ? ranking_->odds.of_nowhere / 2 : odds[static_cast<std::size_t>(point)];
        }
    }
    std::unique_ptr<strengths::MoveModel<G>> clone() const override { return std::make_unique<MetsModel>(*this); }

private:
    std::shared_ptr<const Ranking> ranking_;
    Starts<G> starts_;
    Board<PointGame<G>::side> board_;
};

}  // namespace hyoka::mets
