# SPDX-License-Identifier: Apache-2.0
"""Explorer: what was played in a position in the games of a study, with results and evaluations.

A position is found by its hash, so that transpositions count. The positions of a study are hashed
and sorted once, and the latest studies stay in memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.pages import LruCache, fragment, studio_of
from hyoka.apps.studio.rooms.board.board_state import BoardState, move_text, word_of
from hyoka.games import game_facts
from hyoka.study.sampling import evaluator_titles
from hyoka.study.tables import find_positions

MOST_POSITIONS: Final = 3_000_000
"""Of a larger study, only the first games are used."""
_STUDIES: Final = 3
_MOVES: Final = 20
_EVALUATORS: Final = 3
UNKNOWN: Final = "–"

Reals = NDArray[np.float32]


@dataclass(frozen=True)
class MovePlayed:
    """A move that was played in a position."""

    word: str
    """As addresses have it."""
    text: str
    games: int
    results: tuple[int, int, int]
    """Games that the first player won, drawn games, and lost ones."""
    values: tuple[str, ...]
    """The evaluators' means after the move."""

    def share(self, which: int) -> float:
        """Share of the games with a result, in percent."""
        total = sum(self.results)
        return 100 * self.results[which] / total if total else 0.0


@dataclass(frozen=True, eq=False)
class PositionIndex:
    """The positions of a study, ordered by hash."""

    game: str
    titles: tuple[str, ...]
    """Of the evaluators."""
    games: int
    is_part: bool
    """Whether further games are left out."""
    hashes: NDArray[np.uint64] = field(repr=False)
    rows: NDArray[np.int32] = field(repr=False)
    """Row of each hash: games and plies in order."""
    played: NDArray[np.int32] = field(repr=False)
    """Code of the move by row; -1 at the end of a game."""
    results: Reals = field(repr=False)
    """The first player's result by row; NaN if unknown."""
    values: tuple[tuple[str, Reals], ...] = field(repr=False)
    """Of each evaluator, the unit (`value` for expected scores) and the values after the moves."""

    @classmethod
    def of(cls, study: hk.Study) -> "PositionIndex":
        """Hash all positions of a study."""
        counts = study.sql("select game_id, plies + 1 as n from games order by game_id")
        ends = np.cumsum(counts["n"].to_numpy())
        within = int(np.searchsorted(ends, MOST_POSITIONS, side="right"))
        is_part = within < len(ends)
        where = "true"
        if is_part:
            where = f"game_id < {counts['game_id'][max(within, 1)].as_py()}"
        positions = study.sql(
            "select game_id, ply, coalesce(adjudicated, result) as result from positions "
            f"where {where} order by game_id, ply"
        )
        ids, plies = positions["game_id"].to_numpy(), positions["ply"].to_numpy()
        table = study.game_table_of(ids, plies)
        hashes = np.fromiter((each.hash for each in table.positions()), np.uint64, len(ids))
        order = np.argsort(hashes, kind="stable")
        names = study.engines[:_EVALUATORS]
        return cls(
            study.game,
            tuple(evaluator_titles(study, names)),
            len(np.unique(ids)),
            is_part,
            hashes[order],
            order.astype(np.int32),
            table.played,
            positions["result"].to_numpy().astype(np.float32),
            tuple(_values(study, name, ids, plies + 1) for name in names),
        )

    def moves(self, table: BoardState) -> list[MovePlayed]:
        """The moves played in the position on the board, the most frequent first."""
        position = table.line.position
        key = np.uint64(position.hash)
        low, high = (np.searchsorted(self.hashes, key, side=side) for side in ("left", "right"))
        rows = self.rows[low:high]
        rows = rows[self.played[rows] >= 0]
        codes, which, counts = np.unique(self.played[rows], return_inverse=True, return_counts=True)
        found = []
        for place in np.argsort(-counts, kind="stable")[:_MOVES].tolist():
            move = game_facts(self.game).move(int(codes[place]))
            if not table.line.is_legal(move):
                continue
            own = rows[which == place]
            results = self.results[own]
            won, drawn, lost = (int((results == points).sum()) for points in (1, 0.5, 0))
            found.append(
                MovePlayed(
                    word_of(move),
                    move_text(position, move, table.facts),
                    int(counts[place]),
                    (won, drawn, lost),
                    tuple(_mean(unit, values[own]) for unit, values in self.values),
                )
            )
        return found


def _values(
    study: hk.Study, name: str, games: NDArray[Any], plies: NDArray[Any]
) -> tuple[str, Reals]:
    """An evaluator's values of positions, or its scores if it has no values; NaN where unknown."""
    quoted = name.replace("'", "''")
    rows = study.sql(
        "select game_id, ply, value::float as value, unit, (case when mate > 0 then 'inf'::float "
        "when mate < 0 then '-inf'::float else score end)::float as score from evaluations "
        f"where engine = '{quoted}' and failed is null order by game_id, ply"
    )
    rows = rows.group_by(["game_id", "ply"], use_threads=False).aggregate(
        [("value", "first"), ("score", "first"), ("unit", "first")]
    )
    has_values = rows["value_first"].null_count < len(rows)
    column = rows["value_first" if has_values else "score_first"]
    units = [unit for unit in rows["unit_first"].unique().to_pylist() if unit]
    place, exists = find_positions(rows, games, plies)
    known = np.append(column.to_numpy().astype(np.float32), np.float32("nan"))
    found = np.where(exists, known[np.minimum(place, len(rows))], np.float32("nan"))
    return "value" if has_values else (units or [""])[0], found.astype(np.float32)


def _mean(unit: str, values: Reals) -> str:
    """The mean of values as text; mates count as certain results, and not among scores."""
    known = values[np.isfinite(values)] if unit != "value" else values[~np.isnan(values)]
    if not len(known):
        return UNKNOWN
    mean = float(known.mean())
    return f"{mean:.0%}" if unit == "value" else f"{mean:+.0f}"


_indexes: Final = LruCache[PositionIndex](_STUDIES)


def index_of(path: Path) -> PositionIndex:
    """The index of a study, which is made again after a change."""
    changed = max(file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file())
    return _indexes.get((path, changed), lambda: PositionIndex.of(hk.Study.open(path)))


def studies_of(folder: Folder, game: str) -> list[str]:
    """The studies of a game."""
    return [each.path for each in folder.items("study") if each.facts.get("game") == game]


def show(request: Request) -> Response:
    """The moves that were played in the position, as a part of the room."""
    table, folder = BoardState.of(request.query_params), studio_of(request).folder
    studies = studies_of(folder, table.game)
    chosen = chosen_study(table, studies)
    values: dict[str, Any] = {"table": table, "studies": studies, "chosen": chosen, "index": None}
    if chosen:
        index = index_of(folder.path(chosen))
        moves = index.moves(table)
        columns = enumerate(zip(*(move.values for move in moves), strict=True))
        shown = [n for n, column in columns if set(column) != {UNKNOWN}]
        values |= {"index": index, "moves": moves, "shown": shown}
    return fragment("board/explorer.html", **values)


def chosen_study(table: BoardState, studies: Sequence[str]) -> str:
    """The study that was asked for, that of the game on the board, or the first."""
    for name in (table.study, table.path):
        if name in studies:
            return name
    return studies[0] if studies else ""


ROUTE: Final = Route("/explorer", show)
