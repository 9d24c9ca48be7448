# SPDX-License-Identifier: Apache-2.0
"""The commands solve and playouts."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.agents import agent_of, spec_of
from hyoka.apps.cli.command_options import Cluster, Plan, Seed, option
from hyoka.apps.cli.model_commands import tell_judges
from hyoka.apps.cli.output import (
    answered,
    complain,
    hint,
    out,
    plain_table,
    print_json,
    print_table,
    progress_bars,
    tell,
    wants_json,
)
from hyoka.apps.cli.position_commands import GameName
from hyoka.arena.solve import SolveComparison, SolveSummary, solve
from hyoka.foundation.errors import Error
from hyoka.foundation.math import Estimate
from hyoka.foundation.text import distinct_titles
from hyoka.games import game_facts
from hyoka.learning.prediction import (
    POLICY_WITH_MODEL,
    PlayoutPolicy,
    judged_games,
    playout_quality,
    table_of,
)
from hyoka.models.training_games import LearnedGames
from hyoka.parallel import cluster
from hyoka.records import read_records
from hyoka.records.problems import Assertion, GtpTest, Problem, exercise_of
from hyoka.records.problems.reading import read_suites
from hyoka.search import SearchLimits, has_features
from hyoka.storage.model_file import LEARNED

_INTERRUPTED = 130


def solve_command(
    suites: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE",
            help="Problem sets: files (EPD, SFEN, JSON lines, OBF, .tst, plain or .gz .xz .bz2), "
            "folders, zip archives, or members of an archive: suites.zip:wac.epd.",
            show_default=False,
        ),
    ],
    players: Annotated[
        list[str] | None, option("--with", metavar="SPEC", show_default=False)
    ] = None,
    limits: Annotated[
        Callable[..., SearchLimits], Plan(SearchLimits, without=("infinite",))
    ] = SearchLimits,
    limit: Annotated[
        int | None, option("--limit", "Maximum number of problems per set.", min=1, metavar="N")
    ] = None,
    jobs: Annotated[int, option("--jobs", "Number of parallel engines or searches.", min=1)] = 1,
    cluster_address: Cluster = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="List the unsolved problems.")] = False,
) -> int:
    """Measure how many problems searches and engines solve.

    Limits given here override those of the specs. Ctrl-C ends the run with the results so far.
    """
    specs = [spec_of(player) for player in players or ["ab"]]
    over_gtp = any(agent_of(spec).speaks_gtp for spec in specs)
    problems = _chosen(suites, limit, over_gtp=over_gtp)
    chosen = limits()
    reports: list[SolveSummary] = []
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(progress_bars())
        executor = None
        if cluster_address is not None:
            executor, jobs = stack.enter_context(cluster(cluster_address))
        titles = distinct_titles([spec.title for spec in specs], [spec.text for spec in specs])
        for player, title in zip(specs, titles, strict=True):
            report = solve(
                problems,
                player,
                limits=chosen if chosen != SearchLimits() else None,
                jobs=jobs,
                executor=executor,
                progress=progress,
            )
            reports.append(dataclasses.replace(report, title=title))
            if reports[-1].interrupted:
                break
    if not answered(list(_as_json(reports))):
        _print_reports(reports)
        if verbose:
            _print_failures(reports)
    return _INTERRUPTED if reports[-1].interrupted else 0


def _as_json(reports: Sequence[SolveSummary]) -> Iterator[dict[str, object]]:
    """Yield the results, and the comparison of later agents with the first."""
    for number, report in enumerate(reports):
        values = report.as_json()
        if number:
            compared = SolveComparison.of(report, reports[0])
            values["compared_with_first"] = dataclasses.asdict(compared) | {
                "difference": dataclasses.asdict(compared.difference),
                "p": compared.p,
            }
        yield values


def _chosen(
    suites: Sequence[str], limit: int | None, *, over_gtp: bool
) -> list[Problem | GtpTest | Assertion]:
    """Read the problems of all sets, or the first of each; report errors on standard error."""
    problems: list[Problem | GtpTest | Assertion] = []
    for suite in read_suites(suites):
        tried = 0
        exercises: list[Problem | GtpTest | Assertion] = [*suite.problems, *suite.tests]
        for problem in [*exercises, *suite.assertions]:
            # do not count problems that are not posed
            tried += not isinstance(exercise_of(problem, over_gtp=over_gtp), str)
            if limit is not None and tried > limit:
                break
            problems.append(problem)
        if suite.refused:
            complain(f"{suite.source}: {len(suite.refused)} refused, the first: {suite.refused[0]}")
    return problems


def _print_reports(reports: Sequence[SolveSummary]) -> None:
    table = plain_table("suite", *(escape(report.title) for report in reports))
    sources = list(dict.fromkeys(each.source for report in reports for each in report.verdicts))
    parts = [
        (source, [report.only(lambda v, of=source: v.source == of) for report in reports])  # type: ignore[misc]
        for source in sources
    ]
    if len(parts) != 1:
        parts.append(("all", list(reports)))
    for source, of_source in parts:
        table.add_row(escape(source), *map(_summary, of_source))
    out.print(table)
    alike = all(report.skipped == reports[0].skipped for report in reports)
    for report in reports[:1] if alike else reports:
        for reason, count in report.skipped.items():
            whom = "" if alike else f" to {report.title}"
            hint(f"{count} not applicable{whom}: {reason}")
    for report in reports[1:]:
        tell(SolveComparison.of(report, reports[0]).sentence(report.title, reports[0].title))
    for report in reports:
        if report.interrupted:
            tell(f"interrupted: the table shows what {report.title} solved so far")


def _summary(report: SolveSummary) -> str:
    """Build the table: solved with interval, points if there are any, time and nodes."""
    if not report.asked:
        return "–"
    low, high = report.interval
    share = report.solved / report.asked
    words = [f"[bold]{report.solved}[/] of {report.asked}", f"{share:.1%} ({low:.1%}–{high:.1%})"]
    points, most = report.points
    if most:
        words.append(f"{points:,} of {most:,} points")
    words.append(f"{report.time_s:.1f} s")
    if report.nodes:
        words.append(f"{report.nodes:,} nodes")
    if report.errors:
        words.append(f"[red]{report.errors} errors[/]")
    return "  ".join(words)


def _print_failures(reports: Sequence[SolveSummary]) -> None:
    for report in reports:
        table = plain_table("unsolved", "solution", "answer", "seconds", "nodes", right=[3, 4])
        failures = [verdict for verdict in report.verdicts if not verdict.solved]
        for verdict in failures:
            table.add_row(
                escape(verdict.name),
                escape(verdict.expected),
                escape(verdict.error or verdict.move or "–"),
                f"{verdict.time_s:.2f}",
                f"{verdict.nodes:,}",
            )
        if failures:
            out.print(f"\n[bold]{escape(report.title)}[/]")
            out.print(table)


def position_playouts_command(
    game: GameName,
    records: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RECORDS…]",
            help="Files, folders or archives of records whose moves are predicted.",
            show_default=False,
        ),
    ] = None,
    strengths: Annotated[
        list[str] | None,
        typer.Option(
            "--strengths",
            metavar="FILE",
            help="Also measure playouts by this move model (strengths or METS); repeatable.",
        ),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--count", min=1, help="Number of playouts from the initial position by each policy."
        ),
    ] = 10_000,
    limit: Annotated[
        int | None,
        option("--max-plies", "Ply limit of a playout; by default the game's own.", min=1),
    ] = None,
    seed: Seed = 0,
    every_game: Annotated[bool, option("--all")] = False,
) -> None:
    """Measure playouts: prediction accuracy, length, speed.

    Sato 2010's table 4 for any game: uniform playouts beside playouts by move strengths. Drawn:
    how often a playout draws the record's move; first: how often that move is the likeliest. Games
    from which a model was fitted are excluded; the first line reports how many.
    """
    facts = game_facts(game)
    policies = [PlayoutPolicy()]
    if has_features(facts.name):
        policies.append(PlayoutPolicy("strengths"))
    policies += [PlayoutPolicy("strengths", file) for file in strengths or []]
    if facts.search.light_playouts:
        policies.append(PlayoutPolicy("light"))
    table, judges = None, None
    if records:
        games = [each for each in read_records(*records) if each.game == facts.name]
        if not games:
            raise Error(f"no games of {facts.name} are in these records")
        models = [
            LearnedGames.of_model(facts.name, LEARNED if each.strengths is None else each.strengths)
            for each in policies
            if each.name == POLICY_WITH_MODEL
        ]
        judges = judged_games(games, models, every_game=every_game)
        table = table_of(judges.records)
    with progress_bars() as progress:
        qualities = playout_quality(
            facts.name,
            policies,
            games=table,
            count=count,
            limit=limit,
            seed=seed,
            progress=progress,
        )
    if wants_json():
        about = {} if judges is None else judges.as_json()
        print_json([each.as_json() | about for each in qualities])
        return
    if judges is not None:
        tell_judges(judges)
    headings = ("policy", "drawn", "first", "ended", "mean plies", "playouts/s")
    rows = [
        (
            each.policy.text,
            *(_share(share) for share in (each.drawn, each.first, each.terminated)),
            f"{each.plies:.1f}",
            f"{each.rate:,.0f}",
        )
        for each in qualities
    ]
    print_table(headings, rows, right=range(1, len(headings)))


def _share(share: Estimate | None) -> str:
    return "" if share is None else share.short_text(".3f")
