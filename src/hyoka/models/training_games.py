# SPDX-License-Identifier: Apache-2.0
"""Which games a model was learned from: what it must not be judged by."""

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
"""The choice in an origin that says which share of the games was held out by their ids."""
PARTS_HOLD_OUT: Final = "parts_hold_out"
"""The same of a model made of others, where some of those do not list their games."""


def is_in_share(ids: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Whether each id is in the lowest `share` of all ids: the hash rule that holds games out.

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
    """What is known of the games that a model was learned from."""

    model: str
    """Its name, for messages."""
    listed: GameIds | None = None
    """The games that its file lists; None if it lists none."""
    hold_out: float | None = None
    """Other games may be among them as well, unless their ids are in this share."""
    learns: bool = True
    """False for numbers set by hand, which learned from no game."""

    @classmethod
    def of_origin(cls, origin: Origin | None, model: str) -> "LearnedGames":
        """What an origin says."""
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
        """What a move model's file says, or that of a model that comes with Hyoka."""
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
        """Whether anything is known of them."""
        return not self.learns or self.listed is not None or self.hold_out is not None

    @property
    def is_exact(self) -> bool:
        """Whether they are known one by one."""
        return not self.learns or (self.listed is not None and self.hold_out is None)

    def contains(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each game is one of them, or may be; False where nothing is known."""
        found = np.zeros(len(ids), bool)
        if self.listed is not None:
            found |= self.listed.contains(ids)
        if self.hold_out is not None:
            found |= ~is_in_share(ids, self.hold_out)
        return found

    def note(self, ids: NDArray[np.uint64]) -> str:
        """What there is to say of games with these ids; empty if the model did not learn from them.

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
