# SPDX-License-Identifier: Apache-2.0
"""Searches named by texts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka.search.settings import KINDS, Setting


def test_a_text_and_a_call_name_the_same_search() -> None:
    assert hk.SearchSpec.from_text("uct:playouts=5000,widening=on") == hk.uct(
        playouts=5000, widening=True
    )
    assert hk.SearchSpec.from_text("ab:depth=6,quiescence=off") == hk.ab(depth=6, quiescence=False)
    assert hk.SearchSpec.from_text("mc-score:a_move=60") == hk.mc_score(a_move=60)


def test_a_flag_needs_no_value_and_defaults_are_left_out() -> None:
    assert hk.SearchSpec.from_text("uct: killer , playouts=1_000 ").text == (
        "uct:playouts=1000,killer=on"
    )
    assert hk.uct(killer=False, seed=0).text == "uct"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("utc", "no search 'utc'; did you mean uct?"),
        ("uct:playout=5", "uct has no setting 'playout'; did you mean playouts?"),
        ("ab:quiesence=off", "did you mean quiescence?"),
        ("uct:formula=ucb", "did you mean ucb1?"),
        ("uct:playouts=many", "'playouts' is a whole number, not 'many'"),
        ("uct:playouts=-1", "'playouts' is 0 to"),
        ("uct:playouts", "needs a value"),
        ("uct:widening=perhaps", "'widening' is on or off, not 'perhaps'"),
        ("uct:c=nan", "'c' is 0 to 1000"),
        ("uct:playouts=5,playouts=6", "set twice"),
        ("zebra", "there are uct, mc"),
        ("", "no search ''"),
    ],
)
def test_what_is_wrong_gets_the_nearest_right_name(text: str, message: str) -> None:
    with pytest.raises(hk.NotationError) as caught:
        hk.SearchSpec.from_text(text)
    assert message in str(caught.value)


def test_a_setting_of_another_game_is_refused() -> None:
    for spec, game in [
        ("uct:mate=100", "go9"),
        ("uct:ending=10", "chess"),
        ("uct:policy=light", "othello"),
        ("mate", "go9"),
        ("exact", "chess"),
    ]:
        with pytest.raises(hk.NotationError):
            hk.Searcher(spec, game)
    with pytest.raises(hk.NotationError, match="plays go9, not chess"):
        hk.Searcher("uct", "go9").search(hk.Chess())


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_spec_reads_its_own_text(kind: str, data: st.DataObject) -> None:
    settings: dict[str, Any] = {}
    for setting in data.draw(st.lists(st.sampled_from(KINDS[kind][1]), max_size=4)):
        if setting.kind != "text":
            settings[setting.name] = data.draw(value_of(setting))
    spec = hk.SearchSpec.of(kind, **settings)
    assert hk.SearchSpec.from_text(spec.text) == spec
    assert hk.SearchSpec.from_text(spec.text).slug == spec.slug


def value_of(setting: Setting) -> st.SearchStrategy[object]:
    """Values that a setting may have."""
    if setting.kind == "flag":
        return st.booleans()
    if setting.kind == "choice":
        return st.sampled_from(setting.choices)
    low, high = setting.minimum or 0, setting.maximum or 1
    if setting.kind == "int":
        return st.integers(int(low), int(high))
    return st.integers(0, 8).map(lambda eighths: low + (min(high, low + 64) - low) * eighths / 8)


def test_all_specs_of_one_search_have_folders_of_their_own() -> None:
    specs = [hk.uct(), hk.uct(seed=1), hk.uct(playouts=1), hk.mc(playouts=1), hk.uct(killer=True)]
    assert len({spec.slug for spec in specs}) == len(specs)
    assert hk.uct().with_settings(seed=1).with_settings(seed=None) == hk.uct()
