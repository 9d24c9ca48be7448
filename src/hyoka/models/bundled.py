# SPDX-License-Identifier: Apache-2.0
"""Models that ship in the wheel: each game's defaults, and those with a name to export.

The exported ones are called `built-in:KIND:GAME`.
"""

import dataclasses
import functools
import importlib.metadata
import importlib.resources
from collections.abc import Callable
from typing import Final

from hyoka.foundation.errors import NotationError, nearest
from hyoka.games import FACTS, game_facts
from hyoka.models.linear import (
    MoveStrengths,
    has_features,
    has_terms,
    linear_evaluation,
)
from hyoka.storage.model_file import BUILT_IN, ModelFile, Origin


def bundled_move_model(game: str) -> ModelFile | None:
    """The bundled move model of a game, or None.

    >>> model = bundled_move_model("othello")
    >>> model.kind, model.origin.command.split()[:3]
    ('strengths', ['hyoka', 'learn', 'strengths'])
    """
    return _read_if_any(game_facts(game).bundled.move_model)


def bundled_evaluation(game: str) -> ModelFile | None:
    """The bundled evaluation of a game, or None."""
    return _read_if_any(game_facts(game).bundled.evaluation)


def bundled_prior_model(game: str) -> ModelFile | None:
    """The bundled move model for the priors of a game's tree searches, or None."""
    return _read_if_any(game_facts(game).bundled.prior_model)


def bundled_network(game: str) -> ModelFile | None:
    """The bundled network that searches of a game use by default, or None."""
    return _read_if_any(game_facts(game).bundled.network)


def named_network(game: str) -> ModelFile:
    """The network that `eval=network` and `strengths=network` mean.

    Raises NotationError if the game has none.

    >>> named_network("othello").kind
    'network'
    """
    if not has_network(game):
        raise NotationError(f"no network of {game_facts(game).name} comes with Hyoka: name a file")
    return _read(_network_file(game))


def has_network(game: str) -> bool:
    """Whether a network of a game is bundled."""
    return bool(_network_file(game))


def default_evaluation(game: str) -> ModelFile | str:
    """The bundled evaluation or network of a game; `built-in` if there is neither."""
    return bundled_evaluation(game) or bundled_network(game) or BUILT_IN


def default_strengths(game: str) -> ModelFile | str:
    """The bundled move model or network of a game; `built-in` if there is neither."""
    return bundled_move_model(game) or bundled_network(game) or BUILT_IN


@functools.cache
def _read(name: str) -> ModelFile:
    file = importlib.resources.files("hyoka.models") / "data" / name
    # The model may serve other board sizes than its own, so its game is not checked.
    return ModelFile.from_bytes(file.read_bytes(), path=f"hyoka/models/{name}")


def _read_if_any(name: str) -> ModelFile | None:
    return _read(name) if name else None


def _network_file(game: str) -> str:
    facts = game_facts(game)
    return facts.bundled.network or facts.bundled.prior_model or facts.bundled.spare_network


def _profiles() -> ModelFile:
    path = importlib.resources.files("hyoka") / "engines" / "profiles.toml"
    return ModelFile.of("profile", path.read_bytes())


_BY_GAME: Final[dict[str, tuple[Callable[[str], bool], Callable[[str], ModelFile]]]] = {
    "weights": (has_terms, lambda game: linear_evaluation(game).model_file()),
    "strengths": (has_features, lambda game: MoveStrengths.load(game).model_file()),
}
"""By kind: whether a game has a model, and the model."""
_FOR_ANY_GAME: Final[dict[str, Callable[[], ModelFile]]] = {"profile": _profiles}


def bundled_names() -> list[str]:
    """The names of all bundled models that `bundled_model_file` exports."""
    by_game = [
        f"{BUILT_IN}:{kind}:{game}"
        for kind, (has_model, _) in _BY_GAME.items()
        for game in FACTS
        if has_model(game)
    ]
    return [*by_game, *(f"{BUILT_IN}:{kind}" for kind in _FOR_ANY_GAME)]


def bundled_model_file(name: str) -> ModelFile:
    """The bundled model of a name; raises NotationError with the nearest name.

    >>> file = bundled_model_file("built-in:weights:blokus_duo")
    >>> file.kind, file.game, file.json_object()["weights"]["influence_of_coverable"]
    ('weights', 'blokus_duo', [1.0, 1.0])
    """
    names = bundled_names()
    if name not in names:
        hint = nearest(name, names) or "`hyoka model show` lists them"
        raise NotationError(f"no bundled model '{name}'; {hint}")
    _, kind, *game = name.split(":")
    model_file = _BY_GAME[kind][1](*game) if game else _FOR_ANY_GAME[kind]()
    origin = Origin("it comes with Hyoka", versions={"hyoka": importlib.metadata.version("hyoka")})
    return dataclasses.replace(model_file, path=name, origin=origin)
