# SPDX-License-Identifier: Apache-2.0
"""Evaluations that are linear in named terms: their weights, and the terms of positions in bulk."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import NotationError, SourceError, nearest
from hyoka.files import write_text
from hyoka.games import game_type, name_of


@dataclass(frozen=True, eq=False)
class LinearEvaluation:
    """A score as a sum of weighted terms, for the first player.

    Each term has a weight for the opening and one for the ending; a position's progress, 0 to 1,
    blends the two: score = Σ amount · (opening · (1 - progress) + ending · progress).

    >>> import hyoka as hk
    >>> chess = linear_evaluation("chess")
    >>> start = [hk.Chess()]
    >>> round(float(chess.terms(start)[0] @ chess.flat)) == int(chess.score(start)[0])
    True
    """

    game: str
    names: tuple[str, ...]
    """Of the terms."""
    weights: NDArray[np.float32] = field(repr=False)
    """A row a term: its weight in the opening and in the ending."""
    unit: str = "points"
    scale: float = 1.0
    """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> tuple[float, float]:
        opening, ending = self.weights[self._index(name)]
        return float(opening), float(ending)

    def _index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            hint = nearest(name, self.names)
            raise NotationError(f"{self.game} has no term '{name}'; {hint}".rstrip("; ")) from None

    @property
    def fingerprint(self) -> str:
        """Some characters that tell these weights from others."""
        return hashlib.sha256(self.weights.tobytes() + str(self.scale).encode()).hexdigest()[:12]

    @property
    def flat(self) -> NDArray[np.float32]:
        """All weights in one row, in the order of the columns of `terms`."""
        return self.weights.reshape(-1)

    def with_weights(
        self,
        weights: Mapping[str, float | tuple[float, float]] | NDArray[Any],
        *,
        scale: float | None = None,
    ) -> "LinearEvaluation":
        """The same terms with other weights: some by name (one number for both), or all of them."""
        if isinstance(weights, Mapping):
            changed = self.weights.copy()
            for name, weight in weights.items():
                changed[self._index(name)] = weight
        else:
            changed = np.asarray(weights, dtype=np.float32).reshape(-1, 2).copy()
            if len(changed) != len(self):
                raise NotationError(
                    f"{self.game}'s evaluation has {len(self)} terms, not {len(changed)}"
                )
        if not np.isfinite(changed).all():
            raise NotationError("weights are finite numbers")
        return LinearEvaluation(self.game, self.names, changed, self.unit, scale or self.scale)

    def score(self, positions: Sequence[Any]) -> NDArray[np.int32]:
        """What positions are worth to the first player, in `unit`."""
        options = self.options()
        return np.asarray(_core.score_positions(list(positions), options)) if positions else _none()

    def value(self, positions: Sequence[Any]) -> NDArray[np.float64]:
        """The same as expected results, 0 to 1."""
        return np.array([1 / (1 + math.exp(-s / self.scale)) for s in self.score(positions)])

    def amounts(self, positions: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """How much of each term a position has, a row a position; and its progress."""
        if not positions:
            return np.zeros((0, len(self)), np.float32), np.zeros(0, np.float32)
        return _core.count_terms(list(positions))

    def terms(self, positions: Sequence[Any]) -> NDArray[np.float32]:
        """Rows whose product with `flat` is the score: amounts blended by progress."""
        amounts, progress = self.amounts(positions)
        ending = progress[:, None]
        blended = np.stack([amounts * (1 - ending), amounts * ending], axis=2)
        return blended.reshape(len(amounts), 2 * len(self))

    def save(self, path: str | Path) -> None:
        """Write all weights as JSON, which `linear_evaluation` and `weights=FILE` read."""
        weights = {
            name: [round(float(w), 6) for w in pair]
            for name, pair in zip(self.names, self.weights, strict=True)
        }
        content = {"game": self.game, "scale": self.scale, "weights": weights}
        write_text(Path(path), json.dumps(content, indent=1) + "\n")

    def options(self) -> _core.EvaluationOptions:
        """What the compiled core makes the evaluation from."""
        options = _core.EvaluationOptions()
        options.weights = self.flat.tolist()
        options.scale = self.scale
        return options


def _none() -> NDArray[np.int32]:
    return np.zeros(0, np.int32)


def linear_evaluation(game: str, weights: str | Path | None = None) -> LinearEvaluation:
    """A game's built-in evaluation, or one whose weights a file holds.

    A file may name some terms only; the others keep their built-in weights.

    >>> linear_evaluation("blokus_duo")["influence"]
    (1.0, 1.0)
    """
    name = name_of(game_type(game)())
    terms, unit, scale = _core.evaluation_terms(name)
    built_in = LinearEvaluation(
        name,
        tuple(term for term, *_ in terms),
        np.array([pair for _, *pair in terms], np.float32),
        unit,
        scale,
    )
    if weights is None:
        return built_in
    content = read_json(weights)
    if content.get("game", name) != name:
        raise SourceError(f"{weights}: weights for {content['game']}, not for {name}")
    given = content.get("weights", content)
    try:
        pairs: dict[str, Any] = {
            term: tuple(map(float, pair)) if isinstance(pair, list) else float(pair)
            for term, pair in given.items()
            if term not in ("game", "scale")
        }
        return built_in.with_weights(pairs, scale=content.get("scale"))
    except (TypeError, ValueError, AttributeError) as error:
        raise SourceError(f"{weights}: {error}") from error


def read_json(path: str | Path) -> dict[str, Any]:
    """A JSON object from a file; raises SourceError."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise SourceError(f"{path}: no JSON: {error}") from error
    if not isinstance(content, dict):
        raise SourceError(f"{path}: not an object with names and numbers")
    return content


def move_strengths(game: str, ratings: str | Path | None = None) -> dict[str, float]:
    """The strengths (γ) of a game's move features: the built-in ones, changed by a file's."""
    name = name_of(game_type(game)())
    known = dict(_core.move_features(name))
    if ratings is None:
        return known
    content = read_json(ratings)
    for feature, strength in content.get("strengths", content).items():
        if feature in ("game",):
            continue
        if feature not in known:
            hint = nearest(feature, known)
            raise SourceError(f"{ratings}: {name} has no feature '{feature}'; {hint}".rstrip("; "))
        try:
            number = float(strength)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number < math.inf:
            raise SourceError(f"{ratings}: '{feature}' needs a positive number, not {strength!r}")
        known[feature] = number
    return known
