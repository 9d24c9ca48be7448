# SPDX-License-Identifier: Apache-2.0
"""Othello against open_spiel and the games of the WTHOR database."""

import random
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pyspiel

import hyoka as hk

PASS = 64


def spiel_text(state: pyspiel.State) -> str:
    """The 64 squares of open_spiel's drawing, row by row."""
    rows = str(state).splitlines()[2:10]
    return "".join("".join(row.split()[1:9]) for row in rows).upper()


def test_random_games_agree_at_every_ply() -> None:
    rng = random.Random(1)
    game_of_spiel = pyspiel.load_game("othello")
    passes = early_ends = 0
    for _ in range(1_000):
        state = game_of_spiel.new_initial_state()
        game = hk.Othello()
        while not state.is_terminal():
            actions = state.legal_actions()
            assert sorted(move.code for move in game.legal_moves) == sorted(actions)
            assert game.to_play == list(hk.Player)[state.current_player()]
            assert game.outcome is None
            action = rng.choice(actions)
            passes += action == PASS
            game = game.play("pass" if action == PASS else state.action_to_string(action))
            state.apply_action(action)
            assert game.text.split()[0] == spiel_text(state)
        outcome = game.outcome
        assert outcome is not None
        assert game.legal_moves == []
        assert outcome.value == (state.returns()[0] + 1) / 2
        early_ends += "-" in game.text
    assert passes > 250
    assert early_ends > 5


def test_any_code_is_a_legal_move_exactly_when_open_spiel_lists_it() -> None:
    rng = random.Random(2)
    for _ in range(30):
        state = pyspiel.load_game("othello").new_initial_state()
        game = hk.Othello()
        while not state.is_terminal():
            legal = {code for code in range(65) if game.is_legal(hk.Othello.Move.from_code(code))}
            assert legal == set(state.legal_actions())
            action = rng.choice(state.legal_actions())
            state.apply_action(action)
            game = game.play(hk.Othello.Move.from_code(action))


def wthor_games(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Black's final discs and the moves, passes left out, of all games of all years."""
    header, record_size = 16, 68
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".wtb"):
                data = archive.read(name)
                for start in range(header, len(data), record_size):
                    record = data[start : start + record_size]
                    squares = [divmod(square, 10) for square in record[8:] if square]
                    yield record[6], [f"{' abcdefgh'[x]}{y}" for y, x in squares]


def test_wthor_games_replay_to_their_final_scores(shared_data: Callable[[str], Path]) -> None:
    """The database gives empty squares to the winner, as our score does."""
    finished = unfinished = early_ends = 0
    games = wthor_games(shared_data("othello/wthor_1977-2020.zip"))
    for black_discs, squares in islice(games, 0, None, 3):
        game = hk.Othello()
        for square in squares:
            if game.is_legal("pass"):
                game = game.play("pass")
            game = game.play(square)
        if game.is_legal("pass"):
            game = game.play("pass")
        if game.outcome is None:
            unfinished += 1
        else:
            finished += 1
            early_ends += "-" in game.text
            assert game.score == 2 * black_discs - 64, (game.text, black_discs)
    assert finished > 33_000
    assert unfinished < 0.01 * finished
    assert early_ends > 300
