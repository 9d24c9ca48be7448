// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "games/all.h"
#include "strengths/all.h"
#include "strengths/competitions.h"
#include "strengths/latent.h"

namespace hyoka::bindings {
namespace {

using strengths::Competitions;
using strengths::GoShapes;

Competitions competitions_of(const HeldTable& held, std::shared_ptr<GoShapes> shapes, unsigned threads,
                             const Progress& progress) {
    bulk::CompetitionPass pass(held.games, held.blocks.size(), std::move(shapes));
    run_pass(&pass, held, threads, progress);
    return std::move(pass.found);
}

/// Competitions given as lists: what others than games are judged by.
Competitions competitions_from(std::size_t features, const View<std::uint16_t>& listed, const View<std::int64_t>& ends,
                               const View<std::int64_t>& teams, const View<std::int64_t>& winners,
                               const View<std::int64_t>& games) {
    const auto offered = [](bool fine) {
        if (!fine) throw nb::value_error("competitions: features, teams, winners and games don't fit together");
    };
    Competitions made{.features = features, .games = 0, .blocks = {}};
    offered(teams.size() == winners.size() && teams.size() == games.size());
    std::size_t feature = 0;
    std::size_t team = 0;
    for (std::size_t i = 0; i < teams.size(); ++i) {
        offered(games(i) >= 0 && (i == 0 || games(i) >= games(i - 1)));
        if (i == 0 || games(i) != games(i - 1)) made.blocks.emplace_back();
        made.games = static_cast<std::size_t>(games(i)) + 1;
        auto& block = made.blocks.back();
        offered(teams(i) >= 1 && teams(i) < 1 << 16 && winners(i) >= 0 && winners(i) < teams(i));
        for (std::int64_t k = 0; k < teams(i); ++k, ++team) {
            offered(team < ends.size() && ends(team) >= static_cast<std::int64_t>(feature) &&
                    ends(team) <= static_cast<std::int64_t>(listed.size()));
            const auto end = static_cast<std::size_t>(ends(team));
            offered(end - feature < 256);
            block.sizes.push_back(static_cast<std::uint8_t>(end - feature));
            for (; feature < end; ++feature) {
                offered(listed(feature) < features);
                block.features.push_back(listed(feature));
            }
        }
        block.teams.push_back(static_cast<std::uint16_t>(teams(i)));
        block.winners.push_back(static_cast<std::uint16_t>(winners(i)));
        block.games.push_back(static_cast<std::uint32_t>(games(i)));
    }
    return made;
}

/// Factors on their way, with the competitions that they are learned from.
class LatentLearner {
public:
    LatentLearner(std::shared_ptr<Competitions> competitions, const View<std::uint8_t>& games, const View<float>& logs,
                  std::size_t rank, double rate, double decay, std::uint64_t seed)
        : competitions_(std::move(competitions)),
          games_(games.data(), games.data() + games.size()),
          learning_{.rate = rate, .decay = decay, .seed = seed} {
        if (logs.size() != competitions_->features) throw nb::value_error("one strength a feature is needed");
        if (games_.size() != competitions_->games) throw nb::value_error("one mark a game is needed");
        if (rank > 64) throw nb::value_error("at most 64 factors");
        model_.rank = rank;
        model_.logs.assign(logs.data(), logs.data() + logs.size());
        Rng rng = Rng::for_task(seed, 1);
        for (std::size_t i = 0; i < model_.features() * rank; ++i)
            model_.factors.push_back((static_cast<float>(rng.bits() >> 40) * 0x1p-24f - 0.5f) * 0.1f);
        history_.logs.assign(model_.logs.size(), 1.0f);  // as if there had been gradients: no wild first steps
        history_.factors.assign(model_.factors.size(), 1.0f);
    }
    void learn() {
        run_interruptibly([&](const std::atomic<bool>& stop) {
            learn_once(*competitions_, games_, learning_, model_, history_, stop);
        });
        ++learning_.seed;
    }
    double loss() const { return loss_on_others(*competitions_, games_, model_); }
    auto numbers() const {
        return std::tuple(to_numpy(std::vector(model_.logs)),
                          to_numpy(std::vector(model_.factors), {model_.features(), model_.rank}));
    }

private:
    std::shared_ptr<Competitions> competitions_;
    std::vector<std::uint8_t> games_;
    strengths::LatentLearning learning_;
    strengths::LatentFactors model_;
    strengths::LatentHistory history_;
};

std::shared_ptr<Model> latent_model(std::string_view game, const View<float>& logs,
                                    const nb::ndarray<nb::numpy, const float, nb::ndim<2>, nb::c_contig>& factors,
                                    std::shared_ptr<GoShapes> shapes) {
    const auto made = std::make_shared<strengths::LatentFactors>();
    made->rank = factors.shape(1);
    made->logs.assign(logs.data(), logs.data() + logs.size());
    made->factors.assign(factors.data(), factors.data() + factors.size());
    return with_game(game_named(game), [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
        if (shapes && !is_go<G>) throw NotationError("this game has no shapes of stones");
        if (strengths::MoveFeatures<G>::all().empty() || factors.shape(0) != logs.size() ||
            logs.size() != strengths::FeatureFinder<G>(shapes).count())
            throw NotationError("numbers for each feature are needed");
        return std::make_shared<strengths::LatentStrengths<G>>(made, shapes);
    });
}

std::shared_ptr<Model> combined_model(std::string_view game, const std::vector<std::shared_ptr<Model>>& models,
                                      const std::vector<float>& weights) {
    if (models.empty() || models.size() != weights.size()) throw nb::value_error("one weight a model is needed");
    return with_game(game_named(game), [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
        std::vector<typename strengths::CombinedModel<G>::Part> parts;
        for (std::size_t i = 0; i < models.size(); ++i) {
            auto part = std::dynamic_pointer_cast<strengths::MoveModel<G>>(models[i]);
            if (!part) throw NotationError("a model of another game or of another kind");
            parts.push_back({std::move(part), weights[i]});
        }
        return std::make_shared<strengths::CombinedModel<G>>(std::move(parts));
    });
}

std::span<const double> checked(const Competitions& competitions, const View<double>& strengths) {
    if (strengths.size() != competitions.features) throw nb::value_error("one strength a feature is needed");
    return span_of(strengths);
}

auto expect(const Competitions& competitions, const View<double>& strengths, unsigned threads) {
    const auto given = checked(competitions, strengths);
    strengths::Expectation found;
    run_interruptibly(
        [&](const std::atomic<bool>& stop) { found = strengths::expect(competitions, given, threads, stop); });
    return std::tuple(found.log_likelihood, to_numpy(std::move(found.wins)));
}

auto spread(const Competitions& competitions, const View<double>& strengths, unsigned threads) {
    const auto given = checked(competitions, strengths);
    std::vector<double> found;
    run_interruptibly(
        [&](const std::atomic<bool>& stop) { found = spread_of_wins(competitions, given, threads, stop); });
    return to_numpy(std::move(found));
}

auto information(const Competitions& competitions, const View<double>& strengths, std::size_t features,
                 std::size_t every, unsigned threads) {
    const auto given = checked(competitions, strengths);
    const std::size_t size = std::min(features, competitions.features);
    std::vector<double> found;
    run_interruptibly([&](const std::atomic<bool>& stop) {
        found = strengths::information(competitions, given, size, std::max<std::size_t>(every, 1), threads, stop);
    });
    return to_numpy(std::move(found), {size, size});
}

auto information_times(const Competitions& competitions, const View<double>& strengths, const View<double>& direction,
                       unsigned threads) {
    const auto given = checked(competitions, strengths);
    const auto along = checked(competitions, direction);
    std::vector<double> found;
    run_interruptibly([&](const std::atomic<bool>& stop) {
        found = strengths::information_times(competitions, given, along, threads, stop);
    });
    return to_numpy(std::move(found));
}

auto shapes_played(const HeldTable& held, unsigned threads, const Progress& progress) {
    bulk::ShapePass pass(held.games.rows());
    run_pass(&pass, held, threads, progress);
    return std::tuple(to_numpy(std::move(pass.hashes), {held.games.rows(), strengths::shape_sizes}),
                      to_numpy(std::move(pass.packed), {held.games.rows(), bulk::ShapePass::packed_bytes}));
}

std::string text_of_shape(const View<std::uint8_t>& packed, std::size_t size) {
    if (packed.size() != bulk::ShapePass::packed_bytes || size >= strengths::shape_sizes)
        throw nb::value_error("no packed shape");
    strengths::ShapeStates states;
    for (std::size_t i = 0; i < states.size(); ++i)
        states[i] = static_cast<strengths::ShapeState>(packed(i / 4) >> (2 * (i % 4)) & 3);
    return strengths::shape_text(states, strengths::points_of_size[size]);
}

}  // namespace

void bind_strengths(nb::module_& module) {
    nb::class_<GoShapes>(module, "GoShapes", "Shapes of stones around a point, known in all their likenesses.")
        .def(
            "__init__", [](GoShapes* made, const std::vector<std::string>& texts) { new (made) GoShapes(texts); },
            "texts"_a, "Each as letters: o own, x the other's, e empty, b off the board, the nearest points first.")
        .def("__len__", &GoShapes::count);
    module.def("shapes_played", &shapes_played, "table"_a, "threads"_a, "progress"_a.none(),
               "Of the moves played (Go), by row and size: a hash of the shape around it, the same for all its "
               "likenesses; and the shape, packed.");
    module.def("text_of_shape", &text_of_shape, "packed"_a, "size"_a, "The letters of a packed shape of that size.");
    module.def(
        "sizes_of_shapes",
        [] { return std::vector<std::size_t>(strengths::points_of_size.begin(), strengths::points_of_size.end()); },
        "How many points the shapes of each size have.");
    nb::class_<Competitions>(module, "Competitions",
                             "Choices among teams of features, of which one won each time; see hyoka.learning.")
        .def_static("of_table", &competitions_of, "table"_a, "shapes"_a.none(), "threads"_a, "progress"_a.none(),
                    "The legal moves of a table's positions and the ones played; shapes are numbered after features.")
        .def_static("of_lists", &competitions_from, "features"_a, "listed"_a, "ends"_a, "teams"_a, "winners"_a,
                    "games"_a,
                    "How many features there are; those of all teams in a row and where each team's end; by "
                    "competition how many teams, which won, and of which game it is, in rising order.")
        .def("__len__", &Competitions::size)
        .def_ro("features", &Competitions::features)
        .def_ro("games", &Competitions::games)
        .def_prop_ro("teams", &Competitions::teams)
        .def_prop_ro("bytes", &Competitions::bytes)
        .def("expect", &expect, "strengths"_a, "threads"_a,
             "The log-likelihood of strengths, and the wins they expect of each feature.")
        .def("spread", &spread, "strengths"_a, "threads"_a,
             "By feature: the sum of p (1 - p) over teams with it, p being the chance that the team wins.")
        .def(
            "counts",
            [](const Competitions& competitions) {
                auto counts = strengths::count_features(competitions);
                return std::tuple(to_numpy(std::move(counts.wins)), to_numpy(std::move(counts.teams)));
            },
            "By feature: in how many teams that won it is, and in how many.")
        .def(
            "groups",
            [](const Competitions& competitions) { return to_numpy(strengths::exclusive_groups(competitions)); },
            "By feature: a group such that no team has two features of one.")
        .def(
            "scores_by_game",
            [](const Competitions& competitions, const View<double>& strengths, std::size_t features) {
                const std::size_t size = std::min(features, competitions.features);
                return to_numpy(strengths::scores_by_game(competitions, checked(competitions, strengths), size),
                                {competitions.games, size});
            },
            "strengths"_a, "features"_a, "By game and feature, for the first features: wins less those expected.")
        .def(
            "squared_scores",
            [](const Competitions& competitions, const View<double>& strengths) {
                return to_numpy(strengths::squared_scores(competitions, checked(competitions, strengths)));
            },
            "strengths"_a, "By feature: the sum over games of the squares of wins less those expected.")
        .def("information", &information, "strengths"_a, "features"_a, "every"_a, "threads"_a,
             "Fisher's information of the logarithms of the first features' strengths, from every so-many-th "
             "competition.")
        .def("information_times", &information_times, "strengths"_a, "direction"_a, "threads"_a,
             "Fisher's information of the logarithms of all strengths, times a direction.");
    nb::class_<LatentLearner>(module, "LatentLearner",
                              "Factors of features on their way; see hyoka.learning.strengths.")
        .def(nb::init<std::shared_ptr<Competitions>, const View<std::uint8_t>&, const View<float>&, std::size_t, double,
                      double, std::uint64_t>(),
             "competitions"_a, "games"_a, "logs"_a, "rank"_a, "rate"_a, "decay"_a, "seed"_a,
             "Competitions; by game whether it is learned from; the logarithms to begin with; how many factors a "
             "feature has; and how they are learned.")
        .def("learn", &LatentLearner::learn, "Go through all games that are learned from once.")
        .def_prop_ro("loss", &LatentLearner::loss, "Mean of -log of the winners' chances in the other games.")
        .def("numbers", &LatentLearner::numbers, "Logarithms, and factors by feature.");
    module.def("combined_model", &combined_model, "game"_a, "models"_a, "weights"_a,
               "Several move models as one: the product of their strengths, each to the power of its weight.");
    module.def("latent_model", &latent_model, "game"_a, "logs"_a, "factors"_a, "shapes"_a.none(),
               "Factors as a move model: numbers for each feature, then for each shape (Go).");
}

}  // namespace hyoka::bindings
