# SPDX-License-Identifier: Apache-2.0
"""A match's games as tables and records, and workers that are not like the others."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.arena import (
    Opening,
    Pairing,
    PlayedGame,
    export_match,
    odd_workers,
    open_match,
    plan_match,
    play_match,
)
from hyoka.arena.journal import records_name
from hyoka.records import Record, Remark
from hyoka.reporting.match_report import write_match_report

GAMES = {
    "chess": ("games.pgn", "ab:nodes=30"),
    "shogi": ("games.csa", "ab:nodes=30"),
    "othello": ("games.sgf", "ab:nodes=30"),
    "go9": ("games.sgf", "uct:playouts=3"),
    "blokus_duo": ("games.blksgf", "uct:playouts=2"),
}


def played(folder: Path, game: str, **choices: Any) -> list[PlayedGame]:
    plan = plan_match(
        *("one=random", f"two={GAMES[game][1]}@0.01"),
        **{"game": game, "max_plies": 90, "margin_s": 1000.0, "seed": 4, **choices},
    )
    games = play_match(plan, folder, games=4).games
    return sorted(games, key=lambda each: each.pairing.number)


def comparable(record: Record, game: str) -> tuple[Any, ...]:
    """What every notation has words for."""
    return (record.game, record.move_texts(), record.result, record.first, record.second)


def rounded(number: float | None) -> float | None:
    return None if number is None else float(np.float32(number))


@pytest.mark.parametrize("game", GAMES)
def test_records_are_read_back_with_moves_results_players_and_remarks(
    tmp_path: Path, game: str
) -> None:
    games = played(tmp_path, game)
    files = export_match(tmp_path, list(reversed(games)))
    assert [file.name for file in files] == ["games.parquet", "moves.parquet", GAMES[game][0]]
    assert files[2].name == records_name(game)
    stream = hk.read_records(files[2])
    records = list(stream)
    assert stream.refused == []
    assert [comparable(record, game) for record in records] == [
        comparable(each.record, game) for each in games
    ]
    for record, each in zip(records, games, strict=True):
        mine = {remark.ply: remark for remark in each.record.remarks}
        found = {remark.ply: remark for remark in record.remarks}
        for ply, remark in mine.items():
            if game == "shogi":
                # CSA has scores and seconds, and no words for a move out of a book.
                if remark.score is not None:
                    assert found[ply].score == pytest.approx(remark.score, abs=0.5)
                continue
            assert found[ply].value == rounded(remark.value)
            assert found[ply].depth == remark.depth
            assert found[ply].book == remark.book
            assert (found[ply].score, found[ply].mate) == (rounded(remark.score), remark.mate)
            if remark.clock_s is not None:
                assert found[ply].clock_s == pytest.approx(remark.clock_s, abs=1e-3)


@pytest.mark.parametrize("game", GAMES)
def test_tables_hold_a_row_a_game_and_a_row_a_remark(tmp_path: Path, game: str) -> None:
    games = played(tmp_path, game)
    export_match(tmp_path, games)
    table = pq.read_table(tmp_path / "games.parquet").to_pylist()
    assert [row["game_id"] for row in table] == [0, 1, 2, 3]
    assert [row["pair_id"] for row in table] == [0, 0, 1, 1]
    assert [row["opening_id"] for row in table] == [0, 0, 1, 1]
    for row, each in zip(table, games, strict=True):
        record = each.record
        assert (row["first"], row["second"]) == (record.first, record.second)
        assert (row["result"], row["ending"], row["reason"]) == (
            each.result,
            record.ending,
            each.reason,
        )
        assert np.frombuffer(row["moves"], "<u2").tolist() == record.moves.tolist()
        assert row["plies"] == len(record)
        assert row["book_plies"] == len([remark for remark in record.remarks if remark.book])
        assert row["fault"] is None
        assert row["worker"] == each.worker != ""
    moves = pq.read_table(tmp_path / "moves.parquet").to_pylist()
    expected = [(each, remark) for each in games for remark in each.record.remarks]
    assert len(moves) == len(expected)
    for row, (each, remark) in zip(moves, expected, strict=True):
        pairing = each.pairing
        assert (row["game_id"], row["pair_id"], row["opening_id"], row["ply"]) == (
            pairing.number,
            pairing.pair_id,
            pairing.opening_id,
            remark.ply,
        )
        assert row["value"] == rounded(remark.value)
        assert (row["mate"], row["depth"], row["book"]) == (
            remark.mate,
            remark.depth,
            remark.book,
        )


def test_an_export_is_the_same_in_whatever_order_games_ended(tmp_path: Path) -> None:
    games = played(tmp_path, "othello")
    once = [file.read_bytes() for file in export_match(tmp_path, games)]
    again = [file.read_bytes() for file in export_match(tmp_path, games[::-1])]
    assert once == again
    assert export_match(tmp_path / "none", []) == []


def test_komi_handicap_and_starts_are_exported(tmp_path: Path) -> None:
    games = played(tmp_path, "go9", handicap=3, komi=0.5)
    records = list(hk.read_records(export_match(tmp_path, games)[2]))
    for record, each in zip(records, games, strict=True):
        assert (record.komi, record.handicap) == (0.5, 3)
        assert record.position(0) == each.record.position(0)
    start = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
    games = played(tmp_path / "chess", "chess", openings=[Opening("one", start)])
    records = list(hk.read_records(export_match(tmp_path / "chess", games)[2]))
    assert {record.position(0).text for record in records} == {
        each.record.position(0).text for each in games
    }


ODD = 'a "quoted" [name] \\ with ] {braces} ; 碁 – é'


@pytest.mark.parametrize("game", ["chess", "go9", "othello", "blokus_duo"])
def test_names_with_odd_characters_survive(tmp_path: Path, game: str) -> None:
    games = [
        replace(each, record=replace(each.record, first=ODD, second=ODD[::-1]))
        for each in played(tmp_path, game)
    ]
    records = list(hk.read_records(export_match(tmp_path, games)[2]))
    assert [record.first for record in records] == [ODD] * 4
    assert [record.second for record in records] == [ODD[::-1]] * 4


@pytest.mark.parametrize("game", GAMES)
def test_a_study_is_made_of_a_matchs_folder_as_of_any_other(tmp_path: Path, game: str) -> None:
    folder = tmp_path / "match"
    games = played(folder, game)
    export_match(folder, games)
    names = ["one", "two"]
    write_match_report(folder / "report.html", "a match", games, names, conditions=["none"])
    assert {file.suffix for file in folder.iterdir()} >= {".jsonl", ".parquet", ".toml", ".html"}
    study = hk.Study.create(tmp_path / "study", folder)
    found = study.sql("select count(*) as games from games").to_pylist()
    assert found == [{"games": 4}]
    assert study.sql("select * from refused").num_rows == 0
    rows = study.sql("select first, second, result from games order by game_id").to_pylist()
    assert [row["first"] for row in rows] == [each.record.first for each in games]
    assert [row["result"] for row in rows] == [each.result for each in games]


def test_a_match_can_be_exported_again_from_its_folder_alone(tmp_path: Path) -> None:
    games = played(tmp_path, "othello")
    files = export_match(tmp_path, games)
    before = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    _, kept = open_match(tmp_path)
    assert [file.read_bytes() for file in export_match(tmp_path, kept)] == before


# Workers.


def simulated(
    results: Sequence[tuple[str, float, str]],
) -> list[PlayedGame]:
    """Games by worker, the first-named player's points, and how they ended."""
    games = []
    for number, (worker, points, ending) in enumerate(results):
        pair_id, second = divmod(number, 2)
        result = 1 - points if second else points
        record = Record(
            "go9",
            np.array([], dtype=np.uint16),
            result=result,
            ending=ending,  # type: ignore[arg-type]
            remarks=(Remark(0),),
        )
        pairing = Pairing(number, pair_id, 0, second, 1 - second)
        games.append(PlayedGame(pairing, record, "", worker=worker))
    return games


def match_of_workers(
    chance: random.Random, workers: int, games: int, *, draws: float, rate: float = 0.5
) -> list[tuple[str, float, str]]:
    return [
        (
            f"host:{number % workers}",
            0.5 if chance.random() < draws else float(chance.random() < rate),
            "normal",
        )
        for number in range(games)
    ]


@pytest.mark.parametrize("draws", [0.005, 0.4])
def test_workers_that_are_alike_are_hardly_ever_odd(draws: float) -> None:
    chance = random.Random(1)
    alarms = 0
    for _ in range(200):
        rate = chance.choice([0.1, 0.5, 0.9])
        games = match_of_workers(chance, 5, 150, draws=draws, rate=rate)
        alarms += bool(odd_workers(simulated(games)))
    assert alarms <= 2


def test_a_worker_with_the_only_draw_is_not_odd() -> None:
    results = [(f"host:{number % 50}", float(number % 3 == 0), "normal") for number in range(2000)]
    results[7] = ("host:7", 0.5, "normal")
    assert odd_workers(simulated(results)) == []


def test_a_worker_with_other_results_is_found() -> None:
    chance = random.Random(2)
    good = match_of_workers(chance, 5, 400, draws=0.2)
    bad = [("bad:1", float(chance.random() < 0.05), "normal") for _ in range(60)]
    [odd] = odd_workers(simulated(good + bad))
    assert (odd.worker, odd.what, odd.games) == ("bad:1", "results", 60)
    assert odd.here < 0.2
    assert odd.elsewhere > 0.4
    assert odd.p_value < 1e-4
    assert str(odd).startswith("bad:1: ")


def test_a_worker_on_which_players_break_down_is_found() -> None:
    chance = random.Random(3)
    good = match_of_workers(chance, 5, 400, draws=0.2)
    bad = [
        ("bad:1", float(chance.random() < 0.5), "time" if number % 2 else "normal")
        for number in range(40)
    ]
    assert [(odd.worker, odd.what) for odd in odd_workers(simulated(good + bad))] == [
        ("bad:1", "faults")
    ]


def test_one_worker_or_few_games_say_nothing() -> None:
    lost = [("a:1", 0.0, "forfeit")] * 50
    assert odd_workers(simulated(lost)) == []
    assert odd_workers([]) == []
    assert odd_workers(simulated([*lost, *[("b:1", 1.0, "normal")] * 9])) == []
