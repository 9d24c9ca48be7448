# SPDX-License-Identifier: Apache-2.0
"""Game reviews: losses and accuracies, work that stops and resumes, pages and files."""

import html
import io
import math
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import chess.pgn
from starlette.testclient import TestClient

import hyoka as hk
from e2e.studio import HOSTILE
from hyoka.agents import RecordedGame, agent_of
from hyoka.analysis.accuracy import game_accuracy
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.rooms.board.board_state import table_of
from hyoka.apps.studio.rooms.review import Review
from hyoka.study.evaluating import evaluate

TOKEN = "a-token-that-nobody-guesses"
ORIGIN = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
FOOLS_MATE = (
    f'[White "{HOSTILE}"]\n[Black "b"]\n[Result "0-1"]\n\n1. f3 {{bad}} e5 2. g4 Qh4# 0-1\n'
)
SHORT = "1. e4 e5 2. Nf3 Nc6 1/2-1/2"
WITH = "ab:depth=2"
"""Deterministic; finds the mate."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("review") / "folder"
    place.mkdir()
    (place / "games.pgn").write_text(f"{FOOLS_MATE}\n{SHORT}\n")
    (place / "one.pgn").write_text(SHORT)
    study = hk.Study.create(place / "a study", records=[place / "games.pgn"])
    evaluate(study, ["ab:depth=1"])
    return place


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    app = studio_app(Studio.on(Folder(folder), Engines({}), COMMANDS), token=TOKEN)
    cookies = {"hyoka-studio-80": TOKEN}
    with TestClient(app, "http://127.0.0.1", cookies=cookies) as opened:
        yield opened


def text_of(client: TestClient, page: str, /, **params: str) -> str:
    answer = client.get(page, params=params)
    assert answer.status_code == 200, answer.text
    return answer.text


def reviewed(client: TestClient, **params: str) -> str:
    """The page of a review that is done."""
    params = {"with": WITH, "pace": "0"} | params
    answer = client.post("/review/start", data=params, headers=ORIGIN, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    page = text_of(client, "/review", **params)
    while (events := re.search(r'sse-connect="([^"]+)"', page)) is not None:
        client.get(html.unescape(events[1]))  # ends when the review does
        page = text_of(client, "/review", **params)
    return page


def lichess_accuracy(values: list[float], first: bool) -> float:
    """A player's accuracy, White moving first, as https://lichess.org/page/accuracy has it."""
    percents = [100 * value for value in values]
    size = min(max((len(values) - 1) // 10, 2), 8)
    windows = [percents[:size]] * (size - 2) + [
        percents[i : i + size] for i in range(len(percents) - size + 1)
    ]
    weighted, own = [], []
    for ply, window in enumerate(windows):
        if (ply % 2 == 0) is not first:
            continue
        before, after = percents[ply], percents[ply + 1]
        loss = max(before - after if first else after - before, 0)
        accuracy = 103.1668 * math.exp(-0.04354 * loss) - 3.1669 + 1
        accuracy = min(max(accuracy, 0), 100)
        own.append(accuracy)
        weighted.append((accuracy, min(max(statistics.pstdev(window), 0.5), 12)))
    mean = sum(a * w for a, w in weighted) / sum(w for _, w in weighted)
    return (mean + statistics.harmonic_mean([max(a, 1) for a in own])) / 2


def test_losses_classes_and_accuracies_are_those_of_the_formula() -> None:
    values = [0.5, 0.52, 0.45, 0.62, 0.62, 0.4, 0.42, 0.9, 0.88]
    names = [f"m{ply}" for ply in range(8)]
    movers = [ply % 2 for ply in range(9)]
    report = game_accuracy(names, movers, dict(enumerate(values)))
    assert [round(move.loss, 2) for move in report.moves] == [0, 0, 0, 0, 0.22, 0.02, 0, 0]
    assert [(move.ply, move.kind) for move in report.bad] == [(5, "blunder")]
    for player in (0, 1):
        expected = lichess_accuracy(values, player == 0)
        assert report.sides[player].accuracy == pytest.approx(expected, abs=0.02)
        assert report.sides[player].moves == 4
    assert report.sides[0].loss == pytest.approx(0.22 / 4)
    assert [(each.first_ply, each.last_ply) for each in report.phases] == [(1, 3), (4, 5), (6, 8)]
    assert report.phases[1].losses[0] == pytest.approx(0.22)
    # Without a value, the moves before and after a position are left out.
    part = game_accuracy(names, movers, {ply: values[ply] for ply in (0, 1, 3, 4)})
    assert [move.ply for move in part.moves] == [1, 4]


def test_a_game_of_a_file_is_reviewed_with_its_blunder_and_the_better_line(
    client: TestClient,
) -> None:
    page = reviewed(client, path="games.pgn", number="0")
    assert HOSTILE not in page
    assert html.escape(HOSTILE) in page
    assert "2. g4??" in page
    moments = page[page.index("Key moments") :]
    [better] = re.findall(r"better: ([^<]+)", moments)[:1]
    assert better.split()[0] not in ("g4", "")
    assert 'class="played"' in moments
    assert 'class="better"' in moments
    # The same game and evaluator are not computed again, nor for another ply or address.
    again = reviewed(client, game="chess", moves="f2f3 e7e5 g2g4 d8h4")
    assert "Key moments" in again
    part = client.get(
        "/review",
        params={"path": "games.pgn", "number": "0", "with": WITH, "pace": "0", "ply": "3"},
        headers={"hx-request": "true"},
    ).text
    assert 'data-place="3"' in part
    assert "blunder" in part


def test_an_annotated_record_is_read_by_other_programs(client: TestClient) -> None:
    params = {"path": "games.pgn", "number": "0"}
    reviewed(client, **params)
    answer = client.get("/review/export", params={**params, "with": WITH, "pace": "0", "as": "pgn"})
    assert "attachment" in answer.headers["content-disposition"]
    game = chess.pgn.read_game(io.StringIO(answer.text))
    assert game is not None
    nodes = list(game.mainline())
    assert [node.san() for node in nodes] == ["f3", "e5", "g4", "Qh4#"]
    assert nodes[2].nags == {chess.pgn.NAG_BLUNDER}
    score = nodes[2].eval()
    assert score is not None
    assert score.white().mate() == -1
    assert "bad" in nodes[0].comment
    assert "Blunder: gives away" in nodes[2].comment
    refused = client.get("/review/export", params={**params, "as": "sgf"})
    assert refused.status_code == 400


def test_a_review_that_is_stopped_resumes_where_it_was() -> None:
    [record] = hk.parse_records(SHORT)
    review = Review(1, table_of(record), ("", ""), "ab:depth=1", 0)
    agent = agent_of("ab:depth=1")
    asked: list[list[int]] = []

    class Stops:
        """An evaluator during which somebody stops the review, the first time."""

        def __init__(self) -> None:
            self.evaluator = agent.evaluator("chess")
            self.stop, self.close = self.evaluator.stop, self.evaluator.close
            self.identity = self.evaluator.identity

        def evaluate_each(self, games: list[RecordedGame]) -> Iterator[object]:
            asked.extend(list(each.plies) for each in games)
            for number, result in enumerate(self.evaluator.evaluate_each(games), 1):
                yield result
                if len(asked) == 1 and number == 2:
                    review.stop()

    class Agent:
        names_program = has_limits = False
        spec = agent.spec

        def evaluator(self, *_: object) -> Stops:
            return Stops()

    review.start(Agent())  # type: ignore[arg-type]
    assert review._worker is not None
    review._worker.join()
    assert (review.state, sorted(review.evaluations)) == ("stopped", [0, 1])
    review.start(Agent())  # type: ignore[arg-type]
    review._worker.join()
    assert (review.state, sorted(review.evaluations)) == ("done", [0, 1, 2, 3, 4])
    assert asked[:2] == [[0, 1, 2, 3, 4], [2, 3, 4]]
    done = len(asked)
    review.start(Agent())  # type: ignore[arg-type]
    assert (review.is_over, len(asked)) == (True, done)


def test_the_pages_to_choose_a_game(client: TestClient) -> None:
    assert "/review?path=games.pgn" in text_of(client, "/review")
    listed = text_of(client, "/review", path="games.pgn")
    assert "/review?path=games.pgn&amp;number=1" in listed
    assert HOSTILE not in listed
    assert 'data-place="4"' in text_of(client, "/review", path="one.pgn")
    assert "/review?path=a+study&amp;number=0" in text_of(
        client, "/study/game", path="a study", game="0"
    )


@pytest.mark.parametrize(
    "params",
    [
        {"with": "uci:evil"},
        {"with": "nothing"},
        {"pace": "1e9"},
        {"number": "7"},
        {"path": "../secret.pgn"},
    ],
)
def test_what_makes_no_sense_is_refused(client: TestClient, params: dict[str, str]) -> None:
    query = {"path": "games.pgn", "number": "0"} | params
    assert client.get("/review", params=query).status_code == 400
    assert client.post("/review/start", data=query, headers=ORIGIN).status_code == 400


def test_a_review_is_not_begun_from_another_site(client: TestClient) -> None:
    query = {"path": "games.pgn", "number": "0"}
    headers = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    assert client.post("/review/start", data=query, headers=headers).status_code == 403
