# SPDX-License-Identifier: Apache-2.0
"""What exact methods know of positions, kept beside what the records say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, cast

import pyarrow as pa

from hyoka._core import Player
from hyoka.errors import StudyError
from hyoka.games import AnyGame, Game, Position, facts_of
from hyoka.progress import OnProgress, Tally
from hyoka.search import find_mate, solve_ending
from hyoka.study.layout import now
from hyoka.study.manifest import METHOD, Change, changing, read_part
from hyoka.study.study import Study
from hyoka.study.tables import ADJUDICATION_SCHEMA

Method = Callable[[AnyGame], float | None]
"""The first player's exact result of a position (1, 0.5, 0), or None if the method can't tell."""
Solve = Callable[[Position], float | None]
"""The same of somebody's own, for the positions of a study."""
_PART_ROWS: Final = 200_000
_KINDS: Final = ADJUDICATION_SCHEMA.types
_QUESTIONS: Final = pa.schema([ADJUDICATION_SCHEMA.field(name) for name in ("game_id", "ply")])
_MATE_NODES: Final = 10_000
_SOLVED_EMPTIES: Final = 14


def by_rules(position: AnyGame) -> float | None:
    """What the rules say of a finished game: mate, stalemate, a full board, dead positions."""
    outcome = position.outcome
    return None if outcome is None else float(outcome.value)


def by_mate(position: AnyGame) -> float | None:
    """What the rules say, or a mate that 10,000 nodes of searching find (chess, shogi)."""
    over = by_rules(position)
    if over is not None:
        return over
    mate = find_mate(position, nodes=_MATE_NODES, hash_mib=1)
    return None if mate.verdict != "mate" else float(position.to_play is Player.first)


def by_solving(position: AnyGame) -> float | None:
    """The exact result of an Othello position with few empty squares."""
    over = by_rules(position)
    if over is not None or facts_of(position).ending_solver is None:
        return over
    if int((cast("Game", position).cells == 0).sum()) > _SOLVED_EMPTIES:
        return None
    score = solve_ending(position, hash_mib=1).score
    return 0.5 if score == 0 else float(score > 0)


METHODS: Final[dict[str, Method]] = {"rules": by_rules, "mate": by_mate, "ending": by_solving}
"""Exact methods by name."""


@dataclass(frozen=True)
class AdjudicationReport:
    """What a method found."""

    method: str
    asked: int
    known: int
    differing: int
    """Known results that are not what the record says."""


def adjudicate(
    study: Study,
    method: str = "rules",
    *,
    where: str | None = None,
    solver: Solve | None = None,
    progress: OnProgress | None = None,
) -> AdjudicationReport:
    """Ask an exact method about positions and keep what it knows in the study.

    `where` chooses the positions; by default those at the end of each game. Positions that the
    method was asked about before are asked again; its answers to others stay. A `solver` of your
    own is kept under the name `method`.
    """
    solve: Solve | None = solver or METHODS.get(method)
    if solve is None:
        raise StudyError(f"no exact method '{method}'; there are {', '.join(METHODS)}")
    if not method.replace("-", "").replace("_", "").isalnum():
        raise StudyError(f"'{method}' can't be the name of a method: letters, digits, - and _ only")
    condition = where or "ply = plies"
    chosen = study.select(condition, "game_id, ply, result")
    file = study.path / "adjudications" / f"method={method}" / METHOD
    tally = Tally(progress, method, len(chosen), "positions")
    with changing(file, "adjudicating") as change:
        rows = [
            (game, ply, value, result)
            for game, ply, result, value in _solved(study, chosen, solve, tally)
        ]
        _put_in(change, chosen, [row[:3] for row in rows])
        change.values = {"method": method, "where": condition, "created": now()}
        change.commit()
    differing = sum(result is not None and value != result for *_, value, result in rows)
    return AdjudicationReport(method, len(chosen), len(rows), differing)


def _put_in(change: Change, asked: pa.Table, answers: list[tuple[int, int, float]]) -> None:
    """New answers in the place of the former ones to the same questions."""
    columns = zip(*answers, strict=True) if answers else ((), (), ())
    tables = [
        pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, _KINDS, strict=True)],
            schema=ADJUDICATION_SCHEMA,
        )
    ]
    questions = asked.select(["game_id", "ply"]).cast(_QUESTIONS)
    for part in change.parts:
        former = read_part(change.file.parent / part.name)
        tables.append(former.join(questions, ["game_id", "ply"], join_type="left anti"))
    merged = pa.concat_tables(table.cast(ADJUDICATION_SCHEMA) for table in tables).sort_by(
        [("game_id", "ascending"), ("ply", "ascending")]
    )
    starts = range(0, max(1, len(merged)), _PART_ROWS)
    change.parts = [change.write(merged.slice(start, _PART_ROWS)) for start in starts]


def _solved(
    study: Study, chosen: pa.Table, solve: Solve, tally: Tally
) -> Iterator[tuple[int, int, float | None, float]]:
    table = study.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())
    places = ((game, replay, ply) for game, replay, plies in table.replays() for ply in plies)
    for (game, replay, ply), result in zip(places, chosen["result"].to_pylist(), strict=True):
        value = solve(replay.position(ply))
        tally.add()
        if value is not None:
            yield game, ply, result, value
