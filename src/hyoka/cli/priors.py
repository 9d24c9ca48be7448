# SPDX-License-Identifier: Apache-2.0
"""The command that fits UCT's prior on self-play."""

import contextlib
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.arena import MatchPlan, MatchResult, TunedPrior, tune_prior
from hyoka.cli.matches import (
    Cluster,
    Games,
    Jobs,
    OpeningsOption,
    Seed,
    elo_text,
    estimate_as_json,
    match_player,
    workers,
)
from hyoka.cli.output import (
    AsJson,
    Quiet,
    kept_when_interrupted,
    out,
    plain_table,
    print_json,
    progress_bars,
)
from hyoka.cli.outputs import OutputFolder
from hyoka.errors import Error
from hyoka.estimate import Estimate
from hyoka.search import SearchSpec, static_evaluation


def prior_command(
    game: Annotated[str, typer.Option("--game", "-g", help="The game.", show_default=False)],
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH",
            help="UCT with its limit, perhaps with other settings: uct:playouts=1000,eval=FILE.",
        ),
    ] = "uct:preset=paper,playouts=1000",
    priors: Annotated[
        str,
        typer.Option(
            "--prior", metavar="N,N,…", help="How many simulations the evaluation may count as."
        ),
    ] = "0,5,10,20,40,80,160",
    games: Games = 40,
    self_play: Annotated[
        int, typer.Option(min=4, help="Games of the search without a prior, to fit the scale on.")
    ] = 200,
    openings: OpeningsOption = None,
    folder: Annotated[
        Path,
        OutputFolder(),
        typer.Option("--to", metavar="FOLDER", help="Where the matches are kept."),
    ] = Path("matches"),
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit what an evaluation is worth to UCT on self-play: its sigmoid's scale and its weight.

    The scale is fitted to random playouts at positions a random move beside games of the search
    against itself. Then the search plays with each weight of the prior against each other one.
    Interrupted, the same command goes on.
    """
    spec = SearchSpec.from_text(search)
    weights = _numbers(priors)
    with contextlib.ExitStack() as stack:
        play = match_player(*workers(stack, jobs, cluster_address), quiet or as_json)
        stack.enter_context(kept_when_interrupted("played"))
        # The players' texts don't tell which evaluation is built in.
        evaluation = static_evaluation(game, spec["eval"]).fingerprint

        def meet(plan: MatchPlan, count: int) -> MatchResult:
            return play(plan, folder / f"{plan.slug}-{evaluation}", count)

        tuned = tune_prior(
            spec,
            game,
            meet,
            priors=weights,
            games=games,
            self_play=self_play,
            openings=openings,
            seed=seed,
            progress=stack.enter_context(progress_bars(quiet or as_json)),
        )
    if as_json:
        print_json(_as_json(tuned))
        return
    _print(tuned, seed)


def _numbers(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words):
        raise Error(f"--prior needs whole numbers with commas between them, not '{text}'")
    return [int(word) for word in words]


def _as_json(tuned: TunedPrior) -> dict[str, object]:
    return {
        "game": tuned.game,
        "search": tuned.search.text,
        "scale": estimate_as_json(tuned.scale),
        "self_play": tuned.nodes.games,
        "positions": len(tuned.nodes),
        "best": tuned.player(tuned.best.name).text,
        "as_strong": [tuned.player(name).text for name in tuned.as_strong],
        "players": [
            {
                "name": each.name,
                "search": tuned.player(each.name).text,
                "wins": each.score.wins,
                "draws": each.score.draws,
                "losses": each.score.losses,
                "elo": estimate_as_json(Estimate(each.elo, each.low, each.high)),
                "behind_best": None
                if each is tuned.best
                else estimate_as_json(tuned.behind_best(each.name)),
            }
            for each in tuned.ratings.players
        ],
    }


def _print(tuned: TunedPrior, seed: int) -> None:
    out.print(
        f"scale {tuned.scale.text('.3g')}, from random playouts at {len(tuned.nodes):,} positions "
        f"beside {tuned.nodes.games:,} games of {tuned.search.text} against itself",
        markup=False,
    )
    table = plain_table("", "+/=/−", "score", "Elo", "behind the best", right=range(1, 5))
    for each in tuned.ratings.players:
        score = each.score
        table.add_row(
            escape(each.name),
            f"{score.wins}/{score.draws}/{score.losses}",
            f"{score.rate:.1%}",
            elo_text(Estimate(each.elo, each.low, each.high)),
            "" if each is tuned.best else elo_text(tuned.behind_best(each.name)),
        )
    out.print(table)
    best = tuned.best
    rivals = f"; not told from it: {', '.join(tuned.as_strong)}" if tuned.as_strong else ""
    out.print(f"strongest: {tuned.player(best.name).text}{rivals}", markup=False, soft_wrap=True)
    out.print(
        "The best of several looks stronger than it is: it was chosen for its luck, too. "
        "`behind the best` has intervals that hold for all pairs at once.",
        style="dim",
    )
    if tuned.player(best.name) != tuned.search:
        new, old = f"new={tuned.player(best.name).text}", f"old={tuned.search.text}"
        words = ["hyoka", "match", new, old, "--game", tuned.game, "--seed", str(seed + 1)]
        out.print(
            f"how strong it is in new games: {shlex.join(words)}", markup=False, soft_wrap=True
        )
