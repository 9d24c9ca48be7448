# SPDX-License-Identifier: Apache-2.0
"""How fast records are read, beside what else can be installed, in one run: `make bench`.

Needs the records in ../shared/data. One core: text already unpacked in memory, read in blocks of a
mebibyte as the files layer does, every move checked by the rules. Ours and the others take turns;
the best of some rounds counts. Others read a part of the file where all of it would take minutes.
The last table is `hyoka records info` end to end, threads and all, beside reading alone.
"""

import argparse
import io
import lzma
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import hyoka as hk
from hyoka import _core
from hyoka.records import batches

DATA = Path(__file__).parents[2] / "shared" / "data"
BLOCK = 1 << 20


class NotInstalledError(Exception):
    """The peer is not here."""


@dataclass(frozen=True)
class Job:
    """A reading job; each side gives units a second."""

    what: str
    unit: str
    ours: Callable[[], float]
    peers: dict[str, Callable[[], float]]


def timed(work: Callable[[], float]) -> float:
    start = time.perf_counter()
    units = work()
    return units / (time.perf_counter() - start)


def unpacked(name: str) -> bytes:
    with lzma.open(DATA / name) as file:
        return file.read()


def read_all(format: str, data: bytes, unit: str) -> float:
    """Games, moves or megabytes of everything in `data`."""
    reader = _core.Reader(format)
    games = moves = 0
    rest = b""
    for at in range(0, len(data), BLOCK):
        block = rest + data[at : at + BLOCK]
        taken, table = reader.read(block, at + BLOCK >= len(data))
        rest = block[taken:]
        games += len(table)
        moves += len(table.moves)
    return {"games/s": games, "moves/s": moves, "MB/s": len(data) / 1e6}[unit]


def wthor_games() -> float:
    games = 0
    with zipfile.ZipFile(DATA / "othello/wthor_1977-2020.zip") as archive:
        files = [archive.read(name) for name in archive.namelist() if name.lower().endswith(".wtb")]
    start = time.perf_counter()
    for data in files:
        _, table = _core.Reader("wthor").read(data, True)
        games += len(table)
    return games / (time.perf_counter() - start)


def python_chess_games(data: bytes, count: int = 400) -> float:
    import chess.pgn  # noqa: PLC0415

    stream = io.StringIO(data[: 4 << 20].decode())
    return timed(lambda: sum(chess.pgn.read_game(stream) is not None for _ in range(count)))


def pgn_extract_games(path: Path, games: int) -> float:
    program = shutil.which("pgn-extract", path="/usr/games") or shutil.which("pgn-extract")
    if program is None:
        raise NotInstalledError("pgn-extract")
    command = [program, "-s", "-r", str(path)]
    return timed(lambda: (subprocess.run(command, check=True, capture_output=True), games)[1])


def rust_reader_games(data: bytes) -> float:
    try:
        import rust_pgn_reader_python_binding as rust  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError("rust_pgn_reader_python_binding") from error
    games = [f"[Event {text}" for text in data.decode().split("[Event ")[1:]]
    return timed(lambda: (rust.parse_games_from_strings(games, num_threads=1), len(games))[1])


def sgfmill_moves(data: bytes, count: int = 300) -> float:
    from sgfmill import sgf  # noqa: PLC0415

    lines = data[: 4 << 20].splitlines()[:count]

    def run() -> int:
        return sum(len(sgf.Sgf_game.from_bytes(line).get_main_sequence()) - 1 for line in lines)

    return timed(run)


def cshogi_games(data: bytes, count: int = 4000) -> float:
    try:
        from cshogi import CSA  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError("cshogi") from error
    texts = data[: 16 << 20].decode(errors="ignore").split("/\n")[:count]
    return timed(lambda: sum(len(CSA.Parser.parse_str(text)) for text in texts))


def jobs() -> list[Job]:
    twic = unpacked("chess/twic_human.pgn.xz")
    tcec = unpacked("chess/tcec_eval.pgn.xz")
    pro = unpacked("go19/pro_aeb.sgf.xz")
    floodgate = unpacked("shogi/floodgate2016.csa.xz")
    plain = Path(tempfile.gettempdir()) / "hyoka-bench-twic.pgn"
    plain.write_bytes(twic)

    def ours(format: str, data: bytes, unit: str) -> Callable[[], float]:
        return lambda: timed(lambda: read_all(format, data, unit))

    return [
        Job(
            "PGN twic_human",
            "games/s",
            ours("pgn", twic, "games/s"),
            {
                "Rust reader": lambda: rust_reader_games(twic),
                "pgn-extract": lambda: pgn_extract_games(plain, 50_378),
                "python-chess": lambda: python_chess_games(twic),
            },
        ),
        Job("PGN tcec_eval with its values", "MB/s", ours("pgn", tcec, "MB/s"), {}),
        Job(
            "SGF pro_aeb",
            "moves/s",
            ours("sgf", pro, "moves/s"),
            {"sgfmill, no rules": lambda: sgfmill_moves(pro)},
        ),
        Job(
            "CSA floodgate2016",
            "games/s",
            ours("csa", floodgate, "games/s"),
            {"cshogi": lambda: cshogi_games(floodgate)},
        ),
        Job("WTHOR, all", "games/s", wthor_games, {}),
    ]


END_TO_END = """
import sys, time, tempfile
from pathlib import Path
import hyoka as hk
start = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    hk.study.make_study(Path(folder) / "study", sys.argv[1], columns=sys.argv[2])
    seconds = time.perf_counter() - start
status = Path("/proc/self/status").read_text()
print(seconds, int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def end_to_end(path: Path, columns: str, rounds: int) -> tuple[float, float, float]:
    """Seconds to read alone, seconds for a study, and its peak of memory in MiB."""
    reading = making = peak = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in batches([path]):
            pass
        reading = min(reading, time.perf_counter() - start)
        command = [sys.executable, "-c", END_TO_END, str(path), columns]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, memory = map(float, output.split())
        if seconds < making:
            making, peak = seconds, memory
    return reading, making, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    console = Console()
    if not DATA.exists():
        console.print("needs the records in ../shared/data")
        return
    table = Table("job", "ours", "others (ratio)", "", box=None)
    for job in jobs():
        best = 0.0
        others: dict[str, float] = {}
        missing = []
        for _ in range(rounds):
            best = max(best, job.ours())
            for name, peer in job.peers.items():
                try:
                    others[name] = max(others.get(name, 0.0), peer())
                except NotInstalledError:
                    missing.append(name)
        beside = ", ".join(
            f"{name} {rate:,.0f} ({best / rate:.1f}×)" for name, rate in others.items()
        )
        absent = f"not installed: {', '.join(dict.fromkeys(missing))}" if missing else ""
        table.add_row(job.what, f"{best:,.0f} {job.unit}", beside, absent)
    console.print(table)
    whole = Table("end to end", "columns", "reading", "study", "ratio", "peak MiB", box=None)
    for name in (
        "chess/twic_human.pgn.xz",
        "shogi/floodgate2016.csa.xz",
        "go19/kgs_highdan.sgf.xz",
    ):
        for columns in ("cheap", "all"):
            reading, making, peak = end_to_end(DATA / name, columns, rounds)
            ratio = f"{making / reading:.2f}"
            whole.add_row(
                name, columns, f"{reading:.2f} s", f"{making:.2f} s", ratio, f"{peak:.0f}"
            )
    console.print(whole)
    console.print(f"hyoka {hk.__version__}", style="dim")


if __name__ == "__main__":
    main()
