# SPDX-License-Identifier: Apache-2.0
"""Networks learned from games: PyTorch trains them, the compiled core uses them without it.

A position's value is to be the game's result, blended with what the search thought of it; moves are
to be as strong as the search visited them, or as the record played them.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import Error, ParameterError
from hyoka.learning.convolutions import ConvolutionTrainee
from hyoka.learning.trainees import (
    EpochReport,
    Examples,
    NetworkSettings,
    Tables,
    Tensor,
    Trainee,
    batches,
    check_device,
    torch_or_raise,
)
from hyoka.search.convolutions import Convolution, ConvolutionSize
from hyoka.search.networks import SIGHT_STEPS, SUM_STEPS, WEIGHT_STEPS, Network, NetworkSize

__all__ = [
    "Draw",
    "EpochReport",
    "Examples",
    "LearnedNetwork",
    "NetworkSettings",
    "check_device",
    "check_size",
    "joined",
    "learn_network",
    "torch_or_raise",
]

_LARGEST_WEIGHT: Final = 1.98
"""Weights stay within this while they are learned: sums of whole numbers then can't run over."""

Draw = Callable[[int], Examples]
"""The examples of an epoch, by its number: boards may be turned another way each time."""


@dataclass
class LearnedNetwork:
    """A network, and how it came to be."""

    network: Network | Convolution
    reports: list[EpochReport] = field(default_factory=list)


def check_size(game: str, settings: NetworkSettings) -> None:
    """Raise NotationError for a network that can't be."""
    if settings.blocks:
        ConvolutionSize.of_game(game, settings.channels, settings.blocks, settings.value_units)
    else:
        NetworkSize.of_game(game, settings.width, settings.value_units, settings.policy_units)


def _trainee(game: str, settings: NetworkSettings, start: Network | Convolution | None) -> Trainee:
    if settings.blocks:
        if isinstance(start, Network):
            raise ParameterError("start", "is no network of convolutions")
        return ConvolutionTrainee(game, settings, start)
    if isinstance(start, Convolution):
        raise ParameterError("start", "is a network of convolutions")
    size = NetworkSize.of_game(game, settings.width, settings.value_units, settings.policy_units)
    return _FlatTrainee(game, size, settings, start)


def learn_network(
    draw: Draw,
    *,
    held_out: Examples | None = None,
    settings: NetworkSettings | None = None,
    start: Network | Convolution | None = None,
    tell: Callable[[EpochReport], None] | None = None,
) -> LearnedNetwork:
    """A network learned from examples, or one that goes on learning from `start`.

    On the processor the same examples, settings and number of threads give the same network; a GPU
    is asked for operations that do.
    """
    torch = torch_or_raise()
    settings = settings or NetworkSettings()
    check_device(settings.device)
    torch.manual_seed(settings.seed)
    if settings.device != "cpu":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
    examples = draw(0)
    if not len(examples):
        raise Error("there are no positions to learn from")
    floats = _trainee(examples.game, settings, start)
    optimiser = torch.optim.Adam(floats.parameters(), lr=settings.rate)
    steps = settings.epochs * math.ceil(len(examples) / settings.batch)
    step = 0
    learned = LearnedNetwork(floats.network())
    rng = np.random.default_rng(settings.seed)
    for epoch in range(settings.epochs):
        if epoch > 0:
            examples = draw(epoch)
        tables = Tables(examples, settings.device)
        sums = np.zeros(4)
        for rows in batches(len(examples), settings.batch, rng):
            share = 0.01 + 0.99 * (1 + math.cos(math.pi * min(step / steps, 1.0))) / 2
            for group in optimiser.param_groups:
                group["lr"] = settings.rate * share
            step += 1
            value_loss, policy_loss, counts = floats.losses(tables, rows)
            loss = value_loss / counts[0]
            if counts[1]:
                loss = loss + settings.policy_weight * policy_loss / counts[1]
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            floats.keep_small(settings.rate * share * settings.decay)
            sums += [float(value_loss.detach()), float(policy_loss.detach()), *counts]
        report = EpochReport(epoch + 1, sums[0] / sums[2], sums[1] / max(sums[3], 1))
        if held_out is not None:
            report = floats.judged(Tables(held_out, settings.device), settings.batch, report)
        learned.reports.append(report)
        if tell is not None:
            tell(report)
    learned.network = floats.network()
    return learned


class _FlatTrainee(Trainee):
    """One layer over all inputs, and what stands above it."""

    def __init__(
        self, game: str, size: NetworkSize, settings: NetworkSettings, start: Network | None
    ) -> None:
        torch = torch_or_raise()
        self._torch = torch
        self._game = game
        self._size = size
        self.judges_moves = size.policy_units > 0
        self._device = settings.device
        generator = torch.Generator().manual_seed(settings.seed)

        def drawn(*shape: int, spread: float) -> Tensor:
            numbers = torch.randn(*shape, generator=generator) * spread
            return numbers.clamp(-_LARGEST_WEIGHT, _LARGEST_WEIGHT).to(settings.device)

        width = size.width
        self.weights: dict[str, Tensor] = {
            "first": drawn(size.inputs, width, spread=0.06),
            "first_bias": torch.full((width,), 0.3, device=settings.device),
            "value": drawn(size.value_units, width, spread=1.5 / math.sqrt(width)),
            "value_bias": torch.full((size.value_units,), 0.2, device=settings.device),
            "value_out": drawn(size.value_units, spread=0.5),
            "value_out_bias": torch.zeros(1, device=settings.device),
        }
        count, offsets, parts = _core.move_parts(game)
        self._parts: Tensor | None = None
        if size.policy_units:
            self.weights |= {
                "policy": drawn(size.policy_units, width, spread=1.5 / math.sqrt(width)),
                "policy_bias": torch.full((size.policy_units,), 0.2, device=settings.device),
                "moves": drawn(size.codes, size.policy_units, spread=0.02),
                "move_bias": torch.zeros(size.codes, device=settings.device),
            }
            if count:
                has = np.zeros((size.codes, count), np.float32)
                has[np.repeat(np.arange(size.codes), np.diff(offsets)), parts] = 1
                self._parts = torch.from_numpy(has).to(settings.device)
                self.weights["part_moves"] = drawn(count, size.policy_units, spread=0.1)
                self.weights["part_bias"] = torch.zeros(count, 1, device=settings.device)
        if start is not None:
            self._take(start)
        for tensor in self.weights.values():
            tensor.requires_grad_(True)

    def _take(self, start: Network) -> None:
        """Begin with what another network of the same size has learned."""
        if start.game != self._game or start.size != self._size:
            raise ParameterError("start", "is of another game or another size")
        torch, numbers = self._torch, start.numbers
        steps = {"first": SUM_STEPS, "first_bias": SUM_STEPS, "value": WEIGHT_STEPS,
                 "policy": WEIGHT_STEPS}  # fmt: skip
        for name in self.weights:
            if name in ("part_moves", "part_bias"):
                self.weights[name] = torch.zeros_like(self.weights[name])
                continue
            array = numbers[name].astype(np.float32) / steps.get(name, 1)
            if name == "moves":
                array = array * float(numbers["move_scale"][0]) * SIGHT_STEPS
            self.weights[name] = torch.from_numpy(
                array.reshape(tuple(self.weights[name].shape))
            ).to(self._device)

    def keep_small(self, decay: float) -> None:
        with self._torch.no_grad():
            for name, tensor in self.weights.items():
                if name.endswith("bias"):
                    continue
                tensor.mul_(1 - decay)
                if name in ("first", "value", "policy"):
                    tensor.clamp_(-_LARGEST_WEIGHT, _LARGEST_WEIGHT)

    def seen(self, inputs: Tensor) -> Tensor:
        sums = inputs @ self.weights["first"] + self.weights["first_bias"]
        clamped = sums.clamp(0, 1) ** 2
        return clamped

    def logits(self, seen: Tensor) -> Tensor:
        w = self.weights
        hidden = (seen @ w["value"].T + w["value_bias"]).clamp(0, 1)
        logits = hidden @ w["value_out"] + w["value_out_bias"]
        return logits

    def _all_moves(self) -> tuple[Tensor, Tensor]:
        """What each code is judged by, with what it has in common with others."""
        moves, bias = self.weights["moves"], self.weights["move_bias"]
        if self._parts is not None:
            moves = moves + self._parts @ self.weights["part_moves"]
            bias = bias + (self._parts @ self.weights["part_bias"])[:, 0]
        return moves, bias

    def move_logits(self, seen: Tensor, legal: Tensor) -> Tensor:
        w = self.weights
        sight = (seen @ w["policy"].T + w["policy_bias"]).clamp(0, 1)
        moves, bias = self._all_moves()
        logits = (sight @ moves.T + bias).masked_fill(legal == 0, -1e9)
        return logits

    def network(self) -> Network:
        with self._torch.no_grad():
            w = {name: tensor.detach().cpu().numpy() for name, tensor in self.weights.items()}
            if self._size.policy_units:
                moves, bias = (each.detach().cpu().numpy() for each in self._all_moves())
            else:
                w["policy"] = np.zeros((0, self._size.width), np.float32)
                w["policy_bias"] = np.zeros(0, np.float32)
                moves, bias = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
        greatest = max(float(np.abs(moves).max(initial=0)), 1e-6)
        return Network(
            self._game,
            self._size,
            {
                "first": _in_steps(w["first"], SUM_STEPS),
                "first_bias": _in_steps(w["first_bias"], SUM_STEPS),
                "value": _in_steps(w["value"], WEIGHT_STEPS),
                "value_bias": w["value_bias"].astype("<f4"),
                "value_out": w["value_out"].astype("<f4"),
                "value_out_bias": w["value_out_bias"].astype("<f4"),
                "policy": _in_steps(w["policy"], WEIGHT_STEPS),
                "policy_bias": w["policy_bias"].astype("<f4"),
                "moves": np.rint(moves * 127 / greatest).astype("|i1"),
                "move_bias": bias.astype("<f4"),
                "move_scale": np.array([greatest / 127 / SIGHT_STEPS], "<f4"),
            },
        )


def _in_steps(weights: NDArray[np.float32], steps: int) -> NDArray[np.int16]:
    limit = np.iinfo(np.int16).max
    return np.rint(np.clip(weights * steps, -limit, limit)).astype("<i2")


def joined(parts: Sequence[Examples]) -> Examples:
    """Examples of several sources as one: those with moves first."""
    with_moves = [part.with_moves for part in parts]
    offsets = [np.diff(part.offsets)[: part.with_moves] for part in parts]
    return Examples(
        parts[0].game,
        np.concatenate(
            [part.inputs[:n] for part, n in zip(parts, with_moves, strict=True)]
            + [part.inputs[n:] for part, n in zip(parts, with_moves, strict=True)]
        ),
        np.concatenate(
            [part.values[:n] for part, n in zip(parts, with_moves, strict=True)]
            + [part.values[n:] for part, n in zip(parts, with_moves, strict=True)]
        ),
        np.concatenate([part.legal for part in parts]),
        np.concatenate([[0], np.cumsum(np.concatenate(offsets))]).astype(np.int64),
        np.concatenate([part.moves for part in parts]),
        np.concatenate([part.shares for part in parts]),
    )
