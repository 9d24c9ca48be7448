# SPDX-License-Identifier: Apache-2.0
"""A position as engines are told it: where the game began and what was played since."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyoka._core import Player, Reason
from hyoka.evaluation import Evaluation
from hyoka.games import GAMES, game_type, position


@dataclass(frozen=True, slots=True)
class EnginePosition:
    """A start and the moves since, all in the words of `hyoka.games`.

    >>> EnginePosition("chess", moves=["e2e4", "e7e5"]).replay()[1].to_play
    Player.first
    """

    game: str
    """A name of `hyoka.games.GAMES`, or another name for one (`go`, `reversi`)."""
    start: str | None = None
    """The text of the first position, as `from_text` reads it; None is the usual start."""
    moves: Sequence[str] = ()
    """As `str(move)` writes them."""
    komi: float = 7.5
    """For Go from the usual start; another start's text says its own."""

    def __post_init__(self) -> None:
        if self.game not in GAMES:
            kind = game_type(self.game)
            name = next(name for name, other in GAMES.items() if other is kind)
            object.__setattr__(self, "game", name)

    def replay(self) -> tuple[Any, Any]:
        """The first and the last position, under the rules of movement alone.

        Under these, no count of moves and no lack of material ends a game, since records go on
        where a draw could be claimed. What is not legal raises, so that no engine gets to see it:
        UCI engines drop an illegal move and all that follow without a word.
        """
        return Replayer()(self)

    def describe(self) -> str:
        """The position on one line, for messages."""
        start = self.start if self.start is not None else "start"
        return f"{self.game} {start} moves {' '.join(self.moves)}".removesuffix(" moves ")


class Replayer:
    """Replays positions; one that goes on where the last one ended costs only its new moves."""

    def __init__(self) -> None:
        self._start: tuple[str, str | None] | None = None
        self._first: Any = None
        self._moves: tuple[str, ...] = ()
        self._last: Any = None

    def __call__(self, given: EnginePosition) -> tuple[Any, Any]:
        """The first and the last position; see `EnginePosition.replay`."""
        start = (given.game, given.start)
        if start != self._start:
            self._first = position(given.game, given.start).movement_only()
            self._start, self._moves, self._last = start, (), self._first
        moves = tuple(given.moves)
        known = len(self._moves)
        last = self._last
        if moves[:known] != self._moves:
            last, known = self._first, 0
        for move in moves[known:]:
            last = last.play(move)
        self._moves, self._last = moves, last
        return self._first, last


def finished(game: str, last: Any) -> Evaluation | None:
    """What the rules alone say of a finished game; None while it goes on.

    Never for Go: two passes end it, but not the dispute about which stones are dead, and there
    engines know more than the count of what stands on the board.
    """
    outcome = last.outcome
    if outcome is None or game.startswith("go"):
        return None
    if outcome.reason is Reason.checkmate:
        return Evaluation.seen_by(last.to_play, mate=0)
    value = outcome.value
    by_points = game in ("othello", "blokus_duo")
    return Evaluation.seen_by(
        Player.first,
        wdl=(float(value == 1), float(value == 0.5), float(value == 0)),
        score=float(last.score) if by_points else 0.0 if value == 0.5 else None,
        unit="points" if by_points else "centipawns",
    )
