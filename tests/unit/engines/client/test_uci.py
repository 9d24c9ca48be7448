# SPDX-License-Identifier: Apache-2.0
"""What UCI and USI engines say, and what we make of it."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines import QUICK_S, fake
from hyoka.engines import EnginePosition, Limits, start_engine
from hyoka.engines.client.uci import Option, UciEngine, _Search, is_chess960
from hyoka.foundation.errors import EngineError, IllegalMoveError, NotationError
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation
from hyoka.games.registry import position

WHITE = EnginePosition("chess")
BLACK = EnginePosition("chess", moves=["e2e4"])
CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def evaluated(
    spec: str, *positions: EnginePosition, limits: Limits | None = None
) -> list[Evaluation]:
    """The evaluations of an engine that starts for them and ends with them."""

    async def run() -> list[Evaluation]:
        engine = await start_engine(spec)
        try:
            return [await engine.evaluate(position, limits) for position in positions]
        finally:
            await engine.close()

    return asyncio.run(run())


def says(*lines: str, protocol: str = "uci") -> str:
    return fake(protocol, *(f"say={line}" for line in lines))


def refusal_of(spec: str, position: EnginePosition = WHITE) -> EngineError:
    with pytest.raises(EngineError) as refused:
        evaluated(spec, position)
    return refused.value


def test_scores_are_turned_to_whites_view() -> None:
    line = "info depth 12 seldepth 20 multipv 1 score cp 31 nodes 4567 nps 1 time 1 pv e2e4"
    white, black = evaluated(says(line), WHITE, BLACK)
    assert (white.score, white.unit, white.value) == (31.0, "centipawns", None)
    assert (white.depth, white.nodes, white.best) == (12, 4567, "a2a3")
    assert (black.score, black.best) == (-31.0, "a7a6")
    assert white.time_s > 0


def test_the_start_says_who_is_to_move() -> None:
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    line = "info depth 1 score cp 31"
    [black] = evaluated(says(line), EnginePosition("chess", start=fen))
    [white] = evaluated(says(line), EnginePosition("chess", start=fen, moves=["e7e5"]))
    assert (black.score, white.score) == (-31.0, 31.0)


def test_wins_draws_and_losses_make_a_value() -> None:
    line = "info depth 2 score cp 31 wdl 500 300 200 nodes 9"
    white, black = evaluated(says(line), WHITE, BLACK)
    assert (white.win, white.draw, white.loss) == (0.5, 0.3, 0.2)
    assert (black.win, black.draw, black.loss) == (0.2, 0.3, 0.5)
    assert white.value == pytest.approx(0.65)
    assert black.value == pytest.approx(0.35)


def test_wins_draws_and_losses_are_asked_for_where_they_are_offered(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    evaluated(fake("uci", "option=UCI_ShowWDL type check default false", f"log={log}"), WHITE)
    assert "setoption name UCI_ShowWDL value true" in log.read_text()
    log.unlink()
    spec = fake(
        "uci",
        "option=UCI_ShowWDL type check default false",
        f"log={log}",
        settings="uci_showwdl=false",
    )
    evaluated(spec, WHITE)
    assert "setoption name UCI_ShowWDL value false" in log.read_text()


@pytest.mark.parametrize(("said", "white", "black"), [("3", 3, -3), ("-2", -2, 2)])
def test_mates_are_kept_as_mates(said: str, white: int, black: int) -> None:
    for_white, for_black = evaluated(says(f"info depth 9 score mate {said} pv x"), WHITE, BLACK)
    assert (for_white.mate, for_white.score, for_white.unit) == (white, None, "")
    assert (for_black.mate, for_black.score) == (black, None)


def test_exact_scores_of_the_first_line_count_and_rubbish_does_not() -> None:
    [found] = evaluated(
        says(
            "info depth 8 multipv 1 score cp 10 nodes 5",
            "info depth 9 multipv 1 score cp 80 lowerbound nodes 6",
            "info depth 9 multipv 2 score cp 99 nodes 6",
            "info depth 9 score cp 98 multipv 3",
            "info string score cp 77",
            "score cp 78",
            "info depth 9 score cp",
            "info depth 9 score cp banana",
            "info score",
            "",
            "\ufffd info score cp 79",
            "info depth 9 currmove e2e4 currmovenumber 1",
            "xbestmove e2e4",
        ),
        WHITE,
    )
    assert (found.score, found.depth, found.nodes) == (10.0, 8, 5)


@pytest.mark.parametrize(
    ("lines", "score", "depth"),
    [
        # The next depth was begun: its best line is about another move than that played.
        (
            [
                "info depth 8 multipv 1 score cp 10 pv a2a3 b7b6",
                "info depth 8 multipv 2 score cp 5 pv e2e4 b7b6",
                "info depth 9 multipv 1 score cp 25 pv e2e4 b7b6",
            ],
            10.0,
            8,
        ),
        # The same of the second of several moves at the last completed depth.
        (
            [
                "info depth 8 multipv 1 score cp 10 pv e2e4 b7b6",
                "info depth 8 multipv 2 score cp 5 pv a2a3 b7b6",
                "info depth 9 multipv 1 score cp -30 pv e2e4 b7b6",
            ],
            5.0,
            8,
        ),
        # One variation only.
        (["info depth 8 score cp 10 pv a2a3", "info depth 9 score cp 25 pv e2e4"], 10.0, 8),
        # What was thought of the move long before counts no more.
        (["info depth 3 score cp 10 pv a2a3", "info depth 9 score cp 25 pv e2e4"], 25.0, 9),
        (["info depth 9 multipv 1 score cp 25 pv e2e4", "info depth 9 score cp 30"], 30.0, 9),
    ],
)
def test_the_score_is_that_of_the_move_played(lines: list[str], score: float, depth: int) -> None:
    [found] = evaluated(says(*lines), WHITE)
    assert (found.best, found.score, found.depth) == ("a2a3", score, depth)
    # Much talk is digested before the move is known.
    search = _Search("go", position("chess"))
    for line in [*lines, *["info string thinking"] * 100]:
        assert not search(line)
    assert search("bestmove a2a3")
    search.read()
    assert search.exact is not None
    assert f"cp {score:g}" in search.exact.string


def test_a_bound_is_better_than_nothing() -> None:
    [found] = evaluated(
        says("info depth 1 score cp 5 upperbound", "info depth 2 score cp 7 lowerbound"), WHITE
    )
    assert found.score == 7.0


def test_a_move_without_a_score_is_an_evaluation_without_a_number() -> None:
    [found] = evaluated(says("info string book"), BLACK)
    assert (found.best, found.score, found.value, found.mate) == ("a7a6", None, None, None)


def test_long_talk_is_read_to_the_end() -> None:
    lines = [f"info depth {depth} score cp {depth}" for depth in range(1, 200)]
    assert evaluated(says(*lines), WHITE)[0].depth == 199


def test_bytes_that_are_no_utf_8_do_no_harm() -> None:
    [found] = evaluated(fake("uci", "mojibake", "say=info depth 1 score cp 5"), WHITE)
    assert found.score == 5.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["say=info depth 1 score cp banana"], "cannot be read: info depth 1 score cp banana"),
        (["say=info score cp 1 wdl 900 900 900"], "sum to 2700"),
    ],
)
def test_nonsense_is_an_error(words: list[str], message: str) -> None:
    error = refusal_of(fake("uci", *words))
    assert error.reason == "nonsense"
    assert message in str(error)
    assert "> position startpos" in error.transcript
    assert "< bestmove" in error.transcript


@pytest.mark.parametrize(
    ("best", "message"),
    [
        ("e2e5", "illegal move e2e5"),
        ("hello", "'hello', no move"),
        ("", "reports no move, though"),
        ("(none)", "reports no move, though"),
        ("0000", "reports no move, though"),
    ],
)
def test_a_best_move_that_is_none_is_an_error(best: str, message: str) -> None:
    error = refusal_of(fake("uci", f"best={best}"))
    assert error.reason == "unplayable"
    assert message in str(error)
    assert "> position startpos" in error.transcript
    assert "< bestmove" in error.transcript


def test_best_moves_are_written_our_way() -> None:
    start = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    [found] = evaluated(fake("uci", "best=e1h1"), EnginePosition("chess", start=start))
    assert found.best == "e1g1"


def test_a_finished_game_is_not_shown_to_the_engine() -> None:
    mated = EnginePosition("chess", moves=["f2f3", "e7e5", "g2g4", "d8h4"])
    stalemate = EnginePosition("chess", start="7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    lost, drawn = evaluated(fake("uci", "crash=1"), mated, stalemate)
    assert (lost.value, lost.mate, lost.best) == (0.0, -1, None)
    assert (drawn.value, drawn.mate, drawn.score, drawn.draw) == (0.5, None, 0.0, 1.0)


def test_positions_that_are_none_never_reach_the_engine(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    spec = fake("uci", f"log={log}")
    with pytest.raises(IllegalMoveError):
        evaluated(spec, EnginePosition("chess", moves=["e2e4", "e2e4"]))
    with pytest.raises(NotationError):
        evaluated(spec, EnginePosition("chess", start="nonsense"))
    assert "position" not in log.read_text()
    error = refusal_of(spec, EnginePosition("shogi"))
    assert error.reason == "game"
    assert "plays chess, not shogi" in str(error)


def test_what_is_sent_is_what_the_protocol_says(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    fen = "r3k2r/p7/8/8/8/8/8/R3K2R w KQkq - 3 9"
    evaluated(
        fake("uci", f"log={log}", settings="nodes=7,depth=3,time=0.25"),
        EnginePosition("chess", moves=["e2e4", "c7c5"]),
        EnginePosition("chess", start=fen, moves=["h1h2"]),
    )
    assert log.read_text().splitlines() == [
        "uci",
        "isready",
        "position startpos moves e2e4 c7c5",
        "go depth 3 nodes 7 movetime 250",
        f"position fen {fen} moves h1h2",
        "go depth 3 nodes 7 movetime 250",
        "quit",
    ]


def test_moves_are_sent_our_way_however_they_are_given(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    moves = ["e4", "e5", "Nf3", "Nc6", "Bb5", "Nf6", "O-O"]
    evaluated(fake("uci", f"log={log}"), EnginePosition("chess", moves=moves))
    sent = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1\n"
    assert sent in log.read_text()


def test_fresh_engines_forget_before_each_position(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    evaluated(fake("uci", f"log={log}", settings="fresh=true"), WHITE, BLACK)
    heard = log.read_text().splitlines()
    for at, line in enumerate(heard):
        if line.startswith("position"):
            assert heard[at - 2 : at] == ["ucinewgame", "isready"]
    assert heard.count("ucinewgame") == 2


def test_limits_can_be_given_for_one_position(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    evaluated(fake("uci", f"log={log}", settings="nodes=7"), WHITE, limits=Limits(depth=2))
    assert "go depth 2\n" in log.read_text()
    with pytest.raises(EngineError, match="knows no limit 'level'") as refused:
        evaluated(fake("uci", settings="level=3"), WHITE)
    assert refused.value.reason == "limit"


def test_chess960_is_switched_on_and_off(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    spec = fake("uci", f"log={log}", "option=UCI_Chess960 type check default false", "best=e2e4")
    start = "4k3/8/8/8/8/8/4P3/RK5R w AH - 0 1"
    other = EnginePosition("chess", start=start)
    evaluated(spec, WHITE, other, other, WHITE)
    lines = [line for line in log.read_text().splitlines() if "960" in line or "position" in line]
    fen = "position fen 4k3/8/8/8/8/8/4P3/RK5R w KQ - 0 1"
    assert lines == [
        "position startpos",
        "setoption name UCI_Chess960 value true",
        fen,
        fen,
        "setoption name UCI_Chess960 value false",
        "position startpos",
    ]


def test_chess960_is_sent_without_its_past(tmp_path: Path) -> None:
    """There, castling is written in another way than ours."""
    log = tmp_path / "heard"
    spec = fake("uci", f"log={log}", "option=UCI_Chess960 type check default false", "best=e7e6")
    start = "4k3/4p3/8/8/8/8/8/RK5R w KQ - 0 1"
    [found] = evaluated(spec, EnginePosition("chess", start=start, moves=["b1h1"]))
    assert found.best == "e7e6"
    assert "position fen 4k3/4p3/8/8/8/8/8/R4RK1 b - - 1 1\n" in log.read_text()


def test_an_engine_without_chess960_refuses_it() -> None:
    error = refusal_of(fake("uci"), EnginePosition("chess", start=CHESS960))
    assert error.reason == "refused"
    assert "UCI_Chess960" in str(error)


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", False),
        ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w KQkq - 2 9", True),
        ("4k3/8/8/8/8/8/8/R3KR2 w K - 0 1", True),
        ("1r2k3/8/8/8/8/8/8/4K3 b q - 0 1", True),
        ("4k3/8/8/8/8/8/8/R3KR2 w Q - 0 1", False),
        ("4k3/8/8/8/8/8/8/RK5R w - - 0 1", False),
        ("4k3/8/8/8/8/8/8/R3K2R w HA - 0 1", True),
    ],
)
def test_castling_tells_chess960(fen: str, expected: bool) -> None:
    assert is_chess960(fen) == expected


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (
            "option name Hash type spin default 16 min 1 max 1024",
            Option("Hash", "spin", (1, 1024)),
        ),
        ("option name Clear Hash type button", Option("Clear Hash", "button")),
        (
            "option name Style type combo default Normal var Solid var Very Wild",
            Option("Style", "combo", None, ("Solid", "Very Wild")),
        ),
        ("option name Book type string default <empty>", Option("Book", "string")),
        ("option name broken", None),
    ],
)
def test_options_are_read(line: str, option: Option | None) -> None:
    assert Option.from_line(line) == option


OPTIONS = [
    "option=Hash type spin default 16 min 1 max 1024",
    "option=Skill Level type spin default 20 min 0 max 20",
    "option=Ponder type check default false",
    "option=Style type combo default Normal var Solid var Risky",
    "option=Clear Hash type button",
    "option=SyzygyPath type string default <empty>",
]


def test_options_are_set_whatever_their_case(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    settings = r"hash=64,skill level=3,Ponder=true,STYLE=Risky,Clear Hash=,SyzygyPath=/a\:/b c"
    evaluated(fake("uci", *OPTIONS, f"log={log}", settings=settings), WHITE)
    assert log.read_text().splitlines()[1:7] == [
        "setoption name Hash value 64",
        "setoption name Skill Level value 3",
        "setoption name Ponder value true",
        "setoption name Style value Risky",
        "setoption name Clear Hash",
        "setoption name SyzygyPath value /a:/b c",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("Hsh=64", "no option 'Hsh'; did you mean Hash?"),
        ("Threads=2", "no option 'Threads'; Hash, Skill Level"),
        ("Hash=much", "Hash is a whole number, not 'much'"),
        ("Hash=0", "Hash is from 1 to 1024, not '0'"),
        ("Ponder=yes", "Ponder is true or false"),
        ("Style=risky", "Style is Risky, perhaps?"),
        ("Style=xyz", "Style is one of Solid, Risky"),
    ],
)
def test_the_error_about_a_wrong_option_names_the_right_one(settings: str, message: str) -> None:
    error = refusal_of(fake("uci", *OPTIONS, settings=settings))
    assert error.reason == "option"
    assert message in str(error)


def test_an_engine_of_another_protocol_is_detected() -> None:
    with pytest.raises(EngineError, match="seems to speak GTP"):
        asyncio.run(start_engine(fake("gtp").replace("gtp:", "uci:", 1)))
    with pytest.raises(EngineError, match="does not answer within"):
        asyncio.run(
            start_engine(fake("uci", settings=f"timeout={QUICK_S}").replace("uci:", "usi:", 1))
        )


def test_names_come_from_the_engine() -> None:
    async def run() -> tuple[str, dict[str, Any]]:
        engine = await start_engine(fake("uci", *OPTIONS))
        assert isinstance(engine, UciEngine)
        await engine.new_game()
        await engine.close()
        return engine.name, engine.options

    name, options = asyncio.run(run())
    assert name == "Fake 1.0"
    assert len(options) == len(OPTIONS)


def test_a_slow_answer_is_an_answer() -> None:
    [found] = evaluated(fake("uci", "slow=0.3", "say=info depth 1 score cp 5"), WHITE)
    assert found.score == 5.0
    assert found.time_s >= 0.3


def test_the_time_limit_is_added_to_the_watchdogs_patience() -> None:
    async def run() -> str | None:
        engine = await start_engine(fake("uci", "slow=0.5", settings="time=60"))
        engine.spec = replace(engine.spec, timeout_s=0.1)
        try:
            return (await engine.evaluate(WHITE)).best
        finally:
            await engine.close()

    assert asyncio.run(run()) == "a2a3"


# USI

SENTE = EnginePosition("shogi")
GOTE = EnginePosition("shogi", moves=["7g7f"])


def test_usi_scores_are_turned_to_blacks_view() -> None:
    line = "info depth 4 score cp 123 nodes 99 pv 7g7f"
    sente, gote = evaluated(says(line, protocol="usi"), SENTE, GOTE)
    assert (sente.score, sente.unit, sente.best) == (123.0, "centipawns", "9g9f")
    assert (gote.score, gote.nodes, gote.best) == (-123.0, 99, "9c9d")


@pytest.mark.parametrize(
    ("said", "mate"), [("+", UNKNOWN_MATE), ("-", -UNKNOWN_MATE), ("7", 7), ("+7", 7), ("-4", -4)]
)
def test_usi_mates_may_be_of_unknown_length(said: str, mate: int) -> None:
    sente, gote = evaluated(says(f"info score mate {said} pv 7g7f", protocol="usi"), SENTE, GOTE)
    assert (sente.mate, gote.mate) == (mate, -mate)


def test_usi_sends_an_sfen_and_byoyomi(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    handicap = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    [found] = evaluated(
        fake("usi", f"log={log}", "say=info score cp 50", settings="time=0.5,nodes=9"),
        EnginePosition("shogi", start=f"{handicap} declaration", moves=["1c1d", "1g1f"]),
    )
    assert found.score == -50.0
    assert f"position sfen {handicap} moves 1c1d 1g1f\n" in log.read_text()
    assert "go nodes 9 btime 0 wtime 0 byoyomi 500\n" in log.read_text()


@pytest.mark.parametrize("word", ["resign", "win"])
def test_usi_engines_may_resign_or_declare(word: str) -> None:
    [found] = evaluated(fake("usi", f"best={word}", "say=info score cp -5000"), SENTE)
    assert (found.best, found.score) == (word, -5000.0)


def test_a_shogi_mate_on_the_board_is_known() -> None:
    mated = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"
    [found] = evaluated(fake("usi", "crash=1"), EnginePosition("shogi", start=mated))
    assert (found.value, found.mate, found.best) == (1.0, 1, None)
