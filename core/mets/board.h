// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "game.h"
#include "mets/tree.h"

namespace hyoka::mets {

/// A board with so wide a border that every question about it has an answer: what stands on a point, as both players
/// see it. Between two rows one border is enough.
template <int N>
class Board {
public:
    static constexpr int side = N;
    static constexpr int area = N * N;

    Board() { cells_.fill(outside); }
    /// 0 the first player's, 1 the second's, 2 none.
    void set(int point, std::uint8_t stone) { cells_[at(point)] = stone; }
    std::uint8_t stone(int point) const { return cells_[at(point)]; }

    /// Where a walk down the tree ended, below which node, and how far from the point it looked.
    struct Found {
        Branch branch;  // a leaf, or nowhere
        Branch above;   // nowhere if no stone was asked about
        std::uint8_t radius;
    };
    /// Many points at once: each step waits for memory, and the walks wait side by side. `start_of(point)`: where the
    /// questions about stones begin.
    template <class StartOf, class Place>
    void classify_all(const Tree& tree, std::span<const std::uint16_t> points, Player mover, StartOf&& start_of,
                      Place&& place) const {
        constexpr std::size_t lanes = 8;
        struct Walk {
            const std::uint8_t* middle;
            Branch branch;
            Branch above;
            std::uint16_t question;
            std::uint16_t point;
        };
        std::array<Walk, lanes> walks;
        const auto& seen_as = views[static_cast<std::size_t>(mover)];
        const Node* nodes = tree.nodes().data();
        std::size_t next = 0;
        std::size_t going = 0;
        const auto start = [&](Walk& walk) {
            const std::uint16_t point = points[next++];
            walk = {&cells_[at(point)], start_of(point), nowhere, 0, point};
        };
        while (going < lanes && next < points.size()) start(walks[going++]);
        while (going > 0)
            for (std::size_t lane = 0; lane < going;) {
                Walk& walk = walks[lane];
                if (is_node(walk.branch)) {
                    const Node& node = nodes[walk.branch];
                    walk.question = node.question;
                    walk.above = walk.branch;
                    walk.branch = node.children[seen_as[walk.middle[steps[node.question]]]];
                    if (is_node(walk.branch)) __builtin_prefetch(&nodes[walk.branch]);
                    ++lane;
                    continue;
                }
                place(walk.point, Found{walk.branch, walk.above, rings[walk.question]});
                if (next < points.size())
                    start(walk);
                else
                    walk = walks[--going];
            }
    }
    Found classify(const Tree& tree, int point, Player mover) const {
        return classify(tree, point, mover, tree.root());
    }
    Found classify(const Tree& tree, int point, Player mover, Branch branch) const {
        const std::uint8_t* middle = &cells_[at(point)];
        const auto& seen_as = views[static_cast<std::size_t>(mover)];
        const Node* nodes = tree.nodes().data();
        Branch above = nowhere;
        std::uint16_t question = 0;
        while (is_node(branch)) {
            const Node& node = nodes[branch];
            above = branch;
            question = node.question;
            branch = node.children[seen_as[middle[steps[question]]]];
        }
        return {branch, above, rings[question]};
    }

private:
    static constexpr int stride = N + farthest;
    static constexpr std::size_t at(int point) {
        return static_cast<std::size_t>((point / N + farthest) * stride + farthest + point % N);
    }
    static constexpr std::array<std::array<State, state_count>, 2> views = {
        {{own, others, vacant, outside}, {others, own, vacant, outside}}};
    static constexpr auto steps = [] {
        std::array<std::int16_t, question_count> all{};
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<std::int16_t>(questions[i].down * stride + questions[i].right);
        return all;
    }();
    static constexpr auto rings = [] {
        std::array<std::uint8_t, question_count> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(ring_of(static_cast<int>(i)));
        return all;
    }();

    std::array<std::uint8_t, std::size_t{stride} * (N + 2 * farthest) + farthest> cells_;
};

/// The leaves of all empty points of a board that changes a little from move to move: a point is looked at again only
/// if something changed within the radius that its leaf was found by, or if its tactics lead elsewhere.
template <int N>
class Watcher {
public:
    static constexpr int area = N * N;

    explicit Watcher(const Tree& tree) : tree_(tree) {
        for (auto& radii : radii_) radii.fill(unknown);
    }
    std::uint8_t stone(int point) const { return board_.stone(point); }
    void set(int point, std::uint8_t stone) {
        board_.set(point, stone);
        const auto& distances = distance_table()[static_cast<std::size_t>(point)];
        for (std::size_t mover = 0; mover < 2; ++mover)
            for (std::size_t other = 0; other < area; ++other)
                stale_[mover][other] |= static_cast<std::uint8_t>(distances[other] <= radii_[mover][other]);
    }
    /// Calls visit(point, branch) for each empty point. `start_of(point)`: where the questions about stones begin.
    template <class StartOf, class Visit>
    void for_each_empty(Player mover, StartOf&& start_of, Visit&& visit) {
        auto& stale = stale_[static_cast<std::size_t>(mover)];
        auto& radii = radii_[static_cast<std::size_t>(mover)];
        auto& branches = branches_[static_cast<std::size_t>(mover)];
        auto& starts = starts_[static_cast<std::size_t>(mover)];
        std::array<std::uint16_t, area> anew;
        std::size_t number = 0;
        for (int point = 0; point < area; ++point) {
            const auto i = static_cast<std::size_t>(point);
            anew[number] = static_cast<std::uint16_t>(point);
            if (board_.stone(point) != vacant) continue;
            const Branch start = start_of(point);
            number += stale[i] || radii[i] == unknown || start != starts[i];
            starts[i] = start;
        }
        board_.classify_all(
            tree_, {anew.data(), number}, mover, [&](std::size_t i) { return starts[i]; },
            [&](std::size_t i, typename Board<N>::Found found) {
                branches[i] = found.branch;
                radii[i] = found.radius;
                stale[i] = 0;
            });
        for (int point = 0; point < area; ++point)
            if (board_.stone(point) == vacant) visit(point, branches[static_cast<std::size_t>(point)]);
    }

private:
    static constexpr std::uint8_t unknown = 255;
    using Distances = std::array<std::array<std::uint8_t, area>, area>;
    static const Distances& distance_table() {
        static const Distances table = [] {
            Distances made{};
            for (int a = 0; a < area; ++a)
                for (int b = 0; b < area; ++b) {
                    const int down = a / N < b / N ? b / N - a / N : a / N - b / N;
                    const int right = a % N < b % N ? b % N - a % N : a % N - b % N;
                    made[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] =
                        static_cast<std::uint8_t>(down + right);
                }
            return made;
        }();
        return table;
    }

    const Tree& tree_;
    Board<N> board_;
    std::array<std::array<std::uint8_t, area>, 2> stale_{};  // by mover and point
    std::array<std::array<std::uint8_t, area>, 2> radii_;
    std::array<std::array<Branch, area>, 2> branches_{};
    std::array<std::array<Branch, area>, 2> starts_{};
};

}  // namespace hyoka::mets
