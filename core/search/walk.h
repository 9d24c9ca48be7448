// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "line.h"

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
        if (!line.moves().empty()) root_last_ = last_ = line.moves().back();
        past_.reserve(length_ + 512);
    }

    void rewind() {
        game_ = root_;
        last_ = root_last_;
        past_.resize(length_);
    }
    void play(Move move) {
        if constexpr (!std::is_same_v<Trace, NoTrace>) past_.push_back(game_.trace());
        game_.play(move);
        last_ = move;
    }
    const G& game() const { return game_; }
    /// The move that led here, if any.
    std::optional<Move> last() const { return last_; }

    std::optional<Outcome> outcome() const {
        if constexpr (requires { game_.outcome_after(past_); })
            if (const auto over = game_.outcome_after(past_)) return over;
        return game_.outcome();
    }
    /// Whether the past forbids a move that is legal in the position: superko in Go.
    bool is_forbidden([[maybe_unused]] Move move) const {
        if constexpr (requires { game_.trace_after(move); })
            return move != Move::pass() &&
                   std::find(past_.begin(), past_.end(), game_.trace_after(move)) != past_.end();
        else
            return false;
    }

private:
    G root_;
    G game_;
    std::optional<Move> root_last_;
    std::optional<Move> last_;
    std::vector<Trace> past_;
    std::size_t length_;  // of the line's own past
};

}  // namespace hyoka::search
