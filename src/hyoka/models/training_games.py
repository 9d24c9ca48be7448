# SPDX-License-Identifier: Apache-2.0
"""The training games of a model, which must not be used to test it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import ParameterError
from hyoka.games import game_facts
from hyoka.models.bundled import default_strengths, named_network
from hyoka.storage.game_ids import GameIds
from hyoka.storage.model_file import BUILT_IN, LEARNED, NETWORK, ModelFile, Origin, read_model_file

HOLD_OUT: Final = "hold_out"
"""The choice in an origin with the share of games held out by their ids."""
PARTS_HOLD_OUT: Final = "parts_hold_out"
"""The same for a combined model whose parts do not all list their games."""


def is_in_share(ids: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Whether each id is in the lowest `share` of all ids, the rule for held-out games.

    >>> is_in_share(np.array([0, 2**63, 2**64 - 1], np.uint64), 0.5).tolist()
    [True, False, False]
    """
    if not 0 <= share <= 1:
        raise ParameterError("hold_out", f"is a share of the games, 0 to 1, not {share:g}")
    if share == 1:
        return np.ones(len(ids), bool)
    return np.asarray(ids < np.uint64(int(share * 2**64)))


@dataclass(frozen=True)
class LearnedGames:
    """The known training games of a model."""

    model: str
    """Its name, for messages."""
    listed: GameIds | None = None
    """The games listed in its file, if any."""
    hold_out: float | None = None
    """Unlisted games may be training games, too, unless their ids are in this share."""
    learns: bool = True
    """False for numbers set by hand."""

    @classmethod
    def of_origin(cls, origin: Origin | None, model: str) -> "LearnedGames":
        """The training games according to an origin."""
        if origin is None:
            return cls(model)
        listed = origin.learned_games
        share = origin.choices.get(PARTS_HOLD_OUT if listed is not None else HOLD_OUT)
        try:
            hold_out = None if share is None else float(share)
        except ValueError:
            hold_out = None
        if hold_out is not None and not 0 <= hold_out <= 1:
            hold_out = None
        return cls(model, listed, hold_out)

    @classmethod
    def of_model(cls, game: str, source: str | Path | ModelFile) -> "LearnedGames":
        """The training games of a move model in a file, or of a bundled one."""
        name = game_facts(game).name
        model = str(source)
        if source == LEARNED:
            source, model = default_strengths(name), "the bundled model"
        elif source == NETWORK:
            source, model = named_network(name), "the bundled network"
        if source == BUILT_IN:
            return cls(model, learns=False)
        return cls.of_origin(read_model_file(source).origin, model)

    @property
    def is_known(self) -> bool:
        """Whether any training games are known."""
        return not self.learns or self.listed is not None or self.hold_out is not None

    @property
    def is_exact(self) -> bool:
        """Whether all training games are known individually."""
        return not self.learns or (self.listed is not None and self.hold_out is None)

    def contains(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each game is or may be a training game; False if nothing is known."""
        contained = np.zeros(len(ids), bool)
        if self.listed is not None:
            contained |= self.listed.contains(ids)
        if self.hold_out is not None:
            contained |= ~is_in_share(ids, self.hold_out)
        return contained

    def note(self, ids: NDArray[np.uint64]) -> str:
        """A caveat about games with these ids; empty if none is a training game.

        >>> LearnedGames("a.json", GameIds.of([1, 2])).note(np.array([2, 3], np.uint64))
        '1 that a.json learned from'
        """
        count = int(self.contains(ids).sum())
        if not self.is_known:
            return f"{self.model} does not say which games it learned from: any of these may be one"
        if self.is_exact:
            return f"{count:,} that {self.model} learned from" if count else ""
        return (
            f"{count:,} that {self.model} may have learned from (it does not list its games; "
            f"it held out {self.hold_out:.3g} of them by a hash of their moves)"
        )
