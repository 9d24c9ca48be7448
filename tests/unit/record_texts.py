# SPDX-License-Identifier: Apache-2.0
"""What the tests of the readers share: texts in, records and refusals out."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hyoka as hk
from hyoka.records import Refused

Reading = tuple[list[hk.Record], list[Refused]]
Read = Callable[..., Reading]


def one(data: str | bytes, format: str | None = None) -> hk.Record:
    (record,) = hk.parse_records(data, format=format)
    return record


def fault(read: Read, data: str, format: str | None = None) -> Refused:
    """The only refusal in text that holds no good game."""
    records, (refused,) = read(data, format)
    assert records == []
    return refused


def remarks(record: hk.Record, what: str) -> dict[int, Any]:
    """What a record's remarks say of one thing, by ply."""
    said = ((remark.ply, getattr(remark, what)) for remark in record.remarks)
    return {ply: value for ply, value in said if value is not None}


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends what would never end: a regular expression that runs wild looks at signals at times."""

    def too_long(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def random_othello(seed: int) -> tuple[list[str], Any]:
    """A whole game's moves, passes included, and its end."""
    game = hk.Othello()
    moves = []
    while game.outcome is None:
        moves.append(str(game.random_move(seed)))
        game = game.play(moves[-1])
    return moves, game


def transcript_of(moves: list[str]) -> str:
    return "".join(move for move in moves if move != "pass")
