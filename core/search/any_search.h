// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "line.h"
#include "playout.h"
#include "search/limits.h"
#include "search/mcts_limits.h"
#include "search/tree.h"

/// Game-independent interface of a search: moves are codes, lines are passed through.
namespace hyoka::search {

using Codes = std::vector<std::uint16_t>;

/// A line of play of some game.
class AnyLine {
public:
    virtual ~AnyLine() = default;
    virtual Player to_play() const = 0;
};

template <Game G>
class HeldLine final : public AnyLine {
public:
    explicit HeldLine(Line<G> line) : line_(std::move(line)) {}
    Player to_play() const override { return line_.to_play(); }
    const Line<G>& line() const { return line_; }

private:
    Line<G> line_;
};

/// Pre: it is a line of G.
template <Game G>
const Line<G>& line_of(const AnyLine& line) {
    const auto* held = dynamic_cast<const HeldLine<G>*>(&line);
    if (!held) throw std::invalid_argument("a line of another game");
    return held->line();
}

template <Game G>
std::vector<typename G::Move> moves_of(std::span<const std::uint16_t> codes) {
    std::vector<typename G::Move> moves;
    for (const std::uint16_t code : codes) moves.push_back(G::Move::from_code(code));
    return moves;
}
template <Game G>
Codes codes_of(std::span<const typename G::Move> moves) {
    Codes codes;
    for (const auto move : moves) codes.push_back(static_cast<std::uint16_t>(move.code()));
    return codes;
}

/// A tree search; see Mcts.
class AnyTreeSearch {
public:
    virtual ~AnyTreeSearch() = default;
    /// Only the moves in `only` are looked at, if there are any.
    virtual void set_root(const AnyLine& line, std::span<const std::uint16_t> only) = 0;
    virtual MctsEnd run(const MctsLimits& limits, const std::atomic<bool>& interrupt) = 0;
    virtual void clear() = 0;
    virtual const Tree& tree() const = 0;
    virtual std::uint64_t playouts() const = 0;
    virtual int depth() const = 0;
    virtual std::optional<int> plies_to_result() const = 0;
};

/// A root move of alpha-beta, what it is worth to the first player, and what is expected after it.
struct CodedVariation {
    int score = 0;
    Codes moves;
};
/// Result of a completed depth.
struct CodedIteration {
    int depth = 0;
    int selective_depth = 0;
    std::uint64_t nodes = 0;
    double time_s = 0;
    int permille_full = 0;
    std::vector<CodedVariation> variations;
};
struct CodedResult : CodedIteration {
    int score = 0;
    std::vector<CodedIteration> iterations;
};

/// An alpha-beta search; see AlphaBeta.
class AnyAlphaBeta {
public:
    virtual ~AnyAlphaBeta() = default;
    /// `report` hears of every completed depth.
    virtual CodedResult search(const AnyLine& line, std::span<const std::uint16_t> only, const Limits& limits,
                               const std::atomic<bool>& interrupt,
                               const std::function<void(const CodedIteration&)>& report) = 0;
    virtual void clear() = 0;
};

/// Playout results of one move.
struct CodedSample {
    std::uint16_t move = 0;
    std::uint64_t playouts = 0;
    double value = 0;  // sums, for the first player
    double score = 0;
};

/// Flat Monte Carlo; see sample_moves.
class AnyMonteCarlo {
public:
    virtual ~AnyMonteCarlo() = default;
    /// Playouts from number `first` on: `a_move` for each move if that is not 0; else `playouts` in all, as many for
    /// each move and one at least (with `divide` one move's share in total); else as many as fit into the
    /// time.
    virtual std::vector<CodedSample> sample(const AnyLine& line, std::span<const std::uint16_t> only,
                                            std::uint64_t first, std::uint64_t playouts, std::uint64_t a_move,
                                            double time_s, const std::atomic<bool>& interrupt) const = 0;
};

/// Playouts by one policy in bulk, from a line's last position; its last moves are known, its repetitions are not.
class AnyPlayouts {
public:
    virtual ~AnyPlayouts() = default;
    /// See fill_with_playouts; without a limit the game's own.
    virtual void fill(std::vector<PlayoutEnd>& ends, const AnyLine& line, std::uint64_t seed, std::optional<int> limit,
                      unsigned threads, const std::atomic<bool>& stop) const = 0;
};

}  // namespace hyoka::search
