# SPDX-License-Identifier: Apache-2.0
"""Beam search for conditions under which an evaluator is biased."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.conditions import Condition
from hyoka.analysis.gaps import KINDS, LEAST_POSITIONS, ConditionGap, Equals, Kind
from hyoka.analysis.sample import Reals
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally

_CONFIDENT: Final = 3.0
"""Standard errors below an estimate of the lower bound that ranks conditions."""
_IMPROVES: Final = 4.0
"""The same of the lower bound with which a refinement exceeds its parts: many are tried."""
_OVERLAP: Final = 0.8
"""Overlap of two conditions from which they are near-duplicates."""
_SAME_COLUMNS: Final = 0.5
"""Overlap of two cuts of the same columns, as a share of the smaller, from which they are."""
_LITTLE: Final = 1 / 3
"""Remaining share of an effect below which the other condition explains it."""
_LITTLE_OR_ZERO: Final = 0.5
"""The same for effects whose interval includes zero."""
_NESTED: Final = 0.9
"""Overlap of nested conditions, as a share of the smaller."""
_MOST: Final = 2 / 3
"""Share of the positions from which a condition is compared by its negation."""
_SHARED: Final = 0.75
"""Remaining share of an effect below which nested conditions are degrees of one finding."""
_BLURRED: Final = 3.0
"""Error ratio from which two conditions coincide."""
_WIDE: Final = 2.0
"""Standard errors of an interval that decides whether an effect remains."""


@dataclass(frozen=True, kw_only=True)
class SliceSettings:
    """Options of slice discovery."""

    top: int = option(10, "Maximum number of listed slices.", min=1)
    depth: int = option(
        3, "Maximum number of conditions in a slice.", name="max_conditions", min=1, max=5
    )
    beam: int = option(
        12, "Beam width: number of conditions of each depth that are refined.", min=1
    )
    hold_out: float = option(
        0.5,
        "Share of the games that the search does not see and that confirm its slices; with 0, or "
        "with fewer than 200 games, intervals are corrected for selection instead.",
        min=0,
        max=0.9,
    )
    false_discovery_rate: float = option(
        0.05, "False discovery rate.", name="fdr", above=0, max=0.9
    )
    least_effect: float = option(0.01, "Minimum effect on the win probability.", min=0)
    least_games: int = option(
        30, "Minimum number of games in a slice, among the games that are searched.", min=1
    )
    least_positions: int = option(
        LEAST_POSITIONS, "Minimum number of positions inside and outside of a slice.", min=1
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class Tried:
    """A condition and its gap in the searched games."""

    condition: Condition
    gap: ConditionGap
    singles: frozenset[int]
    """Numbers of its single conditions."""
    parts: tuple[str, ...]
    """SQL of its single conditions."""

    @property
    def depth(self) -> int:
        """Number of single conditions."""
        return len(self.singles)

    def effect(self, kind: Kind) -> float:
        """Estimated effect in win probability."""
        return self.gap.departure(kind).effect.value

    def strength(self, kind: Kind) -> float:
        """Lower bound of the absolute effect, `_CONFIDENT` standard errors below the estimate."""
        return abs(self.effect(kind)) - _CONFIDENT * self.gap.departure(kind).error

    @cached_property
    def p_value(self) -> float:
        """The smaller p-value of both departures."""
        return min(self.gap.departure(kind).p_value for kind in KINDS)


class BeamSearch:
    """Measures single conditions, and refines the strongest of each depth by further conditions."""

    def __init__(
        self, equals: Equals, settings: SliceSettings, progress: OnProgress | None = None
    ) -> None:
        self.equals = equals
        self._settings = settings
        self._progress = progress
        self._seen: set[bytes] = set()
        self._by_singles: dict[frozenset[int], Tried] = {}
        self.tried: list[Tried] = []
        """All measured conditions."""
        self.singles: list[Tried] = []
        """The single ones of these, by number."""
        self.tests = 0
        """Number of conditions with enough positions, measured or screened."""

    def run(self, candidates: Sequence[Condition]) -> None:
        """Search conditions on the searched positions up to the depth of the settings."""
        name = self.equals.sample.name
        tally = Tally(self._progress, f"slices of {name}", len(candidates), "conditions")
        for condition in candidates:
            single = frozenset([len(self.singles)])
            if measured := self._measured(condition, single, (condition.sql,)):
                self.singles.append(measured)
            tally.add()
        level = self.singles
        for depth in range(2, self._settings.depth + 1):
            beam = self._strongest(level)
            what = f"slices of {name}, {depth} conditions"
            tally = Tally(self._progress, what, len(beam), "refined")
            level = []
            for parent in beam:
                level += self._refinements(parent)
                tally.add()

    def possible(self, depth: int) -> int:
        """Number of conjunctions of this many single conditions."""
        return math.comb(len(self.singles), depth)

    def says_more(self, tried: Tried, kind: Kind) -> bool:
        """Whether a condition departs further than each of its parts; true for single ones."""
        departure = tried.gap.departure(kind)
        lower_bound = abs(departure.effect.value) - _IMPROVES * departure.error
        return all(lower_bound >= abs(part.effect(kind)) for part in self._parts(tried.singles))

    def _parts(self, singles: frozenset[int]) -> Iterator[Tried]:
        """The measured conjunctions of all but one condition, and the single conditions."""
        keys = {singles - {each} for each in singles} | {frozenset([each]) for each in singles}
        return (self._by_singles[key] for key in keys - {singles} if key in self._by_singles)

    def _measured(
        self, condition: Condition, singles: frozenset[int], parts: tuple[str, ...]
    ) -> Tried | None:
        """Measure a condition with enough positions and games, unless an equal one was."""
        if not self._is_new(condition.holds):
            return None
        gap = self.equals.gap(condition.holds)
        if gap.games < self._settings.least_games:
            return None
        tried = Tried(condition, gap, singles, parts)
        self._by_singles[singles] = tried
        self.tried.append(tried)
        self.tests += 1
        return tried

    def _is_new(self, holds: NDArray[np.bool_]) -> bool:
        count = int(np.count_nonzero(holds))
        if min(count, len(holds) - count) < self._settings.least_positions:
            return False
        same = np.packbits(holds).tobytes()
        if same in self._seen:
            return False
        self._seen.add(same)
        return True

    def _strongest(self, level: Iterable[Tried]) -> list[Tried]:
        """The most significant conditions that improve on their parts, without near-duplicates."""
        beam: list[Tried] = []
        for each in sorted(level, key=lambda tried: tried.p_value):
            if len(beam) == self._settings.beam:
                break
            kind = min(KINDS, key=lambda kind: each.gap.departure(kind).p_value)
            parts = self._parts(each.singles)
            if all(each.strength(kind) > part.strength(kind) for part in parts) and not any(
                is_alike(each, kind, other, kind) for other in beam
            ):
                beam.append(each)
        return beam

    def _refinements(self, parent: Tried) -> list[Tried]:
        """Measure the conjunctions of a condition with single ones on other columns.

        Only those that may depart further than their parts are measured.
        """
        rows = np.flatnonzero(parent.condition.holds)
        residuals = np.stack([self._residuals[kind][rows] for kind in KINDS])
        columns = np.concatenate([residuals, self._weight[None, rows], residuals[:1] ** 2])
        refined = []
        for each in self.singles:
            own = parent.singles | each.singles
            if own in self._by_singles or parent.condition.columns & each.condition.columns:
                continue
            held = each.condition.holds[rows]
            count = int(np.count_nonzero(held))
            if not self._settings.least_positions <= count < len(rows):
                continue
            sums = columns @ held
            parts = (parent, each)
            if not self._may_say_more(sums, parts):
                self.tests += 1
                continue
            both = parent.condition & each.condition
            if measured := self._measured(both, own, (*parent.parts, *each.parts)):
                refined.append(measured)
        return refined

    def _may_say_more(self, sums: Reals, parts: Sequence[Tried]) -> bool:
        """Whether an effect can exceed that of all parts.

        Half of the confident distance counts, for independent positions: those of one game agree,
        which makes the real error larger.
        """
        weight, squares = float(sums[-2]), float(sums[-1])
        reach = _IMPROVES / 2 * math.sqrt(squares) / weight
        return any(
            abs(float(total)) / weight - reach >= max(abs(part.effect(kind)) for part in parts)
            for kind, total in zip(KINDS, sums, strict=False)
        )

    @cached_property
    def _residuals(self) -> Mapping[Kind, Reals]:
        return {kind: self.equals.residuals(kind) for kind in KINDS}

    @cached_property
    def _weight(self) -> Reals:
        return self.equals.sample.weight.astype(np.float64)


def adjusted(p_values: Sequence[float], tests: int | None = None) -> Reals:
    """Compute Benjamini and Hochberg's adjusted p-values, in the order of the input.

    `tests` is the number of possible tests, if larger; the others count as not significant.

    >>> adjusted([0.01, 0.04, 0.03, 0.5]).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    number = len(p) if tests is None else max(tests, len(p))
    ranked = p[order] * number / np.arange(1, len(p) + 1)
    q = np.minimum.accumulate(ranked[::-1])[::-1]
    adjusted_values = np.empty(len(p))
    adjusted_values[order] = np.minimum(q, 1)
    return adjusted_values


def adjusted_for_dependence(p_values: Sequence[float]) -> Reals:
    """Compute Benjamini and Yekutieli's adjusted p-values, valid for tests with any dependence.

    >>> adjusted_for_dependence([0.01, 0.04, 0.03, 0.5]).round(3).tolist()
    [0.083, 0.111, 0.111, 1.0]
    """
    harmonic = float((1 / np.arange(1, len(p_values) + 1)).sum())
    return np.minimum(adjusted(p_values) * harmonic, 1)


def is_alike(one: Tried, kind: Kind, other: Tried, other_kind: Kind) -> bool:
    """Whether two conditions are near-duplicates."""
    if one.condition is other.condition:
        return True
    a, b = one.condition.holds, other.condition.holds
    both, either = int(np.count_nonzero(a & b)), int(np.count_nonzero(a | b))
    if kind != other_kind:
        return both >= _OVERLAP * either
    smaller = min(one.gap.positions, other.gap.positions)
    same_sign = one.effect(kind) * other.effect(kind) > 0
    if one.condition.columns == other.condition.columns and same_sign:
        return both > _SAME_COLUMNS * smaller  # other cuts of the same columns
    opposite = smaller > 0 and either - both >= 0.95 * len(a)
    return opposite or (same_sign and both >= _OVERLAP * either)


def is_explained(equals: Equals, one: Condition, other: Condition, kind: Kind) -> bool:
    """Whether little of one condition's effect remains if another condition is held equal."""
    a, b = _minority(one), _minority(other)
    if _overlap(a, b) < _SAME_COLUMNS:
        return False
    plain, error = equals.coefficient(a, kind)
    left, left_error = equals.coefficient(a, kind, given=b)
    share = left / plain if plain else 0.0
    zero_inside = not abs(left) > _WIDE * left_error
    return share < _LITTLE or (
        zero_inside and (share < _LITTLE_OR_ZERO or left_error > _BLURRED * error)
    )


def are_degrees(equals: Equals, one: Condition, other: Condition, kind: Kind) -> bool:
    """Whether nested conditions are degrees of one finding: they share a part of the effect."""
    a, b = _minority(one), _minority(other)
    if _overlap(a, b) < _NESTED:
        return False
    of_a, _ = equals.coefficient(a, kind)
    of_b, _ = equals.coefficient(b, kind)
    left_of_a, _ = equals.coefficient(a, kind, given=b)
    left_of_b, _ = equals.coefficient(b, kind, given=a)
    same_sign = of_a * of_b > 0
    return same_sign and (left_of_a / of_a < _SHARED or left_of_b / of_b < _SHARED)


def _minority(condition: Condition) -> NDArray[np.bool_]:
    """The positions that meet a condition; of most positions, those that do not: one finding."""
    holds = condition.holds
    return ~holds if int(np.count_nonzero(holds)) > _MOST * len(holds) else holds


def _overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Share of the smaller set that is in both."""
    smaller = min(int(np.count_nonzero(each)) for each in (a, b))
    return int(np.count_nonzero(a & b)) / max(smaller, 1)
