// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "search/any_search.h"

/// Self-play games with search results: training data of networks.
namespace hyoka::search {

/// How games are played. Chance belongs to the game's number: each is the same whichever were played before.
struct SelfPlayPlan {
    std::uint64_t playouts = 400;  // of a move that is to be learned from
    std::uint64_t quick = 80;      // of the others
    double full = 0.25;            // the share of moves to be learned from
    int random_plies = 4;          // maximum random moves at the start of a game
    int sampled_plies = 12;        // until then moves are drawn by visits; later the most visited is played
    int max_plies = 1000;          // then a game is scored as it stands
    double resign = 0;             // resign below this win probability; 0: never
    std::uint64_t seed = 0;
};

/// Games side by side; plies are counted through all of them.
struct PlayedGames {
    std::vector<std::int64_t> move_offsets = {0};  // game i's moves are [i, i + 1)
    Codes moves;
    std::vector<float> values;                      // by ply: the root's, for the first player; NaN: not searched
    std::vector<std::int64_t> visit_offsets = {0};  // ply i's visits are [i, i + 1); none: not to be learned from
    Codes visited;
    std::vector<std::uint32_t> visits;
    std::vector<std::int8_t> results;  // by game, of the first player: 1, 0, -1

    void end_ply(std::uint16_t move, float value) {
        moves.push_back(move);
        values.push_back(value);
        visit_offsets.push_back(static_cast<std::int64_t>(visited.size()));
    }
    void end_game(std::int8_t result) {
        move_offsets.push_back(static_cast<std::int64_t>(moves.size()));
        results.push_back(result);
    }
    /// Takes back the plies of a game that came to no end.
    void drop_open_game() {
        const auto plies = static_cast<std::size_t>(move_offsets.back());
        moves.resize(plies);
        values.resize(plies);
        visit_offsets.resize(plies + 1);
        visited.resize(static_cast<std::size_t>(visit_offsets.back()));
        visits.resize(visited.size());
    }
};

/// Plays games number `first`, `first` + 1, ... from the starts given. `make` gives a tree search for a seed; with two
/// ways to make one, the one plays the first player in even games and the second in odd ones.
template <Game G, class Make>
PlayedGames play_games(std::span<const Make> makers, std::span<const G> starts, std::uint64_t first,
                       const SelfPlayPlan& plan, const std::atomic<bool>& interrupt) {
    PlayedGames played;
    for (std::size_t i = 0; i < starts.size() && !interrupt; ++i) {
        const std::uint64_t number = first + i;
        Rng rng = Rng::for_task(plan.seed, number);
        std::vector<std::unique_ptr<AnyTreeSearch>> players;
        for (const Make& make : makers) players.push_back(make(rng.bits() >> 2));
        Line<G> line(starts[i]);
        const auto play = [&](typename G::Move move, float value) {
            line.play(move);
            played.end_ply(static_cast<std::uint16_t>(move.code()), value);
        };
        for (auto left = rng.below(static_cast<std::uint32_t>(plan.random_plies) + 1); left > 0; --left) {
            const auto move = line.outcome() ? std::nullopt : line.position().random_move(rng);
            if (!move || !line.is_legal(*move)) break;
            play(*move, std::numeric_limits<float>::quiet_NaN());
        }
        std::optional<Result> resigned;
        // Some games are played out, so that giving up too early would be learned from.
        const bool may_resign = plan.resign > 0 && rng.below(8) > 0;
        int ply = static_cast<int>(line.moves().size());
        for (; !line.outcome() && ply < plan.max_plies && !interrupt; ++ply) {
            const bool is_one = (line.to_play() == Player::first) == (number % 2 == 0);
            AnyTreeSearch& player = *players[players.size() == 1 || is_one ? 0 : 1];
            const bool full = static_cast<double>(rng.bits() >> 11) * 0x1p-53 < plan.full;
            player.set_root(HeldLine<G>(line), {});
            player.run({.playouts = full ? plan.playouts : plan.quick}, interrupt);
            const Tree& tree = player.tree();
            const auto children = tree.children_of(tree.root());
            if (!children || interrupt) break;
            const double value = tree.root().value();
            if (may_resign && (line.to_play() == Player::first ? value : 1 - value) < plan.resign) {
                resigned = win_for(other(line.to_play()));
                break;
            }
            const auto ranked = tree.ranked(*children);
            std::uint64_t sum = 0;
            for (const Node& node : ranked) {
                sum += node.visits();
                if (!full || node.visits() == 0) continue;
                played.visited.push_back(node.move());
                played.visits.push_back(node.visits());
            }
            std::size_t chosen = 0;
            if (ply < plan.sampled_plies && sum > 0) {
                auto left = static_cast<std::int64_t>(rng.bits() % sum);
                while ((left -= ranked[chosen].visits()) >= 0) ++chosen;
            }
            play(G::Move::from_code(ranked[chosen].move()), static_cast<float>(value));
        }
        if (interrupt) {
            played.drop_open_game();
            break;
        }
        const auto over = line.outcome();
        const Result result = over ? over->result : resigned.value_or(result_of_score(line.position().score()));
        played.end_game(static_cast<std::int8_t>(result));
    }
    return played;
}

}  // namespace hyoka::search
