// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bulk/bulk.h"
#include "bulk/game_table.h"

/// Comparison training: evaluations that put the moves of records above all others (Sato 2013).
namespace hyoka::bulk {

/// An objective, as far as it depends on positions. The position after the record's move is worth x, in the view of the
/// side that moved, and that after another move x'; both where captures have come to rest.
struct Objective {
    std::span<const std::array<float, 4>> weights;  // by row: slope, margin, weight of a move, weight of the outcome
    std::span<const float> results;                 // by row: the first player's, 0 to 1; NaN: not known
    double outcome_scale = 1;                       // 1 / b: x is worth 1 / (1 + exp(-x / outcome_scale))
};

/// J1 = sum of weight / (1 + exp(-slope (x' - x + margin))) over other moves, and
/// J2 = - sum of weight (y log g(x) + (1 - y) log (1 - g(x))).
struct Losses {
    double moves = 0;
    double outcomes = 0;
    std::uint64_t positions = 0;
    std::uint64_t leaves = 0;
    Losses& operator+=(const Losses& other) {
        moves += other.moves;
        outcomes += other.outcomes;
        positions += other.positions;
        leaves += other.leaves;
        return *this;
    }
};

/// Search results of the moves of positions, by row.
struct Agreement {
    std::vector<std::int32_t> ranks;    // of the record's move: 1 for the best; 0: none, or nothing to compare
    std::vector<std::int32_t> choices;  // legal moves
    std::vector<std::int32_t> scores;   // after the record's move, the first player's view
};

/// The positions of some games with the leaves of all their moves: searched now and then, differentiated often. What
/// is found does not depend on the number of threads.
class Comparisons {
public:
    virtual ~Comparisons() = default;

    /// Throws NotationError if the game has no such set of features. Pre: the table outlives it.
    static std::unique_ptr<Comparisons> of(const GameTable& games, const std::vector<Block>& blocks,
                                           std::string_view set);

    /// Follows captures after each move by an evaluation with these weights. A move whose value is `reach` or more (by
    /// row) from that of the record's is not looked at more closely: whether it is better is all that counts.
    virtual void search(std::span<const float> weights, std::span<const float> reach, Running& running) = 0;
    const Agreement& agreement() const { return agreement_; }

    /// What an objective makes of the leaves found last and, unless it is empty, its derivatives added to `gradient`.
    /// Of several batches of games one is taken.
    virtual Losses differentiate(std::span<const float> weights, const Objective& objective, std::size_t batch,
                                 std::size_t batches, std::span<float> gradient, Running& running) const = 0;

protected:
    Agreement agreement_;
};

}  // namespace hyoka::bulk
