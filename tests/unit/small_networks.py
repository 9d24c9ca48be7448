# SPDX-License-Identifier: Apache-2.0
"""Networks of random numbers, games to try them on, and the formula in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.games import GAMES, Position
from hyoka.models.networks import SIGHT_STEPS, SUM_STEPS, WEIGHT_STEPS, Network, NetworkSize
from hyoka.records import Record


def random_network(
    game: str, *, width: int = 64, value_units: int = 8, policy_units: int = 8, seed: int = 0
) -> Network:
    """Numbers about as large as learned ones, so that units are neither all 0 nor all 1."""
    size = NetworkSize.of_game(game, width, value_units, policy_units)
    rng = np.random.default_rng(seed)
    spreads = {
        "first": 12.0,
        "first_bias": 40.0,
        "value": 20.0,
        "value_bias": 0.3,
        "value_out": 1.0,
        "value_out_bias": 0.2,
        "policy": 20.0,
        "policy_bias": 0.3,
        "moves": 40.0,
        "move_bias": 0.5,
    }
    numbers: dict[str, NDArray[Any]] = {"move_scale": np.array([2e-4], "<f4")}
    for name, spread in spreads.items():
        shape, kind = size.shapes[name]
        drawn = rng.normal(0, spread, shape)
        if kind == "|i1":
            drawn = drawn.clip(-127, 127)
        numbers[name] = (np.rint(drawn) if "i" in kind else drawn).astype(kind)
    return Network(game, size, numbers)


def positions_of(game: str, seed: int, plies: int = 60) -> list[Any]:
    """A game of random moves, up to its end or so far."""
    found: list[Any] = [GAMES[game]()]
    while len(found) < plies and found[-1].outcome is None:
        move = found[-1].random_move(1000 * seed + len(found))
        after = found[-1].play(move)
        if after.outcome is not None:
            break
        found.append(after)
    return found


def random_records(game: str, count: int, seed: int, plies: int = 200) -> list[Record]:
    """Games of random moves, with results."""
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(count):
        line = GAMES[game]().line()
        codes: list[int] = []
        while len(codes) < plies and line.outcome is None:
            moves = line.legal_moves
            codes.append(moves[int(rng.integers(len(moves)))].code)
            line = line.play(next(move for move in moves if move.code == codes[-1]))
        result = float(rng.integers(3)) / 2
        komi = 7.5 if game.startswith("go") else None
        records.append(Record(game, np.array(codes, np.uint16), komi=komi, result=result))
    return records


def bits(packed: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
    """A number a bit."""
    return np.unpackbits(packed, axis=1, bitorder="little")[:, :count].astype(np.int64)


def inputs_of(network: Network, positions: list[Position]) -> NDArray[np.int64]:
    return bits(_core.network_inputs(network.game, positions), network.size.inputs)


def _units(network: Network, inputs: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = network.numbers
    sums = inputs.astype(np.float64) @ numbers["first"].astype(np.float64) + numbers["first_bias"]
    wrapped = sums.astype(np.int64).astype(np.int16).astype(np.float64)
    return np.asarray((wrapped / SUM_STEPS).clip(0, 1) ** 2)


def expected_logits(network: Network, positions: list[Position]) -> NDArray[np.float64]:
    """Of the expected result of the mover."""
    numbers = network.numbers
    units = _units(network, inputs_of(network, positions))
    hidden = (units @ numbers["value"].T / WEIGHT_STEPS + numbers["value_bias"]).clip(0, 1)
    return np.asarray(hidden @ numbers["value_out"] + numbers["value_out_bias"], np.float64)


def expected_strengths(
    network: Network, position: Position, codes: list[int]
) -> NDArray[np.float64]:
    """Of moves, by their codes as the mover sees them; the strongest has 1."""
    numbers = network.numbers
    units = _units(network, inputs_of(network, [position]))[0]
    sight = (numbers["policy"] @ units / WEIGHT_STEPS + numbers["policy_bias"]).clip(0, 1)
    steps = np.floor(sight * SIGHT_STEPS + 0.5)
    logits = numbers["moves"][codes] @ steps * float(numbers["move_scale"][0])
    logits = logits + numbers["move_bias"][codes]
    return np.asarray(np.exp(np.maximum(logits - logits.max(), -20)))
