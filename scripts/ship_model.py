# SPDX-License-Identifier: Apache-2.0
"""Put strengths that `hyoka learn strengths` has learned into the package.

    scripts/ship_model.py learned/go19.json …

Numbers are cut to four digits, and the game's name is left out: boards of other sizes go by the
same strengths. How they were made stays in the file. `games/all_games.py` says who goes by which.
"""

import dataclasses
import sys
from pathlib import Path

from hyoka.artefact import Artefact, read_artefact

MODELS = Path(__file__).parent.parent / "src" / "hyoka" / "models"


def main() -> None:
    """Copy each file that is named."""
    for name in sys.argv[1:]:
        artefact = read_artefact(name, "strengths")
        strengths = artefact.json_object()["strengths"]
        short = {feature: float(f"{strength:.4g}") for feature, strength in strengths.items()}
        if artefact.origin is None:
            sys.exit(f"{name}: it does not say how it was made")
        command = artefact.origin.command.replace(name, Path(name).name)
        origin = dataclasses.replace(artefact.origin, command=command)
        made = Artefact.of("strengths", {"strengths": short}, origin=origin)
        made.save(MODELS / Path(name).name)
        print(f"{Path(name).name}: {len(short):,} features, {len(made.to_bytes()):,} bytes")


if __name__ == "__main__":
    main()
