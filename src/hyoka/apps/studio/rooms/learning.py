# SPDX-License-Identifier: Apache-2.0
"""The room Learning: models of the folder, their contents and their training."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.folder import Found
from hyoka.apps.studio.pages import address, fragment, game_title, page, size_text, wants_part
from hyoka.apps.studio.parameters import is_whole_number
from hyoka.apps.studio.rooms import blocks as drawings
from hyoka.apps.studio.rooms.blocks import Shown, ShownTable, shown_sections
from hyoka.apps.studio.state import Room, Studio, studio_of
from hyoka.games import FACTS
from hyoka.learning.objective_search.objective_loop import EVALUATIONS, JOURNAL, PLAN, read_steps
from hyoka.learning.objectives import objective_from
from hyoka.learning.selfplay.selfplay_loop import NETWORK, read_loop
from hyoka.models.loading import MOVE_MODELS
from hyoka.reporting.charts import Dot, Spot, dots, lines
from hyoka.reporting.learning_report import (
    CLASS_WORDS,
    distribution_chart,
    elo_chart,
    selfplay_page,
    shapes_chart,
    weights_chart,
)
from hyoka.storage.files import read_regular
from hyoka.storage.model_file import KINDS, number_of

_MOST_ROWS: Final = 500
_MOST_BARS: Final = 30
_SAID: Final = {"True": "yes", "False": "no"}


def facts_of(model_file: hk.ModelFile) -> list[tuple[str, str]]:
    """Kind, game and id of a model."""
    kind = model_file.kind
    return [
        ("Kind", f"{kind}: {KINDS[kind].words}" if kind in KINDS else "unknown"),
        ("Game", game_title(model_file.game)),
        ("Size", size_text(len(model_file.content))),
        ("SHA-256", model_file.sha256),
    ]


def origin_of(model_file: hk.ModelFile) -> list[tuple[str, str]]:
    """Origin of a model."""
    origin = model_file.origin
    if origin is None:
        return []
    facts = [("Command", origin.command)]
    if origin.seed is not None:
        facts.append(("Seed", str(origin.seed)))
    facts += [(_words(name), f"{count:,}") for name, count in origin.counts.items()]
    facts += [(_words(name), _SAID.get(text, text)) for name, text in origin.choices.items()]
    facts.append(("Made with", ", ".join(f"{n} {v}" for n, v in origin.versions.items())))
    return [(name, text) for name, text in facts if text]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def contents_of(model_file: hk.ModelFile) -> list[Shown]:
    """Tables of a model's named numbers."""
    show = _SHOWN.get(model_file.kind or "")
    return [] if show is None else show(model_file)


def _named(model_file: hk.ModelFile, key: str, words: str, reference: float) -> list[Shown]:
    """Numbers with names, the strongest first."""
    found = model_file.json_object().get(key)
    if not isinstance(found, dict):
        return []
    flat = _flat(found)
    rows = sorted(flat.items(), key=lambda row: -row[1])
    if not rows:
        return []
    half = _MOST_BARS // 2
    ends = rows if len(rows) <= _MOST_BARS else [*rows[:half], *rows[-half:]]
    chart = dots([Dot(name, value, value, value) for name, value in ends], x=words,
                 reference=reference)  # fmt: skip
    shown = (
        rows if len(rows) <= _MOST_ROWS else [*rows[: _MOST_ROWS // 2], *rows[-_MOST_ROWS // 2 :]]
    )
    notes = [f"{len(rows):,} in all; the {len(ends)} at the ends are drawn."] * (ends is not rows)
    if len(shown) < len(rows):
        notes.append(f"The table has the {len(shown)} at the ends.")
    table = ShownTable(words, ("name", words), [(name, f"{value:g}") for name, value in shown])
    title = words.capitalize()
    return [Shown("section", title, notes, drawings.chart(chart, f"{title} by name"), table)]


def _flat(found: Mapping[str, Any], before: str = "") -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, value in found.items():
        number = number_of(value)
        if isinstance(value, dict) and not before:
            numbers |= _flat(value, f"{name} ")
        elif isinstance(value, list) and not before:
            numbers |= _flat({str(i): each for i, each in enumerate(value)}, f"{name} ")
        elif math.isfinite(number):
            numbers[f"{before}{name}"[:80]] = number
    return numbers


def _objective(model_file: hk.ModelFile) -> list[Shown]:
    objective = objective_from(model_file)
    if not isinstance(objective, hk.Parameterized):
        return _named(model_file, "objective", "constant", 0.0)
    charts = [
        (weights_chart(objective, name), f"Factors by {w}") for name, w in CLASS_WORDS.items()
    ]
    charts.append((shapes_chart(objective), "How moves are compared as the game goes on"))
    numbers = _named(model_file, "objective", "factor", 1.0)
    shown = [Shown("section", words, (), drawings.chart(chart, words)) for chart, words in charts]
    return [*shown, *numbers]


_SHOWN: Final[Mapping[str, Callable[[hk.ModelFile], list[Shown]]]] = {
    "weights": lambda model_file: _named(model_file, "weights", "weight", 0.0),
    "strengths": lambda model_file: _named(model_file, "strengths", "strength", 1.0),
    "formula": lambda model_file: _named(model_file, "columns", "weight", 0.0),
    "objective": _objective,
}  # fmt: skip


def training_curve(log: str) -> Shown | None:
    r"""Losses in the log of a training run, as a chart; None if it has none.

    >>> shown = training_curve("epoch 1: loss of values 0.69\nepoch 2: loss of values 0.61\n")
    >>> shown.table.rows
    [('1', 'values', '0.69'), ('2', 'values', '0.61')]
    """
    spots: list[Spot] = []
    for line in log.splitlines():
        head, colon, said = line.strip().partition(": ")
        what, _, number = head.partition(" ")
        if not colon or what not in ("epoch", "pass") or not is_whole_number(number):
            continue
        said, _, held = said.partition("; held out: ")
        for part in said.replace(" = ", ", ").replace(" + ", ", ").split(", "):
            words, _, value = part.rpartition(" ")
            spots += _spot(words.removeprefix("loss ").removeprefix("of "), number, value)
        spots += _spot("held out", number, held.partition(",")[0])
    if not spots:
        return None
    series = list(dict.fromkeys(spot.series for spot in spots))[:8]
    spots = [spot for spot in spots if spot.series in series]
    rows = [(f"{spot.x:g}", spot.series, f"{spot.y:g}") for spot in spots]
    words = "Loss by epoch or pass"
    picture = drawings.chart(lines(spots, x="epoch or pass", y="loss"), words)
    return Shown("section", words, (), picture, ShownTable(words, ("step", "of", "loss"), rows))


def _spot(series: str, number: str, value: str) -> list[Spot]:
    try:
        y = float(value)
    except ValueError:
        return []
    return [Spot(series[:40] or "loss", float(number), y)] if math.isfinite(y) else []


def plan_words(text: str) -> list[tuple[str, str]]:
    """Choices of a plan, one per line."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    return [(name.replace("_", " "), str(value)[:200]) for name, value in found.items()
            if not isinstance(value, dict | list)]  # fmt: skip


_GENERATION: Final = re.compile(rf"(.+)/generation-\d+/{re.escape(NETWORK)}")
_INDIVIDUAL: Final = re.compile(rf"(.+)/{EVALUATIONS}/\d+\.eval")
_MOST_RUNS: Final = 6


@dataclass(frozen=True)
class Loop:
    """A folder in which something learns again and again."""

    path: str
    kind: str
    """`selfplay` or `objectives`."""
    words: str


def show(request: Request) -> Response:
    """All that was learned, or one file or loop."""
    studio = studio_of(request)
    path = request.query_params.get("path", "")
    if not path:
        if wants_part(request):
            return fragment("learning/runs.html", runs=_runs(studio))
        return page(request, ROOM, "learning/index.html", **_overview(studio))
    found = studio.folder.path(path)
    values = _loop(found, path) if found.is_dir() else _file(studio, found, path)
    return page(request, ROOM, "learning/one.html", path=path, **values)


def _overview(studio: Studio) -> dict[str, Any]:
    models = studio.folder.models()
    loops = loops_among(models)
    inside = tuple(f"{loop.path}/" for loop in loops)
    kinds: dict[str, list[Found]] = defaultdict(list)
    for model in models:
        if not model.path.startswith(inside):
            kinds[model.facts["kind"]].append(model)
    ordered = {kind: kinds[kind] for kind in KINDS if kind in kinds}
    return {"loops": loops, "kinds": ordered, "known": KINDS, "runs": _runs(studio)}


def loops_among(models: list[Found]) -> list[Loop]:
    """The loops that models in a folder come from."""
    found: dict[str, Loop] = {}
    for model in models:
        if match := _GENERATION.fullmatch(model.path):
            found.setdefault(match[1], Loop(match[1], "selfplay", "generations of self-play"))
        elif match := _INDIVIDUAL.fullmatch(model.path):
            found.setdefault(match[1], Loop(match[1], "objectives", "a population of objectives"))
    return list(found.values())


def _runs(studio: Studio) -> list[dict[str, Any]]:
    """Training runs with their loss curves."""
    learning = [run for run in studio.runs.all() if run.command.startswith("learn")][:_MOST_RUNS]
    return [{"run": run, "curve": training_curve(run.log)} for run in learning]


def _file(studio: Studio, file: Path, path: str) -> dict[str, Any]:
    model_file = hk.read_model_file(file)
    if model_file.kind is None:
        raise hk.SourceError(f"{path} is nothing that Hyoka has learned")
    parents = {} if model_file.origin is None else model_file.origin.parents
    by_sum: dict[str, str] = {}
    if parents:
        wanted = set(parents.values())
        for model in studio.folder.models():
            try:
                sha256 = hk.read_model_file(studio.folder.path(model.path)).sha256
            except hk.Error:
                continue
            if sha256 in wanted:
                by_sum[sha256] = model.path
    return {
        "facts": facts_of(model_file),
        "origin": origin_of(model_file),
        "parents": [(name, sha256, by_sum.get(sha256, "")) for name, sha256 in parents.items()],
        "sections": [],
        "results": contents_of(model_file),
        "is_file": True,
        "game": model_file.game,
        "board": (
            address("/board", game=model_file.game, model=path)
            if model_file.kind in MOVE_MODELS and model_file.game in FACTS
            else ""
        ),
        "findings": (),
    }


def _loop(folder: Path, path: str) -> dict[str, Any]:
    plan = folder / PLAN
    text = read_regular(plan).decode("utf-8", errors="replace") if plan.is_file() else ""
    facts = plan_words(text)
    values: dict[str, Any] = {"facts": facts, "origin": [], "parents": [], "is_file": False}
    if (folder / JOURNAL).is_file():
        return values | {"sections": [], "game": None, **_objectives(folder)}
    if not plan.is_file():
        raise hk.SourceError(f"nothing has learned in {path}: it has no {PLAN}")
    loop = read_loop(folder)
    report = selfplay_page(loop) if loop.generations else None
    return values | {
        "sections": shown_sections(report.sections) if report else [],
        "findings": report.findings if report else ("No generation is complete yet.",),
        "results": [],
        "game": loop.plan.game,
    }


def _objectives(folder: Path) -> dict[str, Any]:
    """A search for an objective as far as its journal tells."""
    steps = read_steps(folder)
    if not steps:
        return {"findings": ("The first population is still being trained.",), "results": []}
    last = steps[-1]
    ranked = sorted(last.elo.items(), key=lambda item: -item[1])
    heading = ("individual", "Elo", "came by")
    born = {new: step.number for step in steps for new in step.new}
    rows = [
        (str(who), f"{elo:+.0f}", f"step {born[who]}" if who in born else "the start")
        for who, elo in ranked
    ]
    population = Shown(
        "section",
        "The population",
        ("Elo within the population, whose mean is 0 at each step.",),
        drawings.chart(elo_chart(steps), "Strength within the population, step by step"),
        ShownTable("The population after the last step", heading, rows),
    )
    spread = Shown(
        "section",
        "The distribution",
        ("Where objectives are drawn from: the mean of each parameter's factors.",),
        drawings.chart(distribution_chart(steps), "Mean factors, step by step"),
    )
    objective = hk.Parameterized.from_vector(np.array(last.mean))
    learned = [
        Shown("section", f"Factors by {words}", (),
              drawings.chart(weights_chart(objective, name), f"Factors by {words}"))
        for name, words in CLASS_WORDS.items()
    ]  # fmt: skip
    findings = (f"{len(steps):,} steps, a population of {len(last.elo)}.",)
    return {"findings": findings, "results": [population, spread, *learned]}


ROOM = Room(
    "learning", "Learning", "What was learned, and how it went.", [Route("/learning", show)]
)
