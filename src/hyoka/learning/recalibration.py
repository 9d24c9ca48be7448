# SPDX-License-Identifier: Apache-2.0
"""Learning of calibration models from a study's games, with tests on held-out games.

Games are held out by a hash of their moves, so copies of a game are on the same side. Maps are
fitted to the other games. `best` is the map with the least log-loss in a cross-validation over
these games.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis import (
    MIN_GAMES,
    NO_INTERVALS,
    Comparison,
    DrawnGames,
    Resampling,
    Sample,
    Stages,
    compare_measured,
    fit_logistic,
    fit_plain,
    fit_wdl_model,
    measure,
    recalibrated,
)
from hyoka.analysis.calibration import SURE
from hyoka.foundation.errors import ParameterError, StudyError, named
from hyoka.foundation.figure import Figure
from hyoka.foundation.math import Estimate, damped_newton, logistic
from hyoka.foundation.options import WHERE_HELP, check_options, option
from hyoka.learning.weights import is_held_out
from hyoka.models.calibration_model import (
    LANGUAGES,
    MAPS,
    VALUE,
    BetaMap,
    CalibrationMap,
    CalibrationModel,
    IsotonicMap,
    PlattMap,
    WdlMap,
    clipped,
    move_number,
)
from hyoka.storage.files import write_bytes, write_text
from hyoka.storage.game_ids import GameIds
from hyoka.storage.model_file import Origin
from hyoka.storage.result import COUNT, NUMBER, TEXT, TOO_FEW, Columns, Result, table_of
from hyoka.study.evaluating import ids_of_games
from hyoka.study.sampling import Axis, Question, chosen_evaluator, evaluator_text, measured

if TYPE_CHECKING:
    from hyoka.study import Study

Reals = NDArray[np.float64]
_STEPS: Final = 100
"""Maximum number of Newton steps."""
_MEASURES: Final = ("log_loss", "brier_loss", "calibration_error")
_FOLD_SALT: Final = 1 << 32
"""Separates the seeds of folds from those of held-out games."""
_CURVE: Final = 81
"""Points of a drawn curve."""


@dataclass(frozen=True, kw_only=True)
class CalibrationPlan:
    """Options of the learning of a calibration model."""

    map: Literal["best", "platt", "beta", "isotonic", "wdl"] = option(
        "best",
        "Map: Platt scaling, beta calibration (of values), isotonic regression, wins and losses by "
        "score and move number (of scores with draws), or the one with the least log-loss in a "
        "cross-validation over the fitting games.",
    )
    draws: DrawnGames = option("half", "Count drawn games as half a win, or leave them out.")
    axis: Axis = option("auto", "Quantity of an evaluation to analyze; auto: its primary one.")
    where: str | None = option(None, WHERE_HELP, metavar="SQL")
    hold_out: float = option(0.3, "Share of held-out games.", min=0, max=0.9)
    folds: int = option(5, "Number of parts of the fitting games for cross-validation.", min=2)
    seed: int = option(0, "Seed of the choice of held-out games.", min=0)
    min_games: int = option(MIN_GAMES, "Minimum number of games per fit and figure.", min=1)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class _Positions:
    """Evaluations, results and move numbers of positions; mates are infinite."""

    sample: Sample
    moves: Reals = field(repr=False)

    def where(self, chosen: NDArray[np.bool_]) -> "_Positions":
        return _Positions(self.sample.where(chosen), self.moves[chosen])

    @property
    def is_certain(self) -> NDArray[np.bool_]:
        return np.isinf(self.sample.values)

    @property
    def fitted(self) -> "_Positions":
        """The positions without mates, which are certain under any map."""
        return self.where(~self.is_certain)

    @property
    def games(self) -> int:
        return len(np.unique(self.sample.games))

    def expected(self, model: CalibrationModel) -> Reals:
        return model.expected(self.sample.values.astype(np.float64), self.moves)


def fit_map(
    name: str,
    values: Sequence[float] | NDArray[Any],
    *,
    results: Sequence[float] | NDArray[Any],
    games: Sequence[int] | NDArray[Any],
    unit: str = VALUE,
    moves: Sequence[int] | NDArray[Any] | None = None,
) -> CalibrationMap:
    """Fit a map from values or scores to results, 0 to 1, by maximum likelihood.

    Isotonic maps minimize the squared error and the log-loss alike. `moves` are move numbers, for
    `wdl`. Raises StudyError if no map fits.

    >>> values, results = [0.2, 0.4, 0.4, 0.9, 0.9, 0.9], [0, 0, 1, 1, 0, 1]
    >>> fit_map("isotonic", values, results=results, games=range(6)).shares
    (0.0001, 0.5, 0.6666666666666666)
    """
    numbers = np.ones(len(values)) if moves is None else np.asarray(moves, np.float64)
    sample = Sample.of("the evaluator", values, results=results, games=games, unit=unit)
    assert sample.rows is not None
    return _fitted(name, _Positions(sample, numbers[sample.rows]))


def _fitted(name: str, positions: _Positions) -> CalibrationMap:
    """Fit a map by name; raises StudyError with the reason if none fits."""
    kind, unit = MAPS[name], positions.sample.unit
    if not kind.applies_to(unit):
        has = "values" if unit == VALUE else "scores"
        other = "scores" if unit == VALUE else "values"
        raise ParameterError("map", f"{name} is for {other}, and {positions.sample.name} has {has}")
    part = positions.fitted
    _check(part.sample)
    fitted: CalibrationMap = _FITS[name](part)
    if problem := fitted.problem():
        raise StudyError(f"{name}: no map fits: {problem}")
    return fitted


def _check(sample: Sample) -> None:
    """Raise StudyError unless the results determine a rising map."""
    results, values = sample.results, sample.values
    if not len(sample):
        raise StudyError(f"{sample.name}: all evaluations are mates")
    if (results == results[0]).all():
        raise StudyError(f"{sample.name}: all results are equal: a map needs wins and losses")
    if (values == values[0]).all():
        raise StudyError(f"{sample.name}: all evaluations are {values[0]:g}: a map needs several")
    won, lost = values[results > 0], values[results < 1]
    if won.min() >= lost.max():
        raise StudyError(
            f"{sample.name}: perfect separation of wins and losses: the likelihood has no "
            "maximum; add games"
        )


_BACKWARDS: Final = "higher evaluations do not mean more wins"


def _fit_platt(positions: _Positions) -> PlattMap:
    sample = positions.sample
    if sample.unit == VALUE:
        v = clipped(sample.values.astype(np.float64))
        c, slope = _fit_odds(np.log(v)[:, None] - np.log1p(-v)[:, None], sample)
        if not slope > 0:
            raise StudyError(f"platt: no map fits: {_BACKWARDS}")
        return PlattMap(c, slope)
    fit = fit_logistic(sample)
    if not fit.converged:
        raise StudyError(f"platt: no map fits: {fit.missing_reason}")
    if not fit.slope.value > 0:
        raise StudyError(f"platt: no map fits: {_BACKWARDS}")
    return PlattMap(fit.intercept.value, fit.slope.value, fit.link.bend, fit.link.limit)


def _fit_beta(positions: _Positions) -> BetaMap:
    """Fit a and b, neither of them negative.

    The log-likelihood is concave, so a negative coefficient is 0 at the bounded maximum.
    """
    sample = positions.sample
    v = clipped(sample.values.astype(np.float64))
    low, high = np.log(v)[:, None], -np.log1p(-v)[:, None]
    candidates = []
    for columns, place in ((np.hstack([low, high]), (1, 2)), (low, (1,)), (high, (2,))):
        try:
            fitted = _fit_odds(columns, sample)
        except StudyError:
            continue
        numbers = np.zeros(3)
        numbers[[0, *place]] = fitted
        if (numbers[1:] >= 0).all() and numbers[1:].any():
            odds = numbers[0] + numbers[1] * low[:, 0] + numbers[2] * high[:, 0]
            candidates.append((_log_loss(odds, sample), numbers))
            if len(place) == 2:
                break
    if not candidates:
        raise StudyError(f"beta: no map fits: {_BACKWARDS}")
    c, a, b = min(candidates, key=lambda each: each[0])[1].tolist()
    return BetaMap(a, b, c)


def _fit_isotonic(positions: _Positions) -> IsotonicMap:
    sample = positions.sample
    # The shortest decimal number that reads back as the stored one.
    inputs, first = np.unique(sample.values, return_index=True)
    values, results = (each.astype(np.float64) for each in (sample.values, sample.results))
    shares = recalibrated(values, results, np.ones(len(values)))[first]
    return IsotonicMap.of(np.array([float(str(each)) for each in inputs]), shares)


def _fit_wdl(positions: _Positions) -> WdlMap:
    sample, moves = positions.sample, positions.moves
    stages = Stages.of("move", moves)
    model = fit_wdl_model(sample, moves, stages, resampling=NO_INTERVALS)
    if not model.converged:
        raise StudyError(f"wdl: no map fits: {model.missing_reason}")
    within = model.stages
    return WdlMap(
        tuple(each.value for each in model.a),
        tuple(each.value for each in model.b),
        within.low,
        within.high,
        within.reference,
    )


_FITS: Final[Mapping[str, Any]] = {
    "platt": _fit_platt,
    "beta": _fit_beta,
    "isotonic": _fit_isotonic,
    "wdl": _fit_wdl,
}


def _log_loss(odds: Reals, sample: Sample) -> float:
    """The mean negative log-likelihood of log odds."""
    each = np.logaddexp(0, odds) - sample.results * odds
    return float(each.mean())


def _fit_odds(columns: Reals, sample: Sample) -> tuple[float, ...]:
    """Fit log odds by maximum likelihood; return the intercept and the columns' coefficients."""
    mean, spread = columns.mean(axis=0), columns.std(axis=0)
    if not (spread > 0).all():
        raise StudyError(f"{sample.name}: all evaluations are equal")
    design = np.column_stack([np.ones(len(columns)), (columns - mean) / spread])
    results = sample.results.astype(np.float64)

    def loss(theta: Reals) -> tuple[float, Reals]:
        odds = design @ theta
        return float((np.logaddexp(0, odds) - results * odds).mean()), logistic(odds)

    def newton_step(theta: Reals, chance: Reals) -> tuple[Reals, bool]:
        gradient = design.T @ (results - chance)
        hessian = (design * (chance * (1 - chance))[:, None]).T @ design
        step: Reals = np.linalg.solve(hessian, gradient)
        return step, bool(np.abs(step).max() <= 1e-11 * (1 + np.abs(theta).max()))

    theta, converged = damped_newton(np.zeros(design.shape[1]), loss, newton_step, steps=_STEPS)
    if not converged:
        raise StudyError(f"{sample.name}: the fit did not converge")
    slopes = theta[1:] / spread
    return (float(theta[0] - slopes @ mean), *slopes.tolist())


@dataclass(frozen=True)
class MapTest:
    """A fitted map and its test on held-out games."""

    model: CalibrationModel
    cross_validated: float
    """Mean log-loss in the cross-validation over the fitting games; NaN without one."""
    comparison: Comparison | None
    """The expected scores after against those before, on held-out games; None without these."""

    def change(self, measure: str) -> tuple[float, float, Estimate]:
        """A measure before and after, and the difference with its interval."""
        nothing = (math.nan, math.nan, Estimate(math.nan))
        if self.comparison is None:
            return nothing
        for each in self.comparison.differences:
            if each.metric.name == measure:
                return each.other, each.one, each.difference
        return nothing


@dataclass(frozen=True, repr=False)
class LearnedCalibration(Result):
    """A calibration model, and the tests of all fitted maps on held-out games."""

    drawn_by = "calibration_maps"

    evaluator: str
    tests: tuple[MapTest, ...]
    model: CalibrationModel
    """The model to store, with its origin."""
    before: str
    """The expected scores without a model."""
    games: int
    """The number of fitting games."""
    positions: int
    held_out_games: int
    held_out_positions: int
    draws: DrawnGames
    without: tuple[str, ...] = ()
    """Why maps are missing."""
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `tests` has all figures."""

    @property
    def title(self) -> str:
        """One-line title."""
        held_out = f"{self.held_out_positions:,} positions of {self.held_out_games:,}"
        return f"Calibration of {self.evaluator}, tested on {held_out} held-out games"

    @property
    def stored(self) -> MapTest:
        """The test of the stored map."""
        return next(each for each in self.tests if each.model.map == self.model.map)

    def curves(self) -> Iterator[tuple[str, Reals, Reals]]:
        """Name, inputs and expected scores of each map."""
        for each in self.tests:
            yield from curves_of(each.model)

    def table(self) -> pa.Table:
        """One row per map and measure."""
        return table_of(_TEST_COLUMNS, [(each, name) for each in self.tests for name in _MEASURES])

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """One row per map and measure."""
        heading = ("map", "held-out", "before", "after", "change")
        return (heading, *(self._cells(each, name) for each in self.tests for name in _MEASURES))

    def _cells(self, test: MapTest, measure: str) -> tuple[str, ...]:
        name = test.model.map.name
        mark = f"{name} (stored)" if test is self.stored and len(self.tests) > 1 else name
        before, after, change = test.change(measure)
        figures = (TOO_FEW, TOO_FEW, TOO_FEW)
        if self.held_out_games >= self.min_games:
            figures = (f"{before:.4f}", f"{after:.4f}", change.text("+.4f"))
        return (mark, _TITLES[measure], *figures)

    def notes(self) -> tuple[str, ...]:
        """What the maps were fitted to, the choice, and whether the stored one is better."""
        notes = [
            f"Fitted to {self.positions:,} positions of {self.games:,} other games; drawn games "
            f"{'are left out' if self.draws == 'drop' else 'count as half a win'}. Before: "
            f"{self.before}."
        ]
        validated = [each for each in self.tests if not math.isnan(each.cross_validated)]
        if validated:
            losses = ", ".join(f"{e.model.map.name} {e.cross_validated:.4f}" for e in validated)
            notes.append(f"Log-loss in the cross-validation over the fitting games: {losses}.")
        notes += [f"{each}." for each in self.without]
        if not self.held_out_games:
            return (*notes, "No game was held out, so nothing is known about other games.")
        if self.held_out_games < self.min_games:
            least = named("min_games", 1)
            return (*notes, f"{TOO_FEW}: fewer than {self.min_games} held-out games; {least}.")
        change = self.stored.change("log_loss")[2]
        if math.isnan(change.high):
            notes.append("Without intervals, a gain may be due to chance.")
        elif not change.high < 0:
            doubt = "is worse" if change.low > 0 else "may not be better"
            notes.append(
                f"The stored map {doubt} than no model: the interval of the change in log-loss "
                f"{'is above' if change.low > 0 else 'includes'} 0."
            )
        return tuple(notes)


_TITLES: Final = {"log_loss": "log-loss", "brier_loss": "Brier", "calibration_error": "ECE"}
_TEST_COLUMNS: Final[Columns[tuple[MapTest, str]]] = {
    "map": (TEXT, lambda row: row[0].model.map.name),
    "measure": (TEXT, lambda row: row[1]),
    "before": (NUMBER, lambda row: row[0].change(row[1])[0]),
    "after": (NUMBER, lambda row: row[0].change(row[1])[1]),
    "change": (NUMBER, lambda row: row[0].change(row[1])[2].value),
    "low": (NUMBER, lambda row: row[0].change(row[1])[2].low),
    "high": (NUMBER, lambda row: row[0].change(row[1])[2].high),
    "cross_validated": (NUMBER, lambda row: row[0].cross_validated),
}


def learn_calibration(
    study: "Study",
    evaluator: str | None = None,
    plan: CalibrationPlan | None = None,
    *,
    command: str = "hyoka.learning.learn_calibration",
    resampling: Resampling | None = None,
) -> LearnedCalibration:
    """Fit a calibration model to a study's games, and test it on held-out games.

    Without a name, the study's only evaluator is used. Raises StudyError if there are too few
    games or no map fits.
    """
    plan, resampling = plan or CalibrationPlan(), resampling or Resampling()
    name = _evaluator(study, evaluator)
    positions, before, ids = _load(study, name, plan)
    apart = is_held_out(ids.view(np.int64), plan.hold_out, plan.seed)
    fitting, held_out = positions.where(~apart), positions.where(apart)
    title = positions.sample.name
    if fitting.games < plan.min_games:
        raise StudyError(
            f"{title}: {fitting.games:,} games to fit to, and at least {plan.min_games} are "
            f"needed; evaluate more games, or allow it with {named('min_games', 1)}"
        )
    models, without = _fit_all(study.game, fitting, plan)
    losses = dict.fromkeys(models, math.nan)
    if plan.map == "best":
        losses = {each: _cross_validated(each, fitting, ids[~apart], plan) for each in models}
    best = min(models, key=lambda each: losses[each])
    claims, how = _before(fitting, held_out, None if before is None else before[apart])
    tests = []
    reference = _measure(held_out, claims, "before", resampling) if apart.any() else None
    for each, model in models.items():
        comparison = None
        if reference is not None:
            after = _measure(held_out, held_out.expected(model), "after", resampling)
            comparison = compare_measured(after, reference, confidence=resampling.confidence)
        tests.append(MapTest(model, losses[each], comparison))
    origin = Origin(
        command,
        plan.seed,
        {"games": fitting.games, "positions": len(fitting.sample)},
        {
            "study": study.path.name,
            "evaluator": evaluator_text(study, name),
            "draws": plan.draws,
            "held out": f"{plan.hold_out:g} of the games",
        },
        learned_games=GameIds.of(np.unique(ids[~apart])),
    )
    model = CalibrationModel(study.game, positions.sample.unit, models[best].map, origin)
    return LearnedCalibration(
        title,
        tuple(tests),
        model,
        how,
        fitting.games,
        len(fitting.sample),
        held_out.games,
        len(held_out.sample),
        plan.draws,
        tuple(without),
        plan.min_games,
    )


def _evaluator(study: "Study", evaluator: str | None) -> str:
    if evaluator is not None:
        return chosen_evaluator(study, evaluator)
    if len(study.engines) > 1:
        raise ParameterError("evaluator", f"is required, one of {', '.join(study.engines)}")
    return chosen_evaluator(study, "*")


def _load(
    study: "Study", name: str, plan: CalibrationPlan
) -> tuple[_Positions, Reals | None, NDArray[np.uint64]]:
    """Load positions with the evaluator's values, if there are any, and the ids of the games."""
    question = Question(where=plan.where, draws=plan.draws, axis=plan.axis)
    loaded = measured(study, name, question, columns=["value", "mate"])
    sample = loaded.samples[0]
    value, mate = (loaded.columns[each].astype(np.float64) for each in ("value", "mate"))
    values = np.where(np.isnan(mate), sample.values, np.copysign(math.inf, mate))
    sample = Sample(
        sample.name,
        sample.unit,
        values.astype(np.float32),
        sample.results,
        sample.games,
        sample.game_count,
        first_player=sample.first_player,
    )
    positions = _Positions(sample, move_number(loaded.plies).astype(np.float64))
    infinite = np.isinf(sample.values)
    before = np.where(infinite, sample.values > 0, value)
    games, places = np.unique(loaded.game_ids, return_inverse=True)
    of_positions = ids_of_games(study, games)[places]
    return positions, None if np.isnan(before).any() else before, of_positions


def _fit_all(
    game: str, fitting: _Positions, plan: CalibrationPlan
) -> tuple[dict[str, CalibrationModel], list[str]]:
    """Fit the map of a plan, or all that apply, with the reasons why some are missing."""
    unit = fitting.sample.unit
    if plan.map != "best":
        return {plan.map: CalibrationModel(game, unit, _fitted(plan.map, fitting))}, []
    models, without = {}, []
    for name in MAPS:
        if not MAPS[name].applies_to(unit):
            continue
        try:
            models[name] = CalibrationModel(game, unit, _fitted(name, fitting))
        except StudyError as error:
            without.append(str(error))
    if not models:
        raise StudyError(without[0])
    return models, without


def _cross_validated(
    name: str, fitting: _Positions, ids: NDArray[np.uint64], plan: CalibrationPlan
) -> float:
    """The mean log-loss of a map over parts of the games, each fitted to the others.

    Infinite if it does not fit to one of them.
    """
    # Nested shares of one hash divide the games into parts.
    seed = plan.seed + _FOLD_SALT
    shares = [fold / plan.folds for fold in range(1, plan.folds)]
    parts = np.sum([is_held_out(ids.view(np.int64), share, seed) for share in shares], axis=0)
    total = weight = 0.0
    for fold in range(plan.folds):
        inside = parts == fold
        part = fitting.where(inside)
        if not len(part.sample):
            continue
        try:
            fitted = _fitted(name, fitting.where(~inside))
        except StudyError:
            return math.inf
        model = CalibrationModel("", part.sample.unit, fitted)
        claims = np.clip(part.expected(model), SURE, 1 - SURE)
        results = part.sample.results.astype(np.float64)
        total -= float((results * np.log(claims) + (1 - results) * np.log1p(-claims)).sum())
        weight += len(part.sample)
    return total / weight


def _before(fitting: _Positions, held_out: _Positions, values: Reals | None) -> tuple[Reals, str]:
    """The expected scores of held-out positions without a model, and what they are."""
    if values is not None:
        return values, "the evaluator's own values"
    plain = fit_plain(fitting.sample)
    if plain.verdict != "fits" or not plain.k.value > 0:
        mean = float(fitting.sample.results.mean())
        return np.full(len(held_out.sample), mean), f"the mean result {mean:.3f}"
    k = plain.k.value
    with np.errstate(over="ignore"):
        claims = logistic(held_out.sample.values.astype(np.float64) / k)
    return claims, (
        f"1 / (1 + exp(-score / {k:.4g})), fitted to the same games, as the evaluator has no values"
    )


def _measure(positions: _Positions, claims: Reals, name: str, resampling: Resampling) -> Any:
    sample = positions.sample
    claimed = Sample.of(name, claims, results=sample.results, games=sample.games)
    return measure(claimed, resampling=resampling)


def curves_of(model: CalibrationModel) -> Iterator[tuple[str, Reals, Reals]]:
    """Name, inputs and expected scores of a model's curves: one, or one per move number."""
    inputs = model.shown_inputs(_CURVE)
    for move in model.shown_moves():
        words = "" if math.isnan(move) else f", move {move:g}"
        yield f"{model.map.name}{words}", inputs, model.expected(inputs, move)


@dataclass(frozen=True, repr=False)
class CalibrationTable(Result):
    """A calibration model as a table of inputs and expected scores."""

    drawn_by: ClassVar[str] = "calibration_maps"

    model: CalibrationModel

    @property
    def title(self) -> str:
        """One-line title."""
        return f"Expected score by {self.model.quantity}: {self.model.map.words}"

    def curves(self) -> Iterator[tuple[str, Reals, Reals]]:
        """Name, inputs and expected scores of each curve."""
        yield from curves_of(self.model)

    def table(self) -> pa.Table:
        """One row per input and move number."""
        return table_of(_ROW_COLUMNS, self.model.rows())

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """One row per input, one column per move number."""
        moves = self.model.shown_moves()
        names = ["expected score" if math.isnan(m) else f"move {m:g}" for m in moves]
        by_input: dict[float, list[str]] = {}
        for number, _, expected in self.model.rows():
            by_input.setdefault(number, []).append(f"{expected:.3f}")
        heading = ("value" if self.model.unit == VALUE else "score", *names)
        return (heading, *((f"{number:.4g}", *cells) for number, cells in by_input.items()))

    def save(self, path: str | Path, figure: Figure | None = None) -> None:
        """Write the curve or the table, the constants (`.json`), or code (`.c`, `.h`, `.py`)."""
        file = Path(path)
        if (language := LANGUAGES.get(file.suffix.lower())) is not None:
            write_text(file, self.model.code(language))
        elif file.suffix.lower() == ".json":
            write_bytes(file, self.model.model_file().content)
        else:
            super().save(file, figure)


_ROW_COLUMNS: Final[Columns[tuple[float, float, float]]] = {
    "input": (NUMBER, lambda row: row[0]),
    "move": (COUNT, lambda row: None if math.isnan(row[1]) else int(row[1])),
    "expected": (NUMBER, lambda row: row[2]),
}
