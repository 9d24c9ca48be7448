# SPDX-License-Identifier: Apache-2.0
"""GTP commands for set-up, score and analysis (Leela Zero and KataGo dialects)."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Player
from hyoka.engines.server.gtp_board import Board, free_handicap, handicap
from hyoka.foundation.errors import Error, IllegalMoveError, NotationError
from hyoka.games import AnyMove, GoPosition, facts_of_size, game_facts
from hyoka.games.diagram import terminal
from hyoka.games.go import point_name, stones_of, without_passes
from hyoka.records.problems import load_sgf_past
from hyoka.search import MoveStats, SearchResult
from hyoka.storage.files import open_regular

PLAYOUTS: Final = 128
_LONGEST: Final = 3
"""The maximum length of a playout, in board areas."""


@dataclass(frozen=True, slots=True)
class Status:
    """The life-and-death status of a position of Go; points are written as moves."""

    alive: tuple[tuple[str, ...], ...]
    """Complete chains."""
    dead: tuple[tuple[str, ...], ...]
    score: float
    """By area without the dead stones, komi included, for Black."""


def judge(position: GoPosition, *, playouts: int = PLAYOUTS, seed: int = 1) -> Status:
    """Judge every chain: dead if its points go to the opponent in most playouts.

    Half of the playouts start with either color. Equal seeds give equal results.
    """
    cells = position.cells
    ownership = _ownership(position, playouts, seed)
    alive: list[tuple[str, ...]] = []
    dead: list[tuple[str, ...]] = []
    cleared = cells.copy()
    for chain in _chains(cells):
        color = int(cells[chain[0]])
        mean = float(np.mean([ownership[point] for point in chain])) * color
        (alive if mean >= 0 else dead).append(
            tuple(point_name(*point, position.size) for point in chain)
        )
        if mean < 0:
            for point in chain:
                cleared[point] = 0
    board = type(position).from_stones(*stones_of(cleared), komi=position.komi)
    return Status(tuple(alive), tuple(dead), float(board.score))


def _ownership(position: GoPosition, playouts: int, seed: int) -> NDArray[np.float64]:
    """Return each point's mean owner at the end of playouts: 1 Black, -1 White."""
    points = position.size**2
    total = np.zeros((position.size, position.size))
    for number in range(playouts):
        player = Player.first if number % 2 == 0 else Player.second
        game = without_passes(position.with_to_play(player))
        for ply in range(_LONGEST * points):
            if game.outcome is not None:
                break
            game = game.play(game.random_move(seed * 1_000_003 + number * 4096 + ply))
        total += _owned(game.cells)
    return total / playouts


def _owned(cells: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return stones, and the single-point eyes that a playout leaves."""
    owned = cells.astype(float)
    size = len(cells)
    for row, column in np.argwhere(cells == 0).tolist():
        near = {int(cells[point]) for point in _neighbors((row, column), size)} - {0}
        if len(near) == 1:
            owned[row, column] = near.pop()
    return owned


def _chains(cells: NDArray[np.int8]) -> list[list[tuple[int, int]]]:
    seen: set[tuple[int, int]] = set()
    chains = []
    for row, column in np.argwhere(cells != 0).tolist():
        if (row, column) in seen:
            continue
        chain, open_points = [], [(row, column)]
        seen.add((row, column))
        while open_points:
            point = open_points.pop()
            chain.append(point)
            for other in _neighbors(point, len(cells)):
                if other not in seen and cells[other] == cells[point]:
                    seen.add(other)
                    open_points.append(other)
        chains.append(sorted(chain))
    return chains


def _neighbors(point: tuple[int, int], size: int) -> list[tuple[int, int]]:
    row, column = point
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [(r, c) for r, c in around if 0 <= r < size and 0 <= c < size]


COLORS: Final = {
    "b": Player.first,
    "black": Player.first,
    "w": Player.second,
    "white": Player.second,
}
_CONFIDENCE: Final = 1.96


def color_of(words: Sequence[str]) -> Player:
    """Return the color of a command's first argument. Raises NotationError."""
    if not words or words[0].lower() not in COLORS:
        raise NotationError("syntax error")
    return COLORS[words[0].lower()]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The output of an analysis, and its interval."""

    style: str
    """`lz` or `kata`."""
    player: Player | None = None
    every_s: float = 0.5
    most_moves: int | None = None
    root: bool = False
    """Whether to add KataGo's `rootInfo`."""
    avoid: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    @classmethod
    def from_words(cls, style: str, words: Sequence[str]) -> "Analysis":
        """Read the arguments; unknown ones are ignored.

        >>> analysis = Analysis.from_words("kata", "b 50 rootInfo true ownership true".split())
        >>> analysis.player, analysis.every_s, analysis.root
        (Player.first, 0.5, True)
        """
        analysis = cls(style)
        left = list(words)
        if left and left[0].lower() in COLORS:
            analysis = replace(analysis, player=COLORS[left.pop(0).lower()])
        if left and left[0].isdecimal():
            left.insert(0, "interval")
        while len(left) >= 2:
            key, value = left.pop(0).lower(), left.pop(0)
            if key == "interval" and value.isdecimal():
                analysis = replace(analysis, every_s=max(0.01, int(value[:9]) / 100))
            elif key == "maxmoves" and value.isdecimal():
                analysis = replace(analysis, most_moves=int(value[:9]))
            elif key == "rootinfo":
                analysis = replace(analysis, root=value.lower() == "true")
            elif key in ("avoid", "allow") and left:
                # A color, points, and a number of plies: we apply it to the first move.
                points = tuple(filter(None, left.pop(0).split(",")))
                if left and left[0].isdecimal():
                    del left[0]
                if key == "avoid":
                    analysis = replace(analysis, avoid=(*analysis.avoid, *points))
                else:
                    analysis = replace(analysis, allow=(*analysis.allow, *points))
        return analysis

    def line(self, result: SearchResult, mover: Player) -> str:
        """Return all searched moves on one line; empty if there are none."""
        reports = [report for report in result.moves if report.visits > 0] or result.moves[:1]
        write = self._lz if self.style == "lz" else self._kata
        words = [
            write(report, mover, order)
            for order, report in enumerate(reports[: self.most_moves or None])
        ]
        if words and self.root and self.style == "kata":
            words.append(_root(result, mover))
        return " ".join(words)

    def _lz(self, report: MoveStats, mover: Player, order: int) -> str:
        value = _value_for(report.value, mover)
        lower = _lower_bound(value, report.visits)
        prior = "" if report.prior is None else f" prior {round(10_000 * report.prior)}"
        return (
            f"info move {report.move} visits {report.visits} winrate {round(10_000 * value)}"
            f"{prior} lcb {round(10_000 * lower)} order {order} pv {_pv(report)}"
        )

    def _kata(self, report: MoveStats, mover: Player, order: int) -> str:
        value = _value_for(report.value, mover)
        prior = "" if report.prior is None else f" prior {report.prior:.6f}"
        return (
            f"info move {report.move} visits {report.visits} utility {2 * value - 1:.6f} "
            f"winrate {value:.6f}{_lead(report.score, mover)}{prior} "
            f"lcb {_lower_bound(value, report.visits):.6f} order {order} pv {_pv(report)}"
        )


def _root(result: SearchResult, mover: Player) -> str:
    value = _value_for(result.value, mover)
    visits = result.playouts or result.nodes
    return (
        f"rootInfo visits {visits} utility {2 * value - 1:.6f} winrate {value:.6f}"
        f"{_lead(result.score if result.unit == 'points' else None, mover)}"
    )


def _lead(score: float | None, mover: Player) -> str:
    if score is None:
        return ""
    lead = score if mover is Player.first else -score
    return f" scoreMean {lead:.3f} scoreLead {lead:.3f}"


def _value_for(value: float | None, mover: Player) -> float:
    """Return the first player's value in the mover's view; a half if unknown."""
    if value is None:
        return 0.5
    return value if mover is Player.first else 1 - value


def _lower_bound(value: float, visits: int) -> float:
    """Return the lower end of a 95 % interval in the normal approximation."""
    error = _CONFIDENCE * math.sqrt(max(value * (1 - value), 1e-4) / max(1, visits))
    return max(0.0, value - error)


def _pv(report: MoveStats) -> str:
    moves: tuple[AnyMove, ...] = report.pv or (report.move,)
    return " ".join(map(str, moves))


_LARGEST_SGF: Final = 16 << 20
_MOST_HANDICAP: Final = 9

Command = Callable[[list[str]], str | None]
"""Takes the arguments and returns the answer; None if it has answered already."""


class SetUp:
    """The board commands; `new_game` is called when another game begins."""

    def __init__(self, board: Board, new_game: Callable[[], None]) -> None:
        self._board = board
        self._new_game = new_game

    def commands(self) -> dict[str, Command]:
        """The commands by name: Go has more."""
        available: dict[str, Command] = {
            "set_game": self._set_game,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "undo": self._undo,
            "showboard": lambda words: "\n" + terminal(self._board.line, ascii=True),
            "final_score": self._final_score,
        }
        if self._board.is_go:
            available |= {
                "fixed_handicap": self._fixed_handicap,
                "place_free_handicap": self._place_free_handicap,
                "set_free_handicap": self._set_free_handicap,
                "loadsgf": self._loadsgf,
                "final_status_list": self._final_status_list,
            }
        return available

    def _changed(self) -> str:
        self._new_game()
        return ""

    def _set_game(self, words: list[str]) -> str:
        facts = game_facts(" ".join(words) or "?")
        if facts.formats.protocol != "gtp":
            raise NotationError("unsupported game")
        self._board.change_game(facts.name)
        return self._changed()

    def _boardsize(self, words: list[str]) -> str:
        if len(words) != 1 or not words[0].isdecimal():
            raise NotationError("syntax error")
        facts = facts_of_size(self._board.facts.family, words[0])
        if facts is None:
            raise NotationError("unacceptable size")
        self._board.change_game(facts.name)
        return self._changed()

    def _clear_board(self, words: list[str]) -> str:
        self._board.clear()
        return self._changed()

    def _komi(self, words: list[str]) -> str:
        if len(words) != 1 or not re.fullmatch(r"[+-]?[0-9]{0,4}\.?[0-9]{0,6}", words[0]):
            raise NotationError("syntax error")
        try:
            self._board.set_komi(float(words[0]))
        except ValueError:
            raise NotationError("syntax error") from None
        return ""

    def _play(self, words: list[str]) -> str:
        player = color_of(words)
        try:
            self._board.play(player, " ".join(words[1:]))
        except IllegalMoveError:
            raise IllegalMoveError("illegal move") from None
        except (NotationError, TypeError):
            raise NotationError("syntax error") from None
        return ""

    def _undo(self, words: list[str]) -> str:
        try:
            self._board.undo()
        except IllegalMoveError:
            raise IllegalMoveError("cannot undo") from None
        return ""

    def _empty_board(self) -> tuple[str, float]:
        if not self._board.is_empty:
            raise IllegalMoveError("board not empty")
        return self._board.game, self._board.go_position.komi

    def _fixed_handicap(self, words: list[str]) -> str:
        stones = int(words[0][:6]) if len(words) == 1 and words[0].isdecimal() else 0
        game, komi = self._empty_board()
        self._board.set_up(handicap(game, komi, stones))
        return " ".join(stones_of(self._board.position.cells)[0])

    def _place_free_handicap(self, words: list[str]) -> str:
        most_stones = int(words[0][:6]) if len(words) == 1 and words[0].isdecimal() else 0
        game, komi = self._empty_board()
        # An engine may place fewer stones than requested.
        for stones in range(min(most_stones, _MOST_HANDICAP), 1, -1):
            try:
                self._board.set_up(handicap(game, komi, stones))
            except NotationError:
                continue
            return " ".join(stones_of(self._board.position.cells)[0])
        raise NotationError("invalid number of stones")

    def _set_free_handicap(self, words: list[str]) -> str:
        game, komi = self._empty_board()
        try:
            self._board.set_up(free_handicap(game, komi, words))
        except (Error, TypeError):
            raise NotationError("bad vertex list") from None
        return ""

    def _loadsgf(self, words: list[str]) -> str:
        number = None
        if len(words) > 1 and words[-1].isdecimal():
            number = int(words.pop()[:6]) or None
        try:
            with open_regular(" ".join(words)) as file:
                past = load_sgf_past(file.read(_LARGEST_SGF), number)
        except (Error, OSError, ValueError) as error:
            raise NotationError(f"cannot load file: {error}") from None
        self._board.set_line(past.line())
        return self._changed()

    def _final_score(self, words: list[str]) -> str:
        board = self._board
        score = judge(board.go_position).score if board.is_go else board.position.score
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def _final_status_list(self, words: list[str]) -> str:
        if len(words) != 1 or words[0] not in ("alive", "seki", "dead"):
            raise NotationError("syntax error")
        if words[0] == "seki":
            return ""
        status = judge(self._board.go_position)
        chains = status.alive if words[0] == "alive" else status.dead
        return "\n".join(" ".join(chain) for chain in chains)
