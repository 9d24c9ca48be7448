# SPDX-License-Identifier: Apache-2.0
"""The tuner: fits weights of user features to results or to another evaluator's scores."""

import csv
import io
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.analysis.sample import Resampling, mean_by_games
from hyoka.foundation.errors import NotationError, ParameterError, StudyError, named, nearest
from hyoka.foundation.math import Estimate, logistic
from hyoka.foundation.options import check_options, option, read_number
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.foundation.text import ANY, check_patterns, matching_names
from hyoka.learning.feature_tables import FeatureTable
from hyoka.learning.sigmoid import (
    Array,
    Method,
    interval_reach,
    log_losses,
)
from hyoka.learning.sparse_fit import (
    MOST_WEIGHTS,
    SparseFit,
    SparseProblem,
    fit_sparse,
)
from hyoka.learning.weights import FittedWeight, is_held_out, scale_alone
from hyoka.parallel import usable_cores
from hyoka.search import LinearEvaluation, linear_evaluation
from hyoka.storage.files import write_text
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.storage.outputs import GENERATOR
from hyoka.storage.result import plain_json

if TYPE_CHECKING:
    from scipy.sparse import csr_array


ENDINGS: Final = (".json", ".csv", ".h", ".hpp")
"""File extensions of weight files."""
_OWN_WORDS: Final = ("TUNED_FEATURES", "TUNED_SCALE", "TUNED_WEIGHTS_H")
"""Identifiers reserved by the header itself."""


@dataclass(frozen=True)
class TunedFeature:
    """A feature and its weight, or its weights in the opening and in the ending."""

    name: str
    weights: tuple[FittedWeight, ...]
    frozen: bool
    tapered: bool
    """Whether it has two weights, for opening and ending."""

    @property
    def pair(self) -> tuple[float, float]:
        """Weights in the opening and in the ending."""
        return self.weights[0].weight, self.weights[-1].weight

    @property
    def amount(self) -> float | list[float]:
        """The weight in files: a number, or a pair if tapered."""
        return list(self.pair) if self.tapered else self.weights[0].weight


@dataclass(frozen=True)
class Change:
    """A metric on held-out games: before, after, and the difference, clustered by game."""

    measure: str
    before: float
    after: float
    difference: Estimate


@dataclass(frozen=True, eq=False)
class TunedWeights:
    """Tuned weights: win probability = 1 / (1 + exp(-score / scale))."""

    method: Method
    features: tuple[TunedFeature, ...] = field(repr=False)
    scale: float
    scale_error: float
    """Standard error of the scale; 0 if it was fixed."""
    scale_before: float
    """Scale of the initial weights; NaN without any."""
    unit: str
    source: str
    game: str
    """Name of the game; empty if the table is not from a study."""
    games: int
    positions: int
    held_out_positions: int
    held_out_games: int
    loss: float
    """Mean training loss per position, without the penalty."""
    steps: int
    confidence: float
    changes: tuple[Change, ...]
    """On held-out games; without initial weights, *before* is even chances."""
    origin: Origin = field(repr=False)

    def __getitem__(self, name: str) -> TunedFeature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(f"{name}; known: {', '.join(each.name for each in self.features[:20])}")

    def __str__(self) -> str:
        error = f" ± {self.scale_error:.2g}" if self.scale_error else ""
        lines = [
            f"{self.method.upper()} on {self.positions:,} positions of {self.games:,} games, scale "
            f"{self.scale:.4g}{error} {self.unit}"
        ]
        for weight in self.weights():
            error = "" if math.isnan(weight.error) else f" ± {weight.error:.2g}"
            former = "" if weight.former is None else f", formerly {weight.former:.4g}"
            lines.append(f"{weight.name}: {weight.weight:.4g}{error}{former}")
        for each in self.changes:
            change = each.difference.text("+.5f")
            lines.append(
                f"{each.measure}, held-out: {each.before:.5f}, then {each.after:.5f}: {change}"
            )
        return "\n".join(lines)

    def weights(self) -> Iterator[FittedWeight]:
        """All fitted weights, in the order of the features."""
        for feature in self.features:
            if not feature.frozen:
                yield from feature.weights

    def as_json(self) -> dict[str, Any]:
        """JSON representation."""
        left_out = ("features", "changes", "origin")
        plain: dict[str, Any] = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out
        }
        plain["weights"] = [asdict(each) for each in self.weights()]
        plain["held_out"] = [asdict(each) for each in self.changes]
        finite: dict[str, Any] = plain_json(plain)
        return finite

    def evaluation(self) -> LinearEvaluation | None:
        """The game's evaluation with these weights, if all features are terms of it.

        Other terms get weight 0, so only fitted terms count.
        """
        if not self.game:
            return None
        present = linear_evaluation(self.game)
        if not {each.name for each in self.features} <= set(present.names):
            return None
        weights = dict.fromkeys(present.names, (0.0, 0.0))
        weights |= {each.name: each.pair for each in self.features}
        return present.with_weights(weights, scale=self.scale)

    def save(self, path: str | Path, *, command: str | None = None) -> None:
        """Write the weights in the format of the file extension: `.json`, `.csv`, `.h` or `.hpp`.

        If all features are terms of the game's evaluation, JSON is a file for `eval=FILE`.
        """
        file = Path(path)
        if file.suffix.lower() in (".h", ".hpp"):
            write_text(file, self._header())
        elif file.suffix.lower() == ".csv":
            write_text(file, self._csv())
        elif file.suffix.lower() == ".json":
            origin = self.origin if command is None else replace(self.origin, command=command)
            evaluation = self.evaluation()
            if evaluation is not None:
                evaluation.save(file, origin)
            else:
                ModelFile.of("formula", self._formula(), origin=origin).save(file)
        else:
            raise StudyError(f"'{file.name}' must end in one of {', '.join(ENDINGS)}")

    def _formula(self) -> dict[str, Any]:
        return {
            "game": self.game or None,
            "scores": self.source,
            "scale": self.scale,
            "columns": {each.name: each.amount for each in self.features},
        }

    def _csv(self) -> str:
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        phases = any(each.tapered for each in self.features)
        columns = ("opening", "ending") if phases else ("weight",)
        rows.writerow(["name", *columns, *(f"{each}_error" for each in columns)])
        for each in self.features:
            amounts = each.pair if phases else each.pair[:1]
            errors = (each.weights[0].error, each.weights[-1].error)[: len(amounts)]
            error_cells = ["" if math.isnan(error) else error for error in errors]
            rows.writerow([each.name, *amounts, *error_cells])
        return text.getvalue()

    def _header(self) -> str:
        """Weights as a C and C++ header, with one identifier per feature."""
        phases = any(each.tapered for each in self.features)
        places = _identifiers([each.name for each in self.features])
        enum = "\n".join(f"    {place}," for place in places)
        amounts = "\n".join(
            f"    {{{each.pair[0]!r}, {each.pair[1]!r}}}, /* {place} */"
            if phases
            else f"    {each.pair[0]!r}, /* {place} */"
            for each, place in zip(self.features, places, strict=True)
        )
        each = "[2]" if phases else ""
        about = " Of each feature: in the opening, in the ending." if phases else ""
        return (
            f"/* {GENERATOR}: fitted by hyoka learn weights to {self.positions:,} positions "
            f"of {self.games:,} games.{about}\n"
            "   Win probability = 1 / (1 + exp(-score / TUNED_SCALE)). */\n"
            f"#ifndef TUNED_WEIGHTS_H\n#define TUNED_WEIGHTS_H\n\nenum {{\n{enum}\n"
            f"    TUNED_FEATURES\n}};\n\n#define TUNED_SCALE {self.scale!r}\n\n"
            f"static const double tuned_weights[TUNED_FEATURES]{each} = {{\n{amounts}\n}};\n\n"
            "#endif\n"
        )


def _identifiers(names: list[str]) -> list[str]:
    """Unique C identifiers for names.

    >>> _identifiers(["bishop pair", "bishop-pair", "2nd rank", "scale"])
    ['TUNED_BISHOP_PAIR', 'TUNED_BISHOP_PAIR_2', 'TUNED_2ND_RANK', 'TUNED_SCALE_2']
    """
    taken: list[str] = []
    for name in names:
        plain = "TUNED_" + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
        place, number = plain, 1
        while place in taken or place in _OWN_WORDS:
            number += 1
            place = f"{plain}_{number}"
        taken.append(place)
    return taken


def read_weights(path: str | Path) -> dict[str, float | tuple[float, float]]:
    """Read initial weights from a JSON or CSV file, written by `save` or by hand.

    CSV has a column `name` and either `weight`, or `opening` and `ending`. JSON has an object of
    numbers and pairs, at the top level or under `columns` or `weights`.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    try:
        if file.suffix == ".csv":
            rows = list(csv.DictReader(io.StringIO(text)))
            values: dict[str, Any] = {
                row["name"]: float(row["weight"])
                if "weight" in row
                else [float(row["opening"]), float(row["ending"])]
                for row in rows
            }
        else:
            values = json.loads(text)
            values = values.get("columns", values.get("weights", values))
        return {
            str(name): (float(each[0]), float(each[1])) if isinstance(each, list) else float(each)
            for name, each in values.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise NotationError(f"{file}: no weights by name: {error}") from error


Amount = float | tuple[float, float]
"""One weight, or a pair for opening and ending."""


def _pair(text: str, form: str) -> tuple[str, str]:
    name, equals, rest = text.rpartition("=")
    if not equals or not name:
        raise NotationError(f"'{text}' is not {form}")
    return name, rest


def _read_anchor(text: str) -> tuple[str, float]:
    name, weight = _pair(text, "NAME=WEIGHT")
    return name, read_number(weight)


def _read_bounds(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    bounds = {}
    for text in texts:
        name, rest = _pair(text, "NAME=LOW,HIGH")
        low, comma, high = rest.partition(",")
        if not comma:
            raise NotationError(f"'{text}' is not NAME=LOW,HIGH")
        least = read_number(low) if low.strip() else -math.inf
        most = read_number(high) if high.strip() else math.inf
        bounds[name] = least, most
    return bounds


@dataclass(frozen=True, kw_only=True)
class TuningPlan:
    """Settings of a fit. Features are given by name or by pattern such as `pst_*`.

    In mappings, exact names take precedence over patterns.

    >>> TuningPlan(l2=1.0, bounds={"mobility": (0, 40)}).l2
    1.0
    """

    method: Method = option("mlm", "Maximum likelihood, or least squares.")
    start: Mapping[str, Amount] = field(default_factory=dict)
    """Initial weights, also the baseline and the center of L1 and L2; default 0."""
    frozen: Sequence[str] = option(
        (), "Feature that keeps its initial weight, repeatable.", name="freeze", metavar="NAME"
    )
    untapered: Sequence[str] = option(
        (), "With --phase: feature with one weight for all phases, repeatable.", metavar="NAME"
    )
    bounds: Mapping[str, tuple[float, float]] = option(
        default_factory=dict,
        help="Minimum and maximum of a weight, repeatable; either may be empty, as in mobility=0,",
        name="bound",
        metavar="NAME=LOW,HIGH",
        is_repeatable=True,
        parse=_read_bounds,
    )
    l1: float = option(0.0, "L1 penalty, for weights in units of the scale.", min=0)
    l2: float = option(0.0, "L2 penalty, for weights in units of the scale.", min=0)
    scale: float | None = option(
        None,
        "Score that multiplies the odds of winning by e; by default fitted.",
        name="score_scale",
        above=0,
    )
    anchor: tuple[str, float] | None = option(
        None,
        "Rescale all weights so that this feature has this weight in all phases, such as pawn=100.",
        name="unit",
        metavar="NAME=WEIGHT",
        parse=_read_anchor,
    )
    mix: float = option(
        1.0, "Weight of the result in the target; the rest is --toward.", min=0, max=1
    )
    hold_out: float = option(0.2, "Share of held-out games.", min=0, max=0.9)
    seed: int = option(0, "Seed of the choice of held-out games.", min=0)
    confidence: float = 0.95
    resamples: int = 1000
    threads: int = field(default_factory=usable_cores)

    def __post_init__(self) -> None:
        check_options(self)
        if self.scale is not None and self.anchor is not None:
            raise ParameterError("anchor", f"finds the scale; {named('scale')} gives it: not both")
        if self.anchor is not None:
            _check_magnitude("anchor", self.anchor[1], "weight")
        if self.scale is not None:
            _check_magnitude("scale", self.scale, "scale")
        for name, start in self.start.items():
            for weight in start if isinstance(start, tuple) else (start,):
                if not abs(weight) <= _LARGEST:
                    raise NotationError(
                        f"the initial weight of {name} is at most {_LARGEST:g}, not {weight:g}"
                    )
        for name, (low, high) in self.bounds.items():
            for end in (low, high):
                if abs(end) > _LARGEST and not math.isinf(end):
                    raise ParameterError("bounds", f"of {name} are at most {_LARGEST:g}")
            if not low <= high:
                raise ParameterError("bounds", f"of {name} are {low:g} to {high:g}: none between")


_LARGEST: Final = 1e9
"""The largest weight; beyond, and below its inverse, sums and squares lose their digits."""


def _check_magnitude(parameter: str, value: float, what: str) -> None:
    if not 1 / _LARGEST <= abs(value) <= _LARGEST:
        raise ParameterError(
            parameter, f"has a {what} from {1 / _LARGEST:g} to {_LARGEST:g}, not {value:g}"
        )


_DEFAULT_SCALE: Final = 100.0
_T = TypeVar("_T")


@dataclass(frozen=True)
class Scale:
    """The factor between fitted coefficients and weights."""

    fixed: float | None
    """The scale, if it is fixed."""
    reference: int | None = None
    """Otherwise the number whose weight is fixed; the base score's number is the last."""
    weight: float = 1.0

    @classmethod
    def of(cls, plan: TuningPlan, numbers: "Numbers", scale_before: float) -> "Scale":
        """The scale that a plan fixes, or its reference number."""
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
        return cls(scale_before if math.isfinite(scale_before) else _DEFAULT_SCALE)


@dataclass(frozen=True)
class Number:
    """A number to fit: a feature's weight in one phase or in both."""

    feature: int
    name: str
    phases: tuple[int, ...]
    former: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers to fit, with the fixed part of the score."""

    table: FeatureTable
    plan: TuningPlan
    weights: tuple[Number, ...]
    frozen_weights: Array
    """Weights of frozen features in the rows' layout; 0 elsewhere."""
    former: Array
    """Initial weights in the rows' layout."""
    rest: Array | None
    """Score of frozen features and of the table's base; None if there is none."""

    @classmethod
    def of(cls, table: FeatureTable, plan: TuningPlan) -> "Numbers":
        """Numbers that a plan fits; raises NotationError for unknown names."""
        names = table.names
        starts, ends = _by_name(names, plan.start), _by_name(names, plan.bounds)
        frozen = set(matching_names(names, plan.frozen, "feature"))
        plain = set(matching_names(names, plan.untapered, "feature"))
        if plan.anchor is not None:
            # The anchor sets the scale of the whole score, so its one weight holds in both phases.
            plain.add(plan.anchor[0])
        phases = 1 if table.ending is None else 2
        former, frozen_weights = np.zeros((len(names), phases)), np.zeros((len(names), phases))
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
                frozen_weights[number] = pair
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
        if frozen_weights.any():
            rest = _rows(table).scores(frozen_weights.ravel(), plan.threads) + (
                0 if rest is None else rest
            )
        return cls(table, plan, tuple(weights), frozen_weights.ravel(), former.ravel(), rest)

    def number(self, feature: str) -> int:
        """Index of a feature's (first) weight among the numbers."""
        fitted = [self.table.names[each.feature] for each in self.weights]
        if feature not in fitted:
            hint = nearest(feature, fitted) or "it names one that is fitted"
            raise ParameterError("anchor", f"is no feature '{feature}'; {hint}")
        return fitted.index(feature)

    def scores_before(self) -> Array | None:
        """Scores with the initial weights; None if all are equal."""
        if not self.former.any() and self.table.base is None:
            return None
        scores = _rows(self.table).scores(self.former, self.plan.threads)
        if self.table.base is not None:
            scores = scores + self.table.base
        return np.asarray(scores) if np.ptp(scores) > 0 else None

    def scores_after(self, weights: Sequence[FittedWeight]) -> Array:
        """Scores with the fitted weights."""
        flat = self.frozen_weights.copy()
        phases = 1 if self.table.ending is None else 2
        for number, weight in zip(self.weights, weights, strict=True):
            for phase in number.phases:
                flat[number.feature * phases + phase] = weight.weight
        scores = _rows(self.table).scores(flat, self.plan.threads)
        return np.asarray(scores if self.table.base is None else scores + self.table.base)

    def problem(
        self, targets: NDArray[np.float32], used: NDArray[np.bool_], scale: Scale
    ) -> SparseProblem:
        """The fitting problem, in units of the scale."""
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
            start[: len(self.weights)] = 0  # the initial weights' scale is unknown
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
        """Convert β to weights, with errors by the delta method."""
        if scale.fixed is not None:
            unit, reference = scale.fixed, None
        else:
            assert scale.reference is not None
            reference = scale.reference
            coefficient = float(fit.beta[reference])
            if not coefficient * scale.weight > 0:
                raise StudyError(
                    "what has its weight beforehand speaks against the player whom it should speak "
                    "for: these are not the first player's scores, or say nothing of the results"
                )
            unit = scale.weight / coefficient
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
        """Weights by feature, including frozen ones."""
        phases = 1 if self.table.ending is None else 2
        fitted: dict[int, list[FittedWeight]] = {}
        for number, weight in zip(self.weights, weights, strict=True):
            fitted.setdefault(number.feature, []).append(weight)
        features = []
        for index, name in enumerate(self.table.names):
            own = fitted.get(index)
            if own is None:
                fixed = self.frozen_weights[index * phases : (index + 1) * phases].tolist()
                own = [
                    FittedWeight(name, each, math.nan, math.nan, math.nan, each) for each in fixed
                ]
            features.append(TunedFeature(name, tuple(own), index not in fitted, phases == 2))
        return tuple(features)


def _by_name(names: Sequence[str], values: Mapping[str, _T]) -> dict[str, _T]:
    """Resolve names and patterns to values by name."""
    check_patterns(values, names, "feature")
    spread = {
        name: each
        for pattern, each in values.items()
        if ANY in pattern
        for name in matching_names(names, [pattern])
    }
    return spread | {name: values[name] for name in names if name in values}


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


_GAMES_AT_ONCE: Final = 2000


def tune_weights(
    table: FeatureTable, plan: TuningPlan | None = None, *, progress: OnProgress | None = None
) -> TunedWeights:
    """Fit the weights of a table's features and measure on held-out games; errors are by game.

    Raises StudyError if the features do not determine the weights.
    """
    plan = plan or TuningPlan()
    numbers = Numbers.of(table, plan)
    apart = is_held_out(table.games.astype(np.int64), plan.hold_out, plan.seed)
    if apart.all():
        raise StudyError("no game is left to fit on: hold out fewer, or take more games")
    before = numbers.scores_before()
    scale_before = _scale_alone(table, before, ~apart) if before is not None else math.nan
    scale = Scale.of(plan, numbers, scale_before)
    problem = numbers.problem(_targets(table, plan, ~apart), ~apart, scale)
    tally = Tally(progress, "fitting", None, "steps")
    fit = fit_sparse(problem, lambda number, gain: tally.add(note=f"gains {gain:.1e}"))
    covariance, games = _covariance(problem, fit, table.games, ~apart)
    reach = interval_reach(games, plan.confidence)
    weights, scale_after, scale_error = numbers.as_weights(fit, covariance, scale, reach)
    after = numbers.scores_after(weights)
    changes: tuple[Change, ...] = ()
    if apart.any():
        resampling = Resampling(plan.resamples, plan.seed, plan.confidence)
        earlier = None if before is None else (before, scale_before)
        changes = _changes(table, apart, earlier, (after, scale_after), resampling)
    return TunedWeights(
        plan.method,
        numbers.features(weights),
        scale_after,
        scale_error,
        scale_before,
        table.unit,
        table.source,
        table.game,
        games,
        fit.rows,
        int(apart.sum()),
        len(np.unique(table.games[apart])),
        fit.loss,
        fit.steps,
        plan.confidence,
        changes,
        Origin(
            "hyoka.tune_weights",
            plan.seed,
            {"games": games, "positions": fit.rows},
            {
                "features": table.source,
                "method": plan.method,
                "l1": f"{plan.l1:g}",
                "l2": f"{plan.l2:g}",
                "results": f"{plan.mix:g} of the target",
                "held out": f"{plan.hold_out:g} of the games",
            },
        ),
    )


def _targets(table: FeatureTable, plan: TuningPlan, used: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Results, mixed with another evaluator's values according to the plan."""
    if plan.mix == 1:
        return table.results
    if table.targets is None:
        raise ParameterError(
            "mix", f"needs what another evaluator says: name it with {named('toward')}"
        )
    values = table.targets
    if table.targets_are_scores:
        values = logistic(values / _scale_alone(table, values, used))
    mixed = plan.mix * table.results + (1 - plan.mix) * values
    return np.asarray(np.clip(mixed, 0, 1), np.float32)


def _scale_alone(table: FeatureTable, scores: Array, used: NDArray[np.bool_]) -> float:
    """Scale of the scores, fitted to the results."""
    games = table.games[used].astype(np.int64)
    return scale_alone(scores[used], table.results[used].astype(np.float64), games)


def _covariance(
    problem: SparseProblem, fit: SparseFit, games: NDArray[np.uint32], used: NDArray[np.bool_]
) -> tuple[Array, int]:
    """Sandwich covariance of the free numbers, clustered by game, and the number of games."""
    counted = np.unique(games[used])
    count, free = len(counted), np.flatnonzero(fit.free)
    if count <= len(free) and problem.l2 == 0:
        raise StudyError(
            f"{len(free)} coefficients cannot be fitted to {count} games: add more games, or add L2"
        )
    weights = problem.weights(fit.beta)
    meat = np.zeros((len(free), len(free)))
    last = int(games[-1]) + 1
    firsts = np.searchsorted(games, np.arange(0, last + _GAMES_AT_ONCE, _GAMES_AT_ONCE))
    for number, (begin, end) in enumerate(itertools.pairwise(firsts)):
        if begin == end:
            continue
        first = number * _GAMES_AT_ONCE
        full = problem.rows.pulls(
            weights, problem.squared, games, int(begin), int(end), first, _GAMES_AT_ONCE
        )
        pulls = np.asarray((problem.places.T @ full.T)[free])
        meat += pulls @ pulls.T
    block = fit.curvature[np.ix_(free, free)]
    size = np.sqrt(np.maximum(np.diag(block), 1e-300))
    bread = np.linalg.inv(block / np.outer(size, size)) / np.outer(size, size)
    covariance = np.zeros((len(fit.beta), len(fit.beta)))
    covariance[np.ix_(free, free)] = bread @ meat @ bread * (count / max(count - 1, 1))
    return covariance, count


def _changes(
    table: FeatureTable,
    rows: NDArray[np.bool_],
    before: tuple[Array, float] | None,
    after: tuple[Array, float],
    resampling: Resampling,
) -> tuple[Change, ...]:
    """Changes in the metrics on held-out games, from the results."""
    results, games = table.results[rows].astype(np.float64), table.games[rows]
    then = after[0][rows] / after[1]
    earlier = np.zeros_like(then) if before is None else before[0][rows] / before[1]
    decided = np.where(results == 0.5, np.nan, results)

    def right(logits: Array) -> Array:
        return np.where(logits == 0, 0.5, (logits > 0) == (decided == 1)).astype(np.float64)

    def squares(logits: Array) -> Array:
        return np.square(results - logistic(logits))

    changes: list[Change] = []
    measures: list[tuple[str, Any, NDArray[np.bool_]]] = [
        ("log loss", lambda logits: log_losses(logits, results), np.ones(len(results), bool)),
        ("Brier", squares, np.ones(len(results), bool)),
        ("ACC", right, ~np.isnan(decided)),
    ]
    for name, measure, counts in measures:
        if not counts.any():
            continue
        one, other = measure(earlier)[counts], measure(then)[counts]
        difference = mean_by_games(other - one, games[counts], resampling)
        changes.append(Change(name, float(one.mean()), float(other.mean()), difference))
    return tuple(changes)
