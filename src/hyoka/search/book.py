# SPDX-License-Identifier: Apache-2.0
"""An opening book: the moves that were played, by position."""

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from hyoka.artefact import Artefact
from hyoka.errors import SourceError
from hyoka.games import Game, Move
from hyoka.records import Record, read_records, records_in


@dataclass(frozen=True)
class Book:
    """How often each move was played in each position; positions that transpose are one."""

    game: str
    counts: dict[int, Counter[int]] = field(repr=False)
    """Moves by code, by a position's hash."""

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def from_records(cls, game: str, records: Iterable[Record], *, plies: int = 30) -> "Book":
        """The first `plies` moves of records of one game; others are passed over."""
        counts: dict[int, Counter[int]] = {}
        for record in records:
            if record.game != game:
                continue
            # The last position has no move: there are as many codes as positions before it.
            for code, position in zip(
                record.moves[:plies].tolist(), record.positions(), strict=False
            ):
                counts.setdefault(position.hash, Counter())[code] += 1
        return cls(game, counts)

    @classmethod
    def from_file(cls, game: str, path: str | Path | Artefact, *, plies: int = 30) -> "Book":
        """From a file of records; raises SourceError if it has none of this game."""
        if isinstance(path, Artefact):
            path.check("book", game)
            stream = records_in(path.path, path.content)
        else:
            stream = read_records(path)
        book = cls.from_records(game, stream, plies=plies)
        if not book.counts:
            why = f" ({stream.refused[0]})" if stream.refused else ""
            raise SourceError(f"{path}: no {game} games for a book{why}")
        if stream.unread:
            warnings.warn(f"the book lacks games: {stream.refused[-1]}", stacklevel=2)
        return book

    @property
    def fingerprint(self) -> str:
        """Some characters that tell this book from others."""
        lines = (f"{position} {sorted(moves.items())}" for position, moves in self.counts.items())
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12]

    def moves(self, position: Game) -> dict[Move, int]:
        """The legal moves of a position that are in the book, and how often they were played."""
        counts = self.counts.get(position.hash, Counter())
        return {move: counts[move.code] for move in position.legal_moves if move.code in counts}

    def codes(self) -> dict[int, list[int]]:
        """What the compiled core keeps to."""
        return {position: list(moves) for position, moves in self.counts.items()}
