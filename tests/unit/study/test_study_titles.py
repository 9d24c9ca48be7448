# SPDX-License-Identifier: Apache-2.0
"""What records say in words: headers and comments in a study, asked for and written again."""

from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka.apps.cli.command_table import command_line
from hyoka.storage.manifest import DESCRIPTION, changing, read_part
from hyoka.study import append_to_study
from hyoka.study.evaluating import evaluate

PGN: Final = """[Event "x"]
[White "A"]
[ECO "C20"]
[Annotator "me"]
[Annotator "you"]
[Result "1-0"]

{about} 1. e4 $1 {[%eval 0.3] best
by test} {says who} 1... e5 2. Qh5 Ke7 $4 3. Qxe5# 1-0

[Event "y"]
[White "B"]
[ECO "B00"]
[Result "*"]

1. e4 *

"""


def made(folder: Path, text: str = PGN, name: str = "games.pgn") -> hk.Study:
    (folder / name).write_text(text, encoding="utf-8")
    return hk.Study.create(folder / "study", folder / name)


def test_headers_and_comments_are_asked_for_by_sql(tmp_path: Path) -> None:
    study = made(tmp_path)
    codes = study.sql("select tags['ECO'] as eco, tags['None'] as no from games order by game_id")
    assert codes.to_pylist() == [{"eco": "C20", "no": None}, {"eco": "B00", "no": None}]
    people = study.sql("select game_id, value from tags where name = 'Annotator'").to_pylist()
    assert people == [{"game_id": 0, "value": "me\fyou"}]
    remarks = study.sql("select ply, nags, text from remarks order by ply").to_pylist()
    assert remarks == [
        {"ply": 0, "nags": None, "text": "about"},
        {"ply": 1, "nags": [1], "text": "[%eval 0.3] best\nby test\fsays who"},
        {"ply": 4, "nags": [4], "text": None},
    ]


def test_headers_are_columns_of_conditions(tmp_path: Path) -> None:
    study = made(tmp_path)
    assert len(study.select("tags['ECO'] = 'B00'")) == 2
    assert len(study.select("left(tags['ECO'], 1) = 'C' and ply > 0")) == 5
    evaluate(study, ["comments"])
    curves = study.curve("comments", by="left(tags['ECO'], 1)")
    assert curves.parts[-1].condition == "left(tags['ECO'], 1) is C"
    only = hk.Study.create(tmp_path / "b", tmp_path / "games.pgn", where="tags['ECO'] like 'B%'")
    assert [record.first for _, record in only.records()] == ["B"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("games.pgn", PGN),
        (
            "games.sgf",
            "(;GM[1]SZ[9]GN[a \\] b]XYZ[p][q]C[root]\n;B[ee]TR[aa][bb]C[say \\]];W[gc])\n",
        ),
        ("games.csa", "V2.2\nN+A\n$X:y\n'About\nPI\n+\n+7776FU\nT3\n'words\n%MATTA\n'summary:z\n"),
    ],
)
def test_a_study_writes_back_what_it_read(tmp_path: Path, name: str, text: str) -> None:
    study = made(tmp_path, text, name)
    again = tmp_path / f"again-{name}"
    hk.write_records((record for _, record in study.records()), again)
    assert again.read_text(encoding="utf-8") == text


def test_studies_of_earlier_versions_have_no_words(tmp_path: Path) -> None:
    study = made(tmp_path)
    lost = {"games": ["tags"], "remarks": ["nags", "text"]}
    with changing(study.path / DESCRIPTION, "forgetting") as change:
        number = change.next_number  # parts with the same number belong together
        change.parts = [
            change.write(read_part(study.path / part.name).drop_columns(lost[table]), table, number)
            if (table := part.table) in lost
            else part
            for part in change.parts
        ]
        change.next_number += 1
        change.commit()
    assert study.sql("select count(tags) as n from games")["n"].to_pylist() == [0]
    record = study.record(0)
    assert (record.tags, record.first, record.remarks[1].text) == ({}, "A", "")
    assert record.remarks[1].score == 30
    (tmp_path / "more.pgn").write_text('[ECO "D00"]\n\n1. d4 {new} *\n')
    append_to_study(study.path, tmp_path / "more.pgn")
    codes = study.sql("select tags['ECO'] as eco from games order by game_id")["eco"].to_pylist()
    assert codes == [None, None, "D00"]
    assert study.sql("select text from remarks where text is not null").to_pylist() == [
        {"text": "new"}
    ]


def test_words_command_no_terminal(tmp_path: Path) -> None:
    study = made(tmp_path, "1. e4 {[bold]loud[/] [%eval 0.3]\n\x1b[31mred} e5 *\n")
    words = ["position", "show", str(study.path), "--game-id", "0", "--ply", "1"]
    said = CliRunner().invoke(command_line(words), words).output
    assert "[bold]loud[/] [%eval 0.3]" in said
    assert "\x1b" not in said
