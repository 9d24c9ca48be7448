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
from hyoka.apps.studio.pages import Room, Studio, address, page, studio_of
from hyoka.apps.studio.rooms.learning import loops_among
from hyoka.games import FACTS
from hyoka.records.samples import SAMPLES, sample_path

_MOST_FILES: Final = 20
_LISTED: Final = 12
"""Entries of a kind on the page."""
STUDY, REVIEW = "study", "review"
"""What is made of records: the field `then`."""


def show(request: Request) -> Response:
    """Contents of the folder, newest first."""
    studio = studio_of(request)
    everything = studio.folder.items()
    loops = loops_among([each for each in everything if each.kind == "model"])
    inside = tuple(f"{loop.path}/" for loop in loops)
    files = [each for each in everything if not each.path.startswith(inside)]
    kinds = ("study", "match", "model", "records")
    by_kind = {kind: [each for each in files if each.kind == kind] for kind in kinds}
    return page(
        request,
        ROOM,
        "home/index.html",
        studies=by_kind["study"],
        matches=by_kind["match"],
        models=by_kind["model"],
        loops=loops,
        samples={name: _capitalized(FACTS[name].title) for name in SAMPLES},
        records=by_kind["records"],
        listed=_LISTED,
        is_empty=not everything,
        runs=studio.runs.under_way(),
        engines=studio.engines,
    )


def _capitalized(title: str) -> str:
    return title[:1].upper() + title[1:]


async def take(request: Request) -> Response:
    """Keep the record files that were dropped, and review one or make a study of them."""
    form = await request.form(max_files=_MOST_FILES, max_fields=10)
    try:
        files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
        files = [each for each in files if each.filename]
        if not files:
            raise hk.errors.SourceError(
                "no file was chosen: choose one with game records, as SGF or PGN"
            )
        named = [(each.filename or "", each.file) for each in files]
        then = str(form.get("then", STUDY))
        place = await anyio.to_thread.run_sync(_begin, studio_of(request), named, then)
    finally:
        await form.close()
    return RedirectResponse(place, HTTPStatus.SEE_OTHER)


def _begin(studio: Studio, files: list[tuple[str, BinaryIO]], then: str) -> str:
    if then != REVIEW:
        uploads.folder_for(studio.folder, uploads.STUDIES)
    return _use(studio, [uploads.keep(studio.folder, name, file) for name, file in files], then)


async def take_sample(request: Request) -> Response:
    """Copy the sample records of a game into the folder, and review one or make a study of them."""
    form = await request.form(max_files=0, max_fields=10)
    game, then = str(form.get("game", "")), str(form.get("then", STUDY))
    studio = studio_of(request)
    place = await anyio.to_thread.run_sync(
        lambda: _use(studio, [uploads.keep_sample(studio.folder, sample_path(game))], then)
    )
    # Of a sample's hundreds of games the first is reviewed; others' games are listed.
    first = "&number=0" if then == REVIEW else ""
    return RedirectResponse(place + first, HTTPStatus.SEE_OTHER)


def _use(studio: Studio, files: list[str], then: str) -> str:
    """The address of a review of the first file, or of a run that makes a study of all."""
    if then == REVIEW:
        return address("/review", path=files[0])
    study = uploads.study_for(studio.folder, files[0])
    run = studio.runs.start("study create", {"study": [study], "files": ["\n".join(files)]})
    return f"/runs/{run.number}"


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
        Route("/samples", take_sample, methods=["POST"]),
        Route("/report", report),
        Route("/file", file),
    ],
)
