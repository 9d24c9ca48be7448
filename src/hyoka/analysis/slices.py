# SPDX-License-Identifier: Apache-2.0
"""Slice discovery: conditions under which an evaluator is biased."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.conditions import Condition, conditions
from hyoka.analysis.gaps import (
    KINDS,
    LEAST_POSITIONS,
    ConditionGap,
    Departure,
    Distance,
    Equals,
    Kind,
    named_gap,
)
from hyoka.analysis.sample import Reals, Resampling, Sample, probability_text
from hyoka.foundation.math import Estimate
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.storage.result import COUNT, NUMBER, TEXT, Columns, Coverage, Result, table_of

_LEAST_LEFT: Final = 0.5
"""Minimum remaining share of an effect; below it, the control explains the effect."""
_BLURRED: Final = 3.0
"""Error ratio from which a condition and a control coincide."""


@dataclass(frozen=True, eq=False)
class Control:
    """A property of positions that may explain a slice: one stratum number per position."""

    name: str
    """Name in sentences, such as `the comment author`."""
    strata: NDArray[np.int64]
    columns: frozenset[str] = frozenset()
    """Its source columns. It explains no condition on these alone."""

    def where(self, chosen: NDArray[Any]) -> "Control":
        """The control for a subset of the positions."""
        return replace(self, strata=self.strata[chosen])

    def is_about(self, condition: Condition) -> bool:
        """Whether a condition depends on the control's columns only."""
        return all(self.columns & set(re.findall(r"\w+", name)) for name in condition.columns)


@dataclass(frozen=True, eq=False)
class Held:
    """A sample whose positions are compared within the strata of a control only."""

    control: Control
    equals: Equals
    """Equal positions with the control."""
    otherwise: Equals
    """Equal positions without the control."""

    @classmethod
    def of(cls, control: Control, otherwise: Equals) -> "Held":
        """Add a control to a comparison."""
        return cls(control, otherwise.where_also(control.strata), otherwise)

    def left(self, holds: NDArray[np.bool_], kind: Kind) -> Departure:
        """The remaining effect of a condition, on the scale of the original effect.

        Within strata a condition may hold for most equal positions, which shrinks the gap.
        """
        departure = self.equals.gap(holds).departure(kind)
        contrast = self.equals.contrast(holds)
        if not contrast > 0:
            return departure
        times = self.otherwise.contrast(holds) / contrast
        effect = departure.effect
        scaled = Estimate(times * effect.value, times * effect.low, times * effect.high)
        return replace(departure, effect=scaled, error=times * departure.error)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An alternative explanation of a slice."""

    control: str
    left: Departure
    """The remaining effect with the control held equal."""

    @property
    def sentence(self) -> str:
        """The explanation in a sentence."""
        effect = self.left.effect
        if math.isnan(effect.low):
            return f"It cannot be distinguished from {self.control}."
        return (
            f"Explained by {self.control}: with it held equal, the effect is "
            f"{100 * effect.value:+.1f} percentage points "
            f"({100 * effect.low:+.1f} to {100 * effect.high:+.1f})."
        )


def explaining(effect: Departure, condition: Condition, helds: Sequence[Held]) -> Held | None:
    """Find the first control that explains a condition's effect."""
    for held in helds:
        if held.control.is_about(condition):
            continue
        left = held.left(condition.holds, effect.kind)
        zero_inside = not (left.effect.low > 0 or left.effect.high < 0)
        little = abs(left.effect.value) < _LEAST_LEFT * abs(effect.effect.value)
        turned = left.effect.value * effect.effect.value < 0
        blurred = not left.error < _BLURRED * effect.error
        if turned or (zero_inside and (little or blurred)):
            return held
    return None


_PAIRED: Final = 12
"""Number of the strongest conditions that are tried in pairs."""
_MOST_EXPLAINED: Final = 3
"""Maximum number of listed slices that a control explains."""
_OVERLAP: Final = 0.8
"""Overlap of two conditions from which they are near-duplicates."""
_CONFIDENT: Final = 3.0
"""Standard errors below an estimate of the lower bound that ranks slices and compares pairs."""


@dataclass(frozen=True, eq=False)
class Slice:
    """A condition under which the evaluator is biased."""

    evaluator: str
    condition: Condition
    departure: Departure
    """The stronger of the two departures, with an interval corrected for selection."""
    gap: ConditionGap
    q_value: float
    """Lowest false-discovery rate at which the slice is listed."""
    distance: Distance | None = None
    first_player: str = "the first player"
    explanation: Explanation | None = None
    """An alternative explanation, if there is one."""

    @property
    def effect(self) -> Estimate:
        """Effect in win probability."""
        return self.departure.effect

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes zero and no control explains the effect."""
        excluded = self.effect.low > 0 or self.effect.high < 0
        return excluded and self.explanation is None

    @property
    def verdict(self) -> str:
        """The bias in a few words."""
        value = self.effect.value
        if self.departure.kind == "level":
            return f"{'underestimates' if value > 0 else 'overestimates'} {self.first_player}"
        return "is overconfident" if value < 0 else "is underconfident"

    @property
    def sentence(self) -> str:
        """The slice in a sentence."""
        who = self.first_player if self.departure.kind == "level" else "the side it favors"
        more = "more" if self.effect.value > 0 else "less"
        text = (
            f"{self.evaluator} {self.verdict} when {self.condition.words}: {who} wins "
            f"{abs(100 * self.effect.value):.1f} percentage points {more} often than the overall "
            f"curve predicts{self._interval}."
        )
        return text if self.explanation is None else f"{text} {self.explanation.sentence}"

    @property
    def _interval(self) -> str:
        """The interval as text, negated for effects below zero."""
        effect = self.effect if self.effect.value > 0 else -self.effect
        if math.isnan(effect.low):
            return ""
        text = f" ({100 * effect.low:.1f} to {100 * effect.high:.1f})"
        return text if effect.low > 0 else f"{text}, not significant"


@dataclass(frozen=True, repr=False)
class Slices(Result):
    """The slices where an evaluator is most biased, the largest bias first."""

    drawn_by = "slice_dots"

    evaluator: str
    slices: tuple[Slice, ...]
    tried: int
    """Number of tested conditions with enough games."""
    false_discovery_rate: float
    positions: int
    games: int
    controls: tuple[str, ...] = ()
    """The controls that were tested as explanations."""
    held_equal: str = ""
    """Name of the control that was held equal for all conditions."""
    caveats: tuple[str, ...] = ()
    """Caveats about the evaluator."""
    coverage: Coverage | None = None

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, index: int) -> Slice:
        return self.slices[index]

    @property
    def title(self) -> str:
        """One-line title."""
        count = f"{len(self.slices)} of {self.tried} conditions"
        equal = f", with {self.held_equal} held equal" if self.held_equal else ""
        return f"Biased slices of {self.evaluator}: {count}{equal}"

    def table(self) -> pa.Table:
        """One row per slice, the largest bias first."""
        return table_of(_COLUMNS, self.slices)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        explained = any(each.explanation for each in self.slices)
        heading = ("slice", "bias", "effect", "q", "positions", "games")
        rows = [
            (
                each.condition.words,
                each.verdict,
                each.effect.text("+.3f"),
                probability_text(each.q_value),
                f"{each.gap.positions:,}",
                f"{each.gap.games:,}",
                *((each.explanation.control if each.explanation else "",) if explained else ()),
            )
            for each in self.slices
        ]
        return ((*heading, *(("explained by",) if explained else ())), *rows)

    def notes(self) -> tuple[str, ...]:
        """Notes below the table."""
        if not self.slices:
            return (
                *self.caveats,
                f"None of {self.tried} conditions has a significant gap "
                f"(false-discovery rate {self.false_discovery_rate:.0%}).",
            )
        equal = f" with {self.held_equal} held equal" if self.held_equal else ""
        explained = (
            "Slices explained by a confounder are not findings: with it held equal, little of the "
            "effect remains."
        )
        return (
            *self.caveats,
            *((explained,) if any(each.explanation for each in self.slices) else ()),
            f"Effect: win probability minus the overall curve's at equal values{equal}. Intervals "
            "are corrected for selection; the false-discovery rate is at most "
            f"{self.false_discovery_rate:.0%}.",
        )


_COLUMNS: Final[Columns[Slice]] = {
    "evaluator": (TEXT, lambda each: each.evaluator),
    "condition": (TEXT, lambda each: each.condition.sql),
    "kind": (TEXT, lambda each: each.departure.kind),
    "verdict": (TEXT, lambda each: each.verdict),
    "effect": (NUMBER, lambda each: each.effect.value),
    "low": (NUMBER, lambda each: each.effect.low),
    "high": (NUMBER, lambda each: each.effect.high),
    "p_value": (NUMBER, lambda each: each.departure.p_value),
    "q_value": (NUMBER, lambda each: each.q_value),
    "level": (NUMBER, lambda each: each.gap.level.effect.value),
    "lean": (NUMBER, lambda each: each.gap.lean.effect.value),
    "signed_area": (NUMBER, lambda each: each.distance and each.distance.signed_area),
    "largest_gap": (NUMBER, lambda each: each.distance and each.distance.largest_gap),
    "largest_gap_at": (NUMBER, lambda each: each.distance and each.distance.at),
    "largest_gap_p": (NUMBER, lambda each: each.distance and each.distance.p_value),
    "explained_by": (TEXT, lambda each: each.explanation and each.explanation.control),
    "remaining": (NUMBER, lambda each: each.explanation and each.explanation.left.effect.value),
    "positions": (COUNT, lambda each: each.gap.positions),
    "games": (COUNT, lambda each: each.gap.games),
}


@dataclass(frozen=True, eq=False)
class _Tried:
    condition: Condition
    gap: ConditionGap

    def strength(self, kind: Kind) -> float:
        """Lower bound of the absolute effect, `_CONFIDENT` standard errors below the estimate."""
        departure = self.gap.departure(kind)
        return abs(departure.effect.value) - _CONFIDENT * departure.error


@dataclass(frozen=True, eq=False)
class _Passed:
    tried: _Tried
    kind: Kind
    q_value: float
    explanation: Explanation | None


@dataclass(frozen=True, kw_only=True)
class SliceSettings:
    """Options of slice discovery."""

    top: int = option(10, "Maximum number of listed slices.", min=1)
    pairs: bool = option(True, "Also test pairs of the strongest conditions.")
    false_discovery_rate: float = option(
        0.05, "False discovery rate.", name="fdr", above=0, max=0.9
    )
    least_effect: float = option(0.01, "Minimum effect on the win probability.", min=0)
    least_games: int = option(30, "Minimum number of games in a slice.", min=1)
    least_positions: int = option(
        LEAST_POSITIONS, "Minimum number of positions inside and outside of a slice.", min=1
    )

    def __post_init__(self) -> None:
        check_options(self)


def find_slices(
    sample: Sample,
    columns: Mapping[str, NDArray[Any]],
    settings: SliceSettings | None = None,
    *,
    words: Mapping[str, str] | None = None,
    controls: Sequence[Control] = (),
    held_equal: Control | None = None,
    resampling: Resampling | None = None,
    progress: OnProgress | None = None,
) -> Slices:
    """Search columns for the slices where the evaluator is most biased.

    Candidates are levels, ranges between quantiles, and pairs of the strongest conditions, each
    with enough positions and games that meet it and that do not. The result lists those that are
    significant after correction for all tests and have a large enough effect, without
    near-duplicates, sorted by the lower bound of the effect. `words` names boolean columns.
    A few slices that one of the `controls` explains come last. With `held_equal`, conditions are
    compared within its strata only, and those on its own columns are not tried.
    """
    settings = settings or SliceSettings()
    false_discovery_rate, pairs = settings.false_discovery_rate, settings.pairs
    equals = Equals(sample, None if held_equal is None else held_equal.strata)
    search = _Search(equals, settings, progress)
    candidates = [
        each
        for each in conditions(columns, words)
        if held_equal is None or not held_equal.is_about(each)
    ]
    singles = search.run(f"slices of {sample.name}", candidates)
    both = search.run(f"slices of {sample.name}, pairs", _pairs(singles)) if pairs else []
    tests = _tested(singles, len(singles)) + _tested(both, len(singles) * (len(singles) - 1) // 2)
    passed = [
        (each, kind, q)
        for each, kind, q in tests
        if q <= false_discovery_rate
        and abs(each.gap.departure(kind).effect.value) >= settings.least_effect
    ]
    passed.sort(key=lambda test: -test[0].strength(test[1]))
    # r of m tests are selected; this level controls the false coverage rate of their intervals.
    possible = 2 * (len(singles) + (len(singles) * (len(singles) - 1) // 2 if pairs else 0))
    confidence = 1 - false_discovery_rate * max(len(passed), 1) / max(possible, len(tests), 1)
    own: list[_Passed] = []
    explained: list[_Passed] = []
    parents = {each.condition.sql: each for each in singles}
    elsewhere = _Elsewhere([Held.of(control, equals) for control in controls])
    elsewhere.look_at((each, kind) for each, kind, _ in passed if not each.condition.parts)
    for each, kind, q in passed:
        if len(own) >= settings.top:
            break
        if not _says_more(each, kind, parents):
            continue
        why = elsewhere.explanation(each, kind)
        chosen = own if why is None else explained
        if not any(_alike(each, kind, other) for other in chosen):
            chosen.append(_Passed(each, kind, q, why))
    slices = tuple(
        _slice(equals, each, confidence, resampling)
        for each in (*own, *explained[:_MOST_EXPLAINED])
    )
    return Slices(
        sample.name,
        slices,
        len(singles) + len(both),
        false_discovery_rate,
        len(sample),
        len(np.unique(sample.games)),
        tuple(control.name for control in controls),
        "" if held_equal is None else held_equal.name,
    )


class _Elsewhere:
    """Explanations of conditions; a pair inherits the explanations of its parts."""

    def __init__(self, helds: Sequence[Held]) -> None:
        self._helds = helds
        self._of_singles: dict[tuple[str, Kind], Held] = {}

    def look_at(self, singles: Iterable[tuple[_Tried, Kind]]) -> None:
        """Store the explanations of single conditions."""
        for each, kind in singles:
            held = explaining(each.gap.departure(kind), each.condition, self._helds)
            if held is not None:
                self._of_singles[each.condition.sql, kind] = held

    def explanation(self, each: _Tried, kind: Kind) -> Explanation | None:
        """The explanation of a condition, if there is one."""
        condition = each.condition
        held = self._of_singles.get((condition.sql, kind))
        if condition.parts:
            keys = ((name, of) for name in condition.parts for of in KINDS)
            held = next((h for key in keys if (h := self._of_singles.get(key))), None)
            if held is None:
                held = explaining(each.gap.departure(kind), condition, self._helds)
        if held is None:
            return None
        return Explanation(held.control.name, held.left(condition.holds, kind))


def _tested(tried: Sequence[_Tried], possible: int) -> list[tuple[_Tried, Kind, float]]:
    """Compute the q-values of conditions and kinds, over all possible tests.

    Single conditions and pairs are two families, each with half of the false-discovery rate.
    """
    tests = [(each, kind) for each in tried for kind in KINDS]
    p_values = [each.gap.departure(kind).p_value for each, kind in tests]
    q_values = adjusted(p_values, len(KINDS) * max(possible, len(tried)))
    return [
        (each, kind, min(2 * q, 1.0))
        for (each, kind), q in zip(tests, q_values.tolist(), strict=True)
    ]


class _Search:
    """Measures the conditions with enough positions and games."""

    def __init__(
        self, equals: Equals, settings: SliceSettings, progress: OnProgress | None
    ) -> None:
        self._equals = equals
        self._settings = settings
        self._progress = progress
        self._seen: set[bytes] = set()

    def run(self, what: str, candidates: Sequence[Condition]) -> list[_Tried]:
        tried = []
        tally = Tally(self._progress, what, len(candidates), "conditions")
        for condition in candidates:
            if self._worth_trying(condition.holds):
                gap = self._equals.gap(condition.holds)
                if gap.games >= self._settings.least_games:
                    tried.append(_Tried(condition, gap))
            tally.add()
        return tried

    def _worth_trying(self, holds: NDArray[np.bool_]) -> bool:
        count = int(holds.sum())
        if min(count, len(holds) - count) < self._settings.least_positions:
            return False
        same = np.packbits(holds).tobytes()
        if same in self._seen:
            return False
        self._seen.add(same)
        return True


def _pairs(singles: Sequence[_Tried]) -> list[Condition]:
    """Conjunctions of two strong conditions on different columns."""

    def significance(each: _Tried) -> float:
        return min(each.gap.level.p_value, each.gap.lean.p_value)

    strong = sorted(singles, key=significance)[:_PAIRED]
    return [
        one.condition & other.condition
        for i, one in enumerate(strong)
        for other in strong[i + 1 :]
        if not one.condition.columns & other.condition.columns
    ]


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


def _says_more(each: _Tried, kind: Kind, parents: Mapping[str, _Tried]) -> bool:
    """Whether a pair departs further than its parts; always true for single conditions."""
    parts = [parents[sql] for sql in each.condition.parts if sql in parents]
    departure = each.gap.departure(kind)
    lower_bound = abs(departure.effect.value) - _CONFIDENT * departure.error
    return all(lower_bound >= abs(parent.gap.departure(kind).effect.value) for parent in parts)


def _alike(each: _Tried, kind: Kind, listed: _Passed) -> bool:
    """Whether a condition is a near-duplicate of a listed one."""
    other, other_kind = listed.tried, listed.kind
    if kind != other_kind:
        return each.condition is other.condition
    one, two = each.condition.holds, other.condition.holds
    both, either = int((one & two).sum()), int((one | two).sum())
    smaller = min(int(one.sum()), int(two.sum()))
    same_sign = (each.gap.departure(kind).effect.value > 0) == (
        other.gap.departure(kind).effect.value > 0
    )
    if each.condition.columns == other.condition.columns and same_sign:
        return both > 0.5 * smaller  # other cuts of the same column
    opposite = smaller > 0 and int((one ^ two).sum()) >= 0.95 * len(one)
    return opposite or (same_sign and both >= _OVERLAP * either)


def _slice(
    equals: Equals, passed: _Passed, confidence: float, resampling: Resampling | None
) -> Slice:
    resampling = replace(resampling or Resampling(resamples=200), confidence=confidence)
    condition = passed.tried.condition
    named = named_gap(equals, condition.words, condition.holds, resampling=resampling)
    return Slice(
        equals.sample.name,
        condition,
        named.gap.departure(passed.kind),
        named.gap,
        passed.q_value,
        named.distance,
        equals.sample.first_player,
        passed.explanation,
    )
