# SPDX-License-Identifier: Apache-2.0
"""How a match stands: the score of every two players, kept up to date game by game."""

from collections import Counter
from collections.abc import Iterable, Sequence

from hyoka.arena.played import PlayedGame
from hyoka.arena.score import MatchScore, Tally


class Standing:
    """The score so far; games are counted one by one."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games = 0
        self.reasons: Counter[str] = Counter()
        """How games ended."""
        self.faults: Counter[str] = Counter()
        """Games that each player lost by a fault of its own."""
        self._duels: dict[tuple[int, int], Tally] = {}

    @classmethod
    def of(cls, names: Sequence[str], games: Iterable[PlayedGame] = ()) -> "Standing":
        """The standing of players after some games."""
        standing = cls(names)
        for game in games:
            standing.count(game)
        return standing

    def count(self, game: PlayedGame) -> None:
        """Count one game."""
        pairing = game.pairing
        low, high = sorted((pairing.first, pairing.second))
        moved_first = pairing.first == low
        points = game.result if moved_first else 1 - game.result
        duel = self._duels.setdefault((low, high), Tally())
        duel.count(pairing.pair_id, moved_first, points)
        self.games += 1
        self.reasons[game.reason] += 1
        if game.is_fault:
            loser = pairing.second if game.result == 1 else pairing.first
            self.faults[self.names[loser]] += 1

    def duel(self, one: int, other: int) -> MatchScore:
        """The games of two players as `one` sees them."""
        found = self._duels.get((min(one, other), max(one, other)))
        score = MatchScore() if found is None else found.score()
        return score if one < other else ~score

    def duels(self) -> list[tuple[int, int]]:
        """Who has played whom."""
        return sorted(self._duels)

    def total(self, player: int) -> MatchScore:
        """All games of a player."""
        others = (other for other in range(len(self.names)) if other != player)
        return sum((self.duel(player, other) for other in others), MatchScore())
