# SPDX-License-Identifier: Apache-2.0
"""How moves are written over CECP: as ours, but in the second version not those of shogi."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_FILES: Final = "abcdefghi"
_OURS: Final = re.compile(r"(?:([A-Z])\*|([1-9])([a-i]))([1-9])([a-i])(\+?)")
_XBOARDS: Final = re.compile(r"(?:([A-Z])@|([a-i])([1-9]))([a-i])([1-9])([+=]?)")


@dataclass(frozen=True, slots=True)
class Notation:
    """How moves are written to an engine, and what it writes as we do."""

    written: Callable[[str], str]
    read: Callable[[str], str]


def to_xboard(move: str) -> str:
    """A move of shogi as XBoard writes it: files are letters from the left, ranks from below.

    >>> to_xboard("7g7f"), to_xboard("8h2b+"), to_xboard("P*5e")
    ('c3c4', 'b2h8+', 'P@e5')
    """
    match = _OURS.fullmatch(move)
    if match is None:
        return move
    piece, from_file, from_rank, file, rank, promotes = match.groups()
    start = f"{piece}@" if piece else _to_letters(from_file, from_rank)
    return f"{start}{_to_letters(file, rank)}{promotes}"


def from_xboard(move: str) -> str:
    """What XBoard writes so, as we write it; anything else stays as it is.

    >>> [from_xboard(to_xboard(move)) for move in ("7g7f", "8h2b+", "P*5e")]
    ['7g7f', '8h2b+', 'P*5e']
    """
    match = _XBOARDS.fullmatch(move)
    if match is None:
        return move
    piece, from_file, from_rank, file, rank, promotes = match.groups()
    start = f"{piece}*" if piece else _to_digits(from_file, from_rank)
    return f"{start}{_to_digits(file, rank)}{promotes.rstrip('=')}"


def _to_letters(file: str, rank: str) -> str:
    return f"{_FILES[9 - int(file)]}{9 - _FILES.index(rank)}"


def _to_digits(file: str, rank: str) -> str:
    return f"{9 - _FILES.index(file)}{_FILES[9 - int(rank)]}"


def _as_it_is(move: str) -> str:
    return move


_PLAIN: Final = Notation(_as_it_is, _as_it_is)
_XBOARD: Final = Notation(to_xboard, from_xboard)


def notation_for(protocol: str, *, new_version: bool) -> Notation:
    """The notation of a game by its usual protocol, over CECP's second version or its first."""
    return _XBOARD if protocol == "usi" and new_version else _PLAIN
