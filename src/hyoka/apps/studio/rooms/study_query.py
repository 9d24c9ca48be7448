# SPDX-License-Identifier: Apache-2.0
"""Queries of a study by address, cached positions that answer them, and ranges of values."""

import functools
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from starlette.requests import Request

import hyoka as hk
from hyoka import analysis
from hyoka.analysis import Binning, Curve, Curves, DrawnGames, Gaps, Result, Sample
from hyoka.analysis.curves import least_positions
from hyoka.analysis.gaps import Equals, NamedGap, named_gap
from hyoka.apps.studio.forms import decimal_number, whole_number
from hyoka.apps.studio.pages import LruCache, address, studio_of
from hyoka.foundation.options import make_plan
from hyoka.reporting import AltairChart
from hyoka.reporting.analysis_charts import evaluation_curves
from hyoka.study import Question
from hyoka.study.grouping import EvaluatorGroup, comparison_groups
from hyoka.study.sampling import Measured, evaluator_titles, measured
from hyoka.study.sql import check_condition, within_seconds
from hyoka.study.tables import position_keys

_MOST_RESAMPLES: Final = 2000
_LONGEST: Final = 4000
"""Characters of a condition."""
MEMORY: Final = "2G"
"""Memory for the positions of an answer; of larger studies a random sample of games is shown."""
_AT_FIRST: Final = 4
"""Evaluators whose curves are drawn before any is chosen."""
_SUGGESTED: Final = 20
"""Values of a column that are suggested for a condition."""
_LONGEST_VALUE: Final = 80


@dataclass(frozen=True)
class StudyQuery:
    """A study, and what is to be seen of it."""

    path: str
    """Within the folder."""
    study: hk.Study
    values: Mapping[str, tuple[str, ...]]
    """The address's other fields, those that are not empty."""

    @classmethod
    def of(cls, request: Request) -> "StudyQuery":
        """The query of a request; raises Error if the study does not exist."""
        parameters = request.query_params
        path = parameters.get("path", "")
        study = hk.Study.open(studio_of(request).folder.path(path))
        names = [name for name in parameters if name not in ("path", "token")]
        values = {name: tuple(filter(str.strip, parameters.getlist(name))) for name in names}
        return cls(path, study, {name: texts for name, texts in values.items() if texts})

    def __getitem__(self, name: str) -> str:
        """A field; "" if the address has none."""
        texts = self.values.get(name, ())
        return texts[0] if texts else ""

    def to(self, place: str = "/study", /, **changes: object) -> str:
        """The address of the same with something changed; None leaves a field out."""
        fields: dict[str, Any] = {"path": self.path, **self.values, **changes}
        return address(place, **fields)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A field that is a whole number; raises ParameterError."""
        text = self[name]
        if not text:
            return default
        return whole_number(text, name, least, most)

    @functools.cached_property
    def engines(self) -> list[str]:
        """The evaluators chosen, by the study's names; the first few if none is."""
        names = self.study.engines
        chosen = self.values.get("engine", ())
        for name in chosen:
            if name not in names:
                raise hk.errors.StudyError(f"this study has no evaluator '{name}'")
        return [name for name in names if name in chosen] or names[:_AT_FIRST]

    @property
    def where(self) -> str | None:
        """A condition on positions."""
        text = self["where"].strip()
        if len(text) > _LONGEST:
            raise hk.errors.ConditionError(f"a condition has at most {_LONGEST:,} characters")
        return text or None

    @property
    def by(self) -> str | None:
        """Condition or column that groups the positions."""
        return self["by"].strip()[:_LONGEST] or None

    @property
    def draws(self) -> DrawnGames:
        """Treatment of drawn games."""
        chosen = {"draws": self["draws"]} if self["draws"] else {}
        return make_plan(Question, chosen).draws

    @property
    def resampling(self) -> hk.Resampling:
        """Number of bootstrap resamples; default 0."""
        return hk.Resampling(self.number("resamples", 0, 0, _MOST_RESAMPLES))

    @property
    def question(self) -> Question:
        """All of it, as the library asks."""
        return Question(where=self.where, by=self.by, draws=self.draws, resampling=self.resampling)

    def command(self, name: str, *more: str, evaluators: Sequence[str] | None = None) -> str:
        """The command that gives the same."""
        words = ["hyoka", name, self.path, *more]
        chosen = self.engines if evaluators is None else evaluators
        if list(chosen) != self.study.engines:
            titles = evaluator_titles(self.study, chosen)
            words += [word for title in titles for word in ("-e", title)]
        if self.draws != "drop":
            words += ["--draws", self.draws]
        return shlex.join(words)

    @property
    def stamp(self) -> tuple[object, ...]:
        """Another one when the study has changed."""
        return stamp_of(self.study.path)


def stamp_of(folder: Path) -> tuple[object, ...]:
    """Tells a study from what it was before: when and how large its descriptions were written."""
    files = sorted([*folder.glob("*.toml"), *folder.glob("*/*/*.toml")])
    states = [(file, file.stat()) for file in files]
    return tuple((str(file), state.st_mtime_ns, state.st_size) for file, state in states)


SECONDS: Final = 20.0
"""A condition may take so long."""

_KINDS: Final[Mapping[str, str]] = {
    "int64": "number",
    "float": "number",
    "double": "number",
    "bool": "boolean",
}


def columns_of(query: StudyQuery) -> list[tuple[str, str]]:
    """The columns that a condition may use, each with its kind: number, boolean or text."""

    def look() -> list[tuple[str, str]]:
        schema = query.study.condition_schema()
        return [(each.name, _kind(str(each.type))) for each in schema]

    return _columns.get((str(query.study.path), query.stamp), look)


_columns: Final[LruCache[list[tuple[str, str]]]] = LruCache(50)


def _kind(name: str) -> str:
    return "number" if name.startswith(("int", "uint")) else _KINDS.get(name, "text")


def suggested_values(query: StudyQuery, column: str) -> list[str]:
    """Values of a column: the most frequent ones, or quantiles of many different numbers.

    Raises ConditionError if there is no such column.
    """
    kind = dict(columns_of(query)).get(column)
    if kind is None:
        raise hk.errors.ConditionError(f"no column {column}")

    def look() -> list[str]:
        name = '"' + column.replace('"', '""') + '"'
        with within_seconds(SECONDS):
            frequent = query.study.sql(
                f"select {name} as value from positions where {name} is not null group by 1 "
                f"order by count(*) desc, 1 limit {_SUGGESTED + 1}"
            )["value"].to_pylist()
            if kind == "number" and len(frequent) > _SUGGESTED:
                [frequent] = query.study.sql(
                    f"select quantile_disc({name}, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) as value "
                    f"from positions where {name} is not null"
                )["value"].to_pylist()
        if kind == "number":
            return [f"{value:.6g}" for value in sorted(dict.fromkeys(frequent))]
        texts = map(str, frequent[:_SUGGESTED])
        return [text for text in texts if len(text) <= _LONGEST_VALUE]

    return _values.get((str(query.study.path), query.stamp, column), look)


_values: Final[LruCache[list[str]]] = LruCache(200)


@dataclass(frozen=True, eq=False)
class Positions:
    """Evaluations of the same positions by several evaluators."""

    loaded: Measured
    keys: NDArray[np.int64]
    """A number for each position, ascending."""
    group: EvaluatorGroup
    _curves: dict[tuple[str, int], Curve] = field(default_factory=dict)
    _binnings: dict[str, Binning] = field(default_factory=dict)
    _equals: dict[str, Equals] = field(default_factory=dict)

    def binning(self, sample: Sample) -> Binning:
        """The bins that all curves of an evaluator have."""
        if sample.name not in self._binnings:
            self._binnings[sample.name] = analysis.open_bins(sample, least_positions(0))
        return self._binnings[sample.name]

    def equals(self, sample: Sample) -> Equals:
        """Which of an evaluator's positions count as equal."""
        return self._equals.setdefault(sample.name, Equals(sample))

    def curve(self, sample: Sample, resampling: hk.Resampling) -> Curve:
        """The curve of all positions."""
        key = sample.name, resampling.resamples
        if key not in self._curves:
            self._curves[key] = analysis.measure_curve(
                sample, binning=self.binning(sample), resampling=resampling
            )
        return self._curves[key]

    def holding(self, study: hk.Study, condition: str) -> NDArray[np.bool_]:
        """For which of the positions a condition holds; raises ConditionError."""
        with within_seconds(SECONDS):
            checked = check_condition(condition, study.condition_columns())
            # Of a study larger than memory, the games that are loaded.
            rows = self.loaded.study.sql(f"select game_id, ply from positions where {checked}")
        keys = position_keys(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
        keys.sort()
        if not len(keys):
            return np.zeros(len(self.keys), bool)
        places = np.minimum(np.searchsorted(keys, self.keys), len(keys) - 1)
        return np.asarray(keys[places] == self.keys)


_cache: Final[LruCache[tuple[Positions, ...]]] = LruCache(2)


def _key(query: StudyQuery) -> tuple[object, ...]:
    return (str(query.study.path), query.stamp, tuple(query.engines), query.draws)


def are_loaded(query: StudyQuery) -> bool:
    """Whether an answer comes at once."""
    return _key(query) in _cache


def positions_of(query: StudyQuery) -> tuple[Positions, ...]:
    """The positions of the chosen evaluators, in groups that share enough of them."""

    def load() -> tuple[Positions, ...]:
        question = Question(draws=query.draws, resampling=hk.Resampling(0), memory=MEMORY)
        groups = []
        for group in comparison_groups(query.study, query.engines, question):
            loaded = measured(query.study, group.names, question)
            keys = position_keys(loaded.game_ids, loaded.plies)
            groups.append(Positions(loaded, keys, group))
        return tuple(groups)

    return _cache.get(_key(query), load)


@dataclass(frozen=True)
class Answer:
    """Curves of all positions and of those under a condition, and how far these lie apart."""

    curves: Curves
    gaps: Gaps
    missing: tuple[str, ...]
    """Evaluators for none of whose positions the condition holds."""


def answer(query: StudyQuery) -> Answer:
    """Contents of a page of curves; immediate without grouping."""
    if query.by is not None:
        with within_seconds(SECONDS):
            grouped = query.study.curve(query.engines, query.question)
            return Answer(grouped, query.study.gaps(query.engines, query.question), ())
    curves: list[Curve] = []
    gaps: list[NamedGap] = []
    missing: list[str] = []
    resampling = query.resampling
    for positions in positions_of(query):
        holds = None if query.where is None else positions.holding(query.study, query.where)
        for sample in positions.loaded.samples:
            curves.append(positions.curve(sample, resampling))
            if holds is None or query.where is None:
                continue
            if not holds.any():
                missing.append(sample.name)
                continue
            curves.append(
                analysis.measure_curve(
                    sample if holds.all() else sample.where(holds),
                    binning=positions.binning(sample),
                    resampling=resampling,
                    condition=query.where,
                )
            )
            gaps.append(_gap(positions, sample, query.where, holds, resampling))
    return Answer(Curves(tuple(curves)), Gaps(tuple(gaps)), tuple(missing))


def _gap(
    positions: Positions,
    sample: Sample,
    condition: str,
    holds: NDArray[Any],
    resampling: hk.Resampling,
) -> NamedGap:
    equals = positions.equals(sample)
    if resampling.resamples:
        return named_gap(equals, condition, holds, resampling=resampling)
    return NamedGap(sample.name, condition, equals.gap(holds, resampling.confidence), None)


_results: Final[LruCache[Any]] = LruCache(24)


def once(query: StudyQuery, name: str, make: Callable[[], Any]) -> Any:
    """A result that is kept until the study changes."""
    question = (query["where"], query["by"], query["draws"], query["resamples"])
    key = (name, query.path, str(query.study.path), query.stamp, tuple(query.engines), question)

    def compute() -> Any:
        with within_seconds(SECONDS * 3):
            return make()

    return _results.get(key, compute)


def answer_of(query: StudyQuery) -> Answer:
    """The curves of a query; raises Error."""
    result: Answer = once(query, "curves", lambda: answer(query))
    return result


# Ranges of values


@dataclass(frozen=True)
class ChosenRange:
    """The positions of a range of values of one evaluator, chosen in the chart."""

    positions: Positions
    sample: Sample
    """The evaluator's positions, under the condition if it is a curve under it."""
    curve: Curve
    low: float
    high: float

    @classmethod
    def of(cls, query: StudyQuery) -> "ChosenRange | None":
        """The range of an address; None if no curve of enough games has it."""
        if query.by is not None:
            return None
        low = decimal_number(query["low"], "low", -math.inf, math.inf)  # mates are open
        of_all = query["part"] == "all" or query.where is None
        curves = answer_of(query).curves
        names = ((part.name, bool(part.condition)) for part in curves)
        curve = dict(zip(names, curves, strict=True)).get((query["at"], not of_all))
        if curve is None or not curve.points or not curves.has_enough_games(curve):
            return None
        if query["high"]:
            high = decimal_number(query["high"], "high", -math.inf, math.inf)
        else:
            nearest = min(curve.points, key=lambda p: 0 if p.lower == low else abs(p.value - low))
            low, high = nearest.lower, nearest.upper
        for positions in positions_of(query):
            for sample in positions.loaded.samples:
                if sample.name == query["at"]:
                    part = sample
                    if not of_all and query.where is not None:
                        part = sample.where(positions.holding(query.study, query.where))
                    return cls(positions, part, curve, low, high)
        return None

    @property
    def inside(self) -> Any:
        """Which of the sample's positions it has."""
        values = self.sample.values
        if self.low >= self.high or self.high == math.inf:
            return values >= self.low
        return (values >= self.low) & (values < self.high)


@dataclass(frozen=True, repr=False)
class RangePositions(Result):
    """The positions of a range of values, to be saved."""

    drawn_by = "evaluation_curves"

    curve: Curve
    """The part of the curve over the range."""
    columns: pa.Table
    """Game, ply, value and result of each."""

    @property
    def title(self) -> str:
        """One-line title."""
        return f"{len(self.columns):,} positions by {self.curve.name}"

    def chart(self) -> AltairChart:
        """Draw the part of the curve over the range."""
        return evaluation_curves(Curves((self.curve,)))

    def table(self) -> pa.Table:
        """One row per position."""
        return self.columns

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        columns = self.columns.to_pydict()
        rows = zip(*columns.values(), strict=True)
        return (tuple(columns), *(tuple(map(str, row)) for row in rows))


def range_positions(query: StudyQuery) -> RangePositions:
    """All positions of a chosen range; raises ParameterError if no curve has it."""
    chosen = ChosenRange.of(query)
    if chosen is None:
        raise hk.errors.ParameterError("at", "is an evaluator whose curve is shown")
    sample, loaded = chosen.sample, chosen.positions.loaded
    rows = np.flatnonzero(chosen.inside)
    places = rows if sample.rows is None else sample.rows[rows]
    table = pa.table(
        {
            "game_id": loaded.game_ids[places],
            "ply": loaded.plies[places],
            "value": sample.values[rows],
            "result": sample.results[rows],
        }
    )
    points = [
        point
        for point in chosen.curve.points
        if point.upper > chosen.low and point.lower < chosen.high
    ]
    return RangePositions(replace(chosen.curve, points=tuple(points)), table)
