// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>

#include "passes/walk.h"
#include "strengths/move_features.h"

namespace hyoka::passes {

/// The moves of a position as teams of features. Positions without a choice, and those whose record has no legal move,
/// are none.
template <class G>
class CompetitionVisitor final : public Visitor<G> {
public:
    explicit CompetitionVisitor(CompetitionPass& pass) : pass_(pass) {}
    void start_block(std::size_t block) override { block_ = &pass_.found.blocks[block]; }
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const auto next = at.next();
        const G game = at.open_position();
        const auto moves = game.legal_moves();
        const auto played = next ? std::find(moves.begin(), moves.end(), *next) : moves.end();
        if (played == moves.end() || moves.size() < 2) return;
        lists_.features.clear();
        lists_.ends.clear();
        strengths::MoveStrengths<G>::list(game, {at.last(), at.before_last()}, {moves.begin(), moves.size()}, lists_);
        block_->features.insert(block_->features.end(), lists_.features.begin(), lists_.features.end());
        std::uint32_t begin = 0;
        for (const std::uint32_t end : lists_.ends) {
            block_->sizes.push_back(static_cast<std::uint8_t>(end - begin));
            begin = end;
        }
        block_->teams.push_back(static_cast<std::uint16_t>(moves.size()));
        block_->winners.push_back(static_cast<std::uint16_t>(played - moves.begin()));
        block_->games.push_back(pass_.game_of(row));
    }

private:
    CompetitionPass& pass_;
    strengths::CompetitionBlock* block_ = nullptr;
    strengths::FeatureLists lists_;  // of one position
};

}  // namespace hyoka::passes
