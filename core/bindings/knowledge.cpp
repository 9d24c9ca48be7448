// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "evaluation/all.h"
#include "games/all.h"
#include "search/assembly.h"
#include "strengths/all.h"

/// Game knowledge: terms of evaluations, features of moves.
namespace hyoka::bindings {
namespace {

using Positions = nb::typed<nb::sequence, nb::object>;

template <Game G>
std::vector<G> positions_from(const Positions& objects) {
    std::vector<G> positions;
    for (const nb::handle object : nb::iter(objects)) positions.push_back(nb::cast<const G&>(object));
    return positions;
}

}  // namespace

void bind_knowledge(nb::module_& module) {
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
        "game"_a, "Name and default strength of each feature of moves.");
    module.def(
        "score_positions",
        [](std::string_view game, const Positions& objects, std::shared_ptr<Model> evaluation) {
            return with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
                const auto model = std::dynamic_pointer_cast<evaluation::StaticEvaluation<G>>(evaluation);
                if (!model) throw NotationError("an evaluation of another game");
                std::vector<std::int32_t> scores;
                for (const G& position : positions_from<G>(objects)) scores.push_back(model->score(position));
                return to_numpy(std::move(scores));
            });
        },
        "game"_a, "positions"_a, "evaluation"_a, "Static evaluation of positions, for the first player.");
    module.def(
        "count_terms",
        [](std::string_view game, const Positions& objects) {
            return with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
                const auto positions = positions_from<G>(objects);
                const std::size_t terms = evaluation::Terms<G>::all().size();
                std::vector<float> amounts(positions.size() * terms);
                std::vector<float> progress(positions.size());
                for (std::size_t i = 0; i < positions.size(); ++i) {
                    evaluation::VectorSink sink{std::span<float>(amounts).subspan(i * terms, terms)};
                    evaluation::Terms<G>::count(positions[i], sink);
                    progress[i] = sink.progress();
                }
                return std::tuple(to_numpy(std::move(amounts), {positions.size(), terms}),
                                  to_numpy(std::move(progress)));
            });
        },
        "game"_a, "positions"_a, "The amounts of an evaluation's terms, a row a position, and the progress of each.");
    module.def(
        "weigh_moves",
        [](std::string_view game, nb::handle object, std::shared_ptr<Model> given) {
            return with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
                const auto& line = nb::cast<const Line<G>&>(object);
                auto model = std::dynamic_pointer_cast<strengths::MoveModel<G>>(given);
                if (!model) throw NotationError("strengths of another game's moves");
                const auto moves = line.position().legal_moves();
                const auto past = line.moves();
                strengths::Context<G> context;
                if (!past.empty()) context.last = past.back();
                if (past.size() > 1) context.before_last = past[past.size() - 2];
                std::vector<float> strengths(moves.size());
                model->weigh(line.position(), context, {moves.begin(), moves.size()}, strengths);
                nb::list listed;
                for (const auto move : moves) listed.append(nb::cast(move));
                return nb::make_tuple(listed, to_numpy(std::move(strengths)));
            });
        },
        "game"_a, "line"_a, "strengths"_a,
        nb::sig("def weigh_moves(game: str, line: object, strengths: Model) -> tuple[list[typing.Any], "
                "NDArray[numpy.float32]]"),
        "The moves that the position allows, superko aside, and how strong each looks.");
    module.def(
        "duels",
        [](std::string_view game, const search::AlphaBetaOptions& options, const search::GivenModels& one,
           const search::GivenModels& other, const std::vector<search::Codes>& openings, std::uint64_t nodes,
           int max_plies) {
            return with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
                std::vector<std::int8_t> results;
                run_interruptibly([&](const std::atomic<bool>& stop) {
                    results =
                        search::Assembly<G>::duels(options, one, other, openings, {.nodes = nodes}, max_plies, stop);
                });
                return to_numpy(std::move(results));
            });
        },
        "game"_a, "options"_a, "one"_a, "other"_a, "openings"_a, "nodes"_a, "max_plies"_a,
        "Games of two evaluations by alpha-beta, from each opening twice: the one's results, moving first and second.");
    module.def(
        "best_move_changes",
        [](std::string_view game, const Positions& objects, const nb::typed<nb::sequence, nb::object>& experts,
           const search::AlphaBetaOptions& options, const search::GivenModels& models, int depths, unsigned threads) {
            return with_game(game_named(game), [&]<class G>(std::type_identity<G>) {
                const auto positions = positions_from<G>(objects);
                std::vector<typename G::Move> moves;
                for (const nb::handle move : nb::iter(experts)) moves.push_back(nb::cast<typename G::Move>(move));
                if (positions.size() != moves.size()) throw nb::value_error("one move a position is needed");
                for (std::size_t i = 0; i < positions.size(); ++i)
                    if (!positions[i].is_legal(moves[i]))
                        throw IllegalMoveError("illegal move " + moves[i].text() + " in " + positions[i].text());
                std::vector<search::BestMoveChange> found;
                run_interruptibly([&](const std::atomic<bool>& stop) {
                    found = search::Assembly<G>::best_move_changes(positions, moves, options, models, depths, threads,
                                                                   &stop);
                });
                std::vector<std::int8_t> changes;
                std::vector<std::int8_t> depths_found;
                for (const auto& each : found) {
                    changes.push_back(static_cast<std::int8_t>(each.changes));
                    depths_found.push_back(static_cast<std::int8_t>(each.correct_depth));
                }
                return std::tuple(to_numpy(std::move(changes)), to_numpy(std::move(depths_found)));
            });
        },
        "game"_a, "positions"_a, "moves"_a, "options"_a, "models"_a, "depths"_a, "threads"_a,
        "How often the best move changes over the depths, and the depth at which `moves` are found to stay.");
}

}  // namespace hyoka::bindings
