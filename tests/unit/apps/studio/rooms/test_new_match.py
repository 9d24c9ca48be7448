# SPDX-License-Identifier: Apache-2.0
"""A new match: the command that its cards stand for, and what it costs."""

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import hyoka as hk
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.forms import agent_choices, command_text
from hyoka.apps.studio.rooms.new_match import NewMatch, cost, expected_games
from hyoka.apps.studio.state import Studio
from hyoka.arena import Sprt
from hyoka.arena.elo import rate_of_elo
from hyoka.storage.model_file import ModelFile

ONE_CORE = ("jobs", "1")


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


def test_models_of_the_folder_are_players(studio: Studio) -> None:
    texts = [each.text for each in agent_choices(studio.folder, studio.engines, "othello")]
    assert "ab:eval=weights.json" in texts
    cards = (("game", "othello"), ("p1", "ab:eval=weights.json"), ("p2", "ab"))
    assert "ab:eval=weights.json,nodes=2000 ab:nodes=2000" in command_of(studio, *cards)
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
