# SPDX-License-Identifier: Apache-2.0
"""Networks in training, for all architectures: examples, settings, losses."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import Error, ParameterError
from hyoka.foundation.options import check_options, option
from hyoka.models.networks import Convolution, Network

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

    width: int = option(256, "Units of the first layer, a multiple of 64.", min=64, max=1024)
    value_units: int = option(32, "Hidden units of the value head.", min=1, max=256)
    policy_units: int = option(64, "Hidden units of the policy head; 0: none.", min=0, max=256)
    blocks: int = option(
        0, "Residual blocks of two convolutions each; 0: one dense layer.", min=0, max=20
    )
    channels: int = option(32, "Channels of the convolutions, a multiple of 16.", min=16, max=128)
    epochs: int = option(8, "Passes over the training positions.", min=1)
    batch: int = option(1024, "Positions per step.", min=2)
    rate: float = option(1e-3, "Adam's learning rate, reduced to a hundredth.", min=1e-9)
    decay: float = 1e-6
    """Weight decay, as a share of the rate."""
    policy_weight: float = 1.0
    """Weight of the policy loss relative to the value loss."""
    seed: int = option(0, "Seed of games, initial weights and order.", min=0)
    device: str = option("cpu", "PyTorch device, such as cpu or cuda.")

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class EpochReport:
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
        found = torch.zeros(len(rows), self.codes, device=self.device)
        index = np.repeat(np.arange(len(rows)), lengths)
        found[
            torch.from_numpy(index).to(self.device),
            torch.from_numpy(self.moves[places].astype(np.int64)).to(self.device),
        ] = torch.from_numpy(self.shares[places]).to(self.device)
        return found


class Trainee(ABC):
    """A network in training, with PyTorch weights."""

    weights: dict[str, Tensor]
    judges_moves: bool

    @abstractmethod
    def seen(self, inputs: Tensor) -> Tensor:
        """Hidden features for the heads, one row per position; `inputs` are 0 or 1."""

    @abstractmethod
    def logits(self, seen: Tensor) -> Tensor:
        """Logits of the mover's expected result."""

    @abstractmethod
    def move_logits(self, seen: Tensor, legal: Tensor) -> Tensor:
        """Logits of all move codes; illegal moves are masked."""

    @abstractmethod
    def keep_small(self, decay: float) -> None:
        """Apply weight decay and clip weights to the quantized range."""

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
        if not (len(judged) and self.judges_moves):
            return value_loss, torch.zeros((), device=tables.device), (len(rows), 0)
        legal = tables.bits(tables.legal[index[: len(judged)]], tables.codes)
        chances = torch.log_softmax(self.move_logits(seen[: len(judged)], legal), dim=1)
        policy_loss = -(tables.targets(judged) * chances.clamp(min=-50)).sum()
        return value_loss, policy_loss, (len(rows), len(judged))

    def judged(self, tables: Tables, batch: int, report: EpochReport) -> EpochReport:
        """Return the report with metrics on held-out positions added."""
        torch = torch_or_raise()
        sums = np.zeros(6)
        with torch.no_grad():
            for rows in batches(len(tables.values), batch):
                value_loss, policy_loss, counts = self.losses(tables, rows)
                index = torch.from_numpy(rows).to(tables.device)
                seen = self.seen(tables.bits(tables.inputs[index], tables.input_count).float())
                found = torch.sigmoid(self.logits(seen))
                error = ((found - tables.values[index]) ** 2).sum()
                first = 0.0
                judged = rows[rows < tables.with_moves]
                if counts[1]:
                    legal = tables.bits(tables.legal[index[: len(judged)]], tables.codes)
                    best = self.move_logits(seen[: len(judged)], legal).argmax(1)
                    first = float((tables.targets(judged).argmax(1) == best).sum())
                sums += [float(value_loss), float(policy_loss), *counts, float(error), first]
        return EpochReport(
            report.epoch,
            report.value_loss,
            report.policy_loss,
            sums[0] / max(sums[2], 1),
            sums[4] / max(sums[2], 1),
            sums[1] / sums[3] if sums[3] else math.nan,
            sums[5] / sums[3] if sums[3] else math.nan,
        )
