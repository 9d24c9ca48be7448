// SPDX-License-Identifier: Apache-2.0
#include "sparse/all.h"

#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "bulk/comparisons.h"

/// Evaluations over many small features, and what they are learned from.
namespace hyoka::bindings {
namespace {

using bulk::Comparisons;
using Positions = nb::typed<nb::sequence, nb::object>;
using Table = nb::ndarray<nb::numpy, const float, nb::shape<-1, 4>, nb::c_contig>;

auto feature_sets(std::string_view game) {
    game_named(game);
    std::vector<std::tuple<std::string, std::string, double, std::size_t, std::size_t>> found;
    sparse::for_each_set([&]<class Set>(std::type_identity<Set>) {
        if (game == Set::Game::name)
            found.emplace_back(std::string(Set::name), std::string(Set::unit), Set::scale, Set::count(),
                               Set::anchored());
    });
    return found;
}

auto starting_weights(std::string_view game, std::string_view set) {
    std::vector<float> weights;
    sparse::with_set(game, set, [&]<class Set>(std::type_identity<Set>) { weights = Set::starting(); });
    return to_numpy(std::move(weights));
}

template <class Set>
std::span<const float> checked(const View<float>& weights) {
    if (weights.size() != Set::count()) throw nb::value_error("one weight a feature is needed");
    return span_of(weights);
}

std::shared_ptr<Model> sparse_evaluation(std::string_view game, std::string_view set, const View<float>& weights,
                                         double scale) {
    std::shared_ptr<Model> made;
    sparse::with_set(game, set, [&]<class Set>(std::type_identity<Set>) {
        auto table = std::make_shared<const typename Set::Table>(checked<Set>(weights));
        made = std::make_shared<sparse::SparseEvaluation<Set>>(std::move(table), scale);
    });
    return made;
}

auto sparse_features(std::string_view game, std::string_view set, const Positions& objects) {
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> features;
    std::vector<float> amounts;
    sparse::with_set(game, set, [&]<class Set>(std::type_identity<Set>) {
        for (const nb::handle object : nb::iter(objects)) {
            Set::visit(nb::cast<const typename Set::Game&>(object), [&](std::size_t feature, float amount) {
                features.push_back(static_cast<std::int32_t>(feature));
                amounts.push_back(amount);
            });
            offsets.push_back(static_cast<std::int64_t>(features.size()));
        }
    });
    return std::tuple(to_numpy(std::move(offsets)), to_numpy(std::move(features)), to_numpy(std::move(amounts)));
}

/// Comparisons with the games that they look at, which Python keeps alive.
class HeldComparisons {
public:
    HeldComparisons(const HeldTable& held, std::string_view set)
        : rows_(held.games.rows()), made_(Comparisons::of(held.games, held.blocks, set)) {
        sparse::with_set(game_names[static_cast<std::size_t>(held.games.kind)], set,
                         [&]<class Set>(std::type_identity<Set>) { weights_ = Set::count(); });
    }

    auto search(const View<float>& weights, const View<float>& reach, unsigned threads, const Progress& progress) {
        check(weights.size() == weights_ && reach.size() == rows_);
        bulk::Running running;
        running.threads = std::clamp(threads, 1u, 1024u);
        const Tick tick = telling(progress, running.done);
        run_beside(running.stop, 0.2, tick, [&] { made_->search(span_of(weights), span_of(reach), running); });
        const bulk::Agreement& found = made_->agreement();
        return std::tuple(to_numpy(std::vector(found.ranks)), to_numpy(std::vector(found.choices)),
                          to_numpy(std::vector(found.scores)));
    }

    auto differentiate(const View<float>& weights, const Table& by_row, const View<float>& results,
                       double outcome_scale, std::size_t batch, std::size_t batches, bool with_gradient,
                       unsigned threads) const {
        check(weights.size() == weights_ && by_row.shape(0) == rows_ && results.size() == rows_ && batch < batches &&
              outcome_scale > 0);
        const bulk::Objective objective{
            .weights = {reinterpret_cast<const std::array<float, 4>*>(by_row.data()), rows_},
            .results = span_of(results),
            .outcome_scale = outcome_scale};
        std::vector<float> gradient(with_gradient ? weights_ : 0);
        bulk::Running running;
        running.threads = std::clamp(threads, 1u, 1024u);
        bulk::Losses found;
        run_beside(running.stop, 0.2, {}, [&] {
            found = made_->differentiate(span_of(weights), objective, batch, batches, gradient, running);
        });
        return std::tuple(found.moves, found.outcomes, found.positions, found.leaves, to_numpy(std::move(gradient)));
    }

private:
    static void check(bool fits) {
        if (!fits) throw nb::value_error("comparisons: weights, rows and batches don't fit together");
    }
    std::size_t rows_;
    std::size_t weights_ = 0;
    std::unique_ptr<Comparisons> made_;
};

}  // namespace

void bind_sparse(nb::module_& module) {
    module.def("feature_sets", &feature_sets, "game"_a,
               "Sets of features that evaluations of a game are learned over: name, unit and scale of scores, how many "
               "weights there are, and how many of the first stay as they are.");
    module.def("starting_weights", &starting_weights, "game"_a, "set"_a, "Initial weights.");
    module.def("sparse_evaluation", &sparse_evaluation, "game"_a, "set"_a, "weights"_a, "scale"_a,
               "An evaluation as searches use it: its weights are rounded to 1/32.");
    module.def("sparse_features", &sparse_features, "game"_a, "set"_a, "positions"_a,
               "Offsets by position, which weights count there, and how often: for the first player.");
    nb::class_<HeldComparisons>(module, "Comparisons",
                                "Positions with the leaves of all their moves; see hyoka.learning.comparison_training.")
        .def(nb::init<const HeldTable&, std::string_view>(), "table"_a, "set"_a, nb::keep_alive<1, 2>())
        .def("search", &HeldComparisons::search, "weights"_a, "reach"_a, "threads"_a, "progress"_a.none(),
             "Follows captures after each move; by row the rank of the record's move (0: none), the number of moves, "
             "and the score after the record's, for the first player.")
        .def("differentiate", &HeldComparisons::differentiate, "weights"_a, "by_row"_a, "results"_a, "outcome_scale"_a,
             "batch"_a, "batches"_a, "with_gradient"_a, "threads"_a,
             "J1, J2, the positions and leaves that they are sums over, and the derivatives by weight.");
}

}  // namespace hyoka::bindings
