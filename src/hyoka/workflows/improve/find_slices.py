# SPDX-License-Identifier: Apache-2.0
"""Finds slices where the evaluation is biased, and the terms that describe them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import Resampling, Slice, condition_gap, find_slices
from hyoka.foundation.progress import OnProgress
from hyoka.learning.proximal_fit import Steepness, TermLeaves, pulls_by_game
from hyoka.reporting.study_report.examples import NOT_ON_THE_BOARD, examples_against
from hyoka.study.analyses import column_words, first_player
from hyoka.workflows.improve.evidence import Evidence
from hyoka.workflows.improve.improvement import Found, FoundSlice, Named, NamedTerm, Shown

_MOST: Final = 6
"""Splits that are told and mended."""
_RESAMPLES: Final = 200
_BOARDS: Final = 3


def look(evidence: Evidence, seed: int, progress: OnProgress | None) -> Found:
    """The splits that are surely there and that nothing else explains, the worst first."""
    fitted = ~evidence.apart
    game = evidence.study.game
    slices = find_slices(
        evidence.sample.where(fitted),
        evidence.columns,
        first_player=first_player(game),
        words=column_words(game),
        controls=evidence.controls,
        resampling=Resampling(_RESAMPLES, seed),
        progress=progress,
    )
    sure = [each for each in slices if each.is_sure and _is_described(each)][:_MOST]
    games = evidence.positions.game_ids
    return Found(
        tuple(_found(evidence, each) for each in sure),
        slices.tried,
        len(np.unique(games[fitted])),
        int(fitted.sum()),
        len(np.unique(games[evidence.apart])),
        int(evidence.apart.sum()),
        _shown(evidence, sure[0]) if sure else (),
    )


def _is_described(split: Slice) -> bool:
    """Whether a condition says more than how far the game has come."""
    return bool(split.condition.columns - {"ply"})


def _found(evidence: Evidence, split: Slice) -> FoundSlice:
    condition = split.condition
    apart = evidence.apart
    gap = condition_gap(evidence.sample.where(apart), evidence.holds(condition.sql)[apart])
    confirmed = gap.departure(split.departure.kind)
    return FoundSlice(
        condition.words,
        condition.sql,
        split.departure.kind,
        split.sentence,
        split.effect,
        split.q_value,
        split.gap.positions,
        split.gap.games,
        confirmed.effect,
        confirmed.p_value,
    )


def _shown(evidence: Evidence, split: Slice) -> tuple[Shown, ...]:
    """Positions of the worst split where the evaluation was most wrong."""
    table = evidence.study.sql("select game_id, ending from games order by game_id")
    ids = table["game_id"].to_numpy().astype(np.int64)
    on_the_board = np.zeros(int(ids.max()) + 1, bool)
    on_the_board[ids] = ~np.isin(table["ending"].to_numpy(zero_copy_only=False), NOT_ON_THE_BOARD)
    sample = evidence.sample.where(~evidence.apart)
    chosen = examples_against(evidence.positions, sample, split, on_the_board, _BOARDS)
    return tuple(Shown(each.game_id, each.ply, each.values, each.result) for each in chosen)


_LIKE: Final = 0.1
"""The least correlation of a term that describes a condition."""
_PULLED: Final = 3.0
"""Standard errors that results must pull a weight by."""
_MOST_TERMS: Final = 4
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
            tuple(NamedTerm(each.sql, each.words, 1.0, None, None, None) for each in found.slices)
        )
    rows = ~evidence.apart
    leaves = evidence.leaves.some(rows)
    pulls = _pulls(leaves)
    terms: list[NamedTerm] = []
    for split in found.slices:
        likeness = _likeness(leaves, evidence.holds(split.sql)[rows], split.kind == "lean")
        terms += _describing(leaves, split, likeness, pulls)
    return Named(tuple(terms))


def _describing(
    leaves: TermLeaves, split: FoundSlice, likeness: Array, pulls: Array
) -> list[NamedTerm]:
    named: list[NamedTerm] = []
    for index in np.argsort(-np.abs(likeness), kind="stable").tolist():
        like, pull = float(likeness[index]), float(pulls[index])
        if abs(like) < _LIKE or len(named) == _MOST_TERMS:
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
