# SPDX-License-Identifier: Apache-2.0
"""How much of an engine's speed our client leaves, in one run: Stockfish asked for a single node.

Three ways to ask for the same positions of random games, taking turns so that all meet the same
noise: a bare pipe that sends ready-made strings and reads until `bestmove`, `Engine`, and
python-chess's SimpleEngine; medians over the rounds. On a busy machine, where the engine and its
client share a core, the pipe gains: it does nothing with the answers.
"""

import argparse
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

import hyoka as hk
from hyoka.engines import Engine, EnginePosition, EngineSpec
from hyoka.games.evaluation import Evaluation

SPEC = EngineSpec.from_text("uci:nodes=1:stockfish")


def random_positions(count: int, seed: int = 1) -> list[EnginePosition]:
    """Unfinished positions of random games of up to 80 plies, each with the moves before it."""
    rng = random.Random(seed)
    positions: list[EnginePosition] = []
    while len(positions) < count:
        game, moves = hk.Chess(), list[str]()
        while game.outcome is None and len(moves) < 80 and len(positions) < count:
            positions.append(EnginePosition("chess", moves=tuple(moves)))
            move = rng.choice(game.legal_moves)
            moves.append(str(move))
            game = game.play(move)
    return positions


def bare_pipe(positions: Sequence[EnginePosition]) -> Callable[[], None]:
    requests = [
        f"position startpos moves {' '.join(position.moves)}\ngo nodes 1\n".encode()
        for position in positions
    ]
    command = SPEC.program()

    def run() -> None:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for text, answer in (
                (b"uci\n", b"uciok"),
                (b"setoption name UCI_ShowWDL value true\nisready\n", b"readyok"),
            ):
                process.stdin.write(text)
                process.stdin.flush()
                while not process.stdout.readline().startswith(answer):
                    pass
            start()
            for request in requests:
                process.stdin.write(request)
                process.stdin.flush()
                while not process.stdout.readline().startswith(b"bestmove"):
                    pass
            stop()
            process.stdin.write(b"quit\n")

    return run


def our_session(positions: Sequence[EnginePosition]) -> Callable[[], None]:
    def run() -> None:
        with Engine(SPEC) as session:
            start()
            results = session.evaluate_many(positions)
            stop()
        assert all(isinstance(result, Evaluation) for result in results)

    return run


def python_chess(positions: Sequence[EnginePosition]) -> Callable[[], None]:
    import chess.engine  # noqa: PLC0415

    boards = []
    for position in positions:
        board = chess.Board()
        for move in position.moves:
            board.push_uci(move)
        boards.append(board)

    def run() -> None:
        with chess.engine.SimpleEngine.popen_uci(SPEC.program()) as engine:
            engine.configure({"UCI_ShowWDL": True})
            limit = chess.engine.Limit(nodes=1)
            start()
            for board in boards:
                engine.analyse(board, limit)
            stop()

    return run


_clock = {"start": 0.0, "seconds": 0.0}


def start() -> None:
    _clock["start"] = time.perf_counter()


def stop() -> None:
    _clock["seconds"] = time.perf_counter() - _clock["start"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    positions = random_positions(arguments.positions)
    ways = {
        "bare pipe": bare_pipe(positions),
        "hyoka Engine": our_session(positions),
        "python-chess SimpleEngine": python_chess(positions),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, run in ways.items():
            run()
            rates[name].append(len(positions) / _clock["seconds"])
    ours = rates["hyoka Engine"]
    table = Table("way", "positions a second", "our speedup", box=None)
    for column in (1, 2):
        table.columns[column].justify = "right"
    for name, measured in rates.items():
        # Ratios of the same round: what else the machine does then has met both sides.
        ratio = statistics.median(a / b for a, b in zip(ours, measured, strict=True))
        table.add_row(name, f"{statistics.median(measured):,.0f}", f"{ratio:.2f}")
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
