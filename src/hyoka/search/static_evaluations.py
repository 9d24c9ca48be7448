# SPDX-License-Identifier: Apache-2.0
"""What positions are worth by themselves: an evaluation by the kind of file that holds it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyoka.artefact import BUILT_IN, LEARNED, NETWORK, Artefact, read_artefact
from hyoka.games import game_facts
from hyoka.search import convolutions, networks, ply_perceptrons, sparse_evaluations
from hyoka.search.convolutions import Convolution
from hyoka.search.evaluations import LinearEvaluation, linear_evaluation
from hyoka.search.networks import Network
from hyoka.search.ply_perceptrons import PlyPerceptrons
from hyoka.search.shipped import named_network, usual_evaluation
from hyoka.search.sparse_evaluations import SparseEvaluation

StaticEvaluation = LinearEvaluation | SparseEvaluation | PlyPerceptrons | Network | Convolution
"""An evaluation of ours, whatever it is made of."""
_READERS: Final[dict[str, Callable[[Artefact, str], StaticEvaluation]]] = {
    sparse_evaluations.KIND: SparseEvaluation.from_artefact,
    ply_perceptrons.KIND: PlyPerceptrons.from_artefact,
    networks.KIND: Network.from_artefact,
    convolutions.KIND: Convolution.from_artefact,
}
"""By kind of file; any other is taken for the weights of a game's terms."""


def static_evaluation(game: str, source: str | Path | Artefact = BUILT_IN) -> StaticEvaluation:
    """The evaluation that a file holds, or what comes with Hyoka: `built-in`, `learned`, `network`.

    >>> static_evaluation("chess").unit
    'centipawns'
    """
    name = game_facts(game).name
    if source == LEARNED:
        source = usual_evaluation(name)
    elif source == NETWORK:
        source = named_network(name)
    if source == BUILT_IN:
        return linear_evaluation(name)
    file = read_artefact(source)
    if file.kind in _READERS:
        return _READERS[file.kind](file, name)
    return linear_evaluation(name, read_artefact(file, "weights"))
