# SPDX-License-Identifier: Apache-2.0
"""Estimates as text: one half-width only where it describes the interval."""

import math

import pytest

from experiments import cell_text
from hyoka.analysis import metrics
from hyoka.apps.cli import solve_commands as playout_qualities
from hyoka.foundation.math import Estimate
from hyoka.learning import prediction as predicting
from hyoka.reporting.study_report import sections

EVEN, UNEVEN = Estimate(0.5, 0.4, 0.6), Estimate(0.1, 0.02, 0.4)


@pytest.mark.parametrize(
    ("shown", "even", "uneven"),
    [
        (cell_text, "0.500 ±0.100", "0.100 (0.020 to 0.400)"),
        (metrics._half_width, "±0.100", "0.020 to 0.400"),
        (sections._plus_minus, "0.500 ± 0.100", "0.100 (0.020 to 0.400)"),
        (predicting._percent, "50.0% ± 10.0", "10.0% (2.0 to 40.0)"),
        (playout_qualities._share, "0.500 ± 0.100", "0.100 (0.020 to 0.400)"),
    ],
)
def test_an_asymmetric_interval_has_both_ends(shown, even: str, uneven: str) -> None:  # type: ignore[no-untyped-def]
    assert shown(EVEN) == even
    assert shown(UNEVEN) == uneven


def test_what_is_not_known_is_left_out() -> None:
    assert Estimate(0.5, math.nan, math.nan).short_text(".2f") == "0.50"
    assert Estimate(0.5, -math.inf, math.inf).short_text(".2f") == "0.50 (-inf to inf)"
    assert not Estimate(0.5, math.nan, math.nan).is_asymmetric
