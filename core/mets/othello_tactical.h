// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/othello.h"
#include "mets/tactical.h"
#include "strengths/move_model.h"

namespace hyoka::mets {

/// Othello: whether a disc may be placed, what it turns, and what both sides could play then.
template <>
struct Tactical<Othello> {
    static const std::vector<TacticalQuestion>& questions();
    void answer(const Othello& game, const strengths::Context<Othello>& context, std::span<Answers> of_points);
};

}  // namespace hyoka::mets
