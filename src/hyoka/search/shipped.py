# SPDX-License-Identifier: Apache-2.0
"""Move models that come with Hyoka, learned from records: what searches go by unless told."""

import functools
import importlib.resources

from hyoka.artefact import Artefact
from hyoka.games import game_facts


@functools.cache
def shipped_model(game: str) -> Artefact | None:
    """The move model that was learned for a game; None where there is none.

    >>> model = shipped_model("othello")
    >>> model.kind, model.origin.command.split()[:3]
    ('strengths', ['hyoka', 'learn', 'strengths'])
    """
    name = game_facts(game).move_model
    if not name:
        return None
    file = importlib.resources.files("hyoka.models") / name
    # Boards of other sizes go by it, too: whose it is, the game's facts say.
    return Artefact.from_bytes(file.read_bytes(), path=f"hyoka/models/{name}")
