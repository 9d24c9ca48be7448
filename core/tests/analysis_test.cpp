// SPDX-License-Identifier: Apache-2.0
// Rankings of random positions against plain counting over pairs; resampling with one thread and with several. Sums
// over rows of features against small steps.
#include <cmath>
#include <vector>

#include "analysis/feature_rows.h"
#include "analysis/ranking.h"
#include "base/rng.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using analysis::Positions;
using analysis::Ranking;

struct Columns {
    std::vector<float> values, results;
    std::vector<std::uint32_t> games;
    std::uint32_t game_count;

    Positions positions() const { return {values, results, {}, games, game_count}; }
};

Columns random_columns(std::uint64_t seed, std::size_t size, std::uint32_t games, std::uint32_t distinct) {
    Rng rng(seed);
    Columns columns{{}, {}, {}, games};
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t drawn = rng.below(distinct + 2);
        columns.values.push_back(drawn == distinct       ? -INFINITY
                                 : drawn == distinct + 1 ? INFINITY
                                                         : static_cast<float>(drawn) - 3.0F);
        columns.results.push_back(0.5F * static_cast<float>(rng.below(3)));
        columns.games.push_back(rng.below(games));
    }
    return columns;
}

void pairs_agree(const Columns& columns) {
    double right = 0, tied = 0, wrong = 0;
    for (std::size_t i = 0; i < columns.values.size(); ++i)
        for (std::size_t j = 0; j < columns.values.size(); ++j) {
            const double weight = double{columns.results[i]} * (1.0 - columns.results[j]);
            const float win = columns.values[i], loss = columns.values[j];
            (win > loss ? right : win == loss ? tied : wrong) += weight;
        }
    const double all = right + tied + wrong;
    const auto found = Ranking(columns.positions()).metrics();
    if (all == 0) {
        expect(std::isnan(found.roc) && std::isnan(found.tau), "no pairs, no area");
        return;
    }
    expect(std::abs(found.roc - (right + tied / 2) / all) < 1e-9, "area under the ROC curve by pairs");
    expect(std::abs(found.tau - (right + tied - wrong) / all) < 1e-9, "tau by pairs");
}

void threads_agree(const Columns& columns) {
    const Ranking ranking(columns.positions());
    const auto one = ranking.resampled_metrics({40, 7, 1});
    const auto four = ranking.resampled_metrics({40, 7, 4});
    bool same = one.size() == four.size();
    for (std::size_t i = 0; same && i < one.size(); ++i)
        same = one[i].roc == four[i].roc || (std::isnan(one[i].roc) && std::isnan(four[i].roc));
    expect(same, "resamples do not depend on threads");
    const std::vector<double> edges{-INFINITY, -1, 0, 2, INFINITY};
    expect(ranking.resampled_bins(edges, {40, 7, 1}) == ranking.resampled_bins(edges, {40, 7, 4}),
           "resampled bins do not depend on threads");
}

void bins_hold_everything(const Columns& columns) {
    const Ranking ranking(columns.positions());
    std::size_t count = 0;
    double wins = 0, all = 0;
    for (const auto& bin : ranking.bins(std::vector<double>{-INFINITY, -1.5, 0, 2, INFINITY})) {
        count += bin.count;
        wins += bin.wins;
    }
    for (const float result : columns.results) all += result;
    expect(count == columns.values.size() && std::abs(wins - all) < 1e-6, "bins hold every position once");
    const auto edges = ranking.adaptive_edges(5, 2, 0.5);
    for (std::size_t i = 1; i < edges.size(); ++i) expect(edges[i - 1] < edges[i], "adaptive edges rise");
    const std::vector<std::uint8_t> everything(columns.values.size(), 1);
    const auto gap = ranking.gap(everything, std::vector<double>{-INFINITY, 0, INFINITY});
    if (!columns.values.empty())
        expect(std::abs(gap.level.effect) < 1e-9, "all positions do not depart from themselves");
    ranking.logistic();
    ranking.best_threshold();
}

/// Nothing is drawn once somebody has raised the flag, and none is none.
void stopped_work_ends() {
    const auto columns = random_columns(1, 100, 10, 5);
    const Ranking ranking(columns.positions());
    const std::atomic<bool> stop = true;
    const auto found = ranking.resampled_metrics({80, 1, 2, &stop});
    expect(found.size() == 80 && found.back().roc == 0, "a raised flag stops the drawing");
    expect(ranking.resampled_metrics({0, 1, 2}).empty(), "no resamples, no rows");
}

void weights_count_like_copies() {
    const auto columns = random_columns(3, 60, 8, 12);
    Columns twice = columns;
    for (std::size_t i = 0; i < columns.values.size(); i += 2) {
        twice.values.push_back(columns.values[i]);
        twice.results.push_back(columns.results[i]);
        twice.games.push_back(columns.games[i]);
    }
    std::vector<float> weights(columns.values.size(), 1.0F);
    for (std::size_t i = 0; i < weights.size(); i += 2) weights[i] = 2;
    Positions weighed = columns.positions();
    weighed.weights = weights;
    const auto one = Ranking(weighed).metrics(), other = Ranking(twice.positions()).metrics();
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    expect(near(one.roc, other.roc) && near(one.average_precision, other.average_precision) &&
               near(one.break_even, other.break_even) && near(one.top_quarter, other.top_quarter),
           "a weight of two counts like two positions");
}

/// The gradient is what small steps change, the curvature what they change of the gradient; on any number of threads.
void slopes_are_those_of_small_steps(std::uint64_t seed) {
    Rng rng(seed);
    constexpr std::size_t count = 5;
    const bool tapered = seed % 2, with_rest = seed % 3 == 0;
    std::vector<std::int64_t> starts{0};
    std::vector<std::uint16_t> features;
    std::vector<float> amounts, ending, targets;
    std::vector<double> rest;
    std::vector<std::uint8_t> used;
    for (std::size_t row = 0; row < seed * 2; ++row) {
        for (std::uint16_t feature = 0; feature < count; ++feature)
            if (rng.below(2)) {
                features.push_back(feature);
                amounts.push_back(static_cast<float>(rng.below(7)) - 3.0F);
            }
        starts.push_back(static_cast<std::int64_t>(features.size()));
        targets.push_back(0.5F * static_cast<float>(rng.below(3)));
        if (tapered) ending.push_back(0.25F * static_cast<float>(rng.below(5)));
        if (with_rest) rest.push_back(static_cast<double>(rng.below(9)) - 4);
        used.push_back(rng.below(4) != 0);
    }
    const analysis::FeatureRows rows{starts, features, amounts, ending, rest, targets, used, count};
    analysis::check(rows);
    std::vector<double> weights;
    for (std::size_t i = 0; i < rows.width(); ++i) weights.push_back(0.1 * static_cast<double>(rng.below(11)) - 0.5);
    for (const auto loss : {analysis::Loss::logarithmic, analysis::Loss::squared}) {
        const auto here = loss_slope(rows, weights, loss, 1);
        const auto bend = curvature(rows, weights, loss, true, 1, 3);
        expect(loss_slope(rows, weights, loss, 3).gradient == here.gradient, "threads do not change sums");
        for (std::size_t i = 0; i < weights.size(); ++i) {
            constexpr double step = 1e-5;
            auto ahead = weights, behind = weights;
            ahead[i] += step;
            behind[i] -= step;
            const auto up = loss_slope(rows, ahead, loss, 2), down = loss_slope(rows, behind, loss, 2);
            expect(std::abs((up.loss - down.loss) / (2 * step) - here.gradient[i]) < 1e-4, "the gradient is the slope");
            for (std::size_t j = 0; j < weights.size(); ++j) {
                const double change = (up.gradient[j] - down.gradient[j]) / (2 * step);
                expect(std::abs(change - bend[i * weights.size() + j]) < 1e-4, "the curvature is the gradient's slope");
            }
        }
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka::tests;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto columns = random_columns(seed, seed * 3, 1 + static_cast<std::uint32_t>(seed) / 2,
                                            1 + static_cast<std::uint32_t>(seed) % 20);
        pairs_agree(columns);
        threads_agree(columns);
        bins_hold_everything(columns);
    }
    for (std::uint64_t seed = 0; seed < 24; ++seed) slopes_are_those_of_small_steps(seed);
    stopped_work_ends();
    weights_count_like_copies();
    return report();
}
