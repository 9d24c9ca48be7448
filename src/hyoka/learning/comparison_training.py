# SPDX-License-Identifier: Apache-2.0
"""Comparison training: learn an evaluation from moves and results (Sato 2013)."""

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import SourceError, StudyError
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.learning.objectives import Combination, Objective, text_of
from hyoka.learning.prediction import numbers_held_out
from hyoka.models.sparse import FeatureSet, SparseEvaluation
from hyoka.models.training_games import LearnedGames
from hyoka.records import Record
from hyoka.records.bulk import GameTable
from hyoka.search.difficulty import Categories, categories_of
from hyoka.storage.files import write_bytes
from hyoka.storage.model_file import Origin
from hyoka.study import Study
from hyoka.study.derived_columns import stored_categories

Weights = NDArray[np.float32]


class Descent(Protocol):
    """A gradient descent method; its state is saved with the weights."""

    memory: dict[str, Weights]

    def step(self, weights: Weights, gradient: Weights, l1: float, rate: float) -> None:
        """Update the weights in place."""


def shrunk(weights: Weights, by: Weights | float) -> Weights:
    """The proximal step of L1: soft thresholding by `by`.

    >>> shrunk(np.array([3.0, 0.5, -2.0], np.float32), 1.0).tolist()
    [2.0, 0.0, -1.0]
    """
    result: Weights = np.sign(weights) * np.maximum(np.abs(weights) - by, 0)
    return result.astype(np.float32, copy=False)


@dataclass
class Plain:
    """Plain gradient descent: a step of `rate` times the gradient."""

    memory: dict[str, Weights] = field(default_factory=dict)

    def step(self, weights: Weights, gradient: Weights, l1: float, rate: float) -> None:
        """Step along the negative gradient, then apply the L1 step."""
        weights[:] = shrunk(weights - np.float32(rate) * gradient, rate * l1)


@dataclass
class Adaptive:
    """Adam: steps of about `rate` in the score's unit, whatever the gradients' sizes.

    Rare features have gradients that are small beside `damping`, so their weights move less.
    """

    damping: float = 1.0
    momentum: float = 0.8
    memory_of_squares: float = 0.95
    memory: dict[str, Weights] = field(default_factory=dict)

    def step(self, weights: Weights, gradient: Weights, l1: float, rate: float) -> None:
        """Step along the mean of the last gradients, then apply the L1 step."""
        if not self.memory:
            self.memory = {
                "mean": np.zeros_like(weights),
                "squares": np.zeros_like(weights),
                "steps": np.zeros(1, np.float32),
            }
        self.memory["steps"] += 1
        steps = float(self.memory["steps"][0])
        mean, squares = self.memory["mean"], self.memory["squares"]
        mean *= self.momentum
        mean += np.float32(1 - self.momentum) * gradient
        squares *= self.memory_of_squares
        squares += np.float32(1 - self.memory_of_squares) * gradient * gradient
        size = np.sqrt(squares / np.float32(1 - self.memory_of_squares**steps))
        size += np.float32(max(self.damping, 1e-12))  # weights without gradients stay unchanged
        pace = np.float32(rate) / size
        moved = weights - pace * mean / np.float32(1 - self.momentum**steps)
        weights[:] = shrunk(moved, pace * np.float32(l1))


WITHIN: Final = 3
_FARTHEST: Final = 20_000.0


@dataclass(frozen=True, eq=False)
class Lessons:
    """Positions with the moves played and the results of their games."""

    games: GameTable
    results: NDArray[np.float32]
    """The first player's result by position, 0 to 1; NaN if unknown."""
    categories: Categories | None = None

    def __len__(self) -> int:
        return len(self.games)

    @classmethod
    def of_records(
        cls, records: Sequence[Record], *, positions: int | None = None, seed: int = 0
    ) -> "Lessons":
        """The records' positions; a random sample if `positions` is a limit."""
        if not records:
            raise StudyError("no games are left to learn from, or to judge by")
        table = GameTable.from_records(records)
        if positions is not None:
            table = table.some(positions, seed=seed)
        ends = [math.nan if record.result is None else record.result for record in records]
        rows = np.diff(table.row_offsets)
        return cls(table, np.repeat(np.array(ends, np.float32), rows))

    @classmethod
    def of_study(
        cls,
        study: Study,
        *,
        where: str | None = None,
        held_out: bool = False,
        hold_out: float = 0.0,
        start: LearnedGames | None = None,
        positions: int | None = None,
        seed: int = 0,
    ) -> "Lessons":
        """Positions of a study that satisfy a condition: of training games or held-out games.

        Games that the `start` evaluation was trained on are never held out.
        Categories come from the study if it stores them.
        """
        apart = numbers_held_out(study, hold_out, start)
        rows = study.select(where, "game_id, ply, plies, coalesce(adjudicated, result) as result")
        games, plies = rows["game_id"].to_numpy(), rows["ply"].to_numpy()
        usable = np.flatnonzero(
            (np.isin(games, apart) == held_out) & (plies < rows["plies"].to_numpy())
        )
        if not len(usable):
            raise StudyError("no games are left to learn from, or to judge by")
        if positions is not None and positions < len(usable):
            rng = np.random.default_rng(seed)
            usable = np.sort(rng.choice(usable, positions, replace=False))
        results = rows["result"].to_numpy(zero_copy_only=False).astype(np.float32)[usable]
        return cls(
            study.game_table_of(games[usable], plies[usable]),
            results,
            stored_categories(study, games[usable], plies[usable]),
        )

    def with_categories(self, *, threads: int = 1, progress: OnProgress | None = None) -> "Lessons":
        """Return a copy with the categories of all positions, computed if missing."""
        if self.categories is not None:
            return self
        categories = categories_of(self.games, threads=threads, progress=progress)
        return replace(self, categories=categories)

    @property
    def moves(self) -> int:
        """Number of positions with a move played."""
        return int((self.games.played >= 0).sum())


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Options of comparison training."""

    objective: Objective = field(default_factory=Combination)
    passes: int = option(
        12, "Number of passes, each with searches of all moves and then gradient steps.", min=1
    )
    steps: int = option(4, "Number of optimization steps: epochs per pass.", min=1)
    batches: int = option(4, "Number of batches per epoch, with one step each.", min=1)
    rate: float = option(
        6.0, "Learning rate at the start; with Adam, in the score's unit.", min=1e-9
    )
    decay: float = option(
        0.8, "Factor on the learning rate after each pass.", name="rate_decay", above=0
    )
    reach: float = option(
        6.0, "Moves farther from the played move than this many slopes have no gradient.", above=0
    )
    descent: Literal["adaptive", "plain"] = option(
        "adaptive", "Step sizes: Adam, or plain gradient descent."
    )
    damping: float = option(
        1.0, "Weights whose gradients are smaller than this change less.", min=0
    )
    outcome_scale: float | None = option(
        None,
        "Score scale: s predicts 1 / (1 + exp(-s / SCALE)); by default that of the features.",
        min=1e-6,
    )
    patience: int = option(3, "Stop after this many passes without gain on held-out games.", min=1)

    def __post_init__(self) -> None:
        check_options(self)

    def new_descent(self) -> Descent:
        """Create the descent method with empty state."""
        return Plain() if self.descent == "plain" else Adaptive(damping=self.damping)

    @property
    def text(self) -> str:
        """Canonical text of the settings, without the number of passes."""
        plain = asdict(replace(self, objective=Combination(), passes=1, patience=1))
        return json.dumps(plain | {"objective": text_of(self.objective)}, sort_keys=True)


@dataclass(frozen=True)
class Judgment:
    """Performance of an evaluation on some positions."""

    positions: int
    first: float
    """Share of positions where the move played ranks first by quiescence value."""
    within: float
    """Share of positions where it is among the top three."""
    moves: float
    """J1 per position."""
    outcomes: float
    """J2' per position."""
    log_loss: float
    """Mean negative log-likelihood of the results; NaN if there are none."""


@dataclass(frozen=True)
class PassMetrics:
    """Metrics of one pass."""

    number: int
    rate: float
    moves: float
    """Training J1 per position in the last epoch."""
    outcomes: float
    l1: float
    nonzero: int
    """Number of nonzero weights."""
    learned: Judgment
    """On the training games, with the weights at the start of the pass."""
    held_out: Judgment | None
    """On the held-out games, with the weights at its end."""

    @property
    def objective(self) -> float:
        """J per position."""
        return self.moves + self.outcomes + self.l1

    def as_json(self) -> dict[str, Any]:
        """The metrics as plain values."""
        held_out = self.held_out
        return {
            "pass": self.number,
            "objective": self.objective,
            "moves": self.moves,
            "outcomes": self.outcomes,
            "l1": self.l1,
            "nonzero": self.nonzero,
            "held_out": None
            if held_out is None
            else {
                "positions": held_out.positions,
                "first": held_out.first,
                "within_3": held_out.within,
                "log_loss": held_out.log_loss,
            },
        }


class Judge:
    """Measures how well weights perform on some positions."""

    def __init__(
        self, lessons: Lessons, features: FeatureSet, settings: TrainingSettings, threads: int
    ) -> None:
        self._lessons = lessons
        self._settings = settings
        self._threads = threads
        rows = len(lessons)
        self._weights = settings.objective.weights(rows, lessons.categories)
        self._reach = reach_of(self._weights, settings.reach)
        self._scale = settings.outcome_scale or features.scale
        self._comparisons = _core.Comparisons(lessons.games.in_core, features.name)

    def search(
        self, weights: NDArray[np.float32], progress: Callable[[int], None] | None = None
    ) -> Judgment:
        """Search all moves with the weights and rank the moves played."""
        ranks, _, _ = self._comparisons.search(weights, self._reach, self._threads, progress)
        has_move = ranks > 0
        count = max(int(has_move.sum()), 1)
        moves, outcomes, positions, _ = self.differentiate(weights, gradient=False)[:4]
        has_result = ~np.isnan(self._lessons.results)
        log_loss = math.nan
        if has_result.any():
            even = np.tile(np.array([1, 0, 0, 1], np.float32), (len(self._lessons), 1))
            _, loss, met, *_ = self._losses(weights, even, gradient=False)
            log_loss = loss / max(met, 1)
        return Judgment(
            count,
            float((ranks[has_move] == 1).mean()) if has_move.any() else math.nan,
            float((ranks[has_move] <= WITHIN).mean()) if has_move.any() else math.nan,
            moves / max(positions, 1),
            outcomes / max(positions, 1),
            log_loss,
        )

    def differentiate(
        self,
        weights: NDArray[np.float32],
        *,
        batch: int = 0,
        batches: int = 1,
        gradient: bool = True,
    ) -> tuple[float, float, int, int, NDArray[np.float32]]:
        """J1, J2', positions, leaves and the gradient, for one batch of games."""
        return self._losses(weights, self._weights, batch=batch, batches=batches, gradient=gradient)

    def _losses(
        self,
        weights: NDArray[np.float32],
        by_row: NDArray[np.float32],
        *,
        batch: int = 0,
        batches: int = 1,
        gradient: bool,
    ) -> tuple[float, float, int, int, NDArray[np.float32]]:
        return self._comparisons.differentiate(
            weights,
            by_row,
            self._lessons.results,
            self._scale,
            batch,
            batches,
            gradient,
            self._threads,
        )


def reach_of(weights: NDArray[np.float32], slopes: float) -> NDArray[np.float32]:
    """By position, the score difference beyond which a move no longer affects the loss."""
    with np.errstate(divide="ignore"):
        reach = slopes / np.abs(weights[:, 0]) + np.abs(weights[:, 1])
    return np.minimum(reach, _FARTHEST).astype(np.float32)


class Training:
    """State of a comparison training; it can be saved and resumed after any pass."""

    def __init__(
        self,
        learned: Lessons,
        held_out: Lessons | None = None,
        *,
        settings: TrainingSettings | None = None,
        start: SparseEvaluation | None = None,
        threads: int = 1,
    ) -> None:
        self.settings = settings or TrainingSettings()
        begun = start or SparseEvaluation.starting(learned.games.game)
        self.features = begun.features
        self.weights = begun.weights.copy()
        self.passes: list[PassMetrics] = []
        self.best = self.weights.copy()
        self._lessons = learned
        self._descent = self.settings.new_descent()
        self._judge = Judge(learned, self.features, self.settings, threads)
        self._held_out = (
            None
            if held_out is None or not len(held_out)
            else Judge(held_out, self.features, self.settings, threads)
        )
        self._identity = _identity(learned, held_out, self.features, self.settings, begun)

    @property
    def over(self) -> bool:
        """Whether all passes are done or `patience` is exhausted."""
        done = len(self.passes)
        if done >= self.settings.passes:
            return True
        return self._held_out is not None and done - self.best_pass > self.settings.patience

    @property
    def best_pass(self) -> int:
        """The best pass on the held-out games; the last pass if there are none."""
        if self._held_out is None or not self.passes:
            return len(self.passes)
        losses = [_held_out_loss(each) for each in self.passes]
        return int(np.argmin(losses)) + 1

    def run_pass(self, progress: OnProgress | None = None) -> PassMetrics:
        """Search once and take the gradient steps of one pass."""
        number = len(self.passes) + 1
        settings = self.settings
        rate = settings.rate * settings.decay ** (number - 1)
        tally = Tally(progress, f"pass {number}: searching", len(self._lessons), "positions")
        before = self._judge.search(self.weights, tally.reach)
        tally.reach(len(self._lessons))
        total = settings.steps * settings.batches
        tally = Tally(progress, f"pass {number}: learning", total, "steps")
        moves = outcomes = 0.0
        positions = 0
        for step in range(total):
            batch = step % settings.batches
            if batch == 0:
                moves, outcomes, positions = 0.0, 0.0, 0
            j1, j2, count, _, gradient = self._judge.differentiate(
                self.weights, batch=batch, batches=settings.batches
            )
            gradient *= settings.batches
            gradient[: self.features.anchored] = 0
            anchored = self.weights[: self.features.anchored].copy()
            self._descent.step(self.weights, gradient, settings.objective.l1, rate)
            self.weights[: self.features.anchored] = anchored
            moves, outcomes, positions = moves + j1, outcomes + j2, positions + count
            tally.add()
        free = self.weights[self.features.anchored :]
        price = settings.objective.l1 * float(np.abs(free).sum(dtype=np.float64))
        count = max(positions, 1)
        judged = None if self._held_out is None else self._held_out.search(self.weights)
        metrics = PassMetrics(
            number,
            rate,
            moves / count,
            outcomes / count,
            price / count,
            int(np.count_nonzero(free)),
            before,
            judged,
        )
        self.passes.append(metrics)
        if self.best_pass == number:
            self.best = self.weights.copy()
        return metrics

    def evaluation(self) -> SparseEvaluation:
        """The best evaluation so far."""
        return SparseEvaluation(self.features, self.best.copy(), self.outcome_scale)

    @property
    def outcome_scale(self) -> float:
        """The score scale of the outcome sigmoid."""
        return self.settings.outcome_scale or self.features.scale

    def save(self, path: Path) -> None:
        """Write the complete training state atomically."""
        about = {
            "identity": self._identity,
            "reports": [asdict(each) for each in self.passes],
        }
        arrays = {f"memory_{name}": array for name, array in self._descent.memory.items()}
        buffer = io.BytesIO()
        np.savez(
            buffer,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            weights=self.weights,
            best=self.best,
            **arrays,  # type: ignore[arg-type]
        )
        write_bytes(path, buffer.getvalue())

    def resume(self, path: Path) -> bool:
        """Load a saved state; False if it is unreadable or of another training."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes())
                if about["identity"] != self._identity:
                    return False
                passes = [_metrics(each) for each in about["reports"]]
                arrays = {name: file[name] for name in file.files if name != "about"}
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return False
        self.passes = passes
        self.weights, self.best = arrays.pop("weights"), arrays.pop("best")
        self._descent.memory = {
            name.removeprefix("memory_"): array for name, array in arrays.items()
        }
        return True


def _held_out_loss(metrics: PassMetrics) -> float:
    judged = metrics.held_out
    assert judged is not None
    return judged.moves + judged.outcomes


def _metrics(plain: dict[str, Any]) -> PassMetrics:
    held_out = plain.pop("held_out")
    return PassMetrics(
        learned=Judgment(**plain.pop("learned")),
        held_out=None if held_out is None else Judgment(**held_out),
        **plain,
    )


def _identity(
    learned: Lessons,
    held_out: Lessons | None,
    features: FeatureSet,
    settings: TrainingSettings,
    start: SparseEvaluation,
) -> str:
    """Identity of a training: a saved state resumes only if it matches."""
    digest = hashlib.sha256(f"{features} {settings.text} {start.fingerprint}".encode())
    for lessons in (learned, held_out):
        if lessons is not None:
            for array in (lessons.games.moves, lessons.games.plies, lessons.results):
                digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def learn_comparison(
    learned: Lessons,
    held_out: Lessons | None = None,
    *,
    settings: TrainingSettings | None = None,
    start: SparseEvaluation | None = None,
    state: Path | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
    on_pass: Callable[[PassMetrics], None] | None = None,
) -> Training:
    """Fit an evaluation by comparison training.

    `state`: a file written after each pass. If it holds a training with the same games and
    settings, training resumes from it, also with a larger number of passes.
    """
    training = Training(learned, held_out, settings=settings, start=start, threads=threads)
    if state is not None and state.exists() and not training.resume(state):
        raise SourceError(
            f"{state}: it holds another training, or none: name another file, or remove it"
        )
    while not training.over:
        metrics = training.run_pass(progress)
        if state is not None:
            training.save(state)
        if on_pass is not None:
            on_pass(metrics)
    return training


def origin_of(
    command: str, training: Training, learned: Lessons, choices: dict[str, str]
) -> Origin:
    """Origin of an evaluation."""
    return Origin(
        command,
        counts={
            "games": len(learned.games.ids),
            "positions": learned.moves,
            "passes": training.best_pass,
        },
        choices={
            "features": training.features.name,
            "objective": text_of(training.settings.objective),
        }
        | choices,
    )
