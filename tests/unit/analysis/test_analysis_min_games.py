# SPDX-License-Identifier: Apache-2.0
"""No result shows a figure of fewer games than the minimum: not as text, in tables or in charts."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyoka.analysis import (
    NO_INTERVALS,
    Calibration,
    Curves,
    FixedBins,
    Gaps,
    MetricsTable,
    ReliabilityDiagrams,
    Resampling,
    Result,
    Sample,
    WdlModels,
    calibrate,
    compare,
    fit_wdl_model,
    measure,
    measure_curve,
    measure_disagreement,
)
from hyoka.analysis.accuracy import AccuracyTable, Moves, measure_accuracy
from hyoka.analysis.gaps import Equals, named_gap
from hyoka.analysis.reliability import measure_reliability
from hyoka.analysis.wdl import Stages
from hyoka.foundation.errors import StudyError

GAMES = 19
POSITIONS = 1900
NUMBER = np.arange(POSITIONS)
CHANCE = np.random.default_rng(3).random(POSITIONS)
RESULTS = (np.random.default_rng(4).random(POSITIONS) < CHANCE).astype(np.float64)
DRAWN = np.where(NUMBER % 5 == 0, 0.5, RESULTS)
COUNTS = {"positions", "games", "moves", "least", "most", "low_stage", "reference"}
"""Columns of what was measured, which are no figures."""


def sample(
    name: str = "one", noise: float = 0.0, results: Any = RESULTS, unit: str = "value"
) -> Sample:
    said = np.clip(CHANCE + noise * np.sin(NUMBER), 0.01, 0.99)
    values = said if unit == "value" else 200 * np.log(said / (1 - said))
    return Sample.of(name, values, results=results, games=NUMBER % GAMES, unit=unit)


def curves(min_games: int) -> Result:
    bins = FixedBins(0.2)
    return Curves(
        (measure_curve(sample(), binning=bins, resampling=NO_INTERVALS),), min_games=min_games
    )


def metrics(min_games: int) -> Result:
    return MetricsTable((measure(sample(), resampling=NO_INTERVALS),), min_games=min_games)


def gaps(min_games: int) -> Result:
    gap = named_gap(Equals(sample()), "late", NUMBER % 3 == 0, resampling=NO_INTERVALS)
    return Gaps((gap,), min_games=min_games)


def comparison(min_games: int) -> Result:
    found = compare(sample(), sample("other", 0.3), resampling=NO_INTERVALS)
    return replace(found, min_games=min_games)


def disagreements(min_games: int) -> Result:
    return replace(measure_disagreement(sample(), sample("other", 0.3)), min_games=min_games)


def calibration(min_games: int) -> Result:
    return Calibration(tuple(calibrate(sample(unit="points"))), min_games)


def reliability(min_games: int) -> Result:
    diagram = measure_reliability(sample(), resampling=Resampling(30))
    return ReliabilityDiagrams((diagram,), min_games)


def wdl(min_games: int) -> Result:
    scores = sample(results=DRAWN, unit="points")
    stages = (NUMBER % 40).astype(np.float64)
    along = Stages(name="move", reference=20.0, low=0.0, high=40.0)
    model = fit_wdl_model(scores, stages, along, degree=0, resampling=NO_INTERVALS)
    return WdlModels((model,), min_games=min_games)


def accuracy(min_games: int) -> Result:
    plies = NUMBER % (POSITIONS // GAMES)
    moves = Moves.of(CHANCE, NUMBER // (POSITIONS // GAMES), plies, plies % 2 == 0)
    part = measure_accuracy(moves, "one", resampling=NO_INTERVALS)
    return AccuracyTable((part,), min_games=min_games)


RESULTS_OF = [
    curves, metrics, gaps, comparison, disagreements, calibration, reliability, wdl, accuracy,
]  # fmt: skip


def figures(value: object) -> Iterator[float]:
    """Fractions in nested values: counts and bounds of axes are whole, and 0.5 is a reference."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name not in COUNTS:
                yield from figures(each)
    elif isinstance(value, list):
        for each in value:
            yield from figures(each)
    elif isinstance(value, float) and math.isfinite(value) and 2 * value != int(2 * value):
        yield value


def drawn_figures(result: Result) -> list[float]:
    """Fractions in the data of a chart."""
    spec = result.chart().to_dict()

    def data_of(value: object) -> Iterator[object]:
        if isinstance(value, dict):
            for name, each in value.items():
                if name in ("datasets", "values"):
                    yield each
                else:
                    yield from data_of(each)
        elif isinstance(value, list):
            for each in value:
                yield from data_of(each)

    return list(figures(list(data_of(spec))))


@pytest.mark.parametrize("make", RESULTS_OF, ids=lambda make: make.__name__)
def test_no_figure_comes_from_fewer_games_than_the_minimum(
    make: Callable[[int], Result], tmp_path: Path
) -> None:
    shown, hidden = make(GAMES), make(GAMES + 1)
    # The rows of disagreements are single positions.
    assert make is disagreements or (any(figures(shown.rows())) and not any(figures(hidden.rows())))
    assert drawn_figures(shown)
    assert not drawn_figures(hidden)
    assert "–" in str(hidden)
    assert "fewer than 20 games" in " ".join(hidden.notes())
    assert "fewer than 20 games" not in " ".join(shown.notes())
    figures_in_text = set(str(shown).split()) - set(str(hidden).split())
    assert any("." in word for word in figures_in_text)
    for line in hidden.lines()[1:]:
        cells = [cell for cell in line if " to " not in cell]
        assert not any("." in cell for cell in cells), line
    for ending in ("html", "svg", "csv"):
        hidden.save(tmp_path / f"few.{ending}")


def test_a_model_of_few_games_is_written_as_no_program(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"fewer than 20 games; .*`min_games=19`"):
        wdl(GAMES + 1).save(tmp_path / "wdl.h")
    assert not list(tmp_path.iterdir())
    wdl(GAMES).save(tmp_path / "wdl.h")
    assert (tmp_path / "wdl.h").stat().st_size
