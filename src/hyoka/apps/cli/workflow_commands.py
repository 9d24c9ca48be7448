# SPDX-License-Identifier: Apache-2.0
"""The commands report, improve, demo, samples, bench and studio."""

import contextlib
import dataclasses
import importlib.util
import os
import shlex
import time
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hyoka.apps.cli.analysis_options import Bend, Evaluators, Limit, link_of
from hyoka.apps.cli.analyze_commands import print_results
from hyoka.apps.cli.command_options import (
    Cluster,
    Jobs,
    Output,
    OutputFolder,
    Plan,
    StudyPath,
    check_outputs,
    option,
)
from hyoka.apps.cli.command_table import in_options
from hyoka.apps.cli.match_commands import workers
from hyoka.apps.cli.output import (
    answered,
    err,
    hint,
    kept_when_interrupted,
    out,
    print_json,
    print_table,
    progress_bars,
    say,
    tell,
    tracked,
    wants_json,
)
from hyoka.foundation.errors import Error, SourceError
from hyoka.foundation.progress import Progress
from hyoka.games import game_facts
from hyoka.records.samples import SAMPLES, sample_path
from hyoka.reporting.study_report import (
    ReportOptions,
    numbered_pictures,
    report_file,
    save_figures,
    write_report,
)
from hyoka.storage.files import write_bytes
from hyoka.storage.outputs import PAGE, PICTURE, STUDY
from hyoka.study import Study
from hyoka.workflows.bench import bench, benchmarked_games, job_count
from hyoka.workflows.demo import POSITIONS_A_GAME, UCT_STRONG, run_demo
from hyoka.workflows.improve import Improvement, ImprovePlan, improve
from hyoka.workflows.improve.improve_loop import PLAN


def report_command(
    study: StudyPath,
    output: Annotated[
        Path | None,
        Output((PAGE,)),
        option("--output", "Output file; by default report.html in the study.", metavar="FILE"),
    ] = None,
    evaluators: Evaluators = None,
    options: Annotated[
        Callable[..., ReportOptions], Plan(ReportOptions, without=("boards_a_bin",))
    ] = ReportOptions,
    bend: Bend = None,
    limit: Limit = None,
    figures: Annotated[
        Path | None,
        OutputFolder(),
        typer.Option(
            metavar="FOLDER", help="Folder to which every figure is also written, as PNG and SVG."
        ),
    ] = None,
) -> None:
    """Write a study's report: metrics, curves, biased slices.

    Writes one HTML file that opens offline, findings first; a click on a curve shows positions
    from there. Prints the findings; with --json, all numbers.
    """
    opened = Study.open(study)
    file = output if output is not None else report_file(opened)
    check_outputs(file, kinds=(PAGE,))
    if figures is not None:
        # Which figures the report has is not known yet.
        check_outputs(*numbered_pictures(figures), kinds=(PICTURE,))
    with progress_bars() as progress:
        chosen = options(evaluators=evaluators, link=link_of(bend, limit))
        report = write_report(opened, file, chosen, progress=progress)
        pictures = []
        if figures is not None:
            progress(Progress("figures", 0, None, "figures"))
            pictures = save_figures(
                report.page, figures, check=partial(check_outputs, kinds=(PICTURE,))
            )
    if answered(report.as_json() | {"file": str(file), "figures": list(map(str, pictures))}):
        return
    named = {"draws": "--draws", "memory": "--memory"}
    covered = in_options(str(report.results.coverage), named)
    tell(covered)
    for finding in report.findings:
        tell(f"- {finding.text}")
    if figures is not None:
        tell(f"{len(pictures)} figures in {figures}")
    tell(f"report: {file}")


def improve_command(
    study: StudyPath,
    plan: Annotated[Callable[..., ImprovePlan], Plan(ImprovePlan)] = ImprovePlan,
    folder: Annotated[
        Path | None,
        OutputFolder(PLAN, "an improvement"),
        option("--output", "Output folder.", metavar="FOLDER"),
    ] = None,
    still: Annotated[
        bool,
        typer.Option(
            "--still", help="Write charts as static pictures: a smaller page without scripts."
        ),
    ] = False,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Find biased slices, fit the weights, test the gain in a match.

    Slices and weights come from the fitting games; held-out games show the curves before and
    after; a match under a sequential test decides. The page report.html has all results, including
    that no slice or no gain was found. If interrupted, the same command resumes.
    """
    opened = Study.open(study)
    chosen = plan()
    place = folder or Path("improved") / opened.path.resolve().name
    with contextlib.ExitStack() as stack:
        executor, side_by_side = workers(stack, jobs, cluster_address)
        stack.enter_context(kept_when_interrupted("done"))
        progress = stack.enter_context(progress_bars())
        story = improve(
            opened,
            chosen,
            to=place,
            still=still,
            jobs=side_by_side or os.cpu_count() or 1,
            executor=executor,
            progress=progress,
        )
    if not answered(story.as_json()):
        _print(story)


def _print(story: Improvement) -> None:
    outcome, *steps = story.sentences()
    for sentence in steps:
        tell(f"• {sentence}")
    tell(f"\n{outcome}")
    if story.weights is not None:
        tell(f"play with it: ab:eval={story.weights}")
    hint(f"report: {story.page}")


_SPLITS = 5


def demo_command(
    to: Annotated[
        Path,
        OutputFolder(f"*/{STUDY}", "the demo", force=True),
        option("--output", "Output folder.", metavar="FOLDER"),
    ] = Path("hyoka-demo"),
    jobs: Jobs = None,
    positions: Annotated[int, option("--sample", min=1, max=50)] = POSITIONS_A_GAME,
) -> None:
    """Evaluate sample games and write a report: a first example.

    600 games of Go on 9×9 by Hyoka's players of several strengths, evaluated by a static
    evaluation, Monte Carlo, and UCT at two playout counts. If interrupted, the same command
    resumes.
    """
    from hyoka.reporting.study_report import ReportOptions, write_report  # noqa: PLC0415 - slow to import

    started = time.monotonic()
    to.mkdir(parents=True, exist_ok=True)
    report = to / "report.html"
    check_outputs(report, kinds=(PAGE,))
    with progress_bars() as progress:
        with kept_when_interrupted("evaluated"):
            demo = run_demo(
                to, jobs=jobs or os.cpu_count() or 1, progress=progress, positions_a_game=positions
            )
        names = list(demo.engines.values())
        progress(Progress("measuring", 0, 1, "steps", "metrics"))
        metrics = demo.go.metrics(names)
        progress(Progress("measuring", 1, 1, "steps"))
        slices = demo.go.slices(demo.engines[UCT_STRONG], top=_SPLITS, progress=progress)
        write_report(demo.go, report, ReportOptions(evaluators=names), progress=progress)
    seconds = time.monotonic() - started
    if wants_json():
        facts = {"metrics": metrics.rows(), "slices": slices.rows(), "seconds": round(seconds, 1)}
        print_json({"study": str(demo.go.path), "report": str(report), **facts})
        return
    print_results([metrics, slices])
    tell(f"The report is {report}: open it in a browser.")
    hint(f"Next: hyoka analyze summary {demo.go.path} --by phase · hyoka report {demo.chess.path}")


def records_samples_command(
    to: Annotated[
        Path, OutputFolder(force=True), option("--output", "Output folder.", metavar="FOLDER")
    ] = Path("samples"),
) -> None:
    """Copy the sample records that come with Hyoka."""
    files = {to / file: sample_path(name) for name, file in SAMPLES.items()}
    missing = [file for file, sample in files.items() if not _is_copy(file, sample)]
    to.mkdir(parents=True, exist_ok=True)
    check_outputs(*missing)
    for file in missing:
        write_bytes(file, files[file].read_bytes())
    if answered([str(file) for file in files]):
        return
    for file in files:
        say(str(file))
    hint(f"try: hyoka records info {to}")


def _is_copy(file: Path, sample: Path) -> bool:
    return file.is_file() and file.read_bytes() == sample.read_bytes()


def bench_command(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]", help=f"One of {', '.join(benchmarked_games())}; all by default."
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, max=100, help="Number of rounds; the best one is reported.")
    ] = 3,
) -> None:
    """Measure speed, with a fingerprint of the results.

    The fingerprint depends only on the code and the seed: it changes only if behavior changes.
    Compare speeds only within one run on one machine; `make bench` also measures other programs.
    """
    games = benchmarked_games() if game is None else [game_facts(game).name]
    if not set(games) <= set(benchmarked_games()):
        raise Error(f"no benchmark of {games[0]}; known: {', '.join(benchmarked_games())}")
    measured = bench(games, rounds=rounds)
    results = list(tracked(measured, "bench", job_count(games), "jobs"))
    if answered([dataclasses.asdict(result) for result in results]):
        return
    rows = [
        (result.game, result.job, f"{result.fingerprint:,}", f"{result.rate:,.0f}", result.unit)
        for result in results
    ]
    print_table(("game", "job", "fingerprint", "rate", ""), rows, right=[2, 3])
    out.print(f"fingerprint of all: [bold]{sum(result.fingerprint for result in results)}[/]")


_NEEDED = ("starlette", "jinja2", "uvicorn", "multipart")


def studio_command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]", help="Folder with studies and matches; by default the current one."
        ),
    ] = Path(),
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SPEC",
            help="Engine that the studio may start, such as sf=uci:stockfish; repeatable.",
        ),
    ] = None,
    allow_found: Annotated[
        bool,
        typer.Option(
            "--allow-found",
            help="Let the studio start all known engines that are installed here; their specs are "
            "printed.",
        ),
    ] = False,
    settings: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="TOML file with a table \\[engines] of NAME = SPEC; by default hyoka/studio.toml "
            "in your configuration folder.",
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; by default 8620, or any free port.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any other than the default lets other machines connect."
        ),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the studio in the browser.")] = True,
) -> None:
    """Open the browser interface: boards, studies, matches, runs.

    It is accessible only from this machine, by the address that it prints, and starts only engines
    that you allow. Runs continue when the browser is closed.
    """
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        raise Error('the studio needs more packages: pip install "hyoka[web]"')
    from hyoka.apps.cli.command_table import COMMANDS  # noqa: PLC0415 - it lists this one
    from hyoka.apps.studio import access as safety  # noqa: PLC0415
    from hyoka.apps.studio import allowed_engines as engines  # noqa: PLC0415 - slow to import
    from hyoka.apps.studio import server as serving  # noqa: PLC0415
    from hyoka.apps.studio.folder import Folder  # noqa: PLC0415
    from hyoka.apps.studio.pages import Studio  # noqa: PLC0415

    if not folder.is_dir():
        raise SourceError(f"{folder}: no such folder; make it first: mkdir {folder}")
    settings = settings or (file if (file := engines.default_settings()).is_file() else None)
    allowed = engines.engines_from_settings(settings) if settings is not None else {}
    allowed |= engines.named_engines(engine or [])
    if allow_found:
        allowed = engines.found_engines() | allowed
    root = folder.resolve()
    start = "hyoka studio" + (f" {shlex.quote(str(folder))}" if folder != Path() else "")
    studio = Studio.on(Folder(root), engines.Engines(allowed, start), COMMANDS)
    if not safety.is_loopback(host):
        err.print(
            f"hyoka: anyone who can reach {host} and has the token can use this studio, and "
            "what it sends can be read on the way (there is no HTTPS)",
            style="red",
            markup=False,
            soft_wrap=True,
        )
    sock = serving.listening(host, port)
    token = serving.load_token(root)
    address = serving.address_of(sock, token)
    say(f"Hyoka Studio on {root}: {address}\nCtrl-C ends it; active runs continue.")
    for name, spec in allowed.items():
        say(f"Engine {name}: {spec}")
    if others := studio.engines.found_others():
        say(f"Found, not allowed: {', '.join(others)}. To allow all: {start} --allow-found")
    if browser:
        webbrowser.open(address)
    serving.serve(studio, sock, token, host)
