# SPDX-License-Identifier: Apache-2.0
"""How much an engine may think about one position."""

import math
from dataclasses import dataclass, fields
from typing import Final

from hyoka.errors import NotationError

KEYS: Final = {
    "time": "time_s",
    "nodes": "nodes",
    "depth": "depth",
    "playouts": "playouts",
    "level": "level",
}
"""The keys of limits in an engine's text, and the fields they set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on one evaluation; an engine stops at the first that it meets.

    >>> Limits(nodes=100, time_s=0.5).text
    'time=0.5,nodes=100'
    """

    time_s: float | None = None
    nodes: int | None = None
    depth: int | None = None
    playouts: int | None = None
    level: int | None = None

    def __post_init__(self) -> None:
        for key, name in KEYS.items():
            number = getattr(self, name)
            least = 0 if key == "level" else 1
            if number is None:
                continue
            if key == "time":
                if not (math.isfinite(number) and number > 0):
                    raise NotationError(f"a time limit is some seconds, not {number}")
            elif number < least:
                raise NotationError(f"the limit {key} is at least {least}, not {number}")

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))

    @property
    def text(self) -> str:
        """The limits as an engine's text writes them."""
        pairs = ((key, getattr(self, name)) for key, name in KEYS.items())
        return ",".join(f"{key}={number:.12g}" for key, number in pairs if number is not None)

    @property
    def milliseconds(self) -> int | None:
        """The time limit for protocols that count milliseconds: whole ones, at least 1."""
        return None if self.time_s is None else max(1, round(self.time_s * 1000))


def limit_from_text(key: str, text: str) -> float | int:
    """The number that a limit's text stands for.

    >>> limit_from_text("time", "0.5"), limit_from_text("nodes", "1_000")
    (0.5, 1000)
    """
    try:
        return float(text) if key == "time" else int(text)
    except ValueError:
        kind = "a number of seconds" if key == "time" else "a whole number"
        raise NotationError(f"the limit {key} is {kind}, not '{text}'") from None
