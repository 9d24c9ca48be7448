# SPDX-License-Identifier: Apache-2.0
"""Ranks and ratings as numbers that order, and dates as text that orders."""

import functools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_DIGITS = str.maketrans("０１２３４５６７８９一二三四五六七八九", "0123456789123456789")
_ELO = re.compile(r"\s*[+-]?(\d{1,5}(?:\.\d+)?)")
_RANK = re.compile(r"(\d{1,2})\s*(k|kyu|gup|級|级|d|dan|段|a|p|pro|ama)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:[-./年](\d{1,2}))?(?:[-./月](\d{1,2}))?")


@functools.lru_cache(maxsize=65536)
def rank_number(text: str) -> float | None:
    """A rating or rank as a number: the higher the stronger; None if there is none to read.

    Ratings are their own number. Ranks count from 30 kyu = 0 over 1 kyu = 29 and 1 dan = 30 to
    9 dan = 38; professional dans follow, 1p = 39 to 9p = 47. Numbers of ratings and of ranks are
    not to be compared with each other.

    >>> [rank_number(rank) for rank in ("2715", "18k", "6d", "9p", "四段", "?")]
    [2715.0, 12.0, 35.0, 47.0, 33.0, None]
    """
    parsed = _parsed(text)
    if parsed is None:
        return None
    number, unit = parsed
    return {"k": 30 - number, "d": 29 + number, "p": 38 + number, "": number}[unit]


def rank_label(text: str) -> tuple[str, bool] | None:
    """A rating or rank in one spelling, and whether it is a rank; None if there is none to read.

    >>> [rank_label(rank) for rank in ("2715.0", "18 kyu", "四段", "9p", "?")]
    [('2715', False), ('18k', True), ('4d', True), ('9p', True), None]
    """
    parsed = _parsed(text)
    return None if parsed is None else (f"{parsed[0]:g}{parsed[1]}", bool(parsed[1]))


def _parsed(text: str) -> tuple[float, str] | None:
    """The number and its unit: k, d, p, or nothing for a rating."""
    plain = text.translate(_DIGITS).replace("初段", "1段").replace("十", "10")
    if rank := _RANK.search(plain):
        unit = rank[2].lower()
        if unit in ("k", "kyu", "gup", "級", "级"):
            return float(rank[1]), "k"
        return float(rank[1]), "p" if unit in ("p", "pro") else "d"
    elo = _ELO.match(plain)
    return (float(elo[1]), "") if elo else None


@dataclass
class RankRange:
    """The lowest and the highest of ranks that came one by one, or of ratings."""

    count: int = 0
    total: float = 0.0
    low: float = math.inf
    high: float = -math.inf
    lowest: str = ""
    highest: str = ""

    def add(self, number: float, label: str, count: int) -> None:
        """Take one in, so many times."""
        self.count += count
        self.total += number * count
        if number < self.low:
            self.low, self.lowest = number, label
        if number > self.high:
            self.high, self.highest = number, label

    @property
    def text(self) -> str:
        """From the lowest to the highest."""
        return self.lowest if self.lowest == self.highest else f"{self.lowest} to {self.highest}"

    @property
    def mean(self) -> float | None:
        """Of the numbers; None if there were none."""
        return self.total / self.count if self.count else None


@dataclass
class Standings:
    """Ranks and ratings apart: their numbers are not to be compared.

    >>> standings = Standings()
    >>> standings.add([("3k", 2), ("12 dan", 1), ("2715.0", 3), ("?", 1), ("9p", 1)])
    >>> standings.ranks.text, standings.ranks.count, standings.ratings.text
    ('3k to 9p', 4, '2715')
    """

    ranks: RankRange = field(default_factory=RankRange)
    ratings: RankRange = field(default_factory=RankRange)

    def add(self, counts: Iterable[tuple[str, int]]) -> None:
        """Take in texts with how often each is there; texts that say no rank are ignored."""
        for text, count in counts:
            number, label = rank_number(text), rank_label(text)
            if number is not None and label is not None:
                (self.ranks if label[1] else self.ratings).add(number, label[0], count)


@functools.lru_cache(maxsize=65536)
def ordered_date(text: str) -> str:
    """A date as year-month-day, as far as it is known, so that text order is time order.

    >>> [ordered_date(date) for date in ("1998.10.05", "2016/1/2", "1846-09-11,12", "1977.??.??")]
    ['1998-10-05', '2016-01-02', '1846-09-11', '1977']
    """
    date = _DATE.search(text)
    if date is None:
        return text
    year, month, day = date.groups()
    if month is None or not 1 <= int(month) <= 12:
        return year
    if day is None or not 1 <= int(day) <= 31:
        return f"{year}-{int(month):02}"
    return f"{year}-{int(month):02}-{int(day):02}"
