// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/leaves.h"
#include "search/mate.h"
#include "search/othello_ending.h"

/// Solvers at the leaves of a tree search.
namespace hyoka::search {

/// Looks for a forced mate of the side to move.
template <class G>
class MateProver final : public LeafProver<G> {
public:
    /// At most this many nodes.
    explicit MateProver(std::uint64_t nodes) : nodes_(nodes), solver_({.hash_mib = 8}) {}
    Proof prove(const G& game) override {
        return solver_.verdict(game, {.nodes = nodes_}) == MateVerdict::mate ? Proof::won : Proof::none;
    }
    std::unique_ptr<LeafProver<G>> clone() const override { return std::make_unique<MateProver>(nodes_); }

private:
    std::uint64_t nodes_;
    MateSolver<G> solver_;
};

/// Solves Othello positions with few empty squares.
class EndingProver final : public LeafProver<Othello> {
public:
    explicit EndingProver(int empties) : empties_(empties), solver_({.hash_mib = 8}) {}
    Proof prove(const Othello& game) override {
        if (64 - count_bits(game.discs(Player::first) | game.discs(Player::second)) > empties_) return Proof::none;
        const EndingResult ending = solver_.solve_result(game);
        return proof_of(result_of_score(ending.score), game.to_play());
    }
    std::unique_ptr<LeafProver<Othello>> clone() const override { return std::make_unique<EndingProver>(empties_); }

private:
    int empties_;
    OthelloEnding solver_;
};

}  // namespace hyoka::search
