# SPDX-License-Identifier: Apache-2.0
"""Ranks and ratings as numbers that order, and dates as text that orders."""

import functools
import re

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
    plain = text.translate(_DIGITS).replace("初段", "1段").replace("十", "10")
    if rank := _RANK.search(plain):
        number, unit = int(rank[1]), rank[2].lower()
        if unit in ("k", "kyu", "gup", "級", "级"):
            return float(30 - number)
        return float((38 if unit in ("p", "pro") else 29) + number)
    elo = _ELO.match(plain)
    return float(elo[1]) if elo else None


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
