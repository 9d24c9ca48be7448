# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007's networks learned: from positions that a search has judged to a perceptron a ply.

Training needs PyTorch (`pip install hyoka[learn]`); what comes of it doesn't.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import Error, ParameterError, StudyError
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
"""Counts are divided by how much they vary, but by no less: what is rare is no more telling."""
_VALIDATING: Final = 10
"""A game in so many says when to stop."""


@dataclass(frozen=True, eq=False)
class LabeledPositions:
    """Positions and what a search made of them: the first player's win rate, 0 to 1."""

    positions: Sequence[Position] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    games: NDArray[np.int64] = field(repr=False)
    """Equal where positions are of one game."""

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def of_records(cls, records: Sequence[Record]) -> "LabeledPositions":
        """All positions whose value the records tell.

        What a player says with a move is the value of the position it had to move in; what anybody
        else says is that of the position after the move. Moves of an opening say nothing.
        """
        _check_game(record.game for record in records)
        found: list[Position] = []
        values: list[float] = []
        games: list[int] = []
        for number, record in enumerate(records):
            told = {
                remark.ply - (remark.author is not None): remark.value
                for remark in record.remarks
                if remark.value is not None and not remark.book
            }
            for ply, position in enumerate(record.positions()):
                if ply in told and position.outcome is None:
                    found.append(position)
                    values.append(told[ply])
                    games.append(number)
        return cls(found, np.array(values, np.float64), np.array(games, np.int64))

    @classmethod
    def of_study(
        cls,
        study: Study,
        evaluator: str | None = None,
        *,
        hold_out: float = 0.0,
        held_out: bool = False,
    ) -> "LabeledPositions":
        """What an evaluator says of a study's positions: of games to learn from, or of others.

        Positions in which the game is over are left out.
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
        kept = np.isin(games, apart) == held_out
        positions = list(study.game_table_of(games[kept], plies[kept]).positions())
        going_on = np.array([each.outcome is None for each in positions], bool)
        return cls(
            [each for each in positions if each.outcome is None],
            values[kept][going_on].astype(np.float64),
            games[kept][going_on].astype(np.int64),
        )

    def __add__(self, other: "LabeledPositions") -> "LabeledPositions":
        """Both; games of the two are told apart."""
        more = other.games - other.games.min(initial=0) + self.games.max(initial=-1) + 1
        return LabeledPositions(
            [*self.positions, *other.positions],
            np.concatenate([self.values, other.values]),
            np.concatenate([self.games, more]),
        )

    def merged(self) -> "LabeledPositions":
        """Each position once, with the mean of its values; it counts to the game it came in first.

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
        """By position: the pieces laid."""
        return pieces_laid(self.positions)

    @property
    def for_mover(self) -> NDArray[np.float64]:
        """The win rates of whoever is to move: what a network's output is to be."""
        first = np.array([each.to_play.value == 0 for each in self.positions], bool)
        return np.where(first, self.values, 1 - self.values)


@dataclass(frozen=True)
class PerceptronSettings:
    """What networks are like, and how they are trained."""

    hidden: int = 16
    hands: bool = False
    """Whether the pieces in hand are inputs, too: the paper's are not."""
    epochs: int = 100
    """How often a network sees its positions at most."""
    patience: int = 8
    """It ends after so many of them without gain on a tenth of the games."""
    stops_early: bool = True
    """If not, all games are learned from, and those epochs are without gain on these."""
    rate: float = 0.001
    """How far a step of Adam goes."""
    decay: float = 0.003
    """What pulls weights to 0, by the square of their size."""
    batch: int = 32
    """Positions a step."""
    least: int = 40
    """A ply with fewer positions has the network of the nearest ply with more."""

    def __post_init__(self) -> None:
        for name in ("hidden", "epochs", "patience", "batch", "least"):
            if getattr(self, name) < 1:
                raise ParameterError(name, f"is at least 1, not {getattr(self, name)}")
        if self.hidden > MOST_HIDDEN:
            raise ParameterError("hidden", f"is at most {MOST_HIDDEN}, not {self.hidden}")
        if not 0 < self.rate < math.inf:
            raise ParameterError("rate", f"is a positive number, not {self.rate}")
        if not 0 <= self.decay < math.inf:
            raise ParameterError("decay", f"is at least 0, not {self.decay}")


@dataclass(frozen=True, slots=True)
class PlyError:
    """How far networks are off at one ply."""

    ply: int
    """Pieces laid."""
    positions: int
    squared: float
    """The mean square of win rates foretold less those that the search found."""
    variance: float
    """The same for whoever foretells the mean of these positions."""


@dataclass(frozen=True)
class TrainedPerceptrons:
    """Networks, and what they were made of."""

    networks: PlyPerceptrons
    positions: int
    epochs: tuple[int, ...]
    """By network: how often it saw its positions until it was best."""
    torch: str
    """The version of PyTorch: another one may add up in another order."""

    def origin(self, command: str, seed: int, games: int, **choices: str) -> Origin:
        """How these networks were made, for their file."""
        made = Origin(command, seed, {"games": games, "positions": self.positions}, choices)
        return replace(made, versions={**made.versions, "torch": self.torch})


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What one network learns."""

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
    """Train a network for each ply that has enough positions; the same seed, the same weights.

    Equal positions are merged first. Raises Error without PyTorch, StudyError if there are too few
    positions at every ply.
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
    """How far networks are off on positions that they have not seen, merged, by pieces laid."""
    merged = labeled.merged()
    plies, squares = merged.plies, squared_errors(networks, merged)
    # In the mover's view, as at one ply it is nearly always the same one's turn.
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
    """By position: the square of the win rate foretold less the one that the search found."""
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
    """Train one network on one core, so that nothing depends on how many there are."""
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
    # The core counts patterns as they are: what was done to the counts goes into the weights.
    by_input[used] = first / scales[:, None]
    folded = biases - (means / scales) @ first
    weights[by_input.size :] = np.concatenate([folded, last, bias])
    return _Learned(weights.astype(np.float32), epochs)


class _Training:
    """A network on its way, by Adam on the squared error of batches."""

    def __init__(self, torch: Any, inputs: "torch.Tensor", lesson: _Lesson) -> None:
        self._torch = torch
        self._settings = settings = lesson.settings
        self._chance = chance = torch.Generator().manual_seed(lesson.seed)
        self._inputs, self._targets = inputs, torch.from_numpy(lesson.targets)
        validating = torch.from_numpy(lesson.validating)
        # Where no games are apart for it, those that are learned from say when to stop.
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
        """Go on as long as games that are not learned from are foretold better."""
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
