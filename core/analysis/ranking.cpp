// SPDX-License-Identifier: Apache-2.0
#include "analysis/ranking.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "base/rng.h"

namespace hyoka::analysis {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Bits that order as the floats do, greatest first.
std::uint32_t falling_key(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value);  // -0 and 0 are one value
    return (bits >> 31) != 0 ? bits : ~bits & 0x7fffffffU;
}

/// The stable order of keys, smallest first: three passes of 11 bits.
std::vector<std::uint32_t> radix_order(const std::vector<std::uint32_t>& keys) {
    constexpr int digit = 11;
    constexpr std::uint32_t buckets = 1U << digit;
    struct Entry {
        std::uint32_t key, index;
    };
    std::vector<Entry> from(keys.size()), to(keys.size());
    std::array<std::array<std::uint32_t, buckets>, 3> starts{};
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
        from[i] = {keys[i], i};
        for (int pass = 0; pass < 3; ++pass) ++starts[pass][(keys[i] >> (digit * pass)) & (buckets - 1)];
    }
    for (int pass = 0; pass < 3; ++pass) {
        std::uint32_t sum = 0;
        for (std::uint32_t& start : starts[pass]) sum += std::exchange(start, sum);
        for (const Entry& entry : from) to[starts[pass][(entry.key >> (digit * pass)) & (buckets - 1)]++] = entry;
        std::swap(from, to);
    }
    std::vector<std::uint32_t> order(keys.size());
    std::transform(from.begin(), from.end(), order.begin(), [](const Entry& entry) { return entry.index; });
    return order;
}

/// Sums over the positions of one bin, game by game, that give the variance of their mean result.
class ByGame {
public:
    explicit ByGame(std::uint32_t games) : results_(games), weights_(games), stamps_(games) {}
    void clear() {
        ++stamp_;
        count_ = 0;
        squares_ = crossed_ = result_squares_ = 0;
    }
    void add(std::uint32_t game, double result, double weight) {
        if (stamps_[game] != stamp_) {
            stamps_[game] = stamp_;
            results_[game] = weights_[game] = 0;
            ++count_;
        }
        double& results = results_[game];
        double& weights = weights_[game];
        result_squares_ += result * (2 * results + result);
        crossed_ += result * weights + weight * results + result * weight;
        squares_ += weight * (2 * weights + weight);
        results += result;
        weights += weight;
    }
    std::uint32_t games() const { return count_; }
    /// Of the ratio of the sums, with the usual correction for few games.
    double variance(double mean, double weight) const {
        if (count_ < 2 || weight <= 0) return nan;
        const double sum = result_squares_ - 2 * mean * crossed_ + mean * mean * squares_;
        return std::max(sum, 0.0) / (weight * weight) * count_ / (count_ - 1);
    }

private:
    std::vector<double> results_, weights_;
    std::vector<std::uint32_t> stamps_;
    std::uint32_t stamp_ = 0, count_ = 0;
    double result_squares_ = 0, crossed_ = 0, squares_ = 0;
};

template <int L>
using Lanes = std::array<double, L>;

template <int L>
bool any_reached(const Lanes<L>& seen, const Lanes<L>& targets) {
    bool any = false;
    for (int i = 0; i < L; ++i) any |= seen[i] >= targets[i];
    return any;
}

/// Walks down the ranking, tie by tie, for L resamples at once.
template <int L>
class Walk {
public:
    Walk(const Lanes<L>& wins, const Lanes<L>& losses) : all_wins_(wins), all_losses_(losses) {
        for (int i = 0; i < L; ++i) {
            quarter_[i] = 0.25 * (wins[i] + losses[i]) * slack;
            even_[i] = wins[i] > 0 ? wins[i] * slack : infinite;
            level_[i] = wins[i] > 0 ? level(i, 1) : infinite;
        }
    }

    void step(const Lanes<L>& wins, const Lanes<L>& losses) {
        Lanes<L> seen;
        bool better = false;
        for (int i = 0; i < L; ++i) {
            ordered_[i] += wins_[i] * losses[i];
            tied_[i] += wins[i] * losses[i];
            tie_squares_[i] += (wins[i] + losses[i]) * (wins[i] + losses[i]);
            wins_[i] += wins[i];
            losses_[i] += losses[i];
            seen[i] = wins_[i] + losses_[i];
            better |= wins_[i] > best_[i] * seen[i];
        }
        if (any_reached<L>(wins_, level_)) {
            next_levels();
            better = true;
        }
        if (better) {
            for (int i = 0; i < L; ++i)
                if (seen[i] > 0) best_[i] = std::max(best_[i], wins_[i] / seen[i]);
        }
        if (any_reached<L>(seen, quarter_)) reach(quarter_, quarter_wins_, seen, wins, losses);
        if (any_reached<L>(seen, even_)) reach(even_, even_wins_, seen, wins, losses);
    }

    RankMetrics finish(int i) {
        keep_best(i);
        const double wins = all_wins_[i], losses = all_losses_[i], pairs = wins * losses, all = wins + losses;
        RankMetrics found;
        found.roc = pairs > 0 ? (ordered_[i] + 0.5 * tied_[i]) / pairs : nan;
        const double wrong = pairs - ordered_[i] - tied_[i];
        found.tau = pairs > 0 ? (ordered_[i] + tied_[i] - wrong) / pairs : nan;
        const double untied = 0.5 * (all * all - tie_squares_[i]);
        found.tau_b = pairs > 0 && untied > 0 ? (ordered_[i] - wrong) / std::sqrt(untied * pairs) : nan;
        found.break_even = wins > 0 ? even_wins_[i] / wins : nan;
        found.top_quarter = all > 0 ? quarter_wins_[i] / (0.25 * all) : nan;
        double above = 0, sum = 0;
        for (int level = recall_levels - 1; level >= 0; --level) {
            above = std::max(above, precision_[level][i]);
            sum += above;
        }
        found.average_precision = wins > 0 ? sum / recall_levels : nan;
        return found;
    }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    /// Sums of weights that should be equal differ in their last bits when they were added in another order.
    static constexpr double slack = 1 - 1e-12;

    /// How many wins make up a recall level.
    double level(int i, int number) const { return all_wins_[i] * number / (recall_levels - 1) * slack; }
    void keep_best(int i) {
        double& kept = precision_[reached_[i]][i];
        kept = std::max(kept, best_[i]);
    }
    /// A precision counts for the recall levels up to the one just reached.
    void next_levels() {
        for (int i = 0; i < L; ++i) {
            if (wins_[i] < level_[i]) continue;
            keep_best(i);
            best_[i] = 0;
            while (reached_[i] < recall_levels - 1 && wins_[i] >= level_[i]) {
                ++reached_[i];
                level_[i] = level(i, reached_[i] + 1);
            }
            if (reached_[i] == recall_levels - 1) level_[i] = infinite;
        }
    }
    /// The first positions end inside this tie; its wins are spread evenly.
    void reach(Lanes<L>& target, Lanes<L>& kept, const Lanes<L>& seen, const Lanes<L>& wins, const Lanes<L>& losses) {
        for (int i = 0; i < L; ++i) {
            if (seen[i] < target[i]) continue;
            const double tie = wins[i] + losses[i];
            const double beyond = tie > 0 ? (seen[i] - target[i]) / tie : 0;
            kept[i] = wins_[i] - beyond * wins[i];
            target[i] = infinite;
        }
    }

    Lanes<L> all_wins_, all_losses_, quarter_{}, even_{}, level_{};
    Lanes<L> wins_{}, losses_{}, ordered_{}, tied_{}, tie_squares_{}, best_{}, quarter_wins_{}, even_wins_{};
    std::array<Lanes<L>, recall_levels> precision_{};
    std::array<int, L> reached_{};
};

/// Contribution of each game to a gap and to its error.
class DepartureSums {
public:
    explicit DepartureSums(std::uint32_t games) : influence_(games), leverage_(games) {}
    /// A residual times how far the condition is beyond its share, and the square of the latter.
    void add(std::uint32_t game, double influence, double leverage) {
        influence_[game] += influence;
        leverage_[game] += leverage;
    }
    Departure departure(double positions) const {
        double effect = 0, leverage = 0;
        for (std::size_t game = 0; game < influence_.size(); ++game) {
            effect += influence_[game];
            leverage += leverage_[game];
        }
        const double slope = leverage > 0 ? effect / leverage : 0;
        double null_squares = 0, squares = 0, fourths = 0, contributing = 0;
        for (std::size_t game = 0; game < influence_.size(); ++game) {
            const double alone = influence_[game], left = alone - slope * leverage_[game];
            null_squares += alone * alone;
            squares += left * left;
            fourths += alone * alone * alone * alone;
            contributing += leverage_[game] > 0;
        }
        const double correction = contributing > 1 ? contributing / (contributing - 1) : nan;
        return {effect / positions, std::sqrt(squares * correction) / positions,
                std::sqrt(null_squares * correction) / positions,
                fourths > 0 ? null_squares * null_squares / fourths : 0};
    }

private:
    std::vector<double> influence_, leverage_;
};

double sum_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += value;
    return sum;
}

}  // namespace

void Multiplicities::draw(std::uint64_t first) {
    std::fill(times_.begin(), times_.end(), 0.0F);
    for (int i = 0; i < width; ++i) {
        Rng rng = Rng::for_task(seed_, first + static_cast<std::uint64_t>(i));
        for (std::uint32_t drawn = 0; drawn < games_; ++drawn)
            times_[std::size_t{rng.below(games_)} * width + static_cast<std::size_t>(i)] += 1.0F;
    }
}

std::vector<double> resampled_sums(std::span<const double> sums, std::size_t columns, const Resampling& how) {
    constexpr int width = Multiplicities::width;
    const auto games = static_cast<std::uint32_t>(columns > 0 ? sums.size() / columns : 0);
    std::vector<double> found(static_cast<std::size_t>(std::max(how.resamples, 0)) * columns);
    Multiplicities times(games, how.seed);
    for (int first = 0; first < how.resamples; first += width) {
        if (how.stop != nullptr && how.stop->load(std::memory_order_relaxed)) break;
        times.draw(static_cast<std::uint64_t>(first));
        const int count = std::min(width, how.resamples - first);
        for (std::uint32_t game = 0; game < games; ++game)
            for (int i = 0; i < count; ++i) {
                const double multiplicity = times.of(game)[i];
                if (multiplicity == 0) continue;
                double* row = &found[static_cast<std::size_t>(first + i) * columns];
                for (std::size_t column = 0; column < columns; ++column)
                    row[column] += multiplicity * sums[game * columns + column];
            }
    }
    return found;
}

Ranking::Ranking(const Positions& positions) : game_count_(positions.game_count) {
    const std::size_t size = positions.values.size();
    if (size > std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("more than 2^32 positions");
    std::vector<std::uint32_t> keys(size);
    for (std::size_t i = 0; i < size; ++i) {
        if (std::isnan(positions.values[i])) throw std::invalid_argument("a value is not a number");
        if (!(positions.results[i] >= 0 && positions.results[i] <= 1))
            throw std::invalid_argument("a result lies outside 0 to 1");
        if (positions.games[i] >= game_count_) throw std::invalid_argument("a game's number is too great");
        if (!positions.weights.empty() && !(positions.weights[i] >= 0 && std::isfinite(positions.weights[i])))
            throw std::invalid_argument("a weight is negative or not finite");
        keys[i] = falling_key(positions.values[i]);
    }
    order_ = radix_order(keys);
    values_.resize(size);
    wins_.resize(size);
    losses_.resize(size);
    games_.resize(size);
    for (std::size_t rank = 0; rank < size; ++rank) {
        const std::uint32_t i = order_[rank];
        const float weight = positions.weights.empty() ? 1.0F : positions.weights[i];
        values_[rank] = positions.values[i];
        wins_[rank] = weight * positions.results[i];
        losses_[rank] = weight * (1.0F - positions.results[i]);
        games_[rank] = positions.games[i];
        if (rank > 0 && values_[rank] != values_[rank - 1]) tie_ends_.push_back(static_cast<std::uint32_t>(rank));
    }
    if (size > 0) tie_ends_.push_back(static_cast<std::uint32_t>(size));
}

RankMetrics Ranking::metrics() const {
    Walk<1> walk({sum_of(wins_)}, {sum_of(losses_)});
    std::size_t at = 0;
    for (const std::uint32_t end : tie_ends_) {
        Lanes<1> wins{}, losses{};
        for (; at < end; ++at) {
            wins[0] += wins_[at];
            losses[0] += losses_[at];
        }
        walk.step(wins, losses);
    }
    return walk.finish(0);
}

Threshold Ranking::best_threshold() const {
    const double all_wins = sum_of(wins_), all_losses = sum_of(losses_), all = all_wins + all_losses;
    // Above everything: all are called losses.
    Threshold best{std::numeric_limits<double>::infinity(), all > 0 ? all_losses / all : nan};
    double wins = 0, losses = 0;
    std::size_t at = 0;
    for (const std::uint32_t end : tie_ends_) {
        const float value = values_[at];
        for (; at < end; ++at) {
            wins += wins_[at];
            losses += losses_[at];
        }
        const double accuracy = (wins + all_losses - losses) / all;
        if (accuracy > best.accuracy) best = {value, accuracy};
    }
    return best;
}

template <class Resample>
void Ranking::resample(const Resampling& how, Resample&& work) const {
    const int blocks = (how.resamples + Multiplicities::width - 1) / Multiplicities::width;
    std::atomic<int> next = 0;
    std::exception_ptr failure;
    std::mutex failing;
    const auto draw_blocks = [&] {
        Multiplicities times(game_count_, how.seed);
        for (int block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
            if (how.stop != nullptr && how.stop->load(std::memory_order_relaxed)) return;
            const int first = block * Multiplicities::width;
            times.draw(static_cast<std::uint64_t>(first));
            work(times, first, std::min(Multiplicities::width, how.resamples - first));
        }
    };
    const auto run = [&] {
        try {
            draw_blocks();
        } catch (...) {  // memory, most likely; what a thread throws would end the program
            const std::scoped_lock lock(failing);
            failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (int i = 1; i < std::min(how.threads, blocks); ++i) others.emplace_back(run);
        run();
    }
    if (failure) std::rethrow_exception(failure);
}

std::vector<RankMetrics> Ranking::resampled_metrics(const Resampling& how) const {
    constexpr int width = Multiplicities::width;
    std::vector<RankMetrics> found(static_cast<std::size_t>(std::max(how.resamples, 0)));
    // What a game has in all, so that each resample knows its totals before the walk.
    std::vector<double> game_wins(game_count_), game_losses(game_count_);
    for (std::size_t at = 0; at < size(); ++at) {
        game_wins[games_[at]] += wins_[at];
        game_losses[games_[at]] += losses_[at];
    }
    resample(how, [&](const Multiplicities& times, int first, int count) {
        Lanes<width> all_wins{}, all_losses{};
        for (std::uint32_t game = 0; game < game_count_; ++game) {
            const float* multiplicity = times.of(game);
            for (int i = 0; i < width; ++i) {
                all_wins[i] += multiplicity[i] * game_wins[game];
                all_losses[i] += multiplicity[i] * game_losses[game];
            }
        }
        Walk<width> walk(all_wins, all_losses);
        std::size_t at = 0;
        for (const std::uint32_t end : tie_ends_) {
            Lanes<width> wins{}, losses{};
            for (; at < end; ++at) {
                const float* multiplicity = times.of(games_[at]);
                const float win = wins_[at], loss = losses_[at];
                for (int i = 0; i < width; ++i) {
                    wins[i] += multiplicity[i] * win;
                    losses[i] += multiplicity[i] * loss;
                }
            }
            walk.step(wins, losses);
        }
        for (int i = 0; i < count; ++i) found[static_cast<std::size_t>(first + i)] = walk.finish(i);
    });
    return found;
}

std::vector<std::size_t> Ranking::borders(std::span<const double> edges) const {
    if (edges.size() < 2) throw std::invalid_argument("a bin needs two edges");
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (std::isnan(edges[i]) || (i > 0 && !(edges[i - 1] < edges[i])))
            throw std::invalid_argument("edges must rise");
    std::vector<std::size_t> found;
    // Values fall: the first that is not above the last edge, then for each lower edge the first that lies below it.
    found.push_back(static_cast<std::size_t>(
        std::partition_point(values_.begin(), values_.end(), [&](float v) { return v > edges.back(); }) -
        values_.begin()));
    for (std::size_t i = edges.size() - 1; i-- > 0;)
        found.push_back(static_cast<std::size_t>(
            std::partition_point(values_.begin(), values_.end(), [&](float v) { return v >= edges[i]; }) -
            values_.begin()));
    return found;
}

std::vector<Bin> Ranking::bins(std::span<const double> edges) const {
    const auto borders = this->borders(edges);
    ByGame by_game(game_count_);
    std::vector<Bin> found(edges.size() - 1);
    for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
        Bin& bin = found[found.size() - 1 - b];
        by_game.clear();
        for (std::size_t at = borders[b]; at < borders[b + 1]; ++at) {
            const double weight = double{wins_[at]} + losses_[at];
            bin.positions += weight;
            bin.wins += wins_[at];
            bin.squares += weight > 0 ? double{wins_[at]} * wins_[at] / weight : 0;
            if (std::isfinite(values_[at])) {
                bin.value_sum += weight * values_[at];
                bin.finite += weight;
            }
            by_game.add(games_[at], wins_[at], weight);
        }
        bin.count = static_cast<std::uint32_t>(borders[b + 1] - borders[b]);
        bin.games = by_game.games();
        bin.variance = by_game.variance(bin.wins / bin.positions, bin.positions);
    }
    return found;
}

std::vector<std::array<double, 4>> Ranking::resampled_bins(std::span<const double> edges, const Resampling& how) const {
    constexpr int width = Multiplicities::width;
    const auto borders = this->borders(edges);
    const std::size_t bins = edges.size() - 1;
    std::vector<std::array<double, 4>> found(static_cast<std::size_t>(std::max(how.resamples, 0)) * bins);
    resample(how, [&](const Multiplicities& times, int first, int count) {
        for (std::size_t b = 0; b < bins; ++b) {
            Lanes<width> wins{}, weights{}, values{}, finite{};
            for (std::size_t at = borders[b]; at < borders[b + 1]; ++at) {
                const float* multiplicity = times.of(games_[at]);
                const double win = wins_[at], weight = win + losses_[at];
                const double mass = std::isfinite(values_[at]) ? weight : 0;
                const double value = mass > 0 ? mass * values_[at] : 0;
                for (int i = 0; i < width; ++i) {
                    wins[i] += multiplicity[i] * win;
                    weights[i] += multiplicity[i] * weight;
                    values[i] += multiplicity[i] * value;
                    finite[i] += multiplicity[i] * mass;
                }
            }
            for (int i = 0; i < count; ++i)
                found[static_cast<std::size_t>(first + i) * bins + (bins - 1 - b)] = {wins[i], weights[i], values[i],
                                                                                      finite[i]};
        }
    });
    return found;
}

std::vector<double> Ranking::adaptive_edges(std::uint32_t count, std::uint32_t games, double error) const {
    std::vector<double> falling;
    ByGame by_game(game_count_);
    by_game.clear();
    double weight = 0, wins = 0;
    std::uint32_t positions = 0;
    std::size_t at = 0;
    for (const std::uint32_t end : tie_ends_) {
        const float value = values_[at];
        if (!std::isfinite(value)) {
            at = end;
            continue;
        }
        if (falling.empty()) falling.push_back(value);
        for (; at < end; ++at, ++positions) {
            const double mass = double{wins_[at]} + losses_[at];
            by_game.add(games_[at], wins_[at], mass);
            weight += mass;
            wins += wins_[at];
        }
        if (positions < count || by_game.games() < games) continue;
        const double variance = by_game.variance(wins / weight, weight);
        if (!(std::sqrt(variance) <= error)) continue;
        falling.push_back(value);
        by_game.clear();
        weight = wins = 0;
        positions = 0;
    }
    // What is left over joins the lowest bin; where there is only one value, the bin is that value.
    const auto last = std::find_if(values_.rbegin(), values_.rend(), [](float v) { return std::isfinite(v); });
    if (last != values_.rend()) {
        if (falling.size() > 1)
            falling.back() = *last;
        else
            falling.push_back(*last);
    }
    if (falling.size() == 2 && falling[0] == falling[1]) falling[0] = std::nextafter(falling[0], HUGE_VAL);
    if (falling.size() > 2 && falling[0] == falling[1]) falling[0] = std::nextafter(falling[0], HUGE_VAL);
    std::reverse(falling.begin(), falling.end());
    return falling;
}

namespace {

/// Positions of one value, for a logistic fit.
struct Heap {
    double x, wins, losses;
};

/// An intercept and a slope, the negative log-likelihood there and its curvature.
struct Fitted {
    double a = 0, b = 0;
    double loss = 0, g0 = 0, g1 = 0;
    double h00 = 0, h01 = 0, h11 = 0;
    bool converged = false;
};

/// Surprise at results where the log-odds are z: of a win log(1 + exp(-z)), of a loss log(1 + exp(z)).
double surprise(double z, double wins, double losses) {
    const double tail = std::log1p(std::exp(-std::abs(z)));
    return (wins + losses) * tail + std::abs(z) * (z > 0 ? losses : wins);
}

void look(const std::vector<Heap>& heaps, Fitted& at) {
    at.loss = at.g0 = at.g1 = at.h00 = at.h01 = at.h11 = 0;
    for (const auto& [x, wins, losses] : heaps) {
        const double z = at.a + at.b * x, mass = wins + losses;
        const double p = 1 / (1 + std::exp(-z)), curvature = mass * p * (1 - p), slope = mass * p - wins;
        at.loss += surprise(z, wins, losses);
        at.g0 += slope;
        at.g1 += slope * x;
        at.h00 += curvature;
        at.h01 += curvature * x;
        at.h11 += curvature * x * x;
    }
}

/// Damped Newton: a step that does not lessen the loss is halved. The loss is convex, so where wins and losses overlap
/// this ends at the optimum from anywhere.
Fitted minimize(const std::vector<Heap>& heaps, double a, double b) {
    constexpr int most_steps = 200;
    Fitted best{.a = a, .b = b};
    look(heaps, best);
    double damping = 0;
    for (int step = 0; step < most_steps; ++step) {
        // A ridge keeps steps finite where the curvature has all but vanished.
        const double ridge = damping * std::max(best.h00 + best.h11, 1e-12);
        const double h00 = best.h00 + ridge, h11 = best.h11 + ridge;
        const double determinant = h00 * h11 - best.h01 * best.h01;
        if (!(determinant > 0)) {
            damping = std::max(4 * damping, 1e-6);
            continue;
        }
        const double da = -(h11 * best.g0 - best.h01 * best.g1) / determinant;
        const double db = -(h00 * best.g1 - best.h01 * best.g0) / determinant;
        Fitted next{.a = best.a + da, .b = best.b + db};
        look(heaps, next);
        const double moved = std::max(std::abs(da), std::abs(db)) / (1 + std::abs(best.a) + std::abs(best.b));
        // Near the optimum the loss no longer tells steps apart; they are then too small to matter.
        if (next.loss <= best.loss || moved < 1e-9) {
            best = next;
            damping = damping > 1e-6 ? damping / 8 : 0;
            if (moved < 1e-9) {
                best.converged = true;
                return best;
            }
        } else {
            damping = std::max(8 * damping, 1e-3);
        }
    }
    return best;
}

}  // namespace

double Link::operator()(double value) const {
    const double within = std::clamp(value, -limit, limit);
    return std::isinf(bend) ? within : bend * std::asinh(within / bend);
}

LogisticFit Ranking::logistic(const Link& link) const {
    // Only values count, not who has them: positions of one value are one heap. Highest values first.
    std::vector<Heap> heaps;
    double weight = 0, mean = 0, spread = 0, all_wins = 0, all_losses = 0;
    std::size_t at = 0;
    for (const std::uint32_t end : tie_ends_) {
        const double value = values_[at];
        double wins = 0, losses = 0;
        for (; at < end; ++at) wins += wins_[at], losses += losses_[at];
        if (!std::isfinite(value)) continue;
        const double x = link(value);
        weight += wins + losses;
        mean += (wins + losses) * x;
        all_wins += wins;
        all_losses += losses;
        if (!heaps.empty() && heaps.back().x == x)
            heaps.back().wins += wins, heaps.back().losses += losses;
        else
            heaps.push_back({x, wins, losses});
    }
    mean /= weight;
    for (const auto& [x, wins, losses] : heaps) spread += (wins + losses) * (x - mean) * (x - mean);
    spread = std::sqrt(spread / weight);
    LogisticFit fit{nan, nan, {nan, nan, nan}, LogisticFit::Verdict::fits};
    using enum LogisticFit::Verdict;
    if (!(weight > 0)) {
        fit.verdict = no_values;
        return fit;
    }
    if (!(all_wins > 0 && all_losses > 0)) {
        fit.verdict = one_result;
        return fit;
    }
    if (!(spread > 0)) {
        fit.verdict = one_value;
        return fit;
    }
    // The best curve is a step, and no curve is best, where no win lies below a loss, or no loss below a win.
    const auto extreme = [&](bool lowest, auto mass) {
        double found = nan;
        for (const Heap& heap : heaps)
            if (mass(heap) > 0 && (lowest || std::isnan(found))) found = heap.x;
        return found;
    };
    const auto wins_of = [](const Heap& heap) { return heap.wins; };
    const auto losses_of = [](const Heap& heap) { return heap.losses; };
    if (extreme(true, wins_of) >= extreme(false, losses_of) || extreme(true, losses_of) >= extreme(false, wins_of)) {
        fit.verdict = parted;
        return fit;
    }

    // Values of any unit are brought to a spread of one, or steps would be lost in rounding.
    for (Heap& heap : heaps) heap.x = (heap.x - mean) / spread;
    // A coarse fit first: what is then left to do on all values are two or three steps.
    constexpr std::size_t coarse = 1024;
    Fitted found{.a = std::log(all_wins / all_losses)};
    if (heaps.size() > 4 * coarse) {
        std::vector<Heap> few;
        const std::size_t each = heaps.size() / coarse + 1;
        for (std::size_t from = 0; from < heaps.size(); from += each) {
            Heap joint{0, 0, 0};
            for (std::size_t i = from; i < std::min(from + each, heaps.size()); ++i) {
                joint.x += heaps[i].x * (heaps[i].wins + heaps[i].losses);
                joint.wins += heaps[i].wins;
                joint.losses += heaps[i].losses;
            }
            joint.x /= joint.wins + joint.losses;
            if (joint.wins + joint.losses > 0) few.push_back(joint);
        }
        const Fitted start = minimize(few, found.a, 0);
        if (start.converged) found = start;
    }
    found = minimize(heaps, found.a, found.b);
    if (!found.converged) {
        fit.verdict = diverged;
        return fit;
    }
    std::vector<std::array<double, 2>> scores(game_count_);
    for (at = 0; at < size(); ++at) {
        if (!std::isfinite(values_[at])) continue;
        const double x = (link(values_[at]) - mean) / spread, mass = double{wins_[at]} + losses_[at];
        const double slope = wins_[at] - mass / (1 + std::exp(-(found.a + found.b * x)));
        scores[games_[at]][0] += slope;
        scores[games_[at]][1] += slope * x;
    }
    double m00 = 0, m01 = 0, m11 = 0;
    double clusters = 0;
    for (const auto& [d0, d1] : scores) {
        m00 += d0 * d0;
        m01 += d0 * d1;
        m11 += d1 * d1;
        clusters += d0 != 0 || d1 != 0;
    }
    const double determinant = found.h00 * found.h11 - found.h01 * found.h01;
    const double correction = clusters > 1 ? clusters / (clusters - 1) : nan;
    const double i00 = found.h11 / determinant, i01 = -found.h01 / determinant, i11 = found.h00 / determinant;
    const double v00 = correction * (i00 * i00 * m00 + 2 * i00 * i01 * m01 + i01 * i01 * m11);
    const double v01 = correction * (i00 * i01 * m00 + (i00 * i11 + i01 * i01) * m01 + i01 * i11 * m11);
    const double v11 = correction * (i01 * i01 * m00 + 2 * i01 * i11 * m01 + i11 * i11 * m11);
    // Back to the values' own unit: intercept = a - b · mean / spread, slope = b / spread.
    const double k = mean / spread;
    fit.intercept = found.a - found.b * k;
    fit.slope = found.b / spread;
    fit.covariance = {v00 - 2 * k * v01 + k * k * v11, (v01 - k * v11) / spread, v11 / (spread * spread)};
    return fit;
}

std::vector<double> Ranking::held_out_losses(std::span<const Link> links) const {
    constexpr std::size_t folds = 5, coarse = 512;
    struct Coarse {
        double x = 0, mass = 0;
        std::array<double, folds> wins{}, losses{};
    };
    // A few values side by side are one: what is chosen by this is not finer than that.
    std::vector<Coarse> coarsened(1);
    std::size_t at = 0, held = 0, finite = 0;
    for (const float value : values_) finite += std::isfinite(value);
    for (const std::uint32_t end : tie_ends_) {
        const double value = values_[at];
        if (!std::isfinite(value)) {
            at = end;
            continue;
        }
        for (; at < end; ++at, ++held) {
            Coarse& heap = coarsened.back();
            const std::size_t fold = games_[at] % folds;
            heap.wins[fold] += wins_[at];
            heap.losses[fold] += losses_[at];
            heap.x += (double{wins_[at]} + losses_[at]) * value;
            heap.mass += double{wins_[at]} + losses_[at];
        }
        if (held * coarse >= finite * coarsened.size()) coarsened.emplace_back();
    }
    std::erase_if(coarsened, [](const Coarse& heap) { return !(heap.mass > 0); });
    std::vector<double> found;
    for (const Link& link : links) {
        double loss = 0, mass = 0;
        for (std::size_t out = 0; out < folds; ++out) {
            std::vector<Heap> kept;
            double wins = 0, losses = 0;
            for (const Coarse& heap : coarsened) {
                Heap each{link(heap.x / heap.mass), 0, 0};
                for (std::size_t fold = 0; fold < folds; ++fold)
                    if (fold != out) each.wins += heap.wins[fold], each.losses += heap.losses[fold];
                wins += each.wins;
                losses += each.losses;
                kept.push_back(each);
            }
            double spread = 0;
            for (const Heap& heap : kept) spread = std::max(spread, std::abs(heap.x));
            if (!(spread > 0 && wins > 0 && losses > 0)) {
                loss = nan;
                break;
            }
            for (Heap& heap : kept) heap.x /= spread;
            const Fitted fit = minimize(kept, std::log(wins / losses), 0);
            if (!fit.converged) loss = nan;
            for (std::size_t i = 0; i < coarsened.size(); ++i) {
                loss += surprise(fit.a + fit.b * kept[i].x, coarsened[i].wins[out], coarsened[i].losses[out]);
                mass += coarsened[i].wins[out] + coarsened[i].losses[out];
            }
        }
        found.push_back(loss / mass);
    }
    return found;
}

Gap Ranking::gap(std::span<const std::uint8_t> condition, std::span<const double> edges) const {
    if (condition.size() != size()) throw std::invalid_argument("a condition has a truth value for every position");
    const auto borders = this->borders(edges);
    DepartureSums level(game_count_), lean(game_count_);
    std::vector<std::uint8_t> seen(game_count_);
    Gap gap;
    double weight_all = 0, wins_all = 0;
    for (std::size_t at = borders.front(); at < borders.back(); ++at) {
        weight_all += double{wins_[at]} + losses_[at];
        wins_all += wins_[at];
    }
    const double middle = weight_all > 0 ? wins_all / weight_all : nan;
    for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
        double weight = 0, wins = 0, held = 0;
        for (std::size_t at = borders[b]; at < borders[b + 1]; ++at) {
            const double mass = double{wins_[at]} + losses_[at];
            weight += mass;
            wins += wins_[at];
            held += condition[order_[at]] != 0 ? mass : 0;
        }
        if (!(held > 0)) continue;
        const double mean = wins / weight, share = held / weight;
        const double sign = mean > middle ? 1 : mean < middle ? -1 : 0;
        for (std::size_t at = borders[b]; at < borders[b + 1]; ++at) {
            const bool holds = condition[order_[at]] != 0;
            const double mass = double{wins_[at]} + losses_[at];
            const double beyond = (holds ? 1.0 : 0.0) - share, residual = wins_[at] - mass * mean;
            level.add(games_[at], residual * beyond, mass * beyond * beyond);
            lean.add(games_[at], sign * residual * beyond, sign * sign * mass * beyond * beyond);
            if (holds) seen[games_[at]] = 1;
        }
        gap.positions += held;
    }
    for (const std::uint8_t game : seen) gap.games += game;
    gap.level = level.departure(gap.positions);
    gap.lean = lean.departure(gap.positions);
    return gap;
}

}  // namespace hyoka::analysis
