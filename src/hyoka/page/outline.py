# SPDX-License-Identifier: Apache-2.0
"""A tree on a page: rows that open and close, by mouse and by keyboard, without any script."""

from collections.abc import Callable
from dataclasses import dataclass


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
    items = "".join(f"<li>{_row(row, columns, text)}</li>\n" for row in rows)
    if note:
        items += f'<li class="note">{text(note)}</li>\n'
    return f"<ul>\n{items}</ul>"


def _row(row: Row, columns: tuple[str, ...], text: Callable[[str], str]) -> str:
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
