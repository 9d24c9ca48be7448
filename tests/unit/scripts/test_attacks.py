# SPDX-License-Identifier: Apache-2.0
"""Damaged records and archives, some hundreds of each kind; `scripts/attack` tries any number."""

import random

import pytest

from attack import archives, mutations, records


def failures(attempt: mutations.Try, name: str, count: int) -> list[str]:
    draws = (random.Random(f"test {name} {number}") for number in range(count))
    return [wrong for draw in draws if (wrong := mutations.outcome(attempt, draw))]


@pytest.mark.parametrize("name", records.notations())
def test_a_damaged_game_leaves_its_neighbors_alone(name: str) -> None:
    assert failures(records.attack(name), name, 300) == []


@pytest.mark.parametrize("name", archives.archives())
def test_no_game_is_lost_from_a_damaged_archive_without_a_word(name: str) -> None:
    assert failures(archives.attack(name), name, 60) == []


@pytest.mark.parametrize("name", records.notations())
def test_undamaged_games_are_all_read(name: str) -> None:
    """Otherwise the attack would look for what was never there."""
    notation = records.notations()[name]
    count = 5 if notation.format == "wthor" else len(notation.games)
    found, refused = records.read(notation.file(list(notation.games[:count])), notation.format)
    assert (len(found), refused) == (count, [])


@pytest.mark.parametrize("name", archives.archives())
def test_undamaged_archives_are_read_whole(name: str) -> None:
    assert archives.read(archives.archives()[name]) == (archives.NAMES, [])
