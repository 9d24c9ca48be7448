# SPDX-License-Identifier: Apache-2.0
"""Commands that learn to rank moves, and say how well moves are foretold."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka import _core
from hyoka.analysis import FORMATS, Resampling
from hyoka.artefact import Origin
from hyoka.cli.output import (
    AsJson,
    Quiet,
    command_line,
    out,
    plain_table,
    print_json,
    progress_bars,
)
from hyoka.cli.outputs import Output
from hyoka.errors import Error
from hyoka.learning.mets import THRESHOLD, learn_mets
from hyoka.learning.predicting import (
    JudgedGames,
    Recognitions,
    compared,
    held_out,
    ids_in,
    judged_games,
    predict,
    table_of,
)
from hyoka.progress import OnProgress
from hyoka.records import Record, read_records
from hyoka.search.learned_games import LearnedGames
from hyoka.search.move_models import move_model
from hyoka.storage.outputs import PAGE, PICTURE, TABLE

HOLD_OUT = 0.1
Sources = Annotated[
    list[Path],
    typer.Argument(metavar="RECORDS…", help="Files, folders or archives of game records."),
]
HoldOut = Annotated[
    float,
    typer.Option(
        "--hold-out",
        min=0,
        max=0.9,
        help="Share of the games that is not learned from, chosen by a hash of their moves.",
    ),
]


def mets_command(
    context: typer.Context,
    records: Sources,
    output: Annotated[
        Path,
        Output(("mets",)),
        typer.Option("--output", "-o", metavar="FILE", help="Where the tree goes."),
    ] = Path("mets.bin"),
    threshold: Annotated[
        int, typer.Option(min=1, help="A node that fewer patterns reach is a leaf.")
    ] = THRESHOLD,
    symmetric: Annotated[
        bool,
        typer.Option("--symmetric", help="Grow over all eight orientations of each pattern."),
    ] = False,
    tactics: Annotated[
        bool,
        typer.Option(
            "--tactics",
            help="First ask about liberties, captures, ladders and the last moves, as long as "
            "that tells much.",
        ),
    ] = False,
    smoothing: Annotated[
        float,
        typer.Option(
            min=0, help="Points to add to each leaf's own, at odds of nodes above; 0: the paper's."
        ),
    ] = 0,
    hold_out: HoldOut = HOLD_OUT,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Grow a tree over the stones around a point that ranks moves (METS; Go, Othello).

    Then say how well it foretells the moves of the games held out.
    """
    learned, unseen = split(games_of(records), hold_out)
    table = table_of(learned)
    origin = Origin(
        command_line(context),
        counts={"games": len(learned), "moves": int((table.played >= 0).sum())},
        choices={
            "threshold": str(threshold),
            "symmetric": str(symmetric),
            "tactics": str(tactics),
            "smoothing": f"{smoothing:g}",
            "hold_out": f"{hold_out:g}",
        },
        learned_games=ids_in(table),
    )
    with progress_bars(quiet or as_json) as progress:
        tree = learn_mets(
            table,
            threshold=threshold,
            symmetric=symmetric,
            tactics=tactics,
            smoothing=smoothing,
            origin=origin,
            progress=progress,
        )
        tree.save(output)
        held_out = judged(tree.model(), unseen, output, progress)
    about = {
        "game": tree.game,
        "games": len(learned),
        "moves": origin.counts["moves"],
        "leaves": tree.leaves,
        "mean_depth": tree.mean_depth,
        "bytes": tree.size,
        "file": str(output),
    }
    if as_json:
        print_json({**about, "held_out": None if held_out is None else held_out.rows()})
        return
    out.print(
        f"{tree.leaves:,} leaves at a mean depth of {tree.mean_depth:.1f}, {tree.size:,} bytes, "
        f"from {about['moves']:,} moves of {len(learned):,} games",
        markup=False,
    )
    tell_how_it_did(held_out, output)


def predict_command(
    models: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            metavar="FILE",
            help="A move model: a file of `hyoka learn …`, learned or built-in; repeatable.",
        ),
    ],
    records: Sources,
    every_game: Annotated[
        bool,
        typer.Option("--all", help="Judge by all games, also those that a model learned from."),
    ] = False,
    resamples: Annotated[
        int, typer.Option(min=0, help="How often games are drawn again for the intervals.")
    ] = 500,
    output: Annotated[
        Path | None,
        Output((PAGE, PICTURE, TABLE), FORMATS),
        typer.Option(
            "--output", "-o", metavar="FILE", help="Also write .csv, .json, .html, .png or .svg."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """How often a move model ranks the move played first, or among the n best.

    Games that a model learned from are left out; the first line says how many. Models list the
    games that they learned from.
    """
    games = games_of(records)
    rankings = {name: move_model(games[0].game, name) for name in models}
    learned = [LearnedGames.of_model(games[0].game, name) for name in models]
    judges = judged_games(games, learned, every_game=every_game)
    table = table_of(judges.records)
    results = []
    with progress_bars(quiet or as_json) as progress:
        for name, model in rankings.items():
            results.append(
                predict(
                    table,
                    model,
                    name=name,
                    resampling=Resampling(resamples),
                    progress=progress,
                )
            )
    if output is not None:
        results[0].save(output)
    if as_json:
        print_json(
            [{"model": each.name, "moves": each.rows()} | judges.as_json() for each in results]
        )
        return
    tell_judges(judges)
    for each in results:
        _print(each)
    if len(results) > 1:
        _print_rows(compared(results))


def games_of(sources: list[Path]) -> list[Record]:
    """The games of records, which must be of one kind."""
    games = [record for source in sources for record in read_records(source)]
    kinds = sorted({record.game for record in games})
    if len(kinds) > 1:
        raise Error(f"records of several games ({', '.join(kinds)}): give those of one")
    if not games:
        raise Error("no games are in these records")
    return games


def judged(
    model: _core.Model, unseen: list[Record], file: Path, progress: OnProgress | None
) -> Recognitions | None:
    """How a model that was just written does on the games held out; None without any."""
    if not unseen:
        return None
    return predict(table_of(unseen), model, name=str(file), progress=progress)


def tell_how_it_did(found: Recognitions | None, file: Path) -> None:
    """The table of games held out, and what to do with the file."""
    if found is not None:
        _print(found)
    out.print(
        f"use it: hyoka predict RECORDS --model {shlex.quote(str(file))}",
        style="dim",
        markup=False,
    )


def split(
    games: list[Record], hold_out: float, start: LearnedGames | None = None
) -> tuple[list[Record], list[Record]]:
    """The games to learn from, and those that are held out; none that `start` learned from."""
    apart = held_out(games, hold_out, start)
    return (
        [record for record, out_ in zip(games, apart, strict=True) if not out_],
        [record for record, out_ in zip(games, apart, strict=True) if out_],
    )


def tell_judges(judges: JudgedGames, verb: str = "judged by") -> None:
    """Print how many games judge, and why others do not."""
    out.print(judges.sentence(verb), markup=False, soft_wrap=True)


def _print(result: Recognitions) -> None:
    out.print(f"\n{result.title}", markup=False)
    _print_rows(result.lines())
    for note in result.notes():
        out.print(note, style="dim", markup=False)


def _print_rows(rows: tuple[tuple[str, ...], ...]) -> None:
    heading, *others = rows
    table = plain_table(*map(escape, heading), right=range(1, len(heading)))
    for row in others:
        table.add_row(*map(escape, row))
    out.print(table)
