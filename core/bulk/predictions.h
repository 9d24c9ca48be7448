// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bulk/walk.h"
#include "strengths/move_model.h"

namespace hyoka::bulk {

/// How high a move model puts the moves that were played.
template <class G>
class PredictionVisitor final : public Visitor<G> {
public:
    PredictionVisitor(PredictionPass& pass, std::unique_ptr<strengths::MoveModel<G>> model)
        : pass_(pass), model_(std::move(model)) {}
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const auto next = at.next();
        const G game = at.open_position();
        const auto moves = game.legal_moves();
        const auto played = next ? std::find(moves.begin(), moves.end(), *next) : moves.end();
        if (moves.empty()) return;
        strengths_.resize(moves.size());
        model_->weigh(game, {at.last(), at.before_last()}, {moves.begin(), moves.size()}, strengths_);
        pass_.entropies[row] = entropy();
        if (played == moves.end()) return;
        const auto own = static_cast<std::size_t>(played - moves.begin());
        std::int32_t better = 0;
        double sum = 0;
        for (std::size_t i = 0; i < moves.size(); ++i) {
            // What is no number is neither better nor worse than anything: it would pass for the best.
            if (!(strengths_[i] >= 0 && std::isfinite(strengths_[i])))
                throw NotationError("a model that gives a move no strength, but " + std::to_string(strengths_[i]));
            sum += strengths_[i];
            // Of moves that look alike the first one counts as better: nobody may win by a tie.
            better += strengths_[i] > strengths_[own] || (strengths_[i] == strengths_[own] && i < own);
        }
        pass_.ranks[row] = better + 1;
        pass_.choices[row] = static_cast<std::int32_t>(moves.size());
        pass_.losses[row] = static_cast<float>(std::log(sum) - std::log(static_cast<double>(strengths_[own])));
    }

private:
    float entropy() const {
        double sum = 0;
        double logs = 0;
        for (const float each : strengths_) {
            sum += each;
            logs += each > 0 ? each * std::log(static_cast<double>(each)) : 0;
        }
        return static_cast<float>(sum > 0 ? std::log(sum) - logs / sum : 0);
    }

    PredictionPass& pass_;
    std::unique_ptr<strengths::MoveModel<G>> model_;
    std::vector<float> strengths_;
};

/// How strong a move model finds each legal move.
template <class G>
class WeighingVisitor final : public Visitor<G> {
public:
    WeighingVisitor(WeighingPass& pass, std::unique_ptr<strengths::MoveModel<G>> model)
        : pass_(pass), model_(std::move(model)) {}
    void start_block(std::size_t block) override { rows_ = &pass_.parts[block]; }
    void visit(std::size_t, const records::RecordedGame<G>& at) override {
        const G game = at.open_position();
        const auto moves = game.legal_moves();
        const auto next = at.next();
        const auto played = next ? std::find(moves.begin(), moves.end(), *next) : moves.end();
        rows_->played.push_back(played == moves.end() ? -1 : static_cast<std::int32_t>(played - moves.begin()));
        auto& items = rows_->strengths.items;
        const std::size_t before = items.size();
        items.resize(before + moves.size());
        model_->weigh(game, {at.last(), at.before_last()}, {moves.begin(), moves.size()},
                      std::span(items).subspan(before));
        rows_->strengths.end_row();
    }

private:
    WeighingPass& pass_;
    std::unique_ptr<strengths::MoveModel<G>> model_;
    WeighingRows* rows_ = nullptr;
};

}  // namespace hyoka::bulk
