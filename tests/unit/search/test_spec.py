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
from hyoka.search import Searcher, SearchSpec, ab, mc, mc_score, uct
from hyoka.search import assembly as parts
from hyoka.search.settings import KINDS, Setting, settings_of

NO_EVALUATION = "without eval_visits=… or cutoff=… or eval_weight=… or minimax=…"


def test_a_text_and_a_call_name_the_same_search() -> None:
    assert SearchSpec.from_text("uct:playouts=5000,widening=on") == uct(
        playouts=5000, widening=True
    )
    assert SearchSpec.from_text("ab:depth=6,quiescence=off") == ab(depth=6, quiescence=False)
    assert SearchSpec.from_text("mc-score:a_move=60") == mc_score(a_move=60)


def test_a_flag_needs_no_value_and_defaults_are_left_out() -> None:
    assert SearchSpec.from_text("uct: killer , playouts=1_000 ").text == (
        "uct:playouts=1000,killer=on"
    )
    assert uct(killer=False, seed=0).text == "uct"


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
        ("zebra", "known: uct, mc"),
        ("", "no search ''"),
    ],
)
def test_what_is_wrong_gets_the_nearest_right_name(text: str, message: str) -> None:
    with pytest.raises(hk.errors.NotationError) as caught:
        SearchSpec.from_text(text)
    assert message in str(caught.value)


def test_a_setting_of_another_game_is_refused() -> None:
    for spec, game in [
        ("uct:mate=100", "go9"),
        ("uct:ending=10", "chess"),
        ("uct:policy=light", "othello"),
        ("mate", "go9"),
        ("exact", "chess"),
    ]:
        with pytest.raises(hk.errors.NotationError):
            Searcher(spec, game)
    with pytest.raises(hk.errors.NotationError, match="plays go9, not chess"):
        Searcher("uct", "go9").search(hk.Chess())


def drawn(kind: str, data: st.DataObject, most: int = 4) -> SearchSpec:
    """A spec of settings that have an effect together."""
    settings: dict[str, Any] = {}
    table = [setting for setting in KINDS[kind][1] if setting.kind != "file"]
    for setting in data.draw(st.lists(st.sampled_from(table), max_size=most)):
        settings[setting.name] = data.draw(value_of(setting))
    while True:
        try:
            spec = SearchSpec.of(kind, **settings)
            # What has an effect in some game's preset only is no part of a spec without a game.
            return spec.with_settings(**dict.fromkeys(spec.ineffective))
        except hk.errors.NotationError as error:
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
    assert SearchSpec.from_text(spec.text) == spec
    assert SearchSpec.from_text(spec.text).text == spec.text
    assert SearchSpec.from_text(spec.text).id == spec.id


LIMITS = ("playouts", "nodes", "depth", "time", "a_move")


def meaning(spec: SearchSpec, game: str) -> Any:
    """All settings that the compiled core receives."""
    options: Any = spec.options
    if spec.kind == "uct":
        options = parts.uct_options(spec, game)
    elif spec.kind in ("mc", "mc-score"):
        options = parts.monte_carlo_options(spec, game)
    values = {setting.name: options.get(setting.name) for setting in options.settings()}
    values |= {name: values[name] or 0 for name in LIMITS if name in values}
    values.pop("preset", None)
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
    except hk.errors.NotationError:  # for another game
        assume(False)
    same = meanings[0] == meanings[1]
    assert (one.id == other.id) == same
    assert (one == other) == (one.text == other.text)


@pytest.mark.parametrize(
    ("text", "spec_id"),
    [
        ("uct", "uct-a4867dd0"),
        ("uct:playouts=5000,widening=on", "uct-playouts5000-widening_on-1a210b0e"),
        ("uct:c=1", "uct-a4867dd0"),
        ("uct:c=1.5", "uct-c1.5-e9cf2035"),
        ("uct:formula=puct,c=1.5", "uct-formula_puct-b6d6cb07"),
        ("uct:formula=puct,c=1", "uct-formula_puct-c1-f30d60b6"),
        ("uct:formula=puct,reduction=0.2", "uct-formula_puct-reduction0.2-4a43a4cf"),
        ("uct:formula=ucb1-tuned,ordered=on", "uct-formula_ucb1_tuned-ordered_on-bb9ac0bd"),
        ("uct:widening=on,widening_c=1,ordered=on", "uct-widening_on-widening_c1-e33bc239"),
        ("uct:widening=on,ordered=off", "uct-widening_on-orderedoff-6c3fa160"),
        (
            "uct:formula=puct,strengths=learned,prior_strengths=learned",
            "uct-formula_puct-strengths_learned-d982d48a",
        ),
        (
            "uct:policy=strengths,strengths=learned,playout_strengths=built-in",
            "uct-policy_strengths-strengths_learned-playout_strengths_built_-7937ea68",
        ),
        ("uct:time=0.5,nodes=0", "uct-time0.5-dc02aff3"),
        (
            "uct:cutoff=0,eval=learned,quiescence=on",
            "uct-cutoff0-quiescence_on-eval_learned-1164002d",
        ),
        (
            "uct:eval_visits=10,scale=100,eval_when=expansion",
            "uct-scale100-eval_visits10-eval_when_expansion-ea9ae982",
        ),
        ("uct:eval_weight=0.5,cutoff=5", "uct-cutoff5-eval_weight0.5-aed8da92"),
        (
            "uct:killer=on,killer_c=1,history=on,history_threshold=0.5,rave=300",
            "uct-killer_on-killer_c1-history_on-history_threshold0.5-rave300-646e1986",
        ),
        ("mc", "mc-6bc0f9c4"),
        ("mc:a_move=30", "mc-a_move30-bc01a2e2"),
        (
            "mc:playouts=500,divide=on,policy=strengths,epsilon=0.1",
            "mc-playouts500-divide_on-policy_strengths-epsilon0.1-e96481fe",
        ),
        ("mc-score:cutoff=5,scale=100", "mc_score-cutoff5-scale100-78123eef"),
        ("ab", "ab-fb8e20fc"),
        ("ab:depth=6,quiescence=off", "ab-depth6-quiescenceoff-cad17f74"),
        ("ab:exact=on,null_move=on", "ab-exact_on-null_move_on-0f332a08"),
        ("ab:plain=on,hash=4", "ab-hash4-plain_on-70a0402e"),
        ("ab:plain=on,null_move=off", "ab-plain_on-9f069a87"),
        ("ab:nodes=0,multipv=3", "ab-multipv3-8ca04c2c"),
        ("mate", "mate-4e048fd2"),
        ("mate:nodes=0", "mate-nodes0-375233d9"),
        ("exact:nodes=1000,hash=16", "exact-nodes1000-hash16-54f22285"),
        ("random:seed=3", "random-seed3-18cde2ec"),
        ("ranking:strengths=learned", "ranking-strengths_learned-ac590b93"),
    ],
)
def test_ids_stay_as_stored(text: str, spec_id: str) -> None:
    assert SearchSpec.from_text(text).id == spec_id


def test_what_only_says_what_is_usual_makes_no_other_search() -> None:
    assert uct(c=1).id == uct().id != uct(c=1.5).id
    assert uct(formula="puct", c=1.5).id == uct(formula="puct").id
    assert uct(formula="puct", c=1).id != uct(formula="puct").id
    assert uct(widening=True, ordered=True).id == uct(widening=True).id
    assert uct(playouts=0, time=0).id == uct().id
    assert uct(c=-0.0).id == uct(c=0).id


def test_numbers_that_differ_in_the_last_digit_are_different_searches() -> None:
    one, other = uct(c=0.3), uct(c=0.1 + 0.2)
    assert one != other
    assert one.id != other.id
    assert SearchSpec.from_text(other.text) == other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uct:widening_c=2", "'widening_c' has no effect without widening=on"),
        ("uct:killer_c=1", "'killer_c' has no effect without killer=on"),
        ("uct:history_threshold=0.5", "without history=on"),
        ("uct:preset=paper,reduction=0.5", "without formula=puct"),
        ("uct:formula=puct,widening=on,reduction=0.5", "with widening=on"),
        ("uct:preset=paper,eval_when=expansion", "without eval_visits=…"),
        ("uct:book_plies=4", "without book=FILE"),
        ("uct:batch=4", "without evaluator=…"),
        ("uct:preset=paper,epsilon=0.5", "with policy=uniform"),
        ("uct:preset=paper,scale=100", NO_EVALUATION),
        ("uct:preset=paper,quiescence=on", NO_EVALUATION),
        ("mc:quiescence=on", "without cutoff=…"),
        ("mc:scale=100", "without cutoff=…"),
        ("uct:preset=paper,strengths=learned", "without policy=strengths or ordered=on"),
        ("mc:playouts=10,a_move=3", "'playouts' has no effect with a_move=…"),
        ("ab:plain=on,exact=on", "'exact' has no effect with plain=on"),
        ("ab:principal_variation=off,late_move_reductions=off", "without principal_variation=on"),
    ],
)
def test_a_setting_without_effect_is_refused(text: str, message: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=re.escape(message)):
        SearchSpec.from_text(text)


def test_a_setting_counts_beside_the_preset_of_its_game() -> None:
    spec = SearchSpec.from_text("uct:strengths=learned,reduction=0.1")
    assert Searcher(spec.text, "othello").spec["reduction"] == 0.1
    with pytest.raises(
        hk.errors.NotationError, match="'epsilon' has no effect with policy=uniform"
    ):
        Searcher("uct:epsilon=0.5", "othello")
    assert Searcher("uct:epsilon=0.5", "go9").spec["policy"] == "light"


def test_a_part_without_effect_is_refused() -> None:
    def function(positions: Any) -> Any:
        return [0.5] * len(positions)

    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: mc(evaluation=function), "'evaluation' has no effect without cutoff"),
        (
            lambda: uct(evaluation=function, preset="paper"),
            "'evaluation' has no effect without eval_visits",
        ),
        (
            lambda: uct(evaluator=function, policy="strengths"),
            "'policy' has no effect with evaluator=…",
        ),
        (lambda: uct(evaluator=3), "'evaluator' is a function, not 3"),
        (lambda: uct(book=3), "'book' is a hyoka.Book"),
        (lambda: uct(playouts=float("inf")), "whole number"),
        (lambda: uct(playouts=float("nan")), "whole number"),
        (lambda: uct(playouts=10**400), "'playouts' is 0 to"),
    ]
    for make, message in wrong:
        with pytest.raises(hk.errors.NotationError, match=message):
            make()


def test_one_idea_more_than_plain_or_exact_alpha_beta_is_had() -> None:
    spec = ab(plain=True, null_move=True, hash=4)
    assert spec["null_move"]
    assert not ab(plain=True)["null_move"]
    assert ab(plain=True)["hash"] == 0
    assert spec.id != ab(plain=True).id == ab(plain=True, null_move=False).id
    options = parts.alpha_beta_options(spec)
    switches = [each.name for each in options.settings() if each.kind == "flag"]
    assert [name for name in switches if options.get(name)] == ["plain", "null_move"]
    assert options.get("hash") == 4
    assert options.get("aspiration") == 0


def test_a_search_of_a_game_in_python_refuses_what_it_has_not(tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    file.write_text("{}")
    for spec in (
        *(f"ab:eval={file}", f"uct:policy=strengths,strengths={file}", "uct:ordered=on"),
        *("uct:threads=2", "mc:threads=2", f"uct:book={file}"),
    ):
        with pytest.raises(hk.errors.NotationError):
            Searcher(spec, None)


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
    specs = [uct(), uct(seed=1), uct(playouts=1), mc(playouts=1), uct(killer=True)]
    assert len({spec.id for spec in specs}) == len(specs)
    assert uct().with_settings(seed=1).with_settings(seed=None) == uct()


def test_root_quiescence_says_that_it_subtracts() -> None:
    setting = next(each for each in settings_of("uct") if each.name == "root_quiescence")
    assert setting.doc.startswith("Subtract 0.05 to 0.15 from the win rate")
