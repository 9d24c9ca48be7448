# SPDX-License-Identifier: Apache-2.0
"""The command that says what playouts are like."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.cli.games import GameName
from hyoka.cli.output import AsJson, Quiet, out, plain_table, print_json, progress_bars
from hyoka.errors import Error
from hyoka.estimate import Estimate
from hyoka.games import game_facts
from hyoka.learning.playout_quality import PlayoutPolicy, PlayoutQuality, playout_quality
from hyoka.learning.predicting import table_of
from hyoka.records import read_records
from hyoka.search import has_features


def playouts_command(
    game: GameName,
    records: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RECORDS…]",
            help="Files, folders or archives of game records, whose moves are to be foretold.",
            show_default=False,
        ),
    ] = None,
    strengths: Annotated[
        list[str] | None,
        typer.Option(
            "--strengths",
            "-s",
            metavar="FILE",
            help="Also playouts by this move model (strengths or METS); repeatable.",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="Playouts from the start, by each policy.")
    ] = 10_000,
    limit: Annotated[
        int | None,
        typer.Option(
            "--plies", min=1, help="What does not end by then is cut; the game's own if not given."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Chance.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """What playouts are like: moves foretold, games that end, playouts a second.

    Sato 2010's table 4 for any game: uniform playouts beside those by the strengths of moves.
    Drawn: how often a playout would play the record's move; first: how often it is the likeliest.
    """
    facts = game_facts(game)
    policies = [PlayoutPolicy()]
    if has_features(facts.name):
        policies.append(PlayoutPolicy("strengths"))
    policies += [PlayoutPolicy("strengths", file) for file in strengths or []]
    if facts.light_playouts:
        policies.append(PlayoutPolicy("light"))
    table = None
    if records:
        games = [each for each in read_records(*records) if each.game == facts.name]
        if not games:
            raise Error(f"no games of {facts.name} are in these records")
        table = table_of(games)
    with progress_bars(quiet or as_json) as progress:
        found = playout_quality(
            facts.name,
            policies,
            games=table,
            count=count,
            limit=limit,
            seed=seed,
            progress=progress,
        )
    if as_json:
        print_json([_json(each) for each in found])
        return
    headings = ("policy", "drawn", "first", "ended", "mean plies", "playouts/s")
    shown = plain_table(*headings, right=range(1, len(headings)))
    for each in found:
        shown.add_row(
            escape(each.policy.text),
            *(_share(share) for share in (each.drawn, each.first, each.terminated)),
            f"{each.plies:.1f}",
            f"{each.rate:,.0f}",
        )
    out.print(shown)


def _share(share: Estimate | None) -> str:
    return "" if share is None else f"{share.value:.3f} ± {(share.high - share.low) / 2:.3f}"


def _json(quality: PlayoutQuality) -> dict[str, object]:
    def ends(share: Estimate | None) -> list[float] | None:
        return None if share is None else [share.value, share.low, share.high]

    return {
        "policy": quality.policy.text,
        "drawn": ends(quality.drawn),
        "first": ends(quality.first),
        "ended": ends(quality.terminated),
        "mean_plies": quality.plies,
        "playouts_a_second": quality.rate,
    }
