# SPDX-License-Identifier: Apache-2.0
"""Calibration models: maps from an evaluator's values or scores to expected scores.

A map is monotone. Values are clipped to [CLIP, 1 - CLIP] before their log odds. A mate is certain
under any map, and so is a score of at least `MATE_SCORE` centipawns.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import NDArray

from hyoka.foundation.errors import NotationError, ParameterError, SourceError
from hyoka.foundation.math import logistic
from hyoka.games.evaluation import MATE_SCORE, Evaluation
from hyoka.models.model import Model
from hyoka.storage.model_file import ModelFile, Origin, number_of, read_model_file, shown
from hyoka.storage.outputs import GENERATOR

Reals = NDArray[np.float64]
MapName = Literal["platt", "beta", "isotonic", "wdl"]
CLIP: Final = 1e-4
"""Values are clipped to [CLIP, 1 - CLIP], and so are the expected scores of isotonic maps."""
VALUE: Final = "value"
"""The unit of values, 0 to 1."""
_UNIT: Final = re.compile(r"\w[\w ]*")
_ROWS: Final = 13
"""The number of inputs in tables."""


class CalibrationMap(ABC):
    """A monotone map from values or scores to expected scores."""

    name: ClassVar[MapName]
    words: ClassVar[str]
    """A description for people."""

    @classmethod
    def applies_to(cls, unit: str) -> bool:
        """Whether it maps inputs of a unit."""
        return True

    @abstractmethod
    def expected(self, unit: str, inputs: Reals, moves: Reals) -> Reals:
        """Map finite inputs at move numbers to expected scores."""

    @abstractmethod
    def problem(self) -> str:
        """What is wrong with the numbers; empty if nothing is."""

    @abstractmethod
    def formula(self, unit: str) -> Sequence[tuple[str, str]]:
        """The map as names and expressions in the common part of C and Python.

        The input is `x`, the last name is the expected score. Lists of numbers have upper-case
        names and come first.
        """

    def content(self) -> dict[str, Any]:
        """The numbers of a file; null for infinity."""
        numbers = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        return {
            name: list(number)
            if isinstance(number, tuple)
            else (number if math.isfinite(number) else None)
            for name, number in numbers.items()
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Read the numbers of a file; raises ValueError."""
        names = {each.name for each in fields(cls)}  # type: ignore[arg-type]
        if set(content) != names:
            raise ValueError(f"the map has {', '.join(sorted(names))}, not {shown(list(content))}")
        numbers: dict[str, Any] = {}
        for each in fields(cls):  # type: ignore[arg-type]
            number = content[each.name]
            if number is None and each.default == math.inf:
                numbers[each.name] = math.inf
            elif isinstance(number, list):
                numbers[each.name] = tuple(map(number_of, number))
            else:
                numbers[each.name] = number_of(number)
            is_list = isinstance(number, list)
            if is_list != ("tuple" in str(each.type)) or np.isnan(numbers[each.name]).any():
                raise ValueError(f"'{each.name}' can't be {shown(number)}")
        read = cls(**numbers)
        if problem := read.problem():
            raise ValueError(problem)
        return read


def clipped(values: Reals) -> Reals:
    """Clip values away from 0 and 1."""
    return np.clip(values, CLIP, 1 - CLIP)


@dataclass(frozen=True)
class PlattMap(CalibrationMap):
    """Platt scaling: 1 / (1 + exp(-(intercept + slope · x))).

    x is a value's log odds, or a score transformed by a link: bend · asinh(score / bend), with the
    score clipped to the limit.
    """

    name = "platt"
    words = "Platt scaling"

    intercept: float
    slope: float
    bend: float = math.inf
    limit: float = math.inf

    def problem(self) -> str:
        """Require a rising map."""
        if not (self.slope > 0 and self.bend > 0 and self.limit > 0):
            return "the slope, the bend and the limit are positive"
        return "" if math.isfinite(self.intercept + self.slope) else "the slope is finite"

    def expected(self, unit: str, inputs: Reals, moves: Reals) -> Reals:
        """Map the log odds of values, or scores."""
        if unit == VALUE:
            within = clipped(inputs)
            x = np.log(within) - np.log1p(-within)
        else:
            x = np.clip(inputs, -self.limit, self.limit)
            x = self.bend * np.arcsinh(x / self.bend) if math.isfinite(self.bend) else x
        return logistic(self.intercept + self.slope * x)

    def formula(self, unit: str) -> Sequence[tuple[str, str]]:
        """Log odds or link, then the logistic function."""
        steps = []
        if unit == VALUE:
            steps.append(("v", f"clip(x, {CLIP!r}, {1 - CLIP!r})"))
            link = "log(v) - log1p(-v)"
        else:
            link = "x"
            if math.isfinite(self.limit):
                link = f"clip(x, {-self.limit!r}, {self.limit!r})"
            if math.isfinite(self.bend):
                link = f"{self.bend!r} * asinh({link} / {self.bend!r})"
        odds = f"{self.intercept!r} + {self.slope!r} * z"
        return [*steps, ("z", link), ("p", f"logistic({odds})")]


@dataclass(frozen=True)
class BetaMap(CalibrationMap):
    """Beta calibration (Kull 2017) of values v: the log odds are a · ln v - b · ln(1 - v) + c."""

    name = "beta"
    words = "beta calibration"

    a: float
    b: float
    c: float

    @classmethod
    def applies_to(cls, unit: str) -> bool:
        """Values only."""
        return unit == VALUE

    def problem(self) -> str:
        """Require a rising map."""
        rises = self.a >= 0 and self.b >= 0 and 0 < self.a + self.b < math.inf
        return "" if rises and math.isfinite(self.c) else "a and b are positive, or one is 0"

    def expected(self, unit: str, inputs: Reals, moves: Reals) -> Reals:
        """Map values."""
        v = clipped(inputs)
        return logistic(self.c + self.a * np.log(v) - self.b * np.log1p(-v))

    def formula(self, unit: str) -> Sequence[tuple[str, str]]:
        """The log odds, then the logistic function."""
        odds = f"{self.c!r} + {self.a!r} * log(v) - {self.b!r} * log1p(-v)"
        return [("v", f"clip(x, {CLIP!r}, {1 - CLIP!r})"), ("p", f"logistic({odds})")]


@dataclass(frozen=True)
class IsotonicMap(CalibrationMap):
    """Isotonic regression: points, linearly interpolated and constant beyond the ends."""

    name = "isotonic"
    words = "isotonic regression"

    inputs: tuple[float, ...] = field(repr=False)
    """Ascending."""
    shares: tuple[float, ...] = field(repr=False)
    """The expected scores."""

    @classmethod
    def of(cls, inputs: Reals, shares: Reals) -> "IsotonicMap":
        """Build the map of ascending inputs, without points inside of constant pieces."""
        ends = np.ones(len(inputs), bool)
        ends[1:-1] = (np.diff(shares)[1:] != 0) | (np.diff(shares)[:-1] != 0)
        within = clipped(shares[ends])
        return cls(tuple(inputs[ends].tolist()), tuple(within.tolist()))

    def problem(self) -> str:
        """Require ascending points."""
        if not self.inputs or len(self.inputs) != len(self.shares):
            return "each input has one share"
        if not (np.isfinite(self.inputs).all() and (np.diff(self.inputs) > 0).all()):
            return "the inputs do not rise"
        rises = (np.diff(self.shares) >= 0).all()
        return "" if rises and 0 <= self.shares[0] <= self.shares[-1] <= 1 else "the shares fall"

    def expected(self, unit: str, inputs: Reals, moves: Reals) -> Reals:
        """Interpolate."""
        return np.asarray(np.interp(inputs, self.inputs, self.shares))

    def formula(self, unit: str) -> Sequence[tuple[str, str]]:
        """A search in the list of inputs."""
        lists = [
            (name, ", ".join(map(repr, numbers)))
            for name, numbers in (("XS", self.inputs), ("YS", self.shares))
        ]
        return [*lists, ("p", "interpolate(x)")]


@dataclass(frozen=True)
class WdlMap(CalibrationMap):
    """Wins and losses by score and move number: win = 1 / (1 + exp((a - score) / b)).

    a and b are polynomials of the move number / reference; coefficients ascend. A loss is a win at
    the negated score, and draws are the rest.
    """

    name = "wdl"
    words = "wins, draws and losses by score and move number"

    a: tuple[float, ...]
    b: tuple[float, ...]
    low: float
    high: float
    """The range of move numbers, to which others are clipped."""
    reference: float

    @classmethod
    def applies_to(cls, unit: str) -> bool:
        """Scores only."""
        return unit != VALUE

    def problem(self) -> str:
        """Require a rising map at every move number."""
        if not (self.a and self.b and 0 < self.reference < math.inf and self.low <= self.high):
            return "the polynomials, the reference and the range are not complete"
        if not np.isfinite([self.low, self.high, *self.a, *self.b]).all():
            return "the polynomials and the range are finite"
        moves = np.linspace(self.low, self.high, 1000)
        a, b = self._polynomials(moves)
        if not (b > 0).all():
            return "the spread b is not positive at all move numbers"
        return "" if (a >= 0).all() else "a is negative at some move numbers"

    def _polynomials(self, moves: Reals) -> tuple[Reals, Reals]:
        x = np.clip(moves, self.low, self.high) / self.reference
        return np.asarray(polyval(x, self.a)), np.asarray(polyval(x, self.b))

    def chances(self, scores: Reals, moves: Reals) -> tuple[Reals, Reals]:
        """The probabilities of a win and of a loss."""
        a, b = self._polynomials(moves)
        return logistic((scores - a) / b), logistic((-scores - a) / b)

    def expected(self, unit: str, inputs: Reals, moves: Reals) -> Reals:
        """A win and half of a draw."""
        win, loss = self.chances(inputs, moves)
        return np.asarray((1 + win - loss) / 2)

    def formula(self, unit: str) -> Sequence[tuple[str, str]]:
        """Polynomials by Horner's method, then two logistic functions."""
        low, high, reference = (repr(float(each)) for each in (self.low, self.high, self.reference))
        return [
            ("t", f"clip(move, {low}, {high}) / {reference}"),
            ("a", _horner(self.a)),
            ("b", _horner(self.b)),
            ("win", "logistic((x - a) / b)"),
            ("loss", "logistic((-x - a) / b)"),
            ("p", "(1 + win - loss) / 2"),
        ]


def _horner(coefficients: Sequence[float]) -> str:
    *lower, text = map(repr, coefficients)
    for each in reversed(lower):
        text = f"({text}) * t + {each}" if " " in text else f"{text} * t + {each}"
    return text


MAPS: Final[dict[str, type[CalibrationMap]]] = {
    each.name: each for each in (PlattMap, BetaMap, IsotonicMap, WdlMap)
}
"""The maps by name, the simplest first."""


@dataclass(frozen=True)
class CalibrationModel(Model):
    """A map from an evaluator's values or scores to expected scores.

    >>> model = CalibrationModel("chess", "centipawns", PlattMap(0.0, 0.005))
    >>> model.expected([0, 200, math.inf]).round(3).tolist()
    [0.5, 0.731, 1.0]
    """

    kind = "calibration"

    game: str
    unit: str
    """`value`, or the unit of the scores that it maps, such as `centipawns`."""
    map: CalibrationMap
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not _UNIT.fullmatch(self.unit):  # it is part of comments in code
            raise NotationError(f"a unit is some words, such as centipawns, not '{self.unit}'")
        if not self.map.applies_to(self.unit):
            raise NotationError(f"{self.map.name} maps no inputs in {self.unit}")

    @property
    def quantity(self) -> str:
        """The input in words."""
        return "value" if self.unit == VALUE else f"score in {self.unit}"

    @property
    def needs_move(self) -> bool:
        """Whether the map depends on the move number."""
        return isinstance(self.map, WdlMap)

    @property
    def certain(self) -> float:
        """The score from which a win is certain."""
        return float(MATE_SCORE) if self.unit == "centipawns" else math.inf

    def expected(
        self, inputs: NDArray[Any] | Sequence[float], moves: NDArray[Any] | float = 1.0
    ) -> Reals:
        """Map values or scores, at move numbers, to expected scores; NaN stays NaN."""
        numbers = np.asarray(inputs, np.float64)
        at = np.broadcast_to(np.asarray(moves, np.float64), numbers.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            # Infinite inputs and NaN are replaced afterwards.
            fitted = self.map.expected(self.unit, np.nan_to_num(numbers, posinf=0, neginf=0), at)
        return np.select(
            [np.isnan(numbers), numbers >= self.certain, numbers <= -self.certain],
            [np.nan, 1.0, 0.0],
            fitted,
        )

    def inputs(self, values: Reals, scores: Reals, mates: Reals, units: Collection[str]) -> Reals:
        """Choose the inputs of evaluations, whose unknown parts are NaN.

        Mates are infinite. NaN stands for nothing to map: an evaluation without any part, or a
        finished game, whose value is known without a score. `units` are those of the scores.
        Raises NotationError for an evaluation that lacks what the map needs.
        """
        if self.unit == VALUE:
            numbers = values
            lacks = np.isnan(values) & np.isfinite(scores)
        else:
            if others := sorted(set(units) - {self.unit}):
                raise NotationError(f"a {self.quantity} is needed, not in {', '.join(others)}")
            numbers = scores
            lacks = np.isnan(scores) & ~np.isnan(values) & ~np.isin(values, [0, 0.5, 1])
        if (lacks & np.isnan(mates)).any():
            raise NotationError(f"a {self.quantity} is needed, but there is none")
        return np.where(np.isnan(mates), numbers, np.copysign(math.inf, mates))

    def calibrated(self, evaluation: Evaluation, ply: int) -> Evaluation:
        """Replace the value of an evaluation after `ply` moves by the calibrated one.

        The probabilities of win, draw and loss are those of the map, if it has any.
        """
        parts = (evaluation.value, evaluation.score, evaluation.mate)
        value, score, mate = (np.array([math.nan if n is None else float(n)]) for n in parts)
        inputs = self.inputs(value, score, mate, {evaluation.unit} - {""})
        if np.isnan(inputs).any():
            return evaluation
        move = float(move_number(ply))
        expected = self.expected(inputs, move).item()
        if not isinstance(self.map, WdlMap):
            return replace(evaluation, value=expected, win=None, draw=None, loss=None)
        win, draw, loss = (each.item() for each in self.chances(inputs, move))
        return replace(evaluation, value=expected, win=win, draw=draw, loss=loss)

    def chances(self, inputs: Reals, moves: Reals | float) -> tuple[Reals, Reals, Reals]:
        """The probabilities of win, draw and loss; NaN if the map has none."""
        if not isinstance(self.map, WdlMap):
            nothing = np.full(np.shape(inputs), math.nan)
            return nothing, nothing, nothing
        at = np.broadcast_to(np.asarray(moves, np.float64), inputs.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            win, loss = self.map.chances(inputs, at)
        won, lost = inputs >= self.certain, inputs <= -self.certain
        win = np.select([won, lost], [1.0, 0.0], win)
        loss = np.select([won, lost], [0.0, 1.0], loss)
        return win, 1 - win - loss, loss

    def rows(self) -> Iterator[tuple[float, float, float]]:
        """Inputs, move numbers and expected scores of a table; the move number may be NaN."""
        for move in self.shown_moves():
            inputs = self.shown_inputs(_ROWS)
            expected = self.expected(inputs, move)
            for number, share in zip(inputs.tolist(), expected.tolist(), strict=True):
                yield number, move, share

    def shown_moves(self) -> list[float]:
        """Move numbers to show; NaN if the map does not depend on them."""
        if not isinstance(self.map, WdlMap):
            return [math.nan]
        return sorted({self.map.low, self.map.reference, self.map.high})

    def shown_inputs(self, count: int) -> Reals:
        """Inputs to show: values from 0 to 1, or scores up to an expected score of 98 %."""
        if self.unit == VALUE:
            return np.linspace(0, 1, count)
        sizes = np.concatenate([np.array([1, 2, 5]) * 10.0**power for power in range(-2, 5)])
        sizes = sizes[sizes < self.certain]
        reached = self.expected(sizes, self.shown_moves()[0])
        enough = reached >= min(0.98, reached[-1] - 0.001)
        reach = float(sizes[np.argmax(enough)])
        return np.linspace(-reach, reach, count)

    def _content(self) -> dict[str, Any]:
        about = {"game": self.game, "unit": self.unit, "clip": CLIP}
        return {"calibration": self.map.name, **about, "map": self.map.content()}

    @classmethod
    def from_model_file(cls, model_file: ModelFile, game: str | None = None) -> "CalibrationModel":
        """Read a model, which must be for a game if one is named; raises SourceError."""
        model_file.check(cls.kind, game)
        content = model_file.json_object()
        try:
            names = {"calibration", "game", "unit", "clip", "map"}
            if set(content) != names or not isinstance(content["map"], dict):
                raise ValueError(f"it has {', '.join(sorted(names))}, not {shown(list(content))}")
            if content["clip"] != CLIP:
                raise ValueError(f"'clip' is {CLIP:g}, not {shown(content['clip'])}")
            for name in ("calibration", "game", "unit"):
                if not isinstance(content[name], str):
                    raise ValueError(f"'{name}' is a name, not {shown(content[name])}")
            if (name := content["calibration"]) not in MAPS:
                raise ValueError(f"no map {shown(name)}; known: {', '.join(MAPS)}")
            mapped = MAPS[name].from_content(content["map"])
            return cls(content["game"], content["unit"], mapped, model_file.origin)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{model_file}: no calibration that can be read: {error}") from None

    @classmethod
    def load(cls, source: str | Path | ModelFile, game: str | None = None) -> "CalibrationModel":
        """Load a model from a file; raises SourceError."""
        return cls.from_model_file(read_model_file(source, cls.kind), game)

    def code(self, language: str) -> str:
        """The map as a function in `c` (C99) or `python`, without dependencies."""
        if language not in _WRITERS:
            raise ParameterError("language", f"is {' or '.join(_WRITERS)}, not '{language}'")
        return _WRITERS[language](self)


def move_number(ply: Any) -> Any:
    """The number of the next move after `ply` moves: of one position, or of an array of them.

    >>> move_number(0), move_number(np.array([1, 2, 3])).tolist()
    (1, [1, 2, 2])
    """
    return ply // 2 + 1


LANGUAGES: Final = {".c": "c", ".h": "c", ".py": "python"}
"""Languages of `CalibrationModel.code` by file suffix."""


def _about(model: CalibrationModel) -> str:
    """One line about the model, without user text, so that it is safe in a comment."""
    return f"{GENERATOR}: {model.map.words}; it maps a {model.quantity}."


def _split(model: CalibrationModel) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Divide a formula into its lists and its expressions."""
    formula = model.map.formula(model.unit)
    lists = {name: numbers for name, numbers in formula if name.isupper()}
    return lists, [(name, text) for name, text in formula if name not in lists]


def _c(model: CalibrationModel) -> str:
    lists, steps = _split(model)
    parameters = "double x, double move" if model.needs_move else "double x"
    certain = repr(model.certain) if math.isfinite(model.certain) else "INFINITY"
    helpers = [_C_HELPERS[name] for name in _C_HELPERS if any(f"{name}(" in t for _, t in steps)]
    arrays = [f"static const double {name}[] = {{{numbers}}};\n" for name, numbers in lists.items()]
    body = "".join(f"    const double {name} = {text};\n" for name, text in steps)
    move = "\n   `move` is the move number, which counts from 1." if model.needs_move else ""
    return f"""/* {_about(model)} */
#include <math.h>

{"".join(arrays)}{"".join(helpers)}
/* The first player's expected score, 0 to 1, for a {model.quantity}: x, as the
   first player sees it; an infinite x is a mate.{move} */
double expected_score({parameters}) {{
    if (x != x) return x;
    if (x >= {certain}) return 1;
    if (x <= -{certain}) return 0;
{body}    return p;
}}
"""


_C_HELPERS: Final = {
    "clip": """static double clip(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}
""",
    "logistic": """static double logistic(double x) {
    const double small = exp(-fabs(x));
    return (x >= 0 ? 1 : small) / (1 + small);
}
""",
    "interpolate": """static double interpolate(double x) {
    const int last = sizeof XS / sizeof *XS - 1;
    int low = 0, high = last;
    if (x <= XS[0]) return YS[0];
    if (x >= XS[last]) return YS[last];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (XS[middle] <= x) low = middle;
        else high = middle;
    }
    return YS[low] + (x - XS[low]) * ((YS[high] - YS[low]) / (XS[high] - XS[low]));
}
""",
}


def _python(model: CalibrationModel) -> str:
    lists, steps = _split(model)
    parameters = "x, move" if model.needs_move else "x"
    certain = repr(model.certain) if math.isfinite(model.certain) else "inf"
    helpers = [_PYTHON_HELPERS[n] for n in _PYTHON_HELPERS if any(f"{n}(" in t for _, t in steps)]
    arrays = "".join(f"{name} = [{numbers}]\n" for name, numbers in lists.items())
    body = "".join(f"    {name} = {text}\n" for name, text in steps)
    move = " `move` is the move number." if model.needs_move else ""
    used = "".join([*helpers, body, certain])
    names = [n for n in ("asinh", "exp", "inf", "log", "log1p") if re.search(rf"\b{n}\b", used)]
    imports = ["from bisect import bisect_right"] if "bisect_right" in used else []
    imports += [f"from math import {', '.join(names)}"] if names else []
    header = "\n".join([*imports, "", arrays] if arrays else [*imports, "", ""])
    return f'''# {_about(model)}
"""The first player's expected score."""

{header}{"".join(helpers)}
def expected_score({parameters}):
    """x is a {model.quantity}, as the first player sees it; a mate is infinite.{move}"""
    if x != x:
        return x
    if x >= {certain}:
        return 1.0
    if x <= -{certain}:
        return 0.0
{body}    return p
'''


_PYTHON_HELPERS: Final = {
    "clip": """
def clip(x, low, high):
    return min(max(x, low), high)

""",
    "logistic": """
def logistic(x):
    small = exp(-abs(x))
    return (1 if x >= 0 else small) / (1 + small)

""",
    "interpolate": """
def interpolate(x):
    if x <= XS[0]:
        return YS[0]
    if x >= XS[-1]:
        return YS[-1]
    high = bisect_right(XS, x)
    low = high - 1
    return YS[low] + (x - XS[low]) * ((YS[high] - YS[low]) / (XS[high] - XS[low]))

""",
}
_WRITERS: Final = {"c": _c, "python": _python}
