# SPDX-License-Identifier: Apache-2.0
"""A slice of the attack on what talks to engines; `scripts/attack/engines.py` has the rest."""

import importlib.util
import sys
from pathlib import Path

import pytest

ATTACK = Path(__file__).parents[3] / "scripts" / "attack" / "engines.py"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", range(16))
def test_whatever_an_engine_or_a_controller_does_is_borne(number: int) -> None:
    spec = importlib.util.spec_from_file_location("attack_engines", ATTACK)
    assert spec is not None
    assert spec.loader is not None
    attacks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(attacks)
    assert attacks.attack(20, number) is None
