# SPDX-License-Identifier: Apache-2.0
"""Processes: that they are heard, that they are watched, and that none is left."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engines import QUICK_S, await_end, exists, fake, is_alive
from hyoka.engines import Engine, EnginePosition, EngineSpec, Failure, start_engine
from hyoka.engines.client.process import describe_exit
from hyoka.engines.client.transport import Transport
from hyoka.foundation.errors import EngineError

LONG_S = 60.0
START = EnginePosition("chess")


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", textwrap.dedent(code)]


def with_process(code: str, use: Callable[[Transport], Coroutine[Any, Any, Any]]) -> Any:
    """Start Python code as an engine, use it, and make sure that nothing is left of it."""

    async def run() -> Any:
        transport = await Transport.start("fake", python(code))
        try:
            return await use(transport)
        finally:
            transport.kill()
            assert not exists(transport.pid)

    return asyncio.run(run())


class Reader:
    """Collects lines until one says `end`."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, text: str) -> bool:
        self.lines += text.split("\n")
        return "end" in self.lines


def test_an_engine_alone_has_its_folder_and_its_variables(tmp_path: Path) -> None:
    code = (
        "import os; print('id name', os.getcwd(), os.environ['HYOKA_TRIAL'], flush=True); input()"
    )
    reply = "print('uciok', flush=True); input(); print('readyok', flush=True); input()"
    settings = rf"cwd={tmp_path},env.HYOKA_TRIAL=a\:b=c,timeout=60"

    async def run() -> tuple[str, bytes]:
        engine = await start_engine(f'uci:{settings}:{sys.executable} -S -c "{code}; {reply}"')
        supervisor = Path(f"/proc/{engine.transport.pid}/environ")
        environment = supervisor.read_bytes() if supervisor.exists() else b""
        engine.kill()
        return engine.name, environment

    name, environment = asyncio.run(run())
    assert name == f"{tmp_path} a:b=c"
    assert b"HYOKA_TRIAL" not in environment


ECHO = """
    import sys
    for line in sys.stdin:
        sys.stdout.write(line)
        sys.stdout.flush()
"""


def test_lines_go_out_and_come_back_with_the_time_they_took() -> None:
    async def use(transport: Transport) -> None:
        for _ in range(3):
            reader = Reader()
            took = await transport.ask("one\r\ntwo\nend\n", reader, LONG_S)
            assert reader.lines == ["one", "two", "end"]
            assert took > 0
        assert transport.alive

    with_process(ECHO, use)


def test_a_line_in_pieces_is_put_together() -> None:
    code = """
        import sys, time
        for piece in (b"o", b"n", b"e\\nen", b"d\\n"):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            time.sleep(0.02)
        sys.stdin.read()
    """

    async def use(transport: Transport) -> list[str]:
        reader = Reader()
        await transport.ask("", reader, LONG_S)
        return reader.lines

    assert with_process(code, use) == ["one", "end"]


def test_a_last_line_without_its_end_is_still_a_line() -> None:
    async def use(transport: Transport) -> list[str]:
        reader = Reader()
        await transport.ask("", reader, LONG_S)
        return reader.lines

    assert with_process("print('one'); print('end', end='')", use) == ["one", "end"]


def test_what_is_no_utf_8_is_replaced() -> None:
    code = """
        import sys
        sys.stdout.buffer.write(b"caf\\xe9 \\xff\\nend\\n")
        sys.stdout.buffer.flush()
        sys.stdin.read()
    """

    async def use(transport: Transport) -> list[str]:
        reader = Reader()
        await transport.ask("", reader, LONG_S)
        return reader.lines

    assert with_process(code, use) == ["caf\ufffd \ufffd", "end"]


def failure_of(code: str, timeout_s: float = LONG_S) -> EngineError:
    async def use(transport: Transport) -> EngineError:
        with pytest.raises(EngineError) as failed:
            await transport.ask("hello\n", Reader(), timeout_s)
        assert not exists(transport.pid)
        assert not transport.alive
        with pytest.raises(EngineError):
            await transport.ask("hello?\n", Reader(), timeout_s)
        return failed.value

    error: EngineError = with_process(code, use)
    return error


def test_silence_is_a_time_out() -> None:
    error = failure_of("import time\nwhile True: time.sleep(60)", QUICK_S)
    assert error.reason == "timeout"
    assert "> hello" in error.transcript


def test_talk_without_an_end_is_a_time_out_too() -> None:
    code = """
        import time
        while True:
            print("thinking", flush=True)
            time.sleep(0.0005)
    """
    assert failure_of(code, QUICK_S).reason == "timeout"


def test_a_quick_engine_that_falls_silent_is_a_time_out() -> None:
    code = """
        import sys, time
        for _ in range(20):
            sys.stdin.readline()
            print("end", flush=True)
        while True:
            print("rubbish", flush=True)
            time.sleep(0.0002)
    """

    async def use(transport: Transport) -> None:
        for _ in range(20):
            await transport.ask("go\n", Reader(), LONG_S)
        with pytest.raises(EngineError) as failed:
            await transport.ask("go\n", Reader(), QUICK_S)
        assert failed.value.reason == "timeout"

    with_process(code, use)


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nwhile True: sys.stdout.write('x' * 65536)",
        "import sys\nwhile True: sys.stdout.write('x' * 999 + '\\n')",
    ],
    ids=["one line", "many lines"],
)
def test_a_flood_is_an_error(code: str) -> None:
    assert failure_of(code).reason == "flood"


def test_a_flood_on_standard_error_is_drained_and_forgotten() -> None:
    code = """
        import sys
        for _ in range(200):
            sys.stderr.write("noise\\n" * 10_000)
        sys.stderr.write("x" * 3_000_000 + "\\n")
        print("end", flush=True)
        sys.stdin.read()
    """

    async def use(transport: Transport) -> str:
        await transport.ask("", Reader(), LONG_S)
        assert transport.stderr_count >= 1_900_000
        return transport.transcript

    assert with_process(code, use).count("\n") < 50


def test_an_end_is_described_with_its_cause_and_last_words() -> None:
    code = """
        import os, sys
        sys.stdin.readline()
        print("one more thing", flush=True)
        sys.stderr.write("no such file: net.bin")
        sys.stderr.flush()
        os._exit(3)
    """
    error = failure_of(code)
    assert error.reason == "died"
    assert "exit code 3" in str(error)
    assert error.transcript.splitlines() == ["> hello", "< one more thing"]
    assert error.last_words == "no such file: net.bin"
    assert error.with_last_words == f"{error}; its last words: no such file: net.bin"
    assert "net.bin" not in str(error)


@pytest.mark.parametrize("asked_for", [False, True])
def test_standard_error_is_in_errors_only_if_it_is_asked_for(asked_for: bool) -> None:
    settings = "stderr=true" if asked_for else ""
    with Engine(fake("uci", "crash=1", settings=settings)) as session:
        failure = session.evaluate(START)
    assert isinstance(failure, Failure)
    assert ("assertion failed" in failure.message) == asked_for
    assert failure.detail.count("! assertion failed: fake.c:7") == 1


def test_a_terminals_commands_are_not_passed_on() -> None:
    code = """
        import os, sys
        print("\\x1b[2J\\x07", flush=True)
        sys.stderr.write("\\x1b]0;owned\\x07")
        sys.stderr.flush()
        os._exit(1)
    """
    error = failure_of(code)
    assert str(error).isprintable()
    assert all(line.isprintable() for line in error.transcript.split("\n"))
    assert "owned" in error.last_words
    assert error.last_words.isprintable()


def test_death_by_a_signal_is_named() -> None:
    error = failure_of("import os\nos.kill(os.getpid(), 11)")
    assert "SIGSEGV" in str(error)
    assert describe_exit(-64) == "signal SIGRTMAX"
    assert describe_exit(-40) == "signal 40"


def test_an_end_is_seen_though_a_child_holds_the_pipes_open() -> None:
    code = """
        import os, subprocess, sys
        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
        os._exit(5)
    """
    assert "exit code 5" in str(failure_of(code))


def test_a_closed_output_is_an_end() -> None:
    code = """
        import os, time
        os.close(1)
        time.sleep(60)
    """
    assert failure_of(code).reason == "died"


def test_what_no_kernel_can_run_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_bytes(b"\x7fELF, or so it says")
    program.chmod(0o755)
    with pytest.raises(EngineError, match=r"cannot run|died"):
        asyncio.run(start_engine(f"uci:{program}"))


def test_close_is_polite_first() -> None:
    async def use(transport: Transport) -> bool:
        return await transport.close("goodbye\n", patience_s=LONG_S)

    assert with_process("import sys\nassert sys.stdin.readline() == 'goodbye\\n'", use)


def test_close_insists_and_takes_the_children_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "child"
    spec = fake("uci", "stubborn", f"child={pid_file}")

    async def run() -> tuple[bool, int]:
        engine = await start_engine(spec)
        pid = engine.transport.pid
        exited = await engine.transport.close(patience_s=QUICK_S)
        return exited, pid

    exited, pid = asyncio.run(run())
    assert not exited
    assert not exists(pid)
    await_end(int(pid_file.read_text()))


def test_a_child_that_lingers_goes_when_its_engine_quits(tmp_path: Path) -> None:
    pid_file = tmp_path / "child"
    with Engine(fake("uci", f"child={pid_file}")) as session:
        session.evaluate(START)
    await_end(int(pid_file.read_text()))


linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux lets us find what an engine has started"
)
KINDS = [(), ("session",), ("orphan",), ("session", "orphan")]


@linux_only
@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("manners", ["polite", "stubborn", "crash=1"])
def test_whatever_an_engine_has_started_goes_with_it(
    tmp_path: Path, how: tuple[str, ...], manners: str
) -> None:
    child, pids = tmp_path / "child", tmp_path / "pids"
    spec = fake("uci", manners, *how, f"child={child}", f"pids={pids}")

    async def run() -> None:
        engine = await start_engine(spec)
        with contextlib.suppress(EngineError):
            await engine.evaluate(START)
        await engine.transport.close(patience_s=0.05)

    asyncio.run(run())
    assert not is_alive(int(pids.read_text()))
    assert not is_alive(int(child.read_text()))


@linux_only
@pytest.mark.parametrize("how", KINDS)
def test_whatever_an_engine_has_started_dies_with_a_parent_that_is_killed(
    tmp_path: Path, how: tuple[str, ...]
) -> None:
    child, pids = tmp_path / "child", tmp_path / "pids"
    words = ["stubborn", *how, f"child={child}", f"pids={pids}"]
    with session_in_a_process("sys.stdin.read()", *words) as parent:
        assert parent.stdout is not None
        supervisor = int(parent.stdout.readline())
        ends = [supervisor, int(pids.read_text()), int(child.read_text())]
        assert all(map(is_alive, ends))
        parent.kill()
    for pid in ends:
        await_end(pid)


@linux_only
def test_an_engine_dies_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def run() -> str:
        engine = await start_engine(fake("uci", "silent=1", "stubborn", f"pids={pids}"))
        os.kill(engine.transport.pid, signal.SIGKILL)
        with pytest.raises(EngineError) as failed:
            await engine.evaluate(START)
        return failed.value.reason

    assert asyncio.run(run()) == "died"
    await_end(int(pids.read_text()))


@linux_only
def test_an_engine_runs_on_the_cores_of_its_owner_from_the_start() -> None:
    cores = os.sched_getaffinity(0)
    code = (
        "import os; print(sorted(os.sched_getaffinity(0)), 'end', sep='\\n', flush=True); input()"
    )

    async def use(transport: Transport) -> str:
        reader = Reader()
        await transport.ask("", reader, LONG_S)
        return reader.lines[0]

    try:
        os.sched_setaffinity(0, {min(cores)})
        assert with_process(code, use) == str([min(cores)])
    finally:
        os.sched_setaffinity(0, cores)
    assert with_process(code, use) == str(sorted(cores))


def test_nothing_is_left_after_an_exception() -> None:
    pids = []

    def use_badly() -> None:
        with Engine(fake("uci", "stubborn")) as session:
            pids.append(session.engine.transport.pid)
            assert is_alive(pids[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use_badly()
    assert not exists(pids[0])


def test_nothing_is_left_after_a_cancellation() -> None:
    async def run() -> int:
        engine = await start_engine(fake("uci", "silent=1"))
        task = asyncio.create_task(engine.evaluate(START))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not engine.alive
        return engine.transport.pid

    assert not exists(asyncio.run(run()))


def test_nothing_is_left_of_an_engine_that_does_not_shake_hands(tmp_path: Path) -> None:
    pid_file = tmp_path / "child"
    spec = fake("uci", "deaf", f"child={pid_file}", settings="timeout=1")
    with pytest.raises(EngineError, match="does not answer within"):
        asyncio.run(start_engine(spec))
    if pid_file.exists():  # it may have been killed before it came to that
        await_end(int(pid_file.read_text()))


def session_in_a_process(code: str, *words: str) -> subprocess.Popen[str]:
    """A Python process that runs an engine; its first line of output is the engine's process."""
    spec = fake("uci", *words)
    program = f"""
import sys
from hyoka.engines import EnginePosition, Engine
session = Engine({spec!r})
session.__enter__()
print(session.engine.transport.pid, flush=True)
{textwrap.dedent(code)}
"""
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills an engine with its parent")
def test_an_engine_dies_with_a_parent_that_is_killed() -> None:
    with session_in_a_process("session.evaluate(EnginePosition('chess'))", "silent=1") as parent:
        assert parent.stdout is not None
        engine = int(parent.stdout.readline())
        assert is_alive(engine)
        parent.kill()
    await_end(engine)


def test_an_engine_is_killed_when_the_interpreter_exits() -> None:
    with session_in_a_process("sys.exit(0)", "stubborn") as parent:
        assert parent.stdout is not None
        engine = int(parent.stdout.readline())
    await_end(engine)
    assert parent.returncode == 0


def test_an_interrupt_ends_the_engine_and_is_seen_as_one() -> None:
    code = """
        try:
            print("asking", flush=True)
            session.evaluate(EnginePosition("chess"))
        except KeyboardInterrupt:
            session.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
            print("interrupted", flush=True)
    """
    with session_in_a_process(code, "silent=1", "stubborn") as parent:
        assert parent.stdout is not None
        engine = int(parent.stdout.readline())
        assert parent.stdout.readline() == "asking\n"
        parent.send_signal(signal.SIGINT)
        assert parent.stdout.read() == "interrupted\n"
    assert not exists(engine)


def test_a_forked_child_leaves_its_parents_engines_alone() -> None:
    code = """
        import os
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        print(session.evaluate(EnginePosition("chess")).best, flush=True)
        session.__exit__(None, None, None)
    """
    with session_in_a_process(code) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        assert parent.stdout.read() == "a2a3\n"


def test_sessions_run_in_threads_and_outlive_them() -> None:
    spec = EngineSpec.from_text(fake("uci", "say=info depth 1 score cp 5"))
    positions = [EnginePosition("chess", moves=["e2e4"][:n]) for n in (0, 1)] * 10

    def in_a_thread(_: int) -> list[Any]:
        with Engine(spec) as session:
            return session.evaluate_many(positions)

    with ThreadPoolExecutor(4) as pool:
        for results in pool.map(in_a_thread, range(8)):
            assert [result.score for result in results] == [5.0, -5.0] * 10
    with ThreadPoolExecutor(1) as pool:
        session = pool.submit(Engine(spec).__enter__).result()
    # The thread that started it has ended; the engine has not.
    [evaluation] = session.evaluate_many(positions[:1])
    assert session.restarts == 0
    assert evaluation.best == "a2a3"  # type: ignore[union-attr]
    session.__exit__(None, None, None)


def test_an_engine_works_in_the_folder_it_is_given(tmp_path: Path) -> None:
    with Engine(fake("uci", "log=heard.txt"), cwd=tmp_path) as session:
        session.evaluate(START)
    heard = (tmp_path / "heard.txt").read_text().splitlines()
    assert heard == ["uci", "isready", "position startpos", "go movetime 100", "quit"]
