# SPDX-License-Identifier: Apache-2.0
"""How many games a second the arena plays: quick engines over pipes, and searches in process.

Other match runners that are installed (fastchess, cutechess-cli) play the same in turn.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hyoka.arena import Opening, plan_match, play_match
from hyoka.arena.openings import read_openings

ROUNDS = 3
ENGINE_GAMES = 400
SEARCH_GAMES = 400


def ours(*players: str, game: str, openings: list[Opening], games: int) -> tuple[float, float]:
    """Games a second, and plies a game."""
    plan = plan_match(*players, game=game, openings=openings)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        result = play_match(plan, folder, games=games, jobs=os.cpu_count() or 1)
        seconds = time.perf_counter() - began
        plies = sum(len(game.record) for game in result.games) / len(result.games)
    return result.standing.games / seconds, plies


def peer(name: str, openings: Path) -> float:
    """Games a second of another match runner with the same engine, openings and concurrency."""
    jobs = str(os.cpu_count() or 1)
    stockfish = shutil.which("stockfish", path=f"{os.environ['PATH']}:/usr/games")
    engines = [word for n in ("a", "b") for word in ("-engine", f"cmd={stockfish}", f"name={n}")]
    command = [name, *engines, "-each", "proto=uci", "tc=inf", "nodes=1"]
    command += ["-openings", f"file={openings}", "format=epd", "order=sequential"]
    command += ["-concurrency", jobs, "-rounds", str(ENGINE_GAMES // 2), "-games", "2", "-repeat"]
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        return ENGINE_GAMES / (time.perf_counter() - began)


def main() -> None:
    table = Table("match", "runner", "games a second", "plies a game", box=None)
    openings = read_openings("random:8", "chess")[: ENGINE_GAMES // 2]
    stockfish = shutil.which("stockfish", path=f"{os.environ['PATH']}:/usr/games")
    if stockfish:
        engine = f"uci:nodes=1:{stockfish}"
        runners = [name for name in ("fastchess", "cutechess-cli") if shutil.which(name)]
        with tempfile.TemporaryDirectory() as folder:
            epd = Path(folder) / "openings.epd"
            fens = (opening.line("chess", 0).position.text for opening in openings)
            epd.write_text("\n".join(fens) + "\n", encoding="utf-8")
            for _ in range(ROUNDS):
                rate, plies = ours(
                    f"a={engine}",
                    f"b={engine}",
                    game="chess",
                    openings=openings,
                    games=ENGINE_GAMES,
                )
                table.add_row("Stockfish, 1 node", "hyoka", f"{rate:.1f}", f"{plies:.0f}")
                for name in runners:
                    table.add_row("Stockfish, 1 node", name, f"{peer(name, epd):.1f}", "")
    for _ in range(ROUNDS):
        search = "uct:preset=paper,playouts=100"
        rate, plies = ours(
            f"a={search}",
            f"b={search}",
            game="othello",
            openings=read_openings("random:6", "othello"),
            games=SEARCH_GAMES,
        )
        table.add_row("Othello, UCT, 100 playouts", "hyoka", f"{rate:.0f}", f"{plies:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
