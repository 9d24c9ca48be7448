# SPDX-License-Identifier: Apache-2.0
"""How the games went: their lengths, how they ended, and the time they took."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.report.facts import MatchFacts, Reals
from hyoka.page import Chart, Section
from hyoka.page.figures import MOST_SERIES, RESULTS, Part, Spot, columns, lines, rows

_MOST_COLUMNS: Final = 40
_MOST_REASONS: Final = 12
_MOST_SPOTS: Final = 60
_LEAST_MOVES: Final = 5
"""A median of fewer moves is not drawn."""


def lengths_section(facts: MatchFacts) -> Section:
    """How long games lasted, by result."""
    plies = facts.plies
    middle = f"{np.median(plies):g}"
    words = (
        f"Half of the games lasted {middle} plies or fewer, the shortest {plies.min()}, "
        f"the longest {plies.max()}. A ply is one move of one player."
    )
    if plies.min() == plies.max():
        lasted = "The game" if len(facts) == 1 else "Every game"
        words = f"{lasted} lasted {middle} plies. A ply is one move of one player."
        return Section("Game lengths", (words,))
    caption = "Games by their length in plies, coloured by who won."
    chart = Chart(columns(_length_parts(facts), x="plies"), caption)
    return Section("Game lengths", (words,), (chart,))


def _length_parts(facts: MatchFacts) -> list[Part]:
    plies = facts.plies
    span = int(plies.max() - plies.min()) + 1
    width = next(w for w in _widths() if w * _MOST_COLUMNS >= span)
    bins = plies // width
    parts = []
    for b in np.unique(bins).tolist():
        start, end = b * width, (b + 1) * width
        parts += _parts(str(b), start, end, facts.result[bins == b])
    return parts


def _widths() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _parts(name: str, start: float, end: float, results: Reals) -> list[Part]:
    """A bar's pieces: won, drawn and lost by the first player, one upon the other."""
    edges = np.cumsum([0, *((results == points).sum() for points in (1, 0.5, 0))]).tolist()
    pieces = zip(RESULTS, edges[:-1], edges[1:], strict=True)
    return [Part(name, start, end, result, below, above) for result, below, above in pieces]


def endings_section(facts: MatchFacts) -> Section:
    """How games ended, by result."""
    counts = Counter(facts.reason.tolist())
    shown = [reason for reason, _ in counts.most_common(_MOST_REASONS)]
    named = np.where(np.isin(facts.reason, shown), facts.reason, "all others")
    if len(counts) > len(shown):
        shown.append("all others")
    parts = [
        part for reason in shown for part in _parts(reason, 0, 0, facts.result[named == reason])
    ]
    most, times = counts.most_common(1)[0]
    if len(facts) == 1:
        return Section("How games ended", (f"The game ended so: {most}.",))
    words = f"The most frequent ending: {most}, in {times:,} of {len(facts):,} games."
    caption = "Games by how they ended, coloured by who won."
    return Section("How games ended", (words,), (Chart(rows(parts), caption),))


def time_section(facts: MatchFacts) -> Section | None:
    """What players spent on their moves; None where the records do not say."""
    thoughts = facts.thoughts
    timed = [player for player in facts.present if np.isfinite(thoughts.of(player).spent_s).any()][
        :MOST_SERIES
    ]
    if not timed:
        return None
    words, spent, left = [], [], []
    for player in timed:
        name, mine = facts.names[player], thoughts.of(player)
        seconds = mine.spent_s[np.isfinite(mine.spent_s)]
        middle, most = seconds_text(float(np.median(seconds))), seconds_text(float(seconds.max()))
        words.append(f"{name}: half of its moves took {middle} or less, the longest {most}.")
        spent += _medians(name, mine.ply, mine.spent_s)
        left += _medians(name, mine.ply, mine.clock_s)
    charts = []
    if spent:
        caption = "Seconds spent on a move: the median by how far the game is."
        charts.append(Chart(lines(spent, x="ply", y="seconds a move"), caption))
    if left:
        caption = "Seconds left on the clock after a move: the median by how far the game is."
        charts.append(Chart(lines(left, x="ply", y="seconds left"), caption))
    return Section("Time", (" ".join(words),), tuple(charts))


def _medians(name: str, plies: NDArray[np.int64], seconds: Reals) -> list[Spot]:
    known = np.isfinite(seconds)
    plies, seconds = plies[known], seconds[known]
    if not len(plies):
        return []
    # At least two plies a spot: a player moves at every second one.
    width = next(w for w in _widths() if w > 1 and w * _MOST_SPOTS > plies.max())
    bins = plies // width
    spots = []
    for b in np.unique(bins).tolist():
        chosen = bins == b
        if chosen.sum() >= _LEAST_MOVES:
            middle = float(np.median(seconds[chosen]))
            spots.append(Spot(name, float(plies[chosen].mean()), middle))
    return spots


def seconds_text(seconds: float) -> str:
    """A time in words: `3 ms`, `0.25 s`, `4 min`.

    >>> seconds_text(0.003), seconds_text(0.25), seconds_text(250)
    ('3 ms', '0.25 s', '4 min')
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} min"
