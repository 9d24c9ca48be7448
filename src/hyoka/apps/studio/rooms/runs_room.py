# SPDX-License-Identifier: Apache-2.0
"""The room Runs: long work, started from a form of its command, watched, paused and resumed."""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.forms import TASKS, Allow, Field, Form, agent_choices, command_text
from hyoka.apps.studio.pages import (
    END,
    Room,
    Studio,
    address,
    fragment,
    html,
    page,
    status_and_words,
    studio_of,
    watch,
)
from hyoka.apps.studio.runs import Run, Runs
from hyoka.games import DEFAULT_GAME, FACTS
from hyoka.records.formats import FORMATS
from hyoka.search import EXACT_METHODS
from hyoka.workflows import load_experiments

WAIT: Final = "wait"
"""The button that starts a run when no other is at work."""
_SHOWN: Final = 50
_MOST_FIELDS: Final = 200


def show(request: Request) -> Response:
    """All runs, and what can be started."""
    studio = studio_of(request)
    return page(
        request,
        ROOM,
        "runs/index.html",
        short=False,
        groups=_groups(studio),
        runs=studio.runs.all()[:_SHOWN],
    )


def _groups(studio: Studio) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """The tasks by group: titles, what they do, addresses."""
    tasks = [(TASKS[name], name, entry.help) for name, entry in studio.forms.commands.items()]
    return [
        (group, [(task.title, words, _form_address(name)) for task, name, words in each])
        for group, each in itertools.groupby(tasks, key=lambda row: row[0].group)
    ]


def _form_address(command: str) -> str:
    return "/match/new" if command == "match run" else address("/runs/new", command=command)


def changes(request: Request) -> Response:
    """The list of runs as it changes; with `short`, only those under way."""
    studio, short = studio_of(request), "short" in request.query_params

    def look() -> dict[str, str]:
        runs = studio.runs.under_way() if short else studio.runs.all()[:_SHOWN]
        return {"runs": html("runs/list.html", runs=runs, short=short)}

    return watch(request, look, every_s=1.0)


def filled_in(pairs: Iterable[tuple[str, object]]) -> tuple[str, dict[str, list[str]]]:
    """The command that a form is for, and what was filled in."""
    command, values = "", dict[str, list[str]]()
    for name, value in pairs:
        if name == "command":
            command = str(value)
        elif name == WAIT:
            continue
        elif isinstance(value, str) and value.strip():
            values.setdefault(name, []).append(value)
    return command, values


def new(request: Request) -> Response:
    """A form, filled in as the address says."""
    pairs = request.query_params.multi_items()
    command, values = filled_in(pairs)
    if not command:
        return RedirectResponse("/runs", HTTPStatus.SEE_OTHER)
    if any(not value.strip() for _, value in pairs):
        return RedirectResponse(
            address("/runs/new", command=command, **values), HTTPStatus.SEE_OTHER
        )
    return _form(request, command, values)


def _form(
    request: Request,
    command: str,
    values: dict[str, list[str]],
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    studio = studio_of(request)
    form = studio.forms.form(command)
    values = {
        each.name: values[each.name]
        for each in form.fields
        if each.name in values and not each.is_unchanged(values[each.name])
    }
    return page(
        request,
        ROOM,
        "runs/new.html",
        form=form,
        values=values,
        task=TASKS[form.name],
        busy=len(studio.runs.under_way()),
        inputs=[input_of(studio, form, each, values) for each in form.fields],
        preview=_preview(studio, command, values) | ({"problem": ""} if problem else {}),
        problem=problem,
        status=status,
    )


def preview(request: Request) -> Response:
    """The command of a form with its current values."""
    command, values = filled_in(request.query_params.multi_items())
    return fragment("runs/preview.html", live=True, **_preview(studio_of(request), command, values))


def _preview(studio: Studio, command: str, values: dict[str, list[str]]) -> dict[str, Any]:
    try:
        allow = Allow(studio.folder, studio.engines)
        words = studio.forms.words(command, values, allow, check=False)
    except hk.Error as error:
        return {"text": "", "problem": str(error)}
    try:
        studio.forms.form(command).check(words)
    except hk.Error as error:
        return {"text": command_text(words), "problem": str(error)}
    return {"text": command_text(words), "problem": ""}


@dataclass(frozen=True)
class Input:
    """A field as the page shows it."""

    field: Field
    shape: str
    """`check`, `select`, `checks` (several of a list), `lines`, `number` or `text`."""
    given: Sequence[str]
    """What is filled in."""
    choices: Sequence[tuple[str, str]] = ()
    """Values and their titles."""
    others: bool = False
    """Whether other values can be typed."""
    reloads: bool = False
    """Whether other fields depend on it."""

    @property
    def ticked(self) -> list[str]:
        """What is filled in, line by line."""
        return [line.strip() for text in self.given for line in text.splitlines() if line.strip()]

    @property
    def typed(self) -> list[str]:
        """What is filled in and not ticked; a second of a kind is typed."""
        listed = {value for value, _ in self.choices}
        lines = enumerate(self.ticked)
        return [line for i, line in lines if line not in listed or line in self.ticked[:i]]


_MODELS: Final[Mapping[str, tuple[str, ...]]] = {
    "calibrated_by": ("calibration",),
    "weights": ("weights",),
    "start": ("weights", "evaluation"),
    "model": ("strengths", "mets", "latent", "combined", "network", "convolution"),
    "models": ("strengths", "mets", "latent", "combined"),
}
"""The kinds of models that a field takes."""
_WORDS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "--exact": [(name, name.capitalize()) for name in EXACT_METHODS],
    "--format": [(name, words) for name, words in FORMATS.items()],
    "--method": [("mlm", "Maximum likelihood"), ("ls", "Least squares")],
    "--scale": [(name, name.capitalize()) for name in ("tiny", "small", "medium", "paper")],
    "--derived": [("all", "All"), ("cheap", "Those that cost little"), ("none", "None")],
    "--device": [("cpu", "CPU"), ("cuda", "GPU (CUDA)")],
    "--objective": [(name, name.capitalize()) for name in ("comparison", "combination")],
}
"""Values of options that are words."""
_EVALUATOR_LEVELS: Final = 2
_MOST_OFFERED: Final = 40


def input_of(studio: Studio, form: Form, each: Field, values: Mapping[str, Sequence[str]]) -> Input:
    """A field with what there is to choose."""
    given = values.get(each.name, ())
    if each.choices:
        return Input(each, "select", given, [(choice, choice) for choice in each.choices])
    found = _choices(studio, form, each, values)
    if each.shape == "check" or found is None:
        return Input(each, each.shape, given)
    choices, others = found
    if each.many:
        return Input(each, "checks" if choices else "lines", given, choices, others)
    if others and not choices:
        return Input(each, each.shape, given)
    return Input(each, "select", given, choices, others, each.name in ("study", "game"))


def _choices(
    studio: Studio, form: Form, each: Field, values: Mapping[str, Sequence[str]]
) -> tuple[list[tuple[str, str]], bool] | None:
    """What there is to choose for a field, and whether other values may be typed."""
    if each.name == "game":
        return [(name, facts.title) for name, facts in FACTS.items()], False
    words = [(name, name) for name in _experiments()] if each.metavar == "EXPERIMENT" else []
    if words := words or [*_WORDS.get(each.option or "", ())]:
        return words, each.option in ("--derived", "--objective", "--device")
    known = _evaluators(studio, values) if each.name.startswith("evaluator") else []
    if known and (each.metavar == "NAME" or form.name == "learn offsets"):
        return known, True
    if each.is_spec:
        return _agents(studio, form, each, values), True
    if not (kinds := _items_of(form, each)):
        return None
    items = studio.folder.items()
    paths = [item.path for item in items if item.facts.get("kind", item.kind) in kinds]
    return [(path, path) for path in paths[:_MOST_OFFERED]], True


def _items_of(form: Form, each: Field) -> tuple[str, ...]:
    """The kinds of things in the folder that a field takes; models by their own kinds."""
    if each.name in _MODELS:
        return _MODELS[each.name]
    if (each.option is not None or form.name == "study create") and each.name == "study":
        return ("study",) if each.option is not None else ()
    words = {"STUDY": "study", "RECORDS": "records", "FILES": "records"}
    if each.option is not None:
        return ()
    return tuple(dict.fromkeys(kind for word, kind in words.items() if word in each.metavar))


def _evaluators(studio: Studio, values: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The evaluators of the chosen study, or of the only one."""
    studies = studio.folder.items("study")
    chosen = [path for name in ("study", "sources") for path in values.get(name, ())]
    facts = next((item.facts for item in studies if item.path in chosen), None)
    if facts is None or facts.get("problem"):
        return []
    return list(zip(facts["evaluators"], facts["spoken_of"], strict=True))


def _agents(
    studio: Studio, form: Form, each: Field, values: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Ready agents for a spec, each with its levels."""
    role = "player" if each.is_player or form.name == "match ablate" else "evaluator"
    choices = [("comments", "Comments of the records")] if form.name == "study evaluate" else []
    if form.name == "improve":
        choices.append((each.default, "The game's own evaluation"))
    for choice in agent_choices(studio.folder, studio.engines, _game(studio, values), role):
        if form.name in ("match ablate", "learn prior", "learn selfplay") and not choice.kind:
            continue
        if form.name in ("match ablate", "study annotate") or not choice.levels:
            choices.append((choice.text, choice.title))
            continue
        for text, title in choice.levels[1 : _EVALUATOR_LEVELS + 1]:
            join = "," if ":" in choice.text else ":"
            choices.append((f"{choice.text}{join}{text}", f"{choice.title}, {title.lower()}"))
    return choices


def _game(studio: Studio, values: Mapping[str, Sequence[str]]) -> str:
    """The game that is filled in, or that of the study."""
    for game in values.get("game", ()):
        if game in FACTS:
            return game
    paths = values.get("study", ())
    games = [item.facts.get("game") for item in studio.folder.items("study") if item.path in paths]
    return games[0] if games and games[0] in FACTS else DEFAULT_GAME


def _experiments() -> list[str]:
    with contextlib.suppress(hk.Error):  # a wheel has none
        return list(load_experiments().EXPERIMENTS)
    return []


async def start(request: Request) -> Response:
    """Start what a form says; what cannot be started is a form again, as it was filled in."""
    form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    command, values = filled_in(form.multi_items())

    def begin() -> Response:
        try:
            runs = studio_of(request).runs
            return _to(runs.start(command, values, wait=WAIT in form).number)
        except (hk.Error, OSError) as error:
            status, words = status_and_words(error, studio_of(request).folder)
            return _form(request, command, values, words, status)

    return await anyio.to_thread.run_sync(begin)


def one(request: Request) -> Response:
    """A run: how far it is, what it says, what it has made."""
    run = studio_of(request).runs.get(request.path_params["number"])
    again = address("/runs/new", command=run.command, **run.values)
    # Before the state: a run that ends meanwhile must not be shown as alive on a page that no
    # event changes.
    live = run.is_alive or run.state == "waiting"
    parts = _parts(request, run)
    return page(
        request, ROOM, "runs/run.html", run=run, live=live, again=again, watch=_watch(run), **parts
    )


def _watch(run: Run) -> tuple[str, str] | None:
    """The page of another room that shows what a run does, and what it is called."""
    folder = run.values.get("folder", [""])[-1]
    if run.command == "match run" and folder:
        return address("/match", path=folder), "Watch the match"
    if run.command.startswith("learn "):
        return address("/learning", run=run.number), "Watch the learning"
    return None


def changes_of_one(request: Request) -> Response:
    """A run as it changes, until it has ended."""
    runs, number = studio_of(request).runs, request.path_params["number"]

    def look() -> dict[str, str]:
        run = runs.get(number)
        over = not run.is_alive and run.state != "waiting"
        parts = _parts(request, run)
        texts = {
            "state": html("runs/state.html", run=run, **parts),
            "progress": html("runs/progress.html", run=run, **parts),
            "log": html("runs/log.html", run=run),
            "made": html("runs/made.html", run=run, **parts),
        }
        return texts | ({END: ""} if over else {})

    return watch(request, look)


def _parts(request: Request, run: Run) -> dict[str, Any]:
    state = run.state
    outputs = []
    if state != "running" or run.command == "match run":  # a match can be watched
        files = studio_of(request).folder.items()
        until = run.ended or float("inf")
        outputs = [each for each in files if run.began - 1 <= each.changed <= until + 1][:8]
    return {"state": state, "made": outputs}


def _act(do: Callable[[Runs, int], None]) -> Callable[[Request], Response]:
    def act(request: Request) -> Response:
        runs, number = studio_of(request).runs, request.path_params["number"]
        do(runs, number)
        folder = runs.get(number).values.get("folder", [""])[-1]
        if request.query_params.get("back") == "match" and folder:
            return RedirectResponse(address("/match", path=folder), HTTPStatus.SEE_OTHER)
        return _to(number)

    return act


def forget(request: Request) -> Response:
    """Take a run that is over off the list."""
    studio_of(request).runs.forget(request.path_params["number"])
    return RedirectResponse("/runs", HTTPStatus.SEE_OTHER)


def _to(number: int) -> Response:
    return RedirectResponse(f"/runs/{number}", HTTPStatus.SEE_OTHER)


ROOM = Room(
    "runs",
    "Runs",
    "Long work: started here, watched, paused, resumed.",
    [
        Route("/runs", show),
        Route("/runs", start, methods=["POST"]),
        Route("/runs/events", changes),
        Route("/runs/new", new),
        Route("/runs/preview", preview),
        Route("/runs/{number:number}", one),
        Route("/runs/{number:number}/events", changes_of_one),
        Route("/runs/{number:number}/pause", _act(Runs.pause), methods=["POST"]),
        Route("/runs/{number:number}/resume", _act(Runs.resume), methods=["POST"]),
        Route("/runs/{number:number}/cancel", _act(Runs.cancel), methods=["POST"]),
        Route("/runs/{number:number}/forget", forget, methods=["POST"]),
    ],
    style=True,
)
