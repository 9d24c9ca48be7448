# SPDX-License-Identifier: Apache-2.0
"""Study, Match and Learning: they say what the library says, and nothing typed can hurt."""

import dataclasses
import html
import json
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import numpy as np
from starlette.testclient import TestClient

import hyoka as hk
from e2e.studio import HOSTILE
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.pages import address
from hyoka.apps.studio.rooms.study_views import VIEWS
from hyoka.arena import Sprt
from hyoka.arena.journal import PLAYING, GameInPlay, Playing
from hyoka.learning.objective_search import Step
from hyoka.learning.objectives import VECTOR_SIZE
from hyoka.learning.selfplay_loop import Generation, LoopPlan
from hyoka.reporting import Details, Table
from hyoka.reporting.charts import _shrink_legends
from hyoka.reporting.learning_report import loss_section
from hyoka.search import MoveStrengths
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.study import Question, sampling
from hyoka.study.evaluating import evaluate

TOKEN = "a-token-that-nobody-guesses"
PART = {"hx-request": "true"}
CURVES = {"path": "a study", "view": "curves"}
PAWNS = [f"{file}{steps}" for file in "abcdegh" for steps in (3, 4)]
GAMES = len(PAWNS) ** 2
"""As many as differ."""


def moves_of(number: int, values: np.ndarray) -> str:
    """The moves of a game, each with its comments."""
    one, other = PAWNS[number % len(PAWNS)], PAWNS[number // len(PAWNS)]
    answer = f"{other[0]}{9 - int(other[1])}"
    said = [f"{{[%eval {value:.2f}]}}" for value in values]
    moves = ["1. " + one, answer, "2. Nf3", "Nf6", "3. Ng1", "Ng8"]
    return " ".join(f"{move} {words}" for move, words in zip(moves, said, strict=True))


def client_of(folder: Path) -> TestClient:
    app = studio_app(Studio.on(Folder(folder), Engines({}), COMMANDS), token=TOKEN)
    cookies = {"hyoka-studio-80": TOKEN}
    return TestClient(app, "http://127.0.0.1", cookies=cookies, raise_server_exceptions=False)


def pgn_of(games: int) -> str:
    """Games whose remarks know the result more often than not, as chance has it."""
    rng = np.random.default_rng(5)
    texts = []
    for number in range(games):
        won = rng.random() < 0.5
        values = rng.normal(0.8 if won else -0.8, 1.2, 6)
        said = moves_of(number, values)
        white = HOSTILE if number == 0 else f"player {number % 7}"
        result = "1-0" if won else "0-1"
        texts.append(
            f'[White "{white}"]\n[Black "b & <b>"]\n[Round "{number}"]\n[Result "{result}"]\n\n'
            f"{said} {result}\n"
        )
    return "\n".join(texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with two evaluators, a match of three, models, a loop and a population."""
    place = tmp_path_factory.mktemp("rooms") / "folder"
    place.mkdir()
    (place / "games.pgn").write_text(pgn_of(GAMES))
    study = hk.Study.create(place / "a study", records=[place / "games.pgn"])
    evaluate(study, ["comments", "ab:depth=1"])
    hk.Study.create(place / "unjudged", records=[place / "games.pgn"], where="round = '0'")
    plan = hk.plan_match(f"{HOSTILE}=random", "b=random", "c=random", game="go5", max_plies=20)
    hk.play_match(plan, place / "matches" / "short", games=4)
    hk.play_match(
        hk.plan_match("b=random", "c=random", game="go5", max_plies=20),
        place / "matches" / "tested",
        games=2,
        sprt=Sprt(0, 40),
    )
    weights = {"game": "othello", "weights": {HOSTILE: 1, "mobility": 2}}
    origin = Origin(f"hyoka {HOSTILE}", seed=3, counts={"games": 7})
    parent = ModelFile.of("weights", weights, origin=origin)
    parent.save(place / "weights.json")
    child = Origin("hyoka learn weights", parents={"start": parent.sha256, "other": "0" * 64})
    ModelFile.of("weights", weights, origin=child).save(place / "child.json")
    MoveStrengths.load("go9").save(place / "strengths.json")
    _loop(place / "loop")
    _population(place / "objectives")
    return place


def _loop(place: Path) -> None:
    place.mkdir()
    (place / "plan.json").write_text(LoopPlan("othello").text)
    for number in range(2):
        made = Generation(
            number, 10, 100, 0.6, 2.0, 0.3, True, 0.75, (190.0, 50.0, 400.0), 20, "0" * 64
        )
        own = place / f"generation-{number:03}"
        own.mkdir()
        (own / "generation.json").write_text(json.dumps(dataclasses.asdict(made)))
        ModelFile.of("network", b"none", game="othello").save(own / "network.nn")


def _population(place: Path) -> None:
    (place / "evaluations").mkdir(parents=True)
    ModelFile.of("evaluation", b"none", game="shogi").save(place / "evaluations" / "0.eval")
    (place / "plan.json").write_text('{"population": 3}')
    elo = {0: -10.0, 1: 10.0, 2: 0.0}
    step = Step(1, elo, (1.0,) * VECTOR_SIZE, (0.3,) * VECTOR_SIZE, (0,), (3,))
    line = json.dumps({"step": dataclasses.asdict(step)})
    (place / "journal.jsonl").write_text(f'{{"trained": 0}}\n{line}\n{{"cut of')


@pytest.fixture
def client(folder: Path) -> TestClient:
    return client_of(folder)


def part(client: TestClient, place: str, /, **query: object) -> str:
    answer = client.get(address(place, **query), headers=PART)
    assert answer.status_code == 200, answer.text
    return answer.text


PAGES = [
    address("/study"),
    *(address("/study", path="a study", view=view) for view in VIEWS),
    address("/study/row", path="a study", of="comments"),
    address("/study/range", path="a study", at="comments", low="-0.5", high="0.5"),
    address("/study/game", path="a study", game=0),
    address("/study/game", path="a study", game=0, ply=2),
    address("/match"),
    *(address("/match", path="matches/short", view=view) for view in ("", "games", "report")),
    address("/match", path="matches/tested"),
    address("/match/game", path="matches/short", game=0, ply=1),
    address("/learning"),
    *(
        address("/learning", path=path)
        for path in ("weights.json", "child.json", "strengths.json", "loop", "objectives")
    ),
]


@pytest.mark.parametrize("page", PAGES)
def test_pages_and_their_parts_are_there_and_take_no_name_for_markup(
    client: TestClient, page: str
) -> None:
    for headers in ({}, PART):
        answer = client.get(page, headers=headers)
        assert answer.status_code == 200, answer.text
        assert HOSTILE not in answer.text
        assert "<b>" not in re.sub(r"<b>Studio</b>", "", answer.text)
        assert 'style="' not in answer.text
        assert "<style" not in answer.text
        assert "onerror" not in answer.text


def test_a_condition_has_the_numbers_of_the_library(client: TestClient, folder: Path) -> None:
    study = hk.Study.open(folder / "a study")
    condition = "ply >= 3"
    question = Question(by=condition, resampling=hk.Resampling(0))
    expected = next(gap for gap in study.gaps("comments", question) if gap.condition == condition)
    shown = html.unescape(part(client, "/study", **CURVES, engine="comments", where=condition))
    level = expected.gap.level
    assert level.effect.text("+.3f") in shown
    assert f"p {level.p_value:.2g}" in shown
    assert f"{expected.gap.positions:,} of {expected.gap.games:,} games" in shown
    curve = next(each for each in study.curve("comments", question) if each.condition == condition)
    saved = client.get(
        address("/study/save", path="a study", engine="comments", where=condition, result="curves")
        + "&as=json"
    )
    assert saved.headers["content-disposition"].endswith('a-study-curves.json"')
    rows = [row for row in saved.json() if row["condition"] == condition]
    assert [row["share"] for row in rows] == [point.share for point in curve.points]
    assert [row["low"] for row in rows] == [point.low for point in curve.points]


def test_a_condition_of_few_games_has_no_figures(client: TestClient, folder: Path) -> None:
    study = hk.Study.open(folder / "a study")
    condition = "game_id < 12"
    query = CURVES | {"engine": "comments", "where": condition}
    question = Question(by=condition, resampling=hk.Resampling(0))
    [gap] = [each for each in study.gaps("comments", question) if each.condition == condition]
    [curve] = [each for each in study.curve("comments", question) if each.condition == condition]
    shown = html.unescape(part(client, "/study", **query))
    assert f"{gap.gap.positions:,} of 12 games" in shown
    assert gap.gap.level.effect.text("+.3f") not in shown
    assert gap.gap.lean.effect.text("+.3f") not in shown
    assert "–: 1 slice of fewer than 20 games" in shown
    for point in curve.points:
        bin_shown = part(client, "/study", **query, at="comments", low=repr(point.lower))
        assert "Some of them" not in bin_shown
        assert "too few games meet the condition" in bin_shown
        overall = part(client, "/study", **query, at="comments", low=repr(point.lower), part="all")
        assert "Some of them" in overall


def test_tabs_lead_on_with_what_was_typed(client: TestClient) -> None:
    shown = part(client, "/study", **CURVES, engine="comments", where="ply > 1")
    [tabs] = re.findall(r'<nav id="views" [^>]*hx-swap-oob="true">.*?</nav>', shown, re.DOTALL)
    links = [html.unescape(each) for each in re.findall(r'href="([^"]+)"', tabs)]
    assert len(links) == len(VIEWS)
    assert all("where=ply+%3E+1&" in f"{link}&" and "engine=comments" in link for link in links)
    assert 'hx-swap-oob="true">' not in client.get(address("/study", **CURVES)).text


def test_a_condition_that_is_half_typed_leaves_what_stood_there(client: TestClient) -> None:
    asked = address("/study", **CURVES, where="ply >")
    answer = client.get(asked, headers=PART | {"hx-trigger": "ask"})
    assert (answer.status_code, answer.headers["hx-reswap"]) == (400, "none")
    assert 'hx-swap-oob="true"><div class="error" role="alert"' in answer.text
    assert 'id="views"' in answer.text
    # A page that has no answer yet does not go on saying that it reads.
    assert "hx-reswap" not in client.get(asked, headers=PART | {"hx-trigger": "answer"}).headers
    right = part(client, "/study", **CURVES, where="ply > 1")
    assert '<div id="problem" aria-live="polite" hx-swap-oob="true"></div>' in right


def test_curves_say_how_many_positions_all_have_judged(client: TestClient, folder: Path) -> None:
    study = hk.Study.create(folder / "few", records=[folder / "games.pgn"])
    evaluate(study, ["comments"])
    evaluate(study, ["ab:depth=1"], where="ply = 2")
    both = part(client, "/study", path="few", view="curves")
    counts = f"the {GAMES:,} positions of {GAMES:,} decided games that both evaluated"
    assert f"{counts} (each alone {GAMES:,} to {6 * GAMES:,})" in both
    alone = part(client, "/study", path="few", view="curves", engine="comments")
    assert "that both evaluated" not in alone
    # Splits call evaluators as the rest of the page does.
    none = part(client, "/study", path="few", view="slices", of=study.engines[0])
    assert "under which Alpha-beta, depth 1 is significantly biased" in none


def test_curves_say_that_they_are_of_a_sample_of_a_large_study(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = hk.Study.create(folder / "large", records=[folder / "games.pgn"])
    evaluate(study, ["comments"])
    monkeypatch.setattr(sampling, "_ROW_BYTES", 10**7)
    share = 2e9 / (6 * GAMES * 10**7)
    shown = part(client, "/study", path="large", view="curves", where="ply > 2")
    assert f"Measured on a random {share:.3g} of the games, which fits in 2G" in shown


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "svg", "png", "html"])
def test_results_are_saved_in_every_format(client: TestClient, ending: str) -> None:
    answer = client.get(address("/study/save", path="a study", result="curves") + f"&as={ending}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert len(answer.content) > 500


@pytest.mark.parametrize(
    "condition",
    [
        "nothing = 1",
        "1; drop table games",
        "true) or (1=1",
        "exists (select * from read_csv('/etc/passwd'))",
        "pg_catalog.getenv('HOME') is not null",
        "game_id in (select 1 from 'study.toml')",
        f"'{HOSTILE}' = 1 and nothing",
        "x" * 5000,
        "\0",
        "set memory_limit = '1TB'",
    ],
)
def test_hostile_conditions_reach_nothing_and_are_escaped(
    client: TestClient, condition: str
) -> None:
    for view in ("curves", "games"):
        answer = client.get(
            address("/study", path="a study", where=condition, view=view), headers=PART
        )
        assert answer.status_code == 400
        assert 'class="error"' in answer.text
        assert HOSTILE not in answer.text
        assert "root:" not in answer.text
    whole = client.get(address("/study", path="a study", where=condition, view="games"))
    assert HOSTILE not in whole.text


@pytest.mark.parametrize("view", ["curves", "games"])
def test_a_condition_that_never_ends_is_ended(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    for module in ("study_query", "study_views"):
        monkeypatch.setattr(f"hyoka.apps.studio.rooms.{module}.SECONDS", 0.2)
    endless = "ply < (select count(*) from range(1000000000) a, range(1000000000) b)"
    asked = address("/study", path="a study", where=endless, view=view)
    answer = client.get(asked, headers=PART)
    assert answer.status_code == 400
    assert "took longer" in answer.text


@pytest.mark.parametrize(
    "asked",
    [
        "/study?path=../outside",
        "/study?path=/etc",
        "/study?path=matches/short",
        "/study?path=a+study&view=nothing",
        "/study/row?path=a+study&of=nobody",
        "/study/range?path=a+study&at=comments&low=nan&high=1",
        "/study/values?path=a+study&column=nothing",
        "/study/values?path=a+study&column=ply%22+from+positions--",
        "/study?path=a+study&view=curves&engine=nobody",
        "/study?path=a+study&view=curves&draws=all",
        "/study?path=a+study&view=curves&resamples=99999999",
        "/study?path=a+study&view=curves&resamples=-1",
        "/study?path=a+study&view=curves&at=comments&low=here",
        "/study/game?path=a+study&game=99999",
        "/study/game?path=a+study&game=0&ply=99",
        "/study/game?path=a+study&game=zero",
        "/study/save?path=a+study&as=exe&result=curves",
        "/study/save?path=a+study&as=csv&result=nothing",
        "/match?path=../outside",
        "/match?path=a+study",
        "/match?path=matches/short&view=nothing",
        "/match/game?path=matches/short&game=99",
        "/match/game?path=matches/short&game=%C2%B2",
        "/match/events?path=a+study",
        "/learning?path=../outside",
        "/learning?path=games.pgn",
        "/learning?path=matches",
    ],
)
def test_missing_things_are_named_in_a_sentence(client: TestClient, asked: str) -> None:
    answer = client.get(asked, headers=PART)
    assert answer.status_code == 400, answer.text
    assert "Traceback" not in answer.text
    assert client.get(asked).status_code < 500


def test_a_bin_shows_boards_that_lead_to_their_games(client: TestClient) -> None:
    shown = part(client, "/study", **CURVES, engine="comments", where="ply > 1")
    bins = [html.unescape(each) for each in re.findall(r'<th scope="row"><a href="([^"]+)"', shown)]
    assert bins
    opened = client.get(bins[-1], headers=PART).text
    games = re.findall(r'<a href="([^"]+)" class="to-game"', opened)
    assert games
    assert "Draw others" in opened
    assert client.get(html.unescape(games[0])).status_code == 200


def test_a_range_of_values_has_the_positions_of_sql(client: TestClient, folder: Path) -> None:
    rows = hk.Study.open(folder / "a study").sql(
        "select p.game_id, p.ply, e.score, p.result from positions p join evaluations e using "
        "(game_id, ply) where engine = 'comments' and e.score >= -50 and e.score < 75 and p.ply > 2"
    )
    query = CURVES | {"engine": "comments", "where": "ply > 2", "at": "comments"}
    query |= {"low": "-50.0", "high": "75.0"}
    shown = html.unescape(part(client, "/study/range", **query))
    results = rows["result"].to_numpy()
    assert f"{len(rows):,} positions of" in shown
    assert f"<strong>{results.mean():.1%}</strong>" in shown
    saved = client.get(address("/study/save", **query, result="range") + "&as=json").json()
    found = {(row["game_id"], row["ply"]) for row in saved}
    assert found == set(zip(rows["game_id"].to_pylist(), rows["ply"].to_pylist(), strict=True))
    nothing = part(client, "/study/range", **query | {"low": "9000.0", "high": "9001.0"})
    assert "No position is in this range" in nothing
    picture = client.get(address("/study/save", **query, result="range") + "&as=svg")
    assert b"<svg" in picture.content


def test_the_overview_has_the_accuracy_of_sql(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "a study", tmp_path / "a study")  # of which nothing is known yet
    client, study = client_of(tmp_path), hk.Study.open(tmp_path / "a study")
    overview = client.get("/study?path=a+study").text
    for name in study.engines:
        assert f"/study/row?path=a+study&amp;of={name}" in overview
        [counts] = study.sql(
            "select avg(case when e.score >= 0 then p.result else 1 - p.result end) as accuracy, "
            "count(*) as positions from positions p join evaluations e using (game_id, ply) where "
            f"engine = '{name}' and e.score is not null and p.result in (0, 1)"
        ).to_pylist()
        row = part(client, "/study/row", path="a study", of=name)
        assert f">{counts['accuracy']:.1%}<small>" in row
        assert f">{counts['positions']:,}</td>" in row
        assert "<polyline points=" in row
    # Figures that are known are part of the page.
    assert "/study/row?" not in client.get("/study?path=a+study").text


def test_an_evaluator_may_be_called_like_markup(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "games.pgn", tmp_path / "games.pgn")
    text = (tmp_path / "games.pgn").read_text()
    (tmp_path / "games.pgn").write_text(re.sub(r'White "[^"]*"', f'White "{HOSTILE}"', text))
    study = hk.Study.create(tmp_path / "a study", records=[tmp_path / "games.pgn"])
    evaluate(study, ["comments", "comments:by=player"])
    names = study.engines
    [title] = [each for each in sampling.evaluator_titles(study, names) if HOSTILE in each]
    [hostile] = sampling.chosen_evaluators(study, title)
    client = client_of(tmp_path)
    for view in VIEWS:
        query = {"view": view, "of": hostile, "engine": [hostile, "comments"], "one": hostile}
        for headers in ({}, PART):
            answer = client.get(address("/study", path="a study", **query), headers=headers)
            assert answer.status_code == 200, answer.text
            assert HOSTILE not in answer.text
            assert html.escape(title) in answer.text or view == "games"
    for place in ("row", "range"):
        shown = part(client, f"/study/{place}", path="a study", of=hostile, engine=hostile,
                     at=title, low="-1.0", high="1.0")  # fmt: skip
        assert html.escape(title) in shown
        assert HOSTILE not in shown


def test_values_of_a_column_are_suggested(client: TestClient, folder: Path) -> None:
    def suggested(column: str) -> list[str]:
        answer = client.get(address("/study/values", path="a study", column=column))
        texts: list[str] = answer.json()
        return texts

    assert suggested("ply") == [str(ply) for ply in range(7)]
    quantiles = [float(text) for text in suggested("game_id")]
    assert quantiles[0] == 0
    assert quantiles[-1] == GAMES - 1
    assert quantiles == sorted(quantiles)
    assert suggested("first_to_play") == ["True", "False"]


def test_a_slice_has_curves_and_boards(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    texts = []
    for number in range(GAMES):
        won = rng.random() < 0.5
        # Where the first player is to move, remarks are too low.
        means = np.array([0, -2, 0, -2, 0, -2]) + (1 if won else -1)
        said = moves_of(number, rng.normal(means, 1.0))
        result = "1-0" if won else "0-1"
        texts.append(f'[Round "{number}"]\n[Result "{result}"]\n\n{said} {result}\n')
    (tmp_path / "games.pgn").write_text("\n".join(texts))
    evaluate(hk.Study.create(tmp_path / "study", records=[tmp_path / "games.pgn"]), ["comments"])
    client = client_of(tmp_path)
    question = Question(resampling=hk.Resampling(100))
    found = hk.Study.open(tmp_path / "study").slices("comments", question)
    shown = html.unescape(part(client, "/study", path="study", view="slices"))
    assert "first_to_play" in shown
    assert 'id="slice-1"' in shown
    slices = shown.count('id="slice-')
    assert shown.count('class="to-game"') == slices
    opened = part(client, "/study", path="study", view="slices", slice=1)
    assert opened.count('class="to-game"') > slices
    assert shown.count('<p class="quiet-words">also: ') == sum(
        bool(each.also_text) for each in found
    )
    [curves] = re.findall(r'href="([^"]+)" aria-label="Curves of slice 1"', shown)
    assert "Level" in client.get(curves, headers=PART).text


def test_a_game_has_a_line_for_every_evaluator(client: TestClient) -> None:
    shown = client.get(address("/study/game", path="a study", game=3, ply=2)).text
    assert "comments" in shown
    assert "Alpha-beta, depth 1" in shown
    assert 'data-place="2"' in shown
    place = part(client, "/study/game", path="a study", game=3, ply=0)
    assert 'data-place="0"' in place
    assert "<html" not in place


def test_the_standing_of_a_match_is_that_of_the_library(client: TestClient, folder: Path) -> None:
    shown = html.unescape(client.get(address("/match", path="matches/tested")).text)
    _, games = hk.open_match(folder / "matches" / "tested")
    wins = sum(game.result if game.pairing.first == 0 else 1 - game.result for game in games)
    assert f"<strong>{wins:g} : {2 - wins:g}</strong>" in shown
    assert "LLR" in shown
    listed = html.unescape(client.get(address("/match", path="matches/short", view="games")).text)
    assert listed.count("/match/game?") == 12
    mine = client.get(address("/match", path="matches/short", view="games", player="b")).text
    assert mine.count("/match/game?") == 8


def test_the_game_under_way_is_on_the_board(client: TestClient, folder: Path) -> None:
    place = folder / "matches" / "tested"
    moves = ["C3"]
    playing = Playing(place)
    with playing.watched(GameInPlay(7, HOSTILE, "b", "go5", "", ()), moves):
        playing.write()
        shown = client.get(address("/match", path="matches/tested")).text
        assert "Games in play" in shown
        assert "<strong>Game 7</strong>" in shown
        assert "ply 1" in shown
        assert "Last move: C3." in shown
        assert HOSTILE not in shown
        moves.append("no move")
        playing.write()
        assert "Games in play" not in client.get(address("/match", path="matches/tested")).text
    playing.write()
    assert "Games in play" not in client.get(address("/match", path="matches/tested")).text
    (place / PLAYING).unlink()


def test_home_leaves_out_what_lies_in_loops(client: TestClient, folder: Path) -> None:
    gate = folder / "loop" / "generation-001" / "gate"
    hk.play_match(hk.plan_match("b=random", "c=random", game="go5", max_plies=20), gate, games=2)
    shown = html.unescape(client.get("/").text)
    assert "generation-0" not in shown
    assert ".eval" not in shown
    assert 'href="/learning?path=loop"' in shown
    assert 'href="/learning?path=objectives"' in shown
    assert 'href="/learning?path=strengths.json"' in shown


def test_home_names_the_samples_that_there_are(tmp_path: Path) -> None:
    shown = client_of(tmp_path).get("/").text
    titles = re.findall('aria-label="Make a study of samples: (.*?)"', shown)
    assert titles == ["Go 9×9", "Othello", "Chess"]


def test_models_say_where_they_come_from(client: TestClient) -> None:
    child = html.unescape(client.get("/learning?path=child.json").text)
    assert 'href="/learning?path=weights.json"' in child
    assert "which is not in this folder" in child
    overview = html.unescape(client.get("/learning").text)
    assert "Generations of self-play" in overview
    assert "A population of objectives" in overview
    assert "generation-000" not in overview


def test_losses_are_read_from_what_runs_say() -> None:
    log = (
        "noise: 3\nepoch 1: loss of values 0.7, of moves 3.5; held-out: 0.69, 3.4, first 20.0%\n"
        "epoch 2: loss of values 0.6, of moves 3.0; held out: 0.65, 3.1, first 25.0%\n"
        "epoch <b>: loss 1\npass 3: J 0.4 = moves 0.3 + outcomes 0.1\n"
    )
    section = loss_section(log)
    assert section is not None
    _, details = section.blocks
    assert isinstance(details, Details)
    [table] = details.blocks
    assert isinstance(table, Table)
    assert [tuple(row) for row in table.rows] == [
        *(("1", "values", "0.7"), ("1", "moves", "3.5"), ("1", "held-out games", "0.69")),
        *(("2", "values", "0.6"), ("2", "moves", "3"), ("2", "held-out games", "0.65")),
        *(("3", "J", "0.4"), ("3", "moves", "0.3"), ("3", "outcomes", "0.1")),
    ]
    assert loss_section("no losses here") is None


def test_a_study_that_nobody_judged_says_what_to_do(client: TestClient) -> None:
    shown = client.get("/study?path=unjudged").text
    assert "/runs/new?command=study+evaluate&amp;study=unjudged" in shown
    assert client.get("/study?path=unjudged&view=games").text.count("/study/game?") == 1
    assert client.get("/study?path=unjudged&view=curves", headers=PART).status_code == 400


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    for room, words, start in (
        ("study", "No study yet", "/runs/new?command="),
        ("match", "No match yet", "/match/new"),
        ("learning", "learn", "/runs/new?command="),
    ):
        shown = client.get(f"/{room}").text
        assert 'class="empty"' in shown
        assert words in shown
        assert start in shown


def test_a_form_that_cannot_start_is_shown_again_as_it_was_filled_in(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    given = {"command": "study evaluate", "evaluators": "uct:playouts=77", "retry_failed": "off"}
    again = client.post("/runs", data=given, headers={"origin": str(client.base_url)})
    assert again.status_code == 400
    assert "Missing argument" in again.text
    assert "uct:playouts=77</textarea>" in again.text
    assert "<details><summary>More options" in again.text, "nothing there was filled in"
    nothing = client.get("/runs/new", follow_redirects=False)
    assert nothing.headers["location"] == "/runs"


def test_charts_are_as_wide_as_their_page(client: TestClient) -> None:
    def widest() -> float:
        text = part(client, "/study", path="a study", view="metrics")
        return max(float(width) for width in re.findall(r'<svg [^>]*width="([\d.]+)"', text))

    wide = widest()
    client.cookies.set("hyoka-width", "347")
    assert widest() < 420 < wide
    # Names of lines stand one below the other there, so that they leave the plot its width.
    spec = {"layer": [{"encoding": {"color": {"legend": {"columns": 3, "orient": "top"}}}}]}
    _shrink_legends(spec, 300)
    legend = spec["layer"][0]["encoding"]["color"]["legend"]
    assert (legend["columns"], legend["orient"], legend["labelLimit"]) == (1, "top", 270)
