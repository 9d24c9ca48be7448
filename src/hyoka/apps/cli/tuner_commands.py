# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn tune`: weights of user-defined features."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.apps.cli.output import (
    AsJson,
    Quiet,
    command_line,
    out,
    plain_table,
    print_json,
    progress_bars,
)
from hyoka.apps.cli.study_commands import Where
from hyoka.apps.cli.weight_commands import (
    Draws,
    HoldOut,
    Methods,
    Outputs,
    Seed,
    Start,
    methods_of,
    output_files,
)
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

Features = Annotated[
    Path,
    typer.Argument(
        metavar="FEATURES",
        help="CSV or Parquet: rows by game_id and ply or by position in the study, or without a "
        "study with result and game_id; all other columns are features.",
        show_default=False,
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        metavar="NAME",
        help="A column that is a feature, repeatable, patterns too; else all that are left.",
    ),
]
Phase = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN[,OPENING,ENDING]",
        help="Taper: a weight in the opening and one in the ending, by this column, e.g. "
        "phase,24,0; 0 and 1 unless said.",
    ),
]
Freeze = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A feature that keeps its weight of --from, repeatable; patterns too.",
    ),
]
Bound = Annotated[
    list[str] | None,
    typer.Option(
        "--bound",
        metavar="NAME=LOW,HIGH",
        help="The least and the most that weights may be, repeatable; leave one out: mobility=0,",
    ),
]
Plain = Annotated[
    list[str] | None,
    typer.Option(
        "--untapered",
        metavar="NAME",
        help="A feature with one weight in spite of --phase, repeatable; patterns too.",
    ),
]
L1 = Annotated[
    float,
    typer.Option("--l1", min=0, help="Penalty of |weight|: many are 0."),
]
L2 = Annotated[
    float,
    typer.Option("--l2", min=0, help="Penalty of weight²: none grows wild."),
]
Scale = Annotated[
    float | None,
    typer.Option(min=1e-9, help="The score that turns odds by e; found if possible."),
]
Anchor = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=WEIGHT",
        help="Set the scale by the weight of one feature, e.g. pawn=100. With --phase the "
        "feature has this weight in the opening and in the ending.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="A score that the features are added to."),
]
Toward = Annotated[
    str | None,
    typer.Option(
        metavar="EVALUATOR|COLUMN",
        help="Fit also to what another evaluator says: one of the study, or a column (value 0 to "
        "1, else scores).",
    ),
]
Mix = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="How much of the target is the result, the rest being --toward; 0.5 beside it.",
        show_default=False,
    ),
]


def learn_tune_command(
    context: typer.Context,
    features: Features,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="STUDY", help="The study that the features describe."),
    ] = None,
    chosen: Chosen = None,
    phase: Phase = None,
    untapered: Plain = None,
    freeze: Freeze = None,
    bounds: Bound = None,
    l1: L1 = 0.0,
    l2: L2 = 0.0,
    scale: Scale = None,
    anchor: Anchor = None,
    base: Base = None,
    toward: Toward = None,
    mix: Mix = None,
    methods: Methods = None,
    weights: Start = None,
    where: Where = None,
    draws: Draws = "half",
    hold_out: HoldOut = 0.2,
    seed: Seed = 0,
    outputs: Outputs = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tune the weights of your own engine's features.

    The features are columns of a table, with a row for each position. Weights are written as JSON,
    CSV or a C header.

    For example: hyoka learn tune features.csv --phase phase,24,0 -o weights.h
    """
    names = methods_of(methods)
    files = output_files(outputs, names, kinds=("weights", "formula", CODE), endings=ENDINGS)
    check_distinct([file for each in files.values() for file in each])
    if mix is None:
        mix = 1.0 if toward is None else 0.5
    anchored = None
    if anchor is not None:
        name, weight = _pair(anchor, "--anchor")
        anchored = name, _number(weight, "--anchor")
    plan = TuningPlan(
        start={} if weights is None else read_weights(weights),
        frozen=freeze or [],
        untapered=untapered or [],
        bounds=dict(_bounds(text) for text in bounds or []),
        l1=l1,
        l2=l2,
        scale=scale,
        anchor=anchored,
        mix=mix,
        hold_out=hold_out,
        seed=seed,
    )
    columns = _columns(chosen, phase, base, toward)
    opened = None if study is None else Study.open(study)
    with progress_bars(quiet or as_json) as progress:
        table = feature_table(
            features, opened, columns, where=where, draws=draws, progress=progress
        )
        fits = {
            method: tune_weights(table, replace(plan, method=method), progress=progress)
            for method in names
        }
    for method, fit in fits.items():
        for file in files[method]:
            fit.save(file, command=command_line(context))
    if as_json:
        print_json([fit.as_json() | {"left_out": table.left_out} for fit in fits.values()])
        return
    _print_table(table)
    for method, fit in fits.items():
        _print_fit(fit, files[method])


def _columns(
    chosen: list[str] | None, phase: str | None, base: str | None, toward: str | None
) -> TableColumns:
    name, *ends = (phase or "").split(",")
    if phase is not None and len(ends) not in (0, 2):
        raise typer.BadParameter(f"'{phase}' is no phase such as phase or phase,24,0")
    opening, ending = (_number(end, "--phase") for end in ends or ("0", "1"))
    return TableColumns(
        features=chosen or [],
        phase=name or None,
        opening=opening,
        ending=ending,
        base=base,
        toward=toward,
    )


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


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, rest = text.rpartition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{option} is NAME=…, not '{text}'")
    return name, rest


def _bounds(text: str) -> tuple[str, tuple[float, float]]:
    name, rest = _pair(text, "--bound")
    low, comma, high = rest.partition(",")
    if not comma:
        raise typer.BadParameter(f"--bound is NAME=LOW,HIGH, not '{text}'")
    least = _number(low, "--bound") if low.strip() else -math.inf
    most = _number(high, "--bound") if high.strip() else math.inf
    return name, (least, most)


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise typer.BadParameter(f"{option}: '{text}' is no number")
    return number
