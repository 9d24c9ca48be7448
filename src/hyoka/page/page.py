# SPDX-License-Identifier: Apache-2.0
"""A page as a value, and its text as HTML."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import count, groupby
from pathlib import Path

import altair

from hyoka.diagram import Diagram, svg
from hyoka.diagram.value import printable
from hyoka.files import write_text
from hyoka.page.charts import drawing_script, specification, styles


@dataclass(frozen=True)
class Chart:
    """A chart with what it shows in a sentence or two.

    A chart with width "container" is as wide as the page; `narrow` ones stand side by side where
    there is room.
    """

    chart: altair.TopLevelMixin
    caption: str
    description: str = ""
    """For who cannot see it; the caption unless given."""
    narrow: bool = False


@dataclass(frozen=True)
class Table:
    """A table of texts; the first cell of a row says what the row is about."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        """Check that rows are as long as the head."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells in {len(self.columns)} columns: {row}")


@dataclass(frozen=True)
class Board:
    """A position with a word about it; the diagram's own caption is not shown."""

    diagram: Diagram
    words: str


@dataclass(frozen=True)
class Boards:
    """Positions side by side."""

    boards: tuple[Board, ...]


Block = Chart | Table | Boards


@dataclass(frozen=True)
class Section:
    """A part of a page: what is to be seen, in paragraphs, and then shown."""

    title: str
    words: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A report: the findings first, what they rest on next, methods and caveats last.

    All texts are plain: whatever they hold is shown as it is.

    >>> text = Page("A <b>match", "of two", findings=("Nobody won.",)).html()
    >>> "<h1>A &lt;b&gt;match</h1>" in text, "<script" in text
    (True, False)
    """

    title: str
    subtitle: str = ""
    findings: tuple[str, ...] = ()
    """The page in a few sentences, the most important first."""
    sections: tuple[Section, ...] = ()
    methods: tuple[str, ...] = ()

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the page's order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(block for block in blocks if isinstance(block, Chart))

    def html(self) -> str:
        """The page as one file that loads nothing: its styles and scripts are in it."""
        return "\n".join(_page(self)) + "\n"


def write_page(page: Page, path: Path) -> None:
    """Write the page as one HTML file; makes no folder."""
    write_text(path, page.html())


# The browser may run the page's own scripts and load nothing.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)


def _page(page: Page) -> Iterator[str]:
    title = _text(page.title)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield f"<title>{title}</title>\n<style>\n{styles()}</style>\n</head>\n<body>"
    yield '<a class="skip" href="#main">To the report</a>'
    yield f"<header>\n<h1>{title}</h1>"
    if page.subtitle:
        yield f'<p class="subtitle">{_text(page.subtitle)}</p>'
    yield "</header>"
    yield from _contents(page)
    yield '<main id="main">'
    if page.findings:
        yield from _section("Findings", "findings", [_list(page.findings)])
    chart_numbers = count(1)
    for number, section in enumerate(page.sections, start=1):
        yield from _section(section.title, f"part-{number}", _shown(section, chart_numbers))
    if page.methods:
        yield from _section("Methods and caveats", "methods", [_list(page.methods)])
    yield "</main>\n<footer>\n<p>Written by Hyoka. This page is complete: it loads nothing.</p>"
    yield "</footer>"
    if page.charts:
        yield f"<script>\n{drawing_script()}\n</script>"
    yield "</body>\n</html>"


def _contents(page: Page) -> Iterator[str]:
    places = [(section.title, f"part-{n}") for n, section in enumerate(page.sections, start=1)]
    if not places:
        return
    if page.methods:
        places.append(("Methods and caveats", "methods"))
    links = "".join(f'<li><a href="#{name}">{_text(title)}</a></li>' for title, name in places)
    yield f'<nav aria-label="Contents">\n<ul>{links}</ul>\n</nav>'


def _section(title: str, name: str, shown: Iterable[str]) -> Iterator[str]:
    yield f'<section class="{name}" aria-labelledby="{name}">'
    yield f'<h2 id="{name}">{_text(title)}</h2>'
    yield from shown
    yield "</section>"


def _shown(section: Section, chart_numbers: Iterator[int]) -> Iterator[str]:
    yield from (f"<p>{_text(words)}</p>" for words in section.words)
    for narrow, blocks in groupby(section.blocks, key=_is_narrow):
        shown = [_block(block, chart_numbers) for block in blocks]
        yield from ['<div class="charts">', *shown, "</div>"] if narrow else shown


def _is_narrow(block: Block) -> bool:
    return isinstance(block, Chart) and block.narrow


def _block(block: Block, chart_numbers: Iterator[int]) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Boards):
        return f'<div class="boards">\n{"".join(map(_board, block.boards))}</div>'
    return _chart(block, f"chart-{next(chart_numbers)}")


def _chart(block: Chart, name: str) -> str:
    spec = specification(block.chart, printable(block.description or block.caption))
    return (
        f'<figure>\n<div class="chart" data-chart="{name}"><noscript>The chart needs JavaScript, '
        f"which is in this page but switched off.</noscript></div>\n"
        f"<figcaption>{_text(block.caption)}</figcaption>\n"
        f'<script type="application/json" id="{name}">{_json(spec)}</script>\n</figure>'
    )


def _board(board: Board) -> str:
    picture = svg(replace(board.diagram, caption=""), size=352)
    return f"<figure>{picture}<figcaption>{_text(board.words)}</figcaption></figure>\n"


def _table(table: Table) -> str:
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    kinds = [' class="number"' if _is_numbers(column) else "" for column in columns]
    kinds[:1] = [""]
    head = "".join(
        f'<th scope="col"{kind}>{_text(title)}</th>'
        for title, kind in zip(table.columns, kinds, strict=True)
    )
    body = "\n".join(_row(row, kinds) for row in table.rows)
    caption = _text(table.caption)
    # A table wider than a phone scrolls in its own box, which the keyboard must be able to reach.
    return (
        f'<div class="table" role="region" aria-label="{caption}" tabindex="0">\n<table>\n'
        f"<caption><span>{caption}</span></caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _row(row: tuple[str, ...], kinds: list[str]) -> str:
    cells = (f"<td{kind}>{_text(c)}</td>" for c, kind in zip(row[1:], kinds[1:], strict=True))
    return f'<tr><th scope="row">{_text(row[0])}</th>{"".join(cells)}</tr>'


def _is_numbers(cells: Iterable[str]) -> bool:
    """Whether every cell starts as a number does, or says that there is none."""
    return all(re.match(r"[<>+−-]? ?\d|–?$", cell) for cell in cells)


def _list(texts: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{_text(text)}</li>" for text in texts) + "\n</ul>"


def _text(text: str) -> str:
    """Plain text as HTML, fit for elements and quoted attributes."""
    return escape(printable(text))


def _json(value: object) -> str:
    """JSON that may stand inside a script element: no `<`, so neither `</script>` nor `<!--`."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
