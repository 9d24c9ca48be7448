# SPDX-License-Identifier: Apache-2.0
"""Commands about the strengths of moves: what features there are, and what records say of them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.analysis import FORMATS
from hyoka.artefact import Origin
from hyoka.cli.games import GameName
from hyoka.cli.move_models import (
    HOLD_OUT,
    HoldOut,
    Sources,
    games_of,
    judged,
    split,
    tell_how_it_did,
)
from hyoka.cli.output import (
    AsJson,
    Quiet,
    command_line,
    out,
    plain_table,
    print_json,
    progress_bars,
)
from hyoka.cli.outputs import Output
from hyoka.errors import Error
from hyoka.games import game_facts
from hyoka.games.move_features import meaning_of, move_features
from hyoka.learning.bradley_terry import Optimiser
from hyoka.learning.latent import Latent, learn_latent
from hyoka.learning.predicting import ids_in, table_of
from hyoka.learning.strengths import Strengths, learn_strengths
from hyoka.storage.outputs import PAGE, PICTURE, TABLE

POSITIONS = 500_000


def strengths_command(
    context: typer.Context,
    records: Sources,
    output: Annotated[
        Path,
        Output(("strengths", "latent")),
        typer.Option("--output", "-o", metavar="FILE", help="Where the strengths go."),
    ] = Path("strengths.json"),
    shapes: Annotated[
        int,
        typer.Option(
            min=0, max=60_000, help="Go: also so many of the shapes of stones met most often."
        ),
    ] = 0,
    rank: Annotated[
        int,
        typer.Option(
            min=0,
            max=64,
            help="Also learn so many factors a feature, by which pairs of features count "
            "(latent-factor ranking; 8, say); 0: none.",
        ),
    ] = 0,
    optimiser: Annotated[
        Optimiser,
        typer.Option(help="lbfgs, or mm: minorization-maximization, to the same optimum."),
    ] = "lbfgs",
    prior: Annotated[
        float,
        typer.Option(
            min=1e-6,
            help="How often each feature also beats, and loses to, an opponent of strength 1.",
        ),
    ] = 1.0,
    positions: Annotated[
        int,
        typer.Option(min=1, help="Learn from so many positions at most, drawn at random."),
    ] = POSITIONS,
    seed: Annotated[int, typer.Option(min=0, help="Chance: which positions are drawn.")] = 0,
    hold_out: HoldOut = HOLD_OUT,
    rows: Annotated[
        int, typer.Option("--rows", "-n", min=0, help="Features to print, strongest and weakest.")
    ] = 20,
    table: Annotated[
        Path | None,
        Output((PAGE, PICTURE, TABLE), FORMATS),
        typer.Option(
            "--table", metavar="FILE", help="All features as .csv, .json, .html, .png or .svg."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn how strong moves are by their features (Bradley-Terry), and say how well that does.

    A move is as strong as the product of its features' strengths (γ). Intervals are by games.
    """
    learned, unseen = split(games_of(records), hold_out)
    games = table_of(learned)
    origin = Origin(
        command_line(context),
        seed=seed,
        counts={"games": len(learned), "positions": min(positions, int((games.played >= 0).sum()))},
        choices={
            "optimiser": optimiser,
            "prior": f"{prior:g}",
            "hold_out": f"{hold_out:g}",
            "shapes": str(shapes),
            "rank": str(rank),
        },
        learned_games=ids_in(games),
    )
    with progress_bars(quiet or as_json) as progress:
        found = learn_strengths(
            games,
            positions=positions,
            shapes=shapes,
            optimiser=optimiser,
            prior=prior,
            seed=seed,
            origin=origin,
            progress=progress,
        )
        model: Strengths | Latent = found
        if rank:
            model = learn_latent(
                games,
                found,
                rank=rank,
                positions=positions,
                seed=seed,
                origin=origin,
                progress=progress,
            )
        model.artefact().save(output)
        if table is not None:
            found.save(table)
        held_out = judged(model.model(), unseen, output, progress)
    if as_json:
        print_json(
            {
                "game": found.game,
                "games": len(learned),
                "positions": found.positions,
                "converged": found.converged,
                "rounds": found.rounds,
                "log_loss": found.log_loss,
                "random_log_loss": found.random_log_loss,
                "features": found.rows(),
                "file": str(output),
                "held_out": None if held_out is None else held_out.rows(),
            }
        )
        return
    _print_strengths(found, rows)
    tell_how_it_did(held_out, output)


def _print_strengths(found: Strengths, rows: int) -> None:
    heading, *lines = found.lines()
    out.print(found.title, markup=False)
    table = plain_table(*map(escape, heading), right=range(1, len(heading)))
    few = len(lines) <= 2 * rows
    for line in lines if few else lines[:rows]:
        table.add_row(*map(escape, line))
    if not few:
        table.add_row(f"… {len(lines) - 2 * rows:,} more", *[""] * (len(heading) - 1))
        for line in lines[-rows:] if rows else []:
            table.add_row(*map(escape, line))
    out.print(table)
    for note in found.notes():
        out.print(note, style="dim" if found.converged else None, markup=False)


def features_command(
    game: GameName,
    with_patterns: Annotated[
        bool, typer.Option("--patterns", help="Also all the patterns of stones (Go: 1,107).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The features of a game's moves, by which they have strengths, and what each means."""
    name = game_facts(game).name
    known = move_features(name)
    if not known:
        raise Error(f"moves of {name} have no features")
    if as_json:
        print_json(
            [
                {"feature": feature, "strength": strength, "meaning": meaning_of(feature)}
                for feature, strength in known.items()
            ]
        )
        return
    table = plain_table("feature", "built-in γ", "meaning", right=(1,))
    hidden = 0
    for feature, strength in known.items():
        if feature.startswith("pattern_") and not with_patterns:
            hidden += 1
            continue
        table.add_row(escape(feature), f"{strength:.3g}", escape(meaning_of(feature)))
    out.print(table)
    if hidden:
        out.print(f"and {hidden:,} patterns of stones: --patterns", style="dim", markup=False)
