# SPDX-License-Identifier: Apache-2.0
"""Charts of results of analysis and learning (`Result.drawn_by`), and their sections of pages."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import altair as alt
import numpy as np
import pyarrow as pa

from hyoka.analysis.accuracy import AccuracyTable, WorstMoves
from hyoka.analysis.calibration import Calibration
from hyoka.analysis.comparison import Certainty, Comparison, Disagreement
from hyoka.analysis.curves import MOST_DRAWN, Curve, CurvePoint, Curves, value_text
from hyoka.analysis.gaps import Gaps
from hyoka.analysis.metrics import METRICS, MetricsTable
from hyoka.analysis.reliability import ReliabilityDiagrams
from hyoka.analysis.sample import VALUE
from hyoka.analysis.slices import Slices
from hyoka.analysis.wdl import WdlModel, WdlModels
from hyoka.reporting.charts import (
    COLORS,
    INK,
    PICKED,
    AltairChart,
    Dot,
    Spot,
    Step,
    band,
    chart_data,
    diagonal,
    dots,
    lines,
    reference_line,
    series_encodings,
)
from hyoka.reporting.page import Block, Chart, Details, Downloads, Section, Table
from hyoka.storage.result import Result

if TYPE_CHECKING:
    from hyoka.arena.whole_history import RatingHistory
    from hyoka.learning.prediction import Recognitions
    from hyoka.learning.recalibration import CalibrationTable, LearnedCalibration
    from hyoka.learning.strengths import Strengths

_HEIGHT: Final = 320
_STRIP: Final = 44
_MOST_MARKS: Final = 40
"""Maximum number of days per player with markers on a line of ratings."""


def result_section(
    result: Result,
    *,
    chart: AltairChart | None = None,
    links: Sequence[str] = (),
    downloads: Sequence[tuple[str, str]] = (),
    opened: bool = False,
) -> Section:
    """Build a section of a result: its chart with all notes, its table, and downloads.

    `chart` replaces the result's own; `links` are the addresses of the table's rows.
    """
    heading, *rows = result.lines()
    covered = () if result.coverage is None else (result.coverage.text(hint=False),)
    words = (*covered, *result.notes())
    blocks: list[Block] = []
    if rows:
        title = result.title
        drawing = result.chart() if chart is None else chart
        table = Table(title, heading, rows, links)
        blocks.append(Chart(drawing, " ".join(words), title))
        blocks.append(Details("The same in numbers", (), (table,), opened))
    if downloads:
        blocks.append(Downloads(result.title, downloads))
    return Section(result.title, () if rows else words, tuple(blocks))


def pick_key(series: int, point: int) -> str:
    """Key of a curve's bin in a page, from the indices of the curve and the point."""
    return f"{series}-{point}"


def evaluation_curves(curves: Curves, addresses: Mapping[str, str] | None = None) -> AltairChart:
    """Draw curves with their bands above a histogram of the positions.

    Curves of one unit share a pair of views. Every bin's datum has a `pick` (see `pick_key`), so
    that a page can show boards for it. With `addresses` by pick, bins are links.
    """
    shown = curves.drawn
    units = list(dict.fromkeys(part.unit for part in shown))
    views = []
    for unit in units:
        numbered = [(i, part) for i, part in enumerate(shown) if part.unit == unit]
        views += _curve_and_strip(curves, numbered, addresses, is_shared=len(units) == 1)
    # Only views of the same unit share their scales.
    scales: Literal["shared", "independent"] = "shared" if len(units) == 1 else "independent"
    together: alt.VConcatChart = (
        alt.vconcat(*views, spacing=4)
        .resolve_scale(x=scales, color=scales, strokeDash=scales)
        .add_params(PICKED)
    )
    return together


def _curve_and_strip(
    curves: Curves,
    numbered: Sequence[tuple[int, Curve]],
    addresses: Mapping[str, str] | None,
    *,
    is_shared: bool,
) -> list[Any]:
    """Draw the curves of one unit above a histogram of the positions.

    Without a legend shared by several units, the upper view has the legend.
    """
    shown = [part for _, part in numbered]
    names = unique_labels(shown)
    data = chart_data(
        [
            _row(curves, part, point, name, pick_key(number, index), addresses)
            for (number, part), name in zip(numbered, names, strict=True)
            for index, point in enumerate(part.points)
            if not point.is_mate
        ]
    )
    is_value = all(part.unit == VALUE for part in shown)
    x_title = "value (first player's expected result)" if is_value else _unit_title(shown)
    finite = [p.value for part in shown for p in part.points if not p.is_mate] or [0.0, 1.0]
    domain = [0.0, 1.0] if is_value else central_range(shown)
    across = alt.X(
        "value:Q",
        title=None,
        scale=alt.Scale(domain=domain, nice=not is_value),
        axis=alt.Axis(labels=False, ticks=False),
    )
    color, dash = series_encodings(names, always=False)
    up = alt.Scale(domain=[0, 1])
    tooltips = [
        alt.Tooltip("series:N", title=" "),
        alt.Tooltip("value_text:N", title="value"),
        alt.Tooltip("share:Q", title=curves.of, format=".1%"),
        alt.Tooltip("interval:N", title="interval"),
        alt.Tooltip("positions:Q", title="positions", format=","),
        alt.Tooltip("games:Q", title="games", format=","),
    ]
    base = alt.Chart(data).encode(x=across)
    band = base.mark_area(clip=True).encode(
        y=alt.Y("low:Q", scale=up, title=curves.of, axis=alt.Axis(format="%")),
        y2="high:Q",
        color=color,
    )
    line = base.mark_line(clip=True).encode(
        y=alt.Y("share:Q", scale=up), color=color, strokeDash=dash
    )
    points = base.mark_point(filled=True, opacity=1, clip=True).encode(
        y=alt.Y("share:Q", scale=up),
        color=color,
        size=alt.when(alt.datum.pick == PICKED).then(alt.value(170)).otherwise(alt.value(46)),
        tooltip=tooltips,
    )
    if addresses is not None:
        points = points.encode(href="address:N", description="words:N")
    reference = diagonal() if is_value else reference_line(0.5, "y")
    upper = (
        alt.layer(reference, band, line, points)
        .resolve_scale(color="shared")
        .properties(width="container", height=_HEIGHT)
    )
    strip = (
        alt.Chart(data)
        .mark_bar(opacity=0.75, clip=True)
        .encode(
            x=alt.X(
                "value:Q",
                title=x_title,
                scale=alt.Scale(domain=domain, nice=not is_value),
            ),
            y=alt.Y(
                "positions:Q",
                title=None,
                stack=False,
                axis=alt.Axis(labels=False, ticks=False, grid=False, domain=False),
            ),
            color=color if is_shared else color.legend(None),
            size=alt.value(max(2, min(9, 420 // max(len(finite), 1)))),
            tooltip=tooltips,
        )
        .properties(width="container", height=_STRIP)
    )
    return [upper, strip]


def central_range(curves: Sequence[Curve]) -> list[float]:
    """The range of scores without the lowest and highest 0.5% of positions."""
    points = [p for curve in curves for p in curve.points if not p.is_mate]
    if not points:
        return [-1.0, 1.0]
    points.sort(key=lambda point: point.value)
    below = np.cumsum([point.positions for point in points])
    low, high = np.searchsorted(below, [0.005 * below[-1], 0.995 * below[-1]])
    return [points[low].value, points[min(int(high), len(points) - 1)].value]


def unique_labels(curves: Sequence[Curve]) -> list[str]:
    """A unique name for each curve, without their common parts."""
    one_name = len({curve.name for curve in curves}) == 1
    one_condition = len({curve.condition for curve in curves}) == 1
    labels: list[str] = []
    for curve in curves:
        condition = curve.condition or "all"
        if one_condition:
            label = curve.name
        else:
            label = condition if one_name else f"{curve.name}, {condition}"
        while label in labels:
            label += " "
        labels.append(label)
    return labels


def _row(  # noqa: PLR0917 - all that a datum tells
    curves: Curves,
    part: Curve,
    point: CurvePoint,
    name: str,
    pick: str,
    addresses: Mapping[str, str] | None,
) -> dict[str, object]:
    naive = curves.bands == "naive"
    low, high = (point.naive_low, point.naive_high) if naive else (point.low, point.high)
    linked = {}
    if addresses is not None:
        share = f"{curves.of} {point.share:.1%} ({low:.1%} to {high:.1%})"
        words = (
            f"{name}; {value_text(point.value, part.unit)}: {share}; {point.positions:,} positions"
        )
        linked = {"address": addresses[pick], "words": words}
    return linked | {
        "series": name,
        "value": point.value,
        "value_text": value_text(point.value, part.unit),
        "share": point.share,
        "low": low,
        "high": high,
        "interval": f"{low:.1%} to {high:.1%}",
        "positions": point.positions,
        "games": point.games,
        "pick": pick,
    }


def _unit_title(curves: Sequence[Curve]) -> str:
    units = sorted({curve.unit for curve in curves if curve.unit != VALUE})
    return f"score ({' / '.join(units)}, first player's view)" if units else "score"


def fitted_curves(calibration: Calibration) -> AltairChart:
    """Draw fitted logistic curves: values from 0 to 1, scores within four scales of even."""
    enough = filter(calibration.has_enough_games, calibration.parts)
    fitted = [part for part in enough if part.logistic.converged]
    spots = []
    for part in fitted[: len(COLORS)]:
        curve = part.logistic
        reach = 4 * abs(curve.scale.value)
        ends = (curve.even.value - reach, curve.even.value + reach)
        values = np.linspace(*((0.0, 1.0) if part.unit == VALUE else ends), 41)
        words = [part.name, part.condition, part.of]
        name = ", ".join(word for word in words if word)
        chances = curve.probability(values)
        spots += [Spot(name, float(x), float(y)) for x, y in zip(values, chances, strict=True)]
    x = "value" if all(part.unit == VALUE for part in fitted) else "score"
    return lines(spots, x=x, y="probability", share=True)


def calibration_maps(result: "LearnedCalibration | CalibrationTable") -> AltairChart:
    """Draw the curves of calibration models."""
    model = result.model
    spots = [
        Spot(name, float(x), float(y))
        for name, inputs, expected in list(result.curves())[: len(COLORS)]
        for x, y in zip(inputs, expected, strict=True)
    ]
    return lines(spots, x=model.quantity, y="expected score", share=True)


def reliability_diagrams(result: ReliabilityDiagrams) -> AltairChart:
    """Draw recalibrated claims with their bands, a diagram for each evaluator or slice."""
    enough = filter(result.has_enough_games, result.diagrams)
    views: list[Any] = [
        band(
            [Step(p.claim, p.share, p.low, p.high, p.positions) for p in diagram.points],
            x=f"claim of {diagram.label}",
            y="result (recalibrated)",
            domain=(0, 1),
        )
        for diagram in enough
        if diagram.points
    ]
    together: alt.VConcatChart = alt.vconcat(*views[:MOST_DRAWN], spacing=12)
    return together


def metric_dots(metrics: MetricsTable) -> AltairChart:
    """Draw ACC, ROC and τ-b with their intervals, by evaluator."""
    rows = []
    for part in metrics:
        if part.games < metrics.min_games:
            continue
        name = f"{part.name}, {part.condition}" if part.condition else part.name
        for metric in ("accuracy", "roc", "tau_b"):
            estimate = part.estimates[metric]
            if math.isfinite(estimate.value):
                rows.append(Dot(name, estimate.value, *estimate.ends, METRICS[metric].title))
    return dots(rows, x="ACC, ROC, τ-b", reference=0.5, spec=".3f")


def loss_dots(table: AccuracyTable) -> AltairChart:
    """Draw the mean losses of groups of moves with intervals; the line is the first row's."""
    rows = [
        Dot(
            f"{part.name}, {part.condition}" if part.condition else part.name,
            100 * part.loss.value,
            100 * part.loss.ends[0],
            100 * part.loss.ends[1],
        )
        for part in table
        if part.games >= table.min_games
    ]
    reference = rows[0].value if rows else 0.0
    return dots(rows, x="mean loss of expected score (percent)", reference=reference, spec=".2f")


def worst_move_dots(moves: WorstMoves) -> AltairChart:
    """Draw the losses of the worst moves."""
    losses = {f"game {each.game}, ply {each.ply}: {each.move}": 100 * each.loss for each in moves}
    rows = [Dot(name, loss, loss, loss) for name, loss in losses.items()]
    return dots(rows, x="loss of expected score (percent)", reference=0.0, spec=".1f")


def difference_dots(comparison: Comparison) -> AltairChart:
    """Draw the metric differences of two evaluators with intervals."""
    rows = [
        Dot(each.metric.title, each.difference.value, *each.difference.ends)
        for each in comparison.differences
        if comparison.has_enough
        and math.isfinite(each.difference.value)
        and each.metric.name != "expected_difference"
    ]
    return dots(rows, x=f"{comparison.one.name} less {comparison.other.name}", reference=0.0)


def gap_dots(gaps: Gaps) -> AltairChart:
    """Draw departures of conditions with their intervals."""
    kinds = {"level": "for the first player", "lean": "for the side it sees ahead"}
    rows = [
        Dot(
            f"{part.evaluator}, {part.condition}",
            departure.effect.value,
            *departure.effect.ends,
            kinds[departure.kind],
        )
        for part in filter(gaps.has_enough_games, gaps)
        for departure in (part.gap.level, part.gap.lean)
    ]
    return dots(rows, x="win probability beyond the curve of all", reference=0.0)


def slice_dots(slices: Slices) -> AltairChart:
    """Draw effects of slices with their intervals, the worst on top."""
    kinds = {"level": "for the first player", "lean": "for the side it sees ahead"}
    rows = [
        Dot(
            each.condition.words,
            each.effect.value,
            each.effect.low,
            each.effect.high,
            kinds[each.departure.kind],
        )
        for each in slices.slices
    ]
    x = "win probability beyond the total curve"
    return dots(rows, x=x, reference=0.0, spec="+.3f", pairs=True)


def share_dots(result: Disagreement | Certainty) -> AltairChart:
    """Draw the share of each band, by the difference of two evaluators or by certainty."""
    rows = [
        Dot(f"{band.low:.2f} to {band.high:.2f}", band.share.value, band.share.low, band.share.high)
        for band in filter(result.has_enough_games, result.bands)
        if math.isfinite(band.share.low)
    ]
    return dots(rows, x=result.share_title, reference=0.5, share=True)


_CONTOURS: Final = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
"""Probabilities of the contours."""
_WDL_HEIGHT: Final = 260
_MOST: Final = 4
"""Maximum number of models in a chart."""


def wdl_contours(fits: WdlModels) -> AltairChart:
    """Draw contours of wins and draws by score (x) and stage (y), for each model."""
    enough = list(filter(fits.has_enough_games, fits.parts))
    models = [part for part in enough if part.converged] or enough
    views = [_view(model, outcome) for model in models[:_MOST] for outcome in ("win", "draw")]
    together: alt.VConcatChart = alt.vconcat(*views, spacing=12)
    return together


def _view(model: WdlModel, outcome: Literal["win", "draw"]) -> Any:
    stages, grid = model.stages, model.grid
    shares = grid.won if outcome == "win" else grid.drawn
    cells = [
        {
            "left": float(grid.scores[i]),
            "right": float(grid.scores[i + 1]),
            "below": float(grid.stages[j]),
            "above": float(grid.stages[j + 1]),
            "share": float(shares[i, j] / grid.positions[i, j]),
            "positions": int(grid.positions[i, j]),
        }
        for i in range(len(grid.scores) - 1)
        for j in range(len(grid.stages) - 1)
        if grid.positions[i, j] > 0
    ]
    reach = float(grid.scores[-1])
    who = ", ".join(word for word in (model.name, model.condition) if word)
    across = alt.Scale(domain=[-reach, reach], nice=False)
    up = alt.Scale(domain=[stages.low, stages.high], nice=False)
    happened = (
        alt.Chart(chart_data(cells))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", title=f"score ({model.unit})", scale=across),
            x2="right:Q",
            y=alt.Y("below:Q", title=stages.name, scale=up),
            y2="above:Q",
            # Lines in the color of text are visible on all shades, in the light and in the dark.
            color=alt.value(COLORS[0]),
            opacity=alt.Opacity(
                "share:Q",
                title=f"{outcome}s",
                scale=alt.Scale(domain=[0, 1], range=[0.05, 0.85]),
                legend=alt.Legend(format="%", values=[0, 0.25, 0.5, 0.75, 1], symbolType="square"),
            ),
            tooltip=[
                alt.Tooltip("share:Q", title=f"{outcome}s", format=".1%"),
                alt.Tooltip("positions:Q", title="positions", format=","),
                alt.Tooltip("left:Q", title="score from", format=".0f"),
                alt.Tooltip("below:Q", title="stage from", format=".3~r"),
            ],
        )
    )
    layers: list[alt.Chart] = [happened]
    if model.converged:
        layers += _lines(model, outcome, across, up, reach)
    words = f"{outcome}s, {who}: what happened, and the model's lines"
    return alt.layer(*layers).properties(width="container", height=_WDL_HEIGHT, title=words)


def _lines(
    model: WdlModel,
    outcome: Literal["win", "draw"],
    across: alt.Scale,
    up: alt.Scale,
    reach: float,
) -> list[alt.Chart]:
    """Draw a model's contours with labels at one end."""
    at = np.linspace(model.stages.low, model.stages.high, 60)
    rows: list[dict[str, object]] = []
    for share in _CONTOURS:
        scores = model.contour(outcome, share, at.tolist())
        for side in (1, -1) if outcome == "draw" else (1,):
            for order, (stage, score) in enumerate(zip(at, side * scores, strict=True)):
                if abs(score) <= reach:
                    rows.append(
                        {
                            "line": f"{share:.0%}{'' if side > 0 else ' '}",
                            "order": order,
                            "score": float(score),
                            "stage": float(stage),
                        }
                    )
    base = alt.Chart(chart_data(rows)).encode(
        x=alt.X("score:Q", scale=across), y=alt.Y("stage:Q", scale=up)
    )
    drawn = base.mark_line(color=INK, strokeWidth=1).encode(
        detail="line:N", order="order:Q", tooltip=[alt.Tooltip("line:N", title=outcome)]
    )
    names = base.transform_filter("datum.order == 40").mark_text(color=INK, dx=12, fontSize=10)
    return [drawn, names.encode(text="line:N")]


def rating_lines(history: "RatingHistory") -> AltairChart:
    """Draw ratings over time with their intervals as bands, one line per player."""
    rows = [
        {"series": player.name, "date": str(date), "elo": elo, "low": low, "high": high,
         "interval": f"{low:.0f} to {high:.0f}", "games": games}
        for player in history.drawn
        for date, elo, low, high, games in zip(
            player.dates, *(each.tolist() for each in (
                player.elo, player.low, player.high, player.games
            )), strict=True,
        )
    ]  # fmt: skip
    color, dash = series_encodings([player.name for player in history.drawn])
    across = alt.X("date:T", title=None, scale=alt.Scale(type="utc"))
    up = alt.Scale(zero=False)
    base = alt.Chart(chart_data(rows)).encode(x=across)
    band = base.mark_area().encode(
        y=alt.Y("low:Q", title="Elo", scale=up), y2="high:Q", color=color
    )
    marks = len(rows) <= _MOST_MARKS * len(history.drawn)
    line = base.mark_line(point={"size": 14} if marks else False).encode(
        y=alt.Y("elo:Q", scale=up),
        color=color,
        strokeDash=dash,
        tooltip=[
            alt.Tooltip("series:N", title=" "),
            alt.Tooltip("date:N", title="date"),
            alt.Tooltip("elo:Q", title="Elo", format=".0f"),
            alt.Tooltip("interval:N", title="95 % interval"),
            alt.Tooltip("games:Q", title="games", format=","),
        ],
    )
    together: alt.LayerChart = alt.layer(band, line).resolve_scale(color="shared")
    return together.properties(width="container", height=_HEIGHT)


def recognition_line(recognitions: "Recognitions") -> AltairChart:
    """Draw how often the move played is among the n best, by n."""
    return recognition_chart({recognitions.name: recognitions.curve}, recognitions.title)


def recognition_chart(curves: Mapping[str, Sequence[float]], title: str) -> AltairChart:
    """Draw how often the move is among the n best, by n; one line per curve."""
    rows = [
        {"model": name, "n": n, "recognized": share}
        for name, curve in curves.items()
        for n, share in enumerate(curve, 1)
    ]
    chart: alt.Chart = (
        alt.Chart(pa.Table.from_pylist(rows), title=title)
        .mark_line()
        .encode(
            x=alt.X("n:Q", title="among the n best"),
            y=alt.Y(
                "recognized:Q",
                title="moves recognized",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%"),
            ),
        )
    )
    if len(curves) > 1:
        chart = chart.encode(color=alt.Color("model:N", sort=list(curves), title=None))
    return chart


_MOST_FEATURES: Final = 40
"""Maximum number of features in the chart: half strongest, half weakest."""


def strength_dots(strengths: "Strengths") -> AltairChart:
    """Draw the strongest and the weakest features with their intervals."""
    met = strengths.met
    if len(met) > _MOST_FEATURES:
        met = (*met[: _MOST_FEATURES // 2], *met[-_MOST_FEATURES // 2 :])
    data = pa.Table.from_pylist(
        [
            {
                "feature": each.name,
                "γ": each.strength.value,
                "low": each.strength.low,
                "high": each.strength.high,
            }
            for each in met
        ]
    )
    names = [each.name for each in met]
    base = alt.Chart(data, title=strengths.title).encode(
        y=alt.Y("feature:N", sort=names, title=None)
    )
    rule = base.mark_rule().encode(
        x=alt.X("low:Q", scale=alt.Scale(type="log"), title="γ"), x2="high:Q"
    )
    chart: alt.LayerChart = rule + base.mark_point(filled=True).encode(x="γ:Q")
    return chart
