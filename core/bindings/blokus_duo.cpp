// SPDX-License-Identifier: Apache-2.0
#include "games/blokus_duo.h"

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"

namespace hyoka::bindings {

void bind_blokus_duo(nb::module_& module) {
    using Move = BlokusDuo::Move;
    auto type = bind_game<BlokusDuo>(
        module, "BlokusDuo", "Blokus Duo: the first player starts on e10, the second on j5; more squares laid wins.",
        14, 14);
    type.def(nb::init<bool>(), nb::kw_only(), "bonus"_a = false,
             "The empty board; with `bonus`, 15 points for laying all pieces and 5 more for the single square last.")
        .def_prop_ro("bonus", &BlokusDuo::bonus)
        .def(
            "pieces_left",
            [](const BlokusDuo& game, Player player) {
                std::string letters;
                for_each_bit(std::uint64_t{game.pieces_left(player)},
                             [&](int piece) { letters += static_cast<char>('a' + piece); });
                return letters;
            },
            "player"_a, "The letters (a to u) of the pieces not yet laid.")
        .def(
            "attaching",
            [](const BlokusDuo& game, Player player) {
                std::vector<std::int8_t> marks(blokus::area, 0);
                for_each_square(game.attaching(player),
                                [&](int square) { marks[static_cast<std::size_t>(square)] = 1; });
                return to_numpy<std::int8_t>(std::move(marks), {14, 14});
            },
            "player"_a, "1 on each square where the player's next piece may attach, else 0.");
    nb::handle move_type = type.attr("Move");
    move_type.attr("short_code") =
        nb::cpp_function([](const Move& move) { return move.short_code(); }, nb::is_method(), nb::scope(move_type),
                         nb::name("short_code"), "The 4-character code, such as 66r0.");
}

}  // namespace hyoka::bindings
