# SPDX-License-Identifier: Apache-2.0
"""The blocks of reports on pages of the studio: charts and boards are drawn on the server."""

import re
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

import hyoka as hk
from hyoka.apps.studio.forms import is_whole_number
from hyoka.reporting import AltairChart, Block, Board, Chart, Explorer, Page, Renderer, Section
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
