# SPDX-License-Identifier: Apache-2.0
"""Commands that play as an engine: GUIs and match runners wait for them to start."""

from typing import Annotated

import typer

from hyoka.as_engine import Controller, GtpServer, UciServer, UsiServer
from hyoka.games import GTP_GAME, games_with
from hyoka.search import SearchSpec

_GTP_GAMES = games_with(lambda facts: facts.protocol == "gtp")
_SEARCH_HELP = "The search, as KIND or KIND:SETTING=VALUE,…: "


def gtp_command(
    search: Annotated[
        str, typer.Option("--search", metavar="SPEC", help=_SEARCH_HELP + "uct:playouts=5000, say.")
    ] = "uct",
    game: Annotated[
        str, typer.Option("--game", metavar="GAME", help=f"One of {', '.join(_GTP_GAMES)}.")
    ] = GTP_GAME,
    resign: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Resign when our expected result is below; never, if not."),
    ] = None,
) -> None:
    """Be a GTP engine: a GUI or a match runner starts this command and talks to it."""
    spec = SearchSpec.from_text(search)
    GtpServer(spec, Controller.of_process(), game=game, resign_below=resign).run()


def uci_command(
    search: Annotated[
        str, typer.Option("--search", metavar="SPEC", help=_SEARCH_HELP + "ab:hash=64, say.")
    ] = "ab",
) -> None:
    """Be a UCI engine: a chess GUI or a match runner starts this command and talks to it."""
    UciServer(SearchSpec.from_text(search), Controller.of_process()).run()


def usi_command(
    search: Annotated[
        str, typer.Option("--search", metavar="SPEC", help=_SEARCH_HELP + "ab:hash=64, say.")
    ] = "ab",
) -> None:
    """Be a USI engine: a shogi GUI or a match runner starts this command and talks to it."""
    UsiServer(SearchSpec.from_text(search), Controller.of_process()).run()
