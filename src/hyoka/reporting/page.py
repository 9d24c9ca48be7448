# SPDX-License-Identifier: Apache-2.0
"""A page as a value, and its HTML."""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import count, groupby
from pathlib import Path

import altair

from hyoka.foundation.text import printable
from hyoka.games.diagram import Diagram, svg
from hyoka.reporting.charts import drawing_script, drawn, specification, styles
from hyoka.storage.files import write_text
from hyoka.storage.outputs import PAGE_MARK


@dataclass(frozen=True)
class Row:
    """A row of an outline, with what is below it."""

    name: str
    cells: tuple[str, ...] = ()
    share: float | None = None
    """From 0 to 1: how long its bar is; None for no bar."""
    rows: tuple["Row", ...] = ()
    note: str = ""
    """Below its rows: what is not among them."""
    opened: bool = False


@dataclass(frozen=True)
class Outline:
    """Rows under one head; the first column says what a row is about."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    """Below the rows: what is not among them."""


def outline_html(outline: Outline, text: Callable[[str], str]) -> str:
    """The outline as HTML; `text` makes plain text fit for it."""
    caption = text(outline.caption)
    head = "".join(f"<span>{text(title)}</span>" for title in outline.columns[1:])
    return (
        f'<div class="outline" role="group" aria-label="{caption}" tabindex="0" '
        f'style="--cells:{len(outline.columns) - 1}">\n<p class="caption">{caption}</p>\n'
        f'<div class="row head" aria-hidden="true"><b>{text(outline.columns[0])}</b>{head}</div>\n'
        f"{_rows(outline.rows, outline.note, outline.columns, text)}\n</div>"
    )


def _rows(
    rows: tuple[Row, ...], note: str, columns: tuple[str, ...], text: Callable[[str], str]
) -> str:
    items = "".join(f"<li>{_outline_row(row, columns, text)}</li>\n" for row in rows)
    if note:
        items += f'<li class="note">{text(note)}</li>\n'
    return f"<ul>\n{items}</ul>"


def _outline_row(row: Row, columns: tuple[str, ...], text: Callable[[str], str]) -> str:
    bar = ""
    if row.share is not None:
        bar = f'<i style="width:{100 * min(1.0, max(0.0, row.share)):.1f}%"></i>'
    cells = "".join(
        f'<span title="{text(title)}">{text(cell)}</span>'
        for title, cell in zip(columns[1:], row.cells, strict=True)
    )
    line = f"<b>{text(row.name)}</b>{cells}"
    if not row.rows and not row.note:
        return f'<div class="row">{bar}{line}</div>'
    opened = " open" if row.opened else ""
    below = _rows(row.rows, row.note, columns, text)
    return f'<details{opened}><summary class="row">{bar}{line}</summary>\n{below}\n</details>'


@dataclass(frozen=True)
class Chart:
    """A chart with what it shows in a sentence or two.

    A chart with width "container" is as wide as the page, and so are charts above one another
    (`altair.vconcat`) that all have it; `narrow` ones stand side by side where there is room.
    Whatever the chart names as its tooltip is shown where the pointer rests.
    """

    chart: altair.TopLevelMixin
    caption: str
    description: str = ""
    """Text alternative; the caption by default."""
    narrow: bool = False
    still: bool = False
    """A picture, which needs no script and nobody can ask: a page of such charts is small."""


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


@dataclass(frozen=True)
class Pick:
    """One of the things that can be picked in an `Explorer`, and the boards it shows."""

    key: str
    """Value of the field `pick` of a mark's datum."""
    label: str
    """Its name in the list, and above its boards."""
    words: str = ""
    boards: tuple[Board, ...] = ()
    group: str = ""
    """Picks of one group that follow one another stand together in the list."""


@dataclass(frozen=True)
class Explorer:
    """A chart whose marks show boards when they are clicked, or chosen from a list below it.

    A mark belongs to the pick whose key its datum has in the field `pick`, a text; several may
    belong to one. A click finds the nearest such mark. The boards of `shown`, the first pick unless
    given, are there from the start, without JavaScript too. The others are kept compressed: a board
    costs less than a tenth of what it costs in `Boards`. Raises ValueError if there are no picks,
    two have one key, or none has the key `shown`.
    """

    chart: Chart
    picks: tuple[Pick, ...]
    shown: str | None = None
    prompt: str = "Click into the chart, or choose here:"
    """Instruction; labels the list."""

    def __post_init__(self) -> None:
        """Check the keys."""
        keys = [pick.key for pick in self.picks]
        if not keys:
            raise ValueError("nothing to pick")
        if len(set(keys)) < len(keys):
            raise ValueError("two picks have the same key")
        if self.shown is not None and self.shown not in keys:
            raise ValueError(f"no pick has the key '{self.shown}'")

    @property
    def shown_first(self) -> Pick:
        """The pick whose boards are there from the start."""
        return next((pick for pick in self.picks if pick.key == self.shown), self.picks[0])


@dataclass(frozen=True)
class Details:
    """Details for some readers, collapsed under a title."""

    title: str
    words: tuple[str, ...] = ()
    blocks: tuple[Chart | Explorer | Table | Boards, ...] = ()


Block = Chart | Explorer | Table | Boards | Details | Outline


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
        return tuple(_charts_of(blocks))

    def html(self) -> str:
        """The page as one file that loads nothing: its styles and scripts are in it."""
        return "\n".join(_page(self)) + "\n"


def _charts_of(blocks: Iterable[Block]) -> Iterator[Chart]:
    for block in blocks:
        if isinstance(block, Details):
            yield from _charts_of(block.blocks)
        elif isinstance(block, Explorer):
            yield block.chart
        elif isinstance(block, Chart):
            yield block


def write_page(page: Page, path: Path) -> None:
    """Write the page as one HTML file; makes no folder."""
    write_text(path, page.html())


def counted(count: int, thing: str) -> str:
    """How many there are: `1 game`, `2,000 games`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


# The browser may run the page's own scripts and load nothing.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)


def _page(page: Page) -> Iterator[str]:
    title = _text(page.title)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield PAGE_MARK
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield f'<title>{title}</title>\n<style>\n{styles()}</style>\n</head>\n<body id="top">'
    yield '<a class="skip" href="#main">To the report</a>'
    yield f"<header>\n<h1>{title}</h1>"
    if page.subtitle:
        yield f'<p class="subtitle">{_text(page.subtitle)}</p>'
    yield "</header>"
    yield from _contents(page)
    yield '<main id="main">'
    if page.findings:
        yield from _section("Findings", "findings", [_list(page.findings)])
    numbers = count(1)
    for number, section in enumerate(page.sections, start=1):
        shown = _shown(section.words, section.blocks, numbers)
        yield from _section(section.title, f"part-{number}", shown)
    if page.methods:
        yield from _section("Methods and caveats", "methods", [_list(page.methods)])
    yield "</main>\n<footer>\n<p>Written by Hyoka. This page is complete: it loads nothing. "
    yield '<a href="#top">To the top</a></p>\n</footer>'
    if any(not chart.still for chart in page.charts):
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


def _shown(words: Iterable[str], blocks: Iterable[Block], numbers: Iterator[int]) -> Iterator[str]:
    yield from (f"<p>{_text(paragraph)}</p>" for paragraph in words)
    for narrow, together in groupby(blocks, key=_is_narrow):
        shown = [_block(block, numbers) for block in together]
        yield from ['<div class="charts">', *shown, "</div>"] if narrow else shown


def _is_narrow(block: Block) -> bool:
    return isinstance(block, Chart) and block.narrow


def _block(block: Block, numbers: Iterator[int]) -> str:
    """A block as HTML; `numbers` tell charts apart."""
    match block:
        case Table():
            return _table(block)
        case Boards():
            return _boards(block.boards)
        case Explorer():
            return _explorer(block, next(numbers))
        case Details():
            shown = "\n".join(_shown(block.words, block.blocks, numbers))
            return f"<details>\n<summary>{_text(block.title)}</summary>\n{shown}\n</details>"
        case Outline():
            return outline_html(block, _text)
        case Chart():
            return _chart(block, next(numbers))


def _chart(block: Chart, number: int) -> str:
    if block.still:
        picture = b64encode(drawn(block.chart).svg.encode()).decode()
        return (
            f'<figure>\n<img alt="{_text(block.description or block.caption)}" '
            f'style="max-width: 100%" src="data:image/svg+xml;base64,{picture}">\n'
            f"<figcaption>{_text(block.caption)}</figcaption>\n</figure>"
        )
    spec = specification(block.chart, printable(block.description or block.caption))
    return (
        f'<figure>\n<div class="chart" data-chart="chart-{number}"><noscript>The chart needs '
        "JavaScript, which is in this page but switched off.</noscript></div>\n"
        f"<figcaption>{_text(block.caption)}</figcaption>\n"
        f'<script type="application/json" id="chart-{number}">{_json(spec)}</script>\n</figure>'
    )


def _explorer(block: Explorer, number: int) -> str:
    name = f"pick-{number}"
    shown = [_pick(pick) for pick in block.picks]
    first = block.picks.index(block.shown_first)
    packed = b64encode(zlib.compress(json.dumps(shown).encode(), 9)).decode()
    picks = {"keys": [pick.key for pick in block.picks], "packed": packed}
    # Without JavaScript the list would do nothing: the script takes `hidden` away. Browsers that
    # remember a choice over a reload would name one pick and show another: hence `autocomplete`.
    return (
        f'<div class="explorer">\n{_chart(block.chart, number)}\n'
        f'<div class="choice" hidden><label for="{name}">{_text(block.prompt)}</label> '
        f'<select id="{name}" autocomplete="off">{_options(block.picks, block.shown_first)}'
        '</select> <button type="button">Previous</button> <button type="button">Next</button>'
        f'</div>\n<div class="picked" aria-live="polite">{shown[first]}</div>\n'
        f'<script type="application/json">{_json(picks)}</script>\n</div>'
    )


def _options(picks: Iterable[Pick], shown: Pick) -> str:
    text = ""
    for group, together in groupby(picks, key=lambda pick: pick.group):
        options = "".join(
            f"<option{' selected' if pick is shown else ''}>{_text(pick.label)}</option>"
            for pick in together
        )
        text += f'<optgroup label="{_text(group)}">{options}</optgroup>' if group else options
    return text


def _pick(pick: Pick) -> str:
    group = f"{_text(pick.group)}: " if pick.group else ""
    words = f" {_text(pick.words)}" if pick.words else ""
    boards = _boards(pick.boards) if pick.boards else ""
    return f"<p><strong>{group}{_text(pick.label)}.</strong>{words}</p>{boards}"


def _boards(boards: Iterable[Board]) -> str:
    return f'<div class="boards">\n{"".join(map(_board, boards))}</div>'


def _board(board: Board) -> str:
    picture = svg(replace(board.diagram, caption=""), size=352)
    text = board.diagram.text
    copied = (
        f'<details class="position"><summary>text</summary><code>{_text(text)}</code></details>'
        if text
        else ""
    )
    return f"<figure>{picture}<figcaption>{_text(board.words)}</figcaption>{copied}</figure>\n"


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
        f'<div class="table" role="group" aria-label="{caption}" tabindex="0">\n<table>\n'
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
