# SPDX-License-Identifier: Apache-2.0
"""HTML reports in one offline file: text, tables, charts and boards, light or dark, on any screen.

Pages accept plain text, numbers, charts and boards, but no HTML. So no name or comment from a
record can become code of the page.
"""

from hyoka.reporting.charts import (
    COLORS,
    INK,
    PICKED,
    QUIET,
    AltairChart,
    Picture,
    drawn,
    save_chart,
)
from hyoka.reporting.page import (
    Block,
    Board,
    Boards,
    Card,
    Chart,
    Details,
    Downloads,
    Explorer,
    Image,
    Outline,
    Page,
    Pick,
    Renderer,
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
    "AltairChart",
    "Block",
    "Board",
    "Boards",
    "Card",
    "Chart",
    "Details",
    "Downloads",
    "Explorer",
    "Image",
    "Outline",
    "Page",
    "Pick",
    "Picture",
    "Renderer",
    "Row",
    "Section",
    "Table",
    "drawn",
    "save_chart",
    "write_page",
]
