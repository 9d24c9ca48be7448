# SPDX-License-Identifier: Apache-2.0
"""Training of Nakamura 2007's per-ply perceptrons on positions evaluated by a search.

Training needs PyTorch (`pip install hyoka[learn]`); using the networks does not.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import Error, StudyError
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import Position
from hyoka.learning.prediction import numbers_held_out
from hyoka.models.ply_perceptrons import (
    MOST_HIDDEN,
    PlyPerceptrons,
    pattern_counts,
    pieces_laid,
    weights_of,
)
from hyoka.parallel import Run, WorkerState
from hyoka.records import Record
from hyoka.storage.model_file import Origin
from hyoka.study import Study
from hyoka.study.sampling import chosen_evaluators

if TYPE_CHECKING:
    import torch

_FLATTEST: Final = 0.5
"""Lower bound of the deviation that counts are divided by, so rare inputs are not inflated."""
_VALIDATING: Final = 10
"""One game in this many validates."""


@dataclass(frozen=True, eq=False)
class LabeledPositions:
    """Positions with win rates from a search: the first player's, 0 to 1."""

    positions: Sequence[Position] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    games: NDArray[np.int64] = field(repr=False)
    """Game numbers; positions of one game share theirs."""

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def of_records(cls, records: Sequence[Record]) -> "LabeledPositions":
        """All positions that the records evaluate.

        A player's comment on a move evaluates the position before the move; any other comment
        evaluates the position after it. Opening moves have no evaluations.
        """
        _check_game(record.game for record in records)
        positions: list[Position] = []
        values: list[float] = []
        games: list[int] = []
        for number, record in enumerate(records):
            comments = {
                remark.ply - (remark.author is not None): remark.value
                for remark in record.remarks
                if remark.value is not None and not remark.book
            }
            for ply, position in enumerate(record.positions()):
                if ply in comments and position.outcome is None:
                    positions.append(position)
                    values.append(comments[ply])
                    games.append(number)
        return cls(positions, np.array(values, np.float64), np.array(games, np.int64))

    @classmethod
    def of_study(
        cls,
        study: Study,
        evaluator: str | None = None,
        *,
        hold_out: float = 0.0,
        held_out: bool = False,
    ) -> "LabeledPositions":
        """An evaluator's values for a study's positions: of training games or held-out games.

        Excludes positions in which the game is over.
        """
        _check_game([study.game])
        names = chosen_evaluators(study, evaluator)
        if len(names) > 1:
            raise StudyError(f"{study.path}: say which evaluator's values: {', '.join(names)}")
        quoted = names[0].replace("'", "''")
        rows = study.sql(
            f"select game_id, ply, value from evaluations where engine = '{quoted}' and failed is "
            "null and value is not null order by game_id, ply"
        )
        games, plies, values = (rows[name].to_numpy() for name in ("game_id", "ply", "value"))
        apart = numbers_held_out(study, hold_out)
        selected = np.isin(games, apart) == held_out
        positions = list(study.game_table_of(games[selected], plies[selected]).positions())
        going_on = np.array([each.outcome is None for each in positions], bool)
        return cls(
            [each for each in positions if each.outcome is None],
            values[selected][going_on].astype(np.float64),
            games[selected][going_on].astype(np.int64),
        )

    def __add__(self, other: "LabeledPositions") -> "LabeledPositions":
        """Concatenate two sets; their games stay distinct."""
        more = other.games - other.games.min(initial=0) + self.games.max(initial=-1) + 1
        return LabeledPositions(
            [*self.positions, *other.positions],
            np.concatenate([self.values, other.values]),
            np.concatenate([self.games, more]),
        )

    def merged(self) -> "LabeledPositions":
        """Merge equal positions: the mean of their values, and the game of the first.

        >>> import hyoka as hk
        >>> twice = [hk.BlokusDuo(), hk.BlokusDuo()]
        >>> LabeledPositions(twice, np.array([0.4, 0.8]), np.array([0, 1])).merged().values
        array([0.6])
        """
        places: dict[Position, int] = {}
        which = np.array([places.setdefault(each, len(places)) for each in self.positions], int)
        sums = np.bincount(which, self.values, len(places))
        _, first = np.unique(which, return_index=True)
        return LabeledPositions(
            list(places), sums / np.bincount(which, minlength=len(places)), self.games[first]
        )

    @property
    def plies(self) -> NDArray[np.int32]:
        """Pieces on the board, by position."""
        return pieces_laid(self.positions)

    @property
    def for_mover(self) -> NDArray[np.float64]:
        """Win rates from the mover's view: the network's targets."""
        first = np.array([each.to_play.value == 0 for each in self.positions], bool)
        return np.where(first, self.values, 1 - self.values)


@dataclass(frozen=True)
class PerceptronSettings:
    """Network and training settings."""

    hidden: int = option(16, "Number of hidden units.", min=1, max=MOST_HIDDEN)
    hands: bool = option(False, "Add the pieces in hand to the inputs, unlike the paper.")
    epochs: int = option(100, "Maximum number of passes over the training positions.", min=1)
    patience: int = option(
        8, "Stop after this many epochs without gain on validation games.", min=1
    )
    stops_early: bool = True
    """If false, train on all games and apply `patience` to the training loss."""
    rate: float = option(0.001, "Learning rate of Adam.", above=0)
    decay: float = option(0.003, "L2 regularization.", name="weight_decay", min=0)
    batch: int = option(32, "Positions per step.", min=1)
    least: int = option(
        40,
        "Minimum number of positions to train a ply's network; below it, the nearest is used.",
        name="min_positions",
        min=1,
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, slots=True)
class PlyError:
    """Prediction error of the networks at one ply."""

    ply: int
    """Pieces on the board."""
    positions: int
    squared: float
    """Mean squared error of the predicted win rates."""
    variance: float
    """Mean squared error of a constant prediction: the variance of the win rates."""


@dataclass(frozen=True)
class TrainedPerceptrons:
    """Trained networks with their training metadata."""

    networks: PlyPerceptrons
    positions: int
    epochs: tuple[int, ...]
    """Epochs until the best weights, by network."""
    torch: str
    """The PyTorch version; results may differ in rounding between versions."""

    def origin(self, command: str, seed: int, games: int, **choices: str) -> Origin:
        """Origin of these networks, for their file."""
        origin = Origin(command, seed, {"games": games, "positions": self.positions}, choices)
        return replace(origin, versions={**origin.versions, "torch": self.torch})


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Training data of one network."""

    counts: NDArray[np.uint8]
    targets: NDArray[np.float32]
    validating: NDArray[np.bool_]
    seed: int
    settings: PerceptronSettings


@dataclass(frozen=True, eq=False)
class _Learned:
    weights: NDArray[np.float32]
    epochs: int


def learn_perceptrons(
    labeled: LabeledPositions,
    settings: PerceptronSettings | None = None,
    *,
    seed: int = 0,
    jobs: int = 1,
    progress: OnProgress | None = None,
) -> TrainedPerceptrons:
    """Train a network for each ply with enough positions; deterministic for a given seed.

    Equal positions are merged first. Raises Error without PyTorch, StudyError if no ply has enough
    positions.
    """
    version = str(_torch().__version__)
    chosen = settings or PerceptronSettings()
    merged = labeled.merged()
    plies, targets = merged.plies, merged.for_mover.astype(np.float32)
    drawn = np.random.default_rng(seed).integers(_VALIDATING, size=merged.games.max(initial=0) + 1)
    validating = (drawn[merged.games] == 0) & chosen.stops_early
    own = [ply for ply, count in enumerate(np.bincount(plies)) if count >= chosen.least]
    if not own:
        most = np.bincount(plies).max(initial=0)
        raise StudyError(
            f"{len(merged):,} different positions with a value, at most {most} at one ply: a "
            f"network needs {chosen.least}; play more games, or ask for less"
        )

    def lesson(ply: int) -> _Lesson:
        rows = np.flatnonzero(plies == ply)
        own_positions = [merged.positions[row] for row in rows.tolist()]
        counts = pattern_counts(own_positions, hands=chosen.hands)
        return _Lesson(counts, targets[rows], validating[rows], seed * 100 + ply, chosen)

    tally = Tally(progress, "networks", len(own), "plies")
    learned = []
    with Run(_learned, jobs=jobs, what="the training of a network") as run:
        for done in run.in_order(map(lesson, own)):
            learned.append(done.result)
            tally.add()
    weights = np.stack([each.weights for each in learned])
    networks = PlyPerceptrons(tuple(own), chosen.hidden, chosen.hands, weights)
    epochs = tuple(each.epochs for each in learned)
    return TrainedPerceptrons(networks, len(merged), epochs, version)


def errors_by_ply(networks: PlyPerceptrons, labeled: LabeledPositions) -> list[PlyError]:
    """Prediction error on held-out positions, merged, by number of pieces."""
    merged = labeled.merged()
    plies, squares = merged.plies, squared_errors(networks, merged)
    # From the mover's view; at one ply it is almost always the same player's turn.
    rates = merged.for_mover
    return [
        PlyError(
            int(ply),
            int((plies == ply).sum()),
            float(squares[plies == ply].mean()),
            float(rates[plies == ply].var()),
        )
        for ply in np.unique(plies)
    ]


def squared_errors(networks: PlyPerceptrons, labeled: LabeledPositions) -> NDArray[np.float64]:
    """Squared error of the predicted win rate, by position."""
    return (networks.value(labeled.positions) - labeled.values) ** 2


def _check_game(games: Iterable[str]) -> None:
    for game in games:
        if game != PlyPerceptrons.game:
            raise StudyError(f"perceptrons see patterns of {PlyPerceptrons.game}, not of {game}")


def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise Error(
            "training needs PyTorch, of the extra hyoka[learn]: pip install 'hyoka[learn]'"
        ) from None
    return torch


def _learned(lesson: _Lesson, _: WorkerState) -> _Learned:
    """Train one network on one core, so that the result doesn't depend on the number of cores."""
    torch = _torch()
    torch.set_num_threads(1)
    chosen = lesson.settings
    counts = lesson.counts.astype(np.float64)
    used = np.flatnonzero(counts.std(0) > 0)
    means, scales = counts[:, used].mean(0), np.maximum(counts[:, used].std(0), _FLATTEST)
    inputs = torch.from_numpy(((counts[:, used] - means) / scales).astype(np.float32))
    training = _Training(torch, inputs, lesson)
    epochs = training.run()
    first, biases, last, bias = (each.detach().numpy().astype(np.float64) for each in training.best)
    weights = np.zeros(weights_of(chosen.hidden, sees_hands=chosen.hands))
    by_input = weights[: lesson.counts.shape[1] * chosen.hidden].reshape(-1, chosen.hidden)
    # The core takes raw counts, so the scaling is folded into the weights.
    by_input[used] = first / scales[:, None]
    folded = biases - (means / scales) @ first
    weights[by_input.size :] = np.concatenate([folded, last, bias])
    return _Learned(weights.astype(np.float32), epochs)


class _Training:
    """Training state of a network: Adam on the squared error of batches."""

    def __init__(self, torch: Any, inputs: "torch.Tensor", lesson: _Lesson) -> None:
        self._torch = torch
        self._settings = settings = lesson.settings
        self._chance = chance = torch.Generator().manual_seed(lesson.seed)
        self._inputs, self._targets = inputs, torch.from_numpy(lesson.targets)
        validating = torch.from_numpy(lesson.validating)
        # Without validation games, the training games decide when to stop.
        self._learned = torch.nonzero(~validating).ravel()
        self._judging = torch.nonzero(validating).ravel()
        if not len(self._learned) or not len(self._judging):
            self._learned = self._judging = torch.arange(len(inputs))
        wide = max(1, inputs.shape[1])
        mean = float(np.clip(lesson.targets.mean(), 0.01, 0.99))
        self._parameters = [
            torch.randn(inputs.shape[1], settings.hidden, generator=chance) / math.sqrt(wide),
            torch.zeros(settings.hidden),
            torch.randn(settings.hidden, generator=chance) / math.sqrt(settings.hidden),
            torch.tensor([math.log(mean / (1 - mean))]),
        ]
        for each in self._parameters:
            each.requires_grad_()
        self.best: list[Any] = []

    def run(self) -> int:
        """Train until the validation error stops falling; return the best epoch."""
        torch, settings = self._torch, self._settings
        adam = torch.optim.Adam(self._parameters, settings.rate, weight_decay=settings.decay)
        least, best_epoch = math.inf, 0
        for epoch in range(settings.epochs + 1):
            if epoch:
                order = torch.randperm(len(self._learned), generator=self._chance)
                for batch in self._learned[order].split(settings.batch):
                    adam.zero_grad()
                    self._error(batch).backward()
                    adam.step()
            with torch.no_grad():
                error = float(self._error(self._judging))
            if error < least:
                least, best_epoch = error, epoch
                self.best = [each.detach().clone() for each in self._parameters]
            if epoch - best_epoch >= settings.patience:
                break
        return best_epoch

    def _error(self, rows: Any) -> Any:
        first, biases, last, bias = self._parameters
        hidden = self._torch.sigmoid(self._inputs[rows] @ first + biases)
        prediction_accuracy = self._torch.sigmoid(hidden @ last + bias)
        return ((prediction_accuracy - self._targets[rows]) ** 2).mean()
