# SPDX-License-Identifier: Apache-2.0
"""Put models that `hyoka learn strengths` and `hyoka learn comparison` made into the package.

    scripts/ship_model.py learned/go19.json learned/shogi.eval …

Strengths are cut to four digits, and the game's name is left out: boards of other sizes use the
same strengths. The list of the games learned from is left out as well, for size: `hyoka model
predict` then uses the hash rule of --hold-out. How a model was made stays in the file.
`games/registry.py` says which games use which.
"""

import dataclasses
import sys
from pathlib import Path

from hyoka.storage.model_file import ModelFile, read_model_file

MODELS = Path(__file__).parent.parent / "src" / "hyoka" / "models"


def shipped(model_file: ModelFile) -> ModelFile:
    """The same, as small as it can be."""
    if model_file.kind != "strengths":
        return model_file
    strengths = model_file.json_object()["strengths"]
    short = {feature: float(f"{strength:.4g}") for feature, strength in strengths.items()}
    return ModelFile.of("strengths", {"strengths": short})


def main() -> None:
    """Copy each file that is named."""
    for name in sys.argv[1:]:
        model_file = read_model_file(name)
        if model_file.origin is None:
            sys.exit(f"{name}: it does not say how it was made")
        # Where the records lay is of no use to others.
        words = [
            Path(word).name if "/" in word else word for word in model_file.origin.command.split()
        ]
        origin = dataclasses.replace(model_file.origin, command=" ".join(words), learned_games=None)
        made = dataclasses.replace(shipped(model_file), origin=origin)
        made.save(MODELS / Path(name).name)
        print(f"{Path(name).name}: {model_file.kind}, {len(made.to_bytes()):,} bytes")


if __name__ == "__main__":
    main()
