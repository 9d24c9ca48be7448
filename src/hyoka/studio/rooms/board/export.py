# SPDX-License-Identifier: Apache-2.0
"""What is on the board as a file: a record in the game's notations, a picture, a text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

import hyoka as hk
from hyoka.studio.rooms.board.picture import seen
from hyoka.studio.rooms.board.table import Table, played


@dataclass(frozen=True)
class Format:
    """A way to take a game along."""

    title: str
    suffix: str
    media_type: str
    text: Callable[[Table], str]


def record_of(table: Table) -> hk.Record:
    """The line on the table, to its end, as a record."""
    line = played(table.first_position.line(), table.moves)
    outcome = line.outcome
    ours, theirs = ("You", table.against) if table.against else ("", "")
    if table.you == "second":
        ours, theirs = theirs, ours
    return hk.Record(
        table.game,
        np.array([move.code for move in line.moves], dtype=np.uint16),
        start=table.start,
        first=ours,
        second=theirs,
        event="Hyoka Studio",
        komi=getattr(table.first_position, "komi", None),
        result=None if outcome is None else float(outcome.value),
        ending="unfinished" if outcome is None else "normal",
        margin=float(line.score) if outcome is not None and table.facts.by_points else None,
    )


def _notation(name: str) -> Callable[[Table], str]:
    return lambda table: hk.record_text(record_of(table), name)


_ALL: Final = {
    "sgf": Format("SGF", ".sgf", "application/x-go-sgf", _notation("sgf")),
    "pgn": Format("PGN", ".pgn", "application/x-chess-pgn", _notation("pgn")),
    "csa": Format("CSA", ".csa", "text/plain", _notation("csa")),
    "kif": Format("KIF", ".kif", "text/plain", _notation("kif")),
    "lines": Format("Line of moves", "-moves.txt", "text/plain", _notation("lines")),
    "svg": Format(
        "Picture (SVG)",
        ".svg",
        "image/svg+xml",
        lambda table: hk.svg(seen(table), pieces=table.lettering),
    ),
    "text": Format(
        "Board as text",
        "-board.txt",
        "text/plain",
        lambda table: f"{hk.terminal(table.line)}\n{table.line.position.text}\n",
    ),
}


def formats(table: Table) -> dict[str, Format]:
    """How a table's game can be taken along."""
    notations = set(table.facts.notations)
    return {
        name: each for name, each in _ALL.items() if name in notations or name in ("svg", "text")
    }


def exported(table: Table, name: str) -> Format:
    """A format by its name; raises ParameterError if the game has none of it."""
    known = formats(table)
    if name not in known:
        raise hk.ParameterError("as", f"is one of {', '.join(known)}, not '{name}'")
    return known[name]
