# SPDX-License-Identifier: Apache-2.0
"""Verdicts from intervals: shown, same, or neither."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

from experiments.outcome import Answer, Verdict
from hyoka.arena import FEW
from hyoka.foundation.math import Estimate

LITTLE: Final = 0.05
"""Largest difference in win probability, or in points per game, that counts as none."""


def verdict(claim: str, lead: Estimate, detail: str = "") -> Verdict:
    """Verdict on the claim that a number is positive, by its interval.

    >>> verdict("more is better", Estimate(0.02, 0.01, 0.03)).answer
    'yes'
    >>> verdict("more is better", Estimate(0.02, -0.01, 0.05)).answer
    'not shown'
    """
    answer: Answer = "not shown"
    if lead.low > 0:
        answer = "yes"
    elif lead.high < 0:
        answer = "reversed"
    return Verdict(claim, lead, answer, detail)


def not_shown_if(reason: str, judged: Verdict) -> Verdict:
    """The verdict, or "not shown" with the reason if there is one."""
    if not reason:
        return judged
    detail = f"{judged.detail}; {reason}" if judged.detail else reason
    return dataclasses.replace(judged, answer="not shown", detail=detail)


def not_shown_if_few(judged: Verdict, count: int, unit: str = "games") -> Verdict:
    """The verdict, or "not shown" if it is from fewer than `FEW` games.

    >>> print(not_shown_if_few(verdict("more", Estimate(0.2, 0.1, 0.3)), 19))
    more: not shown, +0.200 (+0.100 to +0.300) (fewer than 20 games)
    """
    return not_shown_if(f"fewer than {FEW} {unit}" if count < FEW else "", judged)


def same_within(
    bound: float, claim: str, differences: Sequence[Estimate], detail: str = ""
) -> Verdict:
    """Verdict on the claim that two things are equal, by the intervals of all their differences.

    It is not enough that the intervals contain zero: they must lie within the bound.

    >>> same_within(0.05, "one curve", [Estimate(0.01, -0.01, 0.03)]).words
    'same within 0.05'
    >>> same_within(0.05, "one curve", [Estimate(0.01, -0.07, 0.09)]).words
    'not shown'
    >>> same_within(0.05, "one curve", [Estimate(0.10, 0.06, 0.14)]).words
    'reversed'
    """
    if not differences:
        return Verdict(claim, Estimate(math.nan, math.nan, math.nan), "not shown", detail, bound)
    parting = max(differences, key=_least)
    if _least(parting) > bound:
        return Verdict(claim, parting, "reversed", detail, bound)
    widest = max(differences, key=_most)
    answer: Answer = "same" if _most(widest) <= bound else "not shown"
    return Verdict(claim, widest, answer, detail, bound)


def differ(claim: str, differences: Sequence[Estimate], detail: str = "") -> Verdict:
    """Verdict on the claim that two things differ somewhere, in either direction.

    The intervals must be simultaneous at 95%. Reversed if all lie within `LITTLE`.

    >>> differ("two curves", [Estimate(0.1, 0.02, 0.18), Estimate(0.0, -0.1, 0.1)]).words
    'yes'
    >>> differ("two curves", [Estimate(0.0, -0.1, 0.1)]).words
    'not shown'
    """
    if not differences:
        return Verdict(claim, Estimate(math.nan, math.nan, math.nan), "not shown", detail)
    surest = max(differences, key=_least)
    answer: Answer = "not shown"
    if _least(surest) > 0:
        answer = "yes"
    elif max(map(_most, differences)) <= LITTLE:
        answer = "reversed"
    return Verdict(claim, surest, answer, detail)


def _least(difference: Estimate) -> float:
    """Smallest absolute difference in the interval; 0 for NaN."""
    return max(difference.low, -difference.high, 0.0)


def _most(difference: Estimate) -> float:
    """Largest absolute difference in the interval; infinite without one."""
    ends = (abs(difference.low), abs(difference.high))
    return math.inf if any(map(math.isnan, ends)) else max(ends)
