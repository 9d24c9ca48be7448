// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>

#include <algorithm>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "features/all.h"
#include "features/ladder.h"
#include "records/replay.h"

namespace hyoka::bindings {
namespace {

using namespace records;
using features::Column;
using features::Describer;

/// Which columns are asked for, and where.
struct Choice {
    std::uint64_t wanted = 0;
    std::vector<std::size_t> columns;
};

Choice choose(std::span<const Column> columns, const std::vector<std::string>& names) {
    Choice choice;
    for (const std::string& name : names) {
        const auto found =
            std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
        if (found == columns.end()) throw nb::key_error(name.c_str());
        const auto index = static_cast<std::size_t>(found - columns.begin());
        choice.wanted |= std::uint64_t{1} << index;
        choice.columns.push_back(index);
    }
    return choice;
}

using Codes = nb::ndarray<nb::numpy, const std::uint16_t, nb::ndim<1>, nb::c_contig>;
using Mask = nb::ndarray<nb::numpy, const bool, nb::ndim<1>, nb::c_contig>;

/// Cells by column, filled position by position.
class Cells {
public:
    Cells(const Choice& choice, std::size_t positions) : choice_(choice), to_play_(positions) {
        for (std::size_t i = 0; i < choice.columns.size(); ++i) columns_.emplace_back(positions);
    }
    template <class G>
    void add(Describer<G>& describer, const G& game) {
        describer.describe(game, choice_.wanted, row_.data());
        for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i][at_] = row_[choice_.columns[i]];
        to_play_[at_++] = game.to_play() == Player::first;
    }
    nb::dict arrays(std::span<const Column> columns) {
        nb::dict found;
        found["first_to_play"] = to_numpy(std::move(to_play_));
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string_view name = columns[choice_.columns[i]].name;
            found[nb::str(name.data(), name.size())] = to_numpy(std::move(columns_[i]));
        }
        return found;
    }

private:
    const Choice& choice_;
    std::vector<std::vector<std::int16_t>> columns_;
    std::vector<std::uint8_t> to_play_;
    std::array<std::int16_t, 64> row_{};
    std::size_t at_ = 0;
};

template <class G>
void describe_game(const G& start, std::span<const std::uint16_t> moves, Cells& cells) {
    G game = as_recorded(start);
    Describer<G> describer(game);
    cells.add(describer, game);
    for (const std::uint16_t code : moves) {
        const auto move = G::Move::from_code(code);
        if constexpr (is_go<G>)
            if (game.passes() >= 2) game = game.resumed();
        describer.play(game, move);
        game.play(move);
        cells.add(describer, game);
    }
}

template <int N>
void bind_ladders(nb::module_& module) {
    using G = Go<N>;
    module.def(
        "ladder_captures",
        [](const G& game, std::string_view point, bool attacker_first) {
            const auto stone = game.parse_move(point);
            const auto owner = stone == G::Move::pass() ? std::nullopt : game.owner(stone);
            if (!owner) throw IllegalMoveError("no stone on " + std::string(point) + " in " + game.text());
            return features::ladder_captures(game, stone, attacker_first ? other(*owner) : *owner);
        },
        "position"_a, "point"_a, "attacker_first"_a,
        "Whether a ladder captures the chain on a point, its attacker or its owner moving first.");
}

}  // namespace

void bind_features(nb::module_& module) {
    for_each_game([&]<class G>(std::type_identity<G>) {
        if constexpr (is_go<G>) bind_ladders<G::size>(module);
    });
    nb::class_<Column>(module, "Column", "A column that describes positions.")
        .def_prop_ro("name", [](const Column& column) { return std::string(column.name); })
        .def_prop_ro("doc", [](const Column& column) { return std::string(column.doc); })
        .def_prop_ro("kind",
                     [](const Column& column) {
                         constexpr std::array<const char*, 3> names = {"flag", "number", "category"};
                         return names[static_cast<std::size_t>(column.kind)];
                     })
        .def_ro("costly", &Column::costly)
        .def_prop_ro("labels", [](const Column& column) {
            return std::vector<std::string>(column.labels.begin(), column.labels.end());
        });
    module.def(
        "columns",
        [](std::string_view game) {
            return with_game(game_named(game), []<class G>(std::type_identity<G>) {
                const auto columns = Describer<G>::columns();
                return std::vector<Column>(columns.begin(), columns.end());
            });
        },
        "game"_a, "The columns that describe a game's positions.");
    module.def(
        "describe",
        [](std::string_view name, std::string_view start, double komi, const Codes& moves,
           const std::vector<std::string>& columns) {
            return with_game(game_named(name), [&]<class G>(std::type_identity<G>) {
                const auto all = Describer<G>::columns();
                const Choice choice = choose(all, columns);
                Cells cells(choice, moves.size() + 1);
                G game = as_recorded(start_position<G>(start, komi));
                for (std::size_t i = 0; i < moves.size(); ++i)
                    if (!play_recorded(game, checked_move<typename G::Move>(moves.data()[i])))
                        throw IllegalMoveError("illegal move at ply " + std::to_string(i + 1));
                describe_game(start_position<G>(start, komi), {moves.data(), moves.size()}, cells);
                return cells.arrays(all);
            });
        },
        "game"_a, "start"_a, "komi"_a, "moves"_a, "columns"_a,
        nb::sig("def describe(game: str, start: str, komi: float, moves: NDArray[numpy.uint16], columns: "
                "collections.abc.Sequence[str]) -> dict[str, NDArray[typing.Any]]"),
        "Columns of all positions of one game, from the start to after its last move.");
    module.def(
        "describe_table",
        [](const Table& table, const Mask& keep, const std::vector<std::string>& columns) {
            if (keep.size() != table.size()) throw nb::value_error("one flag a game is needed");
            std::optional<GameKind> kind;
            std::size_t positions = 0;
            for (std::size_t i = 0; i < table.size(); ++i) {
                if (!keep.data()[i]) continue;
                const auto of_game = static_cast<GameKind>(table.game[i]);
                if (kind && *kind != of_game) throw nb::value_error("games of different kinds");
                kind = of_game;
                positions += static_cast<std::size_t>(table.move_offsets[i + 1] - table.move_offsets[i]) + 1;
            }
            if (!kind) return nb::dict();
            return with_game(*kind, [&]<class G>(std::type_identity<G>) {
                const auto all = Describer<G>::columns();
                const Choice choice = choose(all, columns);
                Cells cells(choice, positions);
                {
                    nb::gil_scoped_release released;
                    for (std::size_t i = 0; i < table.size(); ++i)
                        if (keep.data()[i])
                            describe_game(start_position<G>(table.start_of(i), table.komi[i]), table.moves_of(i),
                                          cells);
                }
                return cells.arrays(all);
            });
        },
        "table"_a, "keep"_a, "columns"_a,
        nb::sig("def describe_table(table: Table, keep: NDArray[numpy.bool_], columns: "
                "collections.abc.Sequence[str]) -> dict[str, NDArray[typing.Any]]"),
        "Columns of all positions of the games that `keep` marks, which must be of one kind, game after game.");
}

}  // namespace hyoka::bindings
