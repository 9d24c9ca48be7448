// SPDX-License-Identifier: Apache-2.0
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
}

}  // namespace hyoka::bindings
