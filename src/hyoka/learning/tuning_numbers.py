# SPDX-License-Identifier: Apache-2.0
"""From a table's features to the numbers that the tuner fits, and back to weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import ParameterError, StudyError, named, nearest
from hyoka.learning.feature_tables import FeatureTable
from hyoka.learning.sigmoid import Array
from hyoka.learning.sparse_fit import MOST_WEIGHTS, SparseFit, SparseProblem
from hyoka.learning.tuned import TunedFeature
from hyoka.learning.tuning_plan import TuningPlan
from hyoka.learning.weights import FittedWeight
from hyoka.name_patterns import ANY, check_met, fitting

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_USUAL_SCALE: Final = 100.0
_T = TypeVar("_T")


@dataclass(frozen=True)
class Scale:
    """What makes weights of the numbers fitted."""

    fixed: float | None
    """The scale itself."""
    reference: int | None = None
    """Else the number that has a known weight, that of the rest being the last."""
    weight: float = 1.0

    @classmethod
    def of(cls, plan: TuningPlan, numbers: "Numbers", scale_before: float) -> "Scale":
        """The scale that a plan gives, or what it is found by."""
        if plan.scale is not None:
            return cls(plan.scale)
        in_points = any(
            math.isfinite(end) and end != 0 for ends in plan.bounds.values() for end in ends
        ) or (plan.l1 + plan.l2 > 0 and any(each.former for each in numbers.weights))
        if numbers.rest is not None and plan.anchor is not None:
            raise ParameterError(
                "anchor",
                "finds the scale, and so do weights that are frozen and scores to add to: "
                "give one of them",
            )
        if numbers.rest is not None and not in_points:
            return cls(None, len(numbers.weights))
        if plan.anchor is not None:
            if in_points:
                raise ParameterError(
                    "anchor", f"finds the scale, and bounds need it: give {named('scale')}"
                )
            return cls(None, numbers.number(plan.anchor[0]), plan.anchor[1])
        return cls(scale_before if math.isfinite(scale_before) else _USUAL_SCALE)


@dataclass(frozen=True)
class Number:
    """A number to fit: a weight of a feature, in one phase or in both."""

    feature: int
    name: str
    phases: tuple[int, ...]
    former: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers to fit, and what is not fitted."""

    table: FeatureTable
    plan: TuningPlan
    weights: tuple[Number, ...]
    kept: Array
    """The weights of features that are frozen, as the rows have them; 0 elsewhere."""
    former: Array
    """The weights to begin with, as the rows have them."""
    rest: Array | None
    """The score of what is frozen, and of the table's base; None: there is none."""

    @classmethod
    def of(cls, table: FeatureTable, plan: TuningPlan) -> "Numbers":
        """What a plan fits of a table; raises NotationError for names that it has not."""
        names = table.names
        starts, ends = _by_name(names, plan.start), _by_name(names, plan.bounds)
        frozen = set(fitting(names, plan.frozen, "feature"))
        plain = set(fitting(names, plan.untapered, "feature"))
        if plan.anchor is not None:
            # The anchor sets the scale of the whole score, so its one weight holds in both phases.
            plain.add(plan.anchor[0])
        phases = 1 if table.ending is None else 2
        former, kept = np.zeros((len(names), phases)), np.zeros((len(names), phases))
        weights = []
        for number, name in enumerate(names):
            start = starts.get(name, 0.0)
            pair = start if isinstance(start, tuple) else (start,) * phases
            if len(pair) != phases:
                raise StudyError(f"{name} begins with {len(pair)} weights; the table has no phases")
            former[number] = pair
            if name in frozen:
                if name not in starts:
                    raise ParameterError(
                        "frozen", f"keeps {name} at its weight, but nothing says which: give it one"
                    )
                kept[number] = pair
                continue
            alike = phases == 2 and name in plain
            split = phases == 2 and not alike
            for phase in range(2 if split else 1):
                words = f"{name} ({('opening', 'ending')[phase]})" if split else name
                here = (phase,) if split else tuple(range(phases))
                begins = float(np.mean([pair[each] for each in here]))
                weights.append(
                    Number(number, words, here, begins, *ends.get(name, (-np.inf, np.inf)))
                )
        if not weights:
            raise StudyError("all features are frozen: nothing is left to fit")
        if len(weights) > MOST_WEIGHTS:
            raise StudyError(f"{len(weights):,} weights are more than {MOST_WEIGHTS:,}")
        rest = table.base
        if kept.any():
            rest = _rows(table).scores(kept.ravel(), plan.threads) + (0 if rest is None else rest)
        return cls(table, plan, tuple(weights), kept.ravel(), former.ravel(), rest)

    def number(self, feature: str) -> int:
        """Where a feature's (first) weight is among the numbers."""
        fitted = [self.table.names[each.feature] for each in self.weights]
        if feature not in fitted:
            hint = nearest(feature, fitted) or "it names one that is fitted"
            raise ParameterError("anchor", f"is no feature '{feature}'; {hint}")
        return fitted.index(feature)

    def scores_before(self) -> Array | None:
        """The scores with the weights to begin with; None where they are all the same."""
        if not self.former.any() and self.table.base is None:
            return None
        scores = _rows(self.table).scores(self.former, self.plan.threads)
        if self.table.base is not None:
            scores = scores + self.table.base
        return np.asarray(scores) if np.ptp(scores) > 0 else None

    def scores_after(self, weights: Sequence[FittedWeight]) -> Array:
        """The scores with fitted weights."""
        found = self.kept.copy()
        phases = 1 if self.table.ending is None else 2
        for number, weight in zip(self.weights, weights, strict=True):
            for phase in number.phases:
                found[number.feature * phases + phase] = weight.weight
        scores = _rows(self.table).scores(found, self.plan.threads)
        return np.asarray(scores if self.table.base is None else scores + self.table.base)

    def problem(
        self, targets: NDArray[np.float32], used: NDArray[np.bool_], scale: Scale
    ) -> SparseProblem:
        """What is fitted, in units of the scale."""
        rest, plan = self.rest, self.plan
        rows = _rows(self.table, targets, used, rest)
        unit = scale.fixed or 1.0
        fits_rest = rest is not None and scale.fixed is None
        count = len(self.weights) + fits_rest
        fixed = np.zeros(rows.width)
        if rest is not None and not fits_rest:
            fixed[-1] = 1 / unit
        start = np.array([each.former / unit for each in self.weights] + [1.0] * fits_rest)
        if scale.fixed is None:
            start[: len(self.weights)] = 0  # the scale of the former weights is not known
            if fits_rest:
                spread = float(np.std(rest[used])) if rest is not None else 1.0
                start[-1] = 1 / spread if spread > 0 else 1.0
        low = np.array([each.low / unit for each in self.weights] + [-np.inf] * fits_rest)
        high = np.array([each.high / unit for each in self.weights] + [np.inf] * fits_rest)
        return SparseProblem(
            rows=rows,
            names=[*(each.name for each in self.weights), "the rest of the score"][:count],
            places=self._places(rows.width, fits_rest),
            fixed=fixed,
            start=start,
            low=low,
            high=high,
            penalised=np.arange(count) < len(self.weights),
            l1=plan.l1,
            l2=plan.l2,
            squared=plan.method == "ls",
            threads=plan.threads,
        )

    def _places(self, width: int, fits_rest: bool) -> "csr_array":
        from scipy.sparse import csr_array  # noqa: PLC0415 - it takes a second to import

        phases = 1 if self.table.ending is None else 2
        places = [
            (each.feature * phases + phase, number)
            for number, each in enumerate(self.weights)
            for phase in each.phases
        ]
        if fits_rest:
            places.append((width - 1, len(self.weights)))
        rows, columns = zip(*places, strict=True)
        shape = (width, len(self.weights) + fits_rest)
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)

    def as_weights(
        self, fit: SparseFit, covariance: Array, scale: Scale, reach: float
    ) -> tuple[list[FittedWeight], float, float]:
        """From β to weights, and their errors by the delta method."""
        if scale.fixed is not None:
            unit, reference = scale.fixed, None
        else:
            assert scale.reference is not None
            reference = scale.reference
            known = float(fit.beta[reference])
            if not known * scale.weight > 0:
                raise StudyError(
                    "what has its weight beforehand speaks against the player whom it should speak "
                    "for: these are not the first player's scores, or say nothing of the results"
                )
            unit = scale.weight / known
        weights = []
        for index, number in enumerate(self.weights):
            amount = float(fit.beta[index]) * unit
            slopes = np.zeros(len(fit.beta))
            slopes[index] = unit
            if reference is not None:
                slopes[reference] -= amount / float(fit.beta[reference])
            free = bool(fit.free[index]) and index != reference
            error = math.sqrt(max(float(slopes @ covariance @ slopes), 0.0)) if free else math.nan
            former = number.former if self.former.any() else None
            ends = (amount - reach * error, amount + reach * error)
            weights.append(FittedWeight(number.name, amount, error, *ends, former))
        scale_error = 0.0
        if reference is not None:
            spread = math.sqrt(float(covariance[reference, reference]))
            scale_error = spread * abs(unit) / abs(float(fit.beta[reference]))
        return weights, abs(unit), scale_error

    def features(self, weights: Sequence[FittedWeight]) -> tuple[TunedFeature, ...]:
        """The weights by feature, the frozen ones too."""
        phases = 1 if self.table.ending is None else 2
        fitted: dict[int, list[FittedWeight]] = {}
        for number, weight in zip(self.weights, weights, strict=True):
            fitted.setdefault(number.feature, []).append(weight)
        features = []
        for index, name in enumerate(self.table.names):
            own = fitted.get(index)
            if own is None:
                held = self.kept[index * phases : (index + 1) * phases].tolist()
                own = [
                    FittedWeight(name, each, math.nan, math.nan, math.nan, each) for each in held
                ]
            features.append(TunedFeature(name, tuple(own), index not in fitted, phases == 2))
        return tuple(features)


def _by_name(names: Sequence[str], given: Mapping[str, _T]) -> dict[str, _T]:
    """What is given for names, and for patterns that they fit."""
    check_met(given, names, "feature")
    spread = {
        name: each
        for pattern, each in given.items()
        if ANY in pattern
        for name in fitting(names, [pattern])
    }
    return spread | {name: given[name] for name in names if name in given}


def _rows(
    table: FeatureTable,
    targets: NDArray[np.float32] | None = None,
    used: NDArray[np.bool_] | None = None,
    rest: Array | None = None,
) -> "_core.FeatureRows":
    nothing = np.zeros(0)
    return _core.FeatureRows(
        table.starts,
        table.features,
        table.amounts,
        table.results if targets is None else targets,
        len(table.names),
        nothing.astype(np.float32) if table.ending is None else table.ending,
        nothing if rest is None else np.ascontiguousarray(rest, np.float64),
        nothing.astype(np.uint8) if used is None else used.astype(np.uint8),
    )
