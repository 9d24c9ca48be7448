# SPDX-License-Identifier: Apache-2.0
"""Commands that analyze evaluations: curves, metrics, gaps, comparisons, calibration."""

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from rich.markup import escape

from hyoka.analysis import (
    FORMATS,
    Certainty,
    Curves,
    Disagreement,
    Result,
    Slices,
    SliceSettings,
)
from hyoka.analysis.accuracy import AccuracySettings
from hyoka.analysis.wdl import LANGUAGES
from hyoka.apps.cli.analysis_options import (
    BALANCE,
    FEW,
    LINK,
    PARTS,
    PICTURES,
    Inquiry,
    InquiryOptions,
)
from hyoka.apps.cli.command_options import Plan, check_outputs, option
from hyoka.apps.cli.command_table import in_options
from hyoka.apps.cli.output import (
    hint,
    out,
    print_columns,
    print_json,
    progress_bars,
    tell,
    wants_json,
)
from hyoka.foundation.errors import Error
from hyoka.foundation.figure import Figure
from hyoka.foundation.progress import Tally
from hyoka.storage.outputs import CODE, PAGE, PICTURE, TABLE
from hyoka.study.analyses import CurveSettings, WdlSettings

Threshold = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|best",
        help="Threshold above which a position is predicted as won; by default 0.5 for values "
        "and 0 for scores.",
    ),
]

_OPTIONS: Final = {"draws": "--draws", "min_games": "--min-games", "memory": "--memory"}
"""Option names for the parameters that results name."""


def analyze_summary_command(inquiry: Annotated[Inquiry, InquiryOptions(PICTURES)]) -> None:
    """Summarize evaluators: metrics and shapes of curves.

    Positions of one game share a result, so intervals come from a cluster bootstrap over games.
    With --by, also report how far each slice's curve lies from the overall curve. `hyoka report
    STUDY` draws it all.

    For example: hyoka analyze summary study -e comments --by phase
    """
    study, names, question = inquiry.study, inquiry.evaluators, inquiry.question
    results: dict[str, list[Result]] = {}
    with progress_bars() as progress:
        tally = Tally(progress, "measuring", 2 if question.by is None else 3, "steps")
        results["metrics"] = [study.metrics(names, question)]
        tally.add(note="curves")
        results["curves"] = [study.curve(names, question)]
        tally.add(note="gaps")
        if question.by is not None:
            results["gaps"] = [study.gaps(names, question)]
            tally.add()
    _answer(inquiry, results)


def analyze_curves_command(
    inquiry: Annotated[Inquiry, InquiryOptions()],
    settings: Annotated[Callable[..., CurveSettings], Plan(CurveSettings)],
) -> None:
    """Win probability by evaluation, with confidence bands.

    For example: hyoka analyze curves study -e comments --by ply --bins 20,40,60 -o curves.html
    """
    _check_files(inquiry)
    with _step("curves"):
        curves = inquiry.study.curve(inquiry.evaluators, inquiry.question, settings())
    _answer(inquiry, {"curves": [curves]}, points=True)


def analyze_metrics_command(
    inquiry: Annotated[Inquiry, InquiryOptions()], threshold: Threshold = None
) -> None:
    """How well evaluations predict results: ACC, ROC, LFT, τ.

    For example: hyoka analyze metrics study --where "ply >= 20" -o metrics.csv
    """
    _check_files(inquiry)
    with _step("metrics"):
        metrics = inquiry.study.metrics(
            inquiry.evaluators, inquiry.question, threshold=_threshold(threshold)
        )
    _answer(inquiry, {"metrics": [metrics]})


def analyze_gaps_command(inquiry: Annotated[Inquiry, InquiryOptions(LINK)]) -> None:
    """How far the curves of slices lie from the overall curve.

    With --balance ply, positions are compared only within the same phase, so that a condition that
    merely occurs late has no gap.

    For example: hyoka analyze gaps study -e comments --by "material > 0" --balance ply
    """
    _check_files(inquiry)
    with _step("gaps"):
        gaps = inquiry.study.gaps(inquiry.evaluators, inquiry.question)
    _answer(inquiry, {"gaps": [gaps]})


def analyze_compare_command(
    inquiry: Annotated[Inquiry, InquiryOptions([*PARTS, *BALANCE])], threshold: Threshold = None
) -> None:
    """Paired differences between evaluators on equal positions.

    Both evaluators use the same bootstrap samples of games, so their common variation cancels.

    For example: hyoka analyze compare study -e uct:playouts=400 -e uct:playouts=100
    """
    first, *others = _several(inquiry)
    _check_files(inquiry, "comparisons", len(others))
    called_won = _threshold(threshold)
    comparisons = []
    with progress_bars() as progress:
        tally = Tally(progress, "comparing", len(others), "evaluators")
        for other in others:
            comparisons.append(
                inquiry.study.compare(first, other, inquiry.question, threshold=called_won)
            )
            tally.add()
    _answer(inquiry, {"comparisons": comparisons})


def analyze_disagreements_command(
    inquiry: Annotated[Inquiry, InquiryOptions([*PARTS, *BALANCE])],
    top: Annotated[int, option("--top", min=1)] = 10,
) -> None:
    """Positions where two evaluators differ most, or where one was sure and wrong.

    With one evaluator, it is compared with the results: how often the side that it prefers
    scores, by its certainty.

    For example: hyoka analyze disagreements study -e comments -e ab:nodes=1 -o disputed.csv
    """
    _check_files(inquiry)
    one, *others = inquiry.evaluators
    if not others:
        with _step("certainty"):
            certainty = inquiry.study.certainty(one, inquiry.question, top=top)
        _answer(inquiry, {"certainty": [certainty]})
        return
    other = others[0]
    with _step("disagreements"):
        disagreement = inquiry.study.disagreements(one, other, inquiry.question, top=top)
    _answer(inquiry, {"disagreement": [disagreement]})


def analyze_calibrate_command(
    inquiry: Annotated[Inquiry, InquiryOptions()],
    wdl: Annotated[bool, option("--wdl")] = False,
) -> None:
    """Fit the map from scores to win probabilities.

    For example: hyoka analyze calibrate study -e comments --by phase
    """
    _check_files(inquiry)
    with _step("calibration"):
        calibration = inquiry.study.calibration(inquiry.evaluators, inquiry.question, wdl=wdl)
    _answer(inquiry, {"calibration": [calibration]})


def analyze_reliability_command(inquiry: Annotated[Inquiry, InquiryOptions()]) -> None:
    """How well calibrated evaluators are: reliability diagrams without bins.

    Isotonic regression recalibrates each evaluator. The mean loss is split into miscalibration,
    which recalibration removes, discrimination and uncertainty.

    For example: hyoka analyze reliability study -e comments -o reliability.html
    """
    _check_files(inquiry)
    with _step("reliability diagrams"):
        diagrams = inquiry.study.reliability(inquiry.evaluators, inquiry.question)
    _answer(inquiry, {"reliability": [diagrams]})


def analyze_wdl_command(
    inquiry: Annotated[Inquiry, InquiryOptions(["draws", "axis", *LINK])],
    settings: Annotated[Callable[..., WdlSettings], Plan(WdlSettings)],
) -> None:
    """Fit a model of wins, draws and losses by score and move.

    Draws are modeled as draws. -o FILE.h, .py or .json writes the coefficients as code; .html,
    .png or .svg draws the shares of wins and draws with the model's lines.

    For example: hyoka analyze wdl study -e comments --at 32 -o wdl.h -o wdl.html
    """
    _check_files(inquiry, endings=(*FORMATS, *LANGUAGES))
    code = [file.name for file in inquiry.files if file.suffix.lower() in LANGUAGES]
    if code and len(inquiry.evaluators) > 1:
        raise Error(f"'{code[0]}' holds one model: choose one evaluator with --evaluator")
    with _step("models"):
        models = inquiry.study.wdl(inquiry.evaluators, inquiry.question, settings())
    _answer(inquiry, {"models": [models]})


def analyze_accuracy_command(
    inquiry: Annotated[Inquiry, InquiryOptions(["draws", *BALANCE])],
    settings: Annotated[Callable[..., AccuracySettings], Plan(AccuracySettings)],
) -> None:
    """How accurate the moves played are: losses, blunders, worst moves.

    The loss of a move is the mover's expected score before it less that after it. --by player,
    color, rating and clock (the time left) are the mover's. The worst moves are printed below the
    table.

    For example: hyoka analyze accuracy study -e ab:nodes=2000 --by player -o accuracy.html
    """
    _check_files(inquiry)
    with _step("accuracy"):
        accuracy = inquiry.study.accuracy(inquiry.evaluators, inquiry.question, settings())
    _save(inquiry.files, inquiry.figure, {"accuracy": [accuracy]})
    worst = {"worst_moves": [accuracy.worst]} if accuracy.worst.parts else {}
    _answer(replace(inquiry, files=[]), {"accuracy": [accuracy], **worst})


def analyze_slices_command(
    inquiry: Annotated[Inquiry, InquiryOptions([*PARTS, *LINK, *FEW])],
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="Columns to search; by default all that describe positions."
        ),
    ] = None,
    settings: Annotated[Callable[..., SliceSettings], Plan(SliceSettings)] = SliceSettings,
) -> None:
    """Find the slices where an evaluator is biased.

    Each condition is measured again with the comment author, the ratings and the phase held equal;
    conditions that one of these explains come last. With --balance ply, all comparisons are within
    phases. -o FILE.html adds boards where the evaluator was most wrong.

    For example: hyoka analyze slices study -e comments --top 5 -o slices.html
    """
    searched = None if columns is None else _columns(columns)
    _check_files(inquiry, "slices", len(inquiry.evaluators))
    with progress_bars() as progress:
        slices = [
            inquiry.study.slices(
                name, inquiry.question, settings(), columns=searched, progress=progress
            )
            for name in inquiry.evaluators
        ]
    pages = [file for file in inquiry.files if file.suffix.lower() == ".html"]
    if pages:
        from hyoka.reporting.study_report import write_slices_page  # noqa: PLC0415 - slow to import
    for file in pages:
        names = _named(file, "slices", len(slices))
        for own, name, found in zip(names, inquiry.evaluators, slices, strict=True):
            write_slices_page(own, found, inquiry.study, name, inquiry.question, columns=searched)
    others = [file for file in inquiry.files if file not in pages]
    _answer(replace(inquiry, files=others), {"slices": slices})


def _several(inquiry: Inquiry) -> list[str]:
    if len(inquiry.evaluators) < 2:
        raise typer.BadParameter(
            f"give two evaluators with --evaluator, not only {inquiry.evaluators[0]}"
        )
    return inquiry.evaluators


@contextlib.contextmanager
def _step(what: str) -> Iterator[None]:
    """Show a progress bar for one-step work."""
    with progress_bars() as progress:
        tally = Tally(progress, what, 1, "steps")
        yield
        tally.add()


def _answer(
    inquiry: Inquiry, results: Mapping[str, Sequence[Result]], *, points: bool = False
) -> None:
    """Write results to the requested files, and print them."""
    _save(inquiry.files, inquiry.figure, results)
    if wants_json():
        print_json({name: [_as_json(result) for result in each] for name, each in results.items()})
        return
    print_results([result for each in results.values() for result in each], points=points)


def print_results(printed: Sequence[Result], *, points: bool = False) -> None:
    """Print results as tables, then all notes once each, caveats last.

    A curve's points are printed only on request.
    """
    for covered in dict.fromkeys(filter(None, map(_coverage_text, printed))):
        tell(covered)
    for result in printed:
        _print_figures(result, points=points)
    notes = dict.fromkeys(
        note
        for result in printed
        if points or not isinstance(result, Curves)
        for note in _notes(result)
    )
    caveats = {caveat for result in printed for caveat in getattr(result, "caveats", ())}
    for note in sorted(notes, key=lambda each: each in caveats):
        hint(note)
    if notes:
        hint("figures and intervals: hyoka help analyses")


def _coverage_text(result: Result) -> str:
    return "" if result.coverage is None else in_options(str(result.coverage), _OPTIONS)


def _save(
    files: Sequence[Path], figure: Figure | None, results: Mapping[str, Sequence[Result]]
) -> None:
    """Write the results of one kind; several results get one file each."""
    for name, each in results.items():
        for file in files:
            for own, result in zip(_named(file, name, len(each)), each, strict=True):
                result.save(own, figure)


def _named(file: Path, name: str, count: int) -> list[Path]:
    """Return output paths: the file itself for one result, numbered files for several."""
    if count == 1 or not file.name:  # `_save` raises the error later
        return [file]
    numbers = range(1, count + 1)
    return [file.with_name(f"{file.stem}-{name}-{number}{file.suffix}") for number in numbers]


def _check_files(
    inquiry: Inquiry, name: str = "", count: int = 1, endings: Sequence[str] = FORMATS
) -> None:
    """Raise OutputError unless `_save` can write `count` results."""
    files = [own for file in inquiry.files for own in _named(file, name, count)]
    check_outputs(*files, kinds=(PAGE, PICTURE, TABLE, CODE), endings=endings)


def _print_figures(result: Result, *, points: bool) -> None:
    """Print a result without its notes: as a table, or a sentence for each curve."""
    if isinstance(result, Curves) and not points:
        for line in _notes(result):
            tell(line)
        return
    _print_table(result)
    if isinstance(result, Disagreement | Certainty):
        for line, position in result.positions:  # the position last, for copying
            tell(line)
            hint(f"  {position}")
    if isinstance(result, Slices):
        for split in [split for split in result.slices if split.is_sure][:3]:
            tell(f"• {split.sentence}")


def _print_table(result: Result) -> None:
    heading, *rows = result.lines()
    out.print(f"[bold]{escape(result.title)}[/]")
    if not rows:
        return
    numbers = [i for i in range(1, len(heading)) if all(_is_number(row[i]) for row in rows)]
    print_columns(heading, rows, numbers)


def _is_number(cell: str) -> bool:
    return not cell or bool(re.match(r"[+\-±–]?\d|–$|< ", cell))


def _as_json(result: Result) -> dict[str, Any]:
    covered: dict[str, Any] = {}
    if result.coverage is not None:
        covered["coverage"] = result.coverage.as_json() | {"text": _coverage_text(result)}
    return {"title": result.title, **covered, "rows": result.rows(), "notes": _notes(result)}


def _notes(result: Result) -> list[str]:
    return [in_options(note, _OPTIONS) for note in result.notes()]


def _threshold(text: str | None) -> float | Literal["best"] | None:
    if text is None:
        return None
    if text == "best":
        return "best"
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise typer.BadParameter(f"a threshold is a number or best, not '{text}'")
    return number


def _columns(text: str) -> Sequence[str]:
    """Split at commas outside of brackets and quotes."""
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
