// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

#include "game.h"
#include "games/go.h"
#include "line.h"

namespace hyoka {

/// A game on its way to the end by random moves.
template <Game G>
class RandomPlayout {
public:
    explicit RandomPlayout(const G& start) : game_(start) { make_room(); }
    /// Begins anew, keeping the room it has allocated.
    void restart(const G& start) {
        game_ = start;
        make_room();
    }
    /// The random move to play next; nullopt when the game is over.
    std::optional<typename G::Move> draw(Rng& rng) { return game_.random_move(rng); }
    /// Pre: the move is legal.
    void play(typename G::Move move) { game_.play(move); }
    /// Plays one random move; false when the game is over.
    bool play_random(Rng& rng) {
        const auto move = draw(rng);
        if (move) play(*move);
        return move.has_value();
    }
    const G& game() const { return game_; }

private:
    void make_room() {
        if constexpr (requires { game_.reserve(0); }) game_.reserve(1024);
    }

    G game_;
};

template <int N>
class RandomPlayout<Go<N>> : public GoPlayout<N> {
    using GoPlayout<N>::GoPlayout;
};

/// How many plies a playout of this game may last before the position is scored as it stands (shogi: a draw).
template <class G>
constexpr int playout_limit() {
    if constexpr (requires { G::playout_limit; })
        return G::playout_limit;
    else if constexpr (requires { typename G::Position; })
        return playout_limit<typename G::Position>();
    else
        return std::numeric_limits<int>::max();
}

struct PlayoutEnd {
    double score = 0;  // for the first player
    int plies = 0;
    bool over = false;  // by the rules, not by the limit of plies
};

template <Game G>
PlayoutEnd play_out(RandomPlayout<G>& playout, Rng& rng, int limit) {
    int plies = 0;
    while (plies < limit && playout.play_random(rng)) ++plies;
    return {playout.game().score(), plies, plies < limit || playout.game().outcome().has_value()};
}

/// Fills `ends` with playouts; the i-th depends on `seed` and i alone, however many threads share the work. Each thread
/// asks `make_player` for what plays one, given its Rng. Ends early, leaving the rest untouched, once `stop` is set.
template <class MakePlayer>
void fill_with_playouts(std::vector<PlayoutEnd>& ends, std::uint64_t seed, unsigned threads,
                        const std::atomic<bool>& stop, const MakePlayer& make_player) {
    std::atomic<std::size_t> next = 0;
    const std::size_t chunk = std::clamp<std::size_t>(ends.size() / threads / 8, 1, 64);
    const auto work = [&] {
        auto play = make_player();
        for (std::size_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < ends.size();) {
            for (std::size_t i = begin; i < std::min(begin + chunk, ends.size()); ++i) {
                if (stop.load(std::memory_order_relaxed)) return;
                Rng rng = Rng::for_task(seed, i);
                ends[i] = play(rng);
            }
        }
    };
    std::vector<std::jthread> helpers;
    try {
        for (unsigned i = 1; i < threads && i * chunk < ends.size(); ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
        // The machine gives no more threads: those that started do the work.
    }
    work();
}

/// Random playouts from `start`; see fill_with_playouts.
template <Game G>
void play_out_many(const G& start, std::vector<PlayoutEnd>& ends, std::uint64_t seed, int limit, unsigned threads,
                   const std::atomic<bool>& stop) {
    const RandomPlayout<G> root(start);
    fill_with_playouts(ends, seed, threads, stop, [&] {
        // Copied to again and again: its room is allocated once.
        return [&root, limit, playout = RandomPlayout<G>(root)](Rng& rng) mutable {
            playout = root;
            return play_out(playout, rng, limit);
        };
    });
}

}  // namespace hyoka
