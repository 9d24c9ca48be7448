# SPDX-License-Identifier: Apache-2.0
"""Quiescence in plain Python: captures and promotions that lose nothing, in check all evasions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import hyoka as hk
from hyoka.games import name_of

_LETTERS = ".PLNSBRG"
_KING = 20000  # kings are worth this or more
_MATED = -30000.0


def rest_value(
    game: Any,
    evaluate: Callable[[Any], float],
    reach: float = math.inf,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """What a position is worth to its side to move once captures have come to rest.

    `evaluate` is for the side to move; after `reach` plies it has the last word. All mates are
    alike.
    """
    if reach == 0:
        return evaluate(game)
    if game.outcome is not None:
        return 0.0 if game.outcome.value == 0.5 else _MATED
    best = -math.inf if game.in_check else evaluate(game)
    for move in game.legal_moves:
        if best >= high:
            break
        if game.in_check or (is_noisy(game, move) and game.see(move) >= 0):
            after = rest_value(game.play(move), evaluate, reach - 1, -high, -max(low, best))
            best = max(best, -after)
    return best


def is_noisy(game: Any, move: Any) -> bool:
    """Whether a move captures or promotes."""
    if np.count_nonzero(game.play(move).cells) < np.count_nonzero(game.cells):
        return True
    text = str(move)
    return text.endswith("+") if name_of(game) == "shogi" else len(text) == 5


def material(game: Any) -> int:
    """What the side to move has more than the other, by the values of exchanges; kings aside."""
    values = list(game.exchange_values)
    if name_of(game) == "chess":
        values = [0, *values]
    pieces = [int(cell) for cell in game.cells.flat if cell and values[abs(cell)] < _KING]
    balance: int = sum(values[cell] if cell > 0 else -values[-cell] for cell in pieces)
    if name_of(game) == "shogi":
        for sign, player in ((1, hk.Player.first), (-1, hk.Player.second)):
            for letter, count in game.hand(player).items():
                balance += sign * count * values[_LETTERS.index(letter)]
    return int(balance if game.to_play is hk.Player.first else -balance)


def root_penalties(game: Any, loss: str = "change") -> dict[int, float]:
    """Sato 2010's quiescence at the root: by code, how much of its win rate a move loses.

    `loss`: by the change of material since the root, or by the balance of material.
    """
    penalties = {}
    before = {"change": material(game), "balance": 0}[loss]
    for move in game.legal_moves:
        gain = -rest_value(game.play(move), material) - before
        lost = 0.15 if gain < -700 else 0.10 if gain < -420 else 0.05 if gain < -100 else 0.0
        penalties[move.code] = lost
    return penalties
