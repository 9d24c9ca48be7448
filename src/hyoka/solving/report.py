# SPDX-License-Identifier: Apache-2.0
"""What came of trying to solve problems."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import NormalDist


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share; all of [0, 1] where nothing was tried.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    whole = 1 + z * z / trials
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One problem, and what was made of it."""

    source: str
    line_number: int
    id: str
    game: str
    expected: str
    solved: bool
    move: str | None = None
    points: int = 0
    most_points: int = 0
    """What the best move is worth; 0 where a suite gives no points."""
    mate: int | None = None
    """A mate that was proved: > 0, the first player mates."""
    score: float | None = None
    """An exact score that was proved, seen by the first player."""
    time_s: float = 0.0
    nodes: int = 0
    """Positions or playouts, as the player counts them; 0 if it does not say."""
    depth: int = 0
    error: str = ""
    """What went wrong; such a problem counts as not solved."""

    @property
    def name(self) -> str:
        """The problem's name, or else its place."""
        return self.id or f"{self.source}:{self.line_number}"


@dataclass(frozen=True)
class SolveReport:
    """What one player made of some problems."""

    player: str
    """The text of the search or engine."""
    verdicts: tuple[Verdict, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    """How many problems ask for no move, by reason."""
    interrupted: bool = False

    @property
    def asked(self) -> int:
        """How many problems were tried."""
        return len(self.verdicts)

    @property
    def solved(self) -> int:
        """How many were solved."""
        return sum(verdict.solved for verdict in self.verdicts)

    @property
    def errors(self) -> int:
        """With how many something went wrong."""
        return sum(bool(verdict.error) for verdict in self.verdicts)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the share that is solved."""
        return wilson_interval(self.solved, self.asked)

    @property
    def points(self) -> tuple[int, int]:
        """Points won, and points that the best moves are worth."""
        return (
            sum(verdict.points for verdict in self.verdicts),
            sum(verdict.most_points for verdict in self.verdicts),
        )

    @property
    def time_s(self) -> float:
        """Seconds for all problems, added up."""
        return sum(verdict.time_s for verdict in self.verdicts)

    @property
    def nodes(self) -> int:
        """Positions or playouts for all problems."""
        return sum(verdict.nodes for verdict in self.verdicts)

    def only(self, wanted: Callable[[Verdict], bool]) -> "SolveReport":
        """The report on those problems for which `wanted` holds."""
        return replace(self, verdicts=tuple(filter(wanted, self.verdicts)))
