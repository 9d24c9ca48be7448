# SPDX-License-Identifier: Apache-2.0
"""What exact methods know of positions, kept beside what the records say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from hyoka._core import Othello, Player
from hyoka.errors import StudyError
from hyoka.search import find_mate, solve_ending
from hyoka.study.layout import now, part_name, parts, write_part, write_toml
from hyoka.study.study import ADJUDICATION_SCHEMA, Study

Method = Callable[[Any], float | None]
"""The first player's exact result of a position (1, 0.5, 0), or None if the method can't tell."""
_PART_ROWS: Final = 200_000
_MATE_NODES: Final = 10_000
_SOLVED_EMPTIES: Final = 14


def by_rules(position: Any) -> float | None:
    """What the rules say of a finished game: mate, stalemate, a full board, dead positions."""
    outcome = position.outcome
    return None if outcome is None else float(outcome.value)


def by_mate(position: Any) -> float | None:
    """What the rules say, or a mate that 10,000 nodes of searching find (chess, shogi)."""
    over = by_rules(position)
    if over is not None:
        return over
    mate = find_mate(position, nodes=_MATE_NODES, hash_mib=1)
    return None if mate.verdict != "mate" else float(position.to_play is Player.first)


def by_solving(position: Any) -> float | None:
    """The exact result of an Othello position with few empty squares."""
    over = by_rules(position)
    if over is not None or not isinstance(position, Othello):
        return over
    if int((position.cells == 0).sum()) > _SOLVED_EMPTIES:
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
    solver: Method | None = None,
    progress: Callable[[int], None] | None = None,
) -> AdjudicationReport:
    """Ask an exact method about positions and keep what it knows in the study.

    `where` chooses the positions; by default those at the end of each game. Positions asked before
    by the same method are asked again, and its former answers replaced. A `solver` of your own
    is kept under the name `method`.
    """
    solve = solver or METHODS.get(method)
    if solve is None:
        raise StudyError(f"no exact method '{method}'; there are {', '.join(METHODS)}")
    if not method.replace("-", "").replace("_", "").isalnum():
        raise StudyError(f"'{method}' can't be the name of a method: letters, digits, - and _ only")
    condition = where or "ply = plies"
    chosen = study.select(condition, "game_id, ply, result")
    rows = [
        (game, ply, value, result)
        for game, ply, result, value in _solved(study, chosen, solve, progress)
    ]
    folder = study.path / "adjudications" / f"method={method}"
    table = pa.table(
        [pa.array(column) for column in zip(*[row[:3] for row in rows], strict=True)]
        or [pa.array([]) for _ in range(3)],
        names=ADJUDICATION_SCHEMA.names,
    ).cast(ADJUDICATION_SCHEMA)
    former = parts(folder)
    for number, start in enumerate(range(0, max(1, len(table)), _PART_ROWS)):
        write_part(table.slice(start, _PART_ROWS), folder / part_name(number))
    for file in former[number + 1 :]:
        file.unlink()
    write_toml(folder / "method.toml", {"method": method, "where": condition, "created": now()})
    differing = sum(result is not None and value != result for *_, value, result in rows)
    return AdjudicationReport(method, len(chosen), len(rows), differing)


def _solved(
    study: Study, chosen: pa.Table, solve: Method, progress: Callable[[int], None] | None
) -> Iterator[tuple[int, int, float | None, float]]:
    asked: dict[int, list[tuple[int, float | None]]] = {}
    for game, ply, result in zip(*(column.to_pylist() for column in chosen.columns), strict=True):
        asked.setdefault(game, []).append((ply, result))
    for game, record in study.records(list(asked)):
        for ply, result in asked[game]:
            value = solve(record.position(ply))
            if progress is not None:
                progress(1)
            if value is not None:
                yield game, ply, result, value
