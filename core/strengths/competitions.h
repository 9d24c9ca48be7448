// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hyoka::strengths {

/// Choices among teams of features, of which one won each time: the legal moves of positions and the ones played. Kept
/// small, since there are hundreds of millions of teams: ten bytes or so each.
struct CompetitionBlock {
    std::vector<std::uint16_t> features;  // team after team
    std::vector<std::uint8_t> sizes;      // by team: how many features
    std::vector<std::uint16_t> teams;     // by competition: how many
    std::vector<std::uint16_t> winners;   // by competition: which of its teams
    std::vector<std::uint32_t> games;     // by competition: which game it is of; a game is in one block only
};

struct Competitions {
    std::size_t features = 0;  // how many there are, whether or not they occur
    std::size_t games = 0;
    std::vector<CompetitionBlock> blocks;

    std::size_t size() const;
    std::size_t teams() const;
    std::size_t bytes() const;
};

// In the model of Bradley and Terry a team's strength is the product of its features', and it wins with the
// probability of its share in the sum of all teams' strengths. Results don't depend on the number of threads.

/// Log-likelihood of competitions under strengths. `stop` ends it early, and then nothing is of use.
struct Expectation {
    double log_likelihood = 0;
    std::vector<double> wins;  // expected, by feature
};
Expectation expect(const Competitions& competitions, std::span<const double> strengths, unsigned threads,
                   const std::atomic<bool>& stop);

/// By feature: the sum of p (1 - p) over teams with it, p being the chance that the team wins.
std::vector<double> spread_of_wins(const Competitions& competitions, std::span<const double> strengths,
                                   unsigned threads, const std::atomic<bool>& stop);

/// Fisher's information of the logarithms of all strengths times a direction: the Hessian of the negative
/// log-likelihood, without building the matrix.
std::vector<double> information_times(const Competitions& competitions, std::span<const double> strengths,
                                      std::span<const double> direction, unsigned threads,
                                      const std::atomic<bool>& stop);

/// How often a team with the feature won, and how often one took part.
struct FeatureCounts {
    std::vector<std::int64_t> wins;
    std::vector<std::int64_t> teams;
};
FeatureCounts count_features(const Competitions& competitions);

/// A group a feature, such that no team has two of one group: those that minorization-maximization may change at once.
std::vector<std::uint16_t> exclusive_groups(const Competitions& competitions);

/// By game and feature, for the first `features`: wins less those expected. What a game says beyond the strengths.
std::vector<float> scores_by_game(const Competitions& competitions, std::span<const double> strengths,
                                  std::size_t features);
/// By feature: the sum over games of the squares of the same.
std::vector<double> squared_scores(const Competitions& competitions, std::span<const double> strengths);

/// Fisher's information of the first `features`' logarithms, row by row, from every `every`-th competition and
/// multiplied by as much.
std::vector<double> information(const Competitions& competitions, std::span<const double> strengths,
                                std::size_t features, std::size_t every, unsigned threads,
                                const std::atomic<bool>& stop);

}  // namespace hyoka::strengths
