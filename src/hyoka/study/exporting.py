# SPDX-License-Identifier: Apache-2.0
"""Games, results and positions as files for other programs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv

from hyoka import _core
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.foundation.text import counted
from hyoka.games import GO, game_facts
from hyoka.records.bulk import GameTable
from hyoka.records.katago import query
from hyoka.records.record import Record, Remark
from hyoka.records.writing import write_records
from hyoka.storage.files import write_bytes
from hyoka.storage.result import TABLES, write_table
from hyoka.study.sampling import chosen_evaluator, nothing_evaluated, titles_text

if TYPE_CHECKING:
    from hyoka.study.study import Study


PACKED: Final = np.dtype(
    [
        ("sfen", "u1", 32),
        ("score", "<i2"),
        ("move", "<u2"),
        ("ply", "<u2"),
        ("result", "i1"),
        ("padding", "u1"),
    ]
)
QUERIES: Final = ".jsonl"
"""The suffix of queries to KataGo."""
_AT_ONCE: Final = 20_000
_MATE: Final = 32_000
"""The score of an immediate mate; a mate in n moves scores n less."""
_MOST: Final = 32_767


@dataclass(frozen=True)
class ExportSummary:
    """The counts of an export."""

    path: str
    positions: int
    left_out: int
    """Positions without data that the format needs: a result, a score, a move played."""
    games: int | None = None
    """Games written, by formats of games."""

    @property
    def sentence(self) -> str:
        """What was written, in one line."""
        if self.games is not None:
            return f"wrote {self.path}: {counted(self.games, 'game')}"
        left_out = f"; {self.left_out:,} excluded" if self.left_out else ""
        return f"wrote {self.path}: {counted(self.positions, 'position')}{left_out}"


Rows = dict[str, list[Any]]


def export_positions(
    study: "Study",
    path: str | Path,
    *,
    evaluator: str | None = None,
    where: str | None = None,
    games: bool = False,
    progress: OnProgress | None = None,
) -> ExportSummary:
    """Write a study's positions with results and an evaluator's scores, by the path's ending.

    `.csv`, `.parquet` and `.json` are tables, from the first player's view. `.txt` has one line
    `POSITION;score;result` for each position, from the first player's view. `.epd` (chess) has
    `ce` for the side to move. `.plain` (chess) is Stockfish's plain text for its trainer, `.bin`
    (shogi) YaneuraOu's PackedSfenValue, both for the side to move. `.jsonl` (Go) is the games as
    queries of KataGo's analysis engine, without evaluations. Scores are those of the named
    evaluator, by default the study's only one. As numbers, mates are ±32000 minus the moves to
    mate; centipawns are rounded to integers, and `.txt` keeps points unrounded.

    `.pgn`, `.sgf`, `.csa`, `.kif` and `.usi` are the games of these positions with their remarks;
    evaluations of a named evaluator replace those of the records. With `games`, tables have a row
    for each game, and are read again as records.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in _NOTATIONS or (games and suffix in TABLES):
        return _export_games(study, file, evaluator, where, progress)
    if suffix == QUERIES:
        return _export_queries(study, file, where, progress)
    if games:
        raise ParameterError("games", f"needs a table ({', '.join(TABLES)}), not '{file.name}'")
    if suffix not in (*TABLES, *_WRITERS):
        choices = ", ".join((*TABLES, *_WRITERS, QUERIES, *_NOTATIONS))
        raise ParameterError("output", f"ends in {choices}, not '{file.name}'")
    word = _WORDS_OF.get(suffix)
    if word is not None and game_facts(study.game).formats.start_word != word:
        raise ParameterError(
            "output", f"{suffix} stores positions as {word.upper()}, which {study.game} lacks"
        )
    chosen = _chosen(study, evaluator, where, needed=suffix in _WRITERS and suffix != ".epd")
    ids, plies = chosen["game_id"].to_numpy(), chosen["ply"].to_numpy()
    tally = Tally(progress, file.name, len(chosen), "positions")
    tables, pieces, written = [], [], 0
    at = 0
    for chunk in study.game_table_of(ids, plies).chunks(_AT_ONCE):
        rows = _rows(chunk, chosen.slice(at, len(chunk)))
        at += len(chunk)
        if suffix in TABLES:
            tables.append(pa.table(rows | {"position": [each.text for each in rows["position"]]}))
            written += len(chunk)
        else:
            complete = _complete_rows(rows, suffix)
            pieces.append(_WRITERS[suffix](complete))
            written += len(complete["position"])
        tally.reach(at)
    if written == 0:
        raise _no_position_error(chosen, suffix)
    if suffix in TABLES:
        write_table(pa.concat_tables(tables, promote_options="permissive"), file)
    else:
        write_bytes(file, b"".join(pieces))
    return ExportSummary(str(file), written, len(chosen) - written)


_NOTATIONS: Final = (".pgn", ".sgf", ".blksgf", ".csa", ".kif", ".kifu", ".usi")
_OF_GAMES: Final = (
    *("game", "first", "second", "first_rating", "second_rating", "event", "round", "place"),
    *("date", "rules", "time_control", "opening", "komi", "handicap", "result", "ending", "margin"),
    "start",
)
"""Fields of records in tables of games."""


def _export_games(
    study: "Study",
    file: Path,
    evaluator: str | None,
    where: str | None,
    progress: OnProgress | None,
) -> ExportSummary:
    """Write the games of chosen positions as records or as a table."""
    chosen = study.select(where, "game_id")["game_id"].to_numpy()
    games = np.unique(chosen)
    if not len(games):
        raise StudyError("no position meets the condition")
    tally = Tally(progress, file.name, len(games), "games")

    def records() -> Iterator[tuple[int, Record]]:
        for each in _evaluated(study, games.tolist(), evaluator):
            yield each
            tally.add()

    if file.suffix.lower() in TABLES:
        rows = []
        for number, record in records():
            moves = " ".join(record.move_texts())
            fields = {name: getattr(record, name) for name in _OF_GAMES}
            rows.append({"game_id": number, **fields, "moves": moves})
        write_table(pa.Table.from_pylist(rows), file)
    else:
        write_records((record for _, record in records()), file)
    return ExportSummary(str(file), len(chosen), 0, games=len(games))


def _evaluated(
    study: "Study", games: list[int], evaluator: str | None
) -> Iterator[tuple[int, Record]]:
    """Games, with an evaluator's evaluations instead of those of the records if it is named."""
    if evaluator is None:
        yield from study.records(games)
        return
    name = chosen_evaluator(study, evaluator).replace("'", "''")
    table = study.sql(
        f"select game_id, ply, {', '.join(_EVALUATED)} from evaluations "
        f"where engine = '{name}' and failed is null order by game_id, ply"
    )
    ids = table["game_id"].to_numpy()
    for number, record in study.records(games):
        low, high = np.searchsorted(ids, [number, number + 1])
        remarks = {
            each.ply: replace(
                each, value=None, score=None, mate=None, depth=None, nodes=None, author=None
            )
            for each in record.remarks
        }
        for row in table.slice(low, high - low).to_pylist():
            remark = remarks.get(row["ply"], Remark(row["ply"]))
            remarks[row["ply"]] = replace(remark, **{name: row[name] for name in _EVALUATED})
        yield number, replace(record, remarks=tuple(remarks[ply] for ply in sorted(remarks)))


_EVALUATED: Final = ("value", "score", "mate", "depth", "nodes")


def _export_queries(
    study: "Study", file: Path, where: str | None, progress: OnProgress | None
) -> ExportSummary:
    """Write the games of chosen positions as queries to KataGo, which ask for these positions."""
    if game_facts(study.game).family != GO:
        raise ParameterError("output", f"{QUERIES} stores games of Go, not {study.game}")
    chosen = study.select(where, "game_id, ply")
    games, counts = np.unique(chosen["game_id"].to_numpy(), return_counts=True)
    plies = np.split(chosen["ply"].to_numpy(), np.cumsum(counts)[:-1])
    tally = Tally(progress, file.name, len(games), "games")
    lines = []
    for (number, record), turns in zip(study.records(games.tolist()), plies, strict=True):
        turns_asked = sorted(turns.tolist())
        moves = record.move_texts()
        lines.append(query(number, record.position(0), moves, turns_asked, record.rules))
        tally.reach(len(lines))
    if not lines:
        raise StudyError("no position meets the condition")
    write_bytes(file, "".join(lines).encode())
    return ExportSummary(str(file), len(chosen), 0, games=len(games))


def _chosen(study: "Study", evaluator: str | None, where: str | None, *, needed: bool) -> pa.Table:
    """Iterate over the positions in order, with results and evaluations."""
    columns = "game_id, ply, first_to_play, coalesce(adjudicated, result) as result"
    chosen = study.select(where, columns)
    if evaluator is None and not study.engines:
        if needed:
            raise nothing_evaluated(study)
        return chosen
    if evaluator is None and len(study.engines) != 1:
        there = titles_text(study, study.engines)
        raise ParameterError("evaluator", f"is required, one of {there}")
    name = chosen_evaluator(study, evaluator or study.engines[0])
    quoted = name.replace("'", "''")
    evaluations = study.sql(
        "select game_id, ply, value, score, unit, mate, best from evaluations "
        f"where engine = '{quoted}' and failed is null"
    )
    joined = chosen.join(evaluations, ["game_id", "ply"])
    return joined.sort_by([("game_id", "ascending"), ("ply", "ascending")])


def _no_position_error(chosen: pa.Table, suffix: str) -> StudyError:
    """Build the error for an export without a complete position."""
    has = {
        name: name in chosen.column_names and chosen[name].null_count < len(chosen)
        for name in ("value", "score", "mate")
    }
    if suffix != ".epd" and has["value"] and not (has["score"] or has["mate"]):
        return StudyError(
            f"the evaluator has values (0 to 1) but no scores, which {suffix} needs; use "
            f"{', '.join(TABLES[:-1])} or {TABLES[-1]} instead"
        )
    return StudyError(
        f"no position has what {suffix} needs: a result"
        + ("" if suffix == ".epd" else " and a score")
        + (", and a played move" if suffix in _WITH_MOVES else "")
    )


def _rows(chunk: GameTable, chosen: pa.Table) -> Rows:
    facts = game_facts(chunk.game)
    positions = list(chunk.positions())
    moves = [None if code < 0 else str(facts.move(code)) for code in chunk.played.tolist()]
    return {"position": positions, "move": moves} | {
        name: chosen[name].to_pylist() for name in chosen.column_names
    }


def _complete_rows(rows: Rows, suffix: str) -> Rows:
    """Keep rows with all data that a format needs, with scores as numbers."""
    count = len(rows["position"])
    unknown = [None] * count
    columns = (rows.get(name, unknown) for name in ("score", "mate", "unit"))
    scores = [
        _number(score, mate, whole=unit == "centipawns" or suffix != ".txt")
        for score, mate, unit in zip(*columns, strict=True)
    ]
    keep = [
        i
        for i in range(count)
        if rows["result"][i] is not None
        and (scores[i] is not None or suffix == ".epd")
        and (rows["move"][i] is not None or suffix not in _WITH_MOVES)
    ]
    rows = rows | {"score": scores}
    return {name: [values[i] for i in keep] for name, values in rows.items()}


def _number(score: float | None, mate: int | None, *, whole: bool) -> float | None:
    if mate is not None:
        return (_MATE - abs(mate)) * (1 if mate > 0 else -1)
    if score is None:
        return None
    return min(max(round(score) if whole else score, 1 - _MATE), _MATE - 1)


def _views(rows: Rows) -> Iterator[tuple[Any, Any, float | None, int]]:
    """Return position, move, score and result (1, 0, -1) for the side to move."""
    names = ("position", "move", "score", "result", "first_to_play")
    for position, move, score, result, is_first in zip(
        *(rows[name] for name in names), strict=True
    ):
        sign = 1 if is_first else -1
        seen = None if score is None else sign * score
        yield position, move, seen, sign * round(2 * result - 1)


def _text(rows: Rows) -> bytes:
    columns = (rows[name] for name in ("position", "score", "result"))
    lines = (
        f"{at.text};{score + 0:.6g};{result:g}\n"
        for at, score, result in zip(*columns, strict=True)
    )
    return "".join(lines).encode()


_WORDS: Final = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


def _epd(rows: Rows) -> bytes:
    lines = []
    names = [rows[name] for name in ("result", "game_id", "ply")]
    for (at, _, score, _), result, game, ply in zip(_views(rows), *names, strict=True):
        *fields, halfmoves, move = at.text.split()
        value = "" if score is None else f" ce {score};"
        lines.append(
            f'{" ".join(fields)} c0 "{_WORDS[result]}";{value} fmvn {move}; hmvc {halfmoves}; '
            f'id "game {game} ply {ply}";\n'
        )
    return "".join(lines).encode()


def _plain(rows: Rows) -> bytes:
    return "".join(
        f"fen {at.text}\nmove {move}\nscore {score}\nply {_ply_of(at)}\nresult {result}\ne\n"
        for at, move, score, result in _views(rows)
    ).encode()


_FIELDS_OF_SFEN: Final = 2
"""Fields after the side to move: pieces in hand, move number."""


def _ply_of(position: Any) -> int:
    """Plies before the position, by its own count: its game may begin in the middle."""
    _, side, *rest = position.text.split()
    if len(rest) == _FIELDS_OF_SFEN:
        return int(rest[-1]) - 1
    return 2 * int(rest[3]) - 2 + int(side == "b")


def _packed(rows: Rows) -> bytes:
    packed = np.zeros(len(rows["position"]), PACKED)
    for i, (at, move, score, result) in enumerate(_views(rows)):
        packed[i]["sfen"] = np.frombuffer(_core.packed_sfen(at), np.uint8)
        packed[i]["score"], packed[i]["move"] = score, _core.packed_move(at.parse(move))
        packed[i]["ply"], packed[i]["result"] = min(_ply_of(at) + 1, _MOST), result
    return packed.tobytes()


_WRITERS: Final[dict[str, Callable[[Rows], bytes]]] = {
    ".txt": _text,
    ".epd": _epd,
    ".plain": _plain,
    ".bin": _packed,
}
_WORDS_OF: Final = {".epd": "fen", ".plain": "fen", ".bin": "sfen"}
_WITH_MOVES: Final = (".plain", ".bin")
