# SPDX-License-Identifier: Apache-2.0
"""Davidson's model of wins, draws and losses, fitted by maximum likelihood.

The parameters are natural logarithms of odds; `ratings` explains the model.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyoka.foundation.errors import Error
from hyoka.foundation.math import damped_newton, logistic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ELO_PER_UNIT: Final = 400 / math.log(10)
_MOST_DENSE: Final = 400
"""The maximum number of players for dense solving; beyond it, conjugate gradients."""
_STEPS: Final = 100
_PRECISION: Final = 1e-8
_NO_GAIN: Final = 1e-9
"""A negligible gain in log likelihood."""
_FARTHEST: Final = 35.0
"""The log odds beyond which no game is informative."""
_FAR: Final = 8.0
"""An advantage (1,400 Elo) beyond which games do not bound it."""


@dataclass(frozen=True)
class Games:
    """Games, one per row."""

    players: int
    first: Ints
    second: Ints
    doubled: Ints
    """Twice the first player's points."""
    clusters: Ints

    @classmethod
    def of(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        result: ArrayLike,
        clusters: ArrayLike | None,
        players: int,
    ) -> "Games":
        """Check the columns and build the games; raises ValueError."""
        one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
        points = np.asarray(result, dtype=np.float64)
        which = np.arange(len(one)) if clusters is None else np.asarray(clusters)
        if not one.shape == other.shape == points.shape == which.shape or one.ndim != 1:
            raise ValueError("each game needs a first player, a second, a result and a cluster")
        if len(one) and not (
            0 <= min(one.min(), other.min()) <= max(one.max(), other.max()) < players
        ):
            raise ValueError(f"players are numbered from 0 to {players - 1}")
        if np.any(one == other):
            raise ValueError("a player can't play against himself")
        if not np.all(np.isin(points, (0, 0.5, 1))):
            raise ValueError("a game brings 0, 0.5 or 1 points")
        numbers = which if clusters is None else np.unique(which, return_inverse=True)[1]
        return cls(players, one, other, (2 * points).astype(np.int64), numbers.astype(np.int64))


@dataclass(frozen=True)
class Tallies:
    """Games counted by players, order of play and result; a row per ordered pair of players."""

    first: Ints
    second: Ints
    counts: Floats
    """Losses, draws and wins of the first player."""

    @classmethod
    def of(cls, games: Games) -> "Tallies":
        """Count games."""
        meeting = games.first * games.players + games.second
        if games.players * games.players <= 4 * len(meeting) + 10_000:
            counts = np.bincount(meeting * 3 + games.doubled, minlength=3 * games.players**2)
            counts = counts.reshape(-1, 3)
            met = np.flatnonzero(counts.any(axis=1))
            counts = counts[met]
        else:
            met, row = np.unique(meeting, return_inverse=True)
            counts = np.bincount(row * 3 + games.doubled, minlength=3 * len(met)).reshape(-1, 3)
        return cls(met // games.players, met % games.players, counts.astype(np.float64))

    @property
    def total(self) -> Floats:
        """The number of games per row."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def decided(self) -> "Tallies":
        """The tallies without draws."""
        return replace(self, counts=self.counts * [1, 0, 1])


@dataclass(frozen=True)
class Graph:
    """The graph of players connected by games."""

    component: Ints
    """Each player's component; the one with the most games is 0."""
    group: Ints
    """Each player's strongly connected group, by points taken from each other."""
    beaten: dict[int, set[int]]
    """By group, the other groups that it took points from."""

    @classmethod
    def of(cls, tallies: Tallies, players: int) -> "Graph":
        """Build the graph of points taken."""
        # Import scipy only when players are rated.
        from scipy.sparse import csr_array  # noqa: PLC0415
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        losses, draws, wins = tallies.counts.T
        scored, conceded = wins + draws > 0, losses + draws > 0
        taker = np.concatenate([tallies.first[scored], tallies.second[conceded]])
        giver = np.concatenate([tallies.second[scored], tallies.first[conceded]])
        edges = csr_array((np.ones(len(taker)), (taker, giver)), shape=(players, players))
        count, component = connected_components(edges, directed=False)
        _, group = connected_components(edges, directed=True, connection="strong")
        played = np.bincount(component[tallies.first], weights=tallies.total, minlength=count)
        rank = np.empty(count, dtype=np.int64)
        rank[np.argsort(-played, kind="stable")] = np.arange(count)
        beaten: dict[int, set[int]] = {}
        across = group[taker] != group[giver]
        for one, other in zip(
            group[taker][across].tolist(), group[giver][across].tolist(), strict=True
        ):
            beaten.setdefault(one, set()).add(other)
        return cls(rank[component], group.astype(np.int64), beaten)

    def is_strong(self, tallies: Tallies) -> bool:
        """Whether these tallies connect all players of each component strongly."""
        groups = Graph.of(tallies, len(self.component)).group
        return len(np.unique(np.stack([self.component, groups]), axis=1)[0]) == len(self.sizes)

    @property
    def sizes(self) -> Ints:
        """The number of players per component."""
        return np.bincount(self.component).astype(np.int64)

    def open_components(self) -> Ints:
        """The components in which some players never took a point from the others."""
        groups = np.unique(np.stack([self.component, self.group]), axis=1)[0]
        return np.flatnonzero(np.bincount(groups) > 1)

    def centered(self, values: Floats) -> Floats:
        """Return the players' values minus the mean of their component."""
        sums = np.zeros((len(self.sizes), *values.shape[1:]))
        np.add.at(sums, self.component, values)
        shape = (-1, *[1] * (values.ndim - 1))
        return np.asarray(values - (sums / self.sizes.reshape(shape))[self.component])

    def bounds(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whether games bound each player from below, and from above."""
        is_strong = (
            ~np.isin(self.component, self.open_components()) & (self.sizes > 1)[self.component]
        )
        below = np.isin(self.group, list(self.beaten)) | is_strong
        losers = {loser for beaten in self.beaten.values() for loser in beaten}
        above = np.isin(self.group, list(losers)) | is_strong
        return below, above


@dataclass(frozen=True)
class Fit:
    """The maximum-likelihood parameters, in natural logarithms of odds."""

    ratings: Floats
    advantage: float
    log_nu: float
    """-inf without draws."""
    fits_advantage: bool
    advantage_known: bool
    """Whether the games bound the advantage on both sides."""
    advantage_prior: float

    @property
    def scale(self) -> float:
        """Elo per unit: it matches the slope of a match's Elo near equality."""
        return ELO_PER_UNIT * 2 / (2 + math.exp(self.log_nu))  # times 1 - draw rate

    @property
    def draw_rate(self) -> float:
        """The draw rate between equals."""
        nu = math.exp(self.log_nu)
        return nu / (2 + nu)


@dataclass(frozen=True)
class _Derivatives:
    """Derivatives of the log likelihood by each tally's difference d and by log ν."""

    value: float
    by_d: Floats
    by_log_nu: float
    curve_d: Floats
    """Negated second derivatives, positive for the squares."""
    curve_cross: Floats
    curve_log_nu: float
    virtual_by_d: Floats
    virtual_curve: Floats
    advantage_by: float
    advantage_curve: float


class DavidsonModel:
    """The likelihood of tallies under Davidson's model, with virtual draws where necessary."""

    def __init__(
        self, tallies: Tallies, graph: Graph, prior: float, advantage: float | str
    ) -> None:
        self._tallies = tallies
        self._graph = graph
        self._prior = prior
        self._fixed_advantage = None if isinstance(advantage, str) else float(advantage)
        self._has_draws = bool(tallies.counts[:, 1].sum() > 0)
        # If only draws and one side's wins occur, the likelihood grows without bound with the
        # distance and the draws; if only draws occur, with ν. One virtual decided game of equals
        # bounds it.
        self._decided = 1.0 if self._has_draws and not graph.is_strong(tallies.decided) else 0.0
        players = len(graph.component)
        games = np.bincount(tallies.first, tallies.total, players)
        games += np.bincount(tallies.second, tallies.total, players)
        needed = np.isin(graph.component[tallies.first], graph.open_components())
        with np.errstate(divide="ignore"):
            shares = (1 / games[tallies.first] + 1 / games[tallies.second]) / 2
        self._virtual = np.where(needed, prior * shares * tallies.total, 0.0)

    def fit(self) -> Fit:
        """Return the maximum of the likelihood."""
        players = len(self._graph.component)
        if not len(self._tallies.first):
            return Fit(
                np.zeros(players), 0.0, -math.inf, False, self._fixed_advantage is not None, 0.0
            )
        start = Fit(
            np.zeros(players),
            0.0,
            0.0 if self._has_draws else -math.inf,
            fits_advantage=self._fixed_advantage is None and self._advantage_is_identifiable(),
            advantage_known=self._fixed_advantage is not None or self._advantage_is_identifiable(),
            advantage_prior=0.0,
        )
        if self._fixed_advantage is not None:
            return self._fit_with_fixed_advantage(start)
        fit = self._climb(start)
        if fit.fits_advantage and abs(fit.advantage) > _FAR:
            # The first player won all games (or lost all): bound the advantage as a player's
            # rating.
            fit = self._climb(replace(start, advantage_known=False, advantage_prior=self._prior))
        return fit

    def _fit_with_fixed_advantage(self, start: Fit) -> Fit:
        """Fit with a fixed advantage in Elo, whose value in odds depends on the draws.

        A greater advantage in odds leaves more draws to ν, and more draws make the same Elo a
        greater advantage in odds. The secant method starts at 0 and finds where they agree. Raises
        Error if they never do, because the games have too many draws for the advantage.
        """
        assert self._fixed_advantage is not None
        fit = self._climb(start)
        before, short_before = 0.0, self._fixed_advantage / fit.scale
        advantage = short_before
        while advantage != before and abs(advantage) < _FARTHEST:
            fit = self._climb(replace(fit, advantage=advantage))
            short = self._fixed_advantage / fit.scale - advantage
            if abs(short) <= _PRECISION * max(1.0, abs(advantage)):
                return fit
            slope = (short - short_before) / (advantage - before)
            if slope >= 0:  # the gap grows
                break
            before, short_before, advantage = advantage, short, advantage - short / slope
        if advantage == 0:
            return fit
        raise Error(
            f"an advantage of {self._fixed_advantage:g} Elo does not fit the share of draws: "
            "use a smaller one, or fit it"
        )

    def _advantage_is_identifiable(self) -> bool:
        """Whether the advantage is identifiable apart from the ratings.

        It is not if some ratings make every first player exactly 1 stronger.
        """
        one, other = self._tallies.first, self._tallies.second
        weights = self._tallies.total
        ratings = self._solve(weights, self._by_player(weights)[:, None])[:, 0]
        return bool(np.abs(ratings[one] - ratings[other] - 1).max() > 1e-6)

    def _climb(self, fit: Fit) -> Fit:
        """Maximize the likelihood by Newton's method with a line search.

        An unbounded advantage stops the search far beyond what games can determine.
        """
        gain = math.inf

        def fit_at(point: Floats) -> Fit:
            advantage, log_nu = map(float, point[-2:])
            return replace(fit, ratings=point[:-2], advantage=advantage, log_nu=log_nu)

        def evaluate(point: Floats) -> tuple[float, _Derivatives]:
            derivatives = self._derivatives(fit_at(point))
            return -derivatives.value, derivatives

        def newton_step(point: Floats, here: _Derivatives) -> tuple[Floats, bool]:
            nonlocal gain
            there = fit_at(point)
            ratings, advantage, log_nu = self._newton(there, here)
            step = np.array([*self._graph.centered(ratings), advantage, log_nu])
            largest = max(float(np.abs(ratings).max()), abs(advantage), abs(log_nu))
            gain = self._slope(here, ratings, advantage, log_nu)
            endless = there.fits_advantage and not there.advantage_prior
            is_last = largest < _PRECISION or (endless and abs(there.advantage) > 2 * _FAR)
            return step * min(1.0, 4 / largest) if largest else step, is_last

        start = np.array([*fit.ratings, fit.advantage, fit.log_nu])
        point, converged = damped_newton(start, evaluate, newton_step, steps=_STEPS, least=1e-6)
        if converged:
            return fit_at(point)
        if gain < _NO_GAIN:  # with thousands of players the equations are solved approximately
            return fit_at(point)
        raise Error("the ratings do not converge; rate more games, or fewer players")

    def _slope(self, here: _Derivatives, ratings: Floats, advantage: float, log_nu: float) -> float:
        """Return the directional derivative of the likelihood along a step."""
        by_player = self._by_player(here.by_d + here.virtual_by_d)
        by_advantage = float(here.by_d.sum()) + here.advantage_by
        return float(by_player @ ratings) + by_advantage * advantage + here.by_log_nu * log_nu

    def _derivatives(self, fit: Fit) -> _Derivatives:
        tallies = self._tallies
        losses, draws, wins = tallies.counts.T
        total = tallies.total
        gap = fit.ratings[tallies.first] - fit.ratings[tallies.second]
        d = gap + fit.advantage
        nu = math.exp(fit.log_nu)
        p_draw, lean, log_whole = chances(d, nu)
        spread = (1 - p_draw) / 4 - lean * lean
        value = float((wins - losses) @ d / 2 - total @ log_whole)
        by_log_nu = curve_log_nu = 0.0
        if self._has_draws:
            value += float(draws.sum()) * fit.log_nu - self._decided * math.log(2 + nu)
            of_equals = nu / (2 + nu)
            by_log_nu = float(draws.sum() - total @ p_draw) - self._decided * of_equals
            curve_log_nu = float(total @ (p_draw * (1 - p_draw)))
            curve_log_nu += self._decided * of_equals * (1 - of_equals)
        virtual, pull, curve = virtual_draws(self._virtual, gap)
        equals, equals_pull, equals_curve = virtual_draws(
            np.array([fit.advantage_prior]), np.array([fit.advantage])
        )
        return _Derivatives(
            value=value + virtual + equals,
            by_d=(wins - losses) / 2 - total * lean,
            by_log_nu=by_log_nu,
            curve_d=total * spread,
            curve_cross=-total * p_draw * lean,
            curve_log_nu=curve_log_nu,
            virtual_by_d=pull,
            virtual_curve=curve,
            advantage_by=float(equals_pull[0]),
            advantage_curve=float(equals_curve[0]),
        )

    def _newton(self, fit: Fit, here: _Derivatives) -> tuple[Floats, float, float]:
        """Return the Newton step."""
        gradient = self._by_player(here.by_d + here.virtual_by_d)
        others, corner = self._borders(fit, here)
        right = np.array([here.by_d.sum() + here.advantage_by, here.by_log_nu])[self._free(fit)]
        weights = here.curve_d + here.virtual_curve
        solved = self._solve(weights, np.column_stack([gradient, *others.T]))
        for_gradient, for_others = solved[:, 0], solved[:, 1:]
        rest = np.zeros(2)
        if len(corner):
            rest[self._free(fit)] = np.linalg.solve(
                corner - others.T @ for_others, right - others.T @ for_gradient
            )
        step = for_gradient - for_others @ rest[self._free(fit)]
        return step, float(rest[0]), float(rest[1])

    def _free(self, fit: Fit) -> list[bool]:
        """Whether the advantage and log ν are free parameters."""
        return [fit.fits_advantage, self._has_draws]

    def _borders(self, fit: Fit, here: _Derivatives) -> tuple[Floats, Floats]:
        """Return the Hessian's columns and corner for the parameters other than ratings."""
        free = self._free(fit)
        columns = np.column_stack(
            [self._by_player(here.curve_d), self._by_player(here.curve_cross)]
        )
        cross = float(here.curve_cross.sum())
        corner = np.array(
            [
                [here.curve_d.sum() + here.advantage_curve, cross],
                [cross, here.curve_log_nu],
            ]
        )
        return columns[:, free], corner[np.ix_(free, free)]

    def _by_player(self, by_d: Floats) -> Floats:
        """Sum values by difference into values by player."""
        players = len(self._graph.component)
        one, other = self._tallies.first, self._tallies.second
        return np.asarray(np.bincount(one, by_d, players) - np.bincount(other, by_d, players))

    def _laplacian(self, weights: Floats) -> Any:
        from scipy.sparse import csr_array, diags_array  # noqa: PLC0415

        players = len(self._graph.component)
        one, other = self._tallies.first, self._tallies.second
        shape = (players, players)
        linked = csr_array((weights, (one, other)), shape=shape)
        linked = linked + linked.T
        return diags_array(linked.sum(axis=1)) - linked

    def _solve(self, weights: Floats, right: Floats) -> Floats:
        """Solve the weighted Laplacian for each column of `right`, with mean 0 per component.

        Each column must sum to 0 in each component.
        """
        laplacian = self._laplacian(weights)
        if laplacian.shape[0] <= _MOST_DENSE:
            return self._graph.centered(np.asarray(np.linalg.solve(self._pinned(laplacian), right)))
        from scipy.sparse import diags_array  # noqa: PLC0415
        from scipy.sparse.linalg import cg  # noqa: PLC0415

        diagonal = laplacian.diagonal()
        scaling = diags_array(1 / np.where(diagonal > 0, diagonal, 1.0))
        # The next Newton step corrects the remaining error; a column of pure noise is left
        # unsolved.
        columns = [
            cg(laplacian, column, rtol=1e-8, atol=1e-9, maxiter=1000, M=scaling)[0]
            for column in right.T
        ]
        return self._graph.centered(np.column_stack(columns))

    def _pinned(self, laplacian: Any) -> Floats:
        """Return the dense matrix with each component's translation removed."""
        dense = np.asarray(laplacian.toarray(), dtype=np.float64)
        same = self._graph.component[:, None] == self._graph.component
        size = max(1e-300, float(np.trace(dense)) / len(dense))
        return np.asarray(dense + size * same / self._graph.sizes[self._graph.component])

    def covariance(self, fit: Fit, games: Games) -> Floats:
        """Return the cluster-robust covariance of ratings, advantage and log ν, in odds."""
        players = len(self._graph.component)
        if not len(self._tallies.first):
            return np.zeros((players + 2, players + 2))
        here = self._derivatives(fit)
        free = np.array([True] * players + self._free(fit))
        hessian = np.zeros((players + 2, players + 2))
        hessian[:players, :players] = self._pinned(
            self._laplacian(here.curve_d + here.virtual_curve)
        )
        columns, corner = self._borders(fit, here)
        others = np.flatnonzero(free[players:]) + players
        hessian[:players, others] = columns
        hessian[others, :players] = columns.T
        hessian[np.ix_(others, others)] = corner
        selected = np.ix_(free, free)
        try:
            inverse = np.linalg.inv(hessian[selected])
        except np.linalg.LinAlgError:
            raise Error(
                "the Hessian is singular: rate more games, or use intervals=False"
            ) from None
        meat, clusters = self._meat(fit, games)
        share = np.sqrt(self._share_of_model(clusters))[free]
        matrix = np.zeros_like(hessian)
        matrix[selected] = inverse @ meat[selected] @ inverse + share[:, None] * inverse * share
        matrix[:players] = self._graph.centered(matrix[:players])
        matrix[:, :players] = self._graph.centered(matrix[:, :players].T).T
        return matrix

    def _share_of_model(self, clusters: Floats) -> Floats:
        """Return the share of the model's variance to add to the empirical one.

        Games that ended exactly as expected would leave no variance. A rating gets the empirical
        variance plus that of one cluster; without a decided game, the model's variance alone.
        """
        decided = self._tallies.counts[:, ::2].sum(axis=1)
        component = self._graph.component
        settled = np.bincount(component[self._tallies.first], decided, len(self._graph.sizes)) == 0
        share = 1 / np.maximum(1.0, clusters)
        share[: len(component)][settled[component]] = 1.0
        return share

    def _meat(self, fit: Fit, games: Games) -> tuple[Floats, Floats]:
        """Return the clusters' summed squared scores and their number, by parameter."""
        from scipy.sparse import csr_array  # noqa: PLC0415

        players = games.players
        d = fit.ratings[games.first] - fit.ratings[games.second] + fit.advantage
        p_draw, lean, _ = chances(d, math.exp(fit.log_nu))
        by_d = (games.doubled - 1) / 2 - lean
        by_log_nu = (games.doubled == 1) - p_draw
        rows = np.tile(games.clusters, 4)
        count = len(games.first)
        places = np.concatenate(
            [games.first, games.second, np.full(count, players), np.full(count, players + 1)]
        )
        values = np.concatenate([by_d, -by_d, by_d, by_log_nu])
        shape = (int(games.clusters.max()) + 1, players + 2)
        scores = csr_array((values, (rows, places)), shape=shape)
        clusters = np.bincount(scores.indices, minlength=players + 2)
        return np.asarray((scores.T @ scores).toarray()), clusters.astype(np.float64)


def chances(d: Floats, nu: float) -> tuple[Floats, Floats, Floats]:
    """Return the draw probability, half of win minus loss, and the log of the normalizer."""
    top = np.abs(d) / 2
    win, loss, draw = np.exp(d / 2 - top), np.exp(-d / 2 - top), nu * np.exp(-top)
    total = win + loss + draw
    return draw / total, (win - loss) / total / 2, np.log(total) + top


def virtual_draws(weights: Floats, gap: Floats) -> tuple[float, Floats, Floats]:
    """Return the log likelihood of half a win and half a loss, its slope and negated curvature."""
    if not weights.any():
        return 0.0, weights, weights
    p = logistic(gap)
    value = -weights @ (np.logaddexp(0, gap) + np.logaddexp(0, -gap)) / 2
    return float(value), weights * (0.5 - p), weights * p * (1 - p)
