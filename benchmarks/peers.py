# SPDX-License-Identifier: Apache-2.0
"""Ours beside what else can be installed, in one run, as ratios: `make bench`.

One core; the best of some rounds, the two sides taking turns so that both meet the same noise.
A peer that is not installed is left out with a word.
"""

import argparse
import json
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import hyoka as hk
from hyoka.games import Game


@dataclass(frozen=True)
class Contest:
    """A job that both sides do; each side gives units of work a second."""

    what: str
    unit: str
    ours: Callable[[], float]
    peer_name: str
    peer: Callable[[], float]


class NotInstalledError(Exception):
    """The peer is not here."""


def timed(work: Callable[[], float]) -> float:
    """Units a second of `work`, which gives its units."""
    start = time.perf_counter()
    units = work()
    return units / (time.perf_counter() - start)


def our_playouts(game: Game, count: int) -> Callable[[], float]:
    return lambda: timed(lambda: len(hk.playouts(game, count, seed=random.getrandbits(32))))


def our_playout_moves(game: Game, count: int) -> Callable[[], float]:
    return lambda: timed(
        lambda: int(hk.playouts(game, count, seed=random.getrandbits(32)).lengths.sum())
    )


def our_perft(game: Game, depth: int) -> Callable[[], float]:
    return lambda: timed(lambda: game.perft(depth))


def open_spiel_playouts(name: str, count: int) -> Callable[[], float]:
    """C++ random rollouts: one simulation of its MCTS whose evaluator plays `count` of them."""

    def run() -> float:
        try:
            import pyspiel  # noqa: PLC0415
        except ImportError as error:
            raise NotInstalledError("open_spiel") from error
        game = pyspiel.load_game(name)
        evaluator = pyspiel.RandomRolloutEvaluator(count, random.getrandbits(31))
        bot = pyspiel.MCTSBot(game, evaluator, 1.4, 1, 100, False, 1, False)
        state = game.new_initial_state()
        return timed(lambda: bot.mcts_search(state) and count)

    return run


def cshogi_random_moves(seconds: float = 2.0) -> float:
    """Random games of at most 256 plies with cshogi driven from Python."""
    try:
        import cshogi  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError("cshogi") from error

    def run() -> float:
        moves = 0
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            board = cshogi.Board()
            for _ in range(256):
                legal = list(board.legal_moves)
                if not legal:
                    break
                board.push(random.choice(legal))
                moves += 1
        return moves

    return timed(run)


def engine_perft(command: str, opening: list[str], depth: int, nodes: int) -> Callable[[], float]:
    """Perft inside a UCI or USI engine, the time from the command to the answer."""

    def run() -> float:
        path = shutil.which(command, path="/usr/games") or shutil.which(command)
        if path is None:
            raise NotInstalledError(command)
        with subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        ) as engine:
            assert engine.stdin is not None
            assert engine.stdout is not None
            for line in opening:
                engine.stdin.write(line + "\n")
            engine.stdin.write("isready\n")
            engine.stdin.flush()
            for line in engine.stdout:
                if line.startswith("readyok"):
                    break

            def count() -> float:
                assert engine.stdin is not None
                assert engine.stdout is not None
                engine.stdin.write(f"go perft {depth}\n")
                engine.stdin.flush()
                for line in engine.stdout:
                    if line.startswith("Nodes searched"):
                        return int(line.split(":")[1])
                raise RuntimeError(f"{command} ended before it answered")

            start = time.perf_counter()
            counted = count()
            rate = counted / (time.perf_counter() - start)
            assert counted == nodes, f"{command} counted {counted}, not {nodes}"
            engine.stdin.write("quit\n")
            return rate

    return run


CONTESTS = [
    Contest(
        "Go 9×9 random playouts",
        "playouts/s",
        our_playouts(hk.Go9(komi=6.5), 60_000),
        "open_spiel",
        open_spiel_playouts("go(board_size=9,komi=6.5)", 4_000),
    ),
    Contest(
        "Go 19×19 random playouts",
        "playouts/s",
        our_playouts(hk.Go19(komi=6.5), 15_000),
        "open_spiel",
        open_spiel_playouts("go(board_size=19,komi=6.5)", 300),
    ),
    Contest(
        "Othello random playouts",
        "playouts/s",
        our_playouts(hk.Othello(), 200_000),
        "open_spiel",
        open_spiel_playouts("othello", 2_000),
    ),
    Contest(
        "chess random playouts, repetition included",
        "playouts/s",
        our_playouts(hk.Chess().line(), 10_000),
        "open_spiel",
        open_spiel_playouts("chess", 400),
    ),
    Contest(
        "shogi random moves in playouts",
        "moves/s",
        our_playout_moves(hk.Shogi(), 10_000),
        "cshogi from Python",
        cshogi_random_moves,
    ),
    Contest(
        "chess perft 6 from the start",
        "lines/s",
        our_perft(hk.Chess(), 6),
        "Stockfish",
        engine_perft("stockfish", ["uci", "position startpos"], 6, 119_060_324),
    ),
    Contest(
        "shogi perft 5 from the start",
        "lines/s",
        our_perft(hk.Shogi(), 5),
        "Fairy-Stockfish",
        engine_perft("fairy-stockfish", ["usi", "position startpos"], 5, 19_861_490),
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[tuple[Contest, float, float | None]] = []
    for contest in CONTESTS:
        ours = peer = 0.0
        try:
            for _ in range(options.rounds):
                ours = max(ours, contest.ours())
                peer = max(peer, contest.peer())
        except NotInstalledError as missing:
            rows.append((contest, ours, None))
            print(f"{contest.what}: {missing} is not installed")
            continue
        rows.append((contest, ours, peer))
    blokus = max(our_playouts(hk.BlokusDuo(), 20_000)() for _ in range(options.rounds))
    if options.json:
        print(
            json.dumps(
                [
                    {"what": c.what, "unit": c.unit, "ours": o, "peer": c.peer_name, "theirs": p}
                    for c, o, p in rows
                ]
                + [{"what": "Blokus Duo random playouts", "unit": "playouts/s", "ours": blokus}]
            )
        )
        return
    table = Table("what", "ours", "peer", "theirs", "ratio", box=None)
    for contest, ours, theirs in rows:
        table.add_row(
            contest.what,
            f"{ours:,.0f} {contest.unit}",
            contest.peer_name,
            "–" if theirs is None else f"{theirs:,.0f}",
            "–" if theirs is None else f"{ours / theirs:.1f}",
        )
    table.add_row("Blokus Duo random playouts", f"{blokus:,.0f} playouts/s", "–", "–", "–")
    Console().print(table)


if __name__ == "__main__":
    main()
