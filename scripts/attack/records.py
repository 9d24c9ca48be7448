# SPDX-License-Identifier: Apache-2.0
"""Damages one game among good neighbors, in every notation, and looks what becomes of them.

    .venv/bin/python scripts/attack/records.py --inputs 100000 --seed 1

Nothing may be raised; every neighbor is read unchanged, or a warning names what was left out.
"""

import functools
import io
import random
import sys
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import hyoka as hk
from attack.mutations import Try, main, mutated
from hyoka.games import game_type
from hyoka.records import Refused, Remark, record_text
from hyoka.records.reading import RecordStream, batches_of
from hyoka.records.sources import Source

WORDS = (
    *(b"{", b"}", b"(", b")", b"[", b"]", b";", b"\\", b'"', b"\n", b"\n\n", b"\r", b"/\n", b"%"),
    *(b"*", b"1-0", b"1.", b"\n\n1. e4", b"--", b"Z0", b"$9", b'[Event "', b"\n[Event ", b"0000"),
    *(b"(;", b"(;GM[", b";B[", b"C[", b"CA[utf-8]", b"CA[big5]", b"CA[unicode_escape]", b"AB[aa]"),
    *(b"%TORYO\n", b"+7776FU\n", b"V2.2\n", b"PI\n", b"'** 5\n", b"T9\n", b"N+X\n", b"+\n", b"-\n"),
    *("まで".encode(), "変化：2手\n".encode(), "手合割：平手\n".encode(), "▲７六歩".encode()),
    *(b"\x00", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"9" * 30, b"startpos moves "),
)


@dataclass(frozen=True)
class Notation:
    """Games of a notation, each alone, and what makes a file of them."""

    format: str
    games: tuple[bytes, ...]
    head: bytes = b""
    between: bytes = b""

    def file(self, games: list[bytes]) -> bytes:
        """The games one after another, as the notation has them."""
        return self.head + self.between.join(games)


def read(data: bytes, format: str) -> tuple[list[hk.Record], list[Refused]]:
    """What is taken and what is refused."""
    stream = RecordStream(batches_of(Source("attack", io.BytesIO(data), waits=False), format))
    return list(stream), stream.refused


def _random_record(game: str, seed: int) -> hk.Record:
    position = game_type(game)()
    codes = []
    for ply in range(12 + seed % 9):
        move = position.random_move(1000 * seed + ply)
        assert move is not None
        codes.append(move.code)
        position = position.play(move)
    return hk.Record(
        game=game,
        moves=np.array(codes, np.uint16),
        first=f"player {seed}",
        second="Besser, B.",
        event="Open",
        date="2016-01-02",
        result=1.0,
        ending="resigned",
        remarks=(Remark(3, score=25.0, depth=9), Remark(4, clock_s=61.0)),
    )


def _texts(game: str, format: str, count: int = 8) -> tuple[bytes, ...]:
    return tuple(record_text(_random_record(game, i), format).encode() for i in range(count))


def _wthor_games() -> tuple[bytes, ...]:
    games = []
    for number in range(8):
        moves = [text for text in _random_record("othello", number).move_texts() if text != "pass"]
        squares = [10 * int(text[1]) + ord(text[0]) - 96 for text in moves]
        head = b"".join(part.to_bytes(2, "little") for part in (0, number, 1))
        games.append(head + bytes([40, 40, *squares]) + bytes(60 - len(squares)))
    return tuple(games)


@functools.cache
def notations() -> dict[str, Notation]:
    """Every notation, by a name for people."""
    header = bytes([19, 99, 3, 25, 5, 0, 0, 0, 0, 0]) + (1998).to_bytes(2, "little")
    return {
        "pgn": Notation("pgn", _texts("chess", "pgn")),
        "pgn untagged": Notation(
            "pgn", tuple(text.partition(b"\n\n")[2] for text in _texts("chess", "pgn"))
        ),
        "sgf": Notation("sgf", _texts("go9", "sgf")),
        "sgf othello": Notation("sgf", _texts("othello", "sgf")),
        "sgf one line": Notation(
            "sgf", tuple(text.replace(b"\n", b"") for text in _texts("go9", "sgf"))
        ),
        "csa": Notation("csa", _texts("shogi", "csa"), between=b"/\n"),
        "kif": Notation("kifu", _texts("shogi", "kif")),
        "usi": Notation("lines", _texts("shogi", "lines")),
        "transcripts": Notation("lines", _texts("othello", "lines")),
        "wthor": Notation("wthor", _wthor_games(), head=header + bytes([8, 0, 22, 0])),
    }


@functools.cache
def _contents(name: str) -> tuple[tuple[object, ...], ...]:
    """What each game of a notation says when it is read alone."""
    notation = notations()[name]
    read_alone = [read(notation.file([game]), notation.format)[0] for game in notation.games]
    return tuple(records[0].content() for records in read_alone)


def _separator(game: bytes) -> tuple[bytes, bytes]:
    body = game.rstrip(b"\r\n")
    return body, game[len(body) :]


def attack(name: str) -> Try:
    """Two good games, a damaged one, two good games."""
    notation = notations()[name]

    def attempt(draw: random.Random) -> str:
        numbers = draw.sample(range(len(notation.games)), 5)
        games = [notation.games[number] for number in numbers]
        body, separator = _separator(games[2])
        if notation.format == "wthor":  # records have one size, or there is no telling them apart
            games[2] = (mutated(draw, games[2], WORDS) + bytes(68))[:68]
        else:
            games[2] = mutated(draw, body, WORDS) + separator
        data = notation.file(games)
        records, refused = read(data, notation.format)
        found = [record.content() for record in records]
        missing = [i for i in (0, 1, 3, 4) if _contents(name)[numbers[i]] not in found]
        if missing and not refused:
            return f"neighbors {missing} are gone without a word, in {data!r}"
        if not set(missing) <= {1, 3}:  # those beside it may be drawn in, if that is said
            said = [str(each) for each in refused]
            return f"neighbors {missing} are not read ({said}), in {data!r}"
        return ""

    return attempt


if __name__ == "__main__":
    main({name: attack(name) for name in notations()})
