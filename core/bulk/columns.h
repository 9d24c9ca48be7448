// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "bulk/walk.h"
#include "features/columns.h"

namespace hyoka::bulk {

template <class G>
class ColumnVisitor final : public Visitor<G> {
public:
    explicit ColumnVisitor(ColumnPass& pass) : pass_(pass) {
        for (const std::size_t column : pass.wanted) wanted_ |= std::uint64_t{1} << column;
    }
    void start_game(const G& start) override { describer_.emplace(start); }
    void play(const G& before, typename G::Move move) override { describer_->play(before, move); }
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        describer_->describe(at.position(), wanted_, found_.data());
        for (std::size_t i = 0; i < pass_.wanted.size(); ++i) pass_.columns[i][row] = found_[pass_.wanted[i]];
        pass_.first_to_play[row] = at.position().to_play() == Player::first;
    }

private:
    ColumnPass& pass_;
    std::uint64_t wanted_ = 0;
    std::optional<features::Describer<G>> describer_;
    std::array<std::int16_t, 64> found_{};  // as many as a game may have columns
};

}  // namespace hyoka::bulk
