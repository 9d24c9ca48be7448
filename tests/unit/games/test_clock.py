# SPDX-License-Identifier: Apache-2.0
"""No clock runs out, and none is left unused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka.engines.server.gtp_board import Clocks
from hyoka.foundation.errors import NotationError
from hyoka.games.clock import Clock, expected_moves

BLACK, WHITE = hk.Player.first, hk.Player.second

clocks = st.builds(
    Clock,
    main_s=st.floats(0, 10_000),
    increment_s=st.floats(0, 60),
    moves_to_go=st.none() | st.integers(1, 60),
    period_s=st.floats(0, 300),
    period_moves=st.integers(1, 25),
)


@given(clocks, st.integers(1, 200), st.floats(0, 1))
def test_no_move_takes_more_than_the_clock_has(clock: Clock, moves: int, overhead: float) -> None:
    seconds = clock.thinking_s(expected_moves=moves, overhead_s=overhead)
    assert 0 < seconds <= max(0.005, clock.main_s + clock.period_s - overhead)


@given(st.floats(1, 1000), st.floats(0, 10), st.integers(1, 100))
def test_a_clock_lasts_however_long_the_game_is(main: float, increment: float, moves: int) -> None:
    clock = Clock(main_s=main, increment_s=increment)
    for _ in range(200):
        seconds = clock.thinking_s(expected_moves=moves)
        assert seconds <= max(clock.main_s, 0.005)
        clock = clock.after(seconds)


def test_the_last_move_before_new_time_leaves_a_little() -> None:
    assert 9 < Clock(main_s=10, moves_to_go=1).thinking_s(expected_moves=30) < 10


@pytest.mark.parametrize(
    ("clock", "least", "most"),
    [
        (Clock(main_s=300), 9, 11),
        (Clock(main_s=300, increment_s=4), 12, 14),
        (Clock(main_s=300, moves_to_go=10), 29, 31),
        (Clock(period_s=10), 8, 9.9),
        (Clock(main_s=300, period_s=10), 18, 20),
        (Clock(period_s=100, period_moves=20), 4, 5),
    ],
)
def test_a_move_takes_a_sensible_share(clock: Clock, least: float, most: float) -> None:
    assert least < clock.thinking_s(expected_moves=30) < most


def test_japanese_periods_come_anew_and_canadian_stones_are_counted() -> None:
    japanese = Clock(main_s=1, period_s=10)
    assert japanese.after(5, japanese) == Clock(period_s=10)
    canadian = Clock(main_s=1, period_s=60, period_moves=3)
    left = canadian.after(11, canadian)
    assert (left.main_s, left.period_s, left.period_moves) == (0, 50, 2)
    for _ in range(2):
        left = left.after(5, canadian)
    assert (left.period_s, left.period_moves) == (60, 3)


@pytest.mark.parametrize("game", ["go9", "go19", "othello", "blokus_duo", "chess", "shogi"])
def test_every_game_is_expected_to_go_on(game: str) -> None:
    assert 5 < expected_moves(hk.position(game).line()) < 150


def test_gtp_sets_and_tells_the_time() -> None:
    server_clocks = Clocks()
    assert server_clocks.of(BLACK) is None
    server_clocks.set(["300", "0", "0"])
    assert server_clocks.of(BLACK) == Clock(main_s=300)
    server_clocks.spent(BLACK, 100)
    server_clocks.tell(WHITE, ["7.5", "0"])
    assert server_clocks.of(BLACK) == Clock(main_s=200)
    assert server_clocks.of(WHITE) == Clock(main_s=7.5)
    server_clocks.restart()
    assert server_clocks.of(BLACK) == Clock(main_s=300)
    server_clocks.set(["10", "60", "25"])
    server_clocks.tell(BLACK, ["40", "5"])
    assert server_clocks.of(BLACK) == Clock(period_s=40, period_moves=5)
    server_clocks.set(["0", "1", "0"])  # nobody counts
    assert server_clocks.of(BLACK) is None


def test_kgs_has_four_kinds_of_clocks() -> None:
    server_clocks = Clocks()
    server_clocks.set_kgs(["byoyomi", "600", "30", "5"])
    server_clocks.tell(BLACK, ["30", "3"])  # three periods, not three stones
    assert server_clocks.of(BLACK) == Clock(period_s=30)
    server_clocks.set_kgs(["canadian", "600", "300", "25"])
    assert server_clocks.of(BLACK) == Clock(main_s=600, period_s=300, period_moves=25)
    server_clocks.set_kgs(["absolute", "600"])
    assert server_clocks.of(BLACK) == Clock(main_s=600)
    server_clocks.set_kgs(["none"])
    assert server_clocks.of(BLACK) is None
    for bad in (["nonsense"], [], ["byoyomi", "x", "1", "1"], ["absolute", "-1"], ["absolute"]):
        with pytest.raises(NotationError):
            server_clocks.set_kgs(bad)
