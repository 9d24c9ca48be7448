# SPDX-License-Identifier: Apache-2.0
"""Studies larger than memory: ranges of games, condensed analyses, and samples of games."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyoka.analysis import Curves, MetricsTable, Resampling
from hyoka.analysis.accuracy import MoveCoverage
from hyoka.foundation.errors import ParameterError
from hyoka.records.samples import sample_path
from hyoka.study import Question, Study, condensing, sampling
from hyoka.study.evaluating import evaluate
from hyoka.study.grouping import Evaluated
from hyoka.study.sampling import measured
from hyoka.study.tables import GameChoice

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "large_study.py"
FEW = Resampling(20)


@pytest.fixture(scope="module")
def chess(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The shipped chess games with their players' own scores."""
    folder = tmp_path_factory.mktemp("condensing") / "study"
    study = Study.create(folder, records=sample_path("chess"), columns="none")
    evaluate(study, ["comments"])
    evaluate(study, ["ab:nodes=1,hash=0"], sample=6)
    return study


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """All studies are larger than memory, and are read in several ranges."""
    monkeypatch.setattr(sampling, "_ROW_BYTES", 10**9)
    monkeypatch.setattr(condensing, "RANGE_ROWS", 9000)
    monkeypatch.setattr(condensing, "_PILOT_ROWS", 2000)


def same(one: object, other: object) -> None:
    """Two results have the same rows, but for rounding."""
    assert isinstance(one, MetricsTable | Curves)
    assert isinstance(other, MetricsTable | Curves)
    assert len(one.rows()) == len(other.rows())
    for mine, theirs in zip(one.rows(), other.rows(), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("low", "high"), [(0, 10), (7, 200), (300, None), (0, None)])
def test_queries_see_a_range_of_games(chess: Study, low: int, high: int | None) -> None:
    some = replace(chess, chosen=GameChoice(low, high))
    every, loaded = measured(chess, "comments"), measured(some, "comments")
    inside = (every.game_ids >= low) & (every.game_ids < (high or 10**9))
    assert loaded.game_ids.tolist() == every.game_ids[inside].tolist()
    assert loaded.samples[0].values.tolist() == every.samples[0].values[inside].tolist()


def test_queries_see_a_random_share_of_the_games(chess: Study) -> None:
    shares = [0.1, 0.5, 0.9]
    ids = [
        set(
            replace(chess, chosen=GameChoice(share=share))
            .sql("select game_id from games")["game_id"]
            .to_pylist()
        )
        for share in shares
    ]
    assert ids[0] < ids[1] < ids[2]
    for share, chosen in zip(shares, ids, strict=True):
        # Five standard deviations of a binomial count.
        assert abs(len(chosen) - 312 * share) < 5 * np.sqrt(312 * share * (1 - share))
    both = replace(chess, chosen=GameChoice(100, 200, 0.5))
    some = set(both.sql("select distinct game_id from positions")["game_id"].to_pylist())
    assert some == {game for game in ids[1] if 100 <= game < 200}


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "question",
    [
        Question(resampling=FEW, where="ply >= 10", draws="half"),
        Question(resampling=FEW, by="ply", bins=[20, 40]),
        Question(resampling=FEW, by="depth > 4"),
    ],
    ids=["where", "bins", "evaluations"],
)
def test_a_condensed_study_gives_the_figures_of_its_positions(
    chess: Study, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = chess.metrics("comments", question)
    curve = chess.curve("comments", question)
    wdl = chess.curve("comments", question, wdl=True)
    calibration = chess.calibration("comments", question)
    diagrams = chess.reliability("comments", question)
    assert "Condensed: counts by game" in str(metrics.coverage)
    monkeypatch.undo()
    in_memory = chess.metrics("comments", question)
    assert "Condensed" not in str(in_memory.coverage)
    same(metrics, in_memory)
    same(curve, chess.curve("comments", question))
    same(wdl, chess.curve("comments", question, wdl=True))
    for mine, theirs in zip(
        calibration.rows(), chess.calibration("comments", question).rows(), strict=True
    ):
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-7)
    for one, other in zip(
        diagrams.rows(), chess.reliability("comments", question).rows(), strict=True
    ):
        for name in ("claim", "share", "positions"):  # few resamples: bands jump with rounding
            assert one[name] == pytest.approx(other[name], rel=1e-6)
    mine_counts, their_counts = (
        (each.coverage.groups[0].positions, each.coverage.games, each.coverage.drawn_games)
        for each in (metrics, in_memory)
        if each.coverage is not None
    )
    assert mine_counts == their_counts


@pytest.mark.usefixtures("large")
def test_several_evaluators_are_condensed_on_their_common_positions(
    chess: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Question(resampling=FEW)
    mine = chess.metrics(question=question)
    evaluated = Evaluated.load(chess, chess.engines, question)
    monkeypatch.undo()
    theirs = chess.metrics(question=question)
    same(mine, theirs)
    every = Evaluated.load(chess, chess.engines, question)
    for some in (chess.engines, chess.engines[:1], chess.engines[1:]):
        assert evaluated.positions(some) == every.positions(some)
        assert evaluated.game_count(some) == every.game_count(some)
    assert evaluated.groups(chess.engines) == every.groups(chess.engines)


def test_other_analyses_measure_a_random_sample_of_games(
    chess: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "_ROW_BYTES", 400)
    question = Question(memory="4M", resampling=FEW, min_games=1)
    sampled, every = (
        measured(chess, "comments", question.also(memory=memory)) for memory in ("4M", None)
    )
    share = 4e6 / (23372 * 400)
    assert abs(len(np.unique(sampled.game_ids)) / len(np.unique(every.game_ids)) - share) < 0.15
    rows = np.isin(every.game_ids, sampled.game_ids)
    assert sampled.samples[0].values.tolist() == every.samples[0].values[rows].tolist()
    for result in (
        chess.slices("comments", question),
        chess.wdl("comments", question),
        chess.gaps("comments", question, by="ply < 20"),
        chess.metrics("comments", question, by="ply < 20", balance="ply"),
    ):
        assert "Measured on a random 0." in str(result.coverage)
        assert "of the games, which fits in 4M (`memory='" in str(result.coverage)
        needed = re.search(r"memory='(\d+)M'` takes all", str(result.coverage))
        assert needed is not None
        assert int(needed[1]) >= 10
    accuracy = chess.accuracy("comments", question, by="color")
    assert any("Measured on a random 0." in note for note in accuracy.notes())
    # Missing moves are those of the sample's games.
    assert isinstance(accuracy.coverage, MoveCoverage)
    [covered] = accuracy.coverage.each
    assert covered.moves + covered.missing < 0.6 * 25508


def test_a_memory_limit_is_a_size() -> None:
    assert Question(memory="1.5G").max_bytes == 1_500_000_000
    with pytest.raises(ParameterError, match="memory"):
        Question(memory="much")


def test_ranges_hold_all_games_once(chess: Study) -> None:
    ranges = condensing.ranges_of(chess, 4000)
    assert ranges[0].low == 0
    assert ranges[-1].high is None
    assert [each.high for each in ranges[:-1]] == [each.low for each in ranges[1:]]
    rows = [
        replace(chess, chosen=each).sql("select count(*) as n from positions")["n"][0].as_py()
        for each in ranges
    ]
    assert sum(rows) == 25508
    assert max(rows) < 6000


def test_memory_stays_below_the_limit(tmp_path: Path) -> None:
    """The peak of a process that measures 800,000 positions, beyond that of one that opens it."""

    def run(*words: str) -> str:
        command = [sys.executable, str(BENCHMARK), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    study = str(tmp_path / "study")
    run("write", study, "--games", "16000")
    peaks = {}
    for memory in ("64M", "8G"):
        lines = run("measure", study, "--memory", memory, "--resamples", "0").splitlines()
        mib = [int(line.split()[-2].replace(",", "")) for line in lines if line.endswith("MiB")]
        peaks[memory] = mib[-1] - mib[0]
    assert peaks["64M"] < 300, peaks
    assert peaks["8G"] > 330, peaks
