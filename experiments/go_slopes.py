# SPDX-License-Identifier: Apache-2.0
"""What a program's ROC and E(v) imply about its curve.

If a curve lies on y = x, then E(v) = Var(v) / (p (1 - p)) and 2 ROC - 1 = E|v - w| / (2 p (1 - p)),
where p is the share of wins, and v and w are the values of two random positions. As no distribution
has E|v - w| above 2σ / √3 (the uniform one reaches it), E(v) ≥ 3 p (1 - p) (2 ROC - 1)². A smaller
E(v) shows that values are too close to 0.5, so that the curve is steeper than y = x.
"""

import math
from statistics import NormalDist
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])
THEIR_WINS: Final = 0.547
"""Black's share of wins in the paper's games (table VII, C)."""


def least_expected_difference(roc: Number, wins: float) -> Number:
    """The smallest E(v) of a curve on y = x, by ROC and the share of wins.

    Uniform values reach it: all of them together have ROC 5/6 and E(v) 1/3.

    >>> round(least_expected_difference(5 / 6, 0.5), 6)
    0.333333
    """
    return 3 * wins * (1 - wins) * (2 * roc - 1) ** 2


def middle_slope(roc: float, expected_difference: float) -> float:
    """Slope of the curve in its middle, if values of wins and of losses are normal.

    Both have the same variance. On y = x, the slope is 1.

    >>> round(middle_slope(0.5 + 0.1, 0.1), 2)
    0.32
    """
    if not (0 < roc < 1 and expected_difference > 0):
        return math.nan
    separation = math.sqrt(2) * NormalDist().inv_cdf(roc)
    return separation**2 / (4 * expected_difference)
