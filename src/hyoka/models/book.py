# SPDX-License-Identifier: Apache-2.0
"""Opening books: the moves played in each position of records."""

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from hyoka._core import Player
from hyoka.foundation.errors import ParameterError, SourceError
from hyoka.games import Move, Position, game_facts
from hyoka.games.registry import position
from hyoka.models.model import Model
from hyoka.records import Record, read_records, records_in
from hyoka.storage.files import open_regular
from hyoka.storage.model_file import ModelFile, read_model_file, shown

Whose = Literal["winners", "decided", "all"]
"""The players whose moves count: winners, both players in decided games, or all."""
WHOSE: Final[tuple[Whose, ...]] = get_args(Whose)
PLIES: Final = 30
_HEADER: Final = b"hyoka-artefact "
_FIRST_LINE: Final = b"positions and moves\n"
"""The first line of a book's content; other content is records."""


@dataclass(frozen=True)
class Book(Model):
    """Counts of the moves played in each position; transpositions are merged."""

    kind = "book"

    game: str
    counts: dict[int, Counter[int]] = field(repr=False)
    """Counts of move codes, by position hash."""
    texts: dict[int, str] = field(repr=False, default_factory=dict, compare=False)
    """The positions as text, by position hash."""

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def from_records(
        cls,
        game: str,
        records: Iterable[Record],
        *,
        plies: int = PLIES,
        whose: Whose = "all",
        least: int = 1,
    ) -> "Book":
        """Count the first `plies` moves of a game's records; records of other games are skipped.

        `whose` may exclude the moves of losers and of drawn games, as Sato 2010 does
        (`winners`); moves played fewer than `least` times are dropped.
        """
        if whose not in WHOSE:
            raise ParameterError("whose", f"is one of {', '.join(WHOSE)}, not {whose!r}")
        name = game_facts(game).name
        counts: dict[int, Counter[int]] = {}
        texts: dict[int, str] = {}
        for record in records:
            if record.game != name or (whose != "all" and record.result not in (0.0, 1.0)):
                continue
            winner = Player.first if record.result == 1.0 else Player.second
            # The last position has no move.
            for code, before in zip(
                record.moves[:plies].tolist(), record.positions(), strict=False
            ):
                if whose != "winners" or before.to_play is winner:
                    if before.hash not in counts:
                        counts[before.hash] = Counter()
                        texts[before.hash] = before.text
                    counts[before.hash][code] += 1
        if least > 1:
            frequent = {
                at: Counter({code: count for code, count in moves.items() if count >= least})
                for at, moves in counts.items()
            }
            counts = {at: moves for at, moves in frequent.items() if moves}
        return cls(name, counts, {at: texts[at] for at in counts})

    @classmethod
    def from_file(cls, game: str, path: str | Path | ModelFile, *, plies: int = PLIES) -> "Book":
        """Read a book from a file that `save` wrote, or from records, counting all moves.

        Raises SourceError if there is no book of this game. `plies` applies to records.
        """
        if not isinstance(path, ModelFile) and _is_model_file(Path(path)):
            path = read_model_file(path)
        if isinstance(path, ModelFile):
            path.check("book", game_facts(game).name)
            if path.content.startswith(_FIRST_LINE):
                return cls._from_lines(game_facts(game).name, path)
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

    @classmethod
    def _from_lines(cls, game: str, model_file: ModelFile) -> "Book":
        counts: dict[int, Counter[int]] = {}
        texts: dict[int, str] = {}
        lines = model_file.content.decode("utf-8", "replace").split("\n")[1:-1]
        for number, line in enumerate(lines, 2):
            text, *fields = line.split("\t")
            try:
                at = position(game, text)
                moves = Counter(
                    {
                        at.parse(move).code: int(count)
                        for move, count in zip(fields[::2], fields[1::2], strict=True)
                    }
                )
                if not moves or min(moves.values()) < 1 or at.hash in counts:
                    raise ValueError("no moves, a count below one, or a position twice")
            except ValueError as error:
                raise SourceError(f"{model_file}: line {number}: {shown(line)}: {error}") from None
            counts[at.hash] = moves
            texts[at.hash] = text
        if not counts:
            raise SourceError(f"{model_file}: a book without a position")
        return cls(game, counts, texts)

    def _content(self) -> bytes:
        # One line per position, with its moves, the most frequent first.
        move = game_facts(self.game).move
        lines = []
        for at, moves in self.counts.items():
            ordered = sorted(moves.items(), key=lambda each: (-each[1], each[0]))
            fields = (f"{move(code)}\t{count}" for code, count in ordered)
            lines.append("\t".join([self.texts[at], *fields]))
        return _FIRST_LINE + "".join(f"{line}\n" for line in sorted(lines)).encode()

    @property
    def fingerprint(self) -> str:
        """A short hash of the book."""
        lines = (f"{position} {sorted(moves.items())}" for position, moves in self.counts.items())
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12]

    @property
    def moves_in_all(self) -> int:
        """The number of distinct moves, summed over positions."""
        return sum(map(len, self.counts.values()))

    def moves(self, position: Position) -> dict[Move, int]:
        """List the legal book moves of a position with their counts."""
        counts = self.counts.get(position.hash, Counter())
        return {move: counts[move.code] for move in position.legal_moves if move.code in counts}

    def codes(self) -> dict[int, list[int]]:
        """The moves by position hash, for the compiled core."""
        return {position: list(moves) for position, moves in self.counts.items()}


def _is_model_file(path: Path) -> bool:
    """Whether a file has a model header; records may be a folder, or of any size."""
    try:
        with open_regular(path) as file:  # a pipe can be read only once
            return file.read(len(_HEADER)) == _HEADER
    except OSError:
        return False
