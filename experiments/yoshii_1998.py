# SPDX-License-Identifier: Apache-2.0
"""Yoshii 1998, METS: tree sizes (table 1) and prediction accuracy (figure 4)."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.claims import same_within, verdict
from experiments.context import Experiment, ExperimentContext
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from hyoka.analysis import Resampling, mean_by_games
from hyoka.foundation.math import Estimate
from hyoka.learning.mets import Mets, learn_mets
from hyoka.learning.prediction import is_kept_apart
from hyoka.records import Record, read_records
from hyoka.records.bulk import GameTable

_RECORDS: Final = "go19/pro_aeb.sgf.xz"
_HOLD_OUT: Final = 0.1
_PARTS: Final = 5
"""Number of parts of the games; a tree per part shows the variation of the slope."""
_STUDENT: Final = 2.776
"""Student's t for five values, 95%."""
_WITHIN: Final = (1, 5, 10, 20)
_SMOOTHING: Final = 30
_DRAWN: Final = 30
"""Largest n in the figure."""


@dataclass(frozen=True, slots=True)
class Theirs:
    """One of the paper's trees."""

    name: str
    threshold: int
    leaves: int
    size: int
    depth: float | None = None


THEIRS: Final = (
    Theirs("METS A", 50, 558_785, 16_260_496, 46.86),
    Theirs("METS B", 500, 70_705, 1_540_668),
    Theirs("METS C", 5_000, 7_022, 129_280),
)
THEIR_MOVES: Final = 7_067_744
THEIR_FIRST: Final = 0.25
"""Top-1 accuracy of METS A according to the text."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Numbers of training and test games; None: all."""

    learned: int | None
    unseen: int | None


SCALES: Final = {
    "tiny": Amount(40, 8),
    "small": Amount(4_000, 300),
    "medium": Amount(12_000, 600),
    "paper": Amount(34_266, 346),
    "large": Amount(None, None),
}


@dataclass(frozen=True)
class Games:
    """Professional games, split by a hash of their moves."""

    learned: tuple[Record, ...]
    unseen: tuple[Record, ...]

    @classmethod
    def read(cls, context: ExperimentContext, amount: Amount) -> "Games":
        """Read `amount` games of each part, spread over all."""
        records = list(read_records(context.records.file(_RECORDS)))
        apart = [is_kept_apart(record, _HOLD_OUT) for record in records]
        return cls(
            _spread(
                [r for r, kept in zip(records, apart, strict=True) if not kept], amount.learned
            ),
            _spread([r for r, kept in zip(records, apart, strict=True) if kept], amount.unseen),
        )


def _spread(records: Sequence[Record], number: int | None) -> tuple[Record, ...]:
    if number is None or number >= len(records):
        return tuple(records)
    return tuple(records[i * len(records) // number] for i in range(number))


@dataclass(frozen=True)
class SizesExperiment:
    """Table 1: leaves, bytes and depth by threshold."""

    id: str
    title: str
    scales: Mapping[str, Amount]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Grow a tree for each threshold over all games, and over parts of them."""
        learned = Games.read(context, self.scales[scale]).learned
        table = GameTable.from_records(learned)
        moves = int((table.played >= 0).sum())
        rows: list[tuple[Value, ...]] = []
        for theirs in THEIRS:
            tree = Mets(table.game, table.grown_tree(threshold=theirs.threshold))
            rows += [
                (f"{theirs.name}, ours", theirs.threshold, moves, tree.leaves, tree.size,
                 tree.mean_depth, tree.leaves * theirs.threshold / moves),
                (f"{theirs.name}, the paper's", theirs.threshold, THEIR_MOVES, theirs.leaves,
                 theirs.size, theirs.depth, theirs.leaves * theirs.threshold / THEIR_MOVES),
            ]  # fmt: skip
        headings = ("tree", "threshold", "moves", "leaves", "bytes", "mean depth",
                    "leaves · threshold / moves")  # fmt: skip
        return Outcome(
            f"trees grown from {moves:,} moves of {len(learned):,} games",
            (OutcomeTable(headings, tuple(rows)),),
            (_proportional(learned),),
        )


def _proportional(learned: Sequence[Record]) -> Verdict:
    """Whether leaves decrease with the threshold: the log-log slope over parts of the games."""
    logs = np.log([theirs.threshold for theirs in THEIRS])
    slopes = []
    for part in range(_PARTS):
        table = GameTable.from_records(learned[part::_PARTS])
        leaves = [table.grown_tree(threshold=theirs.threshold).leaf_count for theirs in THEIRS]
        slopes.append(float(np.polyfit(logs, np.log(leaves), 1)[0]))
    beyond = [slope + 1 for slope in slopes]
    reach = _STUDENT * stdev(beyond) / math.sqrt(_PARTS)
    mean = fmean(beyond)
    return same_within(
        0.1,
        "leaves are inversely proportional to the threshold",
        [Estimate(mean, mean - reach, mean + reach)],
        f"the slope of log leaves by log threshold, less -1, over {_PARTS} parts of the games",
    )


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of figure 4."""

    name: str
    threshold: int
    symmetric: bool = False
    tactics: bool = False
    smoothing: float = 0

    def grown(self, games: GameTable) -> Mets:
        """Grow the tree over the moves of games."""
        return learn_mets(
            games,
            threshold=self.threshold,
            symmetric=self.symmetric,
            tactics=self.tactics,
            smoothing=self.smoothing,
        )


PLAIN: Final = tuple(Tree(theirs.name, theirs.threshold) for theirs in THEIRS)
EXTENDED: Final = (
    Tree("A, smoothed", 50, smoothing=_SMOOTHING),
    Tree("A, symmetric", 50, symmetric=True),
    Tree("symmetric, smoothed", 20, symmetric=True, smoothing=_SMOOTHING),
    Tree("tactics, symmetric, smoothed", 20, symmetric=True, tactics=True, smoothing=_SMOOTHING),
)


@dataclass(frozen=True)
class Recognition:
    """A tree's ranks of the played moves in held-out games."""

    tree: Tree
    ranks: NDArray[np.int32]
    games: NDArray[np.int64]

    def within(self, n: int) -> Estimate:
        """Top-n accuracy."""
        return mean_by_games(self.ranks <= n, self.games, Resampling())

    def curve(self, most: int) -> list[float]:
        """Top-n accuracy for n from 1 on, without intervals."""
        return [float((self.ranks <= n).mean()) for n in range(1, most + 1)]

    def ahead_of(self, other: "Recognition") -> Estimate:
        """Difference in top-1 accuracy on the same moves."""
        more = (self.ranks == 1).astype(np.float64) - (other.ranks == 1)
        return mean_by_games(more, self.games, Resampling())


@dataclass(frozen=True)
class RecognitionExperiment:
    """Figure 4: top-n accuracy, and the gain of each extension."""

    id: str
    title: str
    scales: Mapping[str, Amount]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Grow each tree over the same games and predict the same test games."""
        games = Games.read(context, self.scales[scale])
        learned, unseen = (GameTable.from_records(each) for each in (games.learned, games.unseen))
        found = {tree.name: _recognition(tree, learned, unseen) for tree in (*PLAIN, *EXTENDED)}
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (name, each.tree.threshold, *(each.within(n) for n in _WITHIN))
            for name, each in found.items()
        )
        headings = ("tree", "threshold", *(f"within {n}" for n in _WITHIN))
        figure = context.place(self.id) / f"{scale}.svg"
        _draw(found, figure)
        return Outcome(
            f"trees grown from {int((learned.played >= 0).sum()):,} moves of "
            f"{len(games.learned):,} games; {len(next(iter(found.values())).ranks):,} moves of "
            f"{len(games.unseen):,} other games predicted",
            (OutcomeTable(headings, rows),),
            _verdicts(found),
            (figure,),
        )


def _recognition(tree: Tree, learned: GameTable, unseen: GameTable) -> Recognition:
    ranks = unseen.predictions(tree.grown(learned).model()).ranks
    points = unseen.played < 361  # excludes passes
    rows = np.flatnonzero((ranks > 0) & points)
    numbers = np.repeat(np.arange(len(unseen.ids)), np.diff(unseen.row_offsets))
    return Recognition(tree, ranks[rows], numbers[rows])


def _verdicts(found: Mapping[str, Recognition]) -> tuple[Verdict, ...]:
    better = [
        verdict(f"{one.name} recognizes more than {other.name}",
                found[one.name].ahead_of(found[other.name]))
        for one, other in itertools.pairwise(PLAIN)
    ]  # fmt: skip
    first = found[PLAIN[0].name].within(1)
    quarter = same_within(
        0.02,
        f"METS A's first point is the move in {THEIR_FIRST:.0%}",
        [Estimate(*(x - THEIR_FIRST for x in (first.value, first.low, first.high)))],
        f"ours {first.value:.1%}",
    )
    more = [
        verdict(f"{tree.name}: more than METS A",
                found[tree.name].ahead_of(found[PLAIN[0].name]), "ours, not the paper's")
        for tree in EXTENDED
    ]  # fmt: skip
    return (*better, quarter, *more)


def _draw(found: Mapping[str, Recognition], file: Path) -> None:
    from hyoka.reporting import save_chart  # noqa: PLC0415 - slow to import
    from hyoka.reporting.analysis_charts import recognition_chart  # noqa: PLC0415 - slow to import

    curves = {name: each.curve(_DRAWN) for name, each in found.items()}
    save_chart(recognition_chart(curves, "Moves among the n best"), file)


EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    SizesExperiment(
        "001-table1",
        "Go: how large METS grows, by threshold",
        SCALES,
        "Professionals' games of another collection than the paper's Kifu Database 96. Leaves "
        "grow with the moves: the last column compares. Bytes are those of our file, of which a "
        "node takes 20 and a leaf 16.",
    ),
    RecognitionExperiment(
        "001-fig4",
        "Go: how many moves METS recognizes, and what extensions bring",
        SCALES,
        "The paper's rate was measured on other records. Of points that look alike the one that "
        "the board has first counts as better. Symmetric: grown over all eight orientations. "
        f"Smoothed: {_SMOOTHING} points of the odds of nodes above. Tactics: liberties, captures, "
        "ladders and the last moves are asked about first. Thresholds of smoothed trees are lower: "
        "chosen on games of a smaller trial.",
    ),
)
