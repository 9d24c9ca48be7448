# SPDX-License-Identifier: Apache-2.0
"""Games of the folder to open on the board, and the board as a file."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

import hyoka as hk
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.rooms.board.board_state import BoardState, played
from hyoka.apps.studio.rooms.board.picture import seen


@dataclass(frozen=True)
class Listed:
    """A game in a list."""

    number: int
    first: str
    second: str
    date: str
    plies: int


def record_from(folder: Folder, name: str, number: int) -> hk.Record:
    """A game by its number, from 0; raises Error if it is not there."""
    path = folder.path(name)
    if path.is_dir() and not _is_match(path):
        return hk.Study.open(path).record(number)
    if path.is_dir():
        found = next((game.record for game in _match(path) if _number(game) == number), None)
    else:
        found = next(itertools.islice(hk.read_records(path), number, None), None)
    if found is None:
        raise hk.SourceError(f"{name} has no game {number}")
    return found


def listed(folder: Folder, name: str, first: int, most: int) -> list[Listed]:
    """Some games of a source, from a number on; raises Error."""
    path = folder.path(name)
    if path.is_dir() and not _is_match(path):
        rows = hk.Study.open(path).sql(
            "select game_id as number, first, second, date, plies from games order by game_id "
            f"limit {most} offset {first}"
        )
        return [Listed(**row) for row in rows.to_pylist()]
    numbered = (
        ((_number(game), game.record) for game in sorted(_match(path), key=_number))
        if path.is_dir()
        else enumerate(hk.read_records(path))
    )
    return [
        Listed(number, record.first, record.second, record.date, len(record))
        for number, record in itertools.islice(numbered, first, first + most)
    ]


def _is_match(path: Path) -> bool:
    return (path / "match.toml").is_file()


def _match(path: Path) -> list[hk.PlayedGame]:
    return hk.open_match(path).games


def _number(game: hk.PlayedGame) -> int:
    return game.pairing.number


@dataclass(frozen=True)
class Format:
    """A way to take a game along."""

    title: str
    suffix: str
    media_type: str
    text: Callable[[BoardState], str]


def record_of(table: BoardState) -> hk.Record:
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


def _notation(name: str) -> Callable[[BoardState], str]:
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


def formats(table: BoardState) -> dict[str, Format]:
    """Download formats of the game."""
    notations = set(table.facts.formats.notations)
    return {
        name: each for name, each in _ALL.items() if name in notations or name in ("svg", "text")
    }


def exported(table: BoardState, name: str) -> Format:
    """A format by its name; raises ParameterError if the game has none of it."""
    known = formats(table)
    if name not in known:
        raise hk.ParameterError("as", f"is one of {', '.join(known)}, not '{name}'")
    return known[name]
