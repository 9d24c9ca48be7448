# SPDX-License-Identifier: Apache-2.0
"""Prediction accuracy of move models on held-out games, and the combination of several models."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.analysis import Resampling, mean_by_games
from hyoka.arena.elo import wilson_rate
from hyoka.foundation.errors import ParameterError, StudyError, named
from hyoka.foundation.math import Estimate, damped_newton
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games.registry import position
from hyoka.models.bundled import default_strengths
from hyoka.models.loading import combined_content, move_model
from hyoka.models.model import Model
from hyoka.models.training_games import PARTS_HOLD_OUT, LearnedGames, is_in_share
from hyoka.records import Record
from hyoka.records.bulk import GameTable
from hyoka.search.playouts import playouts
from hyoka.storage.game_ids import GameIds, game_id
from hyoka.storage.model_file import BUILT_IN, ModelFile, Origin
from hyoka.storage.result import Result

if TYPE_CHECKING:
    from hyoka.study import Study

WITHIN: Final = (1, 2, 3, 5, 10, 20)
"""The n of the table's top-n accuracies."""
PHASES: Final = ("opening", "middle", "ending")


def is_kept_apart(record: Record, share: float) -> bool:
    """Whether a game belongs to the share of about `share` that is held out, by its moves alone.

    The same game in another file gets the same answer, so fitting and evaluation agree.

    >>> moves = np.arange(60, dtype=np.uint16)
    >>> is_kept_apart(Record("go19", moves), 0.0), is_kept_apart(Record("go19", moves), 1.0)
    (False, True)
    """
    return bool(is_in_share(ids_of([record]), share)[0])


def held_out(
    records: Iterable[Record], share: float, start: LearnedGames | None = None
) -> NDArray[np.bool_]:
    """Select the held-out records: a share of them by their ids.

    Games that the `start` model was fitted to are never held out.
    """
    return _held_out(ids_of(records), share, start)


def numbers_held_out(study: "Study", share: float, start: LearnedGames | None = None) -> list[int]:
    """Numbers of a study's held-out games, selected by `held_out`."""
    numbers, ids = [], []
    for number, record in study.records():
        numbers.append(number)
        ids.append(game_id(record.moves))
    apart = _held_out(np.array(ids, np.uint64), share, start)
    return [number for number, out in zip(numbers, apart, strict=True) if out]


def _held_out(
    ids: NDArray[np.uint64], share: float, start: LearnedGames | None
) -> NDArray[np.bool_]:
    apart = is_in_share(ids, share)
    return apart if start is None else apart & ~start.contains(ids)


def ids_of(records: Iterable[Record]) -> NDArray[np.uint64]:
    """Ids of the records."""
    return np.array([game_id(record.moves) for record in records], np.uint64)


def ids_in(games: GameTable) -> GameIds:
    """Ids of a table's games, in the form that a model's origin lists them."""
    return GameIds.of_moves(games.moves, games.move_offsets)


def learned_origin(origin: Origin, ids: GameIds, parents: Iterable[LearnedGames]) -> Origin:
    """Add to an origin the games of a model and of its parent models."""
    models = list(parents)
    for each in models:
        if each.listed is not None:
            ids |= each.listed
    shares = [each.hold_out for each in models if each.hold_out is not None]
    choices = {**origin.choices, **({PARTS_HOLD_OUT: f"{min(shares):g}"} if shares else {})}
    return replace(origin, choices=choices, learned_games=ids)


@dataclass(frozen=True)
class JudgedGames:
    """The games that evaluate models, with the excluded games counted."""

    records: tuple[Record, ...]
    total: int
    """Number of games in all."""
    learned: int
    """Games that models were or may have been fitted to; excluded unless `every_game`."""
    notes: tuple[str, ...]
    """One note for each model that was fitted to some of them or lists no games."""

    def sentence(self, verb: str = "judged by") -> str:
        """A sentence about the number of games and the exclusions."""
        judged, because = len(self.records), "; ".join(self.notes)
        if judged < self.total:
            return f"{verb} {judged:,} of {self.total:,} games, without {because}"
        if self.learned:
            return f"{verb} all {self.total:,} games, among them {because}"
        return f"{verb} all {self.total:,} games" + (f"; {because}" if because else "")

    def as_json(self) -> dict[str, object]:
        """JSON representation."""
        return {
            "judged_games": len(self.records),
            "left_out_games": self.total - len(self.records),
            "left_out": list(self.notes),
        }


def judged_games(
    records: Sequence[Record], models: Iterable[LearnedGames], *, every_game: bool = False
) -> JudgedGames:
    """Select the games that no model was fitted to; all of them if `every_game`.

    Raises StudyError if none is left.
    """
    ids = ids_of(records)
    learned = np.zeros(len(ids), bool)
    notes: list[str] = []
    unknown: list[str] = []
    for model in models:
        learned |= model.contains(ids)
        (notes if model.is_known else unknown).append(model.note(ids))
    count = int(learned.sum())
    if count == len(ids) and not every_game:
        raise StudyError(
            f"none of the {count:,} games is left to judge by: {'; '.join(filter(None, notes))}. "
            f"judge by other games, or by all of them with {named('every_game')}"
        )
    selected = [each for each, out in zip(records, learned, strict=True) if every_game or not out]
    return JudgedGames(tuple(selected), len(ids), count, tuple(filter(None, [*notes, *unknown])))


def table_of(records: Iterable[Record]) -> GameTable:
    """Positions of records of one game type; raises StudyError if there are none."""
    games = list(records)
    if not games:
        raise StudyError("no games are left to learn from, or to judge by")
    return GameTable.from_records(games)


@dataclass(frozen=True)
class Recognition:
    """Prediction accuracy of a model on some positions."""

    phase: str
    """Phase of the game; empty for all positions."""
    moves: int
    games: int
    within: tuple[Estimate, ...]
    """Top-n accuracy, for the n in `WITHIN`."""
    loss: Estimate
    """Mean negative log-likelihood of the played moves."""
    random_loss: float
    """The same for a uniform model."""


@dataclass(frozen=True, repr=False)
class Recognitions(Result):
    """Top-n accuracy of one model, over all moves and by phase of the game."""

    drawn_by = "recognition_line"

    name: str
    parts: tuple[Recognition, ...]
    curve: tuple[float, ...]
    """Top-n accuracy over all moves, for n from 1 on."""

    def __getitem__(self, phase: str) -> Recognition:
        return next(part for part in self.parts if part.phase == phase)

    @property
    def title(self) -> str:
        """One-line title."""
        return f"{self.name}: how often the move played is among the n best"

    def table(self) -> pa.Table:
        """One row per phase, after the row of all moves."""
        rows = []
        for part in self.parts:
            row: dict[str, object] = {"phase": part.phase or "all"}
            row |= {"moves": part.moves, "games": part.games}
            for n, each in zip(WITHIN, part.within, strict=True):
                row |= each.columns(f"within_{n}")
            rows.append(row | part.loss.columns("log_loss") | {"random_log_loss": part.random_loss})
        return pa.Table.from_pylist(rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the printed table."""
        heading = ("moves of", *(f"{n}" for n in WITHIN), "log-loss", "random", "moves", "games")
        rows = [
            (
                part.phase or "all",
                *(_percent(each) for each in part.within),
                part.loss.short_text(".3f"),
                f"{part.random_loss:.3f}",
                f"{part.moves:,}",
                f"{part.games:,}",
            )
            for part in self.parts
        ]
        return (heading, *rows)

    def notes(self) -> tuple[str, ...]:
        """Explanations of the table."""
        return (
            "Within n: of moves that look alike the first one counts as better. Log-loss: mean of "
            "-log of the chance that strengths give to the move. Phases are thirds of each game.",
        )


def predict(
    games: GameTable,
    model: _core.Model,
    *,
    name: str = "model",
    resampling: Resampling | None = None,
    progress: OnProgress | None = None,
) -> Recognitions:
    """Measure how well a model predicts the moves of games, with intervals clustered by game."""
    tally = Tally(progress, name, len(games), "positions")
    predictions = games.predictions(model, progress=tally.reach)
    tally.reach(len(games))
    has_move = predictions.ranks > 0
    if not has_move.any():
        raise StudyError("these games have no move to predict")
    rows = np.flatnonzero(has_move)
    ranks, losses = predictions.ranks[rows], predictions.losses[rows].astype(np.float64)
    random_losses = np.log(predictions.choices[rows].astype(np.float64))
    numbers = np.repeat(np.arange(len(games.ids)), np.diff(games.row_offsets))[rows]
    lengths = np.maximum(np.diff(games.move_offsets)[numbers], 1)
    thirds = np.minimum(3 * games.plies[rows] // lengths, 2)
    how = resampling or Resampling()
    parts = []
    for phase, chosen in [("", np.ones(len(rows), bool))] + [
        (words, thirds == third) for third, words in enumerate(PHASES)
    ]:
        if chosen.any():
            games_here = numbers[chosen]
            parts.append(
                Recognition(
                    phase,
                    int(chosen.sum()),
                    len(np.unique(games_here)),
                    tuple(mean_by_games(ranks[chosen] <= n, games_here, how) for n in WITHIN),
                    mean_by_games(losses[chosen], games_here, how),
                    float(random_losses[chosen].mean()),
                )
            )
    most = int(min(predictions.choices.max(), 100))
    counts = np.bincount(np.minimum(ranks, most + 1), minlength=most + 2)
    curve = np.cumsum(counts[1 : most + 1]) / len(ranks)
    return Recognitions(name, tuple(parts), tuple(curve.tolist()))


def compared(results: Sequence[Recognitions]) -> tuple[tuple[str, ...], ...]:
    """Table of several models on the same games, one row each."""
    heading = ("model", *(f"{n}" for n in WITHIN), "log-loss")
    rows = [
        (each.name, *(_percent(share) for share in each[""].within), f"{each[''].loss.value:.3f}")
        for each in results
    ]
    return (heading, *rows)


def _percent(share: Estimate) -> str:
    half = (share.high - share.low) / 2
    if share.is_asymmetric:
        return f"{share.value:.1%} ({100 * share.low:.1f} to {100 * share.high:.1f})"
    return f"{share.value:.1%}" + (f" ± {100 * half:.1f}" if math.isfinite(half) else "")


POSITIONS: Final = 20_000
"""A few weights need few positions."""
_GRADIENT: Final = 1e-9
"""Convergence tolerance: gradient of the mean log-loss."""
_STEPS: Final = 100
_SINGULAR: Final = 1e-12
"""Relative curvature below which a direction is flat."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Combined(Model):
    """A product of move models, each raised to the power of its weight."""

    kind = "combined"

    game: str
    parts: tuple[ModelFile, ...]
    weights: tuple[float, ...]
    log_losses: tuple[float, ...]
    """Training log-loss of each part alone at its best power, then of the combination."""
    origin: Origin | None = None

    def _content(self) -> bytes:
        return combined_content(self.parts, self.weights)

    def model(self) -> _core.Model:
        """Move model for searches."""
        models = [move_model(self.game, part) for part in self.parts]
        return _core.combined_model(self.game, models, list(self.weights))


def combine(
    games: GameTable,
    parts: Sequence[ModelFile],
    *,
    positions: int = POSITIONS,
    seed: int = 0,
    origin: Origin | None = None,
    progress: OnProgress | None = None,
) -> Combined:
    """Fit the powers of a product of models to the played moves.

    Use games that the models were not fitted to; on their training games, the models look too good.
    """
    if not parts:
        raise ParameterError("parts", "are none: give two models or more")
    some = games.some(positions, seed=seed)
    tally = Tally(progress, "weighing moves", len(parts) * len(some), "positions")
    columns = []
    for part in parts:
        weighings = some.weighings(move_model(games.game, part), progress=tally.reach)
        columns.append(np.log(weighings.strengths.astype(np.float64)))
    logs = np.stack(columns, axis=1)
    starts, played = weighings.offsets, weighings.played
    has_move = played >= 0
    if not has_move.any():
        raise StudyError("these games have no move to learn from")
    counts = np.diff(starts)
    rows = np.repeat(np.arange(len(counts)), counts)
    own = (starts[:-1] + played)[has_move]

    used = has_move[rows]

    def chances_of(weights: Floats, chosen: list[int]) -> tuple[Floats, Floats]:
        """The probability of each move and, by position, the log of the summed strengths."""
        scores = logs[:, chosen] @ weights
        peaks = np.maximum.reduceat(scores, starts[:-1])
        powers = np.exp(scores - peaks[rows])
        sums = np.add.reduceat(powers, starts[:-1])
        return powers / sums[rows], np.log(sums) + peaks

    def loss(weights: Floats, chosen: list[int]) -> tuple[float, Floats]:
        chances, log_sums = chances_of(weights, chosen)
        value = log_sums[has_move].sum() - (logs[own][:, chosen] @ weights).sum()
        slope = (chances[used, None] * logs[used][:, chosen]).sum(0) - logs[own][:, chosen].sum(0)
        return float(value) / len(own), slope / len(own)

    def hessian(weights: Floats, chosen: list[int]) -> Floats:
        weighted = chances_of(weights, chosen)[0][:, None] * logs[:, chosen]
        means = np.add.reduceat(weighted, starts[:-1])[has_move]
        return np.asarray(weighted[used].T @ logs[used][:, chosen] - means.T @ means) / len(own)

    def best(chosen: list[int]) -> tuple[Floats, float]:
        # Newton's method: nearly collinear models have directions so flat that first-order methods
        # stop far from the optimum. Identical models share their power equally, by the
        # least-squares step.
        def newton_step(weights: Floats, slope: Floats) -> tuple[Floats, bool]:
            is_last = bool(np.abs(slope).max() <= _GRADIENT)
            step = np.linalg.lstsq(hessian(weights, chosen), -slope, rcond=_SINGULAR)[0]
            return np.asarray(step, np.float64), is_last

        weights, converged = damped_newton(
            np.full(len(chosen), 1 / len(chosen)),
            lambda weights: loss(weights, chosen),
            newton_step,
            steps=_STEPS,
        )
        if not converged:
            raise StudyError(
                "the powers of the models did not converge: take more games, or other models"
            )
        return weights, loss(weights, chosen)[0]

    alone = [best([i])[1] for i in range(len(parts))]
    weights, together = best(list(range(len(parts))))
    return Combined(
        games.game, tuple(parts), tuple(map(float, weights)), (*alone, together), origin
    )


POLICY_WITH_MODEL = "strengths"


@dataclass(frozen=True, slots=True)
class PlayoutPolicy:
    """A playout policy with its move model file."""

    name: str = "uniform"
    strengths: str | Path | ModelFile | None = None
    """Move model; None: the bundled one."""

    @property
    def text(self) -> str:
        """Label in tables."""
        own = self.strengths is None or self.name != POLICY_WITH_MODEL
        return self.name if own else f"{self.name} {self.strengths}"


@dataclass(frozen=True, slots=True)
class PlayoutQuality:
    """Playout statistics of one policy."""

    policy: PlayoutPolicy
    drawn: Estimate | None
    """Mean probability of drawing the played move; None if unknown."""
    first: Estimate | None
    """Share of positions where that move ranks first; None also for uniform policies."""
    terminated: Estimate
    """Share of playouts from the start that end within the limit of plies."""
    plies: float
    """Mean length in plies."""
    rate: float
    """Playouts per second on one core."""

    def as_json(self) -> dict[str, object]:
        """The measurements as plain values."""

        def ends(share: Estimate | None) -> list[float] | None:
            return None if share is None else [share.value, share.low, share.high]

        return {
            "policy": self.policy.text,
            "drawn": ends(self.drawn),
            "first": ends(self.first),
            "ended": ends(self.terminated),
            "mean_plies": self.plies,
            "playouts_a_second": self.rate,
        }


def playout_quality(
    game: str,
    policies: Sequence[PlayoutPolicy],
    *,
    games: GameTable | None = None,
    count: int = 10_000,
    limit: int | None = None,
    seed: int = 0,
    resampling: Resampling | None = None,
    progress: OnProgress | None = None,
) -> list[PlayoutQuality]:
    """Play `count` games from the start with each policy; predict the moves of `games`.

    Without a `limit` of plies, the game's own applies (256 in shogi).
    """
    start = position(game)
    tally = Tally(progress, f"playouts of {game}", len(policies), "policies")
    qualities = []
    for policy in policies:
        prediction_accuracy = (
            (None, None) if games is None else _prediction_accuracy(game, policy, games, resampling)
        )
        began = time.perf_counter()
        strengths = policy.strengths if policy.name == POLICY_WITH_MODEL else None
        played = playouts(
            start, count, policy=policy.name, strengths=strengths, seed=seed, limit=limit
        )
        seconds = time.perf_counter() - began
        over = int(played.over.sum())
        ended = wilson_rate(over / count, count)
        mean = float(played.lengths.mean())
        qualities.append(PlayoutQuality(policy, *prediction_accuracy, ended, mean, count / seconds))
        tally.add(note=policy.text)
    return qualities


def _prediction_accuracy(
    game: str, policy: PlayoutPolicy, games: GameTable, resampling: Resampling | None
) -> tuple[Estimate | None, Estimate | None]:
    """Mean probability of the played moves, and the share that ranks first."""
    if policy.name not in ("uniform", POLICY_WITH_MODEL):
        return None, None
    by_model = policy.name == POLICY_WITH_MODEL
    # Moves are counted with a model even if the policy does not use it.
    total = policy.strengths if by_model else BUILT_IN
    model = move_model(game, default_strengths(game) if total is None else total)
    predictions = games.predictions(model)
    rows = np.flatnonzero(predictions.ranks > 0)
    numbers = np.repeat(np.arange(len(games.ids)), np.diff(games.row_offsets))[rows]
    how = resampling or Resampling()

    def mean(values: NDArray[np.float64]) -> Estimate:
        return mean_by_games(values, numbers, how)

    if not by_model:
        return mean(1 / predictions.choices[rows].astype(np.float64)), None
    chances = np.exp(-predictions.losses[rows].astype(np.float64))
    return mean(chances), mean((predictions.ranks[rows] == 1).astype(np.float64))
