# SPDX-License-Identifier: Apache-2.0
"""Hyoka (評価, "evaluation"): a laboratory for game-tree search on game records.

>>> import hyoka as hk
>>> game = hk.Chess().play("e4").play("c5")
>>> game.to_play
Player.first
>>> hk.playouts(hk.Go9(komi=6.5), 1000, seed=1).value > 0.3
True

The names are those that `hyoka.public_names` imports; each is loaded when it is first asked for, so
that nobody waits for what they do not use.
"""

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path
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


@cache
def _homes() -> dict[str, str]:
    """The module that each public name comes from, as `public_names` has it."""
    text = Path(__file__).with_name("public_names.py").read_text(encoding="utf-8")
    return {
        alias.name: str(statement.module)
        for statement in ast.parse(text).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


if not TYPE_CHECKING:  # a type checker would believe in any name

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return list(_homes())
        if not name.startswith("_"):
            if home := _homes().get(name):
                value = getattr(importlib.import_module(home), name)
                return globals().setdefault(name, value)
            if importlib.util.find_spec(f"hyoka.{name}"):
                return importlib.import_module(f"hyoka.{name}")
        raise AttributeError(f"module 'hyoka' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_homes()})
