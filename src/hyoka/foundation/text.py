# SPDX-License-Identifier: Apache-2.0
"""Names by patterns: `*` stands for anything, so that versions of a program are found as one."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from hyoka.foundation.errors import NotationError, nearest

ANY = "*"
"""What stands for any letters, or none; all else stands for itself, so a name matches itself."""
OR = "|"
"""Stands between patterns in one text."""


def matches(pattern: str, name: str) -> bool:
    """Whether a whole name fits a pattern.

    >>> matches("Stockfish*", "Stockfish 16.1"), matches("Stockfish", "Stockfish 16.1")
    (True, False)
    """
    parts = map(re.escape, pattern.split(ANY))
    return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


def patterns_of(text: str) -> tuple[str, ...]:
    """The patterns of a text, between bars.

    >>> patterns_of("Stockfish*|LCZero*")
    ('Stockfish*', 'LCZero*')
    """
    patterns = tuple(dict.fromkeys(part.strip() for part in text.split(OR)))
    if not all(patterns):
        raise NotationError(f"patterns are names with {ANY} between bars, not '{text}'")
    return patterns


def merged(names: Sequence[str], patterns: Iterable[str]) -> list[str]:
    """What each name counts as: the first pattern that it fits, or itself.

    Raises NotationError if a pattern fits no name.

    >>> merged(["Komodo 9", "Komodo 14", "Gull 3"], ["Komodo*"])
    ['Komodo*', 'Komodo*', 'Gull 3']
    """
    wanted = list(patterns)
    check_met(wanted, names)
    return [next((p for p in wanted if matches(p, name)), name) for name in names]


_VERSION_WORDS: Final = frozenset(["dev", "latest", "beta", "alpha", "nightly", "release", "git"])
"""Words that name a version without a number."""
_VERSION: Final = re.compile(r"^\D{0,4}\d|[._-]v?\d")
_FIRST_VERSION: Final = re.compile(r"_v?\d")
"""Where a version begins within the first word of a name: `Stockfish_15_100k`."""


def program_name(name: str) -> str:
    """The name without its version, by which the versions of a program are one.

    A version begins at the first word, after the first one, that looks like `16.1`, `v3`, `TCEC13`
    or `dev-2024`, or says `dev`, `latest` and the like. Names without a version, and names with a
    comma, which are people's, stay as they are.

    >>> [program_name(name) for name in ("Stockfish 16.1", "Stoofvlees II a16", "LCZeroCPU Latest")]
    ['Stockfish', 'Stoofvlees II', 'LCZeroCPU']
    >>> program_name("Stockfish_13_CCRL 64-bit_4CPU"), program_name("Carlsen, Magnus")
    ('Stockfish', 'Carlsen, Magnus')
    """
    if not name.strip() or "," in name:
        return name
    first, *others = name.split()
    if cut := _FIRST_VERSION.search(first, 1):
        return first[: cut.start()]
    words = [first]
    for word in others:
        if word.lower() in _VERSION_WORDS or _VERSION.search(word):
            return " ".join(words)
        words.append(word)
    return name


def fitting(names: Sequence[str], patterns: Iterable[str], what: str = "name") -> list[str]:
    """The names that fit some pattern; raises NotationError if a pattern fits none.

    >>> fitting(["pst[0]", "pst[1]", "tempo"], ["pst*"])
    ['pst[0]', 'pst[1]']
    """
    wanted = list(patterns)
    check_met(wanted, names, what)
    itself, open_ended = set(wanted), [pattern for pattern in wanted if ANY in pattern]
    return [n for n in names if n in itself or any(matches(p, n) for p in open_ended)]


def check_met(patterns: Iterable[str], names: Sequence[str], what: str = "name") -> None:
    """Raise NotationError if a pattern fits no name."""
    known = set(names)
    for pattern in patterns:
        if pattern in known or (ANY in pattern and any(matches(pattern, name) for name in names)):
            continue
        bare = pattern.replace(ANY, "").strip()
        hint = nearest(bare, [*names, *(name.split()[0] for name in names if name.split())])
        raise NotationError(f"no {what} fits '{pattern}'" + (f"; {hint}" if hint else ""))
