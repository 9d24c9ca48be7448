# SPDX-License-Identifier: Apache-2.0
"""What a search is where nobody says: by its game, what is known to play it best.

The games' facts have the tables; `preset=paper` leaves them out.
"""

import functools
from collections.abc import Mapping
from typing import Final

from hyoka.games import FACTS, game_facts
from hyoka.models.bundled import (
    bundled_evaluation,
    bundled_move_model,
    bundled_network,
    bundled_prior_model,
)
from hyoka.search.settings import Value

_GO_BY_STRENGTHS: Final = ("uct", "mc", "mc-score", "ranking")
"""Searches that take the move model that comes with Hyoka."""
_GO_BY_EVALUATION: Final = ("ab",)
"""Searches that take the evaluation that comes with Hyoka."""
_GO_BY_NETWORK: Final = ("uct",)
"""Searches that take the network that comes with Hyoka, for values and moves."""
_MEANT_FOR: Final = {
    "c": "formula",
    "reduction": "formula",
    "prior_strengths": "formula",
    "epsilon": "policy",
}
"""Constants that were measured beside one choice; beside another one they mean nothing."""


def preset_settings(
    kind: str, game: str | None, said: Mapping[str, Value], parts: Mapping[str, object]
) -> dict[str, Value]:
    """The settings of a game's preset that nobody has said otherwise.

    >>> preset_settings("uct", "go9", {"preset": "paper"}, {})
    {}
    """
    # An evaluator in Python takes the place of playouts: what was measured with them is no guide.
    if game is None or said.get("preset") == "paper" or "evaluator" in parts:
        return {}
    preset: dict[str, Value] = dict(game_facts(game).presets.get(kind, {}))
    model = bundled_move_model(game)
    if model is not None and kind in _GO_BY_STRENGTHS:
        preset["strengths"] = model
    prior_model = bundled_prior_model(game)
    if prior_model is not None and kind in _GO_BY_NETWORK and "strengths" not in said:
        preset["prior_strengths"] = prior_model
    evaluation = bundled_evaluation(game)
    if evaluation is not None and kind in _GO_BY_EVALUATION and "evaluation" not in parts:
        preset["eval"] = evaluation
    network = bundled_network(game)
    if network is not None and kind in _GO_BY_NETWORK:
        preset["strengths"] = network
        if "evaluation" not in parts:
            preset["eval"] = network

    def fits(name: str) -> bool:
        if name == "cut" and said.get("mix"):
            return False  # who mixes wants playouts
        if name == "mix" and said.get("cut") is not None:
            return False  # who cuts them short asks the evaluation there, not twice
        beside = _MEANT_FOR.get(name)
        return beside is None or beside not in said or said[beside] == preset.get(beside)

    return {name: value for name, value in preset.items() if name not in said and fits(name)}


@functools.cache
def names_in_presets(kind: str) -> frozenset[str]:
    """The settings that some game's preset is about."""
    names = {name for facts in FACTS.values() for name in facts.presets.get(kind, ())}
    names |= {"strengths"} if kind in _GO_BY_STRENGTHS else set()
    names |= {"prior_strengths"} if kind in _GO_BY_NETWORK else set()
    return frozenset(names | ({"eval"} if kind in (*_GO_BY_EVALUATION, *_GO_BY_NETWORK) else set()))
