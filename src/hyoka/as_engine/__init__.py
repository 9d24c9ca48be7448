# SPDX-License-Identifier: Apache-2.0
"""Our searches as engines that GUIs and match runners start: the other side of `hyoka.engines`.

A server answers what a controller says, line by line, until it is told to quit:

    UciServer(SearchSpec.from_text("ab"), Controller.of_process()).run()
"""

from hyoka.as_engine.controller import Controller
from hyoka.as_engine.gtp import GtpServer
from hyoka.as_engine.uci import UciServer
from hyoka.as_engine.usi import UsiServer

__all__ = ["Controller", "GtpServer", "UciServer", "UsiServer"]
