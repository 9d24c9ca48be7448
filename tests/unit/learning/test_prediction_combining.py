# SPDX-License-Identifier: Apache-2.0
"""Several move models as one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka import _core
from hyoka.foundation.errors import SourceError
from hyoka.learning.prediction import combine
from hyoka.models.linear import MoveStrengths, move_strengths
from hyoka.models.loading import combined_content, move_model
from hyoka.storage.model_file import ModelFile
from unit.learning.test_strengths_latent import games_of_othello


def model_file(seed: int) -> ModelFile:
    """Strengths drawn at random."""
    chance = np.random.default_rng(seed)
    names = move_strengths("othello")
    strengths = dict(zip(names, np.exp(chance.normal(size=len(names))), strict=True))
    return MoveStrengths("othello", strengths).model_file()


def test_strengths_are_multiplied_by_their_powers(tmp_path: Path) -> None:
    parts = [model_file(1), model_file(2)]
    content = combined_content(parts, [0.5, 1.5])
    ModelFile.of("combined", content, game="othello").save(tmp_path / "combined.bin")
    model = move_model("othello", tmp_path / "combined.bin")
    line = hk.Othello().line()
    one, two, both = (
        _core.weigh_moves("othello", line, each)[1].astype(float)
        for each in (*(move_model("othello", part) for part in parts), model)
    )
    assert both == pytest.approx(one**0.5 * two**1.5, rel=1e-4)


def test_powers_are_the_likeliest() -> None:
    games = games_of_othello(6)
    parts = [model_file(1), model_file(2)]
    found = combine(games, parts)

    def loss(weights: Sequence[float]) -> float:
        model = _core.combined_model(
            "othello", [move_model("othello", part) for part in parts], list(weights)
        )
        losses = games.predictions(model).losses
        return float(np.nanmean(losses))

    best = loss(found.weights)
    assert best == pytest.approx(found.log_losses[-1], abs=1e-4)
    for i in range(2):
        for step in (-0.05, 0.05):
            other = list(found.weights)
            other[i] += step
            assert loss(other) > best
    assert found.log_losses[-1] <= min(found.log_losses[:-1]) + 1e-9


def test_nearly_equal_models_get_the_powers_of_the_optimum() -> None:
    games = games_of_othello(6)
    first = move_strengths("othello")
    chance = np.random.default_rng(3)
    near = {name: each * float(np.exp(0.003 * chance.normal())) for name, each in first.items()}
    parts = [MoveStrengths("othello", each).model_file() for each in (first, near)]
    found = combine(games, parts)
    logs = [
        np.log(games.weighings(move_model("othello", part)).strengths.astype(np.float64))
        for part in parts
    ]
    weighings = games.weighings(move_model("othello", parts[0]))

    def slope(index: int) -> float:
        """The derivative of the summed log-likelihood by a model's power."""
        total = 0.0
        for i, played in enumerate(weighings.played):
            if played >= 0:
                here = slice(weighings.offsets[i], weighings.offsets[i + 1])
                scores = sum(w * each[here] for w, each in zip(found.weights, logs, strict=True))
                chances = np.exp(scores - np.max(scores))
                mean = chances @ logs[index][here] / chances.sum()
                total += logs[index][here][played] - mean
        return float(total)

    assert [slope(0), slope(1)] == pytest.approx([0, 0], abs=1e-4)
    twice = combine(games, [parts[0], parts[0]])
    assert twice.weights[0] == pytest.approx(twice.weights[1])
    assert sum(twice.weights) == pytest.approx(combine(games, parts[:1]).weights[0], rel=1e-5)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}\n",
        b'{"weights": [1], "bytes": [5]}\nabc',
        b'{"weights": [1], "bytes": [3]}\nabc',
        b'{"weights": [], "bytes": []}\n',
        b'{"weights": ["x"], "bytes": [3]}\nabc',
    ],
)
def test_nonsense_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError):
        move_model("othello", ModelFile.of("combined", content, game="othello"))
