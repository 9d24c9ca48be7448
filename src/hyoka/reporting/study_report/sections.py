# SPDX-License-Identifier: Apache-2.0
"""Sections of a report: data, curves, metrics, phases, slices, disagreement, calibration."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import altair as alt
import numpy as np

from hyoka._core import columns
from hyoka.analysis import (
    CALIBRATION_HEADINGS,
    METRICS,
    MIN_GAMES,
    TOO_FEW,
    VALUE,
    Calibration,
    Comparison,
    Curve,
    CurvePoint,
    Curves,
    Disagreement,
    MetricValues,
    Slices,
    about_curve,
    calibration_texts,
    number_text,
    value_text,
)
from hyoka.analysis.curves import nice_number
from hyoka.foundation.math import Estimate
from hyoka.foundation.text import counted, shorten
from hyoka.reporting.analysis_charts import pick_key
from hyoka.reporting.charts import (
    COLORS,
    AltairChart,
    Dot,
    chart_data,
    dots,
    reference_line,
    series_encodings,
)
from hyoka.reporting.page import (
    Block,
    Board,
    Boards,
    Chart,
    Details,
    Explorer,
    Page,
    Pick,
    Section,
    Table,
    caveats,
)
from hyoka.reporting.study_report.examples import Example, player_titles, shown_boards
from hyoka.reporting.study_report.findings import (
    BY_PLY,
    CALIBRATED,
    CURVES,
    DISPUTES,
    QUALITY,
    UNBIASED,
    wrong_title,
)
from hyoka.reporting.study_report.results import (
    CLEARLY,
    NO_GUIDE,
    Judged,
    Results,
    SliceView,
    Subject,
    curves_by_unit,
)
from hyoka.study.grouping import ENOUGH_POSITIONS, MIN_POSITIONS

_HEIGHT: Final = 260


def quality_dots(parts: Sequence[MetricValues]) -> AltairChart:
    """Draw ROC and ACC side by side with their intervals; chance is one half."""
    rows = [
        Dot(part.name, estimate.value, *estimate.ends, title)
        for part in parts
        for name, title in (("roc", "ROC"), ("accuracy", "ACC"))
        if (estimate := part[name]).value == estimate.value
    ]
    return dots(rows, x="ROC, ACC", reference=0.5, spec=".3f")


def roc_by_ply(
    courses: Sequence[tuple[str, Sequence[tuple[int, int, MetricValues]]]],
) -> AltairChart:
    """Draw ROC by ply, one line with a band per evaluator, at the centers of ply ranges."""
    names = [name for name, _ in courses][: len(COLORS)]
    rows = []
    for name, course in courses[: len(COLORS)]:
        for low, high, part in course:
            ends = part["roc"].ends
            rows.append(
                {
                    "series": name,
                    "ply": (low + high) / 2,
                    "plies": f"{low} to {high - 1}",
                    "roc": part["roc"].value,
                    "low": ends[0],
                    "high": ends[1],
                    "positions": part.positions,
                    "games": part.games,
                }
            )
    color, dash = series_encodings(names, always=False)
    least = min([0.45, *(float(str(row["low"])) for row in rows)])
    scale = alt.Scale(domain=[least, 1], nice=False)
    tooltips = [
        alt.Tooltip("series:N", title=" "),
        alt.Tooltip("plies:N", title="plies"),
        alt.Tooltip("roc:Q", title="ROC", format=".3f"),
        alt.Tooltip("low:Q", title="from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
        alt.Tooltip("positions:Q", format=","),
        alt.Tooltip("games:Q", format=","),
    ]
    base = alt.Chart(chart_data(rows)).encode(
        x=alt.X("ply:Q", title="ply", scale=alt.Scale(zero=False)), color=color
    )
    return alt.layer(
        reference_line(0.5, "y").encode(y=alt.Y("at:Q", scale=scale)),
        base.mark_area().encode(y=alt.Y("low:Q", title="ROC", scale=scale), y2="high:Q"),
        base.mark_line().encode(y=alt.Y("roc:Q", scale=scale), strokeDash=dash),
        base.mark_point(filled=True, opacity=1, size=46).encode(
            y=alt.Y("roc:Q", scale=scale), tooltip=tooltips
        ),
    ).properties(width="container", height=_HEIGHT)


def figures_of(page: Page) -> Iterator[tuple[str, AltairChart]]:
    """Yield every chart of a page with a file name such as `03-the-curves`."""
    number = 0
    for section in page.sections:
        slug = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        for chart in Page("", sections=(section,)).charts:
            number += 1
            yield f"{number:02}-{slug[:60]}", chart.chart


def methods_of(results: Results) -> Iterator[str]:
    """Yield definitions, methods and caveats, one paragraph each."""
    first = results.first_player
    yield (
        f"Evaluation curve: positions are put into bins by what the evaluator said, in {first}'s "
        f"view; a point is the share of a bin's positions whose games {first} won. Bins of fewer "
        "than 100 positions are left out; where there are less than 4,000, bins of less than a "
        "fortieth of them, or of less than 10. A good curve rises all the way, and stays the same "
        "whatever condition the positions satisfy; where a condition's curve departs from the "
        "overall curve, the evaluation is biased there."
    )
    yield (
        "Positions of one game share its result, so they are no independent witnesses. Intervals "
        "come from drawing whole games again, with replacement"
        + (f", {results.resamples:,} times" if results.resamples else "; here none were drawn")
        + ". They are 95% intervals: bias-corrected percentiles, Wilson's interval for points of "
        "curves. The design effect says how many positions it takes to be worth one independent "
        "one."
    )
    if results.groups:
        yield (
            "Evaluators are compared on the same positions, and the same games are drawn again "
            "for both: what is hard about a game is hard for both and falls out of the difference. "
            f"Those that share {MIN_POSITIONS} positions (or half of what one of them judged) of "
            f"{MIN_GAMES} games (or half of its games) are compared; the group with the most "
            f"evaluators × positions comes first, positions beyond {ENOUGH_POSITIONS:,} not "
            "counted. "
            "An evaluator that shares too little is measured on its own positions."
        )
    drawn = results.records.drawn
    yield (
        "Positions of drawn games count as a win and a loss of half a position's weight in curves, "
        "metrics and slices, so that shares of wins are expected scores; log-loss is of these "
        "halves, Brier of the squared distance from one half. The curves of win, draw and loss "
        "under Calibration have draws of their own."
        if drawn and results.coverage.draws == "half"
        else "Positions of drawn games are left out of curves, metrics and slices; the curves of "
        "win, draw and loss under Calibration have them."
        if drawn
        else "No game of the study is drawn."
    )
    if any(subject.unit != VALUE for subject in results.subjects):
        yield (
            "A mate, or a score that says one, is worth more than any number: it counts in all "
            "orders, has a bin of its own beyond the chart, and is left out of E(v). Where a "
            "probability is wanted, scores become some by the logistic curve fitted to these very "
            "positions: two constants, and a bend and a limit beyond which scores count less, as "
            "games held out prefer."
        )
    metrics = "; ".join(f"{metric.title}, {metric.about}" for metric in METRICS.values())
    yield (
        f"The metrics: {metrics}. ACC and ROC take the negation where that is better. ECE, Brier "
        "and log-loss judge values as probabilities; of these and E(v), only values on the same "
        "scale can be compared."
    )
    yield (
        f"Hardly a guide: the upper end of ROC's interval is below {NO_GUIDE} in every range of "
        "plies up to there. Clearly ahead: a probability of at least "
        f"{0.5 + CLEARLY:.0%} for one side. Early, middle and late are thirds of the positions."
    )
    yield (
        "Slices: the search tries levels of each column, ranges between its quantiles, and pairs "
        "of the strongest, if they hold for at least 30 games. The effect is a mean over the "
        "slice's positions, against all positions of the same value; its test respects games. On "
        "average at most 5% of the list is false (Benjamini and Hochberg), and intervals are "
        "widened for the selection. Near-duplicates are left out. Each slice is measured again "
        "with the comment author, the rating difference and the phase of the game held equal "
        "(phases are tenths of the plies; conditions on plies are exempt): a slice that then "
        "loses more than half of its effect, with zero inside the interval, comes last and is no "
        "finding. A condition that is not confirmed may hold nevertheless."
    )
    yield (
        "Boards of a bin are drawn at random, no two of one game. Boards of a slice are the "
        "positions most against the evaluation there, games decided by time or a fault last: "
        "they show the error at its worst, not on average."
    )


def caveats_of(results: Results) -> tuple[str, ...]:
    """What the figures do not say, of these evaluators and of all."""
    own = (caveat for subject in results.subjects for caveat in subject.positions.caveats)
    return tuple(dict.fromkeys([*own, *caveats("Evaluations and results", "Records")]))


BoardsOf = Mapping[Example, Board]
_MOST_SOURCES: Final = 6
_LONGEST_SPEC: Final = 80
_ABREAST: Final = 4
"""Maximum number of evaluators per table."""
_WORTH_TELLING: Final = 0.01
_LEAST_P: Final = 1e-4
"""Smallest p-value that is shown."""


def measured_section(results: Results) -> Section:
    """The section on the records and evaluators of the report."""
    facts, game = results.records, results.study.game
    first, second = player_titles(game)
    decided = max(facts.games - facts.without_result, 1)
    rows = [
        ("Games", f"{facts.games:,}"),
        ("Positions", f"{facts.positions:,}"),
        (f"{first} won", f"{facts.first_won:,} ({facts.first_won / decided:.1%})"),
        ("Drawn", f"{facts.drawn:,} ({facts.drawn / decided:.1%})"),
        (f"{second} won", f"{facts.second_won:,} ({facts.second_won / decided:.1%})"),
    ]
    if facts.without_result:
        rows.append(("Without a result, not used", f"{facts.without_result:,}"))
    least, median, most = facts.plies
    rows.append(("Plies a game", f"{least} to {most}, median {median}"))
    if facts.standings.ranks.count:
        rows.append(("Ranks", facts.standings.ranks.text))
    if facts.standings.ratings.count:
        rows.append(("Ratings", f"{facts.standings.ratings.text} Elo"))
    if facts.dates is not None:
        one, other = facts.dates
        rows.append(("Played", one if one == other else f"{one} to {other}"))
    if facts.duplicates:
        rows.append(("Duplicates, left out", f"{facts.duplicates:,}"))
    if facts.refused:
        rows.append(("Refused", f"{facts.refused:,}"))
    words = [*_which_positions(results)]
    if results.where is not None:
        words.append(f"Only positions for which this holds: {results.where}")
    blocks = (
        Table("The records of the study.", ("Records", _sources(facts.sources)), tuple(rows)),
        _evaluators_table(results),
    )
    return Section("What was measured", tuple(words), blocks)


def _sources(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_SOURCES])
    more = len(names) - _MOST_SOURCES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _which_positions(results: Results) -> Iterator[str]:
    yield results.coverage.text(hint=False)
    if not results.groups and len(results.subjects) > 1:
        yield (
            f"The evaluators judged different positions; {results.common:,} are common to all. "
            "Each has curves and metrics of its own, which are not to be compared: other "
            "positions are harder or easier to judge."
        )
    kind = "decided games" if results.coverage.draws == "drop" else "games"
    for subject in results.subjects:
        if subject.is_wider:
            yield (
                f"{subject.name} judged many more: its own curve, its phases and its slices are "
                f"over {subject.own.curve.positions:,} positions of "
                f"{subject.own.curve.games:,} {kind}."
            )


def _evaluators_table(results: Results) -> Table:
    rows = []
    for subject in results.subjects:
        facts = subject.facts
        words = [facts.program.removeprefix(facts.spec).strip()]  # searches are called by it
        if facts.spec != subject.name and not facts.is_player:
            words.append(f"spec {facts.spec}")
        time = "–" if facts.time_s is None else f"{1000 * facts.time_s:,.3g} ms"
        rows.append(
            (
                subject.name,
                shorten("; ".join(word for word in words if word), _LONGEST_SPEC),
                "values, 0 to 1" if subject.unit == VALUE else subject.unit,
                f"{facts.positions:,}",
                f"{facts.games:,}",
                f"{facts.failed:,}",
                time,
            )
        )
    return Table(
        "The evaluators: who they are, what they tell, and what they have done.",
        (
            "Evaluator",
            "Program",
            "Tells",
            "Positions",
            "Games",
            "Failed",
            "Time a position",
        ),
        tuple(rows),
    )


def curves_section(results: Results, boards: BoardsOf) -> Section:
    """The section with curves, one chart per unit, whose bins show boards."""
    words = [
        f"{_share_of(results)}, by what the evaluator said. The band is the 95% interval over "
        "games, the strip below shows where the positions are. Click a point to see positions "
        "from its bin."
    ]
    together, apart = results.together, results.apart
    curves = dict.fromkeys([*(each.curve for each in [*together, *apart])])
    blocks: list[Block] = [
        _curve_explorer(results, some, boards, wider=False)
        for group in results.groups
        if all(each.curve.games >= MIN_GAMES for each in group.judged)
        for some in curves_by_unit(group.judged, len(COLORS))
    ]
    blocks += [
        _curve_explorer(results, [each], boards, wider=bool(results.groups))
        for each in apart
        if each.curve.points and each.curve.games >= MIN_GAMES
    ]
    if few := list(dict.fromkeys(each.name for each in curves if each.games < MIN_GAMES)):
        words.append(f"Not shown, with fewer than {MIN_GAMES} games: {'; '.join(few)}.")
    elif not blocks:
        words.append("No bin holds enough positions to be shown.")
    if blocks:
        title = "What the positions are worth, and whether the curves rise"
        enough = (curve for curve in curves if curve.games >= MIN_GAMES)
        blocks.append(Details(title, tuple(about_curve(curve) for curve in enough)))
    return Section(CURVES, tuple(words), tuple(blocks))


def _share_of(results: Results) -> str:
    """Meaning of the curves' shares."""
    first = results.first_player
    if results.won == "won":
        return f"How often {first} won"
    return f"What {first} scored on average, a drawn game being half a win"


def _curve_explorer(
    results: Results, judged: Sequence[Judged], boards: BoardsOf, *, wider: bool
) -> Explorer:
    picks = [
        pick
        for number, each in enumerate(judged)
        for pick in curve_picks(
            results, number, each.curve, each.examples, boards, each.name if judged[1:] else ""
        )
    ]
    names = "; ".join(each.name for each in judged)
    is_value = judged[0].sample.unit == VALUE
    where = f" over all {judged[0].curve.positions:,} positions it judged" if wider else ""
    caption = f"{names}{where}: win probability by {'value' if is_value else 'score'}." + (
        " On the dashed line things come as they were said." if is_value else ""
    )
    beyond = max(_share_beyond(each) for each in judged)
    if beyond >= _WORTH_TELLING:
        most = "Up to " if len(judged) > 1 else ""
        caption += f" {most}{beyond:.0%} of the positions lie further out."
    chart = Curves(tuple(each.curve for each in judged)).chart()
    # The largest bin of undecided positions.
    points = judged[0].curve.points
    open_bins = [i for i, point in enumerate(points) if 0.25 < point.share < 0.75]
    shown = max(open_bins or range(len(points)), key=lambda i: points[i].positions)
    return Explorer(Chart(chart, caption), tuple(picks), shown=pick_key(0, shown))


def _share_beyond(judged: Judged) -> float:
    """The share of positions with values outside of the displayed points."""
    points = [point for point in judged.curve.points if not point.is_mate]
    if not points:
        return 0.0
    values = judged.sample.values
    return float(((values < points[0].lower) | (values >= points[-1].upper)).mean())


def curve_picks(  # noqa: PLR0917
    results: Results,
    number: int,
    curve: Curve,
    examples: Sequence[Sequence[Example]],
    boards: BoardsOf,
    group: str,
) -> Iterator[Pick]:
    """Picks of a curve's bins with their boards."""
    for index, (point, some) in enumerate(zip(curve.points, examples, strict=True)):
        interval = f" ({point.low:.1%} to {point.high:.1%})" if point.low == point.low else ""
        words = (
            f"{_at_start(results.first_player)} {results.won} {point.share:.1%}{interval} of "
            f"{counted(point.positions, 'position')} from {counted(point.games, 'game')}."
        )
        yield Pick(
            pick_key(number, index),
            bin_text(point, curve.unit),
            words,
            shown_boards(boards, some),
            group,
        )


def _at_start(words: str) -> str:
    """Capitalize for the start of a sentence."""
    return words[:1].upper() + words[1:]


def bin_text(point: CurvePoint, unit: str) -> str:
    """Format a bin by its edges: `0.45 to 0.55`, `+150 to +250`, `mate`."""
    if point.is_mate:
        return "mate for the first player" if point.value > 0 else "mate for the second player"
    if unit == VALUE:
        return f"{max(point.lower, 0):.3g} to {min(point.upper, 1):.3g}"
    return f"{point.lower:+g} to {point.upper:+g}"


def phases_section(results: Results) -> Section | None:
    """The section on metrics by phase of the game."""
    courses = [(s.name, s.by_ply) for s in results.subjects if len(s.by_ply) > 1]
    curves = [s for s in results.subjects if len(Curves(s.phase_curves).drawn) > 1]
    if not courses and not curves:
        return None
    words = (
        "How evaluators do from ply to ply. ROC is the chance that a won position is valued above "
        "a lost one; a coin has one half.",
    )
    blocks: list[Block] = []
    if courses:
        caption = "ROC by ply, with the 95% interval over games; the dashed line is a coin's."
        if any(subject.is_wider for subject in results.subjects):
            caption += " Each evaluator on all positions that it judged."
        blocks.append(Chart(roc_by_ply(courses), caption))
    blocks += [
        Chart(
            Curves(subject.phase_curves).chart(),
            f"{subject.name}: curves of early, middle and late positions.",
            narrow=len(curves) > 1,
        )
        for subject in curves
    ]
    rows = tuple(
        (subject.name, part.condition, *_quality_cells(part))
        for subject in results.subjects
        for part in subject.phase_metrics
    )
    caption = "Early, middle and late positions alone, with 95% intervals."
    head = ("Evaluator", "Positions", "ROC", "ACC", "Number", "Games")
    blocks.append(Table(caption, head, rows))
    return Section(BY_PLY, words, tuple(blocks))


def _quality_cells(part: MetricValues) -> tuple[str, ...]:
    return (
        _cell(part.figure("roc")),
        _cell(part.figure("accuracy")),
        f"{part.positions:,}",
        f"{part.games:,}",
    )


def _cell(estimate: Estimate) -> str:
    if math.isnan(estimate.value) or math.isnan(estimate.low):
        return number_text(estimate.value)
    return " ".join(
        [
            number_text(estimate.value),
            f"({number_text(estimate.low)} to {number_text(estimate.high)})",
        ]
    )


def metrics_section(results: Results) -> Section:
    """The section with all metrics, their intervals, and differences between evaluators."""
    apart = [each.metrics for each in results.apart]
    words = ["Higher is better, but for Brier, log-loss and ECE. Intervals are over games."]
    parts = [each.metrics for each in results.together] or apart
    if any(part.games < MIN_GAMES for part in [*parts, *apart]):
        words.append(
            f"{TOO_FEW} stands for figures of fewer than {MIN_GAMES} decided games, which are too "
            "few to say anything."
        )
    blocks: list[Block] = []
    parts = [part for part in parts if part.games >= MIN_GAMES]
    if any(math.isfinite(part["roc"].value) for part in parts):
        caption = (
            "ROC, the chance that a won position is valued above a lost one, and ACC, the share of "
            "positions whose winner is named rightly. At one half lies a coin."
        )
        blocks.append(Chart(quality_dots(parts), caption))
    for group in results.groups:
        together = [each.metrics for each in group.judged]
        blocks += _metrics_tables(_on_positions(results, together), together)
        blocks.append(_differences_table(group.comparisons))
        if not all(each.has_enough for each in group.comparisons):
            continue
        title = f"All metrics of {together[0].name} against each of the others"
        tables = tuple(_comparison_table(each) for each in group.comparisons)
        blocks.append(Details(title, blocks=tables))
    blocks += _metrics_tables("On all positions that each judged", apart)
    return Section(QUALITY, tuple(words), tuple(blocks))


def _on_positions(results: Results, together: Sequence[MetricValues]) -> str:
    """Phrase for the positions of a table."""
    if len(together) == len(results.subjects):
        return "On the positions that all judged"
    return f"On the positions that all of {'; '.join(part.name for part in together)} judged"


def _metrics_tables(which: str, parts: Sequence[MetricValues]) -> Iterator[Table]:
    """Yield tables of all metrics with evaluators side by side; a single one has full intervals."""
    for start in range(0, len(parts), _ABREAST):
        some = parts[start : start + _ABREAST]
        if len(some) == 1:
            caption = f"{which}, with 95% intervals."
            cells = [
                (METRICS[name].title, _cell(some[0].figure(name)), METRICS[name].about)
                for name in METRICS
            ]
            counts = [
                ("Positions", f"{some[0].positions:,}", ""),
                ("Games", f"{some[0].games:,}", ""),
            ]
            head: tuple[str, ...] = ("Metric", some[0].name, "What it is")
            yield Table(caption, head, (*cells, *counts))
            continue
        rows = [
            (METRICS[name].title, *(_plus_minus(part.figure(name)) for part in some))
            for name in METRICS
        ]
        rows.append(("Positions", *(f"{part.positions:,}" for part in some)))
        rows.append(("Games", *(f"{part.games:,}" for part in some)))
        caption = f"{which}; ± is half of the 95% interval; asymmetric ones have both ends."
        yield Table(caption, ("Metric", *(part.name for part in some)), tuple(rows))


def _plus_minus(estimate: Estimate) -> str:
    text = number_text(estimate.value)
    has_interval = math.isfinite(estimate.low)
    if estimate.is_asymmetric:
        return f"{text} ({number_text(estimate.low)} to {number_text(estimate.high)})"
    return f"{text} ± {number_text((estimate.high - estimate.low) / 2)}" if has_interval else text


def _differences_table(comparisons: Sequence[Comparison]) -> Table:
    """Table of the best evaluator against each of the others, by the main metrics."""
    best = comparisons[0].one.name
    rows = []
    for comparison in comparisons:
        differences = {each.metric.name: each for each in comparison.differences}
        verdict = {"one": "worse", "other": "better", None: "not shown"}
        rows.append(
            (
                comparison.other.name,
                *(
                    differences[name].difference.text("+.3f") if comparison.has_enough else TOO_FEW
                    for name in ("roc", "accuracy", "log_loss")
                ),
                verdict[differences["roc"].ahead if comparison.has_enough else None],
            )
        )
    return Table(
        f"{best} less each of the others on the same positions, with 95% intervals; the same games "
        "are drawn again for both. What each of the others is by ROC comes last.",
        ("Evaluator", "ROC", "ACC", "log-loss", "Verdict"),
        tuple(rows),
    )


def _comparison_table(comparison: Comparison) -> Table:
    names = {"one": comparison.one.name, "other": comparison.other.name, None: "not shown"}
    rows = tuple(
        (
            each.metric.title,
            number_text(each.one),
            number_text(each.other),
            each.difference.text("+.3f"),
            _p_text(each.p_value),
            names[each.ahead],
        )
        for each in comparison.differences
    )
    caption = f"{comparison.one.name} against {comparison.other.name}, with 95% intervals."
    head = ("Metric", comparison.one.name, comparison.other.name, "Difference", "p", "Better")
    return Table(caption, head, rows)


def _p_text(p: float) -> str:
    if math.isnan(p):
        return "–"
    return f"{p:.2g}" if p >= _LEAST_P else f"< {_LEAST_P:.4f}"


def slices_sections(results: Results, boards: BoardsOf) -> list[Section]:
    """The sections on evaluators with biases, and one on all others."""
    sections: list[Section] = []
    others: list[str] = []
    for subject in results.subjects:
        slices = subject.slices
        if slices is None:
            others.append(f"{subject.name}: there are too few games to search for slices.")
        elif not slices.slices:
            others.append(_search_words(slices))
        else:
            sections.append(_slices_section(results, subject, slices, boards, not sections))
    if others:
        sections.append(Section(UNBIASED, tuple(others)))
    return sections


def _search_words(slices: Slices) -> str:
    """How the slices were searched; what that does not say is among the methods."""
    return slices.search_note.removesuffix(" Not confirmed is not absent.")


def _slices_section(
    results: Results, subject: Subject, slices: Slices, boards: BoardsOf, is_first: bool
) -> Section:
    """The section on an evaluator's biases: ranked slices with curves and boards."""
    title = wrong_title(subject.name)
    words = [f"{_search_words(slices)} The worst comes with its curve and boards."]
    if is_first:
        words.append(
            "These are the conditions where the curve departs most from the curve of all "
            "positions. The effect is what the win probability is beyond that curve at equal "
            "values: the first player's, or that of the side which the evaluator sees ahead."
        )
    games = "in the held-out games" if slices.held_out_games else "widened for selection"
    chart = Chart(slices.chart(), f"The effects with intervals, {games}.")
    blocks: list[Block] = [chart, _slices_table(slices, is_first)]
    if about := _about_columns(results, subject):
        blocks.append(Details("What the conditions are about", about))
    for number, shown in enumerate(subject.shown_slices):
        sentence, numbers = shown.slice.sentence, _about_slice(subject, shown)
        if not shown.curve.points or not subject.own.curve.points:
            against = Boards(shown_boards(boards, shown.against))
            blocks.append(Details(sentence, (numbers,), (against,)))
        elif number == 0:
            caption = f"{sentence} {numbers}"
            blocks.append(_slice_explorer(results, subject, shown, boards, caption))
        else:
            explorer = _slice_explorer(results, subject, shown, boards, numbers)
            blocks.append(Details(sentence, blocks=(explorer,)))
    return Section(title, tuple(words), tuple(blocks))


def _about_columns(results: Results, subject: Subject) -> tuple[str, ...]:
    """Definitions of the columns in slices, one sentence each."""
    used = {name for shown in subject.shown_slices for name in shown.slice.condition.columns}
    return tuple(
        f"{column.name}: {column.doc}"
        for column in (columns(results.study.game) if results.study.columns else ())
        if column.name in used
    )


def _slices_table(slices: Slices, is_first: bool) -> Table:
    heading, *rows = slices.lines()
    caption = "The slices, largest effect first."
    if is_first:
        caption += (
            " The effect is in percentage points of win probability; the loss is the share of the "
            "curve's Brier loss that correcting the slice removes. q is the smallest false "
            "discovery rate at which each would still be listed. Slices that something else "
            "explains come last: they are no findings about the evaluation."
        )
    return Table(caption, heading, rows)


def _about_slice(subject: Subject, shown: SliceView) -> str:
    """The numbers of a slice in a sentence or two."""
    biased, distance = shown.slice, shown.slice.distance
    text = (
        f"Effect {biased.effect.text('+.3f')}, q {_p_text(biased.q_value)}; "
        f"{biased.gap.positions:,} positions ({biased.share:.1%}) of "
        f"{counted(biased.gap.games, 'game')}."
    )
    if biased.also_text:
        text += f" The same finding: {biased.also_text}."
    if distance is not None:
        at = value_text(distance.at, subject.unit)
        text += (
            f" The two curves lie {distance.signed_area:+.3f} apart on average over the values "
            f"that both have, and {distance.largest_gap:+.3f} at most, at {at}."
        )
    return text


def _slice_explorer(
    results: Results, subject: Subject, shown: SliceView, boards: BoardsOf, caption: str
) -> Explorer:
    chart = Curves((subject.own.curve, shown.curve)).chart()
    against = Pick(
        "against",
        "Most against the evaluation",
        "Positions of this condition where it was most wrong.",
        shown_boards(boards, shown.against),
    )
    group = f"When {shown.slice.condition.words}"
    bins = curve_picks(results, 1, shown.curve, shown.examples, boards, group)
    return Explorer(
        Chart(chart, caption),
        (against, *bins),
        prompt="Click a point of the condition's curve, or choose here:",
    )


def disagreement_section(results: Results, boards: BoardsOf) -> Section | None:
    """The section on disagreement; None without two evaluators on the same positions."""
    blocks: list[Block] = []
    for disagreement, examples in (
        each for group in results.groups for each in group.disagreements
    ):
        if not disagreement.bands:
            continue
        shown: list[Chart | Table | Boards] = []
        enough = filter(disagreement.has_enough_games, disagreement.bands)
        if any(math.isfinite(band.share.low) for band in enough):
            caption = (
                f"How often {disagreement.one} was nearer to the result than "
                f"{disagreement.other}, by how far their probabilities differ."
            )
            shown.append(Chart(disagreement.chart(), caption))
        shown.append(_bands_table(disagreement))
        if examples:
            shown.append(Boards(shown_boards(boards, examples)))
        if blocks:
            blocks.append(Details(disagreement.title, blocks=tuple(shown)))
        else:
            blocks += shown
    if not blocks:
        return None
    words = (
        "Where two evaluators differ, one of them is nearer to the result. Scores count as their "
        "logistic curve says. The boards are those where they differ most, no two of one game.",
    )
    return Section(DISPUTES, words, tuple(blocks))


def _bands_table(disagreement: Disagreement) -> Table:
    rows = tuple(
        (
            f"{band.low:.2f} to {band.high:.2f}",
            disagreement.share_text(band),
            f"{band.positions:,}",
            f"{band.games:,}",
        )
        for band in disagreement.bands
    )
    head = ("Differ by", f"{disagreement.one} right", "Positions", "Games")
    return Table(f"{disagreement.title}; with 95% intervals.", head, rows)


def calibration_section(results: Results) -> Section:
    """The section on the calibration of evaluators."""
    calibration = Calibration(tuple(row for s in results.subjects for row in s.calibration))
    words = [
        f"What a value or a score is worth. {calibration.title}. A step of “scale” multiplies the "
        "odds by 2.7.",
        *calibration.notes(),
    ]
    blocks: list[Block] = [_constants_table(calibration)]
    fitted = [
        s
        for s in results.subjects
        if s.calibration[0].logistic.converged and calibration.has_enough_games(s.calibration[0])
    ]
    units: dict[str, list[Subject]] = {}
    for subject in fitted:
        units.setdefault(subject.unit, []).append(subject)
    for unit, some in units.items():
        chart = Calibration(tuple(row for s in some for row in s.calibration)).chart()
        of = "values" if unit == VALUE else unit
        blocks.append(Chart(chart, f"The fitted curves over {of}.", narrow=len(units) > 1))
    blocks += [_worth_table(subject, results) for subject in fitted if subject.unit != VALUE]
    return Section(CALIBRATED, tuple(words), tuple(blocks))


def _constants_table(calibration: Calibration) -> Table:
    rows = tuple(
        (row.name, row.of, *calibration_texts(row), f"{row.positions:,}", f"{row.games:,}")
        for row in calibration.parts
    )
    columns_of = (heading[:1].upper() + heading[1:] for heading in CALIBRATION_HEADINGS)
    head = ("Evaluator", "Curve of", *columns_of, "Positions", "Games")
    caption = (
        "The constants, with 95% intervals; of the result (without drawn games unless it says "
        "so), and where there are draws, of win and loss against the rest. Positions and games are "
        "those fitted to: mates have no place on a curve."
    )
    return Table(caption, head, rows)


def _worth_table(subject: Subject, results: Results) -> Table:
    """Table of round scores with fitted probabilities and observed results."""
    row, *_ = subject.calibration
    step = nice_number(row.logistic.scale.value / 3)
    scores = step * np.array([-8, -4, -2, -1, 0, 1, 2, 4, 8], dtype=np.float64)
    chances = row.logistic.probability(scores)
    wdl = subject.win_draw_loss
    head = [
        "Score",
        _chance_heading(results, wdl is not None),
        "Came true",
    ]
    cells = [
        [f"{score:+g}" if score else "0" for score in scores],
        [f"{p:.1%}" for p in chances],
        [_came_true(subject, score) for score in scores.tolist()],
    ]
    if wdl is not None and wdl.converged:
        head += ["Win", "Draw", "Loss"]
        cells += [[f"{p:.1%}" for p in part] for part in wdl.probabilities(scores)]
    caption = (
        f"What scores of {subject.name} are worth, in {row.unit}, by the fitted curves; “came "
        "true” is the share in the bin of the curve above, with its interval."
    )
    return Table(caption, tuple(head), tuple(zip(*cells, strict=True)))


def _chance_heading(results: Results, has_draws: bool) -> str:
    first = _at_start(results.first_player)
    if results.won == "scored":
        return f"{first} scores, a draw being half a win"
    return f"{first} wins" + (", draws left out" if has_draws else "")


def _came_true(subject: Subject, score: float) -> str:
    """Observed results in the bin of a score, to compare with the fit."""
    inside = (p for p in subject.own.curve.points if p.lower <= score < p.upper)
    point = next(inside, None)
    if point is None:
        return "–"
    return Estimate(point.share, point.low, point.high).text(".1%")
