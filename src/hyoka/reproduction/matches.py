# SPDX-License-Identifier: Apache-2.0
"""Experiments that are matches: two players, the order of play told apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyoka.arena import (
    MatchPlan,
    MatchResult,
    Score,
    binomial_p_value,
    plan_match,
    rate,
)
from hyoka.estimate import Estimate

Play = Callable[[MatchPlan, Path, int], MatchResult]
"""Plays so many games of a match that is kept in a folder."""


@dataclass(frozen=True, slots=True)
class TheirScore:
    """What the paper reports of one order of play, as the first-named player sees it."""

    as_first: Score
    as_second: Score


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One order of play: what the paper found, and what we did."""

    order: str
    """Who goes first, in words."""
    theirs: Score
    ours: Score
    rate: Estimate
    """Of our points a game."""
    p_value: float
    """Of the sign test over our decided games."""

    @property
    def same_order(self) -> bool:
        """Whether the same player came out ahead, and by more than chance."""
        same = (self.ours.rate > 0.5) == (self.theirs.rate > 0.5)
        return same and self.p_value < 0.05


@dataclass(frozen=True)
class MatchExperiment:
    """A table of a paper with two players in both orders of play."""

    id: str
    title: str
    game: str
    scales: Mapping[str, tuple[int, str, str]]
    """By name: games, and the players' texts at that scale."""
    names: tuple[str, str]
    theirs: TheirScore
    notes: str = ""

    def run(self, scale: str, folder: Path, play: Play, *, seed: int = 0) -> list[MatchRow]:
        """Play our version and set it beside theirs."""
        games, one, other = self.scales[scale]
        players = (f"{name}={text}" for name, text in zip(self.names, (one, other), strict=True))
        plan = plan_match(*players, game=self.game, openings="start", seed=seed)
        result = play(plan, folder / plan.slug, games)
        score = result.standing.duel(0, 1)
        orders = (
            (f"{self.names[0]} first", self.theirs.as_first, score.as_first),
            (f"{self.names[0]} second", self.theirs.as_second, score.as_second),
        )
        return [
            MatchRow(order, theirs, ours, rate(ours), binomial_p_value(ours))
            for order, theirs, ours in orders
        ]
