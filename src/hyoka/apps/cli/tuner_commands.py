# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn weights --features FILE`: weights of user-defined features."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.analysis.sample import DrawnGames
from hyoka.apps.cli.output import out, plain_table, print_json, progress_bars
from hyoka.foundation.errors import Error
from hyoka.learning import (
    FeatureTable,
    Method,
    TableColumns,
    TunedWeights,
    TuningPlan,
    feature_table,
    read_weights,
    tune_weights,
)
from hyoka.study import Study

PANEL = "With --features"

Features = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Features of your own, CSV or Parquet: rows by game_id and ply or by position in the "
        "study, or without a study with result and game_id; all other columns are features.",
        rich_help_panel=PANEL,
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        metavar="NAME",
        help="A column that is a feature, repeatable, patterns too; else all that are left.",
        rich_help_panel=PANEL,
    ),
]
Phase = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN[,OPENING,ENDING]",
        help="Taper: a weight in the opening and one in the ending, by this column, e.g. "
        "phase,24,0; 0 and 1 unless said.",
        rich_help_panel=PANEL,
    ),
]
Freeze = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A feature that keeps its weight of --from, repeatable; patterns too.",
        rich_help_panel=PANEL,
    ),
]
Bound = Annotated[
    list[str] | None,
    typer.Option(
        "--bound",
        metavar="NAME=LOW,HIGH",
        help="The least and the most that weights may be, repeatable; leave one out: mobility=0,",
        rich_help_panel=PANEL,
    ),
]
Plain = Annotated[
    list[str] | None,
    typer.Option(
        "--untapered",
        metavar="NAME",
        help="A feature with one weight in spite of --phase, repeatable; patterns too.",
        rich_help_panel=PANEL,
    ),
]
L1 = Annotated[
    float,
    typer.Option("--l1", min=0, help="Penalty of |weight|: many are 0.", rich_help_panel=PANEL),
]
L2 = Annotated[
    float,
    typer.Option("--l2", min=0, help="Penalty of weight²: none grows wild.", rich_help_panel=PANEL),
]
Scale = Annotated[
    float | None,
    typer.Option(
        min=1e-9, help="The score that turns odds by e; found if possible.", rich_help_panel=PANEL
    ),
]
Anchor = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=WEIGHT",
        help="Set the scale by the weight of one feature, e.g. pawn=100. With --phase the "
        "feature has this weight in the opening and in the ending.",
        rich_help_panel=PANEL,
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A score that the features are added to.", rich_help_panel=PANEL
    ),
]
Toward = Annotated[
    str | None,
    typer.Option(
        metavar="EVALUATOR|COLUMN",
        help="Fit also to what another evaluator says: one of the study, or a column (value 0 to "
        "1, else scores).",
        rich_help_panel=PANEL,
    ),
]
Mix = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="How much of the target is the result, the rest being --toward; 0.5 beside it.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """Options for user-defined features."""

    features: Path
    chosen: Sequence[str]
    phase: str | None
    untapered: Sequence[str]
    freeze: Sequence[str]
    bounds: Sequence[str]
    l1: float
    l2: float
    scale: float | None
    anchor: str | None
    base: str | None
    toward: str | None
    mix: float | None
    weights: Path | None
    where: str | None
    draws: DrawnGames
    hold_out: float
    seed: int

    def columns(self) -> TableColumns:
        """Build the description of the table's columns."""
        name, *ends = (self.phase or "").split(",")
        if self.phase is not None and len(ends) not in (0, 2):
            raise typer.BadParameter(f"'{self.phase}' is no phase such as phase or phase,24,0")
        opening, ending = (_number(end, "--phase") for end in ends or ("0", "1"))
        return TableColumns(
            features=self.chosen,
            phase=name or None,
            opening=opening,
            ending=ending,
            base=self.base,
            toward=self.toward,
        )

    def plan(self, method: Method) -> TuningPlan:
        """Build the fit's plan."""
        mix = self.mix
        if mix is None:
            mix = 1.0 if self.toward is None else 0.5
        anchor = None
        if self.anchor is not None:
            name, weight = _pair(self.anchor, "--anchor")
            anchor = name, _number(weight, "--anchor")
        return TuningPlan(
            method=method,
            start={} if self.weights is None else read_weights(self.weights),
            frozen=self.freeze,
            untapered=self.untapered,
            bounds=dict(_bounds(text) for text in self.bounds),
            l1=self.l1,
            l2=self.l2,
            scale=self.scale,
            anchor=anchor,
            mix=mix,
            hold_out=self.hold_out,
            seed=self.seed,
        )


def tune(
    options: TuningOptions,
    study: Study | None,
    methods: Sequence[Method],
    files_of: Callable[[Method], Sequence[Path]],
    *,
    command: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit weights of a table's features, write them, and print the result."""
    with progress_bars(quiet or as_json) as progress:
        table = feature_table(
            options.features,
            study,
            options.columns(),
            where=options.where,
            draws=options.draws,
            progress=progress,
        )
        fits = {
            method: tune_weights(table, options.plan(method), progress=progress)
            for method in methods
        }
    for method, fit in fits.items():
        for file in files_of(method):
            fit.save(file, command=command)
    if as_json:
        print_json([fit.as_json() | {"left_out": table.left_out} for fit in fits.values()])
        return
    _print_table(table)
    for method, fit in fits.items():
        _print_fit(fit, files_of(method))


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


def refuse_without_features(given: dict[str, object]) -> None:
    """Raise Error for an option that needs features if there are none."""
    for name, value in given.items():
        if value:
            raise Error(f"{name} is for features of your own: name their file with --features")
