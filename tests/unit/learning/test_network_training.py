# SPDX-License-Identifier: Apache-2.0
"""Networks learned: what was planted is found, by seed and from where another left off."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka import _core
from hyoka.foundation.errors import ParameterError
from hyoka.learning.network_training import (
    EpochMetrics,
    Examples,
    NetworkSettings,
    _FlatTrainee,
    joined,
    learn_network,
)
from hyoka.learning.selfplay_games import of_records
from hyoka.models.networks import SIGHT_STEPS, NetworkSize

from ..small_networks import bits, positions_of, random_network, random_records

torch: Any = pytest.importorskip("torch", reason="learning needs PyTorch: pip install hyoka[learn]")

QUICK = NetworkSettings(
    width=64, value_units=8, policy_units=8, epochs=6, batch=128, rate=0.01, seed=1
)
GAMES = ("othello", "go5", "chess", "blokus_duo")


def played(seed: int, games: int = 40) -> Examples:
    """Othello by chance: all positions, with the moves played."""
    return of_records(random_records("othello", games, seed)).examples(seed=seed)


def more_discs(examples: Examples) -> Examples:
    """Worth is who has more discs: 1 for the side to move, 0, or 0.5."""
    inputs = bits(examples.inputs, 128)
    ahead = np.sign(inputs[:, :64].sum(1) - inputs[:, 64:].sum(1))
    return dataclasses.replace(examples, values=((ahead + 1) / 2).astype(np.float32))


def by_column(examples: Examples) -> Examples:
    """The move played is always the legal one of the highest code."""
    _, codes = _core.network_size("othello")
    legal = bits(examples.legal, codes)
    highest = codes - 1 - legal[:, ::-1].argmax(1)
    return dataclasses.replace(
        examples,
        offsets=np.arange(len(legal) + 1),
        moves=highest.astype(np.uint16),
        shares=np.ones(len(legal), np.float32),
    )


@pytest.fixture(scope="module")
def lesson() -> Examples:
    return by_column(more_discs(played(1)))


@pytest.fixture(scope="module")
def unseen() -> Examples:
    return by_column(more_discs(played(2)))


def test_what_was_planted_is_learned(lesson: Examples, unseen: Examples) -> None:
    epochs: list[EpochMetrics] = []
    found = learn_network(lambda _: lesson, held_out=unseen, settings=QUICK, tell=epochs.append)
    assert epochs == found.epochs
    assert [each.epoch for each in epochs] == list(range(1, 7))
    last = epochs[-1]
    assert last.held_value_error < 0.4 * float(np.var(unseen.values))
    assert last.value_loss < epochs[0].value_loss
    # Of about eight moves the right one comes first nearly always.
    assert last.held_first > 0.8
    assert last.held_policy_loss < 0.7 * epochs[0].held_policy_loss
    # The same by the core, on positions as people have them.
    positions = positions_of("othello", 3)
    ahead = np.sign([each.text.count("X") - each.text.count("O") for each in positions])
    value = found.network.value(positions)
    assert np.mean((value > 0.5)[ahead != 0] == (ahead > 0)[ahead != 0]) > 0.75
    first = 0
    for position in positions:
        moves, strengths = _core.weigh_moves("othello", position.line(), found.network.move_model())
        first += max(move.code for move in moves) == moves[int(strengths.argmax())].code
    assert first > 0.75 * len(positions)


def test_the_same_seed_gives_the_same_network(lesson: Examples) -> None:
    few = dataclasses.replace(QUICK, epochs=2)
    one, two = (learn_network(lambda _: lesson, settings=few) for _ in range(2))
    assert one.network.model_file().content == two.network.model_file().content
    # A report has NaN where nothing is held out, which is no equal of itself.
    assert repr(one.epochs) == repr(two.epochs)
    other = learn_network(lambda _: lesson, settings=dataclasses.replace(few, seed=2))
    assert other.network.fingerprint != one.network.fingerprint


def test_each_epoch_draws_its_own_examples(lesson: Examples) -> None:
    drawn = []

    def draw(epoch: int) -> Examples:
        drawn.append(epoch)
        return lesson

    learn_network(draw, settings=dataclasses.replace(QUICK, epochs=3))
    assert drawn == [0, 1, 2]


def test_learning_goes_on_from_where_it_was(lesson: Examples, unseen: Examples) -> None:
    first = learn_network(lambda _: lesson, held_out=unseen, settings=QUICK)
    little = dataclasses.replace(QUICK, epochs=1, rate=1e-4)
    again = learn_network(lambda _: lesson, held_out=unseen, settings=little, start=first.network)
    fresh = learn_network(lambda _: lesson, held_out=unseen, settings=little)
    reached = first.epochs[-1].held_value_error
    assert again.epochs[-1].held_value_error < 1.1 * reached
    assert fresh.epochs[-1].held_value_error > 1.5 * reached
    assert again.epochs[-1].held_first > 0.75 > fresh.epochs[-1].held_first


def test_it_goes_on_from_its_own_kind_only(lesson: Examples) -> None:
    for start in (random_network("othello", value_units=9), random_network("go5")):
        with pytest.raises(ParameterError, match="another game or another size"):
            learn_network(lambda _: lesson, settings=QUICK, start=start)


def test_values_alone_are_learned_without_units_for_moves(lesson: Examples) -> None:
    settings = dataclasses.replace(QUICK, policy_units=0, epochs=2)
    found = learn_network(lambda _: lesson, held_out=lesson, settings=settings)
    assert not found.network.has_policy
    assert math.isnan(found.epochs[-1].held_policy_loss)
    assert math.isfinite(found.epochs[-1].held_value_loss)


@pytest.mark.parametrize("game", GAMES)
def test_pytorch_says_what_the_core_says(game: str) -> None:
    """Weights that whole numbers hold: values within 1e-4; what moves are judged by is rounded."""
    network = random_network(game)
    settings = NetworkSettings(width=64, value_units=8, policy_units=8)
    floats = _FlatTrainee(game, network.size, settings, network)
    positions = positions_of(game, 5, 30)
    inputs = bits(_core.network_inputs(game, positions), network.size.inputs)
    with torch.no_grad():
        units = floats.seen(torch.from_numpy(inputs).float())
        logits = floats.logits(units).numpy()
        every = torch.ones(len(positions), network.size.codes)
        moves = floats.move_logits(units, every).numpy()
    assert network.in_core.logits(positions) == pytest.approx(logits, abs=1e-4)
    # Half a step of each unit that moves are judged by, times its weights.
    greatest = np.abs(network.numbers["moves"]).astype(float).sum(1).max()
    bound = greatest * 0.5 * float(network.numbers["move_scale"][0]) + 1e-4
    for position, said in zip(positions, moves, strict=True):
        if game == "chess" or (game == "blokus_duo" and position.to_play is not hk.Player.first):
            continue  # the mover sees other codes than moves have
        legal, strengths = _core.weigh_moves(game, position.line(), network.move_model())
        own = said[[move.code for move in legal]]
        assert np.log(strengths) == pytest.approx(np.maximum(own - own.max(), -20), abs=2 * bound)


@pytest.mark.parametrize("game", GAMES)
def test_whole_numbers_are_near_the_weights_they_stand_for(game: str) -> None:
    """A logit by quantized weights is within 0.1 of PyTorch's, and 0.03 on the mean."""
    size = NetworkSize.of_game(game, 64, 8, 8)
    settings = NetworkSettings(width=64, value_units=8, policy_units=8)
    floats = _FlatTrainee(game, size, settings, None)
    network = floats.network()
    positions = positions_of(game, 6, 40)
    inputs = bits(_core.network_inputs(game, positions), size.inputs)
    with torch.no_grad():
        logits = floats.logits(floats.seen(torch.from_numpy(inputs).float())).numpy()
    apart = np.abs(network.in_core.logits(positions) - logits)
    assert apart.max() < 0.1
    assert apart.mean() < 0.03
    # Moves are in steps of their greatest weight.
    moves, bias = (each.detach().numpy() for each in floats._all_moves())
    steps = network.numbers["moves"] * float(network.numbers["move_scale"][0]) * SIGHT_STEPS
    assert np.abs(steps - moves).max() <= 0.5001 * np.abs(moves).max() / 127
    assert network.numbers["move_bias"] == pytest.approx(bias)


def test_what_is_learned_stays_within_whole_numbers(lesson: Examples) -> None:
    """However fast it learns, the core takes what comes of it."""
    wild = dataclasses.replace(QUICK, rate=5.0, epochs=2)
    found = learn_network(lambda _: lesson, settings=wild).network
    assert 0 <= found.value([hk.Othello()])[0] <= 1
    assert np.abs(found.numbers["first"]).max() <= 2 * 128
    assert np.abs(found.numbers["value"]).max() <= 2 * 64


def test_examples_are_joined_with_those_with_moves_first(lesson: Examples) -> None:
    some = dataclasses.replace(lesson, legal=lesson.legal[:5], offsets=lesson.offsets.copy())
    some.offsets[5:] = 5
    some = dataclasses.replace(some, moves=lesson.moves[:5], shares=lesson.shares[:5])
    both = joined([some, lesson])
    assert len(both) == 2 * len(lesson)
    assert both.with_moves == 5 + len(lesson)
    assert (both.inputs[5 : both.with_moves] == lesson.inputs).all()
    assert (both.inputs[both.with_moves :] == lesson.inputs[5:]).all()
    assert (both.values[both.with_moves :] == lesson.values[5:]).all()
    assert both.offsets.tolist() == list(range(both.with_moves + 1))
    assert (both.moves == np.concatenate([lesson.moves[:5], lesson.moves])).all()


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"epochs": 0}, "epochs"), ({"batch": 1}, "batch"), ({"rate": 0.0}, "rate"),
     ({"rate": math.nan}, "rate")],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        NetworkSettings(**settings)


def test_a_missing_device_is_refused(lesson: Examples) -> None:
    settings = dataclasses.replace(QUICK, device="abacus")
    with pytest.raises(ParameterError, match="'abacus' is not there") as caught:
        learn_network(lambda _: lesson, settings=settings)
    assert "\n" not in str(caught.value)


def test_an_empty_lesson_is_refused(lesson: Examples) -> None:
    nothing = dataclasses.replace(
        lesson,
        inputs=lesson.inputs[:0],
        values=lesson.values[:0],
        legal=lesson.legal[:0],
        offsets=lesson.offsets[:1],
        moves=lesson.moves[:0],
        shares=lesson.shares[:0],
    )
    with pytest.raises(hk.Error, match="no positions"):
        learn_network(lambda _: nothing, settings=QUICK)
