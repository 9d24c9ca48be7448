# SPDX-License-Identifier: Apache-2.0
"""What a search for an objective has found, on one page: Sato 2013's figures 2 to 5 among it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from hyoka.arena.match import MatchResult
from hyoka.evolving.search import ObjectiveSearch, Step
from hyoka.learning.objectives import (
    CONSTANTS,
    PARAMETERS,
    Parameterised,
    class_starts,
)
from hyoka.page import Chart, Page, Section, Table
from hyoka.page.figures import Spot, lines
from hyoka.search.categories import CLASSES

if TYPE_CHECKING:
    import altair

CLASS_WORDS: Final = {
    "progress": "how far the game has come, in eighths",
    "best_move_changes": "how often the best move changes over depths 1 to 3",
    "correct_depth": "from which depth on the move played is the best (4: from none)",
}
_PARAMETER_WORDS: Final = {
    "slope": "w1, slope",
    "margin": "w2, margin",
    "moves": "w3, weight of moves",
    "outcome": "w4, weight of the outcome",
}
_SHAPES: Final = (0, 2, 5, 7)
"""Eighths of a game whose sigmoids are drawn."""


def weights_chart(objective: Parameterised, name: str) -> "altair.TopLevelMixin":
    """The factors of one class of positions, a line a parameter."""
    start = dict(zip(CLASSES, class_starts(), strict=True))[name]
    first = 1 if name == "correct_depth" else 0
    spots = [
        Spot(_PARAMETER_WORDS[parameter], first + index, row[start + index])
        for parameter, row in zip(PARAMETERS, objective.factors, strict=True)
        for index in range(CLASSES[name])
    ]
    return lines(spots, x=CLASS_WORDS[name], y="factor")


def shapes_chart(objective: Parameterised) -> "altair.TopLevelMixin":
    """The sigmoids that moves are compared by, at some eighths of a game."""
    slopes, margins = objective.factors[0], objective.factors[1]
    spots = []
    for eighth in _SHAPES:
        slope, margin = CONSTANTS[0] * slopes[eighth], CONSTANTS[1] * margins[eighth]
        for x in np.linspace(-400, 300, 71):
            y = 1 / (1 + np.exp(-slope * (x + margin)))
            spots.append(Spot(f"eighth {eighth}", float(x), float(y)))
    return lines(spots, x="how much better another move is", y="T", share=True)


def elo_chart(steps: Sequence[Step]) -> "altair.TopLevelMixin":
    """Best, median and worst of the population after each step, Elo above its first members'."""
    spots = []
    for step in steps:
        values = sorted(step.elo.values())
        for words, value in (
            ("best", values[-1]),
            ("median", float(np.median(values))),
            ("worst", values[0]),
        ):
            spots.append(Spot(words, step.number, value))
    return lines(spots, x="step", y="Elo above the population's mean")


def distribution_chart(steps: Sequence[Step]) -> "altair.TopLevelMixin":
    """The mean over all categories of each parameter's factors, step by step."""
    size = sum(CLASSES.values())
    spots = []
    for step in steps:
        table = np.array(step.mean[:-1]).reshape(len(PARAMETERS), size)
        for parameter, row in zip(PARAMETERS, table, strict=True):
            spots.append(Spot(_PARAMETER_WORDS[parameter], step.number, float(row.mean())))
    return lines(spots, x="step", y="mean factor")


def objective_page(search: ObjectiveSearch, verified: Sequence[MatchResult] = ()) -> Page:
    """The page of a search as far as it has come."""
    steps = search.steps
    objective = search.mean
    findings = [
        f"{len(steps):,} steps of {search.plan.optimiser}, a population of "
        f"{search.plan.population}, {search.games:,} games of {search.game} at "
        f"{search.plan.nodes:,} nodes a move."
    ]
    for match in verified:
        findings += [str(duel) for duel in match.duels]
    sections = []
    if steps:
        last = steps[-1]
        rows = tuple(
            (str(each), f"{elo:+.0f}", f"{search.games_of(each):,}")
            for each, elo in sorted(last.elo.items(), key=lambda item: -item[1])
        )
        sections.append(
            Section(
                "The population",
                (
                    "Elo by Bradley and Terry over all games of those that are there; the mean is "
                    "0 at each step, so it tells who leads, not how far all have come.",
                ),
                (
                    Chart(elo_chart(steps), "Strength within the population, step by step."),
                    Table("After the last step", ("individual", "Elo", "games"), rows),
                ),
            )
        )
        sections.append(
            Section(
                "The distribution",
                ("Where objectives are drawn from: the mean of each parameter's factors.",),
                (Chart(distribution_chart(steps), "It moves towards what trains stronger play."),),
            )
        )
    sections.append(
        Section(
            "What was learned",
            ("Factors of the distribution's mean by kind of position; 1 is where it began.",),
            (
                *(
                    Chart(weights_chart(objective, name), f"Factors by {words}.")
                    for name, words in CLASS_WORDS.items()
                ),
                Chart(shapes_chart(objective), "How moves are compared as the game goes on."),
            ),
        )
    )
    methods = (
        "The match against the baselines is from openings and seeds that the search never used.",
        f"Each newcomer plays {2 * search.plan.pairs} games with each other individual.",
    )
    title = f"objectives for {search.game}"
    return Page("What to learn", title, tuple(findings), tuple(sections), methods)
