// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "playouts/playout_policy.h"
#include "search/selection.h"
#include "search/tree.h"

/// Statistics beside the tree's own: of moves wherever they are played.
namespace hyoka::search {

/// Adds to a number that other threads may add to at the same time; where there are none, more cheaply.
struct Adder {
    bool shared;
    /// What was there before.
    template <class T, class U>
    T operator()(std::atomic<T>& number, U by) const {
        if (shared) return number.fetch_add(static_cast<T>(by), std::memory_order_relaxed);
        const T before = number.load(std::memory_order_relaxed);
        number.store(before + static_cast<T>(by), std::memory_order_relaxed);
        return before;
    }
};

/// Room in which the children of a node are compared, reused from node to node.
struct CandidateColumns {
    std::vector<double> visits, means, priors, explorations, urgencies;

    void resize(std::size_t count) {
        if (visits.size() >= count) return;
        for (auto* column : {&visits, &means, &priors, &explorations, &urgencies}) column->resize(count);
    }
    Candidates view(double n, std::size_t count) {
        return {.n = n,
                .visits = {visits.data(), count},
                .means = {means.data(), count},
                .priors = {priors.data(), count},
                .explorations = {explorations.data(), count},
                .urgencies = {urgencies.data(), count}};
    }
};

/// How often moves were tried, and were then the most visited ones of their node; by player and code.
class HistoryTable {
public:
    explicit HistoryTable(std::size_t codes) : entries_{std::vector<Entry>(codes), std::vector<Entry>(codes)} {}

    void note(Player player, std::uint16_t code, bool best, const Adder& add) {
        Entry& entry = entries_[static_cast<std::size_t>(player)][code];
        add(entry.tried, 1u);
        if (best) add(entry.best, 1u);
    }
    double share(Player player, std::uint16_t code) const {
        const Entry& entry = entries_[static_cast<std::size_t>(player)][code];
        const double tried = entry.tried.load(std::memory_order_relaxed);
        return tried > 0 ? entry.best.load(std::memory_order_relaxed) / tried : 0;
    }
    void clear() {
        for (auto& side : entries_)
            for (Entry& entry : side) {
                entry.tried.store(0, std::memory_order_relaxed);
                entry.best.store(0, std::memory_order_relaxed);
            }
    }

private:
    struct Entry {
        std::atomic<std::uint32_t> tried{0};
        std::atomic<std::uint32_t> best{0};
    };
    std::array<std::vector<Entry>, 2> entries_;
};

/// All moves as first: a simulation also counts for the moves that were played in it later by the same player.
class PlayedLater {
public:
    explicit PlayedLater(std::size_t codes) : stamps_{std::vector<Stamp>(codes), std::vector<Stamp>(codes)} {}

    template <Game G>
    void back_up(const Tree& tree, std::span<const Node> path, std::span<const playouts::PlayedMove<G>> played,
                 double value, const Adder& add) {
        // A stamp tells when a player last made a move in this simulation; at a node it counts from there on.
        ++simulation_;
        std::uint32_t when = 0;
        for (const Node& node : path.subspan(1)) stamp(node.mover(), node.move()) = {simulation_, ++when};
        for (const auto& made : played) stamp(made.player, made.move.code()) = {simulation_, ++when};
        for (std::uint32_t depth = 0; depth < path.size(); ++depth) {
            const auto children = tree.children_of(path[depth]);
            if (!children) return;
            const Player chooser = children->head().chooser;
            for (std::uint32_t i = 0; i < children->count(); ++i) {
                const Stamp& last = stamp(chooser, children->move(i));
                if (last.simulation != simulation_ || last.when <= depth) continue;
                add(children->rave_visits(i), 1u);
                add(children->rave_total(i), for_first(chooser, value));
            }
        }
    }
    template <Game G>
    void back_up(const Tree& tree, std::span<const Node> path, const std::vector<playouts::PlayedMove<G>>& played,
                 double value, const Adder& add) {
        back_up<G>(tree, path, std::span(played), value, add);
    }

private:
    struct Stamp {
        std::uint32_t simulation = 0;
        std::uint32_t when = 0;
    };
    Stamp& stamp(Player player, std::uint32_t code) { return stamps_[static_cast<std::size_t>(player)][code]; }

    std::array<std::vector<Stamp>, 2> stamps_;
    std::uint32_t simulation_ = 0;
};

/// Mixes the means of children with their all-moves-as-first means. A child of which nothing is known is worth
/// `unknown`.
inline void mix_in(const Rave& rave, const Children& children, double unknown, CandidateColumns& columns) {
    for (std::uint32_t i = 0; i < children.head().opened.load(std::memory_order_relaxed); ++i) {
        const double n = children.rave_visits(i).load(std::memory_order_relaxed);
        const double visits = columns.visits[i];
        if (n == 0) {
            if (visits == 0) columns.means[i] = unknown;
            continue;
        }
        const double played_later = children.rave_total(i).load(std::memory_order_relaxed) / n;
        const double beta = visits == 0 ? 1 : rave.beta(visits);
        columns.means[i] = (1 - beta) * columns.means[i] + beta * played_later;
    }
}

}  // namespace hyoka::search
