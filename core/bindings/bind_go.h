// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/bind_game.h"
#include "games/go.h"

namespace hyoka::bindings {

template <int N>
void bind_go_of_size(nb::module_& module, const char* name) {
    using G = Go<N>;
    using Move = typename G::Move;
    using Texts = std::vector<std::string>;
    nb::class_<G> type = bind_game<G>(
        module, name,
        "Go under area scoring: suicide is illegal, two passes end the game. Simple ko is part of the position, "
        "positional superko of a Line. Black is the first player.",
        N, N);
    type.def(nb::init<double, int>(), nb::kw_only(), "komi"_a = 7.5, "handicap"_a = 0,
             "An empty board, or Black's handicap stones on the usual points with White to play.")
        .def_static(
            "from_stones",
            [](const Texts& black, const Texts& white, Player to_play, double komi) {
                const auto points = [](const Texts& texts) {
                    std::vector<Move> moves;
                    for (const auto& text : texts) moves.push_back(G().parse_move(text));
                    return moves;
                };
                return G::from_stones(points(black), points(white), to_play, komi);
            },
            "black"_a, "white"_a, nb::kw_only(), "to_play"_a = Player::first, "komi"_a = 7.5,
            "A set-up position from points such as D4.")
        .def_prop_ro("komi", &G::komi)
        .def("with_komi", &G::with_komi, "komi"_a)
        .def("with_to_play", &G::with_to_play, "player"_a)
        .def_prop_ro("passes", &G::passes, "Passes just made in a row.")
        .def_prop_ro(
            "ko",
            [](const G& game) -> std::optional<Move> {
                if (game.ko() == Move::pass()) return std::nullopt;
                return game.ko();
            },
            "The point that simple ko forbids, if any.")
        .def(
            "liberties",
            [](const G& game, const MoveOrText<G>& point) {
                const Move move = to_move(game, point);
                return move == Move::pass() ? 0 : game.liberties(move);
            },
            "point"_a, "How many liberties the chain on `point` has; 0 if the point is empty.")
        .def(
            "chain_size",
            [](const G& game, const MoveOrText<G>& point) {
                const Move move = to_move(game, point);
                return move == Move::pass() ? 0 : game.chain_size(move);
            },
            "point"_a, "How many stones the chain on `point` has; 0 if the point is empty.")
        .def(
            "fills_own_eye",
            [](const G& game, const MoveOrText<G>& point) {
                const Move move = to_move(game, point);
                return move != Move::pass() && !game.owner(move) && game.fills_own_eye(move);
            },
            "point"_a, "Whether a stone of the player to move would fill an eye of that player's own.");
    nb::handle move_type = type.attr("Move");
    move_type.attr("sgf") =
        nb::cpp_function([](const Move& move) { return move.sgf(); }, nb::is_method(), nb::scope(move_type),
                         nb::name("sgf"), "The point as SGF writes it; empty for a pass.");
    type.attr("size") = nb::int_(N);
}

}  // namespace hyoka::bindings
