# SPDX-License-Identifier: Apache-2.0
"""The command that says what playouts are like."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.artefact import LEARNED
from hyoka.cli.games import GameName
from hyoka.cli.move_models import tell_judges
from hyoka.cli.output import AsJson, Quiet, out, plain_table, print_json, progress_bars
from hyoka.errors import Error
from hyoka.estimate import Estimate
from hyoka.games import game_facts
from hyoka.learning.playout_quality import (
    POLICY_WITH_MODEL,
    PlayoutPolicy,
    PlayoutQuality,
    playout_quality,
)
from hyoka.learning.predicting import judged_games, table_of
from hyoka.records import read_records
from hyoka.search import has_features
from hyoka.search.learned_games import LearnedGames


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
    every_game: Annotated[
        bool,
        typer.Option("--all", help="Judge by all games, also those that a model learned from."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """What playouts are like: moves foretold, games that end, playouts a second.

    Sato 2010's table 4 for any game: uniform playouts beside those by the strengths of moves.
    Drawn: how often a playout would play the record's move; first: how often it is the likeliest.
    Games that a model learned from are left out; the first line says how many.
    """
    facts = game_facts(game)
    policies = [PlayoutPolicy()]
    if has_features(facts.name):
        policies.append(PlayoutPolicy("strengths"))
    policies += [PlayoutPolicy("strengths", file) for file in strengths or []]
    if facts.light_playouts:
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
        about = {} if judges is None else judges.as_json()
        print_json([_json(each) | about for each in found])
        return
    if judges is not None:
        tell_judges(judges)
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
    return "" if share is None else share.short_text(".3f")


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
