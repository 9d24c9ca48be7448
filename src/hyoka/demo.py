# SPDX-License-Identifier: Apache-2.0
"""A game of each kind, played by Monte Carlo against chance and drawn."""

import html
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hyoka.diagram import diagram, svg
from hyoka.files import write_text
from hyoka.games import Game, position
from hyoka.playouts import playouts
from hyoka.records import Record, Remark, write_records

DEMO_GAMES = ("go9", "othello", "chess", "shogi", "blokus_duo")
_PLY_LIMIT = 160
_SUFFIXES: Final = {"chess": ".pgn", "shogi": ".csa", "blokus_duo": ".blksgf"}


@dataclass(frozen=True)
class DemoGame:
    """One game of the demo, from its start to its end or the demo's limit of plies."""

    name: str
    line: Any
    """The whole game, as a `Line` of its kind."""
    values: dict[int, float]
    """By ply: what Monte Carlo thought of the position after its move, the first player's view."""

    @property
    def result(self) -> str:
        """How it ended, in words."""
        return f"{diagram(self.line).caption} {len(self.line)} plies."

    def record(self) -> Record:
        """The game as a record, with Monte Carlo's values as remarks."""
        outcome = self.line.outcome
        counted = outcome is not None and outcome.reason.name == "score"
        return Record(
            game=self.name,
            moves=np.array([move.code for move in self.line.moves], dtype=np.uint16),
            first="Monte Carlo",
            second="chance",
            event="Hyoka's demo",
            komi=self.line.start.komi if self.name.startswith("go") else None,
            result=None if outcome is None else outcome.value,
            ending="unfinished" if outcome is None else "normal",
            margin=self.line.score if counted else None,
            remarks=tuple(Remark(ply, value=value) for ply, value in self.values.items()),
        )


def monte_carlo_move(
    game: Game, *, playouts_a_move: int, seed: int, candidates: int = 24
) -> tuple[Any, float]:
    """The move after which random playouts go best for the side to move, and how well they go.

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

    values = [value(move) for move in moves]
    best = max(values)
    return moves[values.index(best)], best


def play_demo_game(
    name: str,
    *,
    seed: int = 1,
    playouts_a_move: int = 12,
) -> DemoGame:
    """Monte Carlo plays first, chance plays second; repeatable by seed."""
    line = position(name).line()
    values: dict[int, float] = {}
    while line.outcome is None and len(line) < _PLY_LIMIT:
        ply_seed = (seed * 1000 + len(line)) % 2**64
        if line.to_play.name == "first":
            move, value = monte_carlo_move(
                line.position, playouts_a_move=playouts_a_move, seed=ply_seed
            )
            if line.is_legal(move):
                values[len(line) + 1] = value
            else:  # superko forbids what the bare position allows
                move = line.random_move(ply_seed)
        else:
            move = line.random_move(ply_seed)
        line = line.play(move)
    return DemoGame(name, line, values)


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


def write_demo_records(games: list[DemoGame], folder: Path) -> list[Path]:
    """Write each game as a record in its notation, e.g. `chess.pgn`, and give the files."""
    files = []
    for game in games:
        files.append(folder / f"{game.name}{_SUFFIXES.get(game.name, '.sgf')}")
        write_records([game.record()], files[-1])
    return files


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
