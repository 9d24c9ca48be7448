# SPDX-License-Identifier: Apache-2.0
"""Charts: style, rendering, and the chart types of reports."""

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.resources
import json
import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import altair as alt
import vl_convert

from hyoka.foundation.figure import Figure
from hyoka.foundation.text import printable
from hyoka.storage.files import cache_folder, write_bytes, write_text
from hyoka.storage.outputs import mark_png, mark_svg

AltairChart: TypeAlias = alt.TopLevelMixin
"""A chart of any kind: other packages do not import Altair."""
BLOCKS_CSS: Final = "blocks.css"
"""The style sheet of blocks, for reports and other pages that show them."""
INK: Final = "var(--ink)"
"""Color of the page's text. Charts use CSS variables; the page sets their values."""
QUIET: Final = "var(--quiet)"
"""Color of background marks: reference lines, draws."""
COLORS: Final = tuple(f"var(--series-{number})" for number in range(1, 9))
"""Colors of series, in order."""
PICKED: Final = alt.param(name="picked", value="")
"""The key of the pick that an `Explorer` shows.

A chart with this parameter (`chart.add_params(PICKED)`) can highlight the picked mark
(`altair.when(altair.datum.pick == PICKED)`). Outside of an explorer nothing is picked.
"""

_PICTURE_WIDTH: Final = 640
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_INLINE_FONT: Final = "Arial, DejaVu Sans, Verdana, sans-serif"
"""A font that both the server and the browser are likely to have, so that letters fit."""
_LEAST_WIDTH: Final = 280
_AXES: Final = 70
"""What the axes take of a chart's width."""
_NARROW: Final = 380
"""Width of a plot up to which legends are small."""
_NO_HOST: Final = "https://vega.github.io/vega-datasets/"
"""Vega's prefix of addresses without a host."""
_one_at_a_time: Final = threading.Lock()
_QUIET_AXIS: Final = {
    "labelColor": QUIET,
    "titleColor": INK,
    "domainColor": QUIET,
    "tickColor": "var(--line)",
    "gridColor": "var(--line)",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 8,
    "labelLimit": 150,
    "labelOverlap": True,
    "labelSeparation": 3,
}
_LOOK: Final[dict[str, Any]] = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": "transparent", "continuousWidth": _PICTURE_WIDTH, "continuousHeight": 280},
    "axis": _QUIET_AXIS,
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "orient": "top",
        "labelFontSize": 12,
        "labelLimit": 0,  # no limit: names may differ only at their ends
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
        "title": None,
    },
    "title": {"color": INK, "fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "range": {"category": list(COLORS)},
    "line": {"strokeWidth": 2},
    "area": {"opacity": 0.18},
    "bar": {"color": COLORS[0]},
    "point": {"color": COLORS[0], "filled": True, "opacity": 1, "size": 60},
    "rule": {"color": COLORS[0], "strokeWidth": 2},
    "text": {"color": INK, "fontSize": 12},
}


def specification(chart: AltairChart, description: str = "") -> dict[str, Any]:
    """The chart as a Vega-Lite specification in the page's colors, with a text alternative.

    Vega-Lite supports page-wide charts only for single views. Concatenated charts get the width of
    a picture and a note for `draw.js`, which resizes them to the page.
    """
    spec: dict[str, Any] = chart.to_dict()
    spec["config"] = _LOOK
    parts = spec.get("vconcat", [])
    if parts and all(part.get("width") == "container" for part in parts):
        spec["usermeta"] = {"fit": True}
        spec["vconcat"] = [part | {"width": _PICTURE_WIDTH} for part in parts]
    if description:
        spec["description"] = description
    return spec


def chart_of(spec: dict[str, Any]) -> AltairChart:
    """Read a chart from its Vega-Lite specification."""
    chart = alt.Chart.from_dict(spec)
    assert isinstance(chart, AltairChart)
    return chart


@functools.cache
def styles() -> str:
    """The style sheet of all pages; its first rule has the colors of the light theme."""
    folder = importlib.resources.files("hyoka.reporting")
    return "".join((folder / name).read_text(encoding="utf-8") for name in ("page.css", BLOCKS_CSS))


@functools.cache
def drawing_script() -> str:
    """The JavaScript that draws a page's charts: Vega, Vega-Lite and `draw.js`.

    It comes from vl-convert, so it needs no network, and is escaped for an HTML page.
    """
    ours = (importlib.resources.files("hyoka.reporting") / "draw.js").read_text(encoding="utf-8")
    version = vega_lite_version()
    made_of = f"{importlib.metadata.version('vl-convert-python')} {version} {ours}"
    # Bundling takes seconds, so the result is cached.
    cached = cache_folder() / f"charts-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.js"
    with contextlib.suppress(OSError):
        return cached.read_text(encoding="utf-8")
    bundle = vl_convert.javascript_bundle(ours, version)
    script = re.sub(r"<(?=/script|script|!--)", r"\\x3c", bundle, flags=re.IGNORECASE)
    with contextlib.suppress(OSError):
        cached.parent.mkdir(parents=True, exist_ok=True)
        write_text(cached, script)
    return script


@functools.cache
def contents_script() -> str:
    """The JavaScript of a page's table of contents."""
    return (importlib.resources.files("hyoka.reporting") / "contents.js").read_text("utf-8")


def save_chart(
    chart: AltairChart, path: Path, *, scale: float = 2.0, figure: Figure | None = None
) -> None:
    """Write the chart as a picture on white: `.png`, `.svg` or `.pdf`, by the path's suffix.

    Without a `figure`, a page-wide chart becomes 640 pixels wide, times `scale` in a PNG. Raises
    ValueError for other suffixes.
    """
    spec = _on_paper(chart, figure)
    if path.suffix.lower() == ".svg":
        svg = vl_convert.vegalite_to_svg(spec, vl_version=vega_lite_version())
        write_text(path, mark_svg(svg))
    elif path.suffix.lower() == ".png":
        png = vl_convert.vegalite_to_png(spec, vl_version=vega_lite_version(), scale=scale)
        write_bytes(path, mark_png(png))
    elif path.suffix.lower() == ".pdf":
        write_bytes(path, vl_convert.vegalite_to_pdf(spec, vl_version=vega_lite_version()))
    else:
        raise ValueError(f"a chart is saved as .png, .svg or .pdf, not as '{path.name}'")


@dataclass(frozen=True, repr=False)
class Picture:
    """A chart as SVG on white, for notebooks."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg


def drawn(chart: AltairChart, figure: Figure | None = None) -> Picture:
    """Render the chart like `save_chart`, as a picture."""
    spec = _on_paper(chart, figure)
    return Picture(vl_convert.vegalite_to_svg(spec, vl_version=vega_lite_version()))


def _on_paper(chart: AltairChart, figure: Figure | None) -> dict[str, Any]:
    """A chart's specification with fixed colors and the width of a picture."""
    spec = specification(chart)
    if spec.get("width") == "container":
        spec["width"] = _PICTURE_WIDTH
    if figure is not None:
        spec = figure.applied(spec)
    text = re.sub(r"var\(--([a-z0-9-]+)\)", _paper_color, json.dumps(spec))
    spec = dict(json.loads(text))
    spec["config"]["background"] = "white"
    spec["config"]["font"] = "sans-serif"
    return spec


def _paper_color(name: re.Match[str]) -> str:
    return _light_colors().get(name[1], name[0])


@functools.cache
def _light_colors() -> dict[str, str]:
    """Colors of the light theme by name; standalone charts use them too."""
    light = styles().partition("}")[0]
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]+);", light))


def inline_svg(chart: AltairChart, description: str, *, width: int) -> str:
    """The chart as SVG of a width, in the colors of the page that contains it.

    Marks with an `href` are links; a mark's description or tooltip is its `aria-label`.
    """
    spec = specification(chart, description)
    plot = max(_LEAST_WIDTH, width) - _AXES
    view = spec["config"]["view"] | {"continuousWidth": plot}
    spec["config"] = spec["config"] | {"font": _INLINE_FONT, "view": view}
    if plot < _NARROW:
        _shrink_legends(spec, plot)
    if spec.get("width") == "container":
        spec["width"] = plot
    if spec.get("usermeta", {}).get("fit"):
        spec["vconcat"] = [part | {"width": plot} for part in spec["vconcat"]]
    # Names of records may have lone surrogates, which the renderer refuses.
    valid = json.dumps(spec, ensure_ascii=False).encode(errors="replace").decode()
    with _one_at_a_time:
        svg: str = vl_convert.vegalite_to_svg(valid, vl_version=vega_lite_version())
    svg = svg.replace(f'xlink:href="{_NO_HOST}', 'href="')
    words = escape(printable(description))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1)


def _shrink_legends(part: Any, width: int) -> None:
    """Stack the entries of each legend in a narrow chart, none wider than the chart."""
    if isinstance(part, list):
        for each in part:
            _shrink_legends(each, width)
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        if name == "legend" and isinstance(value, dict):
            small = {"columns": 1, "labelLimit": width - 30, "labelFontSize": 11, "rowPadding": 1}
            part[name] = value | small | {"symbolSize": 200}
        elif name != "data":
            _shrink_legends(value, width)


def vega_lite_version() -> str:
    """The version of Vega-Lite that Altair writes, as vl-convert spells it: `6.4`."""
    return ".".join(alt.VEGALITE_VERSION.split(".")[:2])


MOST_SERIES: Final = len(COLORS)
RESULTS: Final = ("first player won", "drawn", "second player won")
_RESULT_COLORS: Final = (COLORS[0], QUIET, COLORS[1])
DASHES: Final = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2]]
_HEIGHT: Final = 280
_MOST_POINTS: Final = 40
"""Maximum number of points with markers on a line."""
_ACROSS: Final = 640
_LETTER: Final = 7
_SYMBOL: Final = 45
"""Sizes in pixels: picture width, about a letter, and a legend's line."""
_ROW: Final = 24
_TALL_ROW: Final = 38


@dataclass(frozen=True, slots=True)
class Dot:
    """A named number with its interval."""

    name: str
    value: float
    low: float
    high: float
    series: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A point of a line with its band."""

    x: float
    y: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of one of several lines."""

    series: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of a bar: the share of one result."""

    name: str
    start: float
    end: float
    result: str
    below: int
    above: int

    @property
    def count(self) -> int:
        """Number of games in the segment."""
        return self.above - self.below


def dots(
    rows: Sequence[Dot],
    *,
    x: str,
    reference: float,
    share: bool = False,
    spec: str = "+.1f",
    pairs: bool = False,
) -> AltairChart:
    """Draw named numbers with their intervals, from top to bottom.

    `spec` is the D3 format of tooltips for numbers other than shares. With `pairs`, names such as
    `this and that` take two lines.
    """
    names = list(dict.fromkeys(row.name for row in rows))
    series = list(dict.fromkeys(row.series for row in rows))
    data = chart_data(
        [
            asdict(row) | {"order": names.index(row.name), "beside": series.index(row.series)}
            for row in rows
        ]
    )
    two_lines = "split(replace(datum.label, ' and ', '|and '), '|')"
    axis = alt.Axis(labelExpr=two_lines) if pairs else alt.Axis()
    row = _TALL_ROW if pairs and any(" and " in name for name in names) else _ROW
    base = alt.Chart(data).encode(
        y=alt.Y("name:N", sort=alt.EncodingSortField("order", op="min"), title=None, axis=axis),
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("value:Q", title=x, format=".1%" if share else spec),
            alt.Tooltip("low:Q", title="from", format=".1%" if share else spec),
            alt.Tooltip("high:Q", title="to", format=".1%" if share else spec),
        ],
    )
    across = alt.X("value:Q", title=x, scale=_scale(share), axis=_axis(share))
    if len(series) > 1:
        # Sort by number: Vega-Lite would write a list of names into an expression.
        in_order = alt.EncodingSortField("beside", op="min")
        base = base.encode(
            yOffset=alt.YOffset("beside:O"), color=alt.Color("series:N", sort=in_order)
        )
    line = reference_line(reference, "x")
    rule = base.mark_rule().encode(x=alt.X("low:Q", title=x, scale=_scale(share)), x2="high:Q")
    layers = [line, rule, base.mark_point(size=70).encode(x=across)]
    return alt.layer(*layers).properties(width="container", height=row * max(len(names), 2))


def band(
    steps: Sequence[Step],
    *,
    x: str,
    y: str,
    domain: tuple[float, float] | None = None,
    height: int = _HEIGHT,
) -> AltairChart:
    """Draw a share as a function of x, with its interval as a band.

    The reference line is the diagonal if x ranges from 0 to 1, otherwise one half.
    """
    base = alt.Chart(chart_data([asdict(step) for step in steps]))
    both_shares = domain == (0, 1)
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False)
    across = alt.X("x:Q", title=x, scale=scale, axis=_axis(both_shares))
    up = alt.Y("y:Q", title=y, scale=_scale(share=True), axis=_axis(share=True))
    low = alt.Y("low:Q", title=y, scale=_scale(share=True))
    tooltips = [
        alt.Tooltip("x:Q", title=x, format=".3~r"),
        alt.Tooltip("y:Q", title=y, format=".1%"),
        alt.Tooltip("low:Q", title="from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
        alt.Tooltip("count:Q", title="count", format=","),
    ]
    point = {"size": 28, "color": COLORS[0]} if len(steps) <= _MOST_POINTS else False
    line = base.mark_line(color=COLORS[0], point=point)
    layers = [
        diagonal() if both_shares else reference_line(0.5, "y"),
        base.mark_area(color=COLORS[0]).encode(x=across, y=low, y2="high:Q"),
        line.encode(x=across, y=up, tooltip=tooltips),
    ]
    return alt.layer(*layers).properties(width="container", height=height)


def lines(
    spots: Sequence[Spot], *, x: str, y: str, share: bool = False, log_x: bool = False
) -> AltairChart:
    """Draw at most `MOST_SERIES` lines, distinguished by color and dashes."""
    series = list(dict.fromkeys(spot.series for spot in spots))
    scale = _scale(share) if share else alt.Scale(zero=True)
    across = alt.Scale(type="log", nice=False) if log_x else alt.Scale(zero=False)
    color, dash = series_encodings(series)
    chart = (
        alt.Chart(chart_data([asdict(spot) for spot in spots]))
        .mark_line(point={"size": 18} if len(spots) <= _MOST_POINTS * len(series) else False)
        .encode(
            x=alt.X("x:Q", title=x, scale=across),
            y=alt.Y("y:Q", title=y, scale=scale, axis=_axis(share)),
            color=color,
            strokeDash=dash,
            tooltip=[
                alt.Tooltip("series:N", title=" "),
                alt.Tooltip("x:Q", title=x, format=".3~r"),
                alt.Tooltip("y:Q", title=y, format=".1%" if share else ".3~r"),
            ],
        )
    )
    layers = [reference_line(0.5, "y"), chart] if share else [chart]
    return alt.layer(*layers).properties(width="container", height=_HEIGHT)


def banded_lines(
    xs: Sequence[float],
    series: Mapping[str, Sequence[float]],
    band: tuple[Sequence[float], Sequence[float]],
    *,
    x: str,
    y: str,
    title: str,
) -> AltairChart:
    """Draw lines over a shaded band; the last line is thick, the others are thin."""
    *_, main = series
    shade = (
        alt.Chart(
            chart_data(
                [
                    {"x": at, "low": low, "high": high}
                    for at, low, high in zip(xs, *band, strict=True)
                ]
            )
        )
        .mark_area(opacity=0.2, color=QUIET)
        .encode(x="x:Q", y="low:Q", y2="high:Q")
    )
    rows = [
        {"series": name, "x": at, "y": value}
        for name, values in series.items()
        for at, value in zip(xs, values, strict=True)
    ]
    drawn = (
        alt.Chart(chart_data(rows))
        .mark_line(color=COLORS[0])
        .encode(
            x=alt.X("x:Q", title=x, axis=alt.Axis(values=list(xs), format="d")),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(zero=False)),
            detail="series:N",
            strokeWidth=alt.condition(f"datum.series == '{main}'", alt.value(3), alt.value(1)),
            opacity=alt.condition(f"datum.series == '{main}'", alt.value(1), alt.value(0.5)),
            tooltip=["series:N", alt.Tooltip("y:Q", title=y, format=".3~r")],
        )
    )
    return alt.layer(shade, drawn).properties(width=260, height=160, title=title)


def in_columns(charts: Sequence[AltairChart], columns: int) -> AltairChart:
    """Arrange charts in rows of at most `columns`."""
    return alt.concat(*charts, columns=columns)  # type: ignore[arg-type]


def lines_over_plies(
    rows: Sequence[dict[str, Any]],
    *,
    names: Sequence[str],
    plies: int,
    title: str,
    reach: float = 0.0,
    ply: int | None = None,
) -> AltairChart:
    """Draw values of evaluators over the plies of a game; points are links.

    A row has a `line`, `ply`, `value`, `address` and `words`. Values lie between -`reach` and
    `reach`; a `reach` of 0 means expected scores between 0 and 1. A rule marks the current `ply`.
    """
    color, dash = series_encodings(names, "line", always=False)
    domain = [-reach, reach] if reach else [0, 1]
    base = alt.Chart(chart_data(rows)).encode(
        x=alt.X("ply:Q", title="ply", scale=alt.Scale(domain=[0, plies], nice=False)),
        y=alt.Y("value:Q", title=title, scale=alt.Scale(domain=domain), axis=_axis(not reach)),
        color=color,
    )
    points = base.mark_point(filled=True, size=34, opacity=1).encode(
        href="address:N", description="words:N"
    )
    layers = [reference_line(0.0 if reach else 0.5, "y")]
    layers += [] if ply is None else [reference_line(ply, "x")]
    layers += [base.mark_line().encode(strokeDash=dash), points]
    return alt.layer(*layers).properties(width="container", height=220)


def series_encodings(
    names: Sequence[str], field: str = "series", *, always: bool = True
) -> tuple[alt.Color, alt.StrokeDash]:
    """Encode at most `MOST_SERIES` series by color and dashes.

    With `always`, there is a legend even of a single one.
    """
    legend = stroke_legend(names) if always or len(names) > 1 else None
    colors = alt.Scale(domain=list(names), range=list(COLORS[: len(names)]))
    dashes = alt.Scale(domain=list(names), range=DASHES[: len(names)])
    return (
        alt.Color(f"{field}:N", scale=colors, legend=legend),
        alt.StrokeDash(f"{field}:N", scale=dashes, legend=legend),
    )


def stroke_legend(names: Sequence[str]) -> alt.Legend:
    """Legend of lines, in as many columns as fit above a picture."""
    across = _LETTER * max(map(len, names), default=1) + _SYMBOL
    return alt.Legend(
        symbolType="stroke", symbolSize=400, columns=max(1, min(len(names), _ACROSS // across))
    )


def columns(parts: Sequence[Part], *, x: str) -> AltairChart:
    """Draw vertical bars from `start` to `end`, stacked by result."""
    chart: alt.Chart = (
        _stacked(parts)
        .encode(
            x=alt.X(
                "start:Q",
                title=x,
                scale=alt.Scale(zero=False, nice=False),
                axis=_whole_axis(min(p.start for p in parts), max(p.end for p in parts)),
            ),
            x2="end:Q",
            y=alt.Y("below:Q", title="games", axis=_whole_axis(0, max(p.above for p in parts))),
            y2="above:Q",
            tooltip=[
                alt.Tooltip("start:Q", title="from", format="d"),
                alt.Tooltip("end:Q", title="to below", format="d"),
                *_counted(),
            ],
        )
        .properties(width="container", height=_HEIGHT)
    )
    return chart


def rows(parts: Sequence[Part]) -> AltairChart:
    """Draw named horizontal bars from top to bottom, stacked by result."""
    names = len({part.name for part in parts})
    chart: alt.Chart = (
        _stacked(parts)
        .encode(
            y=alt.Y("name:N", sort=alt.EncodingSortField("order", op="min"), title=None),
            x=alt.X("below:Q", title="games", axis=_whole_axis(0, max(p.above for p in parts))),
            x2="above:Q",
            tooltip=[alt.Tooltip("name:N", title=" "), *_counted()],
        )
        .properties(width="container", height=_ROW * max(names, 2))
    )
    return chart


def _stacked(parts: Sequence[Part]) -> Any:
    names = list(dict.fromkeys(part.name for part in parts))
    values = [
        asdict(part) | {"order": names.index(part.name), "count": part.count}
        for part in parts
        if part.count
    ]
    return (
        alt.Chart(chart_data(values))
        .mark_bar(stroke="var(--ground)", strokeWidth=0.5)
        .encode(
            color=alt.Color(
                "result:N", scale=alt.Scale(domain=list(RESULTS), range=list(_RESULT_COLORS))
            )
        )
    )


def _counted() -> list[alt.Tooltip]:
    return [alt.Tooltip("result:N", title=" "), alt.Tooltip("count:Q", title="games", format=",")]


def chart_data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Round rows for a chart to five digits, without those that have non-finite numbers."""
    rounded = [
        {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()}
        for row in rows
        if all(not isinstance(v, float) or math.isfinite(v) for v in row.values())
    ]
    return alt.InlineData(values=rounded)


def _scale(share: bool) -> alt.Scale:
    return alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False)


def _axis(share: bool) -> alt.Axis:
    return alt.Axis(format="%") if share else alt.Axis()


def _whole_axis(low: float, high: float) -> alt.Axis:
    """An axis with a few ticks, all at integers; Vega's default ticks may be fractions."""
    steps = (nice * 10**power for power in range(12) for nice in (1, 2, 5))
    step = next(step for step in steps if high - low <= 8 * step)
    first = math.ceil(low / step) * step
    return alt.Axis(values=list(range(first, math.floor(high) + 1, step)), format=",d")


def reference_line(at: float, channel: Literal["x", "y"]) -> Any:
    """A dashed reference line across the chart."""
    mark = alt.Chart(chart_data([{"at": at}])).mark_rule(
        color=INK, strokeWidth=1, strokeDash=[3, 3], opacity=0.6
    )
    return mark.encode(x="at:Q") if channel == "x" else mark.encode(y="at:Q")


def diagonal() -> Any:
    """A dashed reference line where two shares are equal."""
    ends = chart_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    mark = alt.Chart(ends).mark_line(color=INK, strokeWidth=1, strokeDash=[3, 3], opacity=0.6)
    return mark.encode(x="x:Q", y="y:Q")
