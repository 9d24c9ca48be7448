# SPDX-License-Identifier: Apache-2.0
"""Workers whose results are not like the others': a slow machine, a broken engine, a wrong file."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.played import PlayedGame

_FEWEST_GAMES: Final = 10
_ONE_IN: Final = 0.001
"""With workers that are all alike, so seldom is any of them flagged for either reason."""


@dataclass(frozen=True, slots=True)
class OddWorker:
    """A worker that differs from the rest by more than chance."""

    worker: str
    games: int
    what: str
    """`results` or `faults`."""
    here: float
    """The share of points of the first-named players, or of games lost by a fault, on it."""
    elsewhere: float
    p_value: float

    def __str__(self) -> str:
        words = {"results": "points of the first-named", "faults": "games lost by a fault"}
        return (
            f"{self.worker}: {self.here:.1%} {words[self.what]} in {self.games} games, "
            f"{self.elsewhere:.1%} elsewhere (p = {self.p_value:.1g})"
        )


def odd_workers(games: Iterable[PlayedGame]) -> list[OddWorker]:
    """The workers whose results or faults differ from those of all others taken together.

    Results are those of each duel's player with the lower number. Exact tests over games, corrected
    for the number of workers; a worker with fewer than 10 games is left alone.
    """
    by_worker: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for game in games:
        pairing = game.pairing
        points = game.result if pairing.first < pairing.second else 1 - game.result
        fault = float(game.is_fault)
        by_worker[game.worker].append((points, fault))
    workers = [name for name, played in by_worker.items() if len(played) >= _FEWEST_GAMES]
    if len(by_worker) < 2:
        return []
    odd = []
    for name in workers:
        mine = np.array(by_worker[name])
        rest = np.array([row for other, rows in by_worker.items() if other != name for row in rows])
        if len(rest) < _FEWEST_GAMES:
            continue
        for column, what in enumerate(("results", "faults")):
            here, elsewhere = mine[:, column], rest[:, column]
            p_value = _p_value(here, elsewhere)
            if p_value * 2 * len(workers) < _ONE_IN:
                share, other = float(here.mean()), float(elsewhere.mean())
                odd.append(OddWorker(name, len(mine), what, share, other, p_value))
    return odd


def _p_value(here: NDArray[np.float64], elsewhere: NDArray[np.float64]) -> float:
    """How often chance alone parts the results so: Fisher's exact tests of the 0s and of the 1s.

    Of ½ alone there may be so few that a worker with one of them would seem odd.
    """
    if len({*here.tolist(), *elsewhere.tolist()}) < 2:
        return 1.0
    from scipy import stats  # noqa: PLC0415 - it takes a second to import

    tables = [
        [[int(np.sum(part == end)), int(np.sum(part != end))] for part in (here, elsewhere)]
        for end in (0, 1)
    ]
    return min(1.0, 2 * min(float(stats.fisher_exact(table).pvalue) for table in tables))
