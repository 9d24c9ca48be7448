# SPDX-License-Identifier: Apache-2.0
"""A game of which nothing is known but its name and rules goes everywhere with defaults.

Such a game is made by forgetting all facts of a known one, and what the core knows of its play.
"""

from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka import _core
from hyoka.arena.openings import read_openings
from hyoka.engines.server import Controller, GtpServer
from hyoka.games import FACTS, GameFacts
from hyoka.games.clock import expected_moves
from hyoka.records import record_text
from hyoka.reporting.match_report import write_match_report
from hyoka.reporting.study_report import write_report
from hyoka.search import Searcher, SearchSpec, linear_evaluation, move_strengths
from hyoka.study import make_study
from hyoka.study.evaluating import evaluate

NAMES = ["othello", "chess", "shogi", "blokus_duo"]


def without_facts(name: str) -> GameFacts:
    kind = FACTS[name].position_type
    return GameFacts(name=name, position_type=kind, title="bare game", family="bare")


@pytest.fixture(params=NAMES)
def bare(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a game without facts, terms and features."""
    name: str = request.param
    monkeypatch.setitem(FACTS, name, without_facts(name))
    monkeypatch.setattr(_core, "evaluation_terms", lambda game: ([], "points", 1.0))
    monkeypatch.setattr(_core, "move_features", lambda game: [])
    return name


def test_its_board_is_drawn_from_its_cells(bare: str) -> None:
    start = hk.position(bare)
    line = start.line().play(start.legal_moves[0])
    board = hk.diagram(line)
    assert board.title == "Bare game"
    assert board.caption.startswith("Second player to play. Last move:")
    assert (board.rows, board.columns) == start.cells.shape
    drawn = [[piece is not None for piece in row] for row in board.pieces]
    assert np.array_equal(drawn, line.cells != 0)
    assert "Bare game" in hk.terminal(line, ascii=True)
    assert hk.svg(line).startswith("<svg")


def test_pieces_that_differ_look_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FACTS, "chess", without_facts("chess"))
    text = hk.terminal(hk.Chess(), ascii=True)
    assert "d b c e f c b d" in text
    assert "D B C E F C B D" in text


def test_searches_play_it_without_knowledge(bare: str) -> None:
    for spec in ("uct:playouts=50", "uct:playouts=50,formula=puct", "mc:playouts=50", "random"):
        assert hk.search_once(hk.position(bare), spec).best in hk.position(bare).legal_moves
    assert Searcher("ab:depth=1", bare).search(hk.position(bare)).best is not None
    assert FACTS[bare].search.spec == "uct"
    assert expected_moves(hk.position(bare)) == 20


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("uct:policy=strengths", "moves have features"),
        ("uct:ordered=on", "moves have features"),
        ("uct:policy=light", "is for Go"),
        ("uct:mate=100", "mate=100 is for"),
        ("uct:ending=8", "ending=8 is for"),
        ("mate", "'mate' searches"),
        ("exact", "'exact' solves"),
    ],
)
def test_what_it_lacks_is_said(bare: str, spec: str, words: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=words):
        Searcher(spec, bare)


def test_weights_and_strengths_need_something_to_weigh(bare: str) -> None:
    with pytest.raises(hk.errors.NotationError, match="has no evaluation terms; pass"):
        linear_evaluation(bare)
    with pytest.raises(hk.errors.NotationError, match="have no features"):
        move_strengths(bare)
    with pytest.raises(hk.errors.NotationError, match="mates are looked for in"):
        hk.find_mate(hk.position(bare))
    with pytest.raises(hk.errors.NotationError, match="endings are solved in"):
        hk.solve_ending(hk.position(bare))


def test_it_is_played_over_gtp(bare: str) -> None:
    said: list[str] = []
    controller = Controller(iter(["genmove b", "showboard", "set_game x"]), said.append)
    GtpServer(SearchSpec.from_text("random"), controller, game=bare).run()
    answers = "".join(said).split("\n\n")
    assert hk.position(bare).is_legal(answers[0].removeprefix("= "))
    assert "Bare game" in answers[1]
    assert answers[2].startswith("?")


@pytest.mark.parametrize("bare", ["othello", "shogi"], indirect=True)
def test_its_matches_make_records_studies_and_pages(bare: str, tmp_path: Path) -> None:
    assert len(read_openings("random", bare)[0].moves) == 4
    resigning = ["resign=0.55,1"]  # with so few playouts somebody soon sees itself behind
    plan = hk.plan_match("uct:playouts=8", "uct:playouts=9", game=bare, adjudicate=resigning)
    result = hk.play_match(plan, tmp_path / "match", games=8)
    assert len(result.games) == 8
    write_match_report(tmp_path / "match.html", "A match", result.games, ["one", "other"])
    assert "Games to look at" in (tmp_path / "match.html").read_text(encoding="utf-8")

    records = tmp_path / "match" / "games.sgf"
    assert [record.moves.tolist() for record in hk.read_records(records)] == [
        game.record.moves.tolist()
        for game in sorted(result.games, key=lambda game: game.pairing.number)
    ]
    study, imported = make_study(tmp_path / "study", records)
    assert (study.game, imported.games) == (bare, 8)
    evaluate(study, ["uct:playouts=4"], where="ply < 12")
    page = write_report(study, tmp_path / "study.html").page
    assert page.title == "Evaluations in bare game: right or wrong?"


def test_its_records_begin_anywhere(bare: str) -> None:
    line = hk.position(bare).line()
    for seed in range(5):
        move = line.random_move(seed)
        assert move is not None
        line = line.play(move)
    start = line.position
    moves = [start.legal_moves[0]]
    record = hk.Record(
        game=bare,
        moves=np.array([move.code for move in moves], np.uint16),
        start=start.text,
        first="somebody",
        result=1.0,
        ending="resigned",
    )
    [again] = hk.parse_records(record_text(record, "sgf"))
    assert again == record
