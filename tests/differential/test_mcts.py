# SPDX-License-Identifier: Apache-2.0
"""Tree search node for node against the twin in plain Python, with the same seed on one thread."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka import _core
from hyoka._core import Go3, Go5
from hyoka.games import name_of
from hyoka.search import Searcher, SearchLimits, SearchSpec, linear_evaluation, uct

from .mcts_twin import Twin, TwinNode
from .quiescence_twin import rest_value, root_penalties

PROOFS = [None, "lost", "drawn", "won", "forbidden"]


def walked(game: Any, plies: int, seed: int) -> Any:
    """A line of random moves."""
    line = game.line()
    for ply in range(plies):
        move = line.random_move(seed * 1000 + ply)
        if move is None:
            break
        line = line.play(move)
    return line


def twin_rows(root: TwinNode) -> list[tuple[Any, ...]]:
    """The twin's tree in the order of the core's arrays."""
    rows, queue = [], [(root, -1)]
    for at, (node, parent) in enumerate(queue):
        value = node.mean if node.mover is hk.Player.first else 1 - node.mean
        if node.proof in ("won", "lost", "drawn"):
            won = {"won": 1.0, "lost": 0.0, "drawn": 0.5}[node.proof]
            value = won if node.mover is hk.Player.first else 1 - won
        code = 0 if node.move is None else node.move.code
        rows.append((parent, code, node.visits, value, PROOFS.index(node.proof)))
        queue += [(child, at) for child in node.children or [] if child.visits > 0]
    return rows


def core_rows(line: Any, spec: SearchSpec, playouts: int) -> list[tuple[Any, ...]]:
    """The core's tree."""
    searcher = Searcher(spec.with_settings(preset="paper"), name_of(line))
    searcher.search(line, SearchLimits(playouts=playouts))
    tree = searcher.tree()
    columns = ("parent", "move", "visits", "value", "proof")
    return list(zip(*(tree[name].tolist() for name in columns), strict=True))


def assert_same(line: Any, spec: SearchSpec, twin: Twin, playouts: int) -> None:
    """Compare all nodes."""
    expected = twin_rows(twin.run(playouts))
    found = core_rows(line, spec, playouts)
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    assert [row[4] for row in found] == [row[4] for row in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine[3] == pytest.approx(theirs[3], abs=1e-9)


GAMES = [
    (hk.Othello(), 20, 300),
    (hk.Othello(), 54, 400),
    (Go3(komi=0.5), 4, 600),
    (Go5(komi=5.5), 6, 300),
    (hk.Go9(), 20, 200),
    (hk.Chess(), 30, 100),
    (hk.Shogi(), 40, 60),
    (hk.BlokusDuo(), 22, 60),
]


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES)
@pytest.mark.parametrize("formula", ["ucb1", "ucb1-tuned"])
@pytest.mark.parametrize("seed", [1, 2])
def test_plain_uct(game: Any, plies: int, playouts: int, formula: str, seed: int) -> None:
    line = walked(game, plies, seed)
    twin = Twin(line, seed=seed, formula=formula)
    assert_same(line, uct(formula=formula, seed=seed), twin, playouts)


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES[:4])
def test_without_proofs_and_with_another_exploration(game: Any, plies: int, playouts: int) -> None:
    line = walked(game, plies, 5)
    twin = Twin(line, seed=5, c=0.3, proofs=False)
    assert_same(line, uct(c=0.3, seed=5, proofs=False), twin, playouts)


def strengths_of(line: Any) -> list[float]:
    """How strong the core takes the moves of the position reached to be."""
    game = name_of(line)
    _, strengths = _core.weigh_moves(game, line, _core.feature_strengths(game, []))
    return [float(strength) for strength in strengths]


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES)
def test_widening_killer_and_history(game: Any, plies: int, playouts: int) -> None:
    line = walked(game, plies, 3)
    twin = Twin(
        line,
        seed=3,
        widening=(4.0, 0.5, 10.0),
        strengths=strengths_of,
        killer=2.0,
        history=0.6,
    )
    spec = uct(widening=True, killer=True, history=True, seed=3)
    assert_same(line, spec, twin, playouts)


def strengths_by(table: dict[str, float]) -> Callable[[Any], list[float]]:
    """How strong moves are taken to be where some features count otherwise."""

    def strengths(line: Any) -> list[float]:
        game = name_of(line)
        known = dict(_core.move_features(game)) | table
        model = _core.feature_strengths(game, list(known.values()))
        return [float(strength) for strength in _core.weigh_moves(game, line, model)[1]]

    return strengths


def test_priors_and_widening_by_different_strengths(tmp_path: Path) -> None:
    features = [name for name, _ in _core.move_features("othello")]
    priors = {name: 1.0 + i % 3 for i, name in enumerate(features)}
    widening = {name: 1.0 + i % 5 for i, name in enumerate(features)}
    for name, strengths in (("priors", priors), ("widening", widening)):
        (tmp_path / f"{name}.json").write_text(json.dumps(strengths))
    line = walked(hk.Othello(), 12, 8)
    twin = Twin(
        line,
        seed=8,
        formula="puct",
        c=1.5,
        widening=(4.0, 0.5, 10.0),
        strengths=strengths_by(priors),
        widening_strengths=strengths_by(widening),
    )
    spec = uct(
        formula="puct",
        widening=True,
        prior_strengths=tmp_path / "priors.json",
        widening_strengths=tmp_path / "widening.json",
        seed=8,
    )
    assert_same(line, spec, twin, 400)
    alike = spec.with_settings(widening_strengths=tmp_path / "priors.json")
    assert alike.id != spec.id


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES[:3])
def test_killer_alone_and_history_alone(game: Any, plies: int, playouts: int) -> None:
    line = walked(game, plies, 4)
    assert_same(line, uct(killer=True, seed=4), Twin(line, seed=4, killer=2.0), playouts)
    assert_same(line, uct(history=True, seed=4), Twin(line, seed=4, history=0.6), playouts)


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES)
def test_puct_with_ratings_as_priors(game: Any, plies: int, playouts: int) -> None:
    line = walked(game, plies, 6)
    twin = Twin(line, seed=6, formula="puct", c=1.5, strengths=strengths_of)
    assert_same(line, uct(formula="puct", seed=6), twin, playouts)


@pytest.mark.parametrize("plies", [10, 30, 50])
def test_rave(plies: int) -> None:
    line = walked(hk.Othello(), plies, 7)
    assert_same(line, uct(rave=500, seed=7), Twin(line, seed=7, rave=500), 200)


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES[:2])
def test_rave_beside_priors(game: Any, plies: int, playouts: int) -> None:
    line = walked(game, plies, 7)
    twin = Twin(line, seed=7, formula="puct", c=1.5, strengths=strengths_of, rave=500)
    assert_same(line, uct(formula="puct", rave=500, seed=7), twin, playouts)


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES)
def test_a_static_evaluation_counts_as_simulations(game: Any, plies: int, playouts: int) -> None:
    line = walked(game, plies, 8)
    evaluation = linear_evaluation(name_of(game))
    twin = Twin(line, seed=8, prior=5, evaluate=lambda position: evaluation.value([position])[0])
    assert_same(line, uct(eval_visits=5, seed=8), twin, playouts)


@pytest.mark.parametrize(("game", "plies", "playouts"), GAMES)
@pytest.mark.parametrize("formula", ["ucb1", "puct"])
def test_implicit_minimax(game: Any, plies: int, playouts: int, formula: str) -> None:
    line = walked(game, plies, 9)
    evaluation = linear_evaluation(name_of(game))
    twin = Twin(
        line,
        seed=9,
        formula=formula,
        c=1.5 if formula == "puct" else 1.0,
        strengths=strengths_of if formula == "puct" else None,
        minimax=0.4,
        evaluate=lambda position: evaluation.value([position])[0],
    )
    assert_same(line, uct(formula=formula, minimax=0.4, seed=9), twin, playouts)


@pytest.mark.parametrize("game", [hk.Chess(), hk.Shogi()])
@pytest.mark.parametrize("how", ["subtract", "multiply"])
@pytest.mark.parametrize("loss", ["change", "balance"])
def test_quiescence_at_the_root(game: Any, how: str, loss: str) -> None:
    line = walked(game, 45, 6)  # material is uneven, so that the readings differ
    penalties = root_penalties(line.position, loss)
    assert len(set(penalties.values())) > 1
    twin = Twin(line, seed=2, c=0.2, penalties=penalties, multiply=how == "multiply")
    spec = uct(c=0.2, root_quiescence=True, root_penalty=how, root_loss=loss, seed=2)
    assert_same(line, spec, twin, 2 * len(penalties) + 40)


@pytest.mark.parametrize("game", [hk.Chess(), hk.Shogi()])
def test_readings_of_quiescence_at_the_root_differ(game: Any) -> None:
    """Equal trees would not tell the readings apart."""
    line = walked(game, 45, 6)
    readings = [
        uct(c=0.2, root_quiescence=True, root_penalty=how, root_loss=loss, seed=2)
        for how in ("subtract", "multiply")
        for loss in ("change", "balance")
    ]
    rows = [core_rows(line, spec, 300) for spec in readings]
    assert all(one != other for at, one in enumerate(rows) for other in rows[:at])


@pytest.mark.parametrize("game", [hk.Chess(), hk.Shogi()])
def test_leaves_evaluated_where_captures_have_come_to_rest(game: Any) -> None:
    evaluation = linear_evaluation(name_of(game))

    def for_mover(position: Any) -> float:
        score = int(evaluation.score([position])[0])
        return score if position.to_play is hk.Player.first else -score

    different = 0
    for seed in range(6):
        line = walked(game, 40, seed)
        sign = 1 if line.to_play is hk.Player.first else -1
        spec = uct(cutoff=0, quiescence=True, playouts=1, expand=1000)
        found = Searcher(spec, name_of(game)).search(line)
        # The first simulation goes on to the root's first child.
        after = line.position.play(found.best)
        value = -sign * rest_value(after, for_mover, reach=6)
        assert found.value == pytest.approx(1 / (1 + math.exp(-value / evaluation.scale)), abs=1e-6)
        different += value != int(evaluation.score([after])[0])
    assert different > 0
