# SPDX-License-Identifier: Apache-2.0
"""The blocks of reports on pages of the studio: charts and boards are drawn on the server."""

import re
from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

import hyoka as hk
from hyoka.analysis import Curve, value_text
from hyoka.analysis.curves import nice_number
from hyoka.analysis.sample import VALUE
from hyoka.apps.studio.forms import is_whole_number
from hyoka.reporting import (
    COLORS,
    AltairChart,
    Block,
    Board,
    Chart,
    Explorer,
    Page,
    Renderer,
    Section,
)
from hyoka.reporting.analysis_charts import central_range
from hyoka.reporting.charts import Spot, inline_svg, lines
from hyoka.reporting.page import figure_html, list_html

_STYLE: Final = re.compile(r"<style>.*?</style>", re.DOTALL)
_WIDTH: Final = 710
_BOARD: Final = 320
_page_width: Final[ContextVar[int]] = ContextVar("page_width", default=_WIDTH)


class PageWidth:
    """ASGI middleware that makes charts as wide as the browser's page, so letters do not shrink.

    The script of all pages keeps the width of their content in a cookie.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            width = Request(scope).cookies.get("hyoka-width", "")
            _page_width.set(int(width) if is_whole_number(width) else _WIDTH)
        await self._app(scope, receive, send)


def in_columns(count: int) -> None:
    """Draw the charts of this request narrow enough for some columns, if the page has room."""
    page = _page_width.get()
    if count > 1 and page >= _ROOM:
        _page_width.set((page - _GAP * (count - 1)) // count - _PADDING)


_ROOM: Final = 900
_GAP, _PADDING = 20, 40
"""Widths in pixels: pages with room for several columns, between columns, and inside of one."""


def warm_up() -> None:
    """Draw something, so that the first chart of a page does not wait for the renderer to start."""
    chart(lines([Spot("", 0, 0)], x="x", y="y"), "")


def chart(drawing: AltairChart, words: str, *, most: int = _WIDTH) -> Markup:
    """A chart at most as wide as `most` and the page; `words` are its text alternative.

    Marks with an `href` (an address in the studio) are links. A mark's description or tooltip is
    shown when the pointer is on it.
    """
    svg = inline_svg(drawing, words, width=min(_page_width.get(), most))
    return Markup(f'<div class="chart">{svg}</div>')


def without_stops(picture: Markup) -> Markup:
    """A chart whose links are for pointers alone: a table below has them for everybody."""
    plain_marks = str(picture).replace('<a href="', '<g class="to" data-to="')
    return Markup(plain_marks.replace("</a>", "</g>"))


def board(position: Any, **options: Any) -> Markup:
    """A board as `hyoka.svg` draws it; the studio's style sheet has its styles."""
    return without_style(hk.svg(position, **options))


def without_style(svg: str) -> Markup:
    """An SVG of our own without its style sheet, which pages have instead."""
    return Markup(_STYLE.sub("", svg))


class _PageRenderer(Renderer):
    """Draws for pages that have scripts and styles of their own."""

    def chart(self, block: Chart) -> str:
        words = block.description or block.caption
        return figure_html(without_stops(chart(block.chart, words)), block.caption)

    def explorer(self, block: Explorer) -> str:
        return self.chart(block.chart)

    def picture(self, board_block: Board) -> str:
        diagram = board_block.diagram
        title = f"{diagram.title}. {board_block.words}"  # for who cannot see it
        return board(replace(diagram, caption="", title=title), size=_BOARD)


def render(shown: Block | Section | Page, level: int = 2) -> Markup:
    """HTML of a block, of a section with a heading of a level, or of a report's content."""
    renderer = _PageRenderer()
    if isinstance(shown, Page):
        findings = f'<div class="findings">{list_html(shown.findings)}</div>'
        sections = Markup("\n").join(render(each, level) for each in shown.sections)
        return Markup(findings if shown.findings else "") + sections
    if not isinstance(shown, Section):
        return Markup(renderer.block(shown))
    content = renderer.content(shown.words, shown.blocks)
    title = f"<h{level}>{escape(shown.title)}</h{level}>"
    return Markup(f'<section class="result">\n{title}\n{content}\n</section>')


_LEFT, _RIGHT, _TOP = 46.0, 10.0, 10.0
_PLOT, _STRIP, _BELOW = 300.0, 44.0, 46.0
_WIDEST: Final = 1400
_TICKS: Final = 6


@dataclass(frozen=True)
class DrawnCurve:
    """A curve of a panel."""

    label: str
    curve: Curve
    number: int
    """Of its color, from 1."""
    is_reference: bool = False
    """Whether it is that of all positions beside those under a condition."""

    @property
    def points(self) -> list[Any]:
        """The points that have a place in the panel."""
        return [point for point in self.curve.points if not point.is_mate]


@dataclass(frozen=True)
class CurvePanel:
    """The geometry of an interactive chart: curves of one unit above a histogram of positions."""

    unit: str
    curves: Sequence[DrawnCurve]
    width: int
    height: float = _TOP + _PLOT + 8 + _STRIP + _BELOW
    left: float = _LEFT
    top: float = _TOP
    bottom: float = _TOP + _PLOT
    strip: float = _TOP + _PLOT + 8 + _STRIP
    """The bottom of the histogram."""
    domain: Sequence[float] = field(init=False)

    def __post_init__(self) -> None:
        low, high = (
            (0.0, 1.0) if self.is_value else central_range([each.curve for each in self.curves])
        )
        pad = 0.0 if high > low else 1.0
        object.__setattr__(self, "domain", (low - pad, high + pad))

    @property
    def is_value(self) -> bool:
        """Whether the axis is a probability, so that the diagonal is perfect calibration."""
        return self.unit == VALUE

    @property
    def right(self) -> float:
        """The right end of the plot."""
        return self.width - _RIGHT

    @property
    def title(self) -> str:
        """The title of the axis."""
        if self.is_value:
            return "value: the first player's expected result"
        return f"score in {self.unit}, the first player's view"

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of the axis."""
        low, high = self.domain
        step = nice_number((high - low) / _TICKS)
        first = round(low / step)
        marks = [step * (first + i) for i in range(2 * _TICKS + 2)]
        return [(self.x(mark), f"{mark:g}") for mark in marks if low <= mark <= high + step / 1e6]

    def x(self, value: float) -> float:
        """The place of a value, at most at an end of the axis."""
        low, high = self.domain
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(self.left + share * (self.right - self.left), 1)

    def y(self, share: float) -> float:
        """The place of a share of wins."""
        return round(self.bottom - share * (self.bottom - self.top), 1)

    def is_inside(self, value: float) -> bool:
        """Whether a value is in the range of the axis."""
        low, high = self.domain
        return low <= value <= high

    def bar(self, positions: int) -> float:
        """The height of a bar of the histogram."""
        most = max((p.positions for each in self.curves for p in each.points), default=1)
        return round(_STRIP * positions / most, 1)

    def text(self, value: float) -> str:
        """A value of the axis."""
        return value_text(value, self.unit)


def panels(curves: Sequence[DrawnCurve], *, beside: int = 0) -> list[CurvePanel]:
    """A panel for each unit, the one of most curves first, as wide as the page has room."""
    units = [unit for unit, _ in Counter(each.curve.unit for each in curves).most_common()]
    page = _page_width.get()
    width = min(page - beside if page >= _BESIDE else page, _WIDEST)
    return [
        CurvePanel(unit, [each for each in curves if each.curve.unit == unit], max(width, 280))
        for unit in units
    ]


_BESIDE: Final = 800
"""The least width of a page with something beside its chart."""


def sparkline(curve: Curve, width: int = 140, height: int = 36) -> str:
    """The points of a small curve, as an SVG `polyline` has them."""
    low, high = (0.0, 1.0) if curve.unit == VALUE else central_range([curve])
    reach = max(high - low, 1e-9)
    points = [point for point in curve.points if low <= point.value <= high]
    return " ".join(
        f"{2 + (point.value - low) / reach * (width - 4):.1f},"
        f"{2 + (1 - point.share) * (height - 4):.1f}"
        for point in points
    )


def color_number(index: int) -> int:
    """The number of a series' color, from 1."""
    return index % len(COLORS) + 1
