# SPDX-License-Identifier: Apache-2.0
"""What some UCI and USI engines do otherwise than their protocol says, by the names they give."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hyoka.engines.limits import Limits

USUAL_LIMITS: Final = Limits(time_s=0.1)
"""Where nobody says how long to think. Any engine knows a time; only nodes can be repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How an engine is asked.

    >>> dialect_of("Stockfish 15.1").counts_nodes, dialect_of("Toga II 3.0").counts_nodes
    (True, False)
    """

    match: str = ""
    """A pattern at the beginning of the engine's name."""
    counts_nodes: bool = True
    """Whether `go nodes` is kept to; some search on for ever, and some die."""
    depth_option: str = ""
    """The option that limits the depth, where `go depth` does not."""
    deepest: int = 0
    """What that option is set to where no depth is asked for."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Set unless told otherwise."""
    shortest_s: float = 0.0
    """Less time than this is overrun."""
    knows_increments: bool = True
    takes_moves: bool = True
    """Whether it is told how a position came about, or else the position alone."""
    limits: Limits = USUAL_LIMITS
    """Where nobody says how long to think."""


_DIALECTS: Final = (
    # Both descend from Fruit, which goes on until it is told to stop.
    Dialect(match="Toga II|GNU Chess|Fruit", counts_nodes=False),
    # It dies at `go nodes`, `go depth`, `go movetime` and increments; without Verbose it tells no
    # score, and from its book it would play without one. Moves from the usual start put it into an
    # endless loop once it has been told another start.
    Dialect(
        match="gpsshogi",
        counts_nodes=False,
        depth_option="LimitDepth",
        deepest=10,
        options={"BookDepth": "0", "Thread": "1", "Verbose": "1"},
        shortest_s=1.0,
        knows_increments=False,
        takes_moves=False,
        limits=Limits(depth=4),
    ),
)
_USUAL: Final = Dialect()


def dialect_of(name: str) -> Dialect:
    """The dialect of an engine that calls itself so; by far the most have none."""
    return next((each for each in _DIALECTS if re.match(each.match, name)), _USUAL)
