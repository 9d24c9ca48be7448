# SPDX-License-Identifier: Apache-2.0
"""WTHOR: http://www.ffothello.org/wthor/Format_WThor.pdf"""

import pytest

from ..record_texts import Read, one, random_othello, transcript_of


def wthor(*games: bytes, count: int | None = None, year: int = 1998, size: int = 8) -> bytes:
    number = len(games) if count is None else count
    header = bytes([19, 99, 3, 25]) + number.to_bytes(4, "little") + bytes(2)
    return header + year.to_bytes(2, "little") + bytes([size, 0, 22, 0]) + b"".join(games)


def wthor_game(moves: str, discs: int, black: int = 0, white: int = 1, event: int = 0) -> bytes:
    squares = [
        10 * int(row) + ord(column) - 96
        for column, row in zip(moves[::2], moves[1::2], strict=True)
    ]
    numbers = b"".join(number.to_bytes(2, "little") for number in (event, black, white))
    return numbers + bytes([discs, discs, *squares]) + bytes(60 - len(squares))


def test_wthor_games_replay_with_passes_put_in() -> None:
    for seed in range(10):
        moves, end = random_othello(seed)
        black = (64 + int(end.score)) // 2
        record = one(wthor(wthor_game(transcript_of(moves), black)))
        assert record.move_texts() == moves
        assert (record.game, record.date) == ("othello", "1998")
        assert (record.result, record.margin) == (end.outcome.value, end.score)
        assert (record.ending, record.line) == ("normal", 0)


def test_an_unfinished_game_of_wthor_keeps_its_result() -> None:
    record = one(wthor(wthor_game("f5d6c3d3", 40)))
    assert (record.result, record.margin, record.ending) == (1, 16, "unfinished")


@pytest.mark.parametrize(
    ("data", "kind", "ply"),
    [
        (wthor(wthor_game("f5f5", 40)), "illegal move", 1),
        (wthor(wthor_game("f5", 40)[:-59] + bytes([99] * 59)), "unreadable", 1),
        (wthor(wthor_game("f5d6", 40)[:30]), "unreadable", 0),
        (wthor(wthor_game("f5d6", 40), size=10), "unsupported", 0),
        (wthor(count=2)[:15], "unreadable", 0),
    ],
)
def test_bad_wthor_is_refused(data: bytes, kind: str, ply: int, read: Read) -> None:
    _, refused = read(data, "wthor")
    assert (refused[0].fault, refused[0].ply, refused[0].line) == (kind, ply, 0)


def test_a_wthor_file_cut_between_games_says_so(read: Read) -> None:
    records, refused = read(wthor(wthor_game("f5d6c3", 40), count=5))
    assert len(records) == 1
    assert [each.fault for each in refused] == ["unreadable"]


def test_games_beyond_the_headers_count_are_read(read: Read) -> None:
    games = [wthor_game(moves, 40) for moves in ("f5d6c3", "f5d6", "f5f5", "f5")]
    records, refused = read(wthor(*games, count=1))
    assert [len(record) for record in records] == [3, 2, 1]
    assert [(each.fault, each.number) for each in refused] == [("illegal move", 3)]


def test_zeros_behind_the_games_are_filling(read: Read) -> None:
    records, refused = read(wthor(wthor_game("f5d6c3", 40)) + bytes(100))
    assert (len(records), refused) == (1, [])
    _, refused = read(wthor(wthor_game("f5d6c3", 40)) + b"\1" * 100)
    assert [each.fault for each in refused] == ["unreadable", "unreadable"]
