# SPDX-License-Identifier: Apache-2.0
"""Games between players of every kind: what each does wrong loses, and the match goes on."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines import QUICK_S, await_end, fake
from hyoka.arena import (
    MatchPlan,
    MatchResult,
    MatchRules,
    Opening,
    PlayedGame,
    PlayerSpec,
    Sprt,
    Standing,
    TimeControl,
    adjudicator_of,
    clear_boards,
    match_so_far,
    open_match,
    plan_match,
    play_match,
    repeated_games,
)
from hyoka.arena.played import Pairing
from hyoka.arena.players import Turn
from hyoka.arena.referee import GameStopped, GameTask, Referee
from hyoka.arena.workers import boards_here
from hyoka.clock import Clock
from hyoka.engines import EnginePosition, start_engine
from hyoka.errors import EngineError, NotationError, StudyError
from hyoka.evaluation import Evaluation
from hyoka.records import Record

KNIGHTS = "moves=g1f3,g8f6,f3g1,f6g8"
"""Both sides' knights go out and come back: a draw by repetition."""
GOLDS = "moves=4i5h,4a5b,5h4i,5b4a"
START = Opening("start")
QUIET = f"quiet={fake('uci', KNIGHTS)}"


def match(folder: Path, *players: str, games: int = 2, jobs: int = 1, **plan: Any) -> MatchResult:
    plan.setdefault("openings", "start")
    return play_match(plan_match(*players, **plan), folder / "match", games=games, jobs=jobs)


def endings(result: MatchResult) -> list[tuple[float, str, str]]:
    """Of each game: the first player's result, its ending, and the reason."""
    games = sorted(result.games, key=lambda game: game.pairing.number)
    return [(game.result, game.record.ending, game.reason) for game in games]


# Players that misbehave.


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
    assert not boards_here()


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
def test_what_is_no_move_loses_whoever_says_it(
    tmp_path: Path, words: list[str], ending: str, reason: str
) -> None:
    result = match(tmp_path, f"bad={fake('uci', KNIGHTS, *words)}", QUIET)
    assert endings(result) == [(0.0, ending, reason), (1.0, ending, reason)]
    assert result.standing.faults == {"bad": 2}
    assert result.standing.reasons == {reason: 2}
    assert all(game.fault for game in result.games)
    assert [len(game.record) for game in result.games] == [0, 1]


def test_a_player_that_never_answers_loses_on_time(tmp_path: Path) -> None:
    # Should the handshake be too slow for so quick a watchdog, that is silence as well.
    silent = fake("uci", KNIGHTS, "silent=1", settings=f"timeout={QUICK_S}")
    result = match(tmp_path, f"silent={silent}", QUIET)
    assert endings(result) == [(0.0, "time", "hung"), (1.0, "time", "hung")]
    assert result.standing.faults == {"silent": 2}


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


# What is set up wrongly.


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
    assert not boards_here()
    folder = tmp_path / "match"
    if folder.exists():
        assert open_match(folder)[1] == []


def test_a_search_that_does_not_know_the_game_stops_the_match_at_once(tmp_path: Path) -> None:
    with pytest.raises(NotationError):
        match(tmp_path, "mate:nodes=10", "random", game="go5")
    assert not (tmp_path / "match").exists()


# Clocks.


def heard_after_play(
    text: str, position: EnginePosition, clocks: tuple[Clock, Clock], log: Path
) -> list[str]:
    """What an engine hears of the clocks when it is asked for a move."""

    async def play() -> None:
        engine = await start_engine(text)
        try:
            log.unlink()  # the handshake
            await engine.play(position, clocks)
        finally:
            engine.kill()

    asyncio.run(play())
    lines = log.read_text().splitlines()
    return [line for line in lines if line.startswith(("go", "time", "kata"))]


CHESS = [EnginePosition("chess"), EnginePosition("chess", moves=["a2a3"])]
SHOGI = [EnginePosition("shogi"), EnginePosition("shogi", moves=["9g9f"])]
GO = [EnginePosition("go9"), EnginePosition("go9", moves=["E5"])]


@pytest.mark.parametrize(
    ("protocol", "position", "clocks", "heard"),
    [
        (
            "uci",
            CHESS[0],
            (Clock(main_s=60, increment_s=0.6), Clock(main_s=5.0004, increment_s=1)),
            ["go wtime 60000 btime 5000 winc 600 binc 1000"],
        ),
        (
            "uci",
            CHESS[1],
            (Clock(main_s=60), Clock(main_s=0.25)),
            ["go wtime 60000 btime 250 winc 0 binc 0"],
        ),
        (
            "uci",
            CHESS[0],
            (Clock(main_s=9, moves_to_go=3), Clock(main_s=8, moves_to_go=4)),
            ["go wtime 9000 btime 8000 winc 0 binc 0 movestogo 3"],
        ),
        (  # the moves of the one who is asked
            "uci",
            CHESS[1],
            (Clock(main_s=9, moves_to_go=40), Clock(main_s=8, moves_to_go=1)),
            ["go wtime 9000 btime 8000 winc 0 binc 0 movestogo 1"],
        ),
        (  # what the other one has need not be told
            "uci",
            CHESS[0],
            (Clock(main_s=9), Clock(main_s=8, period_s=10)),
            ["go wtime 9000 btime 8000 winc 0 binc 0"],
        ),
        (
            "usi",
            SHOGI[0],
            (Clock(main_s=600, period_s=10), Clock(main_s=0, period_s=5)),
            ["go btime 600000 wtime 0 byoyomi 10000"],
        ),
        (
            "usi",
            SHOGI[1],
            (Clock(main_s=600, period_s=10), Clock(main_s=0, period_s=5)),
            ["go btime 600000 wtime 0 byoyomi 5000"],
        ),
        (
            "usi",
            SHOGI[1],
            (Clock(main_s=600, increment_s=1), Clock(main_s=300, increment_s=2.5)),
            ["go btime 600000 wtime 300000 binc 1000 winc 2500"],
        ),
        (
            "usi",
            SHOGI[0],
            (Clock(main_s=10), Clock(main_s=10)),
            ["go btime 10000 wtime 10000 byoyomi 0"],
        ),
        (
            "gtp",
            GO[0],
            (Clock(main_s=60), Clock(main_s=60)),
            ["time_settings 60 0 0", "time_left b 60 0", "time_left w 60 0"],
        ),
        (
            "gtp",
            GO[1],
            (Clock(main_s=60.9, period_s=5), Clock(main_s=0, period_s=10.5)),
            ["time_settings 0 10 1", "time_left b 60 0", "time_left w 10 1"],
        ),
        (
            "gtp",
            GO[0],
            (Clock(main_s=60, moves_to_go=40), Clock(main_s=50, moves_to_go=39)),
            ["time_settings 0 60 40", "time_left b 60 40", "time_left w 50 39"],
        ),
    ],
)
def test_an_engine_is_told_both_clocks_in_its_protocols_words(
    protocol: str,
    position: EnginePosition,
    clocks: tuple[Clock, Clock],
    heard: list[str],
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    assert heard_after_play(fake(protocol, f"log={log}"), position, clocks, log) == heard


def test_a_limit_goes_with_the_clock(tmp_path: Path) -> None:
    log, clocks = tmp_path / "log", (Clock(main_s=1), Clock(main_s=1))
    text = fake("uci", f"log={log}", settings="depth=5,nodes=100")
    heard = heard_after_play(text, CHESS[0], clocks, log)
    assert heard == ["go depth 5 nodes 100 wtime 1000 btime 1000 winc 0 binc 0"]


def test_katas_own_command_tells_increments(tmp_path: Path) -> None:
    log = tmp_path / "log"
    clocks = (Clock(main_s=60, increment_s=1), Clock(main_s=30, increment_s=0.5))
    text = fake("gtp", f"log={log}", "knows=kata-time_settings")
    heard = heard_after_play(text, GO[1], clocks, log)
    assert heard[0] == "kata-time_settings fischer 30.000 0.500"


def test_in_a_match_every_player_hears_of_its_own_clock(tmp_path: Path) -> None:
    logs = [tmp_path / "one", tmp_path / "two"]
    one, two = (fake("uci", KNIGHTS, f"log={log}") for log in logs)
    match(tmp_path, f"{one}@3600+1", two, games=1, clock="40/7200")
    first, second = (
        [line for line in log.read_text().splitlines() if line.startswith("go")] for log in logs
    )
    assert first[0] == "go wtime 3600000 btime 7200000 winc 1000 binc 0"
    assert all("movestogo" not in line for line in first)
    # Four moves in each of two games; the clock of the first mover is counted by then.
    assert len(second) == 8
    assert [line.split("movestogo ")[1] for line in second] == ["40", "39", "38", "37"] * 2


def test_without_a_clock_an_engine_keeps_to_its_own_limits(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = fake("uci", KNIGHTS, f"log={log}", settings="nodes=7")
    match(tmp_path, one, QUIET, games=1)
    heard = [line for line in log.read_text().splitlines() if line.startswith("go")]
    assert set(heard) == {"go nodes 7"}


class Scripted:
    """A player that plays moves from a list, and says how long each has taken."""

    def __init__(self, moves: Sequence[str], *, seconds: Sequence[float] = (), **said: Any) -> None:
        self._moves = iter(moves)
        self._seconds = iter(seconds)
        self._said = said
        self.turns: list[Turn] = []
        self.seeds: list[int] = []

    async def new_game(self, seed: int) -> None:
        self.seeds.append(seed)

    async def play(self, turn: Turn) -> Evaluation:
        self.turns.append(turn)
        return Evaluation(best=next(self._moves), time_s=next(self._seconds, 0.0), **self._said)

    async def close(self) -> None: ...

    def stop(self) -> None: ...


def refereed(
    one: Scripted,
    other: Scripted,
    game: str = "chess",
    *,
    players: tuple[str, str] = ("one=random", "two=random"),
    opening: Opening = START,
    is_stopped: Callable[[], bool] = lambda: False,
    **rules: Any,
) -> PlayedGame:
    first, second = map(PlayerSpec.from_text, players)
    task = GameTask(
        "run", MatchRules(game, **rules), Pairing(0, 0, 0, 0, 1), opening, (first, second), (5, 6)
    )
    return asyncio.run(Referee(task, (one, other), is_stopped).play())


WHITE, BLACK = ["g1f3", "f3g1"] * 9, ["g8f6", "f6g8"] * 9


def test_whoever_oversteps_its_time_loses() -> None:
    timed = ("one=random@10", "two=random@10")
    slow = Scripted(WHITE, seconds=[4, 4, 1.9, 0.2])
    played = refereed(slow, Scripted(BLACK), players=timed, margin_s=0)
    assert (played.result, played.record.ending, played.reason) == (0.0, "time", "time")
    assert played.fault == "thought 0.200 s with 0.100 s left"
    assert len(played.record) == 6
    # The clocks that were shown: White's runs down, Black's stands.
    clocks = [turn.clocks for turn in slow.turns]
    assert [pair[0].main_s for pair in clocks if pair] == pytest.approx([10, 6, 2, 0.1])
    assert [pair[1].main_s for pair in clocks if pair] == [10, 10, 10, 10]
    left = [remark.clock_s for remark in played.record.remarks]
    assert left == pytest.approx([6, 10, 2, 10, 0.1, 10])
    spent = [remark.spent_s for remark in played.record.remarks]
    assert spent == [4, 0, 4, 0, 1.9, 0]


def test_a_margin_forgives_a_little() -> None:
    timed = ("one=random@10", "two=random@10")
    late = [10.25, *[0.0] * 9]
    played = refereed(Scripted(WHITE, seconds=late), Scripted(BLACK), players=timed)
    assert played.reason == "repetition"
    played = refereed(Scripted(WHITE), Scripted(BLACK, seconds=[10.26]), players=timed)
    assert (played.result, played.reason) == (1.0, "time")


def test_time_goes_before_a_mate_and_before_resigning() -> None:
    timed = ("one=random@10", "two=random@10")
    mate = Scripted(["e7e5", "d8h4"], seconds=[0, 99])
    played = refereed(Scripted(["f2f3", "g2g4"]), mate, players=timed)
    assert (played.result, played.reason) == (1.0, "time")
    played = refereed(Scripted(["resign"], seconds=[99]), Scripted([]), players=timed)
    assert played.reason == "time"


def test_a_fixed_time_for_an_engines_move_is_kept_too() -> None:
    engines = ("one=uci:time=0.5:some-engine", "two=random")
    played = refereed(Scripted(WHITE, seconds=[0.7, 0.76]), Scripted(BLACK), players=engines)
    assert (played.result, played.reason, len(played.record)) == (0.0, "time", 2)
    assert "instead of 0.5 s" in played.fault


def test_byo_yomi_comes_anew_with_every_move() -> None:
    timed = ("one=random@1b5", "two=random")
    played = refereed(
        Scripted(WHITE, seconds=[6, 5, 5, 5.1]), Scripted(BLACK), players=timed, margin_s=0
    )
    assert (played.reason, len(played.record)) == ("time", 6)


# Ends of games.


def test_moves_that_the_rules_forbid_lose() -> None:
    for move in ("e2e5", "nonsense", "", "win"):
        played = refereed(Scripted([move]), Scripted([]))
        assert (played.result, played.record.ending) == (0.0, "illegal")
    played = refereed(Scripted(["e2e4"]), Scripted(["e2e4"]))
    assert (played.result, played.reason) == (1.0, "illegal move")


def test_the_rules_end_a_game() -> None:
    mated = refereed(Scripted(["f2f3", "g2g4"]), Scripted(["e7e5", "d8h4"]))
    assert (mated.result, mated.record.ending, mated.reason) == (0.0, "normal", "checkmate")
    assert mated.record.move_texts() == ["f2f3", "e7e5", "g2g4", "d8h4"]
    drawn = refereed(Scripted(WHITE), Scripted(BLACK))
    assert (drawn.result, drawn.reason, len(drawn.record)) == (0.5, "repetition", 8)


@pytest.mark.parametrize(("komi", "result"), [(0.5, 1.0), (1.5, 1.0), (25, 0.5), (25.5, 0.0)])
def test_go_is_scored_with_its_komi(komi: float, result: float) -> None:
    played = refereed(Scripted(["C3", "pass"]), Scripted(["pass"]), "go5", komi=komi)
    assert (played.result, played.reason, played.record.komi) == (result, "score", komi)
    assert played.record.margin == 25 - komi


def test_the_ply_limit_draws_or_scores_the_game_as_it_stands() -> None:
    drawn = refereed(Scripted(WHITE), Scripted(BLACK), max_plies=3)
    assert (drawn.result, drawn.record.ending, drawn.reason) == (0.5, "adjudicated", "ply limit")
    assert len(drawn.record) == 3
    scored = refereed(Scripted(["C3"]), Scripted([]), "go5", max_plies=1, komi=0.5)
    assert (scored.result, scored.record.margin) == (1.0, 24.5)
    assert scored.reason == "ply limit, scored as it stands"
    assert scored.record.ending == "adjudicated"


def test_an_opening_is_book_and_belongs_to_nobody() -> None:
    one, two = Scripted(["f1b5"]), Scripted([])
    opening = Opening("Spanish", moves=("e2e4", "e7e5", "g1f3", "b8c6"))
    played = refereed(one, two, opening=opening, max_plies=5)
    assert played.record.opening == "Spanish"
    assert [remark.book for remark in played.record.remarks] == [True] * 4 + [False]
    assert played.record.move_texts() == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]
    assert list(one.turns[0].position.moves)[:4] == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert (one.seeds, two.seeds) == ([5], [6])


def test_an_opening_may_have_black_begin() -> None:
    start = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    one, two = Scripted([]), Scripted(["e7e5"])
    played = refereed(one, two, opening=Opening("1. e4", start), max_plies=1)
    assert (len(one.turns), len(two.turns)) == (0, 1)
    assert played.record.position(0).text.startswith(start)


def test_players_views_stand_in_the_record_as_they_were_told() -> None:
    one = Scripted(["e2e4"], value=0.6, score=30.0, depth=5)
    played = refereed(one, Scripted(["e7e5"], mate=-3), max_plies=2)
    mine, theirs = played.record.remarks
    assert (mine.ply, mine.value, mine.score, mine.mate, mine.depth) == (1, 0.6, 30.0, None, 5)
    assert (theirs.ply, theirs.mate, theirs.clock_s) == (2, -3, None)


def test_what_both_players_say_may_end_a_game() -> None:
    rule = (adjudicator_of("win=500,2"),)
    one, two = Scripted(WHITE, score=600.0), Scripted(BLACK, score=550.0)
    played = refereed(one, two, adjudicators=rule)
    assert (played.result, played.reason) == (1.0, "adjudicated by score")
    assert (played.record.ending, len(played.record)) == ("adjudicated", 4)
    one, two = Scripted(WHITE, score=600.0), Scripted(BLACK, score=450.0)
    assert refereed(one, two, adjudicators=rule).reason == "repetition"
    # What the opening says is nobody's word.
    opening = Opening("knights", moves=("g1f3", "g8f6"))
    one, two = Scripted(WHITE[1:], score=600.0), Scripted(BLACK[1:], score=600.0)
    assert len(refereed(one, two, adjudicators=rule, opening=opening).record) == 6


def test_a_game_that_is_stopped_has_no_result() -> None:
    for after in range(6):
        looks = iter([False] * after)
        with pytest.raises(GameStopped):
            refereed(Scripted(WHITE), Scripted(BLACK), is_stopped=lambda: next(looks, True))  # noqa: B023


def test_a_player_that_was_killed_to_stop_the_game_has_not_lost_it() -> None:
    class Killed(Scripted):
        async def play(self, turn: Turn) -> Evaluation:
            raise EngineError("engine", "died (signal SIGKILL)", reason="died")

    class KilledAtOnce(Killed):
        async def new_game(self, seed: int) -> None:
            raise EngineError("engine", "died (signal SIGKILL)", reason="died")

    for killed, before in ((Killed([]), 2), (KilledAtOnce([]), 0)):
        looks = iter([False] * before)
        with pytest.raises(GameStopped):
            refereed(killed, Scripted(BLACK), is_stopped=lambda: next(looks, True))  # noqa: B023
        assert refereed(killed, Scripted(BLACK)).reason == "died"


def test_nobody_is_asked_where_passing_is_all_there_is() -> None:
    opening = Opening("two corners", f"XO------{'-' * 48}XO------ X")
    one, two = Scripted(["c1", "c8"]), Scripted([])
    played = refereed(one, two, "othello", opening=opening)
    assert played.record.move_texts() == ["c1", "pass", "c8"]
    assert (played.result, played.reason) == (1.0, "score")
    assert [remark.ply for remark in played.record.remarks] == [1, 3]
    assert two.turns == []


# Whole matches.


def test_komi_and_handicap_reach_the_engines_and_the_records(tmp_path: Path) -> None:
    log = tmp_path / "log"
    passer = f"passer={fake('gtp', 'moves=pass', f'log={log}')}"
    result = match(tmp_path, passer, "random", game="go9", komi=0.5, handicap=2, games=1)
    heard = log.read_text().splitlines()
    assert "boardsize 9" in heard
    assert "komi 0.5" in heard
    stones = [line for line in heard if line.startswith("play b")][:2]
    at = heard.index("komi 0.5")
    assert heard[at + 1 : at + 3] == stones
    for game in result.games:
        record = game.record
        assert (record.komi, record.handicap) == (0.5, 2)
        assert int((record.position(0).cells != 0).sum()) == 2
        assert str(record.position(0).to_play) == "Player.second"


def test_openings_that_handicap_stones_forbid_are_left_out(tmp_path: Path) -> None:
    plan = plan_match("random", "random", game="go9", handicap=3, openings="random:4")
    assert 0 < len(plan.openings) < 10_000
    result = play_match(plan, tmp_path / "match", games=10)
    assert result.standing.faults == {}
    with pytest.raises(NotationError, match="handicap"):
        plan_match("random", "random", game="go9", handicap=2, openings=[Opening("x", "", ("G7",))])


def test_players_of_all_kinds_meet_in_one_match(tmp_path: Path) -> None:
    players = ["random", "ab:nodes=50", "uct:playouts=5", QUIET]
    result = match(tmp_path, *players, game="chess", max_plies=12, jobs=2)
    assert result.finished
    assert len(result.games) == 12
    assert {game.record.first for game in result.games} == {
        "random",
        "ab:nodes=50",
        "uct:playouts=5",
        "quiet",
    }
    # A knight that was taken cannot come back.
    assert set(result.standing.faults) <= {"quiet"}


def test_a_gauntlet_is_the_first_player_against_each(tmp_path: Path) -> None:
    result = match(tmp_path, "a=random", "b=random", "c=random", game="go5", format="gauntlet")
    assert result.standing.duels() == [(0, 1), (0, 2)]
    assert len(result.games) == 4


def comparable(games: list[PlayedGame]) -> list[tuple[Any, ...]]:
    """Games in order, without what the clock and the machine have put there."""

    def timeless(record: Record) -> Record:
        remarks = tuple(replace(remark, spent_s=None) for remark in record.remarks)
        return replace(record, remarks=remarks, date="")

    ordered = sorted(games, key=lambda game: game.pairing.number)
    return [(game.pairing, timeless(game.record), game.reason, game.fault) for game in ordered]


@pytest.mark.parametrize("game", ["othello", "go5"])
def test_the_same_seed_gives_the_same_games_whatever_the_jobs(tmp_path: Path, game: str) -> None:
    players = ["uct:playouts=20", "ab:nodes=60" if game == "othello" else "mc:playouts=40"]
    found = [
        match(tmp_path / str(number), *players, game=game, games=6, jobs=jobs, seed=seed)
        for number, (jobs, seed) in enumerate([(1, 1), (3, 1), (1, 2)])
    ]
    once, again, other = (comparable(result.games) for result in found)
    assert once == again
    assert once != other
    # Chance differs from game to game, though all begin alike.
    assert len({tuple(record.moves.tolist()) for _, record, _, _ in once}) > 1


def test_the_standing_is_a_recount_of_the_journal(tmp_path: Path) -> None:
    plan = plan_match("a=random", "b=uct:playouts=5", "c=random", game="go5", seed=3)
    result = play_match(plan, tmp_path, games=6, jobs=2)
    _, games = open_match(tmp_path)
    assert [game.pairing.number for game in games] == [game.pairing.number for game in result.games]
    recount = Standing.of([player.name for player in plan.players], games)
    assert recount.duels() == result.standing.duels() == [(0, 1), (0, 2), (1, 2)]
    for one, other in recount.duels():
        assert recount.duel(one, other) == result.standing.duel(one, other)
        assert recount.duel(other, one) == ~recount.duel(one, other)
        assert recount.duel(one, other).pairs.pairs == 3
    assert recount.reasons == result.standing.reasons
    assert sum(recount.total(player).points for player in range(3)) == 18
    so_far = match_so_far(plan, tmp_path, games=6)
    assert so_far.finished
    assert so_far.standing.duel(0, 1) == recount.duel(0, 1)


def quick_plan(**choices: Any) -> MatchPlan:
    choices = {"game": "go5", "seed": 1, "openings": "random:2", **choices}
    return plan_match("a=random", "b=random", **choices)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_match_that_is_interrupted_keeps_its_games_and_goes_on(tmp_path: Path, jobs: int) -> None:
    plan = quick_plan()

    def interrupt(new: list[PlayedGame], standing: Standing) -> None:
        if standing.games >= 5 and new:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(plan, tmp_path, games=20, jobs=jobs, on_games=interrupt)
    assert not boards_here()
    kept = open_match(tmp_path)[1]
    assert 5 <= len(kept) < 20
    assert not match_so_far(plan, tmp_path, games=20).finished
    counted: list[PlayedGame] = []
    result = play_match(
        plan, tmp_path, games=20, jobs=jobs, on_games=lambda new, standing: counted.extend(new)
    )
    assert len(counted) == 20 - len(kept)
    assert sorted(game.pairing.number for game in result.games) == list(range(20))
    assert result.games[: len(kept)] == kept
    # What was interrupted is the same match as one that was not.
    whole = play_match(plan, tmp_path / "whole", games=20)
    assert comparable(result.games) == comparable(whole.games)


def test_a_match_that_is_interrupted_lets_its_engines_go(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    engine = fake("uci", KNIGHTS, f"pids={pids}")
    plan = plan_match(f"one={engine}", f"two={engine}", openings="start")

    def interrupt(new: list[PlayedGame], standing: Standing) -> None:
        if new:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(plan, tmp_path / "match", games=1000, jobs=2, on_games=interrupt)
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) >= 2
    for pid in started:
        await_end(pid)


def test_a_match_that_is_interrupted_does_no_harm_to_another(tmp_path: Path) -> None:
    engine = fake("uci", KNIGHTS)
    plan = plan_match(f"one={engine}", f"two={engine}", openings="start")
    interrupted = threading.Event()

    def interrupt(new: list[PlayedGame], standing: Standing) -> None:
        if new:
            raise KeyboardInterrupt

    def wait(new: list[PlayedGame], standing: Standing) -> None:
        if standing.games == 2:
            interrupted.wait(QUICK_S)

    with ThreadPoolExecutor(1) as other:
        long = other.submit(play_match, plan, tmp_path / "long", games=20, jobs=2, on_games=wait)
        for number in range(3):
            with pytest.raises(KeyboardInterrupt):
                play_match(plan, tmp_path / str(number), games=1000, jobs=2, on_games=interrupt)
        interrupted.set()
        assert long.result().standing.reasons == {"repetition": 20}


def test_a_match_that_is_complete_plays_nothing_and_may_be_made_longer(tmp_path: Path) -> None:
    plan = quick_plan()
    before = play_match(plan, tmp_path, games=4)
    told: list[int] = []
    again = play_match(
        plan, tmp_path, games=4, on_games=lambda new, standing: told.append(len(new))
    )
    assert told == [0]
    assert again.games == before.games
    longer = play_match(plan, tmp_path, games=10)
    assert longer.games[:4] == before.games
    assert len(longer.games) == 10
    shorter = play_match(plan, tmp_path, games=2)
    assert len(shorter.games) == 10


@pytest.mark.parametrize(
    ("key", "choice"),
    [
        ("game", {"game": "go4", "openings": "start"}),
        ("seed", {"seed": 2, "openings": "start"}),
        ("openings", {"openings": "random:1"}),
        ("komi", {"komi": 0.5}),
        ("max_plies", {"max_plies": 99}),
        ("margin_s", {"margin_s": 1}),
        ("adjudicate", {"adjudicate": ["win=0.9,2"]}),
        ("format", {"format": "gauntlet"}),
    ],
)
def test_another_match_in_the_same_folder_is_refused_by_what_differs(
    tmp_path: Path, key: str, choice: dict[str, Any]
) -> None:
    usual = {"openings": "start"} if choice.get("openings") == "start" else {}
    play_match(quick_plan(**usual), tmp_path, games=2)
    with pytest.raises(StudyError, match=f"another match: its {key} is"):
        play_match(quick_plan(**usual, **choice) if not usual else quick_plan(**choice), tmp_path)
    assert len(open_match(tmp_path)[1]) == 2


def test_other_players_are_another_match(tmp_path: Path) -> None:
    play_match(quick_plan(), tmp_path, games=2)
    other = plan_match("a=random", "b=mc:playouts=5", game="go5", seed=1, openings="random:2")
    with pytest.raises(StudyError, match="its players is"):
        play_match(other, tmp_path, games=2)


def test_what_is_no_match_is_told(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"no match\.toml"):
        open_match(tmp_path)
    (tmp_path / "match.toml").write_text("= nonsense")
    with pytest.raises(StudyError, match="toml"):
        open_match(tmp_path)


def test_a_sequential_test_ends_a_match_early_and_stays_decided(tmp_path: Path) -> None:
    plan = plan_match("strong=ab:nodes=300", "weak=random", game="othello", seed=1)
    test = Sprt(0, 300)
    result = play_match(plan, tmp_path, games=1000, sprt=test, jobs=2)
    assert result.verdict == "H1"
    assert result.finished
    assert len(result.games) < 200
    assert test.decision(result.standing.duel(0, 1).pairs) == "H1"
    again = play_match(plan, tmp_path, games=1000, sprt=test, jobs=2)
    assert (again.verdict, len(again.games)) == ("H1", len(result.games))
    assert match_so_far(plan, tmp_path, games=1000, sprt=test).verdict == "H1"


def test_a_sequential_test_is_for_two(tmp_path: Path) -> None:
    plan = plan_match("a=random", "b=random", "c=random", game="go5")
    with pytest.raises(StudyError, match="two players"):
        play_match(plan, tmp_path / "match", sprt=Sprt(0, 5))
    assert not (tmp_path / "match").exists()


def test_our_searches_play_by_the_clock(tmp_path: Path) -> None:
    result = match(tmp_path, "uct", "ab", game="othello", clock="0.3", margin_s=1000, games=1)
    assert result.standing.faults == {}
    clocks = [remark.clock_s for game in result.games for remark in game.record.remarks]
    assert all(clock_s is not None and clock_s < 0.3 for clock_s in clocks)


def test_time_controls_are_told_in_the_record(tmp_path: Path) -> None:
    result = match(tmp_path, "a=random@60+1", "b=random@30b5", game="go5", games=1)
    assert {game.record.time_control for game in result.games} == {"60+1 / 30b5", "30b5 / 60+1"}
    result = match(tmp_path / "same", "a=random", "b=random", game="go5", clock="60+1", games=1)
    assert {game.record.time_control for game in result.games} == {"60+1"}
    assert TimeControl.from_text("60+1").increment_s == 1


def test_a_match_is_played_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    engine = fake("uci", KNIGHTS, f"pids={pids}")

    async def notebook() -> MatchResult:
        return match(tmp_path, f"one={engine}", f"two={engine}")

    assert asyncio.run(notebook()).standing.games == 2
    for pid in pids.read_text().split():
        await_end(int(pid))


def test_games_that_were_over_are_kept_when_another_cannot_be_played(tmp_path: Path) -> None:
    class Batches(Executor):
        """Plays nothing until four games are asked for; the fourth fails."""

        def __init__(self) -> None:
            self.asked: list[tuple[Future[PlayedGame], GameTask]] = []

        def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Any:
            future: Future[PlayedGame] = Future()
            self.asked.append((future, arguments[0]))
            if len(self.asked) == 4:
                for other, each in self.asked[:3]:
                    other.set_result(function(each))
                future.set_exception(EngineError("x", "is not there", reason="missing"))
            return future

    with pytest.raises(EngineError, match="is not there"):
        play_match(quick_plan(), tmp_path, games=8, jobs=2, executor=Batches())
    clear_boards()
    assert len(open_match(tmp_path)[1]) == 3


def test_a_journal_without_a_description_is_nobodys(tmp_path: Path) -> None:
    play_match(quick_plan(), tmp_path, games=2)
    (tmp_path / "match.toml").unlink()
    with pytest.raises(StudyError, match="is no match"):
        play_match(quick_plan(), tmp_path, games=4)


def test_games_that_repeat_others_are_counted(tmp_path: Path) -> None:
    engine = fake("uci", KNIGHTS)
    result = match(tmp_path, f"one={engine}", f"two={engine}", games=6)
    assert repeated_games(result.games) == 4
