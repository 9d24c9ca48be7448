// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "game.h"

namespace hyoka {

/// Whether tables of perft count a game that ended earlier as a line: the custom in Othello.
template <class G>
constexpr bool perft_counts_finished_games() {
    if constexpr (requires { typename G::Position; })
        return perft_counts_finished_games<typename G::Position>();
    else
        return requires { G::perft_counts_finished_games; };
}

/// How many lines of exactly `depth` moves start here. The last ply is counted without being played.
/// The number means nothing once `stop` has been set.
template <Game G>
std::uint64_t perft(const G& game, int depth, const std::atomic<bool>* stop = nullptr) {
    constexpr bool counts_finished = perft_counts_finished_games<G>();
    if (depth <= 0) return 1;
    if (depth == 1) {
        const std::uint64_t moves = game.count_moves();
        return counts_finished && moves == 0 ? 1 : moves;
    }
    std::uint64_t lines = 0;
    const auto moves = game.legal_moves();
    for (const auto move : moves) {
        if (depth > 3 && stop && stop->load(std::memory_order_relaxed)) break;
        G after = game;
        after.play(move);
        lines += perft(after, depth - 1, stop);
    }
    return counts_finished && moves.empty() ? 1 : lines;
}

/// The rules of movement alone, where a game has rules beyond them that tables of perft ignore.
template <Game G>
G for_perft(const G& game) {
    if constexpr (requires { game.movement_only(); })
        return game.movement_only();
    else
        return game;
}

}  // namespace hyoka
