// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include <map>
#include <mutex>

#include "bindings/bind_all.h"
#include "bindings/busy.h"
#include "bindings/game_face.h"
#include "search/alphabeta_scores.h"
#include "search/settings.h"

namespace hyoka::bindings {
namespace {

using namespace search;

/// Runs a search beside this thread. Games written in Python hold the interpreter's lock while they work; Python hands
/// it over every few milliseconds.
template <class Work>
void run_search(const GameFace& face, std::atomic<bool>& stop, double interval_s, const Tick& tick, Work&& work) {
    run_beside(stop, interval_s, tick, [&] {
        if (!face.needs_lock()) return work();
        nb::gil_scoped_acquire acquired;
        work();
    });
}

nb::object as_object(const SettingValue& value) {
    return std::visit(
        []<class T>(const T& held) -> nb::object {
            if constexpr (std::is_same_v<T, std::monostate>)
                return nb::none();
            else
                return nb::cast(held);
        },
        value);
}

SettingValue as_setting(nb::handle object) {
    if (object.is_none()) return {};
    if (PyBool_Check(object.ptr())) return nb::cast<bool>(object);
    if (nb::isinstance<nb::int_>(object)) return nb::cast<std::uint64_t>(object);
    if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
    return nb::cast<std::string>(object);
}

/// Options as Python holds them: settings by name.
template <class Options>
void bind_options(nb::module_& module, const char* name, const char* doc) {
    nb::class_<Options>(module, name, doc)
        .def(
            "__init__",
            [](Options* options, const nb::typed<nb::dict, nb::str, nb::object>& chosen) {
                std::map<std::string, SettingValue> settings;
                for (const auto& [setting, value] : chosen)
                    settings.emplace(nb::cast<std::string>(setting), as_setting(value));
                new (options) Options(settings_of<Options>().with(settings));
            },
            "chosen"_a, nb::sig("def __init__(self, chosen: dict[str, bool | int | float | str]) -> None"),
            "Options with the chosen settings; the others have their defaults beside these.")
        .def(
            "get",
            [](const Options& options, std::string_view setting) {
                return as_object(settings_of<Options>().get(options, setting));
            },
            "setting"_a, nb::sig("def get(self, setting: str) -> bool | int | float | str | None"))
        .def(
            "default",
            [](const Options& options, std::string_view setting) {
                return as_object(settings_of<Options>().default_of(options, setting));
            },
            "setting"_a, nb::sig("def default(self, setting: str) -> bool | int | float | str | None"),
            "The default of a setting beside the others.")
        .def(
            "ineffective",
            [](const Options& options, const Inputs& inputs) {
                return settings_of<Options>().ineffective(options, inputs);
            },
            "inputs"_a,
            "What has no effect beside the other settings and the files (FILE) and Python objects by name, and why.")
        .def_static("settings", [] { return settings_of<Options>().all(); }, "All settings, in order.");
}

/// A bound of a number; none of other settings.
std::optional<double> bound_of(const Setting& setting, double bound) {
    const bool is_number = setting.kind == SettingKind::integer || setting.kind == SettingKind::number;
    return is_number ? std::optional(bound) : std::nullopt;
}

void bind_settings(nb::module_& module) {
    const auto texts = [](const std::vector<std::string_view>& views) {
        return std::vector<std::string>(views.begin(), views.end());
    };
    nb::class_<Setting>(module, "Setting", "One setting of a search.")
        .def_prop_ro("name", [](const Setting& setting) { return std::string(setting.name); })
        .def_prop_ro("kind",
                     [](const Setting& setting) {
                         constexpr std::array<const char*, 5> names = {"int", "float", "flag", "choice", "file"};
                         return names[static_cast<std::size_t>(setting.kind)];
                     })
        .def_prop_ro("help", [](const Setting& setting) { return std::string(setting.help); })
        .def_prop_ro(
            "minimum", [](const Setting& setting) { return bound_of(setting, setting.minimum); }, "Of numbers.")
        .def_prop_ro("maximum", [](const Setting& setting) { return bound_of(setting, setting.maximum); })
        .def_prop_ro(
            "choices", [texts](const Setting& setting) { return texts(setting.choices); },
            "Of files: the kinds of models.")
        .def_prop_ro(
            "default", [](const Setting& setting) { return as_object(setting.default_value); },
            nb::sig("def default(self) -> bool | int | float | str | None"), "None: unset, or it depends.")
        .def_prop_ro(
            "same_as", [](const Setting& setting) { return std::string(setting.same_as); },
            "The setting whose value is the default.")
        .def_ro("needs", &Setting::needs, "Without any of these the setting has no effect.")
        .def_ro("is_limit", &Setting::is_limit)
        .def_ro("default_limit", &Setting::default_limit, "The limit of a search without any; 0: none.");
    bind_options<UctOptions>(module, "UctOptions", "Settings of a tree search.");
    bind_options<MonteCarloOptions>(module, "MonteCarloOptions", "Settings of flat Monte Carlo.");
    bind_options<AlphaBetaOptions>(module, "AlphaBetaOptions", "Settings of alpha-beta.");
    bind_options<MateOptions>(module, "MateOptions", "Settings of a mate search.");
    bind_options<ExactOptions>(module, "ExactOptions", "Settings of an endgame solver.");
    bind_options<RandomOptions>(module, "RandomOptions", "Settings of random moves.");
    bind_options<RankingOptions>(module, "RankingOptions", "Settings of moves by a move model.");
}

void bind_models(nb::module_& module) {
    using Game = std::optional<std::string_view>;
    using Shared = std::shared_ptr<Model>;
    using Function = nb::typed<nb::callable, nb::object(nb::object)>;
    nb::class_<Model>(module, "Model", "Something learned or given that a search of its game works with.");
    nb::class_<GivenModels>(module, "GivenModels", "The models of a search; None: the built-in one, if it needs one.")
        .def(nb::init<>())
        .def_rw("evaluation", &GivenModels::evaluation, nb::arg().none(), "Static evaluation of positions.")
        .def_rw("leaves", &GivenModels::leaves, nb::arg().none(), "Leaf evaluator that replaces playouts.")
        .def_rw("prior_strengths", &GivenModels::prior_strengths, nb::arg().none())
        .def_rw("widening_strengths", &GivenModels::widening_strengths, nb::arg().none())
        .def_rw("playout_strengths", &GivenModels::playout_strengths, nb::arg().none())
        .def_rw("slow", &GivenModels::slow, "The clock is read after every simulation.")
        .def(
            "set_book",
            [](GivenModels& models, const std::map<std::uint64_t, std::vector<std::uint16_t>>& book) {
                models.book = std::make_shared<Book>(book.begin(), book.end());
            },
            "book"_a, "Codes of the moves to which the search keeps, by a position's hash.");
    module.def(
        "linear_evaluation",
        [](std::string_view game, const std::vector<float>& weights, double scale) {
            return face_of(game).linear_evaluation(weights, scale);
        },
        "game"_a, "weights"_a, "scale"_a, "Opening and ending weight of each term in turn; none: the built-in ones.");
    module.def(
        "feature_strengths",
        [](std::string_view game, const std::vector<float>& strengths, std::shared_ptr<strengths::GoShapes> shapes) {
            return face_of(game).feature_strengths(strengths, std::move(shapes));
        },
        "game"_a, "strengths"_a, "shapes"_a = nb::none(),
        "A strength for each feature of moves, then for each shape (Go); none: the built-in ones.");
    module.def(
        "python_scores",
        [](Game game, Function function) -> Shared {
            return face_of(game).python_scores(SharedObject(std::move(function)));
        },
        "game"_a.none(), "function"_a, "Positions in, scores for the first player out.");
    module.def(
        "python_values",
        [](Game game, Function function) -> Shared {
            return face_of(game).python_values(SharedObject(std::move(function)));
        },
        "game"_a.none(), "function"_a, "Positions in, values for the first player out, 0 to 1.");
    module.def(
        "python_leaves",
        [](Game game, Function function, std::size_t batch) -> Shared {
            return face_of(game).python_leaves(SharedObject(std::move(function)), batch);
        },
        "game"_a.none(), "function"_a, "batch"_a, "Positions in, values (and strengths of moves) out.");
}

constexpr std::array<const char*, 5> proof_names = {"", "lost", "drawn", "won", "forbidden"};
nb::object proof_to_python(Proof proof) {
    if (!is_result(proof)) return nb::none();
    return nb::str(proof_names[static_cast<std::size_t>(proof)]);
}

/// A tree search as Python holds it.
struct HeldTreeSearch {
    HeldTreeSearch(std::optional<std::string_view> game, const UctOptions& options, const GivenModels& models)
        : face(face_of(game)), search(face.tree_search(options, models)) {}
    const GameFace& face;
    std::unique_ptr<AnyTreeSearch> search;
    std::shared_ptr<AnyLine> root;  // none before the first search
    std::atomic<bool> stop{false};
    std::atomic<bool> running{false};
};

void bind_tree_search(nb::module_& module) {
    using H = HeldTreeSearch;
    nb::class_<H>(module, "TreeSearch", "A tree search; see hyoka.search.")
        .def(nb::init<std::optional<std::string_view>, const UctOptions&, const GivenModels&>(), "game"_a.none(),
             "options"_a, "models"_a)
        .def(
            "run",
            [](H& held, nb::handle root, const Only& only, std::uint64_t playouts, std::uint64_t nodes, double time_s,
               double interval_s, const Tick& tick) {
                constexpr std::array<const char*, 6> ends = {"playouts", "nodes",  "time",
                                                             "early",    "proven", "interrupted"};
                const Busy busy(held.running);
                held.root = held.face.line(root);
                held.search->set_root(*held.root, held.face.codes(*held.root, only));
                MctsEnd end{};
                run_search(held.face, held.stop, interval_s, tick, [&] {
                    end = held.search->run({.playouts = playouts, .nodes = nodes, .time_s = time_s}, held.stop);
                });
                return ends[static_cast<std::size_t>(end)];
            },
            "root"_a, "only"_a.none(), "playouts"_a, "nodes"_a, "time_s"_a, "interval_s"_a, "tick"_a.none(),
            "Search from a line until a limit is reached (0: none); tells which.")
        .def(
            "stop", [](H& held) { held.stop = true; }, "End the running search soon.")
        .def(
            "allow", [](H& held) { held.stop = false; }, "Let searches run again.")
        .def(
            "clear",
            [](H& held) {
                const Busy busy(held.running);
                held.search->clear();
                held.root.reset();
            },
            "Forget everything.")
        .def_prop_ro("playouts", [](const H& held) { return held.search->playouts(); })
        .def_prop_ro("depth", [](const H& held) { return held.search->depth(); })
        .def_prop_ro("nodes", [](const H& held) { return held.search->tree().expanded(); })
        .def_prop_ro("memory_bytes", [](const H& held) { return held.search->tree().used_bytes(); })
        .def_prop_ro("full", [](const H& held) { return held.search->tree().full(); })
        .def_prop_ro(
            "value", [](const H& held) { return held.search->tree().root().value(); },
            "The mean of all simulations, for the first player.")
        .def_prop_ro(
            "proof",
            [](const H& held) {
                const Node root = held.search->tree().root();
                const bool same = held.root && held.root->to_play() == root.mover();
                return proof_to_python(same ? root.proof() : for_other(root.proof()));
            },
            nb::sig("def proof(self) -> str | None"), "Proven result for the side to move: won, drawn, lost or None.")
        .def_prop_ro("plies_to_result", [](const H& held) { return held.search->plies_to_result(); })
        .def(
            "moves",
            [](const H& held) {
                nb::list found;
                const Tree& tree = held.search->tree();
                const auto children = tree.children_of(tree.root());
                if (!children || !held.root) return found;
                for (const Node& node : tree.ranked(*children)) {
                    Codes codes = {node.move()};
                    for (const std::uint16_t code : tree.line_from(node)) codes.push_back(code);
                    const nb::list line = held.face.moves(*held.root, codes);
                    found.append(nb::make_tuple(line[0], node.visits(), node.value(), node.siblings.prior(node.index),
                                                proof_to_python(node.proof()), line));
                }
                return found;
            },
            nb::sig("def moves(self) -> list[tuple[typing.Any, int, float, float, str | None, list[typing.Any]]]"),
            "Move, visits, value for the first player, prior, proof for the side to move and line of each move, the "
            "one to play first.")
        .def(
            "tree",
            [](const H& held, bool with_unvisited) {
                auto arrays = held.search->tree().arrays(with_unvisited);
                nb::dict tree;
                tree["parent"] = to_numpy(std::move(arrays.parent));
                tree["move"] = to_numpy(std::move(arrays.move));
                tree["mover"] = to_numpy(std::move(arrays.mover));
                tree["visits"] = to_numpy(std::move(arrays.visits));
                tree["value"] = to_numpy(std::move(arrays.value));
                tree["prior"] = to_numpy(std::move(arrays.prior));
                tree["proof"] = to_numpy(std::move(arrays.proof));
                return tree;
            },
            "with_unvisited"_a, nb::sig("def tree(self, with_unvisited: bool) -> dict[str, NDArray[typing.Any]]"),
            "The whole tree in arrays, parents before children.");
}

/// Alpha-beta as Python holds it.
struct HeldAlphaBeta {
    HeldAlphaBeta(std::optional<std::string_view> game, const AlphaBetaOptions& options, const GivenModels& models)
        : face(face_of(game)), search(face.alpha_beta(options, models)) {}
    const GameFace& face;
    std::unique_ptr<AnyAlphaBeta> search;
    std::atomic<bool> stop{false};
    std::atomic<bool> running{false};
    std::mutex mutex;   // of what follows: read while the search runs
    CodedResult found;  // so far, or of the last search
    std::shared_ptr<AnyLine> root;
};

void bind_alpha_beta(nb::module_& module) {
    using H = HeldAlphaBeta;
    nb::class_<H>(module, "AlphaBeta", "An alpha-beta search; see hyoka.search.")
        .def(nb::init<std::optional<std::string_view>, const AlphaBetaOptions&, const GivenModels&>(), "game"_a.none(),
             "options"_a, "models"_a)
        .def(
            "run",
            [](H& held, nb::handle root, const Only& only, int depth, std::uint64_t nodes, double time_s,
               double interval_s, const Tick& tick) {
                const Busy busy(held.running);
                const std::shared_ptr<AnyLine> line = held.face.line(root);
                const Codes among = held.face.codes(*line, only);
                {
                    const std::scoped_lock lock(held.mutex);
                    held.found = {};
                    held.root = line;
                }
                CodedResult result;
                run_search(held.face, held.stop, interval_s, tick, [&] {
                    result = held.search->search(*line, among, {.nodes = nodes, .depth = depth, .time_s = time_s},
                                                 held.stop, [&](const CodedIteration& iteration) {
                                                     const std::scoped_lock lock(held.mutex);
                                                     static_cast<CodedIteration&>(held.found) = iteration;
                                                     held.found.score = iteration.variations.front().score;
                                                 });
                });
                const std::scoped_lock lock(held.mutex);
                held.found = std::move(result);
            },
            "root"_a, "only"_a.none(), "depth"_a, "nodes"_a, "time_s"_a, "interval_s"_a, "tick"_a.none(),
            "Search from a line until a limit is reached (0: none).")
        .def(
            "stop", [](H& held) { held.stop = true; }, "End the running search soon.")
        .def_prop_ro("stopped", [](const H& held) { return held.stop.load(); })
        .def(
            "allow", [](H& held) { held.stop = false; }, "Let searches run again.")
        .def(
            "clear",
            [](H& held) {
                const Busy busy(held.running);
                held.search->clear();
            },
            "Forget everything.")
        .def(
            "found",
            [](H& held) {
                std::unique_lock lock(held.mutex);
                const CodedResult result = held.found;
                const std::shared_ptr<AnyLine> root = held.root;
                lock.unlock();  // below, a game written in Python may hand the interpreter to the search
                const auto as_list = [&](const std::vector<CodedVariation>& variations) {
                    nb::list list;
                    for (const auto& variation : variations)
                        list.append(nb::make_tuple(variation.score, mate_plies(variation.score),
                                                   held.face.moves(*root, variation.moves)));
                    return list;
                };
                nb::dict found;
                found["variations"] = as_list(result.variations);
                found["score"] = result.score;
                found["depth"] = result.depth;
                found["selective_depth"] = result.selective_depth;
                found["nodes"] = result.nodes;
                found["time_s"] = result.time_s;
                found["permille_full"] = result.permille_full;
                nb::list iterations;
                for (const auto& iteration : result.iterations)
                    iterations.append(nb::make_tuple(iteration.depth, iteration.nodes, iteration.time_s,
                                                     as_list(iteration.variations)));
                found["iterations"] = iterations;
                return found;
            },
            nb::sig("def found(self) -> dict[str, typing.Any]"), "Result of the search so far, or at its end.");
}

/// Flat Monte Carlo as Python holds it.
struct HeldMonteCarlo {
    HeldMonteCarlo(std::optional<std::string_view> game, const MonteCarloOptions& options, const GivenModels& models)
        : face(face_of(game)), search(face.monte_carlo(options, models)) {}
    const GameFace& face;
    std::unique_ptr<AnyMonteCarlo> search;
    std::atomic<bool> stop{false};
};

void bind_monte_carlo(nb::module_& module) {
    using H = HeldMonteCarlo;
    nb::class_<H>(module, "MonteCarlo", "Flat Monte Carlo; see hyoka.search.")
        .def(nb::init<std::optional<std::string_view>, const MonteCarloOptions&, const GivenModels&>(), "game"_a.none(),
             "options"_a, "models"_a)
        .def(
            "sample",
            [](H& held, nb::handle root, const Only& only, std::uint64_t first, std::uint64_t playouts,
               std::uint64_t a_move, double time_s) {
                const std::shared_ptr<AnyLine> line = held.face.line(root);
                const Codes among = held.face.codes(*line, only);
                std::vector<CodedSample> samples;
                run_search(held.face, held.stop, 1, {}, [&] {
                    samples = held.search->sample(*line, among, first, playouts, a_move, time_s, held.stop);
                });
                nb::list found;
                for (const auto& sample : samples)
                    found.append(nb::make_tuple(held.face.moves(*line, std::array{sample.move})[0], sample.playouts,
                                                sample.value, sample.score));
                return found;
            },
            "root"_a, "only"_a.none(), "first"_a, "playouts"_a, "a_move"_a, "time_s"_a,
            nb::sig("def sample(self, root: object, only: collections.abc.Sequence[typing.Any] | None, first: int, "
                    "playouts: int, a_move: int, time_s: float) -> list[tuple[typing.Any, int, float, float]]"),
            "Playouts from number `first` on: move, playouts, sum of values and sum of scores for the first player, "
            "of each move.")
        .def(
            "stop", [](H& held) { held.stop = true; }, "End the running search soon.")
        .def("allow", [](H& held) { held.stop = false; }, "Let searches run again.");
}

void bind_playouts(nb::module_& module) {
    module.def(
        "policy_playouts",
        [](std::string_view game, nb::handle line, const MonteCarloOptions& options, const GivenModels& models,
           std::size_t count, std::uint64_t seed, unsigned threads, std::optional<int> limit) {
            const GameFace& face = face_of(game);
            const auto playouts = face.playouts(options, models);
            const std::shared_ptr<AnyLine> start = face.line(line);
            std::vector<PlayoutEnd> ends(count);
            run_interruptibly(
                [&](const std::atomic<bool>& stop) { playouts->fill(ends, *start, seed, limit, threads, stop); });
            return playout_arrays(ends);
        },
        "game"_a, "line"_a, "options"_a, "models"_a, "count"_a, "seed"_a, "threads"_a, "limit"_a.none(),
        "Playouts by a policy; see hyoka.search.playouts.");
}

}  // namespace

void bind_search(nb::module_& module) {
    bind_settings(module);
    bind_models(module);
    bind_tree_search(module);
    bind_alpha_beta(module);
    bind_monte_carlo(module);
    bind_playouts(module);
}

}  // namespace hyoka::bindings
