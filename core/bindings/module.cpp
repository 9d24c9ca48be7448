// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "game.h"

namespace hyoka::bindings {
namespace {

/// Raises our own Python error, one clean line whatever text the message quotes: bytes of a character cut in two are
/// replaced, and so are control characters.
void raise(const char* type, const std::exception& error) {
    std::string text = error.what();
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
    nb::object message = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    PyErr_SetObject(nb::module_::import_("hyoka.foundation.errors").attr(type).ptr(), message.ptr());
}

void bind_vocabulary(nb::module_& module) {
    nb::enum_<Player>(module, "Player",
                      "Black in Go, shogi and Othello; White in chess; the first to move in Blokus Duo.")
        .value("first", Player::first)
        .value("second", Player::second)
        .def_prop_ro("other", [](Player player) { return other(player); });
    nb::enum_<Reason>(module, "Reason", "Why a game is over.")
        .value("score", Reason::score, "The board was counted.")
        .value("checkmate", Reason::checkmate)
        .value("stalemate", Reason::stalemate, "A draw in chess, lost in shogi.")
        .value("insufficient_material", Reason::insufficient_material)
        .value("move_rule", Reason::move_rule, "50 or 75 moves without capture or pawn move.")
        .value("repetition", Reason::repetition)
        .value("perpetual_check", Reason::perpetual_check, "The side that kept checking loses.")
        .value("declaration", Reason::declaration, "An entering king was declared.")
        .value("ply_limit", Reason::ply_limit);
    nb::class_<Outcome>(module, "Outcome", "How a game ended, and why.")
        .def(
            "__init__",
            [](Outcome* outcome, std::optional<Player> winner, Reason reason) {
                new (outcome) Outcome{winner ? win_for(*winner) : Result::draw, reason};
            },
            "winner"_a.none(), "reason"_a = Reason::score, "Outcome of a game written in Python; None: a draw.")
        .def_prop_ro(
            "winner",
            [](const Outcome& outcome) -> std::optional<Player> {
                if (outcome.result == Result::draw) return std::nullopt;
                return outcome.result == Result::first_wins ? Player::first : Player::second;
            },
            "None for a draw.")
        .def_prop_ro(
            "value", [](const Outcome& outcome) { return (static_cast<int>(outcome.result) + 1) / 2.0; },
            "The result for the first player: 1 won, 0.5 drawn, 0 lost.")
        .def_ro("reason", &Outcome::reason)
        .def("__getstate__",
             [](const Outcome& outcome) {
                 return std::tuple(static_cast<int>(outcome.result), static_cast<int>(outcome.reason));
             })
        .def("__setstate__",
             [](Outcome& outcome, const std::tuple<int, int>& state) {
                 const auto [result, reason] = state;
                 if (result < -1 || result > 1 || reason < 0 || reason > static_cast<int>(Reason::ply_limit))
                     throw nb::value_error("no such outcome");
                 new (&outcome) Outcome{static_cast<Result>(result), static_cast<Reason>(reason)};
             })
        .def(
            "__eq__",
            [](const Outcome& a, nb::object b) {
                return nb::isinstance<Outcome>(b) && a == nb::cast<const Outcome&>(b);
            },
            nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__",
             [](const Outcome& outcome) {
                 return 16 * static_cast<int>(outcome.result) + static_cast<int>(outcome.reason);
             })
        .def("__repr__", [](const Outcome& outcome) {
            const std::string who = outcome.result == Result::draw         ? "draw"
                                    : outcome.result == Result::first_wins ? "first player wins"
                                                                           : "second player wins";
            return "<Outcome " + who + " by " + nb::cast<std::string>(nb::cast(outcome.reason).attr("name")) + ">";
        });
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "The compiled core of Hyoka: five games, their rules and random playouts.";
    // Positions alive at interpreter exit are not reported as leaks.
    nb::set_leak_warnings(false);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const NotationError& error) {
            raise("NotationError", error);
        } catch (const IllegalMoveError& error) {
            raise("IllegalMoveError", error);
        }
    });
    bind_vocabulary(module);
    bind_small_go(module);
    bind_go(module);
    bind_othello(module);
    bind_chess(module);
    bind_shogi(module);
    bind_blokus_duo(module);
    bind_records(module);
    bind_analysis(module);
    bind_feature_rows(module);
    bind_pipes(module);
    bind_features(module);
    bind_bulk(module);
    bind_mets(module);
    bind_strengths(module);
    bind_sparse(module);
    bind_perceptrons(module);
    bind_network(module);
    bind_convolution(module);
    bind_knowledge(module);
    bind_search(module);
    bind_solvers(module);
}

}  // namespace hyoka::bindings
