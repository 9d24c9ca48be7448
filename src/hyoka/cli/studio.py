# SPDX-License-Identifier: Apache-2.0
"""The studio: the laboratory in a browser."""

import importlib.util
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from hyoka.cli.output import err, say
from hyoka.errors import Error, SourceError

_NEEDED = ("starlette", "jinja2", "uvicorn", "multipart")


def studio_command(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="What it is about; by default this one.")
    ] = Path(),
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SPEC",
            help="An engine that pages may use by its name, repeatable: sf=uci:stockfish.",
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML with a table \\[engines] of NAME = SPEC; by default hyoka/studio.toml among "
            "your own settings.",
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="By default 8620, or any that is free.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where it can be reached; any other than this opens it to others.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open it in the browser.")] = True,
) -> None:
    """Open the laboratory in a browser: boards, studies, matches, runs, all in one folder.

    It can be reached from this machine alone, by the address that it prints, and starts no engine
    but those that you name. Runs go on when the browser is closed.
    """
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        raise Error('the studio needs more packages: pip install "hyoka[web]"')
    from hyoka.cli.commands import COMMANDS  # noqa: PLC0415 - it lists this one
    from hyoka.studio import engines, safety, serving  # noqa: PLC0415 - slow to import
    from hyoka.studio.folder import Folder  # noqa: PLC0415
    from hyoka.studio.state import Studio  # noqa: PLC0415

    if not folder.is_dir():
        raise SourceError(f"{folder}: no such folder; make it first: mkdir {folder}")
    settings = settings or (file if (file := engines.usual_settings()).is_file() else None)
    allowed = engines.engines_from_settings(settings) if settings is not None else {}
    allowed |= engines.named_engines(engine or [])
    root = folder.resolve()
    studio = Studio.on(Folder(root), engines.Engines(allowed), COMMANDS)
    if not safety.is_loopback(host):
        err.print(
            f"hyoka: whoever can reach {host} and has the token can use this studio, and what it "
            "sends can be read on the way (there is no HTTPS)",
            style="red",
            markup=False,
            soft_wrap=True,
        )
    sock = serving.listening(host, port)
    token = serving.kept_token(root)
    address = serving.address_of(sock, token)
    say(f"Hyoka Studio on {root}: {address}\nCtrl-C ends it; runs under way go on.")
    if browser:
        webbrowser.open(address)
    serving.serve(studio, sock, token, host)
