# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

import pytest

import hyoka as hk
from hyoka.games import name_of


def test_all_errors_of_ours_have_one_root_and_are_value_errors() -> None:
    for kind in (hk.errors.NotationError, hk.errors.IllegalMoveError):
        assert issubclass(kind, hk.Error)
        assert issubclass(kind, ValueError)
    assert not issubclass(hk.errors.NotationError, hk.errors.IllegalMoveError)


@pytest.mark.parametrize(
    ("kind", "attempt", "words"),
    [
        (hk.errors.NotationError, lambda: hk.Chess().play("zz"), ["chess", "'zz'", "UCI", "SAN"]),
        (
            hk.errors.IllegalMoveError,
            lambda: hk.Chess().play("e5"),
            ["illegal", "e5", hk.Chess().text],
        ),
        (hk.errors.IllegalMoveError, lambda: hk.Chess().play("e2e5"), ["illegal", "e2e5"]),
        (hk.errors.NotationError, lambda: hk.Chess.from_text("8/8 w"), ["FEN", "'8/8 w'"]),
        (hk.errors.NotationError, lambda: hk.Shogi().play("7777"), ["shogi", "'7777'", "USI"]),
        (hk.errors.IllegalMoveError, lambda: hk.Shogi().play("5i5e"), ["illegal", "5i5e"]),
        (hk.errors.NotationError, lambda: hk.Shogi.from_text("9/9 b -"), ["SFEN", "'9/9 b -'"]),
        (hk.errors.NotationError, lambda: hk.Go9().play("Z9"), ["9x9", "'Z9'"]),
        (hk.errors.IllegalMoveError, lambda: hk.Go9().play("E5").play("E5"), ["illegal", "E5"]),
        (hk.errors.NotationError, lambda: hk.Go9.from_text("9 b"), ["Go", "'9 b'", hk.Go9().text]),
        (hk.errors.NotationError, lambda: hk.Othello().play("z1"), ["Othello", "'z1'", "a1 to h8"]),
        (hk.errors.IllegalMoveError, lambda: hk.Othello().play("a1"), ["illegal", "a1"]),
        (
            hk.errors.NotationError,
            lambda: hk.Othello.from_text("X"),
            ["Othello", hk.Othello().text],
        ),
        (hk.errors.NotationError, lambda: hk.BlokusDuo().play("z1"), ["Blokus Duo", "'z1'"]),
        (hk.errors.IllegalMoveError, lambda: hk.BlokusDuo().play("a1"), ["illegal", "a1"]),
        (
            hk.errors.NotationError,
            lambda: hk.BlokusDuo.from_text("14 x"),
            ["Blokus Duo", "'14'", "14 rows"],
        ),
        (
            hk.errors.IllegalMoveError,
            lambda: hk.Chess.Line.from_text(f"{hk.Chess().text} moves e2e4 e2e4"),
            ["e2e4", "ply 2"],
        ),
    ],
)
def test_a_refusal_is_one_line_that_names_what_was_wrong(
    kind: type[Exception], attempt: Callable[[], Any], words: list[str]
) -> None:
    with pytest.raises(kind) as refused:
        attempt()
    message = str(refused.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "game", [hk.Chess(), hk.Shogi(), hk.Go9(), hk.Othello(), hk.BlokusDuo()], ids=name_of
)
@pytest.mark.parametrize("text", ["two\nlines", "a\rb\x1b[31m", "nul\0"])
def test_a_refusal_stays_one_line_whatever_was_given(game: Any, text: str) -> None:
    for attempt in (type(game).from_text, game.parse, game.play):
        with pytest.raises(hk.errors.NotationError) as refused:
            attempt(text)
        assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "game", [hk.Chess(), hk.Shogi(), hk.Go9(), hk.Othello(), hk.BlokusDuo()], ids=name_of
)
def test_what_is_no_text_and_no_move_is_a_type_error(game: Any) -> None:
    for wrong in (None, 7, 1.5, b"e4"):
        with pytest.raises(TypeError):
            game.play(wrong)
        with pytest.raises(TypeError):
            type(game).from_text(wrong)


def test_moves_of_another_game_are_a_type_error() -> None:
    with pytest.raises(TypeError):
        hk.Chess().play(hk.Othello().legal_moves[0])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        hk.Go9().play(hk.Go13().legal_moves[0])  # type: ignore[arg-type]
