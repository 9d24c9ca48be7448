# SPDX-License-Identifier: Apache-2.0
"""A slice of the attack on the studio; `scripts/attack/studio.py` has the rest."""

import random
import sys

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from attack import mutations, studio


@pytest.mark.parametrize("place", studio.places())
def test_whatever_is_asked_is_answered(place: str) -> None:
    draws = [random.Random(f"test {place} {number}") for number in range(25)]
    attempt = studio.attack(place)
    assert [wrong for draw in draws if (wrong := mutations.outcome(attempt, draw))] == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(("name", "tries"), [("engines", 8), ("archives", 25), ("links", 12)])
def test_what_the_studio_is_given_does_no_harm(name: str, tries: int) -> None:
    draws = [random.Random(f"test {name} {number}") for number in range(tries)]
    attempt = studio.OTHERS[name]
    assert [wrong for draw in draws if (wrong := mutations.outcome(attempt, draw))] == []
