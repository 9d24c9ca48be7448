# SPDX-License-Identifier: Apache-2.0
"""Runs: long work, started from a form made of the command itself, watched, paused and resumed."""

import contextlib
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Final

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.forms import Allow, Field, Form, command_text, games
from hyoka.apps.studio.pages import END, address, fragment, html, page, status_and_words, watch
from hyoka.apps.studio.runs import Run, Runs
from hyoka.apps.studio.state import Room, Studio, studio_of
from hyoka.workflows import load_experiments

_SHOWN: Final = 50
_MOST_FIELDS: Final = 200


def show(request: Request) -> Response:
    """All runs, and what can be started."""
    studio = studio_of(request)
    return page(
        request,
        ROOM,
        "runs/index.html",
        runs=studio.runs.all()[:_SHOWN],
        commands=list(studio.forms.commands.values()),
    )


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
        elif isinstance(value, str) and value.strip():
            values.setdefault(name, []).append(value)
    return command, values


def new(request: Request) -> Response:
    """A form, filled in as the address says."""
    command, values = filled_in(request.query_params.multi_items())
    if not command:
        return RedirectResponse("/runs", HTTPStatus.SEE_OTHER)
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
        offers={each.name: offers(studio, form, each) for each in form.fields},
        preview=_preview(studio, command, values) | ({"problem": ""} if problem else {}),
        problem=problem,
        status=status,
    )


def preview(request: Request) -> Response:
    """The command of a form with its current values."""
    command, values = filled_in(request.query_params.multi_items())
    return fragment("runs/preview.html", **_preview(studio_of(request), command, values))


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


def offers(studio: Studio, form: Form, each: Field) -> list[str]:
    """Suggestions for a field: its choices, entries of the folder, searches, games."""
    folder, metavar = studio.folder, each.metavar
    if each.choices:
        return list(each.choices)
    if each.name == "game":
        return games()
    if each.metavar == "EXPERIMENT":
        return _experiments()
    if each.is_spec:
        comments = ["comments"] if form.name == "study evaluate" else []
        return [*comments, *studio.engines.choices()]
    if each.option is not None and (each.name in ("to", "folder", "output") or not each.is_path):
        return []
    kind_of = {each.path: each.kind for each in folder.items()}
    kinds = {"STUDY": "study", "RECORDS": "records", "FILES": "records", "MODEL": "model"}
    offered = {kind for word, kind in kinds.items() if word in metavar}
    return [path for path, kind in kind_of.items() if kind in offered][:20]


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
            return _to(studio_of(request).runs.start(command, values).number)
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
    live = run.is_alive
    parts = _parts(request, run)
    return page(request, ROOM, "runs/run.html", run=run, live=live, again=again, **parts)


def changes_of_one(request: Request) -> Response:
    """A run as it changes, until it has ended."""
    runs, number = studio_of(request).runs, request.path_params["number"]

    def look() -> dict[str, str]:
        run = runs.get(number)
        over = not run.is_alive
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
)
