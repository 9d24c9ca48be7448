# SPDX-License-Identifier: Apache-2.0
"""The application: the rooms behind the doors."""

from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import hyoka as hk
from hyoka.studio.drawings import Measured
from hyoka.studio.pages import HERE, failure
from hyoka.studio.rooms import ROOMS
from hyoka.studio.safety import Doors
from hyoka.studio.state import Studio
from hyoka.study.sql import within_memory

_QUERY_BYTES: Final = 500_000_000
"""So much a condition may fill: many may be asked at once, beside the runs."""


class _Kept(StaticFiles):
    """Files that browsers may keep: their addresses change when they do."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


class _Contained:
    """What goes wrong inside is told in words, behind the doors and with their headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            with within_memory(_QUERY_BYTES):
                await self._app(scope, receive, sending)
        except Exception as error:
            if scope["type"] != "http" or begun:
                raise
            response = await failure(Request(scope, receive), error)
            await response(scope, receive, send)


def studio_app(studio: Studio, *, token: str, host: str = "127.0.0.1", port: int = 80) -> Starlette:
    """The ASGI application of a studio at an address."""
    app = Starlette(
        routes=[
            Mount("/static", _Kept(directory=HERE / "static")),
            *(route for room in ROOMS for route in room.routes),
        ],
        middleware=[
            Middleware(Doors, token=token, host=host, port=port),
            Middleware(_Contained),
            Middleware(Measured),
        ],
        exception_handlers={HTTPException: failure, hk.Error: failure, MemoryError: failure},
    )
    app.state.studio = studio
    app.state.rooms = ROOMS
    return app
