# SPDX-License-Identifier: Apache-2.0
"""Games of the folder, to have them on the board: of record files, studies and matches."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import hyoka as hk
from hyoka.studio.folder import Folder


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
