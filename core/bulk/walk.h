// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "bulk/bulk.h"
#include "bulk/game_table.h"
#include "records/recorded_game.h"

namespace hyoka::bulk {

/// What one thread of a pass does with the positions that it comes to. Results go where their row says, or, where rows
/// are of any length, to the block's own place: so they don't depend on the threads.
template <class G>
class Visitor {
public:
    using Move = typename G::Move;

    virtual ~Visitor() = default;
    /// The rows that follow are of this block, all of them and no others.
    virtual void start_block(std::size_t) {}
    virtual void start_game(const G&) {}
    virtual void play(const G&, Move) {}  // the position before, and the move
    virtual void visit(std::size_t row, const records::RecordedGame<G>& at) = 0;
};

/// The failure of the first block that has one, whichever thread found it when.
class FirstBlockFailure {
public:
    void note(std::size_t block) {
        const std::scoped_lock lock(mutex_);
        if (block < block_) {
            block_ = block;
            failure_ = std::current_exception();
        }
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::mutex mutex_;
    std::size_t block_ = static_cast<std::size_t>(-1);
    std::exception_ptr failure_;
};

/// Walks one game to its last wanted position.
template <class G>
void walk_game(const GameTable& games, std::size_t game, Visitor<G>& visitor, Running& running) {
    const auto plies = games.plies_of(game);
    if (plies.empty()) return;
    records::RecordedGame<G> at(games.start_of(game), games.komi[game], games.moves_of(game));
    visitor.start_game(at.position());
    std::size_t row = games.first_row(game);
    for (const std::int32_t ply : plies) {
        if (running.stop.load(std::memory_order_relaxed)) return;
        while (at.ply() < static_cast<std::size_t>(ply))
            at.advance([&](const G& before, typename G::Move move) { visitor.play(before, move); });
        visitor.visit(row++, at);
    }
    running.done.fetch_add(plies.size(), std::memory_order_relaxed);
}

/// See `run`; `make` gives every thread its visitor.
template <class G>
void walk_games(const GameTable& games, const std::vector<Block>& blocks, Running& running, const auto& make) {
    std::atomic<std::size_t> next = 0;
    FirstBlockFailure failure;
    const auto walk_block = [&](std::size_t block, Visitor<G>& visitor) {
        visitor.start_block(block);
        for (std::size_t game = blocks[block].begin; game < blocks[block].end; ++game) {
            const auto named = [&](const std::exception& error) {
                return "game " + std::to_string(games.ids[game]) + ": " + error.what();
            };
            try {
                walk_game(games, game, visitor, running);
            } catch (const IllegalMoveError& error) {
                throw IllegalMoveError(named(error));
            } catch (const NotationError& error) {
                throw NotationError(named(error));
            }
        }
    };
    const auto work = [&] {
        std::size_t block = 0;
        try {
            const auto visitor = make();
            while (!running.stop && (block = next++) < blocks.size()) walk_block(block, *visitor);
        } catch (...) {
            // Blocks before this one are taken already and come to their end; no other is begun.
            failure.note(block);
            next = blocks.size();
        }
    };
    {
        std::vector<std::jthread> helpers;
        const std::size_t useful = std::min<std::size_t>(running.threads, blocks.size());
        try {
            for (std::size_t i = 1; i < useful; ++i) helpers.emplace_back(work);
        } catch (const std::system_error&) {
            // The machine gives no more threads: those that started do the work.
        }
        work();
    }
    failure.rethrow();
}

}  // namespace hyoka::bulk
