# SPDX-License-Identifier: Apache-2.0
"""Game results for rating lists, from records in any notation, Parquet, matches and studies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hyoka.arena.journal import games_table
from hyoka.arena.match import DESCRIPTION as MATCH_DESCRIPTION
from hyoka.arena.match import open_match
from hyoka.foundation.errors import SourceError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.foundation.text import merge_names
from hyoka.records import batches
from hyoka.records.record import ordered_date
from hyoka.records.sources import files_of, size_on_disk
from hyoka.storage.manifest import DESCRIPTION
from hyoka.study import Study

_COLUMNS: Final = ("first", "second", "result")
_GAME: Final = "game"
_PAIR: Final = "pair_id"
_DATE: Final = "date"
_NAMELESS: Final = ("", "?")
_MAGIC: Final = b"PAR1"


@dataclass(frozen=True)
class Results:
    """Games between named players, as `rate_players` takes them."""

    names: tuple[str, ...] = ()
    first: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Indices of the first players in `names`."""
    second: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    result: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The first player's points: 0, 0.5 or 1."""
    clusters: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Pair numbers: equal for games of one pair, if the source has pairs."""
    columns: Mapping[str, NDArray[np.object_]] = field(default_factory=dict)
    """Further columns of the games as texts, empty where they are missing."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Numbers of excluded games, by reason."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def dates(self) -> NDArray[np.datetime64]:
        """The dates of the games by the column `date`, NaT where it is missing.

        A date without a day is in the middle of its month, one without a month in the middle of
        its year.
        """
        texts, codes = np.unique(self.columns[_DATE].astype(str), return_inverse=True)
        days = np.array([_day_of(text) for text in texts], dtype="datetime64[D]")
        return np.asarray(days[codes])

    def with_merged(self, patterns: Sequence[str]) -> "Results":
        """Merge players whose names match a pattern (see `name_patterns`).

        Games between two merged players are excluded.
        """
        called = merge_names(self.names, patterns)
        names = tuple(dict.fromkeys(called))
        place = {name: i for i, name in enumerate(names)}
        places = np.array([place[name] for name in called], dtype=np.int64)
        first, second = places[self.first], places[self.second]
        used = first != second
        together = Results(
            names,
            first[used],
            second[used],
            self.result[used],
            self.clusters[used],
            {name: column[used] for name, column in self.columns.items()},
            self.left_out + Counter({"between versions of one player": int((~used).sum())}),
        )
        return together.of_frequent_players(1)

    def of_frequent_players(self, least_games: int) -> "Results":
        """Keep games between players who have at least this many games among themselves."""
        used = np.ones(len(self), dtype=np.bool_)
        while True:
            played = np.bincount(self.first[used], minlength=len(self.names))
            played += np.bincount(self.second[used], minlength=len(self.names))
            often = played >= least_games
            fewer = used & often[self.first] & often[self.second]
            if fewer.sum() == used.sum():
                break
            used = fewer
        staying = np.flatnonzero(often & (played > 0))
        place = np.zeros(len(self.names), dtype=np.int64)
        place[staying] = np.arange(len(staying))
        dropped = int(len(self) - used.sum())
        reason = f"a player with fewer than {least_games} games"
        return replace(
            self,
            names=tuple(self.names[i] for i in staying),
            first=place[self.first[used]],
            second=place[self.second[used]],
            result=self.result[used],
            clusters=self.clusters[used],
            columns={name: column[used] for name, column in self.columns.items()},
            left_out=self.left_out + Counter({reason: dropped}),
        )


def read_results(
    paths: Iterable[str | Path],
    *,
    columns: Sequence[str] = (),
    format: str | None = None,
    progress: OnProgress | None = None,
) -> Results:
    """Read results from files, folders, patterns, archives, tables and studies.

    A study's folder provides its games, a match's folder its journal, a Parquet file its columns
    first, second, result and, if present, pair_id. Everything else is read as records. Games
    without a result or a name are excluded and counted. `columns` are further columns to read, such
    as date and time_control. Raises SourceError if nothing is found, a table is malformed, or no
    source has one of the columns.
    """
    collected = _Collected(columns)
    texts = [str(path) for path in paths]
    if not texts:
        raise SourceError("no files to read results from")
    total = None if progress is None else size_on_disk(texts)
    tally = Tally(progress, "reading", total, "bytes")
    for path in texts:
        for name, table in _tables_of(path, columns, format, tally, collected.left_out):
            collected.add(name, table)
    return collected.results()


def _day_of(text: str) -> np.datetime64:
    """Return the day of a date that may be partial; NaT for a text that is no date.

    >>> [str(_day_of(text)) for text in ("2024-02-29", "2024-02", "2024", "2024-02-30", "")]
    ['2024-02-29', '2024-02-15', '2024-07-01', 'NaT', 'NaT']
    """
    date = ordered_date(text)
    middle = {4: "-07-01", 7: "-15"}.get(len(date), "")
    try:
        return np.datetime64(f"{date}{middle}" if date else "NaT", "D")
    except ValueError:
        return np.datetime64("NaT", "D")


def _tables_of(
    path: str, more: Sequence[str], format: str | None, tally: Tally, refused: Counter[str]
) -> Iterator[tuple[str, pa.Table]]:
    """Read the names and tables of one path; add unreadable games to `refused`."""
    folder = Path(path)
    if folder.is_dir() and (folder / DESCRIPTION).exists():
        size = size_on_disk([folder]) or 0
        study = Study.open(folder)
        there = study.sql("select * from games limit 0").column_names
        columns = ", ".join([*_COLUMNS, *(f'"{name}"' for name in more if name in there)])
        yield path, study.sql(f"select {columns} from games")
    elif folder.is_dir() and (folder / MATCH_DESCRIPTION).exists():
        size = size_on_disk([folder]) or 0
        _, games = open_match(folder)  # a match's tables may be older than its journal
        if games:
            yield path, games_table(games)
    elif path != "-" and not folder.is_dir() and all(map(_is_parquet, files_of([path]))):
        size = size_on_disk([path]) or 0
        for file in files_of([path]):
            assert file is not None
            yield str(file), _parquet(file, more)
    else:
        size = 0
        for batch in batches([path], format=format, progress=tally.of_part()):
            refused.update(each.fault for each in batch.refused)
            if len(batch):
                table = batch.arrow()
                chosen = [name for name in more if name in table.column_names and name != _GAME]
                yield batch.source, table.select([*_COLUMNS, _GAME, *chosen])
    if size:
        tally.add(size)


def _is_parquet(file: Path | None) -> bool:
    if file is None or not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def _parquet(file: Path, wanted: Sequence[str]) -> pa.Table:
    try:
        names = pq.read_schema(file).names
        missing = [column for column in _COLUMNS if column not in names]
        if missing:
            raise SourceError(
                f"{file}: no column {', '.join(missing)}; "
                f"a table of results has {', '.join(_COLUMNS)} and perhaps {_PAIR}"
            )
        more = [column for column in dict.fromkeys([_PAIR, _GAME, *wanted]) if column in names]
        return pq.read_table(file, columns=[*_COLUMNS, *more])
    except pa.ArrowException as error:
        raise SourceError(f"{file}: {str(error).splitlines()[0]}") from error


class _Collected:
    """Collects results from several tables, with one list of names."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._missing = set(columns)
        self.left_out: Counter[str] = Counter()
        self._places: dict[str, int] = {}
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._clusters = 0
        self._games: set[str] = set()

    def add(self, source: str, table: pa.Table) -> None:
        self._check_game(source, table)
        try:
            first, second = (self._players(table[name]) for name in ("first", "second"))
            result = table["result"].cast(pa.float64()).to_numpy()
        except pa.ArrowException as error:
            raise SourceError(f"{source}: {str(error).splitlines()[0]}") from error
        bad = ~np.isnan(result) & ~np.isin(result, (0, 0.5, 1))
        if bad.any():
            raise SourceError(
                f"{source}: results are 0, 0.5 or 1 for the first player, not {result[bad][0]:g}"
            )
        used = np.ones(len(result), dtype=np.bool_)
        for reason, holds in (
            ("no result", np.isnan(result)),
            ("a player without a name", (first < 0) | (second < 0)),
            ("a player against himself", first == second),
        ):
            self.left_out[reason] += int((used & holds).sum())
            used &= ~holds
        clusters = self._pairs(table)
        more = [self._texts(table, name)[used] for name in self._columns]
        self._parts.append((first[used], second[used], result[used], clusters[used], *more))

    def _check_game(self, source: str, table: pa.Table) -> None:
        """Raise SourceError for another game: strength differs between games."""
        if _GAME not in table.column_names:
            return
        self._games |= set(table[_GAME].cast(pa.string()).unique().to_pylist())
        if len(self._games) > 1:
            names = " and ".join(sorted(self._games))
            raise SourceError(f"{source}: results of {names} together; rate one game at a time")

    def _players(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """Map names to indices, with -1 for missing names."""
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        encoded = texts.combine_chunks().dictionary_encode()
        places = [
            -1 if name in _NAMELESS else self._places.setdefault(name, len(self._places))
            for name in encoded.dictionary.to_pylist()
        ]
        codes = encoded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*places, -1], dtype=np.int64)[codes])

    def _texts(self, table: pa.Table, name: str) -> NDArray[np.object_]:
        """Return a column as texts, empty where it is missing."""
        if name not in table.column_names:
            return np.full(len(table), "", dtype=object)
        self._missing.discard(name)
        texts = table[name].cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False)
        return np.asarray(texts, dtype=object)

    def _pairs(self, table: pa.Table) -> NDArray[np.int64]:
        """Make pair numbers unique among tables; a game without a pair gets its own."""
        clusters = np.arange(len(table), dtype=np.int64)
        if _PAIR in table.column_names:
            encoded = table[_PAIR].combine_chunks().dictionary_encode()
            paired = encoded.indices.is_valid().to_numpy(zero_copy_only=False)
            codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
            clusters = np.where(paired, codes + len(table), clusters)
        clusters += self._clusters
        self._clusters += 2 * len(table)
        return clusters

    def results(self) -> Results:
        """Build the results, with the names of players who have games."""
        left_out = Counter({reason: n for reason, n in self.left_out.items() if n})
        if not self._parts:
            return Results(left_out=left_out)
        if self._missing - {_DATE}:
            missing = ", ".join(sorted(self._missing - {_DATE}))
            raise SourceError(
                f"no column {missing}; records have time_control, event, rules, handicap and others"
            )
        first, second, result, clusters, *more = map(np.concatenate, zip(*self._parts, strict=True))
        columns = dict(zip(self._columns, more, strict=True))
        everybody = Results(tuple(self._places), first, second, result, clusters, columns)
        return replace(everybody.of_frequent_players(1), left_out=left_out)
