# SPDX-License-Identifier: Apache-2.0
"""Charts and boards as SVG, results and report sections, for pages of the studio."""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import vl_convert
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

import hyoka as hk
from hyoka.analysis import Result
from hyoka.apps.studio.pages import address
from hyoka.apps.studio.parameters import is_whole_number
from hyoka.games.diagram import Diagram
from hyoka.reporting import Board, Boards, Chart, Details, Explorer, Section, Table
from hyoka.reporting.charts import Spot, lines, specification, vega_lite_version

if TYPE_CHECKING:
    import altair

_STYLE: Final = re.compile(r"<style>.*?</style>", re.DOTALL)
_WIDTH: Final = 710
_NARROWEST: Final = 280
_AXES: Final = 70  # a chart's width is that of its plot
_NARROW: Final = 380
"""Plots so narrow have small legends."""
_FONT: Final = "Arial, DejaVu Sans, Verdana, sans-serif"
"""One that both the drawing machine and the browser are likely to have: letters fit if it is."""
_ELSEWHERE: Final = "https://vega.github.io/vega-datasets/"
"""Vega's prefix of addresses without a host."""
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
            width = Request(scope).cookies.get("hyoka-width", "")
            _page_width.set(int(width) if is_whole_number(width) else _WIDTH)
        await self._app(scope, receive, send)


def warm_up() -> None:
    """Draw something, so that the first chart of a page does not wait for the drawing machine."""
    chart(lines([Spot("", 0, 0)], x="x", y="y"), "")


def chart(drawn: "altair.TopLevelMixin", words: str, *, most: int = _WIDTH) -> Markup:
    """A chart drawn on the server; `words` are its text alternative.

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


SAVED: Final[Mapping[str, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON",
    "svg": "SVG",
    "png": "PNG",
    "html": "page",
}
"""Media types of saved results by suffix."""
_BOARD: Final = 320
_NOTHING: Final = Markup()


@dataclass(frozen=True)
class ShownBoard:
    """A board with a word about it, and where a click on it leads."""

    picture: Markup
    words: str
    to: str = ""


@dataclass(frozen=True)
class ShownTable:
    """A table of texts."""

    name: str
    heading: Sequence[str]
    rows: Sequence[Sequence[str]]
    links: Sequence[str] = ()
    """Links of each row's first cell, if any."""

    @property
    def numbers(self) -> frozenset[int]:
        """The columns that are numbers, which stand to the right."""
        return frozenset(
            column
            for column in range(1, len(self.heading))
            if any(row[column] for row in self.rows)
            and all(_is_number(row[column]) for row in self.rows)
        )


@dataclass(frozen=True)
class Shown:
    """A part of a page: words, pictures, boards and tables."""

    kind: Literal["section", "chart", "table", "boards", "details"]
    title: str = ""
    words: Sequence[str] = ()
    picture: Markup = _NOTHING
    table: ShownTable | None = None
    boards: Sequence[ShownBoard] = ()
    parts: Sequence["Shown"] = ()
    saves: Sequence[tuple[str, str]] = ()
    """Names of formats, and where they are."""


def shown_result(
    result: Result,
    *,
    saves: Sequence[tuple[str, str]] = (),
    picture: Markup | None = None,
    links: Sequence[str] = (),
) -> Shown:
    """A result: its chart, its notes and its numbers."""
    heading, *rows = result.lines()
    drawn = chart(result.chart(), result.title) if picture is None else picture
    table = ShownTable(result.title, heading, rows, links)
    covered = () if result.coverage is None else (result.coverage.text(hint=False),)
    words = (*covered, *result.notes())
    shown = drawn if rows else _NOTHING
    return Shown("section", result.title, words, shown, table, saves=saves)


def without_stops(picture: Markup) -> Markup:
    """A chart whose links are for pointers alone: a table below has them for everybody."""
    plain = str(picture).replace('<a href="', '<g class="to" data-to="').replace("</a>", "</g>")
    return Markup(plain)


def shown_sections(sections: Iterable[Section | None]) -> list[Shown]:
    """Sections of a report."""
    return [
        Shown("section", each.title, each.words, parts=[_block(block) for block in each.blocks])
        for each in sections
        if each is not None
    ]


def shown_board(diagram: Diagram, words: str, to: str = "") -> ShownBoard:
    """A board; what it says of itself is for who cannot see it."""
    titled = replace(diagram, caption="", title=f"{diagram.title}. {words}")
    return ShownBoard(board(titled, size=_BOARD), words, to)


def boards_of_report(boards: Iterable[Board]) -> list[ShownBoard]:
    """Boards as reports have them."""
    return [shown_board(board.diagram, board.words) for board in boards]


def _block(block: object) -> Shown:
    if isinstance(block, Explorer):
        block = block.chart
    if isinstance(block, Chart):
        words = block.description or block.caption
        return Shown("chart", words=[block.caption], picture=chart(block.chart, words))
    if isinstance(block, Table):
        return Shown("table", block.caption,
                     table=ShownTable(block.caption, block.columns, block.rows))  # fmt: skip
    if isinstance(block, Boards):
        return Shown("boards", boards=boards_of_report(block.boards))
    if isinstance(block, Details):
        parts = [_block(each) for each in block.blocks]
        return Shown("details", block.title, block.words, parts=parts)
    return Shown("section")


def save_links(place: str, **query: object) -> list[tuple[str, str]]:
    """Addresses of a result by format."""
    return [(words, address(place, **query | {"as": name})) for name, words in SAVED.items()]


def _is_number(text: str) -> bool:
    return not text or text[0].isdigit() or text[0] in "+-−–<"
