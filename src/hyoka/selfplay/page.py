# SPDX-License-Identifier: Apache-2.0
"""Generations of a player that learns from its own games, on one page."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hyoka.page import Chart, Page, Section, Table
from hyoka.page.figures import Spot, lines
from hyoka.selfplay.loop import Generation, SelfPlayLoop

if TYPE_CHECKING:
    import altair


def strength_by_generation(generations: Sequence[Generation]) -> list[float]:
    """Elo above the first search: the sum of what those let in had gained, each by its match.

    Where all games of a match were won or lost, the near end of the interval stands for the
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
    """The page of a loop: strength, losses and matches by generation."""
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
