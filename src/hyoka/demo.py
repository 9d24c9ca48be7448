# SPDX-License-Identifier: Apache-2.0
"""A game of each kind, played by Monte Carlo against chance and drawn."""

import html
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyoka.diagram import diagram, svg
from hyoka.files import write_text
from hyoka.games import Game, position
from hyoka.playouts import playouts

DEMO_GAMES = ("go9", "othello", "chess", "shogi", "blokus_duo")
_PLY_LIMIT = 160


@dataclass(frozen=True)
class DemoGame:
    """One game of the demo, from its start to its end or the demo's limit of plies."""

    name: str
    line: Any
    """The whole game, as a `Line` of its kind."""

    @property
    def result(self) -> str:
        """How it ended, in words."""
        return f"{diagram(self.line).caption} {len(self.line)} plies."


def monte_carlo_move(game: Game, *, playouts_a_move: int, seed: int, candidates: int = 24) -> Any:
    """The move after which random playouts go best for the side to move.

    Looks at no more than `candidates` moves, drawn at random where there are more.
    """
    chooser = random.Random(seed)
    moves = list(game.legal_moves)
    if len(moves) > candidates:
        moves = chooser.sample(moves, candidates)
    first = game.to_play.name == "first"

    def value(move: Any) -> float:
        mean = playouts(game.play(move), playouts_a_move, seed=seed).value
        return mean if first else 1 - mean

    return max(moves, key=value)


def play_demo_game(
    name: str,
    *,
    seed: int = 1,
    playouts_a_move: int = 12,
) -> DemoGame:
    """Monte Carlo plays first, chance plays second; repeatable by seed."""
    line = position(name).line()
    while line.outcome is None and len(line) < _PLY_LIMIT:
        ply_seed = (seed * 1000 + len(line)) % 2**64
        if line.to_play.name == "first":
            move = monte_carlo_move(line.position, playouts_a_move=playouts_a_move, seed=ply_seed)
            if not line.is_legal(move):  # superko forbids what the bare position allows
                move = line.random_move(ply_seed)
        else:
            move = line.random_move(ply_seed)
        line = line.play(move)
    return DemoGame(name, line)


def _figure(game: DemoGame) -> str:
    picture = diagram(game.line)
    board = svg(replace(picture, caption=""))
    words = f"<strong>{html.escape(picture.title)}</strong>: {html.escape(game.result)}"
    return f"<figure>{board}<figcaption>{words}</figcaption></figure>"


def write_page(games: list[DemoGame], path: Path) -> None:
    """Write one HTML page with the final boards; it opens offline."""
    figures = "\n".join(_figure(game) for game in games)
    page = _PAGE.replace("{{figures}}", figures)
    write_text(path, page)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hyoka: a game of each kind</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem;
         padding: 0 1rem; }
  main { display: grid; gap: 2rem; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); }
  figure { margin: 0; }
  figure svg { height: auto; width: 100%; }
  figcaption { margin-top: .5rem; }
</style>
<h1>A game of each kind</h1>
<p>Monte Carlo plays first, by a few random playouts a candidate move; chance plays second.
The ring or shade marks the last move.</p>
<main>
{{figures}}
</main>
</html>
"""
