# SPDX-License-Identifier: Apache-2.0
"""Reports of objective search and of self-play."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from hyoka.arena.match import MatchResult
from hyoka.foundation.math import logistic
from hyoka.learning.objective_search.objective_loop import ObjectiveSearch, Step
from hyoka.learning.objectives import CONSTANTS, PARAMETERS, Parameterized, class_starts
from hyoka.learning.selfplay.selfplay_loop import Generation, SelfPlayLoop
from hyoka.reporting.charts import Spot, lines
from hyoka.reporting.page import Chart, Page, Section, Table
from hyoka.search.difficulty import CLASSES

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
"""Game stages, in eighths, with a sigmoid in the chart."""


def weights_chart(objective: Parameterized, name: str) -> "altair.TopLevelMixin":
    """Draw the factors of one class of positions, one line per parameter."""
    start = dict(zip(CLASSES, class_starts(), strict=True))[name]
    first = 1 if name == "correct_depth" else 0
    spots = [
        Spot(_PARAMETER_WORDS[parameter], first + index, row[start + index])
        for parameter, row in zip(PARAMETERS, objective.factors, strict=True)
        for index in range(CLASSES[name])
    ]
    return lines(spots, x=CLASS_WORDS[name], y="factor")


def shapes_chart(objective: Parameterized) -> "altair.TopLevelMixin":
    """Draw the sigmoids of move comparisons at some stages of a game."""
    slopes, margins = objective.factors[0], objective.factors[1]
    spots = []
    for eighth in _SHAPES:
        slope, margin = CONSTANTS[0] * slopes[eighth], CONSTANTS[1] * margins[eighth]
        for x in np.linspace(-400, 300, 71):
            y = logistic(slope * (x + margin))
            spots.append(Spot(f"eighth {eighth}", float(x), float(y)))
    return lines(spots, x="how much better another move is", y="T", share=True)


def elo_chart(steps: Sequence[Step]) -> "altair.TopLevelMixin":
    """Draw the population's best, median and worst Elo after each step, relative to its start."""
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
    """Draw the mean factor of each parameter over all categories, by step."""
    size = sum(CLASSES.values())
    spots = []
    for step in steps:
        table = np.array(step.mean[:-1]).reshape(len(PARAMETERS), size)
        for parameter, row in zip(PARAMETERS, table, strict=True):
            spots.append(Spot(_PARAMETER_WORDS[parameter], step.number, float(row.mean())))
    return lines(spots, x="step", y="mean factor")


def objective_page(search: ObjectiveSearch, verified: Sequence[MatchResult] = ()) -> Page:
    """The page of a search's current state."""
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


def strength_by_generation(generations: Sequence[Generation]) -> list[float]:
    """Elo above the initial search: the sum of the gains of accepted generations.

    If a match has only wins or only losses, the finite end of the interval replaces the
    difference.

    >>> made = Generation(0, 9, 90, 0.6, 2.0, 0.3, True, 1.0, (math.inf, 120.0, math.inf), 20, "")
    >>> strength_by_generation([made])
    [120.0]
    """
    level, found = 0.0, []
    for each in generations:
        ends = () if each.elo is None else each.elo
        gained = next((end for end in ends if math.isfinite(end)), 0.0)
        found.append(level + gained)
        if each.accepted:
            level += gained
    return found


def _losses(generations: Sequence[Generation]) -> "altair.TopLevelMixin":
    spots = [
        spot
        for each in generations
        for spot in (
            Spot("values", each.number, each.value_loss),
            Spot("moves", each.number, each.policy_loss),
        )
        if math.isfinite(spot.y)
    ]
    return lines(spots, x="generation", y="loss on games held out, nats")


def _shown(number: float, form: str) -> str:
    return "–" if math.isnan(number) else f"{number:{form}}"


def selfplay_page(loop: SelfPlayLoop) -> Page:
    """The page of a self-play loop: strength, losses and matches by generation."""
    generations = loop.generations
    levels = strength_by_generation(generations)
    rows = tuple(
        (
            str(each.number),
            f"{each.games:,}",
            f"{each.positions:,}",
            _shown(each.value_loss, ".4f"),
            _shown(each.policy_loss, ".4f"),
            _shown(each.first, ".1%"),
            "–" if each.score is None else f"{each.score:.1%} of {each.gate_games}",
            "–" if each.elo is None else "{:+.0f} ({:+.0f} to {:+.0f})".format(*each.elo),
            "let in" if each.accepted else "not let in",
        )
        for each in generations
    )
    headings = ("generation", "games", "positions", "values", "moves", "first", "match", "Elo", "")
    climb = [
        Spot("Elo", each.number, level) for each, level in zip(generations, levels, strict=True)
    ]
    let_in = sum(each.accepted for each in generations)
    sections = (
        Section(
            "Strength",
            (
                "Differences of matches at equal playouts, added up: a sum of estimates, whose "
                "errors add up, too. Where all games were won or lost, the near end of the "
                "interval is drawn.",
                "In the table: what was learned from; loss of values and of moves, and how often "
                "the move visited most comes first, on games held out; the match with who played "
                "before.",
            ),
            (
                Chart(lines(climb, x="generation", y="Elo"), "Elo above the first search."),
                Table("Generations", headings, rows),
            ),
        ),
        Section(
            "Learning",
            ("Games held out of the newest generation tell how well a network has learned.",),
            (
                Chart(
                    _losses(generations), "Loss on positions that it did not learn from, in nats."
                ),
            ),
        ),
    )
    methods = (
        "A network is let in if a sequential test of 0 against 40 Elo takes the latter; until one "
        "is, the search of the first games plays on.",
        f"{loop.plan.games:,} games a generation, {loop.plan.playouts} playouts for moves that are "
        f"learned from and {loop.plan.quick} for the others; the last {loop.plan.window} "
        "generations are learned from.",
    )
    findings = (f"{len(generations)} generations, of which {let_in} were let in.",)
    title = f"{loop.plan.game} from its own games"
    return Page("A player that learns from itself", title, findings, sections, methods)
