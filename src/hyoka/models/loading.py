# SPDX-License-Identifier: Apache-2.0
"""Load move models and evaluations from files of any kind."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, SourceError
from hyoka.games import AnyLine, AnyMove, game_facts, name_of
from hyoka.models.bundled import default_evaluation, default_strengths, named_network
from hyoka.models.linear import (
    SHAPE,
    MoveStrengths,
    linear_evaluation,
    move_strengths,
)
from hyoka.models.model import StaticEvaluation, join_header, split_header
from hyoka.models.networks import Convolution, Network
from hyoka.models.ply_perceptrons import PlyPerceptrons
from hyoka.models.sparse import SparseEvaluation
from hyoka.storage.model_file import BUILT_IN, LEARNED, NETWORK, ModelFile, read_model_file


def mets_tree(model_file: ModelFile) -> _core.MetsTree:
    """Load a METS tree; raises SourceError."""
    # 8-byte numbers need aligned memory.
    content = np.frombuffer(model_file.content, np.uint8)
    if content.ctypes.data % 8:
        content = content.copy()
    try:
        return _core.MetsTree.from_bytes(content)
    except ValueError as error:
        raise SourceError(f"{model_file}: {error}") from None


def _of_strengths(game: str, model_file: ModelFile) -> _core.Model:
    if model_file.kind is None and not model_file.content.lstrip().startswith(b"{"):
        raise SourceError(f"{model_file}: neither strengths of features (JSON) nor a tree of METS")
    try:
        return MoveStrengths.load(game, model_file).model()
    except NotationError as error:
        raise SourceError(f"{model_file}: {error}") from None


def _of_mets(game: str, model_file: ModelFile) -> _core.Model:
    try:
        return _core.mets_model(game, mets_tree(model_file))
    except ValueError as error:
        raise SourceError(f"{model_file}: {error}") from None


def latent_content(
    names: Sequence[str], logs: NDArray[np.float32], factors: NDArray[np.float32]
) -> bytes:
    """Write a latent model's content: a line of names, then the numbers."""
    numbers = np.concatenate([logs[:, None], factors], axis=1).astype("<f4")
    return join_header(list(names), numbers.tobytes())


def latent_model(
    game: str, names: Sequence[str], logs: NDArray[np.float32], factors: NDArray[np.float32]
) -> _core.Model:
    """Build a latent model for searches: the game's features in order, then shapes."""
    shapes = [name.removeprefix(SHAPE) for name in names if name.startswith(SHAPE)]
    if list(names[: len(names) - len(shapes)]) != list(move_strengths(game)):
        raise NotationError(f"these features are not {game}'s, or not those of this Hyoka")
    return _core.latent_model(
        game,
        np.ascontiguousarray(logs),
        np.ascontiguousarray(factors),
        _core.GoShapes(shapes) if shapes else None,
    )


def _of_latent(game: str, model_file: ModelFile) -> _core.Model:
    try:
        names, rest = split_header(model_file.content)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("no names of features")
        numbers = np.frombuffer(rest, "<f4").reshape(len(names), -1).astype(np.float32)
        if numbers.shape[1] < 2 or not np.isfinite(numbers).all():
            raise ValueError("no finite numbers for each feature")
        return latent_model(game, names, numbers[:, 0], numbers[:, 1:])
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{model_file}: {error}") from None


def combined_content(parts: Sequence[ModelFile], weights: Sequence[float]) -> bytes:
    """Write the content of combined models: a line with weights and sizes, then each file."""
    # Fitting games are listed once, for the combined model.
    files = [
        replace(part, origin=part.origin and replace(part.origin, learned_games=None)).to_bytes()
        for part in parts
    ]
    about = {"weights": list(weights), "bytes": [len(file) for file in files]}
    return join_header(about, b"".join(files))


def _of_combined(game: str, model_file: ModelFile) -> _core.Model:
    try:
        about, rest = split_header(model_file.content)
        weights = [float(weight) for weight in about["weights"]]
        sizes = [int(size) for size in about["bytes"]]
        is_complete = len(weights) == len(sizes) and min(sizes) > 0 and sum(sizes) == len(rest)
        if not is_complete or not np.isfinite(weights).all():
            raise ValueError("it does not say where its models are, and how much each counts")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SourceError(f"{model_file}: {error}") from None
    models: list[_core.Model] = []
    for size, end in zip(sizes, itertools.accumulate(sizes), strict=True):
        path = f"{model_file}: part {len(models) + 1}"
        part = ModelFile.from_bytes(rest[end - size : end], path=path)
        if part.kind == "combined":
            raise SourceError(f"{model_file}: models that are combined of others are not combined")
        models.append(move_model(game, part))
    return _core.combined_model(game, models, weights)


def _of_network(game: str, model_file: ModelFile) -> _core.Model:
    try:
        return Network.from_model_file(model_file, game).move_model()
    except NotationError as error:
        raise SourceError(f"{model_file}: {error}") from None


def _of_convolution(game: str, model_file: ModelFile) -> _core.Model:
    return Convolution.from_model_file(model_file, game).move_model()


MOVE_MODELS: Final[dict[str, Callable[[str, ModelFile], _core.Model]]] = {
    "strengths": _of_strengths,
    "mets": _of_mets,
    "latent": _of_latent,
    "combined": _of_combined,
    "network": _of_network,
    "convolution": _of_convolution,
}
"""Loaders by kind of model; a file without a kind contains strengths."""


def move_model(game: str, source: str | Path | ModelFile) -> _core.Model:
    """Load a move model from a file, or the bundled one; raises SourceError.

    >>> import hyoka as hk
    >>> _ = move_model("go9", "built-in")
    """
    name = game_facts(game).name
    if source == LEARNED:
        source = default_strengths(name)
    elif source == NETWORK:
        source = named_network(name)
    if source == BUILT_IN:
        return _core.feature_strengths(name, [])
    model_file = read_model_file(source)
    kind = model_file.kind or "strengths"
    if kind not in MOVE_MODELS:
        raise SourceError(f"{model_file}: it holds {kind}, which ranks no moves")
    model_file.check(kind, name)
    return MOVE_MODELS[kind](name, model_file)


def ranked(line: AnyLine, model: _core.Model) -> list[tuple[AnyMove, float]]:
    """Rank the legal moves by a move model, with their shares of the strength.

    Equally strong moves keep the game's order.

    >>> import hyoka as hk
    >>> ranked(hk.Othello().line(), move_model("othello", "built-in"))[0][1] > 0
    True
    """
    moves, strengths = _core.weigh_moves(name_of(line), line, model)
    allowed = set(line.legal_moves)
    legal = [i for i, move in enumerate(moves) if move in allowed]
    total = float(strengths[legal].sum(dtype=np.float64))
    order = sorted(legal, key=lambda i: -strengths[i])
    return [(moves[i], float(strengths[i]) / total) for i in order]


_EVALUATIONS: Final[dict[str | None, type[StaticEvaluation]]] = {
    each.kind: each for each in (SparseEvaluation, PlyPerceptrons, Network, Convolution)
}
"""Loaders by kind; any other file contains the weights of a game's terms."""


def static_evaluation(game: str, source: str | Path | ModelFile = BUILT_IN) -> StaticEvaluation:
    """Load an evaluation from a file, or a bundled one: `built-in`, `learned`, `network`.

    >>> static_evaluation("chess").unit
    'centipawns'
    """
    name = game_facts(game).name
    if source == LEARNED:
        source = default_evaluation(name)
    elif source == NETWORK:
        source = named_network(name)
    if source == BUILT_IN:
        return linear_evaluation(name)
    file = read_model_file(source)
    if file.kind in _EVALUATIONS:
        return _EVALUATIONS[file.kind].from_model_file(file, name)
    return linear_evaluation(name, read_model_file(file, "weights"))
