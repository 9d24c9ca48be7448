# SPDX-License-Identifier: Apache-2.0
"""Ratings over time: Whole-History Rating (Coulom 2008) with draws and first-move advantages.

Each player's rating follows a Wiener process: between two days its change is normal, with mean 0
and a variance of `drift` Elo² per day. Games follow Davidson's model (see `ratings`) with the
rating difference of their day. All games, earlier and later, determine each rating.

A *point* is a day on which a player has games. The parameters are the ratings by point, the
advantages by condition, in Elo as natural logarithms. The odds of a game are Davidson's for 1 + ν/2
times the difference, so that the slope near equality does not depend on the draws. ν is that of the
static ratings.

Newton's method finds the only maximum of the posterior. Its linear systems are sparse, and
conjugate gradients solve them. The preconditioner is tridiagonal: the information about each
player's ratings if all others are known.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from hyoka.arena.davidson import (
    ELO_PER_UNIT,
    DavidsonModel,
    Floats,
    Games,
    Graph,
    Ints,
    Tallies,
    chances,
    virtual_draws,
)
from hyoka.arena.ratings import RatingSettings
from hyoka.foundation.errors import Error, named, nearest
from hyoka.foundation.math import Estimate, damped_newton
from hyoka.foundation.options import option
from hyoka.foundation.text import counted
from hyoka.storage.result import Result

MOST_DRAWN: Final = 8
"""The maximum number of players in the chart."""
MOST_CONDITIONS: Final = 100
"""The maximum number of conditions with an advantage each."""
_Z95: Final = NormalDist().inv_cdf(0.975)
_STEPS: Final = 100
_PRECISION: Final = 1e-5
"""The largest component of the gradient at the maximum, in games."""
_SOLUTION: Final = 1e-5
"""The relative error of a linear solution."""
_USUAL_LOG_DRIFT: Final = math.log(14.0)
"""The mean of the normal prior of the log of the drift: Coulom's drift for players of Go."""
_DRIFT_SPREAD: Final = math.log(10)
"""The standard deviation of that prior."""
_STRIDE: Final = math.log(4)
_NEAR: Final = 0.2
"""The step of the log of the drift for its curvature."""
_ITERATIONS: Final = 1000
_LEAST_DRAWS: Final = 8
_MOST_DRAWS: Final = 128
_NUMBERS: Final = 1_000_000
"""The range of the number of random vectors, and about how many numbers they have together."""


@dataclass(frozen=True, kw_only=True)
class HistorySettings(RatingSettings):
    """Options of ratings over time."""

    drift: float | None = option(
        None,
        "Variance of the change of a rating in a day, in Elo²; estimated by default.",
        metavar="ELO²",
        above=0,
    )
    prior: float = option(
        1.0, "Virtual draws of each player on the first day with a player of rating 0.", above=0
    )


@dataclass(frozen=True, eq=False)
class PlayerHistory:
    """A player's ratings on the days with games."""

    name: str
    dates: NDArray[np.datetime64]
    elo: Floats
    low: Floats
    """The lower ends of the 95 % intervals."""
    high: Floats
    games: Ints
    """The numbers of games by day."""
    change: Estimate
    """The last rating minus the first; NaN for a single day."""
    component: int
    """The component of players connected by games, from 0, by number of games."""

    @property
    def latest(self) -> Estimate:
        """The last rating."""
        return Estimate(float(self.elo[-1]), float(self.low[-1]), float(self.high[-1]))


@dataclass(frozen=True, repr=False)
class RatingHistory(Result):
    """Ratings over time by player, the highest latest rating first, and the other parameters."""

    drawn_by = "rating_lines"

    players: tuple[PlayerHistory, ...]
    advantages: dict[str, Estimate]
    """The first-move advantage in Elo by condition; a fixed one has no width."""
    draw_rate: float
    """The share of draws between equals, 0 to 1."""
    drift: Estimate
    """Elo² per day; a fixed one has no width."""
    games: int
    """The number of rated games."""
    undated: int
    """The number of games without a date, which are left out."""

    def __getitem__(self, name: str) -> PlayerHistory:
        found = next((player for player in self.players if player.name == name), None)
        if found is None:
            hint = nearest(name, [player.name for player in self.players]) or "see `players`"
            raise Error(f"no player '{name}'; {hint}")
        return found

    @property
    def components(self) -> int:
        """The number of components."""
        return 1 + max((player.component for player in self.players), default=-1)

    @property
    def title(self) -> str:
        """One-line title."""
        players, games = counted(len(self.players), "player"), counted(self.games, "game")
        dates = [date for player in self.players for date in (player.dates[0], player.dates[-1])]
        return f"ratings over time: {players}, {games}, {min(dates)} to {max(dates)}"

    def table(self) -> pa.Table:
        """One row per player and day with games."""
        each = self.players
        names = [name for p in each for name in [p.name] * len(p.dates)]
        return pa.table(
            {
                "player": pa.array(names, pa.string()),
                "date": np.concatenate([p.dates for p in each]),
                "elo": np.concatenate([p.elo for p in each]),
                "low": np.concatenate([p.low for p in each]),
                "high": np.concatenate([p.high for p in each]),
                "games": np.concatenate([p.games for p in each]),
            }
        )

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """A row per player: the latest rating, and the change since the first."""
        heading = ("player", "Elo", "95 %", "change", "games", "first date", "last date")
        return heading, *(
            (
                player.name,
                f"{player.latest.value:.0f}",
                f"±{player.latest.high - player.latest.value:.0f}",
                "–" if math.isnan(player.change.value) else player.change.elo_text(),
                f"{player.games.sum():,}",
                str(player.dates[0]),
                str(player.dates[-1]),
            )
            for player in self.players
        )

    def notes(self) -> tuple[str, ...]:
        """List caveats in sentences."""
        return tuple(self._notes())

    def _notes(self) -> list[str]:
        year = math.sqrt(365.25 * self.drift.value)
        how = f"{self.drift.low:.2g} to {self.drift.high:.2g}; {named('drift')} sets it"
        if self.drift.low == self.drift.high:
            how = "fixed"
        notes = [
            f"A rating drifts by {self.drift.value:.3g} Elo² per day ({how}): a standard deviation "
            f"of {year:.0f} Elo in a year."
        ]
        for condition, value in self.advantages.items():
            when = f", {condition}" if condition else ""
            notes.append(f"Moving first is worth {value.elo_text()} Elo{when}.")
        notes.append(f"Draws between equals: {self.draw_rate:.1%}.")
        if self.components > 1:
            notes.append(
                f"No games connect the {self.components} components of players, listed one after "
                "another: their ratings can't be compared."
            )
        if self.undated:
            notes.append(f"{counted(self.undated, 'game')} without a date left out.")
        if len(self.players) > MOST_DRAWN:
            notes.append(f"The chart has the {MOST_DRAWN} players with the most games.")
        return notes

    @property
    def drawn(self) -> tuple[PlayerHistory, ...]:
        """The players in the chart: those with the most games."""
        most = sorted(self.players, key=lambda each: -int(each.games.sum()))[:MOST_DRAWN]
        return tuple(player for player in self.players if player in most)


def rating_history(
    first: ArrayLike,
    second: ArrayLike,
    result: ArrayLike,
    names: Sequence[str],
    settings: HistorySettings | None = None,
    *,
    dates: ArrayLike,
    conditions: Sequence[str] | None = None,
    **options: Any,
) -> RatingHistory:
    """Rate players over time by Whole-History Rating (Coulom 2008).

    Games are as in `rate_players`, with a date each: days of NumPy's datetime64 or texts such as
    2024-05-31. Games without a date ("" or NaT) are left out. The first-move advantage is estimated
    for each of the `conditions`, such as the time controls of the games. A player who is the anchor
    has one rating at all times. `options` are fields of the settings, which they override. Raises
    Error if no game has a date.

    >>> first, second = [0, 1] * 30, [1, 0] * 30
    >>> dates = ["2023-01-01"] * 30 + ["2024-01-01"] * 30
    >>> result = [0.5, 0.5, 1, 0.5, 0, 1] * 5 + [1, 0, 1, 0.5, 1, 0] * 5
    >>> history = rating_history(first, second, result, ["Aoi", "Ben"], dates=dates, drift=20)
    >>> [(str(date), round(elo)) for date, elo in zip(history["Aoi"].dates, history["Aoi"].elo)]
    [('2023-01-01', -2), ('2024-01-01', 153)]
    """
    settings = replace(settings or HistorySettings(), **options)
    games = Games.of(first, second, result, None, len(names))
    days = np.asarray(dates, dtype="datetime64[D]")
    labels = np.asarray(conditions if conditions is not None else [""] * len(days), dtype=object)
    if days.shape != games.first.shape or labels.shape != days.shape:
        raise ValueError("each game needs a date, and a condition if any has one")
    if len(set(names)) != len(names):
        raise ValueError("two players have the same name")
    dated = ~np.isnat(days)
    if not dated.any():
        raise Error(
            "no game has a date, so ratings over time can't be computed"
            if len(days)
            else "no games to rate"
        )
    levels, level = np.unique(labels[dated].astype(str), return_inverse=True)
    if len(levels) > MOST_CONDITIONS:
        raise Error(
            f"{len(levels):,} conditions are too many for an advantage each: at most "
            f"{MOST_CONDITIONS}"
        )
    if len(levels) > 1 and settings.advantage != "fit":
        raise Error("a fixed advantage and one for each condition exclude each other")
    anchor = None if settings.anchor is None else _place_of(settings.anchor[0], names)
    games = Games(
        games.players,
        *(array[dated] for array in (games.first, games.second, games.doubled, games.clusters)),
    )
    points = Points.of(games, days[dated].astype(np.int64), constant=anchor)
    model = HistoryModel(points, games, level.astype(np.int64), settings)
    drift = Estimate(*[settings.drift] * 3) if settings.drift else model.likeliest_drift()
    return _history(names, points, games, model, levels.tolist(), drift, settings, dated)


def _place_of(name: str, names: Sequence[str]) -> int:
    if name not in names:
        hint = nearest(name, names) or "no player has a name like that"
        raise Error(f"no player '{name}' to anchor the ratings; {hint}")
    return list(names).index(name)


@dataclass(frozen=True)
class Points:
    """The days with games of each player, player by player, in order of time."""

    player: Ints
    day: Ints
    first: Ints
    """Each game's point of the first player."""
    second: Ints

    @classmethod
    def of(cls, games: Games, days: Ints, *, constant: int | None = None) -> "Points":
        """Return the points of games; the `constant` player has only one."""
        player = np.concatenate([games.first, games.second])
        day = np.concatenate([days, days])
        if constant is not None:
            day[player == constant] = days.min()
        order = np.lexsort((day, player))
        is_new = np.ones(len(order), dtype=np.bool_)
        is_new[1:] = (np.diff(player[order]) != 0) | (np.diff(day[order]) != 0)
        point = np.empty(len(order), dtype=np.int64)
        point[order] = np.cumsum(is_new) - 1
        chosen = order[is_new]
        first, second = np.split(point, 2)
        return cls(player[chosen], day[chosen], first, second)

    def __len__(self) -> int:
        return len(self.player)

    @property
    def starts(self) -> Ints:
        """The first point of each player."""
        return np.flatnonzero(np.diff(self.player, prepend=-1))

    @property
    def lasts(self) -> Ints:
        """The last point of each player."""
        return np.flatnonzero(np.diff(self.player, append=-1))

    @property
    def earlier(self) -> Ints:
        """The points that another of the same player follows."""
        return np.flatnonzero(np.diff(self.player) == 0)


@dataclass(frozen=True)
class Tridiagonal:
    """A factorized symmetric tridiagonal matrix, positive definite."""

    diagonal: Floats
    beside: Floats
    """The elements beside the diagonal."""
    pivots: Floats
    """D of the factorization L D Lᵀ."""
    multipliers: Floats
    """The elements of L below its diagonal."""

    @classmethod
    def of(cls, diagonal: Floats, beside: Floats) -> "Tridiagonal":
        """Factorize the matrix; raises LinAlgError if it is not positive definite."""
        from scipy.linalg.lapack import dpttrf  # noqa: PLC0415 - only when players are rated

        pivots, multipliers, info = dpttrf(diagonal, beside)
        if info:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        return cls(diagonal, beside, pivots, multipliers)

    def solve(self, right: Floats) -> Floats:
        """Solve the linear system."""
        from scipy.linalg.lapack import dpttrs  # noqa: PLC0415 - only when players are rated

        return np.asarray(dpttrs(self.pivots, self.multipliers, right)[0])

    def inverse(self) -> tuple[Floats, Floats]:
        """Return the diagonal of the inverse, and the elements beside it."""
        backward = Tridiagonal.of(self.diagonal[::-1], self.beside[::-1]).pivots[::-1]
        diagonal = 1 / (self.pivots + backward - self.diagonal)
        return diagonal, -self.multipliers * diagonal[1:]


@dataclass(frozen=True)
class _Derivatives:
    """The gradient of the log posterior, and the weights of its information matrix."""

    gradient: Floats
    by_d: Floats
    """By the rating differences of the rows."""
    virtual: Floats
    """By each parameter alone: virtual draws."""


@dataclass(frozen=True)
class Maximum:
    """The maximum of the posterior for a drift, and its normal approximation."""

    parameters: Floats
    information: Any
    """The sparse information matrix."""
    own: Tridiagonal
    """Its part of each player's own ratings, and the diagonal of the other parameters."""
    factor: Any
    """A sparse matrix; multiplied by its transpose, it is the information matrix."""

    def solve(self, right: Floats) -> Floats:
        """Solve the linear system of the information matrix for each column, approximately.

        The method is that of conjugate gradients with `own` as the preconditioner.
        """
        rest, solution = right.copy(), np.zeros_like(right)
        direction = scaled = self.own.solve(rest)
        size = np.sum(rest * scaled, axis=0)
        goal = _SOLUTION**2 * size
        for _ in range(_ITERATIONS):
            if np.all(size <= goal):
                break
            product = self.information @ direction
            share = _ratio(size, np.sum(direction * product, axis=0))
            solution += share * direction
            rest -= share * product
            scaled = self.own.solve(rest)
            before, size = size, np.sum(rest * scaled, axis=0)
            direction = scaled + _ratio(size, before) * direction
        return solution

    def samples(self) -> tuple[Floats, Floats]:
        """Sample the parameters minus the maximum: samples, and their parts set by the others.

        The second part of a rating is its expectation given the ratings of all other players. The
        rest is independent of them and has the variance `own.inverse()`.
        """
        rng, columns = np.random.default_rng(0), random_vectors(len(self.parameters))
        right = self.factor @ rng.standard_normal((self.factor.shape[1], columns))
        solved = self.solve(right)
        return solved, solved - self.own.solve(right)


def random_vectors(size: int) -> int:
    """Return a number of random vectors of a size that is worth its time."""
    return min(max(_LEAST_DRAWS, _NUMBERS // size), _MOST_DRAWS)


def _ratio(a: Floats, b: Floats) -> Floats:
    """Return a / b, and 0 where both are."""
    return np.divide(a, b, out=np.zeros_like(b), where=b > 0)


class HistoryModel:
    """The posterior of ratings by point and advantages by level."""

    def __init__(self, points: Points, games: Games, level: Ints, settings: RatingSettings) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - only when players are rated

        levels = int(level.max()) + 1
        self.count = len(points)
        self.levels = levels if isinstance(settings.advantage, str) else 0
        """The number of estimated advantages."""
        self._fixed = (
            0.0 if isinstance(settings.advantage, str) else settings.advantage / ELO_PER_UNIT
        )
        tallies = Tallies.of(games)
        graph = Graph.of(tallies, games.players)
        static = DavidsonModel(tallies, graph, settings.prior, "fit")
        self.nu = math.exp(static.fit().log_nu)
        """ν of Davidson's model, of the static ratings."""
        size = self.count + self.levels
        keys = (points.first * self.count + points.second) * levels + level
        met, row = np.unique(keys, return_inverse=True)
        counts = np.bincount(row.ravel() * 3 + games.doubled, minlength=3 * len(met))
        self._counts = counts.reshape(-1, 3).astype(np.float64)
        """Losses, draws and wins by row: first point, second point and level."""
        meeting, level = np.divmod(met, levels)
        places = [meeting // self.count, meeting % self.count, self.count + level]
        signs, used = [1.0, -1.0, 1.0], 3 if self.levels else 2
        rows = np.tile(np.arange(len(met)), used)
        values = np.repeat(signs[:used], len(met))
        self._design = csr_array(
            (values, (rows, np.concatenate(places[:used]))), shape=(len(met), size)
        )
        """The rating differences, plus advantages, as a linear map of the parameters."""
        self._earlier = points.earlier
        self._gaps = (points.day[self._earlier + 1] - points.day[self._earlier]).astype(np.float64)
        rows = np.tile(np.arange(len(self._earlier)), 2)
        places = [self._earlier + 1, self._earlier]
        values = np.repeat([1.0, -1.0], len(self._earlier))
        self._changes = csr_array(
            (values, (rows, np.concatenate(places))), shape=(len(self._earlier), size)
        )
        """The changes of ratings from point to point as a linear map of the parameters."""
        self._virtual = np.zeros(size)
        self._virtual[points.starts] = settings.prior
        self._virtual[self.count : self.count + self.levels] = settings.prior
        self._start = np.zeros(size)

    def maximum(self, drift: float) -> Maximum:
        """Return the maximum of the posterior; the next search starts there."""
        stiffness = self._stiffness(drift)

        def evaluate(point: Floats) -> tuple[float, _Derivatives]:
            return self._loss(point, stiffness)

        def newton_step(point: Floats, here: _Derivatives) -> tuple[Floats, bool]:
            is_last = float(np.abs(here.gradient).max()) <= _PRECISION
            return self._information(point, here, stiffness).solve(here.gradient), is_last

        point, converged = damped_newton(self._start, evaluate, newton_step, steps=_STEPS)
        if not converged:
            raise Error("the ratings over time do not converge; use a smaller drift")
        self._start = point
        return self._information(point, evaluate(point)[1], stiffness)

    def likeliest_drift(self) -> Estimate:
        """Return the drift with the greatest posterior density of its log, and its 95 % interval.

        The rule of Fellner and Schall approximates the evidence: where it is greatest, the sum of
        squared changes of the ratings, each divided by its variance under the drift, is expected
        under the posterior as under the prior. The posterior's variances are the trace of a matrix:
        exact with all other players' ratings known, and the rest by random probes (Hutchinson
        1990). The prior of the drift decides where games say little: without it, an estimate of 0
        is frequent, and intervals are too narrow.
        """
        from scipy.optimize import brentq  # noqa: PLC0415 - seldom needed

        excess = functools.cache(self._excess)
        low = high = best = _USUAL_LOG_DRIFT
        curvature = 0.0
        if len(self._earlier):
            while excess(high) > 0:
                low, high = high, high + _STRIDE
            while excess(low) <= 0:
                low, high = low - _STRIDE, low
            best = brentq(excess, low, high, xtol=0.01)
            curvature = (excess(best - _NEAR) - excess(best + _NEAR)) / (4 * _NEAR)
        reach = _Z95 / math.sqrt(max(curvature, _DRIFT_SPREAD**-2))
        return Estimate(math.exp(best), math.exp(best - reach), math.exp(best + reach))

    def _excess(self, log_drift: float) -> float:
        """Return twice the slope of the log posterior density of the log of the drift."""
        drift = math.exp(log_drift)
        best, stiffness = self.maximum(drift), self._stiffness(drift)
        variances, covariances = best.own.inverse()
        spread = variances[self._earlier] + variances[self._earlier + 1]
        spread -= 2 * covariances[self._earlier]
        changes = self._changes @ best.parameters
        probes = self._changes.T @ (np.sqrt(stiffness)[:, None] * self._probes)
        rest = np.sum(probes * (best.solve(probes) - best.own.solve(probes)))
        prior = 2 * (_USUAL_LOG_DRIFT - log_drift) / _DRIFT_SPREAD**2
        return float(stiffness @ (changes**2 + spread) + rest - len(changes)) + prior

    @functools.cached_property
    def _probes(self) -> Floats:
        """Random vectors of which the sum of quadratic forms estimates a trace.

        They are orthogonal, so that as many vectors as dimensions give the exact trace.
        """
        size = len(self._earlier)
        columns = min(size, random_vectors(size))
        vectors = np.random.default_rng(0).standard_normal((size, columns))
        return np.asarray(np.linalg.qr(vectors)[0] * math.sqrt(size / columns))

    def _stiffness(self, drift: float) -> Floats:
        """Return the precision of the change from each point to the next."""
        return np.asarray(ELO_PER_UNIT**2 / (drift * self._gaps))

    def _loss(self, point: Floats, stiffness: Floats) -> tuple[float, _Derivatives]:
        """Return the negative log posterior up to a constant, and its derivatives."""
        losses, _, wins = self._counts.T
        total, nu = self._counts.sum(axis=1), self.nu
        slope = 1 + nu / 2
        d = self._design @ point + self._fixed
        p_draw, lean, log_whole = chances(slope * d, nu)
        spread = np.maximum(0.0, (1 - p_draw) / 4 - lean * lean)
        by_odds = (wins - losses) / 2 - total * lean
        changes = self._changes @ point
        pull = stiffness * changes
        virtual, virtual_pull, virtual_curve = virtual_draws(self._virtual, point)
        value = float((wins - losses) @ d * slope / 2 - total @ log_whole) + virtual
        value -= float(pull @ changes) / 2
        gradient = self._design.T @ (slope * by_odds) + virtual_pull - self._changes.T @ pull
        by_d = total * spread * slope * slope
        return -value, _Derivatives(gradient, by_d, virtual_curve)

    def _information(self, point: Floats, here: _Derivatives, stiffness: Floats) -> Maximum:
        """Return the information matrix at a point."""
        from scipy.sparse import diags_array, hstack  # noqa: PLC0415

        size = len(point)
        by_row = self._design.T @ diags_array(np.sqrt(here.by_d))
        factor = hstack(
            [
                by_row,
                self._changes.T @ diags_array(np.sqrt(stiffness)),
                diags_array(np.sqrt(here.virtual)),
            ]
        )
        matrix = (factor @ factor.T).tocsr()
        beside = np.zeros(size - 1)
        beside[self._earlier] = -stiffness
        return Maximum(point, matrix, Tridiagonal.of(matrix.diagonal(), beside), factor)


def _history(  # noqa: PLR0917 - everything that was found
    names: Sequence[str],
    points: Points,
    games: Games,
    model: HistoryModel,
    levels: list[str],
    drift: Estimate,
    settings: HistorySettings,
    dated: NDArray[np.bool_],
) -> RatingHistory:
    best, count = model.maximum(drift.value), len(points)
    zero = _Zero.of(points, games, settings.anchor, names)
    elo = (best.parameters[:count] - zero.of_each(best.parameters)) * ELO_PER_UNIT
    if settings.anchor is not None:
        elo[zero.component == zero.component[zero.anchor]] += settings.anchor[1]
    variances, change_variances = _variances(points, best, zero)
    reach = _Z95 * np.sqrt(variances) * ELO_PER_UNIT
    change_reach = (_Z95 * np.sqrt(change_variances) * ELO_PER_UNIT).tolist()
    played = np.bincount(points.first, minlength=count)
    played += np.bincount(points.second, minlength=count)
    players = []
    starts, lasts = points.starts.tolist(), points.lasts.tolist()
    for start, last, half in zip(starts, lasts, change_reach, strict=True):
        days = slice(start, last + 1)
        change = float(elo[last] - elo[start]) if last > start else math.nan
        players.append(
            PlayerHistory(
                name=names[points.player[start]],
                dates=points.day[days].astype("datetime64[D]"),
                elo=elo[days],
                low=elo[days] - reach[days],
                high=elo[days] + reach[days],
                games=played[days],
                change=Estimate(change, change - half, change + half),
                component=int(zero.component[start]),
            )
        )
    nu = model.nu
    return RatingHistory(
        players=tuple(sorted(players, key=lambda each: (each.component, -each.latest.value))),
        advantages=dict(zip(levels, _advantages(model, best, levels, settings), strict=True)),
        draw_rate=nu / (2 + nu),
        drift=drift,
        games=int(dated.sum()),
        undated=int((~dated).sum()),
    )


@dataclass(frozen=True)
class _Zero:
    """The zero of the ratings of each component: a weighted mean of its points."""

    component: Ints
    """By point; the component with the most games is 0."""
    weights: Floats
    """By point: the players' mean ratings have equal weights, or the anchor has all weight."""
    anchor: int = -1
    """The anchor's point, if any."""

    @classmethod
    def of(
        cls, points: Points, games: Games, anchor: tuple[str, float] | None, names: Sequence[str]
    ) -> "_Zero":
        from scipy.sparse import coo_array  # noqa: PLC0415 - only when players are rated
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        edges = coo_array(
            (np.ones(len(games.first)), (games.first, games.second)), [len(names)] * 2
        )
        number = connected_components(edges, directed=False)[1]
        rank = np.argsort(np.argsort(-np.bincount(number[games.first], minlength=len(names))))
        component = rank[number][points.player]
        days = np.bincount(points.player)[points.player]
        players = np.bincount(component[points.starts])[component]
        weights = 1 / (days * players)
        if anchor is None:
            return cls(component, weights)
        place = np.flatnonzero(points.player == _place_of(anchor[0], names))
        if not len(place):
            raise Error(f"'{anchor[0]}' has no game with a date to anchor the ratings")
        weights[component == component[place]] = 0.0
        weights[place] = 1.0
        return cls(component, weights, int(place[0]))

    def of_each(self, ratings: Floats) -> Floats:
        """Return the zero of each point's component, for each column of ratings."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - only when players are rated

        points = np.arange(len(self.weights))
        means = csr_array((self.weights, (self.component, points)))
        return np.asarray((means @ ratings[: len(points)])[self.component])


def _variances(points: Points, best: Maximum, zero: _Zero) -> tuple[Floats, Floats]:
    """Return the variances of the ratings by point, and of each player's change.

    The law of total variance adds what a player's own games leave open if all other ratings are
    known, which is exact, and what the others' ratings leave open, which is sampled.
    """
    count, starts, lasts, earlier = len(points), points.starts, points.lasts, points.earlier
    own, with_next = best.own.inverse()
    # The ratings of a player are a Markov chain: covariances of distant days are products.
    ratios = np.log(with_next[earlier] / own[earlier + 1])
    first_of_last = np.exp(np.bincount(points.player[earlier], ratios, points.player[-1] + 1))
    change = own[starts] + own[lasts] * (1 - 2 * first_of_last[points.player[starts]])
    of_zero = np.zeros(len(own))
    of_zero[:count] = zero.weights
    rating = own[:count] - 2 * best.own.solve(of_zero)[:count]
    samples, set_by_others = best.samples()
    rating += np.mean((set_by_others[:count] - zero.of_each(samples)) ** 2, axis=1)
    change += np.mean((set_by_others[lasts] - set_by_others[starts]) ** 2, axis=1)
    if zero.anchor >= 0:
        rating[zero.anchor] = 0.0
    return np.maximum(rating, 0.0), np.maximum(change, 0.0)


def _advantages(
    model: HistoryModel, best: Maximum, levels: Sequence[str], settings: RatingSettings
) -> list[Estimate]:
    """Return the advantage of each level in Elo."""
    if not isinstance(settings.advantage, str):
        return [Estimate(*[settings.advantage] * 3) for _ in levels]
    estimates = []
    for place in range(model.count, model.count + len(levels)):
        unit = np.zeros(len(best.parameters))
        unit[place] = 1.0
        value = float(best.parameters[place]) * ELO_PER_UNIT
        reach = _Z95 * math.sqrt(best.solve(unit)[place]) * ELO_PER_UNIT
        estimates.append(Estimate(value, value - reach, value + reach))
    return estimates
