# SPDX-License-Identifier: Apache-2.0
"""Ratings over time: against a dense posterior, simulations, and static ratings."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from hyoka.arena.ratings import rate_players
from hyoka.arena.whole_history import RatingHistory, rating_history
from hyoka.foundation.errors import Error

ELO = 400 / math.log(10)
Reals = NDArray[np.float64]
START = np.datetime64("2020-01-01")


def simulate(
    players: int,
    days: int,
    games: int,
    drift: float,
    *,
    draws: float = 0.0,
    advantages: tuple[float, ...] = (0.0,),
    seed: int = 1,
) -> tuple[Reals, dict[str, Any]]:
    """True ratings by player and day, and games for `rating_history`."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, math.sqrt(drift), (players, days))
    truth = rng.normal(0, 150, (players, 1)) + np.cumsum(steps, axis=1)
    day, condition = rng.integers(0, days, games), rng.integers(0, len(advantages), games)
    first = rng.integers(0, players, games)
    second = (first + rng.integers(1, players, games)) % players
    gap = truth[first, day] - truth[second, day] + np.array(advantages)[condition]
    below = np.cumsum(chances(gap, 2 * draws / (1 - draws)), axis=1)
    result = (rng.random(games)[:, None] > below[:, :2]).sum(axis=1) / 2
    given = {
        "first": first,
        "second": second,
        "result": result,
        "dates": START + day,
        "names": names(players),
        "conditions": [f"c{each}" for each in condition],
    }
    return truth, given


def names(count: int) -> list[str]:
    return [f"p{i:02}" for i in range(count)]


def chances(gap: Reals, nu: float) -> Reals:
    """Of a loss, a draw and a win of the first player, by Davidson."""
    d = gap / ELO * (1 + nu / 2)
    odds = np.stack([np.exp(-d / 2), np.full_like(d, nu), np.exp(d / 2)], axis=1)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


class Dense:
    """The same posterior, written out with dense matrices.

    The parameters are the ratings by player and day, and the advantages by condition, in Elo.
    """

    def __init__(
        self, given: dict[str, Any], drift: float, prior: float = 1.0, nu: float = 0.0
    ) -> None:
        sides = [
            list(zip(given[side].tolist(), given["dates"].tolist(), strict=True))
            for side in ("first", "second")
        ]
        self.points = sorted({*sides[0], *sides[1]})
        self.first, self.second = (np.array([self.points.index(p) for p in s]) for s in sides)
        labels = sorted(set(given["conditions"]))
        self.condition = np.array([labels.index(c) for c in given["conditions"]]) + len(self.points)
        self.outcome = (2 * given["result"]).astype(int)
        self.nu = nu
        self.size = len(self.points) + len(labels)
        new = [i for i, (p, _) in enumerate(self.points) if i == 0 or self.points[i - 1][0] != p]
        self.virtual = [*new, *range(len(self.points), len(self.points) + len(labels))]
        self.links = [
            (i, (self.points[i + 1][1] - day).days)
            for i, (player, day) in enumerate(self.points[:-1])
            if self.points[i + 1][0] == player
        ]
        self.drift, self.prior = drift, prior

    def likelihoods(self, x: Reals) -> Reals:
        """Log probabilities of all three outcomes of each game."""
        gap = x[self.first] - x[self.second] + x[self.condition]
        return np.asarray(np.log(np.maximum(chances(gap, self.nu), 1e-300)))

    def loss(self, x: Reals) -> float:
        value = self.likelihoods(x)[np.arange(len(self.outcome)), self.outcome].sum()
        for i in self.virtual:  # half a win and half a loss against a player of rating 0
            p = 1 / (1 + math.exp(-x[i] / ELO))
            value += self.prior * math.log(p * (1 - p)) / 2
        for i, days in self.links:
            value -= (x[i + 1] - x[i]) ** 2 / (2 * self.drift * days)
        return -float(value)

    def maximum(self) -> Reals:
        x = minimize(self.loss, np.zeros(self.size), method="BFGS").x
        steps = np.eye(self.size) * 1e-2
        for _ in range(3):  # Newton's method
            slope = [(self.loss(x + e) - self.loss(x - e)) / 2e-2 for e in steps]
            x = x - np.linalg.solve(self.information(x), slope)
        return np.asarray(x)

    def information(self, x: Reals) -> Reals:
        """Expected second derivatives, the likelihood's by differences."""
        steps = np.eye(self.size) * 1e-3
        slopes = np.stack(
            [(self.likelihoods(x + e) - self.likelihoods(x - e)) / 2e-3 for e in steps], axis=-1
        )
        matrix = np.einsum("go,goi,goj->ij", np.exp(self.likelihoods(x)), slopes, slopes)
        for i in self.virtual:
            q = 1 / (1 + math.exp(-x[i] / ELO))
            matrix[i, i] += self.prior * q * (1 - q) / ELO**2
        for i, days in self.links:
            block = np.array([[1, -1], [-1, 1]]) / (self.drift * days)
            matrix[i : i + 2, i : i + 2] += block
        return np.asarray(matrix)

    def centering(self) -> Reals:
        """The matrix that subtracts the mean over the players of their mean ratings."""
        players = [player for player, _ in self.points]
        weights = [1 / players.count(p) / len(set(players)) for p in players]
        matrix = np.eye(len(players), self.size)
        matrix[:, : len(players)] -= weights
        return matrix


def by_point(history: RatingHistory, column: str) -> Reals:
    """A column of the table in the order of players and days."""
    table = history.table().sort_by([("player", "ascending"), ("date", "ascending")])
    return np.asarray(table[column].to_numpy())


@pytest.mark.parametrize("draws", [0.0, 0.3])
def test_it_is_the_dense_posterior(draws: float) -> None:
    _, given = simulate(4, 6, 70, 900, draws=draws, advantages=(80.0, -40.0))
    history = rating_history(**given, drift=700)
    static = rate_players(given["first"], given["second"], given["result"], given["names"])
    assert history.draw_rate == pytest.approx(static.draw_rate)
    dense = Dense(given, 700, nu=2 * static.draw_rate / (1 - static.draw_rate))
    x = dense.maximum()
    center = dense.centering()
    assert by_point(history, "elo") == pytest.approx(center @ x, abs=0.05)
    covariance = np.linalg.inv(dense.information(x))
    of_advantages = slice(len(dense.points), len(dense.points) + 2)
    deviations = np.sqrt(np.diag(covariance))[of_advantages]
    for found, value, deviation in zip(
        history.advantages.values(), x[of_advantages], deviations, strict=True
    ):
        assert found.value == pytest.approx(value, abs=0.05)
        assert found.high - found.value == pytest.approx(1.96 * deviation, rel=1e-3)
    # A part of the variances is a mean of 64 samples.
    expected = 1.96 * np.sqrt(np.diag(center @ covariance @ center.T))
    half = by_point(history, "high") - by_point(history, "elo")
    assert half == pytest.approx(expected, rel=0.12)
    for player in history.players:
        places = [i for i, (p, _) in enumerate(dense.points) if f"p{p:02}" == player.name]
        ends = np.zeros(dense.size)
        ends[[places[0], places[-1]]] = -1, 1
        assert player.change.value == pytest.approx(ends @ x, abs=0.05)
        assert player.change.high - player.change.value == pytest.approx(
            1.96 * math.sqrt(ends @ covariance @ ends), rel=0.12
        )


def test_the_drift_is_a_fixed_point_of_expectation_maximization() -> None:
    _, given = simulate(6, 15, 900, 3000, seed=2)
    estimate = rating_history(**given).drift
    drift = estimate.value
    assert drift / 5 < estimate.low < 3000 < estimate.high
    assert estimate.low * estimate.high == pytest.approx(drift**2)

    def expected_drift(drift: float) -> float:
        """The mean square of a day's change, expected for a drift, and its prior's pull."""
        dense = Dense(given, drift)
        x, steps = np.zeros(dense.size), np.eye(dense.size) * 1e-2
        for _ in range(5):  # Newton's method
            slope = [(dense.loss(x + e) - dense.loss(x - e)) / 2e-2 for e in steps]
            x -= np.linalg.solve(dense.information(x), slope)
        c = np.linalg.inv(dense.information(x))
        squares = [
            ((x[i + 1] - x[i]) ** 2 + c[i, i] + c[i + 1, i + 1] - 2 * c[i, i + 1]) / days
            for i, days in dense.links
        ]
        # The log of the drift has a normal prior with mean log 14 and deviation log 10.
        prior = 2 * math.log(14 / drift) / math.log(10) ** 2
        return float(np.mean(squares)) + drift * prior / len(squares)

    assert expected_drift(0.98 * drift) > 0.98 * drift
    assert expected_drift(1.02 * drift) < 1.02 * drift


def test_simulated_ratings_lie_in_their_intervals_and_drift_and_advantages_come_back() -> None:
    inside, changes, drifts, advantages = [], [], [], []
    for seed in range(3):
        truth, given = simulate(
            10, 100, 1200, 60, draws=0.3, advantages=(90.0, -30.0), seed=10 + seed
        )
        history = rating_history(**given)
        drifts.append(history.drift.value)
        for found, value in zip(history.advantages.values(), (90, -30), strict=True):
            advantages.append(found.low <= value <= found.high)
        days = {p.name: (p.dates - START).astype(int) for p in history.players}
        true = {name: truth[int(name[1:]), days[name]] for name in days}
        zero = np.mean([ratings.mean() for ratings in true.values()])
        for player in history.players:
            ratings = true[player.name] - zero
            inside.append(np.mean((player.low <= ratings) & (ratings <= player.high)))
            change = ratings[-1] - ratings[0]
            changes.append(player.change.low <= change <= player.change.high)
    assert 0.88 < np.mean(inside) < 0.99
    assert np.mean(changes) >= 0.85
    assert sum(advantages) >= 5
    assert 20 < np.mean(drifts) < 120  # the estimate is uncertain


def test_on_a_single_day_it_is_the_static_list() -> None:
    _, given = simulate(6, 1, 300, 0, draws=0.25, advantages=(40.0,))
    static = rate_players(given["first"], given["second"], given["result"], names(6))
    history = rating_history(**given, prior=1e-6)
    for player in static.players:
        latest = history[player.name].latest
        assert latest.value == pytest.approx(player.elo, abs=0.1)
        assert math.isnan(history[player.name].change.value)
        # The static list has robust intervals.
        assert latest.high - latest.value == pytest.approx(player.high - player.elo, rel=0.3)
    (advantage,) = history.advantages.values()
    assert advantage.value == pytest.approx(static.advantage.value, abs=0.1)
    assert history.draw_rate == pytest.approx(static.draw_rate, abs=1e-3)
    fixed = rating_history(**given, advantage=40.0)
    (advantage,) = fixed.advantages.values()
    assert (advantage.value, advantage.low, advantage.high) == (40, 40, 40)


def test_with_hardly_any_drift_all_days_are_one() -> None:
    _, given = simulate(6, 60, 300, 0)
    still = rating_history(**given, drift=1e-5)
    one_day = rating_history(**given | {"dates": [START] * 300})
    for player in one_day.players:
        ratings = still[player.name].elo
        assert ratings == pytest.approx(np.full(len(ratings), player.elo[0]), abs=0.3)
    assert rating_history(**given).drift.low < 4  # truly 0
    (day,) = {str(date) for player in one_day.players for date in player.dates}
    assert day == str(START)
    assert one_day.drift.value == pytest.approx(14)  # nothing but the prior


def test_a_player_who_won_all_games_is_finite() -> None:
    history = rating_history([0] * 20, [1] * 20, [1] * 20, ["a", "b"], dates=["2024-01-01"] * 20)
    assert 200 < history["a"].latest.value < 1000
    assert math.isfinite(history["a"].latest.high)
    assert history["a"].latest.value == pytest.approx(-history["b"].latest.value, abs=0.01)
    stronger = rating_history(
        [0] * 20, [1] * 20, [1] * 20, ["a", "b"], dates=["2024-01-01"] * 20, prior=10
    )
    assert stronger["a"].latest.value < history["a"].latest.value


@pytest.mark.parametrize("seed", [33, 51, 206])
def test_few_games_with_many_draws_converge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, 40)
    second = (first + rng.integers(1, 3, 40)) % 3
    result = np.where(rng.random(40) < 0.8, 0.5, (first < second).astype(float))
    dates = START + rng.integers(0, 20_000, 40)
    history = rating_history(first, second, result, names(3), dates=dates)
    assert np.isfinite(by_point(history, "high")).all()
    assert np.abs(by_point(history, "elo")).max() < 400


@pytest.mark.parametrize("draws", [0.9, 0.97])
def test_many_draws_converge(draws: float) -> None:
    _, given = simulate(6, 100, 600, 60, draws=draws, seed=5)
    history = rating_history(**given)
    assert np.isfinite(by_point(history, "high")).all()
    assert history["p00"].latest.value > history["p05"].latest.value


def test_an_anchor_has_one_rating_at_all_times() -> None:
    _, given = simulate(5, 40, 400, 400, seed=4)
    history = rating_history(**given, anchor=("p02", 1500.0), drift=400)
    anchor = history["p02"]
    assert (anchor.elo.tolist(), anchor.low.tolist(), anchor.high.tolist()) == ([1500.0],) * 3
    assert anchor.games.sum() == history["p02"].games.sum() > 100
    free = rating_history(**given, drift=400)
    assert history["p00"].latest.value - free["p00"].latest.value > 1000
    assert sum(player.games.sum() for player in history.players) == 800


def test_components_have_zeros_of_their_own() -> None:
    first, second = [0, 1, 2, 3, 0, 1] * 5, [1, 0, 3, 2, 1, 0] * 5
    dates = [f"2024-0{i}-01" for i in range(1, 7)] * 5
    result = ([1, 0, 1, 1, 0.5, 0] * 5)[:30]
    history = rating_history(first, second, result, ["a", "b", "c", "d"], dates=dates, drift=10)
    assert [player.component for player in history.players] == [0, 0, 1, 1]
    for one, other in itertools.pairwise(history.players[:2]):
        assert one.elo.mean() == pytest.approx(-other.elo.mean())
    assert any("2 components" in note for note in history.notes())


def test_games_without_a_date_are_left_out() -> None:
    history = rating_history(
        [0, 0, 2],
        [1, 1, 0],
        [1, 0.5, 1],
        ["a", "b", "c"],
        dates=["2024-01-01", "2024-03-01", ""],
    )
    assert (history.games, history.undated) == (2, 1)
    assert [player.name for player in history.players] == ["a", "b"]
    assert "1 game without a date left out." in history.notes()


def test_it_is_a_table_with_a_chart() -> None:
    _, given = simulate(10, 30, 300, 100)
    history = rating_history(**given)
    table = history.table()
    assert table.column_names == ["player", "date", "elo", "low", "high", "games"]
    assert table["games"].to_numpy().sum() == 600
    assert len(history.lines()) == 11
    assert history.lines()[1][0] == history.players[0].name
    latest = [player.latest.value for player in history.players]
    assert latest == sorted(latest, reverse=True)
    assert history.chart() is not None
    assert any("8 players with the most games" in note for note in history.notes())


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(Error, match="no game has a date"):
        rating_history([0], [1], [1], ["a", "b"], dates=[""])
    with pytest.raises(Error, match="no games to rate"):
        rating_history([], [], [], ["a", "b"], dates=[])
    with pytest.raises(ValueError, match="each game needs a date"):
        rating_history([0], [1], [1], ["a", "b"], dates=[])
    with pytest.raises(Error, match="did you mean Takemiya"):
        rating_history([0], [1], [1], ["Takemiya", "b"], dates=[START], anchor=("Takemia", 0.0))
    with pytest.raises(Error, match="'c' has no game with a date"):
        rating_history([0], [1], [1], ["a", "b", "c"], dates=[START], anchor=("c", 0.0))
    with pytest.raises(Error, match="above 0"):
        rating_history([0], [1], [1], ["a", "b"], dates=[START], drift=0)
    with pytest.raises(Error, match="101 conditions are too many"):
        rating_history(
            [0] * 101,
            [1] * 101,
            [1] * 101,
            ["a", "b"],
            dates=[START] * 101,
            conditions=list(map(str, range(101))),
        )
    with pytest.raises(Error, match="exclude each other"):
        rating_history(
            [0, 0],
            [1, 1],
            [1, 1],
            ["a", "b"],
            dates=[START] * 2,
            conditions=["x", "y"],
            advantage=5.0,
        )
    with pytest.raises(Error, match="no player 'x'"):
        rating_history([0], [1], [1], ["a", "b"], dates=[START])["x"]
