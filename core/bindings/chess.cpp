// SPDX-License-Identifier: Apache-2.0
#include "games/chess.h"

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"

namespace hyoka::bindings {
namespace {

std::string square_name(int square) {
    return {static_cast<char>('a' + chess::file_of(square)), static_cast<char>('1' + chess::rank_of(square))};
}

int square_from(std::string_view name) {
    if (name.size() != 2 || name[0] < 'a' || name[0] > 'h' || name[1] < '1' || name[1] > '8')
        throw NotationError("not a square: '" + std::string(name) + "' (expected a1 to h8)");
    return 8 * (name[1] - '1') + name[0] - 'a';
}

}  // namespace

void bind_chess(nb::module_& module) {
    auto type = bind_game<Chess>(module, "Chess",
                                 "Chess by FIDE's rules, and Chess960's castling. White is the first player.", 8, 8);
    nb::enum_<Chess::Draws>(type, "Draws", "Which draws end a game.")
        .value("claimed", Chess::Draws::claimed, "Threefold repetition and 50 moves, as if always claimed.")
        .value("automatic", Chess::Draws::automatic, "Fivefold repetition and 75 moves.")
        .value("ignored", Chess::Draws::ignored, "None but stalemate.");
    type.def(nb::init<>())
        .def(
            "san", [](const Chess& game, const MoveOrText<Chess>& move) { return game.san(to_legal_move(game, move)); },
            "move"_a, "The move in standard algebraic notation.")
        .def_prop_ro("draws", &Chess::draws)
        .def("with_draws", &Chess::with_draws, "draws"_a)
        .def_prop_ro("in_check", &Chess::in_check)
        .def_prop_ro("ply", &Chess::ply, "Plies since the start, by the move number.")
        .def_prop_ro("halfmove_clock", &Chess::halfmove_clock)
        .def(
            "attackers",
            [](const Chess& game, std::string_view square, Player player) {
                std::vector<std::string> names;
                for_each_bit(game.attackers(square_from(square), player),
                             [&](int s) { names.push_back(square_name(s)); });
                return names;
            },
            "square"_a, "player"_a, "The squares of the player's pieces that attack `square`.")
        .def(
            "see", [](const Chess& game, const MoveOrText<Chess>& move) { return game.see(to_legal_move(game, move)); },
            "move"_a, "Static exchange evaluation of a move, in centipawns for the mover.")
        .def_prop_ro_static(
            "exchange_values",
            [](nb::handle) { return std::vector<int>(Chess::exchange_values.begin(), Chess::exchange_values.end()); },
            "Values of pieces in `see`, by kind.");
}

}  // namespace hyoka::bindings
