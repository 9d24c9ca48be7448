# SPDX-License-Identifier: Apache-2.0
"""The command that rates players from their games."""

import math
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.arena.ratings import MOST_WITH_INTERVALS, Rated, RatingList, rate_players
from hyoka.arena.result_files import Results, read_results
from hyoka.cli.output import AsJson, Quiet, err, out, plain_table, print_json, progress_bars
from hyoka.cli.records import Format
from hyoka.errors import Error, NotationError
from hyoka.estimate import Estimate


def ratings_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            help="Records in any notation (files, folders, patterns, archives, -), Parquet tables "
            "with columns first, second, result and perhaps pair_id, matches, studies.",
            show_default=False,
        ),
    ],
    anchor: Annotated[
        str | None,
        typer.Option(
            "--anchor", metavar="NAME=ELO", help="Whose rating is known; else the mean is 0."
        ),
    ] = None,
    advantage: Annotated[
        str, typer.Option("--advantage", metavar="fit|ELO", help="Of moving first.")
    ] = "fit",
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
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Rate players from their games: Elo with 95 % intervals, draws, advantage of moving first.

    Players that no games connect are listed apart, each list with a zero of its own. The interval
    is open on the side where games don't bound it: nobody took a point from that player, say.
    LOS is the likelihood that a player is stronger than the next.
    """
    known = None if anchor is None else _anchor(anchor)
    fitted = _advantage(advantage)
    with progress_bars(quiet or as_json) as progress:
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
        clusters=results.clusters,
        anchor=known,
        advantage=fitted,
        intervals=len(results.names) <= MOST_WITH_INTERVALS,
    )
    if as_json:
        print_json(_as_json(ratings, results))
    else:
        _print_ratings(ratings, results)


def _anchor(text: str) -> tuple[str, float]:
    name, equals, elo = text.rpartition("=")
    try:
        value = float(elo)
    except ValueError:
        value = math.nan
    if not equals or not name or not math.isfinite(value):
        raise NotationError(f"an anchor is NAME=ELO as in Pachi=2000, not '{text}'")
    return name, value


def _advantage(text: str) -> float | str:
    if text == "fit":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1000:
        raise NotationError(f"an advantage is 'fit' or some Elo up to 1000, not '{text}'")
    return value


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
    """The interval as ±, or which way it is open."""
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
    """JSON knows no infinity: null."""
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
