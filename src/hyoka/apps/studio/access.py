# SPDX-License-Identifier: Apache-2.0
"""Access control: token, host, origin and content security policy.

Four independent checks: `Host` must be the studio's (against DNS rebinding); the request must carry
the token (first in the address, then in a same-site cookie); requests that change something must
come from the studio's own pages (`Origin`); pages load and run only files of the package.
"""

import hmac
import html
import ipaddress
import secrets
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyoka.apps.studio.forms import is_whole_number

TOKEN: Final = "token"
"""The name of the token in an address."""
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
REPORT_POLICY: Final = "; ".join(
    (
        "sandbox allow-scripts allow-popups",
        "default-src 'none'",
        "script-src 'unsafe-inline' 'unsafe-eval'",
        "style-src 'unsafe-inline'",
        "img-src data:",
    )
)
"""Sandbox for reports, which draw charts with their own scripts: no origin, no network."""
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
LARGEST: Final = 1 << 20
"""Maximum bytes of a request without files."""
UPLOADS: Final = {"/records": 256 << 20}
"""Maximum bytes of uploads, by address."""
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})


def new_token() -> str:
    """A random secret."""
    return secrets.token_urlsafe(24)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server there."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class AccessControl:
    """ASGI middleware that passes only permitted requests to the application."""

    def __init__(self, app: ASGIApp, *, token: str, host: str, port: int) -> None:
        self._app = app
        self._token = token
        self._host = host
        self._port = port
        self._cookie = f"hyoka-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there is nothing else here to talk to
            return
        send = _with_headers(send)
        refusal = self._refusal(HTTPConnection(scope))
        await (refusal or self._app)(scope, _with_limit(scope, receive), send)

    def _refusal(self, request: HTTPConnection) -> Response | None:
        """The response to a refused or redirected request; None if it passes."""
        host = request.headers.get("host", "")
        if len(request.headers.getlist("host")) != 1 or not self._is_ours(host):
            return _refused("this address is not the studio's: open the one that it printed")
        is_reading = request.scope["method"] in SAFE_METHODS
        if not is_reading and not _is_own_page(request.headers, host):
            return _refused("only a page of the studio itself may change something")
        if not is_reading and not self._is_small(request):
            return _refused("that is larger than it takes", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if request.scope["path"].startswith("/static/"):
            return None
        return self._without_token(request, is_reading)

    def _without_token(self, request: HTTPConnection, is_reading: bool) -> Response | None:
        token = request.query_params.get(TOKEN)
        if is_reading and token is not None and _same(token, self._token):
            return self._welcome(request)
        if _same(request.cookies.get(self._cookie, ""), self._token):
            return None
        return _unknown(request)

    @staticmethod
    def _is_small(request: HTTPConnection) -> bool:
        """Whether a request states its length, and that is no more than its address takes.

        The statement may be false: with `Transfer-Encoding: chunked` servers ignore it. The bytes
        are counted as well, as they arrive.
        """
        length = request.headers.get("content-length", "")
        return is_whole_number(length) and int(length) <= _most_bytes(request.scope)

    def _welcome(self, request: HTTPConnection) -> Response:
        """Redirect to the address without the token and store the token in a cookie."""
        query = [
            (name, value)
            for name, value in parse_qsl(request.url.query, keep_blank_values=True)
            if name != TOKEN
        ]
        path = "/" + request.url.path.lstrip("/")  # never another host's
        response = RedirectResponse(
            f"{path}?{urlencode(query)}" if query else path, HTTPStatus.SEE_OTHER
        )
        response.set_cookie(
            self._cookie, self._token, httponly=True, samesite="strict", max_age=30 * 24 * 3600
        )
        return response

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or port.endswith("]"):
            name, port = host, "80"
        if port != str(self._port):
            return False
        if is_loopback(self._host):
            return name in _LOOPBACK
        if name in _LOOPBACK or name == self._host:
            return True
        try:  # an address of numbers is nobody's name
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


class TooLargeError(HTTPException):
    """A request's body is larger than its address takes; nothing more of it is read."""

    def __init__(self) -> None:
        # The rest of the body would be taken for the next request on this connection.
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers={"connection": "close"})


def _most_bytes(scope: Scope) -> int:
    """Maximum size of a request's body in bytes."""
    return UPLOADS.get(scope["path"], LARGEST)


def _with_limit(scope: Scope, receive: Receive) -> Receive:
    """Count the bytes of a request's body as they arrive; raises TooLargeError."""
    most, count = _most_bytes(scope), 0

    async def receiving() -> Message:
        nonlocal count
        message = await receive()
        if message["type"] == "http.request":
            count += len(message.get("body", b""))
            if count > most:
                raise TooLargeError
        return message

    return receiving


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _is_own_page(headers: Headers, host: str) -> bool:
    site = headers.get("sec-fetch-site", "same-origin")
    return headers.get("origin") == f"http://{host}" and site == "same-origin"


def _refused(why: str, status: int = HTTPStatus.FORBIDDEN) -> Response:
    return PlainTextResponse(f"Hyoka Studio: {why}.\n", status)


def _unknown(request: HTTPConnection) -> Response:
    """For who comes without a token, or by another site's link, for which cookies stay away."""
    query = f"?{request.url.query}" if request.url.query else ""
    here = html.escape("/" + request.url.path.lstrip("/") + query)
    return HTMLResponse(
        '<!doctype html><html lang="en"><title>Hyoka Studio</title><h1>Hyoka Studio</h1>'
        "<p>This page needs the studio's token: open the address that <code>hyoka studio</code> "
        f'printed.</p><p>If this browser has been here before: <a href="{here}">open it</a>.</p>',
        HTTPStatus.FORBIDDEN,
    )


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
