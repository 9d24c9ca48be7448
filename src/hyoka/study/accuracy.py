# SPDX-License-Identifier: Apache-2.0
"""The moves of a study between evaluated positions, with the expected scores of their players."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.accuracy import (
    CLASSES,
    AccuracySettings,
    CoveredMoves,
    Finals,
    Moves,
    WorstMove,
    expected_scores,
)
from hyoka.foundation.errors import Error, ParameterError, StudyError
from hyoka.games import facts_named, is_in_python
from hyoka.records.bulk import UNFINISHED
from hyoka.study.sampling import (
    EVALUATION_COLUMNS,
    EVALUATOR,
    PHASE,
    Measured,
    Question,
    evaluated_positions,
    evaluation_columns_in,
    evaluator_titles,
    measured,
    quoted,
)
from hyoka.study.sql import check_condition
from hyoka.study.tables import find_positions

if TYPE_CHECKING:
    from hyoka.study.study import Study

CLOCK: Final = "clock"
"""Divides moves by the mover's time left, in seconds."""
_FIRST: Final = "first_to_play"
_NO_PAIRS: Final = (
    "no two consecutive positions have evaluations; evaluate all positions of the games"
)


@dataclass(frozen=True, eq=False)
class StudyMoves:
    """The moves of a study that one evaluator evaluated before and after."""

    name: str
    """The stored name of the evaluator."""
    title: str
    moves: Moves
    game_ids: NDArray[np.int64] = field(repr=False)
    plies: NDArray[np.int32] = field(repr=False)
    """Game and ply of the position before each move."""
    by: NDArray[Any] | None = field(repr=False)
    """The value that divides the moves."""
    coverage: CoveredMoves
    caveats: tuple[str, ...]


def load_moves(
    study: "Study", name: str, question: Question, settings: AccuracySettings
) -> StudyMoves:
    """Load the moves of an evaluator; `question.where` selects the positions before them.

    Scores become expected scores by a curve of all positions with a result. Where a game ended on
    the board, its result is the expected score after the last move.
    """
    loaded, columns = _load_positions(study, name, question)
    study = loaded.study  # of a large study, a random sample of the games
    [title] = evaluator_titles(study, [name])
    expected, how = expected_scores(loaded.samples[0], settings.curve)
    every = Moves.of(
        expected,
        loaded.game_ids,
        loaded.plies,
        columns[_FIRST].astype(np.bool_),
        _finals(study, loaded.game_ids),
    )
    moves = every
    if question.where is not None:
        moves = every.where(columns[question.where].astype(np.bool_)[every.rows])
    if not len(moves):
        which = f" where {question.where}" if len(every) else ""
        raise StudyError(f"{study.path}, {title}{which}: {_NO_PAIRS}")
    by = None if question.expression is None else columns[question.expression]
    missing = _count_moves(study, name, question.where) - len(moves)
    return StudyMoves(
        name,
        title,
        moves,
        loaded.game_ids[moves.rows],
        loaded.plies[moves.rows],
        None if by is None else by[moves.rows],
        CoveredMoves(title, len(moves), len(np.unique(moves.games)), missing),
        (f"{title}: {how}.", *([f"{loaded.note}."] if loaded.note else []), *loaded.caveats),
    )


def _load_positions(
    study: "Study", name: str, question: Question
) -> tuple[Measured, Mapping[str, NDArray[Any]]]:
    """Load all evaluated positions, and columns by the text of the question.

    The columns are the side to move, whether a position meets the question's condition, and the
    value that divides the moves.
    """
    sql = {_FIRST: _FIRST}
    if question.where is not None:
        usable = [*study.condition_columns(), EVALUATOR, *EVALUATION_COLUMNS]
        checked = check_condition(question.where, usable)
        sql[question.where] = f"case when {checked} then true else false end"
    by = question.expression
    if by is not None and by not in (PHASE, CLOCK):
        sql[by] = of_mover(study.game).get(by, by)
    everywhere = Question(
        draws="half", axis=question.axis, link=question.link, memory=question.memory
    )
    loaded = measured(study, name, everywhere, columns=list(dict.fromkeys(sql.values())))
    columns = {text: loaded.columns[expression] for text, expression in sql.items()}
    if by == PHASE:
        columns[PHASE] = loaded.plies
    elif by == CLOCK:
        columns[CLOCK] = _clocks(loaded.study, loaded)
    return loaded, columns


def of_mover(game: str) -> dict[str, str]:
    """SQL of the properties of the player to move, by the words that divide moves by them."""
    first, second = map(quoted, facts_named(game).naming.colors)
    choices = {
        "player": ('"first"', '"second"'),
        "color": (first, second),
        "rating": ("first_rank", "second_rank"),
    }
    return {
        word: f"case when {_FIRST} then {one} else {other} end"
        for word, (one, other) in choices.items()
    }


def _clocks(study: "Study", loaded: Measured) -> NDArray[np.float64]:
    """Return the time left to the mover at each position, from the remark on its last move."""
    rows = study.sql(
        "select game_id, ply + 1 as ply, max(clock_s)::double as clock from remarks "
        "where clock_s is not null group by game_id, ply order by game_id, ply"
    )
    if not len(rows):
        raise ParameterError("by", "cannot be clock: the records state no time left")
    place, exists = find_positions(rows, loaded.game_ids, loaded.plies)
    clocks = np.append(rows["clock"].to_numpy(), np.nan)
    return np.where(exists, clocks[place], np.nan)


def _finals(study: "Study", game_ids: NDArray[np.int64]) -> Finals:
    """Return the final positions of those games that ended on the board."""
    rows = study.sql("select game_id, plies from games order by game_id")
    games, plies = (rows[name].to_numpy() for name in ("game_id", "plies"))
    chosen = np.isin(games, game_ids)
    games, plies = games[chosen], plies[chosen].astype(np.int32)
    table = study.game_table_of(games, plies)
    if is_in_python(study.game):
        from hyoka.search import EXACT_METHODS  # noqa: PLC0415 - few studies need searches

        values = map(EXACT_METHODS["rules"], table.positions())
        results = np.array([np.nan if each is None else each for each in values])
    else:
        outcomes = table.outcomes()
        results = np.where(outcomes == UNFINISHED, np.nan, (1.0 + outcomes) / 2)
    over = ~np.isnan(results)
    return Finals(games[over], plies[over], results[over])


def _count_moves(study: "Study", name: str, where: str | None) -> int:
    """Count the moves after positions that meet a condition."""
    columns = study.condition_columns()
    texts = [] if where is None else [where]
    source = (
        evaluated_positions(study, [name]) if evaluation_columns_in(texts, columns) else "positions"
    )
    condition = (
        "true"
        if where is None
        else check_condition(where, [*columns, EVALUATOR, *EVALUATION_COLUMNS])
    )
    [count] = study.sql(f"select count(*) as n from {source} where ply < plies and {condition}")[
        "n"
    ].to_pylist()
    return int(count)


def worst_moves(
    study: "Study", loaded: StudyMoves, settings: AccuracySettings
) -> tuple[WorstMove, ...]:
    """Describe the moves with the largest losses, of which the earliest come first."""
    moves = loaded.moves
    bad = np.argsort(-moves.losses, kind="stable")[: settings.top]
    bad = bad[moves.losses[bad] > 0]
    places = list(zip(loaded.game_ids[bad].tolist(), loaded.plies[bad].tolist(), strict=True))
    best = _best_moves(study, loaded.name, places)
    kinds = ("", *CLASSES)
    return tuple(
        WorstMove(
            loaded.title,
            game,
            ply,
            *_texts(study, game, ply, bool(moves.by_first[i]), best.get((game, ply))),
            float(moves.before[i]),
            float(moves.after[i]),
            kinds[kind],
        )
        for i, kind, (game, ply) in zip(
            bad.tolist(), settings.classes(moves.losses[bad]).tolist(), places, strict=True
        )
    )


def _best_moves(
    study: "Study", name: str, places: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], str]:
    """Return an evaluator's best moves at some positions, where it stored them."""
    here = " or ".join(f"(game_id = {game} and ply = {ply})" for game, ply in places) or "false"
    rows = study.sql(
        f"select game_id, ply, best from evaluations where engine = {quoted(name)} "
        f"and best is not null and ({here})"
    )
    return {(row["game_id"], row["ply"]): row["best"] for row in rows.to_pylist()}


def _texts(
    study: "Study", game: int, ply: int, by_first: bool, best: str | None
) -> tuple[str, str, str]:
    """Return the player, the move and a better move as text for people."""
    record = study.record(game)
    position, move = record.position(ply), record.move_list[ply]
    player = record.first if by_first else record.second
    format_move = facts_named(study.game).naming.format_move
    played = format_move(position, move)
    if best is None:
        return player, played, ""
    try:
        better = format_move(position, position.parse(best))
    except Error:  # a table may have any text
        better = best
    return player, played, "" if better == played else better
