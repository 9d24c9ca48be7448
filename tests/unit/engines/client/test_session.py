# SPDX-License-Identifier: Apache-2.0
"""Runs that go on past engines that die, hang and lie."""

import itertools
import pickle
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from engines import QUICK_S, exists, fake
from hyoka.engines import Engine, EnginePosition, Failure, Limits
from hyoka.foundation.errors import EngineError
from hyoka.games.evaluation import Evaluation

LINE = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "d2d3", "f8c5", "c2c3", "d7d6"]
POSITIONS = [EnginePosition("chess", moves=LINE[:ply]) for ply in range(len(LINE) + 1)]
SCORE = "say=info depth 1 score cp 5"


def reasons(results: list[Evaluation | Failure]) -> list[str]:
    return [result.reason if isinstance(result, Failure) else "ok" for result in results]


def until_given_up(
    session: Engine, positions: Iterable[EnginePosition]
) -> tuple[list[Evaluation | Failure], EngineError]:
    results: list[Evaluation | Failure] = []
    with pytest.raises(EngineError) as error:
        results.extend(session.evaluate_each(positions))
    return results, error.value


def test_positions_are_evaluated_in_order() -> None:
    with Engine(fake("uci", SCORE)) as session:
        results = session.evaluate_many(POSITIONS * 20)
    scores = [result.score for result in results if isinstance(result, Evaluation)]
    assert scores == [(5.0, -5.0)[ply % 2] for ply in range(len(POSITIONS))] * 20
    assert session.restarts == 0


def test_results_come_as_they_are_found() -> None:
    with Engine(fake("uci", SCORE)) as session:
        results = session.evaluate_each(itertools.cycle(POSITIONS))
        for _, result in zip(range(500), results, strict=False):
            assert isinstance(result, Evaluation)
        # What was not asked for any more is not asked of the next caller.
        assert len(session.evaluate_many(POSITIONS[:2])) == 2


def test_no_positions_give_no_results() -> None:
    with Engine(fake("uci")) as session:
        assert session.evaluate_many([]) == []


def test_an_engine_that_crashes_is_started_anew() -> None:
    with Engine(fake("uci", SCORE, "crash=4")) as session:
        results = session.evaluate_many(POSITIONS)
        assert session.restarts == 2
    assert reasons(results) == [*["ok"] * 3, "died", *["ok"] * 3, "died", *["ok"] * 3]
    failure = results[3]
    assert isinstance(failure, Failure)
    assert "exit code 3" in failure.message
    assert failure.detail.startswith("chess start moves e2e4 e7e5 g1f3\n")
    assert "> position startpos moves e2e4 e7e5 g1f3" in failure.detail
    assert "! assertion failed: fake.c:7" in failure.detail


def test_a_quick_engine_that_crashes_late_costs_one_position() -> None:
    positions = POSITIONS * 20
    with Engine(fake("uci", SCORE, "crash=100")) as session:
        results = session.evaluate_many(positions)
        assert session.restarts == 2
    assert [at for at, reason in enumerate(reasons(results)) if reason != "ok"] == [99, 199]
    assert len(results) == len(positions)


def test_an_engine_that_hangs_is_killed_and_started_anew(tmp_path: Path) -> None:
    with Engine(fake("uci", SCORE, "silent=1", f"once={tmp_path / 'done'}")) as session:
        first = session.engine
        # Only what never answers is under a quick watchdog.
        first.spec = replace(first.spec, timeout_s=QUICK_S)
        results = session.evaluate_many(POSITIONS[:2])
        assert session.restarts == 1
    assert reasons(results) == ["timeout", "ok"]
    assert not exists(first.transport.pid)


HANG_GAMES = {
    "uci": ("chess", ["silent=1"], 0.1),
    "usi": ("shogi", ["silent=1"], 0.1),
    "cecp": ("chess", ["silent"], 1),  # it counts whole seconds
    "gtp": ("go9", ["hang=reg_genmove", "knows=time_settings"], 1),
}


@pytest.mark.parametrize("protocol", HANG_GAMES)
def test_the_wait_for_a_hung_engine_is_its_time_limit_and_a_grace(protocol: str) -> None:
    game, words, limit_s = HANG_GAMES[protocol]
    # The timeout of a minute counts only where no limit of time does.
    spec = fake(protocol, *words, settings=f"time=0.1,grace={QUICK_S}")
    positions = [EnginePosition(game)] * 9
    with Engine(spec, max_restarts=1) as session:
        results, error = until_given_up(session, positions)
        assert session.restarts == 1
    assert reasons(results) == ["timeout"] * 2
    for failure in results:
        assert isinstance(failure, Failure)
        assert failure.message == f"does not answer within {limit_s + QUICK_S:g} s"
        assert failure.detail.startswith(f"{game} start")
    assert "given up after 1 restarts in a row" in str(error)
    assert f"within {limit_s + QUICK_S:g} s at {game} start" in str(error)
    assert "set grace= or timeout=" in str(error)


def test_an_engine_without_a_time_of_its_own_has_that_of_its_default_limits() -> None:
    with Engine(fake("uci", "silent=1", settings=f"grace={QUICK_S}")) as session:
        (failure,) = session.evaluate_many(POSITIONS[:1])
        assert isinstance(failure, Failure)
        assert failure.message == f"does not answer within {0.1 + QUICK_S:g} s"


def test_a_hung_engine_is_given_up_when_it_is_asked_for_moves_alone() -> None:
    spec = fake(
        "gtp", "hang=reg_genmove", "knows=time_settings", settings=f"time=1,grace={QUICK_S}"
    )
    with Engine(spec, max_restarts=0) as session:
        with pytest.raises(EngineError, match=r"does not answer within 1\.2 s"):
            session.best_move(EnginePosition("go9", moves=["E5"]))
        with pytest.raises(EngineError, match=r"within 1\.2 s at go9 start moves E5"):
            session.best_move(EnginePosition("go9", moves=["E5"]))


@pytest.mark.parametrize("misdeed", ["flood=2", "long=2", "die=2"])
def test_other_misdeeds_cost_one_position_too(misdeed: str) -> None:
    with Engine(fake("uci", SCORE, misdeed)) as session:
        results = session.evaluate_many(POSITIONS[:3])
    assert reasons(results) == ["ok", "died" if misdeed == "die=2" else "flood", "ok"]


def test_an_unplayable_move_costs_its_position() -> None:
    # A pawn's move that is legal for Black only where nobody has made it yet.
    with Engine(fake("uci", SCORE, "best=e7e5")) as session:
        results = session.evaluate_many(POSITIONS[1:2] * 3 + POSITIONS[2:3] + POSITIONS[1:2])
    assert reasons(results) == ["ok", "ok", "ok", "unplayable", "ok"]
    assert session.restarts == 1


def test_what_no_engine_can_help_costs_no_restart() -> None:
    bad = [
        EnginePosition("chess", moves=["e2e5"]),
        EnginePosition("chess", start="nonsense"),
        EnginePosition("shogi"),
    ]
    with Engine(fake("uci", SCORE)) as session:
        pid = session.engine.transport.pid
        results = session.evaluate_many([POSITIONS[0], *bad, POSITIONS[0]])
        assert session.engine.transport.pid == pid
    assert reasons(results) == ["ok", "illegal", "illegal", "game", "ok"]
    failure = results[1]
    assert isinstance(failure, Failure)
    assert "e2e5" in failure.message
    assert failure.detail == "chess start moves e2e5"


def test_a_limit_that_an_engine_does_not_know_is_a_failure_for_each() -> None:
    with Engine(fake("uci")) as session:
        results = session.evaluate_many(POSITIONS[:2], Limits(level=3))
        assert reasons(results) == ["limit", "limit"]
        assert session.restarts == 0


def test_a_refused_position_of_go_costs_no_restart() -> None:
    positions = [EnginePosition("go9", moves=moves) for moves in (["E5"], ["C3"], ["G7"])]
    with Engine(fake("gtp", "refuse=play b C3")) as session:
        assert reasons(session.evaluate_many(positions)) == ["ok", "refused", "ok"]
        assert session.restarts == 0


@pytest.mark.parametrize("max_restarts", [0, 1, 3])
def test_the_session_gives_up_after_a_number_of_restarts_in_a_row(max_restarts: int) -> None:
    with Engine(fake("uci", "crash=1"), max_restarts=max_restarts) as session:
        results, error = until_given_up(session, POSITIONS)
        assert reasons(results) == ["died"] * (max_restarts + 1)
        assert session.restarts == max_restarts
        assert f"given up after {max_restarts} restarts" in str(error)
        assert "exit code 3" in str(error)
        assert "assertion failed" in error.last_words
        with pytest.raises(EngineError, match="given up"):
            session.evaluate(POSITIONS[0])


def test_a_success_counts_the_restarts_from_the_start_again() -> None:
    with Engine(fake("uci", SCORE, "crash=2"), max_restarts=1) as session:
        results = session.evaluate_many(POSITIONS)
    assert reasons(results) == [("ok", "died")[at % 2] for at in range(len(POSITIONS))]


def test_finished_games_are_no_success_of_the_engine() -> None:
    mated = EnginePosition("chess", moves=["f2f3", "e7e5", "g2g4", "d8h4"])
    with Engine(fake("uci", "crash=1"), max_restarts=2) as session:
        results, _ = until_given_up(session, [POSITIONS[0], mated] * 10)
    assert reasons(results) == ["died", "ok", "died", "ok", "died"]


def test_an_engine_that_cannot_be_started_again_is_given_up(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    command = fake("uci", "crash=1").split(":", 2)[2]
    engine.write_text(f"#!/bin/sh\nrm {engine}\nexec {command}\n")
    engine.chmod(0o755)
    with Engine(f"uci:{engine}") as session:
        with pytest.raises(EngineError, match="no program"):
            session.evaluate_many(POSITIONS[:2])
        assert session.restarts == 3


def test_an_engine_that_dies_between_questions_costs_nothing() -> None:
    with Engine(fake("uci", SCORE)) as session:
        assert session.evaluate(POSITIONS[0])
        session.engine.kill()
        assert isinstance(session.evaluate(POSITIONS[0]), Evaluation)
        assert session.restarts == 1


def test_a_session_starts_with_an_engine_or_not_at_all() -> None:
    with pytest.raises(EngineError, match="no program"), Engine("uci:no-such-program"):
        pass
    spec = fake("uci", "deaf", settings=f"timeout={QUICK_S}")
    with pytest.raises(EngineError, match="does not answer within"), Engine(spec):
        pass


def test_best_moves_and_new_games_go_through_the_session() -> None:
    with Engine(fake("uci", "crash=2")) as session:
        assert session.best_move(POSITIONS[1]) == "a7a6"
        session.new_game()
        with pytest.raises(EngineError, match="died"):
            session.best_move(POSITIONS[1])
        assert session.best_move(POSITIONS[1]) == "a7a6"
        mated = EnginePosition("chess", moves=["f2f3", "e7e5", "g2g4", "d8h4"])
        assert session.best_move(mated) is None


def test_errors_and_failures_travel_between_processes() -> None:
    error = EngineError("fish", "died (exit code 3)", "> go\n! help", "died")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, EngineError)
    assert str(again) == str(error) == "fish: died (exit code 3)"
    assert vars(again) == vars(error)
    failure = Failure("died", "it died", "here")
    assert pickle.loads(pickle.dumps(failure)) == failure


REPORTS = [
    "info depth 1 multipv 1 score cp 20 nodes 30 pv e2e4 e7e5",
    "info depth 1 multipv 2 score cp 10 nodes 30 pv d2d4",
    "info string depth 9 score cp 900 pv a2a3",
    "info depth 2 multipv 1 score cp 25 lowerbound nodes 50 pv e2e4",
    "info depth 2 multipv 1 score cp 18 nodes 60 pv d2d4 d7d5",
    "info depth 2 multipv 2 score mate -3 nodes 70 pv g2g4 e7e5",
    "info depth 3 multipv 1 score cp 30 nodes 99 pv c2c4",  # the second of this depth never comes
]


def engine_that_reports(*words: str) -> str:
    offer = "option=MultiPV type spin default 1 min 1 max 500"
    return fake("uci", offer, *(f"say={line}" for line in REPORTS), *words)


def test_variations_of_one_depth_come_as_they_are_reported(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Engine(engine_that_reports(f"log={log}")) as session:
        *_, last = session.analyze(EnginePosition("chess"), lines=2)
        assert [each.moves for each in last] == [("d2d4", "d7d5"), ("g2g4", "e7e5")]
        assert [each.evaluation.score for each in last] == [18, None]
        assert [each.evaluation.mate for each in last] == [None, -3]
        assert [each.evaluation.depth for each in last] == [2, 2]
        # Seen from the first player, though Black is to move.
        *_, last = session.analyze(POSITIONS[1], lines=2)
        assert [each.evaluation.score for each in last] == [-18, None]
        *_, (alone,) = session.analyze(EnginePosition("chess"))
        assert alone.evaluation.depth == 3
        assert session.evaluate(EnginePosition("chess")) != alone.evaluation
    heard = log.read_text(encoding="utf-8").splitlines()
    assert [line for line in heard if "MultiPV" in line] == [
        *("setoption name MultiPV value 2", "setoption name MultiPV value 2"),
        "setoption name MultiPV value 1",
    ]


def test_an_analysis_that_is_closed_or_fails_leaves_the_session_usable() -> None:
    with Engine(engine_that_reports()) as session:
        reports = session.analyze(EnginePosition("chess"), lines=2)
        next(reports)
        reports.close()
        assert isinstance(session.evaluate(EnginePosition("chess")), Evaluation)
    with Engine(fake("uci", "crash=1")) as session:
        with pytest.raises(EngineError):
            list(session.analyze(EnginePosition("chess")))
        assert isinstance(session.evaluate(EnginePosition("chess")), Failure)


def test_an_analysis_by_an_engine_that_hangs_is_stopped() -> None:
    with Engine(fake("uci", "silent=1", settings="timeout=60")) as session:
        stop = threading.Timer(0.3, session.stop)
        stop.start()
        with pytest.raises(EngineError, match="was stopped"):  # and not after a minute
            list(session.analyze(EnginePosition("chess")))
        stop.join()
        session.engine.kill()


def test_engines_that_cannot_report_are_refused() -> None:
    with (
        Engine(fake("uci", SCORE)) as session,
        pytest.raises(EngineError, match="MultiPV"),
    ):
        list(session.analyze(EnginePosition("chess"), lines=2))
    with (
        Engine(fake("gtp")) as session,
        pytest.raises(EngineError, match=r"cannot report while it searches \(GTP\)"),
    ):
        list(session.analyze(EnginePosition("go9")))
    mated = EnginePosition("chess", moves=["f2f3", "e7e5", "g2g4", "d8h4"])
    with Engine(fake("uci", SCORE)) as session:
        assert list(session.analyze(mated)) == []
