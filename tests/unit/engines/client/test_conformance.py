# SPDX-License-Identifier: Apache-2.0
import dataclasses

import pytest

from engines import QUICK_S, fake
from hyoka.engines import EngineChecks, EngineSpec, check_engine

GOOD = "say=info depth 1 score cp 5 nodes 3"


def verdicts(report: EngineChecks) -> dict[str, str]:
    return {check.name: check.verdict for check in report.checks}


def blamed(report: EngineChecks) -> dict[str, str]:
    """What was not passed, the clock apart."""
    return {
        check.name: check.detail
        for check in report.checks
        if check.verdict != "pass" and check.name != "time of start"
    }


@pytest.mark.parametrize("protocol", ["uci", "usi"])
def test_a_good_engine_passes_all_checks(protocol: str) -> None:
    report = check_engine(fake(protocol, GOOD))
    assert blamed(report) == {}
    assert report.passed
    assert report.name == "Fake 1.0"
    assert list(verdicts(report)) == [
        "program",
        "starts and shakes hands",
        "time of start",
        "name and version",
        "options",
        "new game",
        "takes a position",
        "evaluates",
        "legal best move",
        "same answer twice",
        "quits on request",
        "standard error",
    ]


def test_a_good_gtp_engine_passes_with_an_evaluation() -> None:
    words = ["name=GNU Go", "knows=estimate_score", "answer:estimate_score=B+1.0"]
    report = check_engine(fake("gtp", *words, "refuse=play b E5"))
    assert "takes a position" in blamed(report)  # our own opening begins with E5
    report = check_engine(fake("gtp", *words))
    assert blamed(report) == {
        "refuses an illegal move": "accepts E5 where it has been played already"
    }
    assert report.passed
    assert report.version == "1.0"


def test_moves_without_values_are_a_warning() -> None:
    report = check_engine(fake("gtp"))
    assert "neither a value nor a score" in blamed(report)["evaluates"]
    assert report.passed


def test_a_gtp_engine_is_tried_with_each_game() -> None:
    report = check_engine(fake("gtp", "refuse=boardsize 9", "answer:reg_genmove=f3"))
    details = {check.name: check.detail for check in report.checks}
    assert details["takes a position"].startswith("othello")


@pytest.mark.parametrize(
    ("words", "check", "verdict", "detail"),
    [
        (["best=e2e5"], "evaluates", "fail", "illegal move e2e5"),
        (["best=e2e5"], "legal best move", "fail", "illegal move e2e5"),
        (["say=info score cp x"], "evaluates", "fail", "cannot be read"),
        (["crash=1"], "takes a position", "fail", "exit code 3"),
        (["crash=3"], "same answer twice", "fail", "exit code 3"),
        (["stubborn", GOOD], "quits on request", "warn", "killed"),
    ],
)
def test_faults_are_found_where_they_are(
    words: list[str], check: str, verdict: str, detail: str
) -> None:
    report = check_engine(fake("uci", *words))
    assert verdicts(report)[check] == verdict
    assert detail in blamed(report)[check]
    assert report.passed == (verdict != "fail")


def test_a_bare_command_is_tried_in_all_protocols() -> None:
    for protocol, word in (
        ("uci", "strict"),
        ("usi", "strict"),
        ("gtp", "chatty"),
        ("cecp", "say=1 5 1 9"),
    ):
        command = fake(protocol, word).split(":", 2)[2]
        report = check_engine(command, probe_timeout_s=60)
        assert report.spec == EngineSpec(protocol=protocol, command=command)
        assert report.passed
    report = check_engine(fake("uci", "deaf").split(":", 2)[2], probe_timeout_s=QUICK_S)
    assert verdicts(report) == {f"speaks {name}": "fail" for name in ("UCI", "USI", "GTP", "CECP")}
    report = check_engine("no-such-program")
    assert verdicts(report) == {"program": "fail"}
    assert not report.passed


def test_an_engine_that_does_not_answer_is_not_asked_any_further() -> None:
    report = check_engine(fake("uci", "deaf", settings=f"timeout={QUICK_S}"))
    assert list(verdicts(report).values()) == ["pass", "fail"]
    assert "does not answer within" in blamed(report)["starts and shakes hands"]


def test_a_missing_program_is_all_there_is_to_say() -> None:
    report = check_engine("uci:no-such-program")
    assert "no program" in blamed(report)["program"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.name = "other"  # type: ignore[misc]
