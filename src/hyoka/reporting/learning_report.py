# SPDX-License-Identifier: Apache-2.0
"""Reports of objective search and of self-play, and sections about models and their training."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.match import MatchResult
from hyoka.foundation.math import logistic
from hyoka.learning.objective_search import ObjectiveSearch, Step
from hyoka.learning.objectives import (
    PARAMETERS,
    Parameterized,
    class_starts,
    objective_from,
)
from hyoka.learning.selfplay_loop import Generation, SelfPlayLoop
from hyoka.reporting.charts import (
    MOST_SERIES,
    AltairChart,
    Dot,
    Spot,
    banded_lines,
    dots,
    in_columns,
    lines,
)
from hyoka.reporting.page import Chart, Details, Page, Section, Table
from hyoka.search.difficulty import CLASSES
from hyoka.storage.model_file import ModelFile, number_of

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
_NAMED_NUMBERS: Final = {
    "weights": ("weights", "weight", 0.0),
    "strengths": ("strengths", "strength", 1.0),
    "formula": ("columns", "weight", 0.0),
}
"""Where models of a kind have their numbers, what these are, and the neutral number."""
_MOST_ROWS: Final = 500
_MOST_BARS: Final = 30
_MOST_OPEN: Final = 60
"""Limits of listed and drawn numbers, and of a table that is open at first."""
_SHAPES: Final = (0, 2, 5, 7)
"""Game stages, in eighths, with a sigmoid in the chart."""


def weights_chart(objective: Parameterized, name: str) -> AltairChart:
    """Draw the factors of one class of positions, one line per parameter."""
    start = dict(zip(CLASSES, class_starts(), strict=True))[name]
    first = 1 if name == "correct_depth" else 0
    spots = [
        Spot(_PARAMETER_WORDS[parameter], first + index, row[start + index])
        for parameter, row in zip(PARAMETERS, objective.factors, strict=True)
        for index in range(CLASSES[name])
    ]
    return lines(spots, x=CLASS_WORDS[name], y="factor")


def factor_bands_chart(
    name: str, factors: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> AltairChart:
    """Draw the factors of one class by search, parameter and category, with a band for each.

    Each parameter has a panel: thin lines are searches, the thick line is their mean.
    """
    first = 1 if name == "correct_depth" else 0
    panels = []
    for row, parameter in enumerate(PARAMETERS):
        places = [first + place for place in range(CLASSES[name])]
        series = {f"search {number}": each[row] for number, each in enumerate(factors, 1)}
        series["mean"] = factors[:, row].mean(axis=0)
        panels.append(
            banded_lines(
                places,
                {words: values.tolist() for words, values in series.items()},
                (low[row].tolist(), high[row].tolist()),
                x=CLASS_WORDS[name],
                y="factor",
                title=_PARAMETER_WORDS[parameter],
            )
        )
    return in_columns(panels, 2)


def shapes_chart(objective: Parameterized) -> AltairChart:
    """Draw the sigmoids of move comparisons at some stages of a game."""
    slopes, margins = objective.factors[0], objective.factors[1]
    spots = []
    for eighth in _SHAPES:
        slope = objective.constants[0] * slopes[eighth]
        margin = objective.constants[1] * margins[eighth]
        for x in np.linspace(-400, 300, 71):
            y = logistic(slope * (x + margin))
            spots.append(Spot(f"eighth {eighth}", float(x), float(y)))
    return lines(spots, x="how much better another move is", y="T", share=True)


def elo_chart(steps: Sequence[Step]) -> AltairChart:
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


def distribution_chart(steps: Sequence[Step]) -> AltairChart:
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
        table = Table("After the last step", ("individual", "Elo", "games"), rows)
        sections += _step_sections(steps, table)
    sections.append(_factors_section(objective))
    methods = (
        "The match against the baselines is from openings and seeds that the search never used.",
        f"Each newcomer plays {2 * search.plan.pairs} games with each other individual.",
    )
    title = f"objectives for {search.game}"
    return Page("What to learn", title, tuple(findings), tuple(sections), methods)


def search_sections(steps: Sequence[Step]) -> list[Section]:
    """Sections about a search from its journal alone."""
    last = steps[-1]
    born = {new: f"step {step.number}" for step in steps for new in step.new}
    rows = [
        (str(each), f"{elo:+.0f}", born.get(each, "the start"))
        for each, elo in sorted(last.elo.items(), key=lambda item: -item[1])
    ]
    table = Table("After the last step", ("individual", "Elo", "came by"), rows)
    objective = Parameterized.from_vector(np.array(last.mean))
    return [*_step_sections(steps, table), _factors_section(objective)]


def _step_sections(steps: Sequence[Step], table: Table) -> list[Section]:
    return [
        Section(
            "The population",
            (
                "Elo by Bradley and Terry over all games of those that are there; the mean is "
                "0 at each step, so it tells who leads, not how far all have come.",
            ),
            (Chart(elo_chart(steps), "Strength within the population, step by step."), table),
        ),
        Section(
            "The distribution",
            ("Where objectives are drawn from: the mean of each parameter's factors.",),
            (Chart(distribution_chart(steps), "It moves towards what trains stronger play."),),
        ),
    ]


def _factors_section(objective: Parameterized) -> Section:
    words = "Factors of the distribution's mean by kind of position; 1 is where it began."
    return Section("What was learned", (words,), _factor_charts(objective))


def _factor_charts(objective: Parameterized) -> tuple[Chart, ...]:
    return (
        *(
            Chart(weights_chart(objective, name), f"Factors by {words}.")
            for name, words in CLASS_WORDS.items()
        ),
        Chart(shapes_chart(objective), "How moves are compared as the game goes on."),
    )


def strength_by_generation(generations: Sequence[Generation]) -> list[float]:
    """Elo above the initial search: the sum of the gains of accepted generations.

    If a match has only wins or only losses, the finite end of the interval replaces the
    difference.

    >>> made = Generation(0, 9, 90, 0.6, 2.0, 0.3, True, 1.0, (math.inf, 120.0, math.inf), 20, "")
    >>> strength_by_generation([made])
    [120.0]
    """
    level, levels = 0.0, []
    for each in generations:
        ends = () if each.elo is None else each.elo
        gained = next((end for end in ends if math.isfinite(end)), 0.0)
        levels.append(level + gained)
        if each.accepted:
            level += gained
    return levels


def _losses(generations: Sequence[Generation]) -> AltairChart:
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


def model_sections(model_file: ModelFile) -> list[Section]:
    """A model's named numbers; empty for kinds that have none."""
    if model_file.kind == "objective":
        objective = objective_from(model_file)
        if not isinstance(objective, Parameterized):
            return _numbers(model_file, "objective", "constant", 0.0)
        factors = Section("Factors", (), _factor_charts(objective))
        return [factors, *_numbers(model_file, "objective", "factor", 1.0)]
    named = _NAMED_NUMBERS.get(model_file.kind or "")
    return [] if named is None else _numbers(model_file, *named)


def _numbers(model_file: ModelFile, key: str, words: str, reference: float) -> list[Section]:
    """Numbers with names, the strongest first."""
    values = model_file.json_object().get(key)
    rows = (
        sorted(_flat(values).items(), key=lambda row: -row[1]) if isinstance(values, dict) else []
    )
    if not rows:
        return []
    ends = _ends(rows, _MOST_BARS)
    listed = _ends(rows, _MOST_ROWS)
    notes = [f"{len(rows):,} in all; the {len(ends)} at the ends are drawn."] * (ends is not rows)
    if len(listed) < len(rows):
        notes.append(f"The table has the {len(listed)} at the ends.")
    chart = dots(
        [Dot(name, value, value, value) for name, value in ends], x=words, reference=reference
    )
    table = Table(words, ("name", words), [(name, f"{value:g}") for name, value in listed])
    opened = len(listed) <= _MOST_OPEN
    return [_with_numbers(words.capitalize(), chart, table, tuple(notes), opened=opened)]


def _ends(rows: list[tuple[str, float]], most: int) -> list[tuple[str, float]]:
    return rows if len(rows) <= most else [*rows[: most // 2], *rows[-(most // 2) :]]


def _with_numbers(
    title: str,
    chart: AltairChart,
    table: Table,
    words: tuple[str, ...] = (),
    *,
    opened: bool = False,
) -> Section:
    details = Details("The same in numbers", (), (table,), opened)
    return Section(title, words, (Chart(chart, "", title), details))


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, value in values.items():
        number = number_of(value)
        if isinstance(value, dict) and not before:
            numbers |= _flat(value, f"{name} ")
        elif isinstance(value, list) and not before:
            numbers |= _flat({str(i): each for i, each in enumerate(value)}, f"{name} ")
        elif math.isfinite(number):
            numbers[f"{before}{name}"[:80]] = number
    return numbers


def loss_spots(log: str) -> list[Spot]:
    r"""The losses in the log of a training run, by epoch or pass.

    >>> loss_spots("epoch 1: loss of values 0.69; held-out: 0.7, 2.1, first 30.0%\n")
    [Spot(series='values', x=1.0, y=0.69), Spot(series='held-out games', x=1.0, y=0.7)]
    """
    spots: list[Spot] = []
    for number, losses, held in _logged(log):
        for part in losses.replace(" = ", ", ").replace(" + ", ", ").split(", "):
            words, _, value = part.rpartition(" ")
            spots += _spot(words.removeprefix("loss ").removeprefix("of "), number, value)
        named = _LOG_LOSS.search(held)
        spots += _spot("held-out games", number, named[1] if named else held.partition(",")[0])
    series = list(dict.fromkeys(spot.series for spot in spots))[:MOST_SERIES]
    return [spot for spot in spots if spot.series in series]


def accuracy_spots(log: str) -> list[Spot]:
    r"""How often a model ranked the move of a held-out game first, by epoch or pass.

    >>> accuracy_spots("pass 3: J 0.5; 20 weights; held-out: first 31.5%, within 3 60.0%\n")
    [Spot(series='first', x=3.0, y=0.315), Spot(series='within 3', x=3.0, y=0.6)]
    """
    spots: list[Spot] = []
    for number, _, held in _logged(log):
        for words, share in _SHARES.findall(held):
            spots += [Spot(words, each.x, each.y / 100) for each in _spot("", number, share)]
    return spots


def _logged(log: str) -> Iterator[tuple[str, str, str]]:
    """Number, losses, and measures of held-out games of each epoch or pass in a log."""
    for line in log.splitlines():
        head, colon, losses = line.strip().partition(": ")
        what, _, number = head.partition(" ")
        if colon and what in ("epoch", "pass") and re.fullmatch("[0-9]{1,9}", number):
            losses, _, held = losses.replace("held out", "held-out").partition("; held-out: ")
            yield number, losses, held


_LOG_LOSS: Final = re.compile(r"log-loss ([\d.]{1,20})")
_SHARES: Final = re.compile(r"(first|within 3) ([\d.]{1,8})%")


def loss_section(log: str) -> Section | None:
    r"""The losses in the log of a training run; None if it has none.

    >>> section = loss_section("epoch 1: loss of values 0.69\nepoch 2: loss of values 0.61\n")
    >>> section.blocks[1].blocks[0].rows
    [('1', 'values', '0.69'), ('2', 'values', '0.61')]
    """
    spots = loss_spots(log)
    if not spots:
        return None
    rows = [(f"{spot.x:g}", spot.series, f"{spot.y:g}") for spot in spots]
    title = "Loss by epoch or pass"
    chart = lines(spots, x="epoch or pass", y="loss")
    return _with_numbers(title, chart, Table(title, ("step", "of", "loss"), rows))


def accuracy_section(log: str) -> Section | None:
    """The accuracy of moves in the log of a training run; None if it has none."""
    spots = accuracy_spots(log)
    if not spots:
        return None
    rows = [(f"{spot.x:g}", spot.series, f"{spot.y:.1%}") for spot in spots]
    title = "Moves of held-out games ranked first"
    chart = lines(spots, x="epoch or pass", y="share of positions", share=True)
    return _with_numbers(title, chart, Table(title, ("step", "rank", "share"), rows))


def _spot(series: str, number: str, value: str) -> list[Spot]:
    try:
        y = float(value)
    except ValueError:
        return []
    return [Spot(series[:40] or "loss", float(number), y)] if math.isfinite(y) else []
