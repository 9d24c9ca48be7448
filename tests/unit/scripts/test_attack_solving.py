# SPDX-License-Identifier: Apache-2.0
"""A slice of the attacks on `hyoka solve`; `scripts/attack/solving.py` has the rest."""

import sys

import pytest

from attack import solving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
KINDS = ["honest", "illegal", "garbage", "dies with words", "floods lines", "garbage at once"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_that_misbehaves_solves_what_it_solves(kind: str) -> None:
    solving.solved_by(kind)


@pytest.mark.parametrize("seed", range(1))
def test_whatever_an_engine_does_problems_are_counted(seed: int) -> None:
    solving.solved_by_anything(seed)
