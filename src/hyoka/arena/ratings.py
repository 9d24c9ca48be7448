# SPDX-License-Identifier: Apache-2.0
"""Rating lists with confidence intervals, standings and duel summaries.

Ratings follow Davidson's model: Bradley-Terry with draws and a first-move advantage. With

    d = rating of the first player - rating of the second + advantage

a win, a draw and a loss of the first player have the odds e^(d/2) : ν : e^(-d/2). Newton's method
finds the only maximum of the likelihood. Ratings are scaled by 1 - draw rate between equals, so
that 10 Elo in a list equal 10 Elo in a match near equality.

Intervals come from the cluster-robust sandwich estimator: they hold where games are dependent, as
the two of a pair are, if the clusters are independent.

Ratings are comparable only within a component of players connected by games. Each component has
its own zero: the mean of its players or the anchor. Where some players never took a point from
others, virtual draws keep the ratings finite and the interval is open on that side.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from hyoka.arena.davidson import DavidsonModel, Fit, Floats, Games, Graph, Tallies
from hyoka.arena.elo import (
    Sprt,
    binomial_p_value,
    elo,
    likelihood_of_superiority,
    normalized_elo,
    permutation_p_value,
    rate,
    too_few_reason,
)
from hyoka.arena.journal import PlayedGame
from hyoka.arena.score import MatchScore, Score, Tally
from hyoka.foundation.errors import Error, NotationError, nearest
from hyoka.foundation.math import Estimate
from hyoka.foundation.options import check_options, option

MOST_WITH_INTERVALS: Final = 4000
"""The maximum number of players for intervals, which need a dense matrix."""
_Z95: Final = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Rated:
    """A player of a rating list."""

    name: str
    elo: float
    """Above the component's mean, or on the anchor's scale."""
    low: float
    """The lower end of the 95 % interval; -inf if the games do not bound it."""
    high: float
    score: Score
    component: int
    """The component, from 0, by number of games; ratings are comparable only within one."""

    @property
    def games(self) -> int:
        """The number of games."""
        return self.score.games

    @property
    def bounded(self) -> bool:
        """Whether the games bound the rating on both sides."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class RatingList:
    """Players by component, the strongest first, and the other fitted parameters."""

    players: tuple[Rated, ...]
    advantage: Estimate
    """The first-move advantage in Elo. Its interval is open where games do not determine it: the
    first (or second) player won everything, or each player always moved first or always second. A
    fixed advantage has no width.
    """
    draw_rate: float
    """The share of draws between equals, 0 to 1."""
    games: int
    virtual: tuple[int, ...] = ()
    """The components with virtual draws."""
    covariance: Floats | None = field(default=None, repr=False, compare=False)
    """The covariance of the ratings in Elo², in the order of players; None without intervals."""
    _groups: tuple[int, ...] = field(default=(), repr=False, compare=False)
    _beaten: dict[int, set[int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def components(self) -> int:
        """The number of components."""
        return 1 + max((player.component for player in self.players), default=-1)

    def __getitem__(self, name: str) -> Rated:
        return self.players[self._place(name)]

    def difference(self, a: str, b: str, *, comparisons: int = 1) -> Estimate:
        """Return the Elo difference of `a` and `b` with its 95 % interval.

        With more `comparisons` the intervals hold for all of them simultaneously (Bonferroni):
        choosing the best two of k players after the games makes k (k - 1) / 2. Raises Error for
        unknown or unconnected players.
        """
        value, deviation, places = self._difference(a, b)
        reach = deviation * NormalDist().inv_cdf(1 - 0.025 / comparisons)
        low, high = value - reach, value + reach
        if not self._reaches(places[0], places[1]):
            low = -math.inf
        if not self._reaches(places[1], places[0]):
            high = math.inf
        return Estimate(value, low, high)

    def superiority(self, a: str, b: str) -> float:
        """Return the likelihood that `a` is stronger than `b`, 0 to 1."""
        value, deviation, _ = self._difference(a, b)
        if deviation == 0 or math.isinf(deviation):
            return 0.5
        return NormalDist().cdf(value / deviation)

    def _difference(self, a: str, b: str) -> tuple[float, float, tuple[int, int]]:
        i, j = self._place(a), self._place(b)
        if self.players[i].component != self.players[j].component:
            raise Error(f"no games connect '{a}' with '{b}': their ratings can't be compared")
        value = self.players[i].elo - self.players[j].elo
        if self.covariance is None:
            return value, math.inf if i != j else 0.0, (i, j)
        c = self.covariance
        variance = float(c[i, i] + c[j, j] - 2 * c[i, j])
        return value, math.sqrt(max(0.0, variance)), (i, j)

    def _place(self, name: str) -> int:
        if name not in self._places:
            hint = nearest(name, self._places) or "none has a name like that"
            raise Error(f"no player '{name}'; {hint}")
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {player.name: place for place, player in enumerate(self.players)}

    def _reaches(self, a: int, b: int) -> bool:
        """Whether `a` took points from `b`, directly or through others."""
        goal, reached, waiting = self._groups[b], {self._groups[a]}, [self._groups[a]]
        while waiting:
            new = self._beaten.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        return goal in reached


def _anchor_of(text: str) -> tuple[str, float]:
    name, equals, elo = text.rpartition("=")
    try:
        value = float(elo)
    except ValueError:
        value = math.nan
    if not equals or not name or not math.isfinite(value):
        raise NotationError(f"an anchor is NAME=ELO as in Pachi=2000, not '{text}'")
    return name, value


def _advantage_of(text: str) -> float | str:
    if text == "fit":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1000:
        raise NotationError(f"an advantage is 'fit' or some Elo up to 1000, not '{text}'")
    return value


@dataclass(frozen=True, kw_only=True)
class RatingSettings:
    """Options of ratings."""

    anchor: tuple[str, float] | None = option(
        None,
        "Player with a fixed rating; by default the mean is 0.",
        metavar="NAME=ELO",
        parse=_anchor_of,
    )
    advantage: float | str = option(
        "fit",
        "The first player's advantage in Elo; fit: estimated.",
        metavar="fit|ELO",
        parse=_advantage_of,
    )
    prior: float = option(
        1.0,
        "Virtual draws per player of a component in which some never took a point from others.",
        above=0,
    )
    intervals: bool = option(True, "Compute intervals; without them they are infinite.")

    def __post_init__(self) -> None:
        check_options(self)
        if isinstance(self.advantage, str) and self.advantage != "fit":
            raise ValueError(f"an advantage is 'fit' or a number of Elo, not {self.advantage!r}")


def rate_players(
    first: ArrayLike,
    second: ArrayLike,
    result: ArrayLike,
    names: Sequence[str],
    settings: RatingSettings | None = None,
    *,
    clusters: ArrayLike | None = None,
    **options: Any,
) -> RatingList:
    """Rate players by their games: arrays of first players, second players, and points.

    Players are indices into `names`; points of the first are 0, 0.5 or 1. Games with equal
    `clusters` (such as pair_id) may be dependent; by default all games are independent. `options`
    are fields of the settings, which they override.

    >>> first, second = [0, 1, 1, 2, 2, 0] * 9, [1, 0, 2, 1, 0, 2] * 9
    >>> result = [1, 0.5, 1, 0.5, 0, 0] * 9
    >>> ratings = rate_players(first, second, result, ["Aoi", "Ben", "Chi"])
    >>> [(player.name, round(player.elo)) for player in ratings.players]
    [('Aoi', 60), ('Ben', 0), ('Chi', -60)]
    >>> gap = ratings.difference("Aoi", "Chi")
    >>> f"{gap.value:.0f} ({gap.low:.0f} to {gap.high:.0f})"
    '120 (-21 to 261)'
    """
    settings = replace(settings or RatingSettings(), **options)
    anchor = settings.anchor
    games = Games.of(first, second, result, clusters, len(names))
    if len(set(names)) != len(names):
        raise ValueError("two players have the same name")
    if anchor is not None and anchor[0] not in names:
        hint = nearest(anchor[0], names) or "no player has a name like that"
        raise Error(f"no player '{anchor[0]}' to anchor the ratings; {hint}")
    if settings.intervals and len(names) > MOST_WITH_INTERVALS:
        raise Error(
            f"{len(names):,} players are too many for intervals; "
            f"rate {MOST_WITH_INTERVALS:,} at most, or without intervals"
        )
    tallies = Tallies.of(games)
    graph = Graph.of(tallies, len(names))
    model = DavidsonModel(tallies, graph, settings.prior, settings.advantage)
    fit = model.fit()
    covariance = model.covariance(fit, games) if settings.intervals else None
    return _rating_list(names, graph, tallies, fit, covariance, anchor)


def _rating_list(  # noqa: PLR0917 - everything that was found
    names: Sequence[str],
    graph: Graph,
    tallies: Tallies,
    fit: Fit,
    covariance: Floats | None,
    anchor: tuple[str, float] | None,
) -> RatingList:
    players = len(names)
    elo = fit.ratings * fit.scale
    spread = None if covariance is None else covariance[:players, :players] * fit.scale**2
    if anchor is not None:
        place = list(names).index(anchor[0])
        same = (graph.component == graph.component[place]).astype(np.float64)
        elo = elo + same * (anchor[1] - elo[place])
        if spread is not None:
            # The anchor is exact; the others are as uncertain as their differences from it.
            from_anchor = np.eye(players)
            from_anchor[:, place] -= same
            spread = from_anchor @ spread @ from_anchor.T
    below, above = graph.bounds()
    deviation = (
        np.full(players, math.inf)
        if spread is None
        else np.sqrt(np.maximum(0.0, np.diagonal(spread)))
    )
    low = np.where(below, elo - _Z95 * deviation, -math.inf)
    high = np.where(above, elo + _Z95 * deviation, math.inf)
    scores = np.zeros((players, 3), dtype=np.int64)
    np.add.at(scores, tallies.first, tallies.counts.astype(np.int64))
    np.add.at(scores, tallies.second, tallies.counts[:, ::-1].astype(np.int64))
    order = np.lexsort((np.arange(players), -elo, graph.component))
    return RatingList(
        players=tuple(
            Rated(
                names[i],
                float(elo[i]),
                float(low[i]),
                float(high[i]),
                Score(*(int(count) for count in scores[i][::-1])),
                int(graph.component[i]),
            )
            for i in order
        ),
        advantage=_advantage(fit, covariance, players),
        draw_rate=fit.draw_rate,
        games=int(tallies.total.sum()),
        virtual=tuple(graph.open_components().tolist()),
        covariance=None if spread is None else spread[np.ix_(order, order)],
        _groups=tuple(graph.group[order].tolist()),
        _beaten=graph.beaten,
    )


def _advantage(fit: Fit, covariance: Floats | None, players: int) -> Estimate:
    value = fit.advantage * fit.scale
    if fit.advantage_known and not fit.fits_advantage:
        return Estimate(value, value, value)
    if not fit.fits_advantage or covariance is None:
        return Estimate(value, -math.inf, math.inf)
    half_width = _Z95 * math.sqrt(covariance[players, players]) * fit.scale
    low, high = value - half_width, value + half_width
    if not fit.advantage_known:
        low, high = (low, math.inf) if value > 0 else (-math.inf, high)
    return Estimate(value, low, high)


class Standing:
    """The score so far, updated game by game."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games = 0
        self.reasons: Counter[str] = Counter()
        """The number of games by reason of their end."""
        self.faults: Counter[str] = Counter()
        """The number of games that each player lost by its own fault."""
        self._duels: dict[tuple[int, int], Tally] = {}

    @classmethod
    def of(cls, names: Sequence[str], games: Iterable[PlayedGame] = ()) -> "Standing":
        """Count games and return the standing."""
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
        """Return the games of two players in the view of `one`."""
        tally = self._duels.get((min(one, other), max(one, other)))
        score = MatchScore() if tally is None else tally.score()
        return score if one < other else ~score

    def duels(self) -> list[tuple[int, int]]:
        """Return the pairs of players who have met."""
        return sorted(self._duels)

    def total(self, player: int) -> MatchScore:
        """Return all games of a player."""
        others = (other for other in range(len(self.names)) if other != player)
        return sum((self.duel(player, other) for other in others), MatchScore())


@dataclass(frozen=True, slots=True)
class DuelSummary:
    """One player against another."""

    player: str
    opponent: str
    score: MatchScore
    rate: Estimate
    """Points per game."""
    elo: Estimate
    normalized_elo: Estimate
    superiority: float
    """The likelihood that the player is the stronger one."""
    binomial_p: float
    """The p value of the sign test over games, without draws."""
    permutation_p: float
    """The p value of the permutation test over pairs."""
    llr: float | None = None
    bounds: tuple[float, float] | None = None
    verdict: str | None = None

    @classmethod
    def of(
        cls, standing: Standing, one: int, other: int, sprt: Sprt | None = None
    ) -> "DuelSummary":
        """Summarize the games of `one` against `other`."""
        score = standing.duel(one, other)
        tested = score.pairs if score.pairs.pairs else score.score
        return cls(
            standing.names[one],
            standing.names[other],
            score,
            rate(score),
            elo(score),
            normalized_elo(tested),
            likelihood_of_superiority(score),
            binomial_p_value(score.score),
            permutation_p_value(score),
            None if sprt is None else sprt.llr(score.pairs),
            None if sprt is None else (sprt.lower, sprt.upper),
            None if sprt is None else sprt.decision(score.pairs),
        )

    def __str__(self) -> str:
        ends = f"{self.elo.value:+.0f} ({self.elo.low:+.0f} to {self.elo.high:+.0f})"
        why = too_few_reason(self.score)
        few = f"; {why}: too few to trust an interval" if why else ""
        return (
            f"{self.player} v {self.opponent}: {self.score.score}, {self.score.rate:.1%}, "
            f"Elo {ends}, LOS {self.superiority:.1%}{few}"
        )

    def as_json(self) -> dict[str, object]:
        """The games of both players as plain values."""
        score = self.score
        return {
            "player": self.player,
            "opponent": self.opponent,
            "games": score.games,
            "wins": score.score.wins,
            "draws": score.score.draws,
            "losses": score.score.losses,
            "as_first": [score.as_first.wins, score.as_first.draws, score.as_first.losses],
            "as_second": [score.as_second.wins, score.as_second.draws, score.as_second.losses],
            "pairs": list(score.pairs.counts),
            "rate": self.rate.as_json(),
            "elo": self.elo.as_json(),
            "normalized_elo": self.normalized_elo.as_json(),
            "superiority": self.superiority,
            "binomial_p": self.binomial_p,
            "permutation_p": self.permutation_p,
            "llr": self.llr,
            "bounds": self.bounds,
            "verdict": self.verdict,
        }


def match_ratings(games: Sequence[PlayedGame], names: Sequence[str]) -> RatingList:
    """Rate a match's players, with pairs as clusters."""
    pairings = [game.pairing for game in games]
    return rate_players(
        np.array([pairing.first for pairing in pairings]),
        np.array([pairing.second for pairing in pairings]),
        np.array([game.result for game in games]),
        list(names),
        clusters=np.array([pairing.pair_id for pairing in pairings]),
    )


def repeated_games(games: Sequence[PlayedGame]) -> int:
    """Count games that repeat another between the same players move for move."""
    played = {
        (
            game.pairing.first,
            game.pairing.second,
            game.record.start,
            game.record.moves.tobytes(),
        )
        for game in games
    }
    return len(games) - len(played)
