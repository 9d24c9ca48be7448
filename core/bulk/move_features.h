// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "bulk/walk.h"
#include "strengths/move_strengths.h"

namespace hyoka::bulk {

template <class G>
class MoveFeatureVisitor final : public Visitor<G> {
public:
    explicit MoveFeatureVisitor(std::vector<MoveFeatureRows>& by_block) : by_block_(by_block) {}
    void start_block(std::size_t block) override { rows_ = &by_block_[block]; }
    void visit(std::size_t, const records::RecordedGame<G>& at) override {
        const G game = at.open_position();
        const auto moves = game.legal_moves();
        MoveFeatureRows& rows = *rows_;
        for (const auto move : moves) rows.moves.items.push_back(static_cast<std::uint16_t>(move.code()));
        rows.moves.end_row();
        const auto next = at.next();
        const auto found = next ? std::find(moves.begin(), moves.end(), *next) : moves.end();
        rows.played.push_back(found == moves.end() ? -1 : static_cast<std::int32_t>(found - moves.begin()));

        lists_.features.clear();
        lists_.ends.clear();
        strengths::MoveStrengths<G>::list(game, {at.last(), at.before_last()}, {moves.begin(), moves.size()}, lists_);
        const auto before = static_cast<std::int64_t>(rows.features.items.size());
        rows.features.items.insert(rows.features.items.end(), lists_.features.begin(), lists_.features.end());
        for (const std::uint32_t end : lists_.ends) rows.features.offsets.push_back(before + end);
    }

private:
    std::vector<MoveFeatureRows>& by_block_;
    MoveFeatureRows* rows_ = nullptr;
    strengths::FeatureLists lists_;  // of one position
};

}  // namespace hyoka::bulk
