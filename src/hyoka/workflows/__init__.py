# SPDX-License-Identifier: Apache-2.0
"""Workflows that combine the library: improve, demo, bench, experiments."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from hyoka.foundation.errors import Error


def load_experiments() -> ModuleType:
    """Import the package `experiments` of the clone from which this Hyoka runs.

    Raises Error if Hyoka was installed from a wheel.
    """
    root = Path(__file__).resolve().parents[3]
    if not (root / "experiments" / "__init__.py").is_file():
        raise Error(
            "the papers' experiments are part of the repository, not of the installed package: "
            "run this command from a clone, where `make build` installs Hyoka"
        )
    if str(root) not in sys.path:
        sys.path.append(str(root))
    return importlib.import_module("experiments")
