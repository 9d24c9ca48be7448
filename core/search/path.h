// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "line.h"
#include "search/tactics.h"

namespace hyoka::search {

/// The positions before the one that a search looks at: the game's past, then its own path. Answers at once, in nearly
/// all cases, that nothing is repeated. Games without such rules keep nothing.
template <Game G>
class Path {
public:
    using Move = typename G::Move;
    using Trace = typename Line<G>::Trace;
    static constexpr bool needed = !std::same_as<Trace, NoTrace>;

    /// `plies`: how much longer than the line the path may get.
    void start([[maybe_unused]] const Line<G>& line, [[maybe_unused]] std::size_t plies) {
        if constexpr (needed) {
            while (!traces_.empty()) pop();  // quicker than to clear all slots
            traces_.reserve(line.past().size() + plies);
            for (const Trace& trace : line.past()) remember(trace);
            floor_ = 0;
        }
    }
    /// Before a move is played.
    void push([[maybe_unused]] const G& game) {
        if constexpr (needed) remember(game.trace());
    }
    void pop() {
        if constexpr (needed) {
            --seen_[slot(hash_of(traces_.back()))];
            traces_.pop_back();
        }
    }
    /// Marks an irreversible move: earlier positions cannot recur. Returns the state to restore.
    std::size_t cut() { return std::exchange(floor_, traces_.size()); }
    void restore(std::size_t floor) { floor_ = floor; }

    /// How the game counts in a search because its position has been on the path before.
    std::optional<Result> repetition([[maybe_unused]] const G& game) const {
        if constexpr (requires { Tactics<G>::repetition(game, std::span<const Trace>{}); })
            if (seen_[slot(hash_of(game.hash()))] != 0)
                return Tactics<G>::repetition(game, std::span(traces_).subspan(floor_));
        return std::nullopt;
    }
    /// Go's positional superko.
    bool forbids([[maybe_unused]] const G& game, [[maybe_unused]] Move move) const {
        if constexpr (requires { game.trace_after(move); }) {
            if (move == Move::pass()) return false;
            const Trace after = game.trace_after(move);
            return seen_[slot(after)] != 0 && std::find(traces_.begin(), traces_.end(), after) != traces_.end();
        } else {
            return false;
        }
    }

private:
    static std::uint64_t hash_of(std::uint64_t trace) { return trace; }
    static std::uint64_t hash_of(const auto& trace) { return trace.hash; }
    static std::size_t slot(std::uint64_t hash) { return hash % slots; }

    void remember(const Trace& trace) {
        traces_.push_back(trace);
        ++seen_[slot(hash_of(trace))];
    }

    static constexpr std::size_t slots = needed ? 4096 : 1;
    std::vector<Trace> traces_;
    std::array<std::uint16_t, slots> seen_{};  // how many traces fall into each slot
    std::size_t floor_ = 0;
};

}  // namespace hyoka::search
