# SPDX-License-Identifier: Apache-2.0
"""The report of a match: one page, from who won to what the players thought.

Altair takes a while to import, so only who makes a page waits for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hyoka.arena.journal import PlayedGame

if TYPE_CHECKING:
    from hyoka.reporting.page import Page

__all__ = ["match_page", "write_match_report"]


def match_page(
    title: str,
    games: Sequence[PlayedGame],
    players: Sequence[str],
    *,
    conditions: Sequence[str] = (),
    seed: int = 1,
) -> "Page":
    """The report of a match as far as it has been played.

    `players` are the names by the numbers that pairings use. `conditions` are sentences for the
    methods: who played under which limits, and from which openings. `seed` is for the resampling
    behind the bands. Works for no games at all and for any number of players, and stays small
    however many games there are; whatever names and reasons hold is shown as plain text.
    """
    from hyoka.reporting.match_report.match_contents import page_of_match  # noqa: PLC0415

    return page_of_match(title, games, players, conditions, seed)


def write_match_report(
    path: Path | str,
    title: str,
    games: Sequence[PlayedGame],
    players: Sequence[str],
    *,
    conditions: Sequence[str] = (),
) -> None:
    """Write the report of a match as one HTML file that opens offline; makes no folder."""
    from hyoka.reporting.page import write_page  # noqa: PLC0415

    write_page(match_page(title, games, players, conditions=conditions), Path(path))
