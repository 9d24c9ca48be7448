# SPDX-License-Identifier: Apache-2.0
"""Elo with confidence intervals, normalized Elo, likelihood of superiority, p values, and SPRT."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.score import PairScores, Result, Score, independent_parts
from hyoka.foundation.errors import NotationError, nearest
from hyoka.foundation.math import Estimate

FEW: Final = 20
"""The minimum number of pairs (of games where there are none) for a verdict."""
_DRAWS: Final = ("left out", "split")


def too_few_reason(result: Result) -> str:
    """Return why a result has too few games for a verdict; empty if it has enough.

    >>> from hyoka.arena.score import PairScores
    >>> too_few_reason(Score(wins=19)), too_few_reason(PairScores((0, 0, 9, 0, 10)))
    ('fewer than 20 games', 'fewer than 20 pairs')
    >>> too_few_reason(Score(wins=20)), too_few_reason(PairScores((0, 0, 9, 0, 11)))
    ('', '')
    """
    pairs, single = independent_parts(result)
    if pairs.pairs:
        return "" if pairs.pairs >= FEW else f"fewer than {FEW} pairs"
    return "" if single.games >= FEW else f"fewer than {FEW} games"


def binomial_p_value(score: Score, *, draws: str = "left out") -> float:
    """Return the exact two-sided p value of the sign test, for independent games.

    Draws are `left out`, or `split`: half of them count as wins, and an odd one is left out. 1
    without decided games. For pairs use `permutation_p_value`.

    >>> round(binomial_p_value(Score(wins=60, draws=10, losses=40)), 4)
    0.0569
    >>> round(binomial_p_value(Score(wins=60, draws=10, losses=40), draws="split"), 4)
    0.0696
    """
    if draws not in _DRAWS:
        raise ValueError(f"draws are '{_DRAWS[0]}' or '{_DRAWS[1]}', not {draws!r}")
    halves = score.draws // 2 if draws == "split" else 0
    decided = Score(score.wins + halves, 0, score.losses + halves)
    return _sign_flip_p_value(ones=decided.games, twos=0, lead=decided.wins - decided.losses)


def permutation_p_value(result: Result) -> float:
    """Return the exact two-sided p value of a sign permutation test over pairs.

    Between equal players, every assignment of signs to the pairs' leads is equally likely; the p
    value is the share of assignments with at least as great a total lead. Games without a partner
    count as pairs. 1 without decided games.

    >>> from hyoka.arena.score import PairScores
    >>> round(permutation_p_value(PairScores((0, 0, 3, 2, 4))), 5)
    0.03125
    >>> permutation_p_value(Score(wins=6)) == binomial_p_value(Score(wins=6))
    True
    """
    pairs, single = independent_parts(result)
    lost, behind, _, ahead, won = pairs.counts
    return _sign_flip_p_value(
        ones=behind + ahead + single.wins + single.losses,
        twos=lost + won,
        lead=ahead - behind + 2 * (won - lost) + single.wins - single.losses,
    )


def _sign_flip_p_value(ones: int, twos: int, lead: int) -> float:
    """Return the two-sided probability of such a lead for random signs of ones and twos."""
    if lead == 0:
        return 1.0
    # The number of positive ones that is required if `ups` of the twos are positive.
    ups = np.arange(twos + 1)
    needed = -((-(abs(lead) - 2 * (2 * ups - twos) + ones)) // 2)
    at_least = np.append(np.cumsum(_coin_tosses(ones)[::-1])[::-1], 0.0)
    tail = float(_coin_tosses(twos) @ at_least[np.clip(needed, 0, ones + 1)])
    return min(1.0, 2 * tail)


def _coin_tosses(count: int) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, … heads in `count` tosses of a fair coin."""
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    log_ways: NDArray[np.float64] = log_factorials[-1] - log_factorials - log_factorials[::-1]
    return np.exp(log_ways - count * math.log(2))


NORMALIZED_ELO: Final = 800 / math.log(10)
"""Normalized Elo of a rate one standard deviation of a game above a half."""

_GAME_POINTS: Final = (0.0, 0.5, 1.0)
_PAIR_POINTS: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
_COIN_GAME: Final = (0.5, 0.0, 0.5)
_COIN_PAIR: Final = (0.25, 0.0, 0.5, 0.0, 0.25)


def rate_of_elo(elo: float) -> float:
    """Return the expected points per game of a player who is `elo` stronger.

    >>> rate_of_elo(0), round(rate_of_elo(100), 3), rate_of_elo(math.inf)
    (0.5, 0.64, 1.0)
    """
    # Of two equivalent forms, this one cannot overflow.
    odds = 10 ** (-abs(elo) / 400)
    return 1 / (1 + odds) if elo >= 0 else odds / (1 + odds)


def elo_of_rate(rate: float) -> float:
    """Return the Elo difference of a rate; infinite at 0 and 1.

    >>> elo_of_rate(0.5), round(elo_of_rate(0.64)), elo_of_rate(1)
    (0.0, 100, inf)
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"a rate is between 0 and 1, not {rate!r}")
    if rate in (0, 1):
        return math.inf if rate else -math.inf
    return 400 * (math.log10(rate) - math.log10(1 - rate))


def elo(result: Result, confidence: float = 0.95) -> Estimate:
    """Return the Elo difference with its interval, with pairs as the independent units.

    >>> estimate = elo(PairScores((5, 20, 40, 25, 10)))
    >>> f"{estimate.value:.1f} ({estimate.low:.1f} to {estimate.high:.1f})"
    '26.1 (-8.7 to 60.9)'
    >>> elo(Score())
    Estimate(value=0.0, low=-inf, high=inf)
    >>> everything_won = elo(Score(wins=10))
    >>> everything_won.value, round(everything_won.low), everything_won.high
    (inf, 166, inf)
    """
    quality = rate(result, confidence)
    return Estimate(elo_of_rate(quality.value), elo_of_rate(quality.low), elo_of_rate(quality.high))


def rate(result: Result, confidence: float = 0.95, *, continuity: bool = False) -> Estimate:
    """Return the points per game with a confidence interval.

    With `continuity`, the interval is corrected by half a step of the score (Newcombe): it is wider
    and misses the truth in at most 5 % of all matches, not just on average. Verdicts use it.

    >>> ends = rate(Score(wins=5, losses=15)), rate(Score(wins=5, losses=15), continuity=True)
    >>> [f"{each.low:.3f} to {each.high:.3f}" for each in ends]
    ['0.112 to 0.469', '0.096 to 0.494']
    """
    _check_confidence(confidence)
    if not result.games:
        return Estimate(result.rate, 0.0, 1.0)
    flips = result.games / _variance_ratio(result)
    correction = _score_step(result) / 2 / result.games if continuity else 0.0
    return wilson_rate(result.rate, flips, confidence, correction)


def wilson_rate(
    mean: float, flips: float, confidence: float = 0.95, correction: float = 0.0
) -> Estimate:
    """Return Wilson's interval for a mean with the precision of `flips` coin flips.

    `correction` is the continuity correction, which first moves the mean outward.

    >>> estimate = wilson_rate(0.8, 10)
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (0.49, 0.943)
    """
    if not flips:
        return Estimate(mean, 0.0, 1.0)
    quantile = NormalDist().inv_cdf(0.5 + confidence / 2)
    weight = quantile * quantile / flips

    def end(side: int) -> float:
        moved = min(1.0, max(0.0, mean + side * correction))
        half_width = math.sqrt(weight * (moved * (1 - moved) + weight / 4))
        return min(1.0, max(0.0, (moved + weight / 2 + side * half_width) / (1 + weight)))

    return Estimate(mean, 0.0 if mean == 0 else end(-1), 1.0 if mean == 1 else end(1))


def _score_step(result: Result) -> float:
    """Return the distance between neighboring possible scores."""
    pairs, single = independent_parts(result)
    halves = [which for which, count in enumerate(pairs.counts) if count]
    games = [single.losses, single.draws, single.wins]
    singles = [which for which, count in enumerate(games) if count]
    steps = [each - seen[0] for seen in (halves, singles) for each in seen[1:]]
    return math.gcd(*steps) / 2 if steps else 1.0


def likelihood_of_superiority(result: Result) -> float:
    """Return the likelihood that the player is the stronger one, 0 to 1; a half without games.

    It exceeds 97.5 % exactly when the 95 % interval of `elo` lies above 0.

    >>> round(likelihood_of_superiority(Score(wins=60, losses=40)), 3)
    0.977
    """
    if not result.games:
        return 0.5
    flips = result.games / _variance_ratio(result)
    return NormalDist().cdf((2 * result.rate - 1) * math.sqrt(flips))


def normalized_elo(result: Score | PairScores, confidence: float = 0.95) -> Estimate:
    """Return the rate above a half in standard deviations of a game, on an Elo-like scale.

    It determines how many games a significant result takes, whatever the draws and openings. As in
    fishtest, a game's standard deviation is a pair's times √2. The interval is that of a t value by
    the delta method, conservatively: in simulations it covers the truth in 94 to 98.5 % of matches.
    It says little about a very one-sided match.

    >>> estimate = normalized_elo(PairScores((5, 20, 40, 25, 10)))
    >>> f"{estimate.value:.1f} ({estimate.low:.1f} to {estimate.high:.1f})"
    '36.4 (-12.4 to 84.0)'
    """
    _check_confidence(confidence)
    if not result.games:
        return Estimate(0.0, -math.inf, math.inf)
    results = _Results.of(result)
    value = results.scale * _t_value(results.rates, results.counts).t
    padded = [count + coin for count, coin in zip(results.counts, results.coins, strict=True)]
    safe = _t_value(results.rates, padded)
    quantile = NormalDist().inv_cdf(0.5 + confidence / 2)
    half_width = quantile * math.sqrt(max(1.0, safe.variance) / sum(padded))
    low, high = results.scale * (safe.t - half_width), results.scale * (safe.t + half_width)
    # The sign of the difference is known better than its size in deviations.
    points = rate(result, confidence)
    if points.low > 0.5:
        low = max(low, 0.0)
    if points.high < 0.5:
        high = min(high, 0.0)
    return Estimate(value, min(value, low), max(value, high))


@dataclass(frozen=True, slots=True)
class _Results:
    """Independent observations, games or pairs, by their points per game."""

    rates: Sequence[float]
    counts: Sequence[int]
    coins: Sequence[float]
    """The counts that one observation of coin flips adds."""
    scale: float
    """Normalized Elo of a mean one standard deviation above a half."""

    @classmethod
    def of(cls, result: Score | PairScores) -> "_Results":
        match result:
            case Score(wins, draws, losses):
                return cls(_GAME_POINTS, (losses, draws, wins), _COIN_GAME, NORMALIZED_ELO)
            case PairScores(counts):
                rates = [points / 2 for points in _PAIR_POINTS]
                return cls(rates, counts, _COIN_PAIR, NORMALIZED_ELO / math.sqrt(2))


@dataclass(frozen=True, slots=True)
class _TValue:
    t: float
    """(mean - 1/2) / standard deviation; infinite if all results are equal and not draws."""
    variance: float
    """The variance of the estimate of `t`, times the number of observations."""


def _t_value(points: Sequence[float], counts: Sequence[float]) -> _TValue:
    total = sum(counts)
    mean = _dot(points, counts) / total
    moments = [_dot([(p - mean) ** k for p in points], counts) / total for k in (2, 3, 4)]
    if mean == 0.5:
        return _TValue(0.0, 1.0)
    if sum(count > 0 for count in counts) == 1:
        return _TValue(math.copysign(math.inf, mean - 0.5), 1.0)
    deviation = math.sqrt(moments[0])
    t = (mean - 0.5) / deviation
    skewness, kurtosis = moments[1] / deviation**3, moments[2] / deviation**4
    return _TValue(t, 1 - t * skewness + t * t * (kurtosis - 1) / 4)


def _variance_ratio(result: Result) -> float:
    """Return the variance of the points relative to coin flips with the same mean.

    It is 1 for independent games without draws.
    """
    pairs, single = independent_parts(result)
    pair_counts: list[float] = list(pairs.counts)
    game_counts: list[float] = [single.losses, single.draws, single.wins]
    if pairs.pairs:
        pair_counts = [n + p for n, p in zip(pair_counts, _COIN_PAIR, strict=True)]
    else:
        game_counts = [n + p for n, p in zip(game_counts, _COIN_GAME, strict=True)]
    games = 2 * sum(pair_counts) + sum(game_counts)
    points = _dot(_PAIR_POINTS, pair_counts) + _dot(_GAME_POINTS, game_counts)
    mean = points / games
    spread = _dot([(p - 2 * mean) ** 2 for p in _PAIR_POINTS], pair_counts)
    spread += _dot([(p - mean) ** 2 for p in _GAME_POINTS], game_counts)
    return spread / (games * mean * (1 - mean))


def _dot(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True))


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence is between 0 and 1, not {confidence!r}")


Floats = NDArray[np.float64]

_MODELS: Final = ("logistic", "normalized")
_NEVER_SEEN: Final = 1e-3
_STEPS: Final = 200
_PRECISION: Final = 1e-10


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential probability ratio test of H0 (`elo0`) against H1 (`elo1`).

    >>> test = Sprt(0, 5)
    >>> test.decision(PairScores((10, 100, 300, 130, 20))) is None
    True
    >>> round(test.llr(PairScores((10, 100, 300, 130, 20))), 2), round(test.upper, 2)
    (1.95, 2.94)
    >>> test.decision(PairScores((20, 200, 600, 260, 40)))
    'H1'
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    """The probability of accepting H1 when H0 is true."""
    beta: float = 0.05
    """The probability of accepting H0 when H1 is true."""
    model: str = "logistic"
    """The unit of `elo0` and `elo1`: `logistic` or `normalized` Elo."""

    def __post_init__(self) -> None:
        if self.model not in _MODELS:
            hint = nearest(self.model, _MODELS) or f"known: {', '.join(_MODELS)}"
            raise NotationError(f"no model '{self.model}'; {hint}")
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise NotationError(f"elo0 must be below elo1, not {self.elo0:g} and {self.elo1:g}")
        if max(abs(self.elo0), abs(self.elo1)) > 1000:
            raise NotationError("elo0 and elo1 must be within 1000 Elo")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise NotationError(f"{name} must be between 0 and 0.5, not {value:g}")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `ELO0,ELO1` or `ELO0,ELO1,SETTING=VALUE,…` with alpha, beta and model.

        >>> Sprt.from_text("0,5")
        Sprt(elo0=0.0, elo1=5.0, alpha=0.05, beta=0.05, model='logistic')
        >>> Sprt.from_text("-3, 1, model=normalized, alpha=0.1").alpha
        0.1
        """
        words = [word.strip() for word in text.split(",")]
        if len(words) < 2:
            raise NotationError(f"a test is ELO0,ELO1 as in 0,5, not '{text}'")
        elo0, elo1 = (_number("an Elo", word) for word in words[:2])
        settings: dict[str, str] = {}
        for word in words[2:]:
            name, equals, value = (part.strip() for part in word.partition("="))
            if not equals or name not in ("alpha", "beta", "model"):
                hint = nearest(name, ("alpha", "beta", "model")) or "there are alpha, beta, model"
                raise NotationError(f"a test has no setting '{word}'; {hint}")
            settings[name] = value
        risks = {
            name: _number(name, settings[name]) for name in ("alpha", "beta") if name in settings
        }
        return cls(elo0, elo1, **risks, model=settings.get("model", "logistic"))

    @property
    def lower(self) -> float:
        """The LLR at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, result: Score | PairScores) -> float:
        """Return the log likelihood ratio of H1 to H0; 0 without games.

        Of a match of pairs, pass complete pairs only: half a pair is biased by its side.
        """
        if not result.games:
            return 0.0
        match result:
            case Score(wins, draws, losses):
                counts = [losses, draws, wins]
            case PairScores(counts_of_pairs):
                counts = list(counts_of_pairs)
        return float(self.llrs(np.array([counts], dtype=np.float64))[0])

    def llrs(self, counts: Floats) -> Floats:
        """Return the ratios of many matches: rows of losses, draws, wins, or of pair results."""
        total = counts.sum(axis=1)
        seen = np.where(counts == 0, _NEVER_SEEN, counts)
        seen /= seen.sum(axis=1, keepdims=True)
        likelier = np.log(self._explanation(self.elo1, seen) / self._explanation(self.elo0, seen))
        return np.asarray(total * (seen * likelier).sum(axis=1))

    def decision(self, result: Score | PairScores) -> str | None:
        """Return `H0` or `H1`, or None if more games are needed."""
        llr = self.llr(result)
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

    def _explanation(self, elo: float, seen: Floats) -> Floats:
        rates = np.linspace(0, 1, seen.shape[1])
        if self.model == "logistic":
            return _with_mean(seen, rates - rate_of_elo(elo))
        games = (seen.shape[1] - 1) / 2
        return _with_t_value(seen, rates, elo / NORMALIZED_ELO * math.sqrt(games))

    def __str__(self) -> str:
        settings = [("alpha", self.alpha, 0.05), ("beta", self.beta, 0.05)]
        words = [f"{name}={value!r}" for name, value, default in settings if value != default]
        if self.model != "logistic":
            words.append(f"model={self.model}")
        return ",".join([_short(self.elo0), _short(self.elo1), *words])


def _short(elo: float) -> str:
    return str(int(elo)) if elo == int(elo) else repr(elo)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise NotationError(f"{name} is a number, not '{text}'") from None


def _with_mean(seen: Floats, values: Floats) -> Floats:
    """Return the maximum-likelihood distributions under which `values` have mean 0.

    `values` is one row, or one per row of `seen`, with both signs; `seen` is positive. Then x lies
    strictly between -1 / greatest and -1 / least value, and the mean falls with x from +∞ to -∞.
    Times `ends`, which is 0 at both ends, it is nearly linear: Newton's method within shrinking
    bounds.
    """
    values = np.broadcast_to(values, seen.shape)
    least, greatest = values.min(axis=1), values.max(axis=1)
    low, high = -1 / greatest, -1 / least
    x = np.zeros(len(seen))
    for _ in range(_STEPS):
        shares = seen / (1 + x[:, None] * values)
        mean = (shares * values).sum(axis=1)
        slope = -(shares * shares / seen * values * values).sum(axis=1)
        to_low, to_high = 1 + x * greatest, 1 + x * least
        ends, slope_of_ends = to_low * to_high, greatest * to_high + least * to_low
        low, high = np.where(mean > 0, x, low), np.where(mean > 0, high, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = x - mean * ends / (slope * ends + mean * slope_of_ends)
        after = np.where((step > low) & (step < high), step, (low + high) / 2)
        done = np.abs(after - x) <= _PRECISION * np.minimum(
            after + 1 / greatest, -1 / least - after
        )
        x = after
        if done.all():
            break
    return np.asarray(seen / (1 + x[:, None] * values))


def _with_t_value(seen: Floats, rates: Floats, t: float) -> Floats:
    """Return the maximum-likelihood distributions with (mean - 1/2) / deviation = t."""
    fitted = seen.copy()
    values = _linearize(fitted, rates, t)
    # With a guess too far away, values do not have both signs.
    far = (values.max(axis=1) <= 0) | (values.min(axis=1) >= 0)
    if far.any():
        fitted[far] = _near_t_value(seen[far], rates, t)
    going = np.arange(len(seen))
    for _ in range(_STEPS):
        before = fitted[going]
        fitted[going] = _with_mean(seen[going], _linearize(before, rates, t))
        going = going[np.abs(fitted[going] - before).max(axis=1) >= _PRECISION]
        if not len(going):
            break
    return fitted


def _linearize(guess: Floats, rates: Floats, t: float) -> Floats:
    """Return values whose mean is 0 where (mean - 1/2) / deviation is t, near a guess."""
    mean = (guess * rates).sum(axis=1, keepdims=True)
    deviation = np.sqrt((guess * (rates - mean) ** 2).sum(axis=1, keepdims=True))
    return np.asarray(rates - 0.5 - t * (deviation + (rates - mean) ** 2 / deviation) / 2)


def _near_t_value(seen: Floats, rates: Floats, t: float) -> Floats:
    """Bisect the distributions of given mean for the given t."""
    low, high = np.zeros(len(seen)), np.ones(len(seen))
    for _ in range(30):
        middle = (low + high) / 2
        fitted = _with_mean(seen, rates - middle[:, None])
        deviation = np.sqrt((fitted * (rates - middle[:, None]) ** 2).sum(axis=1))
        below = (middle - 0.5) / deviation < t
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return fitted
