# SPDX-License-Identifier: Apache-2.0
"""Sample records that come with the package: games of our own searches at several strengths.

`scripts/make_samples.py` plays them anew; `docs/demo.md` says what is in them.
"""

import importlib.resources
from pathlib import Path
from typing import Final

from hyoka.foundation.errors import SourceError, nearest
from hyoka.games import FACTS

SAMPLES: Final = {name: facts.samples for name, facts in FACTS.items() if facts.samples}
"""The file of each game that has samples."""


def sample_path(name: str) -> Path:
    """The file with the sample games of a game; raises SourceError if it has none.

    >>> sample_path("go9").name
    'go9.sgf.xz'
    """
    if name not in SAMPLES:
        hint = nearest(name, SAMPLES) or f"there are {', '.join(SAMPLES)}"
        raise SourceError(f"no samples of '{name}'; {hint}")
    # The package holds a compiled module, so it is never run out of an archive.
    return Path(str(importlib.resources.files("hyoka.records.samples"))) / SAMPLES[name]
