# SPDX-License-Identifier: Apache-2.0
"""The options that all analyses of a study share, and the inquiry built from them.

A command decorated with `asks` has an `Inquiry` and its own options; the shared options are
declared once, here.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hyoka.analysis import FORMATS, MIN_GAMES, DrawnGames, Link, Resampling
from hyoka.apps.cli.output import AsJson, Quiet
from hyoka.apps.cli.output_files import Output
from hyoka.apps.cli.study_commands import StudyPath, Where
from hyoka.foundation.figure import Figure, LegendPlace
from hyoka.study import Question, Study
from hyoka.study.sampling import Axis, Balance, chosen_evaluators

Command = Callable[..., None]

PARTS: Final = ("by", "bins", "largest")
"""Options that divide the positions."""
BALANCE: Final = ("balance",)
"""The option that balances parts for comparison."""
FIGURE: Final = ("title", "size", "x_range", "legend", "labels")
"""Options of figures."""
FEW: Final = ("min_games",)
"""The option for commands that hide figures of few games."""
LINK: Final = ("bend", "limit")
"""Options that convert scores to probabilities."""

Evaluators = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        "-e",
        metavar="NAME",
        help="An evaluator of the study by its name or its spec, or a pattern of these (gnugo*), "
        "repeatable; all of them unless "
        "given. Those that share enough positions are measured on their common positions, the "
        "others each on its own; the first line says so.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Part the positions by a column or an SQL expression, which may have a name "
        '("pawns: material / 100"); `phase` is the early, middle and late third of the plies. '
        "`score`, `value` and the like are what the evaluator says.",
    ),
]
Bins = Annotated[
    str | None,
    typer.Option(metavar="NUMBERS", help="Where to cut the column of --by, e.g. 20,30,40."),
]
Largest = Annotated[
    int | None,
    typer.Option(
        "--largest",
        min=1,
        metavar="N",
        help="Of many levels of --by, the N largest are parts and one more has the others; of "
        "texts 6 unless given, numbers go by quarters.",
        show_default=False,
    ),
]
Balanced = Annotated[
    Balance | None,
    typer.Option(
        help="Compare conditions as if early, middle and late positions were spread in them as in "
        "all: ply is split at tenths of the plies.",
    ),
]
Draws = Annotated[
    DrawnGames,
    typer.Option(
        help="Drawn games: drop leaves them out, half counts each as half a win and half a loss, "
        "so that results are expected scores."
    ),
]
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
Files = Annotated[
    list[Path] | None,
    Output(derived=True),
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"Write the answer, repeatable; {', '.join(FORMATS)}. Several answers get names of "
        "their own.",
    ),
]

_OF_PICTURES: Final = "Pictures"
Title = Annotated[
    str, typer.Option(metavar="TEXT", help="Over pictures.", rich_help_panel=_OF_PICTURES)
]
Size = Annotated[
    str | None,
    typer.Option(
        metavar="WIDTHxHEIGHT",
        help="Of pictures, in pixels without axes and legend, e.g. 400x240; 400 is a width.",
        rich_help_panel=_OF_PICTURES,
    ),
]
XRange = Annotated[
    str | None,
    typer.Option(
        "--x-range",
        metavar="FROM,TO",
        help="What pictures show of the x axis, e.g. --x-range=-300,300.",
        rich_help_panel=_OF_PICTURES,
    ),
]
Legend = Annotated[
    LegendPlace, typer.Option(help="Where pictures have it.", rich_help_panel=_OF_PICTURES)
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="NAME=LABEL",
        help="What pictures call an evaluator or a part, repeatable.",
        rich_help_panel=_OF_PICTURES,
    ),
]


@dataclass(frozen=True)
class Inquiry:
    """The inquiry of a command: evaluators, options, and output format."""

    study: Study
    evaluators: list[str]
    question: Question
    files: list[Path]
    figure: Figure | None
    as_json: bool
    quiet: bool


def _inquiry(
    study: StudyPath,
    evaluators: Evaluators = None,
    where: Where = None,
    by: By = None,
    bins: Bins = None,
    largest: Largest = None,
    balance: Balanced = None,
    draws: Draws = "drop",
    axis: Annotated[
        Axis, typer.Option(help="What of an evaluation; auto takes what the evaluator is about.")
    ] = "auto",
    bend: Bend = None,
    limit: Limit = None,
    resamples: Annotated[
        int,
        typer.Option(min=0, max=100_000, help="How often games are drawn again; 0: no intervals."),
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Draws the games.")] = 0,
    min_games: Annotated[
        int, typer.Option(min=1, metavar="N", help="Show no figure of fewer games than this.")
    ] = MIN_GAMES,
    files: Files = None,
    title: Title = "",
    size: Size = None,
    x_range: XRange = None,
    legend: Legend = "top",
    labels: Labels = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> Inquiry:
    figure = _figure(title, size, x_range, legend, labels or [])
    question = Question(
        where=where,
        by=by,
        bins=_numbers(bins),
        largest=largest,
        balance=balance,
        draws=draws,
        axis=axis,
        link=link_of(bend, limit),
        resampling=Resampling(resamples, seed),
        min_games=min_games,
    )
    opened = Study.open(study)
    chosen = chosen_evaluators(opened, evaluators)
    return Inquiry(opened, chosen, question, files or [], figure, as_json, quiet)


def _figure(
    title: str, size: str | None, x_range: str | None, legend: LegendPlace, labels: Sequence[str]
) -> Figure | None:
    """Return the chart options; None if none is set."""
    if not title and size is None and x_range is None and legend == "top" and not labels:
        return None
    sides = re.fullmatch(r"(\d{1,5})(?:x(\d{1,5}))?", size or "0")
    if sides is None:
        raise typer.BadParameter(f"a size is WIDTHxHEIGHT as 400x240, not '{size}'")
    ends = _numbers(x_range)
    if ends is not None and len(ends) != 2:
        raise typer.BadParameter(f"a range is FROM,TO as -300,300, not '{x_range}'")
    for label in labels:
        if "=" not in label:
            raise typer.BadParameter(f"a label is NAME=LABEL, not '{label}'")
    return Figure(
        title=title,
        width=None if size is None else int(sides[1]),
        height=None if sides[2] is None else int(sides[2]),
        x_range=None if ends is None else (ends[0], ends[1]),
        legend=legend,
        labels=dict(_renamed(label) for label in labels),
    )


def _renamed(label: str) -> tuple[str, str]:
    """Split a name and its label; names such as `ply = 3` contain `=`, labels do not."""
    name, _, new = label.rpartition("=")
    return name, new


def asks(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Add the shared options, with exceptions, after a command's own."""

    def with_options(command: Command) -> Command:
        study, *others = inspect.signature(_inquiry).parameters.values()
        shared = [study, *(each for each in others if each.name not in without)]
        _, *own = inspect.signature(command).parameters.values()

        @functools.wraps(command)
        def run(**options: Any) -> None:
            inquiry = _inquiry(**{each.name: options.pop(each.name) for each in shared})
            command(inquiry, **options)

        # Typer reads the options from these attributes.
        parameters = [study, *own, *shared[1:]]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return with_options


def link_of(bend: str | None, limit: str | None) -> Link | None:
    """Build the link that the options request; an unset option is zero if the other is set."""
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


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"'{text}' is no list of numbers such as 20,30,40") from None
