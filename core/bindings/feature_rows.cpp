// SPDX-License-Identifier: Apache-2.0
#include "analysis/feature_rows.h"

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"

namespace hyoka::bindings {
namespace {

using analysis::Loss;

template <class T>
using Column = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>;
template <class T>
std::span<const T> span_of(const Column<T>& column) {
    return {column.data(), column.size()};
}

/// Rows as Python holds them, with the arrays that they look at.
struct HeldRows {
    Column<std::int64_t> starts;
    Column<std::uint16_t> features;
    Column<float> amounts, ending, targets;
    Column<double> rest;
    Column<std::uint8_t> used;
    analysis::FeatureRows rows;
};

std::span<const double> checked_weights(const HeldRows& held, const Column<double>& weights) {
    if (weights.size() != held.rows.width()) throw std::invalid_argument("there are more or fewer weights");
    return span_of(weights);
}

unsigned checked_threads(int threads) {
    if (threads < 1 || threads > 1024) throw std::invalid_argument("1 to 1024 threads");
    return static_cast<unsigned>(threads);
}

Loss loss_of(bool squared) { return squared ? Loss::squared : Loss::logarithmic; }

}  // namespace

void bind_feature_rows(nb::module_& module) {
    nb::class_<HeldRows>(module, "FeatureRows",
                         "Positions with few of many features, and the sums by which weights are fitted to them.")
        .def(
            "__init__",
            [](HeldRows* self, Column<std::int64_t> starts, Column<std::uint16_t> features, Column<float> amounts,
               Column<float> targets, std::size_t feature_count, Column<float> ending, Column<double> rest,
               Column<std::uint8_t> used) {
                analysis::FeatureRows rows{span_of(starts), span_of(features), span_of(amounts), span_of(ending),
                                           span_of(rest),   span_of(targets),  span_of(used),    feature_count};
                {
                    nb::gil_scoped_release released;
                    analysis::check(rows);
                }
                new (self) HeldRows{std::move(starts),  std::move(features), std::move(amounts), std::move(ending),
                                    std::move(targets), std::move(rest),     std::move(used),    rows};
            },
            "starts"_a, "features"_a, "amounts"_a, "targets"_a, "feature_count"_a, "ending"_a, "rest"_a, "used"_a,
            "Empty columns are left out: no phases, no score beside the features, all rows count. Raises ValueError.")
        .def("__len__", [](const HeldRows& self) { return self.rows.size(); })
        .def_prop_ro(
            "width", [](const HeldRows& self) { return self.rows.width(); },
            "How many weights: one a feature or two side by side, opening and ending; that of the rest last.")
        .def(
            "scores",
            [](const HeldRows& self, const Column<double>& weights, int threads) {
                std::vector<double> found;
                {
                    nb::gil_scoped_release released;
                    found = analysis::scores(self.rows, checked_weights(self, weights), checked_threads(threads));
                }
                const std::size_t size = found.size();
                return to_numpy(std::move(found), {size});
            },
            "weights"_a, "threads"_a, "The score of every row, whether it counts or not.")
        .def(
            "loss_slope",
            [](const HeldRows& self, const Column<double>& weights, bool squared, int threads) {
                analysis::LossSlope found;
                {
                    nb::gil_scoped_release released;
                    found = analysis::loss_slope(self.rows, checked_weights(self, weights), loss_of(squared),
                                                 checked_threads(threads));
                }
                const std::size_t width = found.gradient.size();
                return std::tuple(found.loss, to_numpy(std::move(found.gradient), {width}), found.rows);
            },
            "weights"_a, "squared"_a, "threads"_a, "The sum of losses, its gradient, and how many rows count.")
        .def(
            "curvature",
            [](const HeldRows& self, const Column<double>& weights, bool squared, bool exact, std::size_t step,
               int threads) {
                if (step < 1) throw std::invalid_argument("a step is 1 or more");
                std::vector<double> found;
                {
                    nb::gil_scoped_release released;
                    found = analysis::curvature(self.rows, checked_weights(self, weights), loss_of(squared), exact,
                                                step, checked_threads(threads));
                }
                const std::size_t width = self.rows.width();
                return to_numpy(std::move(found), {width, width});
            },
            "weights"_a, "squared"_a, "exact"_a, "step"_a, "threads"_a,
            "Second derivatives of the loss, by every step-th row; of squares unless exact without what may be "
            "negative.")
        .def(
            "occurrences",
            [](const HeldRows& self, std::size_t step) {
                if (step < 1) throw std::invalid_argument("a step is 1 or more");
                std::vector<std::int64_t> found;
                {
                    nb::gil_scoped_release released;
                    found = analysis::occurrences(self.rows, step);
                }
                return to_numpy(std::move(found), {self.rows.feature_count});
            },
            "step"_a, "How many rows that count have each feature, of every step-th row.")
        .def(
            "pulls",
            [](const HeldRows& self, const Column<double>& weights, bool squared, const Column<std::uint32_t>& games,
               std::size_t begin, std::size_t end, std::uint32_t first_game, std::uint32_t game_count) {
                if (games.size() != self.rows.size() || begin > end || end > games.size())
                    throw std::invalid_argument("no such rows");
                for (std::size_t row = begin; row < end; ++row)
                    if (games.data()[row] < first_game || games.data()[row] - first_game >= game_count)
                        throw std::invalid_argument("a row is of another game");
                std::vector<double> found;
                {
                    nb::gil_scoped_release released;
                    found = analysis::pulls(self.rows, checked_weights(self, weights), loss_of(squared), span_of(games),
                                            begin, end, first_game, game_count);
                }
                return to_numpy(std::move(found), {game_count, self.rows.width()});
            },
            "weights"_a, "squared"_a, "games"_a, "begin"_a, "end"_a, "first_game"_a, "game_count"_a,
            "Minus the gradient by game, a line each, of the rows from begin to end.");
}

}  // namespace hyoka::bindings
