# SPDX-License-Identifier: Apache-2.0
"""A studio as a server on this machine."""

import contextlib
import hashlib
import os
import socket
import threading
from pathlib import Path
from typing import Final

import uvicorn

import hyoka as hk
from hyoka.studio.app import studio_app
from hyoka.studio.drawings import warm_up
from hyoka.studio.safety import TOKEN, new_token
from hyoka.studio.state import Studio

USUAL_PORT: Final = 8620
_SHORTEST: Final = 24
_QUEUE: Final = 128


def listening(host: str, port: int | None) -> socket.socket:
    """A socket at an address; without a port the usual one, or any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        # With its protocol named, asyncio sends short answers at once.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, wanted))
            sock.listen(_QUEUE)  # whoever reads the address may ask at once
            return sock
        except OSError as error:
            sock.close()
            if port is not None:
                raise hk.ParameterError("port", f"{port} can't be had: {error.strerror}") from error
    raise hk.ParameterError("host", f"'{host}' is no address of this machine")


def kept_token(root: Path) -> str:
    """The folder's token, made the first time: pages that are open outlive the server.

    It is kept among the user's own files, not in the folder, which others may have made.
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
    """Where a browser finds the studio."""
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/?{TOKEN}={token}"


def serve(studio: Studio, sock: socket.socket, token: str, host: str) -> None:
    """Answer requests until the process is told to stop."""
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
