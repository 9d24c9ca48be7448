# SPDX-License-Identifier: Apache-2.0
"""Searches named by texts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka.search import assembly as parts
from hyoka.search.settings import KINDS, OPTIONS, Setting, settings_of


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


def drawn(kind: str, data: st.DataObject, most: int = 4) -> hk.SearchSpec:
    """A spec of settings that have an effect together."""
    settings: dict[str, Any] = {}
    table = [setting for setting in KINDS[kind][1] if setting.kind != "file"]
    for setting in data.draw(st.lists(st.sampled_from(table), max_size=most)):
        settings[setting.name] = data.draw(value_of(setting))
    while True:
        try:
            spec = hk.SearchSpec.of(kind, **settings)
            # What has an effect in some game's preset only is no part of a spec without a game.
            return spec.with_settings(**dict.fromkeys(spec.ineffective))
        except hk.NotationError as error:
            name, said, _ = str(error).removeprefix("'").partition("' has no effect")
            if not said:
                raise
            del settings[name]


WITH_NUMBERS = [
    kind for kind, (_, table) in KINDS.items() if any(each.kind != "file" for each in table)
]
"""Kinds of which something else than files can be set."""


@pytest.mark.parametrize("kind", WITH_NUMBERS)
@given(data=st.data())
@settings(deadline=None)
def test_every_spec_reads_its_own_text(kind: str, data: st.DataObject) -> None:
    spec = drawn(kind, data)
    assert hk.SearchSpec.from_text(spec.text) == spec
    assert hk.SearchSpec.from_text(spec.text).text == spec.text
    assert hk.SearchSpec.from_text(spec.text).id == spec.id


LIMITS = ("playouts", "nodes", "depth", "time", "a_move")


def meaning(spec: hk.SearchSpec, game: str) -> Any:
    """All settings that the compiled core receives."""
    options: Any = OPTIONS[spec.kind]()
    if spec.kind == "uct":
        options = parts.uct_options(spec, game)
    elif spec.kind in ("mc", "mc-score"):
        options = parts.monte_carlo_options(spec, game)
    elif spec.kind == "ab":
        options = parts.alpha_beta_options(spec)
    else:
        for name, value in spec.chosen:
            options.set(name, value)
    values = {setting.name: options.get(setting.name) for setting in options.settings()}
    values |= {name: values[name] or 0 for name in LIMITS if name in values}
    if spec.kind == "uct":
        del values["c"], values["ordered"], values["preset"]
        values |= {"exploration": options.exploration, "in order": options.in_order}
    return spec.kind, values


@pytest.mark.parametrize("kind", WITH_NUMBERS)
@given(data=st.data())
@settings(deadline=None)
def test_specs_have_one_id_if_and_only_if_they_mean_the_same(
    kind: str, data: st.DataObject
) -> None:
    one = drawn(kind, data)
    table = [setting for setting in KINDS[kind][1] if setting.kind != "file"]
    changed = data.draw(st.sampled_from(table))
    value = data.draw(st.none() | value_of(changed))
    other = data.draw(
        st.sampled_from([drawn(kind, data), one.with_settings(**{changed.name: value})])
    )
    assume(not other.ineffective)
    try:
        meanings = [meaning(one, "go9"), meaning(other, "go9")]
    except hk.NotationError:  # for another game
        assume(False)
    same = meanings[0] == meanings[1]
    assert (one.id == other.id) == same
    assert (one == other) == (one.text == other.text)


def test_what_only_says_what_is_usual_makes_no_other_search() -> None:
    assert hk.uct(c=1).id == hk.uct().id != hk.uct(c=1.5).id
    assert hk.uct(formula="puct", c=1.5).id == hk.uct(formula="puct").id
    assert hk.uct(formula="puct", c=1).id != hk.uct(formula="puct").id
    assert hk.uct(widening=True, ordered=True).id == hk.uct(widening=True).id
    assert hk.uct(playouts=0, time=0).id == hk.uct().id
    assert hk.uct(c=-0.0).id == hk.uct(c=0).id


def test_numbers_that_differ_in_the_last_digit_are_different_searches() -> None:
    one, other = hk.uct(c=0.3), hk.uct(c=0.1 + 0.2)
    assert one != other
    assert one.id != other.id
    assert hk.SearchSpec.from_text(other.text) == other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uct:widening_c=2", "'widening_c' has no effect without widening=on"),
        ("uct:killer_c=1", "'killer_c' has no effect without killer=on"),
        ("uct:history_threshold=0.5", "without history=on"),
        ("uct:preset=paper,reduction=0.5", "without formula=puct"),
        ("uct:formula=puct,widening=on,reduction=0.5", "with widening=on"),
        ("uct:preset=paper,prior_when=expansion", "without prior=…"),
        ("uct:book_plies=4", "without book=FILE"),
        ("uct:batch=4", "without an evaluator in Python"),
        ("uct:preset=paper,epsilon=0.5", "with policy=uniform"),
        ("uct:preset=paper,scale=100", "without prior=…, cut=…, mix=… or minimax=…"),
        ("uct:preset=paper,quiescence=on", "without prior=…, cut=…, mix=… or minimax=…"),
        ("mc:quiescence=on", "without cut=…"),
        ("mc:scale=100", "without cut=…"),
        ("mc:playouts=10,a_move=3", "'playouts' has no effect with a_move=…"),
        ("ab:plain=on,exact=on", "'exact' has no effect with plain=on"),
        ("ab:principal_variation=off,late_move_reductions=off", "without principal_variation=on"),
    ],
)
def test_a_setting_without_effect_is_refused(text: str, message: str) -> None:
    with pytest.raises(hk.NotationError, match=re.escape(message)):
        hk.SearchSpec.from_text(text)


def test_a_setting_counts_beside_the_preset_of_its_game() -> None:
    spec = hk.SearchSpec.from_text("uct:strengths=learned,reduction=0.1")
    assert hk.Searcher(spec.text, "othello").spec["reduction"] == 0.1
    with pytest.raises(hk.NotationError, match="'epsilon' has no effect with policy=uniform"):
        hk.Searcher("uct:epsilon=0.5", "othello")
    assert hk.Searcher("uct:epsilon=0.5", "go9").spec["policy"] == "light"


def test_a_part_without_effect_is_refused() -> None:
    def function(positions: Any) -> Any:
        return [0.5] * len(positions)

    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: hk.mc(evaluation=function), "'evaluation' has no effect without cut"),
        (
            lambda: hk.uct(evaluation=function, preset="paper"),
            "'evaluation' has no effect without prior",
        ),
        (
            lambda: hk.uct(evaluator=function, policy="strengths"),
            "'policy' has no effect with an eval",
        ),
        (lambda: hk.uct(evaluator=3), "'evaluator' is a function, not 3"),
        (lambda: hk.uct(book=3), "'book' is a hyoka.Book"),
        (lambda: hk.uct(playouts=float("inf")), "whole number"),
        (lambda: hk.uct(playouts=float("nan")), "whole number"),
        (lambda: hk.uct(playouts=10**400), "'playouts' is 0 to"),
    ]
    for make, message in wrong:
        with pytest.raises(hk.NotationError, match=message):
            make()


def test_one_idea_more_than_plain_or_exact_alpha_beta_is_had() -> None:
    spec = hk.ab(plain=True, null_move=True, hash=4)
    assert spec["null_move"]
    assert not hk.ab(plain=True)["null_move"]
    assert hk.ab(plain=True)["hash"] == 0
    assert spec.id != hk.ab(plain=True).id == hk.ab(plain=True, null_move=False).id
    options = parts.alpha_beta_options(spec)
    switches = [each.name for each in options.settings() if each.kind == "flag"]
    assert [name for name in switches if options.get(name)] == ["quiescence", "plain", "null_move"]
    assert options.get("hash") == 4
    assert options.get("aspiration") == 0


def test_a_search_of_a_game_in_python_refuses_what_it_has_not(tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    file.write_text("{}")
    for spec in (
        *(f"ab:eval={file}", f"uct:policy=strengths,strengths={file}", "uct:ordered=on"),
        *("uct:threads=2", "mc:threads=2", f"uct:book={file}"),
    ):
        with pytest.raises(hk.NotationError):
            hk.Searcher(spec, None)


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
    assert len({spec.id for spec in specs}) == len(specs)
    assert hk.uct().with_settings(seed=1).with_settings(seed=None) == hk.uct()


def test_root_quiescence_says_that_it_subtracts() -> None:
    setting = next(each for each in settings_of("uct") if each.name == "root_quiescence")
    assert setting.doc.startswith("Subtract 0.05 to 0.15 from the win rate")
    docs = (Path(__file__).parents[3] / "docs" / "reference" / "search.md").read_text(
        encoding="utf-8"
    )
    [line] = [line for line in docs.splitlines() if line.startswith("| `root_quiescence=on`")]
    assert "0.05, 0.10 or 0.15 is subtracted" in line
