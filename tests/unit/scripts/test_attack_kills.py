# SPDX-License-Identifier: Apache-2.0
"""A slice of the attacks on what learns and plays; `scripts/attack/kills.py` has the rest."""

import dataclasses
import random
import sys
from pathlib import Path

import pytest

from attack import kills

SHORTER = {"--steps": "1", "--games": "4", "--nodes": "30", "--verify": "0"}
"""Values of options, so that a command ends soon."""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("name", ["match"])  # `make attack` kills the others
def test_a_command_withstands_kills_and_a_second_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = list(kills.COMMANDS[name].words)
    for at, word in enumerate(words[:-1]):
        words[at + 1] = SHORTER.get(word, words[at + 1])
    shorter = dataclasses.replace(kills.COMMANDS[name], words=tuple(words))
    monkeypatch.setitem(kills.COMMANDS, name, shorter)
    ground = kills.Ground(tmp_path, name, random.Random(2))
    tally = kills.Tally()
    kills.kill_again_and_again(ground, tally)
    kills.two_at_once(ground, tally)
    assert tally.tried.total() >= 2
    assert tally.failures == []
