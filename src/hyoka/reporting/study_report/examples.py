# SPDX-License-Identifier: Apache-2.0
"""Selection of example positions, and their boards."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import Curve, Disagreement, Sample, Slice, Slices, value_text
from hyoka.foundation.errors import StudyError
from hyoka.foundation.text import shorten
from hyoka.games import facts_named
from hyoka.games.diagram.builders import diagram
from hyoka.games.registry import position
from hyoka.records import Record
from hyoka.reporting.page import Board
from hyoka.study import Study
from hyoka.study.sampling import Measured

_NOT_ON_THE_BOARD: Final = ("time", "illegal", "forfeit")
"""Endings that are independent of the position."""
_LONGEST_NAME: Final = 24
_CANDIDATES: Final = 64


@dataclass(frozen=True, slots=True)
class Example:
    """An example position, with its evaluations and result."""

    game_id: int
    ply: int
    values: str
    """Evaluations of the position."""
    result: float


def bin_examples(
    positions: Measured, sample: Sample, curve: Curve, count: int, seed: int
) -> tuple[tuple[Example, ...], ...]:
    """Draw random positions of each bin of a curve, at most one per game."""
    rng = np.random.default_rng(seed)
    examples = []
    for point in curve.points:
        inside = np.flatnonzero((sample.values >= point.lower) & (sample.values < point.upper))
        if point.upper == np.inf:
            inside = np.flatnonzero(sample.values == np.inf)
        some = rng.choice(inside, size=min(len(inside), _CANDIDATES), replace=False)
        examples.append(_examples(positions, sample, _of_different_games(sample, some, count)))
    return tuple(examples)


def examples_against(
    positions: Measured,
    sample: Sample,
    biased: Slice,
    on_the_board: NDArray[np.bool_],
    count: int,
) -> tuple[Example, ...]:
    """The positions of a slice with the largest errors in the direction of its bias.

    Games that ended on the board come before those lost by time or a fault; `on_the_board` marks
    them.
    """
    holds = biased.condition.holds
    values = sample.values.astype(np.float64)
    favored = values >= sample.threshold
    upwards = biased.effect.value > 0
    if biased.departure.kind == "level":
        wrong = holds & (sample.results == (1 if upwards else 0))
        worth = -values if upwards else values
    else:
        right = (sample.results == 1) == favored
        confidence = np.abs(values - sample.threshold)
        wrong = holds & (right if upwards else ~right)
        worth = -confidence if upwards else confidence
    rows = np.flatnonzero(wrong)
    fair = on_the_board[positions.game_ids[_rows(sample)[rows]]]
    order = rows[np.lexsort((rows, -worth[rows], ~fair))]
    return _examples(positions, sample, _of_different_games(sample, order[:5000], count))


def on_the_board(study: Study) -> NDArray[np.bool_]:
    """Whether each game, by its number, ended on the board, not by time or a fault."""
    table = study.sql("select game_id, ending from games")
    ids = table["game_id"].to_numpy().astype(np.int64)
    ended = np.ones(int(ids.max(initial=-1)) + 1, bool)
    ended[ids] = ~np.isin(table["ending"].to_numpy(zero_copy_only=False), _NOT_ON_THE_BOARD)
    return ended


def slice_boards(positions: Measured, slices: Slices, count: int) -> tuple[tuple[Board, ...], ...]:
    """Boards of each slice, where the evaluator was most wrong; none if a game has no drawing."""
    study = positions.study
    if not hasattr(position(study.game), "cells"):
        return ((),) * len(slices)
    ended = on_the_board(study)
    examples = [
        examples_against(positions, positions.samples[0], each, ended, count) for each in slices
    ]
    boards = boards_of(study, (example for each in examples for example in each))
    return tuple(shown_boards(boards, each) for each in examples)


def disputed_examples(
    positions: Measured, disagreement: Disagreement, one: Sample, other: Sample, count: int
) -> tuple[Example, ...]:
    """The positions where two evaluators differ most."""
    place = (
        {int(row): i for i, row in enumerate(_rows(one).tolist())} if disagreement.disputed else {}
    )
    shown = []
    for each in disagreement.disputed[:count]:
        i = place[each.row]
        values = " and ".join(_value_of(positions, sample, i) for sample in (one, other))
        game, ply = int(positions.game_ids[each.row]), int(positions.plies[each.row])
        shown.append(Example(game, ply, values, each.result))
    return tuple(shown)


def _examples(positions: Measured, sample: Sample, rows: Sequence[int]) -> tuple[Example, ...]:
    places = _rows(sample)
    return tuple(
        Example(
            int(positions.game_ids[places[row]]),
            int(positions.plies[places[row]]),
            _value_of(positions, sample, row),
            float(sample.results[row]),
        )
        for row in rows
    )


def _value_of(positions: Measured, sample: Sample, row: int) -> str:
    value = float(sample.values[row])
    if np.isinf(value):
        won = result_words(positions.study.game, float(value > 0)).removesuffix(" won")
        return f"{sample.name} says that {won} mates"
    return f"{sample.name} says {value_text(value, sample.unit)}"


def _rows(sample: Sample) -> NDArray[np.int64]:
    """Rows of a sample's positions in its source."""
    return np.arange(len(sample)) if sample.rows is None else sample.rows


def _of_different_games(sample: Sample, rows: NDArray[Any], count: int) -> list[int]:
    """The first of these rows, at most one per game."""
    seen: dict[int, int] = {}
    for row in rows.tolist():
        seen.setdefault(int(sample.games[row]), row)
        if len(seen) >= count:
            break
    return list(seen.values())


def boards_of(study: Study, examples: Iterable[Example]) -> dict[Example, Board]:
    """Render the boards of examples, reading each game once."""
    by_game: dict[int, set[Example]] = {}
    for example in examples:
        by_game.setdefault(example.game_id, set()).add(example)
    if by_game and not hasattr(position(study.game), "cells"):
        raise StudyError(f"{study.game} can't be drawn: its positions need a property `cells`")
    boards = {}
    for game_id, record in study.records(list(by_game)):
        for example in by_game[game_id]:
            boards[example] = _board(study, record, example)
    return boards


def shown_boards(boards: Mapping[Example, Board], examples: Iterable[Example]) -> tuple[Board, ...]:
    """The boards of some examples."""
    return tuple(boards[example] for example in examples)


def _board(study: Study, record: Record, example: Example) -> Board:
    last = record.move_list[example.ply - 1] if example.ply else None
    first, second = (
        shorten(name, _LONGEST_NAME) or title
        for name, title in zip(
            (record.first, record.second), player_titles(study.game), strict=True
        )
    )
    words = (
        f"{first} – {second}, ply {example.ply}: {example.values}; "
        f"{result_words(study.game, example.result)}{_how(record)}."
    )
    return Board(diagram(record.position(example.ply), last=last), words)


def _how(record: Record) -> str:
    return {
        "time": " on time",
        "illegal": " by an illegal move",
        "forfeit": " by forfeit",
    }.get(record.ending, "")


def player_titles(game: str) -> tuple[str, str]:
    """The game's names of the two players, capitalized."""
    first, second = (
        name.removeprefix("the ").capitalize() for name in facts_named(game).naming.players
    )
    return first, second


def result_words(game: str, result: float) -> str:
    """Result of the game, as text."""
    if result not in (0, 1):
        return "drawn"
    return f"{facts_named(game).naming.players[0 if result == 1 else 1]} won"
