// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bulk/walk.h"
#include "evaluation/linear.h"

namespace hyoka::bulk {

/// Counts terms into rows.
template <class G>
class TermCounter {
public:
    void count(const G& game, TermRows& rows) {
        evaluation::VectorSink sink(row_);
        evaluation::Terms<G>::count(game, sink);
        rows.amounts.take(row_);
        rows.progress.push_back(sink.progress());
    }

private:
    std::vector<float> row_ = std::vector<float>(evaluation::Terms<G>::all().size());  // zeros between rows
};

template <class G>
class TermVisitor final : public Visitor<G> {
public:
    explicit TermVisitor(std::vector<TermRows>& by_block) : by_block_(by_block) {}
    void start_block(std::size_t block) override { rows_ = &by_block_[block]; }
    void visit(std::size_t, const records::RecordedGame<G>& at) override { counter_.count(at.position(), *rows_); }

private:
    std::vector<TermRows>& by_block_;
    TermRows* rows_ = nullptr;
    TermCounter<G> counter_;
};

}  // namespace hyoka::bulk
