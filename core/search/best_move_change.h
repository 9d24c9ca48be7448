// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <span>
#include <thread>
#include <vector>

#include "search/alphabeta.h"
#include "search/difficulty.h"

namespace hyoka::search {

/// Searches to the depths 1 ... `depths`, with nothing learned before.
///
/// The paper's correct depth is the "depth of search required in order to determine the correct move". A move found at
/// depth 1 and dropped at depth 2 is not determined, so we take the first depth from which on the best move is
/// `expert`, up to the last depth. Pre: the game is not over.
template <Game G, class Evaluator>
BestMoveChange best_move_change(AlphaBeta<G, Evaluator>& search, const Line<G>& line, typename G::Move expert,
                                int depths = 3, const std::atomic<bool>* interrupt = nullptr) {
    search.clear();
    SearchOptions<G> options;
    options.interrupt = interrupt;
    const auto result = search.search(line, {.depth = depths}, options);
    BestMoveChange change;
    change.correct_depth = depths + 1;
    std::optional<typename G::Move> last;
    // A search that has seen everything ends early: its best move stays what it is.
    for (const auto& iteration : result.iterations) {
        const auto best = iteration.variations.front().moves.front();
        change.changes += last && *last != best;
        if (best != expert)
            change.correct_depth = depths + 1;
        else if (!last || *last != best)
            change.correct_depth = iteration.depth;
        last = best;
    }
    return change;
}

/// The same for many positions without a past (those after an interrupt are left at 0), shared among `threads` threads;
/// each position's result does not depend on their number. Pre: as many moves as positions, and no game is over.
template <Game G, class Evaluator>
std::vector<BestMoveChange> best_move_changes(std::span<const G> positions, std::span<const typename G::Move> experts,
                                              const Evaluator& evaluator, AlphaBetaSettings settings = {},
                                              int depths = 3, unsigned threads = 1,
                                              const std::atomic<bool>* interrupt = nullptr) {
    assert(positions.size() == experts.size());
    settings.table.mebibytes = std::min(settings.table.mebibytes, 1);  // so few plies fill no more
    std::vector<BestMoveChange> changes(positions.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> over = false;
    FirstFailure failure;
    const auto work = [&] {
        AlphaBeta<G, Evaluator> search(evaluator, settings);
        for (std::size_t i = next++; i < positions.size() && !over; i = next++) {
            changes[i] = best_move_change(search, Line<G>(positions[i]), experts[i], depths, interrupt);
            if (interrupt && *interrupt) over = true;
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([&] { failure.guard(work, over); });
        failure.guard(work, over);
    }
    failure.rethrow();
    return changes;
}

}  // namespace hyoka::search
