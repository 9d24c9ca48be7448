// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "line.h"
#include "playouts/playout_policy.h"
#include "search/limits.h"

namespace hyoka::search {

/// Playout results of one move.
template <class Move>
struct MoveSample {
    Move move;
    std::uint64_t playouts = 0;
    double value = 0;  // sum of the values, for the first player
    double score = 0;  // sum of the final scores, for the first player
};

/// The classical model: every move gets the same number of playouts, and nothing below it is searched.
///
/// Playouts number `first` and on go round the moves, so that a limit of time leaves them equal but for one. The k-th
/// playout depends on the seed and k alone, however many threads there are.
template <Game G>
std::vector<MoveSample<typename G::Move>> sample_moves(const Line<G>& line, std::span<const typename G::Move> moves,
                                                       const playouts::PlayoutPolicy<G>& policy, std::uint64_t first,
                                                       std::uint64_t playouts, double time_s, std::uint64_t seed,
                                                       unsigned threads, const std::atomic<bool>& interrupt) {
    using Sample = MoveSample<typename G::Move>;
    std::vector<Sample> samples;
    std::vector<G> positions;
    for (const auto move : moves) {
        samples.push_back({move});
        positions.push_back(line.position());
        positions.back().play(move);
    }
    if (samples.empty()) return samples;
    std::optional<typename G::Move> last;
    if (!line.moves().empty()) last = line.moves().back();
    std::atomic<std::uint64_t> next = 0;
    std::atomic<bool> over = false;
    std::vector<std::vector<Sample>> found(std::max(threads, 1u), samples);
    FirstFailure failure;
    const auto work = [&](std::vector<Sample>& own) {
        const auto policy_here = policy.clone();
        Stop stop({.time_s = time_s}, &interrupt);
        for (std::uint64_t k; !over && (k = next.fetch_add(1, std::memory_order_relaxed)) < playouts;) {
            if (k % 64 == 0 && stop.look()) over = true;
            const auto i = static_cast<std::size_t>((first + k) % samples.size());
            Rng rng = Rng::for_task(seed + first + k, 0);
            const auto end = policy_here->play({positions[i], samples[i].move, last}, rng, nullptr);
            own[i].playouts += 1;
            own[i].value += end.value;
            own[i].score += end.score;
        }
    };
    {
        std::vector<std::jthread> helpers;
        const auto guarded = [&](std::size_t i) { failure.guard([&] { work(found[i]); }, over); };
        for (std::size_t i = 1; i < found.size(); ++i) helpers.emplace_back([&, i] { guarded(i); });
        guarded(0);
    }
    failure.rethrow();
    for (const auto& part : found)
        for (std::size_t i = 0; i < samples.size(); ++i) {
            samples[i].playouts += part[i].playouts;
            samples[i].value += part[i].value;
            samples[i].score += part[i].score;
        }
    return samples;
}

}  // namespace hyoka::search
