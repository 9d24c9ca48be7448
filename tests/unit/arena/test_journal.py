# SPDX-License-Identifier: Apache-2.0
"""The journal of a match: whatever happens to the disk, a game that counted is kept."""

import contextlib
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyoka.arena.journal import GameJournal, Pairing, PlayedGame, read_journal
from hyoka.records import Record, Remark
from hyoka.records.record import Ending

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(-(10**6), 10**6)
TEXTS = st.text(max_size=30)

REMARKS = st.builds(
    Remark,
    ply=st.integers(0, 1000),
    value=st.none() | NUMBERS,
    score=st.none() | NUMBERS,
    mate=st.none() | COUNTS,
    depth=st.none() | COUNTS,
    clock_s=st.none() | NUMBERS,
    spent_s=st.none() | NUMBERS,
    book=st.booleans(),
)
RECORDS = st.builds(
    Record,
    game=st.sampled_from(["chess", "go9", "othello"]),
    moves=st.lists(st.integers(0, 2**16 - 1), max_size=20).map(
        lambda codes: np.array(codes, dtype=np.uint16)
    ),
    start=TEXTS,
    first=TEXTS,
    second=TEXTS,
    event=TEXTS,
    round=TEXTS,
    date=TEXTS,
    time_control=TEXTS,
    opening=TEXTS,
    komi=st.none() | NUMBERS,
    handicap=st.integers(0, 9),
    result=st.sampled_from([0.0, 0.5, 1.0]),
    ending=st.sampled_from(get_args(Ending)),
    margin=st.none() | NUMBERS,
    remarks=st.lists(REMARKS, max_size=5).map(tuple),
)
GAMES = st.builds(
    PlayedGame,
    st.builds(Pairing, *[st.integers(0, 10**9)] * 5),
    RECORDS,
    reason=TEXTS,
    fault=TEXTS,
    seconds=st.integers(0, 10**12).map(lambda microseconds: round(microseconds / 1e6, 6)),
    worker=TEXTS,
)


def played(number: int, first: str = "one", plies: int = 4) -> PlayedGame:
    record = Record(
        "othello",
        np.arange(plies, dtype=np.uint16),
        first=first,
        second="二",
        result=1.0,
        ending="normal",
        remarks=(Remark(1, value=0.5), Remark(2, score=-3.0, spent_s=0.25)),
    )
    return PlayedGame(Pairing(number, number // 2, 0, 0, 1), record, "score", worker="here:1")


def written(path: Path, games: list[PlayedGame]) -> list[int]:
    """Write games, and give the size of the file after each."""
    sizes = []
    with GameJournal(path) as journal:
        for game in games:
            journal.add_games([game])
            sizes.append(path.stat().st_size)
    return sizes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@given(st.lists(GAMES, max_size=4, unique_by=lambda game: game.pairing.number))
@settings(deadline=None, max_examples=50)
def test_any_game_is_read_as_it_was_written(games: list[PlayedGame]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        with GameJournal(path) as journal:
            assert journal.add_games(games) == games
        assert read_journal(path) == games
        with GameJournal(path) as journal:
            assert list(journal.games.values()) == games
            assert list(journal.games) == [game.pairing.number for game in games]
        assert path.read_bytes().count(b"\n") == len(games)


def test_no_journal_holds_no_games(path: Path) -> None:
    assert read_journal(path) == []
    with GameJournal(path) as journal:
        assert journal.games == {}
        assert journal.add_games([]) == []
    assert path.read_bytes() == b""


def test_a_journal_cut_off_anywhere_keeps_the_games_before_and_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # a thousand would take their time
    games = [played(number) for number in range(2)]
    sizes = written(path, games)
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = games[: sum(size <= cut for size in sizes)]
        assert read_journal(path) == kept
        with GameJournal(path) as journal:
            assert list(journal.games.values()) == kept
            assert journal.add_games(games) == games[len(kept) :]
        assert path.read_bytes() == whole


@pytest.mark.parametrize("damage", [b"x", b"\x00", b"\xff", b"\n", b'"'])
def test_a_damaged_line_costs_its_own_game_alone(path: Path, damage: bytes) -> None:
    games = [played(number) for number in range(3)]
    sizes = written(path, games)
    whole = path.read_bytes()
    for at in range(sizes[0], sizes[1] - 1, 7):
        if whole[at : at + 1] == damage:
            continue
        path.write_bytes(whole[:at] + damage + whole[at + 1 :])
        assert read_journal(path) == [games[0], games[2]]
    with GameJournal(path) as journal:
        assert list(journal.games) == [0, 2]
        assert journal.add_games(games) == [games[1]]
        assert list(journal.games) == [0, 2, 1]
    assert read_journal(path) == [games[0], games[2], games[1]]


def test_a_lost_line_break_costs_no_more_than_its_two_games(path: Path) -> None:
    games = [played(number) for number in range(4)]
    sizes = written(path, games)
    whole = path.read_bytes()
    path.write_bytes(whole[: sizes[1] - 1] + whole[sizes[1] :])
    assert read_journal(path) == [games[0], games[3]]


def test_a_game_that_stands_there_twice_counts_once(path: Path) -> None:
    first, second = played(7, first="first"), played(7, first="second")
    with GameJournal(path) as journal:
        assert journal.add_games([first]) == [first]
        assert journal.add_games([second]) == []
    written_once = path.read_bytes()
    path.write_bytes(written_once * 3)
    assert read_journal(path) == [first]
    with GameJournal(path) as journal:
        assert list(journal.games.values()) == [first]


def test_of_games_added_together_each_number_counts_once(path: Path) -> None:
    game, other = played(1), played(2)
    with GameJournal(path) as journal:
        assert journal.add_games([game, other, game]) == [game, other]
    assert read_journal(path) == [game, other]
    assert path.read_bytes().count(b"\n") == 2


def test_a_journal_is_read_while_it_is_written(path: Path) -> None:
    with GameJournal(path) as journal:
        journal.add_games([played(0)])
        journal.add_games([played(1)])
        assert read_journal(path) == [played(0), played(1)]
    with GameJournal(path) as journal:
        assert list(journal.games) == [0, 1]


@contextlib.contextmanager
def disk_that_holds(size: int) -> Iterator[None]:
    """No file may grow beyond a size: as on a full disk, the last write is done in part."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_keeps_what_was_there_and_the_same_journal_goes_on(
    path: Path, room: int
) -> None:
    with GameJournal(path) as journal:
        journal.add_games([played(0)])
        size = path.stat().st_size
        with disk_that_holds(size + room), pytest.raises(OSError, match="too large"):
            journal.add_games([played(1), played(2)])
        assert list(journal.games) == [0]
        assert path.stat().st_size == size
        assert read_journal(path) == [played(0)]
        assert journal.add_games([played(2)]) == [played(2)]
    assert read_journal(path) == [played(0), played(2)]


def test_a_full_disk_after_the_first_of_two_games_keeps_neither(path: Path) -> None:
    with GameJournal(path) as journal:
        journal.add_games([played(0)])
        size = path.stat().st_size
        with disk_that_holds(2 * size + 10), pytest.raises(OSError, match="too large"):
            journal.add_games([played(1), played(2)])
        assert read_journal(path) == [played(0)]
        assert journal.add_games([played(1), played(2)]) == [played(1), played(2)]
    assert read_journal(path) == [played(number) for number in range(3)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_write_that_is_interrupted_leaves_no_half_a_line(
    path: Path, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise error

    with GameJournal(path) as journal:
        journal.add_games([played(0)])
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", fail)
            with pytest.raises((KeyboardInterrupt, OSError)):
                journal.add_games([played(1)])
        assert list(journal.games) == [0]
        assert journal.add_games([played(1), played(2)]) == [played(1), played(2)]
    assert read_journal(path) == [played(number) for number in range(3)]


def test_a_game_that_cannot_be_written_is_an_error_and_not_counted(path: Path) -> None:
    endless = replace(played(1), seconds=float("inf"))
    with GameJournal(path) as journal:
        with pytest.raises(ValueError, match="JSON"):
            journal.add_games([endless])
        assert journal.games == {}
        assert journal.add_games([played(1)]) == [played(1)]
    assert read_journal(path) == [played(1)]
