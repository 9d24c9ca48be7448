# SPDX-License-Identifier: Apache-2.0
"""The sequential test that decides a match: play until one of two claims is unlikely enough.

H0 says the player is `elo0` stronger, H1 says `elo1`. After each pair the log likelihood ratio
(LLR) compares the best explanation of all results under H1 with the best under H0, where the
other facts (draws, openings) are free: the generalised test of Van den Bergh, as fishtest has it.
The explanation is a distribution over the results of a pair; of those that satisfy the claim, the
one that makes the results most likely:

    p_i = q_i / (1 + x (a_i - s)),   q the observed shares, a_i points a game, s the claimed mean,

with x such that the mean is s. A claim in normalised Elo fixes (mean - 1/2) / deviation instead;
it becomes a claim about a mean when mean and deviation in its linearisation are those of the last
guess, and the guesses converge. Results never seen count as a thousandth of a pair.
"""

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.elo import NORMALISED_ELO, rate_of_elo
from hyoka.arena.score import PairScores, Score
from hyoka.errors import NotationError, nearest

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
    """How often H1 may be taken though H0 is true."""
    beta: float = 0.05
    """How often H0 may be taken though H1 is true."""
    model: str = "logistic"
    """What `elo0` and `elo1` are: `logistic` Elo, or `normalized` by a game's deviation."""

    def __post_init__(self) -> None:
        if self.model not in _MODELS:
            hint = nearest(self.model, _MODELS) or f"there are {', '.join(_MODELS)}"
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
        """The test in `ELO0,ELO1` or `ELO0,ELO1,SETTING=VALUE,…`, with alpha, beta and model.

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
        """H0 is taken where the LLR comes down to this."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """H1 is taken where the LLR comes up to this."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, result: Score | PairScores) -> float:
        """The log likelihood ratio of H1 to H0; 0 where nothing was played.

        Of a match of pairs give only whole pairs: a game whose partner is still being played
        says who had the better side, not who is stronger.
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
        """The ratios of many matches: rows of losses, draws, wins, or of a pair's five results."""
        total = counts.sum(axis=1)
        seen = np.where(counts == 0, _NEVER_SEEN, counts)
        seen /= seen.sum(axis=1, keepdims=True)
        likelier = np.log(self._explanation(self.elo1, seen) / self._explanation(self.elo0, seen))
        return np.asarray(total * (seen * likelier).sum(axis=1))

    def decision(self, result: Score | PairScores) -> str | None:
        """`H0` or `H1`, or None if more games are needed."""
        llr = self.llr(result)
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

    def _explanation(self, elo: float, seen: Floats) -> Floats:
        rates = np.linspace(0, 1, seen.shape[1])
        if self.model == "logistic":
            return _with_mean(seen, rates - rate_of_elo(elo))
        games = (seen.shape[1] - 1) / 2
        return _with_t_value(seen, rates, elo / NORMALISED_ELO * math.sqrt(games))

    def __str__(self) -> str:
        settings = [("alpha", self.alpha, 0.05), ("beta", self.beta, 0.05)]
        words = [f"{name}={value!r}" for name, value, usual in settings if value != usual]
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
    """The likeliest distributions under which `values` have mean 0; a row of `seen` each.

    `values` is one row for all or a row each, has values of both signs in each row, and `seen` is
    positive everywhere. Then x lies strictly between -1 / greatest and -1 / least value, where the
    mean falls with x from +∞ to -∞. Times `ends`, which is 0 at both, it is nearly a line: Newton's
    steps, kept between bounds that close in.
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
    """The likeliest distributions with (mean - 1/2) / deviation = t."""
    found = seen.copy()
    values = _linearised(found, rates, t)
    # A guess that is too far away does not even have values of both signs.
    far = (values.max(axis=1) <= 0) | (values.min(axis=1) >= 0)
    if far.any():
        found[far] = _near_t_value(seen[far], rates, t)
    going = np.arange(len(seen))
    for _ in range(_STEPS):
        before = found[going]
        found[going] = _with_mean(seen[going], _linearised(before, rates, t))
        going = going[np.abs(found[going] - before).max(axis=1) >= _PRECISION]
        if not len(going):
            break
    return found


def _linearised(guess: Floats, rates: Floats, t: float) -> Floats:
    """Values whose mean is 0 where (mean - 1/2) / deviation is t, near a guess."""
    mean = (guess * rates).sum(axis=1, keepdims=True)
    deviation = np.sqrt((guess * (rates - mean) ** 2).sum(axis=1, keepdims=True))
    return np.asarray(rates - 0.5 - t * (deviation + (rates - mean) ** 2 / deviation) / 2)


def _near_t_value(seen: Floats, rates: Floats, t: float) -> Floats:
    """Of the likeliest distributions with a given mean, those with this t, by bisection."""
    low, high = np.zeros(len(seen)), np.ones(len(seen))
    for _ in range(30):
        middle = (low + high) / 2
        found = _with_mean(seen, rates - middle[:, None])
        deviation = np.sqrt((found * (rates - middle[:, None]) ** 2).sum(axis=1))
        below = (middle - 0.5) / deviation < t
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return found
