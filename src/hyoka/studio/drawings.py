# SPDX-License-Identifier: Apache-2.0
"""Pictures for pages: charts and boards as SVG without styles or scripts, in the page's colours."""

import re
import threading
from contextvars import ContextVar
from typing import Any, Final

import altair
import vl_convert
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

import hyoka as hk
from hyoka.page.charts import specification, vega_lite_version
from hyoka.studio.parameters import is_whole_number

_STYLE: Final = re.compile(r"<style>.*?</style>", re.DOTALL)
_WIDTH: Final = 710
_NARROWEST: Final = 280
_AXES: Final = 70  # a chart's width is that of its plot
_NARROW: Final = 380
"""Plots so narrow have small legends."""
_FONT: Final = "Arial, DejaVu Sans, Verdana, sans-serif"
"""One that both the drawing machine and the browser are likely to have: letters fit if it is."""
_ELSEWHERE: Final = "https://vega.github.io/vega-datasets/"
"""What Vega puts before an address without a host."""
_page_width: Final[ContextVar[int]] = ContextVar("page_width", default=_WIDTH)
_one_at_a_time: Final = threading.Lock()


class Measured:
    """Requests are answered with charts as wide as their page, so that letters are not shrunk.

    The script of all pages keeps the width of their content in a cookie.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            told = Request(scope).cookies.get("hyoka-width", "")
            _page_width.set(int(told) if is_whole_number(told) else _WIDTH)
        await self._app(scope, receive, send)


def warm_up() -> None:
    """Draw something, so that the first chart of a page does not wait for the drawing machine."""
    values = altair.InlineData(values=[{"x": 0}])
    chart(altair.Chart(values).mark_point().encode(x="x:Q"), "")


def chart(drawn: altair.TopLevelMixin, words: str, *, most: int = _WIDTH) -> Markup:
    """A chart as it is drawn here on the server; `words` are for who cannot see it.

    It is as wide as the page lets it be, and not wider than `most`.

    Marks with an `href` (an address in the studio) are links. A mark's `description` or tooltip is
    shown when the pointer is on it.
    """
    spec = specification(drawn, words)
    width = max(_NARROWEST, min(_page_width.get(), most)) - _AXES
    view = spec["config"]["view"] | {"continuousWidth": width}
    spec["config"] = spec["config"] | {"font": _FONT, "view": view}
    if width < _NARROW:
        _with_small_legends(spec, width)
    if spec.get("width") == "container":
        spec["width"] = width
    if spec.get("usermeta", {}).get("fit"):
        spec["vconcat"] = [part | {"width": width} for part in spec["vconcat"]]
    with _one_at_a_time:
        drawn_svg: str = vl_convert.vegalite_to_svg(spec, vl_version=vega_lite_version())
    drawn_svg = drawn_svg.replace(f'xlink:href="{_ELSEWHERE}', 'href="')
    inner = drawn_svg.replace("<svg ", f'<svg role="img" aria-label="{escape(words)}" ', 1)
    return Markup(f'<div class="chart">{inner}</div>')


def _with_small_legends(part: Any, width: int) -> None:
    """Make each legend of a narrow chart one name a line, none wider than the chart."""
    if isinstance(part, list):
        for each in part:
            _with_small_legends(each, width)
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        if name == "legend" and isinstance(value, dict):
            small = {"columns": 1, "labelLimit": width - 30, "labelFontSize": 11, "rowPadding": 1}
            part[name] = value | small | {"symbolSize": 200}
        elif name != "data":
            _with_small_legends(value, width)


def board(position: Any, **options: Any) -> Markup:
    """A board as `hyoka.svg` draws it; the studio's style sheet has its styles."""
    return plain(hk.svg(position, **options))


def plain(svg: str) -> Markup:
    """An SVG of our own without its style sheet, which pages have instead."""
    return Markup(_STYLE.sub("", svg))
