# SPDX-License-Identifier: Apache-2.0
"""One game a line: USI, UCI, Blokus codes, Othello transcripts."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import hyoka as hk

from ..record_texts import Read, one, random_othello, transcript_of


@pytest.mark.parametrize(
    ("line", "game", "start", "moves"),
    [
        (
            "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e",
            "shogi",
            "",
            ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"],
        ),
        ("position startpos moves 7g7f", "shogi", "", ["7g7f"]),
        (
            "sfen 8k/9/6G2/9/9/9/9/9/9 b P 1 moves P*2b",
            "shogi",
            "8k/9/6G2/9/9/9/9/9/9 b P 1",
            ["P*2b"],
        ),
        ("8k/9/6G2/9/9/9/9/9/9 b P 1 moves P*2b", "shogi", "8k/9/6G2/9/9/9/9/9/9 b P 1", ["P*2b"]),
        ("position startpos moves e2e4 e7e5 g1f3", "chess", "", ["e2e4", "e7e5", "g1f3"]),
        (
            "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
            "chess",
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            ["e1g1", "e8c8"],
        ),
        (
            "8/4P2k/8/8/8/8/8/4K3 w - - 0 1 moves e7e8q",
            "chess",
            "8/4P2k/8/8/8/8/8/4K3 w - - 0 1",
            ["e7e8q"],
        ),
        ("e2e4 e7e5", "chess", "", ["e2e4", "e7e5"]),
        ("7g7f 3c3d", "shogi", "", ["7g7f", "3c3d"]),
        ("f5d6c3d3c4f4f6", "othello", "", ["f5", "d6", "c3", "d3", "c4", "f4", "f6"]),
        ("F5D6C3D3C4F4F6", "othello", "", ["f5", "d6", "c3", "d3", "c4", "f4", "f6"]),
        ("F5 D6 C3 D3 C4 F4 F6", "othello", "", ["f5", "d6", "c3", "d3", "c4", "f4", "f6"]),
    ],
)
def test_a_line_is_a_game(line: str, game: str, start: str, moves: list[str]) -> None:
    record = one(line + "\n", "lines")
    assert (record.game, record.start, record.move_texts()) == (game, start, moves)
    assert (record.result, record.ending) == (None, "unfinished")


def test_lines_of_several_games_and_comments(read: Read) -> None:
    text = "# openings\n\nstartpos moves 7g7f\r\nstartpos moves e2e4\n\n# end\nf5d6c3d3c4f4f6\n"
    records, refused = read(text)
    assert [record.game for record in records] == ["shogi", "chess", "othello"]
    assert [(record.line, record.number) for record in records] == [(3, 1), (4, 2), (7, 3)]
    assert refused == []


def test_a_line_that_ends_the_game_has_a_result() -> None:
    record = one("startpos moves f2f3 e7e5 g2g4 d8h4\n")
    assert (record.result, record.ending) == (0, "normal")


def test_a_transcript_leaves_passes_out() -> None:
    for seed in range(10):
        moves, end = random_othello(seed)
        record = one(transcript_of(moves) + "\n")
        assert record.move_texts() == moves
        assert record.position() == end
        assert (record.result, record.margin) == (end.outcome.value, end.score)
        assert record.ending == "normal"
    assert "pass" in random_othello(6)[0]


@pytest.mark.parametrize(
    ("line", "kind", "ply"),
    [
        ("startpos moves 7g7f 7g7f", "illegal move", 1),
        ("startpos moves 7g7f xyz", "unreadable", 1),
        ("startpos moves e2e4 e2e4", "illegal move", 1),
        ("sfen 9/9 b - 1 moves 7g7f", "unreadable", 0),
        ("f5d6c3d3c4f4f6a1", "illegal move", 7),
        ("55r0 99r0 55r0", "illegal move", 2),
        ("some words", "unreadable", 0),
    ],
)
def test_bad_lines_are_refused_and_the_next_is_read(
    line: str, kind: str, ply: int, read: Read
) -> None:
    records, (refused,) = read(f"startpos moves 2g2f\n{line}\nstartpos moves 7g7f\n")
    assert (refused.fault, refused.line, refused.number, refused.ply) == (kind, 2, 2, ply)
    assert [record.move_texts() for record in records] == [["2g2f"], ["7g7f"]]


@pytest.fixture(scope="module")
def blokus_codes(shared_data: Callable[[str], Path]) -> dict[str, set[tuple[int, int]]]:
    """The squares of every piece in every rotation, relative to the point that its code names."""
    table = {}
    for row in shared_data("blokus_duo/move_codes.tsv").read_text().splitlines()[1:]:
        piece, rotation, cells = row.split("\t")
        pairs = (cell.split(",") for cell in cells.split())
        table[piece + rotation] = {(int(x), int(y)) for x, y in pairs}
    return table


def test_blokus_codes_name_the_squares_of_the_table(
    blokus_codes: dict[str, set[tuple[int, int]]],
) -> None:
    """Squares are written `e10,f10`: columns a to n from the left, rows 1 to 14 from below."""
    for move in hk.BlokusDuo().legal_moves:
        code = move.short_code()
        assert one(code + "\n", "lines").move_list == [move]
        x, y = int(code[0], 16) - 1, int(code[1], 16) - 1
        named = {(x + right, y + down) for right, down in blokus_codes[code[2:]]}
        squares = str(move).split(",")
        assert named == {(ord(at[0]) - ord("a"), 14 - int(at[1:])) for at in squares}


def test_blokus_codes_and_squares_are_the_same_game(shared_data: Callable[[str], Path]) -> None:
    with gzip.open(shared_data("blokus_duo/mcts_selfplay.blksgf.gz"), "rt") as file:
        games = file.readlines()[::20]
    passes = 0
    for text in games:
        record = one(text)
        codes: list[str] = []
        for color, code in re.findall(r";([BW])\[[^\]]*\]C\[([^\]]*)\]", text):
            if color != "BW"[len(codes) % 2]:
                codes.append("0000")
                passes += 1
            codes.append(code)
        by_code = one(" ".join(codes) + "\n", "lines")
        assert by_code.moves.tolist() == record.moves.tolist()
        assert (by_code.result, by_code.ending) == (record.result, "normal")
    assert passes > 0
