# SPDX-License-Identifier: Apache-2.0
"""Clock commands of engines, in their protocols' words."""

import asyncio
from pathlib import Path

import pytest

from engines import fake
from hyoka.engines import EnginePosition, start_engine
from hyoka.games.clock import Clock

from ...arena_matches import KNIGHTS, QUIET, match


def heard_after_play(
    text: str, position: EnginePosition, clocks: tuple[Clock, Clock], log: Path
) -> list[str]:
    """What an engine hears of the clocks when it is asked for a move."""

    async def play() -> None:
        engine = await start_engine(text)
        try:
            log.unlink()  # the handshake
            await engine.play(position, clocks)
        finally:
            engine.kill()

    asyncio.run(play())
    lines = log.read_text().splitlines()
    return [line for line in lines if line.startswith(("go", "time", "kata"))]


CHESS = [EnginePosition("chess"), EnginePosition("chess", moves=["a2a3"])]
SHOGI = [EnginePosition("shogi"), EnginePosition("shogi", moves=["9g9f"])]
GO = [EnginePosition("go9"), EnginePosition("go9", moves=["E5"])]


@pytest.mark.parametrize(
    ("protocol", "position", "clocks", "heard"),
    [
        (
            "uci",
            CHESS[0],
            (Clock(main_s=60, increment_s=0.6), Clock(main_s=5.0004, increment_s=1)),
            ["go wtime 60000 btime 5000 winc 600 binc 1000"],
        ),
        (
            "uci",
            CHESS[1],
            (Clock(main_s=60), Clock(main_s=0.25)),
            ["go wtime 60000 btime 250 winc 0 binc 0"],
        ),
        (
            "uci",
            CHESS[0],
            (Clock(main_s=9, moves_to_go=3), Clock(main_s=8, moves_to_go=4)),
            ["go wtime 9000 btime 8000 winc 0 binc 0 movestogo 3"],
        ),
        (  # the moves of the one who is asked
            "uci",
            CHESS[1],
            (Clock(main_s=9, moves_to_go=40), Clock(main_s=8, moves_to_go=1)),
            ["go wtime 9000 btime 8000 winc 0 binc 0 movestogo 1"],
        ),
        (  # what the other one has need not be sent
            "uci",
            CHESS[0],
            (Clock(main_s=9), Clock(main_s=8, period_s=10)),
            ["go wtime 9000 btime 8000 winc 0 binc 0"],
        ),
        (
            "usi",
            SHOGI[0],
            (Clock(main_s=600, period_s=10), Clock(main_s=0, period_s=5)),
            ["go btime 600000 wtime 0 byoyomi 10000"],
        ),
        (
            "usi",
            SHOGI[1],
            (Clock(main_s=600, period_s=10), Clock(main_s=0, period_s=5)),
            ["go btime 600000 wtime 0 byoyomi 5000"],
        ),
        (
            "usi",
            SHOGI[1],
            (Clock(main_s=600, increment_s=1), Clock(main_s=300, increment_s=2.5)),
            ["go btime 600000 wtime 300000 binc 1000 winc 2500"],
        ),
        (
            "usi",
            SHOGI[0],
            (Clock(main_s=10), Clock(main_s=10)),
            ["go btime 10000 wtime 10000 byoyomi 0"],
        ),
        (
            "gtp",
            GO[0],
            (Clock(main_s=60), Clock(main_s=60)),
            ["time_settings 60 0 0", "time_left b 60 0", "time_left w 60 0"],
        ),
        (
            "gtp",
            GO[1],
            (Clock(main_s=60.9, period_s=5), Clock(main_s=0, period_s=10.5)),
            ["time_settings 0 10 1", "time_left b 60 0", "time_left w 10 1"],
        ),
        (
            "gtp",
            GO[0],
            (Clock(main_s=60, moves_to_go=40), Clock(main_s=50, moves_to_go=39)),
            ["time_settings 0 60 40", "time_left b 60 40", "time_left w 50 39"],
        ),
    ],
)
def test_an_engine_receives_both_clocks_in_its_protocol(
    protocol: str,
    position: EnginePosition,
    clocks: tuple[Clock, Clock],
    heard: list[str],
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    assert heard_after_play(fake(protocol, f"log={log}"), position, clocks, log) == heard


def test_a_limit_goes_with_the_clock(tmp_path: Path) -> None:
    log, clocks = tmp_path / "log", (Clock(main_s=1), Clock(main_s=1))
    text = fake("uci", f"log={log}", settings="depth=5,nodes=100")
    heard = heard_after_play(text, CHESS[0], clocks, log)
    assert heard == ["go depth 5 nodes 100 wtime 1000 btime 1000 winc 0 binc 0"]


def test_katas_own_command_tells_increments(tmp_path: Path) -> None:
    log = tmp_path / "log"
    clocks = (Clock(main_s=60, increment_s=1), Clock(main_s=30, increment_s=0.5))
    text = fake("gtp", f"log={log}", "knows=kata-time_settings")
    heard = heard_after_play(text, GO[1], clocks, log)
    assert heard[0] == "kata-time_settings fischer 30.000 0.500"


def test_in_a_match_every_player_hears_of_its_own_clock(tmp_path: Path) -> None:
    logs = [tmp_path / "one", tmp_path / "two"]
    one, two = (fake("uci", KNIGHTS, f"log={log}") for log in logs)
    match(tmp_path, f"{one}@3600+1", two, games=1, clock="40/7200")
    first, second = (
        [line for line in log.read_text().splitlines() if line.startswith("go")] for log in logs
    )
    assert first[0] == "go wtime 3600000 btime 7200000 winc 1000 binc 0"
    assert all("movestogo" not in line for line in first)
    # Four moves in each of two games; the clock of the first mover is counted by then.
    assert len(second) == 8
    assert [line.split("movestogo ")[1] for line in second] == ["40", "39", "38", "37"] * 2


def test_without_a_clock_an_engine_keeps_to_its_own_limits(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = fake("uci", KNIGHTS, f"log={log}", settings="nodes=7")
    match(tmp_path, one, QUIET, games=1)
    heard = [line for line in log.read_text().splitlines() if line.startswith("go")]
    assert set(heard) == {"go nodes 7"}
