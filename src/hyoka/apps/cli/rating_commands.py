# SPDX-License-Identifier: Apache-2.0
"""Commands that rate players, and that fit the prior of UCT on self-play."""

import contextlib
import math
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.apps.cli.command_options import Cluster, Jobs, OutputFolder, Plan, option
from hyoka.apps.cli.match_commands import elo_text, estimate_as_json, match_player, workers
from hyoka.apps.cli.output import (
    answered,
    err,
    kept_when_interrupted,
    out,
    plain_table,
    progress_bars,
)
from hyoka.apps.cli.record_commands import Format
from hyoka.arena import MatchPlan, MatchResult
from hyoka.arena.ratings import MOST_WITH_INTERVALS, Rated, RatingList, RatingSettings, rate_players
from hyoka.foundation.errors import Error
from hyoka.foundation.math import Estimate
from hyoka.learning.prior import PriorSettings, TunedPrior, tune_prior
from hyoka.search import SearchSpec, static_evaluation
from hyoka.workflows.rating_sources import Results, read_results


def match_ratings_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            help="Records in any notation (files, folders, patterns, archives, -), Parquet tables "
            "with columns first, second, result and perhaps pair_id, matches, studies.",
            show_default=False,
        ),
    ],
    settings: Annotated[
        Callable[..., RatingSettings], Plan(RatingSettings, without=("prior", "intervals"))
    ] = RatingSettings,
    min_games: Annotated[
        int,
        typer.Option("--min-games", min=1, metavar="N", help="Leave out players with fewer games."),
    ] = 1,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            "--merge",
            metavar="PATTERN",
            help='Count players whose names fit as one, e.g. "Stockfish*", repeatable.',
        ),
    ] = None,
    format: Format = None,
) -> None:
    """Rate players from their games: Elo with 95% intervals.

    Players that no games connect are listed apart, each list with its own zero. The interval is
    open on a side that games do not bound, for example for a player who lost no points. LOS is the
    likelihood that a player is stronger than the next.
    """
    with progress_bars() as progress:
        everything = read_results(files, format=format, progress=progress)
    if merge:
        everything = everything.with_merged(merge)
    results = everything.of_frequent_players(min_games) if min_games > 1 else everything
    if not len(results):
        reasons = _reasons(results)
        raise Error(f"no games to rate players by{': ' if reasons else ''}{reasons}")
    ratings = rate_players(
        results.first,
        results.second,
        results.result,
        results.names,
        settings(intervals=len(results.names) <= MOST_WITH_INTERVALS),
        clusters=results.clusters,
    )
    if not answered(_as_json(ratings, results)):
        _print_ratings(ratings, results)


def _print_ratings(ratings: RatingList, results: Results) -> None:
    for component in range(ratings.components):
        players = [player for player in ratings.players if player.component == component]
        if ratings.components > 1:
            title = f"component {component + 1} of {ratings.components}"
            out.print(f"{title}: not comparable with the others", style="bold")
        _print_players(players, ratings)
    facts = [f"{ratings.games:,} games", f"draws between equals {ratings.draw_rate:.1%}"]
    facts.append(f"moving first is worth {_with_interval(ratings.advantage)} Elo")
    out.print("; ".join(facts), style="dim")
    if ratings.virtual:
        out.print(
            "some won or lost everything against the others: their ratings are held by virtual "
            "draws and bounded on one side only",
            style="dim",
        )
    if ratings.covariance is None:
        out.print(
            f"no intervals for more than {MOST_WITH_INTERVALS:,} players; see --min-games",
            style="dim",
        )
    if results.left_out:
        err.print(f"left out: {_reasons(results)}", markup=False, soft_wrap=True)


def _print_players(players: Sequence[Rated], ratings: RatingList) -> None:
    headings = ("", "player", "Elo", "95 %", "games", "score", "draws", "LOS")
    table = plain_table(*headings, right=[0, 2, 3, 4, 5, 6, 7])
    for rank, (player, after) in enumerate(zip(players, [*players[1:], None], strict=True), 1):
        sure = _superiority(ratings, player, after)
        table.add_row(
            str(rank),
            escape(player.name),
            f"{player.elo:.0f}",
            _margin(player),
            f"{player.games:,}",
            f"{player.score.rate:.1%}",
            f"{player.score.draw_rate:.1%}",
            "" if sure is None else f"{sure:.1%}",
        )
    out.print(table)


def _margin(player: Rated) -> str:
    """Format the interval as ±, or as open on a side."""
    up, down = player.high - player.elo, player.elo - player.low
    if math.isinf(up) and math.isinf(down):
        return "–"
    if math.isinf(up):
        return f"−{down:.0f} +∞"
    return f"−∞ +{up:.0f}" if math.isinf(down) else f"±{up:.0f}"


def _with_interval(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return f"{estimate.value:.0f}"
    if math.isinf(estimate.low) and math.isinf(estimate.high):
        return "an unknown number of"
    ends = [f"{end:.0f}" if math.isfinite(end) else "∞" for end in (estimate.low, estimate.high)]
    if math.isinf(estimate.low):
        ends[0] = "−∞"
    return f"{estimate.value:.0f} ({ends[0]} to {ends[1]})"


def _reasons(results: Results) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in results.left_out.items())


def _finite(value: float) -> float | None:
    """Replace infinity by null for JSON."""
    return value if math.isfinite(value) else None


def _superiority(ratings: RatingList, player: Rated, after: Rated | None) -> float | None:
    if after is None or after.component != player.component or ratings.covariance is None:
        return None
    return ratings.superiority(player.name, after.name)


def _as_json(ratings: RatingList, results: Results) -> dict[str, object]:
    following = [*ratings.players[1:], None]
    return {
        "games": ratings.games,
        "left_out": dict(results.left_out),
        "draw_rate": ratings.draw_rate,
        "advantage": {
            "value": ratings.advantage.value,
            "low": _finite(ratings.advantage.low),
            "high": _finite(ratings.advantage.high),
        },
        "players": [
            {
                "name": player.name,
                "elo": player.elo,
                "low": _finite(player.low),
                "high": _finite(player.high),
                "games": player.games,
                "wins": player.score.wins,
                "draws": player.score.draws,
                "losses": player.score.losses,
                "component": player.component,
                "superiority_over_next": _superiority(ratings, player, after),
            }
            for player, after in zip(ratings.players, following, strict=True)
        ],
    }


def learn_prior_command(
    game: Annotated[str, option("--game", show_default=False)],
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH",
            help="UCT with its limit, perhaps with other settings: uct:playouts=1000,eval=FILE.",
        ),
    ] = "uct:preset=paper,playouts=1000",
    settings: Annotated[Callable[..., PriorSettings], Plan(PriorSettings)] = PriorSettings,
    folder: Annotated[
        Path,
        OutputFolder(),
        option("--output", metavar="FOLDER"),
    ] = Path("matches"),
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Tune an evaluation's sigmoid scale and virtual visits in UCT.

    The scale is fitted to random playouts from positions one random move away from self-play
    games. Then the search plays a match between each two weights of the prior. If interrupted, the
    same command resumes.
    """
    spec = SearchSpec.from_text(search)
    chosen = settings()
    with contextlib.ExitStack() as stack:
        play = match_player(*workers(stack, jobs, cluster_address))
        stack.enter_context(kept_when_interrupted("played"))
        # The specs do not state which evaluation is bundled.
        evaluation = static_evaluation(game, spec["eval"]).fingerprint

        def meet(plan: MatchPlan, count: int) -> MatchResult:
            return play(plan, folder / f"{plan.id}-{evaluation}", count)

        tuned = tune_prior(
            spec,
            game,
            meet,
            chosen,
            progress=stack.enter_context(progress_bars()),
        )
    if answered(_prior_as_json(tuned)):
        return
    _print(tuned, chosen.seed)


def _prior_as_json(tuned: TunedPrior) -> dict[str, object]:
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
        words = ["hyoka", "match", "run", new, old, "--game", tuned.game, "--seed", str(seed + 1)]
        out.print(
            f"how strong it is in new games: {shlex.join(words)}", markup=False, soft_wrap=True
        )
