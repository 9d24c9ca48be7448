# SPDX-License-Identifier: Apache-2.0
"""The room Learning: training live and as it went, and the models of the folder."""

import contextlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.folder import FolderItem
from hyoka.apps.studio.forms import TASKS, model_agent, whole_number
from hyoka.apps.studio.pages import (
    END,
    Room,
    Studio,
    address,
    fragment,
    game_title,
    html,
    page,
    size_text,
    studio_of,
    wants_part,
    watch,
    where_to_look,
)
from hyoka.apps.studio.rooms.match import match_in
from hyoka.apps.studio.runs import Run
from hyoka.arena.ratings import DuelSummary
from hyoka.foundation.text import counted
from hyoka.games import FACTS
from hyoka.learning.objective_search import EVALUATIONS, JOURNAL, PLAN, read_steps
from hyoka.learning.selfplay_loop import NETWORK, read_loop
from hyoka.models.loading import MOVE_MODELS
from hyoka.reporting import Page, Section, Table
from hyoka.reporting.learning_report import (
    accuracy_section,
    loss_section,
    loss_spots,
    model_sections,
    search_sections,
    selfplay_page,
    strength_by_generation,
)
from hyoka.reporting.match_report.match_ratings import elo_text
from hyoka.storage.files import read_regular
from hyoka.storage.model_file import KINDS, ModelFile
from hyoka.storage.run_folder import from_json
from hyoka.workflows.improve.improvement import Candidate, SliceFindings

_BOOLEAN_WORDS: Final = {"True": "yes", "False": "no"}


def facts_of(model_file: ModelFile) -> list[tuple[str, str]]:
    """Kind, game and id of a model."""
    kind = model_file.kind
    return [
        ("Kind", f"{kind}: {KINDS[kind].words}" if kind in KINDS else "unknown"),
        ("Game", game_title(model_file.game)),
        ("Size", size_text(len(model_file.content))),
        ("SHA-256", model_file.sha256),
    ]


def origin_of(model_file: ModelFile) -> list[tuple[str, str]]:
    """Origin of a model."""
    origin = model_file.origin
    if origin is None:
        return []
    facts = [("Command", origin.command)]
    if origin.seed is not None:
        facts.append(("Seed", str(origin.seed)))
    facts += [(_words(name), f"{count:,}") for name, count in origin.counts.items()]
    facts += [
        (_words(name), _BOOLEAN_WORDS.get(text, text)) for name, text in origin.choices.items()
    ]
    facts.append(("Made with", ", ".join(f"{n} {v}" for n, v in origin.versions.items())))
    return [(name, text) for name, text in facts if text]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def plan_words(text: str) -> list[tuple[str, str]]:
    """Choices of a plan, one per line."""
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(plan, dict):
        return []
    return [(name.replace("_", " "), str(value)[:200]) for name, value in plan.items()
            if not isinstance(value, dict | list)]  # fmt: skip


_GENERATION: Final = re.compile(rf"(.+)/generation-\d+/{re.escape(NETWORK)}")
_INDIVIDUAL: Final = re.compile(rf"(.+)/{EVALUATIONS}/\d+\.eval")
_SLICES: Final = "slices.json"
_REPORT: Final = "report.html"
_MOST_RUNS: Final = 12
_LISTED: Final = 100
_SPARK: Final = (120.0, 32.0)
_EVERY_S: Final = 2.0


@dataclass(frozen=True)
class Loop:
    """A folder in which something learns again and again, or an improvement."""

    path: str
    kind: str
    """`selfplay`, `objectives` or `improvement`."""
    words: str


def show(request: Request) -> Response:
    """All that was learned, or one run, file or loop."""
    studio, query = studio_of(request), request.query_params
    if query.get("run"):
        run = studio.runs.get(whole_number(query["run"], "run", 0, 10**12))
        return page(request, ROOM, "learning/run.html", **_run_page(studio, run))
    path = query.get("path", "")
    if not path:
        if wants_part(request):
            return fragment("learning/runs.html", runs=_runs(studio))
        return page(request, ROOM, "learning/index.html", **_overview(studio))
    file = studio.folder.path(path)
    live = file.is_dir() and _is_alive(studio, path)  # before what a run may change
    values = _loop(file, path) if file.is_dir() else _file(studio, file, path)
    return page(request, ROOM, "learning/one.html", path=path, live=live, **values)


def events(request: Request) -> Response:
    """Stream of the curves of a run, or of a loop in a folder, until it ends."""
    studio, query = studio_of(request), request.query_params
    path = query.get("path", "")
    number = whole_number(query["run"], "run", 0, 10**12) if query.get("run") else None
    folder = None if number is not None else studio.folder.path(path)

    def look() -> dict[str, str]:
        if folder is None:
            run = studio.runs.get(number or 0)
            values, over = _run_page(studio, run), not run.is_alive
            shown = {"curves": html("learning/progress.html", **values)}
        else:
            over = not _is_alive(studio, path)
            shown = {"curves": html("learning/report.html", **_loop(folder, path))}
        return shown | ({END: ""} if over else {})

    return watch(request, look, every_s=_EVERY_S)


def _overview(studio: Studio) -> dict[str, Any]:
    items = studio.folder.items()
    models = [each for each in items if each.kind == "model"]
    loops = [*loops_among(models), *_improvements_among(studio, items)]
    inside = tuple(f"{loop.path}/" for loop in loops)
    others = [model for model in models if not model.path.startswith(inside)]
    kinds = {kind: [each for each in others if each.facts["kind"] == kind] for kind in KINDS}
    tables = [
        Section(
            "METS" if kind == "mets" else kind.capitalize(),
            (f"{KINDS[kind].words[:1].upper()}{KINDS[kind].words[1:]}.",),
            (models_table(files[:_LISTED]),),
        )
        for kind, files in kinds.items()
        if files
    ]
    tasks = [(name, task) for name, task in TASKS.items() if name in studio.forms.commands]
    return {
        "loops": [(loop, _strength_line(studio.folder.path(loop.path), loop)) for loop in loops],
        "kinds": tables,
        "runs": _runs(studio),
        "tasks": [
            (task.title, address("/runs/new", command=name), task.group)
            for name, task in tasks
            if task.group.startswith("Learn") or name == "improve"
        ],
    }


def models_table(models: Sequence[FolderItem]) -> Table:
    """A table of models that leads to their pages."""
    return Table(
        "The newest models",
        ("File", "Game", "What it is", "Size"),
        [
            (
                each.path,
                game_title(each.facts["game"]),
                each.facts["words"],
                size_text(each.facts["size"]),
            )
            for each in models
        ],
        [where_to_look(each) for each in models],
    )


def loops_among(models: list[FolderItem]) -> list[Loop]:
    """The loops that models in a folder come from."""
    loops: dict[str, Loop] = {}
    for model in models:
        if match := _GENERATION.fullmatch(model.path):
            loops.setdefault(match[1], Loop(match[1], "selfplay", "Generations of self-play"))
        elif match := _INDIVIDUAL.fullmatch(model.path):
            loops.setdefault(match[1], Loop(match[1], "objectives", "A population of objectives"))
    return list(loops.values())


def _improvements_among(studio: Studio, items: Iterable[FolderItem]) -> list[Loop]:
    """Folders of `hyoka improve`: what they hold is in the folder's list."""
    parents = dict.fromkeys(each.path.rpartition("/")[0] for each in items)
    loops = []
    for parent in parents:
        if parent and (studio.folder.root / parent / _SLICES).is_file():
            loops.append(Loop(parent, "improvement", "An improvement of an evaluation"))
    return loops


def _strength_line(folder: Path, loop: Loop) -> str:
    """The strength of a loop's generations or steps, as points of a small curve."""
    values: list[float] = []
    with contextlib.suppress(hk.Error, OSError, ValueError):
        if loop.kind == "selfplay":
            values = strength_by_generation(read_loop(folder).generations)
        elif loop.kind == "objectives":
            values = [max(step.elo.values()) for step in read_steps(folder)]
    return spark(list(enumerate(values)))


def spark(points: Sequence[tuple[float, float]]) -> str:
    """A small curve, as an SVG `polyline` has it; empty for fewer than two points.

    >>> spark([(1, 5.0), (2, 7.0), (3, 6.0)])
    '2,30 60,2 118,16'
    """
    points = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if len(points) < 2:
        return ""
    width, height = _SPARK
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)

    def place(value: float, start: float, end: float, size: float) -> float:
        return 2 + (size - 4) * ((value - start) / (end - start) if end > start else 0.5)

    return " ".join(
        f"{place(x, left, right, width):.4g},{height - place(y, low, high, height):.4g}"
        for x, y in points
    )


def _is_learning(run: Run) -> bool:
    return run.command.startswith("learn") or run.command == "improve"


def _runs(studio: Studio) -> list[dict[str, Any]]:
    """Runs that learn, with a small curve of their loss."""
    shown = []
    for run in [run for run in studio.runs.all() if _is_learning(run)][:_MOST_RUNS]:
        spots = loss_spots(run.log)
        series = "held-out games" if any(each.series == "held-out games" for each in spots) else ""
        series = series or (spots[0].series if spots else "")
        points = [(each.x, each.y) for each in spots if each.series == series]
        works = run.works
        shown.append(
            {
                "run": run,
                "state": run.state,
                "line": spark(points),
                "words": f"loss of {series} {points[-1][1]:.4g}" if points else "",
                "work": works[-1] if works else None,
            }
        )
    return shown


def _run_page(studio: Studio, run: Run) -> dict[str, Any]:
    """A run that learns: curves, what it made, and its settings."""
    if not _is_learning(run):
        raise hk.errors.SourceError(f"run {run.number} learns nothing")
    log, live = run.log, run.is_alive
    sections = [each for each in (loss_section(log), accuracy_section(log)) if each is not None]
    folder = run.values.get("folder", [""])[-1]
    report = Page("", sections=tuple(sections))
    loop: dict[str, Any] = {}
    with contextlib.suppress(hk.Error):
        loop = _loop(studio.folder.path(folder), folder)
        report = loop["report"]
    until = run.ended or math.inf
    models = [
        each
        for each in studio.folder.items("model")
        if run.began - 1 <= each.changed <= until + 1 and not each.path.startswith(f"{folder}/")
    ]
    return {
        "run": run,
        "state": run.state,
        "live": live,
        "report": report,
        "matches": loop.get("matches", []),
        "folder": folder if loop else "",
        "models": [(each, model_links(each.path, each.facts)) for each in models[:_MOST_RUNS]],
        "settings": [
            (name.replace("_", " ").capitalize(), ", ".join(texts))
            for name, texts in run.values.items()
        ],
        "again": address("/runs/new", command=run.command, **run.values),
    }


def model_links(path: str, facts: Any) -> list[tuple[str, str]]:
    """What one can do with a model: play against it, compare it with the default."""
    game, text = facts["game"], model_agent(path, facts["kind"])
    if game not in FACTS or not text:
        return []
    plain = text.partition(":")[0]
    return [
        ("Compare with the default", address("/match/new", game=game, p1=text, p2=plain)),
        ("Play against it", address("/board", game=game, against=text, level="club")),
    ]


def _is_alive(studio: Studio, path: str) -> bool:
    """Whether a run writes into a folder."""
    return any(run.values.get("folder") == [path] for run in studio.runs.under_way())


def _file(studio: Studio, file: Path, path: str) -> dict[str, Any]:
    model_file = hk.read_model_file(file)
    if model_file.kind is None:
        raise hk.errors.SourceError(f"{path} is nothing that Hyoka has learned")
    parents = {} if model_file.origin is None else model_file.origin.parents
    by_sum: dict[str, str] = {}
    if parents:
        hashes = set(parents.values())
        for model in studio.folder.items("model"):
            try:
                sha256 = hk.read_model_file(studio.folder.path(model.path)).sha256
            except hk.Error:
                continue
            if sha256 in hashes:
                by_sum[sha256] = model.path
    links = model_links(path, {"game": model_file.game, "kind": model_file.kind})
    if model_file.kind in MOVE_MODELS and model_file.game in FACTS:
        links.append(("On the board", address("/board", game=model_file.game, model=path)))
    return {
        "facts": facts_of(model_file),
        "origin": origin_of(model_file),
        "parents": [(name, sha256, by_sum.get(sha256, "")) for name, sha256 in parents.items()],
        "report": Page(path, sections=tuple(model_sections(model_file))),
        "is_file": True,
        "links": links,
        "settings": [],
        "matches": [],
    }


def _loop(folder: Path, path: str) -> dict[str, Any]:
    plan = folder / PLAN
    text = read_regular(plan).decode("utf-8", errors="replace") if plan.is_file() else ""
    values: dict[str, Any] = {"facts": [], "origin": [], "parents": [], "is_file": False}
    values |= {"settings": plan_words(text), "links": [], "matches": []}
    if (folder / _SLICES).is_file():
        return values | _improvement(folder, path)
    if (folder / JOURNAL).is_file():
        return values | {"report": _search_report(folder)}
    if not plan.is_file():
        raise hk.errors.SourceError(f"nothing has learned in {path}: it has no {PLAN}")
    loop = read_loop(folder)
    if not loop.generations:
        return values | {"report": Page(path, findings=("No generation is complete yet.",))}
    newest = max((each for each in loop.generations if each.accepted), default=None,
                 key=lambda each: each.number)  # fmt: skip
    if newest is not None:
        network = f"{path}/{loop.place(newest.number).name}/{NETWORK}"
        values["links"] = model_links(network, {"game": loop.plan.game, "kind": "network"})
    return values | {"report": selfplay_page(loop)}


def _improvement(folder: Path, path: str) -> dict[str, Any]:
    """The steps of an improvement so far: slices, fits, matches."""
    try:
        findings = from_json(SliceFindings, json.loads(read_regular(folder / _SLICES)))
        fits = [
            from_json(Candidate, json.loads(read_regular(file)))
            for file in sorted(folder.glob("fit-*.json"))
        ]
        slices = [
            (each.words, each.effect.text("+.3f"), each.confirmed.text("+.3f"))
            for each in findings.slices
        ]
        rows = [
            (each.about, f"{each.loss.before:.4f}", f"{each.loss.after:.4f}",
             each.loss.change.text("+.4f"))
            for each in fits
        ]  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration) as error:
        raise hk.errors.StudyError(f"{path}: a step can't be read: {error!r}") from None
    sections = [
        Section("Slices with a bias", (), (Table("Gaps by slice", _SLICE_COLUMNS, slices),)),
        Section("Fits", (), (Table("Log-loss of held-out games", _FIT_COLUMNS, rows),)),
    ]
    found = f"{counted(len(slices), 'slice')} {'is' if len(slices) == 1 else 'are'} significant"
    tried = f"{findings.tried:,} conditions were tried; {found}."
    links = []
    for file in sorted(folder.glob("weights-*.json")):
        facts = {"game": hk.read_model_file(file).game, "kind": "weights"}
        for words, where in model_links(f"{path}/{file.name}", facts)[:1]:
            links.append((f"{words}: {file.name}", where))
    if (folder / _REPORT).is_file():
        links.append(("Read the report", address("/report", path=f"{path}/{_REPORT}")))
    return {
        "report": Page(path, findings=(tried,), sections=tuple(sections)),
        "matches": _matches_of(folder, path),
        "links": links,
    }


_SLICE_COLUMNS: Final = ("Slice", "Gap in the fitting games", "In held-out games")
_FIT_COLUMNS: Final = ("Weights", "Before", "After", "Change")


def _matches_of(folder: Path, path: str) -> list[tuple[str, str, str]]:
    """The matches of an improvement: names, results, addresses."""
    matches = []
    for place in sorted(folder.glob("match-*")):
        name = f"{path}/{place.name}"
        with contextlib.suppress(hk.Error):
            duels: list[DuelSummary] = match_in(place, name).duels
            words = f"{duels[0].score.score}: {elo_text(duels[0].elo)}" if duels else "no game yet"
            matches.append((place.name, words, address("/match", path=name)))
    return matches


def _search_report(folder: Path) -> Page:
    """A search for an objective as far as its journal tells."""
    steps = read_steps(folder)
    if not steps:
        return Page("", findings=("The first population is still being trained.",))
    findings = (f"{len(steps):,} steps, a population of {len(steps[-1].elo)}.",)
    return Page("", findings=findings, sections=tuple(search_sections(steps)))


ROOM = Room(
    "learning",
    "Learning",
    "What was learned, and how it went.",
    [Route("/learning", show), Route("/learning/events", events)],
    style=True,
)
