# SPDX-License-Identifier: Apache-2.0
"""A game, ply by ply: the board, and what everybody said of it as lines over the plies."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

import hyoka as hk
from hyoka.analysis import value_text
from hyoka.apps.studio.blocks import board, chart, without_stops
from hyoka.apps.studio.forms import whole_number
from hyoka.apps.studio.pages import Room, address, fragment, page, wants_part
from hyoka.apps.studio.rooms.board.board_state import table_of
from hyoka.games import FACTS, game_facts
from hyoka.records import Record
from hyoka.reporting import COLORS, AltairChart, Table
from hyoka.reporting.charts import lines_over_plies

VALUE: Final = "value"
_MOST_LINES: Final = len(COLORS)
_BOARD: Final = 480
_CHART: Final = 450
"""Beside a board, and on a phone, its letters stay as large as others."""
_LEAST_SCORE, _MOST_SCORE = 300.0, 3000.0
"""Scores that a line reaches at least and at most: beyond, a game is decided."""


@dataclass(frozen=True)
class Line:
    """Evaluations of a game's positions by one evaluator or player."""

    name: str
    unit: str
    points: Sequence[tuple[int, float]]
    """Plies and values, the first player's; a mate is infinite."""

    def at(self, ply: int) -> str:
        """Its evaluation of a position."""
        values = [value for where, value in self.points if where == ply]
        return value_text(values[0], self.unit) if values else "–"


@dataclass(frozen=True)
class GameView:
    """A game to be looked through."""

    title: str
    record: Record
    ply: int
    lines: Sequence[Line]
    to: Callable[[int], str]
    """The address of each ply."""
    facts: Sequence[tuple[str, str]]
    back: tuple[str, str]
    """Words and address of where one came from."""
    neighbors: Sequence[tuple[str, str]] = ()
    """Words and addresses of other games."""
    source: tuple[str, int] | None = None
    """The study or match in the folder that has the game, and its number there."""

    @property
    def has_board(self) -> bool:
        """Whether the game is one that can be drawn."""
        return self.record.game in FACTS

    @property
    def board(self) -> Markup:
        """The position."""
        last = self.record.move_list[self.ply - 1] if self.ply else None
        return board(hk.diagram(self.record.position(self.ply), last=last), size=_BOARD)

    @property
    def on_board(self) -> str:
        """The address of the position in the room for playing on and analysis."""
        return table_of(self.record, self.ply).address

    @property
    def review(self) -> str:
        """The address of the game's review."""
        if self.source is None:
            table = table_of(self.record)
            where = {"game": table.game, "start": table.start, "moves": " ".join(table.moves)}
            return address("/review", **where, ply=self.ply)
        path, number = self.source
        return address("/review", path=path, number=number, ply=self.ply)

    @property
    def moves(self) -> list[str]:
        """All moves as texts."""
        return self.record.move_texts()

    @property
    def shown_lines(self) -> Sequence[Line]:
        """Those that a chart can tell apart."""
        return self.lines[:_MOST_LINES]

    @property
    def table(self) -> Table:
        """The lines in numbers."""
        rows = [
            (str(ply), *(line.at(ply) for line in self.lines))
            for ply in range(len(self.record) + 1)
        ]
        return Table("The lines in numbers", ("Ply", *(line.name for line in self.lines)), rows)

    @property
    def charts(self) -> list[Markup]:
        """A chart a unit. Its marks lead to their plies; the keyboard has the moves for that."""
        units = list(dict.fromkeys(line.unit for line in self.shown_lines if line.points))
        drawn = []
        for unit in units:
            lines = [line for line in self.shown_lines if line.unit == unit and line.points]
            names = ", ".join(line.name for line in lines)
            words = f"What {names} said over the {len(self.record)} plies ({unit})"
            picture = chart(_chart(lines, unit, self), words, most=_CHART)
            drawn.append(without_stops(picture))
        return drawn


def show_game(request: Request, room: Room, view: GameView) -> Response:
    """The page of a game, or the part of it that a ply changes."""
    if wants_part(request):
        return fragment("viewer/place.html", view=view)
    return page(request, room, "viewer/game.html", view=view)


def ply_of(request: Request, record: Record) -> int:
    """The ply that an address names, the end unless it does; raises ParameterError."""
    text = request.query_params.get("ply", "")
    if not text:
        return len(record)
    return whole_number(text, "ply", 0, len(record))


def result_of(record: Record) -> str:
    """End of a game in words."""
    if record.result is None:
        return "no result"
    players = (
        game_facts(record.game).naming.players if record.game in FACTS else ("first", "second")
    )
    words = "drawn" if record.result == 0.5 else f"{players[0 if record.result else 1]} won"
    return words if record.ending in ("unknown", "normal") else f"{words} ({record.ending})"


def _chart(lines: Sequence[Line], unit: str, view: GameView) -> AltairChart:
    is_value = unit == VALUE
    most = 1.0 if is_value else _reach(lines)
    names = [line.name for line in lines]
    rows: list[dict[str, Any]] = [
        {
            "line": line.name,
            "ply": ply,
            "value": value if is_value else max(-most, min(most, value)),
            "words": f"{line.name}; ply {ply}; {value_text(value, unit)}",
            "address": view.to(ply),
        }
        for line in lines
        for ply, value in line.points
    ]
    title = "first player's expected result" if is_value else f"{unit}, first player's view"
    reach = 0.0 if is_value else most
    plies = len(view.record)
    return lines_over_plies(rows, names=names, plies=plies, title=title, reach=reach)


def _reach(lines: Sequence[Line]) -> float:
    sizes = [abs(value) for line in lines for _, value in line.points if math.isfinite(value)]
    return min(max([_LEAST_SCORE / 100 if max(sizes, default=0) < 100 else _LEAST_SCORE, *sizes]),
               _MOST_SCORE)  # fmt: skip
