# SPDX-License-Identifier: Apache-2.0
"""Commands about a position: show, search, mate, perft."""

import contextlib
import dataclasses
import re
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.status import Status

from hyoka.apps.cli.command_options import Output, complete_game, option
from hyoka.apps.cli.output import (
    answered,
    complain,
    err,
    hint,
    is_quiet,
    out,
    plain_table,
    print_json,
    print_table,
    tell,
    tracked,
    wants_json,
)
from hyoka.foundation.errors import Error, escape_control_chars
from hyoka.games import FACTS, AnyMove, Line, game_of_protocol, games_with, name_of
from hyoka.games.diagram import Diagram, Lettering, svg, terminal
from hyoka.games.diagram.builders import diagram
from hyoka.games.registry import position
from hyoka.reporting.search_tree import TREE_FILES, write_tree
from hyoka.search import KINDS, Searcher, SearchResult, SearchSpec, Setting, find_mate, search_tree
from hyoka.search.search_result import OnResult
from hyoka.search.settings import Value
from hyoka.search.tree_view import MOST_PLIES
from hyoka.storage.files import write_text
from hyoka.storage.outputs import GRAPH, PAGE, PICTURE, mark_svg

GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help=f"One of {', '.join(FACTS)}.",
        autocompletion=complete_game,
        show_default=False,
    ),
]
PositionText = Annotated[
    str | None,
    option(
        "--position",
        "Position to start from, in the game's notation: FEN, SFEN, 64 squares, rows. "
        "`hyoka position show GAME` prints an example.",
        metavar="TEXT",
    ),
]


Moves = Annotated[str, option("--moves", metavar="MOVES")]


def position_perft_command(
    game: GameName,
    depth: Annotated[
        int,
        typer.Argument(min=0, max=99, metavar="DEPTH", help="Length in plies.", show_default=False),
    ],
    text: PositionText = None,
    divide: Annotated[
        bool, typer.Option("--divide", help="Also show the count after each first move.")
    ] = False,
) -> None:
    """Count the lines of a given length (perft)."""
    root = position(game, text)
    start = root.movement_only()
    began = time.perf_counter()
    by_move: dict[str, int] = {}
    moves = start.legal_moves if depth > 0 else []
    for move in tracked(moves, "perft", len(moves), "moves"):
        by_move[str(move)] = start.play(move).perft(depth - 1)
    # Without a first move, games may have their own rule for counting.
    lines = sum(by_move.values()) if by_move else start.perft(depth)
    seconds = time.perf_counter() - began
    if wants_json():
        result = {
            "game": name_of(root),
            "position": root.text,
            "depth": depth,
            "lines": lines,
            "seconds": seconds,
        }
        print_json(result | ({"divide": by_move} if divide else {}))
        return
    if divide:
        rows = [(name, f"{count:,}") for name, count in by_move.items()]
        print_table(("move", "lines"), rows, right=[1])
    rate = f" ({lines / seconds / 1e6:,.1f} million per second)" if seconds > 0.01 else ""
    out.print(f"[bold]{lines:,}[/] lines of {depth} plies in {seconds:.2f} s{rate}")


def position_show_command(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME|STUDY",
            help=f"One of {', '.join(FACTS)}; or a study's folder.",
            autocompletion=complete_game,
            show_default=False,
        ),
    ],
    text: PositionText = None,
    moves: Moves = "",
    game_id: Annotated[
        int | None,
        typer.Option("--game-id", min=0, metavar="ID", help="Number of a game in the study."),
    ] = None,
    ply: Annotated[
        int | None,
        typer.Option("--ply", min=0, help="With --game-id: the ply, by default the last."),
    ] = None,
    svg_file: Annotated[
        Path | None,
        Output((PICTURE,)),
        typer.Option("--svg", metavar="FILE", help="Also write the board as SVG."),
    ] = None,
    pieces: Annotated[
        Lettering,
        typer.Option(help="Lettering of shogi pieces in SVG."),
    ] = "kanji",
    plain: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.")
    ] = False,
    model: Annotated[str | None, option("--model", metavar="FILE")] = None,
    area: Annotated[
        str | None,
        typer.Option(
            "--area",
            metavar="MOVE",
            help="With a METS tree as model: mark the points it examines for this move, and list "
            "its tactical features.",
        ),
    ] = None,
) -> None:
    """Draw a position of a game or a study, as text or SVG.

    With a move model, also draw its ranking.
    """
    details: dict[str, Any] = {}
    if game_id is not None or Path(game).is_dir():
        line, details = _shown_of_study(game, game_id or 0, ply)
    else:
        line = position(game, text).line()
    # KIF writes an ideographic space after 同, so only plain ones separate moves.
    for move in filter(None, re.split("[ \t\r\n]+", moves)):
        line = line.play(move)
    board: Diagram = diagram(line)
    if area is not None and model is None:
        raise Error("--area shows the points that a METS tree examines: give the tree with --model")
    if model is not None:
        board, details["ranking"] = _ranking(line, model, area)
    if svg_file is not None:
        write_text(svg_file, mark_svg(svg(board, pieces=pieces)))
    outcome = line.outcome
    if answered(
        {
            "game": name_of(line.position),
            "position": line.position.text,
            "to_play": line.to_play.name,
            "legal_moves": [str(move) for move in line.legal_moves],
            "outcome": None
            if outcome is None
            else {"value": outcome.value, "reason": outcome.reason.name},
            "hash": f"{line.hash:016x}",
            **details,
        }
    ):
        return
    for heading in details.get("headings", []):
        tell(heading)
    print(terminal(board, ascii=plain))
    hint(line.position.text)
    if outcome is None:
        out.print(f"{line.to_play.name} player to move, {line.count_moves()} legal moves")
    _print_details(details)
    _print_ranking(details.get("ranking"))
    if svg_file is not None:
        complain(f"wrote {svg_file}")


def _shown_of_study(path: str, game_id: int, ply: int | None) -> tuple[Line, dict[str, Any]]:
    """Read the line that ends at a study's position, and the position's data."""
    # Boards of games need none of it, and it is much.
    from hyoka.study import Study  # noqa: PLC0415
    from hyoka.study.sampling import evaluator_titles  # noqa: PLC0415

    study = Study.open(path)
    record = study.record(game_id)
    at = len(record) if ply is None else ply
    if at > len(record):
        raise Error(f"game {game_id} has {len(record)} moves; there is no ply {at}")
    chosen = f"game_id = {game_id} and ply = {at}"
    evaluations = study.sql(
        f"select * exclude (game_id, ply) from evaluations where {chosen}"
    ).to_pylist()
    titles = evaluator_titles(study, [row["engine"] for row in evaluations])
    described = study.sql(f"select * from positions where {chosen}").to_pylist()
    players = f"{record.first or '?'} – {record.second or '?'}"
    result = {1.0: "first player won", 0.5: "drawn", 0.0: "second player won"}.get(
        record.result if record.result is not None else -1, "result not known"
    )
    last = record.move_texts()[at - 1] if at else "the start"
    details = {
        "headings": [
            f"game {game_id}: {players}  {record.event}  {record.date}  {result} ({record.ending})",
            f"ply {at} of {len(record)}, after {last}  {record.source}:{record.line}",
        ],
        "columns": {name: described[0][name] for name in study.columns} if described else {},
        "remarks": [dataclasses.asdict(each) for each in record.remarks if each.ply == at],
        "evaluations": [
            {"title": title, **row} for title, row in zip(titles, evaluations, strict=True)
        ],
    }
    position_there = record.position(at)
    previous = record.position(at - 1) if at else None
    if previous is None:
        return position_there.line(), details
    # Records may continue after the end of a line; the line's last move is drawn.
    line = previous.line()
    move = record.move_list[at - 1]
    return (line.play(move) if line.is_legal(move) else position_there.line()), details


def _ranking(line: Line, source: str, area: str | None) -> tuple[Diagram, dict[str, Any]]:
    """Draw the board with a model's best moves or a tree's questions, and describe them."""
    # Slow imports that plain boards do not need.
    from hyoka.learning.mets import (  # noqa: PLC0415
        NUMBERED,
        Mets,
        ranking_diagram,
    )
    from hyoka.models.loading import move_model, ranked  # noqa: PLC0415

    if line.outcome is not None:
        raise Error("the game is over: no move is left to rank")
    ranking = ranked(line, move_model(name_of(line), source))
    best = ranking[: len(NUMBERED)]
    ranking_values: dict[str, Any] = {
        "model": source,
        "moves": [{"move": str(move), "share": share} for move, share in best],
    }
    if area is None:
        return ranking_diagram(line, [move for move, _ in best]), ranking_values
    move = line.parse(area)
    questions = Mets.load(source).questions(line, move)
    rank = 1 + next(i for i, (other, _) in enumerate(ranking) if other == move)
    ranking_values["area"] = {
        "move": str(move),
        "rank": rank,
        "tactics": [{"about": about, "answer": answer} for about, answer in questions.tactics],
        "points": [list(point) for point in questions.stones],
    }
    return ranking_diagram(line, [move], questions), ranking_values


def _print_ranking(values: dict[str, Any] | None) -> None:
    if values is None:
        return
    rows = [
        (str(number), each["move"], f"{each['share']:.1%}")
        for number, each in enumerate(values["moves"], 1)
    ]
    print_table(("", "move", "share"), rows, right=[0, 2])
    if (area := values.get("area")) is not None:
        out.print(
            f"{area['move']} is ranked {area['rank']}; the path to its leaf examines "
            f"{len(area['points'])} points"
        )
        for each in area["tactics"]:
            tell(f"{each['about']}: {each['answer']}")


def _print_details(details: dict[str, Any]) -> None:
    columns = details.get("columns", {})
    if columns:
        tell("  ".join(f"{name} {value}" for name, value in columns.items()))
    for remark in details.get("remarks", []):
        facts = {key: value for key, value in remark.items() if value not in (None, False, "", ())}
        words = "  ".join(
            f"{key} {escape_control_chars(_short(value))}" for key, value in facts.items()
        )
        tell(f"record: {words}")
    for row in details.get("evaluations", []):
        names = ("engine", "title")
        facts = {key: value for key, value in row.items() if value is not None and key not in names}
        words = "  ".join(f"{key} {_short(value)}" for key, value in facts.items())
        tell(f"{row['title']}: {words}")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_MATE_GAMES = games_with(lambda facts: facts.search.mate_solver)


def position_search_command(
    game: GameName,
    spec: Annotated[str | None, option("--with", metavar="SPEC")] = None,
    text: PositionText = None,
    moves: Moves = "",
    top: Annotated[int, option("--top", min=1)] = 10,
    settings: Annotated[
        bool, typer.Option("--settings", help="Only list the settings of the search.")
    ] = False,
    tree: Annotated[
        Path | None,
        Output((PAGE, GRAPH), TREE_FILES),
        typer.Option("--tree", metavar="FILE", help="Also write the tree: .html, .json or .dot."),
    ] = None,
    tree_least: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="VISITS",
            help="Minimum number of visits of a move in the tree; by default 0.1% of all visits.",
        ),
    ] = None,
    tree_depth: Annotated[
        int, typer.Option(min=1, max=MOST_PLIES, metavar="PLIES", help="Maximum depth of the tree.")
    ] = MOST_PLIES,
) -> None:
    """Search a position: best move, value, principal variation.

    Values are the first player's expected result, 0 to 1; scores are the first player's, too.
    `won`, `lost` and `drawn` are proven, for the side to move. Ctrl-C ends the search with its
    current result. `--tree` writes the tree below the moves, and how the choice changed during the
    search: as a page to open offline, JSON for programs, or a graph for Graphviz.
    """
    line = played(position(game, text).line(), moves)
    name = name_of(line)
    chosen = SearchSpec.from_text(spec or FACTS[name].search.spec)
    here = chosen.validated_for(name)
    if settings:
        _print_settings(here)
        return
    if line.outcome is not None:
        raise Error(f"the game is over: {line.outcome.reason.name}")
    searching = Searcher(here, name)
    with err.status("searching", spinner="dots") as status, _stopped_by_ctrl_c(searching):
        show = None if is_quiet() or not err.is_terminal else _shower(status)
        if tree is None:
            result = searching.search(line, on_result=show)
        else:
            seen = search_tree(line, searching, least=tree_least, depth=tree_depth, on_result=show)
            result = seen.result
            write_tree(seen, tree)
    if not answered(_json(name, line, chosen, result)):
        _print_result(result, top)
        if tree is not None:
            out.print(f"tree: {escape(str(tree))}", style="dim")


@contextlib.contextmanager
def _stopped_by_ctrl_c(searcher: Searcher) -> Iterator[None]:
    """The first Ctrl-C ends the search with its current result; the next one ends the program."""

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, former)
        searcher.stop()

    former = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def played(line: Line, moves: str) -> Line:
    """Play moves, separated by blanks, and return the line."""
    for move in filter(None, re.split("[ \t\r\n]+", moves)):
        line = line.play(move)
    return line


def _shower(status: Status) -> OnResult:
    def show(result: SearchResult) -> None:
        effort = f"{result.playouts or result.nodes:,}"
        status.update(f"{effort}  {escape(_line(result.pv[:6]))}  {result.worth()}")

    return show


def _line(pv: Sequence[AnyMove]) -> str:
    return " ".join(map(str, pv))


def _print_result(result: SearchResult, top: int) -> None:
    if result.best is None:
        out.print(f"no move found ({result.stopped_by})")
        return
    pv = _line(result.pv[:20]) + (" …" if len(result.pv) > 20 else "")
    out.print(f"[bold]{escape(str(result.best))}[/]  {result.worth()}  {escape(pv)}")
    rows = [
        (
            str(report.move),
            f"{report.visits:,}" if report.visits else "",
            "" if report.value is None else f"{report.value:.3f}",
            "" if report.score is None else f"{report.score:+.1f}",
            "" if report.prior is None else f"{report.prior:.3f}",
            report.proven or "",
            _line(report.pv[:8]),
        )
        for report in result.moves[:top]
    ]
    print_table(("move", "visits", "value", "score", "prior", "", "line"), rows, right=range(1, 5))
    by = f"; moves by {result.order}" if len(result.moves) > 1 else ""
    count, what = (result.playouts, "playouts") if result.playouts else (result.nodes, "nodes")
    rate = f", {count / result.time_s:,.0f} per second" if result.time_s > 0.01 else ""
    ended = f"; ended by {result.stopped_by}" if result.stopped_by else ""
    hint(f"{count:,} {what} in {result.time_s:.2f} s{rate}; depth {result.depth}{ended}{by}")


def _json(name: str, line: Line, spec: SearchSpec, result: SearchResult) -> dict[str, object]:
    shown = dataclasses.asdict(dataclasses.replace(result, details={}, moves=()))
    shown["pv"] = [str(move) for move in result.pv]
    shown["moves"] = [
        dataclasses.asdict(report) | {"pv": [str(move) for move in report.pv]}
        for report in result.moves
    ]
    return {"game": name, "position": line.position.text, "spec": spec.text, **shown}


def _print_settings(spec: SearchSpec) -> None:
    """Build the table of settings, their values here, and their defaults from the papers."""
    settings = SearchSpec.settings_for(spec.kind)
    if answered(
        [dataclasses.asdict(each) | {"here": _said(each, spec[each.name])} for each in settings]
    ):
        return
    out.print(f"[bold]{spec.kind}[/]: {KINDS[spec.kind][0]}")
    table = plain_table("setting", "value", "papers", "meaning")
    for setting in settings:
        here, papers = _said(setting, spec[setting.name]), _said(setting, setting.default)
        choices = f" One of {', '.join(setting.choices)}." if setting.choices else ""
        name = setting.name if here == papers else f"[bold]{setting.name}[/]"
        table.add_row(name, escape(here), escape(papers), setting.doc + choices)
    out.print(table)


def _said(setting: Setting, value: Value | None) -> str:
    return "" if value is None else setting.text(value)


def position_mate_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help=f"{' or '.join(_MATE_GAMES)}.")
    ] = game_of_protocol("usi"),
    text: PositionText = None,
    moves: Moves = "",
    nodes: Annotated[
        int, option("--nodes", "Maximum number of nodes per search; 0: no limit.", min=0)
    ] = 10_000_000,
    time_s: Annotated[
        float, option("--time", "Time per search in seconds; 0: no limit.", min=0, metavar="S")
    ] = 0.0,
    hash_mib: Annotated[
        int,
        typer.Option(
            "--hash", min=1, max=2**15, metavar="MIB", help="Size of the transposition table."
        ),
    ] = 64,
) -> None:
    """Find a forced mate by checks (df-pn search).

    Exit status 0: mate; 1: no mate by checks; 3: none found within the limits.
    """
    line = played(position(game, text).line(), moves)
    mate = find_mate(line, nodes=nodes, time_s=time_s, hash_mib=hash_mib)
    if not answered(dataclasses.asdict(mate) | {"line": [str(move) for move in mate.line]}):
        verdict = f"[bold]{mate.verdict}[/]"
        if mate.verdict == "mate":
            verdict += f" in {len(mate.line)} plies: {escape(_line(mate.line))}"
        out.print(verdict)
        rate = f", {mate.nodes / mate.time_s:,.0f} per second" if mate.time_s > 0.01 else ""
        hint(f"{mate.nodes:,} nodes in {mate.time_s:.2f} s{rate}")
    if mate.verdict != "mate":
        raise typer.Exit(1 if mate.verdict == "no mate" else 3)
