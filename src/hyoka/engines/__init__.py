# SPDX-License-Identifier: Apache-2.0
"""Clients for external engines over GTP, UCI, USI and CECP.

Use `EngineSession`, or `start_engine` within an event loop.
"""

from hyoka.engines.client.conformance import Check, EngineChecks, check_engine
from hyoka.engines.client.engine import Engine
from hyoka.engines.client.process import kill_all_engines
from hyoka.engines.client.session import EngineSession, Failure, start_engine
from hyoka.engines.client.uci import EngineLine
from hyoka.engines.spec import PROTOCOLS, EnginePosition, EngineSpec, Limits

__all__ = [
    "PROTOCOLS",
    "Check",
    "Engine",
    "EngineChecks",
    "EngineLine",
    "EnginePosition",
    "EngineSession",
    "EngineSpec",
    "Failure",
    "Limits",
    "check_engine",
    "kill_all_engines",
    "start_engine",
]
