# SPDX-License-Identifier: Apache-2.0
"""The paper's networks: what they compute, their files, what they learn from, and how."""

import dataclasses
import json
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

import hyoka as hk
from hyoka.apps.cli.command_table import command_line
from hyoka.foundation.errors import Error, NotationError, ParameterError, SourceError, StudyError
from hyoka.learning.perceptrons import (
    LabeledPositions,
    PerceptronSettings,
    errors_by_ply,
    learn_perceptrons,
    squared_errors,
)
from hyoka.models.ply_perceptrons import pattern_counts, pieces_laid
from hyoka.records import Record, Remark
from hyoka.search import PlyPerceptrons, static_evaluation, uct
from hyoka.storage.model_file import ModelFile, Origin, read_model_file
from hyoka.study.evaluating import evaluate

QUICK = PerceptronSettings(hidden=3, epochs=3, least=4)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="training needs PyTorch: pip install hyoka[learn]")


def positions_of(seed: int) -> list[hk.BlokusDuo]:
    """A game of random moves."""
    found = [hk.BlokusDuo()]
    while found[-1].outcome is None:
        move = found[-1].random_move(1000 * seed + len(found))
        assert move is not None
        found.append(found[-1].play(move))
    return found


def random_networks(*, hands: bool = False, hidden: int = 5, seed: int = 0) -> PlyPerceptrons:
    made = PlyPerceptrons.untrained((2, 7, 20), hidden=hidden, sees_hands=hands)
    chance = np.random.default_rng(seed)
    weights = chance.normal(0, 0.05, made.weights.shape).astype(np.float32)
    weights[:, -hidden - 1 :] = chance.normal(0, 2, (3, hidden + 1))
    return dataclasses.replace(made, weights=weights)


def labeled(seeds: Sequence[int], *, plies: tuple[int, int] = (0, 99)) -> LabeledPositions:
    """Win rates that some squares more are worth."""
    games = [positions_of(seed)[:-1][slice(*plies)] for seed in seeds]
    positions = [each for game in games for each in game]
    values = 1 / (1 + np.exp(-np.array([each.score for each in positions]) / 5))
    numbers = np.repeat(np.arange(len(games)), [len(game) for game in games])
    return LabeledPositions(positions, values, numbers)


def expected(networks: PlyPerceptrons, positions: list[hk.BlokusDuo]) -> NDArray[np.float64]:
    """The same in NumPy, a layer a line."""
    found = []
    counts = pattern_counts(positions, hands=networks.sees_hands).astype(np.float64)
    for position, row, laid in zip(positions, counts, pieces_laid(positions), strict=True):
        distances = [abs(ply - laid) for ply in networks.plies]
        weights = networks.weights[distances.index(min(distances))].astype(np.float64)
        units = networks.hidden
        first = weights[: len(row) * units].reshape(len(row), units)
        biases, last = weights[first.size :][:units], weights[first.size + units :][:units]
        hidden = 1 / (1 + np.exp(-(row @ first + biases)))
        value = 1 / (1 + np.exp(-(hidden @ last + weights[-1])))
        found.append(value if position.to_play is hk.Player.first else 1 - value)
    return np.array(found)


class TestNetworks:
    @pytest.mark.parametrize("hands", [False, True])
    @pytest.mark.parametrize("hidden", [1, 5, 16, 33])
    def test_values_are_numpys(self, hands: bool, hidden: int) -> None:
        networks = random_networks(hands=hands, hidden=hidden)
        positions = positions_of(3)
        values = networks.value(positions)
        assert values == pytest.approx(expected(networks, positions), abs=1e-4)
        assert values.std() > 0.01

    def test_values_are_pytorchs(self, torch: Any) -> None:
        networks = random_networks(hands=True)
        positions = [each for each in positions_of(4) if pieces_laid([each])[0] <= 4]
        counts = torch.from_numpy(pattern_counts(positions, hands=True).astype(np.float32))
        first = torch.nn.Linear(counts.shape[1], 5)
        last = torch.nn.Linear(5, 1)
        weights = torch.from_numpy(networks.weights[0].copy())
        with torch.no_grad():
            first.weight.copy_(weights[: counts.shape[1] * 5].reshape(-1, 5).T)
            first.bias.copy_(weights[-11:-6])
            last.weight.copy_(weights[-6:-1][None])
            last.bias.copy_(weights[-1:])
            found = torch.sigmoid(last(torch.sigmoid(first(counts)))).numpy().ravel()
        is_first = [each.to_play is hk.Player.first for each in positions]
        values = networks.value(positions)
        assert np.where(is_first, values, 1 - values) == pytest.approx(found, abs=1e-4)

    def test_scores_are_thousandths_of_logits(self) -> None:
        networks = random_networks()
        positions = positions_of(5)
        values = networks.value(positions)
        scores = networks.score(positions)
        assert scores == pytest.approx(1000 * np.log(values / (1 - values)), abs=0.51)

    def test_scores_stay_below_those_of_games_that_are_over(self) -> None:
        networks = random_networks()
        weights = networks.weights.copy()
        weights[:, -1] = 9e5
        sure = dataclasses.replace(networks, weights=weights)
        assert np.abs(sure.score(positions_of(5))).tolist() == [15000] * len(positions_of(5))

    def test_mirrored_boards_are_worth_the_same(self) -> None:
        networks = random_networks(hands=True)
        positions = positions_of(6)
        mirrored = [each.transformed(1) for each in positions]
        assert networks.value(mirrored) == pytest.approx(networks.value(positions), abs=1e-6)

    @pytest.mark.parametrize(
        ("plies", "hidden"),
        [((), 2), ((3, 3), 2), ((4, 2), 2), ((-1, 2), 2), ((50,), 2), ((1,), 0)],
    )
    def test_shapes_that_make_no_sense_are_refused(
        self, plies: tuple[int, ...], hidden: int
    ) -> None:
        with pytest.raises(NotationError, match="perceptrons"):
            PlyPerceptrons.untrained(plies, hidden=hidden)

    @pytest.mark.parametrize("search", ["uct:playouts=30,eval_visits=8", "ab:depth=1"])
    def test_searches_take_their_file(self, search: str, tmp_path: Path) -> None:
        file = tmp_path / "networks.eval"
        random_networks().save(file)
        result = hk.search_once(hk.BlokusDuo(), f"{search},eval={file}")
        built_in = hk.search_once(hk.BlokusDuo(), search)
        assert result.value != built_in.value

    def test_uct_starts_new_nodes_with_their_win_rate(self) -> None:
        """Where the prior counts for far more than playouts, nodes are worth what it says."""
        networks = random_networks()
        spec = uct(playouts=400, eval_visits=100_000, preset="paper", evaluation=networks)
        result = hk.search_once(hk.BlokusDuo(), spec)
        seen = [each for each in result.moves if each.visits]
        values = networks.value([hk.BlokusDuo().play(str(each.move)) for each in seen])
        assert [each.value for each in seen] == pytest.approx(values, abs=1e-3)


class TestFiles:
    def test_a_file_holds_them_whole(self, tmp_path: Path) -> None:
        networks = random_networks(hands=True)
        file = tmp_path / "networks.eval"
        networks.save(file, Origin("a test", seed=3))
        found = static_evaluation("blokus_duo", file)
        assert isinstance(found, PlyPerceptrons)
        assert (
            found.fingerprint
            == networks.fingerprint
            == PlyPerceptrons.load("blokus_duo", file).fingerprint
        )
        assert (found.plies, found.hidden, found.sees_hands) == ((2, 7, 20), 5, True)
        assert (found.weights == networks.weights).all()
        model_file = read_model_file(file)
        assert (model_file.kind, model_file.game) == (PlyPerceptrons.kind, "blokus_duo")

    def test_another_game_has_no_use_for_them(self) -> None:
        with pytest.raises(SourceError, match="for blokus_duo, not for chess"):
            static_evaluation("chess", random_networks().model_file())

    @pytest.mark.parametrize(
        ("about", "message"),
        [
            ({"hidden": 0}, "'hidden' needs a number from 1"),
            ({"hidden": 10**9}, "'hidden' needs a number from 1"),
            ({"hidden": 6}, "there are not"),
            ({"hidden": True}, "'hidden' needs"),
            ({"hands": 1}, "'hands' needs true or false"),
            ({"plies": [1, 2]}, "there are not"),
            ({"plies": list(range(10**4))}, "10,000 networks"),
            ({"plies": [3, 2, 1]}, "rising plies"),
            ({"plies": ["1"]}, "'plies' needs a list"),
            ({"plies": None}, "'plies' needs a list"),
            ({"patterns": 7}, "7 patterns, which are 2,886"),
        ],
    )
    def test_a_wrong_description_is_refused(self, about: dict[str, Any], message: str) -> None:
        line, _, rest = random_networks().model_file().content.partition(b"\n")
        changed = json.dumps(json.loads(line) | about).encode() + b"\n" + rest
        with pytest.raises(SourceError, match=message) as caught:
            PlyPerceptrons.from_model_file(ModelFile.of(PlyPerceptrons.kind, changed), "blokus_duo")
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{}",
            b"[]\n",
            b"\xff\xfe\n",
            b'{"patterns": 2886, "hands": false, "hidden": 1, "plies": [0]}\nnothing packed',
            b'{"patterns": 2886, "hands": false, "hidden": 1, "plies": [0]}\n'
            + zlib.compress(b"\0" * 10**7),
            b'{"patterns": 2886, "hands": false, "hidden": 1, "plies": [0]}\n'
            + zlib.compress(np.full(2889, np.nan, "<f4").tobytes()),
            b"[" * 100_000,
        ],
    )
    def test_hostile_bytes_are_refused_in_a_line(self, content: bytes) -> None:
        with pytest.raises(SourceError, match="no perceptrons that can be read") as caught:
            PlyPerceptrons.from_model_file(ModelFile.of(PlyPerceptrons.kind, content), "blokus_duo")
        assert "\n" not in str(caught.value)


class TestLabels:
    def test_equal_positions_are_merged_and_their_rates_averaged(self) -> None:
        start, after = positions_of(1)[:2]
        data = LabeledPositions(
            [start, after, start, start], np.array([0.1, 0.7, 0.2, 0.6]), np.array([0, 0, 1, 2])
        )
        merged = data.merged()
        assert list(merged.positions) == [start, after]
        assert merged.values == pytest.approx([0.3, 0.7])
        assert merged.games.tolist() == [0, 0]

    def test_a_players_word_is_about_the_position_it_had_to_move_in(self) -> None:
        positions = positions_of(1)
        moves = _record_of(1).moves
        remarks = (
            Remark(1, book=True, value=0.9),
            Remark(2, value=0.4, author="second"),
            Remark(3, value=0.3),
            Remark(4, score=2.0, author="second"),
        )
        found = LabeledPositions.of_records([Record("blokus_duo", moves, remarks=remarks)])
        assert list(found.positions) == [positions[1], positions[3]]
        assert found.values.tolist() == [0.4, 0.3]
        assert found.for_mover.tolist() == pytest.approx([0.6, 0.7])

    def test_games_of_two_sources_are_distinguished(self) -> None:
        one = LabeledPositions(positions_of(1)[:2], np.array([0.5, 0.5]), np.array([0, 1]))
        assert (one + one).games.tolist() == [0, 1, 2, 3]

    def test_another_game_is_refused(self) -> None:
        record = Record("othello", np.array([], np.uint16))
        with pytest.raises(StudyError, match="patterns of blokus_duo, not of othello"):
            LabeledPositions.of_records([record])

    def test_a_studys_evaluations_are_labels(self, tmp_path: Path) -> None:
        file = tmp_path / "games.blksgf"
        hk.write_records([_record_of(seed) for seed in range(4)], file)
        study = hk.Study.create(tmp_path / "study", file, columns="none")
        evaluate(study, ["uct:playouts=10"], where="ply < 6 or ply = plies")
        learned, apart = (
            LabeledPositions.of_study(study, hold_out=0.5, held_out=each) for each in (False, True)
        )
        assert len(learned) + len(apart) == 4 * 6
        assert set(np.unique(learned.games)).isdisjoint(apart.games)
        assert ((learned.values >= 0) & (learned.values <= 1)).all()
        assert learned.positions[0] == hk.BlokusDuo()


def _record_of(seed: int) -> Record:
    codes, position = [], hk.BlokusDuo()
    for after in positions_of(seed)[1:]:
        [move] = [each for each in position.legal_moves if position.play(each) == after][:1]
        codes.append(move.code)
        position = after
    return Record("blokus_duo", np.array(codes, np.uint16))


class TestTraining:
    def test_the_same_seed_makes_the_same_networks(self, torch: Any) -> None:
        data = labeled(range(6))
        once, again, other = (
            learn_perceptrons(data, QUICK, seed=seed, jobs=jobs).networks
            for seed, jobs in ((1, 1), (1, 2), (2, 1))
        )
        assert (once.weights == again.weights).all()
        assert once.fingerprint != other.fingerprint

    def test_networks_learn_what_squares_are_worth(self, torch: Any) -> None:
        data = labeled(range(200), plies=(6, 8))
        settings = PerceptronSettings(hidden=4, epochs=40, least=100)
        trained = learn_perceptrons(data, settings, seed=1)
        unseen = labeled(range(1000, 1050), plies=(6, 8))
        errors = squared_errors(trained.networks, unseen)
        by_ply = errors_by_ply(trained.networks, unseen)
        assert [each.ply for each in by_ply] == list(trained.networks.plies) == [6, 7]
        for each in by_ply:
            assert each.positions == 50
            assert each.squared < 0.6 * each.variance
        assert np.mean([each.squared for each in by_ply]) == pytest.approx(errors.mean())

    def test_folded_weights_predict_what_was_trained(self, torch: Any) -> None:
        """What was done to the counts is in the weights: the core sees them as they are."""
        networks = learn_perceptrons(labeled(range(6)), QUICK, seed=1).networks
        positions = positions_of(7)
        assert networks.value(positions) == pytest.approx(expected(networks, positions), abs=1e-4)

    def test_training_that_does_not_stop_early_knows_its_own_games_better(self, torch: Any) -> None:
        data = labeled(range(12), plies=(6, 7))
        usual = PerceptronSettings(hidden=4, epochs=40, patience=40, rate=0.01, least=4)
        to_the_end = dataclasses.replace(usual, stops_early=False)
        errors = [
            squared_errors(learn_perceptrons(data, each, seed=1).networks, data).mean()
            for each in (usual, to_the_end)
        ]
        assert errors[1] < 0.5 * errors[0]

    def test_plies_with_few_positions_have_no_network_of_their_own(self, torch: Any) -> None:
        data = labeled(range(6))
        some = learn_perceptrons(data, dataclasses.replace(QUICK, least=6)).networks
        counts = np.bincount(data.merged().plies)
        assert some.plies == tuple(np.flatnonzero(counts >= 6).tolist())
        with pytest.raises(StudyError, match="a network needs 1000; play more games"):
            learn_perceptrons(data, dataclasses.replace(QUICK, least=1000))

    @pytest.mark.parametrize(
        "wrong", [{"hidden": 0}, {"hidden": 10**6}, {"rate": 0.0}, {"decay": -1.0}, {"batch": 0}]
    )
    def test_settings_that_make_no_sense_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ParameterError):
            PerceptronSettings(**wrong)

    def test_without_pytorch_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(Error, match=r"pip install 'hyoka\[learn\]'"):
            learn_perceptrons(labeled(range(1)), QUICK)


class TestCommand:
    def run(self, *words: str) -> Any:
        words = ("learn", "perceptrons", *words)
        return CliRunner().invoke(command_line(words), list(words), obj=list(words))

    @pytest.fixture
    def match(self, tmp_path: Path) -> Path:
        search = "uct:preset=paper,playouts=5,value=root"
        plan = hk.plan_match(f"a={search}", f"b={search}", game="blokus_duo", openings="start")
        hk.play_match(plan, tmp_path / "match", games=6)
        return tmp_path / "match"

    def test_records_of_a_match_go_in_and_a_file_comes_out(
        self, match: Path, tmp_path: Path, torch: Any
    ) -> None:
        file = tmp_path / "networks.eval"
        quick = ("--epochs", "2", "--min-positions", "2", "--hold-out", "0.3", "-q")
        result = self.run(str(match / "games.blksgf"), "-o", str(file), "--hands", *quick)
        assert result.exit_code == 0, result.output
        assert "different positions of" in result.output
        assert f"eval_visits=40,eval={file}" in result.output.replace("\n", "")
        origin = read_model_file(file).origin
        assert origin is not None
        assert origin.choices["hands"] == "True"
        assert origin.versions["torch"] == str(torch.__version__)
        assert PlyPerceptrons.load("blokus_duo", file).sees_hands
        summary = json.loads(
            self.run(str(match / "games.blksgf"), "-o", str(file), "--json", *quick).stdout
        )
        assert summary["networks"] == len(PlyPerceptrons.load("blokus_duo", file).plies)
        assert all(each["mse"] >= 0 for each in summary["held_out"])

    def test_records_without_values_are_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "games.blksgf"
        hk.write_records([_record_of(1)], file)
        result = self.run(str(file), "-o", str(tmp_path / "x.eval"), "--hold-out", "0")
        assert result.exit_code != 0
        assert "no position of these games has a value" in str(result.exception)

    def test_an_evaluator_is_for_a_study(self, match: Path) -> None:
        result = self.run(str(match / "games.blksgf"), "--evaluator", "uct")
        assert "--evaluator needs a study" in str(result.exception)
