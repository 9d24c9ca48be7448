// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "line.h"
#include "strengths/move_model.h"

namespace hyoka::search {

/// A position on its way down from the end of a line, with the past that the rules look back at. Going back to the
/// line's end costs one copy of the position and allocates nothing.
template <Game G>
class Walk {
public:
    using Move = typename G::Move;
    using Trace = typename Line<G>::Trace;

    explicit Walk(const Line<G>& line)
        : root_(line.position()), game_(root_), past_(line.past().begin(), line.past().end()), length_(past_.size()) {
        const auto moves = line.moves();
        if (!moves.empty()) root_context_.last = moves.back();
        if (moves.size() > 1) root_context_.before_last = moves[moves.size() - 2];
        context_ = root_context_;
        past_.reserve(length_ + 512);
    }

    void rewind() {
        game_ = root_;
        context_ = root_context_;
        past_.resize(length_);
    }
    void play(Move move) {
        if constexpr (!std::is_same_v<Trace, NoTrace>) past_.push_back(game_.trace());
        game_.play(move);
        context_ = context_.after(move);
    }
    const G& game() const { return game_; }
    /// The moves that led here.
    const strengths::Context<G>& context() const { return context_; }

    std::optional<Outcome> outcome() const {
        if (const auto over = outcome_by_past(game_, std::span<const Trace>(past_))) return over;
        return game_.outcome();
    }
    /// Whether the past forbids a move that is legal in the position: superko in Go.
    bool is_forbidden(Move move) const { return forbidden_by_past(game_, std::span<const Trace>(past_), move); }

private:
    G root_;
    G game_;
    strengths::Context<G> root_context_;
    strengths::Context<G> context_;
    std::vector<Trace> past_;
    std::size_t length_;  // of the line's own past
};

}  // namespace hyoka::search
