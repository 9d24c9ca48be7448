// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bulk/terms.h"
#include "search/quiescence.h"

namespace hyoka::bulk {

template <class G>
class QuietVisitor final : public Visitor<G> {
public:
    using Evaluation = evaluation::LinearEvaluation<G>;

    QuietVisitor(std::vector<QuietRows>& by_block, const Evaluation& evaluation, const std::atomic<bool>& stop)
        : by_block_(by_block), search_(evaluation, stop) {}
    void start_block(std::size_t block) override { rows_ = &by_block_[block]; }
    void visit(std::size_t, const records::RecordedGame<G>& at) override {
        G game = at.usual_position();
        const auto [score, moves] = search_.rest(game);
        for (const auto move : moves) {
            game.play(move);
            rows_->moves.items.push_back(static_cast<std::uint16_t>(move.code()));
        }
        rows_->moves.end_row();
        rows_->scores.push_back(score);
        rows_->rests.push_back(search_.evaluator().score(game) == score && !game.outcome());
        counter_.count(game, rows_->terms);
    }

private:
    std::vector<QuietRows>& by_block_;
    QuietRows* rows_ = nullptr;
    search::QuiescenceSearch<G, Evaluation> search_;
    TermCounter<G> counter_;
};

}  // namespace hyoka::bulk
