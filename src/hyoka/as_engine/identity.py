# SPDX-License-Identifier: Apache-2.0
"""How we introduce ourselves to controllers."""

import importlib.metadata
from typing import Final

NAME: Final = "Hyoka"
AUTHOR: Final = "the Hyoka project"


def version() -> str:
    """The version of what is installed."""
    return importlib.metadata.version("hyoka")
