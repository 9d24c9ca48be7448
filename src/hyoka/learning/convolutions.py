# SPDX-License-Identifier: Apache-2.0
"""Networks of convolutions while they are learned, and as whole numbers."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import ParameterError
from hyoka.learning.trainees import NetworkSettings, Tensor, Trainee, torch_or_raise
from hyoka.search.convolutions import (
    LEAST_SHIFT,
    MOST,
    MOST_SHIFT,
    STEPS,
    TAPS,
    Convolution,
    ConvolutionSize,
)

_MOST_ACTIVATION: Final = MOST / STEPS
_LARGEST: Final = {"stem": 2.0, "globals": 1.0}
"""Weights of the first layer stay within these: its sums of 16 bits then don't run over."""
_LARGEST_SUM: Final = 2**31 - 1
_LARGEST_16: Final = 2**15 - 1


class ConvolutionTrainee(Trainee):
    """Blocks of convolutions; see `core/network/convolution.h` for the formula."""

    judges_moves = True

    def __init__(self, game: str, settings: NetworkSettings, start: Convolution | None) -> None:
        torch = torch_or_raise()
        self._torch = torch
        self._game = game
        self.size = ConvolutionSize.of_game(
            game, settings.channels, settings.blocks, settings.value_units
        )
        places = torch.from_numpy(_core.board_of(game)[3])
        self._is_pass = (places < 0).to(settings.device)
        self._places = places.clamp(min=0).to(settings.device)
        size, c = self.size, self.size.channels
        generator = torch.Generator().manual_seed(settings.seed)

        def drawn(*shape: int, spread: float) -> Tensor:
            return (torch.randn(*shape, generator=generator) * spread).to(settings.device)

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(*shape, device=settings.device)

        he = math.sqrt(2 / (TAPS * c))
        # A block begins as nearly nothing, so that deep networks learn without being normalised.
        small = 0.2 / math.sqrt(size.blocks)
        self.weights = {
            "stem": drawn(c, size.planes, 3, 3, spread=0.25),
            "globals": drawn(size.globals, c, spread=0.05),
            "stem_bias": torch.full((c,), 0.1, device=settings.device),
            "value": drawn(size.value_units, 2 * c, spread=math.sqrt(1 / c)),
            "value_bias": zeros(size.value_units),
            "value_out": drawn(size.value_units, spread=0.1),
            "value_out_bias": zeros(1),
            "moves": drawn(size.move_planes, c, spread=0.3 / math.sqrt(c)),
            "move_bias": zeros(size.move_planes),
            "pass": drawn(2 * c, spread=0.1 / math.sqrt(c)),
            "pass_bias": zeros(1),
        }
        for i in range(size.blocks):
            self.weights |= {
                f"first.{i}": drawn(c, c, 3, 3, spread=he),
                f"first_bias.{i}": zeros(c),
                f"second.{i}": drawn(c, c, 3, 3, spread=small * he),
                f"second_bias.{i}": zeros(c),
                f"squeeze.{i}": drawn(c, 2 * c, spread=small * math.sqrt(1 / c)),
            }
        if start is not None:
            self._take(start)
        for tensor in self.weights.values():
            tensor.requires_grad_(True)

    def _take(self, start: Convolution) -> None:
        """Begin with what another network of the same size has learned."""
        if start.game != self._game or start.size != self.size:
            raise ParameterError("start", "is of another game or another size")
        for name, array in floats_of(start).items():
            device = self.weights[name].device
            self.weights[name] = self._torch.from_numpy(array.copy()).to(device)

    def keep_small(self, decay: float) -> None:
        """Shrink weights a little, and keep those of the first layer within their bounds."""
        with self._torch.no_grad():
            for name, tensor in self.weights.items():
                if "bias" in name:
                    continue
                tensor.mul_(1 - decay)
                if name in _LARGEST:
                    tensor.clamp_(-_LARGEST[name], _LARGEST[name])

    def _conv(self, x: Tensor, name: str) -> Tensor:
        return self._torch.nn.functional.conv2d(x, self.weights[name], padding=1)

    def seen(self, inputs: Tensor) -> Tensor:
        """Channels at every point."""
        size, w = self.size, self.weights
        on_board = size.planes * size.side**2
        planes = inputs[:, :on_board].reshape(-1, size.planes, size.side, size.side)
        bias = inputs[:, on_board:] @ w["globals"] + w["stem_bias"]
        x = (self._conv(planes, "stem") + bias[:, :, None, None]).clamp(0, _MOST_ACTIVATION)
        for i in range(size.blocks):
            h = self._conv(x, f"first.{i}") + w[f"first_bias.{i}"][:, None, None]
            h = h.clamp(0, _MOST_ACTIVATION)
            more = self._pooled(h) @ w[f"squeeze.{i}"].T + w[f"second_bias.{i}"]
            x = x + self._conv(h, f"second.{i}") + more[:, :, None, None]
            x = x.clamp(0, _MOST_ACTIVATION)
        return x

    def _pooled(self, x: Tensor) -> Tensor:
        return self._torch.cat([x.mean((2, 3)), x.amax((2, 3))], dim=1)

    def logits(self, seen: Tensor) -> Tensor:
        """Of the mover's expected result."""
        w = self.weights
        hidden = (self._pooled(seen) @ w["value"].T + w["value_bias"]).clamp(0, _MOST_ACTIVATION)
        return hidden @ w["value_out"] + w["value_out_bias"]

    def move_logits(self, seen: Tensor, legal: Tensor) -> Tensor:
        """Of the strengths of all codes of moves."""
        w = self.weights
        points = seen.flatten(2)
        on_board = self._torch.einsum("pc,bcs->bps", w["moves"], points)
        on_board = (on_board + w["move_bias"][:, None]).flatten(1)
        passes = self._pooled(seen) @ w["pass"] + w["pass_bias"]
        logits = self._torch.where(self._is_pass, passes[:, None], on_board[:, self._places])
        return logits.masked_fill(legal == 0, -1e9)

    def network(self) -> Convolution:
        """As the compiled core takes it: in whole numbers."""
        w = {name: tensor.detach().cpu().numpy() for name, tensor in self.weights.items()}
        return whole_numbers(self._game, self.size, w)


def whole_numbers(
    game: str, size: ConvolutionSize, floats: dict[str, NDArray[np.float32]]
) -> Convolution:
    """A network as the compiled core takes it, from what was learned."""
    c = size.channels

    def stacked(name: str) -> NDArray[np.float32]:
        return np.stack([floats[f"{name}.{i}"] for i in range(size.blocks)])

    numbers: dict[str, NDArray[Any]] = {
        "stem": _in_16(_by_tap(floats["stem"]).transpose(1, 2, 0), STEPS),
        "globals": _in_16(floats["globals"], STEPS),
        "stem_bias": _in_16(floats["stem_bias"], STEPS),
        "value_out": floats["value_out"].astype("<f4"),
        "move_bias": floats["move_bias"].astype("<f4"),
    }
    zeros = np.zeros((size.blocks, c), np.float32)
    second_bias = stacked("second_bias")
    for name, rows, bias in (
        ("first", _rows(stacked("first")), stacked("first_bias")),
        ("second", _rows(stacked("second")), second_bias),
        ("squeeze", stacked("squeeze"), zeros),
        ("value", floats["value"], floats["value_bias"]),
    ):
        numbers[name], numbers[f"{name}_bias"], numbers[f"{name}_shifts"] = _whole(rows, bias)
    moves, by_pass = floats["moves"], floats["pass"]
    widest = max(float(np.abs(moves).max()), float(np.abs(by_pass).max()), 1e-6)
    heaviest = max(float(np.abs(moves).sum(1).max()), float(np.abs(by_pass).sum()))
    step = max(widest / _LARGEST_16, heaviest * MOST / (_LARGEST_SUM - 2**22))
    numbers["moves"] = np.rint(moves / step).astype("<i2")
    numbers["pass"] = np.rint(by_pass / step).astype("<i2")
    constants = [float(floats["value_out_bias"][0]), float(floats["pass_bias"][0]), step / STEPS]
    numbers["constants"] = np.array(constants, "<f4")
    return Convolution(game, size, {name: numbers[name] for name in size.shapes})


def floats_of(network: Convolution) -> dict[str, NDArray[np.float32]]:
    """What `whole_numbers` makes the network of, up to rounding."""
    size, numbers = network.size, network.numbers
    c = size.channels
    stem = numbers["stem"].astype(np.float32) / STEPS
    found: dict[str, NDArray[Any]] = {
        "stem": stem.transpose(2, 0, 1).reshape(c, size.planes, 3, 3),
        "globals": numbers["globals"] / STEPS,
        "stem_bias": numbers["stem_bias"] / STEPS,
        "value_out": numbers["value_out"],
        "move_bias": numbers["move_bias"],
        "value_out_bias": numbers["constants"][:1],
        "pass_bias": numbers["constants"][1:2],
        "moves": numbers["moves"] * numbers["constants"][2] * STEPS,
        "pass": numbers["pass"] * numbers["constants"][2] * STEPS,
    }
    rows, biases = {}, {}
    for name in ("first", "second", "squeeze", "value"):
        divisor = 2.0 ** numbers[f"{name}_shifts"]
        rows[name] = numbers[name] / divisor[..., None]
        biases[name] = numbers[f"{name}_bias"] / divisor / STEPS
    found |= {"value": rows["value"], "value_bias": biases["value"]}
    for i in range(size.blocks):
        for name in ("first", "second"):
            by_tap = rows[name][i].reshape(c, 3, 3, c)
            found[f"{name}.{i}"] = by_tap.transpose(0, 3, 1, 2)
            found[f"{name}_bias.{i}"] = biases[name][i]
        found[f"squeeze.{i}"] = rows["squeeze"][i]
    return {name: np.ascontiguousarray(array, np.float32) for name, array in found.items()}


def _by_tap(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The last two axes as one."""
    return weights.reshape(*weights.shape[:-2], TAPS)


def _rows(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """A row an output: all inputs at the first tap, then at the next."""
    blocks, c = weights.shape[:2]
    return _by_tap(weights).transpose(0, 1, 3, 2).reshape(blocks, c, -1)


def _in_16(weights: NDArray[np.float32], steps: int) -> NDArray[np.int16]:
    found = np.rint(np.clip(weights * steps, -_LARGEST_16, _LARGEST_16)).astype("<i2")
    return np.ascontiguousarray(found)


def _whole(
    rows: NDArray[np.float32], bias: NDArray[np.float32]
) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.uint8]]:
    """Rows in the finest steps in which their sums stay within 32 bits."""
    rows, bias = rows.astype(np.float64), bias.astype(np.float64)
    shifts = np.full(bias.shape, MOST_SHIFT)
    room = _LARGEST_SUM - 2**22  # for what rounding adds
    for shift in range(MOST_SHIFT, LEAST_SHIFT, -1):
        steps = 2.0**shift
        widest = np.abs(rows).max(-1) * steps
        sums = np.abs(rows).sum(-1) * steps * MOST + np.abs(bias) * steps * STEPS
        shifts = np.where((widest > _LARGEST_16) | (sums > room), shift - 1, shifts)
        # Once it fits, it stays: finer steps were tried before.
        shifts = np.maximum(shifts, LEAST_SHIFT)
    by_row = 2.0**shifts
    weights = np.clip(np.rint(rows * by_row[..., None]), -_LARGEST_16, _LARGEST_16)
    whole_bias = np.clip(np.rint(bias * by_row * STEPS), -(2**30), 2**30)
    return weights.astype("<i2"), whole_bias.astype("<i4"), shifts.astype("|u1")
