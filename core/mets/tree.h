// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mets/questions.h"
#include "mets/tactical.h"

namespace hyoka::mets {

/// Child of a node: nothing (no pattern came there), a leaf, or another node.
using Branch = std::uint32_t;
inline constexpr Branch nowhere = 0xffffffff;
inline constexpr Branch leaf_bit = 0x80000000;
constexpr bool is_node(Branch branch) { return branch < leaf_bit; }
constexpr bool is_leaf(Branch branch) { return branch >= leaf_bit && branch != nowhere; }
constexpr std::uint32_t leaf_number(Branch branch) { return branch & ~leaf_bit; }

/// Asks the state of one point; from `question_count` on about tactics (by the game's own list).
struct Node {
    Branch children[state_count];  // by State
    std::uint16_t question;
    std::uint16_t unused = 0;
};
static_assert(sizeof(Node) == 20);

/// How often a point that came here was the move played, and how often it was not.
struct Leaf {
    std::uint64_t negative = 0;
    std::uint32_t positive = 0;
    std::uint32_t unused = 0;
};
static_assert(sizeof(Leaf) == 16);

/// A grown tree. Its nodes and leaves lie as they are in a file: it can be looked at where it is mapped into memory.
/// Nodes come before those below them, so that every walk ends, and tactics before stones.
class Tree {
public:
    Tree() = default;
    Tree(Branch root, std::vector<Node> nodes, std::vector<Leaf> leaves);
    /// The tree that `to_bytes` wrote, not copied: `owner` keeps the bytes. Throws std::invalid_argument if they are
    /// none, whatever they are.
    static Tree from_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
    std::vector<std::byte> to_bytes() const;
    /// The same questions with other counts. Pre: as many as there are leaves.
    Tree with_leaves(std::vector<Leaf> leaves) const;

    /// The same with points added to each leaf's own, at odds of nodes above (see Odds); throws
    /// std::invalid_argument.
    Tree with_smoothing(double smoothing) const;

    /// The same with this list of tactical questions, identified by its fingerprint; 0: no node asks about tactics.
    Tree with_tactics(std::uint64_t fingerprint) const;

    Branch root() const { return root_; }
    std::uint64_t tactics() const { return tactics_; }
    /// Where the questions about stones begin for a point of which tactics say this.
    Branch below_tactics(Answers answers) const {
        Branch branch = root_;
        while (is_node(branch) && nodes_[branch].question >= question_count) {
            const Node& node = nodes_[branch];
            branch = node.children[answer_to(answers, static_cast<std::size_t>(node.question - question_count))];
        }
        return branch;
    }
    double smoothing() const { return smoothing_; }
    std::span<const Node> nodes() const { return nodes_; }
    std::span<const Leaf> leaves() const { return leaves_; }

private:
    Branch root_ = nowhere;
    double smoothing_ = 0;
    std::uint64_t tactics_ = 0;
    std::span<const Node> nodes_;
    std::span<const Leaf> leaves_;
    std::shared_ptr<const void> node_owner_;
    std::shared_ptr<const void> leaf_owner_;
};

/// How deep leaves lie: by leaf, the number of questions on the way.
std::vector<std::uint16_t> depths(const Tree& tree);

}  // namespace hyoka::mets
