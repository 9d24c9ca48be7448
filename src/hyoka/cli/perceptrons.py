# SPDX-License-Identifier: Apache-2.0
"""The command that learns the networks of Nakamura 2007."""

import os
import shlex
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hyoka.cli.evaluations import Lesson, Threads
from hyoka.cli.move_models import HOLD_OUT, HoldOut, games_of, split
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
from hyoka.learning.perceptrons import (
    LabelledPositions,
    PerceptronSettings,
    PlyError,
    TrainedPerceptrons,
    errors_by_ply,
    learn_perceptrons,
)
from hyoka.study import Study
from hyoka.study.layout import DESCRIPTION


def perceptrons_command(
    context: typer.Context,
    sources: Lesson,
    output: Annotated[
        Path,
        Output(("perceptrons",)),
        typer.Option("--output", "-o", metavar="FILE", help="Where the networks go."),
    ] = Path("perceptrons.eval"),
    evaluator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Whose evaluations of a study to learn, if it has several."
        ),
    ] = None,
    hands: Annotated[
        bool, typer.Option("--hands", help="Show networks the pieces in hand, too.")
    ] = PerceptronSettings.hands,
    hidden: Annotated[int, typer.Option(min=1, help="Hidden units.")] = PerceptronSettings.hidden,
    epochs: Annotated[
        int, typer.Option(min=1, help="How often a network sees its positions at most.")
    ] = PerceptronSettings.epochs,
    patience: Annotated[
        int, typer.Option(min=1, help="It ends after so many without gain on a tenth of the games.")
    ] = PerceptronSettings.patience,
    rate: Annotated[
        float, typer.Option(min=1e-9, help="How far a step of Adam goes.")
    ] = PerceptronSettings.rate,
    decay: Annotated[
        float, typer.Option(min=0, help="What pulls weights to 0.")
    ] = PerceptronSettings.decay,
    batch: Annotated[int, typer.Option(min=1, help="Positions a step.")] = PerceptronSettings.batch,
    least: Annotated[
        int, typer.Option(min=1, help="Positions that a ply needs for a network of its own.")
    ] = PerceptronSettings.least,
    seed: Annotated[int, typer.Option(min=0, help="Chance: first weights and order.")] = 0,
    hold_out: HoldOut = HOLD_OUT,
    threads: Threads = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn win rates of Blokus Duo from searches: patterns into a network a ply (Nakamura 2007).

    Records are those of a match whose players say values, such as `hyoka match` keeps; of a study
    it is what an evaluator says of its positions. Equal positions are merged, their win rates
    averaged. Needs PyTorch, of the extra `learn`. Play with it: uct:prior=40,eval=FILE.
    """
    settings = PerceptronSettings(
        hidden=hidden,
        hands=hands,
        epochs=epochs,
        patience=patience,
        rate=rate,
        decay=decay,
        batch=batch,
        least=least,
    )
    learned, held_out = _labelled(sources, evaluator, hold_out)
    with progress_bars(quiet or as_json) as progress:
        trained = learn_perceptrons(
            learned, settings, seed=seed, jobs=threads or os.cpu_count() or 1, progress=progress
        )
    games = len(np.unique(learned.games))
    choices = {"hold_out": f"{hold_out:g}", "hands": str(hands), "hidden": str(hidden)}
    origin = trained.origin(command_line(context), seed, games, **choices)
    trained.networks.save(output, origin)
    errors = errors_by_ply(trained.networks, held_out) if len(held_out) else []
    if as_json:
        print_json(
            {
                "file": str(output),
                "games": games,
                "positions": trained.positions,
                "networks": len(trained.networks.plies),
                "held_out": [
                    {
                        "pieces_laid": each.ply,
                        "positions": each.positions,
                        "mse": each.squared,
                        "variance": each.variance,
                    }
                    for each in errors
                ],
            }
        )
        return
    _tell(trained, games, errors, output)


def _labelled(
    sources: list[Path], evaluator: str | None, hold_out: float
) -> tuple[LabelledPositions, LabelledPositions]:
    """What is learned from and what is held out, of studies and of records."""
    studies = [source for source in sources if (source / DESCRIPTION).exists()]
    records = [source for source in sources if source not in studies]
    if evaluator is not None and not studies:
        raise Error("--evaluator is for a study; records have what their players said")
    parts = []
    for source in studies:
        study = Study.open(source)
        parts.append(
            tuple(
                LabelledPositions.of_study(study, evaluator, hold_out=hold_out, held_out=apart)
                for apart in (False, True)
            )
        )
    if records:
        parts.append(tuple(map(LabelledPositions.of_records, split(games_of(records), hold_out))))
    learned, held_out = (reduce(add, each) for each in zip(*parts, strict=True))
    if not len(learned):
        raise Error(
            "no position of these games has a value: the players of a match say some if they "
            "search (uct:playouts=500), and `hyoka evaluate` gives a study's positions some"
        )
    return learned, held_out


def _tell(trained: TrainedPerceptrons, games: int, errors: list[PlyError], output: Path) -> None:
    networks = trained.networks
    out.print(
        f"{len(networks.plies)} networks for {networks.plies[0]} to {networks.plies[-1]} pieces "
        f"laid, from {trained.positions:,} different positions of {games:,} games",
        markup=False,
    )
    if errors:
        table = plain_table("pieces laid", "held out", "MSE", "of the mean", right=range(4))
        for each in errors:
            table.add_row(
                str(each.ply), f"{each.positions:,}", f"{each.squared:.4f}", f"{each.variance:.4f}"
            )
        out.print(table)
    limits = "uct:preset=paper,playouts=1000"
    words = ["hyoka", "match", f"new={limits},prior=40,eval={output}", f"old={limits}"]
    words += ["--game", networks.game]
    out.print(f"try it: {shlex.join(words)}", style="dim", markup=False)
