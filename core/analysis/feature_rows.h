// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Weights of many features, of which a position has few, fitted to results: the sums that the fit needs.
namespace hyoka::analysis {

/// Positions, a row each: which features they have, how much of each, and what came of them.
struct FeatureRows {
    std::span<const std::int64_t> starts;     // of the rows, and the end; one more than there are rows
    std::span<const std::uint16_t> features;  // below `feature_count`, rising within a row
    std::span<const float> amounts;           // finite
    std::span<const float> ending;       // from 0, the opening, to 1; empty: a feature's weight is the same everywhere
    std::span<const double> rest;        // the score without the features, of which all is taken alike; empty: none
    std::span<const float> targets;      // 0 to 1
    std::span<const std::uint8_t> used;  // whether a row counts; empty: all do
    std::size_t feature_count = 0;

    std::size_t size() const { return starts.size() - 1; }
    std::size_t phases() const { return ending.empty() ? 1 : 2; }
    /// How many weights there are: one a feature, or one in the opening and one in the ending side by side, and that
    /// of the rest last.
    std::size_t width() const { return phases() * feature_count + (rest.empty() ? 0 : 1); }
};

/// How far a win probability, 1 / (1 + exp(-score)), is from its target.
enum class Loss : std::uint8_t {
    logarithmic,  ///< minus the logarithm of the probability of what happened
    squared,      ///< the squared difference
};

struct LossSlope {
    double loss = 0;  ///< the sum over all rows that count
    std::vector<double> gradient;
    std::size_t rows = 0;
};

/// Throws std::invalid_argument with what is wrong.
void check(const FeatureRows& rows);

/// The score of every row, whether it counts or not.
std::vector<double> scores(const FeatureRows& rows, std::span<const double> weights, unsigned threads);

LossSlope loss_slope(const FeatureRows& rows, std::span<const double> weights, Loss loss, unsigned threads);

/// The second derivatives of the loss, width × width; of a squared loss without `exact` only the part that is never
/// negative (Gauss and Newton's). Of the rows that count every `step`-th alone, times `step`.
std::vector<double> curvature(const FeatureRows& rows, std::span<const double> weights, Loss loss, bool exact,
                              std::size_t step, unsigned threads);

/// How many rows that count have each feature; of every `step`-th row alone.
std::vector<std::int64_t> occurrences(const FeatureRows& rows, std::size_t step);

/// Minus the gradient, game by game: a line of `width` numbers for each of the games from `first_game` on that the
/// rows from `begin` to `end` are of.
std::vector<double> pulls(const FeatureRows& rows, std::span<const double> weights, Loss loss,
                          std::span<const std::uint32_t> games, std::size_t begin, std::size_t end,
                          std::uint32_t first_game, std::uint32_t game_count);

}  // namespace hyoka::analysis
