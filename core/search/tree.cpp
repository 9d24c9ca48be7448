// SPDX-License-Identifier: Apache-2.0
#include "search/tree.h"

#include <array>
#include <cstring>
#include <utility>

namespace hyoka::search {

void Tree::plant(Player mover) {
    arena_.cut(Arena::first_word);
    full_.store(false, std::memory_order_relaxed);
    expanded_.store(0, std::memory_order_relaxed);
    root_place_.assign((Children::bytes(1, layout_) + 7) / 8, 0);
    root_ = Children::make(reinterpret_cast<std::byte*>(root_place_.data()), 1, mover, layout_);
    root_.move(0) = 0;
    root_.prior(0) = 1;
    root_.head().opened.store(1, std::memory_order_relaxed);
}

bool Tree::follow(std::span<const std::uint16_t> moves) {
    Node node = root();
    for (const std::uint16_t move : moves) {
        const auto children = children_of(node);
        if (!children) return false;
        std::uint32_t i = 0;
        while (i < children->count() && children->move(i) != move) ++i;
        if (i == children->count()) return false;
        node = {*children, i};
    }
    const Node kept = node;
    const Link link = kept.siblings.link(kept.index).load(std::memory_order_relaxed);
    const std::uint32_t visits = kept.visits();
    const double total = kept.siblings.total(kept.index).load(std::memory_order_relaxed);
    const Proof proof = kept.proof();
    const Player mover = kept.mover();
    if (link <= link_in_the_making) return false;

    // What is kept slides down over what is not, lowest first: children were made after their parents, so they lie
    // behind them, and nothing is overwritten before it has moved.
    std::vector<Link> from;
    collect(link, from);
    std::sort(from.begin(), from.end());
    std::vector<Link> to;
    Link end = Arena::first_word;
    for (const Link place : from) {
        const std::size_t bytes = Children::bytes(Children(arena_.at(place), layout_).count(), layout_);
        std::memmove(arena_.at(end), arena_.at(place), bytes);
        to.push_back(end);
        end += static_cast<Link>(bytes / 8);
    }
    const auto moved = [&](Link old) {
        return to[static_cast<std::size_t>(std::lower_bound(from.begin(), from.end(), old) - from.begin())];
    };
    for (const Link place : to) {
        const Children children(arena_.at(place), layout_);
        for (std::uint32_t i = 0; i < children.count(); ++i) {
            const Link old = children.link(i).load(std::memory_order_relaxed);
            if (old > link_in_the_making) children.link(i).store(moved(old), std::memory_order_relaxed);
        }
    }
    plant(mover);
    arena_.cut(end);
    expanded_.store(to.size(), std::memory_order_relaxed);
    root_.link(0).store(moved(link), std::memory_order_relaxed);
    root_.visits(0).store(visits, std::memory_order_relaxed);
    root_.total(0).store(total, std::memory_order_relaxed);
    root_.head().visits.store(visits, std::memory_order_relaxed);
    if (proof != Proof::none) prove(std::array{root()}, proof);
    return true;
}

void Tree::collect(Link link, std::vector<Link>& found) const {
    found.push_back(link);
    for (std::size_t at = found.size() - 1; at < found.size(); ++at) {
        const Children children(arena_.at(found[at]), layout_);
        for (std::uint32_t i = 0; i < children.count(); ++i)
            if (const Link below = children.link(i).load(std::memory_order_relaxed); below > link_in_the_making)
                found.push_back(below);
    }
}

void Tree::prove(std::span<const Node> path, Proof proof) {
    while (!path.empty()) {
        const Node& node = path.back();
        auto& head = node.siblings.head();
        if (proof == Proof::drawn) head.any_draw.store(true);
        if (node.siblings.proof(node.index).exchange(proof) != Proof::none) return;  // known already
        const bool last = head.undecided.fetch_sub(1) == 1;
        path = path.first(path.size() - 1);
        if (path.empty()) return;
        // What its chooser has at the node above: a won move is enough, else all moves must be known.
        Proof above = Proof::won;
        if (proof != Proof::won) {
            if (!last || !head.complete) return;
            above = head.any_draw.load() ? Proof::drawn : Proof::lost;
        }
        proof = path.back().mover() == node.mover() ? above : for_other(above);
    }
}

void Tree::forbid(std::span<const Node> path, const Node& child) {
    std::vector<Node> longer(path.begin(), path.end());
    longer.push_back(child);
    prove(longer, Proof::forbidden);
}

std::optional<std::uint16_t> Tree::killer_of(const Node& node, std::vector<std::uint16_t>& counts) const {
    auto& head = node.siblings.head();
    const auto best_move_at = [&](std::uint32_t i) -> std::optional<std::uint16_t> {
        const auto children = children_of({node.siblings, i});
        if (!children || children->head().visits.load(std::memory_order_relaxed) == 0) return std::nullopt;
        return children->move(children->head().best.load(std::memory_order_relaxed));
    };
    if (head.killer_stale.exchange(false, std::memory_order_relaxed)) {
        std::vector<std::uint16_t> seen;
        for (std::uint32_t i = 0; i < head.count; ++i)
            if (const auto move = best_move_at(i))
                if (counts[*move]++ == 0) seen.push_back(*move);
        // Of moves equally common the lowest code counts, so that the order of siblings does not matter.
        std::sort(seen.begin(), seen.end());
        std::uint16_t killer = 0, runner_up = 0, killer_count = 0, runner_up_count = 0;
        for (const std::uint16_t move : seen) {
            const std::uint16_t count = std::exchange(counts[move], 0);
            if (count > killer_count) {
                runner_up = std::exchange(killer, move);
                runner_up_count = std::exchange(killer_count, count);
            } else if (count > runner_up_count) {
                runner_up = move;
                runner_up_count = count;
            }
        }
        head.killer.store(killer, std::memory_order_relaxed);
        head.killer_count.store(killer_count, std::memory_order_relaxed);
        head.runner_up.store(runner_up, std::memory_order_relaxed);
        head.runner_up_count.store(runner_up_count, std::memory_order_relaxed);
    }
    // The node's own best move is not a sibling's.
    std::uint16_t killer = head.killer.load(std::memory_order_relaxed);
    int count = head.killer_count.load(std::memory_order_relaxed);
    if (count > 0 && best_move_at(node.index) == killer) {
        --count;
        const std::uint16_t runner_up = head.runner_up.load(std::memory_order_relaxed);
        const int runner_up_count = head.runner_up_count.load(std::memory_order_relaxed);
        if (runner_up_count > count || (runner_up_count == count && runner_up < killer)) {
            killer = runner_up;
            count = runner_up_count;
        }
    }
    return count > 0 ? std::optional(killer) : std::nullopt;
}

std::vector<Node> Tree::ranked(const Children& children) const {
    std::vector<Node> nodes;
    for (std::uint32_t i = 0; i < children.count(); ++i)
        if (const Node node{children, i}; node.proof() != Proof::forbidden) nodes.push_back(node);
    // Read once: other threads may be at work, and an order must not change while it is being made.
    struct Key {
        int proof;
        std::uint32_t visits;
        double mean;
        std::uint32_t at;
    };
    std::vector<Key> keys;
    for (std::uint32_t at = 0; at < nodes.size(); ++at) {
        const Proof proof = nodes[at].proof();
        keys.push_back({proof == Proof::won    ? 2
                        : proof == Proof::lost ? 0
                                               : 1,
                        nodes[at].visits(), nodes[at].mean(), at});
    }
    std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        if (a.proof != b.proof) return a.proof > b.proof;
        if (a.visits != b.visits) return a.visits > b.visits;
        return a.mean > b.mean;
    });
    std::vector<Node> sorted;
    for (const Key& key : keys) sorted.push_back(nodes[key.at]);
    return sorted;
}

std::vector<std::uint16_t> Tree::line_from(Node node) const {
    std::vector<std::uint16_t> line;
    while (const auto children = children_of(node)) {
        const auto nodes = ranked(*children);
        if (nodes.empty() || (nodes.front().visits() == 0 && nodes.front().proof() == Proof::none)) break;
        node = nodes.front();
        line.push_back(node.move());
    }
    return line;
}

std::optional<int> Tree::plies_to_result(const Node& node) const {
    if (!is_result(node.proof())) return std::nullopt;
    const auto children = children_of(node);
    if (!children) return 0;
    // Who has the better result here hurries, the other drags it out.
    const bool chooser_moved = children->head().chooser == node.mover();
    const Proof wanted = chooser_moved ? node.proof() : for_other(node.proof());
    std::optional<int> plies;
    for (std::uint32_t i = 0; i < children->count(); ++i) {
        const Node child{*children, i};
        if (child.proof() != wanted) continue;
        const auto below = plies_to_result(child);
        if (!below) continue;
        if (!plies || (wanted == Proof::lost ? *below + 1 > *plies : *below + 1 < *plies)) plies = *below + 1;
    }
    return plies;
}

bool Tree::best_is_settled(double simulations) const {
    const auto children = children_of(root());
    if (!children) return false;
    std::uint32_t best = 0;
    std::uint32_t second = 0;
    for (std::uint32_t i = 0; i < children->count(); ++i) {
        const Node child{*children, i};
        if (child.proof() == Proof::lost || child.proof() == Proof::forbidden) continue;
        const std::uint32_t visits = child.visits();
        second = std::max(second, std::min(best, visits));
        best = std::max(best, visits);
    }
    return best - second > simulations;
}

Tree::Arrays Tree::arrays(bool with_unvisited) const {
    Arrays tree;
    std::vector<Node> nodes;
    const auto add = [&](std::int32_t parent, const Node& node) {
        tree.parent.push_back(parent);
        tree.move.push_back(node.move());
        tree.mover.push_back(static_cast<std::uint8_t>(node.mover()));
        tree.visits.push_back(node.visits());
        tree.value.push_back(node.value());
        tree.prior.push_back(node.siblings.prior(node.index));
        tree.proof.push_back(static_cast<std::uint8_t>(node.proof()));
        nodes.push_back(node);
    };
    add(-1, root());
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        const auto children = children_of(nodes[at]);
        if (!children) continue;
        for (std::uint32_t i = 0; i < children->count(); ++i)
            if (const Node child{*children, i}; with_unvisited || child.visits() > 0)
                add(static_cast<std::int32_t>(at), child);
    }
    return tree;
}

}  // namespace hyoka::search
