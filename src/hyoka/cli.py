# SPDX-License-Identifier: Apache-2.0
"""The command line: each command parses, calls one public function and prints."""

import dataclasses
import io
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

import hyoka
from hyoka.bench import bench, benchmarked_games
from hyoka.demo import DEMO_GAMES, play_demo_game, write_page
from hyoka.diagram import svg, terminal
from hyoka.errors import Error
from hyoka.files import write_text
from hyoka.games import GAMES, game_type, name_of, position

app = typer.Typer(
    name="hyoka",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Hyoka (評価): find out where a game program's evaluation is wrong, mend it, and prove "
    "the gain on the board. Go, shogi, chess, Othello, Blokus Duo.",
    epilog="Start with: hyoka demo · hyoka show chess · hyoka perft shogi 4 · hyoka bench",
)

T = TypeVar("T")

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)

GameName = Annotated[
    str, typer.Argument(metavar="GAME", help=f"One of {', '.join(GAMES)}.", show_default=False)
]
PositionText = Annotated[
    str | None,
    typer.Option(
        "--position",
        "-p",
        metavar="TEXT",
        help="Where to begin, as the game writes positions: FEN, SFEN, 64 squares, rows. "
        "`hyoka show GAME` prints an example.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


def _progress(quiet: bool) -> Progress:
    """A bar with time left on standard error, if somebody is looking."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=_err,
        transient=True,
        disable=quiet or not _err.is_terminal,
    )


def _tracked(items: Iterable[T], description: str, total: int, quiet: bool) -> Iterator[T]:
    with _progress(quiet) as progress:
        task = progress.add_task(description, total=total)
        for item in items:
            yield item
            progress.advance(task)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyoka {hyoka.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command("perft")
def perft_command(
    game: GameName,
    depth: Annotated[
        int,
        typer.Argument(min=0, max=99, metavar="DEPTH", help="How many plies.", show_default=False),
    ],
    text: PositionText = None,
    divide: Annotated[
        bool, typer.Option("--divide", "-d", help="Also show the count after each first move.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Count the lines of exactly DEPTH moves: the classical test of rules and speed."""
    given = position(game, text)
    start = given.movement_only()
    began = time.perf_counter()
    by_move: dict[str, int] = {}
    moves = start.legal_moves if depth > 0 else []
    for move in _tracked(moves, "perft", len(moves), quiet or as_json):
        by_move[str(move)] = start.play(move).perft(depth - 1)
    # Without a first move the count is a matter of the game's own custom.
    lines = sum(by_move.values()) if by_move else start.perft(depth)
    seconds = time.perf_counter() - began
    if as_json:
        result = {
            "game": name_of(given),
            "position": given.text,
            "depth": depth,
            "lines": lines,
            "seconds": seconds,
        }
        _print_json(result | ({"divide": by_move} if divide else {}))
        return
    if divide:
        table = Table("move", "lines", box=None)
        table.columns[1].justify = "right"
        for name, count in by_move.items():
            table.add_row(name, f"{count:,}")
        _out.print(table)
    rate = f" ({lines / seconds / 1e6:,.1f} million a second)" if seconds > 0.01 else ""
    _out.print(f"[bold]{lines:,}[/] lines of {depth} plies in {seconds:.2f} s{rate}")


@app.command("bench")
def bench_command(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]", help=f"One of {', '.join(benchmarked_games())}; all by default."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="The best of so many counts.")] = 3,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure rules and playouts on one core, with a count for each job that must never change.

    The fingerprint depends on the rules and the seed alone. Compare speeds only within one run on
    one machine; `make bench` measures other programs beside ours.
    """
    games = benchmarked_games() if game is None else [name_of(game_type(game)())]
    if not set(games) <= set(benchmarked_games()):
        raise Error(f"no benchmark of {games[0]}; there are {', '.join(benchmarked_games())}")
    jobs = 2 * len(games) + ("shogi" in games)
    results = list(_tracked(bench(games, rounds=rounds), "bench", jobs, quiet or as_json))
    if as_json:
        _print_json([dataclasses.asdict(result) for result in results])
        return
    table = Table("game", "job", "fingerprint", "rate", "", box=None)
    for column in (2, 3):
        table.columns[column].justify = "right"
    for result in results:
        table.add_row(
            result.game, result.job, f"{result.fingerprint:,}", f"{result.rate:,.0f}", result.unit
        )
    _out.print(table)
    _out.print(f"fingerprint of all: [bold]{sum(result.fingerprint for result in results)}[/]")


@app.command("show")
def show_command(
    game: GameName,
    text: PositionText = None,
    moves: Annotated[
        str, typer.Option("--moves", "-m", help="Moves to play from there, separated by spaces.")
    ] = "",
    svg_file: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Write the board as SVG there.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Draw a position in the terminal, and as SVG if asked."""
    line = position(game, text).line()
    # KIF writes an ideographic space after 同, so only plain ones separate moves.
    for move in filter(None, re.split("[ \t\r\n]+", moves)):
        line = line.play(move)
    if svg_file is not None:
        write_text(svg_file, svg(line))
    outcome = line.outcome
    if as_json:
        _print_json(
            {
                "game": name_of(line.position),
                "position": line.position.text,
                "to_play": line.to_play.name,
                "legal_moves": [str(move) for move in line.legal_moves],
                "outcome": None
                if outcome is None
                else {"value": outcome.value, "reason": outcome.reason.name},
                "hash": f"{line.hash:016x}",
            }
        )
        return
    print(terminal(line, ascii=plain))
    _out.print(line.position.text, soft_wrap=True, style="dim", markup=False)
    if outcome is None:
        _out.print(f"{line.to_play.name} player to move, {line.count_moves()} legal moves")
    if svg_file is not None:
        _err.print(f"wrote {svg_file}", markup=False)


@app.command("demo")
def demo_command(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = Path("hyoka-demo/index.html"),
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other games.")] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play a game of each kind, Monte Carlo against chance, and draw the final boards on a page."""
    output.parent.mkdir(parents=True, exist_ok=True)
    games = []
    for name in _tracked(DEMO_GAMES, "playing", len(DEMO_GAMES), quiet or as_json):
        games.append(play_demo_game(name, seed=seed))
        if not as_json:
            print(terminal(games[-1].line), end="\n\n")
    write_page(games, output)
    if as_json:
        results = [
            {"game": game.name, "result": game.result, "line": game.line.text} for game in games
        ]
        _print_json({"page": str(output), "games": results})
    else:
        print(f"The boards are drawn in {output}: open it in a browser.")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input gives one clear line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal that can't show a stone still shows the rest
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    try:
        for argument in arguments:
            if any("\ud800" <= character <= "\udfff" for character in argument):
                raise Error(f"an argument is not UTF-8: {argument!a}")
        return int(app(arguments or ["--help"], standalone_mode=False, prog_name="hyoka") or 0)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "hyoka"
        message = f"{command}: {error.format_message()} (see '{command} --help')"
    except Error as error:
        message = f"hyoka: {error}"
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            return 141
        message = f"hyoka: {error}"
    except (KeyboardInterrupt, typer.Abort):
        print("hyoka: interrupted", file=sys.stderr)
        return 130
    print(message.replace("\n", " "), file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
