// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "games/all.h"
#include "network/models.h"
#include "search/assembly.h"

/// Networks, and the games that searches play for them to learn from.
namespace hyoka::bindings {
namespace {

using network::Inputs;
using network::Layers;
using network::Numbers;
using Positions = nb::typed<nb::sequence, nb::object>;

template <class T>
std::vector<T> vector_of(const View<T>& view) {
    return {view.data(), view.data() + view.size()};
}

/// A network of one game as Python holds it.
struct HeldNetwork {
    std::string game;
    std::shared_ptr<const Layers> layers;
};

HeldNetwork made_network(std::string_view game, std::size_t width, const View<std::int16_t>& first,
                         const View<std::int16_t>& first_bias, const View<std::int16_t>& value,
                         const View<float>& value_bias, const View<float>& value_out, float value_out_bias,
                         const View<std::int16_t>& policy, const View<float>& policy_bias,
                         const View<std::int8_t>& moves, const View<float>& move_bias, float move_scale) {
    Numbers numbers{.inputs = 0,
                    .width = width,
                    .codes = 0,
                    .first = vector_of(first),
                    .first_bias = vector_of(first_bias),
                    .value = vector_of(value),
                    .value_bias = vector_of(value_bias),
                    .value_out = vector_of(value_out),
                    .value_out_bias = value_out_bias,
                    .policy = vector_of(policy),
                    .policy_bias = vector_of(policy_bias),
                    .moves = vector_of(moves),
                    .move_bias = vector_of(move_bias),
                    .move_scale = move_scale};
    with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
        numbers.inputs = Inputs<G>::count;
        numbers.codes = G::Move::code_count;
    });
    return {std::string(game), std::make_shared<const Layers>(std::move(numbers))};
}

auto logits(const HeldNetwork& held, const Positions& objects) {
    std::vector<float> found;
    with_game(game_named(held.game), [&]<class G>(std::type_identity<G>) {
        std::vector<std::int16_t> sums(held.layers->width());
        for (const nb::handle object : nb::iter(objects)) {
            network::InputSet<Inputs<G>::count> inputs;
            Inputs<G>::find(nb::cast<const G&>(object), {}, inputs);
            held.layers->start(inputs.words, sums.data());
            found.push_back(held.layers->logit(sums.data()));
        }
    });
    return to_numpy(std::move(found));
}

/// A bit an input, a row a position; last moves are not known.
auto inputs_of(std::string_view game, const Positions& objects) {
    std::vector<std::uint8_t> bits;
    std::size_t rows = 0;
    std::size_t bytes = 0;
    with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
        bytes = (Inputs<G>::count + 7) / 8;
        for (const nb::handle object : nb::iter(objects)) {
            network::InputSet<Inputs<G>::count> inputs;
            Inputs<G>::find(nb::cast<const G&>(object), {}, inputs);
            for (std::size_t i = 0; i < bytes; ++i)
                bits.push_back(static_cast<std::uint8_t>(inputs.words[i / 8] >> (8 * (i % 8)) & 0xff));
            ++rows;
        }
    });
    return to_numpy(std::move(bits), {rows, bytes});
}

auto move_parts(std::string_view game) {
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> parts;
    std::size_t count = 0;
    with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
        count = Inputs<G>::part_count;
        for (std::uint32_t code = 0; count && code < G::Move::code_count; ++code) {
            Inputs<G>::visit_parts(code, [&](std::size_t part) { parts.push_back(static_cast<std::int32_t>(part)); });
            offsets.push_back(static_cast<std::int64_t>(parts.size()));
        }
    });
    return std::tuple(count, to_numpy(std::move(offsets)), to_numpy(std::move(parts)));
}

auto self_play(std::string_view game, const std::vector<std::pair<search::UctOptions, search::GivenModels>>& players,
               const View<double>& komi, std::uint64_t first, const search::SelfPlayPlan& plan) {
    if (players.empty() || players.size() > 2) throw nb::value_error("one player, or two");
    if (plan.random_plies < 0) throw nb::value_error("fewer than no random moves");
    std::vector<search::TreeSearcher> searchers;
    for (const auto& [options, models] : players) searchers.push_back({options, models});
    return with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
        search::PlayedGames played;
        run_interruptibly([&](const std::atomic<bool>& stop) {
            played = search::Assembly<G>::self_play(searchers, span_of(komi), first, plan, stop);
        });
        nb::dict found;
        found["move_offsets"] = to_numpy(std::move(played.move_offsets));
        found["moves"] = to_numpy(std::move(played.moves));
        found["values"] = to_numpy(std::move(played.values));
        found["visit_offsets"] = to_numpy(std::move(played.visit_offsets));
        found["visited"] = to_numpy(std::move(played.visited));
        found["visits"] = to_numpy(std::move(played.visits));
        found["results"] = to_numpy(std::move(played.results));
        return found;
    });
}

}  // namespace

void bind_network(nb::module_& module) {
    module.def(
        "network_size",
        [](std::string_view game) {
            return with_game(game_named(game), []<class G>(std::type_identity<G>) {
                return std::tuple(Inputs<G>::count, std::size_t{G::Move::code_count});
            });
        },
        "game"_a, "How many inputs a network of a game has, and how many codes of moves.");
    module.def("network_inputs", &inputs_of, "game"_a, "positions"_a,
               "Positions as networks see them, a bit an input, a row a position; no last moves are known.");
    module.def("move_parts", &move_parts, "game"_a,
               "Shared parts of moves: their number, and the parts of each code (offsets, parts).");
    nb::class_<HeldNetwork>(module, "Network", "A network of one game; see hyoka.models.networks.")
        .def(
            "__init__",
            [](HeldNetwork* made, std::string_view game, std::size_t width, const View<std::int16_t>& first,
               const View<std::int16_t>& first_bias, const View<std::int16_t>& value, const View<float>& value_bias,
               const View<float>& value_out, float value_out_bias, const View<std::int16_t>& policy,
               const View<float>& policy_bias, const View<std::int8_t>& moves, const View<float>& move_bias,
               float move_scale) {
                new (made) HeldNetwork(made_network(game, width, first, first_bias, value, value_bias, value_out,
                                                    value_out_bias, policy, policy_bias, moves, move_bias, move_scale));
            },
            "game"_a, "width"_a, "first"_a, "first_bias"_a, "value"_a, "value_bias"_a, "value_out"_a,
            "value_out_bias"_a, "policy"_a, "policy_bias"_a, "moves"_a, "move_bias"_a, "move_scale"_a,
            "Raises NotationError if the numbers don't fit together.")
        .def(
            "evaluation",
            [](const HeldNetwork& held) {
                return with_game(game_named(held.game), [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
                    return std::make_shared<network::NetworkEvaluation<G>>(held.layers);
                });
            },
            "Evaluation of positions, for searches.")
        .def(
            "move_model",
            [](const HeldNetwork& held) {
                if (!held.layers->judges_moves()) throw NotationError("this network does not judge moves");
                return with_game(game_named(held.game), [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
                    return std::make_shared<network::NetworkMoves<G>>(held.layers);
                });
            },
            "How strong moves are, as searches take it.")
        .def("logits", &logits, "positions"_a,
             "Logit of the expected result of the side to move; last moves are unknown.")
        .def_prop_ro(
            "scale",
            [](const HeldNetwork& held) {
                return with_game(game_named(held.game),
                                 []<class G>(std::type_identity<G>) { return network::score_scale<G>; });
            },
            "Score of a logit of 1.");
    using search::SelfPlayPlan;
    nb::class_<SelfPlayPlan>(module, "SelfPlayPlan", "How games are played that networks learn from.")
        .def(nb::init<>())
        .def_rw("playouts", &SelfPlayPlan::playouts, "Of a move that is to be learned from.")
        .def_rw("quick", &SelfPlayPlan::quick, "Playouts of the others.")
        .def_rw("full", &SelfPlayPlan::full, "The share of moves to be learned from.")
        .def_rw("random_plies", &SelfPlayPlan::random_plies, "Maximum number of random moves at the start of a game.")
        .def_rw("sampled_plies", &SelfPlayPlan::sampled_plies, "Until then moves are drawn by visits.")
        .def_rw("max_plies", &SelfPlayPlan::max_plies, "Then a game is scored as it stands.")
        .def_rw("resign", &SelfPlayPlan::resign, "Resign below this win probability, in most games; 0: never.")
        .def_rw("seed", &SelfPlayPlan::seed);
    module.def(
        "self_play", &self_play, "game"_a, "players"_a, "komi"_a, "first"_a, "plan"_a,
        nb::sig("def self_play(game: str, players: collections.abc.Sequence[tuple[UctOptions, GivenModels]], komi: "
                "NDArray[numpy.float64], first: int, plan: SelfPlayPlan) -> dict[str, NDArray[typing.Any]]"),
        "Games number `first` and on, one for each komi: moves, what the searches thought of positions and moves, and "
        "results. Two players: the one is the first player in games of even number.");
}

}  // namespace hyoka::bindings
