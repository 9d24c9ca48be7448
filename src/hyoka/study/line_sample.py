# SPDX-License-Identifier: Apache-2.0
"""Evaluation of all positions of games by a search or function, for curves and metrics."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hyoka.analysis import Sample
from hyoka.foundation.errors import NotationError
from hyoka.games import AnyLine
from hyoka.games.lines import as_line
from hyoka.search.searcher import Searcher, name_or_none
from hyoka.search.spec import SearchSpec

Values = Callable[[Sequence[Any]], Sequence[float]]
"""A function from positions to the first player's expected results, 0 to 1."""


def line_sample(
    lines: Iterable[AnyLine], evaluator: SearchSpec | str | Values, *, name: str = ""
) -> Sample:
    """Evaluate every position of finished games and return a sample with the results.

    `evaluator` is a search, which evaluates each position from scratch, or a function from a
    game's positions to values for the first player. Games without a result are excluded, as is
    each game's last position, whose result the rules determine. Supports bundled and Python games;
    pass the result to `curve`, `measure` and others. Raises NotationError if no game has a result.

    >>> import hyoka as hk
    >>> games = [hk.play_game(hk.Othello(), f"random:seed={i}", "random") for i in range(3)]
    >>> sample = line_sample(games, lambda positions: [0.5] * len(positions), name="even")
    >>> sample.game_count, len(sample) == sum(map(len, games))
    (3, True)
    """
    values: list[float] = []
    results: list[float] = []
    games: list[int] = []
    for number, line in enumerate(lines):
        outcome = line.outcome
        if outcome is None:
            continue
        found = _values(line, evaluator)
        values += found
        results += [float(outcome.value)] * len(found)
        games += [number] * len(found)
    if not games:
        raise NotationError("none of the games has a result")
    label = name or _label(evaluator)
    return Sample.of(label, values, results=results, games=games)


def _values(line: AnyLine, evaluator: SearchSpec | str | Values) -> list[float]:
    game = name_or_none(line)
    here = as_line(line.start, game)
    before = []
    for move in line.moves:
        before.append(here)
        here = here.play(move)
    if callable(evaluator):
        found = [float(value) for value in evaluator([each.position for each in before])]
        if len(found) != len(before):
            raise NotationError(f"{len(found)} values for {len(before)} positions")
        return found
    searcher = Searcher(evaluator, game)
    values = []
    for each in before:
        searcher.clear()
        value = searcher.search(each).value
        values.append(float("nan") if value is None else value)
    return values


def _label(evaluator: SearchSpec | str | Values) -> str:
    if isinstance(evaluator, str):
        return evaluator
    if isinstance(evaluator, SearchSpec):
        return evaluator.text
    return getattr(evaluator, "__name__", "function")
