// SPDX-License-Identifier: Apache-2.0
#include "games/shogi.h"

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"

namespace hyoka::bindings {
namespace {

std::string square_name(int square) {
    return {static_cast<char>('1' + shogi::file_of(square)), static_cast<char>('a' + shogi::rank_of(square))};
}

int square_from(std::string_view name) {
    if (name.size() != 2 || name[0] < '1' || name[0] > '9' || name[1] < 'a' || name[1] > 'i')
        throw NotationError("not a square: '" + std::string(name) + "' (expected 1a to 9i)");
    return shogi::square_at(name[0] - '1', name[1] - 'a');
}

}  // namespace

void bind_shogi(nb::module_& module) {
    auto type = bind_game<Shogi>(
        module, "Shogi", "Shogi. Black (sente) is the first player; in a handicap game White moves first.", 9, 9);
    type.def(
            "__init__",
            [](Shogi& game, const std::string& handicap, bool declaration, int ply_limit) {
                if (ply_limit < 0 || ply_limit > 60000) throw nb::value_error("ply_limit must be 0 (none) to 60000");
                const Shogi start = handicap.empty() ? Shogi() : Shogi::with_handicap(handicap);
                new (&game) Shogi(start.with_rules({declaration, static_cast<std::uint16_t>(ply_limit)}));
            },
            nb::kw_only(), "handicap"_a = "", "declaration"_a = false, "ply_limit"_a = 0,
            "The start, or a handicap start by name; with or without the declaration of an entering king (27-point "
            "rule) and a limit of plies after which the game is drawn.")
        .def_static("handicap_names", &Shogi::handicap_names)
        .def(
            "with_rules",
            [](const Shogi& game, bool declaration, int ply_limit) {
                if (ply_limit < 0 || ply_limit > 60000) throw nb::value_error("ply_limit must be 0 (none) to 60000");
                return game.with_rules({declaration, static_cast<std::uint16_t>(ply_limit)});
            },
            nb::kw_only(), "declaration"_a = false, "ply_limit"_a = 0)
        .def_prop_ro("may_declare", &Shogi::may_declare, "Whether the side to move fulfils the 27-point rule.")
        .def(
            "csa", [](const Shogi& game, const MoveOrText<Shogi>& move) { return game.csa(to_legal_move(game, move)); },
            "move"_a)
        .def(
            "kif",
            [](const Shogi& game, const MoveOrText<Shogi>& move, std::optional<Shogi::Move> previous) {
                return game.kif(to_legal_move(game, move), previous);
            },
            "move"_a, "previous"_a = nb::none(), "The move as KIF writes it; 同 if `previous` went to the same square.")
        .def(
            "ki2",
            [](const Shogi& game, const MoveOrText<Shogi>& move, std::optional<Shogi::Move> previous) {
                return game.ki2(to_legal_move(game, move), previous);
            },
            "move"_a, "previous"_a = nb::none(), "The move as KI2 writes it, with the shortest hint that names it.")
        .def("parse_ki2", &Shogi::parse_ki2, "text"_a, "previous"_a = nb::none())
        .def("parse_kif", &Shogi::parse_kif, "text"_a, "previous"_a = nb::none())
        .def_prop_ro("in_check", &Shogi::in_check)
        .def_prop_ro("ply", &Shogi::ply)
        .def(
            "hand",
            [](const Shogi& game, Player player) {
                nb::dict hand;
                constexpr const char* letters = ".PLNSBRG";
                for (int kind = Shogi::rook; kind >= Shogi::pawn; --kind)
                    if (const int count = game.in_hand(player, static_cast<Shogi::Kind>(kind)))
                        hand[nb::str(letters + kind, 1)] = count;
                if (const int golds = game.in_hand(player, Shogi::gold)) hand["G"] = golds;
                return hand;
            },
            "player"_a, nb::sig("def hand(self, player: Player) -> dict[str, int]"),
            "The pieces in a player's hand: letter to number.")
        .def(
            "attackers",
            [](const Shogi& game, std::string_view square, Player player) {
                std::vector<std::string> names;
                for_each_bit(game.attackers(square_from(square), player),
                             [&](int s) { names.push_back(square_name(s)); });
                return names;
            },
            "square"_a, "player"_a, "The squares of the player's pieces that attack `square`.")
        .def(
            "see", [](const Shogi& game, const MoveOrText<Shogi>& move) { return game.see(to_legal_move(game, move)); },
            "move"_a,
            "Static exchange evaluation of a move, for the mover, in the piece values of Sato 2010's table 1.")
        .def_prop_ro_static(
            "exchange_values",
            [](nb::handle) { return std::vector<int>(Shogi::exchange_values.begin(), Shogi::exchange_values.end()); },
            "Values of pieces in `see`, by kind; the first stands for no piece.");
}

}  // namespace hyoka::bindings
