# SPDX-License-Identifier: Apache-2.0
"""Our side of GTP, around a scripted search."""

import os
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from engines.fake_search import Dialogue, FakeSearcher, report, searchers
from hyoka.engines.server import Controller, GtpServer
from hyoka.engines.server.gtp_commands import judge
from hyoka.foundation.errors import NotationError
from hyoka.search import SearchResult, SearchSpec


def said(
    *lines: str,
    game: str = "go9",
    searcher: Any = None,
    spec: str = "uct:playouts=100",
    resign_below: float | None = None,
) -> str:
    """All that an engine says to some lines."""
    out: list[str] = []
    GtpServer(
        SearchSpec.from_text(spec),
        Controller(iter(lines), out.append),
        game=game,
        resign_below=resign_below,
        searcher_of=searcher or searchers(),
    ).run()
    return "".join(out)


def answers(*lines: str, **settings: Any) -> list[str]:
    return said(*lines, **settings).removesuffix("\n\n").split("\n\n")


class Passing(FakeSearcher):
    """Passes."""

    def found(self, line: Any, moves: list[Any]) -> SearchResult:
        return report(line, [line.parse("pass")], value=0.3)


# The protocol


def test_answers_carry_the_id_of_the_question() -> None:
    assert said("12 protocol_version", "name", "3 nonsense", "no", "07 komi x") == (
        "=12 2\n\n= Hyoka\n\n?3 unknown command\n\n? unknown command\n\n?07 syntax error\n\n"
    )


def test_comments_blank_lines_and_control_characters_are_passed_over() -> None:
    lines = ("", "# boardsize 5", "   ", "12", "na\x01me\t\r # who?", "\tprotocol_version\x7f")
    assert said(*lines) == "= Hyoka\n\n= 2\n\n"


def test_after_quit_nothing_is_answered() -> None:
    assert said("quit", "name") == "=\n\n"


def test_the_list_of_commands_is_what_is_known() -> None:
    [listed] = answers("list_commands")
    commands = listed.removeprefix("= ").split("\n")
    assert len(commands) == len(set(commands)) > 30
    known = answers(*(f"known_command {name}" for name in [*commands, "nonsense", ""]))
    assert known == ["= true"] * len(commands) + ["= false"] * 2
    [othello] = answers("list_commands", game="othello")
    assert "lz-analyze" not in othello


# The board


def test_sizes_that_are_ours_are_accepted_and_others_are_not() -> None:
    for size in (3, 7, 9, 13, 19):
        assert answers(f"boardsize {size}") == ["="]
    for size in (2, 8, 10, 25, 99999999999):
        assert answers(f"boardsize {size}") == ["? unacceptable size"]
    for bad in ("boardsize", "boardsize -9", "boardsize x", "boardsize 9 9"):
        assert answers(bad) == ["? syntax error"]
    assert answers("boardsize 8", "boardsize 9", game="othello") == ["=", "? unacceptable size"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("play b E5", "="),
        ("play BLACK e5", "="),
        ("play w pass", "="),
        ("play x E5", "? syntax error"),
        ("play b", "? syntax error"),
        ("play b Z9", "? syntax error"),
        ("play b E5 E6", "? syntax error"),
        ("play", "? syntax error"),
    ],
)
def test_moves_are_read_as_gtp_writes_them(line: str, answer: str) -> None:
    assert answers(line) == [answer]


def test_illegal_moves_are_refused_and_change_nothing() -> None:
    assert answers("play b A2", "play b B1", "play w A1", "play b A2", "genmove w")[2:] == [
        "? illegal move",  # suicide
        "? illegal move",  # occupied
        "= A9",
    ]


# A ko: Black may take at D2, White takes back at C2.
KO = (
    *("play b C1", "play b B2", "play b C3", "play w D1", "play w E2", "play w D3"),
    *("play b D2", "play w C2"),
)


def test_a_ko_is_forbidden_until_something_else_was_played() -> None:
    assert answers(*KO, "play b D2")[-1] == "? illegal move"
    assert answers(*KO, "play b J9", "play w J8", "play b D2")[-1] == "="


def test_superko_reaches_back_over_moves_out_of_turn() -> None:
    # White moves again, which makes a new line; the board before White's taking is still forbidden.
    assert answers(*KO, "play w J9", "undo", "play b D2")[-1] == "? illegal move"


def test_either_color_may_move_at_any_time_and_all_can_be_taken_back() -> None:
    out = answers(
        *("play b C3", "play b D4", "play w E5", "play w F6", "undo", "undo", "undo"),
        *("play w D4", "undo", "undo", "undo"),
    )
    assert out == ["="] * 10 + ["? cannot undo"]


def test_play_goes_on_after_two_passes() -> None:
    out = answers("play b pass", "play w pass", "play b E5", "undo", "genmove b", "showboard")
    assert out[:5] == ["=", "=", "=", "=", "= A9"]
    assert "A9" in out[5]


def test_komi_stays_and_counts() -> None:
    assert answers("komi 5.5", "final_score", "clear_board", "final_score") == [
        *("=", "= W+5.5", "=", "= W+5.5"),
    ]
    assert answers("play b E5", "komi 0", "undo", "undo", "final_score")[-2:] == [
        *("? cannot undo", "= 0"),
    ]
    for bad in ("komi", "komi .", "komi nan", "komi 1e400", "komi 1 2"):
        assert answers(bad) == ["? syntax error"]


def test_handicap_stones_stand_where_people_put_them() -> None:
    fixed = answers("fixed_handicap 2", "fixed_handicap 3", "undo", game="go19")
    assert sorted(fixed[0].removeprefix("= ").split()) == ["D4", "Q16"]
    assert fixed[1:] == ["? board not empty", "? cannot undo"]
    assert answers("fixed_handicap 1") == ["? invalid number of stones"]
    assert answers("fixed_handicap 10") == ["? invalid number of stones"]
    placed = answers("place_free_handicap 30", "genmove w", game="go19")
    assert len(placed[0].removeprefix("= ").split()) == 9
    assert answers("set_free_handicap A1 C3 E5", "genmove w", "genmove b")[0] == "="
    for bad in ("A1", "A1 A1", "A1 pass", "A1 Z1", ""):
        assert answers(f"set_free_handicap {bad}") == ["? bad vertex list"]


def test_records_are_loaded_up_to_a_move_with_their_past(tmp_path: Path) -> None:
    file = tmp_path / "one game.sgf"
    file.write_text("(;SZ[9]KM[6.5];B[ee];W[ec];B[gc];W[cc])")
    out = answers(f"loadsgf {file} 3", "undo", "undo", "undo", game="go19")
    assert out == ["=", "=", "=", "? cannot undo"]
    out = answers(f"loadsgf {file}", "showboard", f"loadsgf {file} 99", "loadsgf", game="go19")
    assert "Go 9x9" in out[1]
    assert "C7" in out[1]
    assert out[2].startswith("? cannot load file")
    assert out[3].startswith("? cannot load file")


def test_a_pipe_is_no_record_to_load(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sgf")  # to open it would wait for a writer
    assert answers(f"loadsgf {tmp_path / 'pipe.sgf'}", "name") == [
        f"? cannot load file: [Errno 22] not a regular file: '{tmp_path / 'pipe.sgf'}'",
        "= Hyoka",
    ]


def test_the_board_is_drawn_without_empty_lines() -> None:
    for game in ("go9", "othello", "blokus_duo"):
        text = said("showboard", game=game)
        assert text.startswith("=\n")
        assert text.endswith("\n\n")
        assert "\n\n" not in text[:-2]


# Moves


def test_genmove_plays_its_move_and_reg_genmove_does_not() -> None:
    assert answers("reg_genmove b", "genmove b", "genmove w", "genmove w", "undo") == [
        *("= A9", "= A9", "= B9", "= C9", "="),
    ]
    for bad in ("genmove", "genmove green", "reg_genmove"):
        assert answers(bad) == ["? syntax error"]


def test_a_hopeless_game_is_resigned_only_if_that_is_wanted() -> None:
    lost = searchers(Passing)
    assert answers("genmove b", searcher=lost) == ["= pass"]
    assert answers("genmove b", searcher=lost, resign_below=0.4) == ["= resign"]
    assert answers("genmove w", searcher=lost, resign_below=0.4) == ["= pass"]
    out = answers("hyoka-resign 0.35", "genmove b", "hyoka-resign off", "genmove b", searcher=lost)
    assert out == ["=", "= resign", "=", "= pass"]


def test_the_search_sees_the_clock() -> None:
    fake = searchers()
    answers("time_settings 300 0 0", "genmove b", "time_left w 2 0", "genmove w", searcher=fake)
    limits = [limits for _, limits, _ in fake.made[0].asked]
    assert 5 < (limits[0].time_s or 0) < 20
    assert 0 < (limits[1].time_s or 0) < 1
    for bad in ("time_settings 1 2", "time_settings a b c", "time_left b", "time_left x 1 1"):
        assert answers(bad) == ["? syntax error"]


def test_moves_that_superko_forbids_across_lines_are_not_searched() -> None:
    fake = searchers()
    answers(*KO, "genmove b", searcher=fake)
    line, _, only = fake.made[0].asked[0]
    assert "D2" not in [str(move) for move in only or line.legal_moves]


def test_a_new_game_makes_the_search_forget() -> None:
    fake = searchers()
    answers("genmove b", "clear_board", "genmove b", "clear_cache", searcher=fake)
    assert [searcher.cleared for searcher in fake.made] == [2]


def test_settings_of_the_search_can_be_changed() -> None:
    fake = searchers()
    out = answers(
        *("hyoka-search", "hyoka-set playouts 7", "genmove b", "hyoka-set nonsense 1"),
        *("hyoka-search mc:playouts=3", "lz-setoption name visits value 9", "hyoka-search"),
        *("hyoka-search nonsense", "hyoka-set", "lz-setoption visits 3"),
        searcher=fake,
    )
    assert out[:3] == ["= uct:playouts=100", "= uct:playouts=7", "= A9"]
    assert out[3].startswith("? ")
    assert out[4:7] == ["= mc:playouts=3", "=", "= mc:playouts=9"]
    assert all(text.startswith("? ") for text in out[7:])
    assert fake.made[1].spec.text == "uct:playouts=7"


def test_othello_passes_when_it_must() -> None:
    line = hk.Othello().line()
    seed = 0
    while [str(move) for move in line.legal_moves] != ["pass"]:
        if line.outcome is not None:
            line, seed = hk.Othello().line(), seed + 1
        line = line.play(line.random_move(seed) or "pass")
    moves = [f"play {'bw'[ply % 2]} {move}" for ply, move in enumerate(line.moves)]
    forced, other = ("b", "w") if len(line) % 2 == 0 else ("w", "b")
    assert answers(*moves, f"genmove {forced}", game="othello")[-1] == "= pass"
    # A controller may leave the forced pass out.
    out = answers(*moves, f"genmove {other}", "undo", f"genmove {other}", game="othello")
    assert out[-1] == out[-3] != "= pass"
    assert answers("genmove w", game="othello") == ["? it is the other player's move"]


def test_games_can_be_changed_and_are_written_as_they_are() -> None:
    out = answers("set_game Othello", "play b d3", "set_game Blokus Duo", "genmove b", "set_game x")
    assert out[:3] == ["="] * 3
    assert hk.BlokusDuo().is_legal(out[3].removeprefix("= "))
    assert out[4].startswith("? no game")
    with pytest.raises(NotationError, match="UCI"):
        said("name", game="chess")


# Analysis


def analyzing(searcher: Any = None) -> Dialogue:
    spec = SearchSpec.from_text("uct:playouts=100")
    fake = searcher or searchers()
    return Dialogue(lambda out: GtpServer(spec, out, game="go9", searcher_of=fake))


def test_analysis_goes_on_until_anything_is_said() -> None:
    with analyzing() as engine:
        engine.say("5 lz-analyze b 10 maxmoves 2")
        assert engine.until("^=") == "=5"
        first = engine.until("^info")
        assert first == (
            "info move A9 visits 100 winrate 6000 lcb 5040 order 0 pv A9 B9 "
            "info move B9 visits 99 winrate 5900 lcb 4931 order 1 pv B9 A9"
        )
        engine.say("name")
        assert engine.until("^$") == ""
        assert engine.until("^=") == "= Hyoka"


@pytest.mark.parametrize("word", ["", "nonsense", "# a comment", "quit"])
def test_whatever_is_said_ends_an_analysis(word: str) -> None:
    with analyzing() as engine:
        engine.say("kata-analyze interval 10")
        engine.until("^info")
        engine.say(word)
        engine.until("^$")


def test_values_are_seen_by_the_analyzed_side() -> None:
    with analyzing() as engine:
        engine.say("kata-analyze w 10 maxmoves 1 rootInfo true ownership true")
        line = engine.until("^info")
    assert line.startswith("info move A9 visits 100 utility -0.200000 winrate 0.400000 lcb 0.3")
    assert line.endswith("order 0 pv A9 B9 rootInfo visits 1000 utility -0.200000 winrate 0.400000")


def test_moves_to_avoid_and_to_allow_are_not_searched_and_searched() -> None:
    fake = searchers()
    with analyzing(fake) as engine:
        engine.say("lz-analyze b 10 avoid b A9,B9 1")
        assert "move C9" in engine.until("^info")
        engine.say("lz-analyze b allow b D4 1")
        assert "move D4" in engine.until("^info")
        engine.say("")


def test_analysis_with_a_move_at_its_end() -> None:
    text = said("9 lz-genmove_analyze b 10 maxmoves 1", "kata-search_analyze w", "genmove w")
    first, second, third, _ = text.split("\n\n")
    assert first.split("\n")[0] == "=9"
    assert first.split("\n")[1].startswith("info move A9")
    assert first.split("\n")[-1] == "play A9"
    assert second.split("\n")[-1] == "play B9"
    assert third == "= B9"


# The end of a game

SPLIT = "4XO3/4XO3/4XO3/4XO3/4XO3/4XO3/4XO3/4XO3/4XO3 b - 0 6.5"


def test_walls_live_and_the_board_is_counted() -> None:
    status = judge(hk.Go9.from_text(SPLIT))
    assert len(status.alive) == 2
    assert status.dead == ()
    assert status.score == 45 - 36 - 6.5


def test_a_lone_stone_in_the_opponents_land_is_dead(tmp_path: Path) -> None:
    black = [f"E{n}" for n in range(1, 10)] + [f"B{n}" for n in range(1, 10)]
    white = [f"F{n}" for n in range(1, 10)] + [f"H{n}" for n in range(1, 10)] + ["C5"]
    position = hk.Go9.from_stones(black, white, komi=0.5)
    assert judge(position).dead == (("C5",),)
    moves = [f"play b {point}" for point in black] + [f"play w {point}" for point in white]
    out = answers("komi 0.5", *moves, *(f"final_status_list {s}" for s in ("dead", "seki", "x")))
    assert out[-3:] == ["= C5", "=", "? syntax error"]
    assert answers("komi 0.5", *moves, "final_score")[-1] == "= B+8.5"
    # While there is something dead to take off, cleaning up does not pass.
    fake = searchers()
    answers("komi 0.5", *moves, "kgs-genmove_cleanup b", searcher=fake)
    assert "pass" not in [str(move) for move in fake.made[0].asked[0][2]]
