# SPDX-License-Identifier: Apache-2.0
"""Results and sections of reports as a page of the studio shows them.

Whatever a report says, the studio says with the same words, charts and numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from markupsafe import Markup

from hyoka.analysis import Result
from hyoka.diagram import Diagram
from hyoka.page import Board, Boards, Chart, Details, Explorer, Section, Table
from hyoka.studio import drawings
from hyoka.studio.pages import address

SAVED: Final[Mapping[str, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON",
    "svg": "SVG",
    "png": "PNG",
    "html": "page",
}
"""What a result is saved as, by the end of its name."""
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
    """Where each row's first cell leads; none unless given."""

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
    drawn = drawings.chart(result.chart(), result.title) if picture is None else picture
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
    told = replace(diagram, caption="", title=f"{diagram.title}. {words}")
    return ShownBoard(drawings.board(told, size=_BOARD), words, to)


def boards_of_report(boards: Iterable[Board]) -> list[ShownBoard]:
    """Boards as reports have them."""
    return [shown_board(board.diagram, board.words) for board in boards]


def _block(block: object) -> Shown:
    if isinstance(block, Explorer):
        block = block.chart
    if isinstance(block, Chart):
        words = block.description or block.caption
        return Shown("chart", words=[block.caption], picture=drawings.chart(block.chart, words))
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
    """Where a result is found in each format."""
    return [(words, address(place, **query | {"as": name})) for name, words in SAVED.items()]


def _is_number(text: str) -> bool:
    return not text or text[0].isdigit() or text[0] in "+-−–<"
