// SPDX-License-Identifier: Apache-2.0
#include "analysis/ranking.h"

#include <nanobind/stl/array.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"

namespace hyoka::bindings {
namespace {

using analysis::Bin;
using analysis::Departure;
using analysis::Gap;
using analysis::LogisticFit;
using analysis::Positions;
using analysis::Ranking;
using analysis::RankMetrics;
using analysis::Resampling;

constexpr double unbounded = std::numeric_limits<double>::infinity();

template <class T>
using Column = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> span_of(const Column<T>& column) {
    return {column.data(), column.size()};
}

Ranking rank(const Column<float>& values, const Column<float>& results, const Column<std::uint32_t>& games,
             std::uint32_t game_count, const std::optional<Column<float>>& weights) {
    const std::size_t size = values.size();
    if (results.size() != size || games.size() != size || (weights && weights->size() != size))
        throw std::invalid_argument("columns differ in length");
    const Positions positions{span_of(values), span_of(results), weights ? span_of(*weights) : std::span<const float>{},
                              span_of(games), game_count};
    nb::gil_scoped_release released;
    return Ranking(positions);
}

int checked_resamples(int resamples) {
    if (resamples < 0 || resamples > 10'000'000) throw std::invalid_argument("0 to 10 million resamples");
    return resamples;
}

std::array<double, 6> row(const RankMetrics& found) {
    return {found.roc, found.tau, found.tau_b, found.average_precision, found.break_even, found.top_quarter};
}

std::array<double, 8> row(const Bin& bin) {
    return {bin.positions,
            bin.wins,
            bin.value_sum,
            bin.finite,
            bin.variance,
            static_cast<double>(bin.count),
            static_cast<double>(bin.games),
            bin.squares};
}

template <class Rows>
auto table(const Rows& rows) {
    constexpr std::size_t width = std::tuple_size_v<decltype(row(rows[0]))>;
    std::vector<double> cells;
    cells.reserve(rows.size() * width);
    for (const auto& each : rows)
        for (const double cell : row(each)) cells.push_back(cell);
    return to_numpy(std::move(cells), {rows.size(), width});
}

}  // namespace

void bind_analysis(nb::module_& module) {
    nb::class_<LogisticFit>(module, "LogisticFit",
                            "A logistic curve: win probability = 1 / (1 + exp(-(intercept + slope * link(value)))).")
        .def_ro("intercept", &LogisticFit::intercept)
        .def_ro("slope", &LogisticFit::slope)
        .def_ro("covariance", &LogisticFit::covariance, "var(intercept), cov, var(slope), by games.")
        .def_prop_ro(
            "verdict",
            [](const LogisticFit& fit) { return analysis::verdict_names[static_cast<std::size_t>(fit.verdict)]; },
            "`fits`, or why no curve fits best: `no values`, `one result`, `one value`, `parted`, `diverged`.");
    nb::class_<Departure>(module, "Departure", "A mean departure from the total curve, with errors by games.")
        .def_ro("effect", &Departure::effect)
        .def_ro("error", &Departure::error, "Standard error of the effect.")
        .def_ro("null_error", &Departure::null_error, "Standard error under the null hypothesis, for tests.")
        .def_ro("clusters", &Departure::clusters, "How many games' worth of information the errors rest on.");
    nb::class_<Gap>(module, "Gap", "How far the curve of some positions lies from the curve of all.")
        .def_ro("positions", &Gap::positions, "Weighted, that satisfy the condition.")
        .def_ro("games", &Gap::games)
        .def_ro("level", &Gap::level, "Mean result beyond what the total curve says.")
        .def_ro("lean", &Gap::lean, "The same in the direction in which the total curve leans.");
    module.def(
        "resampled_sums",
        [](const nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>& sums, int resamples,
           std::uint64_t seed) {
            const std::size_t columns = sums.shape(1);
            std::vector<double> found;
            run_interruptibly([&](const std::atomic<bool>& stop) {
                found = analysis::resampled_sums({sums.data(), sums.size()}, columns,
                                                 {checked_resamples(resamples), seed, 1, &stop});
            });
            return to_numpy(std::move(found), {static_cast<std::size_t>(resamples), columns});
        },
        "sums"_a, "resamples"_a, "seed"_a,
        "Sums over games (a row each) for resamples of games: the games are those that Ranking draws.");
    nb::class_<Ranking>(module, "Ranking",
                        "Positions in the order of their values: one sort for all metrics, curves and resamples.")
        .def(
            "__init__",
            [](Ranking* self, const Column<float>& values, const Column<float>& results,
               const Column<std::uint32_t>& games, std::uint32_t game_count,
               const std::optional<Column<float>>& weights) {
                new (self) Ranking(rank(values, results, games, game_count, weights));
            },
            "values"_a, "results"_a, "games"_a, "game_count"_a, "weights"_a = nb::none(),
            "Raises ValueError for NaN, results outside 0 to 1 and negative weights.")
        .def("__len__", &Ranking::size)
        .def_prop_ro("games", &Ranking::games, "How many games there are to draw from.")
        .def(
            "metrics",
            [](const Ranking& self) {
                nb::gil_scoped_release released;
                return row(self.metrics());
            },
            "ROC, tau, tau-b, average precision, break-even point, wins' share of the top quarter.")
        .def(
            "best_threshold",
            [](const Ranking& self) {
                nb::gil_scoped_release released;
                const auto best = self.best_threshold();
                return std::tuple(best.value, best.accuracy);
            },
            "The threshold of greatest accuracy, and that accuracy.")
        .def(
            "resampled_metrics",
            [](const Ranking& self, int resamples, std::uint64_t seed, int threads) {
                std::vector<RankMetrics> found;
                run_interruptibly([&](const std::atomic<bool>& stop) {
                    found = self.resampled_metrics({checked_resamples(resamples), seed, threads, &stop});
                });
                return table(found);
            },
            "resamples"_a, "seed"_a, "threads"_a, "A row of `metrics` for each resample of whole games.")
        .def(
            "bins",
            [](const Ranking& self, const Column<double>& edges) {
                std::vector<Bin> found;
                {
                    nb::gil_scoped_release released;
                    found = self.bins(span_of(edges));
                }
                return table(found);
            },
            "edges"_a,
            "By bin: weight, wins, sum of finite values, their weight, variance by games, positions, games, squares of "
            "results.")
        .def(
            "resampled_bins",
            [](const Ranking& self, const Column<double>& edges, int resamples, std::uint64_t seed, int threads) {
                std::vector<std::array<double, 4>> found;
                run_interruptibly([&](const std::atomic<bool>& stop) {
                    found = self.resampled_bins(span_of(edges), {checked_resamples(resamples), seed, threads, &stop});
                });
                std::vector<double> cells(found.size() * 4);
                for (std::size_t i = 0; i < found.size(); ++i)
                    std::copy(found[i].begin(), found[i].end(), &cells[4 * i]);
                return to_numpy(std::move(cells), {static_cast<std::size_t>(resamples), edges.size() - 1, 4});
            },
            "edges"_a, "resamples"_a, "seed"_a, "threads"_a,
            "By resample and bin: wins, weight, sum of finite values, their weight.")
        .def(
            "adaptive_edges",
            [](const Ranking& self, std::uint32_t count, std::uint32_t games, double error) {
                std::vector<double> found;
                {
                    nb::gil_scoped_release released;
                    found = self.adaptive_edges(count, games, error);
                }
                return to_numpy(std::move(found));
            },
            "count"_a, "games"_a, "error"_a,
            "Edges of bins that grow until they hold enough and their standard error by games is small enough.")
        .def(
            "logistic",
            [](const Ranking& self, double bend, double limit) {
                nb::gil_scoped_release released;
                return self.logistic({bend, limit});
            },
            "bend"_a = unbounded, "limit"_a = unbounded,
            "The logistic curve of greatest likelihood over finite values, those beyond the limit counting as the "
            "limit, taken as bend * asinh(value / bend).")
        .def(
            "held_out_losses",
            [](const Ranking& self, const Column<double>& bends, const Column<double>& limits) {
                if (bends.size() != limits.size()) throw std::invalid_argument("a limit for every bend");
                std::vector<analysis::Link> links;
                for (std::size_t i = 0; i < bends.size(); ++i) links.push_back({bends.data()[i], limits.data()[i]});
                std::vector<double> found;
                {
                    nb::gil_scoped_release released;
                    found = self.held_out_losses(links);
                }
                return to_numpy(std::move(found));
            },
            "bends"_a, "limits"_a, "Mean log-loss for each bend and limit, of games that the curve was not fitted to.")
        .def(
            "gap",
            [](const Ranking& self, const Column<bool>& condition, const Column<double>& edges) {
                const std::span<const std::uint8_t> holds{reinterpret_cast<const std::uint8_t*>(condition.data()),
                                                          condition.size()};
                const auto bins = span_of(edges);
                nb::gil_scoped_release released;
                return self.gap(holds, bins);
            },
            "condition"_a, "edges"_a, "How the positions of a condition depart from the curve of all.");
}

}  // namespace hyoka::bindings
