# SPDX-License-Identifier: Apache-2.0
"""Whether a score shows anything: exact p values of two equal players, and when games are too few.

A verdict on a score is made from `rate(score, continuity=True)`, never from fewer than `FEW` pairs
(games, where there are no pairs). So at most 5 % of verdicts are wrong, in matches of 10 to 100
games and pairs, whatever the share of draws and the strength of the players: `python
scripts/simulations.py verdicts` counts.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.score import Result, Score, independent_parts

FEW: Final = 20
"""Pairs, or games where there are no pairs; fewer give no verdict."""
_DRAWS: Final = ("left out", "split")


def why_too_few(result: Result) -> str:
    """Why a result has too few games for a verdict; empty if it has enough.

    >>> from hyoka.arena.score import PairScores
    >>> why_too_few(Score(wins=19)), why_too_few(PairScores((0, 0, 9, 0, 10)))
    ('fewer than 20 games', 'fewer than 20 pairs')
    >>> why_too_few(Score(wins=20)), why_too_few(PairScores((0, 0, 9, 0, 11)))
    ('', '')
    """
    pairs, single = independent_parts(result)
    if pairs.pairs:
        return "" if pairs.pairs >= FEW else f"fewer than {FEW} pairs"
    return "" if single.games >= FEW else f"fewer than {FEW} games"


def binomial_p_value(score: Score, *, draws: str = "left out") -> float:
    """The exact two-sided p value of the sign test, as if games were tosses of a fair coin.

    Draws are `left out`, or `split`: half of them count as won, and an odd one is left out. 1 where
    nothing was decided. It takes games as independent: for pairs use `permutation_p_value`.

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
    """The exact two-sided p value of a permutation test: each pair's lead keeps its size, not side.

    Two equal players might as well have had each other's results in any pair, so every choice of
    signs is as likely; the p value is the share of them with as great a lead or a greater one.
    Games without a partner are pairs of their own. 1 where nothing was decided.

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
    """The chance of so great a lead, either way, of random signs of so many ones and twos."""
    if lead == 0:
        return 1.0
    # With `ups` of the twos positive, so many of the ones must be positive as well.
    ups = np.arange(twos + 1)
    needed = -((-(abs(lead) - 2 * (2 * ups - twos) + ones)) // 2)
    at_least = np.append(np.cumsum(_coin_tosses(ones)[::-1])[::-1], 0.0)
    tail = float(_coin_tosses(twos) @ at_least[np.clip(needed, 0, ones + 1)])
    return min(1.0, 2 * tail)


def _coin_tosses(count: int) -> NDArray[np.float64]:
    """The chances of 0, 1, … heads in so many tosses of a fair coin."""
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    log_ways: NDArray[np.float64] = log_factorials[-1] - log_factorials - log_factorials[::-1]
    return np.exp(log_ways - count * math.log(2))
