# SPDX-License-Identifier: Apache-2.0
"""Games that searches have played by themselves, with what they thought of positions and moves."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.learning.networks import Examples, joined


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Games side by side. Plies are counted through all of them."""

    game: str
    komi: NDArray[np.float64]
    """By game; NaN where there is none."""
    move_offsets: NDArray[np.int64]
    """Game i's moves are those from move_offsets[i] to move_offsets[i + 1]."""
    moves: NDArray[np.uint16]
    values: NDArray[np.float32]
    """By ply: what the search thought the first player's result would be; NaN: a random move."""
    visit_offsets: NDArray[np.int64]
    """Ply i's visits are from visit_offsets[i] to visit_offsets[i + 1]; none: it was quick."""
    visited: NDArray[np.uint16]
    visits: NDArray[np.uint32]
    results: NDArray[np.int8]
    """By game, of the first player: 1, 0, -1."""

    def __len__(self) -> int:
        return len(self.results)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Games of several parts, one after the other."""
        offsets = {"move_offsets", "visit_offsets"}
        found: dict[str, Any] = {"game": parts[0].game}
        for name in (each.name for each in fields(cls) if each.name != "game"):
            arrays = [getattr(part, name) for part in parts]
            if name in offsets:
                lengths = np.concatenate([np.diff(array) for array in arrays])
                found[name] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            else:
                found[name] = np.concatenate(arrays)
        return cls(**found)

    def some(self, games: NDArray[np.bool_]) -> Self:
        """The games that are marked."""
        plies = np.repeat(games, np.diff(self.move_offsets))
        moved = np.repeat(plies, np.diff(self.visit_offsets))
        return type(self)(
            self.game,
            self.komi[games],
            _offsets(np.diff(self.move_offsets)[games]),
            self.moves[plies],
            self.values[plies],
            _offsets(np.diff(self.visit_offsets)[plies]),
            self.visited[moved],
            self.visits[moved],
            self.results[games],
        )

    def examples(self, *, seed: int = 0, blend: float = 0.5, threads: int = 1) -> Examples:
        """What a network learns from these games: positions turned at random, by the seed.

        A position is worth `blend` of what the search thought and the rest of the game's result.
        """
        counts = np.diff(self.visit_offsets)
        searched = ~np.isnan(self.values)
        return joined(
            [
                self._examples(searched & (counts > 0), seed, blend, threads, with_moves=True),
                self._examples(
                    searched & (counts == 0), seed + 1, blend, threads, with_moves=False
                ),
            ]
        )

    def _examples(
        self, rows: NDArray[np.bool_], seed: int, blend: float, threads: int, *, with_moves: bool
    ) -> Examples:
        game_of = np.repeat(np.arange(len(self)), np.diff(self.move_offsets))
        wanted = np.flatnonzero(rows)
        plies = (wanted - self.move_offsets[game_of[wanted]]).astype(np.int32)
        table = _core.GameTable(
            self.game,
            np.arange(len(self), dtype=np.int64),
            np.zeros(len(self) + 1, np.int32),
            np.zeros(0, np.uint8),
            self.komi,
            self.move_offsets,
            self.moves,
            np.searchsorted(wanted, self.move_offsets).astype(np.int64),
            plies,
        )
        counts = np.diff(self.visit_offsets)[wanted]
        kept = np.repeat(rows, np.diff(self.visit_offsets))
        offsets, visits = _offsets(counts), self.visits[kept].astype(np.float32)
        inputs, legal, codes, first = table.network_inputs(
            offsets, self.visited[kept], seed, with_moves, threads, None
        )
        sums = np.add.reduceat(visits, offsets[:-1]) if len(visits) else visits
        result = (self.results[game_of[wanted]].astype(np.float32) + 1) / 2
        value = blend * self.values[wanted] + (1 - blend) * result
        return Examples(
            self.game,
            inputs,
            np.where(first.astype(bool), value, 1 - value).astype(np.float32),
            legal,
            offsets,
            codes,
            visits / np.repeat(sums, counts) if len(visits) else visits,
        )


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


Player = tuple[_core.UctOptions, _core.GivenModels]


def play_games(
    game: str,
    players: Sequence[Player],
    komi: NDArray[np.float64],
    first: int,
    plan: _core.SelfPlayPlan,
) -> PlayedGames:
    """Games number `first` and on, one for each komi; fewer if it was interrupted."""
    found = _core.self_play(game, list(players), komi, first, plan)
    return PlayedGames(game, komi[: len(found["results"])], **found)
