# SPDX-License-Identifier: Apache-2.0
import pickle
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Go3
from hyoka.games import (
    FACTS,
    GAMES,
    Game,
    GameFacts,
    facts_of,
    facts_of_size,
    game_facts,
    game_type,
    name_of,
)
from hyoka.records.writing import WRITERS, format_of_path
from hyoka.search import SearchSpec


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chess", hk.Chess),
        ("shogi", hk.Shogi),
        ("othello", hk.Othello),
        ("reversi", hk.Othello),
        ("blokus_duo", hk.BlokusDuo),
        ("blokus", hk.BlokusDuo),
        ("go", hk.Go19),
        ("go9", hk.Go9),
        ("go13", hk.Go13),
        ("Chess", hk.Chess),
        ("Blokus-Duo", hk.BlokusDuo),
        ("Blokus Duo", hk.BlokusDuo),
    ],
)
def test_a_game_is_found_by_its_names(name: str, kind: type[Any]) -> None:
    assert game_type(name) is kind


@pytest.mark.parametrize(
    ("name", "hint"),
    [("ches", "did you mean chess?"), ("shougi", "shogi"), ("go8", "go"), ("othelo", "othello")],
)
def test_a_misspelt_game_gets_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(
        hk.errors.NotationError, match=rf"no game '{name}'; did you mean"
    ) as refused:
        game_type(name)
    assert hint in str(refused.value)


@pytest.mark.parametrize("name", ["", "backgammon", "∞"])
def test_a_name_like_no_other_gets_the_whole_list(name: str) -> None:
    with pytest.raises(hk.errors.NotationError) as refused:
        game_type(name)
    assert all(
        known in str(refused.value) for known in ("go9", "chess", "shogi", "othello", "blokus_duo")
    )


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_name_a_start_and_the_whole_interface(name: str) -> None:
    game = hk.position(name)
    assert name_of(game) == name
    assert game == game_type(name)() == hk.position(name, game.text)
    members = [member for member in vars(Game) if not member.startswith("_")]
    assert len(members) > 10
    for member in members:
        assert hasattr(game, member)
        assert hasattr(game.line(), member)


def test_games_are_distinguished() -> None:
    starts = [hk.position(name) for name in GAMES]
    assert all((a == b) == (a is b) for a in starts for b in starts)
    assert hk.Chess() != hk.Chess().text


def test_a_text_makes_a_position() -> None:
    outcome = hk.position("othello", "-" * 64 + " X").outcome
    assert outcome is not None
    assert outcome.value == 0.5
    with pytest.raises(hk.errors.NotationError):
        hk.position("othello", "nothing")


def test_players_know_each_other() -> None:
    assert hk.Player.first.other == hk.Player.second
    assert hk.Player.second.other == hk.Player.first


def test_outcomes_are_values() -> None:
    one: Any = hk.Othello.from_text("-" * 64 + " X").outcome
    two: Any = Go3(komi=0).play("pass").play("pass").outcome
    won: Any = Go3(komi=1).play("pass").play("pass").outcome
    assert one == two
    assert hash(one) == hash(two)
    assert one != won
    assert one != "draw"
    assert repr(won) == "<Outcome second player wins by score>"


def test_outcomes_survive_pickling() -> None:
    over: Any = Go3(komi=1).play("pass").play("pass").outcome
    assert pickle.loads(pickle.dumps(over)) == over


def test_the_board_is_an_array_of_its_own() -> None:
    game: Any = hk.Chess()
    cells = game.cells
    cells[:] = 0
    assert game.cells.any()
    assert {
        name: hk.position(name).cells.shape
        for name in ("go9", "othello", "chess", "shogi", "blokus_duo")
    } == {
        "go9": (9, 9),
        "othello": (8, 8),
        "chess": (8, 8),
        "shogi": (9, 9),
        "blokus_duo": (14, 14),
    }


def test_a_line_is_written_as_its_start_and_its_moves() -> None:
    line: Any = hk.Chess().line()
    assert line.text == hk.Chess().text
    assert line.play("e4").play("c5").text == f"{hk.Chess().text} moves e2e4 c7c5"
    assert hk.Chess.Line.from_text(f"{hk.Chess().text} moves e4 c5") == line.play("e4").play("c5")
    assert hk.Chess.Line(hk.Chess()) == line
    assert len(line.play("e4")) == 1


def test_lines_that_reach_one_position_on_two_ways_differ() -> None:
    one: Any = hk.Chess().line().play("Nf3").play("Nf6").play("Nc3")
    two: Any = hk.Chess().line().play("Nc3").play("Nf6").play("Nf3")
    assert one != two
    assert one.hash == two.hash
    assert one.position == two.position


def test_perft_of_no_ply_is_one_and_of_less_is_refused() -> None:
    assert hk.Chess().perft(0) == 1
    with pytest.raises(ValueError, match="depth"):
        hk.Chess().perft(-1)


@pytest.mark.parametrize("facts", FACTS.values(), ids=FACTS)
def test_the_facts_of_a_game_agree_with_its_rules_and_with_each_other(facts: GameFacts) -> None:
    start = facts.position_type()
    assert facts_of(start) is facts_of(start.line()) is game_facts(facts.name) is facts
    assert facts_of_size(facts.family, str(facts.size)) is facts
    assert facts.size == start.cells.shape[0]
    assert facts.symmetries == facts.position_type.symmetries
    assert (facts.komi is not None) == hasattr(start, "komi")
    assert set(facts.formats.notations) <= set(WRITERS)
    assert format_of_path(Path(f"games{facts.formats.suffix}")) in facts.formats.notations
    assert SearchSpec.from_text(facts.search.spec)
    assert facts.search.moves_left(start) > 0
    line = start.line()
    for move in facts.formats.trial_moves:
        line = line.play(move)
    assert (
        len(set(facts.naming.players))
        == len(set(facts.naming.colors))
        == len(set(facts.naming.columns))
        == 2
    )


def test_every_name_means_one_game() -> None:
    names = [name for facts in FACTS.values() for name in (facts.name, *facts.other_names)]
    assert len(names) == len(set(names))
    assert all(game_facts(name).is_called(name) for name in names)


def test_of_a_game_in_python_only_its_name_is_known() -> None:
    class Chess:
        """No relation."""

    game: Any = Chess()
    kind: Any = Chess
    facts = facts_of(game)
    assert facts.name == facts.title == "Chess"
    assert facts.search.mate_solver is None
    assert facts == GameFacts(name="Chess", position_type=kind, title="Chess")
    with pytest.raises(hk.errors.NotationError, match="none of the games"):
        name_of(game)
