# SPDX-License-Identifier: Apache-2.0
"""Hyoka (評価, "evaluation"): a laboratory for game-tree search on game records.

>>> import hyoka as hk
>>> game = hk.Chess().play("e4").play("c5")
>>> game.to_play
Player.first
>>> hk.playouts(hk.Go9(komi=6.5), 1000, seed=1).value > 0.3
True
"""

from hyoka._core import (
    BlokusDuo,
    Chess,
    Go3,
    Go4,
    Go5,
    Go6,
    Go7,
    Go9,
    Go13,
    Go19,
    Othello,
    Outcome,
    Player,
    Reason,
    Shogi,
)
from hyoka.diagram import Diagram, diagram, svg, terminal
from hyoka.errors import Error, IllegalMoveError, NotationError
from hyoka.games import GAMES, Game, game_type, name_of, position
from hyoka.playouts import Playouts, playouts

__version__ = "0.1.0"

__all__ = [
    "GAMES",
    "BlokusDuo",
    "Chess",
    "Diagram",
    "Error",
    "Game",
    "Go3",
    "Go4",
    "Go5",
    "Go6",
    "Go7",
    "Go9",
    "Go13",
    "Go19",
    "IllegalMoveError",
    "NotationError",
    "Othello",
    "Outcome",
    "Player",
    "Playouts",
    "Reason",
    "Shogi",
    "diagram",
    "game_type",
    "name_of",
    "playouts",
    "position",
    "svg",
    "terminal",
]
