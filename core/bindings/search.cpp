// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>

#include "bindings/bind_all.h"
#include "bindings/run_search.h"
#include "bindings/search_parts.h"
#include "search/alphabeta.h"

namespace hyoka::bindings {
namespace {

using namespace records;

void bind_options(nb::module_& module) {
    nb::class_<StopFlag>(module, "StopFlag", "Ends a search that was given it.")
        .def(nb::init<>())
        .def("hoist", [](StopFlag& flag) { flag.raised = true; })
        .def("lower", [](StopFlag& flag) { flag.raised = false; });
    nb::class_<EvaluationOptions>(module, "EvaluationOptions", "What a static evaluation is made from.")
        .def(nb::init<>())
        .def_rw("weights", &EvaluationOptions::weights, "Opening and ending of each term in turn; empty: the defaults.")
        .def_rw("scale", &EvaluationOptions::scale, "A score s is worth 1 / (1 + exp(-s / scale)); 0: the game's own.")
        .def(
            "set_python",
            [](EvaluationOptions& options, nb::object function) { options.python = SharedObject(std::move(function)); },
            "function"_a.none(), "Positions in, scores or values for the first player out; instead of weights.");
    nb::class_<PlayoutOptions>(module, "PlayoutOptions", "What playouts are made from.")
        .def(nb::init<>())
        .def_rw("policy", &PlayoutOptions::policy)
        .def_rw("epsilon", &PlayoutOptions::epsilon)
        .def_rw("cut", &PlayoutOptions::cut)
        .def_rw("ratings", &PlayoutOptions::ratings);
    nb::class_<MctsOptions>(module, "MctsOptions", "Everything that makes up a tree search.")
        .def(nb::init<>())
        .def_rw("formula", &MctsOptions::formula)
        .def_rw("exploration", &MctsOptions::exploration)
        .def_rw("widening", &MctsOptions::widening, nb::arg().none())
        .def_rw("reduction", &MctsOptions::reduction)
        .def_rw("killer", &MctsOptions::killer, nb::arg().none())
        .def_rw("history", &MctsOptions::history, nb::arg().none())
        .def_rw("rave", &MctsOptions::rave, nb::arg().none())
        .def_rw("rated", &MctsOptions::rated)
        .def_rw("playout", &MctsOptions::playout)
        .def_rw("evaluation", &MctsOptions::evaluation)
        .def_rw("batch", &MctsOptions::batch)
        .def_rw("prior_visits", &MctsOptions::prior_visits)
        .def_rw("prior_at_expansion", &MctsOptions::prior_at_expansion)
        .def_rw("mate_nodes", &MctsOptions::mate_nodes)
        .def_rw("ending_empties", &MctsOptions::ending_empties)
        .def_rw("proofs", &MctsOptions::proofs)
        .def_rw("expand_at", &MctsOptions::expand_at)
        .def_rw("threads", &MctsOptions::threads)
        .def_rw("seed", &MctsOptions::seed)
        .def_rw("memory_mib", &MctsOptions::memory_mib)
        .def(
            "set_evaluator",
            [](MctsOptions& options, nb::object function) { options.evaluator = SharedObject(std::move(function)); },
            "function"_a.none(), "Positions in, values (and strengths of moves) out; instead of playouts.")
        .def(
            "set_book",
            [](MctsOptions& options, const std::map<std::uint64_t, std::vector<std::uint16_t>>& book) {
                options.book = std::make_shared<search::Book>(book.begin(), book.end());
            },
            "book"_a, "Codes of the moves to which the search keeps, by a position's hash.");
    using search::AlphaBetaSettings;
    nb::class_<AlphaBetaSettings>(module, "AlphaBetaSettings", "Everything that makes up an alpha-beta search.")
        .def(nb::init<>())
        .def_static("exact", &AlphaBetaSettings::exact, "Fast, and its value is that of minimax.")
        .def_static("plain", &AlphaBetaSettings::plain, "Alpha-beta and nothing else.")
        .def_rw("quiescence", &AlphaBetaSettings::quiescence)
        .def_rw("variations", &AlphaBetaSettings::variations)
        .def_prop_rw(
            "hash_mib", [](const AlphaBetaSettings& s) { return s.table.mebibytes; },
            [](AlphaBetaSettings& s, int mib) { s.table.mebibytes = mib; })
        .def(
            "switch",
            [](AlphaBetaSettings& s, std::string_view name, bool on) {
                const std::map<std::string_view, bool*> switches = {
                    {"exact_table", &s.table.exact},
                    {"hash_move", &s.ordering.hash_move},
                    {"captures", &s.ordering.noisy},
                    {"killers", &s.ordering.killers},
                    {"history", &s.ordering.history},
                    {"principal_variation", &s.windows.principal_variation},
                    {"check_extensions", &s.selectivity.check_extensions},
                    {"null_move", &s.selectivity.null_move},
                    {"late_move_reductions", &s.selectivity.late_move_reductions},
                    {"late_move_pruning", &s.selectivity.late_move_pruning},
                    {"futility", &s.selectivity.futility},
                    {"exchange_pruning", &s.selectivity.exchange_pruning},
                    {"unknown_reductions", &s.selectivity.unknown_reductions},
                    {"delta_pruning", &s.selectivity.delta_pruning},
                };
                const auto found = switches.find(name);
                if (found == switches.end()) throw nb::key_error(std::string(name).c_str());
                *found->second = on;
            },
            "name"_a, "on"_a, "Turn one idea on or off.")
        .def_prop_rw(
            "aspiration", [](const AlphaBetaSettings& s) { return s.windows.aspiration; },
            [](AlphaBetaSettings& s, int half) { s.windows.aspiration = half; });
}

/// A solver as Python holds it: another thread may stop it.
template <class Solver>
struct Stoppable {
    template <class Settings>
    explicit Stoppable(const Settings& settings) : solver(settings) {}
    Solver solver;
    std::atomic<bool> stop{false};
    std::atomic<bool> running{false};
};

template <class S>
void bind_stop(nb::class_<S>& type) {
    type.def(
            "stop", [](S& held) { held.stop = true; }, "End the running search soon.")
        .def(
            "allow", [](S& held) { held.stop = false; }, "Let searches run again.")
        .def(
            "clear",
            [](S& held) {
                const Busy busy(held.running);
                held.solver.clear();
            },
            "Forget everything.");
}

template <class G>
void bind_mate(nb::module_& module, const char* name) {
    using S = Stoppable<search::MateSolver<G>>;
    nb::class_<S> type(module, name, "Looks for mates by checks; keeps what it has learned.");
    type.def(
            "__init__", [](S* made, int mib) { new (made) S(search::MateSettings{.hash_mib = mib}); }, "hash_mib"_a)
        .def(
            "solve",
            [](S& held, const G& game, std::uint64_t nodes, double time_s) {
                const Busy busy(held.running);
                search::MateResult<G> result;
                run_search<G>(held.stop, 1, {}, [&] {
                    result = held.solver.solve(game, {.nodes = nodes, .time_s = time_s}, &held.stop);
                });
                constexpr std::array<const char*, 3> verdicts = {"mate", "no mate", "unknown"};
                return std::tuple(verdicts[static_cast<std::size_t>(result.verdict)], result.line, result.nodes,
                                  result.time_s);
            },
            "position"_a, "nodes"_a, "time_s"_a, "Verdict, mating line, nodes and time; limits of 0 are none.");
    bind_stop(type);
}

void bind_ending(nb::module_& module) {
    using S = Stoppable<search::OthelloEnding>;
    nb::class_<S> type(module, "OthelloEnding", "Solves Othello endings; keeps what it has learned.");
    type.def(
            "__init__", [](S* made, int mib) { new (made) S(search::EndingSettings{.hash_mib = mib}); }, "hash_mib"_a)
        .def(
            "solve",
            [](S& held, const Othello& game, std::uint64_t nodes, double time_s, bool result_only) {
                const Busy busy(held.running);
                search::EndingResult result;
                run_search<Othello>(held.stop, 1, {}, [&] {
                    const search::Limits limits{.nodes = nodes, .time_s = time_s};
                    result = result_only ? held.solver.solve_result(game, limits, &held.stop)
                                         : held.solver.solve(game, limits, &held.stop);
                });
                return std::tuple(result.solved, result.score, result.line, result.nodes, result.time_s);
            },
            "position"_a, "nodes"_a, "time_s"_a, "result_only"_a,
            "Whether it was solved, Black's score, a line of best play, nodes and time.")
        .def(
            "solve_moves",
            [](S& held, const Othello& game, std::uint64_t nodes, double time_s) {
                const Busy busy(held.running);
                search::EndingMoves result;
                run_search<Othello>(held.stop, 1, {}, [&] {
                    result = held.solver.solve_moves(game, {.nodes = nodes, .time_s = time_s}, &held.stop);
                });
                std::vector<std::tuple<Othello::Move, int>> moves;
                for (const auto& each : result.moves) moves.emplace_back(each.move, each.score);
                return std::tuple(result.solved, moves, result.nodes, result.time_s);
            },
            "position"_a, "nodes"_a, "time_s"_a, "Whether it was solved, Black's score of every move, nodes and time.");
    bind_stop(type);
}

}  // namespace

void bind_search_vocabulary(nb::module_& module) {
    bind_options(module);
    bind_mate<Chess>(module, "ChessMate");
    bind_mate<Shogi>(module, "ShogiMate");
    bind_ending(module);
    module.def(
        "evaluation_terms",
        [](std::string_view game) {
            return with_game(game_named(game), []<class G>(std::type_identity<G>) {
                std::vector<std::tuple<std::string, float, float>> terms;
                for (const auto& term : evaluation::Terms<G>::all())
                    terms.emplace_back(term.name, term.weight.opening, term.weight.ending);
                return std::tuple(terms, std::string(evaluation::Terms<G>::unit), evaluation::Terms<G>::scale);
            });
        },
        "game"_a, "Name, opening and ending weight of each term; the unit of scores; their scale.");
    module.def(
        "move_features",
        [](std::string_view game) {
            return with_game(game_named(game), []<class G>(std::type_identity<G>) {
                std::vector<std::tuple<std::string, float>> features;
                for (const auto& feature : strengths::MoveFeatures<G>::all())
                    features.emplace_back(feature.name, feature.strength);
                return features;
            });
        },
        "game"_a, "Name and default strength of each feature by which moves are rated.");
}

}  // namespace hyoka::bindings
