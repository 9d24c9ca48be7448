# SPDX-License-Identifier: Apache-2.0
"""Self-play games with visits and values: as records, as studies, as training data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import StudyError
from hyoka.games import game_facts
from hyoka.learning.network_training import Examples, joined
from hyoka.records import Record, Remark, write_records
from hyoka.records.record import Author
from hyoka.study import Study, make_study
from hyoka.study.derived_columns import Visits, keep_visits, stored_visits


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Concatenated games. Plies are numbered through all of them."""

    game: str
    komi: NDArray[np.float64]
    """Komi by game; NaN if there is none."""
    move_offsets: NDArray[np.int64]
    """Game i's moves are those from move_offsets[i] to move_offsets[i + 1]."""
    moves: NDArray[np.uint16]
    values: NDArray[np.float32]
    """The search's value for the first player, by ply; NaN at random moves."""
    visit_offsets: NDArray[np.int64]
    """Ply i's visits are from visit_offsets[i] to visit_offsets[i + 1]; none for quick searches."""
    visited: NDArray[np.uint16]
    visits: NDArray[np.uint32]
    results: NDArray[np.int8]
    """The first player's result by game: 1, 0, -1."""

    def __len__(self) -> int:
        return len(self.results)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Concatenate several parts."""
        offsets = {"move_offsets", "visit_offsets"}
        arrays_by_name: dict[str, Any] = {"game": parts[0].game}
        for name in (each.name for each in fields(cls) if each.name != "game"):
            arrays = [getattr(part, name) for part in parts]
            if name in offsets:
                lengths = np.concatenate([np.diff(array) for array in arrays])
                arrays_by_name[name] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            else:
                arrays_by_name[name] = np.concatenate(arrays)
        return cls(**arrays_by_name)

    def some(self, games: NDArray[np.bool_]) -> Self:
        """Select games by a mask."""
        plies = np.repeat(games, np.diff(self.move_offsets))
        moved = np.repeat(plies, np.diff(self.visit_offsets))
        return type(self)(
            self.game,
            self.komi[games],
            _offsets(np.diff(self.move_offsets)[games]),
            self.moves[plies],
            self.values[plies],
            _offsets(np.diff(self.visit_offsets)[plies]),
            self.visited[moved],
            self.visits[moved],
            self.results[games],
        )

    def examples(self, *, seed: int = 0, blend: float = 0.5, threads: int = 1) -> Examples:
        """Training examples from these games, with random symmetries drawn by the seed.

        A position's target is `blend` times the search value plus the rest times the game result.
        """
        counts = np.diff(self.visit_offsets)
        searched = ~np.isnan(self.values)
        return joined(
            [
                self._examples(searched & (counts > 0), seed, blend, threads, with_moves=True),
                self._examples(
                    searched & (counts == 0), seed + 1, blend, threads, with_moves=False
                ),
            ]
        )

    def _examples(
        self, rows: NDArray[np.bool_], seed: int, blend: float, threads: int, *, with_moves: bool
    ) -> Examples:
        game_of = np.repeat(np.arange(len(self)), np.diff(self.move_offsets))
        selected = np.flatnonzero(rows)
        plies = (selected - self.move_offsets[game_of[selected]]).astype(np.int32)
        table = _core.GameTable(
            self.game,
            np.arange(len(self), dtype=np.int64),
            np.zeros(len(self) + 1, np.int32),
            np.zeros(0, np.uint8),
            self.komi,
            self.move_offsets,
            self.moves,
            np.searchsorted(selected, self.move_offsets).astype(np.int64),
            plies,
        )
        counts = np.diff(self.visit_offsets)[selected]
        visited_rows = np.repeat(rows, np.diff(self.visit_offsets))
        offsets, visits = _offsets(counts), self.visits[visited_rows].astype(np.float32)
        inputs, legal, codes, first = table.network_inputs(
            offsets, self.visited[visited_rows], seed, with_moves, threads, None
        )
        sums = np.add.reduceat(visits, offsets[:-1]) if len(visits) else visits
        result = (self.results[game_of[selected]].astype(np.float32) + 1) / 2
        value = blend * self.values[selected] + (1 - blend) * result
        return Examples(
            self.game,
            inputs,
            np.where(first.astype(bool), value, 1 - value).astype(np.float32),
            legal,
            offsets,
            codes,
            visits / np.repeat(sums, counts) if len(visits) else visits,
        )


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


Player = tuple[_core.UctOptions, _core.GivenModels]


def play_games(
    game: str,
    players: Sequence[Player],
    komi: NDArray[np.float64],
    first: int,
    plan: _core.SelfPlayPlan,
) -> PlayedGames:
    """Play one game per komi, numbered from `first`; fewer if interrupted."""
    arrays = _core.self_play(game, list(players), komi, first, plan)
    return PlayedGames(game, komi[: len(arrays["results"])], **arrays)


_MOVERS: Final[tuple[Author, Author]] = ("first", "second")


def without_doubles(played: PlayedGames) -> PlayedGames:
    """Remove duplicate games: a study has each game once."""
    seen: set[bytes] = set()
    keep = np.zeros(len(played), bool)
    for number in range(len(played)):
        begin, end = played.move_offsets[number : number + 2]
        key = played.moves[begin:end].tobytes()  # ignores komi: studies identify games by moves
        keep[number] = key not in seen
        seen.add(key)
    return played.some(keep)


def records_of(played: PlayedGames, player: str) -> list[Record]:
    """Convert games to records, with the search value as the mover's comment.

    The comment belongs to the move, since notations have no comments before the first move.
    """
    records = []
    for number in range(len(played)):
        begin, end = (int(place) for place in played.move_offsets[number : number + 2])
        values = played.values[begin:end]
        remarks = tuple(
            Remark(ply + 1, value=float(value), author=_MOVERS[ply % 2])
            for ply, value in enumerate(values)
            if not np.isnan(value)
        )
        komi = float(played.komi[number])
        records.append(
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
    return records


def study_of(played: PlayedGames, folder: Path, player: str) -> Study:
    """Create a study of the games with the search's values and visits."""
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
    return game_facts(game).formats.notations[0]


def games_of_study(study: Study) -> PlayedGames:
    """Games of a study with its visits; without visits, the played moves are the targets."""
    numbered = list(study.records())
    played, ids = of_records([record for _, record in numbered]), [each for each, _ in numbered]
    if not study.sql("select 1 from visits limit 1").num_rows:
        return played
    usable = np.array([_is_usable(record) for _, record in numbered])
    lengths = np.diff(played.move_offsets)
    games = np.repeat(np.array(ids)[usable], lengths)
    plies = np.arange(len(played.moves)) - np.repeat(played.move_offsets[:-1], lengths)
    visits = stored_visits(study, games, plies)
    values = np.concatenate(
        [_values(record) for (_, record), keep in zip(numbered, usable, strict=True) if keep]
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
    """Value of each position in which a move was played; NaN if missing."""
    values = np.full(len(record), np.nan, np.float32)
    for remark in record.remarks:
        place = remark.ply - (remark.author is not None)
        if remark.value is not None and 0 <= place < len(record):
            values[place] = remark.value
    return values


def of_records(records: Iterable[Record]) -> PlayedGames:
    """Convert records to training games, with the played moves and results.

    Games without a result, or not from the initial position, are left out.
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
