# SPDX-License-Identifier: Apache-2.0
"""What players do wrong loses and the match goes on; what is set up wrongly stops it."""

from pathlib import Path
from typing import Any

import pytest

from engines import QUICK_S, await_end, fake
from hyoka.arena import Opening, open_match
from hyoka.foundation.errors import EngineError, NotationError
from hyoka.parallel import task_pool as worker_state
from hyoka.reporting.match_report import write_match_report

from ..arena_matches import GOLDS, KNIGHTS, QUIET, endings, match


@pytest.mark.parametrize(
    ("misdeed", "ending", "reason", "words"),
    [
        ("crash=2", "forfeit", "died", "exit code 3"),
        ("die=2", "forfeit", "died", "exit code 4"),
        ("flood=2", "forfeit", "flooded", "64 MiB"),
        ("long=2", "forfeit", "flooded", "line"),
    ],
)
def test_a_player_that_breaks_down_loses_and_plays_the_next_game_anew(
    tmp_path: Path, misdeed: str, ending: str, reason: str, words: str
) -> None:
    pids = tmp_path / "pids"
    bad = fake("uci", KNIGHTS, misdeed, f"once={tmp_path / 'done'}", f"pids={pids}")
    result = match(tmp_path, f"bad={bad}", QUIET, games=4)
    draw = (0.5, "normal", "repetition")
    assert endings(result) == [(0.0, ending, reason), draw, draw, draw]
    assert result.standing.faults == {"bad": 1}
    [fault] = [game.fault for game in result.games if game.fault]
    assert words in fault
    if reason == "died":  # a flood has washed it away
        assert "> position startpos moves g1f3 g8f6" in fault
    # One process broke down, the other played all the rest; none is left.
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2
    for pid in started:
        await_end(pid)
    assert not worker_state._worker_states


@pytest.mark.parametrize(
    ("words", "ending", "reason"),
    [
        (["best=e2e5"], "illegal", "illegal move"),
        (["best=hello"], "illegal", "illegal move"),
        (["best=(none)"], "illegal", "illegal move"),
        (["best=resign"], "illegal", "illegal move"),  # a word of USI, none of UCI
        (["say=info depth 1 score cp banana"], "forfeit", "talked nonsense"),
        (["say=info score cp 1 wdl 900 900 900"], "forfeit", "talked nonsense"),
    ],
)
def test_an_invalid_move_loses_the_game(
    tmp_path: Path, words: list[str], ending: str, reason: str
) -> None:
    result = match(tmp_path, f"bad={fake('uci', KNIGHTS, *words)}", QUIET)
    assert endings(result) == [(0.0, ending, reason), (1.0, ending, reason)]
    assert result.standing.faults == {"bad": 2}
    assert result.standing.reasons == {reason: 2}
    assert all(game.fault for game in result.games)
    assert [len(game.record) for game in result.games] == [0, 1]


@pytest.mark.parametrize("asked_for", [False, True])
def test_standard_error_goes_into_files_only_if_it_is_asked_for(
    tmp_path: Path, asked_for: bool
) -> None:
    settings = "stderr=true" if asked_for else ""
    bad = fake("uci", KNIGHTS, "crash=2", settings=settings)
    result = match(tmp_path, f"bad={bad}", QUIET)
    folder = tmp_path / "match"
    write_match_report(tmp_path / "page.html", "A match", result.games, ["bad", QUIET])
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert (folder / "journal.jsonl") in files
    texts = [path.read_bytes() for path in [*files, tmp_path / "page.html"]]
    assert any(b"exit code 3" in text for text in texts)
    assert any(b"assertion failed: fake.c:7" in text for text in texts) == asked_for


def test_an_empty_answer_loses_and_is_no_pass(tmp_path: Path) -> None:
    bad = fake("gtp", "answer:genmove=", "answer:reg_genmove=")
    result = match(tmp_path, f"bad={bad}", "random", game="go5")
    reason = "talked nonsense"
    assert endings(result) == [(0.0, "forfeit", reason), (1.0, "forfeit", reason)]
    assert [len(game.record) for game in result.games] == [0, 1]


def test_a_player_that_never_answers_loses_on_time(tmp_path: Path) -> None:
    # Long enough for the handshake of a busy machine: an engine that never starts has not lost.
    silent = fake("uci", KNIGHTS, "silent=1", settings="timeout=2")
    result = match(tmp_path, f"silent={silent}", QUIET)
    assert endings(result) == [(0.0, "time", "hung"), (1.0, "time", "hung")]
    assert result.standing.faults == {"silent": 2}


@pytest.mark.parametrize(
    ("limit", "plan"), [("time=0.1,", {}), ("", {"clock": "0.1"})], ids=["move time", "clock"]
)
def test_the_wait_for_a_hung_player_is_its_time_and_a_grace(
    tmp_path: Path, limit: str, plan: dict[str, Any]
) -> None:
    silent = fake("uci", KNIGHTS, "silent=1", settings=f"{limit}grace={QUICK_S}")
    result = match(tmp_path, f"silent={silent}", QUIET, **plan)
    assert endings(result) == [(0.0, "time", "hung"), (1.0, "time", "hung")]
    assert all("does not answer within 0.3 s" in game.fault for game in result.games)


@pytest.mark.parametrize(
    "engine", [fake("uci", "deaf", settings=f"timeout={QUICK_S}"), "uci:false"]
)
def test_a_player_that_has_never_started_stops_the_match(tmp_path: Path, engine: str) -> None:
    with pytest.raises(EngineError, match="does not start"):
        match(tmp_path, f"bad={engine}", QUIET)
    assert open_match(tmp_path / "match")[1] == []


def test_both_players_may_be_bad(tmp_path: Path) -> None:
    bad = fake("uci", "best=e2e5")
    result = match(tmp_path, f"one={bad}", f"two={bad}", games=4)
    assert endings(result) == [(0.0, "illegal", "illegal move")] * 4
    assert result.standing.faults == {"one": 2, "two": 2}


def test_usi_engines_resign(tmp_path: Path) -> None:
    quitter = fake("usi", "best=resign")
    result = match(tmp_path, f"quitter={quitter}", f"quiet={fake('usi', GOLDS)}")
    assert endings(result) == [(0.0, "resigned", "resigned"), (1.0, "resigned", "resigned")]
    assert result.standing.faults == {}
    assert all(game.record.game == "shogi" for game in result.games)


def test_a_false_declaration_loses_and_a_true_one_wins(tmp_path: Path) -> None:
    boaster = f"boaster={fake('usi', 'best=win')}"
    quiet = f"quiet={fake('usi', GOLDS)}"
    result = match(tmp_path, boaster, quiet, games=1)
    false = "declared a win that is none"
    assert endings(result) == [(0.0, "illegal", false), (1.0, "illegal", false)]
    # A king in the last ranks with ten pieces there, and 28 points.
    pieces = "+R+R+B+B4K/1SSGGPPP1/9/9/9/9/9/9/4k4 b 2P 1"
    entered = [Opening("entered", pieces)]
    result = match(tmp_path / "entered", boaster, quiet, games=1, openings=entered)
    assert endings(result)[0] == (1.0, "normal", "declaration")


@pytest.mark.parametrize(
    ("words", "ending", "reason"),
    [
        (["answer:genmove=resign"], "resigned", "resigned"),
        (["answer:genmove=Z99"], "illegal", "illegal move"),
        (["answer:genmove=C3"], "illegal", "illegal move"),  # where it stands since move 1
        (["refuse=genmove b", "refuse=genmove w"], "forfeit", "refused the position"),
        (["refuse=play b E1", "refuse=play w E1"], "forfeit", "refused the position"),
    ],
)
def test_gtp_engines_lose_by_resigning_refusing_and_illegal_moves(
    tmp_path: Path, words: list[str], ending: str, reason: str
) -> None:
    bad = fake("gtp", "moves=C3,C3,B2,B2", *words)
    other = fake("gtp", "moves=E1,E1,E2,E2,E3,E3")
    result = match(tmp_path, f"bad={bad}", f"other={other}", game="go5")
    assert endings(result) == [(0.0, ending, reason), (1.0, ending, reason)]
    assert result.standing.faults == ({} if ending == "resigned" else {"bad": 2})
    assert set(result.standing.reasons) == {reason[:12] if ending == "illegal" else reason}


@pytest.mark.parametrize(
    ("player", "game", "words"),
    [
        ("uci:no-such-program", "chess", "no program 'no-such-program'"),
        (fake("uci", settings="Hsh=16"), "chess", "no option 'Hsh'"),
        (fake("uci", settings="level=3"), "chess", "knows no limit 'level'"),
        (fake("uci"), "shogi", "plays chess, not shogi"),
        (fake("gtp"), "chess", "not chess"),
        (f"{fake('uci')}@60b10", "chess", "no byo-yomi"),
        (f"{fake('usi')}@60+1b10", "shogi", "not both"),
        (f"{fake('gtp')}@60+1", "go5", "no increments"),
    ],
)
def test_what_no_game_can_help_stops_the_match_with_a_clear_word(
    tmp_path: Path, player: str, game: str, words: str
) -> None:
    with pytest.raises(EngineError) as error:
        match(tmp_path, player, "random", game=game, games=20, jobs=2)
    assert words in str(error.value)
    assert not worker_state._worker_states
    folder = tmp_path / "match"
    if folder.exists():
        assert open_match(folder)[1] == []


def test_a_search_that_does_not_know_the_game_stops_the_match_at_once(tmp_path: Path) -> None:
    with pytest.raises(NotationError):
        match(tmp_path, "mate:nodes=10", "random", game="go5")
    assert not (tmp_path / "match").exists()
