# SPDX-License-Identifier: Apache-2.0
"""Metrics counted slowly and plainly, position by position, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction

Rows = Sequence[tuple[float, Fraction, Fraction]]
"""Value, weight of wins, weight of losses."""


def ties(rows: Rows) -> list[tuple[Fraction, Fraction]]:
    """Wins and losses of each distinct value, the greatest first."""
    found: dict[float, list[Fraction]] = {}
    for value, win, loss in rows:
        both = found.setdefault(value, [Fraction(0), Fraction(0)])
        both[0] += win
        both[1] += loss
    return [(win, loss) for _, (win, loss) in sorted(found.items(), reverse=True)]


def wins_among_first(rows: Rows, wanted: Fraction) -> Fraction:
    """Wins among the first positions from the top; a tie that is cut gives its share."""
    wins = Fraction(0)
    for win, loss in ties(rows):
        size = win + loss
        taken = min(size, wanted)
        if size:
            wins += win * taken / size
        wanted -= taken
    return wins


def top_quarter(rows: Rows) -> Fraction:
    quarter = sum((w + lo for _, w, lo in rows), Fraction(0)) / 4
    return wins_among_first(rows, quarter) / quarter


def break_even(rows: Rows) -> Fraction:
    wins = sum((w for _, w, _ in rows), Fraction(0))
    return wins_among_first(rows, wins) / wins


def average_precision(rows: Rows) -> Fraction:
    """Mean over recalls 0.0, 0.1 … 1.0 of the best precision at that recall or more."""
    all_wins = sum((w for _, w, _ in rows), Fraction(0))
    points, wins, seen = [], Fraction(0), Fraction(0)
    for win, loss in ties(rows):
        wins += win
        seen += win + loss
        if seen:
            points.append((wins / all_wins, wins / seen))
    levels = [Fraction(i, 10) for i in range(11)]
    return sum((max(p for r, p in points if r >= level) for level in levels), Fraction(0)) / 11


def pairs(rows: Rows) -> tuple[Fraction, Fraction, Fraction]:
    """Weight of (win, loss) pairs in the right order, tied, and in the wrong order."""
    right = tied = wrong = Fraction(0)
    for value, win, _ in rows:
        for other, _, loss in rows:
            weight = win * loss
            if value > other:
                right += weight
            elif value == other:
                tied += weight
            else:
                wrong += weight
    return right, tied, wrong
