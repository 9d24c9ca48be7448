# SPDX-License-Identifier: Apache-2.0
"""Items of a paper with code and experiments, and what our experiments say of its claims."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from experiments.results_page import ResultsPage

Status = Literal["confirmed", "contradicted", "cannot be asked here", "not run yet"]
STATUS_LEGEND: Final = (
    "**confirmed**: our 95 % interval lies on the paper's side. **contradicted**: it lies on the "
    "other side; an experiment shows the cause. **cannot be asked here**: our experiments do not "
    "decide, for the reason given: something is missing, or the games would take too long. **not "
    "run yet**: an experiment asks, but has not run in its present form."
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a paper and what our experiments say of it.

    Figures are quoted from a results page, digit by digit.
    """

    text: str
    status: Status
    figures: str = ""
    """Our figures on the page of the item's experiment."""
    cause: str = ""
    """Why our result differs, or why the claim cannot be asked here."""
    shown_by: str | None = None
    """The experiment that shows the cause."""
    cause_figures: str = ""
    """Its figures."""


def confirmed(text: str, figures: str) -> Claim:
    """A claim that our figures confirm."""
    return Claim(text, "confirmed", figures)


def contradicted(text: str, figures: str, cause: str, shown_by: str, cause_figures: str) -> Claim:
    """A claim that our figures contradict, with the experiment that shows the cause."""
    return Claim(text, "contradicted", figures, cause, shown_by, cause_figures)


def cannot_be_asked(text: str, cause: str, figures: str = "") -> Claim:
    """A claim that no experiment here decides."""
    return Claim(text, "cannot be asked here", figures, cause)


def not_run(text: str) -> Claim:
    """A claim whose experiment has no results page of its present definition."""
    return Claim(text, "not run yet")


@dataclass(frozen=True, slots=True)
class RunTime:
    """How long an experiment takes at a scale, on one core."""

    scale: str
    time: str

    def command(self, experiment: str) -> str:
        """The command and its time.

        >>> RunTime("small", "2 hours").command("002-constants")
        '`hyoka experiment run 002-constants --scale small` (about 2 hours of one core)'
        """
        run = f"`hyoka experiment run {experiment} --scale {self.scale}`"
        return f"{run} (about {self.time} of one core)"


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a paper."""

    what: str
    code: tuple[str, ...]
    """Source files, relative to the repository root."""
    experiment: str | None = None
    """The experiment that reproduces it, for a table or figure."""
    remark: str = ""
    """Our differing interpretation, or the reason for its omission."""
    claims: tuple[Claim, ...] = ()
    """What the paper claims of it."""
    run_time: RunTime | None = None
    """For an experiment without a results page of its present definition."""


@dataclass(frozen=True, slots=True)
class Checklist:
    """A paper with its items."""

    number: str
    name: str
    """Citation name."""
    items: tuple[Item, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of all items."""
        return tuple(claim for item in self.items for claim in item.claims)

    @property
    def summary(self) -> str:
        """Number of claims with each status.

        >>> claims = (confirmed("more playouts are better", "0.9"), cannot_be_asked("a", "b"))
        >>> Checklist("000", "Name 2000", (Item("table 1", (), claims=claims),)).summary
        '1 confirmed, 1 cannot be asked here'
        """
        counts = Counter(claim.status for claim in self.claims)
        kinds: tuple[Status, ...] = (
            *("confirmed", "contradicted"),
            *("cannot be asked here", "not run yet"),
        )
        return ", ".join(f"{counts[kind]} {kind}" for kind in kinds if counts[kind])


def item_rows(
    checklist: Checklist, pages: Mapping[str, ResultsPage], outdated: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """Rows of item, source files, command and result.

    `outdated`: experiments whose pages are of an earlier definition.
    """
    rows: list[tuple[str, ...]] = []
    for item in checklist.items:
        code = ", ".join(f"`{file}`" for file in item.code)
        command = f"`hyoka experiment run {item.experiment}`" if item.experiment else ""
        results = [_page_summary(item, pages, outdated), item.remark]
        rows.append((item.what, code, command, "; ".join(filter(None, results))))
    return rows


def _page_summary(item: Item, pages: Mapping[str, ResultsPage], outdated: Collection[str]) -> str:
    """The verdicts of an item's page, or what is to be run."""
    if item.experiment is None:
        return ""
    page = pages.get(item.experiment)
    run = item.run_time.command(item.experiment) if item.run_time else ""
    if page is None:
        return f"not run yet: {run}"
    link = f"[{page.summary or 'figures'}](results/{item.experiment}.md), {page.scale}"
    if item.experiment in outdated:
        return f"{link}, of an earlier definition; the present one is not run yet: {run}"
    return link


def claim_rows(checklist: Checklist) -> list[tuple[str, ...]]:
    """Rows of item, claim, status and figures, cause, and the experiment that shows it."""
    return [
        (
            item.what,
            claim.text,
            _joined(f"**{claim.status}**", _cited(item.experiment, claim.figures)),
            _cause(item, claim),
            _cited(claim.shown_by, claim.cause_figures),
        )
        for item in checklist.items
        for claim in item.claims
    ]


def _cause(item: Item, claim: Claim) -> str:
    if claim.status == "not run yet" and item.experiment and item.run_time:
        return item.run_time.command(item.experiment)
    return claim.cause


def _cited(experiment: str | None, figures: str) -> str:
    """Figures with a link to the page that has them."""
    link = f"[{experiment}](results/{experiment}.md)" if experiment else ""
    return _joined(link, figures) if figures else ""


def _joined(*parts: str) -> str:
    return ": ".join(part for part in parts if part)


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(
        f"| {' | '.join(row)} |" for row in (headings, ("---",) * len(headings), *rows)
    )
