# SPDX-License-Identifier: Apache-2.0
"""Engine servers that offer our searches to GUIs and match runners.

A server answers a controller line by line until `quit`:

    UciServer(SearchSpec.from_text("ab"), Controller.of_process()).run()
"""

from hyoka.engines.server.controller import Controller
from hyoka.engines.server.gtp_server import GtpServer
from hyoka.engines.server.uci_server import UciServer, UsiServer

__all__ = ["Controller", "GtpServer", "UciServer", "UsiServer"]
