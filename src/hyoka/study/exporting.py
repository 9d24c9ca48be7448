# SPDX-License-Identifier: Apache-2.0
"""Results and positions as files for other programs: tables, EPD, packed SFEN."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.records.bulk import GameTable
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
_HAND: Final = "PLNSBRG"
_IN_ALL: Final = (18, 4, 4, 4, 2, 2, 4)
_GOLD: Final = 7
_KING: Final = 8
# For pawn, lance, knight, silver, bishop, rook and gold: code, lowest bit first, and length.
_CODES: Final = ((0x01, 2), (0x03, 4), (0x0B, 4), (0x07, 4), (0x1F, 6), (0x3F, 6), (0x0F, 5))
# The same for pieces in the box (removed by a handicap); the last bit of all but gold is 0.
_BOX_CODES: Final = ((0x02, 3), (0x09, 5), (0x0D, 5), (0x0B, 5), (0x2F, 7), (0x3F, 7), (0x1B, 5))


def _of_squares() -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Codes and lengths of a square's content, from -14 to 14."""
    codes, lengths = np.zeros(29, np.uint16), np.zeros(29, np.uint8)
    lengths[14] = 1  # an empty square is a single 0
    for piece in range(1, 15):
        kind = piece if piece <= _KING else piece - _KING
        if kind == _KING:
            continue  # kings are identified by their squares
        code, length = _CODES[kind - 1]
        if kind != _GOLD:
            code, length = code | (piece > _KING) << length, length + 1
        for color, place in ((0, 14 + piece), (1, 14 - piece)):
            codes[place], lengths[place] = code | color << length, length + 1
    return codes, lengths


_SQUARE_CODES, _SQUARE_LENGTHS = _of_squares()


_OffBoard = tuple[NDArray[np.uint16], NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp]]


def _off_board() -> _OffBoard:
    """Codes of all pieces in hand or in the box: code, length, and indices of counts."""
    rows = []
    for color in (0, 1):
        for kind, (code, length) in enumerate(_CODES):
            # A piece in hand is neither empty nor promoted.
            bits = length - 1 + (kind + 1 != _GOLD)
            rows += [
                (code >> 1 | color << bits, bits + 1, 7 * color + kind, place)
                for place in range(_IN_ALL[kind])
            ]
    for kind in (0, 1, 2, 3, 6, 4, 5):  # gold comes before bishop in this format
        code, length = _BOX_CODES[kind]
        rows += [(code, length, 14 + kind, place) for place in range(_IN_ALL[kind])]
    codes, lengths, counts, places = zip(*rows, strict=True)
    return (
        np.array(codes, np.uint16),
        np.array(lengths, np.uint8),
        np.array(counts, np.intp),
        np.array(places, np.intp),
    )


_OFF_CODES, _OFF_LENGTHS, _OFF_COUNTS, _OFF_PLACES = _off_board()


def packed_sfens(positions: Sequence[Any]) -> NDArray[np.uint8]:
    """Encode positions in 32 bytes each."""
    count = len(positions)
    cells = np.array([position.cells for position in positions], np.int8).reshape(count, 9, 9)
    # Squares are ordered by file, from the first.
    squares = cells[:, :, ::-1].transpose(0, 2, 1).reshape(count, 81)
    hands = np.array(
        [
            [position.hand(player).get(letter, 0) for player in _PLAYERS for letter in _HAND]
            for position in positions
        ],
        np.int64,
    ).reshape(count, 14)
    turn = np.array([position.to_play == _core.Player.second for position in positions], np.uint16)
    kings = [np.where((at := squares == king).any(1), at.argmax(1), 81) for king in (8, -8)]
    kinds = np.where(np.abs(squares) > _KING, np.abs(squares) - _KING, np.abs(squares))
    laid = np.stack([(kinds == kind).sum(1) for kind in range(1, _KING)], 1)
    box = np.maximum(np.array(_IN_ALL) - laid - hands[:, :7] - hands[:, 7:], 0)
    held = np.concatenate([hands, box], 1)[:, _OFF_COUNTS] > _OFF_PLACES
    codes = np.concatenate(
        [
            np.stack([turn, *kings], 1).astype(np.uint16),
            _SQUARE_CODES[squares + 14],
            np.broadcast_to(_OFF_CODES, held.shape),
        ],
        axis=1,
    )
    lengths = np.concatenate(
        [
            np.broadcast_to(np.array([1, 7, 7], np.uint8), (count, 3)),
            _SQUARE_LENGTHS[squares + 14],
            np.where(held, _OFF_LENGTHS, 0),
        ],
        axis=1,
    ).astype(np.int64)
    return np.packbits(_bits(codes, lengths), axis=1, bitorder="little")


_PLAYERS: Final = (_core.Player.first, _core.Player.second)


def _bits(codes: NDArray[np.uint16], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Concatenate the codes, lowest bit first."""
    begins = np.cumsum(lengths, axis=1) - lengths
    bits = np.zeros((len(codes), 256), np.uint8)
    for bit in range(8):
        rows, tokens = np.nonzero(lengths > bit)
        bits[rows, begins[rows, tokens] + bit] = codes[rows, tokens] >> bit & 1
    return bits


def move16(text: str) -> int:
    """Encode a USI move in 16 bits: destination, origin or dropped piece, promotion, drop.

    >>> move16("7g7f"), move16("P*5e"), move16("8h2b+")
    (7739, 16552, 41738)
    """
    to = _square(text[2:4])
    if text[1] == "*":
        return to | (_HAND.index(text[0]) + 1) << 7 | 1 << 14
    return to | _square(text[:2]) << 7 | (text[4:] == "+") << 15


def _square(text: str) -> int:
    return 9 * (int(text[0]) - 1) + ord(text[1]) - ord("a")


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


Rows = dict[str, list[Any]]


def export_positions(
    study: "Study",
    path: str | Path,
    *,
    evaluator: str | None = None,
    where: str | None = None,
    progress: OnProgress | None = None,
) -> ExportSummary:
    """Write a study's positions with results and an evaluator's scores, by the path's ending.

    `.csv`, `.parquet` and `.json` are tables, from the first player's view. `.txt` has one line
    `POSITION;score;result` for each position, from the first player's view. `.epd` (chess) has
    `ce` for the side to move. `.plain` (chess) is Stockfish's plain text for its trainer, `.bin`
    (shogi) YaneuraOu's PackedSfenValue, both for the side to move. Scores are those of the named
    evaluator, by default the study's only one. As numbers, mates are ±32000 minus the moves to
    mate; centipawns are rounded to integers, and `.txt` keeps points unrounded.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (*TABLES, *_WRITERS):
        choices = ", ".join((*TABLES, *_WRITERS))
        raise ParameterError("output", f"ends in {choices}, not '{file.name}'")
    word = _WORDS_OF.get(suffix)
    if word is not None and game_facts(study.game).formats.start_word != word:
        raise ParameterError(
            "output", f"{suffix} stores positions as {word.upper()}, which {study.game} lacks"
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


def _views(rows: Rows) -> Iterator[tuple[Any, Any, float | None, int, int]]:
    """Return position, move, score, ply and result (1, 0, -1) for the side to move."""
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
