// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "game.h"

namespace hyoka::search {

/// Proven result of a move for its player.
enum class Proof : std::uint8_t {
    none,
    lost,
    drawn,
    won,
    forbidden,  // by the past: found out when the move is first tried
};

constexpr bool is_result(Proof proof) { return proof != Proof::none && proof != Proof::forbidden; }
/// The same seen by the other player.
constexpr Proof for_other(Proof proof) {
    return proof == Proof::won ? Proof::lost : proof == Proof::lost ? Proof::won : proof;
}
constexpr Proof proof_of(Result result, Player player) {
    return result == Result::draw ? Proof::drawn : result == win_for(player) ? Proof::won : Proof::lost;
}
/// Pre: it is a result.
constexpr double value_of(Proof proof) { return proof == Proof::won ? 1 : proof == Proof::lost ? 0 : 0.5; }
/// A value for `player` turned to the first player's view, or back.
constexpr double for_first(Player player, double value) { return player == Player::first ? value : 1 - value; }

/// Where in the tree's memory a node's children are: in units of 8 bytes. 0: there are none yet.
using Link = std::uint32_t;
inline constexpr Link no_link = 0;
inline constexpr Link link_in_the_making = 1;

/// Which columns the children have.
struct Layout {
    bool rave = false;      // all-moves-as-first statistics
    bool widening = false;  // a strength of its own for moves never tried, beside the prior
    bool minimax = false;   // evaluations backed up as in minimax

    std::size_t bytes_a_child() const {
        return 8 + 4 + 4 + 4 + 2 + 1 + (rave ? 8 : 0) + (widening ? 4 : 0) + (minimax ? 8 : 0);
    }
};

/// The children of one node, side by side: a column for each number, so that one pass over a column rates all of them.
///
/// All values are for the player who chooses among them. Threads share everything; every number is consistent alone,
/// and two that are read one after the other may be a visit apart, which does no harm.
class Children {
public:
    /// Data shared by the children.
    struct Head {
        std::uint32_t count;
        Player chooser;
        bool complete = true;                     // no legal move was left out: all lost is lost
        std::atomic<bool> any_draw{false};        // some child is proven drawn
        std::atomic<bool> killer_stale{false};    // some child's best move has changed
        std::atomic<std::uint32_t> visits{0};     // of all children together: the n of the papers' formulas
        std::atomic<std::uint32_t> opened{0};     // children from this index were never tried; they wait in order
        std::atomic<std::uint32_t> undecided;     // children without a proof
        std::atomic<std::uint32_t> best{0};       // the most visited child
        std::atomic<std::uint16_t> killer{0};     // commonest best move among the children's own children
        std::atomic<std::uint16_t> runner_up{0};  // the next commonest
        std::atomic<std::uint16_t> killer_count{0};
        std::atomic<std::uint16_t> runner_up_count{0};
    };

    /// A minimax value of which nothing is known yet.
    static constexpr float unknown = -1;

    Children() = default;
    Children(std::byte* place, const Layout& layout) : head_(reinterpret_cast<Head*>(place)), layout_(layout) {}

    static std::size_t bytes(std::uint32_t count, const Layout& layout) {
        return (sizeof(Head) + count * layout.bytes_a_child() + 7) / 8 * 8;
    }
    /// Makes a node's children at `place`, where there is room for them; moves and priors are still to be filled in.
    static Children make(std::byte* place, std::uint32_t count, Player chooser, const Layout& layout) {
        Head* head = new (place) Head;
        head->count = count;
        head->chooser = chooser;
        head->undecided.store(count, std::memory_order_relaxed);
        Children made(place, layout);
        for (std::uint32_t i = 0; i < count; ++i) {
            new (&made.total(i)) std::atomic<double>(0);
            new (&made.visits(i)) std::atomic<std::uint32_t>(0);
            new (&made.link(i)) std::atomic<Link>(no_link);
            new (&made.proof(i)) std::atomic<Proof>(Proof::none);
            if (layout.rave) {
                new (&made.rave_total(i)) std::atomic<float>(0);
                new (&made.rave_visits(i)) std::atomic<std::uint32_t>(0);
            }
            if (layout.minimax) {
                new (&made.minimax(i)) std::atomic<float>(unknown);
                new (&made.evaluation(i)) std::atomic<float>(unknown);
            }
        }
        return made;
    }

    Head& head() const { return *head_; }
    std::uint32_t count() const { return head_->count; }

    std::atomic<double>& total(std::size_t i) const { return column<std::atomic<double>>(0)[i]; }
    std::atomic<std::uint32_t>& visits(std::size_t i) const { return column<std::atomic<std::uint32_t>>(8)[i]; }
    std::atomic<Link>& link(std::size_t i) const { return column<std::atomic<Link>>(12)[i]; }
    float& prior(std::size_t i) const { return column<float>(16)[i]; }
    std::atomic<float>& rave_total(std::size_t i) const { return column<std::atomic<float>>(20)[i]; }
    std::atomic<std::uint32_t>& rave_visits(std::size_t i) const { return column<std::atomic<std::uint32_t>>(24)[i]; }
    /// By what a move that was never tried asks to be tried.
    float& promise(std::size_t i) const { return layout_.widening ? column<float>(20 + rave())[i] : prior(i); }
    /// Minimax of the evaluations at the leaves below, or `unknown`.
    std::atomic<float>& minimax(std::size_t i) const { return column<std::atomic<float>>(20 + rave() + widening())[i]; }
    /// Static evaluation of a child's position, or `unknown`.
    std::atomic<float>& evaluation(std::size_t i) const {
        return column<std::atomic<float>>(24 + rave() + widening())[i];
    }
    std::uint16_t& move(std::size_t i) const { return column<std::uint16_t>(20 + extra())[i]; }
    std::atomic<Proof>& proof(std::size_t i) const { return column<std::atomic<Proof>>(22 + extra())[i]; }

    double mean(std::size_t i) const {
        const std::uint32_t n = visits(i).load(std::memory_order_relaxed);
        return n ? total(i).load(std::memory_order_relaxed) / n : 0.5;
    }

private:
    /// The column before which the others take `bytes` a child.
    template <class T>
    T* column(std::size_t bytes) const {
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(head_ + 1) + bytes * head_->count);
    }
    std::size_t rave() const { return layout_.rave ? 8 : 0; }
    std::size_t widening() const { return layout_.widening ? 4 : 0; }
    std::size_t extra() const { return rave() + widening() + (layout_.minimax ? 8 : 0); }

    Head* head_ = nullptr;
    Layout layout_;
};
static_assert(sizeof(Children::Head) % 8 == 0);
static_assert(std::atomic<double>::is_always_lock_free && sizeof(std::atomic<double>) == 8);
static_assert(sizeof(std::atomic<Proof>) == 1);

/// The memory of a tree: children are laid one after the other and never move while a search is on.
class Arena {
public:
    static constexpr Link first_word = 2;  // 0 and 1 mean other things as links

    explicit Arena(std::size_t bytes)
        : words_(std::max<std::size_t>(bytes / 8, first_word)),
          memory_(static_cast<std::byte*>(std::malloc(8 * words_))) {
        if (!memory_) throw std::bad_alloc();
    }

    /// Room for `bytes`, or no_link when the memory is full.
    Link take(std::size_t bytes) {
        const std::size_t words = (bytes + 7) / 8;
        // Looked at first, so that threads that keep asking a full arena don't count beyond all bounds.
        if (used_.load(std::memory_order_relaxed) + words > words_) return no_link;
        const std::size_t start = used_.fetch_add(words, std::memory_order_relaxed);
        if (start + words > words_) return no_link;
        return static_cast<Link>(start);
    }
    std::byte* at(Link link) const { return memory_.get() + 8 * std::size_t{link}; }
    std::size_t used_bytes() const { return 8 * std::min(used_.load(std::memory_order_relaxed), words_); }
    /// Everything from `end` on is free again.
    void cut(Link end) { used_.store(end, std::memory_order_relaxed); }

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };

    std::size_t words_;
    std::atomic<std::size_t> used_{first_word};
    std::unique_ptr<std::byte, Free> memory_;  // the system gives pages only as they are touched
};

/// A node of the tree: a child among its siblings.
struct Node {
    Children siblings;
    std::uint32_t index = 0;

    Player mover() const { return siblings.head().chooser; }
    std::uint16_t move() const { return siblings.move(index); }
    std::uint32_t visits() const { return siblings.visits(index).load(std::memory_order_relaxed); }
    /// For the mover.
    double mean() const { return siblings.mean(index); }
    Proof proof() const { return siblings.proof(index).load(std::memory_order_relaxed); }
    /// For the first player.
    double value() const { return for_first(mover(), is_result(proof()) ? value_of(proof()) : mean()); }
};

/// The tree itself: it knows moves only as codes, and nothing of any game's rules.
class Tree {
public:
    Tree(const Layout& layout, std::size_t memory_bytes) : layout_(layout), arena_(memory_bytes) {}

    /// Nothing but a root, to which `mover` has brought the game.
    void plant(Player mover);
    /// Makes the node that `moves` lead to the root and lets go of all the rest; false if there is no such node.
    bool follow(std::span<const std::uint16_t> moves);

    Node root() const { return {root_, 0}; }
    std::optional<Children> children_of(const Node& node) const {
        const Link link = node.siblings.link(node.index).load(std::memory_order_acquire);
        if (link <= link_in_the_making) return std::nullopt;
        return Children(arena_.at(link), layout_);
    }
    /// Makes children for a node and lets `fill` write their moves and priors before others see them; none if the
    /// memory is full or another thread is at it.
    template <class Fill>
    std::optional<Children> grow(const Node& node, std::uint32_t count, Player chooser, Fill&& fill) {
        Link expected = no_link;
        auto& link = node.siblings.link(node.index);
        if (!link.compare_exchange_strong(expected, link_in_the_making, std::memory_order_relaxed)) return std::nullopt;
        const Link place = arena_.take(Children::bytes(count, layout_));
        if (place == no_link) {
            full_.store(true, std::memory_order_relaxed);
            link.store(no_link, std::memory_order_relaxed);
            return std::nullopt;
        }
        const Children made = Children::make(arena_.at(place), count, chooser, layout_);
        fill(made);
        link.store(place, std::memory_order_release);
        expanded_.fetch_add(1, std::memory_order_relaxed);
        return made;
    }

    /// Takes note that the last node of a path, which starts at the root, has a certain result, and of all that
    /// follows for the nodes above it.
    void prove(std::span<const Node> path, Proof proof);
    /// Takes note that a child of the path's last node may not be played.
    void forbid(std::span<const Node> path, const Node& child);
    /// The commonest best move among the siblings of a node, if any has one. `counts` is room for a count of each
    /// code, all 0 before and after.
    std::optional<std::uint16_t> killer_of(const Node& node, std::vector<std::uint16_t>& counts) const;

    /// Children in the order of preference: by proof, then by visits, then by mean; forbidden ones are left out.
    std::vector<Node> ranked(const Children& children) const;
    /// The moves from a node on that the search thinks best.
    std::vector<std::uint16_t> line_from(Node node) const;
    /// Plies from a node to its forced result, if the tree contains the proof.
    std::optional<int> plies_to_result(const Node& node) const;
    /// Whether the most visited child of the root stays so, whatever the next `simulations` do.
    bool best_is_settled(double simulations) const;

    /// The whole tree in arrays, nodes before their children, the root first.
    struct Arrays {
        std::vector<std::int32_t> parent;  // -1: the root
        std::vector<std::uint16_t> move;   // the code of the move that led there
        std::vector<std::uint8_t> mover;   // who made it: 0 the first player
        std::vector<std::uint32_t> visits;
        std::vector<double> value;  // for the first player
        std::vector<float> prior;
        std::vector<std::uint8_t> proof;  // for the mover; a value of Proof
    };
    /// Children never visited are left out unless `with_unvisited`.
    Arrays arrays(bool with_unvisited) const;

    std::uint64_t expanded() const { return expanded_.load(std::memory_order_relaxed); }
    std::size_t used_bytes() const { return arena_.used_bytes(); }
    bool full() const { return full_.load(std::memory_order_relaxed); }

private:
    void collect(Link link, std::vector<Link>& found) const;

    Layout layout_;
    Arena arena_;
    std::vector<std::uint64_t> root_place_;  // the root lies apart from its descendants
    Children root_;                          // an only child
    std::atomic<std::uint64_t> expanded_{0};
    std::atomic<bool> full_{false};
};

}  // namespace hyoka::search
