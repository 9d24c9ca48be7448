# SPDX-License-Identifier: Apache-2.0
"""Convolution networks: what they compute, their files, searches that take them, how they learn."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka import _core
from hyoka._core import Go5
from hyoka.foundation.errors import NotationError, SourceError
from hyoka.learning.network_training import NetworkSettings, floats_of, learn_network, quantize
from hyoka.learning.selfplay_games import of_records
from hyoka.models.bundled import bundled_prior_model
from hyoka.models.networks import Convolution, ConvolutionSize
from hyoka.records.samples import sample_path
from hyoka.search import SearchSpec
from hyoka.search.assembly import uses_both_heads
from hyoka.storage.model_file import ModelFile

from ..small_convolutions import ExpectedSight, random_convolution
from ..small_networks import positions_of, random_records

GAMES = ("othello", "go5", "go9", "go13", "go19", "blokus_duo")
SMALL = random_convolution("go3")


def first_players(position: Any, own: float) -> float:
    return own if position.to_play is hk.Player.first else -own


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("channels", [16, 48])
def test_answers_are_those_of_the_formula(game: str, channels: int) -> None:
    found = random_convolution(game, channels=channels)
    places = _core.board_of(game)[3]
    positions = positions_of(game, 1, 40)[::5]
    logits = found.in_core.logits(positions)
    for position, logit in zip(positions, logits, strict=True):
        sight = ExpectedSight(found, position)
        assert logit == pytest.approx(first_players(position, sight.logit()), abs=1e-4)
        if game == "blokus_duo" and position.to_play is not hk.Player.first:
            continue  # the second player sees other codes
        moves, strengths = _core.weigh_moves(game, position.line(), found.move_model())
        expected = sight.move_logits(places[[move.code for move in moves]])
        assert strengths == pytest.approx(np.exp((expected - expected.max()).clip(-20)), rel=1e-3)
    assert logits.std() > 0.01


@pytest.mark.parametrize("game", ["othello", "go9", "blokus_duo"])
def test_pytorch_says_the_same_within_rounding(game: str) -> None:
    torch = pytest.importorskip("torch")
    from hyoka.learning.network_training import ConvolutionTrainee  # noqa: PLC0415

    found = random_convolution(game, channels=32, blocks=3)
    settings = NetworkSettings(channels=32, blocks=3, value_units=5)
    trainee = ConvolutionTrainee(game, settings, found)
    positions = positions_of(game, 4, 40)
    bits = np.unpackbits(_core.network_inputs(game, positions), axis=1, bitorder="little")
    inputs = torch.from_numpy(bits[:, : _core.network_size(game)[0]].astype(np.float32))
    with torch.no_grad():
        own = trainee.logits(trainee.seen(inputs)).numpy()
    turned = [first_players(each, float(logit)) for each, logit in zip(positions, own, strict=True)]
    assert found.in_core.logits(positions) == pytest.approx(np.array(turned), abs=0.02)


def test_the_shipped_network_of_go_says_what_pytorch_says() -> None:
    torch = pytest.importorskip("torch")
    from hyoka.learning.network_training import ConvolutionTrainee  # noqa: PLC0415

    model_file = bundled_prior_model("go9")
    assert model_file is not None
    found = Convolution.load("go9", model_file)
    size = found.size
    settings = NetworkSettings(
        channels=size.channels, blocks=size.blocks, value_units=size.value_units
    )
    trainee = ConvolutionTrainee("go9", settings, found)
    records = itertools.islice(hk.read_records(sample_path("go9")), 6)
    positions = [at for record in records for at in list(record.positions())[::4]]
    bits = np.unpackbits(_core.network_inputs("go9", positions), axis=1, bitorder="little")
    inputs = torch.from_numpy(bits[:, : _core.network_size("go9")[0]].astype(np.float32))
    with torch.no_grad():
        seen = trainee.seen(inputs)
        values = trainee.logits(seen).numpy()
        moves_of = trainee.move_logits(seen, torch.ones(len(seen), 82)).numpy()
    turned = [first_players(at, float(logit)) for at, logit in zip(positions, values, strict=True)]
    assert found.in_core.logits(positions) == pytest.approx(np.array(turned), abs=0.05)
    for at, logits in zip(positions, moves_of, strict=True):
        moves, strengths = _core.weigh_moves("go9", at.line(), found.move_model())
        theirs = logits[[move.code for move in moves]]
        apart = (np.log(strengths) - theirs)[theirs > theirs.max() - 19]
        assert np.ptp(apart) / 2 < 0.05


def test_a_turned_board_has_turned_places() -> None:
    side, planes, move_planes, places = _core.board_of("blokus_duo")
    assert (side, planes, move_planes) == (14, 6, 168)
    assert (places[:-1] >= 0).all()
    assert places[-1] == -1
    assert len(np.unique(places)) == len(places)  # no two moves lie at one place


def test_the_same_piece_elsewhere_lies_on_the_same_plane() -> None:
    # A placement moved by a square is seen by the same weights: its plane stays, its point moves.
    places = _core.board_of("blokus_duo")[3][:-1]
    planes, counts = np.unique(places // 196, return_counts=True)
    assert len(planes) == 91  # orientations of the 21 pieces
    assert counts.max() == 196  # the monomino lies anywhere


@pytest.mark.parametrize("game", ["chess", "shogi"])
def test_games_that_lie_on_no_board_are_refused(game: str) -> None:
    with pytest.raises(NotationError, match="no board"):
        ConvolutionSize.of_game(game, 32, 4)


@pytest.mark.parametrize(("channels", "blocks"), [(8, 2), (24, 2), (144, 2), (32, 0), (32, 21)])
def test_sizes_that_cannot_be_are_refused(channels: int, blocks: int) -> None:
    with pytest.raises(NotationError):
        ConvolutionSize.of_game("go9", channels, blocks)


class TestFiles:
    def test_a_file_holds_the_network(self, tmp_path: Path) -> None:
        SMALL.save(tmp_path / "a.nn")
        again = Convolution.load("go3", tmp_path / "a.nn")
        assert again.fingerprint == SMALL.fingerprint
        assert again.size == SMALL.size

    def test_a_file_of_another_game_is_refused(self, tmp_path: Path) -> None:
        SMALL.save(tmp_path / "a.nn")
        with pytest.raises(SourceError):
            Convolution.load("go5", tmp_path / "a.nn")

    @pytest.mark.parametrize("cut", [1, 100, 1000])
    def test_a_file_cut_short_is_refused(self, cut: int) -> None:
        whole = SMALL.model_file().content
        short = ModelFile.of("convolution", whole[:-cut], game="go3")
        with pytest.raises(SourceError, match="no network"):
            Convolution.from_model_file(short, "go3")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("first", 32767),
            ("value", 32767),
            ("moves", 32767),
            ("first_shifts", 0),
            ("second_shifts", 99),
            ("first_bias", 2**31 - 1),
            ("value_out", np.nan),
            ("constants", np.inf),
        ],
    )
    def test_numbers_that_run_over_are_refused(self, name: str, value: float) -> None:
        large = random_convolution("go3", channels=128, blocks=1)
        numbers = {each: array.copy() for each, array in large.numbers.items()}
        numbers[name][...] = value
        with pytest.raises(NotationError):
            Convolution("go3", large.size, numbers)


def test_whole_numbers_and_back() -> None:
    again = quantize("go3", SMALL.size, floats_of(SMALL))
    for name, array in SMALL.numbers.items():
        assert again.numbers[name].astype(float) == pytest.approx(array.astype(float), abs=1), name


class TestSearches:
    def spec(self, tmp_path: Path, more: str) -> SearchSpec:
        file = tmp_path / "a.nn"
        random_convolution("go5").save(file)
        text = f"uct:playouts=30,eval={file},strengths={file},{more}"
        return SearchSpec.from_text(text).for_game("go5")

    def test_value_and_moves_come_of_one_look(self, tmp_path: Path) -> None:
        assert uses_both_heads(self.spec(tmp_path, "cutoff=0"))
        assert not uses_both_heads(self.spec(tmp_path, "eval_weight=0.5"))
        assert not uses_both_heads(self.spec(tmp_path, "cutoff=0,eval_visits=5"))

    @pytest.mark.parametrize(
        "more", ["cutoff=0", "eval_weight=0.5", "eval_visits=5", "cutoff=0,threads=2", "cutoff=4"]
    )
    def test_searches_take_it(self, tmp_path: Path, more: str) -> None:
        found = hk.search_once(Go5(komi=0.5).line(), self.spec(tmp_path, more))
        assert found.best in Go5().legal_moves

    def test_alpha_beta_takes_it(self, tmp_path: Path) -> None:
        file = tmp_path / "a.nn"
        random_convolution("othello").save(file)
        found = hk.search_once(hk.Othello().line(), f"ab:depth=3,eval={file}")
        assert found.best in hk.Othello().legal_moves

    def test_priors_are_the_networks(self, tmp_path: Path) -> None:
        network = random_convolution("go5")
        network.save(tmp_path / "a.nn")
        file = tmp_path / "a.nn"
        line = Go5(komi=0.5).line()
        result = hk.search_once(line, f"uct:playouts=2,eval={file},strengths={file},cutoff=0")
        moves, strengths = _core.weigh_moves("go5", line, network.move_model())
        best = moves[int(np.argmax(strengths))]
        assert result.best == best  # the second playout goes where the network says


def test_learning_goes_down_is_repeatable_and_goes_on() -> None:
    pytest.importorskip("torch")
    records = random_records("othello", 60, 1)
    played = of_records(records)
    settings = NetworkSettings(channels=16, blocks=1, value_units=8, epochs=3, batch=256)
    one = learn_network(lambda epoch: played.examples(seed=epoch), settings=settings)
    other = learn_network(lambda epoch: played.examples(seed=epoch), settings=settings)
    assert isinstance(one.network, Convolution)
    assert one.network.fingerprint == other.network.fingerprint
    assert one.epochs[-1].policy_loss < one.epochs[0].policy_loss
    more = learn_network(
        lambda epoch: played.examples(seed=epoch), settings=settings, start=one.network
    )
    assert more.epochs[0].policy_loss < one.epochs[0].policy_loss
