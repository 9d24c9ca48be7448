# SPDX-License-Identifier: Apache-2.0
"""Learning: what was learned, and how it went."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import hyoka as hk
from hyoka.artefact import KINDS
from hyoka.evolving.page import CLASS_WORDS, distribution_chart, elo_chart, weights_chart
from hyoka.evolving.search import EVALUATIONS, JOURNAL, PLAN, read_steps
from hyoka.files import read_regular
from hyoka.games import FACTS
from hyoka.search.move_models import MOVE_MODELS
from hyoka.selfplay.loop import NETWORK, read_loop
from hyoka.selfplay.page import selfplay_page
from hyoka.studio import drawings
from hyoka.studio.folder import Found
from hyoka.studio.pages import address, fragment, page, wants_part
from hyoka.studio.room import Room
from hyoka.studio.rooms.blocks import Shown, ShownTable, shown_sections
from hyoka.studio.rooms.learning_files import (
    contents_of,
    facts_of,
    origin_of,
    plan_words,
    training_curve,
)
from hyoka.studio.state import Studio, studio_of

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
    """Runs that learn, with what they have told."""
    learning = [run for run in studio.runs.all() if run.command.startswith("learn")][:_MOST_RUNS]
    return [{"run": run, "curve": training_curve(run.log)} for run in learning]


def _file(studio: Studio, file: Path, path: str) -> dict[str, Any]:
    artefact = hk.read_artefact(file)
    if artefact.kind is None:
        raise hk.SourceError(f"{path} is nothing that Hyoka has learned")
    parents = {} if artefact.origin is None else artefact.origin.parents
    by_sum: dict[str, str] = {}
    if parents:
        wanted = set(parents.values())
        for model in studio.folder.models():
            try:
                sha256 = hk.read_artefact(studio.folder.path(model.path)).sha256
            except hk.Error:
                continue
            if sha256 in wanted:
                by_sum[sha256] = model.path
    return {
        "facts": facts_of(artefact),
        "origin": origin_of(artefact),
        "parents": [(name, sha256, by_sum.get(sha256, "")) for name, sha256 in parents.items()],
        "sections": [],
        "results": contents_of(artefact),
        "is_file": True,
        "game": artefact.game,
        "board": (
            address("/board", game=artefact.game, model=path)
            if artefact.kind in MOVE_MODELS and artefact.game in FACTS
            else ""
        ),
        "findings": (),
    }


def _loop(folder: Path, path: str) -> dict[str, Any]:
    plan = folder / PLAN
    text = read_regular(plan).decode("utf-8", errors="replace") if plan.is_file() else ""
    told = plan_words(text)
    values: dict[str, Any] = {"facts": told, "origin": [], "parents": [], "is_file": False}
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
    objective = hk.Parameterised.from_vector(np.array(last.mean))
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
