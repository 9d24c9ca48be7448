# SPDX-License-Identifier: Apache-2.0
"""Additive results of games, pairs of games and matches, from one player's view.

`a + b` joins results; `~a` is the other player's view.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

NO_RATE: Final = 0.5
"""The rate without games: neutral."""


def _check_counts(*counts: int) -> None:
    if any(count != int(count) or count < 0 for count in counts):
        raise ValueError(f"games are counted from 0, not {counts}")


@dataclass(frozen=True, slots=True)
class Score:
    """Games won, drawn and lost.

    >>> score = Score(wins=6, draws=2, losses=2)
    >>> score.points, score.rate, ~score
    (7.0, 0.7, Score(wins=2, draws=2, losses=6))
    >>> score + ~score
    Score(wins=8, draws=4, losses=8)
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __post_init__(self) -> None:
        _check_counts(self.wins, self.draws, self.losses)

    @classmethod
    def of_points(cls, points: float) -> Self:
        """One game that brought 1, 0.5 or 0 points."""
        if points not in (0, 0.5, 1):
            raise ValueError(f"a game brings 0, 0.5 or 1 points, not {points!r}")
        return cls(wins=int(points == 1), draws=int(points == 0.5), losses=int(points == 0))

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points: 1 for a win, a half for a draw."""
        return self.wins + self.draws / 2

    @property
    def rate(self) -> float:
        """Points per game, 0 to 1; a half without games."""
        return self.points / self.games if self.games else NO_RATE

    @property
    def draw_rate(self) -> float:
        """The share of draws; 0 without games."""
        return self.draws / self.games if self.games else 0.0

    def __add__(self, other: "Score") -> "Score":
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __invert__(self) -> "Score":
        return Score(self.losses, self.draws, self.wins)

    def __str__(self) -> str:
        return f"+{self.wins} ={self.draws} -{self.losses}"


@dataclass(frozen=True, slots=True)
class PairScores:
    """Pairs of games from one opening with sides exchanged, by their points.

    The two games of a pair are dependent, as the opening may favor one side. Pairs are independent.

    >>> pairs = PairScores((0, 1, 5, 3, 1))
    >>> pairs.pairs, pairs.games, pairs.points, pairs.rate
    (10, 20, 12.0, 0.6)
    >>> ~pairs
    PairScores(counts=(1, 3, 5, 1, 0))
    """

    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    """The numbers of pairs with 0, 0.5, 1, 1.5 and 2 points."""

    def __post_init__(self) -> None:
        if len(self.counts) != 5:
            raise ValueError(f"a pair has five results, not {len(self.counts)}")
        _check_counts(*self.counts)

    @classmethod
    def of_points(cls, points: float) -> Self:
        """One pair that brought 0, 0.5, 1, 1.5 or 2 points."""
        if points not in (0, 0.5, 1, 1.5, 2):
            raise ValueError(f"a pair brings 0, 0.5, 1, 1.5 or 2 points, not {points!r}")
        which = round(2 * points)
        return cls(
            (int(which == 0), int(which == 1), int(which == 2), int(which == 3), int(which == 4))
        )

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """The number of games."""
        return 2 * self.pairs

    @property
    def points(self) -> float:
        """The points of all pairs."""
        return sum(which * count for which, count in enumerate(self.counts)) / 2

    @property
    def rate(self) -> float:
        """Points per game, 0 to 1; a half without pairs."""
        return self.points / self.games if self.games else NO_RATE

    def __add__(self, other: "PairScores") -> "PairScores":
        a, b = self.counts, other.counts
        return PairScores((a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]))

    def __invert__(self) -> "PairScores":
        a = self.counts
        return PairScores((a[4], a[3], a[2], a[1], a[0]))

    def __str__(self) -> str:
        return "[" + ", ".join(map(str, self.counts)) + "]"


@dataclass(frozen=True, slots=True)
class MatchScore:
    """A player's games in a match, by order of play and by pairs."""

    as_first: Score = Score()
    """Games in which the player moved first."""
    as_second: Score = Score()
    pairs: PairScores = PairScores()
    """Complete pairs."""
    unpaired: Score = Score()
    """Games without a partner."""

    def __post_init__(self) -> None:
        paired = self.pairs.games + self.unpaired.games
        points = self.pairs.points + self.unpaired.points
        if (paired, points) != (self.score.games, self.score.points):
            raise ValueError("the pairs and the unpaired games are not the games of the match")

    @property
    def score(self) -> Score:
        """All games."""
        return self.as_first + self.as_second

    @property
    def games(self) -> int:
        """The number of games."""
        return self.score.games

    @property
    def points(self) -> float:
        """The points of all games."""
        return self.score.points

    @property
    def rate(self) -> float:
        """Points per game, 0 to 1; a half without games."""
        return self.score.rate

    def __add__(self, other: "MatchScore") -> "MatchScore":
        """Join results; a pair split between them stays unpaired."""
        return MatchScore(
            self.as_first + other.as_first,
            self.as_second + other.as_second,
            self.pairs + other.pairs,
            self.unpaired + other.unpaired,
        )

    def __invert__(self) -> "MatchScore":
        return MatchScore(~self.as_second, ~self.as_first, ~self.pairs, ~self.unpaired)


Result = Score | PairScores | MatchScore
"""Any result of a player against another."""


def independent_parts(result: Result) -> tuple[PairScores, Score]:
    """Return the independent parts of a result: pairs, and games without a partner."""
    match result:
        case Score():
            return PairScores(), result
        case PairScores():
            return result, Score()
        case MatchScore():
            return result.pairs, result.unpaired


class Tally:
    """A match score that grows game by game, in one player's view."""

    def __init__(self) -> None:
        self._as_first = Score()
        self._as_second = Score()
        self._pairs = PairScores()
        self._single = Score()
        self._waiting: dict[int, float] = {}
        """Points of games without a partner yet, by pair."""

    def count(self, pair_id: int | None, moved_first: bool, points: float) -> None:
        """Count a game; it completes a pair if its partner has been counted."""
        game = Score.of_points(points)
        if moved_first:
            self._as_first += game
        else:
            self._as_second += game
        if pair_id is None:
            self._single += game
        elif pair_id in self._waiting:
            self._pairs += PairScores.of_points(self._waiting.pop(pair_id) + points)
        else:
            self._waiting[pair_id] = points

    def score(self) -> MatchScore:
        """The score so far."""
        unpaired = sum(map(Score.of_points, self._waiting.values()), self._single)
        return MatchScore(self._as_first, self._as_second, self._pairs, unpaired)


def match_score(games: Iterable[tuple[int | None, bool, float]]) -> MatchScore:
    """Return the score of games given as (pair_id, moved first?, points), in one player's view.

    Games with equal `pair_id` pair up in order; None has no partner.

    >>> games = [(0, True, 1.0), (1, True, 0.5), (0, False, 0.5), (None, False, 0.0)]
    >>> score = match_score(games)
    >>> print(score.as_first, score.as_second, score.pairs, score.unpaired)
    +1 =1 -0 +0 =1 -1 [0, 0, 0, 1, 0] +0 =1 -1
    """
    tally = Tally()
    for game in games:
        tally.count(*game)
    return tally.score()
