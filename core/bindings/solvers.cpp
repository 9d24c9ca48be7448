// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/busy.h"
#include "search/mate.h"
#include "search/othello_ending.h"

namespace hyoka::bindings {
namespace {

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
                run_beside(held.stop, 1, {},
                           [&] { result = held.solver.solve(game, {.nodes = nodes, .time_s = time_s}, &held.stop); });
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
                run_beside(held.stop, 1, {}, [&] {
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
                run_beside(held.stop, 1, {}, [&] {
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

void bind_solvers(nb::module_& module) {
    bind_mate<Chess>(module, "ChessMate");
    bind_mate<Shogi>(module, "ShogiMate");
    bind_ending(module);
}

}  // namespace hyoka::bindings
