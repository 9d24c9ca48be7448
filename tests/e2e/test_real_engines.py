# SPDX-License-Identifier: Apache-2.0
"""Debian's engines, where they are installed."""

import random
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.arena import export_match, plan_match, play_match
from hyoka.arena.solve import solve
from hyoka.engines import Engine, EnginePosition, EngineSpec, Failure, Limits, check_engine
from hyoka.foundation.errors import EngineError
from hyoka.games import game_facts
from hyoka.games.evaluation import Evaluation
from hyoka.records.problems.reading import read_suites

Sessions = Callable[[str], Engine]


@pytest.fixture
def session() -> Sessions:
    """An engine's session by its text; a test whose engine is missing skips."""

    def open_session(text: str) -> Engine:
        try:
            EngineSpec.from_text(text).program()
        except EngineError as error:
            pytest.skip(str(error))
        return Engine(text)

    return open_session


def random_line(game: str, plies: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    position, moves = hk.position(game), list[str]()
    while position.outcome is None and len(moves) < plies:
        # Passing for fun ends a game of Go before it has begun.
        legal = [move for move in position.legal_moves if str(move) != "pass"]
        move = rng.choice(legal or position.legal_moves)
        moves.append(str(move))
        position = position.play(move)
    return moves


def evaluations(session: Engine, positions: list[EnginePosition]) -> list[Evaluation]:
    results = session.evaluate_many(positions)
    assert all(isinstance(result, Evaluation) for result in results), results
    return [result for result in results if isinstance(result, Evaluation)]


@pytest.mark.parametrize("game", ["go9", "go19"])
def test_gnu_go_estimates_scores(session: Sessions, game: str) -> None:
    size = game_facts(game).size
    wall = "/".join(["X" * size if row == size // 2 else str(size) for row in range(size)])
    black_wall = f"{wall} w - 0 0.5"
    white_wall = f"{wall.replace('X', 'O')} b - 0 0.5"
    moves = random_line(game, 20, seed=1)
    with session("gtp:level=0:gnugo --mode gtp") as engine:
        walls = [EnginePosition(game, start=text) for text in (black_wall, white_wall)]
        black, white = evaluations(engine, walls)
        assert black.score is not None
        assert white.score is not None
        assert black.score > 10
        assert white.score < -10
        assert black.unit == "points"
        played = [EnginePosition(game, moves=moves[:n], komi=6.5) for n in range(21)]
        assert all(found.score is not None for found in evaluations(engine, played))
        best = engine.best_move(played[20])
        assert best is not None
        assert played[20].replay().last.is_legal(best)


def test_gnu_go_takes_komi_from_the_position(session: Sessions) -> None:
    with session("gtp:level=0:gnugo --mode gtp") as engine:
        scores = [
            found.score or 0.0
            for found in evaluations(
                engine, [EnginePosition("go9", moves=["E5"], komi=komi) for komi in (0.5, 20.5)]
            )
        ]
    assert scores[0] - scores[1] == pytest.approx(20)


def test_stockfish_tells_wins_draws_and_losses(session: Sessions) -> None:
    queen_up = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR {} KQkq - 0 1"
    with session("uci:nodes=2000,Threads=1:stockfish") as engine:
        for side in "wb":
            position = EnginePosition("chess", start=queen_up.format(side))
            [found] = evaluations(engine, [position])
            assert found.value is not None
            assert found.win is not None
            assert found.draw is not None
            assert found.loss is not None
            assert found.win + found.draw + found.loss == pytest.approx(1)
            assert found.value > 0.9
            assert (found.score or 0) > 300
            assert found.unit == "centipawns"


def test_stockfish_finds_mates_for_both_sides(session: Sessions) -> None:
    mate_in_two = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
    mirrored = "1r4k1/r7/8/8/8/8/8/7K b - - 0 1"
    with session("uci:depth=8:stockfish") as engine:
        white, black = evaluations(
            engine, [EnginePosition("chess", start=text) for text in (mate_in_two, mirrored)]
        )
    assert (white.mate, white.score, black.mate) == (2, None, -2)
    assert white.value == 1.0
    assert black.value == 0.0


def test_stockfish_evaluates_whole_games_quickly_and_again_the_same(session: Sessions) -> None:
    moves = random_line("chess", 120, seed=2)
    positions = [EnginePosition("chess", moves=moves[:ply]) for ply in range(len(moves) + 1)]
    with session("uci:nodes=1,fresh=true:stockfish") as engine:
        once, again = evaluations(engine, positions), evaluations(engine, positions)
        assert engine.restarts == 0
    for one, other in zip(once, again, strict=True):
        assert (one.score, one.mate, one.best) == (other.score, other.mate, other.best)


def test_stockfish_reports_the_variations_that_python_chess_reads(session: Sessions) -> None:
    import chess.engine  # noqa: PLC0415 - only where Stockfish is installed

    limits, moves = Limits(nodes=20_000), random_line("chess", 9, 4)
    with session("uci:Threads=1:stockfish") as ours:
        *_, last = ours.analyze(EnginePosition("chess", moves=moves), limits, lines=3)
        began = ours.analyze(EnginePosition("chess"), Limits(time_s=30))
        next(began)
        began.close()  # at once, not after half a minute
        assert isinstance(ours.evaluate(EnginePosition("chess"), Limits(nodes=100)), Evaluation)
        command = ours.spec.program()
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    with chess.engine.SimpleEngine.popen_uci(list(command)) as theirs:
        options = {"Threads": 1, "UCI_ShowWDL": True}
        theirs.configure({name: value for name, value in options.items() if name in theirs.options})
        reports = theirs.analysis(board, chess.engine.Limit(nodes=20_000), multipv=3)
        depth = last[0].evaluation.depth
        of_depth = {
            info["multipv"]: info
            for info in reports
            if info.get("depth") == depth and "pv" in info and "lowerbound" not in info
        }
    assert sorted(of_depth) == [1, 2, 3]
    for number, info in of_depth.items():
        line = last[number - 1]
        assert line.evaluation.score == info["score"].white().score()
        assert line.moves[:3] == tuple(move.uci() for move in info["pv"][:3])


def test_stockfish_castles_in_chess960(session: Sessions) -> None:
    start = "4k3/8/8/8/8/8/8/RK5R w KQ - 0 1"
    with session("uci:nodes=500:stockfish") as engine:
        found = evaluations(
            engine,
            [
                EnginePosition("chess", start=start),
                EnginePosition("chess", start=start, moves=["b1h1"]),
                EnginePosition("chess", moves=["e2e4"]),
            ],
        )
    for won in found[:2]:
        assert won.value is not None
        assert won.value > 0.9
    assert abs(found[2].score or 0) < 200


def test_fairy_stockfish_plays_shogi_over_usi(session: Sessions) -> None:
    rook_up = "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {} - 1"
    mate_in_one = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
    moves = random_line("shogi", 40, seed=3)
    with session("usi:nodes=500,UCI_Variant=shogi:fairy-stockfish") as engine:
        first, second, mate, *rest = evaluations(
            engine,
            [
                EnginePosition("shogi", start=rook_up.format("b")),
                EnginePosition("shogi", start=rook_up.format("w")),
                EnginePosition("shogi", start=mate_in_one),
                *(EnginePosition("shogi", moves=moves[:ply]) for ply in range(41)),
            ],
        )
    assert (first.score or 0) > 100
    assert (second.score or 0) > 100
    assert (mate.mate, mate.best) == (1, "G*5b")
    assert all(found.best is not None for found in rest)


def test_gps_shogi_scores_by_depth(session: Sessions) -> None:
    rook_up = "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {} R 1"
    mate_in_one = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"
    moves = random_line("shogi", 60, seed=3)
    positions = [
        EnginePosition("shogi", start=rook_up.format("b")),
        EnginePosition("shogi", start=rook_up.format("w")),
        *(EnginePosition("shogi", moves=moves[:ply]) for ply in range(0, 61, 6)),
    ]
    with session("usi:depth=1:gpsusi") as engine:
        for limits in (Limits(nodes=1), Limits(time_s=0.1)):
            refused = engine.evaluate_many(positions[:1], limits)
            assert [found.reason for found in refused if isinstance(found, Failure)] == ["limit"]
        once, again = evaluations(engine, positions), evaluations(engine, positions)
        [mate] = evaluations(engine, [EnginePosition("shogi", start=mate_in_one)])
        assert engine.restarts == 0
    assert [found.score for found in once] == [found.score for found in again]
    assert all(found.depth == 1 and found.best is not None for found in once)
    assert min(found.score or 0 for found in once[:2]) > 500
    assert (mate.score or 0) > 20_000
    assert mate.best == "G*5b"


def test_grhino_gives_moves_through_passes(session: Sessions) -> None:
    with session("gtp:gtp-rhino --level=1") as engine:
        for seed in range(3):
            moves = random_line("othello", 60, seed)
            positions = [EnginePosition("othello", moves=moves[:ply]) for ply in range(0, 60, 3)]
            for found in evaluations(engine, positions):
                assert found.best is not None or found.value is not None
        assert engine.restarts == 0


@pytest.mark.parametrize(
    ("command", "protocol"),
    [
        ("stockfish", "uci"),
        ("toga2", "uci"),
        ("glaurung", "uci"),
        ("gnuchess --uci", "uci"),
        ("gnugo --mode gtp --level 0", "gtp"),
        ("gtp-rhino --level=1", "gtp"),
    ],
)
def test_debians_engines_keep_to_their_protocols(
    session: Sessions, command: str, protocol: str
) -> None:
    session(f"{protocol}:{command}")
    report = check_engine(command)
    assert report.passed, report
    assert report.spec.protocol == protocol


def test_gps_shogi_keeps_to_its_protocol(session: Sessions) -> None:
    # It reads large tables first, which may take longer than a command's protocol is guessed for.
    session("usi:gpsusi")
    report = check_engine("usi:gpsusi")
    assert report.passed, report


GNU_GO = "gtp:gnugo --mode gtp --level {} --chinese-rules --capture-all-dead --positional-superko"


@pytest.mark.parametrize(
    ("game", "players"),
    [
        ("go9", [GNU_GO.format(1), GNU_GO.format(0)]),
        ("go9", ["uct:playouts=100", GNU_GO.format(0)]),
        ("chess", ["uci:nodes=100:stockfish", "uci:nodes=10:stockfish"]),
        ("chess", ["uci:stockfish@1+0.01", "ab:nodes=500"]),
        ("shogi", ["usi:nodes=200,UCI_Variant=shogi:fairy-stockfish", "ab:nodes=500"]),
        ("othello", ["gtp:gtp-rhino --level=1", "ab:nodes=500"]),
    ],
    ids=[
        "GNU Go",
        "GNU Go v ours",
        "Stockfish",
        "by the clock",
        "Fairy-Stockfish",
        "GRhino",
    ],
)
def test_debians_engines_play_matches_without_a_fault(
    game: str, players: list[str], tmp_path: Path
) -> None:
    # A busy machine is no fault of theirs.
    plan = plan_match(*players, game=game, seed=1, margin_s=1000, max_plies=300)
    for player in plan.players:
        if isinstance(player.spec, EngineSpec):
            try:
                player.spec.program()
            except EngineError as error:
                pytest.skip(str(error))
    result = play_match(plan, tmp_path, games=2, jobs=2)
    assert [game.fault for game in result.games] == ["", ""]
    assert result.standing.faults == {}
    assert result.finished
    assert {game.record.ending for game in result.games} <= {"normal", "resigned", "adjudicated"}
    one, other = sorted(result.games, key=lambda game: game.pairing.number)
    assert (one.record.first, one.record.second) == (other.record.second, other.record.first)
    book = [remark for remark in one.record.remarks if remark.book]
    assert one.record.move_texts()[: len(book)] == other.record.move_texts()[: len(book)]
    records = list(hk.read_records(export_match(tmp_path, result.games)[2]))
    assert [record.move_texts() for record in records] == [
        one.record.move_texts(),
        other.record.move_texts(),
    ]


def natively(folder: Path, name: str) -> list[bool]:
    """Which tests of a file GNU Go passes if it is given the whole file, as its authors do."""
    commands: list[str] = []
    tests: list[tuple[int, str]] = []
    for line in (folder / name).read_text(encoding="latin-1").splitlines():
        if line.startswith("#?"):
            tests.append((len(commands) - 1, line[2:].strip().rstrip("*").strip("[]")))
        elif command := line.partition("#")[0].strip():
            commands.append(re.sub(r"^[0-9]+\s+", "", command))
    dialogue = "\n".join([*commands, "quit", ""])
    program = EngineSpec.from_text(GNU_GO).program()
    run = subprocess.run(
        program, input=dialogue, capture_output=True, text=True, cwd=folder, check=True
    )
    answers = [answer.strip() for answer in run.stdout.split("\n\n")]
    passed = []
    for at, pattern in tests:
        prefix, space, points = pattern.rpartition(" ")
        listed = "(" not in pattern and "|" in points
        wanted = f"{prefix}{space}({points})" if listed else pattern
        passed.append(re.fullmatch(wanted, answers[at][1:].strip()) is not None)
    return passed


GNU_GO = "gtp:gnugo --mode gtp --level 1"


def test_gnu_go_solves_its_own_tests_through_us_as_it_does_alone(
    session: Sessions, shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    session(GNU_GO)
    path = shared_data("go_tactics/gnugo_regression.zip")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    [suite] = read_suites([f"{path}:reading.tst"])
    report = solve(suite.tests, GNU_GO)
    assert not report.skipped
    assert [verdict.solved for verdict in report.verdicts] == natively(tmp_path, "reading.tst")


@pytest.mark.parametrize("text", ["cecp:depth=4:fairy-stockfish", "cecp:time=1:gnuchess -x"])
def test_chess_engines_evaluate_over_cecp(text: str, session: Sessions) -> None:
    mate = EnginePosition("chess", start="6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")
    opening = EnginePosition("chess", moves=random_line("chess", 6, seed=1))
    with session(text) as engine:
        found, other = evaluations(engine, [mate, opening])
    assert found.best == "a1a8"
    assert found.mate == 1 or (found.score or 0) > 5000
    assert other.score is not None


def test_shogi_engines_move_over_cecp_of_both_versions(session: Sessions) -> None:
    line = random_line("shogi", 30, seed=4)
    positions = [EnginePosition("shogi", moves=line[:ply]) for ply in (1, 2, 30)]
    for text in ("cecp:time=1:gnushogi", "cecp:depth=2:fairy-stockfish"):
        with session(text) as engine:
            for position, found in zip(positions, evaluations(engine, positions), strict=True):
                assert position.replay().last.is_legal(found.best)
