# SPDX-License-Identifier: Apache-2.0
import fnmatch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyoka.arena import rate_players
from hyoka.arena.result_files import Results
from hyoka.errors import NotationError
from hyoka.name_patterns import matches, merged, patterns_of

names = st.text("ab. (", max_size=6)


@given(st.text("ab*. (", max_size=6), names)
def test_a_star_is_what_shells_mean_by_it(pattern: str, name: str) -> None:
    assert matches(pattern, name) == fnmatch.fnmatchcase(name, pattern)


@given(st.text(max_size=8))
def test_every_name_fits_itself(name: str) -> None:
    assert matches(name, name)


def test_the_first_pattern_that_fits_counts() -> None:
    assert merged(["A 1", "A 2", "B"], ["A 1*", "A*"]) == ["A 1*", "A*", "B"]
    assert patterns_of("A*| B") == ("A*", "B")
    with pytest.raises(NotationError, match="did you mean Stockfish"):
        merged(["Stockfish 16", "Gull 3"], ["Stokfish*"])
    with pytest.raises(NotationError, match="between bars"):
        patterns_of("A||B")


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
