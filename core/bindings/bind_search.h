// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/run_search.h"
#include "bindings/search_parts.h"
#include "search/alphabeta.h"
#include "search/best_move_change.h"
#include "search/monte_carlo.h"

/// Binds the searches of one game: `_core.Go9Uct`, `_core.Go9AlphaBeta`, ...
namespace hyoka::bindings {

/// The root moves to choose among; all if not given.
using Only = std::optional<nb::typed<nb::sequence, nb::object>>;
/// What Python sees as list[Any] and dict[str, Any].
using AnyList = nb::typed<nb::list, nb::object>;
using AnyDict = nb::typed<nb::dict, nb::str, nb::object>;

/// The line that a search starts from: as such, or a Python game with the moves that led to it.
template <Game G>
struct RootOf {
    using type = Line<G>;
    static Line<G> line(const Line<G>& root) { return root; }
};
template <>
struct RootOf<PythonGame> {
    using type = nb::object;
    static Line<PythonGame> line(const nb::object& root) {
        if (!nb::hasattr(root, "moves") || !nb::hasattr(root, "start")) return Line<PythonGame>(PythonGame(root));
        Line<PythonGame> line(PythonGame(root.attr("start")));
        for (const nb::handle move : nb::iter(root.attr("moves"))) line.play(line.position().move_of(move));
        return line;
    }
};

template <Game G>
nb::object move_to_python([[maybe_unused]] const G& game, typename G::Move move) {
    if constexpr (Native<G>)
        return nb::cast(move);
    else
        return game.move_object(move);
}
template <Game G>
typename G::Move move_from_python([[maybe_unused]] const G& game, nb::handle move) {
    if constexpr (Native<G>)
        return nb::cast<typename G::Move>(move);
    else
        return game.move_of(move);
}
/// A line of play as Python sees it; stops where a move isn't legal.
template <Game G>
nb::list line_to_python(G game, const auto& moves) {
    nb::list line;
    for (const auto move : moves) {
        if (!game.is_legal(move)) break;
        line.append(move_to_python(game, move));
        game.play(move);
    }
    return line;
}
template <Game G>
std::vector<typename G::Move> moves_from_python(const Line<G>& root, const Only& only) {
    std::vector<typename G::Move> moves;
    if (only)
        for (const nb::handle move : nb::iter(*only)) {
            moves.push_back(move_from_python(root.position(), move));
            if (!root.is_legal(moves.back()))
                throw IllegalMoveError("illegal move " + moves.back().text() + " in " + root.text());
        }
    return moves;
}

constexpr std::array<const char*, 5> proof_names = {"", "lost", "drawn", "won", "forbidden"};
inline nb::object proof_to_python(search::Proof proof) {
    if (!search::is_result(proof)) return nb::none();
    return nb::str(proof_names[static_cast<std::size_t>(proof)]);
}

/// A tree search as Python holds it.
template <Game G>
struct Uct {
    explicit Uct(const MctsOptions& options) : mcts(make_parts<G>(options), settings_of<G>(options)) {}
    search::Mcts<G> mcts;
    std::atomic<bool> stop{false};
    std::atomic<bool> running{false};
};

template <Game G>
void bind_uct(nb::module_& module, const std::string& name) {
    using U = Uct<G>;
    using Root = typename RootOf<G>::type;
    nb::class_<U>(module, (name + "Uct").c_str(), "A tree search; see hyoka.search.")
        .def(nb::init<const MctsOptions&>(), "options"_a)
        .def(
            "run",
            [](U& uct, const Root& root, bool reuse, const Only& only, std::uint64_t playouts, std::uint64_t nodes,
               double time_s, bool early_stop, double interval_s, const Tick& tick) {
                constexpr std::array<const char*, 6> ends = {"playouts", "nodes",  "time",
                                                             "early",    "proven", "interrupted"};
                const Busy busy(uct.running);
                const Line<G> line = RootOf<G>::line(root);
                uct.mcts.set_root(line, reuse, moves_from_python(line, only));
                search::MctsEnd end{};
                run_search<G>(uct.stop, interval_s, tick, [&] {
                    end = uct.mcts.run(
                        {.playouts = playouts, .nodes = nodes, .time_s = time_s, .early_stop = early_stop}, uct.stop);
                });
                return ends[static_cast<std::size_t>(end)];
            },
            "root"_a, "reuse"_a, "only"_a.none(), "playouts"_a, "nodes"_a, "time_s"_a, "early_stop"_a, "interval_s"_a,
            "tick"_a.none(), "Search from a line until a limit is reached (0: none); tells which.")
        .def(
            "stop", [](U& uct) { uct.stop = true; }, "End the running search soon.")
        .def(
            "allow", [](U& uct) { uct.stop = false; }, "Let searches run again.")
        .def(
            "clear",
            [](U& uct) {
                const Busy busy(uct.running);
                uct.mcts.clear();
            },
            "Forget everything.")
        .def_prop_ro("playouts", [](const U& uct) { return uct.mcts.playouts(); })
        .def_prop_ro("depth", [](const U& uct) { return uct.mcts.depth(); })
        .def_prop_ro("nodes", [](const U& uct) { return uct.mcts.tree().expanded(); })
        .def_prop_ro("memory_bytes", [](const U& uct) { return uct.mcts.tree().used_bytes(); })
        .def_prop_ro("full", [](const U& uct) { return uct.mcts.tree().full(); })
        .def_prop_ro(
            "value", [](const U& uct) { return uct.mcts.tree().root().value(); },
            "The mean of all simulations, for the first player.")
        .def_prop_ro(
            "proof",
            [](const U& uct) {
                const search::Node root = uct.mcts.tree().root();
                const bool same = uct.mcts.line() && uct.mcts.line()->to_play() == root.mover();
                return proof_to_python(same ? root.proof() : search::for_other(root.proof()));
            },
            "What the side to move is certain of: won, drawn, lost or None.")
        .def_prop_ro("plies_to_result", [](const U& uct) { return uct.mcts.plies_to_result(); })
        .def(
            "moves",
            [](const U& uct) {
                AnyList found;
                const auto& tree = uct.mcts.tree();
                const auto children = tree.children_of(tree.root());
                if (!children || !uct.mcts.line()) return found;
                const G& game = uct.mcts.line()->position();
                for (const search::Node& node : tree.ranked(*children)) {
                    std::vector<typename G::Move> line = {G::Move::from_code(node.move())};
                    for (const std::uint16_t code : tree.line_from(node)) line.push_back(G::Move::from_code(code));
                    found.append(nb::make_tuple(move_to_python(game, line.front()), node.visits(), node.value(),
                                                node.siblings.prior(node.index), proof_to_python(node.proof()),
                                                line_to_python(game, line)));
                }
                return found;
            },
            "Move, visits, value for the first player, prior, proof for the side to move and line of each move, the "
            "one to play first.")
        .def(
            "tree",
            [](const U& uct, bool with_unvisited) {
                auto arrays = uct.mcts.tree().arrays(with_unvisited);
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

/// What a position's value depends on beside what its hash tells.
template <Game G>
std::string rules_of([[maybe_unused]] const G& game) {
    if constexpr (requires { game.komi(); }) return std::to_string(game.komi());
    if constexpr (requires { game.draws(); }) return std::to_string(static_cast<int>(game.draws()));
    if constexpr (requires { game.rules(); })
        return std::to_string(game.rules().declaration) + ' ' + std::to_string(game.rules().ply_limit);
    if constexpr (requires { game.bonus(); }) return std::to_string(game.bonus());
    return {};
}

/// Alpha-beta as Python holds it.
template <Game G>
struct AlphaBetaPlayer {
    using Search = search::AlphaBeta<G, evaluation::SharedEvaluation<G>>;
    AlphaBetaPlayer(const EvaluationOptions& evaluation, const search::AlphaBetaSettings& settings)
        : search(make_evaluation<G>(evaluation, true), settings) {}
    Search search;
    std::atomic<bool> stop{false};
    std::atomic<bool> running{false};
    std::string rules;                 // that the table's values hold for
    std::mutex mutex;                  // of what follows: read while the search runs
    search::AlphaBetaResult<G> found;  // so far, or of the last search
    G root{};
};

template <Game G>
nb::list variations_to_python(const G& root, const std::vector<search::Variation<G>>& variations) {
    nb::list found;
    for (const auto& variation : variations)
        found.append(nb::make_tuple(variation.score, search::mate_plies(variation.score),
                                    line_to_python(root, variation.moves)));
    return found;
}

template <Game G>
void bind_alpha_beta(nb::module_& module, const std::string& name) {
    using P = AlphaBetaPlayer<G>;
    using Root = typename RootOf<G>::type;
    nb::class_<P>(module, (name + "AlphaBeta").c_str(), "An alpha-beta search; see hyoka.search.")
        .def(nb::init<const EvaluationOptions&, const search::AlphaBetaSettings&>(), "evaluation"_a, "settings"_a)
        .def(
            "run",
            [](P& player, const Root& root, const Only& only, int depth, std::uint64_t nodes, double time_s,
               double interval_s, const Tick& tick) {
                const Busy busy(player.running);
                const Line<G> line = RootOf<G>::line(root);
                // A position's hash leaves out the rules; other rules, other values.
                if (std::string rules = rules_of(line.position()); rules != player.rules) {
                    player.search.clear();
                    player.rules = std::move(rules);
                }
                const auto among = moves_from_python(line, only);
                {
                    const std::scoped_lock lock(player.mutex);
                    player.found = {};
                    player.root = line.position();
                }
                search::AlphaBetaResult<G> result;
                run_search<G>(player.stop, interval_s, tick, [&] {
                    search::SearchOptions<G> options;
                    options.among = among;
                    options.interrupt = &player.stop;
                    options.report = [&](const search::Iteration<G>& iteration) {
                        const std::scoped_lock lock(player.mutex);
                        player.found.variations = iteration.variations;
                        player.found.score = iteration.variations.front().score;
                        player.found.depth = iteration.depth;
                        player.found.selective_depth = iteration.selective_depth;
                        player.found.nodes = iteration.nodes;
                        player.found.time_s = iteration.time_s;
                        player.found.permille_full = iteration.permille_full;
                    };
                    result = player.search.search(line, {.nodes = nodes, .depth = depth, .time_s = time_s}, options);
                });
                const std::scoped_lock lock(player.mutex);
                player.found = std::move(result);
            },
            "root"_a, "only"_a.none(), "depth"_a, "nodes"_a, "time_s"_a, "interval_s"_a, "tick"_a.none(),
            "Search from a line until a limit is reached (0: none).")
        .def(
            "stop", [](P& player) { player.stop = true; }, "End the running search soon.")
        .def_prop_ro("stopped", [](const P& player) { return player.stop.load(); })
        .def(
            "allow", [](P& player) { player.stop = false; }, "Let searches run again.")
        .def(
            "clear",
            [](P& player) {
                const Busy busy(player.running);
                player.search.clear();
            },
            "Forget everything.")
        .def(
            "found",
            [](P& player) {
                std::unique_lock lock(player.mutex);
                const search::AlphaBetaResult<G> result = player.found;
                const G root = player.root;
                lock.unlock();  // below, a game written in Python may hand the interpreter to the search
                AnyDict found;
                found["variations"] = variations_to_python(root, result.variations);
                found["score"] = result.score;
                found["depth"] = result.depth;
                found["selective_depth"] = result.selective_depth;
                found["nodes"] = result.nodes;
                found["time_s"] = result.time_s;
                found["permille_full"] = result.permille_full;
                nb::list iterations;
                for (const auto& iteration : result.iterations)
                    iterations.append(nb::make_tuple(iteration.depth, iteration.nodes, iteration.time_s,
                                                     variations_to_python(root, iteration.variations)));
                found["iterations"] = iterations;
                return found;
            },
            "What the search has found so far, or at its end.");
}

template <Game G>
void bind_monte_carlo(nb::module_& module) {
    using Root = typename RootOf<G>::type;
    const auto sample = [](const Root& root, const PlayoutOptions& playout, const EvaluationOptions& evaluation,
                           const Only& only, std::uint64_t first, std::uint64_t playouts, std::uint64_t a_move,
                           double time_s, std::uint64_t seed, unsigned threads, StopFlag& stop) {
        const Line<G> line = RootOf<G>::line(root);
        auto moves = moves_from_python(line, only);
        if (moves.empty()) {
            const auto legal = line.legal_moves();
            moves.assign(legal.begin(), legal.end());
        }
        const auto policy = make_playout<G>(playout, evaluation);
        // As many for each move, and one at least.
        const std::uint64_t each =
            a_move ? a_move
                   : std::max<std::uint64_t>(playouts / std::max<std::size_t>(moves.size(), 1), playouts ? 1 : 0);
        const std::uint64_t count = each ? each * moves.size() : std::numeric_limits<std::uint64_t>::max();
        std::vector<search::MoveSample<typename G::Move>> samples;
        run_search<G>(stop.raised, 1, {}, [&] {
            samples = search::sample_moves<G>(line, moves, *policy, first, count, time_s, seed, threads, stop.raised);
        });
        AnyList found;
        for (const auto& each : samples)
            found.append(
                nb::make_tuple(move_to_python(line.position(), each.move), each.playouts, each.value, each.score));
        return found;
    };
    module.def("sample_moves", sample, "root"_a, "playout"_a, "evaluation"_a, "only"_a.none(), "first"_a, "playouts"_a,
               "a_move"_a, "time_s"_a, "seed"_a, "threads"_a, "stop"_a,
               "Playouts from number `first` on: move, playouts, sum of values and sum of scores for the first player, "
               "of each move.");
}

/// What evaluations count, and the strengths of moves.
template <Game G>
void bind_terms(nb::module_& module) {
    using Move = typename G::Move;
    module.def(
        "score_positions",
        [](const std::vector<G>& positions, const EvaluationOptions& options) {
            const auto evaluation = make_evaluation<G>(options, true);
            std::vector<std::int32_t> scores;
            for (const G& position : positions) scores.push_back(evaluation.score(position));
            return to_numpy(std::move(scores));
        },
        "positions"_a, "evaluation"_a, "What a static evaluation makes of positions, for the first player.");
    module.def(
        "count_terms",
        [](const std::vector<G>& positions) {
            const std::size_t terms = evaluation::Terms<G>::all().size();
            std::vector<float> amounts(positions.size() * terms);
            std::vector<float> progress(positions.size());
            for (std::size_t i = 0; i < positions.size(); ++i) {
                evaluation::VectorSink sink{std::span<float>(amounts).subspan(i * terms, terms)};
                evaluation::Terms<G>::count(positions[i], sink);
                progress[i] = sink.progress();
            }
            return std::tuple(to_numpy(std::move(amounts), {positions.size(), terms}), to_numpy(std::move(progress)));
        },
        "positions"_a, "The amounts of an evaluation's terms, a row a position, and the progress of each.");
    module.def(
        "rate_moves",
        [](const typename RootOf<G>::type& line, const std::vector<float>& strengths) {
            const auto model = make_strengths<G>(strengths);
            const auto moves = line.position().legal_moves();
            const auto past = line.moves();
            strengths::Context<G> context;
            if (!past.empty()) context.last = past.back();
            if (past.size() > 1) context.before_last = past[past.size() - 2];
            std::vector<float> rated(moves.size());
            model.weigh(line.position(), context, {moves.begin(), moves.size()}, rated);
            return std::tuple(std::vector<Move>(moves.begin(), moves.end()), to_numpy(std::move(rated)));
        },
        "line"_a, "strengths"_a,
        "The moves that the position allows, superko aside, and how strong each looks by its features.");
    module.def(
        "best_move_changes",
        [](const std::vector<G>& positions, const std::vector<Move>& moves, const EvaluationOptions& evaluation,
           const search::AlphaBetaSettings& settings, int depths, unsigned threads) {
            if (positions.size() != moves.size()) throw nb::value_error("one move a position is needed");
            for (std::size_t i = 0; i < positions.size(); ++i)
                if (!positions[i].is_legal(moves[i]))
                    throw IllegalMoveError("illegal move " + moves[i].text() + " in " + positions[i].text());
            std::vector<search::BestMoveChange> found;
            const auto shared = make_evaluation<G>(evaluation, true);
            std::atomic<bool> stop = false;
            run_search<G>(stop, 1, {}, [&] {
                found = search::best_move_changes<G>(positions, moves, shared, settings, depths, threads, &stop);
            });
            std::vector<std::int8_t> changes;
            std::vector<std::int8_t> depths_found;
            for (const auto& each : found) {
                changes.push_back(static_cast<std::int8_t>(each.changes));
                depths_found.push_back(static_cast<std::int8_t>(each.correct_depth));
            }
            return std::tuple(to_numpy(std::move(changes)), to_numpy(std::move(depths_found)));
        },
        "positions"_a, "moves"_a, "evaluation"_a, "settings"_a, "depths"_a, "threads"_a,
        "How often the best move changes over the depths, and the depth at which `moves` are found to stay.");
}

template <Game G>
void bind_search(nb::module_& module, const char* name) {
    bind_uct<G>(module, name);
    bind_alpha_beta<G>(module, name);
    bind_monte_carlo<G>(module);
    if constexpr (Native<G>) bind_terms<G>(module);
}

}  // namespace hyoka::bindings
