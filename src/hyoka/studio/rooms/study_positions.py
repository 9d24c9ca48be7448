# SPDX-License-Identifier: Apache-2.0
"""Positions of a study that stay in memory, so that a condition is answered while it is typed.

What evaluators said is loaded once; a condition then only tells which of the positions it holds
for. Bands and tests come from the variance between games, which needs no resampling: the numbers
are those that `Study.curve` and `Study.gaps` give with the condition as `by` and no resamples.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import hyoka as hk
from hyoka import analysis
from hyoka.analysis import Binning, Curve, Curves, Gaps, Sample
from hyoka.analysis.binning import least_positions
from hyoka.analysis.gaps import Equals, NamedGap, named_gap
from hyoka.studio.rooms.keeping import Kept
from hyoka.studio.rooms.study_asked import Asked
from hyoka.study.conditions import check_condition
from hyoka.study.grouping import EvaluatorGroup, comparison_groups
from hyoka.study.measuring import Measured, measured
from hyoka.study.sql import within_seconds
from hyoka.study.tables import position_keys

SECONDS: Final = 20.0
"""A condition may take so long."""


@dataclass(frozen=True, eq=False)
class Positions:
    """What some evaluators said of the same positions."""

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
            self._curves[key] = analysis.curve(
                sample, binning=self.binning(sample), resampling=resampling
            )
        return self._curves[key]

    def holding(self, study: hk.Study, condition: str) -> NDArray[np.bool_]:
        """For which of the positions a condition holds; raises ConditionError."""
        with within_seconds(SECONDS):
            checked = check_condition(condition, study.condition_columns())
            found = study.sql(f"select game_id, ply from positions where {checked}")
        keys = position_keys(found["game_id"].to_numpy(), found["ply"].to_numpy())
        keys.sort()
        if not len(keys):
            return np.zeros(len(self.keys), bool)
        places = np.minimum(np.searchsorted(keys, self.keys), len(keys) - 1)
        return np.asarray(keys[places] == self.keys)


_kept: Final[Kept[tuple[Positions, ...]]] = Kept(2)


def _key(asked: Asked) -> tuple[object, ...]:
    return (str(asked.study.path), asked.stamp, tuple(asked.engines), asked.draws)


def are_loaded(asked: Asked) -> bool:
    """Whether an answer comes at once."""
    return _key(asked) in _kept


def positions_of(asked: Asked) -> tuple[Positions, ...]:
    """The positions of the chosen evaluators, in groups that share enough of them."""

    def load() -> tuple[Positions, ...]:
        question = hk.Question(draws=asked.draws, resampling=hk.Resampling(0))
        found = []
        for group in comparison_groups(asked.study, asked.engines, question):
            loaded = measured(asked.study, group.names, question)
            keys = position_keys(loaded.game_ids, loaded.plies)
            found.append(Positions(loaded, keys, group))
        return tuple(found)

    return _kept.get(_key(asked), load)


@dataclass(frozen=True)
class Answer:
    """Curves of all positions and of those under a condition, and how far these lie apart."""

    curves: Curves
    gaps: Gaps
    missing: tuple[str, ...]
    """Evaluators for none of whose positions the condition holds."""


def answer(asked: Asked) -> Answer:
    """What a page of curves shows: at once, if nothing parts the positions."""
    if asked.by is not None:
        with within_seconds(SECONDS):
            curves = asked.study.curve(asked.engines, asked.question)
            return Answer(curves, asked.study.gaps(asked.engines, asked.question), ())
    curves_found: list[Curve] = []
    gaps: list[NamedGap] = []
    missing: list[str] = []
    resampling = asked.resampling
    for positions in positions_of(asked):
        holds = None if asked.where is None else positions.holding(asked.study, asked.where)
        for sample in positions.loaded.samples:
            curves_found.append(positions.curve(sample, resampling))
            if holds is None or asked.where is None:
                continue
            if not holds.any():
                missing.append(sample.name)
                continue
            curves_found.append(
                analysis.curve(
                    sample if holds.all() else sample.where(holds),
                    binning=positions.binning(sample),
                    resampling=resampling,
                    condition=asked.where,
                )
            )
            gaps.append(_gap(positions, sample, asked.where, holds, resampling))
    return Answer(Curves(tuple(curves_found)), Gaps(tuple(gaps)), tuple(missing))


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
