// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>

#include "bulk/walk.h"
#include "strengths/move_strengths.h"

namespace hyoka::bulk {

/// The moves of a position as teams of features. Positions without a choice, and those whose record has no legal move,
/// are none.
template <class G>
class CompetitionVisitor final : public Visitor<G> {
public:
    explicit CompetitionVisitor(CompetitionPass& pass) : pass_(pass), finder_(pass.shapes) {}
    void start_block(std::size_t block) override { block_ = &pass_.found.blocks[block]; }
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const auto next = at.next();
        const G game = at.open_position();
        const auto moves = game.legal_moves();
        const auto played = next ? std::find(moves.begin(), moves.end(), *next) : moves.end();
        if (played == moves.end() || moves.size() < 2) return;
        const auto& lists = finder_.list(game, {at.last(), at.before_last()}, {moves.begin(), moves.size()});
        block_->features.insert(block_->features.end(), lists.features.begin(), lists.features.end());
        std::uint32_t begin = 0;
        for (const std::uint32_t end : lists.ends) {
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
    strengths::FeatureFinder<G> finder_;
};

/// The shapes around the moves played.
template <int N>
class ShapeVisitor final : public Visitor<Go<N>> {
public:
    explicit ShapeVisitor(ShapePass& pass) : pass_(pass) {}
    void visit(std::size_t row, const records::RecordedGame<Go<N>>& at) override {
        using Move = typename Go<N>::Move;
        const auto next = at.next();
        if (!next || *next == Move::pass()) return;
        const auto states = strengths::ShapeWatcher<N>::around(at.position(), next->point);
        const auto hashes = strengths::canonical_hashes(states);
        std::ranges::copy(hashes, pass_.hashes.begin() + static_cast<std::ptrdiff_t>(row * hashes.size()));
        std::uint8_t* packed = pass_.packed.data() + row * ShapePass::packed_bytes;
        for (std::size_t i = 0; i < states.size(); ++i)
            packed[i / 4] |= static_cast<std::uint8_t>(static_cast<unsigned>(states[i]) << (2 * (i % 4)));
    }

private:
    ShapePass& pass_;
};

}  // namespace hyoka::bulk
