// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mets/tactical.h"
#include "mets/tree.h"

namespace hyoka::mets {

/// Tactical answers about the moves played in some positions, and of some other empty points there.
struct Sample {
    static constexpr std::size_t others_each = 8;

    std::vector<Answers> played;         // by position
    std::vector<Answers> others;         // `others_each` by position
    std::vector<std::uint16_t> weights;  // by position: of how many other points those are drawn; 0: none, left out
};

/// When to ask on.
struct Asking {
    std::size_t questions = 0;   // how many the game has
    double gain = 0.05;          // what a question must tell of played or not: nats for each move played
    std::uint32_t least = 1000;  // moves of the sample that must be there
};

/// The tactical part of a tree, whose leaves are where the questions about stones begin.
struct Top {
    Branch root = leaf_bit;
    std::vector<Node> nodes;
    std::uint32_t ends = 1;
};

/// Asks what tells most about whether a point is the move played (information gain; of several, the first), until
/// nothing tells enough.
Top grow_top(const Sample& sample, const Asking& how);

}  // namespace hyoka::mets
