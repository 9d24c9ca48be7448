# SPDX-License-Identifier: Apache-2.0
"""Ready-made experiments: what a search's enhancements bring, and the papers' tables."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from hyoka.arena import (
    Contest,
    DuelSummary,
    MatchPlan,
    MatchResult,
    PlayerSpec,
    ablate,
    clear_boards,
    contests,
    openings_of,
    plan_match,
    play_match,
)
from hyoka.cli.matches import (
    Cluster,
    Games,
    Jobs,
    LiveStanding,
    OpeningsOption,
    Seed,
    duel_as_json,
    elo_text,
    jobs_for,
)
from hyoka.cli.output import (
    AsJson,
    Quiet,
    kept_when_interrupted,
    out,
    plain_table,
    print_json,
)
from hyoka.games import game_type, name_of
from hyoka.reproduction import EXPERIMENTS, Experiment, MatchRow, experiment_named
from hyoka.search import SearchSpec
from hyoka.study import cluster

_SWITCHES = {
    "uct": "rating,widening,killer,history,rave",
    "ab": "quiescence,null_move,late_move_reductions,principal_variation,hash_move",
}


def _players_of_matches(
    stack: contextlib.ExitStack, jobs: int | None, address: str | None, quiet: bool
) -> Callable[[MatchPlan, Path, int], MatchResult]:
    """What plays the matches of an experiment: here or on a cluster, shown while they go on."""
    executor = None
    if address is not None:
        executor, jobs = stack.enter_context(cluster(address, at_end=clear_boards))

    def play(plan: MatchPlan, folder: Path, games: int) -> MatchResult:
        with LiveStanding(plan, games, None, quiet) as shown:
            result = play_match(
                plan,
                folder,
                games=games,
                jobs=jobs or jobs_for(plan),
                executor=executor,
                on_games=shown.update,
            )
        return result

    return play


def ablate_command(
    search: Annotated[
        str, typer.Argument(metavar="SEARCH", help="uct or ab, perhaps with settings: uct:c=0.7.")
    ] = "uct",
    game: Annotated[str, typer.Option("--game", "-g", help="The game.")] = "go9",
    switches: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Enhancements: rating, light, mate, ending, rave, prior, tuned, cut, any flag of "
            "the search (`hyoka search --settings`), or SETTING=VALUE.",
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
    komi: Annotated[float | None, typer.Option(help="In Go; 7.5 if not given.")] = None,
    to: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="Where the matches are kept.")
    ] = Path("matches"),
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play each enhancement of a search against the search without it; a table with intervals.

    At equal playouts and at equal time. Interrupted, the same command goes on.
    """
    spec = SearchSpec.from_text(search)
    kind = name_of(game_type(game)())
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
        play = _players_of_matches(stack, jobs, cluster_address, quiet or as_json)
        stack.enter_context(kept_when_interrupted("played"))
        starts = openings_of(openings, kind, seed=seed)

        def meet(players: tuple[PlayerSpec, PlayerSpec]) -> MatchResult:
            plan = plan_match(*players, game=kind, openings=starts, komi=komi, seed=seed)
            return play(plan, to / plan.slug, games)

        found = ablate(planned, meet)
    if as_json:
        print_json(
            [
                {
                    "switch": contest.switch,
                    "limit": contest.limit,
                    "with": contest.with_it.text,
                    "without": contest.without.text,
                    **duel_as_json(duel),
                }
                for contest, duel in found
            ]
        )
        return
    _print_ablation(found)


def _print_ablation(found: list[tuple[Contest, DuelSummary]]) -> None:
    limits = list(dict.fromkeys(contest.limit for contest, _ in found))
    headings = [f"{word} at {limit}" for limit in limits for word in ("score", "Elo")]
    table = plain_table("switch", *headings, right=range(1, 1 + len(headings)))
    for switch in dict.fromkeys(contest.switch for contest, _ in found):
        cells = [escape(switch)]
        for limit in limits:
            (duel,) = [duel for each, duel in found if (each.switch, each.limit) == (switch, limit)]
            score = duel.score.score
            cells += [
                f"{score.wins}/{score.draws}/{score.losses} {score.rate:.1%}",
                elo_text(duel.elo),
            ]
        table.add_row(*cells)
    out.print(table)
    out.print("+/=/− as the search with the switch saw it; the games are kept", style="dim")


def reproduce_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="EXPERIMENT", help="Which; without one, all are listed."),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="small ends in minutes; paper is the whole thing.")
    ] = "small",
    to: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="Where its data are kept.")
    ] = Path("reproductions"),
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Repeat an experiment of the papers: our figures beside theirs, with intervals.

    Interrupted, the same command goes on.
    """
    if name is None:
        table = plain_table("experiment", "what it is", "scales")
        for each in EXPERIMENTS.values():
            table.add_row(each.id, each.title, ", ".join(each.scales))
        out.print(table)
        return
    experiment = experiment_named(name)
    if scale not in experiment.scales:
        known = ", ".join(experiment.scales)
        raise typer.BadParameter(f"{experiment.id} has no scale '{scale}'; there are {known}")
    with contextlib.ExitStack() as stack:
        play = _players_of_matches(stack, jobs, cluster_address, quiet or as_json)
        stack.enter_context(kept_when_interrupted("played"))
        rows = experiment.run(scale, to / experiment.id, play, seed=seed)
    if as_json:
        print_json([_row_json(row) for row in rows])
        return
    _print_rows(experiment, scale, rows)


def _row_json(row: MatchRow) -> dict[str, Any]:
    return {
        "order": row.order,
        "theirs": [row.theirs.wins, row.theirs.draws, row.theirs.losses],
        "ours": [row.ours.wins, row.ours.draws, row.ours.losses],
        "rate": [row.rate.value, row.rate.low, row.rate.high],
        "p_value": row.p_value,
        "same_order": row.same_order,
    }


def _print_rows(experiment: Experiment, scale: str, rows: list[MatchRow]) -> None:
    games, one, other = experiment.scales[scale]
    out.print(f"[bold]{escape(experiment.title)}[/]")
    out.print(f"{games} games, {one} against {other}", style="dim", markup=False)
    headings = ("", "theirs +/=/−", "", "ours +/=/−", "", "interval", "p", "same order?")
    table = plain_table(*headings, right=range(1, 7))
    for row in rows:
        theirs, ours = row.theirs, row.ours
        table.add_row(
            row.order,
            f"{theirs.wins}/{theirs.draws}/{theirs.losses}",
            f"{theirs.rate:.1%}",
            f"{ours.wins}/{ours.draws}/{ours.losses}",
            f"{ours.rate:.1%}",
            f"{row.rate.low:.1%}–{row.rate.high:.1%}",
            f"{row.p_value:.2g}",
            "yes" if row.same_order else "not shown",
        )
    out.print(table)
    if experiment.notes:
        out.print(experiment.notes, style="dim", markup=False)
