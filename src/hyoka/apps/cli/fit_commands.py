# SPDX-License-Identifier: Apache-2.0
"""Commands that fit weights and calibrations to a study's games."""

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from hyoka.analysis import FORMATS, Resampling
from hyoka.analysis.sample import DrawnGames
from hyoka.apps.cli.analyze_commands import print_results
from hyoka.apps.cli.command_options import (
    FORMATTED_OUTPUT,
    Output,
    Plan,
    StudyPath,
    Where,
    check_outputs,
    option,
)
from hyoka.apps.cli.output import (
    answered,
    command_line,
    hint,
    match_hint,
    out,
    plain_table,
    print_table,
    progress_bars,
    tell,
)
from hyoka.foundation.errors import Error
from hyoka.foundation.options import read_range
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.learning import (
    METHODS,
    ColumnPlan,
    Examples,
    FeatureTable,
    HeldOut,
    Method,
    PositionSelection,
    TableColumns,
    TermPlan,
    TunedWeights,
    TuningPlan,
    WeightFit,
    WeightPlan,
    column_examples,
    feature_table,
    fit_weights,
    held_out_rows,
    read_weights,
    term_examples,
    tune_weights,
)
from hyoka.learning.recalibration import CalibrationPlan, learn_calibration
from hyoka.learning.tuner import ENDINGS
from hyoka.storage.model_file import Origin
from hyoka.storage.outputs import CODE, PAGE, PICTURE, TABLE, check_distinct
from hyoka.study import Study

Methods = Annotated[
    list[str] | None,
    option("--method", metavar="mlm|ls", show_default=False),
]
Start = Annotated[Path | None, option("--from", metavar="FILE")]
Draws = Annotated[DrawnGames, option("--draws")]
Selection = Annotated[Callable[..., PositionSelection], Plan(PositionSelection)]
Fit = Annotated[Callable[..., WeightPlan], Plan(WeightPlan, without=("method", "seed"))]
Outputs = Annotated[
    list[Path] | None,
    Output(derived=True),
    option("--output", FORMATTED_OUTPUT, metavar="FILE"),
]
CurveFile = Annotated[
    Path | None,
    Output(derived=True),
    typer.Option(
        "--curves",
        metavar="FILE",
        help="Write the curves before and after the fit, for all positions and for those with a "
        "large or small term: .html, .png, .svg, .csv, .json or .parquet.",
    ),
]


def learn_weights_command(
    context: typer.Context,
    study: StudyPath,
    terms: Annotated[Callable[..., TermPlan], Plan(TermPlan)] = TermPlan,
    methods: Methods = None,
    weights: Start = None,
    selection: Selection = PositionSelection,
    plan: Fit = WeightPlan,
    outputs: Outputs = None,
    start_output: Annotated[
        Path | None,
        Output(("weights",)),
        typer.Option("--save-start", metavar="FILE", help="Write the initial weights."),
    ] = None,
    curves_output: CurveFile = None,
) -> None:
    """Fit weights of the game's evaluation to game results.

    Intervals come from a cluster bootstrap over games; metrics and slices use held-out games.
    Features of your own: `hyoka learn tune`; SQL columns added to any evaluator's score: `hyoka
    learn offsets`.

    For example: hyoka learn weights study --term mobility -o weights.json
    """

    def examples(opened: Study, progress: OnProgress) -> Examples:
        return term_examples(
            opened,
            chosen.terms,
            positions,
            shape=chosen.shape,
            off=chosen.off,
            weights=weights,
            quiet=False if chosen.static else None,
            progress=progress,
        )

    chosen, positions = terms(), selection()
    fit = _Fit(command_line(context), methods, outputs, curves_output, plan(seed=positions.seed))
    fit.run(study, examples, start_output)


def learn_offsets_command(
    context: typer.Context,
    study: StudyPath,
    evaluator: Annotated[str, option("--evaluator", metavar="SPEC", show_default=False)],
    columns: Annotated[Callable[..., ColumnPlan], Plan(ColumnPlan)] = ColumnPlan,
    methods: Methods = None,
    selection: Selection = PositionSelection,
    plan: Fit = WeightPlan,
    outputs: Outputs = None,
    curves_output: CurveFile = None,
) -> None:
    """Fit SQL columns that are added to an evaluator's score.

    They show what an engine's score lacks, in its own unit: a bonus for each column.

    For example: hyoka learn offsets study -e comments --column bishop_pair
    """

    def examples(opened: Study, _: OnProgress) -> Examples:
        return column_examples(opened, evaluator, columns().columns, positions)

    positions = selection()
    fit = _Fit(command_line(context), methods, outputs, curves_output, plan(seed=positions.seed))
    fit.run(study, examples, None)


class _Fit:
    """A fit by each method: output files, curves, and printing."""

    def __init__(
        self,
        command: str,
        methods: list[str] | None,
        outputs: list[Path] | None,
        curves_output: Path | None,
        plan: WeightPlan,
    ) -> None:
        self._command = command
        self._methods = methods_of(methods)
        self._files = output_files(outputs, self._methods, kinds=("weights", "formula", CODE))
        self._curves = _files(curves_output, self._methods)
        self._plan = plan
        _check_curves(list(self._curves.values()), plan.hold_out)

    def run(
        self,
        study: Path,
        examples_of: Callable[[Study, OnProgress], Examples],
        start_output: Path | None,
    ) -> None:
        own_files = [file for files in self._files.values() for file in files]
        check_distinct([*own_files, *self._curves.values(), *filter(None, [start_output])])
        opened = Study.open(study)
        with progress_bars() as progress:
            examples = examples_of(opened, progress)
            plan = self._plan
            fits = {
                method: fit_weights(examples, method, hold_out=plan.hold_out, seed=plan.seed)
                for method in self._methods
            }
        for method, fit in fits.items():
            for file in self._files[method]:
                fit.save(file, command=self._command)
            if method in self._curves:
                _save_curves(fit, self._curves[method])
        if start_output is not None and examples.start is not None:
            examples.start.save(start_output, Origin(self._command))
        if answered([_as_json(fit, examples, self._files[method]) for method, fit in fits.items()]):
            return
        _print_examples(examples)
        for method, fit in fits.items():
            _print_fit(fit, self._files[method], start_output)


def output_files(
    outputs: list[Path] | None,
    methods: list[Method],
    *,
    kinds: Sequence[str],
    endings: Sequence[str] = (),
) -> dict[Method, list[Path]]:
    """Check the outputs, and return those of each method."""
    files = [_files(each, methods) for each in outputs or []]
    check_outputs(*(file for each in files for file in each.values()), kinds=kinds, endings=endings)
    return {method: [each[method] for each in files] for method in methods}


def methods_of(names: list[str] | None) -> list[Method]:
    """Return the methods by name, each once; by default maximum likelihood."""
    names = names or ["mlm"]
    for name in names:
        if name not in METHODS:
            raise Error(f"no method '{name}'; known: {', '.join(METHODS)}")
    return [method for method in METHODS if method in names]


def _files(output: Path | None, methods: list[Method]) -> dict[Method, Path]:
    """Return the output of each method; with several, the method is part of the name."""
    if output is None:
        return {}
    if len(methods) == 1 or not output.name:  # the caller reports the missing name
        return dict.fromkeys(methods, output)
    return {
        method: output.with_name(f"{output.stem}-{method}{output.suffix}") for method in methods
    }


def _check_curves(files: list[Path], hold_out: float) -> None:
    check_outputs(*files, kinds=(PAGE, PICTURE, TABLE), endings=FORMATS)
    if files and not hold_out:
        raise Error("--curves draws held-out games, but there are none: set --hold-out above 0")


def _save_curves(fit: WeightFit, file: Path) -> None:
    if fit.held_out is None:
        raise Error("--curves draws held-out games, but no game was held out")
    fit.held_out.curves().save(file)


def _as_json(fit: WeightFit, examples: Examples, files: Sequence[Path]) -> dict[str, object]:
    return fit.as_json() | {
        "quiet": examples.quiet,
        "undecided": examples.undecided,
        "unscored": examples.unscored,
        "file": str(files[0]) if files else None,
    }


def _print_examples(examples: Examples) -> None:
    at_rest = " (leaves of quiescence searches)" if examples.quiet else ""
    tell(f"{len(examples):,} positions{at_rest}; {examples.source}")
    left_out = [
        f"{count:,} {why}"
        for count, why in (
            (examples.undecided, "of drawn games or without a result"),
            (examples.unscored, "with a mate or a finished game"),
        )
        if count
    ]
    if left_out:
        hint(f"excluded: {', '.join(left_out)}")


def _print_fit(fit: WeightFit, files: Sequence[Path], start: Path | None) -> None:
    out.print()
    tell(
        f"{fit.method.upper()}: {fit.positions:,} positions of {fit.games:,} games; "
        f"scale {fit.scale:.4g} ± {fit.scale_error:.2g} {fit.unit} "
        f"(before: {fit.scale_before:.4g})"
    )
    table = plain_table("", "weight", "±", "interval", "initial", "ratio", right=range(1, 6))
    for each in fit.weights:
        ratio = f"{each.weight / each.former:.2f}" if each.former else ""
        table.add_row(
            escape(each.name),
            f"{each.weight:.4g}",
            f"{each.error:.2g}",
            f"{each.low:.4g} to {each.high:.4g}",
            "" if each.former is None else f"{each.former:.4g}",
            ratio,
        )
    out.print(table)
    if fit.held_out is not None:
        _print_held_out(fit.held_out)
    for file in files:
        _print_next(fit, file, start)


def _print_held_out(apart: HeldOut) -> None:
    about = apart.comparison.one
    out.print(f"\nheld-out: {about.positions:,} positions of {about.games:,} games")
    print_table(("", "before", "after", "change"), held_out_rows(apart), right=range(1, 4))
    if apart.gap_changes:
        rows = [
            (gap.condition, f"{gap.positions:,}", f"{gap.games:,}", str(gap.before), str(gap.after))
            for gap in apart.gap_changes
        ]
        print_table(("slice", "positions", "games", "before", "after"), rows, right=range(1, 5))


def _print_next(fit: WeightFit, file: Path, start: Path | None) -> None:
    tell(f"\nwritten to {file}")
    if fit.evaluation is None:
        return
    old = "ab" if start is None else f"ab:eval={start}"
    command = match_hint(f"ab:eval={file}", old, fit.game, "--games", "1000", "--sprt", "0,5")
    tell(f"test whether it plays better: {command}")


def learn_calibration_command(
    context: typer.Context,
    study: StudyPath,
    evaluator: Annotated[str | None, option("--evaluator", metavar="NAME")] = None,
    plan: Annotated[Callable[..., CalibrationPlan], Plan(CalibrationPlan)] = CalibrationPlan,
    resamples: Annotated[int, option("--resamples", min=0, max=100_000)] = 1000,
    output: Annotated[
        Path, Output(("calibration",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("calibration.json"),
) -> None:
    """Learn the map from an evaluator's values or scores to expected scores.

    The output compares the expected scores before and after on held-out games: log-loss, Brier loss
    and calibration error (ECE). Any evaluator takes the map: --calibrated-by FILE of `hyoka study
    evaluate`, or calibration=FILE in a spec. `hyoka model show FILE -o x.c` exports it.

    For example: hyoka learn calibration study -e comments --map platt
    """
    chosen = plan()
    opened = Study.open(study)
    with progress_bars() as progress:
        tally = Tally(progress, "calibration", 1, "steps")
        learned = learn_calibration(
            opened,
            evaluator,
            chosen,
            command=command_line(context),
            resampling=Resampling(resamples, chosen.seed),
        )
        tally.add()
    learned.model.save(output)
    if answered(
        {
            "evaluator": learned.evaluator,
            "map": learned.model.map.name,
            "games": learned.games,
            "positions": learned.positions,
            "held_out_games": learned.held_out_games,
            "held_out_positions": learned.held_out_positions,
            "tests": learned.rows(),
            "notes": list(learned.notes()),
            "file": str(output),
        }
    ):
        return
    print_results([learned])
    spec = shlex.quote(str(output))
    hint(f"use it: hyoka study evaluate STUDY --with SPEC --calibrated-by {spec}")


def learn_tune_command(
    context: typer.Context,
    features: Annotated[
        Path,
        typer.Argument(
            metavar="FEATURES",
            help="CSV or Parquet file. With --study, game_id and ply, or position, identify the "
            "rows; otherwise result and game_id are columns. All other columns are features.",
            show_default=False,
        ),
    ],
    study: Annotated[
        Path | None,
        typer.Option(
            "--study", metavar="STUDY", help="Study whose positions the features describe."
        ),
    ] = None,
    columns: Annotated[
        Callable[..., TableColumns], Plan(TableColumns, names={"features": "feature"})
    ] = TableColumns,
    phase: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN[,OPENING,ENDING]",
            help="Fit a weight for the opening and one for the ending, tapered by this column; "
            "OPENING and ENDING are its values there (phase,24,0), by default 0 and 1.",
        ),
    ] = None,
    plan: Annotated[
        Callable[..., TuningPlan], Plan(TuningPlan, without=("method", "mix"))
    ] = TuningPlan,
    mix: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="With --toward: weight of the result in the target; by default 0.5.",
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
        _print_tuned(fit, files[method])


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
    tell(f"{len(table):,} positions, {len(table.names):,} features; {table.source}")
    if table.mixed_games:
        out.print(
            f"{table.mixed_games:,} games have several results: a game's result is the first "
            "player's, whichever side moves",
            style="yellow",
            soft_wrap=True,
        )
    if table.left_out:
        hint(
            f"excluded: {table.left_out:,} positions that are not selected, or whose game has no "
            "result or is drawn (--draws)"
        )


def _print_tuned(fit: TunedWeights, files: Sequence[Path]) -> None:
    error = f" ± {fit.scale_error:.2g}" if fit.scale_error else ""
    tell(
        f"\n{fit.method.upper()}: {fit.positions:,} positions of {fit.games:,} games in "
        f"{fit.steps} steps; scale {fit.scale:.4g}{error} {fit.unit}"
    )
    table = plain_table("", "weight", "±", "interval", "initial", right=range(1, 5))
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
            f"\nheld-out: {fit.held_out_positions:,} positions of {fit.held_out_games:,} games"
        )
        changes = plain_table("", "before", "after", "change", right=range(1, 4))
        for change in fit.changes:
            difference = change.difference.text("+.5f")
            changes.add_row(
                change.measure, f"{change.before:.5f}", f"{change.after:.5f}", difference
            )
        out.print(changes)
    for file in files:
        tell(f"\nwritten to {file}")
