# SPDX-License-Identifier: Apache-2.0
"""What the players thought, against what they got: a chart for each who tells."""

from collections.abc import Sequence
from typing import Final

from hyoka.arena.report.evaluation_curves import (
    LEAST_GAMES,
    LEAST_POSITIONS,
    RESAMPLES,
    EvaluationCurve,
    evaluation_curve,
    verdict,
)
from hyoka.arena.report.facts import MatchFacts
from hyoka.games import game_facts
from hyoka.page import Chart, Section
from hyoka.page.figures import Step, band

_MOST_CHARTS: Final = 12
_MOST_FINDINGS: Final = 3


def curves_of(facts: MatchFacts, seed: int) -> list[EvaluationCurve]:
    """The curves of all players who tell enough of what they think."""
    curves = (evaluation_curve(facts.thoughts, player, seed) for player in facts.present)
    return [curve for curve in curves if curve is not None]


def confidence_findings(facts: MatchFacts, curves: Sequence[EvaluationCurve]) -> list[str]:
    """Who was over-confident."""
    return [
        confidence_words(facts, curve)
        for curve in curves
        if curve.confidence is not None and verdict(curve.confidence) == "over-confident"
    ][:_MOST_FINDINGS]


def evaluations_section(
    facts: MatchFacts, curves: Sequence[EvaluationCurve], game: str
) -> Section | None:
    """How well the players' own evaluations told the result; None where they tell too little."""
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
    """Whether a player was as right as it was sure; empty where it cannot be told."""
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
        x, domain = f"own score, {game_facts(game).unit_of_programs}", (-curve.widest, curve.widest)
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
    """How the curves are made, in a sentence or two."""
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
