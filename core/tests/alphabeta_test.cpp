// SPDX-License-Identifier: Apache-2.0
// Alpha-beta against plain minimax in every game and with every switch; mates, limits, variations.
#include <cmath>

#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/go.h"
#include "games/othello.h"
#include "games/shogi.h"
#include "line.h"
#include "search/alphabeta.h"
#include "search/best_move_change.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using namespace search;

/// Any number will do to compare searches; the less it has to do with the game, the better.
template <Game G>
struct HashEvaluator {
    int score(const G& game) const { return static_cast<int>(split_mix(game.hash()) % 401) - 200; }
};

/// A heap of stones; who takes two moves again. One point for each stone taken.
struct Heap {
    struct Move {
        std::uint8_t taken = 1;
        static constexpr std::uint32_t code_count = 4;
        std::uint32_t code() const { return taken; }
        static Move from_code(std::uint32_t code) { return {static_cast<std::uint8_t>(code)}; }
        std::string text() const { return std::to_string(taken); }
        friend bool operator==(const Move&, const Move&) = default;
    };
    using Undo = Heap;
    static constexpr std::size_t max_moves = 3;

    int stones = 12;
    int lead = 0;
    Player player = Player::first;

    Player to_play() const { return player; }
    std::optional<Outcome> outcome() const {
        return stones ? std::nullopt : std::optional(Outcome{result_of_score(lead), Reason::score});
    }
    double score() const { return lead; }
    Moves<Heap> legal_moves() const {
        Moves<Heap> moves;
        for (int taken = 1; taken <= std::min(stones, 3); ++taken) moves.push_back({static_cast<std::uint8_t>(taken)});
        return moves;
    }
    std::size_t count_moves() const { return legal_moves().size(); }
    bool is_legal(Move move) const { return move.taken >= 1 && move.taken <= std::min(stones, 3); }
    std::optional<Move> random_move(Rng& rng) const { return draw_move(*this, rng); }
    void play(Move move) {
        stones -= move.taken;
        lead += player == Player::first ? move.taken : -move.taken;
        if (move.taken != 2) player = other(player);
    }
    Undo play_undoable(Move move) {
        const Undo before = *this;
        play(move);
        return before;
    }
    void undo(const Undo& before) { *this = before; }
    std::uint64_t hash() const {
        return split_mix(static_cast<std::uint64_t>(stones * 1000 + (lead + 100) * 2 + index_of(player)));
    }
    std::string text() const { return std::to_string(stones); }
    static Heap from_text(std::string_view) { return {}; }
    Move parse_move(std::string_view) const { return {}; }
    std::vector<std::int8_t> cells() const { return {}; }
    void check_consistency() const {}
    friend bool operator==(const Heap&, const Heap&) = default;
};

/// How a game that has come back counts, if it has; as any other position at the root.
template <Game G>
std::optional<int> value_by_past(const Line<G>& line, int ply) {
    if constexpr (Tactical<G>)
        if (ply > 0)
            if (const auto result = Tactics<G>::repetition(line.position(), line.past()))
                return static_cast<int>(*result) * (mate - ply);
    return std::nullopt;
}

/// What quiescence finds, for the side to move. Captures go on for long: this needs a window, but nothing more.
template <Tactical G, class Evaluator>
int quiesce(Line<G>& line, const Evaluator& evaluator, int alpha, int beta, int ply) {
    const G game = line.position();
    const int sign = game.to_play() == Player::first ? 1 : -1;
    if (const auto value = value_by_past(line, ply)) return sign * *value;
    const bool stands = !game.in_check();
    if (!stands || Tactics<G>::over_by_rule(game))
        if (const auto over = game.outcome()) return sign * final_score(game, *over, ply);
    int best = stands ? sign * evaluator.score(game) : -infinite_score;
    for (const auto move : line.legal_moves()) {
        if (best >= beta) break;
        if (stands && (!is_noisy(game, move) || game.see(move) < 0)) continue;
        const auto token = line.play_undoable(move);
        best = std::max(best, -quiesce(line, evaluator, -beta, -std::max(alpha, best), ply + 1));
        line.undo(token);
    }
    return best;
}

/// The value for the first player, by trying everything.
template <Game G, class Evaluator>
int minimax(Line<G>& line, const Evaluator& evaluator, int depth, int ply, bool quiescence) {
    const G game = line.position();
    const int sign = game.to_play() == Player::first ? 1 : -1;
    if constexpr (Tactical<G>)
        if (quiescence && depth <= 0) return sign * quiesce(line, evaluator, -infinite_score, infinite_score, ply);
    if (const auto value = value_by_past(line, ply)) return *value;
    if (const auto over = game.outcome()) return final_score(game, *over, ply);
    if (depth <= 0) return evaluator.score(game);
    int best = -infinite_score;
    for (const auto move : line.legal_moves()) {
        const auto token = line.play_undoable(move);
        best = std::max(best, sign * minimax(line, evaluator, depth - 1, ply + 1, quiescence));
        line.undo(token);
    }
    return sign * best;
}

/// All exact settings, then none, then each alone, then all but each.
std::vector<AlphaBetaSettings> exact_settings(bool quiescence) {
    std::vector<AlphaBetaSettings> all = {AlphaBetaSettings::exact(), AlphaBetaSettings::plain()};
    for (const bool base : {false, true})
        for (int changed = 0; changed < 7; ++changed) {
            AlphaBetaSettings settings = base ? AlphaBetaSettings::exact() : AlphaBetaSettings::plain();
            settings.table.mebibytes = (changed == 0) != base ? 1 : 0;
            settings.ordering.hash_move = (changed == 1) != base;
            settings.ordering.noisy = (changed == 2) != base;
            settings.ordering.killers = (changed == 3) != base;
            settings.ordering.history = (changed == 4) != base;
            settings.windows.principal_variation = (changed == 5) != base;
            settings.windows.aspiration = (changed == 6) != base ? 10 : 0;
            all.push_back(settings);
        }
    for (auto& settings : all) {
        settings.quiescence = quiescence;
        settings.table.mebibytes = std::min(settings.table.mebibytes, 1);
    }
    return all;
}

template <Game G>
Line<G> random_line(const G& start, int plies, Rng& rng) {
    Line<G> line(start);
    for (int i = 0; i < plies; ++i) {
        const auto move = line.random_move(rng);
        if (!move) break;
        line.play(*move);
    }
    if (line.outcome()) return Line<G>(start);
    return line;
}

/// Every move is legal; unless the game ends there, the last position's evaluation is the score.
template <Game G, class Evaluator>
void check_variation(const std::string& what, Line<G> line, const Evaluator& evaluator, const Variation<G>& variation) {
    const auto root = line;
    for (const auto move : variation.moves) {
        expect(line.is_legal(move), what + ": illegal move in a variation");
        if (!line.is_legal(move)) return;
        line.play(move);
    }
    bool repeated = false;
    if constexpr (Tactical<G>) repeated = Tactics<G>::repetition(line.position(), line.past()).has_value();
    if (repeated) return;
    const auto over = line.position().outcome();
    const int ply = static_cast<int>(variation.moves.size());
    const int score = over ? final_score(line.position(), *over, ply) : evaluator.score(line.position());
    // Quiescence doesn't look for stalemate.
    const bool stalemate = over && over->reason == Reason::stalemate;
    expect(score == variation.score || (stalemate && evaluator.score(line.position()) == variation.score),
           what + ": the variation's end is not worth its score");
}

template <Game G>
void check_against_minimax(const std::string& name, const G& start, int positions, int plies, int depth,
                           bool quiescence) {
    const HashEvaluator<G> evaluator;
    Rng rng(static_cast<std::uint64_t>(depth));
    const auto all = exact_settings(quiescence);
    std::vector<AlphaBeta<G, HashEvaluator<G>>> searches;
    for (const auto& settings : all) searches.emplace_back(evaluator, settings);
    for (int i = 0; i < positions; ++i) {
        auto line = random_line(start, static_cast<int>(rng.below(static_cast<std::uint32_t>(plies + 1))), rng);
        const int wanted = minimax(line, evaluator, depth, 0, quiescence);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const auto result = searches[k].search(line, {.depth = depth});
            const std::string what = name + " with settings " + std::to_string(k) + " at " + line.text();
            expect(result.score == wanted,
                   what + ": " + std::to_string(result.score) + " instead of " + std::to_string(wanted));
            expect(result.depth == depth || std::abs(wanted) >= won_by_points || wanted == 0, what + ": depth");
            check_variation(what, line, evaluator, result.variations.front());
        }
    }
}

/// Properties that hold with the default settings too.
template <Game G>
void check_search(const std::string& name, const G& start, int plies) {
    const HashEvaluator<G> evaluator;
    Rng rng(7);
    const auto line = random_line(start, plies, rng);
    const auto legal = line.legal_moves();
    AlphaBeta<G, HashEvaluator<G>> search(evaluator, {.table = {.mebibytes = 1}});

    for (const std::uint64_t nodes : {1, 2, 3, 10, 100, 1000, 5000}) {
        search.clear();
        const auto result = search.search(line, {.nodes = nodes});
        expect(result.best() && line.is_legal(*result.best()), name + ": a legal move within few nodes");
        expect(result.nodes <= nodes, name + ": the node limit");
        Line<G> played = line;
        for (const auto move : result.variations.front().moves) {
            expect(played.is_legal(move), name + ": the variation of a stopped search");
            played.play(move);
        }
    }
    const std::atomic<bool> interrupt = true;
    expect(search.search(line, {}, {.interrupt = &interrupt}).best().has_value(), name + ": a move when interrupted");
    const auto timed = search.search(line, {.time_s = 0.02});
    expect(timed.time_s < 0.5 && timed.best(), name + ": the time limit");

    int reports = 0;
    search.clear();
    const auto result = search.search(line, {.depth = 2}, {.report = [&](const Iteration<G>& iteration) {
                                          expect(iteration.depth == ++reports, name + ": depths in order");
                                      }});
    expect(reports == result.depth && result.iterations.size() == static_cast<std::size_t>(reports),
           name + ": one report a depth");
    search.clear();
    expect(search.search(line, {.depth = 2}).nodes == result.nodes, name + ": cleared, a search repeats itself");

    const auto last = legal[legal.size() - 1];
    const auto among = search.search(line, {.depth = 2}, {.among = {&last, 1}});
    expect(among.best() == last, name + ": only among the moves given");
    const Line<G> over_there = random_line(start, plies + 5, rng);
    std::vector<typename G::Move> illegal;
    for (const auto move : over_there.legal_moves())
        if (!line.is_legal(move)) illegal.push_back(move);
    expect(search.search(line, {.depth = 1}, {.among = illegal}).best().has_value(), name + ": no legal one given");

    // The k best moves are those that a search for each move alone finds best.
    auto settings = AlphaBetaSettings::exact();
    settings.table.mebibytes = 1;
    AlphaBeta<G, HashEvaluator<G>> single(evaluator, settings);
    settings.variations = 3;
    AlphaBeta<G, HashEvaluator<G>> several(evaluator, settings);
    const auto best = several.search(line, {.depth = 2});
    const int sign = line.to_play() == Player::first ? 1 : -1;
    std::vector<int> scores;
    for (const auto move : legal)
        scores.push_back(sign * single.search(line, {.depth = 2}, {.among = {&move, 1}}).score);
    std::sort(scores.rbegin(), scores.rend());
    expect(best.variations.size() == std::min<std::size_t>(3, legal.size()), name + ": three variations");
    for (std::size_t i = 0; i < best.variations.size(); ++i) {
        expect(sign * best.variations[i].score == scores[i], name + ": variation " + std::to_string(i + 1));
        check_variation(name, line, evaluator, best.variations[i]);
    }
}

template <Game G>
void check_mate(const std::string& text, int plies, const std::string& best) {
    AlphaBeta<G, HashEvaluator<G>> search({}, {.table = {.mebibytes = 1}});
    const Line<G> line(G::from_text(text));
    const auto result = search.search(line, {.depth = 10});
    expect(result.mate_plies() == (line.to_play() == Player::first ? plies : -plies), "the mate's length in " + text);
    expect(result.best() == line.parse_move(best), "the mating move in " + text);
    expect(result.variations.front().moves.size() == static_cast<std::size_t>(plies), "all of the mate in " + text);
}

void check_finished_games() {
    AlphaBeta<Chess, HashEvaluator<Chess>> chess;
    const Line<Chess> mated(Chess::from_text("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"));
    expect(!chess.search(mated, {.depth = 3}).best() && chess.search(mated, {.depth = 3}).score == mate, "mated");
    Line<Chess> repeated;
    for (const char* move : {"g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"})
        repeated.play(repeated.parse_move(move));
    const auto result = chess.search(repeated, {.depth = 3});
    expect(!result.best() && result.score == 0, "drawn by repetition");
}

/// A side that is behind goes for the repetition, whichever side gives check.
void check_repetition() {
    struct Material {
        int score(const Chess& game) const {
            return 900 * (count_bits(game.pieces(Player::first, Chess::queen)) -
                          count_bits(game.pieces(Player::second, Chess::queen))) +
                   500 * (count_bits(game.pieces(Player::first, Chess::rook)) -
                          count_bits(game.pieces(Player::second, Chess::rook)));
        }
    };
    AlphaBeta<Chess, Material> search;
    const Line<Chess> line(Chess::from_text("5r1k/8/7p/6Q1/8/1q6/r4PPP/6K1 w - - 0 1"));
    expect(search.search(line, {.depth = 8}).score == 0, "perpetual check saves the game");

    const Shogi game = Shogi::from_text("k8/9/9/9/9/9/9/9/K7R b - 1");
    Line<Shogi> shogi(game);
    for (const char* move : {"1i1a", "9a9b", "1a1b", "9b9a"}) shogi.play(shogi.parse_move(move));
    const auto repeats = [&](const char* move) {
        Line<Shogi> next = shogi;
        next.play(next.parse_move(move));
        return Tactics<Shogi>::repetition(next.position(), next.past());
    };
    expect(repeats("1b1a") == Result::second_wins, "perpetual check loses");
    expect(!repeats("1b1c"), "no repetition");
}

void check_best_move_change() {
    std::vector<Othello> positions;
    std::vector<Othello::Move> experts;
    Rng rng(5);
    for (int i = 0; i < 60; ++i) {
        positions.push_back(random_line(Othello(), 20, rng).position());
        experts.push_back(*positions.back().random_move(rng));
    }
    const HashEvaluator<Othello> evaluator;
    const auto one = best_move_changes<Othello>(positions, experts, evaluator);
    expect(one == best_move_changes<Othello>(positions, experts, evaluator, {}, 3, 2), "threads change nothing");
    AlphaBeta<Othello, HashEvaluator<Othello>> search(evaluator, {.table = {.mebibytes = 1}});
    for (std::size_t i = 0; i < positions.size(); ++i) {
        std::vector<Othello::Move> best;
        for (const auto& iteration : (search.clear(), search.search(Line(positions[i]), {.depth = 3})).iterations)
            best.push_back(iteration.variations.front().moves.front());
        while (best.size() < 3) best.push_back(best.back());
        expect(one[i].changes == (best[0] != best[1]) + (best[1] != best[2]), "changes of the best move");
        int correct = 4;
        while (correct > 1 && best[static_cast<std::size_t>(correct - 2)] == experts[i]) --correct;
        expect(one[i].correct_depth == correct, "correct depth");
    }
}

/// Wherever a search ends, the variations it lists are those of the last depth completed for all of them.
void check_unfinished_depth() {
    Rng rng(17);
    for (int i = 0; i < 8; ++i) {
        const Line<Chess> line = random_line(Chess(), 12, rng);
        for (std::uint64_t nodes = 200; nodes < 4000; nodes += 300) {
            AlphaBeta<Chess, HashEvaluator<Chess>> search({}, {.table = {.mebibytes = 1}, .variations = 3});
            const auto result = search.search(line, {.nodes = nodes});
            if (result.iterations.empty()) continue;
            const auto& last = result.iterations.back();
            const int sign = line.to_play() == Player::first ? 1 : -1;
            bool same = result.variations.size() == last.variations.size();
            for (std::size_t k = 0; same && k < last.variations.size(); ++k)
                same = result.variations[k].moves == last.variations[k].moves &&
                       result.variations[k].score == last.variations[k].score &&
                       (k == 0 || sign * last.variations[k].score <= sign * last.variations[k - 1].score);
            expect(same, "variations of one depth at " + line.position().text());
        }
    }
}

void check_table() {
    TranspositionTable table(1);
    expect(table.find(1) == nullptr, "an empty table");
    table.store(1, 5, -7, 3, Bound::lower);
    table.store(1, TableEntry::no_move, 8, 4, Bound::upper);
    const TableEntry* entry = table.find(1);
    expect(entry && entry->move == 5 && entry->score == 8 && entry->depth == 4, "a known move outlives its result");
    expect(entry && entry->settles(8, 9, 10) && !entry->settles(8, 0, 1), "an upper bound");
    // Four deep entries fill a bucket; the next search's shallow one drives out the shallowest.
    for (std::uint64_t key = 2; key <= 4; ++key) table.store(key, 0, 0, static_cast<int>(10 * key), Bound::exact);
    table.start_search();
    table.store(5, 0, 0, 1, Bound::exact);
    expect(!table.find(1) && table.find(2) && table.find(5), "the least useful entry makes room");
    table.clear();
    expect(!table.find(5) && table.permille_full() == 0, "cleared");
    table.store(1, 7, 3, 2, Bound::lower);
    // After that many more the epochs come round to the one that wrote the entry.
    for (int i = 0; i < 1 << 16; ++i) table.clear();
    table.store(2, 9, 3, 2, Bound::lower);
    expect(!table.find(1) && table.find(2), "cleared until the epochs wrap");
    for (int i = 0; i < (1 << 16) - 1; ++i) {
        table.clear();
        expect(!table.find(2), "no epoch shows an earlier one's entries");
    }
    // A table sized for a small search, then for a large one.
    table.clear();
    table.start_search(10);
    for (std::uint64_t key = 1; key <= 10; ++key) table.store(split_mix(key), 0, 0, 1, Bound::exact);
    for (std::uint64_t key = 1; key <= 10; ++key) expect(table.find(split_mix(key)), "room for all of a small search");
    table.start_search(1000);
    for (std::uint64_t key = 1; key <= 1000; ++key) table.store(split_mix(key), 0, 0, 1, Bound::exact);
    for (std::uint64_t key = 1; key <= 1000; ++key) expect(table.find(split_mix(key)), "room for a larger search");
    TranspositionTable none(0);
    none.store(1, 0, 0, 1, Bound::exact);
    expect(!none.find(1), "a table without room");
}

/// A search on a table that others have used and cleared is the same as a new one's.
template <Game G>
void check_reuse(const std::string& name, const G& start, int plies) {
    const HashEvaluator<G> evaluator;
    AlphaBetaSettings settings{.table = {.mebibytes = 1}};
    for (const bool exact : {false, true}) {
        settings.table.exact = exact;
        AlphaBeta<G, HashEvaluator<G>> used(evaluator, settings);
        Rng rng(5);
        for (int i = 0; i < 12; ++i) {
            const Line<G> line =
                random_line(start, static_cast<int>(rng.below(static_cast<std::uint32_t>(plies))), rng);
            if (line.outcome()) continue;
            const std::array<Limits, 3> choices{Limits{.nodes = 300}, Limits{.depth = 2}, Limits{.nodes = 3000}};
            const Limits& limits = choices[static_cast<std::size_t>(i % 3)];
            used.clear();
            const auto result = used.search(line, limits);
            AlphaBeta<G, HashEvaluator<G>> fresh(evaluator, settings);
            const auto expected = fresh.search(line, limits);
            expect(result.score == expected.score && result.nodes == expected.nodes && result.depth == expected.depth &&
                       result.permille_full == expected.permille_full &&
                       result.variations.front().moves == expected.variations.front().moves,
                   name + ": a used table, at " + line.position().text());
        }
    }
}

/// Noisy and quiet moves are all moves, each once.
template <Game G>
void check_noise(const std::string& name, const G& start) {
    Rng rng(11);
    for (int i = 0; i < 300; ++i) {
        const G game = random_line(start, static_cast<int>(rng.below(150)), rng).position();
        std::size_t count = 0;
        for (const auto move : game.noisy_moves()) count += game.is_legal(move) && is_noisy(game, move);
        expect(count == game.noisy_moves().size(), name + ": noisy moves at " + game.text());
        for (const auto move : game.quiet_moves()) count += game.is_legal(move) && !is_noisy(game, move);
        expect(count == game.legal_moves().size() && count == game.noisy_moves().size() + game.quiet_moves().size(),
               name + ": quiet moves at " + game.text());
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    check_table();
    check_unfinished_depth();
    check_reuse("othello", Othello(), 60);
    check_reuse("go5", Go<5>(), 40);
    check_reuse("chess", Chess(), 100);
    check_reuse("shogi", Shogi(), 100);
    check_reuse("blokus_duo", BlokusDuo(), 20);
    check_noise("chess", Chess());
    check_noise("shogi", Shogi().with_rules({true, 200}));
    check_finished_games();
    check_repetition();
    check_best_move_change();
    check_mate<Chess>("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1, "Ra8#");
    check_mate<Chess>("r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 1", 3, "Nf6+");
    check_mate<Chess>("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 5, "Bc5+");
    check_mate<Shogi>("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", 1, "G*5b");
    for (const int depth : {1, 2, 6, 20}) check_against_minimax("heap", Heap{}, 8, 5, depth, false);
    check_against_minimax("othello", Othello(), 10, 40, 4, false);
    check_against_minimax("othello ending", random_line(Othello(), 52, *std::make_unique<Rng>(3)).position(), 6, 2, 7,
                          false);
    check_against_minimax("go3", Go<3>(0.5), 10, 20, 5, false);
    check_against_minimax("go4", Go<4>(0.5), 5, 30, 4, false);
    check_against_minimax("go5", Go<5>(), 2, 40, 3, false);
    check_against_minimax("blokus_duo", BlokusDuo(), 3, 30, 1, false);
    check_against_minimax("blokus_duo ending", random_line(BlokusDuo(), 24, *std::make_unique<Rng>(3)).position(), 3, 6,
                          3, false);
    for (const bool quiescence : {false, true}) {
        check_against_minimax("chess", Chess(), 8, 100, 2, quiescence);
        check_against_minimax("chess ending", Chess::from_text("8/8/8/3p4/8/k7/3P4/K6R w - - 95 80"), 3, 4, 5,
                              quiescence);
        check_against_minimax("shogi", Shogi(), 3, 80, 2, quiescence);
        check_against_minimax("shogi ending", Shogi::from_text("4k4/9/9/9/9/9/9/9/R3K4 b - 1 limit=20"), 2, 4, 5,
                              quiescence);
    }
    check_search("heap", Heap{}, 2);
    check_search("othello", Othello(), 20);
    check_search("go3", Go<3>(), 4);
    check_search("go9", Go<9>(), 30);
    check_search("chess", Chess(), 20);
    check_search("shogi", Shogi(), 40);
    check_search("blokus_duo", BlokusDuo(), 16);
    return report();
}
