# SPDX-License-Identifier: Apache-2.0
"""Analyses in SGF: KaTrain's KT, Lizzie's LZ, and the comments of KataGo's self-play."""

import base64
import gzip
import json
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka.records import record_text

from ..record_texts import Read, one


def compressed(data: bytes) -> bytes:
    """Data as gzip without the time, so that the names of tests do not depend on it."""
    return gzip.compress(data, mtime=0)


def gzipped(data: bytes, level: int = 9, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    body = packer.compress(data) + packer.flush()
    ends = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + body + ends


def katrain(root: Any, packed: bytes | None = None, moves: Any = None) -> str:
    """The property as KaTrain's `analysis_dumps` makes it: ownership, policy, the rest."""
    analysis = {"moves": moves or {}, "root": root, "completed": True}
    main = compressed(json.dumps(analysis).encode()) if packed is None else packed
    values = (compressed(bytes(162)), compressed(b""), main)
    return "KT" + "".join(f"[{base64.standard_b64encode(each).decode()}]" for each in values)


def said(text: str) -> list[tuple[int, Any, Any, Any, Any]]:
    record = one(text)
    return [(each.ply, each.value, each.score, each.nodes, each.author) for each in record.remarks]


ROOT = {"winrate": 0.625, "scoreLead": -1.5, "visits": 500, "utility": 0.1}


def test_katrain_says_what_black_expects() -> None:
    kt = katrain(ROOT)
    text = f"(;GM[1]SZ[9]{kt};B[ee]{kt}C[Win rate: W 99.0%];W[gc]C[Win rate: B 75.0%]{kt};B[cc])"
    assert said(text) == [(ply, 0.625, -1.5, 500, None) for ply in range(3)]


def test_katrain_names_of_moves_do_not_confuse() -> None:
    moves = {"D4": {"winrate": 0.1, "pv": ["]}", '"root": {"winrate": 0.2}', "\\"], "root": {}}}
    assert said(f"(;GM[1]SZ[9];B[ee]{katrain(ROOT, moves=moves)})")[0][1] == 0.625


@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_FIXED])
def test_all_kinds_of_deflate_are_read(level: int, strategy: int) -> None:
    rng = random.Random(level)
    moves = {f"m{i}": {"prior": rng.random(), "pv": ["D4"] * i} for i in range(200)}
    analysis = json.dumps({"moves": moves, "root": ROOT}).encode()
    packed = gzipped(analysis, level, strategy)
    assert gzip.decompress(packed) == analysis
    assert said(f"(;GM[1]SZ[9];B[ee]{katrain(None, packed)})")[0][1] == 0.625


DAMAGED = {
    "empty": b"",
    "no gzip": b"no gzip",
    "no JSON": compressed(b"no JSON"),
    "no root": compressed(b'{"root": null}'),
    "more than 1": compressed(b'{"root": {"winrate": 1.5}}'),
    "NaN": compressed(b'{"root": {"winrate": NaN}}'),
    "text": compressed(b'{"root": {"winrate": "0.5"}}'),
    "deep": compressed(b'{"root": ' * 10_000),
    "cut": compressed(json.dumps({"root": ROOT}).encode())[:-1],
    "overwritten": compressed(json.dumps({"root": ROOT}).encode())[:30] + bytes(8),
    "more than a hundredfold": gzipped(b'{"root": {"winrate": 0.5}}' + bytes(1 << 20)),
    "large": compressed(bytes(8 << 20)),
}


@pytest.mark.parametrize("packed", DAMAGED.values(), ids=DAMAGED)
def test_damaged_analyses_are_counted_and_left_out(packed: bytes) -> None:
    data = f"(;GM[1]SZ[9];B[ee]{katrain(None, packed)};W[gc])".encode()
    stream = hk.records.records_in("x.sgf", data)
    (record,) = stream
    assert [each.value for each in record.remarks] == [None]
    assert (stream.unreadable, stream.first_unreadable[0].ply) == (1, 1)


def test_damage_anywhere_never_raises(read: Read) -> None:
    rng = random.Random(1)
    packed = gzipped(json.dumps({"moves": {"D4": ROOT}, "root": ROOT}).encode())
    for _ in range(200):
        damaged = bytearray(packed)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(10, len(damaged))] = rng.randrange(256)
        (remark,) = one(f"(;GM[1]SZ[9];B[ee]{katrain(None, bytes(damaged))})").remarks
        assert remark.value is None or 0 <= remark.value <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The winrate is that of the player who has moved, the score that of the other.
        ("B[ee]LZ[0.7.4 62.5 1.2k\ninfo]", (0.625, None, 1200)),
        ("B[ee]LZ[KataGo 62.5 845 3.5 12.0\ninfo]", (0.625, -3.5, 845)),
        ("PL[W];W[ee]LZ[KataGo 62.5 13k 3.5 12.0 0.5\ninfo]", (0.375, 3.5, 13000)),
        ("B[ee]LZ[0.7.4 62,5 12.3m\ninfo]", (0.625, None, 12_300_000)),
    ],
)
def test_lizzie_says_what_the_mover_expects(text: str, expected: tuple[Any, ...]) -> None:
    root, _, move = text.rpartition(";")
    (remark,) = one(f"(;GM[1]SZ[9]{root};{move})").remarks
    assert (remark.value, remark.score, remark.nodes) == expected
    assert remark.author is None


def test_lizzie_at_the_start_depends_on_who_begins() -> None:
    lz = "LZOP[KataGo 37.5 100 2.0 9.0\ninfo]"
    assert said(f"(;GM[1]SZ[9]{lz};B[ee])") == [(0, 0.625, 2.0, 100, None)]
    assert said(f"(;GM[1]SZ[9]HA[2]AB[cc][gg]{lz};W[ee])") == [(0, 0.375, -2.0, 100, None)]


@pytest.mark.parametrize(
    "value", ["", "x", "x y z", "x 50.0 0\n", "x 150 10", "x -1 10", "x 50 1e9"]
)
def test_lizzie_without_playouts_says_nothing(value: str) -> None:
    (remark,) = one(f"(;GM[1]SZ[9];B[ee]LZ[{value}];W[gc])").remarks
    assert (remark.value, remark.nodes) == (None, None)


def test_self_play_of_katago_is_about_the_position_before_the_move() -> None:
    text = (
        "(;GM[1]SZ[9]KM[7]C[startTurnIdx=0,gtype=normal]"
        ";B[ee]C[0.25 0.70 0.05 -1.5 v=600 weight=1.00]"
        ";W[gc]C[0.50 0.50 0.00 0.0 v=12 rv=30]"
        ";B[cc]C[Pass for ko 1.00 0.00 0.00 9.0 v=7 result=W+R])"
    )
    assert said(text) == [
        (0, pytest.approx(0.725), 1.5, 600, "first"),
        (1, 0.5, 0.0, 12, "second"),
        (2, 0.0, -9.0, 7, "first"),
        (3, None, None, None, None),
    ]


@pytest.mark.parametrize(
    "comment",
    [
        "0.9 0.9 0.0 1.0 v=5",
        "0.5 0.5 1.0 v=5",
        "0.5 0.5 0.0 1.0 v=x",
        "1 v=2",
        " v=",
        "v=1 0 0 0 0",
    ],
)
def test_other_numbers_in_comments_are_words(comment: str) -> None:
    record = one(f"(;GM[1]SZ[9];B[ee]C[{comment}];W[gc])")
    assert [each.value for each in record.remarks] == [None]


@pytest.mark.parametrize(
    "moves",
    [
        f"{katrain(ROOT)};B[ee]{katrain(ROOT)};W[gc]",
        "LZOP[KataGo 37.5 100 2.0 9.0\ninfo];B[ee]LZ[0.7.4 62.5 1.2k\ninfo];W[gc]",
        ";B[ee]C[0.25 0.70 0.05 -1.5 v=600 weight=1.00];W[gc]C[0.50 0.50 0.00 0.0 v=12]",
        "C[A game. [%value 0.5\\] [%score 1\\] [%nodes 3\\]];B[ee]",
    ],
)
def test_records_with_analyses_are_written_and_read_back(moves: str) -> None:
    record = one(f"(;GM[1]SZ[9]KM[7]{moves})")
    assert any(each.value is not None for each in record.remarks)
    assert one(record_text(record, "sgf")) == record


def test_a_study_keeps_values_scores_and_visits(tmp_path: Path) -> None:
    kt = katrain(ROOT)
    (tmp_path / "game.sgf").write_text(f"(;GM[1]SZ[9]{kt};B[ee]{kt};W[gc])")
    study = hk.Study.create(tmp_path / "study", tmp_path / "game.sgf")
    study.evaluate("comments")
    rows = study.sql("select ply, value, score, nodes from evaluations order by ply").to_pylist()
    assert rows == [{"ply": ply, "value": 0.625, "score": -1.5, "nodes": 500} for ply in (0, 1)]
    assert [each.nodes for each in study.record(0).remarks] == [500, 500]


@pytest.mark.parametrize("format", ["pgn", "csa", "kif", "sgf"])
def test_evaluations_of_the_first_position_are_written(format: str) -> None:
    games = {"pgn": ("chess", "e2e4"), "csa": ("shogi", "7g7f"), "kif": ("shogi", "7g7f")}
    game, move = games.get(format, ("go9", "E5"))
    position = hk.Chess() if game == "chess" else hk.Shogi() if game == "shogi" else hk.Go9()
    codes = np.array([position.parse(move).code], np.uint16)
    remark = hk.records.Remark(0, score=25.0, nodes=7)
    record = hk.Record(game, codes, first="A", second="B", remarks=(remark,))
    (read,) = hk.parse_records(record_text(record, format))
    assert [(each.ply, each.score, each.nodes) for each in read.remarks] == [(0, 25, 7)]
