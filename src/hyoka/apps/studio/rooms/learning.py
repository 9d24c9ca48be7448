# SPDX-License-Identifier: Apache-2.0
"""The room Learning: models of the folder, their contents and their training."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.folder import FolderItem
from hyoka.apps.studio.pages import (
    address,
    fragment,
    game_title,
    page,
    size_text,
    wants_part,
    where_to_look,
)
from hyoka.apps.studio.state import Room, Studio, studio_of
from hyoka.games import FACTS
from hyoka.learning.objective_search import EVALUATIONS, JOURNAL, PLAN, read_steps
from hyoka.learning.selfplay_loop import NETWORK, read_loop
from hyoka.models.loading import MOVE_MODELS
from hyoka.reporting import Page, Section, Table
from hyoka.reporting.learning_report import (
    loss_section,
    model_sections,
    search_sections,
    selfplay_page,
)
from hyoka.storage.files import read_regular
from hyoka.storage.model_file import KINDS, ModelFile

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
_MOST_RUNS: Final = 6
_LISTED: Final = 100


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
    file = studio.folder.path(path)
    values = _loop(file, path) if file.is_dir() else _file(studio, file, path)
    return page(request, ROOM, "learning/one.html", path=path, **values)


def _overview(studio: Studio) -> dict[str, Any]:
    models = studio.folder.items("model")
    loops = loops_among(models)
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
    return {"loops": loops, "kinds": tables, "runs": _runs(studio)}


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
            loops.setdefault(match[1], Loop(match[1], "selfplay", "generations of self-play"))
        elif match := _INDIVIDUAL.fullmatch(model.path):
            loops.setdefault(match[1], Loop(match[1], "objectives", "a population of objectives"))
    return list(loops.values())


def _runs(studio: Studio) -> list[dict[str, Any]]:
    """Training runs with their loss curves."""
    learning = [run for run in studio.runs.all() if run.command.startswith("learn")][:_MOST_RUNS]
    return [{"run": run, "curve": loss_section(run.log)} for run in learning]


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
    return {
        "facts": facts_of(model_file),
        "origin": origin_of(model_file),
        "parents": [(name, sha256, by_sum.get(sha256, "")) for name, sha256 in parents.items()],
        "report": Page(path, sections=tuple(model_sections(model_file))),
        "is_file": True,
        "board": (
            address("/board", game=model_file.game, model=path)
            if model_file.kind in MOVE_MODELS and model_file.game in FACTS
            else ""
        ),
    }


def _loop(folder: Path, path: str) -> dict[str, Any]:
    plan = folder / PLAN
    text = read_regular(plan).decode("utf-8", errors="replace") if plan.is_file() else ""
    facts = plan_words(text)
    values: dict[str, Any] = {"facts": facts, "origin": [], "parents": [], "is_file": False}
    if (folder / JOURNAL).is_file():
        return values | {"report": _search_report(folder)}
    if not plan.is_file():
        raise hk.errors.SourceError(f"nothing has learned in {path}: it has no {PLAN}")
    loop = read_loop(folder)
    if not loop.generations:
        return values | {"report": Page(path, findings=("No generation is complete yet.",))}
    return values | {"report": selfplay_page(loop)}


def _search_report(folder: Path) -> Page:
    """A search for an objective as far as its journal tells."""
    steps = read_steps(folder)
    if not steps:
        return Page("", findings=("The first population is still being trained.",))
    findings = (f"{len(steps):,} steps, a population of {len(steps[-1].elo)}.",)
    return Page("", findings=findings, sections=tuple(search_sections(steps)))


ROOM = Room(
    "learning", "Learning", "What was learned, and how it went.", [Route("/learning", show)]
)
