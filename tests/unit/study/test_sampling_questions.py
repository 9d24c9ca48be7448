# SPDX-License-Identifier: Apache-2.0
"""Questions about what evaluators say themselves, parts with names, and the largest of many."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka.agents import ImportedEvaluations
from hyoka.analysis import NO_INTERVALS
from hyoka.analysis.conditions import partition
from hyoka.foundation.errors import ConditionError, ParameterError, StudyError
from hyoka.reporting.study_report import ReportOptions, study_report
from hyoka.study import Question
from hyoka.study.evaluating import evaluate

PLAIN: dict[str, Any] = {"resampling": NO_INTERVALS}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder: Path = tmp_path_factory.mktemp("said")
    rng = np.random.default_rng(2)
    texts = []
    for number in range(40):
        position, moves = hk.Chess(), []
        for _ in range(10):
            move = position.legal_moves[int(rng.integers(len(position.legal_moves)))]
            moves.append(f"{position.san(move)} {{[%eval {rng.normal(0, 2):.2f}]}}")
            position = position.play(move)
        said = "1-0" if rng.random() < 0.5 else "0-1"
        name = "ABBCCCDDDD"[number % 10]
        texts.append(f'[White "{name}"]\n[Result "{said}"]\n\n{" ".join(moves)} {said}\n')
    (folder / "games.pgn").write_text("\n".join(texts))
    made = hk.Study.create(folder / "study", folder / "games.pgn", columns="none")
    rows = made.sql("select game_id, ply, ply * 10 as score from positions where ply > 3")
    evaluate(made, ["comments", ImportedEvaluations(rows, "mine")])
    return made


def counted(study: hk.Study, condition: str) -> int:
    return int(
        study.sql(f"select count(*) as n from evaluations where {condition}")["n"][0].as_py()
    )


def test_a_condition_on_the_score_is_about_each_evaluators_own(study: hk.Study) -> None:
    table = study.metrics(where="abs(score) < 60", **PLAIN)
    assert {part.name: part.positions for part in table.parts} == {
        "comments": counted(study, "engine = 'comments' and abs(score) < 60"),
        "mine": counted(study, "engine <> 'comments' and abs(score) < 60"),
    }
    # Where two are compared it holds for both.
    both = study.compare("comments", "mine", where="score > 50", **PLAIN)
    together = study.sql(
        "select count(*) as n from evaluations a join evaluations b using (game_id, ply) "
        "where a.engine = 'comments' and b.engine <> 'comments' and a.score > 50 and b.score > 50"
    )
    assert both.one.positions == together["n"][0].as_py()


def test_evaluators_are_chosen_by_their_names(study: hk.Study) -> None:
    table = study.metrics(where="evaluator = 'mine' and ply > 5", **PLAIN)
    assert [part.name for part in table.parts] == ["mine"]
    with pytest.raises(
        StudyError, match=r"no position .* has a result and an evaluation by comments"
    ):
        study.metrics(where="evaluator = 'nobody'", **PLAIN)
    with pytest.raises(ConditionError, match="did you mean score"):
        study.metrics(where="scor > 1", **PLAIN)


def test_what_an_evaluator_says_parts_its_positions_under_a_name(study: hk.Study) -> None:
    table = study.metrics("comments", by="lead in pawns: score / 100", bins=[-1, 1], **PLAIN)
    assert [(part.condition, part.positions) for part in table.parts] == [
        ("", counted(study, "engine = 'comments'")),
        ("lead in pawns < -1", counted(study, "engine = 'comments' and score < -100")),
        (
            "-1 ≤ lead in pawns < 1",
            counted(study, "engine = 'comments' and score >= -100 and score < 100"),
        ),
        ("lead in pawns ≥ 1", counted(study, "engine = 'comments' and score >= 100")),
    ]
    gaps = study.gaps("comments", by="ahead: score > 0", **PLAIN)
    assert [gap.condition for gap in gaps] == ["ahead", "not ahead"]


def test_the_largest_levels_are_parts_and_one_more_has_the_others(study: hk.Study) -> None:
    table = study.metrics("comments", by="opponent: white", largest=2, **PLAIN)
    assert [(part.condition, part.games) for part in table.parts] == [
        ("", 40),
        ("opponent is D", 16),
        ("opponent is C", 12),
        ("opponent: others", 12),
    ]
    levels = np.array([1, 1, 2, 3, 3, 3, 4])
    parts = partition("n", levels, most=2)
    assert [part.words for part in parts] == ["n = 3", "n = 1", "n: others"]
    assert parts[-1].sql == "n not in (3, 1)"
    assert np.sum([part.holds for part in parts], axis=0).tolist() == [1] * 7
    names = np.array([None, *(f"it's {n}" for n in range(30))], dtype=object)
    texts = partition("name", names)
    assert len(texts) == 8
    assert texts[0].sql == "name = 'it''s 0'"
    assert [part.words for part in texts if part.holds[0]] == ["name: unknown"]
    flags = partition("flag", np.array([1.0, 0.0, np.nan]))
    assert [part.sql for part in flags] == ["flag = 0", "flag = 1", "flag is null"]
    with pytest.raises(ParameterError, match="cannot be combined with `bins`"):
        Question(by="ply", bins=[3], largest=2)
    with pytest.raises(ParameterError, match="needs `by`"):
        Question(largest=2)


@pytest.mark.parametrize(
    ("by", "called", "expression"),
    [
        ("pawns: material / 100", "pawns", "material / 100"),
        ("ply::text", "ply::text", "ply::text"),
        ("a.b : c::int", "a.b", "c::int"),
        ("case when x then 'a: b' end", *(["case when x then 'a: b' end"] * 2)),
        ("late: phase", "late", "phase"),
    ],
)
def test_names_of_slices_are_distinguished_from_sql(by: str, called: str, expression: str) -> None:
    question = Question(by=by)
    assert (question.called, question.expression) == (called, expression)


def test_a_report_takes_the_same_conditions(study: hk.Study) -> None:
    report = study_report(
        study, ReportOptions(evaluators="comments", where="score > 0", resamples=0)
    )
    assert report.results.subjects[0].own.curve.positions == counted(
        study, "engine = 'comments' and score > 0"
    )
