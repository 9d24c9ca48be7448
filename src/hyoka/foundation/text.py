# SPDX-License-Identifier: Apache-2.0
"""Text helpers: name patterns with `*`, titles, shortened text, decimal numbers."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from hyoka.foundation.errors import NotationError, nearest

ANY = "*"
"""Matches any characters, or none; all other characters match themselves."""
OR = "|"
"""Separates patterns in one text."""


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern matches the full name.

    >>> matches("Stockfish*", "Stockfish 16.1"), matches("Stockfish", "Stockfish 16.1")
    (True, False)
    """
    parts = map(re.escape, pattern.split(ANY))
    return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


def split_patterns(text: str) -> tuple[str, ...]:
    """Split a text into its patterns.

    >>> split_patterns("Stockfish*|LCZero*")
    ('Stockfish*', 'LCZero*')
    """
    patterns = tuple(dict.fromkeys(part.strip() for part in text.split(OR)))
    if not all(patterns):
        raise NotationError(f"patterns are names with {ANY} between bars, not '{text}'")
    return patterns


def merge_names(names: Sequence[str], patterns: Iterable[str]) -> list[str]:
    """Replace each name by the first pattern that it matches, if any.

    Raises NotationError if a pattern matches no name.

    >>> merge_names(["Komodo 9", "Komodo 14", "Gull 3"], ["Komodo*"])
    ['Komodo*', 'Komodo*', 'Gull 3']
    """
    chosen = list(patterns)
    check_patterns(chosen, names)
    return [next((p for p in chosen if matches(p, name)), name) for name in names]


_VERSION_WORDS: Final = frozenset(["dev", "latest", "beta", "alpha", "nightly", "release", "git"])
"""Versions without a number."""
_VERSION: Final = re.compile(r"^\D{0,4}\d|[._-]v?\d")
_FIRST_VERSION: Final = re.compile(r"_v?\d")
"""The start of a version within the first word of a name: `Stockfish_15_100k`."""


def program_name(name: str) -> str:
    """The name without its version.

    A version starts at the second word or later, with one like `16.1`, `v3`, `TCEC13`, `dev-2024`,
    `dev` or `latest`. Names without a version, and names with a comma (of people), do not change.

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


def matching_names(names: Sequence[str], patterns: Iterable[str], what: str = "name") -> list[str]:
    """The names that match a pattern; raises NotationError if a pattern matches none.

    >>> matching_names(["pst[0]", "pst[1]", "tempo"], ["pst*"])
    ['pst[0]', 'pst[1]']
    """
    chosen = list(patterns)
    check_patterns(chosen, names, what)
    exact, open_ended = set(chosen), [pattern for pattern in chosen if ANY in pattern]
    return [n for n in names if n in exact or any(matches(p, n) for p in open_ended)]


def check_patterns(patterns: Iterable[str], names: Sequence[str], what: str = "name") -> None:
    """Raise NotationError if a pattern matches no name."""
    exact = set(names)
    for pattern in patterns:
        if pattern in exact or (ANY in pattern and any(matches(pattern, name) for name in names)):
            continue
        bare = pattern.replace(ANY, "").strip()
        hint = nearest(bare, [*names, *(name.split()[0] for name in names if name.split())])
        raise NotationError(f"no {what} fits '{pattern}'" + (f"; {hint}" if hint else ""))


class DefaultTitle(str):
    """A title of a spec that follows from its other fields; a plain text was chosen by the user."""

    __slots__ = ()


def limit_title(name: str, number: float) -> str:
    """A search limit in words.

    >>> limit_title("nodes", 10_000), limit_title("depth", 6), limit_title("time", 0.5)
    ('10,000 nodes', 'depth 6', '0.5 s')
    >>> limit_title("nodes", 1), limit_title("a_move", 30)
    ('1 node', '30 playouts a move')
    """
    if name == "time":
        return f"{number:g} s"
    if name not in ("nodes", "playouts", "a_move"):
        return f"{name} {number:,}"
    unit = "node" if name == "nodes" else "playout"
    return f"{number:,} {unit}{'' if number == 1 else 's'}{' a move' if name == 'a_move' else ''}"


def counted(count: int, thing: str) -> str:
    """A count with its noun.

    >>> counted(1, "game"), counted(2000, "game")
    ('1 game', '2,000 games')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


_SETTING_END: Final = re.compile(r"[,:]|\s+(?=-)")


def prefix_of(text: str) -> str:
    """Return the first word of a spec: a kind of search or agent, or an engine's protocol.

    >>> prefix_of("uct:playouts=500"), prefix_of("comments")
    ('uct', 'comments')
    """
    return text.partition(":")[0].strip()


def distinct_titles(titles: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Make titles unique by what their specs' texts do not have in common, else by a number.

    >>> distinct_titles(["UCT", "UCT", "Random"], ["uct:c=1", "uct:c=2,rave=50", "random"])
    ['UCT (c=1)', 'UCT (c=2, rave=50)', 'Random']
    >>> distinct_titles(["Random", "Random"], ["random", "random"])
    ['Random', 'Random 2']
    """
    words = [_SETTING_END.split(text) for text in texts]
    distinct: list[str] = []
    for title, own in zip(titles, words, strict=True):
        others = [each for same, each in zip(titles, words, strict=True) if same == title]
        common = set(own).intersection(*others)
        more = ", ".join(word for word in own if word and word not in common)
        candidate = longer = f"{title} ({more})" if more else title
        number = 1
        while candidate in distinct:
            number += 1
            candidate = f"{longer} {number}"
        distinct.append(candidate)
    return distinct


def printable(text: str) -> str:
    """Replace each unprintable character by a space: no escape codes, always valid XML."""
    return "".join(c if c.isprintable() else " " for c in text)


def shorten(text: str, limit: int) -> str:
    """The text on one line, printable, in at most `limit` characters.

    >>> shorten("a  very long story", 10)
    'a very lo…'
    """
    text = " ".join(printable(text[: 4 * limit]).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def positional(number: float) -> str:
    """The shortest decimal number that reads back the same, without an exponent.

    >>> positional(600.0), positional(0.00001)
    ('600', '0.00001')
    """
    return np.format_float_positional(number, trim="-")
