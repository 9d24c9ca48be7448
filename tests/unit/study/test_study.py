# SPDX-License-Identifier: Apache-2.0
import itertools
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.apps.cli import run
from hyoka.games import Game
from hyoka.reporting.study_report import ReportOptions
from hyoka.storage.files import toml_text, write_sealed_toml, write_text
from hyoka.storage.manifest import read_description
from hyoka.storage.table_files import write_parquet
from hyoka.study import append_to_study, make_study
from hyoka.study.exact_results import adjudicate
from hyoka.study.importing import chosen_columns

PGN = """[White "Anand, V"]
[Black "Carlsen, M"]
[WhiteElo "2775"]
[BlackElo "2870"]
[Date "2013.11.09"]
[Result "1/2-1/2"]

1. Nf3 {[%eval 0.17]} d5 {[%eval 0.1]} 2. g3 g6 1/2-1/2

[White "Fool"]
[Black "Scholar"]
[WhiteElo "900"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[White "Fool"]
[Black "Copyist"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[White "Cheat"]
[Black "Arbiter"]
[Result "1-0"]

1. e4 e5 2. Ke3 1-0
"""


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text(PGN, encoding="utf-8")
    return file


@pytest.fixture
def study(tmp_path: Path, pgn: Path) -> hk.Study:
    return hk.Study.create(tmp_path / "study", pgn)


def rows(study: hk.Study, query: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in study.sql(query).to_pylist()]


def test_a_study_has_its_verbs(study: hk.Study, tmp_path: Path) -> None:
    [report] = study.evaluate("ab:depth=1", limit=3)
    assert report.done == 3
    assert study.adjudicate().asked > 0
    assert study.export(tmp_path / "positions.csv", where="ply = 0").positions > 0
    exported = study.export(tmp_path / "games.csv", where="ply < 2", games=True)
    assert exported.games == len((tmp_path / "games.csv").read_text().splitlines()) - 1
    assert exported.sentence.endswith("games.csv: 2 games")
    with pytest.raises(hk.Error, match="`games` needs a table"):
        study.export(tmp_path / "games.epd", games=True)
    page = study.report(options=ReportOptions(resamples=0)).page
    assert page.title in (study.path / "report.html").read_text(encoding="utf-8")
    study.report(tmp_path / "page.html", options=ReportOptions(resamples=0))
    assert (tmp_path / "page.html").exists()
    assert study.verify().is_whole


def random_games(count: int, seed: int = 1) -> str:
    """PGN of random games; each ends where it happens to."""
    choose = random.Random(seed)
    texts = []
    for _ in range(count):
        game = hk.Chess()
        moves = []
        for _ in range(choose.randrange(1, 60)):
            if game.outcome is not None:
                break
            move = choose.choice(game.legal_moves)
            moves.append(game.san(move))
            game = game.play(move)
        texts.append(f"1. {' '.join(moves)} *\n\n")
    return "".join(texts)


def test_every_game_that_can_be_read_is_there_with_its_columns(study: hk.Study) -> None:
    assert rows(
        study,
        "select game_id, first, black, white_rank, result, ending, plies, date, duplicate_of "
        "from games order by game_id",
    ) == [
        (0, "Anand, V", "Carlsen, M", 2775, 0.5, "normal", 4, "2013-11-09", None),
        (1, "Fool", "Scholar", 900, 0, "normal", 4, "", None),
        (2, "Fool", "Copyist", None, 0, "normal", 4, "", 1),
    ]


def test_positions_go_from_the_start_to_the_end_of_each_game(study: hk.Study) -> None:
    assert rows(study, "select game_id, ply from positions order by all") == [
        (game, ply) for game in (0, 1) for ply in range(5)
    ]


def test_duplicates_are_marked_and_have_no_positions(study: hk.Study) -> None:
    assert rows(study, "select count(*) from positions where game_id = 2") == [(0,)]


def test_refused_games_are_listed_with_place_and_reason(study: hk.Study, pgn: Path) -> None:
    [(source, line, number, ply, fault, reason)] = rows(study, "select * from refused")
    assert (source, number, ply, fault) == (str(pgn), 4, 2, "illegal move")
    assert line == PGN[: PGN.index("Ke3")].count("\n") + 1
    assert "Ke3" in str(reason)


def test_remarks_are_about_the_position_after_the_move(study: hk.Study) -> None:
    assert rows(study, "select game_id, ply, score from remarks order by ply") == [
        (0, 1, pytest.approx(17)),
        (0, 2, pytest.approx(10)),
    ]


def test_a_game_comes_back_as_the_record_it_was(study: hk.Study, pgn: Path) -> None:
    stream = hk.read_records(pgn)
    for number, record in enumerate(itertools.islice(stream, 3)):
        kept = study.record(number)
        if number == 2:  # what duplicates say of their positions is not kept
            assert kept.moves.tolist() == record.moves.tolist()
        else:
            assert kept == record


def test_columns_agree_with_the_positions_themselves(tmp_path: Path) -> None:
    file = tmp_path / "random.pgn"
    file.write_text(random_games(20), encoding="utf-8")
    study = hk.Study.create(tmp_path / "study", file)
    found = study.sql("select game_id, ply, in_check, pawns, first_to_play from positions")
    assert len(found) == sum(len(record) + 1 for record in hk.read_records(file))
    records = dict(study.records())
    for row in found.to_pylist():
        position: Any = records[row["game_id"]].position(row["ply"])
        assert row["in_check"] == position.in_check
        assert row["pawns"] == np.count_nonzero(np.abs(position.cells) == 1)
        assert row["first_to_play"] == (position.to_play == hk.Player.first)


@pytest.mark.parametrize(
    ("where", "games"),
    [
        ("white = 'Fool'", ["Fool", "Fool"]),
        ("white_rank > 2000 and abs(first_rank - second_rank) < 100", ["Anand, V"]),
        ("ending = 'normal' and date >= '2013'", ["Anand, V"]),
        ("result = 0.5", ["Anand, V"]),
        ("first_rank is null", ["Fool"]),
        (
            "plies >= 4 and handicap = 0 and rules = '' and komi is null",
            ["Anand, V", "Fool", "Fool"],
        ),
    ],
)
def test_a_condition_chooses_games(tmp_path: Path, pgn: Path, where: str, games: list[str]) -> None:
    study, report = make_study(tmp_path / "chosen", pgn, where=where)
    assert [name for (name,) in rows(study, "select first from games order by game_id")] == games
    assert report.left_out == 3 - len(games)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("plise > 3", "did you mean plies"),
        ("plies >", "condition 'plies >'"),
        ("1 = 1; drop table games", "condition '1 = 1; drop table games'"),
        ("1 = 1) union select (1", "condition"),
    ],
)
def test_a_bad_condition_is_refused_and_nothing_is_created(
    tmp_path: Path, pgn: Path, where: str, message: str
) -> None:
    with pytest.raises(hk.errors.ConditionError, match=message):
        hk.Study.create(tmp_path / "none", pgn, where=where)
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]


def test_a_study_is_not_overwritten(study: hk.Study, pgn: Path) -> None:
    with pytest.raises(
        hk.errors.StudyError, match=r"the study already exists; .*`hyoka study append`"
    ):
        hk.Study.create(study.path, pgn)


def test_without_any_game_there_is_no_study(tmp_path: Path) -> None:
    file = tmp_path / "bad.pgn"
    file.write_text("1. e4 e5 2. Ke3 *\n", encoding="utf-8")
    with pytest.raises(
        hk.errors.StudyError,
        match=r"1 rejected \(illegal move\); first: .*bad.pgn:1: game 1, ply 2",
    ):
        hk.Study.create(tmp_path / "study", file)
    assert not (tmp_path / "study").exists()


def test_strict_stops_at_the_first_bad_game(tmp_path: Path, pgn: Path) -> None:
    with pytest.raises(hk.errors.RefusedError) as caught:
        hk.Study.create(tmp_path / "study", pgn, strict=True)
    assert (caught.value.number, caught.value.ply) == (4, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]


def test_a_study_holds_one_game(tmp_path: Path, pgn: Path) -> None:
    other = tmp_path / "go.sgf"
    other.write_text("(;GM[1]SZ[9];B[ee])", encoding="utf-8")
    with pytest.raises(
        hk.errors.StudyError, match="several games, chess, go9; choose one with `where="
    ):
        hk.Study.create(tmp_path / "mixed", [pgn, other])
    study = hk.Study.create(tmp_path / "chess", [pgn, other], where="game = 'chess'")
    assert study.game == "chess"


def test_more_records_can_be_added_and_known_games_are_duplicates(
    study: hk.Study, tmp_path: Path, pgn: Path
) -> None:
    more = tmp_path / "more.pgn"
    more.write_text("1. d4 *\n\n1. f3 e5 2. g4 Qh4# 0-1\n", encoding="utf-8")
    _, report = append_to_study(study.path, more)
    assert (report.games, report.duplicates, report.positions) == (2, 1, 2)
    assert rows(study, "select game_id, duplicate_of from games where game_id > 2 order by 1") == [
        (3, None),
        (4, 1),
    ]
    assert read_description(study.path)["sources"] == [str(pgn), str(more)]


@pytest.mark.parametrize("text", ["", "nothing that can be read \0\1", "1. e4 Qxz9 *\n"])
def test_to_add_no_game_is_an_error_and_changes_nothing(
    study: hk.Study, tmp_path: Path, pgn: Path, text: str
) -> None:
    before = (study.path / "study.toml").read_bytes()
    more = tmp_path / "more.pgn"
    more.write_text(text, encoding="utf-8")
    with pytest.raises(hk.errors.StudyError, match="no games imported"):
        append_to_study(study.path, more)
    assert run(["study", "append", str(study.path), str(more)]) == 2
    assert (study.path / "study.toml").read_bytes() == before
    # All games are known, or the condition excludes them: that is no failure.
    assert run(["study", "append", str(study.path), str(pgn)]) == 0
    assert run(["study", "append", str(study.path), str(pgn), "--where", "plies > 999"]) == 0


def test_what_an_interrupted_addition_left_is_cleared_away(study: hk.Study, tmp_path: Path) -> None:
    """A kill between the parts of one number leaves positions without their games."""
    orphan = pq.read_table(study.path / "positions" / "part-000000.parquet")
    write_parquet(orphan, study.path / "positions" / "part-000001.parquet")
    (study.path / "games" / ".part-000001.parquet.tmp").write_bytes(b"half")
    more = tmp_path / "more.pgn"
    more.write_text("1. d4 *\n", encoding="utf-8")
    append_to_study(study.path, more)
    assert rows(study, "select count(*) from positions") == [(12,)]


def test_parts_are_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "games" / "part-000000.parquet"
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_parquet(pa.table({"x": [1]}), target)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from read_text('/etc/passwd')",
        "select * from glob('/*')",
        "copy (select 1) to 'out.csv'",
        "copy games to 'out.csv'",
        "set threads = 1",
        "set enable_external_access = true",
        "reset lock_configuration",
        "pragma database_list",
        "attach 'other.db'",
        "install httpfs",
        "load httpfs",
        "create table x as select 1",
        "drop view games",
        "select 1; select 2",
        "",
        "selec 1",
    ],
)
def test_sql_can_touch_nothing_else(
    study: hk.Study, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(hk.errors.ConditionError):
        study.sql(query)
    assert sorted(tmp_path.rglob("*")) == before


def test_sql_does_not_see_variables_of_python(study: hk.Study) -> None:
    secret = pa.table({"x": [1]})
    assert len(secret) == 1
    with pytest.raises(hk.errors.ConditionError, match="secret"):
        study.sql("select * from secret")


def test_a_folder_that_is_no_study_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(hk.errors.StudyError, match="hyoka study create"):
        hk.Study.open(tmp_path)


def test_a_study_of_another_version_is_not_read(study: hk.Study) -> None:
    description = read_description(study.path)
    write_sealed_toml(study.path / "study.toml", description | {"version": 99})
    with pytest.raises(hk.errors.StudyError, match="99"):
        hk.Study.open(study.path)


def test_toml_keeps_any_text(tmp_path: Path) -> None:
    values = {
        "plain": 'a "quoted" \\ text\n\t\x7f',
        "日本": "手合割",
        "list": ["x", 1, 2.5, True],
        "table": {"illegal move": 3, "a.b": 4},
    }
    write_text(tmp_path / "study.toml", toml_text({"version": 1, **values}))
    assert read_description(tmp_path) == {"version": 1, **values}


def test_what_a_killed_import_left_is_cleared_away(tmp_path: Path, pgn: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    leftover = tmp_path / f".study.{ended.pid}.partial"
    (leftover / "games").mkdir(parents=True)
    alive = tmp_path / f".study.{os.getppid()}.partial"
    alive.mkdir()
    hk.Study.create(tmp_path / "study", pgn)
    assert not leftover.exists()
    assert alive.exists()


def test_only_games_of_the_study_are_added(study: hk.Study, tmp_path: Path) -> None:
    other = tmp_path / "go.sgf"
    other.write_text("(;GM[1]SZ[9];B[ee])", encoding="utf-8")
    with pytest.raises(hk.errors.StudyError, match="games of go9, but the study has chess"):
        append_to_study(study.path, other)


def test_no_such_game(study: hk.Study) -> None:
    with pytest.raises(hk.errors.StudyError, match="no game 7; its 3 games are numbered from 0"):
        study.record(7)


@pytest.mark.parametrize("game", ["go9", "chess", "shogi", "othello", "blokus_duo"])
def test_columns_are_chosen_by_name_or_cost(game: str) -> None:
    everything = chosen_columns(game, "all")
    cheap = chosen_columns(game, "cheap")
    assert set(cheap) < set(everything) or game == "othello"
    assert chosen_columns(game, "none") == []
    assert chosen_columns(game, [everything[0]]) == [everything[0]]
    assert chosen_columns(game, f"cheap,{everything[-1]}")[: len(cheap)] == cheap
    with pytest.raises(hk.errors.StudyError, match="no column 'x'"):
        chosen_columns(game, "x")


def test_what_the_rules_know_stands_beside_the_result(study: hk.Study) -> None:
    report = adjudicate(study)
    assert (report.asked, report.known, report.differing) == (2, 1, 0)
    assert rows(study, "select game_id, ply, adjudicated from positions where adjudicated = 0") == [
        (1, 4, 0)
    ]


def test_a_solver_of_ones_own_can_adjudicate(study: hk.Study) -> None:
    """Asked anew, its former answers are replaced."""
    for value in (1.0, 0.5):

        def solver(_position: Game, value: float = value) -> float:
            return value

        report = adjudicate(study, "mine", where="game_id = 0", solver=solver)
        assert (report.asked, report.known) == (5, 5)
        assert report.differing == (5 if value == 1 else 0)
        assert rows(study, "select distinct result from adjudications") == [(value,)]


def test_unknown_methods_are_refused(study: hk.Study) -> None:
    with pytest.raises(hk.errors.StudyError, match="known: rules"):
        adjudicate(study, "oracle")
    with pytest.raises(hk.errors.StudyError, match="is not a method's name: use letters"):
        adjudicate(study, "../up", solver=lambda _position: None)
