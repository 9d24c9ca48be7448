# SPDX-License-Identifier: Apache-2.0
"""Sample records in the package: games between Hyoka's searches at several strengths.

`scripts/make_samples.py` replays them; `docs/reference/sample-records.md` describes them.
"""

import importlib.resources
from pathlib import Path
from typing import Final

from hyoka.foundation.errors import SourceError, nearest
from hyoka.games import FACTS

SAMPLES: Final = {
    name: facts.bundled.samples for name, facts in FACTS.items() if facts.bundled.samples
}
"""The sample file of each game."""


def sample_path(name: str) -> Path:
    """Return the path of a game's sample file; raises SourceError if it has none.

    >>> sample_path("go9").name
    'go9.sgf.xz'
    """
    if name not in SAMPLES:
        hint = nearest(name, SAMPLES) or f"known: {', '.join(SAMPLES)}"
        raise SourceError(f"no samples of '{name}'; {hint}")
    # The package contains a compiled module, so it is never imported from an archive.
    return Path(str(importlib.resources.files("hyoka.records.samples"))) / SAMPLES[name]
