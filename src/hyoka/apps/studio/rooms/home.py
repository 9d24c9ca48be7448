# SPDX-License-Identifier: Apache-2.0
"""Home: what is in the folder, what is under way, and where to begin."""

from http import HTTPStatus
from typing import BinaryIO, Final

import anyio.to_thread
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio import folder as uploads
from hyoka.apps.studio.access import REPORT_POLICY
from hyoka.apps.studio.allowed_engines import engines_on_path
from hyoka.apps.studio.pages import page
from hyoka.apps.studio.rooms.learning import loops_among, models_table
from hyoka.apps.studio.runs import Run
from hyoka.apps.studio.state import Room, Studio, studio_of
from hyoka.games import FACTS
from hyoka.reporting import Table

_MOST_FILES: Final = 20
_LISTED: Final = 50
"""Models listed on the page."""


def show(request: Request) -> Response:
    """Contents of the folder, newest first."""
    studio = studio_of(request)
    everything = studio.folder.items()
    loops = loops_among([each for each in everything if each.kind == "model"])
    inside = tuple(f"{loop.path}/" for loop in loops)
    files = [each for each in everything if not each.path.startswith(inside)]
    kinds = ("study", "match", "model", "records")
    by_kind = {kind: [each for each in files if each.kind == kind] for kind in kinds}
    others = {
        name: spec
        for name, spec in engines_on_path().items()
        if not any(name in allowed for allowed in studio.engines.allowed.values())
    }
    return page(
        request,
        ROOM,
        "home/index.html",
        studies=by_kind["study"],
        matches=by_kind["match"],
        models=models_table(by_kind["model"][:_LISTED]),
        loops=loops,
        samples=sorted({facts.title for facts in FACTS.values() if facts.bundled.samples}),
        records=by_kind["records"],
        is_empty=not everything,
        runs=studio.runs.under_way(),
        has_runs=bool(studio.runs.all()),
        allowed=Table("Engines", ("Name", "What it is"), [*studio.engines.allowed.items()]),
        others=others,
    )


async def take(request: Request) -> Response:
    """Keep the record files that were dropped, and start to make a study of them."""
    form = await request.form(max_files=_MOST_FILES, max_fields=10)
    try:
        files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
        files = [each for each in files if each.filename]
        if not files:
            raise hk.errors.SourceError(
                "no file was chosen: choose one with game records, as SGF or PGN"
            )
        named = [(each.filename or "", each.file) for each in files]
        run = await anyio.to_thread.run_sync(_begin, studio_of(request), named)
    finally:
        await form.close()
    return RedirectResponse(f"/runs/{run.number}", HTTPStatus.SEE_OTHER)


def _begin(studio: Studio, files: list[tuple[str, BinaryIO]]) -> Run:
    uploads.folder_for(studio.folder, uploads.STUDIES)
    uploaded = [uploads.keep(studio.folder, name, content) for name, content in files]
    study = uploads.study_for(studio.folder, uploaded[0])
    return studio.runs.start("study create", {"study": [study], "files": ["\n".join(uploaded)]})


def report(request: Request) -> Response:
    """A report, alone: its scripts reach neither the studio nor a network."""
    path = studio_of(request).folder.path(request.query_params.get("path", ""))
    if path.suffix != ".html" or not path.is_file():
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return FileResponse(
        path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
    )


def file(request: Request) -> Response:
    """A file of the folder to keep, never to be shown as a page."""
    path = studio_of(request).folder.path(request.query_params.get("path", ""))
    if not path.is_file():
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


ROOM = Room(
    "home",
    "Home",
    "What is in this folder, and what is under way.",
    [
        Route("/", show),
        Route("/records", take, methods=["POST"]),
        Route("/report", report),
        Route("/file", file),
    ],
)
