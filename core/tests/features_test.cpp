// SPDX-License-Identifier: Apache-2.0
// Feature columns over random games: cells within what their columns promise, the same however they are asked for,
// and what becomes of them when the board is turned or the colors are swapped. Ladders known by heart.
// Runs under AddressSanitizer and UBSan in `make sanitize`.
#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "features/blokus_duo.h"
#include "features/chess.h"
#include "features/go.h"
#include "features/ladder.h"
#include "features/othello.h"
#include "features/shogi.h"
#include "tests/colors.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using features::Column;
using features::Describer;

constexpr std::uint64_t all_columns = ~std::uint64_t{0};
constexpr std::int16_t untouched = std::numeric_limits<std::int16_t>::min();
using Cells = std::vector<std::int16_t>;

template <class G>
Cells describe(Describer<G>& describer, const G& game, std::uint64_t wanted = all_columns) {
    Cells cells(Describer<G>::columns().size(), untouched);
    describer.describe(game, wanted, cells.data());
    return cells;
}

template <class G>
Cells describe_afresh(const G& game) {
    Describer<G> describer(game);
    return describe(describer, game);
}

template <class G>
std::size_t index_of_column(std::string_view name) {
    const auto columns = Describer<G>::columns();
    const auto found = std::ranges::find(columns, name, &Column::name);
    expect(found != columns.end(), "there is a column " + std::string(name));
    return static_cast<std::size_t>(found - columns.begin());
}

template <class G>
void check_columns(const std::string& game) {
    std::set<std::string_view> names;
    for (const Column& column : Describer<G>::columns()) {
        const std::string what = game + "'s column " + std::string(column.name);
        expect(names.insert(column.name).second, what + " has a name of its own");
        expect(std::ranges::all_of(column.name, [](char c) { return std::islower(c) || c == '_'; }),
               what + " is lower_snake");
        expect(column.doc.ends_with('.'), what + " says what it is");
        expect((column.kind == Column::Kind::category) == !column.labels.empty(), what + " has labels if a category");
    }
    expect(names.size() <= 64, game + "'s columns fit a mask");
}

template <class G>
void check_ranges(const Cells& cells, const std::string& where) {
    const auto columns = Describer<G>::columns();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const int most = columns[i].kind == Column::Kind::flag ? 1 : static_cast<int>(columns[i].labels.size()) - 1;
        const bool fits =
            columns[i].kind == Column::Kind::number ? cells[i] != untouched : cells[i] >= 0 && cells[i] <= most;
        expect(fits, std::string(columns[i].name) + " is within its range, " + where);
    }
}

/// Some of the cells, asked for alone, are the same, and the others are left as they were.
template <class G>
void check_wanted(Describer<G>& describer, const G& game, const Cells& all, std::uint64_t wanted,
                  const std::string& where) {
    const Cells some = describe(describer, game, wanted);
    for (std::size_t i = 0; i < all.size(); ++i)
        expect(some[i] == (wanted >> i & 1 ? all[i] : untouched), "cells come alone as together, " + where);
}

/// The board turned and mirrored is described alike, but for what looks at the start position.
template <class G>
void check_symmetries(const G& game, const std::string& where) {
    if constexpr (requires { G::symmetries; }) {
        Cells expected = describe_afresh(game);
        for (int symmetry = 1; symmetry < G::symmetries; ++symmetry) {
            Cells cells = describe_afresh(game.transformed(symmetry));
            if constexpr (std::is_same_v<G, Shogi>) {
                const auto progress = index_of_column<G>("progress");
                cells[progress] = expected[progress];
            }
            expect(cells == expected, "symmetry " + std::to_string(symmetry) + " changes nothing, " + where);
        }
    }
}

std::string name_with_colors_swapped(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> sides[] = {{"black_", "white_"}, {"first_", "second_"}};
    for (const auto& [one, two] : sides) {
        if (name.starts_with(one)) return std::string(two) + std::string(name.substr(one.size()));
        if (name.starts_with(two)) return std::string(one) + std::string(name.substr(two.size()));
    }
    return std::string(name);
}

/// With the colors swapped each side's columns change places and differences change their sign.
template <class G>
void check_colors(const G& game, const std::set<std::string_view>& differences, const std::string& where) {
    const auto columns = Describer<G>::columns();
    const Cells cells = describe_afresh(game);
    const Cells others = describe_afresh(swapped(game));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const int expected = cells[index_of_column<G>(name_with_colors_swapped(columns[i].name))];
        expect(others[i] == (differences.contains(columns[i].name) ? -expected : expected),
               std::string(columns[i].name) + " is fair to both colors, " + where);
    }
}

template <class G>
void check_game(const std::string& name, const G& start, int games, int plies,
                const std::set<std::string_view>& differences) {
    check_columns<G>(name);
    for (int seed = 0; seed < games; ++seed) {
        Rng rng(static_cast<std::uint64_t>(seed));
        G game = start;
        Describer<G> describer(start);
        for (int ply = 0; ply < plies; ++ply) {
            const std::string where = name + " after " + std::to_string(ply) + " plies: " + game.text();
            const Cells cells = describe(describer, game);
            check_ranges<G>(cells, where);
            check_wanted(describer, game, cells, rng.bits(), where);
            check_wanted(describer, game, cells, std::uint64_t{1} << rng.below(64), where);
            check_symmetries(game, where);
            check_colors(game, differences, where);
            const auto move = game.random_move(rng);
            if (!move) break;
            describer.play(game, *move);
            game.play(*move);
        }
    }
}

template <int N>
void expect_ladder(std::string_view text, std::string_view stone, Player first, bool captured, const char* what) {
    const auto game = Go<N>::from_text(text);
    const auto point = game.parse_move(stone);
    expect(features::ladder_captures(game, point, first) == captured, what);
}

void check_ladders() {
    constexpr Player black = Player::first;
    constexpr Player white = Player::second;
    constexpr auto open = "7/7/7/2O4/1OX4/2OO3/7 b - 0 7.5";
    expect_ladder<7>(open, "C3", black, true, "a ladder across an empty board");
    expect_ladder<7>(open, "C3", white, true, "a chain in atari is taken");
    expect_ladder<7>("7/5X1/7/2O4/1OX4/2OO3/7 b - 0 7.5", "C3", black, false, "a stone in the way breaks it");
    constexpr auto two_liberties = "7/7/7/2O4/1OX4/2O4/7 w - 0 7.5";
    expect_ladder<7>(two_liberties, "C3", black, false, "two liberties and the move are enough");
    expect_ladder<5>("5/1O3/1XO2/1O3/5 b - 0 7.5", "B3", black, true, "along the edge");
    expect_ladder<7>("7/7/7/1XO4/1OX4/2OO3/7 b - 0 7.5", "C3", black, false, "a ladder stone is captured");
    constexpr auto ko = "5/1OX2/O1OX1/1OX2/5 b - 0 7.5";
    expect_ladder<5>(ko, "C3", black, false, "a stone that only a ko takes is not captured");
}

void check_captured_stones() {
    Go<5> game = Go<5>::from_text("5/5/OX3/5/5 b - 0 7.5");
    Describer<Go<5>> describer(game);
    for (const auto text : {"A4", "E5", "A2"}) {
        const auto move = game.parse_move(text);
        describer.play(game, move);
        game.play(move);
    }
    const Cells cells = describe(describer, game);
    expect(cells[index_of_column<Go<5>>("white_captured")] == 1, "a captured stone is counted");
    expect(cells[index_of_column<Go<5>>("black_captured")] == 0, "and for the side that lost it");
}

void check_castles() {
    const auto castle = [](std::string_view sfen, std::string_view column) {
        const auto index = index_of_column<Shogi>(column);
        const auto cells = describe_afresh(Shogi::from_text(sfen));
        return Describer<Shogi>::columns()[index].labels[static_cast<std::size_t>(cells[index])];
    };
    expect(castle(Shogi().text(), "black_castle") == "igyoku", "a king at home");
    constexpr auto two = "lk7/ls7/9/9/9/9/2SG5/1KG6/9 b - 1";
    expect(castle(two, "black_castle") == "yagura", "a yagura");
    expect(castle(two, "white_castle") == "none", "the lance of an anaguma stands before the king");
    expect(castle("kl7/9/9/9/9/9/9/6SK1/5G3 b - 1", "black_castle") == "kata_mino", "half a mino");
    expect(castle("8k/7sl/9/9/9/9/9/9/4K4 b - 1", "white_castle") == "anaguma", "an anaguma");
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    const std::set<std::string_view> of_go = {"ladder", "running_ladder", "area"};
    check_game("go3", Go<3>(), 20, 60, of_go);
    check_game("go5", Go<5>(), 10, 120, of_go);
    check_game("go9", Go<9>(), 3, 200, of_go);
    check_game("go19", Go<19>(), 1, 150, of_go);
    check_game("othello", Othello(), 10, 100,
               {"disc_diff", "mobility", "corners", "x_squares", "frontier", "stable_edge"});
    check_game("chess", Chess(), 4, 250,
               {"material", "mobility", "bishop_mobility", "bishop_development", "bishop_pair", "king_danger_diff",
                "passed", "isolated", "doubled"});
    check_game("shogi", Shogi(), 4, 250, {"material", "king_danger_diff"});
    check_game("shogi", Shogi::with_handicap("four-piece"), 1, 150, {"material", "king_danger_diff"});
    check_game("blokus_duo", BlokusDuo(), 2, 80, {"squares", "attaching", "influence", "mobility"});
    check_ladders();
    check_captured_stones();
    check_castles();
    return report();
}
