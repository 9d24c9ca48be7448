# SPDX-License-Identifier: Apache-2.0
import fnmatch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyoka.arena import rate_players
from hyoka.foundation.errors import NotationError
from hyoka.foundation.text import matches, merge_names, program_name, split_patterns
from hyoka.workflows.rating_sources import Results

names = st.text("ab. (", max_size=6)


@given(st.text("ab*. (", max_size=6), names)
def test_a_star_is_what_shells_mean_by_it(pattern: str, name: str) -> None:
    assert matches(pattern, name) == fnmatch.fnmatchcase(name, pattern)


@given(st.text(max_size=8))
def test_every_name_fits_itself(name: str) -> None:
    assert matches(name, name)


def test_the_first_pattern_that_fits_counts() -> None:
    assert merge_names(["A 1", "A 2", "B"], ["A 1*", "A*"]) == ["A 1*", "A*", "B"]
    assert split_patterns("A*| B") == ("A*", "B")
    with pytest.raises(NotationError, match="did you mean Stockfish"):
        merge_names(["Stockfish 16", "Gull 3"], ["Stokfish*"])
    with pytest.raises(NotationError, match="between bars"):
        split_patterns("A||B")


def test_merged_players_are_rated_as_if_they_had_one_name() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 4, 400), rng.integers(0, 4, 400)
    kept = first != second
    first, second, result = first[kept], second[kept], rng.integers(0, 3, kept.sum()) / 2
    clusters = np.arange(len(first))
    apart = Results(("A 1", "A 2", "B", "C"), first, second, result, clusters)
    together = apart.with_merged(["A*"])
    assert together.names == ("A*", "B", "C")
    ours = rate_players(together.first, together.second, together.result, together.names)
    place = np.array([0, 0, 1, 2])
    one, other = place[first], place[second]
    differ = one != other
    theirs = rate_players(one[differ], other[differ], result[differ], ["A*", "B", "C"])
    assert ours.players == theirs.players
    assert together.left_out == {"between versions of one player": int((~differ).sum())}


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("Stockfish 202010181354_nn-eba324f53044", "Stockfish"),
        ("Stockfish dev-20240509-c43425b0", "Stockfish"),
        ("Stockfish_15_100k", "Stockfish"),
        ("Stockfish Latest", "Stockfish"),
        ("StockfishClassical 202007311012", "StockfishClassical"),
        ("LCZero v0.24-sv-t60-3010", "LCZero"),
        ("Arasan TCEC13.2", "Arasan"),
        ("Stoofvlees II a16", "Stoofvlees II"),
        ("SlowChess Blitz Classic 2.25", "SlowChess Blitz Classic"),
        ("LESS_STRO4K 4.0", "LESS_STRO4K"),
        ("Mr_Bob dev_20230422", "Mr_Bob"),
        ("ice4 9e94b82", "ice4"),
        ("M4sseur 1.0", "M4sseur"),
        ("KomodoDragon 3", "KomodoDragon"),
        ("gpsfish_XeonX5680_12c", "gpsfish_XeonX5680"),
        # People's names have no versions.
        ("Carlsen, Magnus", "Carlsen, Magnus"),
        ("Gonzalez Garcia,J2", "Gonzalez Garcia,J2"),
        ("Pham Minh Hoang1", "Pham Minh Hoang1"),
        ("Nakamura Hikaru", "Nakamura Hikaru"),
        ("player123", "player123"),
        ("ab-18000", "ab-18000"),  # a player's name may end in its strength
        ("katrain-10k", "katrain-10k"),
        ("12", "12"),
        ("  ", "  "),
        ("", ""),
    ],
)
def test_versions_of_a_program_have_its_name(name: str, program: str) -> None:
    assert program_name(name) == program


@given(st.text(max_size=20))
def test_a_program_s_name_is_its_own_program(name: str) -> None:
    assert program_name(program_name(name)) == program_name(name)
    assert program_name(name).strip() or not name.strip()
