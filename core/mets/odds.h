// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mets/tree.h"

namespace hyoka::mets {

/// Odds of leaves: the odds that the move is played. The paper's score is the inverse, and is that
/// of its counts alone. With the tree's smoothing, points are added to a leaf's own, at the odds of the nearest
/// node above that at least twice as many points came to; that node's odds are smoothed in the same way, up to the
/// root. (A node's parent has mostly the same points but for a few, and would add nothing to what the node knows.)
/// Where no pattern came is, in the paper, below every leaf; with smoothing it has half the odds of the node above.
struct Odds {
    std::vector<float> of_leaves;
    std::vector<float> below_nodes;  // by node: where no pattern came; empty without smoothing
    float of_nowhere;                // below every leaf

    explicit Odds(const Tree& tree);
    /// `above`: the node above the branch, if it is known.
    float of(Branch branch, Branch above) const {
        if (is_leaf(branch)) return of_leaves[leaf_number(branch)];
        return below_nodes.empty() || above == nowhere ? of_nowhere : below_nodes[above];
    }
};

}  // namespace hyoka::mets
