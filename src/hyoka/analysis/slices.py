# SPDX-License-Identifier: Apache-2.0
"""Slice discovery: conditions under which an evaluator is biased."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.conditions import Condition, conditions
from hyoka.analysis.gaps import KINDS, ConditionGap, Departure, Distance, Equals, Kind, named_gap
from hyoka.analysis.sample import VALUE, Reals, Resampling, Sample, probability_text
from hyoka.analysis.slice_search import (
    BeamSearch,
    SliceSettings,
    Tried,
    adjusted,
    adjusted_for_dependence,
    are_degrees,
    is_alike,
    is_explained,
)
from hyoka.foundation.math import Estimate, logistic
from hyoka.foundation.progress import OnProgress
from hyoka.foundation.text import counted
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


_MOST_EXPLAINED: Final = 3
"""Maximum number of listed slices that a control explains."""
_LEAST_GAMES: Final = 100
"""Minimum number of searched and of held-out games; with fewer, all games are searched."""
_CANDIDATES: Final = 2
"""Candidates tested on held-out games, as a multiple of the slices to list."""
_SUGGESTIVE: Final = 0.01
"""P-value in the searched games from which a condition is a candidate."""
_MOST_COMPARED: Final = 150
"""Maximum number of conditions that are compared with the candidates before them."""
_ELO: Final = 400 / math.log(10)
"""Elo per unit of log-odds."""
_SHOWN: Final = 3
"""Folded conditions named in text; tables have all."""


@dataclass(frozen=True, slots=True)
class Impact:
    """The effect of a slice on other scales."""

    elo: Estimate
    """Shift of the log-odds in the slice, times 400 / ln 10."""
    shift: Estimate
    """Shift of scores with the same effect on the fitted curve; NaN for values."""
    loss_share: Estimate
    """Share of the overall curve's Brier loss that one term for the condition removes."""

    @classmethod
    def of(cls, equals: Equals, holds: NDArray[np.bool_], departure: Departure) -> "Impact":
        """Convert the effect of a condition on the positions of a sample."""
        sample, effect = equals.sample, departure.effect
        weight = sample.weight[holds].astype(np.float64)
        expected = equals.expected[holds]
        of_sign = np.where(equals.sign(departure.kind)[holds] > 0, expected, 1 - expected)
        chances, places = np.unique(of_sign, return_inverse=True)
        counts = np.asarray(np.bincount(places, weight), dtype=np.float64)
        slope = _mean_slope(sample, holds)
        elo = [_ELO * _log_odds_shift(chances, counts, each) for each in _ends(effect)]
        removed = float(weight.sum()) / (max(equals.contrast(holds), 1e-300) * equals.loss)
        near, far = sorted(map(abs, _ends(effect)[1:]))
        squares = (
            # Without the part that the effect's own error contributes.
            max(effect.value**2 - departure.error**2, 0.0),
            0.0 if effect.low <= 0 <= effect.high else near**2,
            far**2,
        )
        return cls(
            Estimate(*elo),
            Estimate(*(each / slope if slope > 0 else math.nan for each in _ends(effect))),
            Estimate(*(min(removed * square, 1.0) for square in squares)),
        )


def _ends(effect: Estimate) -> tuple[float, float, float]:
    return effect.value, effect.low, effect.high


def _mean_slope(sample: Sample, holds: NDArray[np.bool_]) -> float:
    """Mean slope of the fitted curve of scores over a slice; NaN for values or without a fit."""
    if sample.unit == VALUE:
        return math.nan
    fit, link = sample.fitted
    scores = sample.values[holds].astype(np.float64)
    chances = logistic(fit.intercept + fit.slope * link(scores))
    # The derivative of the link; clipped scores and mates do not move.
    with np.errstate(invalid="ignore"):
        bent = 1 / np.sqrt(1 + (scores / link.bend) ** 2)
    moves = np.isfinite(scores) & (np.abs(scores) < link.limit)
    slopes = np.where(moves, fit.slope * chances * (1 - chances) * bent, 0.0)
    return float(np.average(slopes, weights=sample.weight[holds]))


def _log_odds_shift(chances: Reals, counts: Reals, effect: float) -> float:
    """The common shift of log-odds that changes the mean of probabilities by an effect.

    >>> round(_log_odds_shift(np.array([0.5]), np.array([1.0]), 0.14), 3)
    0.575
    """
    if math.isnan(effect):
        return math.nan
    inside = np.clip(chances, 1e-9, 1 - 1e-9)
    log_odds = np.log(inside / (1 - inside))
    target = float(np.average(inside, weights=counts)) + effect
    if not 0 < target < 1:
        return math.copysign(math.inf, effect)
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        below = float(np.average(logistic(log_odds + middle), weights=counts)) < target
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, eq=False)
class Slice:
    """A condition under which the evaluator is biased."""

    evaluator: str
    condition: Condition
    departure: Departure
    """The stronger of the two departures: in the held-out games or, without these, in all games
    with an interval corrected for selection."""
    gap: ConditionGap
    """Both departures in all games."""
    q_value: float
    """Lowest false-discovery rate at which the slice is listed."""
    distance: Distance | None = None
    first_player: str = "the first player"
    explanation: Explanation | None = None
    """An alternative explanation, if there is one."""
    also: tuple[Condition, ...] = ()
    """Conditions with the same finding: near-duplicates, or with no effect beyond this slice."""
    impact: Impact | None = None
    searched: Estimate | None = None
    """The effect in the searched games, which selected the slice; None without held-out games."""
    held_out_games: int = 0
    """Held-out games in the slice."""

    @property
    def effect(self) -> Estimate:
        """Effect in win probability."""
        return self.departure.effect

    @property
    def share(self) -> float:
        """Share of all positions."""
        return self.gap.positions / max(len(self.condition.holds), 1)

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
    def also_text(self) -> str:
        """The conditions on other columns with the same finding, in words; empty without any."""
        named: dict[frozenset[str], str] = {self.condition.columns: ""}
        for each in self.also:
            named.setdefault(each.columns, each.words)
        others = [words for words in named.values() if words]
        rest = len(others) - _SHOWN
        return ", ".join([*others[:_SHOWN], *([f"{rest} more"] if rest > 0 else [])])

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
    """Number of tested conditions with enough positions and games."""
    false_discovery_rate: float
    positions: int
    games: int
    unit: str = VALUE
    """Unit of the evaluations."""
    candidates: int = 0
    """Number of conditions that were tested on the held-out games."""
    confirmed: int = 0
    """Number of these that the held-out games confirm."""
    held_out_games: int = 0
    """Number of held-out games; 0 if all games were searched."""
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
        return table_of(_COLUMNS, self.slices).append_column(
            "unit", pa.array([self.unit] * len(self.slices), TEXT)
        )

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        explained = any(each.explanation for each in self.slices)
        scored = self.unit != VALUE
        heading = (
            "slice", "bias", "effect in pp", *((f"in {self.unit}",) if scored else ()), "in Elo",
            "of loss", "q", "positions", "games", *(("explained by",) if explained else ()),
        )  # fmt: skip
        rows = []
        for each in self.slices:
            also, impact = each.also_text, each.impact
            rows.append(
                (
                    f"{each.condition.words} (also: {also})" if also else each.condition.words,
                    each.verdict,
                    _points(each.effect).text("+.1f"),
                    *((impact.shift.text("+.3g") if impact else "",) if scored else ()),
                    impact.elo.text("+.0f") if impact else "",
                    loss_text(impact.loss_share) if impact else "",
                    probability_text(each.q_value),
                    f"{each.gap.positions:,} ({each.share:.1%})",
                    f"{each.gap.games:,}",
                    *((each.explanation.control if each.explanation else "",) if explained else ()),
                )
            )
        return (heading, *rows)

    @property
    def search_note(self) -> str:
        """How many conditions were tried and confirmed, and on which games."""
        tried = f"{self.evaluator}: {counted(self.tried, 'condition')}"
        if not self.held_out_games:
            return (
                f"{tried} tried on all {self.games:,} games, none held out: tests and intervals "
                "are corrected for selection."
            )
        listed = f" ({len(self):,} listed)" if len(self) != self.confirmed else ""
        return (
            f"{tried} tried on {self.games - self.held_out_games:,} games; "
            f"{counted(self.candidates, 'candidate')} tested on {self.held_out_games:,} held-out "
            f"games, {self.confirmed:,} confirmed{listed}. Not confirmed is not absent."
        )

    def notes(self) -> tuple[str, ...]:
        """Notes below the table."""
        rate = f"{self.false_discovery_rate:.0%}"
        if not self.slices:
            return (
                *self.caveats,
                f"None of {self.tried} conditions has a significant gap "
                f"(false-discovery rate {rate}).",
                self.search_note,
            )
        equal = f" with {self.held_equal} held equal" if self.held_equal else ""
        explained = (
            "Slices explained by a confounder are not findings: with it held equal, little of the "
            "effect remains."
        )
        confirmed = " in the held-out games" if self.held_out_games else ""
        scored = f"{self.unit} and Elo" if self.unit != VALUE else "Elo"
        return (
            *self.caveats,
            *((explained,) if any(each.explanation for each in self.slices) else ()),
            self.search_note,
            "Effect: percentage points (pp) of win probability beyond the overall curve's at equal "
            f"values{equal}{confirmed}, also in {scored}; the false-discovery rate is at most "
            f"{rate}.",
            "Of loss: share of the overall curve's Brier loss that correcting the slice removes.",
        )


def _points(effect: Estimate) -> Estimate:
    """A difference of probabilities in percentage points."""
    return Estimate(*(100 * each for each in _ends(effect)))


def loss_text(share: Estimate) -> str:
    """Format a share of the loss.

    >>> loss_text(Estimate(0.00412, 0.0009, 0.0121))
    '0.41% (0.09 to 1.2)'
    """
    percent = _points(share)
    if math.isnan(percent.low):
        return f"{percent.value:.2g}%"
    return f"{percent.value:.2g}% ({percent.low:.2g} to {percent.high:.2g})"


def _impact_columns(name: str) -> Columns[Slice]:
    """The columns of an estimate of the impact and its interval."""

    def end(of: str) -> Callable[[Slice], object]:
        return lambda each: None if each.impact is None else getattr(getattr(each.impact, name), of)

    ends = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
    return {column: (NUMBER, end(of)) for column, of in ends.items()}


_COLUMNS: Final[Columns[Slice]] = {
    "evaluator": (TEXT, lambda each: each.evaluator),
    "condition": (TEXT, lambda each: each.condition.sql),
    "also": (TEXT, lambda each: "; ".join(other.sql for other in each.also) or None),
    "kind": (TEXT, lambda each: each.departure.kind),
    "verdict": (TEXT, lambda each: each.verdict),
    "effect": (NUMBER, lambda each: each.effect.value),
    "low": (NUMBER, lambda each: each.effect.low),
    "high": (NUMBER, lambda each: each.effect.high),
    "p_value": (NUMBER, lambda each: each.departure.p_value),
    "q_value": (NUMBER, lambda each: each.q_value),
    **_impact_columns("elo"),
    **_impact_columns("shift"),
    **_impact_columns("loss_share"),
    "searched_effect": (NUMBER, lambda each: each.searched and each.searched.value),
    "level": (NUMBER, lambda each: each.gap.level.effect.value),
    "lean": (NUMBER, lambda each: each.gap.lean.effect.value),
    "signed_area": (NUMBER, lambda each: each.distance and each.distance.signed_area),
    "largest_gap": (NUMBER, lambda each: each.distance and each.distance.largest_gap),
    "largest_gap_at": (NUMBER, lambda each: each.distance and each.distance.at),
    "largest_gap_p": (NUMBER, lambda each: each.distance and each.distance.p_value),
    "explained_by": (TEXT, lambda each: each.explanation and each.explanation.control),
    "remaining": (NUMBER, lambda each: each.explanation and each.explanation.left.effect.value),
    "positions": (COUNT, lambda each: each.gap.positions),
    "position_share": (NUMBER, lambda each: each.share),
    "games": (COUNT, lambda each: each.gap.games),
    "held_out_games": (COUNT, lambda each: each.held_out_games),
}


@dataclass(frozen=True)
class _Test:
    """A departure of a condition that is strong enough in the searched games."""

    tried: Tried
    kind: Kind
    q_value: float


@dataclass(eq=False)
class _Candidate:
    """A finding of the search, with the conditions that say the same."""

    test: _Test
    control: int | None
    """Index of the control that explains it."""
    also: list[Tried] = field(default_factory=list)


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

    A beam search starts with levels and ranges between quantiles, and refines the strongest by
    further conditions. It sees a part of the games. Its distinct findings are tested on the other,
    held-out games, from which effects, intervals and p-values come; the result lists those that
    pass at the false-discovery rate, sorted by the lower bound of the effect in the search. With
    few games, all are searched, and tests and intervals are corrected for selection.

    `words` names boolean columns. A few slices that one of the `controls` explains come last. With
    `held_equal`, conditions are compared within its strata only, and those on its own columns are
    not tried. The seed of `resampling` divides the games.
    """
    settings = settings or SliceSettings()
    resampling = resampling or Resampling(resamples=200)
    equals = Equals(sample, None if held_equal is None else held_equal.strata)
    held_out = _held_out(sample, settings.hold_out, resampling.seed)
    searched = np.ones(len(sample), bool) if held_out is None else ~held_out

    def candidates() -> Iterator[Condition]:
        for each in conditions(columns, words):
            if held_equal is None or not held_equal.is_about(each):
                yield each

    search = BeamSearch(equals if held_out is None else equals.where(searched), settings, progress)
    search.run([replace(each, holds=each.holds[searched]) for each in candidates()])
    tests = _tests(search, settings, corrected=held_out is None)
    helds = [Held.of(control.where(searched), search.equals) for control in controls]
    chosen = _Findings(search, tests, helds).distinct(_CANDIDATES * settings.top)
    listing = _Listing(equals, held_out, controls, resampling)
    if held_out is None:
        confidences = _confidences(search, tests, settings)
        slices = [listing.corrected(each, confidences[each.test.tried.depth]) for each in chosen]
    else:
        needed = {name for each in chosen for name in _names_in(each)}
        whole = {each.sql: each for each in candidates() if each.sql in needed}
        slices = listing.confirmed(chosen, whole, settings.false_discovery_rate)
    passed = len(slices)
    slices = listing.merged(slices)
    own = [each for each in slices if each.explanation is None][: settings.top]
    explained = [each for each in slices if each.explanation is not None][:_MOST_EXPLAINED]
    return Slices(
        sample.name,
        (*own, *explained),
        search.tests,
        settings.false_discovery_rate,
        len(sample),
        len(np.unique(sample.games)),
        sample.unit,
        len(chosen),
        passed,
        0 if held_out is None else len(np.unique(sample.games[held_out])),
        tuple(control.name for control in controls),
        "" if held_equal is None else held_equal.name,
    )


def _held_out(sample: Sample, share: float, seed: int) -> NDArray[np.bool_] | None:
    """Positions of randomly drawn held-out games; None with too few games for both parts."""
    games = np.unique(sample.games)
    number = round(share * len(games))
    if min(number, len(games) - number) < _LEAST_GAMES:
        return None
    drawn = np.random.default_rng(seed).permutation(games)[:number]
    apart = np.zeros(int(games.max()) + 1, bool)
    apart[drawn] = True
    return np.asarray(apart[sample.games])


def _tests(search: BeamSearch, settings: SliceSettings, *, corrected: bool) -> list[_Test]:
    """The departures that are large and significant enough, the strongest first.

    Without held-out games, the q-values count all possible tests. The depths are families, each
    with an equal part of the false-discovery rate.
    """
    tests = []
    for depth in range(1, settings.depth + 1):
        family = [(each, kind) for each in search.tried if each.depth == depth for kind in KINDS]
        p_values = [each.gap.departure(kind).p_value for each, kind in family]
        if corrected:
            q_values = settings.depth * adjusted(p_values, len(KINDS) * search.possible(depth))
            passes = q_values <= settings.false_discovery_rate
        else:
            q_values = np.full(len(family), math.nan)
            passes = np.array(p_values) <= _SUGGESTIVE
        tests += [
            _Test(each, kind, q)
            for (each, kind), q, passed in zip(family, q_values.tolist(), passes, strict=True)
            if passed and abs(each.effect(kind)) >= settings.least_effect
        ]
    return sorted(tests, key=lambda test: -test.tried.strength(test.kind))


def _confidences(
    search: BeamSearch, tests: Sequence[_Test], settings: SliceSettings
) -> dict[int, float]:
    """The confidence of intervals by depth that controls the false-coverage rate of the list.

    Benjamini and Yekutieli: if r of m tests are selected, the level is r / m times the rate.
    """
    return {
        depth: 1
        - (settings.false_discovery_rate / settings.depth)
        * max(sum(test.tried.depth == depth for test in tests), 1)
        / max(len(KINDS) * search.possible(depth), 1)
        for depth in range(1, settings.depth + 1)
    }


def _names_in(candidate: _Candidate) -> Iterator[str]:
    """SQL of the single conditions in a candidate and those folded under it."""
    for tried in (candidate.test.tried, *candidate.also):
        yield from tried.parts


class _Findings:
    """The distinct findings of a search, each with the conditions that say the same."""

    def __init__(self, search: BeamSearch, tests: Sequence[_Test], helds: Sequence[Held]) -> None:
        self._search = search
        self._tests = [test for test in tests if search.says_more(test.tried, test.kind)]
        self._passed = {(test.tried.singles, test.kind) for test in tests}
        self._helds = helds
        self._explained_by: dict[tuple[frozenset[int], Kind], int | None] = {}

    def distinct(self, most: int) -> list[_Candidate]:
        """The strongest distinct findings, then a few that a control explains."""
        own: list[_Candidate] = []
        explained: list[_Candidate] = []
        for test in self._tests[:_MOST_COMPARED]:
            if self._is_folded(test, own):
                continue
            control = self._control(test)
            if control is None:
                if not self._replaces(test, own) and len(own) < most:
                    own.append(_Candidate(test, None))
            elif len(explained) < _MOST_EXPLAINED and not self._is_folded(test, explained):
                explained.append(_Candidate(test, control))
        return [*own, *explained]

    def _is_folded(self, test: _Test, listed: Sequence[_Candidate]) -> bool:
        """Fold a condition under a listed one that is alike or leaves none of its effect."""
        for each in listed:
            of = each.test
            if is_alike(test.tried, test.kind, of.tried, of.kind) or is_explained(
                self._search.equals, test.tried.condition, of.tried.condition, test.kind
            ):
                if test.tried is not of.tried and test.tried not in each.also:
                    each.also.append(test.tried)
                return True
        return False

    def _replaces(self, test: _Test, listed: list[_Candidate]) -> bool:
        """Put a condition in the place of listed ones of which it leaves no effect."""
        replaced = [
            each
            for each in listed
            if each.test.kind == test.kind
            and is_explained(
                self._search.equals, each.test.tried.condition, test.tried.condition, test.kind
            )
        ]
        if not replaced:
            return False
        also = [tried for each in replaced for tried in (each.test.tried, *each.also)]
        listed[listed.index(replaced[0])] = _Candidate(test, None, also)
        for each in replaced[1:]:
            listed.remove(each)
        return True

    def _control(self, test: _Test) -> int | None:
        """The control that explains a condition; a conjunction inherits that of its parts."""
        tried, kind = test.tried, test.kind
        if tried.depth > 1:
            for single in sorted(tried.singles):
                for of in KINDS:
                    part = self._search.singles[single]
                    if (part.singles, of) in self._passed:
                        found = self._explanation(part, of)
                        if found is not None:
                            return found
        return self._explanation(tried, kind)

    def _explanation(self, tried: Tried, kind: Kind) -> int | None:
        key = tried.singles, kind
        if key not in self._explained_by:
            held = explaining(tried.gap.departure(kind), tried.condition, self._helds)
            index = None if held is None else self._helds.index(held)
            self._explained_by[key] = index
        return self._explained_by[key]


class _Listing:
    """Measures the findings of a search: in the held-out games, or in all games."""

    def __init__(
        self,
        equals: Equals,
        held_out: NDArray[np.bool_] | None,
        controls: Sequence[Control],
        resampling: Resampling,
    ) -> None:
        self._equals = equals
        self._rows = np.ones(len(equals.sample), bool) if held_out is None else held_out
        self._checked = equals if held_out is None else equals.where(held_out)
        self._controls = controls
        self._resampling = resampling

    def corrected(self, candidate: _Candidate, confidence: float) -> Slice:
        """Measure a finding in all games, with an interval of this confidence."""
        also = [each.condition for each in candidate.also]
        condition = candidate.test.tried.condition
        return self._slice(candidate, condition, also, candidate.test.q_value, confidence)

    def confirmed(
        self, candidates: Sequence[_Candidate], whole: Mapping[str, Condition], rate: float
    ) -> list[Slice]:
        """Test findings on held-out games, and measure those that pass.

        Slices share positions and games, so Benjamini and Yekutieli's procedure controls the
        false-discovery rate. Effects with the opposite sign fail.
        """
        every = [_joined(each.test.tried, whole) for each in candidates]
        p_values = []
        for candidate, condition in zip(candidates, every, strict=True):
            test = candidate.test
            gap = self._checked.gap(condition.holds[self._rows]).departure(test.kind)
            agrees = gap.effect.value * test.tried.effect(test.kind) > 0
            p_values.append(gap.p_value if agrees else 1.0)
        q_values = adjusted_for_dependence(p_values).tolist()
        passed = sum(q <= rate for q in q_values)
        confidence = 1 - rate * passed / max(len(candidates), 1)
        slices = []
        for candidate, condition, q in zip(candidates, every, q_values, strict=True):
            if q <= rate:
                also = [_joined(each, whole) for each in candidate.also]
                measured = self._slice(candidate, condition, also, q, confidence)
                gap = candidate.test.tried.gap.departure(candidate.test.kind)
                slices.append(replace(measured, searched=gap.effect))
        return slices

    def merged(self, slices: Sequence[Slice]) -> list[Slice]:
        """Fold slices under the first of one finding, as all games show it."""
        groups: list[list[Slice]] = []
        for each in slices:
            same = [g for g in groups if any(self._is_one_finding(each, other) for other in g)]
            for group in same[1:]:
                same[0].extend(group)
                groups.remove(group)
            if same:
                same[0].append(each)
            else:
                groups.append([each])
        return [
            replace(
                first,
                also=(*first.also, *(c for each in rest for c in (each.condition, *each.also))),
            )
            for first, *rest in groups
        ]

    def _is_one_finding(self, one: Slice, other: Slice) -> bool:
        if (one.explanation is None) != (other.explanation is None):
            return False
        a, b, kind = one.condition, other.condition, one.departure.kind
        return (
            is_explained(self._equals, a, b, kind)
            or is_explained(self._equals, b, a, other.departure.kind)
            or (kind == other.departure.kind and are_degrees(self._equals, a, b, kind))
        )

    def _slice(
        self,
        candidate: _Candidate,
        condition: Condition,
        also: Sequence[Condition],
        q_value: float,
        confidence: float,
    ) -> Slice:
        sample, kind = self._equals.sample, candidate.test.kind
        holds = condition.holds[self._rows]
        named = named_gap(
            self._checked,
            condition.words,
            holds,
            resampling=replace(self._resampling, confidence=confidence),
        )
        departure = named.gap.departure(kind)
        explanation = None
        if candidate.control is not None:
            control = self._controls[candidate.control]
            left = Held.of(control.where(self._rows), self._checked).left(holds, kind)
            explanation = Explanation(control.name, left)
        is_whole = self._checked is self._equals
        return Slice(
            sample.name,
            condition,
            departure,
            named.gap if is_whole else self._equals.gap(condition.holds),
            q_value,
            named.distance,
            sample.first_player,
            explanation,
            tuple(also),
            Impact.of(self._equals, condition.holds, departure),
            held_out_games=0 if is_whole else named.gap.games,
        )


def _joined(tried: Tried, whole: Mapping[str, Condition]) -> Condition:
    """The condition on all positions."""
    return reduce(and_, [whole[name] for name in tried.parts])
