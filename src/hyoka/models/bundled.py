# SPDX-License-Identifier: Apache-2.0
"""Models that come with Hyoka, learned from records: what searches go by unless told."""

import functools
import importlib.resources

from hyoka.foundation.errors import NotationError
from hyoka.games import game_facts
from hyoka.storage.model_file import BUILT_IN, ModelFile


def bundled_move_model(game: str) -> ModelFile | None:
    """The move model that was learned for a game; None where there is none.

    >>> model = bundled_move_model("othello")
    >>> model.kind, model.origin.command.split()[:3]
    ('strengths', ['hyoka', 'learn', 'strengths'])
    """
    name = game_facts(game).move_model
    return _read(name) if name else None


@functools.cache
def _read(name: str) -> ModelFile:
    file = importlib.resources.files("hyoka.models") / "data" / name
    # Boards of other sizes go by it, too: whose it is, the game's facts say.
    return ModelFile.from_bytes(file.read_bytes(), path=f"hyoka/models/{name}")


def bundled_evaluation(game: str) -> ModelFile | None:
    """The evaluation that was learned for a game; None where there is none."""
    name = game_facts(game).evaluation
    return _read(name) if name else None


def bundled_prior_model(game: str) -> ModelFile | None:
    """The move model that was learned for the priors of a game's tree searches; None without."""
    name = game_facts(game).prior_model
    return _read(name) if name else None


def bundled_network(game: str) -> ModelFile | None:
    """The network that was learned for a game; None where there is none."""
    name = game_facts(game).network
    return _read(name) if name else None


def named_network(game: str) -> ModelFile:
    """What `eval=network` and `strengths=network` mean; raises NotationError where there is none.

    >>> named_network("othello").kind
    'network'
    """
    if not has_network(game):
        raise NotationError(f"no network of {game_facts(game).name} comes with Hyoka: name a file")
    return _read(_network_file(game))


def has_network(game: str) -> bool:
    """Whether a network of a game comes with Hyoka."""
    return bool(_network_file(game))


def _network_file(game: str) -> str:
    facts = game_facts(game)
    return facts.network or facts.prior_model or facts.spare_network


def default_evaluation(game: str) -> ModelFile | str:
    """What was learned to evaluate positions of a game; without that, what is built in."""
    return bundled_evaluation(game) or bundled_network(game) or BUILT_IN


def default_strengths(game: str) -> ModelFile | str:
    """What was learned to rank moves of a game; without that, what is built in."""
    return bundled_move_model(game) or bundled_network(game) or BUILT_IN
