# SPDX-License-Identifier: Apache-2.0
"""Openings and books from files of which a part can't be read: used, and said to be."""

import gzip
from pathlib import Path

import pytest

from hyoka.arena.openings import read_openings
from hyoka.models.book import Book

GAME = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 1-0\n\n"


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A compressed file that breaks off behind its first games."""
    path = tmp_path / "games.pgn.gz"
    games = "".join(f'[Round "{number * 7919 % 104729}"]\n{GAME}' for number in range(4000))
    data = gzip.compress(games.encode(), 1)
    path.write_bytes(data[: len(data) // 2])
    return path


def test_openings_say_that_some_are_missing(cut: Path) -> None:
    with pytest.warns(UserWarning, match="openings are missing"):
        assert len(read_openings(str(cut), "chess")) > 0


def test_a_book_says_that_it_lacks_games(cut: Path) -> None:
    with pytest.warns(UserWarning, match="the book lacks games"):
        assert len(Book.from_file("chess", cut)) > 0
