# SPDX-License-Identifier: Apache-2.0
"""Clients for external engines over GTP, UCI, USI and CECP.

Use `Engine`, or `start_engine` within an event loop.
"""

from hyoka.engines.client.conformance import Check, EngineChecks, check_engine
from hyoka.engines.client.engine import EngineClient
from hyoka.engines.client.process import kill_all_engines
from hyoka.engines.client.session import Engine, Failure, start_engine
from hyoka.engines.client.uci import EngineLine
from hyoka.engines.spec import PROTOCOLS, EnginePosition, EngineSpec, Limits

__all__ = [
    "PROTOCOLS",
    "Check",
    "Engine",
    "EngineChecks",
    "EngineClient",
    "EngineLine",
    "EnginePosition",
    "EngineSpec",
    "Failure",
    "Limits",
    "check_engine",
    "kill_all_engines",
    "start_engine",
]
