# SPDX-License-Identifier: Apache-2.0
"""Games of searches as records and studies, and back: what networks learn from."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.errors import StudyError
from hyoka.games import game_facts
from hyoka.records import Record, Remark, write_records
from hyoka.records.record import Author
from hyoka.selfplay.played import PlayedGames
from hyoka.study import Study, Visits, keep_visits, make_study, stored_visits

_MOVERS: Final[tuple[Author, Author]] = ("first", "second")


def without_doubles(played: PlayedGames) -> PlayedGames:
    """The same with each game once: a study takes none twice."""
    seen: set[bytes] = set()
    keep = np.zeros(len(played), bool)
    for number in range(len(played)):
        begin, end = played.move_offsets[number : number + 2]
        key = played.moves[begin:end].tobytes()  # whatever the komi: studies tell games by moves
        keep[number] = key not in seen
        seen.add(key)
    return played.some(keep)


def records_of(played: PlayedGames, player: str) -> list[Record]:
    """The games as records: what the search thought of a position is the mover's remark.

    It stands with the move: notations have no place for one before the first.
    """
    found = []
    for number in range(len(played)):
        begin, end = (int(place) for place in played.move_offsets[number : number + 2])
        values = played.values[begin:end]
        remarks = tuple(
            Remark(ply + 1, value=float(value), author=_MOVERS[ply % 2])
            for ply, value in enumerate(values)
            if not np.isnan(value)
        )
        komi = float(played.komi[number])
        found.append(
            Record(
                played.game,
                played.moves[begin:end].copy(),
                first=player,
                second=player,
                komi=None if np.isnan(komi) else komi,
                result=(int(played.results[number]) + 1) / 2,
                ending="normal",
                remarks=remarks,
            )
        )
    return found


def study_of(played: PlayedGames, folder: Path, player: str) -> Study:
    """A study of the games with what the search thought of positions and moves."""
    games = without_doubles(played)
    file = folder.with_suffix(f".{_suffix(played.game)}")
    write_records(records_of(games, player), file)
    study, report = make_study(folder, file, columns="cheap")
    if report.games != len(games):
        raise StudyError(f"{folder}: {report.games} of {len(games)} games were taken")
    ids = np.array(study.sql("select game_id from games order by game_id")["game_id"])
    counts = np.diff(games.visit_offsets)
    rows = np.flatnonzero(counts > 0)
    game_of = np.repeat(np.arange(len(games)), np.diff(games.move_offsets))[rows]
    offsets = np.concatenate([[0], np.cumsum(counts[rows])]).astype(np.int64)
    keep_visits(
        study,
        player,
        ids[game_of],
        (rows - games.move_offsets[game_of]).astype(np.int32),
        Visits(offsets, games.visited, games.visits),
    )
    return study


def _suffix(game: str) -> str:
    return game_facts(game).notations[0]


def games_of_study(study: Study) -> PlayedGames:
    """Games of a study with the visits that it keeps; without any, the moves played are learned."""
    numbered = list(study.records())
    played, ids = of_records([record for _, record in numbered]), [each for each, _ in numbered]
    if not study.sql("select 1 from visits limit 1").num_rows:
        return played
    kept = np.array([_is_usable(record) for _, record in numbered])
    lengths = np.diff(played.move_offsets)
    games = np.repeat(np.array(ids)[kept], lengths)
    plies = np.arange(len(played.moves)) - np.repeat(played.move_offsets[:-1], lengths)
    visits = stored_visits(study, games, plies)
    values = np.concatenate(
        [_values(record) for (_, record), keep in zip(numbered, kept, strict=True) if keep]
    )
    return PlayedGames(
        played.game,
        played.komi,
        played.move_offsets,
        played.moves,
        values,
        visits.offsets,
        visits.moves,
        visits.visits,
        played.results,
    )


def _is_usable(record: Record) -> bool:
    return (
        record.result is not None and not record.start and not record.handicap and len(record) > 0
    )


def _values(record: Record) -> NDArray[np.float32]:
    """What was said of each position in which a move was played; NaN where nothing was."""
    found = np.full(len(record), np.nan, np.float32)
    for remark in record.remarks:
        place = remark.ply - (remark.author is not None)
        if remark.value is not None and 0 <= place < len(record):
            found[place] = remark.value
    return found


def of_records(records: Iterable[Record]) -> PlayedGames:
    """Records as games to learn from: the moves played, and the results.

    Games from other than the usual start, or without a result, are left out.
    """
    usable = [record for record in records if _is_usable(record)]
    kinds = {record.game for record in usable}
    if len(kinds) != 1:
        raise StudyError(f"games of one kind with results are needed, not of {len(kinds)}")
    lengths = np.array([len(record) for record in usable])
    results = np.array([2 * (record.result or 0.0) - 1 for record in usable])
    moves = np.concatenate([record.moves for record in usable])
    offsets: NDArray[Any] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return PlayedGames(
        kinds.pop(),
        np.array([np.nan if record.komi is None else record.komi for record in usable]),
        offsets,
        moves,
        np.repeat((results + 1) / 2, lengths).astype(np.float32),
        np.arange(len(moves) + 1, dtype=np.int64),
        moves,
        np.ones(len(moves), np.uint32),
        results.astype(np.int8),
    )
