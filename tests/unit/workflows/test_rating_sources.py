# SPDX-License-Identifier: Apache-2.0
"""Results for rating lists out of records, tables, matches and studies."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
import typer

import hyoka as hk
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.arena import export_match, open_match, rating_history
from hyoka.arena.ratings import rate_players
from hyoka.foundation.errors import Error, NotationError, SourceError
from hyoka.foundation.progress import Progress
from hyoka.workflows.rating_sources import Results, read_results

PGN = """[White "Anna"]
[Black "Bert"]
[Result "1-0"]

1. f3 e5 2. g4 a6 1-0

[White "Bert "]
[Black "Anna"]
[Result "1/2-1/2"]

1. f3 e5 1/2-1/2

[White "Cara"]
[Black "Bert"]
[Result "*"]

1. f3 e5 *

[White "?"]
[Black "Bert"]
[Result "0-1"]

1. f3 e5 0-1

[White "Bert"]
[Black "Bert"]
[Result "0-1"]

1. f3 e5 0-1

[White "Cara"]
[Black "Dora"]
[Result "1-0"]

1. e4 e5 2. Ke3 1-0
"""
SGF = "(;GM[1]SZ[9]PB[Honinbo]PW[Anna]RE[B+R];B[ee];W[gc])"


def games(results: Results) -> list[tuple[str, str, float]]:
    return [
        (results.names[a], results.names[b], float(r))
        for a, b, r in zip(results.first, results.second, results.result, strict=True)
    ]


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text(PGN, encoding="utf-8")
    return file


def table(folder: Path, name: str = "table.parquet", **columns: object) -> Path:
    file = folder / name
    usual: dict[str, object] = {
        "first": ["Anna", "Bert", "Anna"],
        "second": ["Bert", "Anna", "Cara"],
        "result": [1.0, 0.5, None],
    }
    pq.write_table(pa.table(usual | columns), file)
    return file


TAKEN = [("Anna", "Bert", 1.0), ("Bert", "Anna", 0.5)]


def test_records_are_read_and_what_is_left_out_is_counted(pgn: Path) -> None:
    results = read_results([pgn])
    assert games(results) == TAKEN
    assert results.names == ("Anna", "Bert")
    assert results.left_out == {
        "no result": 1,
        "a player without a name": 1,
        "a player against himself": 1,
        "illegal move": 1,
    }
    assert len(set(results.clusters)) == 2


def test_one_player_of_many_files_and_games_is_one(tmp_path: Path, pgn: Path) -> None:
    with zipfile.ZipFile(tmp_path / "go.zip", "w") as archive:
        archive.writestr("a.sgf", SGF)
        archive.writestr("b.sgf", SGF)
    results = read_results([tmp_path / "go.zip"])
    assert games(results) == [("Honinbo", "Anna", 1.0), ("Honinbo", "Anna", 1.0)]
    assert games(read_results([pgn, pgn])) == [*TAKEN, *TAKEN]
    with pytest.raises(SourceError, match="chess and go9 together"):
        read_results([pgn, tmp_path / "go.zip"])


def test_tables_have_pairs_that_stay_apart(tmp_path: Path) -> None:
    one = table(tmp_path, "one.parquet", pair_id=[5, 5, 5])
    other = table(tmp_path, "other.parquet", pair_id=[5, None, 5], result=[1.0, 0.5, 0.0])
    for paths in ([one, other], [str(tmp_path / "*.parquet")]):
        results = read_results(paths)
        assert games(results) == [*TAKEN, *TAKEN, ("Anna", "Cara", 0.0)]
        a, b, c, d, e = results.clusters.tolist()
        assert a == b
        assert c == e
        assert len({a, c, d}) == 3
        assert results.left_out == {"no result": 1}


def test_tables_may_hold_names_and_results_in_other_types(tmp_path: Path) -> None:
    coded = pa.array(["Anna", "Bert", "Anna"]).dictionary_encode()
    numbers = table(tmp_path, first=coded, second=pa.array([1, 2, 3]), result=[1, 0, None])
    results = read_results([numbers])
    assert games(results) == [("Anna", "1", 1.0), ("Bert", "2", 0.0)]
    nobody = table(tmp_path, first=[None, "", " "], result=[1.0, 1.0, 1.0])
    assert read_results([nobody]).left_out == {"a player without a name": 3}


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ([2.0, 1.0, 1.0], "results are 0, 0.5 or 1"),
        (["1-0", "0-1", "*"], r"table\.parquet: Failed to parse"),
    ],
)
def test_a_table_with_other_results_is_refused(
    tmp_path: Path, results: list[object], words: str
) -> None:
    with pytest.raises(SourceError, match=words):
        read_results([table(tmp_path, result=results)])


def test_a_table_without_the_columns_or_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "moves.parquet"
    pq.write_table(pa.table({"first": ["a"], "ply": [1]}), file)
    with pytest.raises(SourceError, match="no column second, result"):
        read_results([file])
    file.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(SourceError, match=r"moves\.parquet"):
        read_results([file])


def test_a_study_and_a_match_give_their_games(tmp_path: Path, pgn: Path) -> None:
    study = tmp_path / "study"
    hk.Study.create(study, pgn, columns="none")
    assert games(read_results([study])) == TAKEN
    match = tmp_path / "match"
    plan = hk.plan_match("a=random", "b=random", game="go3")
    hk.play_match(plan, match, games=2)
    export_match(match, open_match(match)[1])
    hk.play_match(plan, match, games=4)  # the tables are older than the journal now
    results = read_results([match])
    assert (len(results), len(set(results.clusters))) == (4, 2)


DATED = """[White "Anna"]
[Black "Bert"]
[Date "2024.02.??"]
[TimeControl "600+5"]
[Result "1-0"]

1. f3 e5 2. g4 a6 1-0

[White "Bert"]
[Black "Anna"]
[Date "????.??.??"]
[UTCDate "2024.03.01"]
[Result "1/2-1/2"]

1. f3 e5 1/2-1/2

[White "Bert"]
[Black "Anna"]
[Result "1/2-1/2"]

1. e3 e5 1/2-1/2
"""


def test_further_columns_and_dates_are_read(tmp_path: Path) -> None:
    file = tmp_path / "dated.pgn"
    file.write_text(DATED, encoding="utf-8")
    study = tmp_path / "study"
    hk.Study.create(study, file, columns="none")
    days = pa.array([19000, None, 19001], pa.date32())
    for source, dates, controls in (
        (file, ["2024-02-15", "2024-03-01", "NaT"], ["600+5", "", ""]),
        (study, ["2024-02-15", "2024-03-01", "NaT"], ["600+5", "", ""]),
        (table(tmp_path, date=days), ["2022-01-08", "NaT"], ["", ""]),
    ):
        columns = ["date"] if source.suffix == ".parquet" else ["date", "time_control"]
        results = read_results([source], columns=columns)
        assert [str(date) for date in results.dates] == dates
        if len(columns) > 1:
            assert results.columns["time_control"].tolist() == controls
    both = read_results([file, table(tmp_path)], columns=["date", "time_control"])
    assert [str(date) for date in both.dates] == ["2024-02-15", "2024-03-01", *["NaT"] * 3]
    merged = both.with_merged(["Anna"])
    assert merged.columns["time_control"].tolist() == ["600+5", *[""] * 4]
    with pytest.raises(SourceError, match="no column weather"):
        read_results([file], columns=["weather"])
    match = tmp_path / "match"
    hk.play_match(hk.plan_match("a=random", "b=random", game="go3"), match, games=2)
    assert not np.isnat(read_results([match], columns=["date"]).dates).any()


def test_progress_tells_the_bytes(tmp_path: Path, pgn: Path) -> None:
    file = table(tmp_path)
    steps: list[Progress] = []
    read_results([pgn, file], progress=steps.append)
    size = pgn.stat().st_size + file.stat().st_size
    assert {(each.what, each.total, each.unit) for each in steps} == {("reading", size, "bytes")}
    assert steps[-1].done - steps[-2].done == file.stat().st_size
    assert steps[-1].done >= size


def test_nothing_to_read_is_an_error_and_no_games_are_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no files"):
        read_results([])
    with pytest.raises(SourceError, match="no such file"):
        read_results([tmp_path / "nothing.pgn"])
    (tmp_path / "text.txt").write_text("no game at all\n", encoding="utf-8")
    results = read_results([tmp_path / "text.txt"])
    assert len(results) == 0
    assert results.left_out == {"no records": 1}


def test_players_with_few_games_go_and_so_do_those_left_with_few(tmp_path: Path) -> None:
    file = table(
        tmp_path,
        first=["a", "b", "a", "c", "d", "b"],
        second=["b", "a", "c", "b", "c", "a"],
        result=[1.0, 0.5, 0.0, 1.0, 0.0, 0.0],
    )
    results = read_results([file])
    assert results.of_frequent_players(1).names == results.names == ("a", "b", "c", "d")
    # Without d's game c has but two, and without c's b and a have three each.
    few = results.of_frequent_players(3)
    assert few.names == ("a", "b")
    assert games(few) == [("a", "b", 1.0), ("b", "a", 0.5), ("b", "a", 0.0)]
    assert few.left_out == {"a player with fewer than 3 games": 3}
    assert len(results.of_frequent_players(9)) == 0


# The command
[ratings_command] = [each.load() for each in COMMANDS if each.name == "match ratings"]


@pytest.fixture
def tournament(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    names = np.array(["[bold]Anna", "Bert", "Cara"])
    first = np.repeat([0, 1, 2, 0, 1, 2], 20)
    second = np.repeat([1, 2, 0, 2, 0, 1], 20)
    result = rng.choice([0, 0.5, 1], 120, p=[0.3, 0.2, 0.5])
    return table(tmp_path, "t.parquet", first=names[first], second=names[second], result=result)


def test_the_command_lists_players(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings_command(files=[str(tournament)], anchor="Bert=1500")
    shown = capsys.readouterr().out
    assert "[bold]Anna" in shown
    assert "1500" in shown
    assert "±0" in shown
    assert "120 games" in shown
    assert "LOS" in shown


def test_the_command_gives_json(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings_command(files=[str(tournament)], advantage="0", as_json=True)
    found = json.loads(capsys.readouterr().out)
    results = read_results([tournament])
    expected = rate_players(
        results.first, results.second, results.result, results.names, advantage=0
    )
    assert found["games"] == 120
    assert [player["name"] for player in found["players"]] == [p.name for p in expected.players]
    assert found["players"][0]["elo"] == pytest.approx(expected.players[0].elo)
    assert found["players"][-1]["superiority_over_next"] is None
    assert found["advantage"] == {"value": 0, "low": 0, "high": 0}


def test_the_command_tells_components_and_open_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = table(
        tmp_path,
        first=["a", "b", "c", "d", "c", "x"],
        second=["b", "a", "d", "c", "d", ""],
        result=[1.0, 0.0, 1.0, 0.5, 0.0, 1.0],
    )
    ratings_command(files=[str(file)])
    captured = capsys.readouterr()
    assert "component 1 of 2" in captured.out
    assert "+∞" in captured.out
    assert "−∞" in captured.out
    assert "virtual draws" in captured.out
    assert "1 a player without a name" in captured.err
    ratings_command(files=[str(file)], as_json=True)
    players = json.loads(capsys.readouterr().out)["players"]
    assert next(player for player in players if player["name"] == "a")["high"] is None


def test_wishes_that_make_no_sense_are_refused(tournament: Path, tmp_path: Path) -> None:
    files = [str(tournament)]
    for anchor in ("Bert", "=5", "Bert=x", "Bert=inf"):
        with pytest.raises(NotationError, match="NAME=ELO"):
            ratings_command(files=files, anchor=anchor)
    with pytest.raises(Error, match="did you mean Bert"):
        ratings_command(files=files, anchor="Berta=1500")
    for advantage in ("some", "nan", "5000"):
        with pytest.raises(NotationError, match="'fit' or some Elo"):
            ratings_command(files=files, advantage=advantage)
    with pytest.raises(Error, match="120 a player with fewer than 500 games"):
        ratings_command(files=files, min_games=500)
    with pytest.raises(Error, match="no such file"):
        ratings_command(files=[str(tmp_path / "none.pgn")])


@pytest.fixture
def seasons(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    count = 120
    first = rng.integers(0, 3, count)
    second = (first + rng.integers(1, 3, count)) % 3
    names = np.array(["[bold]Anna", "Bert", "Cara"])
    return table(
        tmp_path,
        "seasons.parquet",
        first=names[first],
        second=names[second],
        result=rng.choice([0, 0.5, 1], count, p=[0.3, 0.2, 0.5]),
        date=[f"20{10 + i // 12}-{i % 12 + 1:02}" for i in range(110)] + [""] * 10,
        handicap=rng.integers(0, 2, count),
    )


def test_the_command_rates_over_time(
    seasons: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"ratings.{ending}" for ending in ("csv", "svg", "html")]
    ratings_command(files=[str(seasons)], over_time=True, advantage_by="handicap", output=files)
    shown = capsys.readouterr().out
    assert "3 players, 110 games, 2010-01-15 to 2019-02-15" in shown
    assert "[bold]Anna" in shown
    assert "--drift sets it" in shown
    assert "Elo, handicap 0." in shown
    assert "10 games without a date left out." in shown
    written = pacsv.read_csv(files[0])
    assert written.column_names == ["player", "date", "elo", "low", "high", "games"]
    assert written["games"].to_numpy().sum() == 220
    assert "<svg" in files[1].read_text(encoding="utf-8")
    assert "Bert" in files[2].read_text(encoding="utf-8")


def test_the_command_gives_ratings_over_time_as_json(
    seasons: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings_command(files=[str(seasons)], over_time=True, drift=4.0, as_json=True, anchor="Bert=99")
    found = json.loads(capsys.readouterr().out)
    assert found["drift"] == {"value": 4, "low": 4, "high": 4}
    assert (found["games"], found["undated"]) == (110, 10)
    assert {player["name"] for player in found["players"]} == {"[bold]Anna", "Bert", "Cara"}
    assert {row["elo"] for row in found["rows"] if row["player"] == "Bert"} == {99}
    results = read_results([seasons], columns=["date"])
    history = rating_history(
        results.first, results.second, results.result, results.names,
        dates=results.dates, drift=4.0, anchor=("Bert", 99.0),
    )  # fmt: skip
    assert [row["elo"] for row in found["rows"]] == pytest.approx(
        [row["elo"] for row in history.rows()]
    )


def test_options_of_ratings_over_time_need_it(tournament: Path, tmp_path: Path) -> None:
    for name, value in (("drift", 5.0), ("advantage_by", "x"), ("output", [tmp_path / "x.csv"])):
        with pytest.raises(typer.BadParameter, match="needs --over-time"):
            ratings_command(files=[str(tournament)], **{name: value})
    with pytest.raises(Error, match="no game has a date"):
        ratings_command(files=[str(tournament)], over_time=True)
