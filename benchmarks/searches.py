# SPDX-License-Identifier: Apache-2.0
"""The searches' figures in one run; best of some rounds on an idle machine.

    python benchmarks/searches.py [uct|threads|memory|ab|tables|mate|othello|wac ...]

Parts that need the suites of `../shared/data` are left out where these are not there.
"""

import argparse
import os
import random
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

import hyoka as hk
from hyoka.games import Game, name_of
from hyoka.records.problems import ProblemSet, read_problems
from hyoka.search import Searcher

DATA = Path(__file__).parents[2] / "shared" / "data"
Row = tuple[str, str]


def best_rate(
    run: Callable[[], float], rounds: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The greatest units a second of some runs, each of which tells how many it did."""
    best = 0.0
    for _ in range(rounds):
        start = clock()
        units = run()
        best = max(best, units / (clock() - start))
    return best


def tree_rate(game: Game, playouts: int, **settings: object) -> float:
    """Simulations a second."""
    spec = hk.search.uct(preset="paper", playouts=playouts, memory=2000, **settings)
    searcher = Searcher(spec, name_of(game))

    def run() -> float:
        searcher.clear()
        return searcher.search(game).playouts

    return best_rate(run)


def raw_playouts(game: Game) -> float:
    return len(hk.playouts(game, 2000, seed=1))


def uct() -> Iterator[Row]:
    game = hk.Go9(komi=6.5)
    raw = best_rate(lambda: len(hk.playouts(game, 100_000, seed=1)))
    rate = tree_rate(game, 100_000)
    yield "UCT, Go 9×9 from the start", f"{rate:,.0f}/s, {rate / raw:.2f} × raw"
    for other in (hk.Othello(), hk.Chess(), hk.Shogi(), hk.BlokusDuo(), hk.Go19()):
        raw = best_rate(partial(raw_playouts, other))
        rate = tree_rate(other, 5000)
        yield f"UCT, {name_of(other)}", f"{rate:,.0f}/s, {rate / raw:.2f} × raw"
    rated = {"policy": "strengths", "widening": True, "killer": True, "history": True}
    rate = tree_rate(hk.Shogi(), 2000, mate=100, **rated)
    yield "UCT, shogi, all of Sato 2010", f"{rate:,.0f}/s"


def threads() -> Iterator[Row]:
    game = hk.Go9(komi=6.5)
    one, two = 0.0, 0.0
    for _ in range(3):  # turn and turn about, so that both meet the same noise
        one = max(one, tree_rate(game, 100_000))
        two = max(two, tree_rate(game, 200_000, threads=2))
    yield f"two threads ({os.cpu_count()} cores)", f"{two / one:.2f} × one thread"


def memory() -> Iterator[Row]:
    searcher = Searcher(hk.search.uct(preset="paper", playouts=50_000, memory=2000), "go9")
    result = searcher.search(hk.Go9())
    children = len(searcher.tree(with_unvisited=True)["visits"])
    size = result.details["memory_bytes"] / children
    yield "memory a child, visited or not", f"{size:.1f} bytes"


def ab() -> Iterator[Row]:
    chess = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 10",
        "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8",
        "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 11",
        "3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22",
    ]
    shogi = [
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
        "ln1gk2nl/1rs3gb1/p1pppsppp/1p3p3/9/2P1P2P1/PPSP1PP1P/1B3S1R1/LN1GKG1NL b - 13",
        "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
    ]
    for name, positions in (("chess", chess), ("shogi", shogi)):

        def run(name: str = name, positions: list[str] = positions) -> float:
            searcher = Searcher("ab:nodes=1000000,hash=64", name)
            return sum(searcher.search(hk.position(name, text)).nodes for text in positions)

        yield f"alpha-beta, {name}", f"{best_rate(run) / 1e6:.2f} M nodes/s"


def suite(archive: str, member: str) -> ProblemSet:
    """A problem set out of an archive of the data."""
    with zipfile.ZipFile(DATA / archive) as zipped:
        names = [name for name in zipped.namelist() if Path(name).name == member]
        return read_problems(zipped.read(names[0]), source=member)


def mate() -> Iterator[Row]:
    nodes = seconds = solved = total = 0.0
    for plies in (3, 5, 7, 9, 11):
        problems = suite("shogi/mate_and_nextmove.zip", f"mate{plies}.sfen").problems
        found = 0
        for problem in problems:
            result = hk.find_mate(problem.to_solve(), nodes=1_000_000)
            nodes += result.nodes
            seconds += result.time_s
            found += result.verdict == "mate"
        solved, total = solved + found, total + len(problems)
        yield f"df-pn, mate in {plies}", f"{found} of {len(problems)} within 1 M nodes"
    yield (
        "df-pn in all",
        f"{solved / total:.1%}, {nodes / seconds / 1e6:.2f} M nodes/s",
    )


def othello() -> Iterator[Row]:
    problems = suite("othello/endgame_suites.zip", "fforum-1-19.obf").problems
    nodes = seconds = right = 0.0
    for problem in problems:
        result = hk.solve_ending(problem.to_solve(), hash_mib=256)
        nodes, seconds = nodes + result.nodes, seconds + result.time_s
        best = (
            max(problem.scores.values())
            if problem.to_solve().to_play is hk.Player.first
            else (min(problem.scores.values()))
        )
        right += result.score == best
    yield (
        "Othello, FFO 1–19 (those here)",
        f"{right:.0f} of {len(problems)} right in {seconds:.1f} s, {nodes / seconds / 1e6:.1f} M/s",
    )


def tables() -> Iterator[Row]:
    """Small searches that begin with an empty table, by processor time: what `evaluate` does."""
    for name in ("chess", "othello", "shogi"):
        rng = random.Random(1)
        games: list[hk.games.Position] = []
        game = hk.position(name)
        while len(games) < 40 and game.outcome is None:
            games.append(game)
            game = game.play(rng.choice(list(game.legal_moves)))
        for spec in ("ab:nodes=1000", "ab:nodes=1000,hash=1", "ab:depth=2"):
            searcher = Searcher(spec, name)

            def run(searcher: Searcher = searcher, games: list[hk.games.Position] = games) -> float:
                for each in games:
                    searcher.clear()
                    searcher.search(each)
                return len(games)

            rate = best_rate(run, clock=time.process_time)
            yield f"{spec}, {name}, cleared each time", f"{rate:,.0f} positions/s"
    ending = hk.Othello.from_text("X" * 58 + "O-----" + " X")

    def solve() -> float:
        for _ in range(100):
            hk.solve_ending(ending)
        return 100

    rate = best_rate(solve, clock=time.process_time)
    yield "solve_ending, five empty squares", f"{rate:,.0f} positions/s"


def wac() -> Iterator[Row]:
    problems = suite("chess/epd_suites.zip", "wac.epd").problems
    solved = 0
    for problem in problems:
        result = Searcher("ab:time=1,hash=64", "chess").search(problem.to_solve())
        solved += str(result.best) in problem.best
    yield (
        "WAC, 1 s a position",
        f"{solved} of {len(problems)} ({solved / len(problems):.0%})",
    )


PARTS = {f.__name__: f for f in (uct, threads, memory, ab, tables, mate, othello, wac)}
NEED_DATA = {"mate", "othello", "wac"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all by default")
    console = Console()
    table = Table("what", "measured")
    for name in parser.parse_args().parts or PARTS:
        if name in NEED_DATA and not DATA.is_dir():
            console.print(f"{name}: left out, no {DATA}")
            continue
        for row in PARTS[name]():
            table.add_row(*row)
            console.print("  ".join(row))
    console.print(table)


if __name__ == "__main__":
    main()
