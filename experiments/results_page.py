# SPDX-License-Identifier: Apache-2.0
"""An experiment's outcome as a Markdown page with its provenance."""

import glob
import hashlib
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from experiments.context import Experiment
from experiments.outcome import LEGEND, Outcome, OutcomeTable, Verdict, right_aligned
from hyoka.foundation.text import counted
from hyoka.storage.files import write_bytes, write_text

if TYPE_CHECKING:
    from hyoka.reporting import Page

_VERDICTS: Final = "## Verdicts"
_SMALL: Final = 8
"""Verdicts in the chart of a report's first finding."""
_KINDS: Final = {".svg": "svg+xml", ".png": "png"}
_MADE: Final = re.compile(
    r"^`(?P<command>hyoka experiment run (?P<id>\S+) --scale (?P<scale>\S+?)(?: [^`]*)?)` · commit "
    r"(?P<commit>\S+) · (?P<date>\d{4}-\d\d-\d\d) · definition (?P<definition>[0-9a-f]{8})$",
    re.MULTILINE,
)
_ANSWER: Final = re.compile(
    r"^\|[^|]*\| (yes|same within [0-9.]+|not shown|reversed) \|", re.MULTILINE
)


@dataclass(frozen=True)
class Made:
    """Provenance of a page: shows whether its figures match the current code."""

    command: str
    commit: str
    date: str
    definition: str
    """Hash of the experiment's definition at this scale; if it differs, so do the figures."""


@dataclass(frozen=True)
class ResultsPage:
    """Metadata parsed from a results page."""

    experiment: str
    scale: str
    made: Made
    answers: Counter[str]
    """Number of verdicts of each kind, without bounds."""

    @property
    def summary(self) -> str:
        """One-line summary of the verdicts.

        >>> made = Made("", "", "", "")
        >>> ResultsPage("", "", made, Counter({"not shown": 2, "yes": 3})).summary
        '3 yes, 2 not shown'
        """
        kinds = ("yes", "same", "not shown", "reversed")
        return ", ".join(f"{self.answers[kind]} {kind}" for kind in kinds if self.answers[kind])


LATER_FIELD: Final = {"later": True}
"""Metadata of fields added since pages were made: definitions leave them out at their defaults."""
_FORMERLY_MEANT: Final = ("preset=paper,", ",eval=built-in")
"""Options that used to be implicit; definitions ignore them, so that old pages stay valid."""


_FORMER_NAMES: Final = {
    "eval_visits=": "prior=",
    "eval_when=": "prior_when=",
    "eval_weight=": "mix=",
    "cutoff=": "cut=",
}
"""Renamed settings, with the names by which definitions know them."""


def definition(experiment: Experiment, scale: str) -> str:
    """Eight hex digits that identify the definition of an experiment at a scale.

    Titles and notes are excluded, since they do not affect measurements.
    """
    parts = [
        _text_form(getattr(experiment, field.name))
        for field in fields(experiment)  # type: ignore[arg-type]
        if field.name not in ("title", "notes", "scales")
    ]
    parts.append(str(getattr(experiment, "built_in", "")))  # not in the players' specs
    chosen = dict(experiment.scales)[scale] if isinstance(experiment.scales, dict) else scale
    return hashlib.sha256("\n".join([*parts, _text_form(chosen)]).encode()).hexdigest()[:8]


def is_current(page: ResultsPage, experiment: Experiment) -> bool:
    """Whether a page is of the experiment's current definition."""
    scales = experiment.scales
    return page.scale in scales and page.made.definition == definition(experiment, page.scale)


def _text_form(value: object) -> str:
    """A process-independent text form of a value."""
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: getattr(value, f.name) for f in fields(value)}
        inner = ", ".join(
            f"{f.name}={_text_form(values[f.name])}"
            for f in fields(value)
            if not (f.metadata.get("later") and values[f.name] == f.default)
        )
        return f"{type(value).__name__}({inner})"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_text_form, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text_form(k)}: {_text_form(v)}' for k, v in value.items())}}}"
    text = repr(value)
    for words in _FORMERLY_MEANT:
        text = text.replace(words, "")
    for name, former in _FORMER_NAMES.items():
        text = text.replace(name, former)
    return text


def write_results_page(
    file: Path, experiment: Experiment, scale: str, outcome: Outcome, made: Made
) -> None:
    """Write the page, with copies of its figures beside it."""
    pictures = pictures_of(file, scale, outcome)
    for picture, figure in zip(pictures, outcome.figures, strict=True):
        write_bytes(picture, figure.read_bytes())
    names = [picture.name for picture in pictures]
    write_text(file, results_markdown(experiment, scale, outcome, made, names))


def pictures_of(file: Path, scale: str, outcome: Outcome) -> list[Path]:
    """Paths of the copies of an outcome's figures."""
    return [
        file.with_name(f"{file.stem}.{figure.stem.removeprefix(f'{scale}-')}{figure.suffix}")
        for figure in outcome.figures
    ]


def pictures_beside(file: Path) -> list[Path]:
    """Existing pictures whose names copies of figures may get."""
    files = file.parent.glob(f"{glob.escape(file.stem)}.*") if file.parent.is_dir() else ()
    return sorted(each for each in files if each.suffix in (".png", ".svg"))


def results_markdown(
    experiment: Experiment, scale: str, outcome: Outcome, made: Made, pictures: Sequence[str] = ()
) -> str:
    """The page: description, provenance, tables, verdicts, figures, notes."""
    blocks = [
        f"# {experiment.title}",
        f"`{made.command}` · commit {made.commit} · {made.date} · definition {made.definition}",
        f"{outcome.about[:1].upper()}{outcome.about[1:]}. ± is half of the 95 % interval; "
        "asymmetric intervals have both ends.",
    ]
    blocks += [_table(table) for table in outcome.tables]
    if outcome.verdicts:
        verdicts = OutcomeTable(
            ("as in the paper?", "", "found", ""),
            tuple(
                (each.claim, each.words, each.found.text("+.3f"), each.detail)
                for each in outcome.verdicts
            ),
        )
        blocks += [_VERDICTS, _table(verdicts), LEGEND]
    if experiment.notes:
        blocks += ["## Notes", experiment.notes]
    if pictures:
        blocks += ["## Pictures", *(f"![{Path(name).stem}]({name})" for name in pictures)]
    return "\n\n".join(blocks) + "\n"


def outcome_page(experiment: Experiment, outcome: Outcome, made: Made) -> "Page":
    """The outcome as a report: the verdicts as findings, then tables and figures."""
    from hyoka.reporting import Card, Chart, Image, Page, Section, Table  # noqa: PLC0415 - slow
    from hyoka.reporting.charts import Dot, dots  # noqa: PLC0415

    def compared(verdicts: Sequence[Verdict]) -> Chart:
        rows = [Dot(each.claim, each.found.value, *each.found.ends) for each in verdicts]
        caption = "What was found, with 95% intervals; above zero the paper is right."
        return Chart(dots(rows, x="found", reference=0, spec="+.3f"), caption)

    def table_of(table: OutcomeTable) -> Table:
        title = table.title or "the results"
        rows, first = [], ""
        for cells in table.texts():
            first = cells[0] or first or "–"  # rows without a name belong to the one above
            rows.append((first, *cells[1:]))
        headings = tuple(heading or "–" for heading in table.headings)
        return Table(f"{title[:1].upper()}{title[1:]}.", headings, rows)

    verdicts, sections = outcome.verdicts, []
    findings: list[str | Card] = []
    if verdicts:
        counts = Counter[str](each.answer for each in verdicts)
        summary = ResultsPage(experiment.id, "", made, counts).summary
        words = f"As in the paper? Of {counted(len(verdicts), 'claim')}: {summary}."
        some = verdicts[:_SMALL] if len(verdicts) > _SMALL else verdicts
        findings.append(Card(words, "Verdicts", compared(some), "Verdicts"))
        findings += [str(each) for each in verdicts if each.answer == "reversed"]
        rows = [(v.claim, v.words, v.found.text("+.3f"), v.detail) for v in verdicts]
        table = Table("All verdicts.", ("Claim", "As in the paper?", "Found", "Detail"), rows)
        words = LEGEND.replace("**", "")
        sections.append(Section("Verdicts", (words,), (compared(verdicts), table)))
    sections.append(Section("Results", (), tuple(map(table_of, outcome.tables))))
    if outcome.figures:
        images = tuple(
            Image(file.read_bytes(), _KINDS[file.suffix], file.stem.partition("-")[2] or file.stem)
            for file in outcome.figures
        )
        sections.append(Section("Figures", (), images))
    methods = (
        "± is half of the 95% interval; asymmetric intervals have both ends.",
        f"{made.command}, commit {made.commit}, {made.date}, definition {made.definition}.",
        *((experiment.notes,) if experiment.notes else ()),
    )
    about = f"{outcome.about[:1].upper()}{outcome.about[1:]}."
    return Page(experiment.title, about, tuple(findings), tuple(sections), methods)


def read_results_page(text: str) -> ResultsPage | None:
    """Parse a results page; None if the format is unknown."""
    head = _MADE.search(text)
    if head is None:
        return None
    made = Made(head["command"], head["commit"], head["date"], head["definition"])
    judged = text.partition(f"\n{_VERDICTS}\n")[2]
    answers = Counter(answer.split(" within ")[0] for answer in _ANSWER.findall(judged))
    return ResultsPage(head["id"], head["scale"], made, answers)


def _table(table: OutcomeTable) -> str:
    numbers = set(right_aligned(table))
    rule = ["---:" if column in numbers else "---" for column in range(len(table.headings))]
    rows = [table.headings, tuple(rule), *table.texts()]
    lines = "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)
    return f"{table.title[:1].upper()}{table.title[1:]}:\n\n{lines}" if table.title else lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def source_commit() -> str:
    """Return the checkout's commit, with a + if files have changed since.

    Outside of a checkout, return the version.
    """
    here = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(here), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        top = Path(git("rev-parse", "--show-toplevel"))
        if not (top / "core" / "game.h").exists():
            return f"v{version('hyoka')}"  # installed inside a checkout of something else
        changed = git(
            "status",
            "--porcelain",
            "--",
            *(str(top / part) for part in ("src", "core", "experiments")),
        )
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return f"v{version('hyoka')}"
