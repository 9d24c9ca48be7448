# SPDX-License-Identifier: Apache-2.0
"""The command that fits weights to a study's games."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.analysis import FORMATS
from hyoka.analysis.sample import DrawnGames
from hyoka.apps.cli import tuner_commands as tuning
from hyoka.apps.cli.output import (
    AsJson,
    Quiet,
    command_line,
    out,
    plain_table,
    print_json,
    progress_bars,
)
from hyoka.apps.cli.output_files import Output, check_outputs
from hyoka.apps.cli.study_commands import Where
from hyoka.foundation.errors import Error
from hyoka.learning import (
    METHODS,
    Examples,
    HeldOut,
    Method,
    PositionSelection,
    Shape,
    WeightFit,
    column_examples,
    fit_weights,
    held_out_rows,
    term_examples,
)
from hyoka.learning.tuned_weights import ENDINGS
from hyoka.storage.model_file import Origin
from hyoka.storage.outputs import CODE, PAGE, PICTURE, TABLE, check_distinct
from hyoka.study import Study


def weights_command(
    context: typer.Context,
    study: Annotated[
        Path | None,
        typer.Argument(metavar="[STUDY]", help="A study; --features may do without."),
    ] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option(
            "--term",
            metavar="NAME",
            help="A term of the game's evaluation, repeatable; patterns such as 'bishop_*' too.",
        ),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            "--evaluator",
            metavar="SPEC",
            help="Whose scores the columns are added to: as `hyoka evaluate --with` had it, or as "
            "the study names it.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="SQL",
            help='A column of positions to add, repeatable; expressions too: "passed * phase".',
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="mlm|ls",
            help="mlm: greatest likelihood (if none is named); ls: least squares; repeatable.",
            show_default=False,
        ),
    ] = None,
    shape: Annotated[
        Shape,
        typer.Option(
            "--as",
            help="phases: a weight for the opening and one for the ending; one: the same for both; "
            "ending: only the ending's; factor: all terms as they are, times one number.",
        ),
    ] = "phases",
    off: Annotated[
        bool, typer.Option("--off", help="Begin with the terms turned off, not as they are.")
    ] = False,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Begin with these weights, not the built-in ones."
        ),
    ] = None,
    static: Annotated[
        bool,
        typer.Option(
            "--static",
            help="Take positions as they are, not where a quiescence search comes to rest.",
        ),
    ] = False,
    where: Where = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Number of positions of each game, chosen by --seed."
        ),
    ] = None,
    draws: Annotated[
        DrawnGames | None,
        typer.Option(
            help="drop: leave drawn games out; half: count them as half won, as tuners do and "
            "--features does by default."
        ),
    ] = None,
    hold_out: Annotated[
        float, typer.Option(min=0, max=0.9, help="The share of games to measure on, not to fit on.")
    ] = 0.2,
    seed: Annotated[
        int, typer.Option(min=0, help="Chooses the sample and the games held out.")
    ] = 0,
    outputs: Annotated[
        list[Path] | None,
        Output(derived=True),
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the weights for ab:eval=FILE; of --features also .csv or .h; again for "
            "another file; with several methods, FILE-METHOD each.",
        ),
    ] = None,
    start_output: Annotated[
        Path | None,
        Output(("weights",)),
        typer.Option(
            "--save-start",
            metavar="FILE",
            help="Write the weights it begins with, to play against.",
        ),
    ] = None,
    curves_output: Annotated[
        Path | None,
        Output(derived=True),
        typer.Option(
            "--curves",
            metavar="FILE",
            help="Write the evaluation curves before and after, of all positions and where a term "
            "is large or small: .html, .png, .svg, .csv, .json or .parquet.",
        ),
    ] = None,
    features: tuning.Features = None,
    feature_names: tuning.Chosen = None,
    phase: tuning.Phase = None,
    untapered: tuning.Plain = None,
    freeze: tuning.Freeze = None,
    bounds: tuning.Bound = None,
    l1: tuning.L1 = 0.0,
    l2: tuning.L2 = 0.0,
    scale: tuning.Scale = None,
    anchor: tuning.Anchor = None,
    base: tuning.Base = None,
    toward: tuning.Toward = None,
    mix: tuning.Mix = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit weights of an evaluation to the results of a study's games, and say what it changes.

    Fits terms of the game's own evaluation (--term), columns added to an evaluator's score
    (--evaluator, --column), or features of your own engine (--features), with or without a study.
    Errors and intervals are by games; metrics and splits use held-out games.

    For example: hyoka learn weights --features features.csv --phase phase,24,0 -o weights.h
    """
    chosen = _methods(methods or ["mlm"])
    files = [_files(each, chosen) for each in outputs or []]
    curve_files = _files(curves_output, chosen)
    own_files = [file for each in files for file in each.values()]
    endings = ENDINGS if features is not None else ()
    check_outputs(*own_files, kinds=("weights", "formula", CODE), endings=endings)
    _check_curves(list(curve_files.values()), hold_out)
    check_distinct([*own_files, *curve_files.values(), *filter(None, [start_output])])
    if features is not None:
        _refuse_with_features(terms, columns, evaluator, off, start_output, curves_output, sample)
        tuning.tune(
            tuning.TuningOptions(
                features=features,
                chosen=feature_names or [],
                phase=phase,
                untapered=untapered or [],
                freeze=freeze or [],
                bounds=bounds or [],
                l1=l1,
                l2=l2,
                scale=scale,
                anchor=anchor,
                base=base,
                toward=toward,
                mix=mix,
                weights=weights,
                where=where,
                draws=draws or "half",
                hold_out=hold_out,
                seed=seed,
            ),
            None if study is None else Study.open(study),
            chosen,
            lambda method: [each[method] for each in files],
            command=command_line(context),
            as_json=as_json,
            quiet=quiet,
        )
        return
    tuning.refuse_without_features(
        {
            "--feature": feature_names, "--phase": phase, "--untapered": untapered,
            "--freeze": freeze, "--bound": bounds, "--l1": l1, "--l2": l2, "--scale": scale,
            "--anchor": anchor, "--base": base, "--toward": toward, "--mix": mix is not None,
        }
    )  # fmt: skip
    if study is None:
        raise Error("name a study, or features of your own with --features")
    opened = Study.open(study)
    selection = PositionSelection(where=where, sample=sample, seed=seed, draws=draws or "drop")
    with progress_bars(quiet or as_json) as progress:
        if columns or evaluator is not None:
            _refuse_with_columns(terms, off, weights, start_output)
            if evaluator is None:
                raise Error("--column adds to an evaluator's score: name it with --evaluator")
            examples = column_examples(opened, evaluator, columns or [], selection)
        else:
            examples = term_examples(
                opened,
                terms or [],
                selection,
                shape=shape,
                off=off,
                weights=weights,
                quiet=False if static else None,
                progress=progress,
            )
        fits = {
            method: fit_weights(examples, method, hold_out=hold_out, seed=seed) for method in chosen
        }
    command = command_line(context)
    for method, file in (pair for each in files for pair in each.items()):
        fits[method].save(file, command=command)
    for method, file in curve_files.items():
        _save_curves(fits[method], file)
    if start_output is not None and examples.start is not None:
        examples.start.save(start_output, Origin(command))
    if as_json:
        written = {method: [each[method] for each in files] for method in fits}
        print_json([_as_json(fit, examples, written[method]) for method, fit in fits.items()])
        return
    _print_examples(examples)
    for method, fit in fits.items():
        _print_fit(fit, [each[method] for each in files], start_output)


def _methods(names: list[str]) -> list[Method]:
    """Return the methods by name, each once."""
    for name in names:
        if name not in METHODS:
            raise Error(f"no method '{name}'; there are {', '.join(METHODS)}")
    return [method for method in METHODS if method in names]


def _refuse_with_features(
    terms: list[str] | None,
    columns: list[str] | None,
    evaluator: str | None,
    off: bool,
    start_output: Path | None,
    curves_output: Path | None,
    sample: int | None,
) -> None:
    given = {
        "--term": terms,
        "--column": columns,
        "--evaluator": evaluator,
        "--off": off,
        "--save-start": start_output,
        "--curves": curves_output,
        "--sample": sample,
    }
    for name, value in given.items():
        if value:
            raise Error(f"{name} does not go with --features")


def _refuse_with_columns(
    terms: list[str] | None, off: bool, weights: Path | None, start_output: Path | None
) -> None:
    given = {"--term": terms, "--off": off, "--from": weights, "--save-start": start_output}
    for name, value in given.items():
        if value:
            raise Error(f"{name} is for terms of the game's evaluation, not for columns")


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
        raise Error("--curves draws the games that were held out: hold some out with --hold-out")


def _save_curves(fit: WeightFit, file: Path) -> None:
    if fit.held_out is None:
        raise Error("--curves draws the games that were held out: hold some out")
    fit.held_out.curves().save(file)


def _as_json(fit: WeightFit, examples: Examples, files: Sequence[Path]) -> dict[str, object]:
    return fit.as_json() | {
        "quiet": examples.quiet,
        "undecided": examples.undecided,
        "unscored": examples.unscored,
        "file": str(files[0]) if files else None,
    }


def _print_examples(examples: Examples) -> None:
    at_rest = ", where a quiescence search comes to rest" if examples.quiet else ""
    out.print(f"{len(examples):,} positions{at_rest}; {examples.source}", markup=False)
    left_out = [
        f"{count:,} {why}"
        for count, why in (
            (examples.undecided, "of drawn games or without a result"),
            (examples.unscored, "with a mate or a finished game"),
        )
        if count
    ]
    if left_out:
        out.print(f"left out: {', '.join(left_out)}", style="dim")


def _print_fit(fit: WeightFit, files: Sequence[Path], start: Path | None) -> None:
    out.print()
    out.print(
        f"{fit.method.upper()}: {fit.positions:,} positions of {fit.games:,} games; "
        f"scale {fit.scale:.4g} ± {fit.scale_error:.2g} {fit.unit} "
        f"(before: {fit.scale_before:.4g})",
        markup=False,
    )
    table = plain_table("", "weight", "±", "interval", "formerly", "ratio", right=range(1, 6))
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
    out.print(f"\nheld out: {about.positions:,} positions of {about.games:,} games")
    table = plain_table("", "before", "after", "change", right=range(1, 4))
    for row in held_out_rows(apart):
        table.add_row(*row)
    out.print(table)
    if apart.gap_changes:
        table = plain_table(
            "split where", "positions", "games", "before", "after", right=range(1, 5)
        )
        for gap in apart.gap_changes:
            table.add_row(
                escape(gap.condition),
                f"{gap.positions:,}",
                f"{gap.games:,}",
                str(gap.before),
                str(gap.after),
            )
        out.print(table)


def _print_next(fit: WeightFit, file: Path, start: Path | None) -> None:
    out.print(f"\nwritten to {file}", markup=False, soft_wrap=True)
    if fit.evaluation is None:
        return
    old = "old=ab" if start is None else f"old=ab:eval={start}"
    words = ["hyoka", "match", f"new=ab:eval={file}", old, "--game", fit.game]
    command = shlex.join([*words, "--games", "1000", "--sprt", "0,5"])
    out.print(f"whether it plays better: {command}", markup=False, soft_wrap=True)
