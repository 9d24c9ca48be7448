# SPDX-License-Identifier: Apache-2.0
import functools
import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert

import hyoka as hk
from hyoka.arena.journal import Pairing, PlayedGame
from hyoka.records import Record, Remark
from hyoka.reporting import Page, Table
from hyoka.reporting.charts import drawing_script, specification
from hyoka.reporting.match_report import match_page, write_match_report
from hyoka.reporting.match_report.match_facts import Thoughts, book_plies, match_facts, shown_names
from hyoka.reporting.match_report.match_games import evaluation_curve, opening_scores, verdict
from unit.reporting.test_page import HOSTILE, Parsed

BOOK_PLIES = 4


@functools.cache
def random_record(game: str, seed: int, most: int = 80) -> Record:
    """A game of random moves, the first four of them a book's."""
    line = hk.position(game).line()
    while line.outcome is None and len(line) < most:
        line = line.play(line.random_move(seed * 1000 + len(line)))
    return Record(game, np.array([move.code for move in line.moves], dtype=np.uint16))


def thinking(record: Record, result: float, seed: int, *, by: str) -> tuple[Remark, ...]:
    """Remarks of players who see the result the better, the nearer it is."""
    chance = random.Random(seed)
    said = []
    for ply in range(1, len(record) + 1):
        if ply <= BOOK_PLIES:
            said.append(Remark(ply, book=True))
            continue
        seen = chance.gauss((2 * result - 1) * 3 * ply / len(record), 1)
        value = 1 / (1 + math.exp(-seen)) if by == "value" else None
        score = 100 * seen if by == "score" else None
        spent = chance.expovariate(4)
        said.append(Remark(ply, value, score, clock_s=300 - 0.5 * ply, spent_s=spent))
    return tuple(said)


def played_games(
    count: int,
    *,
    game: str = "othello",
    strengths: Sequence[float] = (0.3, 0.0),
    by: str = "value",
    openings: int = 30,
    records: int = 40,
    seed: int = 1,
) -> list[PlayedGame]:
    """A match of everybody against everybody with made-up results, in pairs."""
    chance = random.Random(seed)
    duels = [(a, b) for a in range(len(strengths)) for b in range(a + 1, len(strengths))]
    games = []
    for number in range(count):
        pair = number // 2
        a, b = duels[pair % len(duels)]
        first, second = (a, b) if number % 2 == 0 else (b, a)
        better = 0.5 + (strengths[first] - strengths[second]) / 2 + 0.05
        result = 0.5 if chance.random() < 0.15 else float(chance.random() < better)
        record = random_record(game, number % records)
        record = replace(
            record,
            opening="the usual" if pair % 3 else "",
            result=result,
            ending="normal",
            remarks=thinking(record, result, number, by=by) if by else (),
        )
        pairing = Pairing(number, pair, pair % openings, first, second)
        games.append(PlayedGame(pairing, record, chance.choice(["score", "resigned"])))
    return games


def everything_said(page: Page) -> str:
    return " ".join(Parsed(page.html()).texts)


def check_charts(page: Page, most: int = 20) -> None:
    for chart in page.charts[:most]:
        spec = specification(chart.chart, chart.caption)
        text = json.dumps(spec, allow_nan=False)
        assert len(text) < 200_000
        picture = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        assert "NaN" not in picture
        assert "undefined" not in picture


def test_a_match_of_two_has_every_section() -> None:
    page = match_page(
        "A match",
        played_games(120, strengths=(0.6, 0.0)),
        ["new", "old"],
        conditions=("Fast games.",),
    )
    assert [section.title for section in page.sections] == [
        "Scores",
        "Course of the match",
        "Openings and the first move",
        "What the players thought",
        "Game lengths",
        "How games ended",
        "Time",
        "Games to look at",
    ]
    assert str(page.findings[0]).startswith("new is stronger than old: ")
    assert page.methods[0] == "Fast games."
    check_charts(page)


def test_the_page_is_small_and_loads_nothing() -> None:
    text = match_page("A match", played_games(120), ["new", "old"]).html()
    assert len(text.encode()) < 1_200_000
    for link in re.findall(r"https?://[^\"'<> )]+", text.replace(drawing_script(), "")):
        assert link.startswith(("https://vega.github.io/schema/", "http://www.w3.org/"))


def test_no_games_make_a_page_that_says_so() -> None:
    page = match_page("A match", [], ["new", "old"])
    assert "No game has been played yet." in everything_said(page)
    assert page.sections == ()


@pytest.mark.parametrize("result", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("by", ["value", ""])
def test_one_game_is_enough(result: float, by: str) -> None:
    (game,) = played_games(1, by=by)
    game = replace(game, record=replace(game.record, result=result))
    page = match_page("A match", [game], ["new", "old"])
    check_charts(page)
    said = everything_said(page)
    assert "in 1 game (" in said
    assert "who is stronger" in said


def test_few_games_give_no_verdict_however_one_sided() -> None:
    games = played_games(20, strengths=(900.0, 0.0), seed=3)
    said = everything_said(match_page("A match", games, ["a", "b"]))
    assert "but fewer than 20 pairs cannot tell who is stronger" in said
    assert "Fewer than 20 pairs are too few to trust an interval." in said
    few = everything_said(match_page("A match", games[:18], ["a", "b"]))
    assert "fewer than 20 games cannot tell whether moving first is an advantage" in few


def test_a_match_that_proves_nothing_says_so() -> None:
    games = played_games(60, strengths=(0.0, 0.0), seed=3)
    assert "too little to tell" in everything_said(match_page("A match", games, ["a", "b"]))


def test_everything_won_has_no_upper_end() -> None:
    games = [
        replace(g, record=replace(g.record, result=1.0 if g.pairing.first == 0 else 0.0))
        for g in played_games(40)
    ]
    page = match_page("A match", games, ["new", "old"])
    assert "no upper end" in str(page.findings[0])
    check_charts(page, most=2)


def test_twenty_players_fit_on_a_page() -> None:
    strengths = [0.5 - player / 40 for player in range(20)]
    games = played_games(380, strengths=strengths)
    page = match_page("A tournament", games, [f"player {n}" for n in range(20)])
    assert len(page.html().encode()) < 1_200_000
    check_charts(page, most=4)
    assert str(page.findings[0]).startswith("player ")


def test_players_who_tell_scores_get_a_curve_by_score() -> None:
    page = match_page("A match", played_games(100, by="score"), ["new", "old"])
    thought = next(s for s in page.sections if s.title == "What the players thought")
    assert "own score" in json.dumps([c.chart.to_dict() for c in page.charts])
    assert len(thought.blocks) == 2
    check_charts(replace(page, sections=(thought,)))


def test_games_without_remarks_leave_out_thoughts_and_time() -> None:
    page = match_page("A match", played_games(20, by=""), ["new", "old"])
    titles = {section.title for section in page.sections}
    assert not titles & {"What the players thought", "Time"}


def test_a_player_against_itself_has_nothing_to_compare() -> None:
    games = [
        replace(game, pairing=replace(game.pairing, first=1, second=1)) for game in played_games(6)
    ]
    page = match_page("A match", games, ["unused", "itself"])
    assert "itself has met nobody else" in str(page.findings[0])
    check_charts(page)


def test_players_without_games_are_left_out() -> None:
    games = [
        replace(
            game,
            pairing=replace(
                game.pairing, first=2 * game.pairing.first, second=2 * game.pairing.second
            ),
        )
        for game in played_games(60)
    ]
    page = match_page("A match", games, ["new", "absent", "old"])
    assert "absent" not in everything_said(page)


def test_a_hostile_engine_only_writes_text() -> None:
    games = [
        replace(
            game,
            reason=HOSTILE,
            fault=HOSTILE if game.pairing.number == 3 else "",
            record=replace(game.record, opening=HOSTILE, first=HOSTILE, second=HOSTILE),
        )
        for game in played_games(60)
    ]
    page = match_page(HOSTILE, games, [HOSTILE, HOSTILE])
    parsed = Parsed(page.html())
    kinds = [attributes.get("type") for attributes, _ in parsed.scripts]
    assert kinds == ["application/json"] * len(page.charts) + [None]
    assert not [attributes for _, attributes in parsed.elements if "onclick" in attributes]
    for attributes, text in parsed.scripts:
        if attributes.get("type"):
            json.loads(text)
    check_charts(page)


def test_names_never_stand_in_an_expression() -> None:
    name = "a'] || alert(1) || datum['"
    page = match_page("A match", played_games(60), [name, "b"])
    for chart in page.charts:
        compiled = vl_convert.vegalite_to_vega(specification(chart.chart), vl_version="6.4")
        assert "alert" not in " ".join(expressions(compiled))


def expressions(vega: object) -> list[str]:
    """Whatever Vega would run."""
    if isinstance(vega, list):
        return [found for item in vega for found in expressions(item)]
    if not isinstance(vega, dict):
        return []
    found = [
        str(value)
        for key, value in vega.items()
        if key in ("signal", "expr", "update", "test", "init") and isinstance(value, str)
    ]
    return found + [each for value in vega.values() for each in expressions(value)]


def test_faults_are_listed() -> None:
    games = played_games(30)
    lost = replace(games[0].record, result=0.0, ending="time")
    games[0] = replace(games[0], record=lost, reason="time", fault="thought 9 s with 1 s left")
    said = everything_said(match_page("A match", games, ["new", "old"]))
    assert "new lost 1 game by its own fault" in said
    assert "thought 9 s with 1 s left" in said


def test_chess_from_a_position_where_the_second_player_begins() -> None:
    start = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    moves = np.array([hk.position("chess", start).parse("e7e5").code], dtype=np.uint16)
    record = Record(
        "chess", moves, start=start, result=1.0, remarks=(Remark(1, value=0.4, spent_s=1.0),)
    )
    game = PlayedGame(Pairing(0, 0, 0, 0, 1), record, "resigned")
    thoughts = match_facts([game], ["white", "black"]).thoughts
    assert thoughts.mover.tolist() == [1]
    assert thoughts.value.tolist() == [0.6]
    assert thoughts.result.tolist() == [0.0]
    check_charts(match_page("A match", [game], ["white", "black"]))


@pytest.mark.parametrize("game", ["chess", "shogi", "go9", "blokus_duo"])
def test_every_game_has_its_boards(game: str) -> None:
    games = played_games(6, game=game, records=3, openings=3)
    page = match_page("A match", games, ["new", "old"])
    assert page.html().count("hk-svg") >= 1


def test_a_long_match_is_aggregated() -> None:
    short = [replace(game, record=replace(game.record, remarks=())) for game in played_games(200)]
    games = [
        replace(
            short[number % 200],
            pairing=Pairing(number, number // 2, number // 2 % 5000, number % 2, 1 - number % 2),
        )
        for number in range(20_000)
    ]
    page = match_page("A match", games, ["new", "old"])
    assert len(page.html().encode()) < 1_100_000
    for chart in page.charts:
        rows = sum(map(len, chart.chart.to_dict()["datasets"].values()))
        assert rows <= 2000


def test_the_report_is_written_to_a_file(tmp_path: Path) -> None:
    write_match_report(tmp_path / "match.html", "A match", played_games(4), ["new", "old"])
    assert "<h1>A match</h1>" in (tmp_path / "match.html").read_text(encoding="utf-8")


def test_the_order_of_the_games_does_not_matter() -> None:
    games = played_games(40)
    shuffled = random.Random(1).sample(games, len(games))
    assert match_page("A", games, ["a", "b"]).html() == match_page("A", shuffled, ["a", "b"]).html()


def test_scores_add_up() -> None:
    games = played_games(120, strengths=(0.2, 0.0, 0.1))
    page = match_page("A match", games, ["a", "b", "c"])
    table = next(b for b in page.sections[0].blocks if isinstance(b, Table))
    assert sum(int(row[1]) for row in table.rows) == 2 * len(games)


def test_openings_are_counted_for_the_first_player() -> None:
    games = played_games(60, openings=10)
    scores = opening_scores(match_facts(games, ["a", "b"]), 0)
    assert sum(score.first.games for score in scores) == 60
    assert sum(score.first.points for score in scores) == sum(game.result for game in games)
    leanings = [score.lopsidedness for score in scores]
    assert leanings == sorted(leanings, reverse=True)


def test_moves_of_the_book_are_not_the_players_thoughts() -> None:
    (game,) = played_games(1)
    assert book_plies(game.record) == BOOK_PLIES
    assert match_facts([game], ["a", "b"]).thoughts.ply.min() == BOOK_PLIES + 1


def test_names_become_different_and_short() -> None:
    names = shown_names(["x" * 500, "x" * 500, "", "a\nb"])
    assert len(set(names)) == 4
    assert all(len(name) <= 45 and name.isprintable() for name in names)


def thoughts_that(right: float, games: int = 400, positions: int = 10) -> Thoughts:
    """A player who always gives itself 90% or 10%, and is right so often."""
    chance = np.random.default_rng(1)
    wins = np.repeat(chance.random(games) < 0.5, positions)
    sees = np.repeat(chance.random(games) < right, positions) == wins
    game = np.repeat(np.arange(games), positions)
    none = np.full(len(game), np.nan)
    value = np.where(sees, 0.9, 0.1)
    ply, mover = np.ones_like(game), np.zeros_like(game)
    return Thoughts(game, ply, mover, value, none, none, none, wins.astype(np.float64))


@pytest.mark.parametrize(
    ("right", "word"), [(0.7, "overconfident"), (0.9, "calibrated"), (0.99, "underconfident")]
)
def test_confidence_is_held_against_results(right: float, word: str) -> None:
    curve = evaluation_curve(thoughts_that(right), 0, seed=1)
    assert curve is not None
    assert curve.confidence is not None
    assert verdict(curve.confidence) == word
    assert [round(point.value, 3) for point in curve.points] == [0.1, 0.9]


def test_the_band_counts_games_not_positions() -> None:
    few = evaluation_curve(thoughts_that(0.8, positions=5), 0, seed=1)
    many = evaluation_curve(thoughts_that(0.8, positions=50), 0, seed=1)
    assert few is not None
    assert many is not None
    for one, other in zip(few.points, many.points, strict=True):
        assert (one.share, one.low, one.high) == pytest.approx((other.share, other.low, other.high))
    point = few.points[1]
    error = math.sqrt(point.share * (1 - point.share) / point.games)
    assert point.high - point.low == pytest.approx(2 * 1.96 * error, rel=0.25)


@pytest.mark.parametrize(("games", "is_judged"), [(19, False), (20, True)])
def test_confidence_is_not_judged_by_few_games(games: int, is_judged: bool) -> None:
    curve = evaluation_curve(thoughts_that(0.1, games=games, positions=50), 0, seed=1)
    assert curve is not None
    assert (curve.confidence is not None) == is_judged


def test_too_few_positions_make_no_curve() -> None:
    assert evaluation_curve(thoughts_that(0.8, games=4, positions=20), 0, seed=1) is None
    assert evaluation_curve(thoughts_that(0.8), 1, seed=1) is None
