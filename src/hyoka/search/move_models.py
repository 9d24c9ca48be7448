# SPDX-License-Identifier: Apache-2.0
"""Move models: whatever gives the legal moves of a position their strengths, by kind of file."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from hyoka import _core
from hyoka.artefact import BUILT_IN, Artefact, read_artefact
from hyoka.errors import SourceError
from hyoka.games import AnyLine, AnyMove, game_facts, name_of
from hyoka.search.evaluations import move_strengths


def mets_tree(artefact: Artefact) -> _core.MetsTree:
    """The tree of a file of METS; raises SourceError if it holds none."""
    # The content may lie anywhere in memory; numbers of eight bytes must not.
    content = np.frombuffer(artefact.content, np.uint8).copy()
    try:
        return _core.MetsTree.from_bytes(content)
    except ValueError as error:
        raise SourceError(f"{artefact}: {error}") from None


def _of_strengths(game: str, artefact: Artefact) -> _core.Model:
    if artefact.kind is None and not artefact.content.lstrip().startswith(b"{"):
        raise SourceError(f"{artefact}: neither strengths of features (JSON) nor a tree of METS")
    return _core.feature_strengths(game, list(move_strengths(game, artefact).values()))


def _of_mets(game: str, artefact: Artefact) -> _core.Model:
    try:
        return _core.mets_model(game, mets_tree(artefact))
    except ValueError as error:
        raise SourceError(f"{artefact}: {error}") from None


MOVE_MODELS: Final[dict[str, Callable[[str, Artefact], _core.Model]]] = {
    "strengths": _of_strengths,
    "mets": _of_mets,
}
"""How a model is made of a file, by the kind of artefact; a file without a kind holds strengths."""


def move_model(game: str, source: str | Path | Artefact) -> _core.Model:
    """The move model that a file holds, or the built-in one; raises SourceError if it holds none.

    >>> import hyoka as hk
    >>> _ = move_model("go9", "built-in")
    """
    name = game_facts(game).name
    if source == BUILT_IN:
        return _core.feature_strengths(name, [])
    artefact = read_artefact(source)
    kind = artefact.kind or "strengths"
    if kind not in MOVE_MODELS:
        raise SourceError(f"{artefact}: it holds {kind}, which ranks no moves")
    artefact.check(kind, name)
    return MOVE_MODELS[kind](name, artefact)


def ranked(line: AnyLine, model: _core.Model) -> list[tuple[AnyMove, float]]:
    """The legal moves with the shares that a move model gives them, the strongest first.

    Of moves that look alike the one that the game lists first comes first.

    >>> import hyoka as hk
    >>> ranked(hk.Othello().line(), move_model("othello", "built-in"))[0][1] > 0
    True
    """
    moves, strengths = _core.weigh_moves(name_of(line), line, model)
    allowed = set(line.legal_moves)
    kept = [i for i, move in enumerate(moves) if move in allowed]
    total = float(strengths[kept].sum(dtype=np.float64))
    order = sorted(kept, key=lambda i: -strengths[i])
    return [(moves[i], float(strengths[i]) / total) for i in order]
