# SPDX-License-Identifier: Apache-2.0
"""Our searches as engines that GUIs and match runners start: the other side of `hyoka.engines`.

A server answers what a controller says, line by line, until it is told to quit:

    UciServer(SearchSpec.from_text("ab"), Controller.of_process()).run()
"""

from hyoka.engines.server.controller import Controller
from hyoka.engines.server.gtp_server import GtpServer
from hyoka.engines.server.uci_server import UciServer, UsiServer

__all__ = ["Controller", "GtpServer", "UciServer", "UsiServer"]
