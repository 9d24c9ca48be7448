// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "features/columns.h"
#include "passes/walk.h"

namespace hyoka::passes {

/// Columns that describe positions, and who is to play.
struct ColumnCells {
    std::vector<std::size_t> wanted;                 // columns, by number
    std::vector<std::vector<std::int16_t>> columns;  // of those, a cell a row
    std::vector<std::uint8_t> first_to_play;

    ColumnCells(std::vector<std::size_t> which, std::size_t rows)
        : wanted(std::move(which)), columns(wanted.size(), std::vector<std::int16_t>(rows)), first_to_play(rows) {}
};

template <class G>
class ColumnVisitor final : public Visitor<G> {
public:
    explicit ColumnVisitor(ColumnCells& cells) : cells_(cells) {
        for (const std::size_t column : cells.wanted) wanted_ |= std::uint64_t{1} << column;
    }
    void start_game(const G& start) override { describer_.emplace(start); }
    void play(const G& before, typename G::Move move) override { describer_->play(before, move); }
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        describer_->describe(at.position(), wanted_, found_.data());
        for (std::size_t i = 0; i < cells_.wanted.size(); ++i) cells_.columns[i][row] = found_[cells_.wanted[i]];
        cells_.first_to_play[row] = at.position().to_play() == Player::first;
    }

private:
    ColumnCells& cells_;
    std::uint64_t wanted_ = 0;
    std::optional<features::Describer<G>> describer_;
    std::array<std::int16_t, 64> found_{};  // as many as a game may have columns
};

}  // namespace hyoka::passes
