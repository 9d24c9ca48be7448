# SPDX-License-Identifier: Apache-2.0
"""Reading of records: from byte streams to tables of games or single records."""

import collections
import io
import itertools
import math
import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, RefusedError, SourceError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.records.formats import FORMATS, as_utf8, parquet_games, recognize
from hyoka.records.katago import KatagoGames
from hyoka.records.record import ENDINGS, Author, Record, Remark, ordered_date, rank_number
from hyoka.records.sources import BLOCK, Source, size_on_disk, sources_by_file, sources_in

LONGEST_GAME: Final = 64 << 20
"""The maximum size of a game in bytes; a longer one and the rest of its file are refused."""
_HEAD: Final = 1 << 16
_NO_RECORDS: Final = frozenset(
    (
        *(".jou", ".trn", ".tsv", ".csv", ".md", ".html", ".htm", ".css", ".js", ".json", ".jsonl"),
        *(".toml", ".xml", ".pdf", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".py", ".log"),
        ".parquet",
    )
)
"""Common files beside records; the first two contain WTHOR's players and events."""


_UNREAD: Final = ("broken file", "too large")


def unread_count(faults: Mapping[str, int]) -> int:
    """Count the faults that may hide unread games.

    Other faults are of single games that were read and refused.
    """
    return sum(faults.get(fault, 0) for fault in _UNREAD)


@dataclass(frozen=True)
class Refused:
    """A refused game, and the reason."""

    source: str
    line: int
    """The line of the fault, from 1; 0 in a binary file."""
    number: int
    """The number of the game in the file, from 1."""
    ply: int
    """The number of valid moves."""
    fault: str
    """`unreadable`, `illegal move`, `unsupported`, `too large`, `broken file` or `no records`."""
    reason: str

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        game = f" game {self.number}, ply {self.ply}:" if self.number else ""
        return f"{place}:{game} {self.reason}"


@dataclass(frozen=True)
class UnreadableNumber:
    """A number in a comment (evaluation, depth or time) that could not be parsed."""

    source: str
    line: int
    """The first line of its game, from 1."""
    number: int
    """The number of the game in the file, from 1."""
    ply: int
    """The number of moves before the comment."""
    text: str
    """The start of the omitted text."""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: game {self.number}, ply {self.ply}: {self.text}"


MOST_UNREADABLE_KEPT: Final = 20


@dataclass(frozen=True)
class Batch:
    """Some games of one file, as columns, and the games refused so far."""

    source: str
    format: str
    table: _core.Table
    refused: list[Refused] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.table)

    def records(self) -> Iterator[Record]:
        """Iterate over the games."""
        return _records_of(self)

    def first_unreadable(self, keep: NDArray[np.bool_] | None = None) -> list[UnreadableNumber]:
        """Return the first unreadable number of some games, or of those that `keep` marks."""
        numbers = set((self.table.number if keep is None else self.table.number[keep]).tolist())
        return [
            UnreadableNumber(self.source, line, number, ply, text)
            for line, number, ply, text in self.table.first_unreadable
            if number in numbers
        ]

    def arrow(self) -> pa.Table:
        """Return the games as an Arrow table with a row per game; see `hyoka study columns`."""
        return _arrow_of(self)


@dataclass
class RecordStream:
    """Iterates over records from files; `refused` grows meanwhile."""

    batches: Iterator[Batch]
    strict: bool = False
    """Whether the first bad game raises RefusedError."""
    refused: list[Refused] = field(default_factory=list)
    unreadable: int = 0
    """Unreadable numbers in comments, which were omitted."""
    first_unreadable: list[UnreadableNumber] = field(default_factory=list)

    def __iter__(self) -> Iterator[Record]:
        for batch in self.batches:
            self.refused += batch.refused
            self.unreadable += int(batch.table.unreadable.sum())
            room = MOST_UNREADABLE_KEPT - len(self.first_unreadable)
            self.first_unreadable += batch.first_unreadable()[:room]
            for record in batch.records():
                if self.strict and batch.refused and record.number > batch.refused[0].number:
                    break
                yield record
            if self.strict and batch.refused:
                raise _error_of(batch.refused[0])

    @property
    def faults(self) -> dict[str, int]:
        """Count the refused games by kind of fault."""
        return dict(collections.Counter(refused.fault for refused in self.refused))

    @property
    def unread(self) -> int:
        """Count the unreadable files and parts of files."""
        return unread_count(self.faults)


def read_records(
    *paths: str | Path, format: str | None = None, strict: bool = False
) -> RecordStream:
    """Read records from files, folders, patterns, archives or `-`; bad games don't stop it.

    By default the content determines the format (one of `FORMATS`). With `strict` the first
    bad game raises RefusedError.
    """
    return RecordStream(batches(paths, format=format), strict)


def read_record(path: str | Path, *, format: str | None = None) -> Record:
    """Read the first record of a file; raises RefusedError if it is bad."""
    for record in read_records(path, format=format, strict=True):
        return record
    raise SourceError(f"{path}: no record in it")


def parse_records(data: str | bytes, *, format: str | None = None) -> list[Record]:
    """Read records from text in memory; the first bad one raises RefusedError.

    >>> import hyoka as hk
    >>> [game] = hk.parse_records("(;GM[1]SZ[9]PB[Honinbo]RE[B+R];B[ee];W[gc])")
    >>> game.first, game.result, game.ending, game.move_texts()
    ('Honinbo', 1.0, 'resigned', ['E5', 'G7'])
    """
    raw = data.encode() if isinstance(data, str) else data
    source = Source("text", io.BytesIO(raw), named=True)
    _check_format(format)
    return list(RecordStream(batches_of(source, format), strict=True))


def read_back(text: str, format: str) -> Record | None:
    """Parse the one record of a text just written; None if that fails."""
    data = text.encode(errors="replace")
    size_read, table = _core.Reader(format).read(data, last=True)
    if size_read != len(data) or len(table) != 1 or table.refused:
        return None
    return next(Batch("", format, table).records())


def records_in(name: str, content: bytes) -> RecordStream:
    """Read records from the content of a file, also a compressed one or an archive."""
    batches_in = (
        batch for source in sources_in(name, content) for batch in batches_of(source, None)
    )
    return RecordStream(batches_in)


def batches(
    paths: Iterable[str | Path],
    *,
    format: str | None = None,
    strict: bool = False,
    progress: OnProgress | None = None,
) -> Iterator[Batch]:
    """Iterate over the games of many files in batches of a few thousand, in constant memory.

    Large files are read at once by all cores; batches come in the order of the files. A file
    without a recognized format counts as refused, unless it lies in a folder or archive of others
    and is plainly something else. `progress` counts bytes on disk.
    """
    _check_format(format)
    names = list(paths)
    on_bytes = None
    if progress is not None:
        tally = Tally(progress, "reading", size_on_disk(names), "bytes")
        lock = threading.Lock()

        def on_bytes(count: int) -> None:
            with lock:
                tally.add(count)

    by_file = (
        (path, (batch for source in inside for batch in batches_of(source, format)))
        for path, inside in sources_by_file(names, on_bytes=on_bytes)
    )
    return _checked(_read_ahead(by_file), strict=strict)


_LARGE: Final = 1 << 20
"""Bytes from which a file is read by a thread."""
_MOST_THREADS: Final = 8
_WAITING: Final = 4
"""Batches of a file that may wait."""


class _BatchQueue:
    """The batches of a file that a thread reads."""

    def __init__(self, batches: Iterator[Batch], stopped: threading.Event) -> None:
        self._batches = batches
        self._stopped = stopped
        self._queue: queue.Queue[Batch | BaseException | None] = queue.Queue(_WAITING)

    def read(self) -> None:
        """Read all batches, as they are taken."""
        try:
            for batch in self._batches:
                self._put(batch)
                if self._stopped.is_set():
                    return
            self._put(None)
        except BaseException as error:  # raised where the batches are taken
            self._put(error)

    def _put(self, item: Batch | BaseException | None) -> None:
        while not self._stopped.is_set():
            try:
                return self._queue.put(item, timeout=0.1)
            except queue.Full:
                continue

    def __iter__(self) -> Iterator[Batch]:
        while (item := self._queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item


@contextmanager
def _reading_threads(count: int) -> Generator[tuple[ThreadPoolExecutor, threading.Event]]:
    stopped = threading.Event()
    with ThreadPoolExecutor(count, "hyoka-reader") as threads:
        try:
            yield threads, stopped
        finally:
            stopped.set()


def _read_ahead(files: Iterable[tuple[Path | None, Iterator[Batch]]]) -> Iterator[Batch]:
    """Iterate over the batches of files in order, with threads that read the next large files."""
    count = min(_MOST_THREADS, os.cpu_count() or 1)
    waiting = iter(files)
    with _reading_threads(count) as (threads, stopped):
        ahead: collections.deque[Iterable[Batch]] = collections.deque()
        while True:
            for path, inside in itertools.islice(waiting, count + 1 - len(ahead)):
                if path is None or not _is_large(path):
                    ahead.append(inside)
                    continue
                read = _BatchQueue(inside, stopped)
                threads.submit(read.read)
                ahead.append(read)
            if not ahead:
                return
            yield from ahead.popleft()


def _is_large(path: Path) -> bool:
    try:
        return path.stat().st_size >= _LARGE
    except OSError:
        return False


def _checked(batches: Iterable[Batch], *, strict: bool) -> Iterator[Batch]:
    for batch in batches:
        if strict and batch.refused:
            raise _error_of(batch.refused[0])
        yield batch


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise NotationError(f"no format '{format}'; known: {', '.join(FORMATS)}")


def _error_of(refused: Refused) -> RefusedError:
    return RefusedError(
        str(refused),
        source=refused.source,
        line=refused.line,
        number=refused.number,
        ply=refused.ply,
    )


def batches_of(source: Source, format: str | None) -> Iterator[Batch]:
    """Iterate over the games of one source, and record its faults."""
    is_other = PurePath(source.name.lower()).suffix in _NO_RECORDS
    if is_other and not source.named and not source.problem:
        return
    blocks = _UntilBroken(source)
    try:
        yield from _games_of(source, blocks, format)
    except SourceError as error:
        blocks.problem = blocks.problem or str(error)
    if blocks.problem:
        reason = blocks.problem.removeprefix(f"{source.name}: ")
        yield _refusing(source, "broken file", reason)


def _refusing(source: Source, fault: str, reason: str, format: str = "unknown") -> Batch:
    """Return a batch without games that refuses the source."""
    refused = [Refused(source.name, 0, 0, 0, fault, reason)]
    return Batch(source.name, format, _core.Table(), refused)


class _UntilBroken:
    """Iterate over the blocks of a source until a read error."""

    def __init__(self, source: Source) -> None:
        self.problem = ""
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._source.blocks()
        except SourceError as error:
            self.problem = str(error)


def _head_of(blocks: Iterator[bytes]) -> bytes:
    """Take the first blocks, enough to recognize a format."""
    head = b""
    while len(head) < _HEAD and (block := next(blocks, b"")):
        head += block
    return head


def _as_notation(
    format: str, blocks: Iterable[bytes], katago: KatagoGames
) -> tuple[str, Iterator[bytes]]:
    """Convert the bytes of a format to those of a notation that has a reader."""
    if format == "parquet":
        return parquet_games(blocks)
    if format == "katago":
        return "sgf", katago.as_sgf(blocks)
    return format, as_utf8(blocks, format)


def _games_of(source: Source, until_broken: _UntilBroken, format: str | None) -> Iterator[Batch]:
    blocks = iter(until_broken)
    head = _head_of(blocks)
    if not head:
        return
    detected = format or recognize(head[:_HEAD])
    if detected is None:
        if not until_broken.problem:
            reason = (
                f"no records that Hyoka can read; formats are {', '.join(FORMATS)} "
                "(problem sets are read by `hyoka solve`)"
            )
            yield _refusing(source, "no records", reason)
        return
    names: tuple[bytes, ...] = ()
    if detected == "wthor":
        names, refused = _names_beside(source)
        if refused:
            yield Batch(source.name, detected, _core.Table(), refused)
    blocks = itertools.chain([head], blocks)
    katago = KatagoGames()
    notation, ahead = _as_notation(detected, blocks, katago)
    reader = _core.Reader(notation, *names)
    following: bytes | None = next(ahead, b"")
    waiting: list[bytes] = []  # the rest of the last block, and new data
    size = left = games = 0
    while following is not None:
        waiting.append(following)
        size += len(following)
        following = next(ahead, None)
        # A very long game is parsed again only when its size has doubled.
        if following is not None and left > BLOCK and size < min(2 * left, LONGEST_GAME):
            continue
        data = b"".join(waiting)
        # Only complete games of a truncated file are read.
        size_read, table = reader.read(data, following is None and not until_broken.problem)
        waiting = [data[size_read:]]
        size = left = len(data) - size_read
        refused = [Refused(source.name, *fault) for fault in table.refused]
        games += len(table) + len(refused)
        if left > LONGEST_GAME:
            limit = LONGEST_GAME >> 20
            reason = f"a game that does not end within {limit} MiB; the rest is not read"
            games += 1
            refused.append(Refused(source.name, 0, games, 0, "too large", reason))
            following = None
        if len(table) or refused:
            yield Batch(source.name, detected, table, refused)
    if katago.faults:
        games += len(katago.faults)
        refused = [
            Refused(source.name, line, number, 0, "unreadable", reason)
            for line, number, reason in katago.faults
        ]
        yield Batch(source.name, detected, _core.Table(), refused)
    if games == 0 and not until_broken.problem and head.strip():
        reason = f"no games that read as {detected}"
        yield _refusing(source, "no records", reason, detected)


_NAME_SIZES: Final = {".jou": 20, ".trn": 26}
"""The bytes of a name in WTHOR's tables of players and tournaments."""


def _names_beside(source: Source) -> tuple[tuple[bytes, ...], list[Refused]]:
    """Read WTHOR's name tables; a damaged one is rejected, since names would be wrong."""
    tables, refused = [], []
    for suffix, size in _NAME_SIZES.items():
        problem = ""
        try:
            table = source.beside(suffix)
        except SourceError as error:
            table, problem = b"", str(error)
        entries, odd = divmod(max(0, len(table) - 16), size)
        counts = {int.from_bytes(table[4:8], "little"), int.from_bytes(table[8:10], "little")}
        if table and (odd or len(table) < 16 or not counts <= {0, entries}):
            problem = f"{len(table):,} bytes don't hold the names that its header counts"
        if problem:
            reason = f"the names in the {suffix} beside it are left out: {problem}"
            refused.append(Refused(source.name, 0, 0, 0, "broken file", reason))
        tables.append(b"" if problem else table)
    return tuple(tables), refused


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


_RESULTS: Final[dict[int, float | None]] = {1: 1.0, 0: 0.5, -1: 0.0, 2: None}


def _records_of(batch: Batch) -> Iterator[Record]:
    table = batch.table
    texts = {name: table.text(name) for name in table.field_names}
    names = "game move_offsets komi handicap winner ending margin line number"
    columns = [getattr(table, name).tolist() for name in names.split()]
    game, offsets, komi, handicap, winner, ending, margin, line, number = columns
    remarks = _remarks_of(table)
    tags = _tags_of(table)
    moves = table.moves
    for i in range(len(table)):
        fields = {name: column[i] for name, column in texts.items()}
        fields["date"] = ordered_date(fields["date"])
        yield Record(
            game=table.game_names[game[i]],
            moves=np.array(moves[offsets[i] : offsets[i + 1]]),
            **fields,
            komi=_number(komi[i]),
            handicap=handicap[i],
            result=_RESULTS[winner[i]],
            ending=ENDINGS[ending[i]],
            margin=_number(margin[i]),
            remarks=remarks[i],
            tags=tags[i],
            source=batch.source,
            line=line[i],
            number=number[i],
        )


def _tags_of(table: _core.Table) -> list[dict[str, str]]:
    pairs = list(zip(table.text("tag_names"), table.text("tag_values"), strict=True))
    return [dict(pairs[a:b]) for a, b in itertools.pairwise(table.tag_offsets.tolist())]


_AUTHORS: Final[tuple[Author | None, ...]] = (None, "first", "second")


def _remarks_of(table: _core.Table) -> list[tuple[Remark, ...]]:
    offsets = table.remark_offsets.tolist()
    if not offsets[-1]:
        return [()] * len(table)
    names = "ply value score mate depth clock_s spent_s book author"
    columns = zip(
        *(getattr(table, f"remark_{name}").tolist() for name in names.split()),
        _nags_of(table),
        table.text("remark_texts"),
        table.text("remark_properties"),
        (nodes or None for nodes in table.remark_nodes.tolist()),
        strict=True,
    )
    flat = [
        Remark(
            ply,
            _number(value),
            _number(score),
            mate or None,
            depth or None,
            _number(clock),
            _number(spent),
            bool(book),
            _AUTHORS[author],
            *words,
        )
        for ply, value, score, mate, depth, clock, spent, book, author, *words in columns
    ]
    return [tuple(flat[a:b]) for a, b in itertools.pairwise(offsets)]


def _nags_of(table: _core.Table) -> list[tuple[int, ...]]:
    nags = table.nags.tolist()
    if not nags:
        return [()] * (len(table.nag_offsets) - 1)
    return [tuple(nags[a:b]) for a, b in itertools.pairwise(table.nag_offsets.tolist())]


def _mapped(
    texts: pa.StringArray, function: Callable[[str], object], kind: pa.DataType
) -> pa.Array:
    """Apply `function` once to each distinct text."""
    encoded = texts.dictionary_encode()
    values = pa.array([function(text) for text in encoded.dictionary.to_pylist()], kind)
    return values.take(encoded.indices)


_GAME_NAMES: Final = pa.array(_core.Table.game_names)
_ENDING_NAMES: Final = pa.array(_core.Table.ending_names)


def _repeated(text: str, count: int) -> pa.StringArray:
    """Many small files are read, so that `pa.repeat`, which looks for pandas, would count."""
    data = text.encode()
    offsets = len(data) * np.arange(count + 1, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(count * data))


def text_array(table: _core.Table, name: str) -> pa.StringArray:
    """Convert a column of texts to Arrow without copying."""
    offsets, data = table.text_buffers(name)
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _arrow_of(batch: Batch) -> pa.Table:
    table = batch.table
    count = len(table)

    def texts(name: str) -> pa.StringArray:
        return text_array(table, name)

    def coded(codes: NDArray[Any], names: pa.StringArray) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), names)

    def nullable(values: NDArray[Any]) -> pa.Array:
        return pa.array(values, mask=np.isnan(values))

    winner = table.winner
    first_rating, second_rating = texts("first_rating"), texts("second_rating")
    columns = {
        "game": coded(table.game, _GAME_NAMES),
        "source": _repeated(batch.source, count),
        "line": table.line,
        "number": table.number,
        "first": texts("first"),
        "second": texts("second"),
        "first_rating": first_rating,
        "second_rating": second_rating,
        "first_rank": _mapped(first_rating, rank_number, pa.float32()),
        "second_rank": _mapped(second_rating, rank_number, pa.float32()),
        "event": texts("event"),
        "round": texts("round"),
        "place": texts("place"),
        "date": _mapped(texts("date"), ordered_date, pa.string()),
        "rules": texts("rules"),
        "time_control": texts("time_control"),
        "opening": texts("opening"),
        "komi": nullable(table.komi),
        "handicap": table.handicap,
        "result": pa.array((winner + 1) / np.float32(2), pa.float32(), mask=winner == 2),
        "ending": coded(table.ending, _ENDING_NAMES),
        "margin": nullable(table.margin),
        "plies": np.diff(table.move_offsets).astype(np.int32),
        "start": texts("start"),
        "tags": pa.MapArray.from_arrays(
            pa.array(table.tag_offsets), texts("tag_names"), texts("tag_values")
        ),
        "moves": pa.LargeListArray.from_arrays(pa.array(table.move_offsets), pa.array(table.moves)),
    }
    return pa.table(columns)
