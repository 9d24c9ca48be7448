# SPDX-License-Identifier: Apache-2.0
"""Accuracy of moves: how much expected score each move gives away.

The loss of a move is the mover's expected score before it less that after it, at least 0. The
accuracy of a move and of a game are Lichess's formulas. Groups of moves are compared by their mean
loss, with intervals by cluster bootstrap over games.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka._core import resampled_sums
from hyoka.analysis.calibration import fit_logistic, fit_plain
from hyoka.analysis.sample import (
    VALUE,
    Reals,
    Resampling,
    Sample,
    game_numbers,
    interval,
    share_interval,
)
from hyoka.foundation.errors import ParameterError, StudyError, named
from hyoka.foundation.math import Estimate, logistic
from hyoka.foundation.options import check_options, option
from hyoka.foundation.text import counted
from hyoka.storage.result import (
    COUNT,
    MIN_GAMES,
    NUMBER,
    TEXT,
    Columns,
    Coverage,
    Result,
    table_of,
    too_few_note,
)

ScoreCurve = Literal["fitted", "lichess"]
"""The map from scores to expected scores: fitted to the results, or that of Lichess."""
_LICHESS_SLOPE: Final = 0.00368208
"""Change of the log odds per centipawn."""
_LICHESS_LIMIT: Final = 1000.0
"""Scores beyond this, and mates, count as this many centipawns."""
_WIDEST: Final = 8
"""Maximum number of positions in a window of the volatility."""
CLASSES: Final = ("inaccuracy", "mistake", "blunder")
"""Classes of bad moves, by rising loss."""


@dataclass(frozen=True, kw_only=True)
class AccuracySettings:
    """Options of the accuracy of moves; thresholds are losses of expected score."""

    curve: ScoreCurve = option(
        "fitted",
        "Map from scores to expected scores: the logistic curve of the study's results, or "
        "Lichess's curve for centipawns.",
    )
    inaccuracy: float = option(
        0.05, "Loss of expected score from which a move is an inaccuracy.", above=0, max=1
    )
    mistake: float = option(0.1, "Loss from which it is a mistake.", above=0, max=1)
    blunder: float = option(0.15, "Loss from which it is a blunder.", above=0, max=1)
    top: int = option(10, "Number of worst moves to list.", min=0)

    def __post_init__(self) -> None:
        check_options(self)
        if not self.inaccuracy < self.mistake < self.blunder:
            order = f"{named('mistake')}, which is above {named('inaccuracy')}"
            raise ParameterError("blunder", f"is above {order}")

    def classes(self, losses: Reals) -> NDArray[np.int64]:
        """Classify losses: 0 for a good move, then the place in `CLASSES`, from 1.

        >>> AccuracySettings().classes(np.array([0.01, 0.05, 0.12, 0.6])).tolist()
        [0, 1, 2, 3]
        """
        thresholds = [self.inaccuracy, self.mistake, self.blunder]
        return np.searchsorted(thresholds, losses, side="right")


def expected_scores(sample: Sample, curve: ScoreCurve = "fitted") -> tuple[Reals, str]:
    """Map an evaluator's values to the first player's expected scores, and describe the map.

    A mate is 0 or 1, except on Lichess's curve. If the logistic curve does not fit, the
    one-parameter curve is used; without either, raises StudyError.
    """
    values = sample.values.astype(np.float64)
    if curve == "lichess":
        if sample.unit != "centipawns":
            raise ParameterError(
                "curve", f"lichess maps centipawns; {sample.name} has {sample.unit}"
            )
        within = np.clip(values, -_LICHESS_LIMIT, _LICHESS_LIMIT)
        return logistic(_LICHESS_SLOPE * within), "scores are mapped by Lichess's curve"
    if sample.unit == VALUE:
        return np.clip(values, 0, 1), "values are expected scores"
    if np.isinf(values).all():
        return (values > 0).astype(np.float64), "all scores are mates"
    fit = fit_logistic(sample)
    if fit.converged:
        return fit.probability(values), "scores are mapped by the study's logistic curve"
    plain = fit_plain(sample)
    if plain.verdict == "fits":
        k = plain.k.value
        with np.errstate(over="ignore"):
            mapped = logistic((values - sample.threshold) / k)
        return mapped, (
            f"scores are mapped by the curve with the scale K = {k:.4g} ({fit.missing_reason})"
        )
    raise StudyError(
        f"{sample.name}: no curve from scores to expected scores fits: {fit.missing_reason}; "
        f"add games, or use {named('axis', 'value')} or {named('curve', 'lichess')}"
    )


def move_accuracy(losses: Reals) -> Reals:
    """Compute Lichess's accuracy of moves, 0 to 100, from their losses of expected score.

    >>> move_accuracy(np.array([0.0, 0.05, 0.3, 1.0])).round(1).tolist()
    [100.0, 80.8, 25.8, 0.0]
    """
    curve = 103.1668100711649 * np.exp(-4.354415386753951 * losses) - 3.166924740191411
    # Lichess adds a point for the uncertainty of its evaluations.
    return np.clip(curve + 1, 0, 100)


class Finals(NamedTuple):
    """Final positions of games that ended on the board, with the first player's results."""

    games: NDArray[np.int64]
    plies: NDArray[np.int32]
    results: Reals


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves between evaluated positions, with the mover's expected scores.

    >>> moves = Moves.of(np.array([0.5, 0.6, 0.2]), np.array([7, 7, 7]), np.array([0, 1, 2]),
    ...                  np.array([True, False, True]))
    >>> moves.losses.round(2).tolist(), Moves.of(*[np.zeros(0)] * 4).losses.tolist()
    ([0.0, 0.0], [])
    """

    rows: NDArray[np.int64] = field(repr=False)
    """Row of the position before each move."""
    games: NDArray[np.uint32] = field(repr=False)
    """Game numbers from 0, without gaps."""
    game_count: int
    by_first: NDArray[np.bool_] = field(repr=False)
    """Whether the first player makes the move."""
    before: Reals = field(repr=False)
    """Expected score of the mover before the move."""
    after: Reals = field(repr=False)
    """Expected score of the mover after the move."""
    volatility: Reals = field(repr=False)
    """Standard deviation of the expected scores (in percent) around the move, 0.5 to 12."""

    @classmethod
    def of(
        cls,
        expected: Reals,
        games: NDArray[Any],
        plies: NDArray[Any],
        first_to_play: NDArray[np.bool_],
        finals: Finals | None = None,
    ) -> "Moves":
        """Find the moves between consecutive positions, which are ordered by game and ply.

        `expected` are the first player's expected scores. Those of `finals` are added or replaced.
        """
        rows = np.arange(len(expected))
        if finals is not None:
            count = len(finals.games)
            rows = np.concatenate([np.full(count, -1), rows])
            games = np.concatenate([finals.games, games])
            plies = np.concatenate([finals.plies, plies])
            order = _first_of_each(games, plies)
            rows, games, plies = rows[order], games[order], plies[order]
            expected = np.concatenate([finals.results, expected])[order]
            first_to_play = np.concatenate([np.zeros(count, bool), first_to_play])[order]
        numbers, count = game_numbers(games)
        here = np.flatnonzero((np.diff(numbers) == 0) & (np.diff(plies) == 1))
        by_first = first_to_play[here].astype(np.bool_)
        before, after = (
            np.where(by_first, expected[at], 1 - expected[at]) for at in (here, here + 1)
        )
        volatility = _volatility(100 * expected, numbers, here)
        return cls(rows[here], numbers[here], count, by_first, before, after, volatility)

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, chosen: NDArray[np.bool_]) -> "Moves":
        """A subset of the moves. Games keep their numbers, so resamples draw the same games."""
        names = ("rows", "games", "by_first", "before", "after", "volatility")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    @cached_property
    def losses(self) -> Reals:
        """Loss of expected score of each move, 0 to 1."""
        return np.maximum(self.before - self.after, 0.0)

    @cached_property
    def accuracies(self) -> Reals:
        """Lichess's accuracy of each move, 0 to 100."""
        return move_accuracy(self.losses)

    def game_accuracies(self) -> Reals:
        """Lichess's accuracy of each game (rows) of the second and first player; NaN without moves.

        The mean of two means of the accuracies of the player's moves: the mean weighted by
        volatility, and the harmonic mean, in which an accuracy below 1 counts as 1.
        """
        side = 2 * self.games.astype(np.int64) + self.by_first

        def sums(terms: Reals) -> Reals:
            return np.bincount(side, terms, 2 * self.game_count).astype(np.float64)

        with np.errstate(invalid="ignore", divide="ignore"):
            weighted = sums(self.volatility * self.accuracies) / sums(self.volatility)
            harmonic = sums(np.ones(len(self))) / sums(1 / np.maximum(self.accuracies, 1))
        return ((weighted + harmonic) / 2).reshape(-1, 2)


def _first_of_each(games: NDArray[Any], plies: NDArray[Any]) -> NDArray[np.int64]:
    """Order positions by game and ply; of equal ones, keep only the first."""
    order = np.lexsort((plies, games))
    again = (np.diff(games[order], prepend=-1) == 0) & (np.diff(plies[order], prepend=-1) == 0)
    firsts: NDArray[np.int64] = order[~again]
    return firsts


def _volatility(percent: Reals, games: NDArray[np.uint32], moves: NDArray[np.int64]) -> Reals:
    """Compute the volatility at moves from the positions `moves` to the next ones.

    A game's windows have a tenth of its moves, but 2 to 8 positions. A window ends with the
    position after the move; the first moves share the game's first window.
    """
    if not len(moves):
        return np.zeros(0)
    sizes = np.bincount(games)
    start, size = (np.cumsum(sizes) - sizes)[games[moves]], sizes[games[moves]]
    width = np.clip((size - 1) // 10, 2, _WIDEST)
    begin = np.maximum(moves + 2 - width, start)
    total, squares = np.zeros(len(moves)), np.zeros(len(moves))
    for place in range(_WIDEST):
        at = begin + np.minimum(place, width - 1)
        beyond = np.where(place < width, percent[at] - percent[begin], 0.0)
        total += beyond
        squares += beyond**2
    variance = np.maximum(squares / width - (total / width) ** 2, 0.0)
    return np.clip(np.sqrt(variance), 0.5, 12.0)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How accurate some moves are; intervals by cluster bootstrap over games."""

    name: str
    """Name of the evaluator."""
    condition: str
    """The group of moves; empty for all."""
    moves: int
    games: int
    loss: Estimate
    """Mean loss of expected score per move."""
    difference: Estimate
    """Mean loss less that of the other moves; NaN without others."""
    accuracy: Estimate
    """Mean of Lichess's accuracy over players and games."""
    inaccuracies: Estimate
    mistakes: Estimate
    blunders: Estimate
    """Shares of the moves in these classes; a blunder is no mistake."""


def measure_accuracy(
    moves: Moves,
    name: str,
    *,
    chosen: NDArray[np.bool_] | None = None,
    condition: str = "",
    settings: AccuracySettings | None = None,
    resampling: Resampling | None = None,
) -> Accuracy:
    """Measure the accuracy of moves, or of the chosen ones against the others.

    Resamples draw the same games for both, so the difference is paired.
    """
    resampling = resampling or Resampling()
    own = moves if chosen is None else moves.where(chosen)
    if not len(own):
        raise StudyError(f"{name}: no move has an evaluation before and after it")
    by_game = _sums(own, settings or AccuracySettings())
    others = np.zeros((moves.game_count, 2))
    if chosen is not None:
        others = _losses_and_moves(moves) - by_game[:, :2]
    sums = np.hstack([by_game, others])
    figures = _figures(sums.sum(axis=0)[None])[:, 0]
    drawn = _figures(resampled_sums(sums, resampling.resamples, resampling.seed))
    games = int((by_game[:, 1] > 0).sum())
    confidence = resampling.confidence
    loss, difference, accuracy = (
        interval(float(value), each, games, confidence)
        for value, each in zip(figures[:3], drawn[:3], strict=True)
    )
    shares = (
        share_interval(float(value), each, games, confidence)
        if len(each)
        else Estimate(float(value))
        for value, each in zip(figures[3:], drawn[3:], strict=True)
    )
    return Accuracy(name, condition, len(own), games, loss, difference, accuracy, *shares)


def _losses_and_moves(moves: Moves) -> Reals:
    """Sum the losses and count the moves of each game."""
    return np.stack(
        [np.bincount(moves.games, terms, moves.game_count) for terms in (moves.losses, None)],
        axis=1,
    )


def _sums(moves: Moves, settings: AccuracySettings) -> Reals:
    """Sum by game: losses, moves, accuracies of the players, their number, moves of each class."""
    of_players = moves.game_accuracies()
    classes = settings.classes(moves.losses)
    columns = [
        np.nansum(of_players, axis=1),
        np.isfinite(of_players).sum(axis=1),
        *(
            np.bincount(moves.games, classes == kind, moves.game_count)
            for kind in range(1, len(CLASSES) + 1)
        ),
    ]
    return np.hstack([_losses_and_moves(moves), np.stack(columns, axis=1)])


def _figures(sums: Reals) -> Reals:
    """Compute loss, difference, accuracy and shares (rows) from sums over games (columns)."""
    losses, moves, accuracies, players, *classes, other_losses, other_moves = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        loss = losses / moves
        return np.stack(
            [
                loss,
                loss - other_losses / other_moves,
                accuracies / players,
                *(each / moves for each in classes),
            ]
        )


# One game

_MOST_MOMENTS: Final = 6
_SIGNS: Final = {"inaccuracy": "?!", "mistake": "?", "blunder": "??"}


@dataclass(frozen=True)
class ReviewedMove:
    """A move and what it gave away."""

    ply: int
    """Moves played after it, from 1."""
    player: int
    """0 for the first player, 1 for the second."""
    text: str
    before: float
    """The mover's expected score before the move."""
    after: float
    accuracy: float
    kind: str
    """One of `CLASSES`; empty for a good move."""
    better: tuple[str, ...] = ()
    """A better line; empty if unknown, or if the best move was played."""

    @property
    def loss(self) -> float:
        """Loss of expected score, 0 to 1."""
        return max(self.before - self.after, 0.0)

    @property
    def sign(self) -> str:
        """The move with its mark: `Qh5??`."""
        return self.text + _SIGNS.get(self.kind, "")


@dataclass(frozen=True)
class PlayerAccuracy:
    """The accuracy of one player in a game."""

    name: str
    color: str
    accuracy: float
    """Lichess's accuracy, 0 to 100; NaN without moves."""
    loss: float
    """Mean loss of expected score."""
    moves: int
    counts: Mapping[str, int]
    """Number of moves of each class."""


@dataclass(frozen=True)
class PhaseAccuracy:
    """The accuracy of both players in a third of the game."""

    title: str
    first_ply: int
    last_ply: int
    accuracies: tuple[float, float]
    losses: tuple[float, float]


@dataclass(frozen=True)
class GameAccuracy:
    """The accuracy of a game, of which some positions may not be evaluated."""

    values: Sequence[tuple[int, float]]
    """The first player's expected scores by ply."""
    moves: Sequence[ReviewedMove]
    sides: tuple[PlayerAccuracy, PlayerAccuracy]
    phases: Sequence[PhaseAccuracy]

    @cached_property
    def by_ply(self) -> dict[int, ReviewedMove]:
        """The moves by the ply after them."""
        return {move.ply: move for move in self.moves}

    @property
    def bad(self) -> list[ReviewedMove]:
        """Inaccuracies, mistakes and blunders, in the order of the game."""
        return [move for move in self.moves if move.kind]

    @property
    def moments(self) -> list[ReviewedMove]:
        """The largest losses, in the order of the game."""
        worst = sorted(self.bad, key=lambda move: -move.loss)[:_MOST_MOMENTS]
        return sorted(worst, key=lambda move: move.ply)


def game_accuracy(
    names: Sequence[str],
    movers: Sequence[int],
    values: Mapping[int, float],
    *,
    players: tuple[str, str] = ("", ""),
    colors: tuple[str, str] = ("", ""),
    better: Mapping[int, tuple[str, ...]] | None = None,
) -> GameAccuracy:
    """Derive losses and accuracies from values by ply; `movers` are 0 or 1 by ply."""
    plies = sorted(values)
    expected = np.array([values[ply] for ply in plies], dtype=np.float64)
    by_first = np.array([movers[ply] == 0 for ply in plies], dtype=np.bool_)
    moves = Moves.of(expected, np.zeros(len(plies), np.int64), np.array(plies, np.int64), by_first)
    kinds = AccuracySettings().classes(moves.losses)
    before = np.array(plies, np.int64)[moves.rows] if len(moves) else np.zeros(0, np.int64)
    reviewed = [
        ReviewedMove(
            ply + 1,
            movers[ply],
            names[ply],
            float(moves.before[i]),
            float(moves.after[i]),
            float(moves.accuracies[i]),
            ("", *CLASSES)[kinds[i]],
            (better or {}).get(ply, ()),
        )
        for i, ply in enumerate(before.tolist())
    ]

    def accuracies(chosen: Moves) -> tuple[float, float]:
        if not len(chosen):
            return math.nan, math.nan
        [(second, first)] = chosen.game_accuracies()
        return float(first), float(second)

    def mean_loss(chosen: Iterable[ReviewedMove], player: int) -> float:
        losses = [move.loss for move in chosen if move.player == player]
        return sum(losses) / len(losses) if losses else math.nan

    sides = [
        PlayerAccuracy(
            players[player],
            colors[player],
            accuracies(moves)[player],
            mean_loss(reviewed, player),
            len(own),
            {kind: sum(move.kind == kind for move in own) for kind in CLASSES},
        )
        for player in (0, 1)
        for own in [[move for move in reviewed if move.player == player]]
    ]
    ends = [round(len(names) * part / 3) for part in range(4)]
    phases = [
        PhaseAccuracy(
            title,
            begin + 1,
            end,
            accuracies(moves.where((before >= begin) & (before < end))),
            (mean_loss(part, 0), mean_loss(part, 1)),
        )
        for title, begin, end in zip(("First", "Middle", "Last"), ends, ends[1:], strict=False)
        if end > begin
        for part in [[move for move in reviewed if begin < move.ply <= end]]
    ]
    return GameAccuracy(
        [(ply, values[ply]) for ply in plies], reviewed, (sides[0], sides[1]), phases
    )


@dataclass(frozen=True)
class CoveredMoves:
    """The moves of an evaluator."""

    evaluator: str
    moves: int
    """Moves with an evaluation before and after them."""
    games: int
    missing: int
    """Moves without one of the two."""

    def __str__(self) -> str:
        counts = f"{counted(self.moves, 'move')} of {counted(self.games, 'game')}"
        if not self.missing:
            return f"{self.evaluator}: {counts}"
        lack = "lack" if self.missing != 1 else "lacks"
        return (
            f"{self.evaluator}: {counts}; {counted(self.missing, 'move')} {lack} an evaluation "
            "before or after"
        )


@dataclass(frozen=True)
class MoveCoverage(Coverage):
    """The moves of each evaluator, which is measured alone.

    >>> print(MoveCoverage((), each=(CoveredMoves("comments", 1, 1, 20),)))
    comments: 1 move of 1 game; 20 moves lack an evaluation before or after.
    """

    each: tuple[CoveredMoves, ...] = ()

    def text(self, *, hint: bool = True) -> str:
        """Describe the coverage in a line."""
        return " ".join(f"{covered}." for covered in self.each)

    def as_json(self) -> dict[str, Any]:
        """Return the coverage as numbers."""
        return {
            "text": str(self),
            "evaluators": [
                {
                    "evaluator": covered.evaluator,
                    "moves": covered.moves,
                    "games": covered.games,
                    "missing_moves": covered.missing,
                }
                for covered in self.each
            ],
        }


@dataclass(frozen=True, slots=True)
class WorstMove:
    """A move with a large loss."""

    evaluator: str
    game: int
    ply: int
    """Game and ply in the study; the ply of the position before the move."""
    player: str
    move: str
    better: str
    """Best move by the evaluator; empty if unknown, or if it was played."""
    before: float
    after: float
    """Expected scores of the mover before and after the move."""
    kind: str
    """One of `CLASSES`; empty for a good move."""

    @property
    def loss(self) -> float:
        """Loss of expected score."""
        return max(self.before - self.after, 0.0)


@dataclass(frozen=True, repr=False)
class WorstMoves(Result):
    """The moves with the largest losses, the worst first."""

    drawn_by = "worst_move_dots"

    parts: tuple[WorstMove, ...]

    def __iter__(self) -> Iterator[WorstMove]:
        return iter(self.parts)

    @property
    def title(self) -> str:
        """One-line title."""
        return "Worst moves"

    def table(self) -> pa.Table:
        """One row per move."""
        columns: Columns[WorstMove] = {
            "evaluator": (TEXT, lambda each: each.evaluator),
            "game_id": (COUNT, lambda each: each.game),
            "ply": (COUNT, lambda each: each.ply),
            "player": (TEXT, lambda each: each.player or None),
            "move": (TEXT, lambda each: each.move),
            "better": (TEXT, lambda each: each.better or None),
            "before": (NUMBER, lambda each: each.before),
            "after": (NUMBER, lambda each: each.after),
            "loss": (NUMBER, lambda each: each.loss),
            "kind": (TEXT, lambda each: each.kind or None),
        }
        return table_of(columns, self.parts)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        heading = (
            *("evaluator", "game", "ply", "player", "move", "better"),
            *("before", "after", "loss", "kind"),
        )
        rows = [
            (
                *(each.evaluator, str(each.game), str(each.ply), each.player, each.move),
                *(each.better, f"{each.before:.1%}", f"{each.after:.1%}", f"{each.loss:.1%}"),
                each.kind,
            )
            for each in self.parts
        ]
        return (heading, *rows)


@dataclass(frozen=True, repr=False)
class AccuracyTable(Result):
    """Accuracy of moves by evaluator and group."""

    drawn_by = "loss_dots"

    parts: tuple[Accuracy, ...]
    worst: WorstMoves = field(default_factory=lambda: WorstMoves(()))
    caveats: tuple[str, ...] = ()
    """Caveats about the evaluators, and their maps to expected scores."""
    confidence: float = 0.95
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `parts` has all figures."""
    coverage: Coverage | None = None

    def __iter__(self) -> Iterator[Accuracy]:
        return iter(self.parts)

    def figure(self, part: Accuracy, name: str) -> Estimate:
        """A figure of a group, such as `loss`; NaN if the group has too few games."""
        estimate: Estimate = getattr(part, name)
        return estimate if part.games >= self.min_games else Estimate(math.nan)

    @property
    def title(self) -> str:
        """One-line title."""
        return "Accuracy of moves"

    def table(self) -> pa.Table:
        """One row per evaluator and group; NaN with too few games."""
        columns: Columns[Accuracy] = {
            "evaluator": (TEXT, lambda part: part.name),
            "condition": (TEXT, lambda part: part.condition),
            "moves": (COUNT, lambda part: part.moves),
            "games": (COUNT, lambda part: part.games),
        }
        rows = table_of(columns, self.parts)
        for name in FIGURES:
            ends = [self.figure(part, name).columns(name) for part in self.parts]
            for column in Estimate(math.nan).columns(name):
                values = pa.array([each[column] for each in ends], NUMBER)
                rows = rows.append_column(column, values)
        return rows

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        conditioned = any(part.condition for part in self.parts)
        shown = [name for name in FIGURES if conditioned or name != "difference"]
        heading = (
            "evaluator",
            *(("moves of",) if conditioned else ()),
            *(FIGURES[name][0] for name in shown),
            "moves",
            "games",
        )
        rows = [
            (
                part.name,
                *((part.condition or "all",) if conditioned else ()),
                *(self.figure(part, name).text(FIGURES[name][1]) for name in shown),
                f"{part.moves:,}",
                f"{part.games:,}",
            )
            for part in self.parts
        ]
        return (heading, *rows)

    def notes(self) -> tuple[str, ...]:
        """Maps to expected scores, caveats, and the method of the intervals."""
        notes = [*self.caveats]
        if few := sum(part.games < self.min_games for part in self.parts):
            notes.append(too_few_note(few, self.min_games))
        if any(math.isfinite(part.loss.low) for part in self.parts):
            notes.append(
                f"In brackets: {self.confidence:.0%} intervals from a cluster bootstrap over games."
            )
        return tuple(notes)


FIGURES: Final = {
    "loss": ("mean loss", ".2%"),
    "difference": ("vs. others", "+.2%"),
    "accuracy": ("accuracy", ".1f"),
    "inaccuracies": ("inaccuracies", ".1%"),
    "mistakes": ("mistakes", ".1%"),
    "blunders": ("blunders", ".1%"),
}
"""Figures of `Accuracy` by field: the heading and the format."""
