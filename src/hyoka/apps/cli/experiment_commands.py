# SPDX-License-Identifier: Apache-2.0
"""Commands for experiments: ablations, and the papers' tables."""

import contextlib
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from hyoka.apps.cli.command_options import (
    Cluster,
    Jobs,
    Output,
    OutputFolder,
    Seed,
    check_outputs,
    option,
)
from hyoka.apps.cli.match_commands import (
    Games,
    OpeningsOption,
    duel_as_json,
    elo_text,
    match_player,
    workers,
)
from hyoka.apps.cli.output import (
    answered,
    kept_when_interrupted,
    out,
    plain_table,
    print_json,
    progress_bars,
    wants_json,
)
from hyoka.arena import (
    Contest,
    DuelSummary,
    MatchResult,
    PlayerSpec,
    ablate,
    contests,
    openings_of,
    plan_match,
)
from hyoka.games import DEFAULT_GAME, game_facts
from hyoka.search import SearchSpec
from hyoka.storage.outputs import PICTURE, RESULTS
from hyoka.workflows import load_experiments

if TYPE_CHECKING:
    from experiments import Experiment, Outcome

_SWITCHES = {
    "uct": "strengths,widening,killer,history,rave",
    "ab": "quiescence,null_move,late_move_reductions,principal_variation,hash_move",
}


def match_ablate_command(
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH",
            help="uct or ab, perhaps with settings: uct:preset=paper,c=0.7. Without `preset=paper` "
            "uct has what plays the game best.",
        ),
    ] = "uct:preset=paper",
    game: Annotated[str, option("--game")] = DEFAULT_GAME,
    switches: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Enhancements: strengths, light, mate, ending, rave, prior, tuned, cut, any flag "
            "of the search (`hyoka position search --settings`), or SETTING=VALUE.",
        ),
    ] = None,
    games: Games = 100,
    playouts: Annotated[
        int, typer.Option(min=0, help="Playouts (αβ: nodes) a move where these are equal; 0: none.")
    ] = 500,
    time_s: Annotated[
        float,
        typer.Option("--time", min=0, metavar="S", help="Seconds where time is equal; 0: none."),
    ] = 0.05,
    how: Annotated[
        str,
        typer.Option(
            help="added: each alone on the bare search; removed: each from the full one; ladder: "
            "one after another."
        ),
    ] = "added",
    openings: OpeningsOption = None,
    komi: Annotated[float | None, typer.Option(help="In Go; 7.5 by default.")] = None,
    folder: Annotated[
        Path,
        OutputFolder(),
        option("--output", metavar="FOLDER"),
    ] = Path("matches"),
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Play each enhancement of a search against the rest.

    Matches are played at equal playouts and at equal time. If interrupted, the same command
    resumes.
    """
    kind = game_facts(game).name
    spec = SearchSpec.from_text(search).for_game(kind)
    names = (switches or _SWITCHES.get(spec.kind, "")).split(",")
    amount = "playouts" if spec.has("playouts") else "nodes"
    limits = [(amount, playouts), ("time", time_s)]
    planned = contests(
        spec,
        [name.strip() for name in names if name.strip()],
        [(name, each) for name, each in limits if each],
        how,
    )
    with contextlib.ExitStack() as stack:
        play = match_player(*workers(stack, jobs, cluster_address))
        stack.enter_context(kept_when_interrupted("played"))
        starts = openings_of(openings, kind, seed=seed)

        def meet(players: tuple[PlayerSpec, PlayerSpec]) -> MatchResult:
            plan = plan_match(*players, game=kind, openings=starts, komi=komi, seed=seed)
            return play(plan, folder / plan.id, games)

        duels = ablate(planned, meet)
    if answered(
        [
            {
                "switch": contest.switch,
                "limit": contest.limit,
                "with": contest.with_it.text,
                "without": contest.without.text,
                **duel_as_json(duel),
            }
            for contest, duel in duels
        ]
    ):
        return
    _print_ablation(duels)


def _print_ablation(duels: list[tuple[Contest, DuelSummary]]) -> None:
    limits = list(dict.fromkeys(contest.limit for contest, _ in duels))
    headings = [f"{word} at {limit}" for limit in limits for word in ("score", "Elo")]
    table = plain_table("switch", *headings, right=range(1, 1 + len(headings)))
    for switch in dict.fromkeys(contest.switch for contest, _ in duels):
        cells = [escape(switch)]
        for limit in limits:
            (duel,) = [duel for each, duel in duels if (each.switch, each.limit) == (switch, limit)]
            score = duel.score.score
            cells += [
                f"{score.wins}/{score.draws}/{score.losses} {score.rate:.1%}",
                elo_text(duel.elo),
            ]
        table.add_row(*cells)
    out.print(table)
    out.print("+/=/− as the search with the switch saw it; the games are kept", style="dim")


def experiment_list_command() -> None:
    """List the papers' experiments."""
    _list_experiments(load_experiments().EXPERIMENTS)


def experiment_run_command(
    name: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="One of `hyoka experiment list`.")
    ],
    scale: Annotated[
        str, typer.Option(help="small ends in minutes; paper is the whole thing.")
    ] = "small",
    folder: Annotated[
        Path,
        OutputFolder(),
        option("--output", metavar="FOLDER"),
    ] = Path("reproductions"),
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="Where the game records are; else shared/data here or in a folder above.",
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        Output((RESULTS,)),
        typer.Option(
            "--markdown",
            metavar="FILE",
            dir_okay=False,
            help="Write a page as well, with what made it: command, commit, date.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Run an experiment of the papers and compare the results.

    If interrupted, the same command resumes.
    """
    experiments = load_experiments()
    from experiments.results_page import (  # noqa: PLC0415 - found by load_experiments
        Made,
        definition,
        pictures_of,
        write_results_page,
    )

    experiment = experiments.experiment_named(name)
    if scale not in experiment.scales:
        known = ", ".join(experiment.scales)
        raise typer.BadParameter(f"{experiment.id} has no scale '{scale}'; there are {known}")
    with contextlib.ExitStack() as stack:
        executor, jobs = workers(stack, jobs, cluster_address)
        context = experiments.ExperimentContext(
            folder,
            experiments.RecordsFolder(data),
            play=match_player(executor, jobs),
            jobs=jobs or _cores(),
            executor=executor,
            progress=stack.enter_context(progress_bars()),
            seed=seed,
        )
        stack.enter_context(kept_when_interrupted("done"))
        outcome = experiment.run(context, scale)
    if markdown is not None:
        words = f"hyoka experiment run {experiment.id} --scale {scale}"
        made = Made(
            f"{words} --seed {seed}" if seed else words,
            source_commit(),
            datetime.now(tz=UTC).strftime("%Y-%m-%d"),
            definition(experiment, scale),
        )
        check_outputs(*pictures_of(markdown, scale, outcome), kinds=(PICTURE,))
        write_results_page(markdown, experiment, scale, outcome, made)
    if wants_json():
        head = {"experiment": experiment.id, "title": experiment.title, "scale": scale}
        print_json({**head, **outcome.as_json(), "notes": experiment.notes})
        return
    _print_outcome(experiment, scale, outcome)


def _list_experiments(listed: Mapping[str, "Experiment"]) -> None:
    if answered(
        [
            {"experiment": each.id, "title": each.title, "scales": list(each.scales)}
            for each in listed.values()
        ]
    ):
        return
    table = plain_table("experiment", "what it is", "scales")
    for each in listed.values():
        table.add_row(each.id, each.title, ", ".join(each.scales))
    out.print(table)


def source_commit() -> str:
    """Return the checkout's commit, with a + if files have changed since.

    Outside of a checkout, return the version.
    """
    here = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(here), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        top = Path(git("rev-parse", "--show-toplevel"))
        if not (top / "core" / "game.h").exists():
            return f"v{version('hyoka')}"  # installed inside a checkout of something else
        changed = git(
            "status",
            "--porcelain",
            "--",
            *(str(top / part) for part in ("src", "core", "experiments")),
        )
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return f"v{version('hyoka')}"


def _cores() -> int:
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def _print_outcome(experiment: "Experiment", scale: str, outcome: "Outcome") -> None:
    from experiments import LEGEND, right_aligned  # noqa: PLC0415 - found by load_experiments

    out.print(f"[bold]{escape(experiment.title)}[/]")
    out.print(f"{scale}: {outcome.about}", style="dim", markup=False)
    for shown in outcome.tables:
        if shown.title:
            out.print(f"\n{shown.title}", markup=False)
        table = plain_table(*map(escape, shown.headings), right=right_aligned(shown))
        for row in shown.texts():
            table.add_row(*map(escape, row))
        out.print(table)
    if outcome.verdicts:
        table = plain_table("as in the paper?", "", "difference", "")
        for each in outcome.verdicts:
            table.add_row(
                escape(each.claim), each.words, each.found.text("+.3f"), escape(each.detail)
            )
        out.print()
        out.print(table)
        out.print(LEGEND.replace("**", ""), style="dim", markup=False)
    for figure in outcome.figures:
        out.print(f"drawn: {figure}", style="dim", markup=False, soft_wrap=True)
    if experiment.notes:
        out.print(experiment.notes, style="dim", markup=False)
