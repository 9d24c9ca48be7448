# SPDX-License-Identifier: Apache-2.0
"""Condensed samples: any number of positions as counts by block of games, bin of values and result.

A sample of 1,000,000,000 positions is condensed to at most `BLOCKS` × `BINS` × 3 rows with a count
each. The analyses of samples then run on these rows with the counts as weights.

- **Blocks.** A game belongs to a block by a hash of its id, so a block is a random set of whole
  games and the cluster bootstrap resamples blocks. With at most `BLOCKS` games each game is a block
  of its own: the intervals are those of the positions, resample for resample.
- **Bins.** With at most `BINS` distinct values each value is a bin of its own, and all figures
  without a variance are exact. Otherwise bins are quantiles of a random sample of positions, cut
  also at the threshold, at mates and at the edges of the default bins of values; a bin's value is
  the mean of its positions. `bounds_of` says how far figures can be from those of the positions.
- **Games** in a range of bins are counted exactly: a game counts at its first bin in the range, so
  the counts of pairs of successive bins of games suffice.

Tallies of disjoint sets of games add up, in any order, so workers can share the games.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.sample import VALUE, Condensed, Floats, Sample

BLOCKS: Final = 1000
"""The number of blocks of games, unless there are fewer games."""
BINS: Final = 4096
"""The greatest number of bins of values."""
MIN_BINS: Final = 256
_OUTCOMES: Final = 3
"""Results are 0, 0.5 and 1."""
_DEFAULT_EDGES: Final = (*(i / 40 for i in range(1, 40)), *(i / 15 for i in range(1, 15)))
"""Edges of the default bins of curves of values, and of the expected calibration error."""
_LARGEST: Final = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class ValueBins:
    """Bins of values."""

    lowest: Floats
    """The least value of each bin, ascending; a bin ends where the next begins."""
    is_exact: bool
    """Whether each value is a bin of its own."""

    @classmethod
    def each(cls, values: NDArray[Any]) -> "ValueBins":
        """One bin for each distinct value."""
        return cls(np.unique(values.astype(np.float32)), is_exact=True)

    @classmethod
    def quantiles(cls, values: NDArray[Any], unit: str, count: int = BINS) -> "ValueBins":
        """At most about `count` bins with equal shares of some values.

        A value with more than such a share has a bin of its own, and so have mates.
        """
        finite = np.sort(values[np.isfinite(values)].astype(np.float32))
        edges = [np.array([-_LARGEST], np.float32)]
        if len(finite):
            ranks = np.linspace(0, len(finite), count - 1, endpoint=False).astype(np.int64)
            cuts, times = np.unique(finite[ranks], return_counts=True)
            edges += [cuts, np.nextafter(cuts[times > 1], np.float32(np.inf))]
        edges.append(np.array(_DEFAULT_EDGES if unit == VALUE else [0.0], np.float32))
        mates = np.array([-np.inf, np.inf], np.float32)
        return cls(np.unique(np.concatenate([*edges, mates])), is_exact=False)

    def __len__(self) -> int:
        return len(self.lowest)

    def of(self, values: Floats) -> NDArray[np.int64]:
        """The bin of each value."""
        return np.maximum(np.searchsorted(self.lowest, values, side="right") - 1, 0)


@dataclass(frozen=True, eq=False)
class TallyPart:
    """What a set of games adds to a tally."""

    cells: tuple[NDArray[np.int32], NDArray[np.int32]] = field(repr=False)
    """The cells with positions, ascending, and their numbers of positions."""
    pairs: tuple[NDArray[np.int32], NDArray[np.int32]] = field(repr=False)
    """The pairs of successive bins of games, ascending, and their numbers of games."""
    sums: NDArray[np.float64] = field(repr=False)
    """The sum of the finite values of each bin, and of their absolute values."""


class Tally:
    """Counts of positions by bin, block and result, to which disjoint sets of games add."""

    def __init__(self, bins: ValueBins, blocks: int) -> None:
        self.bins = bins
        self._blocks = blocks
        size = len(bins)
        self._counts = np.zeros(size * blocks * _OUTCOMES, np.int32)
        self._pairs = np.zeros((size + 1) * size, np.int32)
        self._sums = np.zeros((2, size))

    @staticmethod
    def size(bins: int, blocks: int) -> int:
        """The memory of a tally in bytes."""
        return 4 * (bins * blocks * _OUTCOMES + bins * (bins + 1))

    @staticmethod
    def part(
        bins: ValueBins, blocks: int, sample: Sample, game_ids: NDArray[np.int64], games: int
    ) -> TallyPart:
        """Count the positions of some games; `games` is the number of all games."""
        at = bins.of(sample.values)
        outcome = np.rint(2 * sample.results).astype(np.int64)
        block = blocks_of(game_ids, games, blocks)
        cells = (at * blocks + block) * _OUTCOMES + outcome
        finite = np.isfinite(sample.values)
        values = np.where(finite, sample.values, 0).astype(np.float64)
        sums = np.bincount(at, values, len(bins)), np.bincount(at, np.abs(values), len(bins))
        pairs = _pairs(at, game_ids, len(bins))
        return TallyPart(_counted(cells), _counted(pairs), np.stack(sums))

    def add(self, part: TallyPart) -> None:
        """Add a set of games that the tally does not have."""
        for total, (places, counts) in ((self._counts, part.cells), (self._pairs, part.pairs)):
            total[places] += counts
        self._sums += part.sums

    @property
    def blocks(self) -> NDArray[np.int64]:
        """The blocks with positions, ascending."""
        by_block = self._counts.reshape(len(self.bins), self._blocks, _OUTCOMES).any(axis=(0, 2))
        return np.flatnonzero(by_block)

    def sample(self, like: Sample, blocks: NDArray[np.int64]) -> Sample:
        """The condensed sample; `blocks` are the numbered blocks, and `like` has the names."""
        cells = np.flatnonzero(self._counts)
        counts = self._counts[cells].astype(np.int64)
        at, rest = np.divmod(cells, self._blocks * _OUTCOMES)
        block, outcome = np.divmod(rest, _OUTCOMES)
        return replace(
            like,
            values=self._values(at, counts)[at],
            results=(outcome / 2).astype(np.float32),
            games=np.searchsorted(blocks, block).astype(np.uint32),
            game_count=len(blocks),
            weights=counts.astype(np.float32),
            rows=None,
            condensed=Condensed(
                counts,
                at.astype(np.int32),
                self._pairs.reshape(len(self.bins) + 1, len(self.bins)),
                self._widths(at, counts),
            ),
        )

    def _values(self, at: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
        """The mean value of each bin, within the bin."""
        lowest = self.bins.lowest
        if self.bins.is_exact:
            return lowest
        total = np.bincount(at, counts, len(lowest))
        mean = self._sums[0] / np.maximum(total, 1)
        mean = np.where(np.isfinite(lowest), mean, lowest).astype(np.float32)
        ends = np.append(lowest[1:], np.float32(np.inf))
        with np.errstate(over="ignore"):
            highest = np.nextafter(ends, np.float32(-np.inf))
        highest[-1] = lowest[-1]
        return np.asarray(np.clip(mean, lowest, highest))

    def _widths(self, at: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far values can be from their bin's mean; unlimited bins as far as their mean size."""
        lowest = self.bins.lowest.astype(np.float64)
        if self.bins.is_exact:
            return np.zeros(len(lowest))
        total = np.maximum(np.bincount(at, counts, len(lowest)), 1)
        with np.errstate(invalid="ignore"):
            widths = np.append(np.diff(lowest), 0.0)
        one_value = np.nextafter(self.bins.lowest[:-1], np.float32(np.inf)) == self.bins.lowest[1:]
        widths[:-1][one_value] = 0.0
        open_ended = ~(widths < _LARGEST / 2)
        widths[open_ended] = 2 * (self._sums[1] / total)[open_ended]
        return widths


class Bounds(NamedTuple):
    """How far figures of a condensed sample can be from those of its positions."""

    roc: float
    """Of ROC; four times this for τ, whose ties count as concordant."""
    value: float
    """The mean distance of values from the value of their bin."""


def bounds_of(sample: Sample) -> Bounds:
    """Compute the bounds of a condensed sample: within a bin, the order of values is unknown."""
    assert sample.condensed is not None
    bins, widths = sample.condensed.bins, sample.condensed.widths
    weight = sample.weight.astype(np.float64)
    mass, wins = (
        np.bincount(bins, each, len(widths)) for each in (weight, weight * sample.results)
    )
    losses = mass - wins
    pairs = wins.sum() * losses.sum()
    within = float((wins * losses)[widths > 0].sum())
    return Bounds(
        within / pairs / 2 if pairs > 0 else 0.0, float((mass * widths).sum() / mass.sum())
    )


def blocks_of(game_ids: NDArray[np.int64], games: int, blocks: int = BLOCKS) -> NDArray[np.int64]:
    """The block of each game: its id if there are at most as many games as blocks, else a hash.

    >>> blocks_of(np.array([3, 1]), 4).tolist(), bool(blocks_of(np.arange(9), 10**6).max() < 1000)
    ([3, 1], True)
    """
    if games <= blocks:
        return game_ids
    x = game_ids.astype(np.uint64)  # the finalizer of SplitMix64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    return ((x >> np.uint64(32)) * np.uint64(blocks) >> np.uint64(32)).astype(np.int64)


def _counted(places: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct places, ascending, and how often each occurs: the order speeds up adding."""
    ordered = np.sort(places.astype(np.int32))
    first = np.flatnonzero(np.append(True, np.diff(ordered) != 0)[: len(ordered)])
    return ordered[first], np.diff(np.append(first, len(ordered))).astype(np.int32)


def _pairs(at: NDArray[np.int64], game_ids: NDArray[np.int64], size: int) -> NDArray[np.int32]:
    """The pairs of successive bins of each game, the first after bin -1, as (before + 1, bin)."""
    if not len(at):
        return np.zeros(0, np.int32)
    first = int(game_ids.min())
    small = (int(game_ids.max()) - first + 1) * size < 1 << 31
    keys = np.sort(((game_ids - first) * size + at).astype(np.int32 if small else np.int64))
    keys = keys[np.concatenate([[True], np.diff(keys) != 0])]
    game, bin_of = np.divmod(keys, size)
    before = np.zeros(len(keys), np.int64)
    same = game[1:] == game[:-1]
    before[1:][same] = bin_of[:-1][same] + 1
    return np.asarray(before * size + bin_of, np.int32)


def condense(
    samples: Sequence[tuple[Sample, NDArray[np.int64]]],
    bins: ValueBins,
    *,
    games: int,
    blocks: int = BLOCKS,
) -> Sample:
    """Condense samples of disjoint sets of games, each with the game of every position.

    >>> values, results, games = [0.2, 0.2, 0.9], [0, 0, 1], np.array([0, 0, 1])
    >>> sample = Sample.of("engine", values, results=results, games=games)
    >>> condensed = condense([(sample, games)], ValueBins.each(sample.values), games=2)
    >>> len(condensed), condensed.position_count, condensed.count_games()
    (2, 3, 2)
    """
    blocks = min(blocks, games)
    tally = Tally(bins, blocks)
    for sample, game_ids in samples:
        tally.add(Tally.part(bins, blocks, sample, game_ids, games))
    return tally.sample(samples[0][0], tally.blocks)
