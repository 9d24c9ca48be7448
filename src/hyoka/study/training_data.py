# SPDX-License-Identifier: Apache-2.0
"""Positions with results and evaluations as files: tables, EPD, and what others' trainers read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from hyoka.errors import ParameterError, StudyError
from hyoka.files import write_bytes
from hyoka.games import game_facts
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.study.exporting import TABLES, write_table
from hyoka.study.measuring import chosen_evaluator, nothing_evaluated
from hyoka.study.packed_sfen import PACKED, move16, packed_sfens

if TYPE_CHECKING:
    from hyoka.study.study import Study

_AT_ONCE: Final = 20_000
_MATE: Final = 32_000
"""What a mate at once is worth where mates are scores; one in n moves is n less."""
_MOST: Final = 32_767


@dataclass(frozen=True)
class ExportReport:
    """What was written."""

    path: str
    positions: int
    left_out: int
    """Positions without what the format tells: a result, a score, a move played."""


Rows = dict[str, list[Any]]


def export_positions(
    study: "Study",
    path: str | Path,
    *,
    evaluator: str | None = None,
    where: str | None = None,
    progress: OnProgress | None = None,
) -> ExportReport:
    """Write a study's positions, with results and what an evaluator says, as the path ends.

    `.csv`, `.parquet` and `.json` are tables, in the first player's view. `.txt` is a line
    `POSITION;score;result` a position, in the first player's view. `.epd` (chess) has `ce` for
    whoever is to move. `.plain` (chess) is Stockfish's plain text for its trainer, `.bin` (shogi)
    YaneuraOu's PackedSfenValue, both for whoever is to move. Scores are the evaluator's; a study's
    only one if none is named. Mates are ±32000 less the moves to mate where scores are numbers;
    centipawns are whole numbers there, and points as they are in `.txt`.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (*TABLES, *_WRITERS):
        known = ", ".join((*TABLES, *_WRITERS))
        raise ParameterError("output", f"ends in {known}, not '{file.name}'")
    word = _WORDS_OF.get(suffix)
    if word is not None and game_facts(study.game).start_word != word:
        raise ParameterError(
            "output", f"{suffix} tells positions by {word.upper()}, which {study.game} has not"
        )
    chosen = _chosen(study, evaluator, where, needed=suffix in _WRITERS and suffix != ".epd")
    games, plies = chosen["game_id"].to_numpy(), chosen["ply"].to_numpy()
    tally = Tally(progress, file.name, len(chosen), "positions")
    tables, pieces, written = [], [], 0
    at = 0
    for chunk in study.game_table_of(games, plies).chunks(_AT_ONCE):
        rows = _rows(chunk, chosen.slice(at, len(chunk)))
        at += len(chunk)
        if suffix in TABLES:
            tables.append(pa.table(rows | {"position": [each.text for each in rows["position"]]}))
            written += len(chunk)
        else:
            told = _told(rows, suffix)
            pieces.append(_WRITERS[suffix](told))
            written += len(told["position"])
        tally.reach(at)
    if written == 0:
        raise _nothing_told(chosen, suffix)
    if suffix in TABLES:
        write_table(pa.concat_tables(tables, promote_options="permissive"), file)
    else:
        write_bytes(file, b"".join(pieces))
    return ExportReport(str(file), written, len(chosen) - written)


def _chosen(study: "Study", evaluator: str | None, where: str | None, *, needed: bool) -> pa.Table:
    """The positions in order, with result and evaluation."""
    columns = "game_id, ply, first_to_play, coalesce(adjudicated, result) as result"
    chosen = study.select(where, columns)
    if evaluator is None and not study.engines:
        if needed:
            raise nothing_evaluated(study)
        return chosen
    if evaluator is None and len(study.engines) != 1:
        there = ", ".join(study.engines)
        raise ParameterError("evaluator", f"says whose scores are written; there are {there}")
    name = chosen_evaluator(study, evaluator or study.engines[0])
    quoted = name.replace("'", "''")
    said = study.sql(
        "select game_id, ply, value, score, unit, mate, best from evaluations "
        f"where engine = '{quoted}' and failed is null"
    )
    joined = chosen.join(said, ["game_id", "ply"])
    return joined.sort_by([("game_id", "ascending"), ("ply", "ascending")])


def _nothing_told(chosen: pa.Table, suffix: str) -> StudyError:
    """What is to be said where no position has all that a format tells."""
    has = {
        name: name in chosen.column_names and chosen[name].null_count < len(chosen)
        for name in ("value", "score", "mate")
    }
    if suffix != ".epd" and has["value"] and not (has["score"] or has["mate"]):
        return StudyError(
            f"the evaluator gives values (0 to 1) and no scores, which {suffix} tells: "
            f"{', '.join(TABLES)} tell values"
        )
    return StudyError(
        f"no position has what {suffix} tells: a result"
        + ("" if suffix == ".epd" else " and a score")
        + (", and a move played" if suffix in _WITH_MOVES else "")
    )


def _rows(chunk: GameTable, chosen: pa.Table) -> Rows:
    facts = game_facts(chunk.game)
    positions = list(chunk.positions())
    moves = [None if code < 0 else str(facts.move(code)) for code in chunk.played.tolist()]
    return {"position": positions, "move": moves} | {
        name: chosen[name].to_pylist() for name in chosen.column_names
    }


def _told(rows: Rows, suffix: str) -> Rows:
    """Rows that have all that a format tells, with scores as numbers."""
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


def _views(rows: Rows) -> Iterator[tuple[Any, Any, float | None, int, int]]:
    """Position, move, score, ply and result (1, 0, -1) for whoever is to move."""
    names = ("position", "move", "score", "ply", "result", "first_to_play")
    for position, move, score, ply, result, is_first in zip(
        *(rows[name] for name in names), strict=True
    ):
        sign = 1 if is_first else -1
        seen = None if score is None else sign * score
        yield position, move, seen, ply, sign * round(2 * result - 1)


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
    results, games = rows["result"], rows["game_id"]
    for (at, _, score, ply, _), result, game in zip(_views(rows), results, games, strict=True):
        *fields, halfmoves, move = at.text.split()
        value = "" if score is None else f" ce {score};"
        lines.append(
            f'{" ".join(fields)} c0 "{_WORDS[result]}";{value} fmvn {move}; hmvc {halfmoves}; '
            f'id "game {game} ply {ply}";\n'
        )
    return "".join(lines).encode()


def _plain(rows: Rows) -> bytes:
    return "".join(
        f"fen {at.text}\nmove {move}\nscore {score}\nply {ply}\nresult {result}\ne\n"
        for at, move, score, ply, result in _views(rows)
    ).encode()


def _packed(rows: Rows) -> bytes:
    packed = np.zeros(len(rows["position"]), PACKED)
    packed["sfen"] = packed_sfens(rows["position"])
    for i, (_, move, score, ply, result) in enumerate(_views(rows)):
        packed[i]["score"], packed[i]["move"] = score, move16(move)
        packed[i]["ply"], packed[i]["result"] = min(ply + 1, _MOST), result
    return packed.tobytes()


_WRITERS: Final[dict[str, Callable[[Rows], bytes]]] = {
    ".txt": _text,
    ".epd": _epd,
    ".plain": _plain,
    ".bin": _packed,
}
_WORDS_OF: Final = {".epd": "fen", ".plain": "fen", ".bin": "sfen"}
_WITH_MOVES: Final = (".plain", ".bin")
