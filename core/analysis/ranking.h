// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace hyoka::analysis {

/// Evaluations of positions and results of their games, in columns. Values and results are the first player's.
struct Positions {
    std::span<const float> values;         // no NaN; infinities are mates
    std::span<const float> results;        // 0 to 1; a draw that counts half is 0.5
    std::span<const float> weights;        // how much a position counts; empty: 1 each
    std::span<const std::uint32_t> games;  // below `game_count`; positions of one game share its fate
    std::uint32_t game_count = 0;
};

inline constexpr int recall_levels = 11;

/// The metrics that need positions in order. Ties in value count as their mean over all orders, except where a comment
/// says otherwise. NaN where there is no win or no loss to tell apart.
struct RankMetrics {
    double roc = 0;                ///< the share of (win, loss) pairs in the right order, ties half
    double tau = 0;                ///< right minus wrong pairs over all (win, loss) pairs; ties count as right
    double tau_b = 0;              ///< Kendall's τ-b of values and results, for results of 0 and 1
    double average_precision = 0;  ///< mean interpolated precision at recalls 0.0, 0.1 ... 1.0
    double break_even = 0;         ///< precision among the top as many as there are wins
    double top_quarter = 0;        ///< wins' share of the top quarter
};

/// The best place to part wins from losses: a position is called a win from this value on.
struct Threshold {
    double value = 0;
    double accuracy = 0;
};

/// Positions between two edges.
struct Bin {
    double positions = 0;  ///< weighted
    double wins = 0;       ///< weighted results
    double squares = 0;    ///< weighted squares of results, which draws make less than `wins`
    double value_sum = 0;  ///< of finite values, weighted
    double finite = 0;     ///< weight of finite values
    double variance = 0;   ///< of wins / positions, the games being what chance drew
    std::uint32_t count = 0;
    std::uint32_t games = 0;
};

/// A logistic curve through results: win probability = 1 / (1 + exp(-(intercept + slope · link(value)))). NaN
/// where there is none.
struct LogisticFit {
    /// Whether one curve fits best, or why none does.
    enum class Verdict : std::uint8_t {
        fits,
        no_values,   ///< nothing but mates
        one_result,  ///< all won, or all lost
        one_value,   ///< all values alike
        parted,      ///< no win below a loss, or no loss below a win: the steeper the better
        diverged,    ///< an optimum exists and was not reached
    };
    double intercept = 0;
    double slope = 0;
    std::array<double, 3> covariance{};  ///< var(intercept), cov, var(slope), the games being what chance drew
    Verdict verdict = Verdict::no_values;
};
inline constexpr std::array<std::string_view, 6> verdict_names = {"fits",      "no values", "one result",
                                                                  "one value", "parted",    "diverged"};

/// What a curve makes of a value: no more than the limit, and its logarithm far beyond the bend. A few badly wrong
/// values then rule no curve.
struct Link {
    double bend = std::numeric_limits<double>::infinity();
    double limit = std::numeric_limits<double>::infinity();

    double operator()(double value) const;
};

/// A mean departure from the total curve, with errors by games.
struct Departure {
    double effect = 0;
    double error = 0;       ///< standard error of the effect
    double null_error = 0;  ///< standard error under the null hypothesis, for tests
    double clusters = 0;    ///< how many games' worth of information the errors rest on
};

/// How far the curve of some positions lies from the curve of all.
struct Gap {
    double positions = 0;  ///< weighted, that satisfy the condition
    std::uint32_t games = 0;
    Departure level;  ///< mean result beyond what the total curve says
    Departure lean;   ///< the same in the direction in which the total curve leans: < 0 means too sure
};

/// How games are drawn again. Equal seeds draw the same games from studies of equally many, whatever the rest.
struct Resampling {
    int resamples = 0;
    std::uint64_t seed = 0;
    int threads = 1;
    const std::atomic<bool>* stop = nullptr;  ///< raised from elsewhere: what is left is not drawn
};

/// The games that each resample holds, with how often, for `width` resamples side by side.
class Multiplicities {
public:
    static constexpr int width = 8;

    Multiplicities(std::uint32_t games, std::uint64_t seed)
        : seed_(seed), games_(games), times_(std::size_t{games} * width) {}
    /// Draws resamples `first` to `first + width`; the same numbers for the same seed and number of games.
    void draw(std::uint64_t first);
    const float* of(std::uint32_t game) const { return &times_[std::size_t{game} * width]; }

private:
    std::uint64_t seed_;
    std::uint32_t games_;
    std::vector<float> times_;
};

/// Column sums over the games of each resample; `sums` has a row of `columns` numbers a game.
std::vector<double> resampled_sums(std::span<const double> sums, std::size_t columns, const Resampling& how);

/// Positions in the order of their values, the first player's best first. One sort serves every metric and curve;
/// resampling games only weighs this one order anew.
class Ranking {
public:
    explicit Ranking(const Positions& positions);

    std::size_t size() const { return values_.size(); }
    std::uint32_t games() const { return game_count_; }
    std::span<const std::uint32_t> order() const { return order_; }
    std::span<const float> values() const { return values_; }

    RankMetrics metrics() const;
    Threshold best_threshold() const;
    /// Rows of RankMetrics, one a resample of whole games.
    std::vector<RankMetrics> resampled_metrics(const Resampling& how) const;

    /// Bins between rising edges: [e0, e1), [e1, e2) ...; the last one includes its upper edge.
    std::vector<Bin> bins(std::span<const double> edges) const;
    /// Wins, positions, sums of values and weights of finite values by resample and bin.
    std::vector<std::array<double, 4>> resampled_bins(std::span<const double> edges, const Resampling& how) const;
    /// Rising edges of bins that grow until they hold `count` positions of `games` games and the standard error of the
    /// win probability, by games, is at most `error`. Infinite values stay outside.
    std::vector<double> adaptive_edges(std::uint32_t count, std::uint32_t games, double error) const;

    /// The logistic curve of greatest likelihood over finite values.
    LogisticFit logistic(const Link& link = {}) const;
    /// For each link, the mean log-loss of games that the curve was not fitted to (five folds); NaN where a fold has no
    /// curve. Of values brought together to some five hundred.
    std::vector<double> held_out_losses(std::span<const Link> links) const;

    /// How the positions of a condition (a truth value a position, in the order given to the constructor) depart from
    /// the curve of all, bin by bin of `edges`. A gap's influence is freed of what the total curve itself owes to the
    /// games: within a bin, the condition is taken less its share there.
    Gap gap(std::span<const std::uint8_t> condition, std::span<const double> edges) const;

private:
    /// The first position of each bin in our order, highest bin first; then the end of the last.
    std::vector<std::size_t> borders(std::span<const double> edges) const;
    template <class Resample>
    void resample(const Resampling& how, Resample&& work) const;

    std::uint32_t game_count_;
    std::vector<std::uint32_t> order_;
    std::vector<float> values_;
    std::vector<float> wins_;    // weight · result
    std::vector<float> losses_;  // weight · (1 - result)
    std::vector<std::uint32_t> games_;
    std::vector<std::uint32_t> tie_ends_;  // one past the last position of each distinct value
};

}  // namespace hyoka::analysis
