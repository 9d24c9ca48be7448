# SPDX-License-Identifier: Apache-2.0
"""The score of every two players, and all statistics of a duel in one value."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hyoka.arena.elo import (
    Sprt,
    binomial_p_value,
    elo,
    likelihood_of_superiority,
    normalized_elo,
    permutation_p_value,
    rate,
    too_few_reason,
)
from hyoka.arena.journal import PlayedGame
from hyoka.arena.ratings import RatingList, rate_players
from hyoka.arena.score import MatchScore, Tally
from hyoka.foundation.math import Estimate


class Standing:
    """The score so far; games are counted one by one."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games = 0
        self.reasons: Counter[str] = Counter()
        """How games ended."""
        self.faults: Counter[str] = Counter()
        """Games that each player lost by a fault of its own."""
        self._duels: dict[tuple[int, int], Tally] = {}

    @classmethod
    def of(cls, names: Sequence[str], games: Iterable[PlayedGame] = ()) -> "Standing":
        """The standing of players after some games."""
        standing = cls(names)
        for game in games:
            standing.count(game)
        return standing

    def count(self, game: PlayedGame) -> None:
        """Count one game."""
        pairing = game.pairing
        low, high = sorted((pairing.first, pairing.second))
        moved_first = pairing.first == low
        points = game.result if moved_first else 1 - game.result
        duel = self._duels.setdefault((low, high), Tally())
        duel.count(pairing.pair_id, moved_first, points)
        self.games += 1
        self.reasons[game.reason] += 1
        if game.is_fault:
            loser = pairing.second if game.result == 1 else pairing.first
            self.faults[self.names[loser]] += 1

    def duel(self, one: int, other: int) -> MatchScore:
        """The games of two players as `one` sees them."""
        found = self._duels.get((min(one, other), max(one, other)))
        score = MatchScore() if found is None else found.score()
        return score if one < other else ~score

    def duels(self) -> list[tuple[int, int]]:
        """Who has played whom."""
        return sorted(self._duels)

    def total(self, player: int) -> MatchScore:
        """All games of a player."""
        others = (other for other in range(len(self.names)) if other != player)
        return sum((self.duel(player, other) for other in others), MatchScore())


@dataclass(frozen=True, slots=True)
class DuelSummary:
    """One player against another."""

    player: str
    opponent: str
    score: MatchScore
    rate: Estimate
    """Points a game."""
    elo: Estimate
    normalized_elo: Estimate
    superiority: float
    """The likelihood that the player is the stronger one."""
    binomial_p: float
    """As the papers test: games as coin tosses, draws left out."""
    permutation_p: float
    """The same with the pairs as what is independent."""
    llr: float | None = None
    bounds: tuple[float, float] | None = None
    verdict: str | None = None

    @classmethod
    def of(
        cls, standing: Standing, one: int, other: int, sprt: Sprt | None = None
    ) -> "DuelSummary":
        """Work everything out for `one` against `other`."""
        score = standing.duel(one, other)
        tested = score.pairs if score.pairs.pairs else score.score
        return cls(
            standing.names[one],
            standing.names[other],
            score,
            rate(score),
            elo(score),
            normalized_elo(tested),
            likelihood_of_superiority(score),
            binomial_p_value(score.score),
            permutation_p_value(score),
            None if sprt is None else sprt.llr(score.pairs),
            None if sprt is None else (sprt.lower, sprt.upper),
            None if sprt is None else sprt.decision(score.pairs),
        )

    def __str__(self) -> str:
        ends = f"{self.elo.value:+.0f} ({self.elo.low:+.0f} to {self.elo.high:+.0f})"
        why = too_few_reason(self.score)
        few = f"; {why}: too few to trust an interval" if why else ""
        return (
            f"{self.player} v {self.opponent}: {self.score.score}, {self.score.rate:.1%}, "
            f"Elo {ends}, LOS {self.superiority:.1%}{few}"
        )


def match_ratings(games: Sequence[PlayedGame], names: Sequence[str]) -> RatingList:
    """The rating list of a match's players; pairs are what is independent."""
    pairings = [game.pairing for game in games]
    return rate_players(
        np.array([pairing.first for pairing in pairings]),
        np.array([pairing.second for pairing in pairings]),
        np.array([game.result for game in games]),
        list(names),
        clusters=np.array([pairing.pair_id for pairing in pairings]),
    )


def repeated_games(games: Sequence[PlayedGame]) -> int:
    """How many games repeat one between the same players move for move: they prove nothing new."""
    played = {
        (
            game.pairing.first,
            game.pairing.second,
            game.record.start,
            game.record.moves.tobytes(),
        )
        for game in games
    }
    return len(games) - len(played)
