# SPDX-License-Identifier: Apache-2.0
"""Hyoka (評価, "evaluation"): a laboratory for game-tree search on game records.

>>> import hyoka as hk
>>> game = hk.Chess().play("e4").play("c5")
>>> game.to_play
Player.first
>>> hk.playouts(hk.Go9(komi=6.5), 1000, seed=1).value > 0.3
True

The names are those of `hyoka.public_names`; the first one asked for loads them. So commands and
workers, which import the modules that they need, do not load what they do not need.
"""

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hyoka.public_names import *  # noqa: F403

__version__ = "0.1.0"

_FUNCTIONS_NAMED_LIKE_MODULES: Final = frozenset({"diagram", "playouts"})


class _Package(ModuleType):
    """The package: importing `hyoka.diagram` does not make `hk.diagram` that module."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _FUNCTIONS_NAMED_LIKE_MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

if not TYPE_CHECKING:  # a type checker would believe in any name

    def __getattr__(name: str) -> object:
        if name == "__all__" or not name.startswith("_"):
            if name not in _FUNCTIONS_NAMED_LIKE_MODULES and importlib.util.find_spec(
                f"hyoka.{name}"
            ):
                return importlib.import_module(f"hyoka.{name}")
            names = importlib.import_module("hyoka.public_names")
            if hasattr(names, name):
                return globals().setdefault(name, getattr(names, name))
        raise AttributeError(f"module 'hyoka' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *importlib.import_module("hyoka.public_names").__all__})
