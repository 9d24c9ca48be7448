# SPDX-License-Identifier: Apache-2.0
import gc
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# They build the core once more, for minutes: `make test-builds`.
BUILDS = ["e2e/test_new_game_in_cpp.py"]
collect_ignore = [] if "HYOKA_BUILD_TESTS" in os.environ else BUILDS
SLOW_TESTS = Path(__file__).with_name("slow_tests.txt")
"""Test functions that take more than a quarter second of processor time: `make slow-tests`."""
SLOW_S = 0.25
SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


# A shell that runs us in the background has us ignore Ctrl-C, and children would do so too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The workers of `make test` have all cores: threads for small matrices would only take turns.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch's
# No test depends on the clock, and where a change is judged (CI says so), none depends on luck:
# examples are new with every run elsewhere.
settings.register_profile(
    "hyoka",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=int(os.environ.get("HYOKA_EXAMPLES", "25")),
)
settings.load_profile("hyoka")


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The path of a file of real records beside the checkout; a test that asks without it skips."""

    def path_of(name: str) -> Path:
        path = SHARED_DATA / name
        if not path.exists():
            pytest.skip(f"needs ../shared/data/{name}")
        return path

    return path_of


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out by `make test-fast` (tests/slow_tests.txt)")
    if "HYOKA_SLOW_TESTS" in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SlowTests())


@pytest.hookimpl(tryfirst=True)  # before xdist asks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests for which something is made once a module go to one worker, or each would make it.

    Functions of the list of slow tests are marked as slow.
    """
    slow = set(SLOW_TESTS.read_text(encoding="utf-8").split())
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)
        fixtures = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
        if any(each.scope == "module" for found in fixtures.values() for each in found):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _processor_s() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measure a test's processor time, its finished child processes included."""
    before = _processor_s()
    try:
        return (yield)
    finally:
        item.user_properties.append(("processor_s", _processor_s() - before))


class SlowTests:
    """Writes the list of slow tests after a run of all tests, with HYOKA_SLOW_TESTS."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = re.sub(r"@[^@]+\.py$", "", report.nodeid).partition("[")[0]
        for what, value in report.user_properties:
            if report.when == "call" and what == "processor_s" and isinstance(value, float):
                self._seconds[name] = self._seconds.get(name, 0.0) + value

    def pytest_sessionfinish(self) -> None:
        slow = sorted(name for name, seconds in self._seconds.items() if seconds >= SLOW_S)
        SLOW_TESTS.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")


def pytest_collection_finish() -> None:
    """What is loaded by now stays: collecting garbage need not look at it again and again."""
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With HYOKA_NO_SKIPS, a skipped test fails the run. HYOKA_SKIPPED_TESTS lists skipped tests.

    `.ci/run` first tests without anything optional, then runs the listed tests with all of it.
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if listing := os.environ.get("HYOKA_SKIPPED_TESTS"):
        # Tests of a group have it at the end of their names.
        tests = sorted({re.sub(r"@[^@]+\.py$", "", report.nodeid) for report in skipped})
        if not hasattr(session.config, "workerinput"):
            Path(listing).write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
    if os.environ.get("HYOKA_NO_SKIPS") and skipped:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
