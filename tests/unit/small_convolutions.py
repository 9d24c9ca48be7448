# SPDX-License-Identifier: Apache-2.0
"""Convolution networks of random numbers, and the formula in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.games import Position
from hyoka.learning.network_training import quantize
from hyoka.models.networks import MOST, STEPS, Convolution, ConvolutionSize


def random_convolution(
    game: str, *, channels: int = 16, blocks: int = 2, value_units: int = 5, seed: int = 0
) -> Convolution:
    """Numbers about as large as learned ones."""
    size = ConvolutionSize.of_game(game, channels, blocks, value_units)
    rng = np.random.default_rng(seed)
    c, v = channels, value_units
    shapes: dict[str, tuple[float, tuple[int, ...]]] = {
        "stem": (0.25, (c, size.planes, 3, 3)),
        "globals": (0.1, (size.globals, c)),
        "stem_bias": (0.1, (c,)),
        "value": (0.2, (v, 2 * c)),
        "value_bias": (0.1, (v,)),
        "value_out": (0.3, (v,)),
        "value_out_bias": (0.1, (1,)),
        "moves": (0.2, (size.move_planes, c)),
        "move_bias": (0.3, (size.move_planes,)),
        "pass": (0.1, (2 * c,)),
        "pass_bias": (0.3, (1,)),
    }
    for i in range(blocks):
        shapes |= {
            f"first.{i}": (0.1, (c, c, 3, 3)),
            f"first_bias.{i}": (0.1, (c,)),
            f"second.{i}": (0.04, (c, c, 3, 3)),
            f"second_bias.{i}": (0.1, (c,)),
            f"squeeze.{i}": (0.1, (c, 2 * c)),
        }
    floats = {
        name: rng.normal(0, spread, shape).astype(np.float32)
        for name, (spread, shape) in shapes.items()
    }
    return quantize(game, size, floats)


def _scaled(sums: NDArray[np.int64], bias: NDArray[Any], shifts: NDArray[Any]) -> NDArray[np.int64]:
    shift = shifts.astype(np.int64)
    return np.asarray((sums + bias + (1 << (shift - 1))) >> shift)


def _pooled(x: NDArray[np.int64]) -> NDArray[np.int64]:
    area = x.shape[0] * x.shape[1]
    means = (x.sum((0, 1)) + area // 2) // area
    return np.concatenate([means, x.max((0, 1))])


def _convolved(x: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    side, _, c = x.shape
    edged = np.zeros((side + 2, side + 2, c), np.int64)
    edged[1:-1, 1:-1] = x
    around = [edged[dy : dy + side, dx : dx + side] for dy in range(3) for dx in range(3)]
    return np.concatenate(around, axis=2) @ rows.T


class ExpectedSight:
    """What a network sees of a position, step by step."""

    def __init__(self, network: Convolution, position: Position) -> None:
        size = network.size
        self._size = size
        self._n: dict[str, Any] = {
            name: array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
            for name, array in network.numbers.items()
        }
        n = self._n
        packed = _core.network_inputs(network.game, [position])
        inputs = np.unpackbits(packed, axis=1, bitorder="little")[0].astype(np.int64)
        on_board = size.planes * size.side**2
        planes = inputs[:on_board].reshape(size.planes, size.side, size.side).transpose(1, 2, 0)
        rows = n["stem"].transpose(2, 1, 0).reshape(size.channels, -1)
        rest = inputs[on_board : on_board + size.globals]
        x = _convolved(planes, rows) + rest @ n["globals"] + n["stem_bias"]
        x = x.clip(0, MOST)
        for i in range(size.blocks):
            sums = _convolved(x, n["first"][i])
            h = _scaled(sums, n["first_bias"][i], n["first_shifts"][i]).clip(0, MOST)
            squeezed = _scaled(
                n["squeeze"][i] @ _pooled(h), n["squeeze_bias"][i], n["squeeze_shifts"][i]
            )
            sums = _convolved(h, n["second"][i])
            x = x + _scaled(sums, n["second_bias"][i], n["second_shifts"][i]) + squeezed
            x = x.clip(0, MOST)
        self._seen = x

    def logit(self) -> float:
        """Of the mover's expected result."""
        n = self._n
        units = _scaled(n["value"] @ _pooled(self._seen), n["value_bias"], n["value_shifts"])
        return float(units.clip(0, MOST) @ n["value_out"] / STEPS + n["constants"][0])

    def move_logits(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of moves that lie at places, or nowhere."""
        n = self._n
        by_pass = n["pass"] @ _pooled(self._seen) * n["constants"][2] + n["constants"][1]
        points = self._seen.reshape(-1, self._size.channels)
        planes = n["moves"] @ points.T * n["constants"][2] + n["move_bias"][:, None]
        return np.asarray(np.where(places < 0, by_pass, planes.reshape(-1)[places.clip(0)]))
