// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "passes/walk.h"

namespace hyoka::passes {

/// What the rules say of positions by themselves: 1, 0, -1, or `unfinished`.
inline constexpr std::int8_t unfinished = 2;

template <class G>
class OutcomeVisitor final : public Visitor<G> {
public:
    explicit OutcomeVisitor(std::vector<std::int8_t>& results) : results_(results) {}
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const auto outcome = at.usual_position().outcome();
        results_[row] = outcome ? static_cast<std::int8_t>(outcome->result) : unfinished;
    }

private:
    std::vector<std::int8_t>& results_;
};

}  // namespace hyoka::passes
