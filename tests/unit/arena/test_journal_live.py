# SPDX-License-Identifier: Apache-2.0
"""Games under way are there for who looks on, and leave nothing behind."""

import json
import threading
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.arena.journal import PLAYING, GameInPlay, Playing, games_in_play
from hyoka.arena.referee import Referee

GAME = GameInPlay(3, "a", "b", "othello", "", ())


def test_a_game_in_play_grows_move_by_move(tmp_path: Path) -> None:
    playing, moves = Playing(tmp_path), ["d3"]
    with playing.watched(GAME, moves):
        playing.write()
        [game] = games_in_play(tmp_path)
        assert (game.number, game.first, game.moves) == (3, "a", ("d3",))
        written = (tmp_path / PLAYING).stat().st_mtime_ns
        playing.write()
        assert (tmp_path / PLAYING).stat().st_mtime_ns == written, "nothing new to tell"
        moves.append("c3")
        playing.write()
        assert games_in_play(tmp_path)[0].moves == ("d3", "c3")
    playing.write()
    assert games_in_play(tmp_path) == []


def test_a_match_shows_its_games_while_it_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[GameInPlay] = []
    is_over = threading.Event()

    def look() -> None:
        while not found and not is_over.wait(0.02):
            found.extend(games_in_play(tmp_path))

    onlooker = threading.Thread(target=look)
    must_pass = Referee._must_pass

    def must_pass_when_seen(referee: Referee) -> bool:
        onlooker.join(30)  # the game waits for who looks on
        return must_pass(referee)

    monkeypatch.setattr(Referee, "_must_pass", must_pass_when_seen)
    onlooker.start()
    try:
        plan = hk.plan_match("a=random", "b=random", game="othello", max_plies=40)
        hk.play_match(plan, tmp_path, games=2)
    finally:
        is_over.set()
    assert [(game.game, game.first, game.second) for game in found] == [("othello", "a", "b")]
    assert found[0].moves, "those of the opening"
    assert not (tmp_path / PLAYING).exists()


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"process": 1}', '{"process": "x", "games": []}', "[" * 100_000),
        json.dumps({"process": 2**40, "games": [{"number": 1, "moves": []}]}),
        json.dumps({"process": -1, "games": []}),
    ],
)
def test_what_can_not_be_read_is_no_game(tmp_path: Path, text: str) -> None:
    (tmp_path / PLAYING).write_text(text)
    assert games_in_play(tmp_path) == []


def test_what_a_killed_match_left_is_cleared_away(tmp_path: Path) -> None:
    dead = {"process": 2**31 - 2, "games": [{**vars(GAME), "moves": ["d3"]}]}
    (tmp_path / PLAYING).write_text(json.dumps(dead))
    assert games_in_play(tmp_path) == []
    with Playing(tmp_path):
        assert not (tmp_path / PLAYING).exists()
