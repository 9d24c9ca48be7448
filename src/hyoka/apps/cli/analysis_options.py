# SPDX-License-Identifier: Apache-2.0
"""The options that all analyses of a study share, and the inquiry built from them."""

import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hyoka.analysis import Link, Resampling
from hyoka.apps.cli.command_options import (
    FORMATTED_OUTPUT,
    Group,
    Output,
    Plan,
    StudyPath,
    collected,
    expanded,
    option,
)
from hyoka.foundation.figure import Figure
from hyoka.study import Question, Study
from hyoka.study.sampling import chosen_evaluators

PARTS: Final = ("by", "bins", "largest")
"""Options that divide the positions."""
BALANCE: Final = ("balance",)
"""The option that balances slices for comparison."""
PICTURES: Final = ("files", "title", "width", "height", "x_range", "legend", "labels")
"""Output files, and options of pictures."""
FEW: Final = ("min_games",)
"""The option for commands that hide figures of few games."""
LINK: Final = ("bend", "limit")
"""Options that convert scores to probabilities."""

Evaluators = Annotated[list[str] | None, option("--evaluator", metavar="NAME")]
Bend = Annotated[
    str | None,
    typer.Option(
        metavar="SCORE|none",
        help="Score beyond which the link is logarithmic; by default chosen on held-out games.",
        show_default=False,
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--clip",
        metavar="SCORE|none",
        help="Score at which the link clips scores; by default chosen on held-out games.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Inquiry:
    """The inquiry of a command: evaluators, options, and output files."""

    study: Study
    evaluators: list[str]
    question: Question
    files: list[Path]
    figure: Figure | None


def _inquiry(
    study: StudyPath,
    evaluators: Evaluators = None,
    question: Annotated[Callable[..., Question], Plan(Question)] = Question,
    bend: Bend = None,
    limit: Limit = None,
    resamples: Annotated[int, option("--resamples", min=0, max=100_000)] = 1000,
    seed: Annotated[int, option("--seed", min=0)] = 0,
    files: Annotated[
        list[Path] | None,
        Output(derived=True),
        option("--output", FORMATTED_OUTPUT, metavar="FILE"),
    ] = None,
    figure: Annotated[Callable[..., Figure], Plan(Figure, without=("x_title", "y_title"))] = Figure,
) -> Inquiry:
    options = question(link=link_of(bend, limit), resampling=Resampling(resamples, seed))
    drawn = figure()
    opened = Study.open(study)
    chosen = chosen_evaluators(opened, evaluators)
    return Inquiry(opened, chosen, options, files or [], None if drawn == Figure() else drawn)


@dataclass(frozen=True)
class InquiryOptions(Group):
    """Marks an Inquiry: the shared options of analyses, with exceptions."""

    without: Collection[str] = ()

    def _own(self) -> dict[str, inspect.Parameter]:
        own = inspect.signature(_inquiry).parameters
        return {name: self._less(each) for name, each in own.items() if name not in self.without}

    def _less(self, parameter: inspect.Parameter) -> inspect.Parameter:
        """Leave out exceptions from a plan's options."""
        marks: tuple[Any, ...] = getattr(parameter.annotation, "__metadata__", ())
        if not marks or not isinstance(marks[0], Plan):
            return parameter
        plan = replace(marks[0], without=(*marks[0].without, *self.without))
        return parameter.replace(annotation=Annotated[Any, plan])

    def parameters(self) -> Iterator[inspect.Parameter]:
        """The shared options."""
        yield from expanded(self._own()).values()

    def value(self, options: Mapping[str, Any]) -> Inquiry:
        """The inquiry."""
        return _inquiry(**collected(self._own(), options))


def link_of(bend: str | None, limit: str | None) -> Link | None:
    """Build the link that the options request; an unset option is zero if the other is set."""
    if bend is None and limit is None:
        return None
    return Link(_score("--bend", bend), _score("--clip", limit))


def _score(name: str, text: str | None) -> float:
    if text is None or text == "none":
        return math.inf
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise typer.BadParameter(f"{name} is a positive score or none, not '{text}'")
    return number
