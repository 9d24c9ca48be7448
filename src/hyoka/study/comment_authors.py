# SPDX-License-Identifier: Apache-2.0
"""Comment authors and players: controls that may explain a slice.

The evaluator `comments` often contains the comments of both players, each on their own moves. Then
one column mixes several evaluators, and the author correlates with the side to move and with the
stronger player.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.analysis import Control

if TYPE_CHECKING:
    from hyoka.study.study import Study

COMMENT_AUTHOR: Final = "the comment author"
RATINGS: Final = "the rating difference"
_MOST_NAMED: Final = 12
"""The number of distinct authors; all others are merged."""
_RATING_STRATA: Final = 5
_LEAST_KNOWN: Final = 0.5
"""The minimum share of positions with rated players to use ratings as a control."""


@dataclass(frozen=True)
class CommentAuthors:
    """The comment authors of an evaluator."""

    names: tuple[str, ...]
    """The authors with the most values first."""
    shares: tuple[float, ...]
    """Shares of all values, without those of unknown authors."""
    inferred: bool
    """Whether authors were inferred from the values instead of the records."""

    def caveat(self, evaluator: str) -> str:
        """A caveat about several comment authors, and how to separate them."""
        inferred = " (inferred from the values)" if self.inferred else ""
        return (
            f"{evaluator} combines {len(self.names):,} players, who comment on their own moves"
            f"{inferred}; separate them: hyoka study evaluate STUDY --with comments:by=player"
        )


@dataclass(frozen=True, eq=False)
class PlayersOf:
    """The games' players with names and ratings, and each position's game."""

    first: NDArray[Any]
    second: NDArray[Any]
    """Indices of names."""
    names: tuple[str, ...]
    difference: NDArray[np.float64]
    """The first player's rating minus the second's; NaN if unknown."""
    game: NDArray[np.int64]
    """Each position's game as an index into the others."""

    @classmethod
    def load(cls, study: "Study", game_ids: NDArray[np.int64]) -> "PlayersOf":
        """Load the players of the games of some positions."""
        games = study.sql(
            'select game_id, "first", "second", first_rank - second_rank as difference '
            "from games order by game_id"
        )
        count = len(games)
        texts = [pc.fill_null(games[side].cast(pa.string()), "") for side in ("first", "second")]
        coded = pa.chunked_array([c for text in texts for c in text.chunks]).dictionary_encode()
        coded = coded.combine_chunks()
        codes = coded.indices.to_numpy() if count else np.zeros(0, np.int64)
        return cls(
            codes[:count],
            codes[count:],
            tuple(coded.dictionary.to_pylist()) if count else (),
            games["difference"].cast(pa.float64()).to_numpy(),
            np.searchsorted(games["game_id"].to_numpy(), game_ids),
        )

    def _author_codes(self, authors: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the author of each value as an index of a name; -1 if unknown."""
        first, second = self.first[self.game], self.second[self.game]
        return np.select([authors == 1, authors == 2], [first, second], -1).astype(np.int64)

    def comment_authors(
        self, authors: NDArray[np.int8], *, inferred: bool
    ) -> CommentAuthors | None:
        """Find the comment authors of an evaluator; None unless there are several."""
        codes = self._author_codes(authors)
        numbers, counts = np.unique(codes[codes >= 0], return_counts=True)
        if len(numbers) < 2:
            return None
        order = np.argsort(-counts, kind="stable")
        return CommentAuthors(
            tuple(self.names[number] for number in numbers[order]),
            tuple((counts[order] / len(codes)).tolist()),
            inferred,
        )

    def controls(self, authors: NDArray[np.int8]) -> list[Control]:
        """Controls that may explain slices of these positions."""
        controls = []
        if len(np.unique(authors)) > 1:
            codes = self._author_codes(authors)
            numbers, counts = np.unique(codes, return_counts=True)
            named = numbers[np.argsort(-counts, kind="stable")[:_MOST_NAMED]]
            place = {number: i for i, number in enumerate(named.tolist())}
            places = np.array([place.get(number, _MOST_NAMED) for number in numbers.tolist()])
            who = places[np.searchsorted(numbers, codes)]
            controls.append(Control(COMMENT_AUTHOR, (3 * who + authors).astype(np.int64)))
        difference = self.difference[self.game]
        is_finite = np.isfinite(difference)
        if is_finite.mean() >= _LEAST_KNOWN and len(np.unique(difference[is_finite])) > 1:
            shares = np.linspace(0, 1, _RATING_STRATA + 1)[1:-1]
            cuts = np.unique(np.quantile(difference[is_finite], shares))
            strata = np.searchsorted(cuts, difference, side="right")
            controls.append(Control(RATINGS, np.where(is_finite, strata, len(cuts) + 1)))
        return controls
