# SPDX-License-Identifier: Apache-2.0
"""Charts that only a study's report has, and the names of its figures in files."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import altair as alt

from hyoka.analysis import Metrics
from hyoka.page import COLOURS, INK, Page
from hyoka.page.figures import DASHES, Dot, dots

_HEIGHT: Final = 260


def quality_dots(parts: Sequence[Metrics]) -> alt.TopLevelMixin:
    """ROC and ACC beside one another, with their intervals; at one half lies a coin."""
    rows = [
        Dot(part.name, estimate.value, *estimate.ends, title)
        for part in parts
        for name, title in (("roc", "ROC"), ("accuracy", "ACC"))
        if (estimate := part[name]).value == estimate.value
    ]
    return dots(rows, x="ROC, ACC", reference=0.5, spec=".3f")


def roc_by_ply(
    courses: Sequence[tuple[str, Sequence[tuple[int, int, Metrics]]]],
) -> alt.TopLevelMixin:
    """ROC as games go on, a line an evaluator with its band, over the middles of ply ranges."""
    names = [name for name, _ in courses][: len(COLOURS)]
    rows = []
    for name, course in courses[: len(COLOURS)]:
        for low, high, part in course:
            ends = part["roc"].ends
            rows.append(
                {
                    "series": name,
                    "ply": (low + high) / 2,
                    "plies": f"{low} to {high - 1}",
                    "roc": round(part["roc"].value, 5),
                    "low": round(ends[0], 5),
                    "high": round(ends[1], 5),
                    "positions": part.positions,
                    "games": part.games,
                }
            )
    legend = alt.Legend(symbolType="stroke", symbolSize=400) if len(names) > 1 else None
    colour = alt.Color(
        "series:N", scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])), legend=legend
    )
    dash = alt.StrokeDash(
        "series:N", scale=alt.Scale(domain=names, range=DASHES[: len(names)]), legend=legend
    )
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
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("ply:Q", title="ply", scale=alt.Scale(zero=False)), color=colour
    )
    coin = alt.Chart(alt.InlineData(values=[{"at": 0.5}]))
    reference = coin.mark_rule(color=INK, strokeWidth=1, strokeDash=[3, 3], opacity=0.6)
    return alt.layer(
        reference.encode(y=alt.Y("at:Q", scale=scale)),
        base.mark_area().encode(y=alt.Y("low:Q", title="ROC", scale=scale), y2="high:Q"),
        base.mark_line().encode(y=alt.Y("roc:Q", scale=scale), strokeDash=dash),
        base.mark_point(filled=True, opacity=1, size=46).encode(
            y=alt.Y("roc:Q", scale=scale), tooltip=tooltips
        ),
    ).properties(width="container", height=_HEIGHT)


def figures_of(page: Page) -> Iterator[tuple[str, alt.TopLevelMixin]]:
    """Every chart of a page with a name for its file, such as `03-the-curves`."""
    number = 0
    for section in page.sections:
        slug = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        for chart in Page("", sections=(section,)).charts:
            number += 1
            yield f"{number:02}-{slug[:60]}", chart.chart
