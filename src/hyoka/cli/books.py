# SPDX-License-Identifier: Apache-2.0
"""Commands about opening books: make one from records, and show one."""

import itertools
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape

from hyoka.artefact import Origin, read_artefact
from hyoka.cli.games import PositionText
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
from hyoka.cli.positions import Moves, played
from hyoka.cli.records import Files, exit_if_unread
from hyoka.errors import Error
from hyoka.games import game_facts, position
from hyoka.records import Record, RecordStream, batches
from hyoka.search import Book
from hyoka.search.book import PLIES, WHOSE, Whose

_SHOWN: Final = 20


def make_command(
    context: typer.Context,
    files: Files,
    output: Annotated[
        Path,
        Output(("book",)),
        typer.Option("--output", "-o", metavar="FILE", help="Where the book goes."),
    ] = Path("opening.book"),
    game: Annotated[
        str | None,
        typer.Option(
            "--game", "-g", metavar="GAME", help="Take the records of this game; else that of all."
        ),
    ] = None,
    whose: Annotated[
        Whose,
        typer.Option(
            help="Whose moves count: winners (those of who won in the end, as Sato 2010 has it), "
            "decided (of both in games that someone won), all (also of draws and unknown results).",
        ),
    ] = WHOSE[0],
    plies: Annotated[int, typer.Option(min=1, help="How many moves of each game count.")] = PLIES,
    least: Annotated[
        int, typer.Option("--min-count", min=1, help="Leave out moves played less often.")
    ] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make an opening book from game records: by position, how often each move was played.

    A search plays it: `uct:book=FILE` searches the book's moves alone as long as there are some,
    `book_pick=frequency` draws one with the probability of its count. Positions that transpose are
    one. The exit code is 3 if a file, or a part of one, could not be read.
    """
    with progress_bars(quiet or as_json) as progress:
        stream = RecordStream(batches(files, progress=progress))
        games = _GamesOfOneKind(stream, None if game is None else game_facts(game).name, whose)
        book = Book.from_records(games.name, games, plies=plies, whose=whose, least=least)
    if not book.counts:
        raise Error(
            f"no book of {games.count:,} games: --whose {whose} and --min-count {least} leave none"
        )
    origin = Origin(
        command_line(context),
        counts={"games": games.count, "positions": len(book), "moves": book.moves_in_all},
        choices={"whose": whose, "plies": str(plies), "min_count": str(least)},
    )
    book.save(output, origin)
    if as_json:
        about = {"file": str(output), "game": book.game, **origin.counts, **origin.choices}
        print_json({**about, "refused": stream.faults})
    else:
        out.print(
            f"{len(book):,} positions with {book.moves_in_all:,} moves, from {games.count:,} games",
            markup=False,
        )
        hint = f"use it: hyoka search {book.game} --with uct:book={shlex.quote(str(output))}"
        out.print(hint, style="dim", markup=False)
    exit_if_unread(stream.unread)


class _GamesOfOneKind:
    """The games whose moves count; records must be of one kind unless one is named."""

    def __init__(self, stream: RecordStream, name: str | None, whose: Whose) -> None:
        self._stream = iter(stream)
        first = next(self._stream, None)
        if first is None:
            raise Error("no games are in these records")
        self._only = name is None
        self._first = first
        self._undecided = whose == "all"
        self.name = name or first.game
        self.count = 0

    def __iter__(self) -> Iterator[Record]:
        for record in itertools.chain([self._first], self._stream):
            if record.game != self.name:
                if self._only:
                    raise Error(f"records of {self.name} and {record.game}: choose with --game")
            elif self._undecided or record.result in (0.0, 1.0):
                self.count += 1
                yield record


def show_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A book, or records.", show_default=False)
    ],
    moves: Moves = "",
    text: PositionText = None,
    game: Annotated[
        str | None,
        typer.Option("--game", "-g", metavar="GAME", help="Of records, which do not say."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what an opening book knows: the moves of a position, with how often they were played."""
    name = game or read_artefact(file, "book").game
    if name is None:
        raise Error(f"{file} does not say for which game it is: --game")
    book = Book.from_file(name, file)
    line = played(position(name, text).line(), moves)
    counts = sorted(book.moves(line.position).items(), key=lambda each: -each[1])
    total = sum(count for _, count in counts)
    if as_json:
        found = [
            {"move": str(move), "count": count, "share": count / total} for move, count in counts
        ]
        about = {"file": str(file), "game": book.game, "positions": len(book)}
        print_json({**about, "position": line.position.text, "moves": found})
        return
    words = f"{book.game}: {len(book):,} positions with {book.moves_in_all:,} moves"
    out.print(words, markup=False, style="dim")
    if not counts:
        out.print("the position is not in the book")
        return
    table = plain_table("move", "played", "share", right=[1, 2])
    for move, count in counts[:_SHOWN]:
        table.add_row(escape(str(move)), f"{count:,}", f"{count / total:.1%}")
    out.print(table)
    if len(counts) > _SHOWN:
        out.print(f"and {len(counts) - _SHOWN} more", style="dim")
