# SPDX-License-Identifier: Apache-2.0
"""A little of the attacks on studies; `scripts/attack/studies.py` goes on as long as one likes."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "attack" / "studies.py"


@pytest.fixture(scope="module")
def attacks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attack_studies", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ground(attacks: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("attack")
    return attacks.Ground(folder, random.Random(5), files=2, names=["append"])


@pytest.mark.parametrize("name", ["kill", "pair", "flip", "query"])
def test_a_study_withstands(
    attacks: ModuleType, ground: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attacks, "QUERIES", 5)  # some take all the time that they may
    tally = attacks.Tally()
    getattr(attacks, f"attack_by_{name}")(ground, tally)
    assert tally.tried.total() > 0
    assert tally.failures == []
