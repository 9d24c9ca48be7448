# SPDX-License-Identifier: Apache-2.0
"""What is known about two players after some games, all in one value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyoka.arena.elo import (
    elo,
    likelihood_of_superiority,
    normalised_elo,
    rate,
)
from hyoka.arena.played import PlayedGame
from hyoka.arena.ratings import RatingList, rate_players
from hyoka.arena.score import MatchScore
from hyoka.arena.significance import binomial_p_value, permutation_p_value, why_too_few
from hyoka.arena.sprt import Sprt
from hyoka.arena.standing import Standing
from hyoka.estimate import Estimate


@dataclass(frozen=True, slots=True)
class DuelSummary:
    """One player against another."""

    player: str
    opponent: str
    score: MatchScore
    rate: Estimate
    """Points a game."""
    elo: Estimate
    normalised_elo: Estimate
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
            normalised_elo(tested),
            likelihood_of_superiority(score),
            binomial_p_value(score.score),
            permutation_p_value(score),
            None if sprt is None else sprt.llr(score.pairs),
            None if sprt is None else (sprt.lower, sprt.upper),
            None if sprt is None else sprt.decision(score.pairs),
        )

    def __str__(self) -> str:
        ends = f"{self.elo.value:+.0f} ({self.elo.low:+.0f} to {self.elo.high:+.0f})"
        why = why_too_few(self.score)
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
