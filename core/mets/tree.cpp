// SPDX-License-Identifier: Apache-2.0
#include "mets/tree.h"

#include <cstring>
#include <stdexcept>

namespace hyoka::mets {
namespace {

constexpr std::uint64_t magic = 0x325354454d4b5948;          // "HYKMETS2"
constexpr std::uint64_t first_version = 0x315354454d4b5948;  // "HYKMETS1": no tactics, and another smoothing

/// File header; nodes follow at once, leaves at the next multiple of 8.
struct Header {
    std::uint64_t magic;
    std::uint32_t nodes;
    std::uint32_t leaves;
    Branch root;
    std::uint32_t unused;
    double smoothing;
    std::uint64_t tactics;  // fingerprint of the questions; 0: none is asked
    std::uint64_t reserved[3];
};
static_assert(sizeof(Header) == 64);

constexpr double most_smoothing = 1e6;

std::size_t leaves_at(std::uint32_t nodes) { return (sizeof(Header) + nodes * sizeof(Node) + 7) / 8 * 8; }

[[noreturn]] void refuse(const char* why) { throw std::invalid_argument(why); }

}  // namespace

Tree::Tree(Branch root, std::vector<Node> nodes, std::vector<Leaf> leaves) : root_(root) {
    const auto kept_nodes = std::make_shared<const std::vector<Node>>(std::move(nodes));
    const auto kept_leaves = std::make_shared<const std::vector<Leaf>>(std::move(leaves));
    nodes_ = *kept_nodes;
    leaves_ = *kept_leaves;
    node_owner_ = kept_nodes;
    leaf_owner_ = kept_leaves;
}

Tree Tree::from_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    Header header;
    if (bytes.size() < sizeof header) refuse("too short for a tree");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic == first_version) {
        if (header.smoothing != 0) refuse("it was smoothed in an older way: learn it again");
        if (header.tactics != 0) refuse("no tree of METS");
    } else if (header.magic != magic) {
        refuse("no tree of METS");
    }
    if (header.nodes >= leaf_bit || header.leaves >= leaf_bit - 1) refuse("more nodes than a tree can have");
    if (bytes.size() != leaves_at(header.nodes) + header.leaves * sizeof(Leaf)) refuse("not as long as it says");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Leaf)) refuse("not aligned to 8 bytes");
    if (!(header.smoothing >= 0 && header.smoothing <= most_smoothing)) refuse("its smoothing is no usual number");
    Tree tree;
    tree.root_ = header.root;
    tree.smoothing_ = header.smoothing;
    tree.tactics_ = header.tactics;
    tree.nodes_ = {reinterpret_cast<const Node*>(bytes.data() + sizeof header), header.nodes};
    tree.leaves_ = {reinterpret_cast<const Leaf*>(bytes.data() + leaves_at(header.nodes)), header.leaves};
    const auto check = [&](Branch branch, std::size_t above) {
        if (is_node(branch) && (branch >= header.nodes || branch < above)) refuse("a branch leads to no node below it");
        if (is_leaf(branch) && leaf_number(branch) >= header.leaves) refuse("a branch leads to no leaf");
    };
    check(header.root, 0);
    for (std::size_t i = 0; i < tree.nodes_.size(); ++i) {
        const Node& node = tree.nodes_[i];
        const bool tactical = node.question >= question_count;
        if (node.question >= question_count + most_tactical_questions) refuse("a node asks about no point");
        if (tactical && header.tactics == 0) refuse("a node asks about tactics that the tree does not name");
        for (const Branch branch : node.children) {
            check(branch, i + 1);
            if (!tactical && is_node(branch) && tree.nodes_[branch].question >= question_count)
                refuse("tactical questions below questions about stones");
        }
    }
    tree.node_owner_ = std::move(owner);
    return tree;
}

std::vector<std::byte> Tree::to_bytes() const {
    const Header header{.magic = magic,
                        .nodes = static_cast<std::uint32_t>(nodes_.size()),
                        .leaves = static_cast<std::uint32_t>(leaves_.size()),
                        .root = root_,
                        .unused = 0,
                        .smoothing = smoothing_,
                        .tactics = tactics_,
                        .reserved = {}};
    std::vector<std::byte> bytes(leaves_at(header.nodes) + leaves_.size_bytes());
    std::memcpy(bytes.data(), &header, sizeof header);
    if (!nodes_.empty()) std::memcpy(bytes.data() + sizeof header, nodes_.data(), nodes_.size_bytes());
    if (!leaves_.empty()) std::memcpy(bytes.data() + leaves_at(header.nodes), leaves_.data(), leaves_.size_bytes());
    return bytes;
}

Tree Tree::with_leaves(std::vector<Leaf> leaves) const {
    Tree tree = *this;
    const auto kept = std::make_shared<const std::vector<Leaf>>(std::move(leaves));
    tree.leaves_ = *kept;
    tree.leaf_owner_ = kept;
    return tree;
}

Tree Tree::with_tactics(std::uint64_t fingerprint) const {
    Tree tree = *this;
    tree.tactics_ = fingerprint;
    return tree;
}

Tree Tree::with_smoothing(double smoothing) const {
    if (!(smoothing >= 0 && smoothing <= most_smoothing)) refuse("smoothing is from 0 to a million");
    Tree tree = *this;
    tree.smoothing_ = smoothing;
    return tree;
}

std::vector<std::uint16_t> depths(const Tree& tree) {
    std::vector<std::uint16_t> of_nodes(tree.nodes().size());
    std::vector<std::uint16_t> of_leaves(tree.leaves().size());
    for (std::size_t i = 0; i < tree.nodes().size(); ++i)
        for (const Branch branch : tree.nodes()[i].children) {
            const auto depth = static_cast<std::uint16_t>(of_nodes[i] + 1);
            if (is_node(branch)) of_nodes[branch] = depth;
            if (is_leaf(branch)) of_leaves[leaf_number(branch)] = depth;
        }
    return of_leaves;
}

}  // namespace hyoka::mets
