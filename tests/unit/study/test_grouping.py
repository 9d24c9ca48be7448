# SPDX-License-Identifier: Apache-2.0
"""Which evaluators are measured on the same positions, and what results say about it."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka.analysis import NO_INTERVALS, Coverage, CoveredGroup
from hyoka.reporting.study_report import ReportOptions, study_report
from hyoka.study.grouping import Evaluated, comparison_groups
from hyoka.study.sampling import Question
from unit.reporting.test_study_report import knowing, made_study, say

PLIES = 24
"""Positions of each of these games."""


def evaluated(samples: dict[str, set[int]], positions_a_game: int = 10) -> Evaluated:
    """Evaluators by the numbers of the positions that they evaluated."""
    names = tuple(samples)
    rows = sorted(set().union(*samples.values()))
    members = np.array([[row in samples[name] for name in names] for row in rows])
    games = np.array(rows) // positions_a_game
    return Evaluated(names, members, games, np.ones(len(rows), np.int64))


def test_three_that_share_many_are_a_group_though_a_fourth_shares_few() -> None:
    shared = set(range(3618))
    found = evaluated(
        {
            "a": shared | set(range(10_000, 14_000)),
            "b": shared,
            "few": set(range(3590, 9000)),
            "c": shared | set(range(20_000, 21_000)),
        }
    )
    assert found.groups(found.names) == [["a", "b", "c"], ["few"]]
    assert found.positions(["a", "b", "c"]) == 3618
    assert found.positions(found.names) == 28


def test_samples_that_hardly_meet_stand_alone_the_most_games_first() -> None:
    found = evaluated(
        {"x": set(range(0, 700)), "y": set(range(695, 3000)), "z": set(range(2990, 4500))}
    )
    assert found.groups(found.names) == [["y"], ["z"], ["x"]]


def test_a_sample_of_what_others_evaluated_is_compared_with_them() -> None:
    """A few hundred positions are enough, of however many; thirty are not."""
    everything = set(range(50_000))
    for size, groups in (
        (2000, [["a", "b", "sample"]]),
        (700, [["a", "b", "sample"]]),
        (30, [["a", "b"], ["sample"]]),
    ):
        found = evaluated(
            {"a": everything, "b": everything, "sample": set(range(0, 10 * size, 10))}
        )
        assert found.groups(found.names) == groups


def test_of_few_positions_half_of_them_are_enough() -> None:
    found = evaluated({"a": set(range(60)), "b": set(range(20, 90))})
    assert found.groups(found.names) == [["a", "b"]]
    found = evaluated({"a": set(range(60)), "b": set(range(35, 90))})
    assert found.groups(found.names) == [["a"], ["b"]]
    # Six hundred positions of two games are two games.
    found = evaluated({"a": set(range(60_000)), "b": set(range(59_400, 120_000))}, 300)
    assert found.positions(found.names) == 600
    assert found.groups(found.names) == [["b"], ["a"]]


@pytest.mark.parametrize("seed", range(30))
def test_the_first_group_is_the_best_of_all_useful_sets(seed: int) -> None:
    """By trying every set. Blocks of positions are the usual case: samples and whole studies."""
    rng = np.random.default_rng(seed)
    blocks = [set(range(3000 * i, 3000 * i + int(rng.integers(100, 3000)))) for i in range(4)]
    names = "abcde"
    samples = {
        name: set().union(*(block for block in blocks if rng.random() < 0.7), {90_000})
        for name in names
    }
    found = evaluated(samples)

    def product(some: Sequence[str]) -> tuple[int, int]:
        common = len(set.intersection(*(samples[name] for name in some)))
        return len(some) * min(common, 1000), common

    useful = [
        some
        for size in (2, 3, 4, 5)
        for some in itertools.combinations(names, size)
        if found.is_useful(some)
    ]
    groups = found.groups(names)
    assert sorted(itertools.chain(*groups)) == list(names)
    if useful:
        assert product(groups[0]) == max(map(product, useful))
    else:
        assert all(len(group) == 1 for group in groups)
    assert groups == evaluated(samples).groups(names)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    """Three evaluators of most games, a fourth of others; a third of the games are drawn."""
    rng = np.random.default_rng(3)
    results = rng.choice([0.0, 0.5, 1.0], 150).tolist()
    made = made_study(tmp_path_factory.mktemp("groups"), results)
    for number, name in enumerate(("one", "two", "three")):
        say(made, name, knowing(3.0 - number), where="game_id < 100", seed=number)
    say(made, "other", knowing(2.0), where="game_id >= 90", seed=9)
    return made


def counted(study: hk.Study, condition: str) -> tuple[int, int]:
    """Positions and games for which a condition holds."""
    [row] = study.sql(
        "select count(*) as n, count(distinct game_id) as games from positions where " + condition
    ).to_pylist()
    return row["n"], row["games"]


def test_results_say_first_who_was_measured_on_what(study: hk.Study) -> None:
    table = study.metrics(resampling=NO_INTERVALS)
    coverage = table.coverage
    assert coverage is not None
    together = counted(study, "game_id < 100 and result in (0, 1)")
    alone = counted(study, "game_id >= 90 and result in (0, 1)")
    both = counted(study, "game_id between 90 and 99 and result in (0, 1)")
    drawn = counted(study, "result = 0.5")[1]
    assert [(g.evaluators, g.positions, g.games) for g in coverage.groups] == [
        (("one", "three", "two"), *together),
        (("other",), *alone),
    ]
    assert coverage.alone == ("other",)
    assert (coverage.games, coverage.drawn_games) == (150, drawn)
    assert [(part.name, part.positions) for part in table] == [
        *((name, together[0]) for name in ("one", "three", "two")),
        ("other", alone[0]),
    ]
    first = str(table).splitlines()[0]
    assert first == (
        f"one; three; two: the {together[0]:,} positions of {together[1]} decided games that all 3 "
        f"evaluated. Left out of the comparison: other ({alone[0]:,} positions of {alone[1]} "
        f"decided games, {both[0]} of them common). {drawn} of 150 games are drawn and left out "
        "(`draws='half'` counts them)."
    )
    assert table._repr_html_().startswith(f"<p>{first.split(' (`')[0][:40]}")
    half = study.metrics(draws="half", resampling=NO_INTERVALS).coverage
    assert half is not None
    assert half.groups[0].positions == counted(study, "game_id < 100")[0]
    assert "drawn and counted as half a win each." in str(half)


def test_every_analysis_has_a_first_line(study: hk.Study) -> None:
    few = hk.Resampling(20)
    results = [
        study.curve(resampling=few),
        study.metrics(resampling=few),
        study.calibration(resampling=few),
        study.gaps(by="ply > 10", resampling=few),
        study.compare("one", "two", resampling=few),
        study.disagreements("one", "two", resampling=few),
        study.slices("one", resampling=few),
    ]
    drawn = counted(study, "result = 0.5")[1]
    drawn_of_these = counted(study, "result = 0.5 and game_id < 100")[1]
    for result in results:
        assert result.coverage is not None
        assert result.coverage.drawn_games in (drawn, drawn_of_these)
        assert str(result).startswith(str(result.coverage))
    wdl = study.curve("one", wdl=True, resampling=NO_INTERVALS).coverage
    assert wdl is not None
    assert "counted as draws" in str(wdl)


def test_two_that_are_named_are_compared_on_what_they_share(study: hk.Study) -> None:
    """However little that is; the first line says how little."""
    found = study.compare("one", "other", resampling=NO_INTERVALS)
    positions, games = counted(study, "game_id between 90 and 99 and result in (0, 1)")
    assert found.coverage is not None
    assert found.coverage.groups[0].positions == positions
    assert "each alone" in str(found.coverage)
    # Ten games are too few for figures, which is said once.
    assert 0 < games < 20
    assert {row[3] for row in found.lines()[1:]} == {"–"}
    assert all(row["difference"] is None for row in found.rows())
    assert "fewer than 20 games" in "".join(found.notes())
    shown = study.compare("one", "other", resampling=NO_INTERVALS, min_games=1)
    assert {row[3] for row in shown.lines()[1:]} != {"–"}


def test_an_evaluator_without_a_position_that_counts_is_named(study: hk.Study) -> None:
    table = study.metrics(["one", "other"], where="game_id < 90", resampling=NO_INTERVALS)
    assert table.coverage is not None
    assert table.coverage.missing == ("other",)
    assert "Without a position that counts: other." in str(table.coverage)


def test_what_is_about_an_evaluators_own_words_groups_nobody(study: hk.Study) -> None:
    groups = comparison_groups(study, ["one", "two"], Question(where="value > 0.5"))
    assert [group.names for group in groups] in ([("one",), ("two",)], [("two",), ("one",)])


def test_no_figure_comes_from_a_few_games(study: hk.Study) -> None:
    few = study.metrics("one", where="game_id < 12", resampling=NO_INTERVALS)
    heading, row = few.lines()
    assert set(row[1 : heading.index("positions")]) == {"–"}
    [note] = few.notes()
    assert note.startswith("–: 1 row of fewer than 20 games")
    assert {each["value"] for each in few.rows()} == {None}
    assert few.parts[0]["roc"].value > 0.5  # the measurement itself has it
    shown = study.metrics("one", where="game_id < 12", resampling=NO_INTERVALS, min_games=3)
    assert "–" not in shown.lines()[1]
    constants = study.calibration("one", where="game_id < 12")
    assert constants.lines()[1][3:8] == ("–",) * 5
    assert {each["k"] for each in constants.rows()} == {None}
    assert "fewer than 20 games" in constants.notes()[0]
    with pytest.raises(hk.errors.ParameterError, match="`min_games` is at least 1"):
        Question(min_games=0)


def test_many_that_stand_alone_are_counted() -> None:
    groups = tuple(CoveredGroup((f"p{i}",), 100 * i, 10 * i) for i in range(1, 6))
    assert str(Coverage(groups)) == (
        "Not compared, too few common positions: 5 evaluators, each measured on its own positions "
        "of 10 to 50 decided games."
    )


def test_the_report_compares_those_that_share_enough(study: hk.Study, tmp_path: Path) -> None:
    report = study_report(study, ReportOptions(resamples=20))
    shared = report.results.shared
    assert shared is not None
    assert {each.name for each in shared.judged} == {"one", "two", "three"}
    assert len(shared.comparisons) == 2
    first = report.page.sections[0].words[0]
    assert first == report.results.coverage.text(hint=False)
    assert "Left out of the comparison: other" in first
    plain = report.as_json()
    assert plain["coverage"]["alone"] == ["other"]  # type: ignore[index]
    metrics = plain["metrics"]
    assert isinstance(metrics, list)
    assert {row["evaluator"] for row in metrics} == {"one", "two", "three"}
    own = plain["metrics_of_all_positions"]
    assert isinstance(own, list)
    assert {row["evaluator"] for row in own} == {"other"}
