# SPDX-License-Identifier: Apache-2.0
"""What a search is where nobody says: by its game what plays best, or the papers' constants."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

import hyoka as hk
from hyoka import _core
from hyoka.arena import plan_match
from hyoka.games import FACTS, GAMES
from hyoka.games.registry import GameFacts, position
from hyoka.models.bundled import bundled_move_model, bundled_prior_model
from hyoka.models.loading import move_model
from hyoka.records.samples import sample_path
from hyoka.search import Searcher, SearchSpec, uct
from hyoka.search.settings import KINDS, preset_names, setting_named
from hyoka.study.evaluating import evaluate

PRESETS = [
    (kind, name)
    for name, facts in FACTS.items()
    for kind in facts.search.presets
    if facts.search.presets[kind]
]


@pytest.mark.parametrize(("kind", "game"), PRESETS)
def test_a_preset_says_something_that_its_game_can_do(kind: str, game: str) -> None:
    preset = dict(FACTS[game].search.presets[kind])
    spec = SearchSpec.from_text(kind).for_game(game)
    for name, value in preset.items():
        setting = setting_named(kind, name)
        assert setting.validate(value) == value
        assert value != setting.default, f"{name} is so anyway"
        assert spec[name] == value
    assert not set(preset) & set(spec.options.ineffective({}))
    Searcher(spec, game)


def test_every_game_of_the_five_has_a_preset_of_the_tree_search() -> None:
    games = {game for kind, game in PRESETS if kind == "uct"}
    assert {"go9", "go19", "shogi", "chess", "othello", "blokus_duo"} <= games
    assert all(kind in KINDS for kind, _ in PRESETS)


def with_presets(facts: GameFacts, presets: dict[str, dict[str, bool | float | str]]) -> GameFacts:
    return replace(facts, search=replace(facts.search, presets=presets))


@pytest.fixture
def preset(monkeypatch: pytest.MonkeyPatch) -> Iterator[GameFacts]:
    """A preset that no measurement changes."""
    settings: dict[str, bool | float | str] = {
        "formula": "puct",
        "c": 0.7,
        "rave": 300.0,
        "value": "root",
    }
    facts = with_presets(FACTS["othello"], {"uct": settings})
    facts = replace(facts, bundled=replace(facts.bundled, move_model=""))
    monkeypatch.setitem(FACTS, "othello", facts)
    preset_names.cache_clear()
    yield facts
    preset_names.cache_clear()


def test_explicit_settings_win(preset: GameFacts) -> None:
    spec = SearchSpec.from_text("uct:rave=50,playouts=10").for_game("othello")
    assert (spec["rave"], spec["formula"], spec["c"], spec["value"]) == (50, "puct", 0.7, "root")
    assert spec.text == "uct:playouts=10,rave=50"
    off = SearchSpec.from_text("uct:value=best").for_game("othello")
    assert off["value"] == "best"
    # A constant of one formula is none of another.
    other = SearchSpec.from_text("uct:formula=ucb1").for_game("othello")
    assert (other["c"], other["rave"]) == (None, 300)
    assert SearchSpec.from_text(other.text).for_game("othello") == other


def test_the_papers_constants_are_what_they_were(preset: GameFacts) -> None:
    paper = SearchSpec.from_text("uct:preset=paper,playouts=5000,widening=on")
    assert paper.for_game("othello").fingerprint == paper.fingerprint
    assert paper.fingerprint == uct(playouts=5000, widening=True).fingerprint
    assert paper.for_game("othello")["rave"] == 0
    assert paper.for_game("othello").dependencies == {}


def test_another_preset_makes_another_search(
    preset: GameFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = uct(playouts=10)
    before = spec.for_game("othello")
    assert before.id != spec.id
    assert before.id.startswith("uct-playouts10-")
    assert before.dependencies == {"preset": "formula=puct,c=0.7,rave=300.0,value=root"}
    said = uct(playouts=10, formula="puct", c=0.7, rave=300, value="root", preset="paper")
    assert said.for_game("othello").fingerprint == before.fingerprint
    monkeypatch.setitem(FACTS, "othello", with_presets(preset, {"uct": {"rave": 200.0}}))
    after = spec.for_game("othello")
    assert after.id != before.id
    assert after.text == before.text


def test_a_searcher_and_a_match_know_their_game(preset: GameFacts) -> None:
    assert Searcher("uct", "othello").spec["rave"] == 300
    plan = plan_match("uct", "uct:preset=paper", game="othello")
    specs = [player.spec for player in plan.players]
    assert [spec["rave"] for spec in specs if isinstance(spec, SearchSpec)] == [300, 0]
    assert plan.description()["contents"] == [
        "uct: preset formula=puct,c=0.7,rave=300.0,value=root"
    ]


def test_an_evaluator_in_python_has_no_preset(preset: GameFacts) -> None:
    spec = uct(evaluator=lambda positions: [0.5] * len(positions)).for_game("othello")
    assert spec["formula"] == "ucb1"


def test_evaluations_by_another_preset_are_kept_apart(
    preset: GameFacts, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    study = hk.Study.create(f"{tmp_path}/study", [sample_path("othello")])
    [first] = evaluate(study, ["uct:playouts=2"], sample=1, where="game_id < 3")
    [again] = evaluate(study, ["uct:playouts=2"], sample=1, where="game_id < 3")
    assert (first.engine, first.done, again.done) == (again.engine, 3, 0)
    monkeypatch.setitem(FACTS, "othello", with_presets(preset, {"uct": {"rave": 200.0}}))
    [other] = evaluate(study, ["uct:playouts=2"], sample=1, where="game_id < 3")
    assert other.engine != first.engine
    assert other.notes
    # What was evaluated before there were presets is the papers' own.
    monkeypatch.setitem(FACTS, "othello", with_presets(preset, {}))
    [old] = evaluate(study, ["uct:playouts=2"], sample=1, where="game_id < 3")
    monkeypatch.setitem(FACTS, "othello", preset)
    [papers] = evaluate(study, ["uct:preset=paper,playouts=2"], sample=1, where="game_id < 3")
    assert (papers.engine, papers.done) == (old.engine, 0)


def test_a_search_uses_the_bundled_model() -> None:
    model = bundled_move_model("othello")
    assert model is not None
    spec = uct(playouts=10).for_game("othello")
    assert spec["strengths"] == model
    assert f"strengths={model.fingerprint}" in spec.dependencies["preset"]
    by_hand = uct(playouts=10, strengths="built-in").for_game("othello")
    assert by_hand["strengths"] == "built-in"
    assert by_hand.id != spec.id
    assert uct(preset="paper").for_game("othello")["strengths"] == "built-in"


@pytest.mark.parametrize("game", FACTS)
def test_every_model_that_comes_with_hyoka_ranks_moves(game: str) -> None:
    model = bundled_move_model(game)
    if model is None:
        return
    assert model.origin is not None
    line = position(game).line()
    _, strengths = _core.weigh_moves(game, line, move_model(game, model))
    assert (strengths > 0).all()


def test_priors_use_a_model_that_is_too_slow_for_playouts() -> None:
    model = bundled_prior_model("go9")
    assert model is not None
    assert model.origin is not None
    spec = uct(playouts=10).for_game("go9")
    assert spec["prior_strengths"] == model
    assert spec["strengths"] == bundled_move_model("go9")
    chosen = uct(playouts=10, strengths="built-in").for_game("go9")
    assert chosen["prior_strengths"] is None
    assert uct(playouts=10, formula="ucb1").for_game("go9")["prior_strengths"] is None


@pytest.mark.parametrize("game", ["blokus_duo", "go9", "othello"])
def test_networks_that_come_with_hyoka_have_a_name(game: str) -> None:
    result = hk.search_once(GAMES[game](), "uct:playouts=5,eval=network,strengths=network,cutoff=0")
    assert result.playouts == 5
    assert hk.search_once(GAMES[game](), "ab:depth=1,eval=network").best is not None


def test_a_game_without_a_network_says_so() -> None:
    with pytest.raises(hk.errors.NotationError, match="no network of chess comes with Hyoka"):
        hk.search_once(hk.Chess(), "ab:depth=1,eval=network")
