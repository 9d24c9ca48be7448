# SPDX-License-Identifier: Apache-2.0
"""The command that says what evaluations are worth: curves, metrics, splits, comparisons."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import typer
from rich.markup import escape

from hyoka.analysis import FORMATS, Curves, Link, Result, Splits
from hyoka.cli.output import AsJson, Quiet, out, plain_table, print_json, progress_bars
from hyoka.cli.studies import StudyPath, Where
from hyoka.progress import Progress
from hyoka.study import Study
from hyoka.study.analysing import Draws
from hyoka.study.measuring import Axis, chosen_evaluators

Bend = Annotated[
    str | None,
    typer.Option(
        metavar="SCORE|none",
        help="Where scores become probabilities, those beyond this one count as their logarithm; "
        "by default what games held out prefer.",
        show_default=False,
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        metavar="SCORE|none",
        help="Where scores become probabilities, those beyond this one count as this one; by "
        "default what games held out prefer.",
        show_default=False,
    ),
]


def link_of(bend: str | None, limit: str | None) -> Link | None:
    """The link that options ask for; what is not said is none, if the other is."""
    if bend is None and limit is None:
        return None
    return Link(_score("--bend", bend), _score("--limit", limit))


def _score(option: str, text: str | None) -> float:
    if text is None or text == "none":
        return math.inf
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise typer.BadParameter(f"{option} is a positive score or none, not '{text}'")
    return number


def analyse_command(
    study: StudyPath,
    evaluators: Annotated[
        list[str] | None,
        typer.Option(
            "--evaluator",
            "-e",
            metavar="NAME",
            help="An evaluator of the study, repeatable; all of them unless given. Several are "
            "measured on the positions that all of them evaluated.",
        ),
    ] = None,
    where: Where = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Part the positions by a column (or an SQL expression); `phase` is the early, "
            "middle and late third of the plies.",
        ),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="Where to cut the column of --by, e.g. 20,30,40."),
    ] = None,
    curves: Annotated[bool, typer.Option("--curves", help="Print the curves' points too.")] = False,
    splits: Annotated[
        bool,
        typer.Option(
            "--splits", help="Search all columns for the conditions where evaluations are wrong."
        ),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Paired differences of the first evaluator to the others."),
    ] = False,
    disagree: Annotated[
        bool,
        typer.Option(
            "--disagree", help="Where the first two evaluators differ most, and who was right."
        ),
    ] = False,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Constants of score → win probability; with --draws wdl of win and loss.",
        ),
    ] = False,
    draws: Annotated[
        str,
        typer.Option(help="discard, half, or wdl (for curves and --calibrate: wins and losses)."),
    ] = "discard",
    delta: Annotated[
        float | None,
        typer.Option(metavar="WIDTH", help="Width of the curves' bins, the paper's δ."),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            min=1e-6,
            metavar="ERROR",
            help="Bins grow until the standard error (by games) is so small.",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Bins grow until they hold so many positions."),
    ] = None,
    least: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Bins with fewer positions are left out; 100, or a fortieth of less than 4,000.",
            show_default=False,
        ),
    ] = None,
    bend: Bend = None,
    limit: Limit = None,
    axis: Annotated[
        str, typer.Option(help="What of an evaluation: value, score, or auto.")
    ] = "auto",
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|best",
            help="From here on a position is called won; 0.5 for values and 0 for scores.",
        ),
    ] = None,
    balance: Annotated[
        str | None,
        typer.Option(
            metavar="ply",
            help="`ply`: weigh each part's positions so that early and late ones are spread alike.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="For --splits: the columns to search; by default all that fit."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many splits or positions to list.")] = 10,
    fdr: Annotated[
        float, typer.Option(min=0.0001, max=0.9, help="False-discovery rate of --splits.")
    ] = 0.05,
    resamples: Annotated[
        int,
        typer.Option(min=0, max=100_000, help="How often games are drawn again; 0: no intervals."),
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=2**63, help="Draws the games.")] = 0,
    naive: Annotated[
        bool,
        typer.Option("--naive", help="Draw the bands that independent positions would have."),
    ] = False,
    save: Annotated[
        list[Path] | None,
        typer.Option(
            "--save",
            "-o",
            metavar="FILE",
            help="Write what was asked for (without --curves and the like, the metrics), "
            f"repeatable; {', '.join(FORMATS)}. Several results get names of their own.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what evaluations are worth: metrics and curves, with honest intervals.

    Positions of one game share its fate, so intervals draw whole games again. Without options:
    the metrics of every evaluator and what its curve is like. --splits finds where an evaluation
    is wrong; `hyoka report STUDY` draws it all.
    """
    opened = Study.open(study)
    names = chosen_evaluators(opened, evaluators)
    metrics_or_curves = not (splits or compare or disagree or calibrate) or curves
    _refuse_idle(
        ("--bins", bins, by is not None, "--by"),
        ("--by", by, metrics_or_curves or calibrate, "--curves or --calibrate"),
        ("--delta", delta, metrics_or_curves, "--curves"),
        ("--error", error, metrics_or_curves, "--curves"),
        ("--count", count, metrics_or_curves, "--curves"),
        ("--balance", balance, metrics_or_curves, "metrics (--curves)"),
        ("--naive", naive or None, metrics_or_curves, "--curves"),
        ("--threshold", threshold, metrics_or_curves or compare, "--compare or metrics"),
        ("--columns", columns, splits, "--splits"),
        ("--bend", bend, not splits or metrics_or_curves, "metrics, curves or --calibrate"),
        ("--limit", limit, not splits or metrics_or_curves, "metrics, curves or --calibrate"),
    )
    cuts = _numbers(bins)
    shown_draws = cast(Draws, _one_of("--draws", draws, get_args(Draws)))
    counted: Literal["discard", "half"] = "discard" if shown_draws == "discard" else "half"
    along = cast(Axis, _one_of("--axis", axis, get_args(Axis)))
    called_won = _threshold(threshold)
    link = link_of(bend, limit)
    weighed = cast(Literal["ply"] | None, balance and _one_of("--balance", balance, ["ply"]))
    results: dict[str, list[Result]] = {}
    with progress_bars(quiet or as_json) as progress:
        if metrics_or_curves:
            progress(Progress("measuring", 0, 2, "steps", "metrics"))
            results["metrics"] = [
                opened.metrics(
                    names,
                    where=where,
                    by=by,
                    bins=cuts,
                    threshold=called_won,
                    draws=counted,
                    balance=weighed,
                    axis=along,
                    link=link,
                    resamples=resamples,
                    seed=seed,
                )
            ]
            progress(Progress("measuring", 1, 2, "steps", "curves"))
            found = opened.curve(
                names,
                where=where,
                by=by,
                bins=cuts,
                delta=delta,
                error=error,
                count=count,
                draws=shown_draws,
                axis=along,
                link=link,
                at_least=least,
                bands="naive" if naive else "games",
                resamples=resamples,
                seed=seed,
            )
            results["curves"] = [found]
            progress(Progress("measuring", 2, 2, "steps"))
            if by is not None and shown_draws != "wdl":
                results["gaps"] = [
                    opened.gaps(
                        by,
                        names,
                        bins=cuts,
                        where=where,
                        draws=counted,
                        axis=along,
                        resamples=resamples,
                        seed=seed,
                    )
                ]
        if compare:
            if len(names) < 2:
                raise typer.BadParameter("--compare needs two evaluators")
            results["comparisons"] = [
                opened.compare(
                    names[0],
                    other,
                    where=where,
                    threshold=called_won,
                    draws=counted,
                    axis=along,
                    link=link,
                    resamples=resamples,
                    seed=seed,
                )
                for other in names[1:]
            ]
        if disagree:
            if len(names) < 2:
                raise typer.BadParameter("--disagree needs two evaluators")
            results["disagreement"] = [
                opened.disagreements(
                    names[0],
                    names[1],
                    top=top,
                    where=where,
                    draws=counted,
                    axis=along,
                    link=link,
                    resamples=resamples,
                    seed=seed,
                )
            ]
        if calibrate:
            results["calibration"] = [
                opened.calibration(
                    names,
                    where=where,
                    by=by,
                    bins=cuts,
                    draws=shown_draws,
                    axis=along,
                    link=link,
                )
            ]
        if splits:
            searched = None if columns is None else _columns(columns)
            results["splits"] = []
            for name in names:
                results["splits"].append(
                    opened.splits(
                        name,
                        top=top,
                        columns=searched,
                        where=where,
                        draws=counted,
                        axis=along,
                        false_discovery_rate=fdr,
                        progress=progress,
                    )
                )
    # Curves come with the metrics; to be saved they must be asked for, and then they alone are.
    idle = {"metrics", "gaps"} if curves else {"curves", "gaps"}
    _save(save or [], {name: each for name, each in results.items() if name not in idle})
    if as_json:
        print_json({name: [_as_json(r) for r in each] for name, each in results.items()})
        return
    for each in results.values():
        for result in each:
            print_result(result, points=curves)


def _refuse_idle(*options: tuple[str, object, bool, str]) -> None:
    """Raise if an option was given that nothing asked for makes use of."""
    for name, value, used, wanted in options:
        if value is not None and not used:
            raise typer.BadParameter(f"{name} needs {wanted}")


def _save(files: Sequence[Path], results: Mapping[str, Sequence[Result]]) -> None:
    """Write what was asked for; if that is several things, each to a name of its own."""
    named = [
        (name if len(each) == 1 else f"{name}-{number}", result)
        for name, each in results.items()
        for number, result in enumerate(each, start=1)
    ]
    for file in files:
        for name, result in named:
            alone = len(named) == 1
            result.save(file if alone else file.with_name(f"{file.stem}-{name}{file.suffix}"))


def print_result(result: Result, *, points: bool = False) -> None:
    """Print a result as a table with its notes; of curves, their points only if asked for."""
    if isinstance(result, Curves):
        if points:
            _print_table(result)
        for note in result.notes():
            out.print(note, markup=False, style="dim" if points else None)
        return
    _print_table(result)
    for note in result.notes():
        out.print(note, markup=False, style="dim")
    if isinstance(result, Splits):
        for split in [split for split in result.found if split.is_sure][:3]:
            out.print(f"• {split.sentence}", markup=False)


def _print_table(result: Result) -> None:
    heading, *rows = result.lines()
    out.print(f"[bold]{escape(result.title)}[/]")
    if not rows:
        return
    numbers = [i for i in range(1, len(heading)) if all(_is_number(row[i]) for row in rows)]
    table = plain_table(*map(escape, heading), right=numbers)
    for row in rows:
        table.add_row(*map(escape, row))
    out.print(table)


def _is_number(cell: str) -> bool:
    return not cell or bool(re.match(r"[+\-±–]?\d|–$|< ", cell))


def _as_json(result: Result) -> dict[str, Any]:
    return {"title": result.title, "rows": result.rows(), "notes": list(result.notes())}


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"'{text}' is no list of numbers such as 20,30,40") from None


def _threshold(text: str | None) -> float | Literal["best"] | None:
    if text is None or text == "best":
        return cast(Literal["best"] | None, text)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise typer.BadParameter(f"a threshold is a number or best, not '{text}'")
    return number


def _one_of(option: str, text: str, known: Iterable[str]) -> str:
    words = list(known)
    if text not in words:
        raise typer.BadParameter(f"{option} is {', '.join(words)}, not '{text}'")
    return text


def _columns(text: str) -> Sequence[str]:
    """Names or expressions between commas that stand outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
        depth += (character == "(") - (character == ")") if not quote else 0
        if character == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
