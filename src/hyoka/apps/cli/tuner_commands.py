# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn tune`: weights of user-defined features."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from hyoka.apps.cli.command_options import Plan, Where
from hyoka.apps.cli.output import answered, command_line, out, plain_table, progress_bars
from hyoka.apps.cli.weight_commands import (
    Draws,
    Methods,
    Outputs,
    Start,
    methods_of,
    output_files,
)
from hyoka.foundation.options import read_range
from hyoka.learning import (
    FeatureTable,
    TableColumns,
    TunedWeights,
    TuningPlan,
    feature_table,
    read_weights,
    tune_weights,
)
from hyoka.learning.tuner import ENDINGS
from hyoka.storage.outputs import CODE, check_distinct
from hyoka.study import Study


def learn_tune_command(
    context: typer.Context,
    features: Annotated[
        Path,
        typer.Argument(
            metavar="FEATURES",
            help="CSV or Parquet: rows by game_id and ply or by position in the study, or without "
            "a study with result and game_id; all other columns are features.",
            show_default=False,
        ),
    ],
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="STUDY", help="The study that the features describe."),
    ] = None,
    columns: Annotated[
        Callable[..., TableColumns], Plan(TableColumns, names={"features": "feature"})
    ] = TableColumns,
    phase: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN[,OPENING,ENDING]",
            help="Taper: a weight in the opening and one in the ending, by this column and its "
            "values there, such as phase,24,0; by default 0 and 1.",
        ),
    ] = None,
    plan: Annotated[Callable[..., TuningPlan], Plan(TuningPlan, without=("mix",))] = TuningPlan,
    mix: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Weight of the result in the target, beside --toward; by default 0.5.",
            show_default=False,
        ),
    ] = None,
    methods: Methods = None,
    weights: Start = None,
    where: Where = None,
    draws: Draws = "half",
    outputs: Outputs = None,
) -> None:
    """Tune the weights of your own engine's features.

    The features are columns of a table, with a row for each position. Weights are written as JSON,
    CSV or a C header.

    For example: hyoka learn tune features.csv --phase phase,24,0 -o weights.h
    """
    names = methods_of(methods)
    files = output_files(outputs, names, kinds=("weights", "formula", CODE), endings=ENDINGS)
    check_distinct([file for each in files.values() for file in each])
    described = columns(**_phase(phase))
    if mix is None:
        mix = 1.0 if described.toward is None else 0.5
    settings = plan(start={} if weights is None else read_weights(weights), mix=mix)
    opened = None if study is None else Study.open(study)
    with progress_bars() as progress:
        table = feature_table(
            features, opened, described, where=where, draws=draws, progress=progress
        )
        fits = {
            method: tune_weights(table, replace(settings, method=method), progress=progress)
            for method in names
        }
    for method, fit in fits.items():
        for file in files[method]:
            fit.save(file, command=command_line(context))
    if answered([fit.as_json() | {"left_out": table.left_out} for fit in fits.values()]):
        return
    _print_table(table)
    for method, fit in fits.items():
        _print_fit(fit, files[method])


def _phase(text: str | None) -> dict[str, Any]:
    """Read COLUMN or COLUMN,OPENING,ENDING."""
    if text is None:
        return {}
    name, *ends = text.split(",")
    if len(ends) not in (0, 2):
        raise typer.BadParameter(f"'{text}' is no phase such as phase or phase,24,0")
    opening, ending = read_range(",".join(ends)) if ends else (0.0, 1.0)
    return {"phase": name, "opening": opening, "ending": ending}


def _print_table(table: FeatureTable) -> None:
    out.print(
        f"{len(table):,} positions, {len(table.names):,} features; {table.source}",
        markup=False,
        soft_wrap=True,
    )
    if table.mixed_games:
        out.print(
            f"{table.mixed_games:,} games have several results: a game's result is the first "
            "player's, whichever side moves",
            style="yellow",
            soft_wrap=True,
        )
    if table.left_out:
        out.print(
            f"left out: {table.left_out:,} that are not of the positions asked for, or of games "
            "without a result that counts (--draws)",
            style="dim",
            soft_wrap=True,
        )


def _print_fit(fit: TunedWeights, files: Sequence[Path]) -> None:
    error = f" ± {fit.scale_error:.2g}" if fit.scale_error else ""
    out.print(
        f"\n{fit.method.upper()}: {fit.positions:,} positions of {fit.games:,} games in "
        f"{fit.steps} steps; scale {fit.scale:.4g}{error} {fit.unit}",
        markup=False,
    )
    table = plain_table("", "weight", "±", "interval", "formerly", right=range(1, 5))
    for each in fit.weights():
        sure = not math.isnan(each.error)
        table.add_row(
            escape(each.name),
            f"{each.weight:.4g}",
            f"{each.error:.2g}" if sure else "held",
            f"{each.low:.4g} to {each.high:.4g}" if sure else "",
            "" if each.former is None else f"{each.former:.4g}",
        )
    for feature in fit.features:
        if feature.frozen:
            weights = " … ".join(f"{each:.4g}" for each in dict.fromkeys(feature.pair))
            table.add_row(escape(feature.name), weights, "frozen", "", "")
    out.print(table)
    if fit.changes:
        out.print(
            f"\nheld out: {fit.held_out_positions:,} positions of {fit.held_out_games:,} games"
        )
        changes = plain_table("", "before", "after", "change", right=range(1, 4))
        for change in fit.changes:
            difference = change.difference.text("+.5f")
            changes.add_row(
                change.measure, f"{change.before:.5f}", f"{change.after:.5f}", difference
            )
        out.print(changes)
    for file in files:
        out.print(f"\nwritten to {file}", markup=False, soft_wrap=True)
