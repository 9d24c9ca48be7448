# SPDX-License-Identifier: Apache-2.0
"""Training of networks in PyTorch, dense and convolutional, and their quantization."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import Error, ParameterError
from hyoka.foundation.options import check_options, option
from hyoka.models.networks import (
    LEAST_SHIFT,
    MOST,
    MOST_SHIFT,
    SIGHT_STEPS,
    STEPS,
    SUM_STEPS,
    TAPS,
    WEIGHT_STEPS,
    Convolution,
    ConvolutionSize,
    Network,
    NetworkSize,
)

Tensor = Any
"""A PyTorch tensor; PyTorch need not be installed."""
_MOST_LOGIT: Final = 12.0


@dataclass(frozen=True, eq=False)
class Examples:
    """Training examples: inputs and targets; positions with moves come first."""

    game: str
    inputs: NDArray[np.uint8]
    """By position, one bit per input."""
    values: NDArray[np.float32]
    """Expected result for the mover, 0 to 1, by position."""
    legal: NDArray[np.uint8]
    """By position with moves: one bit per move code."""
    offsets: NDArray[np.int64]
    """Position i's moves are those from offsets[i] to offsets[i + 1]."""
    moves: NDArray[np.uint16]
    """Move codes from the mover's view."""
    shares: NDArray[np.float32]
    """By move: its share of the search visits or records; a position's shares sum to 1."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def with_moves(self) -> int:
        """Number of positions with moves."""
        return len(self.legal)


@dataclass(frozen=True)
class NetworkSettings:
    """Network size and training settings."""

    width: int = option(
        256, "Units of the first layer, a multiple of 64.", name="units", min=64, max=1024
    )
    value_units: int = option(32, "Hidden units of the value head.", min=1, max=256)
    policy_units: int = option(64, "Hidden units of the policy head; 0: none.", min=0, max=256)
    blocks: int = option(
        0, "Number of residual blocks of two convolutions; 0: one dense layer.", min=0, max=20
    )
    channels: int = option(
        32, "Number of channels of the convolutions, a multiple of 16.", min=16, max=128
    )
    epochs: int = option(8, "Maximum number of passes over the training positions.", min=1)
    batch: int = option(1024, "Positions per step.", min=2)
    rate: float = option(
        1e-3, "Learning rate of Adam, reduced to a hundredth during training.", min=1e-9
    )
    decay: float = 1e-6
    """Weight decay, as a share of the rate."""
    policy_weight: float = 1.0
    """Weight of the policy loss relative to the value loss."""
    seed: int = option(0, "Seed of games, initial weights and order.", min=0)
    device: str = option("cpu", "PyTorch device, such as cpu or cuda.")

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class EpochMetrics:
    """Metrics after an epoch, on held-out positions if there are any."""

    epoch: int
    value_loss: float
    """Cross-entropy of values in nats, on the training positions."""
    policy_loss: float
    held_value_loss: float = math.nan
    held_value_error: float = math.nan
    """Mean squared error of values."""
    held_policy_loss: float = math.nan
    held_first: float = math.nan
    """Share of positions where the most chosen move ranks first."""


def torch_or_raise() -> Any:
    """Import PyTorch; raise Error if it isn't installed."""
    try:
        import torch  # noqa: PLC0415 - takes seconds, and only training needs it
    except ImportError:
        raise Error("networks are learned with PyTorch: pip install 'hyoka[learn]'") from None
    return torch


def check_device(device: str) -> None:
    """Raise ParameterError if PyTorch can't use the device."""
    torch = torch_or_raise()
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = (str(error).splitlines() or ["PyTorch has none"])[0]
        raise ParameterError("device", f"{device!r} is not there: {why}") from None


def batches(
    count: int, batch: int, rng: np.random.Generator | None = None
) -> Iterator[NDArray[np.int64]]:
    """Yield batches of example indices, in order or shuffled."""
    order = np.arange(count) if rng is None else rng.permutation(count)
    for begin in range(0, count, batch):
        yield order[begin : begin + batch]


class Tables:
    """Examples as tensors on the training device."""

    def __init__(self, examples: Examples, device: str) -> None:
        torch = torch_or_raise()
        self.device = device
        self.codes = _core.network_size(examples.game)[1]
        self.input_count = _core.network_size(examples.game)[0]
        self.inputs = torch.from_numpy(examples.inputs).to(device)
        self.values = torch.from_numpy(examples.values).to(device)
        self.legal = torch.from_numpy(examples.legal).to(device)
        self.offsets = examples.offsets
        self.moves = examples.moves
        self.shares = examples.shares
        self.with_moves = examples.with_moves
        self._bits = torch.arange(8, dtype=torch.uint8, device=device)

    def bits(self, packed: Tensor, count: int) -> Tensor:
        """Unpack bytes to zeros and ones."""
        spread = (packed.unsqueeze(-1) >> self._bits) & 1
        return spread.reshape(len(packed), -1)[:, :count]

    def targets(self, rows: NDArray[np.int64]) -> Tensor:
        """Target share of each move code, one row per position."""
        torch = torch_or_raise()
        begins, ends = self.offsets[rows], self.offsets[rows + 1]
        lengths = ends - begins
        places = np.repeat(begins - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        places += np.arange(len(places))
        targets = torch.zeros(len(rows), self.codes, device=self.device)
        index = np.repeat(np.arange(len(rows)), lengths)
        targets[
            torch.from_numpy(index).to(self.device),
            torch.from_numpy(self.moves[places].astype(np.int64)).to(self.device),
        ] = torch.from_numpy(self.shares[places]).to(self.device)
        return targets


class Trainee(ABC):
    """A network in training, with PyTorch weights."""

    weights: dict[str, Tensor]
    bounds: ClassVar[Mapping[str, float]]
    """Bounds of weights, in absolute value, that keep quantized sums from overflowing."""
    has_policy: bool

    @abstractmethod
    def seen(self, inputs: Tensor) -> Tensor:
        """Hidden features for the heads, one row per position; `inputs` are 0 or 1."""

    @abstractmethod
    def logits(self, seen: Tensor) -> Tensor:
        """Logits of the mover's expected result."""

    @abstractmethod
    def move_logits(self, seen: Tensor, legal: Tensor) -> Tensor:
        """Logits of all move codes; illegal moves are masked."""

    def keep_small(self, decay: float) -> None:
        """Apply weight decay and clip weights to the quantized range."""
        with torch_or_raise().no_grad():
            for name, tensor in self.weights.items():
                if "bias" in name:
                    continue
                tensor.mul_(1 - decay)
                if name in self.bounds:
                    tensor.clamp_(-self.bounds[name], self.bounds[name])

    @abstractmethod
    def network(self) -> Network | Convolution:
        """Quantized network for the core."""

    def parameters(self) -> list[Tensor]:
        """Trainable parameters."""
        return list(self.weights.values())

    def losses(
        self, tables: Tables, rows: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor, tuple[int, int]]:
        """Sums of the value and policy losses, with the number of positions of each."""
        torch = torch_or_raise()
        rows = np.sort(rows)
        index = torch.from_numpy(rows).to(tables.device)
        seen = self.seen(tables.bits(tables.inputs[index], tables.input_count).float())
        logits = self.logits(seen)
        value_loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits.clamp(-_MOST_LOGIT, _MOST_LOGIT), tables.values[index], reduction="sum"
        )
        judged = rows[rows < tables.with_moves]
        if not (len(judged) and self.has_policy):
            return value_loss, torch.zeros((), device=tables.device), (len(rows), 0)
        legal = tables.bits(tables.legal[index[: len(judged)]], tables.codes)
        chances = torch.log_softmax(self.move_logits(seen[: len(judged)], legal), dim=1)
        policy_loss = -(tables.targets(judged) * chances.clamp(min=-50)).sum()
        return value_loss, policy_loss, (len(rows), len(judged))

    def judged(self, tables: Tables, batch: int, metrics: EpochMetrics) -> EpochMetrics:
        """Return the metrics with those on held-out positions added."""
        torch = torch_or_raise()
        sums = np.zeros(6)
        with torch.no_grad():
            for rows in batches(len(tables.values), batch):
                value_loss, policy_loss, counts = self.losses(tables, rows)
                index = torch.from_numpy(rows).to(tables.device)
                seen = self.seen(tables.bits(tables.inputs[index], tables.input_count).float())
                values = torch.sigmoid(self.logits(seen))
                error = ((values - tables.values[index]) ** 2).sum()
                first = 0.0
                judged = rows[rows < tables.with_moves]
                if counts[1]:
                    legal = tables.bits(tables.legal[index[: len(judged)]], tables.codes)
                    best = self.move_logits(seen[: len(judged)], legal).argmax(1)
                    first = float((tables.targets(judged).argmax(1) == best).sum())
                sums += [float(value_loss), float(policy_loss), *counts, float(error), first]
        return EpochMetrics(
            metrics.epoch,
            metrics.value_loss,
            metrics.policy_loss,
            sums[0] / max(sums[2], 1),
            sums[4] / max(sums[2], 1),
            sums[1] / sums[3] if sums[3] else math.nan,
            sums[5] / sums[3] if sums[3] else math.nan,
        )


_MOST_ACTIVATION: Final = MOST / STEPS
_LARGEST_SUM: Final = 2**31 - 1
_LARGEST_16: Final = 2**15 - 1


class ConvolutionTrainee(Trainee):
    """A residual convolutional network; see `core/network/convolution.h` for the formula."""

    has_policy = True
    bounds: ClassVar = {"stem": 2.0, "globals": 1.0}

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
        # Residual blocks start near zero, so deep networks train without normalization.
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
        """Load the weights of a network of the same size."""
        if start.game != self._game or start.size != self.size:
            raise ParameterError("start", "is of another game or another size")
        for name, array in floats_of(start).items():
            device = self.weights[name].device
            self.weights[name] = self._torch.from_numpy(array.copy()).to(device)

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
        """Logits of the mover's expected result."""
        w = self.weights
        hidden = (self._pooled(seen) @ w["value"].T + w["value_bias"]).clamp(0, _MOST_ACTIVATION)
        return hidden @ w["value_out"] + w["value_out_bias"]

    def move_logits(self, seen: Tensor, legal: Tensor) -> Tensor:
        """Logits of all move codes."""
        w = self.weights
        points = seen.flatten(2)
        on_board = self._torch.einsum("pc,bcs->bps", w["moves"], points)
        on_board = (on_board + w["move_bias"][:, None]).flatten(1)
        passes = self._pooled(seen) @ w["pass"] + w["pass_bias"]
        logits = self._torch.where(self._is_pass, passes[:, None], on_board[:, self._places])
        return logits.masked_fill(legal == 0, -1e9)

    def network(self) -> Convolution:
        """Quantized network for the core."""
        w = {name: tensor.detach().cpu().numpy() for name, tensor in self.weights.items()}
        return quantize(self._game, self.size, w)


def quantize(
    game: str, size: ConvolutionSize, floats: dict[str, NDArray[np.float32]]
) -> Convolution:
    """Quantize the weights of a network for the core."""
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
        numbers[name], numbers[f"{name}_bias"], numbers[f"{name}_shifts"] = _quantized_rows(
            rows, bias
        )
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
    """The inverse of `quantize`, up to rounding."""
    size, numbers = network.size, network.numbers
    c = size.channels
    stem = numbers["stem"].astype(np.float32) / STEPS
    floats: dict[str, NDArray[Any]] = {
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
    floats |= {"value": rows["value"], "value_bias": biases["value"]}
    for i in range(size.blocks):
        for name in ("first", "second"):
            by_tap = rows[name][i].reshape(c, 3, 3, c)
            floats[f"{name}.{i}"] = by_tap.transpose(0, 3, 1, 2)
            floats[f"{name}_bias.{i}"] = biases[name][i]
        floats[f"squeeze.{i}"] = rows["squeeze"][i]
    return {name: np.ascontiguousarray(array, np.float32) for name, array in floats.items()}


def _by_tap(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Flatten the last two axes."""
    return weights.reshape(*weights.shape[:-2], TAPS)


def _rows(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """One row per output: all inputs at the first tap, then at the next."""
    blocks, c = weights.shape[:2]
    return _by_tap(weights).transpose(0, 1, 3, 2).reshape(blocks, c, -1)


def _in_16(weights: NDArray[np.float32], steps: int) -> NDArray[np.int16]:
    steps_of = np.rint(np.clip(weights * steps, -_LARGEST_16, _LARGEST_16)).astype("<i2")
    return np.ascontiguousarray(steps_of)


def _quantized_rows(
    rows: NDArray[np.float32], bias: NDArray[np.float32]
) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.uint8]]:
    """Quantize rows with the finest steps that keep their sums within 32 bits."""
    rows, bias = rows.astype(np.float64), bias.astype(np.float64)
    shifts = np.full(bias.shape, MOST_SHIFT)
    room = _LARGEST_SUM - 2**22  # margin for rounding
    for shift in range(MOST_SHIFT, LEAST_SHIFT, -1):
        steps = 2.0**shift
        widest = np.abs(rows).max(-1) * steps
        sums = np.abs(rows).sum(-1) * steps * MOST + np.abs(bias) * steps * STEPS
        shifts = np.where((widest > _LARGEST_16) | (sums > room), shift - 1, shifts)
        # Keep the first shift that fits, since finer ones were tried before.
        shifts = np.maximum(shifts, LEAST_SHIFT)
    by_row = 2.0**shifts
    weights = np.clip(np.rint(rows * by_row[..., None]), -_LARGEST_16, _LARGEST_16)
    quantized_bias = np.clip(np.rint(bias * by_row * STEPS), -(2**30), 2**30)
    return weights.astype("<i2"), quantized_bias.astype("<i4"), shifts.astype("|u1")


_LARGEST_WEIGHT: Final = 1.98

Draw = Callable[[int], Examples]
"""Returns the examples of an epoch by its number, for example with random symmetries."""


@dataclass
class LearnedNetwork:
    """A trained network with the metrics of each epoch."""

    network: Network | Convolution
    epochs: list[EpochMetrics] = field(default_factory=list)


def check_size(game: str, settings: NetworkSettings) -> None:
    """Raise NotationError for an impossible network size."""
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
    tell: Callable[[EpochMetrics], None] | None = None,
) -> LearnedNetwork:
    """Train a network on examples, or continue training `start`.

    On the CPU, the same examples, settings and number of threads give the same network; on a GPU,
    deterministic operations are requested.
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
    optimizer = torch.optim.Adam(floats.parameters(), lr=settings.rate)
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
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * share
            step += 1
            value_loss, policy_loss, counts = floats.losses(tables, rows)
            loss = value_loss / counts[0]
            if counts[1]:
                loss = loss + settings.policy_weight * policy_loss / counts[1]
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            floats.keep_small(settings.rate * share * settings.decay)
            sums += [float(value_loss.detach()), float(policy_loss.detach()), *counts]
        metrics = EpochMetrics(epoch + 1, sums[0] / sums[2], sums[1] / max(sums[3], 1))
        if held_out is not None:
            metrics = floats.judged(Tables(held_out, settings.device), settings.batch, metrics)
        learned.epochs.append(metrics)
        if tell is not None:
            tell(metrics)
    learned.network = floats.network()
    return learned


class _FlatTrainee(Trainee):
    """A dense network: one layer over all inputs, with heads."""

    bounds: ClassVar = dict.fromkeys(("first", "value", "policy"), _LARGEST_WEIGHT)

    def __init__(
        self, game: str, size: NetworkSize, settings: NetworkSettings, start: Network | None
    ) -> None:
        torch = torch_or_raise()
        self._torch = torch
        self._game = game
        self._size = size
        self.has_policy = size.policy_units > 0
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
        """Load the weights of a network of the same size."""
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
        """Features of each move code, with those it shares with other codes."""
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
    """Concatenate examples; those with moves come first."""

    def both(name: str) -> NDArray[Any]:
        arrays = [(getattr(part, name), part.with_moves) for part in parts]
        return np.concatenate([a[:n] for a, n in arrays] + [a[n:] for a, n in arrays])

    offsets = [np.diff(part.offsets)[: part.with_moves] for part in parts]
    return Examples(
        parts[0].game,
        both("inputs"),
        both("values"),
        np.concatenate([part.legal for part in parts]),
        np.concatenate([[0], np.cumsum(np.concatenate(offsets))]).astype(np.int64),
        np.concatenate([part.moves for part in parts]),
        np.concatenate([part.shares for part in parts]),
    )
