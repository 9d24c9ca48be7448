# SPDX-License-Identifier: Apache-2.0
"""What every kind of contestant has in common, whether it evaluates, plays or solves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.engines import EnginePosition, Failure
from hyoka.foundation.errors import NotationError
from hyoka.games import AnyLine, Line, Position, Replay, registered_start, replay_of
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation
from hyoka.parallel import Resource
from hyoka.records.problems import Exercise
from hyoka.search import SearchLimits


class Spec(Protocol):
    """What names a contestant: a value that travels, and that tells it from all others."""

    @property
    def text(self) -> str:
        """The text that names it."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def slug(self) -> str:
        """A readable name for a folder, unique to what it is."""

    @property
    def contents(self) -> Mapping[str, str]:
        """What its text does not tell: files and functions by name, each by what tells it."""

    @property
    def model_files(self) -> Mapping[str, object]:
        """Those of its contents that are files, by the same names."""


S = TypeVar("S", bound=Spec)


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game as its record has it, and those of its positions that are asked about."""

    game: str
    number: int
    start: str
    komi: float
    """NaN where the record has none."""
    codes: bytes
    """Of the moves, two bytes each."""
    plies: Sequence[int]
    """The moves before each position that is asked about."""

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The codes of the moves."""
        return np.frombuffer(self.codes, dtype=np.uint16)

    def lines(self) -> Iterator[Line]:
        """The lines up to the positions that are asked about, as a search may go on from them."""
        return map(self._replay().line, self.plies)

    def positions(self) -> Iterator[Position]:
        """The positions that are asked about, by themselves."""
        return map(self._replay().position, self.plies)

    def _replay(self) -> Replay:
        return replay_of(self.game, self.start, self.komi, self.moves)

    def as_told(self) -> Iterator[EnginePosition]:
        """The positions that are asked about, as engines are told them."""
        texts = _core.move_texts(self.game, self.start, self.komi, self.moves, "")
        komi = 0.0 if np.isnan(self.komi) else self.komi
        for ply in self.plies:
            yield EnginePosition(self.game, self.start or None, texts[:ply], komi)


class Evaluator(Resource, Protocol):
    """A contestant that evaluates positions, each as if it were the first."""

    def identity(self) -> tuple[str, str]:
        """Its name and version; it is started if it was not, which may raise EngineError."""

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation | Failure]:
        """What it says of the positions that are asked about, in their order."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a player sees when it is to move."""

    line: AnyLine
    position: EnginePosition | None
    """The same, as engines are told it; None of a game written in Python."""
    clocks: tuple[Clock, Clock] | None
    """The first player's and the second's, if the player has one."""


class GamePlayer(Protocol):
    """A contestant at the board."""

    async def new_game(self, seed: int) -> None:
        """Forget what was before; the same seed, the same chance."""

    async def play(self, turn: Turn) -> Evaluation:
        """Choose a move (or `resign`, `win`), with what is thought of it; raises EngineError."""

    async def close(self) -> None:
        """Leave the board."""

    def stop(self) -> None:
        """Make `play` end soon; called from another thread."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver says: a move, what is claimed for it, and what it cost."""

    move: str | None
    mate: int | None = None
    """> 0, the first player mates; < 0, the second."""
    score: float | None = None
    """The exact score, seen by the first player, if it was proved."""
    time_s: float = 0.0
    nodes: int = 0
    depth: int = 0
    passes: bool | None = None
    """Whether the answer to a test in GTP passes; `move` is that answer."""


class Solver(Resource, Protocol):
    """A contestant that answers exercises, one at a time, each as if it were the first."""

    def start(self) -> None:
        """Begin, unless it has; raises EngineError if it can't."""

    def answer(self, exercise: Exercise) -> Answer:
        """Answer an exercise; raises NotAsked if it can't be asked, and Error if it goes wrong."""


PYTHON_GAMES = "python:"
"""What the names of games written in Python begin with in matches."""


def is_in_python(game: str) -> bool:
    """Whether the game of a match or a study is written in Python."""
    return game.startswith(PYTHON_GAMES) or registered_start(game) is not None


class Agent(Generic[S]):
    """Whoever a spec names: what is known of it beforehand, and it at work.

    A kind overrides what it knows and what it can do; the rest it refuses in clear words.
    """

    prefixes: ClassVar[tuple[str, ...]] = ()
    """What the texts of its specs begin with, up to a colon; none if no text names it."""
    spec_type: ClassVar[type[Any]]

    def __init__(self, spec: S) -> None:
        self.spec = spec

    @classmethod
    def is_named(cls, prefix: str) -> bool:
        """Whether a text that begins so names one of this kind."""
        return prefix in cls.prefixes

    @classmethod
    def read(cls, text: str) -> S:
        """The spec that a text names; raises NotationError."""
        spec: S = cls.spec_type.from_text(text)
        return spec

    @property
    def label(self) -> str:
        """What tells it from others in a list of players."""
        return self.spec.title

    @property
    def full_text(self) -> str:
        """Its text, with the names of what has none: what whoever asks for it again must say."""
        return self.spec.text

    @property
    def threads(self) -> int:
        """How many threads it thinks with, as far as its text says."""
        return 1

    @property
    def keeps_to_a_core(self) -> bool:
        """Whether it is known to work in a single thread."""
        return False

    @property
    def default_game(self) -> str | None:
        """What it plays if nobody says; None if it plays many games."""
        return None

    @property
    def seed(self) -> int:
        """The chance that its text asks for."""
        return 0

    @property
    def move_time_s(self) -> float | None:
        """The seconds a move that it asked for and that a referee holds it to."""
        return None

    @property
    def speaks_gtp(self) -> bool:
        """Whether it can be given tests in GTP's words."""
        return False

    def spec_for(self, game: str) -> S:
        """Its spec where the game is known: what the text leaves to it counts from then on."""
        return self.spec

    def check(self, game: str, *, here: bool) -> None:
        """Raise at once what would go wrong with a game; `here`: it will work on this machine."""

    def evaluator(self, game: str) -> Evaluator:
        """It, evaluating positions of a game."""
        raise NotationError(f"{self.spec.title} can't evaluate positions")

    def game_player(self, game: str, name: str) -> GamePlayer:
        """It, playing a game under a name; raises NotationError if it never can."""
        raise NotationError(f"{self.spec.title} can't play games")

    def solver(self, limits: SearchLimits | None) -> Solver:
        """It, solving problems of any game; `limits` go before its own."""
        raise NotationError(f"{self.spec.title} can't solve problems")
