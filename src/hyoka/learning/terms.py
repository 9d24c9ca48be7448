# SPDX-License-Identifier: Apache-2.0
"""Examples for the weights of an evaluation's own terms."""

import fnmatch
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.sample import DrawnGames
from hyoka.errors import NotationError, StudyError, nearest
from hyoka.games import game_facts
from hyoka.learning.examples import Examples, Weight, decided, some_of_each_game
from hyoka.learning.sigmoid import Array
from hyoka.passes import UNFINISHED, GameTable, Terms
from hyoka.progress import OnProgress, Tally
from hyoka.search import LinearEvaluation, linear_evaluation
from hyoka.study import Study

Shape = Literal["phases", "one", "ending", "factor"]
"""What is fitted of a term: its weight in the opening and in the ending, one weight for both, that
in the ending alone; or one factor for all terms, in the proportions that they have now."""
SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)

_MOST_NUMBERS: Final = 10**8
"""Features of all positions together: 0.8 GB, of which a fit needs a few copies."""


def term_examples(  # noqa: PLR0913 - a keyword for each choice
    study: Study,
    terms: Sequence[str],
    *,
    shape: Shape = "phases",
    off: bool = False,
    weights: str | Path | LinearEvaluation | None = None,
    where: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    draws: DrawnGames = "drop",
    quiet: bool | None = None,
    progress: OnProgress | None = None,
) -> Examples:
    """Examples for the weights of terms of the game's evaluation, or of one that a file holds.

    `terms` are names or patterns such as `bishop_*`. The evaluation to begin with has them at their
    present weights or, if `off`, at none. `quiet` (the default where the game has a quiescence
    search) takes for each position the one in which the search with that evaluation comes to rest.
    `where` and `sample` choose positions, the same as `evaluate` would.
    """
    if isinstance(weights, LinearEvaluation):
        present, origin = weights, ""
    else:
        present = linear_evaluation(study.game, weights)
        origin = f" in {weights}" if weights is not None else ""
    chosen = chosen_terms(present, terms)
    fitted, directions = _numbers(present, chosen, shape)
    base, before = _without(present, chosen, shape, off)
    has_quiescence = game_facts(study.game).quiescence
    if quiet is None:
        quiet = has_quiescence
    elif quiet and not has_quiescence:
        raise StudyError(f"{study.game} has no quiescence search")
    table, undecided = decided(
        study.select(where, "game_id, ply, coalesce(adjudicated, result) as result"), draws
    )
    table = some_of_each_game(table, sample, seed)
    if len(table) * len(fitted) > _MOST_NUMBERS:
        raise StudyError(
            f"{len(fitted):,} weights and {len(table):,} positions are more than fits into memory: "
            "take fewer terms, or a sample of each game"
        )
    gathered = _Gathered(before, np.stack([base.weights, before.weights, *directions]), chosen)
    places = study.game_table_of(table["game_id"].to_numpy(), table["ply"].to_numpy())
    kept: list[NDArray[np.bool_]] = []
    tally = Tally(progress, "positions at rest" if quiet else "positions", len(table), "positions")
    for chunk in places.chunks():
        kept.append(gathered.add_resting(chunk) if quiet else gathered.add_static(chunk))
        tally.add(len(chunk))
    keep = np.concatenate(kept) if kept else np.zeros(0, bool)
    columns, traits = gathered.columns()
    rows = table.filter(pa.array(keep))
    if shape == "factor":
        traits = {fitted[0].name: columns[:, 2]}
    return Examples(
        study.game,
        tuple(fitted),
        present.unit,
        rows["game_id"].to_numpy().astype(np.int64),
        rows["ply"].to_numpy().astype(np.int32),
        rows["result"].to_numpy().astype(np.float64),
        columns[:, 0],
        columns[:, 1],
        columns[:, 2:],
        traits,
        f"the evaluation of {study.game}{origin}",
        study=study.path.name,
        undecided=undecided,
        unscored=len(table) - len(rows),
        quiet=quiet,
        start=before,
        base=base,
        directions=directions,
    )


def chosen_terms(evaluation: LinearEvaluation, patterns: Sequence[str]) -> list[str]:
    """The terms that names and patterns stand for, each once, in the evaluation's order."""
    wanted: set[str] = set()
    for pattern in patterns:
        matches = fnmatch.filter(evaluation.names, pattern)
        if not matches:
            hint = nearest(pattern, evaluation.names) or f"{len(evaluation)} are there"
            raise NotationError(f"{evaluation.game}'s evaluation has no term '{pattern}'; {hint}")
        wanted |= set(matches)
    if not wanted:
        raise NotationError(
            "no term is named: say which weights to fit, one or more of `hyoka terms "
            f"{evaluation.game}`"
        )
    return [name for name in evaluation.names if name in wanted]


def _numbers(
    present: LinearEvaluation, terms: Sequence[str], shape: Shape
) -> tuple[list[Weight], NDArray[np.float32]]:
    """The numbers to fit, and what each adds to all weights: by number, term and phase."""
    if shape == "factor":
        chosen = np.isin(present.names, terms)
        direction = np.where(chosen[:, None], present.weights, 0).astype(np.float32)
        if not direction.any():
            raise NotationError(f"{', '.join(terms)}: their weights are 0, and so is any multiple")
        rest = f" and {len(terms) - 2} more" if len(terms) > 2 else ""
        return [Weight(f"factor of {', '.join(terms[:2])}{rest}", 1.0)], direction[None]
    fitted: list[Weight] = []
    reach: list[tuple[str, float, float]] = []
    for term in terms:
        opening, ending = present[term]
        if shape == "one":
            fitted.append(Weight(term, opening if opening == ending else None))
            reach.append((term, 1, 1))
            continue
        if shape == "phases":
            fitted.append(Weight(f"{term} (opening)", opening))
            reach.append((term, 1, 0))
        fitted.append(Weight(f"{term} (ending)", ending))
        reach.append((term, 0, 1))
    directions = np.zeros((len(fitted), len(present), 2), np.float32)
    for number, (term, *phases) in enumerate(reach):
        directions[number, present.names.index(term)] = phases
    return fitted, directions


def _without(
    present: LinearEvaluation, terms: Sequence[str], shape: Shape, off: bool
) -> tuple[LinearEvaluation, LinearEvaluation]:
    """The evaluation without what is fitted, and the one to begin with."""
    silent = present.with_weights(dict.fromkeys(terms, 0.0))
    before = silent if off else present
    if shape != "ending":
        return silent, before
    return before.with_weights({term: (before[term][0], 0.0) for term in terms}), before


class _Gathered:
    """Scores and features of positions, some thousands at a time."""

    def __init__(
        self, before: LinearEvaluation, weights: NDArray[np.float32], traits: Sequence[str]
    ) -> None:
        self._weights = before.flat
        self._opening, self._ending = weights.astype(np.float64).transpose(2, 1, 0)
        self._names = traits
        self._traits = [before.names.index(name) for name in traits]
        self._columns: list[Array] = []
        self._amounts: list[Array] = []

    def add_static(self, places: GameTable) -> NDArray[np.bool_]:
        """Take positions as they are; False for those of finished games."""
        keep: NDArray[np.bool_] = places.outcomes() == UNFINISHED
        self._add(places.terms(), keep)
        return keep

    def add_resting(self, places: GameTable) -> NDArray[np.bool_]:
        """Take the positions where quiescence searches rest; False where the game is over."""
        quiet = places.quiet_terms(self._weights)
        self._add(quiet.terms, quiet.rests)
        return quiet.rests

    def _add(self, terms: Terms, keep: NDArray[np.bool_]) -> None:
        amounts = terms.matrix()[keep]
        ending = terms.progress[keep, None].astype(np.float64)
        self._columns.append(
            (amounts @ self._opening) * (1 - ending) + (amounts @ self._ending) * ending
        )
        self._amounts.append(amounts[:, self._traits].toarray().astype(np.float64))

    def columns(self) -> tuple[Array, dict[str, Array]]:
        """Everything in one piece: a column for each row of weights, and the terms' amounts."""
        width = self._opening.shape[1]
        columns = np.concatenate([np.zeros((0, width)), *self._columns])
        amounts = np.concatenate([np.zeros((0, len(self._traits))), *self._amounts])
        return columns, dict(zip(self._names, amounts.T, strict=True))
