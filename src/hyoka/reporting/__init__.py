# SPDX-License-Identifier: Apache-2.0
"""One HTML file that opens offline: words, tables, charts and boards, light or dark, on any screen.

Everything on a page is plain text, a number, a chart or a board: nobody hands over HTML, so that no
name or comment from a record can become part of the page's code.
"""

from hyoka.reporting.charts import COLORS, INK, PICKED, QUIET, Picture, drawn, save_chart
from hyoka.reporting.page import (
    Block,
    Board,
    Boards,
    Chart,
    Details,
    Explorer,
    Outline,
    Page,
    Pick,
    Row,
    Section,
    Table,
    write_page,
)

__all__ = [
    "COLORS",
    "INK",
    "PICKED",
    "QUIET",
    "Block",
    "Board",
    "Boards",
    "Chart",
    "Details",
    "Explorer",
    "Outline",
    "Page",
    "Pick",
    "Picture",
    "Row",
    "Section",
    "Table",
    "drawn",
    "save_chart",
    "write_page",
]
