# SPDX-License-Identifier: Apache-2.0
"""The application (rooms behind access control), and its server on this machine."""

import contextlib
import hashlib
import os
import socket
import threading
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import hyoka as hk
import hyoka.reporting
from hyoka.apps.studio.access import TOKEN, AccessControl, new_token
from hyoka.apps.studio.blocks import PageWidth, warm_up
from hyoka.apps.studio.pages import HERE, Studio, failure, stamp
from hyoka.apps.studio.rooms import ROOMS
from hyoka.reporting.charts import BLOCKS_CSS
from hyoka.study.sql import within_memory

_QUERY_BYTES: Final = 500_000_000
"""Memory limit of one query; several queries may run beside the runs."""


_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_CHECKED: Final = "no-cache"


def _caching(query: bytes) -> str:
    """The `Cache-Control` of a static file.

    Pages name files with the stamp of all of them. Modules import one another without it, and
    browsers ask each time whether their copy (by its ETag) is the present one.
    """
    return _IMMUTABLE if query == stamp().encode() else _CHECKED


class StampedStaticFiles(StaticFiles):
    """Static files: immutable under their stamp, otherwise checked at each use."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The response, with a header that allows caching."""
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _caching(scope["query_string"])
        return response


def block_styles(request: Request) -> Response:
    """The style sheet of reports' blocks."""
    file = Path(hyoka.reporting.__file__).with_name(BLOCKS_CSS)
    return FileResponse(file, headers={"cache-control": _caching(request.scope["query_string"])})


class ErrorBoundary:
    """ASGI middleware that turns exceptions into error pages, inside access control."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application; answer exceptions with an error page."""
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
            Route("/static/blocks.css", block_styles),
            Mount("/static", StampedStaticFiles(directory=HERE / "static")),
            *(route for room in ROOMS for route in room.routes),
        ],
        middleware=[
            Middleware(AccessControl, token=token, host=host, port=port),
            Middleware(ErrorBoundary),
            Middleware(PageWidth),
        ],
        exception_handlers={HTTPException: failure, hk.Error: failure, MemoryError: failure},
    )
    app.state.studio = studio
    app.state.rooms = ROOMS
    return app


DEFAULT_PORT: Final = 8620
_SHORTEST: Final = 24
_QUEUE: Final = 128


def listening(host: str, port: int | None) -> socket.socket:
    """A socket at an address; without a port the default one, or any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in (DEFAULT_PORT, 0) if port is None else (port,):
        # With its protocol named, asyncio sends short answers at once.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, candidate))
            sock.listen(_QUEUE)  # requests can arrive as soon as the address is printed
            return sock
        except OSError as error:
            sock.close()
            if port is not None:
                raise hk.errors.ParameterError(
                    "port", f"{port} is not available: {error.strerror}"
                ) from error
    raise hk.errors.ParameterError("host", f"'{host}' is no address of this machine")


def load_token(root: Path) -> str:
    """The folder's token, created once, so that open pages survive a restart.

    It is stored among the user's files, because the folder may come from others.
    """
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32]
    file = Path(home) / "hyoka" / "studio" / name
    try:
        token = file.read_text(encoding="ascii").strip()
        if len(token) >= _SHORTEST:
            return token
    except (OSError, UnicodeDecodeError):
        pass
    token = new_token()
    with contextlib.suppress(OSError):  # then it is another the next time
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(token + "\n", encoding="ascii")
    return token


def address_of(sock: socket.socket, token: str) -> str:
    """The studio's address for a browser."""
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/?{TOKEN}={token}"


def serve(studio: Studio, sock: socket.socket, token: str, host: str) -> None:
    """Answer requests until the process is stopped."""
    os.chdir(studio.folder.root)
    threading.Thread(target=warm_up, name="hyoka-charts", daemon=True).start()
    app = studio_app(studio, token=token, host=host, port=sock.getsockname()[1])
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=1 << 16,
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[sock])
