# SPDX-License-Identifier: Apache-2.0
"""What CECP engines say, of both versions, and what we make of it."""

import asyncio
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from engines import QUICK_S, fake
from hyoka.engines import EnginePosition, Limits, check_engine, start_engine
from hyoka.engines.client.cecp import from_xboard, to_xboard
from hyoka.foundation.errors import EngineError
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation

WHITE = EnginePosition("chess")
BLACK = EnginePosition("chess", moves=["e2e4"])
SHOGI = EnginePosition("shogi", moves=["7g7f"])
FEN = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"


def evaluated(
    spec: str, *positions: EnginePosition, limits: Limits | None = None
) -> list[Evaluation]:
    async def run() -> list[Evaluation]:
        engine = await start_engine(spec)
        try:
            return [await engine.evaluate(position, limits) for position in positions]
        finally:
            await engine.close()

    return asyncio.run(run())


def refusal_of(spec: str, position: EnginePosition = WHITE) -> EngineError:
    with pytest.raises(EngineError) as refused:
        evaluated(spec, position)
    return refused.value


def heard(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines()


def test_thoughts_are_turned_to_whites_view() -> None:
    spec = fake("cecp", "say=12. +31 45 4567 e2e4 e7e5", "say=noise 1 2 3")
    white, black = evaluated(spec, WHITE, BLACK)
    assert (white.score, white.unit, white.depth, white.nodes) == (31, "centipawns", 12, 4567)
    assert (white.best, black.best, black.score) == ("a2a3", "a7a6", -31)


@pytest.mark.parametrize(("score", "mate"), [("100003", 3), ("-100002", -2)])
def test_mates_are_counted_from_a_hundred_thousand(score: str, mate: int) -> None:
    [found] = evaluated(fake("cecp", f"say=5 {score} 1 20 a2a3"), WHITE)
    assert (found.mate, found.score) == (mate, None)


def test_an_engine_that_posts_nothing_still_moves() -> None:
    [found] = evaluated(fake("cecp"), WHITE)
    assert (found.best, found.score, found.value) == ("a2a3", None, None)


def test_positions_and_limits_as_the_second_version_receives_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    spec = fake("cecp", f"log={log}", "best=a1a8")
    evaluated(spec, EnginePosition("chess", start=FEN), limits=Limits(depth=4, time_s=1.2))
    said = heard(log)
    assert said[:3] == ["xboard", "protover 2", "ping 1"]
    assert "accepted usermove" in said
    assert said[said.index("new") :] == [
        *("new", "force", f"setboard {FEN}", "st 2", "sd 4", "go", "force", "quit")
    ]


def test_moves_in_san_are_declined(tmp_path: Path) -> None:
    log = tmp_path / "log"
    evaluated(fake("cecp", f"log={log}", "feature=san=1 sigint=0"), BLACK)
    assert "rejected san" in heard(log)
    assert "usermove e2e4" in heard(log)


def test_the_first_version_numbers_its_moves_and_keeps_to_a_level(tmp_path: Path) -> None:
    log = tmp_path / "log"
    behavior = ("version=1", f"log={log}", "best=3c3d")
    [found] = evaluated(fake("cecp", *behavior), SHOGI, limits=Limits(time_s=65))
    assert found.best == "3c3d"
    assert heard(log)[-7:] == ["new", "force", "7g7f", "level 1 1:05 0", "go", "force", "quit"]
    for settings, message in (("nodes=5", "no limit 'nodes'"), ("depth=5", "give it a time")):
        assert message in refusal_of(fake("cecp", *behavior, settings=settings)).message


def test_a_game_goes_on_where_it_was_by_both_clocks(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def run() -> list[str | None]:
        engine = await start_engine(fake("cecp", f"log={log}", "moves=a2a3,h7h6,b2b3"))
        clocks = Clock(main_s=90, increment_s=0.5), Clock(main_s=80, increment_s=0.5)
        first = await engine.play(WHITE, clocks)
        second = await engine.play(EnginePosition("chess", moves=["a2a3", "e7e5"]), clocks)
        await engine.close()
        return [first.best, second.best]

    assert asyncio.run(run()) == ["a2a3", "b2b3"]
    said = heard(log)
    assert said[said.index("new") :] == [
        *("new", "force", "level 0 1:30 0.5", "time 9000", "otim 8000", "go", "force"),
        *("force", "usermove e7e5", "time 9000", "otim 8000", "go", "force", "quit"),
    ]


def test_shogi_of_the_second_version_is_written_as_xboard_does(tmp_path: Path) -> None:
    log = tmp_path / "log"
    spec = fake("cecp", f"log={log}", "feature=variants=normal,shogi", "best=g7g6")
    assert [found.best for found in evaluated(spec, SHOGI)] == ["3c3d"]
    said = heard(log)
    assert said[said.index("new") :][:4] == ["new", "variant shogi", "force", "usermove c3c4"]
    assert refusal_of(fake("cecp"), SHOGI).reason == "game"


@given(st.integers(0, 10**6), st.integers(0, 60))
def test_every_move_of_shogi_is_read_back(seed: int, plies: int) -> None:
    line = hk.Shogi().line()
    for ply in range(plies):
        move = line.random_move(seed + ply)
        if move is None:
            break
        line = line.play(move)
    for move in line.legal_moves:
        assert from_xboard(to_xboard(str(move))) == str(move)


@pytest.mark.parametrize(
    ("words", "reason", "message"),
    [
        (["best=e2e5"], "unplayable", "illegal move e2e5"),
        (["best=banana"], "unplayable", "no move"),
        (["instead=1-0 {White mates}"], "unplayable", "where it has to move"),
        (["refuse=st"], "refused", "unknown command"),
        (["instead=Illegal move: e2e4"], "refused", "Illegal move"),
        (["crash"], "died", "exit code 3"),
    ],
)
def test_protocol_violations_are_named(words: list[str], reason: str, message: str) -> None:
    error = refusal_of(fake("cecp", *words))
    assert (error.reason, message in error.message) == (reason, True)


@pytest.mark.parametrize(("first", "known"), [("a1a8", True), ("a1a7", False)])
def test_the_result_of_a_game_that_its_move_ended_may_come_late(first: str, known: bool) -> None:
    mates = EnginePosition("chess", start=FEN)
    goes_on = EnginePosition("chess", start=FEN, moves=["a1b1", "g8f8"])
    spec = fake("cecp", f"moves={first},x,b1b2", "late=1-0 {White mates}")
    if known:
        assert [found.best for found in evaluated(spec, mates, goes_on)] == ["a1a8", "b1b2"]
    else:  # the game was not over: it speaks of this one
        with pytest.raises(EngineError, match="where it has to move"):
            evaluated(spec, mates, goes_on)


def test_silence_ends_in_time() -> None:

    async def run() -> None:
        engine = await start_engine(fake("cecp", "silent"))
        engine.spec = replace(engine.spec, timeout_s=QUICK_S)
        await engine.evaluate(WHITE, Limits(time_s=0.01))

    with pytest.raises(EngineError) as refused:
        asyncio.run(run())
    assert refused.value.reason == "timeout"


@pytest.mark.parametrize("words", ["instead=resign", "instead=0-1 {White resigns}"])
def test_resigning_is_a_move(words: str) -> None:
    [found] = evaluated(fake("cecp", words), WHITE)
    assert found.best == "resign"


def test_what_need_not_be_understood_is_no_refusal() -> None:
    [found] = evaluated(fake("cecp", "refuse=post", "refuse=easy"), WHITE)
    assert found.best == "a2a3"


def test_options_are_features_or_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    behavior = (f"log={log}", 'feature=memory=1 option="Skill Level -spin 3 0 9"')
    evaluated(fake("cecp", *behavior, settings="Hash=64,Skill Level=5"), WHITE)
    assert {"memory 64", "option Skill Level=5"} <= set(heard(log))
    near = refusal_of(fake("cecp", *behavior, settings="Skil Level=5"))
    assert "did you mean Skill Level?" in near.message


def test_the_check_knows_both_versions() -> None:
    report = check_engine(fake("cecp", "say=3 10 1 20 a2a3", "moves=a2a3,a7a6"))
    assert report.passed
    assert report.name == "Fake 1.0"
    old = check_engine(fake("cecp", "version=1", "refuse=e2e4", "best=8c8d"))
    verdicts = {check.name: check.verdict for check in old.checks}
    assert verdicts["starts and shakes hands"] == "pass"
    assert verdicts["evaluates"] == "warn"


@pytest.mark.parametrize("took", ["usi", "gtp", "cecp"])
def test_one_that_says_nothing_is_greeted_in_other_protocols(
    took: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("engine", "gtp"):
        monkeypatch.setattr(f"hyoka.engines.client.{module}.DOUBT_S", 0.05)
    error = refusal_of(fake("uci").replace("uci:", f"{took}:", 1))
    assert f"seems to speak UCI, not {took.upper()}" in error.message
    assert "write uci: before its command" in error.message


@pytest.mark.parametrize(("protocol", "times"), [("cecp", 2), ("uci", 2), ("gtp", 1)])
def test_a_slow_engine_is_greeted_again_automatically(
    protocol: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have obeyed other greetings; over GTP it has answered them."""
    slow = tmp_path / "slow"
    begin = (
        "import sys, time, runpy; time.sleep(0.4); runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    for module in ("engine", "gtp"):
        monkeypatch.setattr(f"hyoka.engines.client.{module}.DOUBT_S", 0.05)
    before, _, script = fake(protocol, f"log={slow}").partition(" -S ")
    start = EnginePosition("go9" if protocol == "gtp" else "chess")
    evaluated(f'{before} -S -c "{begin}" {script}', start)
    assert heard(slow).count({"cecp": "xboard", "gtp": "name"}.get(protocol, protocol)) == times


def test_an_engine_of_another_protocol_is_found_out() -> None:
    """By what it says to a greeting of another; see the other protocols' tests for silence."""
    for took, is_ in [("uci", "gtp"), ("usi", "cecp"), ("gtp", "cecp"), ("cecp", "gtp")]:
        words = ["version=1"] if is_ == "cecp" else []
        error = refusal_of(fake(is_, *words).replace(f"{is_}:", f"{took}:", 1))
        assert f"seems to speak {is_.upper()}, not {took.upper()}" in error.message


def test_an_engine_that_hangs_at_its_start_is_restarted(tmp_path: Path) -> None:
    # GNU Chess hangs at some of its starts; this one at its first.
    settings, command = fake("cecp", settings="timeout=10").removeprefix("cecp:").split(":", 1)
    mark = shlex.quote(str(tmp_path / "started"))
    script = f"if [ -e {mark} ]; then exec {command}; fi; touch {mark}; exec sleep 1000"
    spec = f"cecp:{settings}:sh -c {shlex.quote(script)}"
    [evaluation] = evaluated(spec, WHITE)
    assert evaluation.best == "a2a3"
