# SPDX-License-Identifier: Apache-2.0
"""Which terms of an evaluation describe a split: those that go with its condition at equal scores.

A term that goes with the condition, and whose weight the results would have otherwise in the
direction that the split says, is one that may mend it. Of a split in which the evaluation is too
sure or too cautious, terms are taken as the favoured side sees them.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.improving.evidence import Evidence
from hyoka.improving.story import Found, FoundSplit, Named, NamedTerm
from hyoka.learning.near import Steepness, TermLeaves, pulls_by_game

_LIKE: Final = 0.1
"""The least correlation of a term that describes a condition."""
_PULLED: Final = 3.0
"""Standard errors that results must pull a weight by."""
_MOST: Final = 4
"""Terms that describe one split."""
_BINS: Final = 30
"""Of scores that count as equal."""

Array = NDArray[np.float64]


def name_terms(evidence: Evidence, found: Found) -> Named:
    """The terms that describe each split, the most alike first.

    Of another evaluator there are none, and the conditions themselves stand for them.
    """
    if evidence.leaves is None:
        return Named(
            tuple(NamedTerm(each.sql, each.words, 1.0, None, None, None) for each in found.splits)
        )
    rows = ~evidence.apart
    leaves = evidence.leaves.some(rows)
    pulls = _pulls(leaves)
    terms: list[NamedTerm] = []
    for split in found.splits:
        likeness = _likeness(leaves, evidence.holds(split.sql)[rows], split.kind == "lean")
        terms += _describing(leaves, split, likeness, pulls)
    return Named(tuple(terms))


def _describing(
    leaves: TermLeaves, split: FoundSplit, likeness: Array, pulls: Array
) -> list[NamedTerm]:
    named: list[NamedTerm] = []
    for index in np.argsort(-np.abs(likeness), kind="stable").tolist():
        like, pull = float(likeness[index]), float(pulls[index])
        if abs(like) < _LIKE or len(named) == _MOST:
            break
        if pull * like * split.effect.value > 0 and abs(pull) >= _PULLED:
            name = leaves.evaluation.names[index]
            named.append(NamedTerm(name, split.words, like, pull, *leaves.evaluation[name]))
    return named


def _likeness(leaves: TermLeaves, holds: NDArray[np.bool_], by_favoured: bool) -> Array:
    """The correlation of each term with a condition at equal scores."""
    from scipy.sparse import csr_array, diags_array  # noqa: PLC0415 - it takes a while to import

    scores = leaves.scores()
    cuts = np.unique(np.quantile(scores, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(cuts, scores, side="right")
    counts = np.maximum(np.bincount(bins, minlength=len(cuts) + 1), 1)
    condition = holds - (np.bincount(bins, holds, len(counts)) / counts)[bins]
    amounts: Any = leaves.matrix
    if by_favoured:
        amounts = diags_array(np.sign(scores)) @ amounts
    together = amounts.T @ condition
    same = csr_array(
        (np.ones(len(bins)), (bins, np.arange(len(bins)))), shape=(len(counts), len(bins))
    )
    sums = (same @ amounts).toarray()
    squares = np.asarray(amounts.power(2).sum(axis=0)).ravel()
    spread = squares - (sums**2 / counts[:, None]).sum(axis=0)
    size = np.sqrt(np.maximum(spread, 0) * float(condition @ condition))
    return np.asarray(np.divide(together, size, out=np.zeros(len(size)), where=size > 1e-9))


def _pulls(leaves: TermLeaves) -> Array:
    """How surely results would have each term's weight greater: a test by games."""
    steepness = Steepness.of(leaves)
    surprise = leaves.results - steepness.win_probability(leaves)
    odds = steepness.at(leaves.progress)
    by_game = pulls_by_game(leaves.matrix, surprise * odds, leaves.games)
    total = np.asarray(by_game.sum(axis=0)).ravel()
    error = np.sqrt(np.asarray(by_game.power(2).sum(axis=0)).ravel())
    return np.asarray(np.divide(total, error, out=np.zeros(len(total)), where=error > 1e-12))
