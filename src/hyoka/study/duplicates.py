# SPDX-License-Identifier: Apache-2.0
"""Merging of duplicates: their additional data are added to the original game.

The first game keeps its data; a duplicate adds what is missing:

- a comment, sign (NAG) or SGF property on a position that is not there yet,
- an evaluation by an author who has none at that ply, and clocks and times,
- a tag, a player's name or rating, a date, a result and so on that the first game lacks.

If both name a player differently, the duplicate is another game with the same moves. Then no tags
are added, and evaluations by its players lose their author.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hyoka.records.record import SEPARATOR
from hyoka.storage.manifest import Change, Part, read_part
from hyoka.study.tables import REMARK_SCHEMA

_Row = dict[str, Any]

_EVALUATION: Final = ("value", "score", "mate", "depth", "nodes", "author")
_ORDER: Final = ("first", "second", None)
"""Evaluations of one position by several authors."""
_OWN: Final = frozenset(
    (
        *("game_id", "source", "line", "number", "plies", "start", "moves", "duplicate_of"),
        *("tags", "result", "ending", "margin"),
    )
)
"""Columns of games that are not merged separately."""
_OPTIONAL: Final = ("nags", "text", "properties", "nodes")
_PROPERTY: Final = re.compile(r"([A-Z]+)((?:\[(?:\\.|[^\]\\])*\])+)", re.DOTALL)


@dataclass(frozen=True)
class _Collected:
    """The comments and tags of a part's duplicates, in two files."""

    games: Path
    remarks: Path
    low: int
    """The lowest and highest numbers of the original games."""
    high: int


class DuplicateMerger:
    """Collects the data of duplicates during an import, and merges them at the end.

    Temporary files keep memory constant. A part that gains data is rewritten: parts of this change
    in place, earlier ones under a new number.
    """

    def __init__(self, change: Change) -> None:
        self.merged = 0
        """The number of duplicates that added data."""
        self.evaluations = 0
        """The number of evaluations that they added."""
        self._change = change
        self._earlier = {part.name for part in change.parts}
        self._collected: dict[int, _Collected] = {}

    def collect(self, number: int, games: pa.Table, remarks: pa.Table) -> None:
        """Store the duplicates of a part: their rows of games, and their remarks."""
        if not len(games):
            return
        originals = games["duplicate_of"]
        of_duplicates = remarks.append_column(
            "duplicate_of", originals.take(pc.index_in(remarks["game_id"], games["game_id"]))
        )
        self._collected[number] = _Collected(
            self._keep(games.drop_columns(["moves"]), f"games-{number}"),
            self._keep(of_duplicates, f"remarks-{number}"),
            *(int(each.as_py()) for each in pc.min_max(originals).values()),
        )

    def _keep(self, rows: pa.Table, name: str) -> Path:
        # If this change is killed, the next one removes the file as an unfinished part.
        path = self._change.file.parent / "games" / f".part-duplicates-{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, path)
        return path

    def apply(self) -> None:
        """Merge all collected data into the parts of the change."""
        first = 0
        for part in [part for part in self._change.parts if part.table == "games"]:
            last = first + part.rows
            here = [
                collected
                for _, collected in sorted(self._collected.items())
                if collected.low < last and collected.high >= first
            ]
            if here:
                self._merge(part, here, first, last)
            first = last
        for collected in self._collected.values():
            collected.games.unlink()
            collected.remarks.unlink()
        self._collected.clear()

    def _merge(self, part: Part, here: Sequence[_Collected], first: int, last: int) -> None:
        """Merge duplicates into the part that contains their originals."""
        beside = next((p for p in self._change.parts if p.name == _beside(part, "remarks")), None)
        games = self._read(part)
        remarks = REMARK_SCHEMA.empty_table() if beside is None else self._read(beside)
        before: dict[int, _Row] = {}
        rows: dict[int, _Row] = {}
        notes: dict[int, list[_Row]] = {}
        changed: set[int] = set()
        for collected in here:
            of_part = (pc.field("duplicate_of") >= first) & (pc.field("duplicate_of") < last)
            duplicates = pq.read_table(collected.games, filters=of_part)
            unknown = _unknown(pq.read_table(collected.remarks, filters=of_part), remarks)
            for row in _rows_of(games.drop_columns(["moves"]), duplicates["duplicate_of"], before):
                before[row["game_id"]] = dict(row)
                rows[row["game_id"]] = row
            for row in _rows_of(remarks, unknown["duplicate_of"], notes):
                notes.setdefault(row["game_id"], []).append(row)
            new = _by_game(unknown.drop_columns(["duplicate_of"]).to_pylist())
            for duplicate in duplicates.to_pylist():
                original = duplicate["duplicate_of"]
                same_players = _same_players(rows[original], duplicate)
                added = same_players and _fill_in(rows[original], duplicate)
                others = [row | {"game_id": original} for row in new.get(duplicate["game_id"], [])]
                gained, evaluations = False, 0
                if others:  # the rows of the original have been loaded before
                    gained, evaluations = merge_remarks(
                        notes.setdefault(original, []), others, same_players=same_players
                    )
                if gained:
                    changed.add(original)
                self.merged += added or gained
                self.evaluations += evaluations
        filled = _with_changes(games, before, rows)
        if changed:
            remarks = _with_rows(remarks, {game: notes[game] for game in changed})
        self._replace(
            part, beside, None if filled is games else filled, remarks if changed else None
        )

    def _read(self, part: Part) -> pa.Table:
        return read_part(self._change.file.parent / part.name)

    def _replace(
        self, part: Part, beside: Part | None, games: pa.Table | None, remarks: pa.Table | None
    ) -> None:
        """Replace tables of a part; None keeps one."""
        if games is None and remarks is None:
            return
        change = self._change
        parts = change.parts
        number = part.number
        if part.name in self._earlier:  # readers of the former manifest still use these files
            number = change.next_number
            change.next_number += 1
            for table in ("positions", "remarks" if remarks is None else ""):
                for i, each in enumerate(parts):
                    if table and each.name == _beside(part, table):
                        parts[i] = change.copy(each, number)
            games = self._read(part) if games is None else games
        if games is not None:
            parts[parts.index(part)] = change.write(games, "games", number)
        if remarks is not None and beside is not None:
            parts[parts.index(beside)] = change.write(remarks, "remarks", number)
        elif remarks is not None:
            parts.append(change.write(remarks, "remarks", number))


def _beside(part: Part, table: str) -> str:
    """Return the name of another table's part with the same number."""
    return f"{table}/{part.name.rpartition('/')[2]}"


def _unknown(of_duplicates: pa.Table, remarks: pa.Table) -> pa.Table:
    """Return the rows of duplicates that are not stored yet."""
    keys = _keys(remarks["game_id"], remarks["ply"])
    positions = _keys(of_duplicates["duplicate_of"], of_duplicates["ply"])
    if not len(keys):
        return of_duplicates
    at = np.minimum(np.searchsorted(keys, positions), len(keys) - 1)
    same = pa.array(keys[at] == positions)
    there = remarks.take(pa.array(at))
    for name in REMARK_SCHEMA.names[1:]:
        mine, theirs = (t[name] if name in t.column_names else None for t in (there, of_duplicates))
        empty = [None if each is None else each.is_null() for each in (mine, theirs)]
        if mine is None or theirs is None or pa.types.is_list(theirs.type):
            equal = None  # lists are not compared: rows with NAGs count as new
        else:
            equal = pc.fill_null(pc.equal(mine, theirs), False)
        silent = [
            pa.array(np.full(len(of_duplicates), True)) if each is None else each for each in empty
        ]
        both_silent = pc.and_(*silent)
        same = pc.and_(same, both_silent if equal is None else pc.or_(equal, both_silent))
    return of_duplicates.filter(pc.invert(same))


def _keys(games: pa.ChunkedArray, plies: pa.ChunkedArray) -> NDArray[np.int64]:
    """Combine game and ply into one sortable number."""
    keys: NDArray[np.int64] = (games.to_numpy().astype(np.int64) << 32) | plies.to_numpy()
    return keys


def _rows_of(table: pa.Table, ids: pa.ChunkedArray, loaded: Container[int]) -> list[_Row]:
    """Return the rows of some games, without those already stored."""
    games = [game for game in ids.unique().to_pylist() if game not in loaded]
    rows: list[_Row] = table.filter(
        pc.is_in(table["game_id"], pa.array(games, pa.int64()))
    ).to_pylist()
    return rows


def _by_game(rows: Iterable[_Row]) -> dict[int, list[_Row]]:
    by_game: dict[int, list[_Row]] = {}
    for row in rows:
        by_game.setdefault(row["game_id"], []).append(row)
    return by_game


def _same_players(game: _Row, other: _Row) -> bool:
    """Whether no player's name differs; an unknown name contradicts none."""
    names = ((game[side] or "", other[side] or "") for side in ("first", "second"))
    return all(not a or not b or a.casefold() == b.casefold() for a, b in names)


def _fill_in(game: _Row, other: _Row) -> bool:
    """Fill a game's missing fields from another; return whether there were any."""
    before = dict(game)
    for name, value in other.items():
        if name in game and name not in _OWN and game[name] in (None, ""):
            game[name] = value
    if not game.get("handicap") and other.get("handicap"):
        game["handicap"] = other["handicap"]
    if game["result"] is None and other["result"] is not None:
        game.update({name: other[name] for name in ("result", "ending", "margin")})
    elif game["result"] == other["result"]:
        if game["ending"] == "unknown":
            game["ending"] = other["ending"]
        if game["margin"] is None:
            game["margin"] = other["margin"]
    tags = dict(game.get("tags") or ())
    more = [tag for tag in other.get("tags") or () if tag[0] not in tags]
    if more and "tags" in game:
        game["tags"] = [*(game["tags"] or ()), *more]
    return game != before


def merge_remarks(
    remarks: list[_Row], others: Sequence[_Row], *, same_players: bool = True
) -> tuple[bool, int]:
    """Merge remarks into a game's positions; return whether any were new, and the value count.

    If a position has several rows, the first has the text; each has an evaluation by another
    author. If the players differ, the evaluations get no author.
    """
    by_ply: dict[int, list[_Row]] = {}
    for row in remarks:
        by_ply.setdefault(row["ply"], []).append(row)
    gained, evaluations = False, 0
    for other in others:
        remark = other if same_players else other | {"author": None}
        here = by_ply.setdefault(remark["ply"], [])
        if not here:
            here.append(_empty(remark))
        words = _add_words(here[0], remark)
        evaluated = _add_evaluation(here, remark)
        gained |= words or evaluated
        evaluations += evaluated and _has_evaluation(remark)
    remarks[:] = [row for ply in sorted(by_ply) for row in by_ply[ply]]
    return gained, evaluations


def _empty(remark: _Row) -> _Row:
    """Return an empty row for the same position."""
    row: _Row = dict.fromkeys(REMARK_SCHEMA.names)
    return row | {"game_id": remark["game_id"], "ply": remark["ply"], "book": False}


def _has_evaluation(remark: _Row) -> bool:
    return any(remark[name] is not None for name in ("value", "score", "mate"))


def _add_words(row: _Row, other: _Row) -> bool:
    before = dict(row)
    for name in ("clock_s", "spent_s"):
        if row[name] is None:
            row[name] = other[name]
    row["book"] = row["book"] or other["book"]
    mine, theirs = row.get("nags") or [], other.get("nags") or []
    if more := [nag for nag in theirs if nag not in mine]:
        row["nags"] = [*mine, *more]
    row["text"] = _joined_texts(row.get("text"), other.get("text"))
    row["properties"] = _joined_properties(row.get("properties"), other.get("properties"))
    return any(row[name] != before.get(name) for name in row)


def _joined_texts(text: str | None, other: str | None) -> str | None:
    """Join the distinct comments of both."""
    if not text or not other:
        return text or other
    comments = text.split(SEPARATOR)
    texts = {comment.strip() for comment in comments}
    for comment in other.split(SEPARATOR):
        if comment.strip() not in texts:
            texts.add(comment.strip())
            comments.append(comment)
    return SEPARATOR.join(comments)


def _joined_properties(properties: str | None, other: str | None) -> str | None:
    """Join an SGF node's properties with the missing ones of another."""
    if not properties or not other:
        return properties or other
    names = {name for name, _ in _PROPERTY.findall(properties)}
    more = (name + values for name, values in _PROPERTY.findall(other) if name not in names)
    return properties + "".join(more)


def _add_evaluation(rows: list[_Row], other: _Row) -> bool:
    """Add an evaluation by an author without one here."""
    evaluations = [
        {name: row.get(name) for name in _EVALUATION} for row in rows if _has_evaluation(row)
    ]
    if not _has_evaluation(other):
        if evaluations or rows[0]["depth"] is not None or other["depth"] is None:
            return False
        rows[0]["depth"] = other["depth"]
        return True
    if any(each["author"] == other["author"] for each in evaluations):
        return False
    evaluations.append({name: other.get(name) for name in _EVALUATION})
    evaluations.sort(key=lambda each: _ORDER.index(each["author"]))
    rows += [_empty(other) for _ in range(len(evaluations) - len(rows))]
    for row, evaluation in zip(rows, evaluations, strict=True):
        row.update(evaluation)
    return True


def _with_changes(games: pa.Table, before: dict[int, _Row], after: dict[int, _Row]) -> pa.Table:
    """Replace the cells that differ; return the same table if there are none."""
    places = {game: i for i, game in enumerate(games["game_id"].to_pylist()) if game in after}
    for index, field in enumerate(games.schema):
        changes = {
            places[game]: row[field.name]
            for game, row in after.items()
            if field.name in row and row[field.name] != before[game][field.name]
        }
        if changes:
            cells = games[field.name].to_pylist()
            for place, value in changes.items():
                cells[place] = value
            games = games.set_column(index, field, pa.array(cells, field.type))
    return games


def _with_rows(remarks: pa.Table, rows: dict[int, list[_Row]]) -> pa.Table:
    """Replace the rows of some games in a table of remarks."""
    others = remarks.filter(
        pc.invert(pc.is_in(remarks["game_id"], pa.array(list(rows), pa.int64())))
    )
    new = pa.Table.from_pylist(
        [{**_empty(row), **row} for each in rows.values() for row in each], REMARK_SCHEMA
    )
    table = pa.concat_tables([others, new], promote_options="default")
    table = table.take(np.lexsort((table["ply"], table["game_id"])))
    silent = [name for name in _OPTIONAL if table[name].null_count == len(table)]
    return table.drop_columns(silent).combine_chunks()
