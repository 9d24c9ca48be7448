# SPDX-License-Identifier: Apache-2.0
"""Every term of every game's evaluation has a meaning, and no meaning is of none."""

import fnmatch

import pytest

import hyoka as hk
from hyoka.games import feature_descriptions as evaluation_terms
from hyoka.games.feature_descriptions import term_meaning
from hyoka.search import linear_evaluation


@pytest.mark.parametrize("game", ["chess", "shogi", "othello", "go9", "go19", "blokus_duo"])
def test_every_term_has_a_meaning_and_every_meaning_a_term(game: str) -> None:
    names = linear_evaluation(game).names
    assert all(term_meaning(game, name) for name in names)
    table = evaluation_terms._TERM_MEANINGS["go" if game.startswith("go") else game]
    for pattern in table:
        assert fnmatch.filter(names, pattern), pattern


def test_a_term_that_is_not_there_is_refused() -> None:
    with pytest.raises(hk.errors.NotationError, match="no term 'dragons'"):
        term_meaning("othello", "dragons")
