# SPDX-License-Identifier: Apache-2.0
"""Functions in Python as contestants: they evaluate, and neither play nor solve."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hyoka.agents.agent import Agent, RecordedGame
from hyoka.foundation.errors import EngineError
from hyoka.games import Position, facts_named
from hyoka.games.evaluation import Evaluation
from hyoka.search import PythonEvaluator


class FunctionAgent(Agent[PythonEvaluator]):
    """A function that takes a position and gives its value, or an `Evaluation`."""

    spec_type = PythonEvaluator

    def evaluator(self, game: str) -> "FunctionEvaluator":
        """It is asked position by position."""
        return FunctionEvaluator(self.spec, facts_named(game).unit)


class FunctionEvaluator:
    """A function that evaluates positions."""

    def __init__(self, evaluator: PythonEvaluator, default_unit: str) -> None:
        self._evaluator = evaluator
        self._default_unit = default_unit

    def identity(self) -> tuple[str, str]:
        """Its name, and what tells it from others of that name."""
        return self._evaluator.name, self._evaluator.fingerprint

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation]:
        """Ask about each position; what the function raises is an EngineError that says where."""
        for game in games:
            for ply, position in zip(game.plies, game.positions(), strict=True):
                yield self._evaluated(position, f"at ply {ply} of game {game.number}")

    def _evaluated(self, position: Position, where: str) -> Evaluation:
        name = self._evaluator.name
        began = time.monotonic()
        try:
            answer = self._evaluator(position)
        except Exception as error:
            raise EngineError(name, f"raised {error!r} {where}") from error
        spent = time.monotonic() - began
        if not isinstance(answer, Evaluation):
            try:
                number = float(answer)
            except (TypeError, ValueError):
                message = f"gave {answer!r} {where}: neither a number nor an Evaluation"
                raise EngineError(name, message) from None
            unit = self._evaluator.unit
            said: dict[str, Any] = {"score": number, "unit": unit} if unit else {"value": number}
            answer = Evaluation(time_s=spent, **said)
        if answer.value is not None and not 0 <= answer.value <= 1:
            message = (
                f"gave {answer.value:g} {where}: an expected result is 0 to 1; if it gives scores: "
                f'hyoka.PythonEvaluator({name}, unit="{self._default_unit}")'
            )
            raise EngineError(name, message)
        if answer.score is not None and not math.isfinite(answer.score):
            raise EngineError(name, f"gave {answer.score} {where}: a score is a finite number")
        if answer.score is not None and not answer.unit:
            answer = replace(answer, unit=self._default_unit)
        return answer

    def stop(self) -> None:
        """Nothing to do: it ends with the position."""

    def close(self) -> None:
        """Nothing outlives a function."""
