# SPDX-License-Identifier: Apache-2.0
"""Engines that do otherwise than their protocol says, and how they are asked all the same."""

import asyncio
from pathlib import Path

import pytest

from engines import fake
from hyoka.engines import EnginePosition, Limits, check_engine, start_engine
from hyoka.foundation.errors import EngineError
from hyoka.games.clock import Clock

SHOGI = EnginePosition("shogi")
GPS = (
    "name=gpsshogi r1",
    "option=LimitDepth type spin default 10 min 4 max 10",
    "option=BookDepth type spin default 30 min 0 max 100",
    "option=Verbose type spin default 0 min 0 max 1",
)


def gps(log: Path, settings: str = "") -> str:
    return fake("usi", *GPS, f"log={log}", settings=settings)


def heard_by_gps(
    log: Path,
    settings: str = "",
    limits: Limits | None = None,
    clocks: tuple[Clock, Clock] | None = None,
) -> list[str]:
    """Commands from the handshake on, for one position."""

    async def ask() -> None:
        engine = await start_engine(gps(log, settings))
        try:
            if clocks is None:
                await engine.evaluate(SHOGI, limits)
            else:
                await engine.play(SHOGI, clocks)
        finally:
            await engine.close()

    asyncio.run(ask())
    return [line for line in log.read_text().splitlines() if line[:3] in ("set", "go ")]


def test_gps_shogi_receives_its_depth_as_an_option(tmp_path: Path) -> None:
    assert heard_by_gps(tmp_path / "log", "depth=2") == [
        "setoption name BookDepth value 0",
        "setoption name Verbose value 1",
        "setoption name LimitDepth value 2",
        "go infinite",
    ]


@pytest.mark.parametrize(
    ("settings", "limits", "depth", "go"),
    [
        ("", None, 4, "go infinite"),
        ("time=2", None, 10, "go btime 0 wtime 0 byoyomi 2000"),
        ("time=2,limitdepth=5", None, 5, "go btime 0 wtime 0 byoyomi 2000"),
        ("depth=3", Limits(time_s=1), 10, "go btime 0 wtime 0 byoyomi 1000"),
        ("depth=3,time=1", None, 3, "go btime 0 wtime 0 byoyomi 1000"),
    ],
)
def test_gps_shogis_limits_are_depth_and_whole_seconds(
    settings: str, limits: Limits | None, depth: int, go: str, tmp_path: Path
) -> None:
    *_, option, last = heard_by_gps(tmp_path / "log", settings, limits)
    assert (option, last) == (f"setoption name LimitDepth value {depth}", go)


def test_gps_shogi_receives_positions_without_their_past(tmp_path: Path) -> None:
    log = tmp_path / "log"
    played = EnginePosition("shogi", moves=["7g7f", "3c3d"])

    async def ask() -> None:
        engine = await start_engine(gps(log))
        try:
            await engine.evaluate(played)
        finally:
            await engine.close()

    asyncio.run(ask())
    after = played.replay().last.text
    assert f"position sfen {after}\n" in log.read_text()


def test_ones_own_options_come_before_those_of_the_dialect(tmp_path: Path) -> None:
    heard = heard_by_gps(tmp_path / "log", "depth=1,bookdepth=7")
    assert "setoption name BookDepth value 7" in heard
    assert "setoption name BookDepth value 0" not in heard


def test_gps_shogi_plays_by_byo_yomi(tmp_path: Path) -> None:
    clocks = (Clock(main_s=60, period_s=3), Clock(main_s=50, period_s=3))
    heard = heard_by_gps(tmp_path / "log", clocks=clocks)
    assert heard[-1] == "go btime 60000 wtime 50000 byoyomi 3000"


@pytest.mark.parametrize(
    ("clock", "message"),
    [
        (Clock(main_s=60, increment_s=1), "knows no increments"),
        (Clock(main_s=60, period_s=0.5), "overruns less than 1 s a move"),
    ],
)
def test_clocks_that_it_cannot_keep_are_refused(clock: Clock, message: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=message) as refused:
        heard_by_gps(tmp_path / "log", clocks=(clock, clock))
    assert refused.value.reason == "limit"


@pytest.mark.parametrize("name", ["Toga II 3.0", "GNU Chess 6.2.7", "gpsshogi r1"])
def test_nodes_are_refused_where_they_are_ignored(name: str) -> None:
    protocol = "usi" if name.startswith("gps") else "uci"
    with pytest.raises(EngineError, match="ignores node limits; use a depth") as refused:
        asyncio.run(start_engine(fake(protocol, f"name={name}", settings="nodes=5")))
    assert refused.value.reason == "limit"


def test_such_an_engine_is_tried_out_by_depth() -> None:
    report = check_engine(fake("uci", "name=Toga II 3.0", "say=info depth 2 score cp 3"))
    assert report.passed
    [twice] = [check for check in report.checks if check.name == "same answer twice"]
    assert twice.detail.endswith("at depth=2")
