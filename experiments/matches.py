# SPDX-License-Identifier: Apache-2.0
"""Experiments that are matches of two players, with results by order of play."""

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.claims import LITTLE, not_shown_if, same_within, verdict
from experiments.context import ExperimentContext
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from hyoka.arena import (
    MatchScore,
    Score,
    binomial_p_value,
    permutation_p_value,
    plan_match,
    rate,
    too_few_reason,
)
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.search import linear_evaluation


@dataclass(frozen=True, slots=True)
class TheirScore:
    """The paper's score for one order of play, from the first-named player's view."""

    as_first: Score
    as_second: Score


@dataclass(frozen=True, slots=True)
class Duel:
    """A match: common description, specs of both players, and number of games."""

    at: str
    one: str
    other: str
    games: int


@dataclass(frozen=True)
class MatchExperiment:
    """A table of a paper with two players in both orders of play, at several limits."""

    id: str
    title: str
    game: str
    scales: Mapping[str, tuple[Duel, ...]]
    """Matches by scale, one row each."""
    names: tuple[str, str]
    theirs: TheirScore
    notes: str = ""

    @property
    def built_in(self) -> str:
        """The players' evaluation, which is not in their specs."""
        return linear_evaluation(self.game).fingerprint

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Play our matches and compare them with the paper's."""
        rows: list[tuple[Value, ...]] = []
        verdicts = []
        name, opponent = self.names
        for duel in self.scales[scale]:
            score = self._play(context, duel)
            for order, theirs, ours in (
                (f"{name} first", self.theirs.as_first, score.as_first),
                (f"{name} second", self.theirs.as_second, score.as_second),
            ):
                p_value = binomial_p_value(ours)
                rows.append((duel.at, order, theirs, theirs.rate, ours, rate(ours), p_value))
                when = f"{duel.at}, {order}, "
                verdicts.append(order_verdict(name, opponent, theirs, ours, when))
        headings = ("", "", "theirs +−=", "points", "ours +−=", "points", "p")
        played = (f"{each.one} against {each.other}, {each.games}" for each in self.scales[scale])
        return Outcome(
            f"games from the start: {'; '.join(played)}",
            (OutcomeTable(headings, tuple(rows)),),
            tuple(verdicts),
        )

    def _play(self, context: ExperimentContext, duel: Duel) -> MatchScore:
        players = zip(self.names, (duel.one, duel.other), strict=True)
        plan = plan_match(
            *(f"{name}={text}" for name, text in players),
            game=self.game,
            openings="start",
            seed=context.seed,
        )
        folder = context.folder / self.id / f"{plan.id}-{self.built_in}"
        return context.play(plan, folder, duel.games).standing.duel(0, 1)


def duel_verdict(
    one: str, other: str, theirs: Score, ours: Score | MatchScore, when: str = ""
) -> Verdict:
    """Verdict on whether the paper's winner is significantly ahead, in points per game.

    If the paper's score is not significant (p ≥ 0.05), ours should show equality.
    """
    if binomial_p_value(theirs) >= 0.05:
        claim = f"{when}{one} and {other} are equals"
        judged = same_within(LITTLE, claim, [_lead(ours)], _p_value(ours))
        return not_shown_if(too_few_reason(ours), judged)
    return order_verdict(one, other, theirs, ours, when)


def order_verdict(
    one: str, other: str, theirs: Score, ours: Score | MatchScore, when: str = ""
) -> Verdict:
    """The same, but the paper's claim counts even if its score is not significant."""
    if theirs.rate > 0.5:
        return lead_verdict(f"{when}{one} ahead of {other}", ours, _p_value(ours))
    return lead_verdict(f"{when}{one} behind {other}", ~ours, _p_value(ours))


def lead_verdict(claim: str, score: Score | MatchScore, detail: str = "points a game") -> Verdict:
    """Verdict on the claim that a player scores more than half of the points.

    >>> print(lead_verdict("A ahead of B", Score(wins=0, draws=1, losses=3)))
    A ahead of B: not shown, -0.375 (-0.495 to +0.088) (points a game; fewer than 20 games)
    """
    return not_shown_if(too_few_reason(score), verdict(claim, _lead(score), detail))


def difference_verdict(
    claim: str,
    one: Score | MatchScore,
    other: Score | MatchScore,
    detail: str = "points a game",
) -> Verdict:
    """Verdict on the claim that the first scores more points per game, in separate games."""
    more = independent_difference(rate(one, continuity=True), rate(other, continuity=True))
    return not_shown_if(too_few_reason(one) or too_few_reason(other), verdict(claim, more, detail))


def _lead(score: Score | MatchScore) -> Estimate:
    points = rate(score, continuity=True)
    return Estimate(points.value - 0.5, points.low - 0.5, points.high - 0.5)


def _p_value(score: Score | MatchScore) -> str:
    return f"p = {permutation_p_value(score):.2g}"
