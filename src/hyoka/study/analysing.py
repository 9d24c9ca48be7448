# SPDX-License-Identifier: Apache-2.0
"""What a study can be asked about its evaluators: each function here is a method of `Study`.

`evaluators` are names from `Study.engines` or the specs that were evaluated with; all of them
unless given, on the positions that all of them evaluated. `where` is an SQL condition. `by` is a
column, cut at `bins`. `link` is what the scores' logistic curve makes of them, by default what
games held out prefer. Intervals draw whole games again, `resamples` times; 0 gives none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyoka import analysis
from hyoka.analysis import (
    AdaptiveBins,
    Binning,
    Calibration,
    Comparison,
    Condition,
    Curves,
    Disagreement,
    FixedBins,
    Gaps,
    MetricsTable,
    Resampling,
    Sample,
    Splits,
    open_bins,
)
from hyoka.analysis.binning import least_positions
from hyoka.analysis.curves import Trend
from hyoka.analysis.link import Link
from hyoka.errors import StudyError
from hyoka.games import game_facts
from hyoka.progress import OnProgress
from hyoka.study.measuring import OUTCOMES, Axis, Measured, measured, split_columns

if TYPE_CHECKING:
    from hyoka.study.study import Study

Draws = Literal["discard", "half", "wdl"]
"""Positions of drawn games: left out, counted half, or a curve of their own."""


def curve(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    *,
    where: str | None = None,
    by: str | None = None,
    bins: Sequence[float] | None = None,
    delta: float | None = None,
    error: float | None = None,
    count: int | None = None,
    draws: Draws = "discard",
    axis: Axis = "auto",
    link: Link | None = None,
    at_least: int | None = None,
    bands: str = "games",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Curves:
    """Evaluation curves: win probability by what an evaluator said.

    `delta` is the width of bins, which otherwise suits the data. With `error` or `count` bins grow
    instead until the standard error (by games) is at most `error` and they hold `count` positions.
    Bins of fewer than `at_least` positions are left out. With `by`, the curve of all positions
    comes first. `draws="wdl"` gives curves of wins, draws and losses.
    """
    _check_draws(draws)
    if delta is not None and (error is not None or count is not None):
        raise StudyError("bins have one width, or they grow: not both")
    loaded = measured(
        study,
        evaluators,
        where=where,
        columns=_column_of(by),
        draws="discard" if draws == "discard" else "half",
        axis=axis,
        link=link,
    )
    how = Resampling(resamples, seed, confidence)
    parts = []
    for sample in loaded.samples:
        # Of one evaluator all curves have the same bins.
        binning = _binning(sample, delta, error, count, at_least)
        for outcome, trend, chosen in _outcomes(sample, draws):
            for condition, rows in _parts(loaded, by, bins, with_all=True):
                some = chosen if rows is None else chosen.where(rows)
                if len(some):
                    words = " ".join(word for word in (outcome, condition) if word)
                    parts.append(
                        analysis.curve(
                            some,
                            binning=binning,
                            at_least=count if at_least is None else at_least,
                            resampling=how,
                            condition=words,
                            trend=trend,
                        )
                    )
    of = "share" if draws == "wdl" else "win probability"
    return Curves(tuple(parts), of, bands=bands)


def metrics(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    *,
    where: str | None = None,
    by: str | None = None,
    bins: Sequence[float] | None = None,
    threshold: float | Literal["best"] | None = None,
    draws: Literal["discard", "half"] = "discard",
    balance: Literal["ply"] | None = None,
    axis: Axis = "auto",
    link: Link | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> MetricsTable:
    """How well evaluators tell wins from losses: ACC, FSC, LFT, ROC, APR, BEP, τ, E(v) ….

    `by="phase"` parts each game's plies into thirds of the study's. `balance="ply"` weighs the
    positions of each condition so that early, middle and late ones are spread as in all.
    """
    if balance not in (None, "ply"):
        raise StudyError(f"what can be balanced is ply, not '{balance}'")
    if balance is not None and by is None:
        raise StudyError("parts are balanced against all: say which with --by")
    loaded = measured(
        study,
        evaluators,
        where=where,
        columns=_column_of(by),
        draws=draws,
        axis=axis,
        link=link,
    )
    strata, shares = loaded.strata()
    how = Resampling(resamples, seed, confidence)
    parts = []
    for sample in loaded.samples:
        for condition, rows in _parts(loaded, by, bins, with_all=by is not None):
            some = sample if rows is None else sample.where(rows)
            if not len(some):
                continue
            if balance is not None:
                some = some.balanced(strata if rows is None else strata[rows], shares)
            parts.append(
                analysis.measure(some, threshold=threshold, resampling=how, condition=condition)
            )
    return MetricsTable(tuple(parts), confidence=confidence, caveats=loaded.caveats)


def splits(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    evaluator: str | None = None,
    *,
    top: int = 10,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    pairs: bool = True,
    draws: Literal["discard", "half"] = "discard",
    axis: Axis = "auto",
    false_discovery_rate: float = 0.05,
    least_effect: float = 0.01,
    least_games: int = 30,
    progress: OnProgress | None = None,
) -> Splits:
    """Search for the conditions under which an evaluator is most wrong.

    `columns` are those to look at, or SQL expressions; by default ply, who moves, what
    describes the positions, komi, handicap and rules. Without a name, the study's only evaluator.
    """
    if evaluator is None:
        if len(study.engines) > 1:
            raise StudyError(f"of which evaluator? There are {', '.join(study.engines)}")
        evaluator = study.engines[0] if study.engines else None
    chosen = list(columns) if columns is not None else split_columns(study)
    for column in chosen:
        telling = OUTCOMES & set(re.findall(r"\w+", column))
        if telling:
            raise StudyError(f"{', '.join(sorted(telling))}: no condition, it knows the game's end")
    loaded = measured(study, evaluator, where=where, columns=chosen, draws=draws, axis=axis)
    found = analysis.find_splits(
        loaded.samples[0],
        loaded.columns,
        top=top,
        pairs=pairs,
        false_discovery_rate=false_discovery_rate,
        least_effect=least_effect,
        least_games=least_games,
        first_player=first_player(study.game),
        words=column_words(study.game),
        controls=loaded.controls(loaded.samples[0].name),
        progress=progress,
    )
    return replace(found, caveats=loaded.caveats)


def gaps(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    by: str,
    evaluators: Sequence[str] | str | None = None,
    *,
    bins: Sequence[float] | None = None,
    where: str | None = None,
    draws: Literal["discard", "half"] = "discard",
    axis: Axis = "auto",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Gaps:
    """How far the curves of a column's parts lie from the curve of all, with tests by games.

    `by` may be any SQL condition: `by="ladder > 0"` parts the positions into two.
    """
    loaded = measured(
        study, evaluators, where=where, columns=_column_of(by), draws=draws, axis=axis
    )
    how = Resampling(resamples, seed, confidence)
    return Gaps(
        tuple(
            analysis.named_gap(sample, words, rows, resampling=how)
            for sample in loaded.samples
            for words, rows in _parts(loaded, by, bins, with_all=False)
            if rows is not None and rows.any() and not rows.all()
        )
    )


def compare(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    one: str,
    other: str,
    *,
    where: str | None = None,
    threshold: float | Literal["best"] | None = None,
    draws: Literal["discard", "half"] = "discard",
    axis: Axis = "auto",
    link: Link | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Two evaluators on the same positions: the difference of each metric with its interval."""
    a, b = _two(study, one, other, where, draws, axis, link).samples
    how = Resampling(resamples, seed, confidence)
    return analysis.compare(a, b, resampling=how, threshold=threshold)


def disagreements(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    one: str,
    other: str,
    *,
    top: int = 20,
    where: str | None = None,
    draws: Literal["discard", "half"] = "discard",
    axis: Axis = "auto",
    link: Link | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Disagreement:
    """Where two evaluators differ most, and which of them was right."""
    loaded = _two(study, one, other, where, draws, axis, link)
    a, b = loaded.samples
    found = analysis.disagreement(a, b, top=top, resampling=Resampling(resamples, seed))
    disputed = tuple(
        replace(each, game=int(loaded.game_ids[each.row]), ply=int(loaded.plies[each.row]))
        for each in found.disputed
    )
    return replace(found, disputed=disputed)


def calibration(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    *,
    where: str | None = None,
    by: str | None = None,
    bins: Sequence[float] | None = None,
    draws: Draws = "discard",
    axis: Axis = "auto",
    link: Link | None = None,
    confidence: float = 0.95,
) -> Calibration:
    """Constants that turn scores into win probabilities; with `draws="wdl"`, into win and loss."""
    _check_draws(draws)
    loaded = measured(
        study,
        evaluators,
        where=where,
        columns=_column_of(by),
        draws="discard" if draws == "discard" else "half",
        axis=axis,
        link=link,
    )
    return Calibration(
        tuple(
            row
            for sample in loaded.samples
            for condition, chosen in _parts(loaded, by, bins, with_all=True)
            for row in analysis.calibrate(
                sample if chosen is None else sample.where(chosen),
                draws=draws,
                condition=condition,
                confidence=confidence,
            )
        )
    )


def _check_draws(draws: str) -> None:
    if draws not in get_args(Draws):
        raise StudyError(f"draws are {', '.join(get_args(Draws))}, not '{draws}'")


def first_player(game: str) -> str:
    """Who the first player is, in a game's own words."""
    return game_facts(game).players[0]


def column_words(game: str) -> dict[str, str]:
    """What columns of truth values mean, where their names do not say it."""
    return {"first_to_play": f"{first_player(game)} is to move"}


def _two(  # noqa: PLR0913, PLR0917 - what the callers were given
    study: "Study",
    one: str,
    other: str,
    where: str | None,
    draws: Literal["discard", "half"],
    axis: Axis,
    link: Link | None,
) -> Measured:
    loaded = measured(study, [one, other], where=where, draws=draws, axis=axis, link=link)
    if len(loaded.samples) != 2:
        raise StudyError(f"{one} is compared with itself")
    return loaded


def _binning(
    sample: Sample,
    delta: float | None,
    error: float | None,
    count: int | None,
    at_least: int | None,
) -> Binning:
    """The bins that were asked for, of all positions; a curve of some leaves out what is thin."""
    if error is not None or count is not None:
        enough = at_least or least_positions(len(sample)) if count is None else count
        return AdaptiveBins(enough, error=np.inf if error is None else error)
    fewest = least_positions(0) if at_least is None else at_least
    return open_bins(sample, fewest) if delta is None else FixedBins(delta, fewest)


def _outcomes(sample: Sample, draws: Draws) -> Iterator[tuple[str, Trend, Sample]]:
    if draws != "wdl":
        yield "", "rises", sample
        return
    yield "win", "rises", sample.with_results(sample.results == 1)
    yield "draw", "any", sample.with_results((sample.results > 0) & (sample.results < 1))
    yield "loss", "falls", sample.with_results(sample.results == 0)


def _column_of(by: str | None) -> list[str]:
    """The column that positions are parted by; phases need none."""
    return [] if by in (None, "phase") else [by]


def _parts(
    loaded: Measured, by: str | None, bins: Sequence[float] | None, *, with_all: bool
) -> Iterator[tuple[str, NDArray[Any] | None]]:
    """The conditions of a column, in words, and where they hold; all positions first."""
    if by is None or with_all:
        yield "", None
    if by is None:
        return
    for condition in _conditions(loaded, by, bins):
        yield condition.words, condition.holds


def _conditions(loaded: Measured, by: str, bins: Sequence[float] | None) -> list[Condition]:
    if by != "phase":
        return analysis.partition(by, loaded.columns[by], bins)
    if bins is not None:
        raise StudyError("phases are thirds of the plies; cut elsewhere with --by ply --bins")
    return phases(loaded.plies)


def phases(plies: NDArray[Any]) -> list[Condition]:
    """Early, middle and late: thirds of the positions by their plies; fewer of few plies."""
    cuts = sorted(set(np.quantile(plies, [1 / 3, 2 / 3], method="nearest").tolist()))
    named = analysis.partition("ply", plies, cuts)
    words = ("early", "middle", "late") if len(named) == 3 else ("early", "late")
    return [
        replace(each, words=f"{word} ({each.words})")
        for word, each in zip(words, named, strict=True)
    ]
