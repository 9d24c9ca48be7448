# SPDX-License-Identifier: Apache-2.0
"""The players' evaluations against the results of the games."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hyoka.analysis import (
    VALUE,
    Confidence,
    CurvePoint,
    Resampling,
    Sample,
    confidence,
    curve,
    open_bins,
)
from hyoka.arena.elo import FEW
from hyoka.games import game_facts
from hyoka.reporting.charts import Step, band
from hyoka.reporting.match_report.match_facts import MatchFacts, Thoughts
from hyoka.reporting.page import Chart, Section

RESAMPLES: Final = 200
LEAST_POSITIONS: Final = 30
LEAST_GAMES: Final = 5
_SURE: Final = 0.15
"""Distance from one half from which a value claims that a side is ahead."""

_SLACK: Final = 0.01
"""Tolerance of claims outside the interval, which is narrow with many games."""


@dataclass(frozen=True)
class EvaluationCurve:
    """Mean result of a player by its own value, or by its score if it gives no values."""

    player: int
    is_value: bool
    points: tuple[CurvePoint, ...]
    confidence: Confidence | None
    """None if the player gives only scores or too few values."""
    positions: int
    widest: float
    """Limit of absolute scores in the chart; 1 for values."""


def evaluation_curve(thoughts: Thoughts, player: int, seed: int) -> EvaluationCurve | None:
    """Compute the curve of a player's own moves; None if no bin has enough positions."""
    mine = thoughts.of(player)
    has_value, has_score = np.isfinite(mine.value), np.isfinite(mine.score)
    is_value = bool(2 * has_value.sum() >= has_score.sum())
    mine = mine.where(has_value if is_value else has_score)
    if not len(mine.game):
        return None
    sample = Sample.of(
        "",
        mine.value if is_value else mine.score,
        results=mine.result,
        games=mine.game,
        unit=VALUE if is_value else "",
    )
    drawn = curve(
        sample,
        binning=open_bins(sample, LEAST_POSITIONS),
        at_least=LEAST_POSITIONS,
        resampling=Resampling(RESAMPLES, seed),
    )
    points = tuple(p for p in drawn.points if p.games >= LEAST_GAMES and not p.is_mate)
    if not points:
        return None
    sure = _confidence(mine, seed) if is_value else None
    widest = 1.0 if is_value else max(abs(end) for p in points for end in (p.lower, p.upper))
    return EvaluationCurve(player, is_value, points, sure, len(mine.game), widest)


def _confidence(mine: Thoughts, seed: int) -> Confidence | None:
    sample = Sample.of("", mine.value, results=mine.result, games=mine.game)
    clear = confidence(sample, sure=_SURE, resampling=Resampling(RESAMPLES, seed))
    if clear is None or clear.positions < LEAST_POSITIONS or clear.games < FEW:
        return None
    return clear


def verdict(clear: Confidence) -> str:
    """`over-confident`, `too modest`, or `honest` (within the interval or the tolerance)."""
    if clear.got.high < clear.claimed - _SLACK:
        return "over-confident"
    return "too modest" if clear.got.low > clear.claimed + _SLACK else "honest"


_MOST_CHARTS: Final = 12
_MOST_FINDINGS: Final = 3


def curves_of(facts: MatchFacts, seed: int) -> list[EvaluationCurve]:
    """The curves of all players with enough evaluations."""
    curves = (evaluation_curve(facts.thoughts, player, seed) for player in facts.present)
    return [curve for curve in curves if curve is not None]


def confidence_findings(facts: MatchFacts, curves: Sequence[EvaluationCurve]) -> list[str]:
    """Findings about overconfident players."""
    return [
        confidence_words(facts, curve)
        for curve in curves
        if curve.confidence is not None and verdict(curve.confidence) == "over-confident"
    ][:_MOST_FINDINGS]


def evaluations_section(
    facts: MatchFacts, curves: Sequence[EvaluationCurve], game: str
) -> Section | None:
    """The section on the accuracy of the players' evaluations; None if there are too few."""
    if not curves:
        return None
    words = [
        "Each player's own evaluation of its moves, against what it got from those games. "
        "A point is the mean of many positions; the band is the 95% interval over games."
    ]
    words += [sentence for curve in curves if (sentence := confidence_words(facts, curve))]
    shown = sorted(curves, key=lambda curve: -curve.positions)[:_MOST_CHARTS]
    if len(shown) < len(curves):
        words.append(f"The {len(shown)} of {len(curves)} with the most positions are drawn.")
    charts = tuple(_chart(facts, curve, game) for curve in shown)
    return Section("What the players thought", tuple(words), charts)


def confidence_words(facts: MatchFacts, curve: EvaluationCurve) -> str:
    """Compare a player's claims with its results; empty without enough values."""
    sure = curve.confidence
    if sure is None:
        return ""
    words = {
        "over-confident": "it was over-confident.",
        "too modest": "it was too modest.",
        "honest": "its confidence fits what came.",
    }[verdict(sure)]
    return (
        f"{facts.names[curve.player]}, where it saw one side clearly ahead, gave that side "
        f"{sure.claimed:.0%} on average; it got {sure.got.text('.0%')}: {words}"
    )


def _chart(facts: MatchFacts, curve: EvaluationCurve, game: str) -> Chart:
    name = facts.names[curve.player]
    if curve.is_value:
        x, domain = "own value", (0.0, 1.0)
        caption = f"{name}: what it got, by its own value. On the dashed line it gets what it says."
    else:
        x, domain = (
            f"own score, {game_facts(game).naming.unit_of_programs}",
            (-curve.widest, curve.widest),
        )
        caption = f"{name}: what it got, by its own score; what lies beyond counts at the edge."
    steps = [Step(p.value, p.share, p.low, p.high, p.positions) for p in curve.points]
    chart = band(
        steps,
        x=x,
        y="mean result",
        domain=domain,
        height=230,
    )
    caption += f" {curve.positions:,} positions."
    return Chart(chart, caption, narrow=True)


def evaluations_method() -> str:
    """The method of the curves in a sentence or two."""
    return (
        "What the players thought: each own move's value (or score, if it tells no values), the "
        "mover's view, in bins of a twentieth of the range; only bins of at least "
        f"{LEAST_POSITIONS} positions from at least {LEAST_GAMES} games. Bands: {RESAMPLES} times, "
        "whole games are drawn again with replacement, since the positions of one game share its "
        "result; a band is Wilson's interval for what the positions are worth then. Moves of the "
        "opening and announced mates without a value are left out. A stronger player gets more "
        "than it expects from an even position, and less is no fault of the weaker one's scale: "
        "the curves hold for these opponents."
    )
