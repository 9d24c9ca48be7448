# SPDX-License-Identifier: Apache-2.0
"""The report of a match: one page with results, ratings and the players' evaluations.

Altair is slow to import, so it is imported only when a page is made.
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
    """Build the report of a match's games so far.

    `players` are names, indexed by the numbers of pairings. `conditions` are sentences for the
    methods section: players, limits and openings. `seed` seeds the resampling of the bands. Any
    number of games and players is valid, and the page stays small. Names and reasons are shown as
    plain text.
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
    """Write the report of a match as one offline HTML file; the folder must exist."""
    from hyoka.reporting.page import write_page  # noqa: PLC0415

    write_page(match_page(title, games, players, conditions=conditions), Path(path))
