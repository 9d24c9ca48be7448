# SPDX-License-Identifier: Apache-2.0
"""Hyoka (評価, "evaluation"): a laboratory for game-tree search on game records.

>>> import hyoka as hk
>>> game = hk.Chess().play("e4").play("c5")
>>> game.to_play
Player.first
>>> hk.playouts(hk.Go9(komi=6.5), 1000, seed=1).value > 0.3
True

The other public names are in the packages: `hk.analysis`, `hk.arena`, `hk.engines`, `hk.games`,
`hk.learning`, `hk.models`, `hk.records`, `hk.reporting`, `hk.search`, `hk.study`. Names and
packages are loaded on first access (PEP 562).
"""

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hyoka._core import BlokusDuo as BlokusDuo
    from hyoka._core import Chess as Chess
    from hyoka._core import Go9 as Go9
    from hyoka._core import Go13 as Go13
    from hyoka._core import Go19 as Go19
    from hyoka._core import Othello as Othello
    from hyoka._core import Outcome as Outcome
    from hyoka._core import Player as Player
    from hyoka._core import Shogi as Shogi
    from hyoka.agents import Agent as Agent
    from hyoka.analysis import Resampling as Resampling
    from hyoka.arena import open_match as open_match
    from hyoka.arena import plan_match as plan_match
    from hyoka.arena import play_match as play_match
    from hyoka.engines import Engine as Engine
    from hyoka.foundation import errors as errors
    from hyoka.foundation.errors import Error as Error
    from hyoka.foundation.figure import Figure as Figure
    from hyoka.foundation.math import Estimate as Estimate
    from hyoka.foundation.progress import Progress as Progress
    from hyoka.games import Line as Line
    from hyoka.games import register_game as register_game
    from hyoka.games.diagram import svg as svg
    from hyoka.games.diagram import terminal as terminal
    from hyoka.games.diagram.builders import diagram as diagram
    from hyoka.games.evaluation import Evaluation as Evaluation
    from hyoka.games.registry import position as position
    from hyoka.parallel import cluster as cluster
    from hyoka.records import Record as Record
    from hyoka.records import parse_records as parse_records
    from hyoka.records import read_records as read_records
    from hyoka.records import write_records as write_records
    from hyoka.search import PythonEvaluator as PythonEvaluator
    from hyoka.search import find_mate as find_mate
    from hyoka.search import search_once as search_once
    from hyoka.search import solve_ending as solve_ending
    from hyoka.search.playouts import playouts as playouts
    from hyoka.storage.model_file import read_model_file as read_model_file
    from hyoka.study import Study as Study
    from hyoka.workflows.improve import improve as improve

__version__ = "0.1.0"


def _has_x86_64_v3() -> bool:
    """Whether the processor has AVX2, BMI and FMA; False if the system does not say."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        return False
    return {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}.issubset(flags)


# Wheels hold the core a second time, for newer processors (CMakeLists.txt).
_V3_FOLDER: Final = os.path.join(__path__[0], "_v3")
if os.path.isdir(_V3_FOLDER) and _has_x86_64_v3():
    __path__.insert(0, _V3_FOLDER)

_PUBLIC_NAMES: Final = {
    "hyoka._core": "BlokusDuo Chess Go9 Go13 Go19 Othello Outcome Player Shogi",
    "hyoka.agents": "Agent",
    "hyoka.analysis": "Resampling",
    "hyoka.arena": "open_match plan_match play_match",
    "hyoka.engines": "Engine",
    "hyoka.foundation": "errors",
    "hyoka.foundation.errors": "Error",
    "hyoka.foundation.figure": "Figure",
    "hyoka.foundation.math": "Estimate",
    "hyoka.foundation.progress": "Progress",
    "hyoka.games": "Line register_game",
    "hyoka.games.diagram": "svg terminal",
    "hyoka.games.diagram.builders": "diagram",
    "hyoka.games.evaluation": "Evaluation",
    "hyoka.games.registry": "position",
    "hyoka.parallel": "cluster",
    "hyoka.records": "Record parse_records read_records write_records",
    "hyoka.search": "PythonEvaluator find_mate search_once solve_ending",
    "hyoka.search.playouts": "playouts",
    "hyoka.storage.model_file": "read_model_file",
    "hyoka.study": "Study",
    "hyoka.workflows.improve": "improve",
}
"""Public names by module, separated by spaces; they agree with the imports above."""

_MODULE_OF: Final = {
    name: module for module, names in _PUBLIC_NAMES.items() for name in names.split()
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - a list

    def __getattr__(name: str) -> object:
        if module := _MODULE_OF.get(name):
            return globals().setdefault(name, getattr(importlib.import_module(module), name))
        if not name.startswith("_") and importlib.util.find_spec(f"hyoka.{name}"):
            return importlib.import_module(f"hyoka.{name}")
        raise AttributeError(f"module 'hyoka' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULE_OF})
