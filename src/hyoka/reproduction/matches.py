# SPDX-License-Identifier: Apache-2.0
"""Experiments that are matches: two players, the order of play told apart."""

from collections.abc import Mapping
from dataclasses import dataclass

from hyoka.arena import MatchScore, Score, binomial_p_value, permutation_p_value, plan_match, rate
from hyoka.estimate import Estimate
from hyoka.reproduction.claims import LITTLE, same_within, verdict
from hyoka.reproduction.outcome import Outcome, OutcomeTable, Verdict
from hyoka.reproduction.workshop import Workshop


@dataclass(frozen=True, slots=True)
class TheirScore:
    """What the paper reports of one order of play, as the first-named player sees it."""

    as_first: Score
    as_second: Score


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

    def run(self, workshop: Workshop, scale: str) -> Outcome:
        """Play our version and set it beside theirs."""
        games, one, other = self.scales[scale]
        players = (f"{name}={text}" for name, text in zip(self.names, (one, other), strict=True))
        plan = plan_match(*players, game=self.game, openings="start", seed=workshop.seed)
        result = workshop.play(plan, workshop.folder / self.id / plan.slug, games)
        score = result.standing.duel(0, 1)
        name, opponent = self.names
        orders = (
            (f"{name} first", self.theirs.as_first, score.as_first),
            (f"{name} second", self.theirs.as_second, score.as_second),
        )
        rows = tuple(
            (order, theirs, theirs.rate, ours, rate(ours), binomial_p_value(ours))
            for order, theirs, ours in orders
        )
        headings = ("", "theirs +−=", "points", "ours +−=", "points", "p")
        return Outcome(
            f"{games} games, {one} against {other}",
            (OutcomeTable(headings, rows),),
            tuple(
                duel_verdict(name, opponent, theirs, ours, f"{order}, ")
                for order, theirs, ours in orders
            ),
        )


def duel_verdict(
    one: str, other: str, theirs: Score, ours: Score | MatchScore, when: str = ""
) -> Verdict:
    """Whether the same player came out ahead by more than chance: the lead in points a game.

    Where the paper's score tells neither to be ahead (p ≥ 0.05), ours should show them equal.
    """
    points = rate(ours)
    lead = Estimate(points.value - 0.5, points.low - 0.5, points.high - 0.5)
    detail = f"p = {permutation_p_value(ours):.2g}"
    if binomial_p_value(theirs) >= 0.05:
        return same_within(LITTLE, f"{when}{one} and {other} are equals", [lead], detail)
    if theirs.rate > 0.5:
        return verdict(f"{when}{one} ahead of {other}", lead, detail)
    return verdict(f"{when}{one} behind {other}", -lead, detail)
