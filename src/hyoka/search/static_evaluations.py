# SPDX-License-Identifier: Apache-2.0
"""What positions are worth by themselves: an evaluation by the kind of file that holds it."""

from pathlib import Path

from hyoka.artefact import BUILT_IN, LEARNED, Artefact, read_artefact
from hyoka.games import game_facts
from hyoka.search.evaluations import LinearEvaluation, linear_evaluation
from hyoka.search.shipped import usual_evaluation
from hyoka.search.sparse_evaluations import KIND, SparseEvaluation


def static_evaluation(
    game: str, source: str | Path | Artefact = BUILT_IN
) -> LinearEvaluation | SparseEvaluation:
    """The evaluation that a file holds, or what comes with Hyoka: `built-in` or `learned`.

    >>> static_evaluation("chess").unit
    'centipawns'
    """
    name = game_facts(game).name
    if source == LEARNED:
        source = usual_evaluation(name)
    if source == BUILT_IN:
        return linear_evaluation(name)
    file = read_artefact(source)
    if file.kind == KIND:
        return SparseEvaluation.from_artefact(file, name)
    return linear_evaluation(name, read_artefact(file, "weights"))
