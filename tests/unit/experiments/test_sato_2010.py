# SPDX-License-Identifier: Apache-2.0
"""Sato 2010's tables: the paper's numbers, and a tiny run of each from games made here."""

import dataclasses
import json
import lzma
import zipfile

import numpy as np
import pytest

import hyoka as hk
from experiments import EXPERIMENTS, ExperimentContext, Outcome, RecordsFolder
from experiments.ladders import paired
from experiments.sato_2010 import (
    TABLE_3,
    LostExperiment,
    LostScale,
    bear_in_the_hole_endings,
    tactical_problems,
)
from hyoka.foundation.math import Estimate
from hyoka.records import Record, write_records
from hyoka.search import move_strengths

INTO_CORNERS = (
    *("2h7h", "8b3b", "5i4h", "5a6b", "4h3h", "6b7b", "3h2h", "7b8b"),
    *("1i1h", "9a9b", "2h1i", "8b9a", "7g7f", "3c3d", "9g9f", "1c1d"),
)
DRILLS = [
    {"sfen": "8k/7g1/8G/9/9/9/9/9/9 b GN2r2bg4s3n4l18p 1", "answers": ["N*2c"], "kind": "詰将棋"},
    {
        "sfen": "ln1gk2nl/6g2/p2pppspp/2p3p2/7P1/1rP6/P2PPPP1P/2G3SR1/LN2KG1NL b BSPbsp 1",
        "answers": ["B*9e"],
        "kind": "手筋",
    },
]


def game(seed: int) -> Record:
    """Both kings go into their corners, and some moves elsewhere follow."""
    line, codes = hk.Shogi().line(), []
    for ply in range(90):
        if ply < len(INTO_CORNERS):
            move = line.parse(INTO_CORNERS[ply])
        else:
            calm = [each for each in line.legal_moves if str(each)[:2] not in ("1i", "9a")]
            if not calm:
                break
            move = calm[(7919 * (ply + 1) * (seed + 1)) % len(calm)]
        codes.append(move.code)
        line = line.play(move)
        if line.outcome is not None:
            break
    result = float(seed % 2)
    return Record("shogi", np.array(codes, np.uint16), result=result, ending="resigned")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ExperimentContext:
    data = tmp_path_factory.mktemp("data")
    (data / "shogi").mkdir()
    for number, name in enumerate(("pro_title", "pro_psn", "floodgate2016")):
        plain = data / "games.csa"
        write_records([game(10 * number + each) for each in range(6)], plain)
        (data / "shogi" / f"{name}.csa.xz").write_bytes(lzma.compress(plain.read_bytes()))
    with zipfile.ZipFile(data / "shogi" / "mate_and_nextmove.zip", "w") as archive:
        archive.writestr("drill.jsonl", "".join(f"{json.dumps(each)}\n" for each in DRILLS))
    return ExperimentContext(tmp_path_factory.mktemp("made"), RecordsFolder(data))


def run(context: ExperimentContext, name: str) -> Outcome:
    return EXPERIMENTS[name].run(context, "tiny")


def test_table_3_is_the_papers_and_covers_all_of_our_features() -> None:
    rows = {row.name: (row.low, row.high) for row in TABLE_3}
    assert rows["recapture"] == (12.75, 12.75)
    assert rows["balance, wins_700"] == (20.04, 20.04)
    assert rows["balance, loses_700"] == (0.02, 0.02)
    assert rows["escape, rook"] == (6.85, 23.68)
    assert rows["drop, rook"] == (0.22, 1.89)
    assert rows["tables, other_promoted"] == (1.05, 2.21)
    beginnings = tuple(row.beginning for row in TABLE_3)
    ours = set(move_strengths("shogi")) - {"declaration"}
    assert all(name.startswith(beginnings) for name in ours)
    assert all(any(name.startswith(each) for name in ours) for each in beginnings)


def test_ratings_are_learned_and_set_beside_theirs(context: ExperimentContext) -> None:
    outcome = run(context, "004-table3")
    [table] = outcome.tables
    assert len(table.rows) == len(TABLE_3)
    assert outcome.verdicts


def test_playouts_are_measured(context: ExperimentContext) -> None:
    [table] = run(context, "004-table4").tables
    assert [row[0] for row in table.rows] == ["random", "rating, built in", "rating, learned here"]
    assert table.rows[0][1:3] == (0.037, 0.193)
    assert isinstance(table.rows[1][4], Estimate)


def test_problems_are_drills_and_mates_are_distinguished(context: ExperimentContext) -> None:
    problems = tactical_problems(context, 4)
    assert [each.kind for each in problems] == ["詰将棋", "手筋"]
    outcome = run(context, "004-table5")
    assert [row[0] for row in outcome.tables[0].rows][-1] == "αβ"
    assert outcome.tables[0].rows[0][1:3] == ("4 / 98", "4 / 86")
    assert {str(row[3]).partition(" / ")[2] for row in outcome.tables[0].rows} == {"2"}
    assert {str(row[5]).partition(" / ")[2] for row in outcome.tables[0].rows} == {"1"}
    kept = sorted(context.place("004-table5").glob("*.json"))
    before = [file.stat().st_mtime_ns for file in kept]
    assert run(context, "004-table5") == outcome  # nothing is solved twice
    assert [file.stat().st_mtime_ns for file in kept] == before


def test_endings_have_both_kings_in_corners_and_the_winner_to_move(
    context: ExperimentContext,
) -> None:
    problems = bear_in_the_hole_endings(context, 3)
    assert 0 < len(problems) <= 3
    for problem in problems:
        position = hk.position("shogi", problem.position)
        assert position.is_legal(problem.best[0])
    assert run(context, "004-table8").tables


@pytest.mark.parametrize("name", ["004-table6", "004-table6-readings", "004-table7"])
def test_a_tiny_run(context: ExperimentContext, name: str) -> None:
    outcome = run(context, name)
    assert outcome.tables[0].rows
    assert outcome.verdicts


def test_endings_that_look_even_are_evaluated_by_both(context: ExperimentContext) -> None:
    experiment = EXPERIMENTS["004-table9"]
    assert isinstance(experiment, LostExperiment)
    every_game = {"all": LostScale(1, 2, 10, 100)}
    outcome = dataclasses.replace(experiment, scales=every_game).run(context, "all")
    [(_, positions, _), *even] = outcome.tables[0].rows
    assert positions == 12
    assert len({count for _, count, _ in even}) <= 1
    assert len(outcome.verdicts) == len(even) / 2


def test_what_one_solves_more_is_by_problem() -> None:
    one, other = np.array([True] * 8 + [False] * 2), np.array([False] * 9 + [True])
    assert paired(one, other, 0).value == pytest.approx(0.7)
    same = paired(one, one, 0)
    assert same.low < same.value == 0 < same.high
