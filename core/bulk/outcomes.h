// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bulk/walk.h"

namespace hyoka::bulk {

template <class G>
class OutcomeVisitor final : public Visitor<G> {
public:
    explicit OutcomeVisitor(std::vector<std::int8_t>& results) : results_(results) {}
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const auto outcome = at.usual_position().outcome();
        results_[row] = outcome ? static_cast<std::int8_t>(outcome->result) : OutcomePass::unfinished;
    }

private:
    std::vector<std::int8_t>& results_;
};

}  // namespace hyoka::bulk
