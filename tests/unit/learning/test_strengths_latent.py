# SPDX-License-Identifier: Apache-2.0
"""Latent factors: what they make of moves, that they find pairs that matter, and their file."""

from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka import _core
from hyoka.foundation.errors import SourceError
from hyoka.learning.strengths import StrengthSettings, learn_latent, learn_strengths
from hyoka.models.linear import move_strengths
from hyoka.models.loading import latent_content, latent_model, move_model
from hyoka.records import Record
from hyoka.records.bulk import GameTable
from hyoka.storage.model_file import ModelFile
from unit.learning.test_bradley_terry import competitions_of


def games_of_othello(count: int = 12) -> GameTable:
    """Games in which the move listed last is preferred."""
    chance = np.random.default_rng(0)
    records = []
    for _ in range(count):
        line = hk.Othello().line()
        while line.outcome is None:
            moves = line.legal_moves
            line = line.play(moves[max(chance.integers(len(moves), size=2))])
        codes = [move.code for move in line.moves]
        records.append(Record("othello", np.array(codes, np.uint16)))
    return GameTable.from_records(records)


def test_a_move_is_as_strong_as_the_formula_says() -> None:
    names = list(move_strengths("othello"))
    chance = np.random.default_rng(1)
    logs = chance.normal(size=len(names)).astype(np.float32)
    factors = chance.normal(size=(len(names), 3)).astype(np.float32)
    model = latent_model("othello", names, logs, factors)
    games = games_of_othello(2)
    found = games.move_features()
    row = 0
    for at, position in enumerate(games.positions()):
        moves, weights = _core.weigh_moves("othello", position.line(), model)
        expected = []
        for _ in moves:
            team = found.features[row]
            pairs = [(a, b) for i, a in enumerate(team) for b in team[i + 1 :]]
            expected.append(
                np.exp(logs[team].sum() + sum(float(factors[a] @ factors[b]) for a, b in pairs))
            )
            row += 1
        assert weights == pytest.approx(expected, rel=1e-4), at


def test_pairs_that_matter_are_found() -> None:
    """Feature 0 is good with 2 and bad with 3, and 1 the other way round: alone all are even."""
    chance = np.random.default_rng(0)
    choices = []
    for game in range(400):
        for _ in range(5):
            teams = [[int(chance.integers(2)), 2 + int(chance.integers(2))] for _ in range(4)]
            weights = np.array([6.0 if (a == 0) == (b == 2) else 1.0 for a, b in teams])
            winner = int(chance.choice(4, p=weights / weights.sum()))
            choices.append((teams, winner, game))
    competitions = competitions_of(choices, 4)
    learned = (np.arange(400) % 5 > 0).astype(np.uint8)
    learner = _core.LatentLearner(competitions, learned, np.zeros(4, np.float32), 2, 0.1, 0, 7)
    before = learner.loss
    assert before == pytest.approx(np.log(4), abs=0.05)
    for _ in range(20):
        learner.learn()
    best = np.mean(
        [
            -np.log(
                (w := np.array([6.0 if (a == 0) == (b == 2) else 1.0 for a, b in teams]))[winner]
                / w.sum()
            )
            for teams, winner, game in choices
            if game % 5 == 0
        ]
    )
    assert learner.loss < best + 0.1 * (before - best)


def test_learned_from_games_and_read_back(tmp_path: Path) -> None:
    games = games_of_othello()
    strengths = learn_strengths(games)
    latent = learn_latent(games, strengths, StrengthSettings(rank=2, epochs=3, seed=1))
    assert min(latent.losses) <= latent.losses[0]
    latent.save(tmp_path / "latent.bin")
    again = move_model("othello", tmp_path / "latent.bin")
    line = hk.Othello().line()
    ours = _core.weigh_moves("othello", line, latent.model())[1]
    assert (ours == _core.weigh_moves("othello", line, again)[1]).all()
    same = learn_latent(games, strengths, StrengthSettings(rank=2, epochs=3, seed=1))
    assert (same.factors == latent.factors).all()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]\n",
        b"{}\n1234",
        b'["corner"]\n12345678',
        b"[" * 5000 + b"\n",
        latent_content(["a", "b"], np.zeros(2, np.float32), np.zeros((2, 2), np.float32)),
    ],
)
def test_nonsense_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError):
        move_model("othello", ModelFile.of("latent", content, game="othello"))


def test_numbers_must_be_finite() -> None:
    names = list(move_strengths("othello"))
    logs = np.full(len(names), np.nan, np.float32)
    content = latent_content(names, logs, np.zeros((len(names), 1), np.float32))
    with pytest.raises(SourceError, match="finite"):
        move_model("othello", ModelFile.of("latent", content, game="othello"))


def test_a_model_that_gives_no_strength_is_refused() -> None:
    names = list(move_strengths("othello"))
    logs = np.full(len(names), np.nan, np.float32)
    model = latent_model("othello", names, logs, np.zeros((len(names), 1), np.float32))
    with pytest.raises(ValueError, match="no strength"):
        games_of_othello(1).predictions(model)
