# SPDX-License-Identifier: Apache-2.0
"""What can be chosen about a report."""

from collections.abc import Sequence
from typing import TypedDict

from hyoka.analysis.link import Link
from hyoka.analysis.sample import DrawnGames


class Choices(TypedDict, total=False):
    """Keywords of everything that makes a report; each may be left out."""

    evaluators: Sequence[str] | str | None
    """All of the study's unless some are named."""
    where: str | None
    """An SQL condition on positions."""
    draws: DrawnGames
    """`drop` leaves drawn games out of curves, metrics and splits; `half` counts each as half a
    win, so that shares of wins become expected scores. `drop` unless given."""
    splits: int
    """So many are shown of each evaluator: 5 unless given."""
    boards_a_bin: int
    """So many positions of each bin are drawn: 4 unless given."""
    resamples: int | None
    """How often games are drawn again: 1,000 unless given, fewer of more than 300,000 positions,
    but 200; 0 gives no intervals and so makes few claims."""
    link: Link | None
    """What scores' logistic curves make of them; what games held out prefer unless given."""
    seed: int
    """Draws the games and chooses the boards."""
