# SPDX-License-Identifier: Apache-2.0
"""A move model's ranking of the moves played, as columns of a study."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka.foundation.errors import ParameterError, SourceError
from hyoka.models.loading import move_model, ranked
from hyoka.records.samples import sample_path
from hyoka.study.derived_columns import rank_moves
from hyoka.study.sampling import slice_columns
from hyoka.study.verify import check_study


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    games = itertools.islice(hk.read_records(sample_path("othello")), 5)
    hk.write_records(games, tmp_path / "games.sgf")
    return hk.Study.create(tmp_path / "study", [tmp_path / "games.sgf"])


def test_columns_say_how_the_move_was_ranked(study: hk.Study) -> None:
    assert study.ranking_columns == []
    report = rank_moves(study, "built-in", "ours")
    assert report.columns == ("ours_rank", "ours_surprise", "ours_entropy")
    rows = study.select("game_id = 2 and ply in (7, 30)", "ply, " + ", ".join(report.columns))
    model = move_model("othello", "built-in")
    for row in rows.to_pylist():
        record = study.record(2)
        line = record.position(0).line()
        for move in record.move_list[: row["ply"]]:
            line = line.play(move)
        moves = dict(ranked(line, model))
        played = record.move_list[row["ply"]]
        better = sum(share > moves[played] for share in moves.values())
        alike = sum(share == moves[played] for share in moves.values())
        assert better < row["ours_rank"] <= better + alike
        assert row["ours_surprise"] == pytest.approx(-np.log(moves[played]), rel=1e-4)
        shares = np.array(list(moves.values()))
        assert row["ours_entropy"] == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-4)
    ends = study.select("ply = plies", "ours_rank")
    assert ends["ours_rank"].null_count == len(ends)
    assert study.sql("select count(*) as n from rankings")["n"][0].as_py() == report.positions
    assert set(report.columns) <= set(slice_columns(study))


def test_a_second_ranking_takes_the_place_of_the_first(study: hk.Study) -> None:
    for _ in range(2):
        report = rank_moves(study, "built-in", "ours")
    rank_moves(study, "built-in", "again")
    rows = study.select("ours_rank is not null and ours_rank = again_rank")
    assert len(rows) == report.ranked
    assert not check_study(study.path).damage


def test_names_and_models_that_will_not_do(study: hk.Study) -> None:
    for name in ("", "Ours", "a b", "x" * 50, "1st", 'a"'):
        with pytest.raises(ParameterError, match="is lowercase letters, digits and _"):
            rank_moves(study, "built-in", name)
    with pytest.raises(ParameterError, match=r"makes column first_.*, which exists"):
        rank_moves(study, "built-in", "first")
    with pytest.raises(SourceError, match="nowhere"):
        rank_moves(study, "nowhere.bin", "ours")
