# SPDX-License-Identifier: Apache-2.0
"""Bulk operations on the positions of many games, in the compiled core and on all cores.

Games are passed to the core as one table. An operation replays each game once, without the GIL;
Ctrl-C ends it. Results do not depend on the number of threads.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self, TypedDict, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import StudyError
from hyoka.games import Replay, game_facts, game_type, replay_of
from hyoka.parallel import usable_cores
from hyoka.records.record import Record

Progress = Callable[[int], None]
"""A callback that regularly receives the number of completed positions."""
UNFINISHED: Final = 2
"""The value in `GameTable.outcomes` of a position in which the game goes on."""
_AT_ONCE: Final = 50_000
"""Default number of positions per batch: shogi's terms are 1 kB each."""


class Work(TypedDict, total=False):
    """Options of every bulk operation."""

    threads: int | None
    """By default as many as this process may use."""
    progress: Progress | None


def _resources(work: Work) -> tuple[int, Progress | None]:
    return work.get("threads") or usable_cores(), work.get("progress")


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of numbers in one array: list i is `items[offsets[i]:offsets[i + 1]]`."""

    offsets: NDArray[np.int64]
    items: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.uint16]:
        return self.items[self.offsets[index] : self.offsets[index + 1]]


@dataclass(frozen=True, eq=False)
class Terms:
    """Sparse term counts of an evaluation by position."""

    count: int
    """Number of terms of the evaluation."""
    offsets: NDArray[np.int64]
    """Position i's terms are those from offsets[i] to offsets[i + 1]."""
    terms: NDArray[np.int32]
    """Term indices, ascending within a position."""
    amounts: NDArray[np.float32]
    progress: NDArray[np.float32]
    """0 at the start of a game to 1 at its end: interpolates opening and ending weights."""

    def __len__(self) -> int:
        return len(self.progress)

    def matrix(self) -> Any:
        """Convert the amounts to a SciPy sparse matrix: a row per position, a column per term."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - it takes a while to import

        shape = (len(self), self.count)
        return csr_array((self.amounts, self.terms, self.offsets), shape=shape)


@dataclass(frozen=True, eq=False)
class QuietTerms:
    """Quiet positions at the end of quiescence searches, with their terms."""

    terms: Terms
    """The terms of the last position."""
    scores: NDArray[np.int32]
    """Scores of the searches, for the first player."""
    rests: NDArray[np.bool_]
    """Whether the score is the last position's evaluation: neither a mate nor a draw by rule."""
    moves: Lists
    """The moves to the last position, as codes."""


@dataclass(frozen=True, eq=False)
class MoveFeatures:
    """The legal moves of positions and their features, from which strengths are fitted."""

    moves: Lists
    """By position: codes of the legal moves, without superko."""
    features: Lists
    """By move: the features of all positions' moves, concatenated."""
    played: NDArray[np.int32]
    """By position: the index of the record's move; -1 after the last."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ranks of the moves played in a move model, by position."""

    ranks: NDArray[np.int32]
    """1 for the best; 0 where no move was played, or none that is legal."""
    choices: NDArray[np.int32]
    """The number of legal moves."""
    losses: NDArray[np.float32]
    """-log of the played move's probability by the strengths; NaN without a move."""
    entropies: NDArray[np.float32]
    """The entropy of the probabilities in nats; NaN without legal moves."""


@dataclass(frozen=True, eq=False)
class Weighings:
    """Strengths of all legal moves in a move model, by position."""

    offsets: NDArray[np.int64]
    """Position i's moves are those from offsets[i] to offsets[i + 1]."""
    strengths: NDArray[np.float32]
    played: NDArray[np.int32]
    """By position: the index of the record's move; -1 after the last."""


@dataclass(frozen=True, eq=False)
class Planes:
    """Positions in a network's encoding, and the moves played there."""

    names: tuple[str, ...]
    """The names of the planes."""
    planes: NDArray[np.uint8]
    """By position, plane, row and column of the board as drawn."""
    played: NDArray[np.int32]
    """By position: the code of the record's move; -1 after the last."""
    legal: Lists | None
    """By position: codes of the legal moves, without superko; None unless requested."""


@dataclass(frozen=True, eq=False)
class GameTable:
    """A table of games and of selected positions, one row each.

    Rows are in the order of games and, within a game, of plies. `Study.game_table` makes a table of
    a study's games.

    >>> import hyoka as hk
    >>> codes = [hk.Othello().parse(move).code for move in ("d3", "c5")]
    >>> table = GameTable.from_records([Record("othello", np.array(codes, np.uint16))])
    >>> table.plies.tolist(), table.outcomes().tolist()
    ([0, 1, 2], [2, 2, 2])
    """

    game: str
    ids: NDArray[np.int64]
    """By game: its number."""
    starts: pa.Array
    """By game: the text of its initial position; empty for the default."""
    komi: NDArray[np.float64]
    """By game: komi; NaN for none."""
    move_offsets: NDArray[np.int64]
    """Game i's moves are those from move_offsets[i] to move_offsets[i + 1]."""
    moves: NDArray[np.uint16]
    """Move codes."""
    row_offsets: NDArray[np.int64]
    """Game i's rows, likewise."""
    plies: NDArray[np.int32]
    """By row: moves played before the position."""

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Self:
        """Build a table of all positions of some records of one game, numbered from 0."""
        games = list(records)
        kinds = {record.game for record in games}
        if len(kinds) != 1:
            raise StudyError(f"a table is of one game, not of {', '.join(sorted(kinds)) or 'none'}")
        return cls.of_all_positions(
            kinds.pop(),
            ids=np.arange(len(games)),
            starts=pa.array([record.start for record in games], pa.string()),
            komi=np.array([np.nan if record.komi is None else record.komi for record in games]),
            move_offsets=_offsets(np.array([len(record) for record in games])),
            moves=np.concatenate([record.moves for record in games]),
        )

    @classmethod
    def of_all_positions(
        cls,
        game: str,
        *,
        ids: NDArray[np.int64],
        starts: pa.Array,
        komi: NDArray[np.float64],
        move_offsets: NDArray[np.int64],
        moves: NDArray[np.uint16],
        keep: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Build a table from the start to after the last move of each game that `keep` marks."""
        lengths = np.diff(move_offsets) + 1
        if keep is not None:
            lengths = np.where(keep, lengths, 0)
        rows = _offsets(lengths)
        plies = np.arange(rows[-1]) - np.repeat(rows[:-1], lengths)
        return cls(game, ids, starts, komi, move_offsets, moves, rows, plies.astype(np.int32))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle all fields but the core's view, which is rebuilt on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "in_core"}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.plies)

    @property
    def game_ids(self) -> NDArray[np.int64]:
        """By row: the number of its game."""
        return np.repeat(self.ids, np.diff(self.row_offsets))

    @property
    def played(self) -> NDArray[np.int32]:
        """By row: the code of the record's move there; -1 after the last."""
        ends = np.repeat(self.move_offsets[1:], np.diff(self.row_offsets))
        places = np.repeat(self.move_offsets[:-1], np.diff(self.row_offsets)) + self.plies
        codes = np.full(len(self), -1, np.int32)
        codes[places < ends] = self.moves[places[places < ends]]
        return codes

    def some(self, positions: int, *, seed: int = 0) -> Self:
        """Draw up to `positions` positions of the games at random.

        Positions after the last move are not drawn.
        """
        ends = np.repeat(np.diff(self.move_offsets), np.diff(self.row_offsets))
        usable = np.flatnonzero(self.plies < ends)
        if positions < len(usable):
            usable = np.sort(np.random.default_rng(seed).choice(usable, positions, replace=False))
        offsets = np.searchsorted(usable, self.row_offsets).astype(np.int64)
        return dataclasses.replace(self, row_offsets=offsets, plies=self.plies[usable])

    def chunks(self, positions: int = _AT_ONCE) -> Iterator[Self]:
        """Split into tables of complete games with about `positions` rows, to bound memory."""
        last = len(self.ids)
        begin = 0
        while begin < last:
            limit = self.row_offsets[begin] + positions
            end = int(np.searchsorted(self.row_offsets, limit, side="right")) - 1
            end = min(max(end, begin + 1), last)
            rows = self.row_offsets[begin : end + 1]
            if rows[-1] > rows[0]:
                yield dataclasses.replace(
                    self,
                    ids=self.ids[begin:end],
                    starts=self.starts.slice(begin, end - begin),
                    komi=self.komi[begin:end],
                    move_offsets=self.move_offsets[begin : end + 1],
                    row_offsets=rows - rows[0],
                    plies=self.plies[rows[0] : rows[-1]],
                )
            begin = end

    def replays(self) -> Iterator[tuple[int, Replay, list[int]]]:
        """Yield each game with rows: its number, its replay, and the selected plies."""
        for index, game in enumerate(self.ids.tolist()):
            plies = self.plies[self.row_offsets[index] : self.row_offsets[index + 1]].tolist()
            if plies:
                codes = self.moves[self.move_offsets[index] : self.move_offsets[index + 1]]
                start, komi = self.starts[index].as_py(), float(self.komi[index])
                yield game, replay_of(self.game, start, komi, codes), plies

    def positions(self) -> Iterator[Any]:
        """Yield the selected positions; each game is replayed once."""
        for _, replay, plies in self.replays():
            yield from map(replay.position, plies)

    @cached_property
    def in_core(self) -> _core.GameTable:
        """The table in the compiled core; raises NotationError for games in Python."""
        game_facts(self.game)
        _, offsets, texts = self.starts.buffers()
        begin = self.starts.offset
        return _core.GameTable(
            self.game,
            self.ids,
            np.frombuffer(offsets, np.int32)[begin : begin + len(self.starts) + 1],
            np.frombuffer(texts if texts is not None else b"", np.uint8),
            self.komi,
            self.move_offsets,
            self.moves,
            self.row_offsets,
            self.plies,
        )

    def describe(self, columns: Sequence[str], **work: Unpack[Work]) -> dict[str, NDArray[Any]]:
        """Compute the columns that describe the positions, and `first_to_play`."""
        return self.in_core.describe(columns, *_resources(work))

    def outcomes(self, **work: Unpack[Work]) -> NDArray[np.int8]:
        """Return the outcomes of positions by the rules alone: 1, 0, -1, or UNFINISHED."""
        return self.in_core.outcomes(*_resources(work))

    def terms(self, **work: Unpack[Work]) -> Terms:
        """Count the terms of the game's evaluation."""
        return Terms(self._terms, *self.in_core.terms(*_resources(work)))

    def quiet_terms(self, weights: NDArray[np.float32], **work: Unpack[Work]) -> QuietTerms:
        """Run quiescence searches with these weights, and count the terms where they end.

        The weights are those of `LinearEvaluation.flat`. The searches follow captures, promotions
        and evasions until the position is quiescent, without pruning; chess and shogi support
        them.
        """
        terms, scores, rests, moves = self.in_core.quiet_terms(weights.tolist(), *_resources(work))
        return QuietTerms(Terms(self._terms, *terms), scores, rests.view(np.bool_), Lists(*moves))

    @property
    def _terms(self) -> int:
        return len(_core.evaluation_terms(game_facts(self.game).name)[0])

    def move_features(self, **work: Unpack[Work]) -> MoveFeatures:
        """Return each position's legal moves, their features, and the move played."""
        moves, features, played = self.in_core.move_features(*_resources(work))
        return MoveFeatures(Lists(*moves), Lists(*features), played)

    def competitions(
        self, *, shapes: _core.GoShapes | None = None, **work: Unpack[Work]
    ) -> _core.Competitions:
        """Return the moves of many positions as teams of features, of which the move played won.

        Shapes of stones (Go) are features, too, numbered after the game's own.
        """
        return _core.Competitions.of_table(self.in_core, shapes, *_resources(work))

    def shapes_played(self, **work: Unpack[Work]) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Hash the surroundings of moves played (Go): symmetric hashes by size, packed shapes."""
        return _core.shapes_played(self.in_core, *_resources(work))

    def predictions(self, model: _core.Model, **work: Unpack[Work]) -> Predictions:
        """Rank the moves played by a move model; ties go to the first move."""
        return Predictions(*self.in_core.predict(model, *_resources(work)))

    def weighings(self, model: _core.Model, **work: Unpack[Work]) -> Weighings:
        """Return the strength of each legal move in a move model."""
        (offsets, strengths), played = self.in_core.weigh(model, *_resources(work))
        return Weighings(offsets, strengths, played)

    def grown_tree(
        self,
        *,
        threshold: int,
        symmetric: bool = False,
        tactics: bool = False,
        **work: Unpack[Work],
    ) -> _core.MetsTree:
        """Fit METS to the moves played; `symmetric`: over all eight orientations of each."""
        resources = _resources(work)
        return _core.MetsTree.grow(self.in_core, threshold, symmetric, tactics, *resources)

    def counted_tree(self, tree: _core.MetsTree, **work: Unpack[Work]) -> _core.MetsTree:
        """Count how often the empty points of each leaf of the tree were the move played."""
        return tree.counted(self.in_core, *_resources(work))

    def planes(self, *, legal: bool = False, **work: Unpack[Work]) -> Planes:
        """Encode positions as planes, always in the first player's view, with the legal moves."""
        planes, played, moves = self.in_core.planes(legal, *_resources(work))
        names = tuple(_core.plane_names(self.game))
        board = game_type(self.game)().cells.shape
        shaped = planes.reshape(len(self), len(names), *board)
        return Planes(names, shaped, played, Lists(*moves) if legal else None)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the start of each run of these lengths, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
