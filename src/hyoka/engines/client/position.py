# SPDX-License-Identifier: Apache-2.0
"""A position as engines are told it: where the game began and what was played since."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hyoka._core import Player, Reason
from hyoka.games import Position, game_facts, position
from hyoka.games.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class EnginePosition:
    """A start and the moves since, all in the words of `hyoka.games`.

    >>> EnginePosition("chess", moves=["e2e4", "e7e5"]).replay().last.to_play
    Player.first
    """

    game: str
    """A name of `hyoka.GAMES`, or another name for one (`go`, `reversi`)."""
    start: str | None = None
    """The text of the first position, as `from_text` reads it; None is the usual start."""
    moves: Sequence[str] = ()
    """As `parse` reads them; engines are sent what `str(move)` writes."""
    komi: float = 7.5
    """For Go from the usual start; another start's text says its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", game_facts(self.game).name)

    def replay(self) -> "Replay":
        """The position as the rules see it, under those of movement alone.

        Under these, no count of moves and no lack of material ends a game, since records go on
        where a draw could be claimed. What is not legal raises, so that no engine gets to see it:
        UCI engines drop an illegal move and all that follow without a word.
        """
        return Replayer()(self)

    def describe(self) -> str:
        """The position on one line, for messages."""
        start = self.start if self.start is not None else "start"
        return f"{self.game} {start} moves {' '.join(self.moves)}".removesuffix(" moves ")


class Replay(NamedTuple):
    """A position as the rules see it: where it began, where it stands, and our moves between."""

    first: Position
    last: Position
    moves: tuple[str, ...]


class Replayer:
    """Replays positions; one that goes on where the last one ended costs only its new moves."""

    def __init__(self) -> None:
        self._start: tuple[str, str | None] | None = None
        self._given: tuple[str, ...] = ()
        self._known: Replay | None = None

    def __call__(self, given: EnginePosition) -> Replay:
        """Replay a position; see `EnginePosition.replay`."""
        start = (given.game, given.start)
        if start != self._start or self._known is None:
            first = position(given.game, given.start).movement_only()
            self._start, self._given, self._known = start, (), Replay(first, first, ())
        texts = tuple(given.moves)
        count = len(self._given)
        first, last, moves = self._known
        if texts[:count] != self._given:
            last, moves, count = first, (), 0
        new = []
        for text in texts[count:]:
            move = last.parse(text)
            last = last.play(move)
            new.append(str(move))
        self._given, self._known = texts, Replay(first, last, (*moves, *new))
        return self._known


def finished(game: str, last: Position) -> Evaluation | None:
    """What the rules alone say of a finished game; None while it goes on.

    Never for Go: two passes end it, but not the dispute about which stones are dead, and there
    engines know more than the count of what stands on the board.
    """
    outcome = last.outcome
    facts = game_facts(game)
    if outcome is None or facts.disputed_ends:
        return None
    if outcome.reason is Reason.checkmate:
        return Evaluation.seen_by(last.to_play, mate=0)
    value = outcome.value
    return Evaluation.seen_by(
        Player.first,
        wdl=(float(value == 1), float(value == 0.5), float(value == 0)),
        score=float(last.score) if facts.by_points else 0.0 if value == 0.5 else None,
        unit=facts.unit,
    )
