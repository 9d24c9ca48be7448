# SPDX-License-Identifier: Apache-2.0
"""Evaluation weights fitted to game results (Takeuchi 2010, appendix)."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import Departure, Sample, condition_gap
from hyoka.analysis.comparison import Comparison, compare
from hyoka.analysis.curves import Curve, Curves, measure_curve
from hyoka.analysis.sample import NO_INTERVALS, VALUE, Resampling
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import logistic
from hyoka.foundation.options import check_options, option
from hyoka.learning.examples import Examples
from hyoka.learning.sigmoid import (
    Array,
    Method,
    SigmoidFit,
    fit_sigmoid,
    interval_reach,
)
from hyoka.search import LinearEvaluation
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.study.evaluating import scrambled

_SHARE: Final = 0.2
"""Target share of positions that satisfy a condition."""
_FEWEST: Final = 100
"""Minimum number of positions for a condition: Takeuchi 2010's minimum for a curve point."""


@dataclass(frozen=True)
class GapChange:
    """Gap between a condition's curve and the overall curve, before and after a fit."""

    condition: str
    positions: int
    games: int
    before: Departure
    after: Departure


def gap_changes(
    before: Sample, after: Sample, conditions: Mapping[str, NDArray[np.bool_]]
) -> tuple[GapChange, ...]:
    """Gaps of conditions on the same positions with the scores before and after."""
    return tuple(
        GapChange(
            condition,
            int(holds.sum()),
            len(np.unique(before.games[holds])),
            condition_gap(before, holds).level,
            condition_gap(after, holds).level,
        )
        for condition, holds in conditions.items()
    )


def extremes(traits: Mapping[str, Array]) -> dict[str, NDArray[np.bool_]]:
    """For each trait, the conditions that it is large and that it is small, as text and mask.

    Large and small are the fifths of positions with the highest and lowest amounts, or fewer in
    case of ties. Conditions with fewer than a hundred positions are left out.
    """
    return {
        condition: holds
        for name, trait in traits.items()
        for condition, holds in _extremes_of(name, trait)
    }


def _extremes_of(name: str, trait: Array) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for sign, relation in ((1, ">="), (-1, "<=")):
        amounts, counts = np.unique(sign * trait, return_counts=True)
        reached = np.cumsum(counts[::-1])[::-1]  # positions with at least this amount
        few = np.flatnonzero(reached <= _SHARE * len(trait))
        # If even the maximum is too common, use the maximum alone.
        threshold = amounts[few[0] if len(few) else -1] if len(amounts) > 1 else np.inf
        holds = sign * trait >= threshold
        if holds.sum() >= _FEWEST:
            yield f"{name} {relation} {sign * threshold:.4g}", holds


_BASE: Final = "the rest of the evaluation"
_SHOWN: Final = ("log_loss", "brier_loss", "accuracy", "roc")


@dataclass(frozen=True)
class FittedWeight:
    """A fitted weight with its uncertainty and its former value."""

    name: str
    weight: float
    error: float
    """Standard error, clustered by game."""
    low: float
    high: float
    former: float | None
    """None if there was no single former value."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out games with the scores before and after the fit.

    `before` has its own scale, fitted to the same games as the weights, so differences are due to
    the weights alone.
    """

    before: Sample = field(repr=False)
    after: Sample = field(repr=False)
    conditions: Mapping[str, NDArray[np.bool_]] = field(repr=False)
    """Conditions that a term is large or small."""
    comparison: Comparison
    """Metrics of the win probabilities before and after."""
    gap_changes: tuple[GapChange, ...]

    def curves(self) -> Curves:
        """Evaluation curves before and after, of all positions and of each condition."""

        def of(sample: Sample) -> Iterator[Curve]:
            yield measure_curve(sample, resampling=NO_INTERVALS)
            for condition, holds in self.conditions.items():
                yield measure_curve(
                    sample.where(holds), resampling=NO_INTERVALS, condition=condition
                )

        return Curves((*of(self.before), *of(self.after)))


@dataclass(frozen=True, eq=False)
class WeightFit:
    """Weights fitted to results: win probability = 1 / (1 + exp(-score / scale))."""

    method: Method
    game: str
    weights: tuple[FittedWeight, ...]
    scale: float
    """1 / w0, in `unit`."""
    scale_error: float
    scale_before: float
    """Scale of the initial scores."""
    unit: str
    source: str
    games: int
    positions: int
    confidence: float
    held_out: HeldOut | None
    """None if no game was held out."""
    evaluation: LinearEvaluation | None
    """The evaluation with the new weights and scale; None for scores of other evaluators."""
    start: LinearEvaluation | None
    """The initial evaluation."""
    origin: Origin = field(repr=False)
    """Origin of the weights, for their file."""

    def __getitem__(self, name: str) -> FittedWeight:
        for weight in self.weights:
            if weight.name == name:
                return weight
        names = ", ".join(weight.name for weight in self.weights)
        raise KeyError(f"{name}; known: {names}")

    def __str__(self) -> str:
        lines = [
            f"{self.method.upper()} on {self.positions:,} positions of {self.games:,} games of "
            f"{self.game}, scale {self.scale:.4g} ± {self.scale_error:.2g} {self.unit}"
        ]
        for each in self.weights:
            former = "" if each.former is None else f", formerly {each.former:.4g}"
            lines.append(
                f"{each.name}: {each.weight:.4g} ± {each.error:.2g} "
                f"({each.low:.4g} to {each.high:.4g}){former}"
            )
        if self.held_out is not None:
            for name, before, after, change in held_out_rows(self.held_out):
                lines.append(f"{name}, held-out: {before}, then {after}: {change}")
            for gap in self.held_out.gap_changes:
                lines.append(f"slice where {gap.condition}: {gap.before}, then {gap.after}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, object]:
        """JSON representation, without the positions and the full evaluation."""
        left_out = ("weights", "held_out", "evaluation", "start", "origin")
        plain = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out
        }
        plain["weights"] = [asdict(each) for each in self.weights]
        apart = self.held_out
        plain["held_out"] = apart and {
            "games": apart.comparison.one.games,
            "positions": apart.comparison.one.positions,
            "metrics": apart.comparison.rows(),
            "slices": [asdict(each) for each in apart.gap_changes],
        }
        return plain

    def save(self, path: str | Path, *, command: str | None = None) -> None:
        """Write a file for `eval=FILE`; for an evaluator's scores, the formula's numbers.

        `command` is recorded as the file's origin.
        """
        origin = self.origin if command is None else replace(self.origin, command=command)
        if self.evaluation is not None:
            self.evaluation.save(path, origin)
            return
        content = {
            "game": self.game,
            "scores": self.source,
            "scale": self.scale,
            "columns": {each.name: each.weight for each in self.weights},
        }
        ModelFile.of("formula", content, origin=origin).save(path)


@dataclass(frozen=True, kw_only=True)
class WeightPlan:
    """Options of a fit of weights."""

    method: Method = option("mlm", "Maximum likelihood, or least squares.")
    hold_out: float = option(0.2, "Share of held-out games.", min=0, max=0.9)
    seed: int = option(0, "Seed of the choice of held-out games.", min=0)

    def __post_init__(self) -> None:
        check_options(self)


def fit_weights(
    examples: Examples,
    method: Method = WeightPlan.method,
    *,
    hold_out: float = WeightPlan.hold_out,
    seed: int = WeightPlan.seed,
    confidence: float = 0.95,
    resamples: int = 1000,
) -> WeightFit:
    """Fit the weights of examples together with the scale.

    `mlm` maximizes the logistic likelihood; `ls` minimizes the squared error. A share `hold_out`
    of the games, selected by `seed`, is held out for evaluation; 0 skips it. Standard errors are
    clustered by game. Raises StudyError if the examples do not determine the weights.
    """
    apart = is_held_out(examples.games, hold_out, seed)
    fitted_on = ~apart
    if not fitted_on.any():
        raise StudyError("no game is left to fit on: hold out fewer, or take more games")
    games, results = examples.games[fitted_on], examples.results[fitted_on]
    design = np.column_stack([examples.rest, examples.features])
    names = [_BASE, *(weight.name for weight in examples.weights)]
    fit = fit_sigmoid(design[fitted_on], results, games, names=names, method=method)
    scale_before = scale_alone(examples.before[fitted_on], results, games, method)
    fitted, scale, scale_error = _as_weights(fit, examples, len(np.unique(games)), confidence)
    amounts = np.array([each.weight for each in fitted])
    unseen = None
    if apart.any():
        after = (examples.rest + examples.features @ amounts)[apart]
        resampling = Resampling(resamples=resamples, seed=seed, confidence=confidence)
        unseen = _held_out(examples, apart, after, (scale_before, scale), resampling)
    return WeightFit(
        method,
        examples.game,
        fitted,
        scale,
        scale_error,
        scale_before,
        examples.unit,
        examples.source,
        len(np.unique(games)),
        int(fitted_on.sum()),
        confidence,
        unseen,
        examples.evaluation(amounts, scale),
        examples.start,
        Origin(
            "hyoka.fit_weights",
            seed,
            {"games": len(np.unique(games)), "positions": int(fitted_on.sum())},
            _choices(examples, method, hold_out),
            {} if examples.start is None else {"weights": examples.start.model_file().sha256},
        ),
    )


def _choices(examples: Examples, method: Method, hold_out: float) -> dict[str, str]:
    """Choices that identify a fit, besides its examples and seed."""
    chosen = {"study": examples.study, "scores": examples.source, "method": method}
    fitted = ", ".join(each.name for each in examples.weights)
    return chosen | {"fitted": fitted, "held out": f"{hold_out:g} of the games"}


def _held_out(
    examples: Examples,
    rows: NDArray[np.bool_],
    after: Array,
    scales: tuple[float, float],
    resampling: Resampling,
) -> HeldOut:
    """Evaluate the fit on held-out games."""

    def sample(name: str, numbers: Array, unit: str) -> Sample:
        return Sample.of(
            name, numbers, results=examples.results[rows], games=examples.games[rows], unit=unit
        )

    start = examples.before[rows]
    before, then = sample("before", start, examples.unit), sample("after", after, examples.unit)
    claims = (
        sample("before", logistic(start / scales[0]), VALUE),
        sample("after", logistic(after / scales[1]), VALUE),
    )
    conditions = extremes({name: trait[rows] for name, trait in examples.traits.items()})
    return HeldOut(
        before,
        then,
        conditions,
        compare(claims[1], claims[0], resampling=resampling),
        gap_changes(before, then, conditions),
    )


def held_out_rows(apart: HeldOut) -> Iterator[tuple[str, str, str, str]]:
    """Metrics of the fit as text: name, before, after, change."""
    for each in apart.comparison.differences:
        if each.metric.name in _SHOWN:
            change = each.difference.text("+.4f")
            yield each.metric.title, f"{each.other:.4f}", f"{each.one:.4f}", change


def is_held_out(games: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Which positions belong to held-out games: about `share`, by game and seed alone.

    >>> rows = is_held_out(np.array([0, 0, 1, 1, 2, 2]), 0.5, seed=1)
    >>> bool((rows[::2] == rows[1::2]).all())
    True
    """
    if not 0 <= share < 1:
        raise StudyError(f"a share of the games is from 0 to less than 1, not {share:g}")
    bits = scrambled(games, np.full(len(games), 2**20), seed)
    return np.asarray(bits.astype(np.float64) / 2.0**64 < share)


def scale_alone(
    scores: Array, results: Array, games: NDArray[np.int64], method: Method = "mlm"
) -> float:
    """Scale of scores, fitted alone to the results."""
    fit = fit_sigmoid(scores[:, None], results, games, names=["the score"], method=method)
    return _scale(float(fit.coefficients[0]))


def _scale(steepness: float) -> float:
    if not steepness > 0:
        raise StudyError(
            "greater scores go with worse results: these scores are not the first player's, "
            "or say nothing of the results"
        )
    return 1 / steepness


def _as_weights(
    fit: SigmoidFit, examples: Examples, games: int, confidence: float
) -> tuple[tuple[FittedWeight, ...], float, float]:
    """Convert β to weights and scale, with errors by the delta method."""
    steepness = float(fit.coefficients[0])
    scale = _scale(steepness)
    reach = interval_reach(games, confidence)
    scale_error = float(np.sqrt(fit.covariance[0, 0])) * scale**2
    fitted = []
    for index, weight in enumerate(examples.weights, start=1):
        amount = float(fit.coefficients[index]) * scale
        slopes = np.zeros(len(fit.coefficients))
        slopes[0], slopes[index] = -amount * scale, scale
        error = float(np.sqrt(slopes @ fit.covariance @ slopes))
        fitted.append(
            FittedWeight(
                weight.name,
                amount,
                error,
                amount - reach * error,
                amount + reach * error,
                weight.former,
            )
        )
    return tuple(fitted), scale, scale_error
