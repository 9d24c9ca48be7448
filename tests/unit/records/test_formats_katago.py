# SPDX-License-Identifier: Apache-2.0
"""KataGo's analysis engine: the examples of its documentation, and games sent there and back."""

import json
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.study.exporting import export_positions

from ..record_texts import Read

QUERY = (
    '{"id":"foo","initialStones":[["B","Q4"],["B","C4"]],"moves":[["W","P5"],["B","P6"]],'
    '"rules":"tromp-taylor","komi":7.5,"boardXSize":19,"boardYSize":19,"analyzeTurns":[0,1,2]}'
)


def response(turn: int, name: str = "foo", to_play: str = "B", **root: Any) -> str:
    """As the engine writes it: keys in the order of the alphabet."""
    numbers = {"scoreLead": 8.25, "visits": 500, "winrate": 0.875, "currentPlayer": to_play}
    info = {"move": "Q5", "order": 0, "pv": ["Q5", "R5"], "visits": 495, "winrate": 0.9}
    other = {"move": "D4", "order": 1, "visits": 2}
    row = {
        "id": name,
        "isDuringSearch": False,
        "moveInfos": [other, info],
        "rootInfo": numbers | root,
        "turnNumber": turn,
    }
    return json.dumps(row)


def said(record: hk.Record) -> list[tuple[int, Any, Any, Any]]:
    return [(each.ply, each.value, each.score, each.nodes) for each in record.remarks]


def test_the_documented_query_is_a_game(read: Read) -> None:
    (record,), refused = read(QUERY)
    assert refused == []
    assert (record.game, record.komi, record.rules) == ("go19", 7.5, "tromp-taylor")
    assert (record.event, record.handicap, record.line) == ("foo", 2, 1)
    assert record.move_texts() == ["P5", "P6"]
    start = record.position(0)
    assert start.to_play == hk.Player.second
    assert {(19 - row, column) for row, column in zip(*start.cells.nonzero(), strict=True)} == {
        (4, 15),
        (4, 2),
    }


@pytest.mark.parametrize("order", ["after", "before", "between"])
def test_responses_evaluate_their_turns(order: str, read: Read) -> None:
    lines = [response(2, winrate=0.5), response(0), response(1, scoreLead=-1.5)]
    warning = '{"id":"foo","warning":"x","field":"y"}'
    data = {
        "after": [QUERY, warning, *lines],
        "before": [*lines, QUERY],
        "between": [lines[0], QUERY, *lines[1:]],
    }
    (record,), refused = read("\n".join(data[order]) + "\n")
    assert refused == []
    assert said(record) == [(0, 0.875, 8.25, 500), (1, 0.875, -1.5, 500), (2, 0.5, 8.25, 500)]


@pytest.mark.parametrize(
    ("view", "values"),
    [
        ("BLACK", [(0.875, 8.25), (0.875, 8.25)]),
        ("WHITE", [(0.125, -8.25), (0.125, -8.25)]),
        ("SIDETOMOVE", [(0.125, -8.25), (0.875, 8.25)]),  # White begins
    ],
)
def test_the_query_says_whose_view_it_is(view: str, values: list[Any], read: Read) -> None:
    query = json.loads(QUERY) | {"overrideSettings": {"reportAnalysisWinratesAs": view}}
    (record,), _ = read("\n".join([json.dumps(query), response(0), response(1)]))
    assert [(value, score) for _, value, score, _ in said(record)] == values


def test_interim_reports_are_not_evaluations(read: Read) -> None:
    interim = json.loads(response(0)) | {"isDuringSearch": True}
    (record,), _ = read(f"{QUERY}\n{json.dumps(interim)}")
    assert record.remarks == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"boardXSize": 13}, "13 by 19"),
        ({"boardXSize": 11, "boardYSize": 11, "moves": [], "initialStones": []}, "size 11"),
        ({"moves": [["W", "Z5"]]}, "point of the board"),
        ({"moves": [["W", "I5"]]}, "no point"),
        ({"moves": [["X", "P5"]]}, "no player"),
        ({"moves": [["W"]]}, "no pair"),
        ({"moves": {"a": 1}}, "no list"),
        ({"moves": [["W", "Q4"]]}, "illegal"),
        ({"initialStones": "B"}, "no list"),
    ],
)
def test_bad_queries_are_refused_with_their_lines(change: Any, reason: str, read: Read) -> None:
    bad = json.dumps(json.loads(QUERY) | change)
    records, (refused,) = read(f"{QUERY}\n\n{bad}\n{QUERY}\n")
    assert [each.line for each in records] == [1, 4]
    assert reason in refused.reason
    assert refused.line == 3


@pytest.mark.parametrize(
    "junk", ["{", "not JSON", "[1, 2]", '"x"', "\x00", "[" * 100_000, '{"id": NaN}', '{"a":1}']
)
def test_junk_between_lines_never_raises(junk: str, read: Read) -> None:
    records, refused = read(f"{QUERY}\n{junk}\n{response(0)}\n")
    assert [said(record) for record in records] == [[(0, 0.875, 8.25, 500)]]
    assert len(refused) <= 1


@pytest.mark.parametrize(
    "root",
    [{"winrate": 2}, {"winrate": None}, {"winrate": "0.5"}, {"visits": -1}, {"scoreLead": None}],
)
def test_odd_numbers_never_raise(root: dict[str, Any], read: Read) -> None:
    (record,), _ = read(f"{QUERY}\n{response(0, **root)}")
    assert all(0 <= each.value <= 1 for each in record.remarks if each.value is not None)


def test_responses_alone_say_what_is_missing(read: Read) -> None:
    records, (refused,) = read(response(0))
    assert records == []
    assert "without a query" in refused.reason


def test_text_in_a_query_can_not_become_moves(read: Read) -> None:
    query = json.loads(QUERY) | {"id": "x];B[aa\\", "rules": {"ko": "]\n;W[bb]"}}
    (record,), _ = read(json.dumps(query))
    assert record.event == "x];B[aa\\"
    assert record.move_texts() == ["P5", "P6"]


def test_a_study_goes_to_the_engine_and_back(tmp_path: Path) -> None:
    games = (
        "(;GM[1]SZ[9]KM[7]RU[Japanese];B[ee];W[];B[gc];W[cc])"
        "(;GM[1]SZ[9]KM[0.5]HA[2]AB[cc][gg];W[ee];B[ge])"
    )
    (tmp_path / "games.sgf").write_text(games)
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.sgf")
    queries = tmp_path / "queries.jsonl"
    assert export_positions(study, queries, where="ply > 0").positions == 6
    first, second = map(json.loads, queries.read_text().splitlines())
    assert (first["rules"], first["komi"], first["analyzeTurns"]) == ("japanese", 7, [1, 2, 3, 4])
    assert first["moves"] == [["B", "E5"], ["W", "pass"], ["B", "G7"], ["W", "C7"]]
    assert second["moves"] == [["W", "E5"], ["B", "G5"]]
    assert second["initialStones"] == [["B", "C7"], ["B", "G3"]]
    assert (second["initialPlayer"], second["analyzeTurns"]) == ("W", [1, 2])
    # The queries alone are the games again.
    records = list(hk.read_records(queries))
    originals = [record for _, record in study.records()]
    for record, original in zip(records, originals, strict=True):
        assert record.moves.tolist() == original.moves.tolist()
        assert (record.start, record.komi) == (original.start, original.komi)
    responses = tmp_path / "responses.jsonl"
    lines = [
        *(response(ply, "game 0", winrate=ply / 8, scoreLead=ply / 2) for ply in (3, 1, 2, 4)),
        *(response(1, "game 1"), response(1, "someone else"), '{"error":"x"}', '{"id":"game'),
    ]
    responses.write_text("\n".join(lines))
    study.evaluate(f"table:name=KataGo:{responses}")
    rows = study.sql(
        "select game_id, ply, value, score, nodes, best from evaluations order by game_id, ply"
    ).to_pylist()
    assert [(row["game_id"], row["ply"], row["value"], row["score"]) for row in rows] == [
        *((0, ply, ply / 8, ply / 2) for ply in (1, 2, 3, 4)),
        (1, 1, 0.875, 8.25),
    ]
    assert {(row["nodes"], row["best"]) for row in rows} == {(500, "Q5")}
    responses.write_text(response(0, "someone else"))
    with pytest.raises(hk.errors.SourceError, match="no response of KataGo"):
        study.evaluate(f"table:name=other:{responses}")


def test_queries_are_of_go_only(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[White "A"]\n\n1. e4 *\n')
    study = hk.Study.create(tmp_path / "study", tmp_path / "game.pgn")
    with pytest.raises(hk.errors.ParameterError, match="games of Go"):
        export_positions(study, tmp_path / "x.jsonl")
