# SPDX-License-Identifier: Apache-2.0
"""Who thinks for the studio keeps nobody else waiting, and nothing for ever."""

import concurrent.futures
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

import hyoka as hk
from engines import fake
from hyoka.agents import agent_of
from hyoka.agents.kinds import AGENT_KINDS
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.rooms.board import board_agents as thinking
from hyoka.apps.studio.rooms.board.board_state import BoardState
from hyoka.apps.studio.rooms.board.live_analyses import Analyses
from hyoka.study.evaluating import evaluate

from .....agents.test_agents import LastMove

OURS = "http://127.0.0.1"
PART = {"origin": OURS, "sec-fetch-site": "same-origin", "hx-request": "true"}
REPLY = {"game": "othello", "moves": "d3", "against": "uct:playouts=1", "level": "own"}


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio.on(Folder(tmp_path), Engines(), COMMANDS)


@pytest.fixture
def client(studio: Studio) -> TestClient:
    app = studio_app(studio, token="t")
    cookies = {"hyoka-studio-80": "t"}
    return TestClient(app, OURS, cookies=cookies, raise_server_exceptions=False)


def test_pages_are_answered_while_many_wait_for_replies(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, sent_away, go_on = threading.Semaphore(0), threading.Semaphore(0), threading.Event()

    def slow(*_: object) -> str:
        asked.release()
        go_on.wait(60)
        return "uct resigns."

    def post(_number: int) -> tuple[int, str]:
        answer = client.post("/board/reply", data=REPLY, headers=PART)
        if answer.status_code == 503:
            sent_away.release()
        return answer.status_code, answer.text

    monkeypatch.setattr("hyoka.apps.studio.rooms.board.reply", slow)
    many, most = 60, thinking._AT_ONCE + thinking._WAITING
    with client, concurrent.futures.ThreadPoolExecutor(many) as others:
        answers = [others.submit(post, number) for number in range(many)]
        try:
            for _ in range(most):
                assert asked.acquire(timeout=60)
            for _ in range(many - most):
                assert sent_away.acquire(timeout=60), "the others are sent away at once"
            assert client.get("/").status_code == 200
            assert client.get("/board?game=othello").status_code == 200
        finally:
            go_on.set()
        found = [answer.result() for answer in answers]
    assert sorted(status for status, _ in found) == [200] * most + [503] * (many - most)
    refusal = next(text for status, text in found if status == 503)
    assert "try again in a moment" in refusal
    assert 'role="alert"' in refusal


@pytest.mark.parametrize(
    ("place", "values"),
    [
        ("/board/solve", {"game": "chess"}),
        ("/board/solve", {"game": "othello"}),
        ("/board/reply", REPLY),
    ],
)
def test_agents_beyond_the_limit_are_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, place: str, values: dict[str, str]
) -> None:
    monkeypatch.setattr(thinking, "_queue", threading.BoundedSemaphore(0))
    assert "try again in a moment" in client.post(place, data=values, headers=PART).text


def test_trees_of_older_analyses_are_given_up(studio: Studio) -> None:
    analyses = Analyses()
    table = BoardState.of(QueryParams("game=othello&with=uct:playouts=20&seconds=0.05"))
    jobs = []
    for _ in range(6):
        jobs.append(analyses.analyze(studio, table))
        for worker in jobs[-1].workers:
            worker.join()
        assert jobs[-1]._stoppers == []  # a searcher goes with all that it remembers
    assert [job.analysis_lines[0].tree is not None for job in jobs] == [False] * 3 + [True] * 3
    assert all(job.analysis_lines[0].result is not None for job in jobs)
    assert jobs[-1].analysis_lines[0].node("0") is not None
    with pytest.raises(hk.Error, match="analyze again"):
        jobs[0].analysis_lines[0].node("0")
    # One that ends late, when others have begun, keeps none either.
    late, tree = jobs[0], jobs[-1].analysis_lines[0].tree
    assert tree is not None
    late.keep(late.analysis_lines[0], tree)
    assert late.analysis_lines[0].tree is None


def test_a_condition_fills_little_memory(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(
        '[Result "0-1"]\n\n1. f3 {[%eval 0.1]} e5 2. g4 {[%eval -9]} Qh4# 0-1\n'
    )
    study = hk.Study.create(tmp_path / "study", records=[tmp_path / "games.pgn"])
    evaluate(study, ["comments"])
    large = "length(repeat('x', 4000000000)) > ply"
    for view in ("curves", "games"):
        query = {"path": "study", "where": large, "view": view}
        answer = client.get("/study", params=query, headers=PART)
        assert answer.status_code == 400
        assert "more memory than 0.5G" in answer.text


@pytest.mark.parametrize("settings", ["time=0.1,grace=0.2", "", "nodes=10"])
def test_an_engine_that_hangs_is_ended_and_named(
    settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a limit of time, nobody waits longer than a page may take.
    monkeypatch.setattr(thinking, "_START_S", 0.5)
    spec = fake("uci", "silent=1", settings=f"name=Hangs,{settings}".removesuffix(","))
    line = hk.Chess().line()
    with pytest.raises(hk.errors.EngineError, match="Hangs: does not answer within") as error:
        list(thinking.Analyst(agent_of(spec), "chess", 0.1).variations(line))
    assert error.value.reason == "timeout"
    with pytest.raises(hk.errors.EngineError, match="Hangs: does not answer within"):
        thinking.best_move(agent_of(spec), "chess", line, "beginner")


@pytest.fixture
def _new_kind() -> Iterator[None]:
    AGENT_KINDS.append(LastMove)
    yield
    AGENT_KINDS.remove(LastMove)


@pytest.mark.usefixtures("_new_kind")
def test_a_new_kind_of_agent_analyzes_and_plays(studio: Studio) -> None:
    query = {"game": "othello", "moves": "d3", "with": "last-move", "against": "last-move"}
    board = BoardState.of(QueryParams(query))
    last = str(board.line.legal_moves[-1])
    assert thinking.refusal(studio, board) == ""
    replied = thinking.reply(studio, board)
    assert isinstance(replied, BoardState)
    assert str(replied.line.moves[-1]) == last
    analyses = Analyses()
    job, curve = analyses.analyze(studio, board), analyses.evaluate_game(studio, board)
    for worker in [*job.workers, *curve.workers]:
        worker.join()
    [shown] = job.analysis_lines
    assert (shown.state, shown.value, shown.expected[0][0]) == ("done", 0.1, last)
    [known] = analyses.curves(board)
    assert known.values == [0.0, 0.1]
