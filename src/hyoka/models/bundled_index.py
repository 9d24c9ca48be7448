# SPDX-License-Identifier: Apache-2.0
"""The models that come with Hyoka, as artefacts with names: `built-in:KIND:GAME`.

A search that is given `eval=built-in` or `strengths=built-in` has those of its game.
"""

import dataclasses
import importlib.metadata
from collections.abc import Callable
from typing import Final

from hyoka.engines.profiles import bundled_profile_text
from hyoka.foundation.errors import NotationError, nearest
from hyoka.games import FACTS
from hyoka.search import (
    has_features,
    has_terms,
    linear_evaluation,
    move_strengths,
    strengths_model_file,
)
from hyoka.storage.model_file import BUILT_IN, ModelFile, Origin

_OF_A_GAME: Final[dict[str, tuple[Callable[[str], bool], Callable[[str], ModelFile]]]] = {
    "weights": (has_terms, lambda game: linear_evaluation(game).model_file()),
    "strengths": (has_features, lambda game: strengths_model_file(game, move_strengths(game))),
}
"""By kind: whether a game has one, and what it is."""
_OF_ANY: Final[dict[str, Callable[[], ModelFile]]] = {
    "profile": lambda: ModelFile.of("profile", bundled_profile_text().encode()),
}


def bundled_names() -> list[str]:
    """What comes with Hyoka, kind by kind."""
    of_games = [
        f"{BUILT_IN}:{kind}:{game}"
        for kind, (is_there, _) in _OF_A_GAME.items()
        for game in FACTS
        if is_there(game)
    ]
    return [*of_games, *(f"{BUILT_IN}:{kind}" for kind in _OF_ANY)]


def bundled_model_file(name: str) -> ModelFile:
    """What comes with Hyoka under a name; raises NotationError with the nearest right one.

    >>> made = bundled_model_file("built-in:weights:blokus_duo")
    >>> made.kind, made.game, made.json_object()["weights"]["influence_of_coverable"]
    ('weights', 'blokus_duo', [1.0, 1.0])
    """
    known = bundled_names()
    if name not in known:
        hint = nearest(name, known) or "`hyoka artefact` lists them"
        raise NotationError(f"nothing built in is called '{name}'; {hint}")
    _, kind, *game = name.split(":")
    model_file = _OF_A_GAME[kind][1](*game) if game else _OF_ANY[kind]()
    origin = Origin("it comes with Hyoka", versions={"hyoka": importlib.metadata.version("hyoka")})
    return dataclasses.replace(model_file, path=name, origin=origin)
