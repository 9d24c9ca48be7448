# SPDX-License-Identifier: Apache-2.0
"""The command that measures this machine: bench."""

import dataclasses
from typing import Annotated

import typer

from hyoka.bench import bench, benchmarked_games, job_count
from hyoka.cli.output import AsJson, Quiet, out, plain_table, print_json, tracked
from hyoka.errors import Error
from hyoka.games import game_facts


def bench_command(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]", help=f"One of {', '.join(benchmarked_games())}; all by default."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="The best of so many counts.")] = 3,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure rules, playouts and searches on one core, with a count for each job.

    The fingerprint depends on the code and the seed alone: what changes no behaviour leaves it.
    Compare speeds only within one run on one machine; `make bench` measures other programs, too.
    """
    games = benchmarked_games() if game is None else [game_facts(game).name]
    if not set(games) <= set(benchmarked_games()):
        raise Error(f"no benchmark of {games[0]}; there are {', '.join(benchmarked_games())}")
    measured = bench(games, rounds=rounds)
    results = list(tracked(measured, "bench", job_count(games), "jobs", quiet or as_json))
    if as_json:
        print_json([dataclasses.asdict(result) for result in results])
        return
    table = plain_table("game", "job", "fingerprint", "rate", "", right=[2, 3])
    for result in results:
        table.add_row(
            result.game, result.job, f"{result.fingerprint:,}", f"{result.rate:,.0f}", result.unit
        )
    out.print(table)
    out.print(f"fingerprint of all: [bold]{sum(result.fingerprint for result in results)}[/]")
