// SPDX-License-Identifier: Apache-2.0
// Evaluations over random games: the score is the weighted sum of the terms, and neither color nor side of the board
// is favored. Bouzy's maps by hand and against plain twins.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <vector>

#include "evaluation/blokus_duo.h"
#include "evaluation/chess.h"
#include "evaluation/go.h"
#include "evaluation/othello.h"
#include "evaluation/shogi.h"
#include "features/blokus_duo.h"
#include "tests/colors.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using evaluation::LinearEvaluation;
using evaluation::Term;
using evaluation::Terms;
using evaluation::VectorSink;
using evaluation::Weight;

struct Amounts {
    std::vector<float> of;
    float progress;
    friend bool operator==(const Amounts&, const Amounts&) = default;
};

template <class G>
Amounts amounts(const G& game) {
    std::vector<float> of(Terms<G>::all().size());
    VectorSink sink(of);
    Terms<G>::count(game, sink);
    return {of, sink.progress()};
}

template <class G>
std::size_t index_of_term(std::string_view name) {
    const auto& terms = Terms<G>::all();
    const auto found = std::ranges::find(terms, name, &Term::name);
    expect(found != terms.end(), "there is a term " + std::string(name));
    return static_cast<std::size_t>(found - terms.begin());
}

template <class G>
float amount(const G& game, std::string_view name) {
    return amounts(game).of[index_of_term<G>(name)];
}

template <class G>
void check_terms(const std::string& game) {
    std::set<std::string_view> names;
    for (const Term& term : Terms<G>::all()) {
        expect(names.insert(term.name).second, game + "'s term " + term.name + " has a name of its own");
        expect(std::ranges::all_of(term.name, [](char c) { return std::islower(c) || std::isdigit(c) || c == '_'; }),
               game + "'s term " + term.name + " is lower_snake");
    }
    expect(Terms<G>::scale > 0, game + " has a scale");
}

template <class G>
void check_score(const LinearEvaluation<G>& evaluation, const G& game, const std::string& where) {
    const auto [of, progress] = amounts(game);
    double sum = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const auto [opening, ending] = evaluation.weights()[i];
        sum += (opening + (ending - opening) * static_cast<double>(progress)) * static_cast<double>(of[i]);
    }
    const double error = std::abs(evaluation.score(game) - sum);
    expect(error <= 0.5 + 1e-5 * std::abs(sum) + 1e-2, "the score is the weighted sum, " + where);
}

template <class G>
LinearEvaluation<G> random_evaluation(Rng& rng) {
    std::vector<Weight> weights(Terms<G>::all().size());
    const auto draw = [&] { return static_cast<float>(rng.below(201)) - 100; };
    for (Weight& weight : weights)
        if (rng.below(2)) weight = {draw(), draw()};
    return LinearEvaluation<G>(std::move(weights));
}

/// With the colors swapped all amounts change their sign; komi alone stays White's.
template <class G>
void check_colors(const G& game, const std::string& where) {
    Amounts expected = amounts(game);
    const Amounts others = amounts(swapped(game));
    for (std::size_t i = 0; i < expected.of.size(); ++i) {
        const bool stays = Terms<G>::all()[i].name == "komi";
        expect(others.of[i] == (stays ? expected.of[i] : -expected.of[i]),
               Terms<G>::all()[i].name + " is fair to both colors, " + where);
    }
    expect(others.progress == expected.progress, "progress has no color, " + where);
    const LinearEvaluation<G> evaluation;
    if constexpr (requires { game.komi(); })
        expect(evaluation.score(swapped(game.with_komi(0))) == -evaluation.score(game.with_komi(0)),
               "the score is fair, " + where);
    else
        expect(evaluation.score(swapped(game)) == -evaluation.score(game), "the score is fair, " + where);
}

template <class G>
void check_symmetries(const G& game, const std::string& where) {
    if constexpr (requires { G::symmetries; }) {
        const Amounts expected = amounts(game);
        for (int symmetry = 1; symmetry < G::symmetries; ++symmetry)
            expect(amounts(game.transformed(symmetry)) == expected,
                   "symmetry " + std::to_string(symmetry) + " changes nothing, " + where);
    }
}

template <class G>
void check_game(const std::string& name, const G& start, int games, int plies) {
    check_terms<G>(name);
    for (int seed = 0; seed < games; ++seed) {
        Rng rng(static_cast<std::uint64_t>(seed));
        const LinearEvaluation<G> usual;
        const LinearEvaluation<G> unusual = random_evaluation<G>(rng);
        G game = start;
        for (int ply = 0; ply < plies; ++ply) {
            const std::string where = name + " after " + std::to_string(ply) + " plies: " + game.text();
            check_score(usual, game, where);
            check_score(unusual, game, where);
            check_colors(game, where);
            check_symmetries(game, where);
            const auto [of, progress] = amounts(game);
            expect(progress >= 0 && progress <= 1, "progress is from 0 to 1, " + where);
            const auto move = game.random_move(rng);
            if (!move) break;
            game.play(*move);
        }
    }
}

void check_chess() {
    const Chess start;
    expect(amount(start, "tempo") == 1 && LinearEvaluation<Chess>().score(start) == 20, "the start is worth a tempo");
    const auto bishops = Chess::from_text("4k3/8/8/8/3B4/8/8/2B1K3 w - - 0 1");
    expect(amount(bishops, "bishop_pair") == 0, "two bishops on squares of one color are no pair");
    expect(amount(bishops, "bishop_development") == 1, "the bishop on c1 is at home");
    expect(amount(bishops, "bishop_mobility") == 13 + 7 - 12, "squares beyond six each");
    const auto pawns = Chess::from_text("4k3/p6p/8/1P6/3P3P/3P4/8/4K3 w - - 0 1");
    expect(amount(pawns, "passed_pawn_on_rank_4") == 1, "of doubled pawns the foremost is passed");
    expect(amount(pawns, "passed_pawn_on_rank_5") == 0, "a pawn that another guards the way of is not");
    expect(amount(pawns, "doubled_pawn") == 1 && amount(pawns, "isolated_pawn") == 4 - 2, "doubled, isolated");
}

void check_shogi() {
    const Shogi start;
    expect(amount(start, "pawn") == 0 && amount(start, "tempo") == 1, "the start is even");
    const auto attack = Shogi::from_text("4k4/9/3GPG3/9/9/9/9/9/4K4 b G2p 1");
    expect(amount(attack, "king_attackers") == 3, "a pawn and two golds reach the squares around the king");
    expect(amount(attack, "gold") == 3 && amount(attack, "gold_in_hand") == 1, "material is on the board and in hand");
    expect(amount(attack, "pawn") == -1 && amount(attack, "pawn_in_hand") == -2, "and is what both have");
    expect(amount(attack, "gold_enemy_king_beside_1_behind_2") == 2, "golds by where they stand from the king");
    const auto problem = Shogi::from_text("4k4/9/4P4/9/9/9/9/9/9 b G 1");
    expect(amount(problem, "king_attackers") == 1 && amount(problem, "king_defenders") == 0, "one king may be missing");
}

void check_othello() {
    const auto corner = Othello::from_text("XXX-----" + std::string(24, '-') + std::string(30, '-') + "-O X");
    expect(amount(corner, "corners") == 0 && amount(corner, "stable_edge") == 2, "three discs and one from corners");
    const auto beside = Othello::from_text("-X------XX" + std::string(54, '-') + " X");
    expect(amount(beside, "x_squares") == 1 && amount(beside, "c_squares") == 2, "X and C beside an empty corner");
}

template <int N>
std::vector<int> plain_bouzy(const Go<N>& game, int dilations, int erosions) {
    const auto stones = game.cells();
    std::vector<int> map;
    for (const auto stone : stones) map.push_back(stone > 0 ? 64 : stone < 0 ? -64 : 0);
    const auto step = [&](auto&& changed) {
        const std::vector<int> before = map;
        for (int point = 0; point < N * N; ++point) {
            std::vector<int> around;
            if (point >= N) around.push_back(before[static_cast<std::size_t>(point - N)]);
            if (point % N > 0) around.push_back(before[static_cast<std::size_t>(point - 1)]);
            if (point % N < N - 1) around.push_back(before[static_cast<std::size_t>(point + 1)]);
            if (point < N * (N - 1)) around.push_back(before[static_cast<std::size_t>(point + N)]);
            map[static_cast<std::size_t>(point)] = changed(before[static_cast<std::size_t>(point)], around);
        }
    };
    const auto count = [](const std::vector<int>& around, auto&& holds) {
        return static_cast<int>(std::ranges::count_if(around, holds));
    };
    const auto above = [](int value) { return value > 0; };
    const auto below = [](int value) { return value < 0; };
    for (int i = 0; i < dilations; ++i)
        step([&](int here, const std::vector<int>& around) {
            if (here >= 0 && !count(around, below)) return here + count(around, above);
            if (here <= 0 && !count(around, above)) return here - count(around, below);
            return here;
        });
    for (int i = 0; i < erosions; ++i)
        step([&](int here, const std::vector<int>& around) {
            const int all = static_cast<int>(around.size());
            if (here > 0) return std::max(0, here - (all - count(around, above)));
            if (here < 0) return std::min(0, here + (all - count(around, below)));
            return 0;
        });
    return map;
}

template <int N>
void expect_map(const Go<N>& game, int dilations, int erosions, const std::vector<int>& expected,
                const std::string& what) {
    const auto map = evaluation::bouzy(game, dilations, erosions);
    expect(std::ranges::equal(map, expected), what);
}

void check_bouzy_by_hand() {
    const auto lone = Go<5>::from_text("5/5/2X2/5/5 w - 0 7.5");
    expect_map(lone, 1, 0, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 64, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
               "a stone dilated once");
    expect_map(lone, 2, 0, {0, 0, 1, 0, 0, 0, 2, 2, 2, 0, 1, 2, 68, 2, 1, 0, 2, 2, 2, 0, 0, 0, 1, 0, 0},
               "a stone dilated twice");
    expect_map(lone, 2, 1, {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 68, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0},
               "a stone dilated twice and eroded once");
    const auto both = Go<3>::from_text("X2/3/2O w - 0 7.5");
    expect_map(both, 1, 0, {64, 1, 0, 1, 0, -1, 0, -1, -64}, "black and white dilated once");
    expect_map(both, 2, 0, {66, 2, 0, 2, 0, -2, 0, -2, -66}, "nothing grows between enemies");
    expect_map(both, 1, 1, {64, 0, 0, 0, 0, 0, 0, 0, -64}, "black and white eroded");
    const auto caught = Go<3>::from_text("1O1/OXO/3 w - 0 7.5");
    expect_map(caught, 0, 2, {0, -58, 0, -58, 56, -58, 0, 0, 0}, "enemies and empty points erode alike");
}

template <int N>
void check_bouzy_against_twin(int plies) {
    Rng rng(11);
    Go<N> game;
    for (int ply = 0; ply < plies; ++ply) {
        for (const auto& [dilations, erosions] : {std::pair(5, 21), std::pair(5, 10), std::pair(4, 0)})
            expect_map(game, dilations, erosions, plain_bouzy(game, dilations, erosions),
                       "Bouzy's map is the plain one's, " + game.text());
        const auto of_territory = plain_bouzy(game, 5, 21);
        const auto balance = std::ranges::count_if(of_territory, [](int value) { return value > 0; }) -
                             std::ranges::count_if(of_territory, [](int value) { return value < 0; });
        expect(amount(game, "territory") == static_cast<float>(balance), "territory is the map's, " + game.text());
        expect(amount(game, "area") == static_cast<float>(game.score() + game.komi()), "area, " + game.text());
        const auto move = game.random_move(rng);
        if (!move) break;
        game.play(*move);
    }
}

/// Nakamura 2007's influence of a player, square by square.
int plain_influence(const BlokusDuo& game, const blokus::SquareSet& sources, auto&& is_open) {
    constexpr int size = BlokusDuo::size;
    std::vector<int> map(blokus::area);
    for (int square = 0; square < blokus::area; ++square)
        map[static_cast<std::size_t>(square)] = sources.contains(square);
    for (int dilation = 0; dilation < 4; ++dilation) {
        const std::vector<int> before = map;
        for (int square = 0; square < blokus::area; ++square) {
            if (!before[static_cast<std::size_t>(square)]) continue;
            const auto give = [&](bool on_board, int to) {
                if (on_board && is_open(game, to)) ++map[static_cast<std::size_t>(to)];
            };
            give(square >= size, square - size);
            give(square % size > 0, square - 1);
            give(square % size < size - 1, square + 1);
            give(square < blokus::area - size, square + size);
        }
    }
    int sum = 0;
    for (const int value : map) sum += value;
    return sum;
}

void check_blokus_influence() {
    constexpr Player players[] = {Player::first, Player::second};
    // A square in the open reaches 1, 5, 13, 25 squares, and each of them gives 4.
    expect(features::influence(BlokusDuo(), Player::first) == 1 + 4 * (1 + 5 + 13 + 25), "influence of a start square");

    const auto holds_piece = [](const BlokusDuo& game, int square) {
        return game.squares(Player::first).contains(square) || game.squares(Player::second).contains(square);
    };
    const auto beside_own = [](const BlokusDuo& game, Player player, int square) {
        const auto& own = game.squares(player);
        const int column = square % BlokusDuo::size;
        return (square >= BlokusDuo::size && own.contains(square - BlokusDuo::size)) ||
               (column > 0 && own.contains(square - 1)) || (column < BlokusDuo::size - 1 && own.contains(square + 1)) ||
               (square < blokus::area - BlokusDuo::size && own.contains(square + BlokusDuo::size));
    };
    Rng rng(3);
    BlokusDuo game;
    const LinearEvaluation<BlokusDuo> evaluation;
    while (!game.outcome()) {
        int expected[6] = {};
        for (const Player player : players) {
            const int sign = player == Player::first ? 1 : -1;
            blokus::SquareSet covered;
            for (int placement = 0; placement < blokus::placement_count; ++placement) {
                const auto& cells = blokus::placements().cells(placement);
                bool open = game.pieces_left(player) >> blokus::placements()[placement].piece & 1;
                blokus::for_each_square(cells, [&](int square) {
                    open = open && !holds_piece(game, square) && !beside_own(game, player, square);
                });
                if (open && cells.intersects(game.attaching(player))) covered |= cells;
            }
            int i = 0;
            for (const auto& sources : {game.attaching(player), covered}) {
                expected[i++] += sign * plain_influence(game, sources, [&](const BlokusDuo& at, int square) {
                                     return !holds_piece(at, square);
                                 });
                expected[i++] += sign * plain_influence(game, sources, [](const BlokusDuo&, int) { return true; });
                expected[i++] += sign * plain_influence(game, sources, [&](const BlokusDuo& at, int square) {
                                     return !holds_piece(at, square) && !beside_own(at, player, square);
                                 });
            }
        }
        const std::string where = game.text();
        constexpr const char* names[] = {"influence",
                                         "influence_unblocked",
                                         "influence_off_forbidden",
                                         "influence_of_coverable",
                                         "influence_of_coverable_unblocked",
                                         "influence_of_coverable_off_forbidden"};
        for (std::size_t i = 0; i < 6; ++i)
            expect(amount(game, names[i]) == static_cast<float>(expected[i]),
                   names[i] + std::string(" is the plain one, ") + where);
        expect(evaluation.score(game) == expected[3], "the default is the strongest reading, " + where);
        game.play(*game.random_move(rng));
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    check_game("chess", Chess(), 6, 200);
    check_game("shogi", Shogi(), 6, 200);
    check_game("shogi", Shogi::with_handicap("four-piece"), 1, 150);
    check_game("othello", Othello(), 10, 100);
    check_game("blokus_duo", BlokusDuo(), 2, 80);
    check_game("go3", Go<3>(), 10, 40);
    check_game("go9", Go<9>(), 3, 150);
    check_game("go19", Go<19>(), 1, 150);
    check_chess();
    check_shogi();
    check_othello();
    check_bouzy_by_hand();
    check_bouzy_against_twin<3>(20);
    check_bouzy_against_twin<9>(120);
    check_bouzy_against_twin<13>(100);
    check_blokus_influence();
    return report();
}
