// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mets/board.h"
#include "mets/grow.h"
#include "mets/point_game.h"
#include "passes/walk.h"

namespace hyoka::passes {

/// Boards and the moves played on them, two bits a point.
template <mets::ByPoints G>
class PatternVisitor final : public Visitor<G> {
public:
    explicit PatternVisitor(PatternPass& pass) : pass_(pass) {}
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        using Points = mets::PointGame<G>;
        constexpr int area = Points::side * Points::side;
        const G& game = at.position();
        std::uint8_t* cells = pass_.boards.data() + row * mets::Patterns::bytes_of(Points::side);
        for (int point = 0; point < area; ++point)
            cells[point / 4] |= static_cast<std::uint8_t>(Points::stone(game, point) << (2 * (point % 4)));
        const auto next = at.next();
        pass_.points[row] = static_cast<std::int16_t>(next ? Points::point(*next) : -1);
        pass_.movers[row] = static_cast<std::uint8_t>(game.to_play());
    }

private:
    PatternPass& pass_;
};

/// Counts, by leaf, how often an empty point was the move and how often it was not.
template <mets::ByPoints G>
class LeafCountVisitor final : public Visitor<G> {
public:
    using Points = mets::PointGame<G>;

    explicit LeafCountVisitor(LeafCountPass& pass)
        : pass_(pass), watcher_(pass.tree), own_(pass.tree.leaves().size()) {}
    ~LeafCountVisitor() override {
        const std::scoped_lock lock(pass_.mutex);
        for (std::size_t i = 0; i < own_.size(); ++i) {
            pass_.leaves[i].positive += own_[i].positive;
            pass_.leaves[i].negative += own_[i].negative;
        }
    }
    void visit(std::size_t, const records::RecordedGame<G>& at) override {
        const G& game = at.position();
        for (int point = 0; point < Points::side * Points::side; ++point)
            if (const auto stone = Points::stone(game, point); stone != watcher_.stone(point))
                watcher_.set(point, stone);
        const auto next = at.next();
        const int played = next ? Points::point(*next) : -1;
        if (played < 0) return;
        watcher_.for_each_empty(game.to_play(), [&](int point, mets::Branch branch) {
            if (!mets::is_leaf(branch)) return;
            mets::Leaf& leaf = own_[mets::leaf_number(branch)];
            if (point == played)
                ++leaf.positive;
            else
                ++leaf.negative;
        });
    }

private:
    LeafCountPass& pass_;
    mets::Watcher<Points::side> watcher_;
    std::vector<mets::Leaf> own_;
};

}  // namespace hyoka::passes
