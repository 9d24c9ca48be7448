# SPDX-License-Identifier: Apache-2.0
"""Tasks of evaluating, as workers do them: each keeps its evaluator from task to task."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hyoka.contestants import RecordedGame, Spec, contestant_of
from hyoka.engines import Failure
from hyoka.errors import EngineError
from hyoka.evaluation import Evaluation
from hyoka.fleet import Crew, RunStopped
from hyoka.study.tables import EVALUATION_SCHEMA


@dataclass(frozen=True)
class Evaluated:
    """What comes back from a worker."""

    table: pa.Table
    failures: list[Failure]
    seconds: float
    name: str
    version: str
    error: EngineError | None = None
    """Why the rest of the task was not evaluated: the engine was given up."""


def evaluate_games(spec: Spec, games: Sequence[RecordedGame], crew: Crew) -> Evaluated:
    """Evaluate positions of games; if the run is stopped meanwhile, those that were done by then.

    All are of one game.
    """
    started = time.monotonic()
    game = games[0].game
    evaluator = crew.member("evaluator", lambda: contestant_of(spec).evaluator(game))
    name, version = evaluator.identity()
    results: list[Evaluation | Failure] = []
    error: EngineError | None = None
    try:
        for result in evaluator.evaluate_each(games):
            if crew.is_stopped:
                break
            results.append(result)
        else:
            name, version = evaluator.identity()  # an engine may have been started anew
    except EngineError as given_up:
        if not crew.is_stopped:
            if not results:
                raise
            error = given_up  # after what has been evaluated before
    if crew.is_stopped and not results:
        raise RunStopped
    for result in results:
        if isinstance(result, Failure) and result.reason == "game":
            raise EngineError(spec.title, result.message, reason="game")
    keys = [(each.number, ply) for each in games for ply in each.plies]
    return Evaluated(
        _table_of(keys[: len(results)], results),
        [result for result in results if isinstance(result, Failure)],
        time.monotonic() - started,
        name,
        version,
        error,
    )


def _table_of(keys: list[tuple[int, int]], results: list[Evaluation | Failure]) -> pa.Table:
    good = [result if isinstance(result, Evaluation) else None for result in results]
    columns: dict[str, list[Any]] = {
        "game_id": [game for game, _ in keys],
        "ply": [ply for _, ply in keys],
    }
    for name in EVALUATION_SCHEMA.names[2:-1]:
        columns[name] = [getattr(result, name, None) for result in good]
    columns["failed"] = [
        f"{result.reason}: {result.message}" if isinstance(result, Failure) else None
        for result in results
    ]
    return pa.table(columns, schema=EVALUATION_SCHEMA)
