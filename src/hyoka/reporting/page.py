# SPDX-License-Identifier: Apache-2.0
"""Data model of a report page, and its HTML."""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from hyoka.foundation.text import printable
from hyoka.games.diagram import Diagram, svg
from hyoka.reporting.charts import (
    AltairChart,
    contents_script,
    drawing_script,
    drawn,
    inline_svg,
    specification,
    styles,
)
from hyoka.storage.files import write_text
from hyoka.storage.outputs import PAGE_MARK


@dataclass(frozen=True)
class Row:
    """A row of an outline, with its child rows."""

    name: str
    cells: tuple[str, ...] = ()
    share: float | None = None
    """Length of its bar, 0 to 1; None for no bar."""
    rows: tuple["Row", ...] = ()
    note: str = ""
    """Text below its rows about omitted rows."""
    opened: bool = False


@dataclass(frozen=True)
class Outline:
    """A tree of rows with a header; the first column labels the rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""
    """Text below the rows about omitted rows."""


def outline_html(outline: Outline, text: Callable[[str], str]) -> str:
    """Render the outline as HTML; `text` escapes plain text."""
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
    """A chart with a caption of a sentence or two.

    A chart with width "container" is as wide as the page; so are vertically concatenated charts
    (`altair.vconcat`) if all have it. `narrow` charts stand side by side if there is room. The page
    shows the chart's tooltips at the pointer.
    """

    chart: AltairChart
    caption: str
    description: str = ""
    """Text alternative; the caption by default."""
    narrow: bool = False
    still: bool = False
    """Whether it is a static picture without script or tooltips, which keeps the page small."""


@dataclass(frozen=True)
class Table:
    """A table of texts; the first cell of a row is its header."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    links: Sequence[str] = ()
    """Addresses of the rows' headers, if any."""

    def __post_init__(self) -> None:
        """Check that rows are as long as the header."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells in {len(self.columns)} columns: {row}")


@dataclass(frozen=True)
class Board:
    """A position with a caption, which replaces the diagram's caption."""

    diagram: Diagram
    words: str
    link: str = ""
    """Address of the picture, if any."""


@dataclass(frozen=True)
class Boards:
    """Positions side by side."""

    boards: Sequence[Board]


@dataclass(frozen=True)
class Pick:
    """An item of an `Explorer`, with its boards."""

    key: str
    """Value of the field `pick` in the data of its marks."""
    label: str
    """Name in the list and above its boards."""
    words: str = ""
    boards: tuple[Board, ...] = ()
    group: str = ""
    """Group in the list; consecutive picks of one group stand together."""


@dataclass(frozen=True)
class Explorer:
    """A chart whose marks show boards when clicked or chosen from a list.

    A mark's datum has the key of its pick in the text field `pick`; several marks may share a pick.
    A click selects the nearest such mark. The boards of `shown` (default: the first pick) are
    visible initially, also without JavaScript. The others are compressed to less than a tenth of
    their size in `Boards`. Raises ValueError if there are no picks, keys are not unique, or no pick
    has the key `shown`.
    """

    chart: Chart
    picks: tuple[Pick, ...]
    shown: str | None = None
    prompt: str = "Click into the chart, or choose here:"
    """Instruction; labels the list."""

    def __post_init__(self) -> None:
        """Check that keys are unique and `shown` exists."""
        keys = [pick.key for pick in self.picks]
        if not keys:
            raise ValueError("nothing to pick")
        if len(set(keys)) < len(keys):
            raise ValueError("two picks have the same key")
        if self.shown is not None and self.shown not in keys:
            raise ValueError(f"no pick has the key '{self.shown}'")

    @property
    def shown_first(self) -> Pick:
        """The pick whose boards are visible initially."""
        return next((pick for pick in self.picks if pick.key == self.shown), self.picks[0])


@dataclass(frozen=True)
class Image:
    """A picture that was drawn before, on white."""

    content: bytes
    kind: str
    """`svg+xml` or `png`."""
    caption: str


@dataclass(frozen=True)
class Details:
    """Collapsed details under a title."""

    title: str
    words: tuple[str, ...] = ()
    blocks: tuple[Chart | Explorer | Table | Boards, ...] = ()
    opened: bool = False


@dataclass(frozen=True)
class Downloads:
    """Links to files with the same content."""

    content: str
    links: Sequence[tuple[str, str]]
    """Names of formats, and addresses."""


Block = Chart | Image | Explorer | Table | Boards | Details | Outline | Downloads
"""Content of a section."""


@dataclass(frozen=True)
class Section:
    """A section of a page: paragraphs, then charts, tables and boards."""

    title: str
    words: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Card:
    """A finding with its evidence: a small chart or a board."""

    text: str
    kind: str = ""
    """A word or two above the text."""
    picture: Chart | Board | None = None
    section: str = ""
    """Title of the section with the details, if the page has it."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Page:
    """A report: findings first, then the evidence, methods and caveats.

    All texts are plain text and are escaped.

    >>> text = Page("A <b>match", "of two", findings=("Nobody won.",)).html()
    >>> "<h1>A &lt;b&gt;match</h1>" in text, "<script" in text
    (True, False)
    """

    title: str
    subtitle: str = ""
    findings: tuple[str | Card, ...] = ()
    """Summary in a few sentences, the most important first."""
    sections: tuple[Section, ...] = ()
    methods: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    """What the figures do not say, once for all, at the end."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in page order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(_charts_of(blocks))

    def html(self) -> str:
        """Render the page as one file with inline styles and scripts."""
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
    """Write the page as one HTML file; the folder must exist."""
    write_text(path, page.html())


def caveats(*headings: str) -> list[str]:
    """The caveats under these headings of the docs' known limits, a sentence or two each.

    >>> caveats("Searches")
    ['A proof gives a result, not a score. Playouts detect neither superko nor repetition.']
    """
    text = (files("hyoka.reporting") / "caveats.md").read_text(encoding="utf-8")
    limits: list[str] = []
    is_listed = False
    for line in text.splitlines():
        if line.startswith("## "):
            is_listed = line[3:] in headings
        elif is_listed and line.startswith("- "):
            limits.append(line[2:])
        elif is_listed and line.startswith("  "):
            limits[-1] += " " + line.strip()
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", each) for each in limits]
    return [re.sub(r"\*\*|`", "", each) for each in plain]


# The browser may run inline scripts, but load nothing.
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
    yield '</header>\n<div class="sheet">'
    places = {section.title: f"part-{n}" for n, section in enumerate(page.sections, start=1)}
    yield from _contents(page, places)
    yield '<main id="main">'
    renderer = Renderer()
    if page.findings:
        yield from _section("Findings", "findings", "\n".join(_findings(page.findings, places)))
    for number, section in enumerate(page.sections, start=1):
        content = renderer.content(section.words, section.blocks)
        yield from _section(section.title, f"part-{number}", content)
    if page.methods or page.caveats:
        yield from _section(_METHODS, "methods", _methods(page))
    yield "</main>\n</div>\n<footer>"
    yield "<p>Written by Hyoka. This page is complete: it loads nothing. "
    yield '<a href="#top">To the top</a></p>\n</footer>'
    if any(not chart.still for chart in page.charts):
        yield f"<script>\n{contents_script()}\n{drawing_script()}\n</script>"
    yield "</body>\n</html>"


_METHODS = "Methods and caveats"


def _methods(page: Page) -> str:
    methods = list_html(page.methods) if page.methods else ""
    return f"{methods}\n<h3>Caveats</h3>\n{list_html(page.caveats)}" if page.caveats else methods


def _contents(page: Page, places: Mapping[str, str]) -> Iterator[str]:
    """Links to the sections: beside the page where it is wide, folded on phones by a script."""
    if not places:
        return
    links = [("Findings", "findings")] if page.findings else []
    links += places.items()
    links += [(_METHODS, "methods")] if page.methods or page.caveats else []
    items = "".join(f'<li><a href="#{name}">{_text(title)}</a></li>' for title, name in links)
    yield '<nav class="contents" aria-label="Contents">\n<details open><summary>Contents</summary>'
    yield f"<ul>{items}</ul></details>\n</nav>"


_THUMB = 320
"""Width of a finding's chart in pixels."""


def _findings(findings: Iterable[str | Card], places: Mapping[str, str]) -> Iterator[str]:
    """The first finding, cards of those that have a picture, and a list of the others."""
    first, *others = [each if isinstance(each, Card) else Card(each) for each in findings]
    yield f'<div class="card lead">{_card(first, places)}</div>'
    if drawn_ones := [each for each in others if each.picture is not None]:
        items = "\n".join(f'<li class="card">{_card(each, places)}</li>' for each in drawn_ones)
        yield f'<ul class="cards">\n{items}\n</ul>'
    if plain := [each.text for each in others if each.picture is None]:
        yield list_html(plain)


def _card(card: Card, places: Mapping[str, str]) -> str:
    kind = f'<p class="kind">{_text(card.kind)}</p>' if card.kind else ""
    name = places.get(card.section)
    more = f'<p class="more"><a href="#{name}">{_text(card.section)}</a></p>' if name else ""
    words = f'<div class="says">{kind}<p>{_text(card.text)}</p>{more}</div>'
    match card.picture:
        case Chart() as shown:
            description = shown.description or shown.caption or card.text
            picture = (
                f'<div class="thumb">{inline_svg(shown.chart, description, width=_THUMB)}</div>'
            )
        case Board() as shown:
            is_said = shown.words == card.text
            words_below = "" if is_said else f"<figcaption>{_text(shown.words)}</figcaption>"
            titled = svg(replace(shown.diagram, caption="", title=shown.words), size=_THUMB)
            picture = f'<figure class="thumb board">{titled}{words_below}</figure>'
        case None:
            picture = ""
    return words + picture


def _section(title: str, name: str, content: str) -> Iterator[str]:
    yield f'<section class="{name}" aria-labelledby="{name}">'
    yield f'<h2 id="{name}">{_text(title)}</h2>'
    if content:
        yield content
    yield "</section>"


class Renderer:
    """HTML of blocks, for reports and for the studio, which draws charts and boards its own way."""

    def __init__(self) -> None:
        self._charts = 0

    def content(self, words: Iterable[str], blocks: Iterable[Block]) -> str:
        """Paragraphs and blocks; narrow charts stand side by side."""
        parts = [f"<p>{_text(paragraph)}</p>" for paragraph in words]
        for narrow, together in groupby(blocks, key=_is_narrow):
            drawn_blocks = map(self.block, together)
            parts += ['<div class="charts">', *drawn_blocks, "</div>"] if narrow else drawn_blocks
        return "\n".join(parts)

    def block(self, block: Block) -> str:
        """One block."""
        match block:
            case Table():
                text = _table(block)
            case Boards():
                text = self.boards(block.boards)
            case Explorer():
                text = self.explorer(block)
            case Details():
                content = self.content(block.words, block.blocks)
                summary = f"<summary>{_text(block.title)}</summary>"
                opened = " open" if block.opened else ""
                text = f"<details{opened}>\n{summary}\n{content}\n</details>"
            case Outline():
                text = outline_html(block, _text)
            case Downloads():
                text = _downloads(block)
            case Chart():
                text = self.chart(block)
            case Image():
                text = _image(block, block.caption)
        return text

    def chart(self, block: Chart) -> str:
        """A chart, which the page's script draws unless it is still."""
        self._charts += 1
        if block.still:
            image = Image(drawn(block.chart).svg.encode(), "svg+xml", block.caption)
            return _image(image, block.description or block.caption)
        name = f"chart-{self._charts}"
        spec = specification(block.chart, printable(block.description or block.caption))
        return figure_html(
            f'<div class="chart" data-chart="{name}"><noscript>The chart needs '
            "JavaScript, which is in this page but switched off.</noscript></div>",
            block.caption,
            f'\n<script type="application/json" id="{name}">{_json(spec)}</script>',
        )

    def explorer(self, block: Explorer) -> str:
        """A chart, a list of its picks, and the boards of one of them."""
        chart = self.chart(block.chart)
        name = f"pick-{self._charts}"
        shown = [self._pick(pick) for pick in block.picks]
        first = block.picks.index(block.shown_first)
        packed = b64encode(zlib.compress(json.dumps(shown).encode(), 9)).decode()
        picks = {"keys": [pick.key for pick in block.picks], "packed": packed}
        # The list needs JavaScript, so the script removes `hidden`. `autocomplete` keeps browsers
        # from restoring a choice after a reload that does not match the boards.
        return (
            f'<div class="explorer">\n{chart}\n'
            f'<div class="choice" hidden><label for="{name}">{_text(block.prompt)}</label> '
            f'<select id="{name}" autocomplete="off">{_options(block.picks, block.shown_first)}'
            '</select> <button type="button">Previous</button> <button type="button">Next</button>'
            f'</div>\n<div class="picked" aria-live="polite">{shown[first]}</div>\n'
            f'<script type="application/json">{_json(picks)}</script>\n</div>'
        )

    def _pick(self, pick: Pick) -> str:
        group = f"{_text(pick.group)}: " if pick.group else ""
        words = f" {_text(pick.words)}" if pick.words else ""
        boards = self.boards(pick.boards) if pick.boards else ""
        return f"<p><strong>{group}{_text(pick.label)}.</strong>{words}</p>{boards}"

    def boards(self, boards: Iterable[Board]) -> str:
        """Positions side by side, each with its caption and its text to copy."""
        return f'<div class="boards">\n{"".join(map(self._board, boards))}</div>'

    def _board(self, board: Board) -> str:
        picture, words, text = self.picture(board), _text(board.words), board.diagram.text
        if board.link:
            picture = (
                f'<a href="{_text(board.link)}" class="to-game" '
                f'aria-label="Open the game: {words}">{picture}</a>'
            )
        copied = (
            f'<details class="position"><summary>text</summary><code>{_text(text)}</code></details>'
            if text
            else ""
        )
        return f"<figure>{picture}<figcaption>{words}</figcaption>{copied}</figure>\n"

    def picture(self, board: Board) -> str:
        """The picture of a position as SVG."""
        return svg(replace(board.diagram, caption=""), size=352)


def _image(block: Image, description: str) -> str:
    content = b64encode(block.content).decode()
    return figure_html(
        f'<img alt="{_text(description)}" style="max-width: 100%" '
        f'src="data:image/{block.kind};base64,{content}">',
        block.caption,
    )


def _is_narrow(block: Block) -> bool:
    return isinstance(block, Chart) and block.narrow


def figure_html(picture: str, caption: str, after: str = "") -> str:
    """A figure with its caption."""
    words = f"\n<figcaption>{_text(caption)}</figcaption>" if caption else ""
    return f"<figure>\n{picture}{words}{after}\n</figure>"


def _options(picks: Iterable[Pick], shown: Pick) -> str:
    text = ""
    for group, together in groupby(picks, key=lambda pick: pick.group):
        options = "".join(
            f"<option{' selected' if pick is shown else ''}>{_text(pick.label)}</option>"
            for pick in together
        )
        text += f'<optgroup label="{_text(group)}">{options}</optgroup>' if group else options
    return text


_SLIM = 4
"""Columns of a table up to which it takes half of a wide page."""


def _table(table: Table) -> str:
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    kinds = [' class="number"' if _is_numbers(column) else "" for column in columns]
    kinds[:1] = [""]
    head = "".join(
        f'<th scope="col"{kind}>{_text(title)}</th>'
        for title, kind in zip(table.columns, kinds, strict=True)
    )
    links = table.links or [""] * len(table.rows)
    body = "\n".join(_row(row, kinds, link) for row, link in zip(table.rows, links, strict=True))
    caption = _text(table.caption)
    # Wide tables scroll in a box, which must be reachable by keyboard.
    slim = " slim" if len(table.columns) <= _SLIM else ""
    return (
        f'<div class="table{slim}" role="group" aria-label="{caption}" tabindex="0">\n<table>\n'
        f"<caption><span>{caption}</span></caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _row(row: Sequence[str], kinds: list[str], link: str) -> str:
    cells = (f"<td{kind}>{_text(c)}</td>" for c, kind in zip(row[1:], kinds[1:], strict=True))
    head = _text(row[0])
    if link:
        # Rows may have the same first cell, but links of different targets need different names.
        name = _text(", ".join(row[:3]))
        head = f'<a href="{_text(link)}" aria-label="{name}">{head}</a>'
    return f'<tr><th scope="row">{head}</th>{"".join(cells)}</tr>'


def _downloads(block: Downloads) -> str:
    content = _text(block.content)
    links = "".join(
        f' <a href="{_text(address)}" download aria-label="Save {content} as {_text(name)}">'
        f"{_text(name)}</a>"
        for name, address in block.links
    )
    return f'<p class="saves"><span>Save:</span>{links}</p>'


def _is_numbers(cells: Iterable[str]) -> bool:
    """Whether every cell starts like a number or stands for a missing one."""
    return all(re.match(r"[<>+−-]? ?\d|–?$", cell) for cell in cells)


def list_html(texts: Iterable[str | Card]) -> str:
    """A list of plain texts."""
    return "<ul>\n" + "\n".join(f"<li>{_text(str(text))}</li>" for text in texts) + "\n</ul>"


def _text(text: str) -> str:
    """Escape plain text for HTML elements and quoted attributes."""
    return escape(printable(text))


def _json(value: object) -> str:
    """Encode JSON for a script element, without `<`, so without `</script>` and `<!--`."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
