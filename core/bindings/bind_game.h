// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "bindings/run_beside.h"
#include "game.h"
#include "line.h"
#include "perft.h"
#include "playout.h"

using namespace nb::literals;

namespace hyoka::bindings {

template <class T>
using Array = nb::ndarray<nb::numpy, T>;

/// Hands a vector's content to NumPy without copying it.
template <class T>
Array<T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(kept->data(), shape, owner);
}
template <class T>
Array<T> to_numpy(std::vector<T> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

/// A move given as such or as text.
template <class G>
using MoveOrText = std::variant<typename G::Move, std::string>;

template <class G>
typename G::Move to_move(const G& game, const MoveOrText<G>& move) {
    if (const auto* text = std::get_if<std::string>(&move)) return game.parse_move(*text);
    return std::get<typename G::Move>(move);
}

template <class G>
typename G::Move to_legal_move(const G& game, const MoveOrText<G>& given) {
    const auto move = to_move(game, given);
    if (!game.is_legal(move)) throw IllegalMoveError("illegal move " + move.text() + " in " + game.text());
    return move;
}

template <class Move>
void bind_move(nb::handle scope) {
    nb::class_<Move>(scope, "Move", "A move: a small value, equal and hashable by what it is.")
        .def("__str__", &Move::text)
        .def("__repr__", [](const Move& move) { return "<Move " + move.text() + ">"; })
        .def_prop_ro("code", &Move::code, "The number that stands for the move in arrays.")
        .def_static("from_code", &checked_move<Move>, "code"_a, "Raises NotationError if no move has this code.")
        .def(
            "__eq__",
            [](const Move& a, nb::object b) { return nb::isinstance<Move>(b) && a == nb::cast<const Move&>(b); },
            nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const Move& move) { return static_cast<Py_hash_t>(move.code()); })
        .def("__getstate__", &Move::code)
        .def("__setstate__", [](Move& move, std::uint32_t code) { new (&move) Move(checked_move<Move>(code)); });
}

/// Results (1, 0, -1), lengths, final scores, and whether each was over by the rules.
inline auto playout_arrays(const std::vector<PlayoutEnd>& ends) {
    std::vector<std::int8_t> results;
    std::vector<std::int32_t> lengths;
    std::vector<float> scores;
    std::vector<std::uint8_t> over;
    for (const PlayoutEnd& end : ends) {
        results.push_back(static_cast<std::int8_t>(result_of_score(end.score)));
        lengths.push_back(end.plies);
        scores.push_back(static_cast<float>(end.score));
        over.push_back(end.over ? 1 : 0);
    }
    return std::tuple(to_numpy(std::move(results)), to_numpy(std::move(lengths)), to_numpy(std::move(scores)),
                      to_numpy(std::move(over)));
}

/// Bindings shared by positions and lines.
template <Game G>
nb::class_<G> bind_rules(nb::handle scope, const char* name, const char* doc, int rows, int columns) {
    using Move = typename G::Move;
    const std::string type_name = name;
    nb::class_<G> type(scope, name, doc);
    type.def_prop_ro("to_play", &G::to_play, "The side to move.")
        .def_prop_ro("outcome", &G::outcome, "How the game ended, or None while it goes on.")
        .def_prop_ro("score", &G::score, "The score as the board stands, for the first player.")
        .def_prop_ro(
            "legal_moves",
            [](const G& game) {
                const auto moves = game.legal_moves();
                return std::vector<Move>(moves.begin(), moves.end());
            },
            "All legal moves; empty exactly when the game is over.")
        .def("count_moves", &G::count_moves, "How many legal moves there are.")
        .def(
            "is_legal",
            [](const G& game, const MoveOrText<G>& move) {
                // A text may name no move that could ever be made here; that is an answer, not an error.
                try {
                    return game.is_legal(to_move(game, move));
                } catch (const IllegalMoveError&) {
                    return false;
                }
            },
            "move"_a)
        .def(
            "play",
            [](const G& game, const MoveOrText<G>& move) {
                G after = game;
                after.play(to_legal_move(game, move));
                return after;
            },
            "move"_a, "The game after `move`, a move or its text. Raises IllegalMoveError.")
        .def(
            "random_move",
            [](const G& game, std::uint64_t seed) {
                Rng rng(seed);
                return game.random_move(rng);
            },
            "seed"_a, "Move of a random playout; None if the game is over.")
        .def(
            "parse", [](const G& game, std::string_view text) { return game.parse_move(text); }, "text"_a,
            "The move a text names, legal or not. Raises NotationError.")
        .def_prop_ro("hash", &G::hash, "64 bits; equal games have equal hashes.")
        .def_prop_ro("text", &G::text, "The game as one line of text; from_text reads it.")
        .def_static("from_text", &G::from_text, "text"_a)
        .def_prop_ro(
            "cells",
            [rows, columns](const G& game) {
                return to_numpy<std::int8_t>(game.cells(),
                                             {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
            },
            nb::rv_policy::move,
            "The board as drawn: 0 empty, positive the first player's pieces, negative the second's.")
        .def("check_consistency", &G::check_consistency, "Raises if anything kept incrementally is wrong (for tests).")
        .def(
            "undo_all",
            [](const G& game, const std::vector<Move>& moves) {
                G walked = game;
                std::vector<typename G::Undo> tokens;
                for (const Move move : moves) {
                    if (!walked.is_legal(move))
                        throw IllegalMoveError("illegal move " + move.text() + " in " + walked.text());
                    tokens.push_back(walked.play_undoable(move));
                }
                for (; !tokens.empty(); tokens.pop_back()) {
                    walked.undo(tokens.back());
                    walked.check_consistency();
                }
                return walked;
            },
            "moves"_a, "Plays the moves, takes them back one by one, and gives what is left (for tests).")
        .def("__str__", &G::text)
        .def("__repr__", [type_name](const G& game) { return "<" + type_name + " " + game.text() + ">"; })
        .def(
            "__eq__", [](const G& a, nb::object b) { return nb::isinstance<G>(b) && a == nb::cast<const G&>(b); },
            nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const G& game) { return static_cast<Py_hash_t>(game.hash() >> 2); })
        .def("__getstate__", &G::text)
        .def("__setstate__", [](G& game, const std::string& text) { new (&game) G(G::from_text(text)); })
        .def("movement_only", &for_perft<G>, "The game under the rules of movement alone: what tables of perft count.")
        .def(
            "perft",
            [](const G& game, int depth) {
                if (depth < 0 || depth > 99) throw nb::value_error("depth must be 0 to 99");
                std::uint64_t lines = 0;
                run_interruptibly([&](const std::atomic<bool>& stop) { lines = perft(for_perft(game), depth, &stop); });
                return lines;
            },
            "depth"_a, "How many lines of exactly `depth` moves start here. Ctrl-C works meanwhile.")
        .def(
            "playout_arrays",
            [](const G& game, std::size_t count, std::uint64_t seed, unsigned threads, std::optional<int> limit) {
                std::vector<PlayoutEnd> ends(count);
                run_interruptibly([&](const std::atomic<bool>& stop) {
                    play_out_many(game, ends, seed, limit.value_or(playout_limit<G>()), threads, stop);
                });
                return playout_arrays(ends);
            },
            "count"_a, "seed"_a, "threads"_a, "limit"_a.none(),
            "Results (1, 0, -1), lengths, final scores of random playouts, and whether they ended; see "
            "hyoka.search.playouts.");
    return type;
}

/// Binds a game, its moves and its lines of play: `hyoka.Chess`, `hyoka.Chess.Move`, `hyoka.Chess.Line`.
template <Game G>
nb::class_<G> bind_game(nb::module_& module, const char* name, const char* doc, int rows, int columns) {
    using Move = typename G::Move;
    nb::class_<G> type = bind_rules<G>(module, name, doc, rows, columns);
    bind_move<Move>(type);
    if constexpr (requires { G::symmetries; }) {
        type.attr("symmetries") = nb::int_(G::symmetries);
        type.def(
                "transformed",
                [](const G& game, int symmetry) {
                    if (symmetry < 0 || symmetry >= G::symmetries) throw nb::index_error("no such symmetry");
                    return game.transformed(symmetry);
                },
                "symmetry"_a, "The same game seen through one of the board's symmetries; 0 changes nothing.")
            .def_static(
                "transformed_move",
                [](Move move, int symmetry) {
                    if (symmetry < 0 || symmetry >= G::symmetries) throw nb::index_error("no such symmetry");
                    return G::transformed(move, symmetry);
                },
                "move"_a, "symmetry"_a);
    } else {
        type.attr("symmetries") = nb::int_(1);
    }
    using L = Line<G>;
    nb::class_<L> line = bind_rules<L>(
        type, "Line", "A game with its past, and so with the rules that look back. A value, too.", rows, columns);
    line.def(nb::init<const G&>(), "start"_a)
        .def_prop_ro("start", &L::start, nb::rv_policy::copy)
        .def_prop_ro("position", &L::position, nb::rv_policy::copy, "The position reached.")
        .def_prop_ro("moves", [](const L& l) { return std::vector<Move>(l.moves().begin(), l.moves().end()); })
        .def("__len__", [](const L& l) { return l.moves().size(); })
        .def(
            "undo",
            [](const L& l) {
                if (l.moves().empty()) throw nb::value_error("no move to take back");
                return l.without_last();
            },
            "The line without its last move.");
    type.def("line", [](const G& game) { return L(game); }, "The line of play that starts here, with no move yet.");
    return type;
}

}  // namespace hyoka::bindings
