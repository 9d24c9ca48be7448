# SPDX-License-Identifier: Apache-2.0
"""Of which kinds positions are: how far, how restless and how hard, as columns of a study."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka.foundation.errors import ParameterError, SourceError
from hyoka.foundation.progress import Progress
from hyoka.records.samples import sample_path
from hyoka.search import SearchSpec, ab, linear_evaluation, measure_difficulty
from hyoka.search.difficulty import SEARCH, categories_of
from hyoka.storage.manifest import read_manifest
from hyoka.study import append_to_study
from hyoka.study.derived_columns import categorize, rank_moves, stored_categories
from hyoka.study.evaluating import evaluate
from hyoka.study.sampling import slice_columns
from hyoka.study.verify import check_study

COLUMNS = ["progress_eighth", "best_move_changes", "correct_depth"]


def study_of(game: str, games: int, folder: Path) -> hk.Study:
    records = itertools.islice(hk.read_records(sample_path(game)), games)
    file = folder / ("games.pgn" if game == "chess" else "games.sgf")
    hk.write_records(records, file)
    return hk.Study.create(folder / "study", [file])


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    return study_of("othello", 2, tmp_path)


@pytest.mark.parametrize("game", ["othello", "chess"])
def test_columns_say_how_far_restless_and_hard_positions_are(game: str, tmp_path: Path) -> None:
    study = study_of(game, 2, tmp_path)
    report = categorize(study, threads=2)
    search = SearchSpec.from_text(SEARCH)
    rows = study.select(None, f"game_id, ply, plies, {', '.join(COLUMNS)}").to_pylist()
    records = dict(study.records())
    for row in rows:
        record, ply, plies = records[row["game_id"]], row["ply"], row["plies"]
        begun = [eighth for eighth in range(8) if ply * 8 >= eighth * plies]
        assert row["progress_eighth"] == begun[-1]
        if ply == plies:
            assert row["best_move_changes"] is row["correct_depth"] is None
        elif ply % 3 == 0:
            alone = measure_difficulty([record.position(ply)], [record.move_list[ply]], spec=search)
            assert row["best_move_changes"] == alone.best_move_changes[0]
            assert row["correct_depth"] == alone.correct_depth[0]
    assert (report.search, report.positions) == (SEARCH, len(rows))
    for column in COLUMNS:
        found = [row[column] for row in rows]
        assert report.counts[column] == {each: found.count(each) for each in report.counts[column]}
        known = sum(each is not None for each in found)
        assert sum(report.counts[column].values()) == known
    assert [list(counts) for counts in report.counts.values()] == [
        list(range(8)),
        list(range(3)),
        list(range(1, 5)),
    ]


def test_conditions_and_the_search_for_splits_know_them(tmp_path: Path) -> None:
    study = study_of("othello", 8, tmp_path)
    assert study.category_columns == []
    before = study.condition_columns()
    assert not {*COLUMNS} & {*before, *slice_columns(study)}
    with pytest.raises(hk.errors.ConditionError, match="correct_depth"):
        study.select("correct_depth = 1")
    rank_moves(study, "built-in", "ours")
    report = categorize(study)
    assert study.category_columns == COLUMNS
    assert study.condition_columns()[-3:] == COLUMNS
    assert {*before} < {*study.condition_columns()}
    assert slice_columns(study)[-3:] == COLUMNS
    chosen = study.select("correct_depth = 4 and ours_rank is not null")
    assert len(chosen) == report.counts["correct_depth"][4]
    evaluate(study, [hk.PythonEvaluator(lambda position: len(position.text) % 7 / 7, title="x")])
    parts = study.metrics(by="best_move_changes", resampling=hk.Resampling(0))
    conditions = [f"best_move_changes = {changes}" for changes in range(3)]
    unknown = "best_move_changes: unknown"  # where games end, nothing is searched
    assert [part.condition for part in parts] == ["", *conditions, unknown]
    known = [part.positions for part in parts][1:-1]
    assert known == list(report.counts["best_move_changes"].values())
    found = study.slices(columns=COLUMNS, least_games=4, resampling=hk.Resampling(0))
    assert found.tried >= 10


def test_training_gets_them_back(study: hk.Study, tmp_path: Path) -> None:
    table = study.game_table()
    assert stored_categories(study, table.game_ids, table.plies) is None
    categorize(study)
    found = stored_categories(study, table.game_ids, table.plies)
    expected = categories_of(table)
    assert found is not None
    for mine, other in zip(found.by_class, expected.by_class, strict=True):
        assert mine.dtype == np.int8
        assert np.array_equal(mine, other)
    some = study.game_table("ply % 7 = 3 and game_id = 1")
    few = stored_categories(study, some.game_ids, some.plies)
    rows = (table.game_ids == 1) & (table.plies % 7 == 3)
    assert few is not None
    assert np.array_equal(few.correct_depth, expected.correct_depth[rows])
    more = list(itertools.islice(hk.read_records(sample_path("othello")), 2, 3))
    hk.write_records(more, tmp_path / "more.sgf")
    append_to_study(study.path, tmp_path / "more.sgf")
    later = study.game_table("game_id = 2")
    nobody = stored_categories(study, later.game_ids, later.plies)
    assert nobody is not None
    assert all((each == -1).all() for each in nobody.by_class)
    assert len(study.select("game_id = 2 and progress_eighth is null")) == len(later)


def test_another_search_takes_the_place_of_the_first(study: hk.Study) -> None:
    categorize(study)
    [folder] = (study.path / "categories").iterdir()
    first = read_manifest(folder / "search.toml").values
    columns = f"ply, {', '.join(COLUMNS)}"
    before = study.select(None, columns)
    categorize(study)
    assert study.select(None, columns).equals(before)
    steps: list[Progress] = []
    ours = linear_evaluation(study.game)
    turned = ab(evaluation=dataclasses.replace(ours, weights=-ours.weights))
    report = categorize(study, spec=turned, progress=steps.append)
    assert (steps[0].done, steps[-1].done) == (0, steps[-1].total)
    second = read_manifest(folder / "search.toml").values
    assert first["search"] == SEARCH
    assert second["search"] == report.search == str(turned)
    assert first["fingerprint"] != second["fingerprint"]
    after = study.select(None, columns)
    assert len(after) == len(before)
    assert not after.equals(before)
    assert check_study(study.path).is_whole


def test_interrupted_nothing_is_written(study: hk.Study) -> None:
    def stop(progress: Progress) -> None:
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        categorize(study, progress=stop)
    assert study.category_columns == []
    assert not list((study.path / "categories").iterdir())
    categorize(study)
    before = study.select("correct_depth = 1")
    with pytest.raises(KeyboardInterrupt):
        categorize(study, spec="ab:plain=on", progress=stop)
    assert study.select("correct_depth = 1").equals(before)


def test_damage_is_found_and_repaired(study: hk.Study) -> None:
    categorize(study)
    check = check_study(study.path, seal=True)
    assert check.is_whole
    assert study.category_columns == COLUMNS
    [part] = (study.path / "categories").glob("search=*/*.parquet")
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 0xFF
    part.write_bytes(data)
    [damage] = check_study(study.path).damage
    assert damage.what == str(part.relative_to(study.path))
    assert f"hyoka study annotate {study.path} --search ab:eval=built-in" in damage.remedy
    with pytest.raises(hk.errors.StudyError, match=part.name):
        study.select("correct_depth = 1")
    assert check_study(study.path, seal=True).is_whole
    assert study.category_columns == []
    categorize(study)
    assert study.category_columns == COLUMNS


def test_searches_that_will_not_do(study: hk.Study) -> None:
    with pytest.raises(ParameterError, match="ab:SETTINGS, not uct"):
        categorize(study, spec="uct")
    for name in ("depth", "nodes"):
        with pytest.raises(ParameterError, match=f"'{name}' has no effect"):
            categorize(study, spec=f"ab:{name}=4")
    with pytest.raises(SourceError, match="nowhere"):
        categorize(study, spec="ab:eval=nowhere.json")
    assert not (study.path / "categories").exists()
