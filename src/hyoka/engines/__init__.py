# SPDX-License-Identifier: Apache-2.0
"""Other people's engines, over GTP, UCI, USI and CECP: named by a text, asked and watched.

Callers want `EngineSession`; `start_engine` is for those who have an event loop of their own.
"""

from hyoka.engines.check import Check, EngineReport, check_engine
from hyoka.engines.limits import Limits
from hyoka.engines.position import EnginePosition
from hyoka.engines.process import kill_all_engines
from hyoka.engines.session import Engine, EngineSession, Failure, start_engine
from hyoka.engines.spec import PROTOCOLS, EngineSpec

__all__ = [
    "PROTOCOLS",
    "Check",
    "Engine",
    "EnginePosition",
    "EngineReport",
    "EngineSession",
    "EngineSpec",
    "Failure",
    "Limits",
    "check_engine",
    "kill_all_engines",
    "start_engine",
]
