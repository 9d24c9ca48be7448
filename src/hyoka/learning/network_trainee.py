# SPDX-License-Identifier: Apache-2.0
"""Networks while they are learned, whatever their shape: examples, settings, losses."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import Error, ParameterError
from hyoka.models.networks import Convolution, Network

Tensor = Any
"""PyTorch's; it need not be installed."""
_MOST_LOGIT: Final = 12.0


@dataclass(frozen=True, eq=False)
class Examples:
    """Positions as a network sees them, and what it is to say; those with moves come first."""

    game: str
    inputs: NDArray[np.uint8]
    """By position, a bit an input."""
    values: NDArray[np.float32]
    """By position: the expected result of whoever is to move, 0 to 1."""
    legal: NDArray[np.uint8]
    """By position with moves: a bit a code."""
    offsets: NDArray[np.int64]
    """Position i's moves are those from offsets[i] to offsets[i + 1]."""
    moves: NDArray[np.uint16]
    """Codes as the mover sees them."""
    shares: NDArray[np.float32]
    """By move: how much of the search, or of the records, chose it; a position's sum to 1."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def with_moves(self) -> int:
        """How many positions have moves."""
        return len(self.legal)


@dataclass(frozen=True)
class NetworkSettings:
    """How large a network is, and how it is learned."""

    width: int = 256
    value_units: int = 32
    policy_units: int = 64
    blocks: int = 0
    """Of two convolutions each; 0: one layer over all inputs, `width` wide."""
    channels: int = 32
    """Of the convolutions."""
    epochs: int = 8
    batch: int = 1024
    rate: float = 1e-3
    """Of Adam; it falls to a hundredth along half a cosine."""
    decay: float = 1e-6
    """How much weights shrink, as a share of the rate."""
    policy_weight: float = 1.0
    """What the loss of moves counts beside that of values."""
    seed: int = 0
    device: str = "cpu"
    """`cuda` where PyTorch has one."""

    def __post_init__(self) -> None:
        for name, low in {"epochs": 1, "batch": 2}.items():
            if getattr(self, name) < low:
                raise ParameterError(name, f"is at least {low}, not {getattr(self, name)}")
        for name in ("rate",):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(name, f"is a positive number, not {getattr(self, name)}")


@dataclass(frozen=True)
class EpochReport:
    """How well a network did after an epoch, on positions that it does not learn from, if any."""

    epoch: int
    value_loss: float
    """Cross-entropy of values, in nats, on the positions learned from."""
    policy_loss: float
    held_value_loss: float = math.nan
    held_value_error: float = math.nan
    """The mean squared error of values."""
    held_policy_loss: float = math.nan
    held_first: float = math.nan
    """How often the move that was chosen most comes first."""


def torch_or_raise() -> Any:
    """PyTorch; a clear word where it isn't installed."""
    try:
        import torch  # noqa: PLC0415 - it takes seconds, and only learning needs it
    except ImportError:
        raise Error("networks are learned with PyTorch: pip install 'hyoka[learn]'") from None
    return torch


def check_device(device: str) -> None:
    """Raise ParameterError if PyTorch can't work there."""
    torch = torch_or_raise()
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = (str(error).splitlines() or ["PyTorch has none"])[0]
        raise ParameterError("device", f"{device!r} is not there: {why}") from None


def batches(
    count: int, batch: int, rng: np.random.Generator | None = None
) -> Iterator[NDArray[np.int64]]:
    """Numbers of examples, some at a time, in their order or shuffled."""
    order = np.arange(count) if rng is None else rng.permutation(count)
    for begin in range(0, count, batch):
        yield order[begin : begin + batch]


class Tables:
    """Examples where PyTorch works with them."""

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
        """Bytes as zeros and ones."""
        spread = (packed.unsqueeze(-1) >> self._bits) & 1
        return spread.reshape(len(packed), -1)[:, :count]

    def targets(self, rows: NDArray[np.int64]) -> Tensor:
        """What share each code has, a row a position."""
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
    """A network while it is learned: its weights are PyTorch's."""

    weights: dict[str, Tensor]
    judges_moves: bool

    @abstractmethod
    def seen(self, inputs: Tensor) -> Tensor:
        """What the heads judge by, a row a position; `inputs` has a 0 or 1 an input."""

    @abstractmethod
    def logits(self, seen: Tensor) -> Tensor:
        """Of the mover's expected result."""

    @abstractmethod
    def move_logits(self, seen: Tensor, legal: Tensor) -> Tensor:
        """Of the strengths of all codes of moves; none for those not legal."""

    @abstractmethod
    def keep_small(self, decay: float) -> None:
        """Shrink weights a little, and keep them within what whole numbers can hold."""

    @abstractmethod
    def network(self) -> Network | Convolution:
        """As the compiled core takes it: in whole numbers."""

    def parameters(self) -> list[Tensor]:
        """What is learned."""
        return list(self.weights.values())

    def losses(
        self, tables: Tables, rows: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor, tuple[int, int]]:
        """The sums of the losses of values and of moves, and how many positions each is over."""
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
        """The report with what the network says of positions that it does not learn from."""
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
