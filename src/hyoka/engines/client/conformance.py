# SPDX-License-Identifier: Apache-2.0
"""Conformance checks: whether an engine follows its protocol."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from hyoka.engines.client.engine import EngineClient
from hyoka.engines.client.gtp import GtpEngine
from hyoka.engines.client.session import start_engine
from hyoka.engines.spec import PROTOCOLS, EnginePosition, EngineSpec
from hyoka.foundation.errors import EngineError, NotationError
from hyoka.games import FACTS
from hyoka.games.evaluation import Evaluation

Verdict = Literal["pass", "warn", "fail"]

_SLOW_START_S: Final = 5.0
_MUCH_STDERR: Final = 50


@dataclass(frozen=True, slots=True)
class Check:
    """One check and its result."""

    name: str
    verdict: Verdict
    detail: str


@dataclass(frozen=True, slots=True)
class EngineChecks:
    """The results of all checks of an engine."""

    spec: EngineSpec
    name: str
    version: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed; warnings are not failures."""
        return all(check.verdict != "fail" for check in self.checks)


def check_engine(engine: EngineSpec | str, *, probe_timeout_s: float = 5.0) -> EngineChecks:
    """Check an engine: a spec, its text, or a bare command.

    For a bare command UCI, USI, GTP and CECP are tried in turn; a protocol is ruled out after
    `probe_timeout_s` without an answer.
    """
    if isinstance(engine, str):
        if not re.match(rf"({'|'.join(PROTOCOLS)}):", engine.strip(), re.IGNORECASE):
            return asyncio.run(_check_command(engine, probe_timeout_s))
        engine = EngineSpec.from_text(engine)
    return asyncio.run(_Examination(engine).run())


async def _check_command(command: str, probe_timeout_s: float) -> EngineChecks:
    attempts = []
    for protocol in PROTOCOLS:
        spec = EngineSpec(protocol=protocol, command=command)
        try:
            engine = await start_engine(replace(spec, timeout_s=probe_timeout_s))
        except EngineError as error:
            attempts.append(Check(f"speaks {protocol.upper()}", "fail", _format_error(error)))
            if error.reason == "missing":
                return EngineChecks(
                    spec, spec.program_name, "", (Check("program", "fail", error.message),)
                )
        else:
            await engine.close()
            return await _Examination(spec).run()
    return EngineChecks(spec, spec.program_name, "", tuple(attempts))


class _Doubt(Exception):  # noqa: N818 - a verdict, no error
    """A warning: a flaw that is not a failure."""


class _Examination:
    """Runs checks on one engine; a check may kill its process."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._checks: list[Check] = []
        self._name, self._version = spec.program_name, ""
        self._engine: EngineClient | None = None
        self._position: EnginePosition | None = None
        self._evaluation: Evaluation | EngineError | None = None
        self._start_s = 0.0
        self._stderr_lines = 0

    async def run(self) -> EngineChecks:
        try:
            await self._examine()
        finally:
            if self._engine is not None:
                self._engine.kill()
        return EngineChecks(self._spec, self._name, self._version, tuple(self._checks))

    async def _examine(self) -> None:
        if not await self._try("program", self._program):
            return
        if not await self._try("starts and shakes hands", self._start):
            return
        await self._try("time of start", self._time_of_start)
        await self._try("name and version", self._names)
        await self._try("options", self._options)
        await self._try("new game", self._new_game)
        if await self._try("takes a position", self._takes_position):
            await self._try("evaluates", self._evaluates)
            await self._try("legal best move", self._best_move)
            if isinstance(self._engine, GtpEngine):
                await self._try("refuses an illegal move", self._illegal_move)
            await self._try("same answer twice", self._same_twice)
        await self._try("quits on request", self._quits)
        await self._try("standard error", self._stderr)

    async def _try(self, name: str, check: Callable[[], Awaitable[str]]) -> bool:
        verdict: Verdict = "pass"
        try:
            detail = await check()
        except _Doubt as doubt:
            verdict, detail = "warn", str(doubt)
        except (EngineError, NotationError) as error:
            verdict = "fail"
            detail = _format_error(error) if isinstance(error, EngineError) else str(error)
        self._checks.append(Check(name, verdict, detail))
        return verdict != "fail"

    async def _running(self) -> EngineClient:
        """Return the engine, in a new process if a check has killed the last one."""
        if self._engine is None or not self._engine.alive:
            self._engine = await start_engine(self._spec)
        return self._engine

    async def _program(self) -> str:
        return self._spec.program()[0]

    async def _start(self) -> str:
        began = time.monotonic()
        await self._running()
        self._start_s = time.monotonic() - began
        return self._spec.protocol.upper()

    async def _time_of_start(self) -> str:
        detail = f"{self._start_s:.2f} s"
        if self._start_s > _SLOW_START_S:
            raise _Doubt(detail)
        return detail

    async def _names(self) -> str:
        engine = await self._running()
        self._name, self._version = engine.name, engine.version
        if engine.name == self._spec.program_name:
            raise _Doubt("gives no name of its own")
        return f"{engine.name} {engine.version}".strip()

    async def _options(self) -> str:
        abilities = (await self._running()).abilities
        if not abilities:
            raise _Doubt("does not list its commands")
        return abilities

    async def _new_game(self) -> str:
        await (await self._running()).new_game()
        return "ready again"

    async def _takes_position(self) -> str:
        for game in PROTOCOLS[self._spec.protocol].games:
            if not FACTS[game].formats.trial_moves:
                continue
            position = EnginePosition(game, moves=FACTS[game].formats.trial_moves)
            engine = await self._running()
            try:
                self._evaluation = await engine.evaluate(position)
            except EngineError as error:
                # The engine has accepted the position; its evaluation comes next.
                if error.reason in ("nonsense", "unplayable"):
                    self._position, self._evaluation = position, error
                    return game
                if error.reason not in ("refused", "game"):
                    raise
                refusal = error
            else:
                self._position = position
                return f"{game}: {' '.join(position.moves)}"
        raise refusal

    async def _evaluates(self) -> str:
        evaluation = self._evaluation
        if isinstance(evaluation, EngineError):
            raise evaluation
        assert evaluation is not None
        if evaluation.value is None and evaluation.score is None and evaluation.mate is None:
            raise _Doubt("gives moves, but neither a value nor a score")
        parts = [
            None if evaluation.value is None else f"value {evaluation.value:.3f}",
            None if evaluation.score is None else f"{evaluation.score:g} {evaluation.unit}",
            None if evaluation.mate is None else f"mate in {evaluation.mate}",
        ]
        return f"{', '.join(filter(None, parts))} in {evaluation.time_s:.3f} s"

    async def _best_move(self) -> str:
        assert self._position is not None
        best = await (await self._running()).best_move(self._position)
        if best != "resign" and not self._position.replay().last.is_legal(best):
            raise _Doubt(f"{best} is not legal by our rules")
        return str(best)

    async def _illegal_move(self) -> str:
        assert self._position is not None
        engine = await self._running()
        assert isinstance(engine, GtpEngine)
        await engine.best_move(self._position)  # so that the position is on the board
        move = self._position.moves[0]
        (answer,) = await engine.send([f"play b {move}"])
        engine.kill()  # the state of its board is unknown
        if answer.accepted:
            raise _Doubt(f"accepts {move} where it has been played already")
        return answer.text or "refused"

    async def _same_twice(self) -> str:
        assert self._position is not None
        limits = (await self._running()).repeatable_limits
        answers = []
        for _ in range(2):
            engine = await self._running()
            await engine.new_game()
            answers.append(replace(await engine.evaluate(self._position, limits), time_s=0.0))
        if answers[0] != answers[1]:
            raise _Doubt(f"{_short(answers[0])}, then {_short(answers[1])}")
        return f"{_short(answers[0])}{f' at {limits.text}' if limits else ''}"

    async def _quits(self) -> str:
        engine = await self._running()
        self._stderr_lines = engine.transport.stderr_count
        if not await engine.close():
            raise _Doubt("had to be killed")
        return "after 'quit'"

    async def _stderr(self) -> str:
        if self._stderr_lines > _MUCH_STDERR:
            raise _Doubt(f"{self._stderr_lines} lines")
        return f"{self._stderr_lines} lines"


def _format_error(error: EngineError) -> str:
    return error.with_last_words.removeprefix(f"{error.engine}: ")


def _short(evaluation: Evaluation) -> str:
    number = next(
        (n for n in (evaluation.mate, evaluation.score, evaluation.value) if n is not None), "-"
    )
    return f"{number} {evaluation.best or ''}".strip()
