// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "base/inline_vector.h"
#include "base/rng.h"
#include "bulk/walk.h"
#include "mets/board.h"
#include "mets/grow.h"
#include "mets/point_game.h"
#include "mets/starts.h"

namespace hyoka::bulk {

/// Boards and the moves played on them, two bits a point; what tactics say of those and of some other empty points.
template <mets::ByPoints G>
class PatternVisitor final : public Visitor<G> {
public:
    explicit PatternVisitor(PatternPass& pass) : pass_(pass) {}
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        constexpr int area = Points::side * Points::side;
        const G& game = at.position();
        std::uint8_t* cells = pass_.boards.data() + row * mets::Patterns::bytes_of(Points::side);
        for (int point = 0; point < area; ++point)
            cells[point / 4] |= static_cast<std::uint8_t>(Points::stone(game, point) << (2 * (point % 4)));
        const auto next = at.next();
        const int played = next ? Points::point(*next) : -1;
        pass_.points[row] = static_cast<std::int16_t>(played);
        pass_.movers[row] = static_cast<std::uint8_t>(game.to_play());
        if (pass_.answers.empty() || played < 0) return;
        tactical_.answer(game, {at.last(), at.before_last()}, answers_);
        pass_.answers[row] = answers_[static_cast<std::size_t>(played)];
        if (row % pass_.stride == 0) draw_others(row, game, played);
    }

private:
    /// Other empty points, by chance, but always the same.
    void draw_others(std::size_t row, const G& game, int played) {
        InlineVector<std::uint16_t, answers_room> others;
        for (int point = 0; point < static_cast<int>(answers_room); ++point)
            if (point != played && Points::stone(game, point) == mets::vacant)
                others.push_back(static_cast<std::uint16_t>(point));
        const std::size_t at = row / pass_.stride;
        mets::Sample& sample = pass_.sample;
        sample.played[at] = answers_[static_cast<std::size_t>(played)];
        sample.weights[at] = static_cast<std::uint16_t>(others.size());
        if (others.empty()) return;
        Rng rng = Rng::for_task(0, row);
        for (std::size_t i = 0; i < mets::Sample::others_each; ++i)
            sample.others[at * mets::Sample::others_each + i] =
                answers_[others[rng.below(static_cast<std::uint32_t>(others.size()))]];
    }

    using Points = mets::PointGame<G>;
    static constexpr std::size_t answers_room = std::size_t{Points::side} * Points::side;

    PatternPass& pass_;
    mets::Tactical<G> tactical_;
    std::array<mets::Answers, answers_room> answers_{};
};

/// Counts, by leaf, how often an empty point was the move and how often it was not.
template <mets::ByPoints G>
class LeafCountVisitor final : public Visitor<G> {
public:
    using Points = mets::PointGame<G>;

    explicit LeafCountVisitor(LeafCountPass& pass)
        : pass_(pass), starts_(pass.tree), watcher_(pass.tree), own_(pass.tree.leaves().size()) {}
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
        starts_.look(game, {at.last(), at.before_last()});
        watcher_.for_each_empty(game.to_play(), starts_, [&](int point, mets::Branch branch) {
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
    mets::Starts<G> starts_;
    mets::Watcher<Points::side> watcher_;
    std::vector<mets::Leaf> own_;
};

}  // namespace hyoka::bulk
