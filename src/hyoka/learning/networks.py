# SPDX-License-Identifier: Apache-2.0
"""Networks learned from games: PyTorch trains them, the compiled core uses them without it.

A position's value is to be the game's result, blended with what the search thought of it; moves are
to be as strong as the search visited them, or as the record played them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import Error, ParameterError
from hyoka.search.networks import SIGHT_STEPS, SUM_STEPS, WEIGHT_STEPS, Network, NetworkSize

Tensor = Any
"""PyTorch's; it need not be installed."""
_LARGEST_WEIGHT: Final = 1.98
"""Weights stay within this while they are learned: sums of whole numbers then can't run over."""
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


Draw = Callable[[int], Examples]
"""The examples of an epoch, by its number: boards may be turned another way each time."""


@dataclass(frozen=True)
class NetworkSettings:
    """How large a network is, and how it is learned."""

    width: int = 256
    value_units: int = 32
    policy_units: int = 64
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


@dataclass
class LearnedNetwork:
    """A network, and how it came to be."""

    network: Network
    reports: list[EpochReport] = field(default_factory=list)


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


def learn_network(
    draw: Draw,
    *,
    held_out: Examples | None = None,
    settings: NetworkSettings | None = None,
    start: Network | None = None,
    tell: Callable[[EpochReport], None] | None = None,
) -> LearnedNetwork:
    """A network learned from examples, or one that goes on learning from `start`.

    The same examples, settings and number of threads give the same network.
    """
    torch = torch_or_raise()
    settings = settings or NetworkSettings()
    check_device(settings.device)
    torch.manual_seed(settings.seed)
    examples = draw(0)
    if not len(examples):
        raise Error("there are no positions to learn from")
    size = NetworkSize.of_game(
        examples.game, settings.width, settings.value_units, settings.policy_units
    )
    floats = _Floats(examples.game, size, settings, start)
    optimiser = torch.optim.Adam(floats.parameters(), lr=settings.rate)
    steps = settings.epochs * math.ceil(len(examples) / settings.batch)
    step = 0
    learned = LearnedNetwork(floats.network())
    rng = np.random.default_rng(settings.seed)
    for epoch in range(settings.epochs):
        if epoch > 0:
            examples = draw(epoch)
        tables = _Tables(examples, settings.device)
        sums = np.zeros(4)
        for rows in _batches(len(examples), settings.batch, rng):
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
            report = floats.judged(_Tables(held_out, settings.device), settings.batch, report)
        learned.reports.append(report)
        if tell is not None:
            tell(report)
    learned.network = floats.network()
    return learned


def _batches(
    count: int, batch: int, rng: np.random.Generator | None = None
) -> Iterator[NDArray[np.int64]]:
    order = np.arange(count) if rng is None else rng.permutation(count)
    for begin in range(0, count, batch):
        yield order[begin : begin + batch]


class _Tables:
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


class _Floats:
    """A network while it is learned."""

    def __init__(
        self, game: str, size: NetworkSize, settings: NetworkSettings, start: Network | None
    ) -> None:
        torch = torch_or_raise()
        self._torch = torch
        self._game = game
        self._size = size
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

    def parameters(self) -> list[Tensor]:
        return list(self.weights.values())

    def keep_small(self, decay: float) -> None:
        """Shrink weights a little, and keep them within what whole numbers can hold."""
        with self._torch.no_grad():
            for name, tensor in self.weights.items():
                if name.endswith("bias"):
                    continue
                tensor.mul_(1 - decay)
                if name in ("first", "value", "policy"):
                    tensor.clamp_(-_LARGEST_WEIGHT, _LARGEST_WEIGHT)

    def _units(self, inputs: Tensor) -> Tensor:
        sums = inputs @ self.weights["first"] + self.weights["first_bias"]
        clamped = sums.clamp(0, 1) ** 2
        return clamped

    def _logits(self, units: Tensor) -> Tensor:
        w = self.weights
        hidden = (units @ w["value"].T + w["value_bias"]).clamp(0, 1)
        logits = hidden @ w["value_out"] + w["value_out_bias"]
        return logits

    def _all_moves(self) -> tuple[Tensor, Tensor]:
        """What each code is judged by, with what it has in common with others."""
        moves, bias = self.weights["moves"], self.weights["move_bias"]
        if self._parts is not None:
            moves = moves + self._parts @ self.weights["part_moves"]
            bias = bias + (self._parts @ self.weights["part_bias"])[:, 0]
        return moves, bias

    def _move_logits(self, units: Tensor, legal: Tensor) -> Tensor:
        w = self.weights
        sight = (units @ w["policy"].T + w["policy_bias"]).clamp(0, 1)
        moves, bias = self._all_moves()
        logits = (sight @ moves.T + bias).masked_fill(legal == 0, -1e9)
        return logits

    def losses(
        self, tables: _Tables, rows: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor, tuple[int, int]]:
        """The sums of the losses of values and of moves, and how many positions each is over."""
        torch = self._torch
        rows = np.sort(rows)
        index = torch.from_numpy(rows).to(tables.device)
        units = self._units(tables.bits(tables.inputs[index], tables.input_count).float())
        logits = self._logits(units)
        value_loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits.clamp(-_MOST_LOGIT, _MOST_LOGIT), tables.values[index], reduction="sum"
        )
        judged = rows[rows < tables.with_moves]
        if not (len(judged) and self._size.policy_units):
            return value_loss, torch.zeros((), device=tables.device), (len(rows), 0)
        legal = tables.bits(tables.legal[index[: len(judged)]], tables.codes)
        chances = torch.log_softmax(self._move_logits(units[: len(judged)], legal), dim=1)
        policy_loss = -(tables.targets(judged) * chances.clamp(min=-50)).sum()
        return value_loss, policy_loss, (len(rows), len(judged))

    def judged(self, tables: _Tables, batch: int, report: EpochReport) -> EpochReport:
        """The report with what the network says of positions that it does not learn from."""
        torch = self._torch
        sums = np.zeros(6)
        with torch.no_grad():
            for rows in _batches(len(tables.values), batch):
                value_loss, policy_loss, counts = self.losses(tables, rows)
                index = torch.from_numpy(rows).to(tables.device)
                units = self._units(tables.bits(tables.inputs[index], tables.input_count).float())
                found = torch.sigmoid(self._logits(units))
                error = ((found - tables.values[index]) ** 2).sum()
                first = 0.0
                judged = rows[rows < tables.with_moves]
                if counts[1]:
                    legal = tables.bits(tables.legal[index[: len(judged)]], tables.codes)
                    best = self._move_logits(units[: len(judged)], legal).argmax(1)
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

    def network(self) -> Network:
        """As the compiled core takes it: in whole numbers."""
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
