# SPDX-License-Identifier: Apache-2.0
"""Commands that search a position: search, mate."""

import contextlib
import dataclasses
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.status import Status

from hyoka.cli.games import GameName, PositionText
from hyoka.cli.output import AsJson, Quiet, err, out, plain_table, print_json
from hyoka.cli.outputs import Output
from hyoka.errors import Error
from hyoka.games import FACTS, AnyMove, Line, game_of_protocol, games_with, name_of, position
from hyoka.search import (
    KINDS,
    Searcher,
    SearchResult,
    SearchSpec,
    Setting,
    find_mate,
    search_tree,
    write_tree,
)
from hyoka.search.request import OnResult
from hyoka.search.settings import Value
from hyoka.search.tree_files import TREE_FILES
from hyoka.search.tree_view import MOST_PLIES
from hyoka.storage.outputs import GRAPH, PAGE

_MATE_GAMES = games_with(lambda facts: facts.mate_solver)
Moves = Annotated[
    str, typer.Option("--moves", "-m", help="Moves to play from there, separated by spaces.")
]


def search_command(
    game: GameName,
    spec: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="SPEC",
            help="KIND or KIND:SETTING=VALUE,… with a kind out of "
            + ", ".join(KINDS)
            + ". By default `ab:time=2` in chess and shogi, `uct:playouts=10000` elsewhere.",
        ),
    ] = None,
    text: PositionText = None,
    moves: Moves = "",
    top: Annotated[int, typer.Option(min=1, help="So many moves are shown.")] = 10,
    settings: Annotated[
        bool, typer.Option("--settings", help="Only list what can be set about the search.")
    ] = False,
    tree: Annotated[
        Path | None,
        Output((PAGE, GRAPH), TREE_FILES),
        typer.Option(
            "--tree", metavar="FILE", help="Also write the tree there: .html, .json or .dot."
        ),
    ] = None,
    tree_least: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="VISITS",
            help="Moves of the tree with fewer visits are left out; by default 1 in 1,000 of all.",
        ),
    ] = None,
    tree_depth: Annotated[
        int, typer.Option(min=1, max=MOST_PLIES, metavar="PLIES", help="How deep it is written.")
    ] = MOST_PLIES,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search a position: the best move, what it is worth, and the moves behind it.

    Values are the first player's expected result, 0 to 1; scores are the first player's, too.
    `won`, `lost` and `drawn` are certain, for the side to move. Ctrl-C ends the search with what
    it has found. `--tree` writes what lies below the moves, and how the choice changed as the
    search went on: a page to open offline, JSON for programs, or a graph for Graphviz.
    """
    line = played(position(game, text).line(), moves)
    name = name_of(line)
    chosen = SearchSpec.from_text(spec or FACTS[name].usual_search)
    here = chosen.said_for(name)
    if settings:
        _print_settings(here, as_json)
        return
    if line.outcome is not None:
        raise Error(f"the game is over: {line.outcome.reason.name}")
    searching = Searcher(here, name)
    with err.status("searching", spinner="dots") as status, _stopped_by_ctrl_c(searching):
        show = None if quiet or as_json or not err.is_terminal else _shower(status)
        if tree is None:
            result = searching.search(line, on_result=show)
        else:
            seen = search_tree(line, searching, least=tree_least, depth=tree_depth, on_result=show)
            result = seen.result
            write_tree(seen, tree)
    if as_json:
        print_json(_json(name, line, chosen, result))
    else:
        _print_result(result, top)
        if tree is not None:
            out.print(f"tree: {escape(str(tree))}", style="dim")


@contextlib.contextmanager
def _stopped_by_ctrl_c(searcher: Searcher) -> Iterator[None]:
    """The first Ctrl-C ends the search with what it has found; the next one ends the program."""

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, former)
        searcher.stop()

    former = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def played(line: Line, moves: str) -> Line:
    """The line after some moves, separated by blanks."""
    for move in filter(None, re.split("[ \t\r\n]+", moves)):
        line = line.play(move)
    return line


def _shower(status: Status) -> OnResult:
    def show(result: SearchResult) -> None:
        effort = f"{result.playouts or result.nodes:,}"
        status.update(f"{effort}  {escape(_line(result.pv[:6]))}  {_worth(result)}")

    return show


def _line(pv: Sequence[AnyMove]) -> str:
    return " ".join(map(str, pv))


def _worth(result: SearchResult) -> str:
    words = [] if result.value is None else [f"{result.value:.3f}"]
    if result.mate is not None:
        words.append(f"in {abs(result.mate)} {'ply' if abs(result.mate) == 1 else 'plies'}")
    elif result.score is not None:
        words.append(f"{result.score:+.0f}")
    if result.proven is not None:
        words.append(result.proven)
    return " ".join(words)


def _print_result(result: SearchResult, top: int) -> None:
    if result.best is None:
        out.print(f"no move found ({result.stopped_by})")
        return
    pv = _line(result.pv[:20]) + (" …" if len(result.pv) > 20 else "")
    out.print(f"[bold]{escape(str(result.best))}[/]  {_worth(result)}  {escape(pv)}")
    table = plain_table("move", "visits", "value", "score", "prior", "", "line", right=range(1, 5))
    for report in result.moves[:top]:
        table.add_row(
            escape(str(report.move)),
            f"{report.visits:,}" if report.visits else "",
            "" if report.value is None else f"{report.value:.3f}",
            "" if report.score is None else f"{report.score:+.1f}",
            "" if report.prior is None else f"{report.prior:.3f}",
            report.proven or "",
            escape(_line(report.pv[:8])),
        )
    out.print(table)
    by = f"; moves by {result.order}" if len(result.moves) > 1 else ""
    count, what = (result.playouts, "playouts") if result.playouts else (result.nodes, "nodes")
    rate = f", {count / result.time_s:,.0f} a second" if result.time_s > 0.01 else ""
    ended = f"; ended by {result.stopped_by}" if result.stopped_by else ""
    out.print(
        f"{count:,} {what} in {result.time_s:.2f} s{rate}; depth {result.depth}{ended}{by}",
        style="dim",
    )


def _json(name: str, line: Line, spec: SearchSpec, result: SearchResult) -> dict[str, object]:
    shown = dataclasses.asdict(dataclasses.replace(result, details={}, moves=()))
    shown["pv"] = [str(move) for move in result.pv]
    shown["moves"] = [
        dataclasses.asdict(report) | {"pv": [str(move) for move in report.pv]}
        for report in result.moves
    ]
    return {"game": name, "position": line.position.text, "spec": spec.text, **shown}


def _print_settings(spec: SearchSpec, as_json: bool) -> None:
    """What can be set, what it is here, and what it is by the papers if nobody says."""
    settings = SearchSpec.settings_for(spec.kind)
    if as_json:
        print_json(
            [dataclasses.asdict(each) | {"here": _said(each, spec[each.name])} for each in settings]
        )
        return
    out.print(f"[bold]{spec.kind}[/]: {KINDS[spec.kind][0]}")
    table = plain_table("setting", "here", "papers", "what it is")
    for setting in settings:
        here, papers = _said(setting, spec[setting.name]), _said(setting, setting.default)
        choices = f" One of {', '.join(setting.choices)}." if setting.choices else ""
        name = setting.name if here == papers else f"[bold]{setting.name}[/]"
        table.add_row(name, escape(here), escape(papers), setting.doc + choices)
    out.print(table)


def _said(setting: Setting, value: Value | None) -> str:
    return "" if value is None else setting.text(value)


def mate_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help=f"{' or '.join(_MATE_GAMES)}.")
    ] = game_of_protocol("usi"),
    text: PositionText = None,
    moves: Moves = "",
    nodes: Annotated[
        int, typer.Option(min=0, help="Positions to visit at most; 0: no limit.")
    ] = 10_000_000,
    time_s: Annotated[
        float, typer.Option("--time", min=0, metavar="S", help="Seconds at most; 0: no limit.")
    ] = 0.0,
    hash_mib: Annotated[
        int, typer.Option("--hash", min=1, max=2**15, metavar="MIB", help="For the table.")
    ] = 256,
    as_json: AsJson = False,
) -> None:
    """Look for a forced mate in which every move of the attacker is check (df-pn).

    Exit status 0: mate, 1: none by checks, 3: not found within the limits.
    """
    line = played(position(game, text).line(), moves)
    mate = find_mate(line, nodes=nodes, time_s=time_s, hash_mib=hash_mib)
    if as_json:
        print_json(dataclasses.asdict(mate) | {"line": [str(move) for move in mate.line]})
    else:
        verdict = f"[bold]{mate.verdict}[/]"
        if mate.verdict == "mate":
            verdict += f" in {len(mate.line)} plies: {escape(_line(mate.line))}"
        out.print(verdict)
        rate = f", {mate.nodes / mate.time_s:,.0f} a second" if mate.time_s > 0.01 else ""
        out.print(f"{mate.nodes:,} nodes in {mate.time_s:.2f} s{rate}", style="dim")
    if mate.verdict != "mate":
        raise typer.Exit(1 if mate.verdict == "no mate" else 3)
