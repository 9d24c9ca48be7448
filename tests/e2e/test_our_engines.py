# SPDX-License-Identifier: Apache-2.0
"""Our searches as engines, driven by other people's clients and by ours, as real processes."""

import contextlib
import os
import random
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import chess
import chess.engine
import cshogi
import cshogi.usi
import pytest

import hyoka as hk
from hyoka.engines import Engine, EnginePosition, EngineSpec, check_engine
from hyoka.foundation.errors import EngineError
from hyoka.games import game_facts
from hyoka.games.evaluation import Evaluation

from .commands import hyoka_here

PATIENCE_S = 120.0
"""Forever, on any machine."""
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"


def command(protocol: str, *words: str) -> list[str]:
    return [sys.executable, "-m", "hyoka", "engine", protocol, *words]


def spec(protocol: str, *words: str, settings: str = "") -> str:
    return f"{protocol}:{settings}:{shlex.join(command(protocol, *words))}"


# UCI, by python-chess


@contextlib.contextmanager
def uci(search: str) -> Iterator[chess.engine.SimpleEngine]:
    words = command("uci", "--search", search)
    with chess.engine.SimpleEngine.popen_uci(words, timeout=PATIENCE_S) as engine:
        yield engine


@pytest.fixture(scope="module")
def ab() -> Iterator[chess.engine.SimpleEngine]:
    """One process for all that is asked of alpha-beta."""
    with uci("ab") as engine:
        yield engine


def moved(result: chess.engine.PlayResult, board: chess.Board) -> chess.Move:
    """The move of a result, if it is legal."""
    assert result.move is not None
    assert result.move in board.legal_moves
    return result.move


def test_python_chess_shakes_hands_and_sees_our_options() -> None:
    with uci("ab:nodes=100") as engine:
        assert engine.id["name"].startswith("Hyoka")
        assert engine.options["Hash"].type == "spin"
        assert engine.options["UCI_Chess960"].type == "check"
        assert engine.options["nodes"].default == 100
        engine.configure({"Hash": 1, "nodes": 50})
        engine.ping()


@pytest.mark.parametrize("search", ["ab", "uct", "mc"])
def test_python_chess_analyses_with_every_search(search: str) -> None:
    limit = chess.engine.Limit(nodes=500)
    with uci(search) as engine:
        info = engine.analyse(chess.Board(), limit)
        assert info["pv"]
        assert info["score"].white() is not None
        assert info["nodes"] > 0
        board = chess.Board(MATE_IN_ONE)
        assert moved(engine.play(board, chess.engine.Limit(nodes=2000)), board)


def test_python_chess_sees_mates_for_both_sides(ab: chess.engine.SimpleEngine) -> None:
    for fen, mate in ((MATE_IN_ONE, 1), ("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", -1)):
        info = ab.analyse(chess.Board(fen), chess.engine.Limit(depth=3))
        assert info["score"].white() == chess.engine.Mate(mate)


def test_python_chess_gets_several_variations(ab: chess.engine.SimpleEngine) -> None:
    infos = ab.analyse(chess.Board(), chess.engine.Limit(nodes=2000), multipv=3)
    assert [info["multipv"] for info in infos] == [1, 2, 3]
    assert len({info["pv"][0] for info in infos}) == 3


def test_python_chess_plays_a_game_with_clocks_and_pondering() -> None:
    limit = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.02, black_inc=0.02)
    board = chess.Board()
    with uci("ab") as engine:
        for _ in range(16):
            if board.is_game_over():
                break
            board.push(moved(engine.play(board, limit, ponder=True, game=1), board))


def test_python_chess_stops_an_endless_analysis() -> None:
    with uci("uct") as engine, engine.analysis(chess.Board()) as analysis:
        for info in analysis:
            if "pv" in info:
                break
        analysis.stop()
        best = analysis.wait().move
        assert best is not None
        assert best in chess.Board().legal_moves


def test_python_chess_limits_the_moves(ab: chess.engine.SimpleEngine) -> None:
    moves = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    result = ab.play(chess.Board(), chess.engine.Limit(nodes=500), root_moves=moves)
    assert result.move in moves


def test_python_chess_castles_in_chess960(ab: chess.engine.SimpleEngine) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/RK5R w HA - 0 1", chess960=True)
    while not board.is_game_over() and board.ply() < 8:
        board.push(moved(ab.play(board, chess.engine.Limit(nodes=500)), board))
    board = chess.Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", chess960=True)
    castling = [move for move in board.legal_moves if board.is_castling(move)]
    result = ab.play(board, chess.engine.Limit(nodes=500), root_moves=castling)
    assert result.move in castling


def test_a_whole_game_of_chess_is_legal_by_other_rules() -> None:
    rng = random.Random(5)
    board = chess.Board()
    with uci("ab:nodes=60") as engine:
        while not board.is_game_over(claim_draw=False) and board.ply() < 120:
            if board.turn:
                move = moved(engine.play(board, chess.engine.Limit(nodes=60)), board)
            else:
                move = rng.choice(list(board.legal_moves))
            board.push(move)


# USI, by cshogi


@pytest.fixture(scope="module")
def usi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A script, since this client starts a program without arguments."""
    script = tmp_path_factory.mktemp("usi") / "engine"
    script.write_text(f"#!/bin/sh\nexec {shlex.join(command('usi', '--search', 'ab:nodes=300'))}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    engine = cshogi.usi.Engine(str(script))
    process = engine.proc
    yield engine
    engine.quit()
    assert process.wait(PATIENCE_S) == 0
    assert process.stderr.read() == b""
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_cshogi_plays_a_game_with_us(usi: Any) -> None:
    assert usi.name.startswith("Hyoka")
    usi.setoption("USI_Hash", 1)
    usi.isready()
    usi.usinewgame()
    board, moves = cshogi.Board(), list[str]()
    while not board.is_game_over() and len(moves) < 40:
        usi.position(moves=moves)
        best, _ = usi.go(nodes=200)
        if best in ("resign", "win"):
            break
        move = board.move_from_usi(best)
        assert board.is_legal(move)
        board.push(move)
        moves.append(best)
    assert len(moves) > 10


def test_cshogi_reads_scores_and_variations(usi: Any) -> None:
    usi.isready()
    listener = cshogi.usi.InfoListener()
    usi.position(sfen="sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    best, _ = usi.go(byoyomi=300, listener=listener.listen())
    assert best == "G*5b"
    assert listener.score == 100_000
    usi.setoption("MultiPV", 3)
    several = cshogi.usi.MultiPVListener()
    usi.position()
    usi.go(nodes=2000, listener=several.listen())
    assert len({info["pv"][0] for info in several.info}) == 3
    usi.setoption("MultiPV", 1)


def test_cshogi_ponders(usi: Any) -> None:
    usi.isready()
    usi.position(moves=["7g7f", "3c3d"])
    usi.proc.stdin.write(b"go ponder btime 1000 wtime 1000 byoyomi 100\nponderhit\n")
    usi.proc.stdin.flush()
    line = b""
    while not line.startswith(b"bestmove"):
        line = usi.proc.stdout.readline()
        assert line


def test_cshogi_asks_for_mates(usi: Any) -> None:
    usi.isready()
    usi.position(sfen="sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    assert usi.go_mate(byoyomi=10_000).strip() == "G*5b"


# GTP, by pipes


class Gtp:
    """A GTP engine at the end of two pipes, and nothing more."""

    def __init__(self, words: list[str]) -> None:
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> "Gtp":
        return self

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.ask("quit")
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(PATIENCE_S) == 0

    def ask(self, line: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        lines = list[str]()
        while not lines or lines[-1].strip():
            lines.append(self._process.stdout.readline())
            assert lines[-1], f"no answer to {line}"
        answer = "".join(lines).strip()
        assert answer.startswith("="), f"{line}: {answer}"
        return answer[1:].strip()


def play_out(black: Gtp, white: Gtp, game: str, most_moves: int) -> Any:
    """Let two engines play; every move must be legal by the rules and for the other one."""
    line = hk.position(game).line()
    size = game_facts(game).size
    for engine in (black, white):
        for setting in (f"boardsize {size}", "clear_board", "komi 7.5"):
            engine.ask(setting)
    while line.outcome is None and len(line) < most_moves:
        mover, other = (black, white) if line.to_play is hk.Player.first else (white, black)
        color = "b" if line.to_play is hk.Player.first else "w"
        move = mover.ask(f"genmove {color}")
        if move.lower() == "resign":
            break
        assert line.is_legal(move), f"{move} in {line.text}"
        line = line.play(move)
        other.ask(f"play {color} {move}")
    return line


def test_we_play_go_against_ourselves_to_the_end() -> None:
    words = command("gtp", "--game", "go5", "--search", "uct:playouts=100")
    with Gtp(words) as black, Gtp(words) as white:
        line = play_out(black, white, "go5", 150)
        assert len(line) > 10
        assert re.fullmatch(r"[BW]\+[0-9.]+|0", black.ask("final_score"))
        assert black.ask("showboard").splitlines()[:5] == white.ask("showboard").splitlines()[:5]


def test_we_play_othello_against_ourselves_to_the_end() -> None:
    words = command("gtp", "--game", "othello", "--search", "uct:playouts=60")
    with Gtp(words) as black, Gtp(words) as white:
        line = play_out(black, white, "othello", 130)
        assert line.outcome is not None
        assert black.ask("final_score") == white.ask("final_score")


def test_we_play_gnu_go() -> None:
    try:
        [program, *_] = EngineSpec.from_text("gtp:gnugo").program()
    except EngineError as error:
        pytest.skip(str(error))
    ours = command("gtp", "--game", "go9", "--search", "uct:playouts=150")
    gnu = [program, "--mode", "gtp", "--level", "0", "--chinese-rules", "--positional-superko"]
    with Gtp(ours) as black, Gtp(gnu) as white:
        line = play_out(black, white, "go9", 160)
        assert len(line) > 10
        assert re.fullmatch(r"[BW]\+[0-9.]+|0", black.ask("final_score"))


def test_an_analysis_ends_when_the_next_command_comes() -> None:
    words = command("gtp", "--game", "go9", "--search", "uct")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("lz-analyze b 5\n")
        process.stdin.flush()
        assert process.stdout.readline() == "=\n"
        first = process.stdout.readline()
        assert re.match(r"info move \S+ visits \d+ winrate \d+ .*order 0 pv ", first)
        process.stdin.write("quit\n")
        process.stdin.flush()
        assert process.stdout.read().endswith("\n\n=\n\n")
        assert process.wait(PATIENCE_S) == 0


# Our own client


@pytest.mark.parametrize(
    ("text", "game", "start"),
    [
        (spec("uci", "--search", "ab:nodes=500"), "chess", MATE_IN_ONE),
        (spec("usi", "--search", "ab:nodes=500"), "shogi", "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"),
        (spec("uci", "--search", "uct:playouts=300"), "chess", MATE_IN_ONE),
    ],
)
def test_our_client_gets_evaluations_of_ours(text: str, game: str, start: str) -> None:
    rng = random.Random(3)
    positions = [EnginePosition(game, start)]
    line, moves = hk.position(game), list[str]()
    for _ in range(5):
        move = rng.choice(line.legal_moves)
        line, moves = line.play(move), [*moves, str(move)]
        positions.append(EnginePosition(game, moves=tuple(moves)))
    with Engine(text) as session:
        results = session.evaluate_many(positions)
        assert session.restarts == 0
    assert all(isinstance(result, Evaluation) for result in results), results
    mate = results[0]
    assert isinstance(mate, Evaluation)
    assert mate.best in ("a1a8", "G*5b")
    assert mate.mate == 1


def test_our_client_gets_win_rates_of_ours_in_go() -> None:
    wall = "/".join(["9", "9", "9", "9", "XXXXXXXXX", "9", "9", "9", "9"]) + " w - 0 0.5"
    with Engine(spec("gtp", "--search", "uct", settings="playouts=1000")) as session:
        [found] = session.evaluate_many([EnginePosition("go9", wall)])
        assert isinstance(found, Evaluation), found
        assert found.value is not None
        assert found.value > 0.6
        assert found.nodes


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("uci", ("--search", "ab:nodes=500")),
        ("usi", ("--search", "ab:nodes=500")),
        ("gtp", ("--search", "uct:playouts=100", "--game", "go9")),
        ("gtp", ("--search", "uct:playouts=50", "--game", "othello")),
    ],
)
def test_our_engines_keep_to_their_protocols(protocol: str, words: tuple[str, ...]) -> None:
    found = check_engine(spec(protocol, *words))
    assert found.passed, found
    assert found.name.startswith("Hyoka")
    slow = ("time of start", "evaluates")  # a busy machine; Othello's profile has no values
    warned = [each for each in found.checks if each.verdict != "pass" and each.name not in slow]
    assert not warned, found


# The command line


def hyoka(*words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hyoka", *words],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        timeout=PATIENCE_S,
        env=os.environ | {"COLUMNS": "200"},
        **settings,
    )


@pytest.mark.parametrize("protocol", ["gtp", "uci", "usi"])
def test_engines_end_with_their_input_and_leave_no_trace(protocol: str) -> None:
    for lines in ("quit\n", "\x00 \x7f é 将\ngo infinite\nlz-analyze\n"):
        result = hyoka("engine", protocol, input=lines)
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""


def test_bad_searches_and_games_give_one_clear_line() -> None:
    for words in (
        ("engine", "uci", "--search", "nonsense"),
        ("engine", "uci", "--search", "ab:dept=3"),
        ("engine", "uci", "--search", "exact"),
        ("engine", "gtp", "--game", "chess"),
        ("engine", "gtp", "--game", "chekers"),
    ):
        result = hyoka_here(*words)
        assert result.returncode == 2
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
