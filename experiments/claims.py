# SPDX-License-Identifier: Apache-2.0
"""From intervals to verdicts: what counts as shown, what as the same, and what as neither."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

from experiments.outcome import Answer, Verdict
from hyoka.arena import FEW
from hyoka.foundation.math import Estimate

LITTLE: Final = 0.05
"""A difference of win probabilities, or of points a game, that is called none."""


def verdict(claim: str, lead: Estimate, detail: str = "") -> Verdict:
    """A claim that holds if the number is above zero, by its interval.

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
    """The same verdict, or "not shown" with the reason where there is one."""
    if not reason:
        return judged
    detail = f"{judged.detail}; {reason}" if judged.detail else reason
    return dataclasses.replace(judged, answer="not shown", detail=detail)


def not_shown_if_few(judged: Verdict, count: int, unit: str = "games") -> Verdict:
    """The same verdict, or "not shown" where it comes from fewer than `FEW` games.

    >>> print(not_shown_if_few(verdict("more", Estimate(0.2, 0.1, 0.3)), 19))
    more: not shown, +0.200 (+0.100 to +0.300) (fewer than 20 games)
    """
    return not_shown_if(f"fewer than {FEW} {unit}" if count < FEW else "", judged)


def same_within(
    bound: float, claim: str, differences: Sequence[Estimate], detail: str = ""
) -> Verdict:
    """A claim that nothing parts two, by the intervals of all differences between them.

    That an interval holds zero shows nothing: it must lie within the bound.

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
    """A claim that two are not the same, one way or the other, somewhere.

    The intervals must hold together, all of them in 95 of 100 cases. Reversed, if all lie within
    `LITTLE`.

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
    """How far from zero it is at the very least; NaN counts as not at all."""
    return max(difference.low, -difference.high, 0.0)


def _most(difference: Estimate) -> float:
    """How far from zero it may be; without an interval, any distance."""
    ends = (abs(difference.low), abs(difference.high))
    return math.inf if any(map(math.isnan, ends)) else max(ends)
