# SPDX-License-Identifier: Apache-2.0
"""The interface of agents and their roles: evaluator, player and solver."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.engines import EnginePosition, Failure
from hyoka.foundation.errors import NotationError
from hyoka.games import AnyLine, Line, Position, Replay, replay_of
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation
from hyoka.parallel import Resource
from hyoka.records.problems import Exercise
from hyoka.search import SearchLimits, SearchTree
from hyoka.search.search_result import OnResult
from hyoka.storage.table_files import MatchedRows


class Spec(Protocol):
    """The value that names an agent; it is picklable.

    `str` adds the names of parts that the text does not determine.
    """

    @property
    def text(self) -> str:
        """The text that `spec_of` reads."""

    @property
    def title(self) -> str:
        """A short name for people."""

    @property
    def id(self) -> str:
        """A readable, unique and stable identifier, as in the names of files."""

    @property
    def dependencies(self) -> Mapping[str, str]:
        """Hashes, by name, of the files and functions that the text does not determine."""


S = TypeVar("S", bound=Spec)
_CALIBRATION: Final = re.compile(r"([:,])\s*calibration\s*=([^,]*)(?:,|$)")
"""The setting `calibration` of any agent."""


class EvaluationSource(Protocol):
    """A study, as seen by agents that read evaluations instead of computing them."""

    @property
    def path(self) -> Path:
        """Its folder, for messages."""

    @property
    def game(self) -> str:
        """Its game."""

    def remarks(self) -> pa.Table:
        """Return the remarks with evaluations, ordered by game, ply and author.

        Beside the columns of evaluations there are `mover` (`first` or `second`, who has just
        moved; null at the start) and the players' names as `first` and `second`.
        """

    def find_rows(self, table: pa.Table, source: str) -> MatchedRows:
        """Match the rows of a table to positions; `source` is the table's name for messages."""


@dataclass(frozen=True, eq=False)
class RecordedEvaluations:
    """Evaluations of one evaluator, read by an agent for a study to store."""

    spec: Spec
    rows: pa.Table = field(repr=False)
    """`game_id`, `ply` and columns of evaluations; missing ones are null."""
    identity: Mapping[str, str]
    """Entries of the manifest."""
    notes: Sequence[str] = ()
    """Notes for the caller, one line each."""


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A recorded game, and which of its positions to evaluate."""

    game: str
    number: int
    start: str
    komi: float
    """NaN if the record has none."""
    codes: bytes
    """The moves' codes, two bytes each."""
    plies: Sequence[int]
    """The number of moves before each position to evaluate."""

    @classmethod
    def of_line(cls, game: str, line: Line, plies: Sequence[int] | None = None) -> "RecordedGame":
        """Return a line as a game; by default its last position is to be evaluated."""
        moves = line.moves
        return cls(
            game,
            0,
            line.start.text,
            getattr(line.start, "komi", math.nan),
            np.array([move.code for move in moves], np.uint16).tobytes(),
            [len(moves)] if plies is None else plies,
        )

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The codes of the moves."""
        return np.frombuffer(self.codes, dtype=np.uint16)

    def lines(self) -> Iterator[Line]:
        """Iterate over the lines up to the positions to evaluate."""
        return map(self._replay().line, self.plies)

    def positions(self) -> Iterator[Position]:
        """Iterate over the positions to evaluate, without history."""
        return map(self._replay().position, self.plies)

    def _replay(self) -> Replay:
        return replay_of(self.game, self.start, self.komi, self.moves)

    def engine_positions(self) -> Iterator[EnginePosition]:
        """Iterate over the positions to evaluate in the form that engines take."""
        texts = _core.move_texts(self.game, self.start, self.komi, self.moves, "")
        komi = 0.0 if np.isnan(self.komi) else self.komi
        for ply in self.plies:
            yield EnginePosition(self.game, self.start or None, texts[:ply], komi)


class Evaluator(Resource, Protocol):
    """An agent that evaluates positions, each independently of the others."""

    def identity(self) -> tuple[str, str]:
        """Return the name and version; start the agent if necessary. Raises EngineError."""

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation | Failure]:
        """Evaluate the games' positions in order."""


@runtime_checkable
class TreeEvaluator(Evaluator, Protocol):
    """An evaluator that shows its tree, and results while it works."""

    def search_tree(self, line: Line, on_result: OnResult) -> SearchTree:
        """Evaluate a line's last position."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The input of a player that is to move."""

    line: AnyLine
    position: EnginePosition | None
    """The position in the form that engines take; None for a game written in Python."""
    clocks: tuple[Clock, Clock] | None
    """The clocks of the first and the second player, if the player to move has one."""


class GamePlayer(Protocol):
    """An agent that plays a game."""

    async def new_game(self, seed: int) -> None:
        """Forget previous games; equal seeds give equal games."""

    async def play(self, turn: Turn) -> Evaluation:
        """Choose a move (or `resign`, `win`) and evaluate it. Raises EngineError."""

    async def close(self) -> None:
        """Release the player's resources."""

    def stop(self) -> None:
        """Make `play` return soon; called from another thread."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A solver's answer: a move, its claims and its cost."""

    move: str | None
    mate: int | None = None
    """Positive if the first player mates, negative if the second does."""
    score: float | None = None
    """The proven exact score, seen by the first player."""
    time_s: float = 0.0
    nodes: int = 0
    depth: int = 0
    passes: bool | None = None
    """Whether the answer to a GTP test passes; `move` is the answer."""


class Solver(Resource, Protocol):
    """An agent that solves problems one at a time, each independently of the others."""

    def start(self) -> None:
        """Start the agent unless it is running. Raises EngineError."""

    def answer(self, exercise: Exercise) -> Answer:
        """Answer an exercise. Raises NotAsked if the agent cannot take it, Error on failure."""


ROLES: Final = ("evaluator", "player", "solver")
"""The roles of agents: the methods of `Agent` that return them."""


class Agent(Generic[S]):
    """An agent: its static properties, and factories for its roles.

    Subclasses override the properties and roles that they support.
    """

    prefixes: ClassVar[tuple[str, ...]] = ()
    """The prefixes of the specs' texts, before the colon; empty if no text names the agent."""
    spec_type: ClassVar[type[Any]]
    names_program: ClassVar[bool] = False
    """Whether a text names a program to execute, so that it must come from the user."""
    replaces_evaluations: ClassVar[bool] = False
    """Whether evaluations that it reads replace all former ones of the same name."""

    def __init__(self, spec: S) -> None:
        self.spec = spec

    def title_of(self, program: str) -> str:
        """Return the title, given the name and version that the agent reports."""
        return self.spec.title

    @property
    def threads(self) -> int:
        """The number of search threads, as far as the spec says."""
        return 1

    @property
    def memory_mib(self) -> int:
        """The size of its tables and trees in MiB, as far as the spec says."""
        return 0

    @property
    def has_limits(self) -> bool:
        """Whether it limits its work without limits from a caller."""
        return True

    @property
    def best_limit(self) -> str:
        """The field of `SearchLimits` that limits its strength best."""
        return "time_s"

    @property
    def is_single_threaded(self) -> bool:
        """Whether the agent is known to use a single thread."""
        return False

    @property
    def default_game(self) -> str | None:
        """The game it plays by default; None if it plays several."""
        return None

    @property
    def seed(self) -> int:
        """The random seed of the spec."""
        return 0

    @property
    def move_time_s(self) -> float | None:
        """The time limit per move in seconds that a referee enforces."""
        return None

    @property
    def speaks_gtp(self) -> bool:
        """Whether it can take GTP tests."""
        return False

    @classmethod
    def roles(cls, prefix: str, game: str) -> frozenset[str]:
        """Return the roles in a game of the agents with a prefix.

        By default those that the class overrides.
        """
        return frozenset(role for role in ROLES if cls.takes(role))

    @classmethod
    def split_calibration(cls, text: str) -> tuple[str, str | None]:
        """Split a spec's text into the text without the setting `calibration`, and its file.

        >>> Agent.split_calibration("ab:calibration=a.json,nodes=9"), Agent.split_calibration("ab")
        (('ab:nodes=9', 'a.json'), ('ab', None))
        """
        match = _CALIBRATION.search(text)
        if match is None:
            return text, None
        rest = text[match.end() :]
        return text[: match.start()] + (match[1] + rest if rest else ""), match[2].strip()

    @classmethod
    def join_calibration(cls, text: str, file: str) -> str:
        """Add the setting `calibration` to a spec's text.

        >>> Agent.join_calibration("ab:nodes=9", "a.json")
        'ab:nodes=9,calibration=a.json'
        """
        return f"{text}{',' if ':' in text else ':'}calibration={file}"

    @classmethod
    def takes(cls, role: str) -> bool:
        """Whether agents of this kind take a role at all."""
        return getattr(cls, role) is not getattr(Agent, role)

    def spec_for(self, game: str) -> S:
        """Return the spec with the game's defaults resolved."""
        return self.spec

    def check(self, game: str, *, here: bool) -> None:
        """Validate the agent for a game; `here` tells whether it runs on this machine."""

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations] | None:
        """Read evaluations from a study's records or a file; None if the agent computes them."""
        return None

    def evaluator(self, game: str, limits: SearchLimits | None = None) -> Evaluator:
        """Return an evaluator for a game; `limits` override the spec's."""
        raise NotationError(f"{self.spec.title} can't evaluate single positions")

    def player(self, game: str, name: str, limits: SearchLimits | None = None) -> GamePlayer:
        """Return a player for a game; raises NotationError if there is none."""
        raise NotationError(f"{self.spec.title} can't play games")

    def solver(self, limits: SearchLimits | None = None) -> Solver:
        """Return a solver for all games; `limits` override the spec's."""
        raise NotationError(f"{self.spec.title} can't solve problems")
