# SPDX-License-Identifier: Apache-2.0
"""The sample records, read by others' libraries and judged by their rules; the demo of them."""

import collections
import functools
import io
import itertools
import lzma
import re
from pathlib import Path
from typing import Any

import chess.pgn
import pyspiel
import pytest
from scipy.stats import binomtest
from sgfmill import sgf, sgf_moves

import hyoka as hk
from hyoka.foundation.progress import Progress
from hyoka.records import Record
from hyoka.records.samples import SAMPLES, sample_path
from hyoka.search import linear_evaluation
from hyoka.study import COMMENTS
from hyoka.workflows.demo import STATIC, run_demo

for_every_sample = pytest.mark.parametrize("name", SAMPLES)

GAMES = {"go9": 600, "othello": 300, "chess": 312}
LARGEST = {"go9": 150_000, "othello": 200_000, "chess": 200_000}


@functools.cache
def text_of(name: str) -> str:
    return lzma.decompress(sample_path(name).read_bytes()).decode()


@functools.cache
def records_of(name: str) -> list[Record]:
    return list(hk.read_records(sample_path(name), strict=True))


def sgf_texts(name: str) -> list[str]:
    return [f"(;{text}" for text in text_of(name).split("(;")[1:]]


@for_every_sample
def test_every_game_is_read(name: str) -> None:
    records = records_of(name)
    assert len(records) == GAMES[name]
    assert {record.game for record in records} == {name}
    assert all(record.result is not None for record in records)
    assert {record.ending for record in records} <= {"normal", "resigned"}
    assert sample_path(name).stat().st_size < LARGEST[name]


@for_every_sample
def test_no_two_games_are_the_same(name: str) -> None:
    assert len({record.moves.tobytes() for record in records_of(name)}) == GAMES[name]


@for_every_sample
def test_games_end_as_our_rules_say(name: str) -> None:
    for record in records_of(name):
        line = record.position(0).line()
        for move in record.move_list:
            line = line.play(move)
        if record.ending == "normal":
            assert line.outcome is not None
            assert line.outcome.value == record.result
        else:
            assert line.outcome is None


@for_every_sample
def test_the_first_player_wins_about_half_of_the_games(name: str) -> None:
    results = [record.result or 0.0 for record in records_of(name)]
    assert 0.4 < sum(results) / len(results) < 0.6


@for_every_sample
def test_players_have_ratings_and_their_words_stand_in_the_records(name: str) -> None:
    ratings: dict[str, set[str]] = collections.defaultdict(set)
    for record in records_of(name):
        ratings[record.first].add(record.first_rating)
        ratings[record.second].add(record.second_rating)
        assert any(
            remark.value is not None or remark.score is not None or remark.mate is not None
            for remark in record.remarks
        )
    assert all(len(said) == 1 for said in ratings.values())
    by_rating = sorted(ratings, key=lambda player: int(min(ratings[player])))
    for kind in ("uct", "ab"):
        sizes = [int(player.split("-")[1]) for player in by_rating if player.startswith(kind)]
        assert sizes == sorted(sizes)


@for_every_sample
def test_who_searches_more_wins_more(name: str) -> None:
    wins: collections.Counter[tuple[str, str]] = collections.Counter()
    for record in records_of(name):
        if record.result != 0.5:
            pair = (record.first, record.second)
            wins[pair if record.result == 1 else pair[::-1]] += 1
    players = {player for pair in wins for player in pair}
    for one, other in itertools.permutations(players, 2):
        (kind, size), (other_kind, other_size) = one.split("-"), other.split("-")
        if kind == other_kind and int(size) > int(other_size):
            won, lost = wins[one, other], wins[other, one]
            assert binomtest(won, won + lost).proportion_ci().low > 0.5, (one, other, won, lost)


@for_every_sample
def test_a_file_tells_nothing_of_where_and_when_it_was_made(name: str) -> None:
    text = text_of(name)
    assert not re.search(r"DT\[|\[Date \"\d|%clk|%emt|\b(?:home|root|tmp|work)/|\d:\d\d", text)
    assert {record.date for record in records_of(name)} == {""}


def test_go_is_played_and_counted_as_sgfmill_does() -> None:
    for text, record in zip(sgf_texts("go9"), records_of("go9"), strict=True):
        game = sgf.Sgf_game.from_string(text)
        assert (game.get_size(), game.get_komi()) == (9, 6.5)
        board, moves = sgf_moves.get_setup_and_moves(game)
        for color, point in moves:
            if point is not None:
                board.play(*point, color)
        assert len(moves) == len(record)
        winner = "b" if record.result == 1 else "w"
        assert game.get_winner() == winner
        if record.ending == "normal":
            margin = board.area_score() - 6.5
            assert record.margin == margin
            assert (margin > 0) == (winner == "b")


def test_go_games_are_partly_resigned_and_partly_counted() -> None:
    endings = collections.Counter(record.ending for record in records_of("go9"))
    assert min(endings["resigned"], endings["normal"]) >= 150


def test_othello_is_played_and_counted_as_open_spiel_does() -> None:
    start = pyspiel.load_game("othello")
    for record in records_of("othello"):
        state = start.new_initial_state()
        for move in record.move_texts():
            words = {state.action_to_string(action)[:2]: action for action in state.legal_actions()}
            state.apply_action(words[move[:2]])
        assert state.is_terminal()
        assert (state.returns()[0] + 1) / 2 == record.result


def test_chess_is_played_as_python_chess_does() -> None:
    file = io.StringIO(text_of("chess"))
    for record in records_of("chess"):
        game = chess.pgn.read_game(file)
        assert game is not None
        assert game.errors == []
        last = game.end()
        assert last.ply() == len(record)
        if record.ending == "normal":
            outcome = last.board().outcome(claim_draw=True)
            assert outcome is not None
            assert outcome.result() == game.headers["Result"]
    assert chess.pgn.read_game(file) is None


def test_chess_players_words_are_those_that_python_chess_reads() -> None:
    file = io.StringIO(text_of("chess"))
    for record in records_of("chess")[:20]:
        game = chess.pgn.read_game(file)
        assert game is not None
        said = {}
        for node in game.mainline():
            if (score := node.eval()) is not None:
                said[node.ply()] = (score.white().score(), score.white().mate(), node.eval_depth())
        ours = {each.ply: (each.score, each.mate, each.depth) for each in record.remarks}
        assert ours == said


def test_a_wrong_name_gets_the_nearest_right_one() -> None:
    with pytest.raises(hk.errors.SourceError, match="did you mean othello"):
        sample_path("otello")


# The demo, which is made of them


def test_the_demos_static_evaluator_is_the_linear_evaluation() -> None:
    evaluation = linear_evaluation("go9")
    positions = [record.position(30) for record in records_of("go9")[:50]]
    found = [hk.search_once(position, STATIC).score for position in positions]
    assert found == list(evaluation.score(positions))


def test_an_interrupted_demo_goes_on_and_a_finished_one_does_nothing(tmp_path: Path) -> None:
    quick: dict[str, Any] = {"evaluators": (STATIC, "uct:playouts=3"), "positions_a_game": 1}

    def interrupting(progress: Progress) -> None:
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path, progress=interrupting, **quick)
    gone_on = run_demo(tmp_path, jobs=2, **quick)
    static, uct = gone_on.evaluations
    assert 0 < static.found < static.wanted == 600
    assert static.found + static.done == 600
    assert (uct.found, uct.done, uct.failed) == (0, 600, 0)
    assert gone_on.go.engines == sorted([COMMENTS, *gone_on.engines.values()])
    assert gone_on.chess.engines == [COMMENTS]
    remarks = sum(len(record.remarks) for record in records_of("chess"))
    assert gone_on.chess_comments.found == remarks
    again = run_demo(tmp_path, **quick)
    assert [(report.found, report.done) for report in again.evaluations] == [(600, 0)] * 2
    counted = again.go.sql("select count(*) as n, max(failed) as failed from evaluations")
    said = sum(len(record.remarks) for record in records_of("go9"))
    assert counted.to_pylist() == [{"n": said + 1200, "failed": None}]
