// SPDX-License-Identifier: Apache-2.0
#include "mets/odds.h"

#include <algorithm>

namespace hyoka::mets {
namespace {

/// Counts below a node.
struct Sums {
    double positive = 0;
    double negative = 0;

    double points() const { return positive + negative; }
    void add(const Sums& more) {
        positive += more.positive;
        negative += more.negative;
    }
};

Sums sums_of(const Leaf& leaf) { return {static_cast<double>(leaf.positive), static_cast<double>(leaf.negative)}; }

/// Nodes come before those below them, so that sums are made from the last to the first.
std::vector<Sums> sums_of_nodes(const Tree& tree) {
    std::vector<Sums> sums(tree.nodes().size());
    for (std::size_t i = sums.size(); i-- > 0;)
        for (const Branch branch : tree.nodes()[i].children) {
            if (is_node(branch)) sums[i].add(sums[branch]);
            if (is_leaf(branch)) sums[i].add(sums_of(tree.leaves()[leaf_number(branch)]));
        }
    return sums;
}

double smoothed(const Sums& own, double usual, double smoothing) {
    const double odds = (own.positive + smoothing * usual) / std::max(own.negative + smoothing, 0.5);
    return std::max(odds, 1e-9);
}

}  // namespace

Odds::Odds(const Tree& tree) : of_leaves(tree.leaves().size()) {
    const auto nodes = tree.nodes();
    const auto leaves = tree.leaves();
    const std::vector<Sums> sums = sums_of_nodes(tree);
    Sums all;
    for (const Leaf& leaf : leaves) all.add(sums_of(leaf));
    const double usual = all.negative > 0 ? all.positive / all.negative : 1;

    constexpr std::uint32_t none = nowhere;
    std::vector<std::uint32_t> parents(nodes.size(), none);
    std::vector<double> of_nodes(nodes.size());
    const auto odds_of = [&](const Sums& own, std::uint32_t above) {
        while (above != none && sums[above].points() < 2 * own.points()) above = parents[above];
        return smoothed(own, above == none ? usual : of_nodes[above], tree.smoothing());
    };
    const auto put = [&](std::uint32_t leaf, std::uint32_t above) {
        of_leaves[leaf] = static_cast<float>(odds_of(sums_of(leaves[leaf]), above));
    };
    if (is_leaf(tree.root())) put(leaf_number(tree.root()), none);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        of_nodes[i] = odds_of(sums[i], parents[i]);
        for (const Branch branch : nodes[i].children) {
            if (is_node(branch)) parents[branch] = i;
            if (is_leaf(branch)) put(leaf_number(branch), i);
        }
    }
    if (tree.smoothing() > 0)
        for (const double odds : of_nodes) below_nodes.push_back(static_cast<float>(odds / 2));
    of_nowhere = of_leaves.empty() ? 1.0f : std::min(1e-9f, *std::ranges::min_element(of_leaves) / 2);
}

}  // namespace hyoka::mets
