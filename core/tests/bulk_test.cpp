// SPDX-License-Identifier: Apache-2.0
// Passes over many games: the same on one thread and on several, and what they refuse. Where quiescence searches come
// to rest, against alpha-beta. Runs under the sanitizers, ThreadSanitizer among them.
#include <vector>

#include "bulk/bulk.h"
#include "evaluation/chess.h"
#include "evaluation/shogi.h"
#include "records/replay.h"
#include "search/quiescence.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using namespace bulk;

/// Random games from their usual start, all positions wanted.
struct Games {
    std::vector<std::int64_t> ids;
    std::vector<std::int32_t> start_offsets = {0};
    std::vector<double> komi;
    std::vector<std::int64_t> move_offsets = {0};
    std::vector<std::uint16_t> moves;
    std::vector<std::int64_t> row_offsets = {0};
    std::vector<std::int32_t> plies;

    template <class G>
    static Games random(std::int64_t count, int length) {
        Games games;
        for (std::int64_t id = 0; id < count; ++id) {
            Rng rng(static_cast<std::uint64_t>(id));
            G game = records::start_position<G>("", 5.5);
            games.plies.push_back(0);
            for (int ply = 1; ply <= length; ++ply) {
                const auto move = game.random_move(rng);
                if (!move) break;
                games.moves.push_back(static_cast<std::uint16_t>(move->code()));
                games.plies.push_back(ply);
                game.play(*move);
            }
            games.ids.push_back(100 + id);
            games.start_offsets.push_back(0);
            games.komi.push_back(5.5);
            games.move_offsets.push_back(static_cast<std::int64_t>(games.moves.size()));
            games.row_offsets.push_back(static_cast<std::int64_t>(games.plies.size()));
        }
        return games;
    }
    template <class G>
    GameTable table() const {
        return {kind_of<G>, ids, start_offsets, {}, komi, move_offsets, moves, row_offsets, plies};
    }
};

void run_all(const Pass& pass, const GameTable& table, unsigned threads) {
    Running running;
    running.threads = threads;
    run(pass, table, blocks_of(table), running);
    expect(running.done == table.rows(), "every row is done");
}

/// Results of bulk calls on a number of threads, in one row of numbers.
template <class G>
std::vector<double> found(const GameTable& table, unsigned threads) {
    std::vector<double> numbers;
    const auto add = [&](const auto& values) { numbers.insert(numbers.end(), values.begin(), values.end()); };
    const std::size_t blocks = blocks_of(table).size();
    TermPass terms(blocks);
    run_all(&terms, table, threads);
    add(joined(terms.parts, [](TermRows& part) -> auto& { return part.amounts.columns; }));
    add(joined(terms.parts, [](TermRows& part) -> auto& { return part.amounts.amounts; }));
    add(joined_offsets(terms.parts, [](TermRows& part) -> auto& { return part.amounts.offsets; }));
    if constexpr (search::Tactical<G>) {
        std::vector<float> weights;
        for (const auto& term : evaluation::Terms<G>::all()) {
            weights.push_back(term.weight.opening);
            weights.push_back(term.weight.ending);
        }
        QuietPass quiet(weights, blocks);
        run_all(&quiet, table, threads);
        add(joined(quiet.parts, [](QuietRows& part) -> auto& { return part.scores; }));
        add(joined(quiet.parts, [](QuietRows& part) -> auto& { return part.moves.items; }));
    }
    ColumnPass columns({0, 1, 2}, table.rows());
    run_all(&columns, table, threads);
    for (const auto& column : columns.columns) add(column);
    OutcomePass outcomes(table.rows());
    run_all(&outcomes, table, threads);
    add(outcomes.results);
    MoveFeaturePass features(blocks);
    run_all(&features, table, threads);
    add(joined(features.parts, [](MoveFeatureRows& part) -> auto& { return part.features.items; }));
    PlanePass planes(table, blocks, true);
    run_all(&planes, table, threads);
    add(planes.planes);
    return numbers;
}

template <class G>
void check_threads(const std::string& name, std::int64_t games, int length) {
    const Games random = Games::random<G>(games, length);
    const GameTable table = random.table<G>();
    table.check();
    expect(found<G>(table, 1) == found<G>(table, 4), name + ": results don't depend on threads");
}

/// A search of one ply with a single root move is a quiescence search after that move.
template <class G>
void check_rest(const std::string& name, int games, int length) {
    using Evaluation = evaluation::LinearEvaluation<G>;
    const std::atomic<bool> stop = false;
    search::QuiescenceSearch<G, Evaluation> quiescence({}, stop);
    auto settings = search::AlphaBetaSettings::exact();
    settings.table.mebibytes = 0;
    search::AlphaBeta<G, Evaluation> alpha_beta({}, settings);
    bool same = true;
    for (int seed = 0; seed < games; ++seed) {
        Rng rng(static_cast<std::uint64_t>(seed));
        G game;
        for (int ply = 0; ply < length; ++ply) {
            const auto move = game.random_move(rng);
            if (!move) break;
            search::SearchOptions<G> options;
            options.among = {&*move, 1};
            const auto whole = alpha_beta.search(Line<G>(game), {.depth = 1}, options).variations.front();
            game.play(*move);
            const auto [score, moves] = quiescence.rest(game);
            const bool decided = std::abs(score) > search::highest_evaluation;
            same &= decided ? std::abs(score) == std::abs(whole.score) + 1 : score == whole.score;
            same &= std::ranges::equal(moves, std::span(whole.moves).subspan(1));
        }
    }
    expect(same, name + ": a quiescence search alone rests where alpha-beta's does");
}

void check_failure() {
    Games random = Games::random<Go<9>>(60, 30);
    // Stones on stones, in two games: the first of them is reported, whichever thread meets it.
    for (const std::size_t game : {40, 20}) {
        const auto first = static_cast<std::size_t>(random.move_offsets[game]);
        random.moves[first + 5] = random.moves[first];
    }
    for (const unsigned threads : {1u, 4u}) {
        std::string message;
        try {
            found<Go<9>>(random.table<Go<9>>(), threads);
        } catch (const IllegalMoveError& error) {
            message = error.what();
        }
        expect(message.starts_with("game 120: illegal move"), "the first illegal move is reported: " + message);
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    check_threads<Go<9>>("go9", 60, 60);
    check_threads<Chess>("chess", 60, 60);
    check_threads<Shogi>("shogi", 30, 40);
    check_rest<Chess>("chess", 40, 60);
    check_rest<Shogi>("shogi", 20, 60);
    check_failure();
    return report();
}
