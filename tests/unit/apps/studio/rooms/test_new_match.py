# SPDX-License-Identifier: Apache-2.0
"""A new match: the command that its cards stand for, its cost; charts of a match in play."""

import dataclasses
import html
import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.testclient import TestClient

import hyoka as hk
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import studio_app
from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.forms import agent_choices, command_text
from hyoka.apps.studio.pages import Studio
from hyoka.apps.studio.rooms.match import EloCourse, gauge_of
from hyoka.apps.studio.rooms.new_match import NewMatch, cost, expected_games
from hyoka.apps.studio.runs import Run, Runs
from hyoka.arena import DuelSummary, PlayedGame, Sprt, Standing
from hyoka.arena.elo import elo, rate_of_elo
from hyoka.arena.journal import Pairing
from hyoka.arena.score import Score
from hyoka.storage.model_file import ModelFile

ONE_CORE = ("jobs", "1")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    weights = {"game": "othello", "weights": {"mobility": 1}}
    ModelFile.of("weights", weights).save(tmp_path / "weights.json")
    return Studio.on(Folder(tmp_path), Engines({"sf": "uci:nodes=1000:stockfish"}), COMMANDS)


def command_of(studio: Studio, *pairs: tuple[str, str]) -> str:
    return command_text(studio.words("match run", NewMatch.of(studio, pairs).run_values()))


def test_cards_stand_for_players_with_levels_names_and_settings(studio: Studio) -> None:
    text = command_of(
        studio,
        *(("game", "chess"), ("p1", "uct"), ("p1.level", "playouts=50"), ("p1.set.c", "2")),
        *(("p2", "sf"), ("p2.name", "Stockfish 17"), ("p7", "ab"), ("p7.set.depth", "3")),
        *(("games", "10"), ("openings", "start"), ("folder", "mine"), ONE_CORE),
    )
    assert text == (
        "hyoka match run --game chess --openings start --games 10 --output mine --jobs 1 "
        "uct:c=2,playouts=50 'Stockfish 17=uci:nodes=1000:stockfish' ab:depth=3"
    )


def test_the_same_time_or_a_clock_replaces_levels(studio: Studio) -> None:
    cards = (("game", "othello"), ("p1", "uct"), ("p1.level", "playouts=50"), ("p2", "random"))
    timed = command_of(studio, *cards, ("think", "time"), ("seconds", "0.25"), ("folder", "mine"))
    assert timed.endswith("uct:time=0.25 random")
    clocked = command_of(studio, *cards, ("think", "clock"), ("clock", "10+0.1"))
    assert clocked.endswith("uct@10+0.1 random@10+0.1")


def test_openings_are_bundled_games_files_or_random_moves(studio: Studio) -> None:
    cards = (("game", "chess"), ("p1", "random"), ("p2", "random"))
    for pairs, words in (
        ([("openings", "samples")], "--openings records/chess.pgn.xz"),
        ([("openings", "samples"), ("plies", "6")], "--openings records/chess.pgn.xz:6"),
        ([("openings", "samples"), ("openings_file", "book.epd")], "--openings book.epd"),
        ([("openings", "random"), ("plies", "8")], "--openings random:8"),
        ([("openings", "start"), ("plies", "8")], "--openings start"),
    ):
        assert f"{words} " in command_of(studio, *cards, *pairs)
    assert "--openings" not in command_of(studio, *cards, ("openings", "random"))


def test_models_of_the_folder_are_players(studio: Studio) -> None:
    texts = [each.text for each in agent_choices(studio.folder, studio.engines, "othello")]
    assert "ab:eval=weights.json" in texts
    cards = (("game", "othello"), ("p1", "ab:eval=weights.json"), ("p2", "ab"))
    assert "ab:eval=weights.json,nodes=2000 ab:nodes=2000" in command_of(studio, *cards)
    loop = studio.folder.root / "loop" / "evaluations"
    loop.mkdir(parents=True)
    for number in range(30):
        ModelFile.of("evaluation", b"none", game="othello").save(loop / f"{number}.eval")
    texts = [each.text for each in agent_choices(studio.folder, studio.engines, "othello")]
    assert sum("loop/" in text for text in texts) == 1, "the newest of a loop"
    assert "ab:eval=weights.json" not in {
        each.text for each in agent_choices(studio.folder, studio.engines, "chess")
    }


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([("p1", "uct")], "two players"),
        ([("p1", "uct"), ("p2", "uci:sh")], "no search or engine"),
        ([("p1", "uct"), ("p2", "ab:eval=../secret.json")], "not in the studio's folder"),
        ([("p1", "uct"), ("p2", "uct"), ("p2.name", "a=uci:sh")], "letters, digits"),
        ([("p1", "uct"), ("p2", "uct"), ("p2.set.c", "1,eval=/etc/passwd")], "studio's folder"),
        ([("p1", "uct"), ("p2", "mate")], "does not play"),
        ([("p1", "uct"), ("p2", "uct"), ("p3", "uct"), ("length", "sprt")], "two players"),
        ([("p1", "uct"), ("p2", "mc"), ("games", "9" * 5000)], "games"),
        ([("p1", "uct"), ("p2", "mc"), ("plies", "-1")], "plies"),
        ([("p1", "uct"), ("p2", "mc"), ("openings", "/etc/passwd")], "studio's folder"),
        ([("p1", "uct"), ("p2", "mc"), ("game", "poker")], "game"),
        ([(f"p{number}", "uct") for number in range(20)], "at most"),
    ],
)
def test_what_cannot_be_played_is_refused(
    studio: Studio, pairs: list[tuple[str, str]], problem: str
) -> None:
    with pytest.raises(hk.Error, match=problem):
        studio.words("match run", NewMatch.of(studio, pairs).run_values())


def test_the_cost_is_games_times_moves_times_seconds(studio: Studio) -> None:
    cards = [("game", "othello"), ("p1", "uct"), ("p2", "mc"), ("think", "time")]
    match = NewMatch.of(studio, [*cards, ("seconds", "0.5"), ("games", "200"), ONE_CORE])
    # 200 games of 58 moves take 200 × 58 × 0.5 s = 5,800 s.
    assert cost(match)["sentence"] == (
        "About 200 games × 58 moves × 0.5 s ≈ 1 h 37 min, one game after another."
    )
    four = [*cards, ("seconds", "0.5"), ("games", "200"), ("jobs", "4")]
    assert "24 min, with 4 games at once" in cost(NewMatch.of(studio, four))["sentence"]


@pytest.mark.parametrize("elo", [-10.0, 10.0, 20.0])
def test_the_length_of_a_test_is_as_simulated(elo: float) -> None:
    # Games without draws that count one by one, as in Wald's original test.
    test, rng = Sprt(0, 20), np.random.default_rng(5)
    low, high, rate = (rate_of_elo(each) for each in (test.elo0, test.elo1, elo))
    won, lost = math.log(high / low), math.log((1 - high) / (1 - low))
    steps = np.where(rng.random((300, 12_000)) < rate, won, lost).cumsum(axis=1)
    ended = (steps >= test.upper) | (steps <= test.lower)
    assert ended.any(axis=1).all()
    mean = float(ended.argmax(axis=1).mean()) + 1
    assert expected_games(test, 0.0, elo) == pytest.approx(mean, rel=0.1)


def _keep(_runs: Runs, run: Run) -> None:
    """Keep a run without its process."""
    stored = {"command": run.command, "values": run.values, "words": run.words, "made": run.made}
    (run.place / "run.json").write_text(json.dumps(stored))


def test_a_match_has_its_page_before_its_first_game(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runs, "_launch", _keep)
    app = studio_app(studio, token="t")
    cookies = {"hyoka-studio-80": "t"}
    client = TestClient(app, "http://127.0.0.1", cookies=cookies, follow_redirects=False)
    own = {"origin": "http://127.0.0.1"}
    assert client.get("/match/new?game=othello").text.count('class="card player"') == 2
    empty = client.get("/match/new?game=go9&p1=uct&p1.name=&p2=random&p2.set.seed=&games=20")
    assert empty.headers["location"] == "/match/new?game=go9&games=20&p1=uct&p2=random"
    added = client.get("/match/new?game=go9&p1=uct&p2=mc&remove=1&add=sf").headers["location"]
    assert added == "/match/new?game=go9&p1=mc&p2=sf"
    form = {"game": "go9", "p1": "uct", "p2": "random", "p2.name": HOSTILE.replace("/", "")}
    refused = client.post("/match/new", data=form | {"games": "0"}, headers=own)
    assert refused.status_code == 400
    assert "games is a whole number" in refused.text.lower()
    assert client.post("/match/new", data=form).status_code == 403, "not by another page"
    answer = client.post("/match/new", data=form | {"openings": "samples"}, headers=own)
    place = answer.headers["location"]
    assert place == "/match?path=matches%2Fgo9-uct-playouts-200-v-script-alert-1-script"
    assert (studio.folder.root / "records" / "go9.sgf.xz").is_file()
    shown = client.get(place).text
    assert "No game has ended yet" in shown
    assert html.unescape(shown).count("UCT, 200 playouts – <script>alert(1)<script>") == 1
    assert "<script>alert" not in shown
    stopped = client.post("/runs/1/pause?back=match", headers=own)
    assert stopped.headers["location"] == place
    # The folder is still free: the next match of the same players has one of its own.
    match = NewMatch.of(studio, form.items())
    (studio.folder.root / match.folder).mkdir(parents=True)
    assert match.folder.endswith("-script-2")


def _duel(results: list[float], test: Sprt) -> DuelSummary:
    """Two games a pair, in which the first player is player 0, then player 1."""
    standing = Standing(("a", "b"))
    start = hk.Record(game="go5", moves=np.zeros(0, np.uint16))
    for number, points in enumerate(results):
        first = number % 2
        record = dataclasses.replace(start, result=points if first == 0 else 1 - points)
        standing.count(PlayedGame(Pairing(number, number // 2, 0, first, 1 - first), record, ""))
    return DuelSummary.of(standing, 0, 1, test)


def test_the_gauge_shows_the_llr_between_the_bounds() -> None:
    test = Sprt(0, 50)
    undecided = gauge_of(_duel([1, 0.5, 0, 0.5] * 5, test), test)
    assert undecided is not None
    # With equal risks the bounds are symmetric: the test begins in the middle.
    assert undecided.zero == 50
    reach = math.log(0.95 / 0.05)
    assert undecided.place == pytest.approx(50 + 50 * undecided.llr / reach, abs=0.1)
    assert undecided.words == "Undecided so far."
    decided = gauge_of(_duel([1, 1, 1, 0.5] * 40, test), test)
    assert decided is not None
    assert decided.place == 100
    assert decided.words == "Decided: +50 Elo rather than +0 (H1)."
    assert gauge_of(_duel([1, 0], test), None) is None


def test_elo_over_the_games_has_a_place_for_each_moment() -> None:
    scores = [(10, Score(7, 0, 3)), (20, Score(13, 0, 7)), (40, Score(24, 0, 16))]
    course = EloCourse.of([(games, elo(score)) for games, score in scores])
    assert course is not None
    points = [tuple(map(float, point.split(","))) for point in course.line.split()]
    assert [x for x, _ in points] == [25, 50, 100]
    # The last is 400 × log10(24 / 16) = 70.4 Elo; the range is that of settled intervals.
    top = float(course.ticks[0].replace("+", ""))
    assert points[-1][1] == pytest.approx(50 - 50 * 400 * math.log10(24 / 16) / top, abs=0.02)
    assert [words.partition(" ")[0] for *_, words in course.marks] == ["10", "20", "40"]
    assert EloCourse.of([(2, elo(Score(1, 0, 1)))]) is None
