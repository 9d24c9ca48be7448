# SPDX-License-Identifier: Apache-2.0
"""The command that makes one move model of several."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape

from hyoka.artefact import Origin, read_artefact
from hyoka.cli.move_models import Sources, games_of, judged, tell_how_it_did, tell_judges
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
from hyoka.learning.predicting import (
    ids_in,
    ids_of,
    judged_games,
    learned_origin,
    table_of,
)
from hyoka.search.learned_games import LearnedGames


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
    sources = [LearnedGames.of_origin(part.origin, part.path) for part in parts]
    if unknown := [source.model for source in sources if not source.is_known]:
        raise Error(
            f"{unknown[0]} does not say which games it learned from: give models made by "
            "`hyoka learn …`"
        )
    judges = judged_games(games_of(records), sources, every_game=False)
    # An odd id is as good as a coin, and does not depend on the parts' own hash rule.
    odd = (ids_of(judges.records) & np.uint64(1)).astype(bool)
    learned = [record for record, own in zip(judges.records, odd, strict=True) if own]
    unseen = [record for record, own in zip(judges.records, odd, strict=True) if not own]
    table = table_of(learned)
    origin = Origin(
        command_line(context),
        counts={"games": len(learned)},
        parents={str(model): part.sha256 for model, part in zip(models, parts, strict=True)},
    )
    origin = learned_origin(origin, ids_in(table), sources)
    with progress_bars(quiet or as_json) as progress:
        found = combine(table, parts, positions=positions, origin=origin, progress=progress)
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
    tell_judges(judges, "learned from and judged by")
    shown = plain_table("model", "power", "log-loss alone", right=(1, 2))
    for model, weight, loss in zip(models, found.weights, found.log_losses, strict=False):
        shown.add_row(escape(str(model)), f"{weight:.3f}", f"{loss:.3f}")
    shown.add_row("all", "", f"{found.log_losses[-1]:.3f}")
    out.print(shown)
    tell_how_it_did(held_out, output)
