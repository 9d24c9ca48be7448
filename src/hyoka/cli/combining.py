# SPDX-License-Identifier: Apache-2.0
"""The command that makes one move model of several."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.artefact import Origin, read_artefact
from hyoka.cli.move_models import Sources, games_of, held_out_share, judged, tell_how_it_did
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
from hyoka.learning.combining import POSITIONS, combine
from hyoka.learning.predicting import is_kept_apart, table_of


def combined_command(
    context: typer.Context,
    models: Annotated[
        list[Path],
        typer.Option("--model", "-m", metavar="FILE", help="A move model; give two or more."),
    ],
    records: Sources,
    output: Annotated[
        Path,
        Output(("combined",)),
        typer.Option("--output", "-o", metavar="FILE", help="Where the model goes."),
    ] = Path("combined.bin"),
    positions: Annotated[
        int, typer.Option(min=1, help="Learn from so many positions at most, drawn at random.")
    ] = POSITIONS,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make one move model of several: learn how much each should count.

    From half of the games that no model learned from; the other half judges it.
    """
    if len(models) < 2:
        raise Error("give two models or more: -m FILE -m FILE")
    parts = [read_artefact(model) for model in models]
    shares = [share for share in (held_out_share(str(model)) for model in models) if share]
    share = min(shares) if len(shares) == len(models) else None
    if share is None:
        raise Error("each model must say which games it held out: made by `hyoka learn …`")
    games = [record for record in games_of(records) if is_kept_apart(record, share)]
    learned = [record for record in games if not is_kept_apart(record, share / 2)]
    unseen = [record for record in games if is_kept_apart(record, share / 2)]
    origin = Origin(
        command_line(context),
        counts={"games": len(learned)},
        choices={"hold_out": f"{share / 2:g}"},
        parents={str(model): part.sha256 for model, part in zip(models, parts, strict=True)},
    )
    with progress_bars(quiet or as_json) as progress:
        found = combine(
            table_of(learned), parts, positions=positions, origin=origin, progress=progress
        )
        found.save(output)
        held_out = judged(found.model(), unseen, output, progress)
    if as_json:
        print_json(
            {
                "game": found.game,
                "weights": dict(zip(map(str, models), found.weights, strict=True)),
                "log_losses": list(found.log_losses),
                "file": str(output),
                "held_out": None if held_out is None else held_out.rows(),
            }
        )
        return
    table = plain_table("model", "power", "log-loss alone", right=(1, 2))
    for model, weight, loss in zip(models, found.weights, found.log_losses, strict=False):
        table.add_row(escape(str(model)), f"{weight:.3f}", f"{loss:.3f}")
    table.add_row("all", "", f"{found.log_losses[-1]:.3f}")
    out.print(table)
    tell_how_it_did(held_out, output)
