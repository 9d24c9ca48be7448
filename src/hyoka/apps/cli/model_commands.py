# SPDX-License-Identifier: Apache-2.0
"""Commands about models: contents of model files, terms of evaluations, opening books."""

import fnmatch
import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape

from hyoka.apps.cli.command_options import Output, option
from hyoka.apps.cli.output import (
    answered,
    command_line,
    out,
    plain_table,
    print_json,
    progress_bars,
    wants_json,
)
from hyoka.apps.cli.position_commands import GameName, Moves, PositionText, played
from hyoka.apps.cli.record_commands import Files, exit_if_unread
from hyoka.foundation.errors import Error
from hyoka.games import game_facts, position
from hyoka.games.feature_descriptions import term_meaning
from hyoka.models.book import PLIES, WHOSE, Whose
from hyoka.models.bundled import bundled_model_file, bundled_names
from hyoka.records import Record, RecordStream, batches
from hyoka.search import Book, linear_evaluation
from hyoka.storage.model_file import BUILT_IN, KINDS, ModelFile, Origin, read_model_file


def model_show_command(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|NAME]",
            help="A model file, or the name of a bundled model; without one, all bundled models.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show the contents and provenance of a model file.

    A damaged file is an error. Without a file, the bundled models are listed.
    """
    if source is None:
        built_in = [bundled_model_file(name) for name in bundled_names()]
        if not answered([model_file.as_json() for model_file in built_in]):
            _print_list(built_in)
        return
    is_name = source.startswith(f"{BUILT_IN}:")
    model_file = bundled_model_file(source) if is_name else read_model_file(source)
    if not answered(model_file.as_json()):
        _print_facts(model_file)


def _print_list(model_files: list[ModelFile]) -> None:
    table = plain_table("", "what it is", "bytes", "SHA-256", right=[2])
    for each in model_files:
        words = KINDS[each.kind or ""].words
        table.add_row(each.path, words, f"{len(each.content):,}", each.fingerprint)
    out.print(table)


def _print_facts(model_file: ModelFile) -> None:
    table = plain_table("", "")
    table.show_header = False
    for name, fact in _facts(model_file):
        table.add_row(name, escape(fact))
    out.print(table)


def _facts(model_file: ModelFile) -> Iterator[tuple[str, str]]:
    if model_file.kind is None:
        yield "kind", "unknown: determined by its use"
    else:
        yield "kind", f"{model_file.kind}: {KINDS[model_file.kind].words}"
    yield "game", model_file.game or "unknown"
    yield "format", "no header" if model_file.version is None else str(model_file.version)
    yield "content", f"{len(model_file.content):,} bytes"
    yield "SHA-256", model_file.sha256
    origin = model_file.origin
    if origin is None:
        yield "made by", "unknown"
        return
    yield "made by", origin.command
    if origin.seed is not None:
        yield "seed", str(origin.seed)
    if origin.counts:
        yield "made of", ", ".join(f"{count:,} {what}" for what, count in origin.counts.items())
    yield from origin.choices.items()
    if origin.learned_games is not None:
        yield "learned from", f"{len(origin.learned_games):,} games, listed by their ids"
    yield from _each("parent", origin.parents)
    yield from _each("version", origin.versions)


def _each(heading: str, facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, fact in facts.items():
        yield heading, f"{name} {fact}"


def model_terms_command(
    game: GameName,
    pattern: Annotated[
        str, typer.Argument(metavar="[PATTERN]", help="Only these, e.g. 'king_*'.")
    ] = "*",
    weights: Annotated[
        Path | None,
        option("--from", metavar="FILE"),
    ] = None,
    every: Annotated[bool, option("--all")] = False,
) -> None:
    """List the terms of a game's evaluation, with weights.

    A term is the first player's count minus the second's; `hyoka learn weights STUDY --term NAME`
    fits its weights.

    For example: hyoka model terms chess 'king_*'
    """
    name = game_facts(game).name
    evaluation = linear_evaluation(name, weights)
    chosen = [term for term in evaluation.names if fnmatch.fnmatchcase(term, pattern)]
    if not chosen:
        raise Error(f"{name}'s evaluation has no term '{pattern}'")
    if answered(
        [
            {
                "term": term,
                "meaning": term_meaning(name, term),
                "opening": evaluation[term][0],
                "ending": evaluation[term][1],
            }
            for term in chosen
        ]
    ):
        return
    table = plain_table("term", "opening", "ending", "what it counts", right=(1, 2))
    shown: set[str] = set()
    alike: dict[str, int] = {}
    for term in chosen:
        alike[_family(term)] = alike.get(_family(term), 0) + 1
    for term in chosen:
        family = _family(term)
        if not every and alike[family] > 1:
            if family not in shown:
                shown.add(family)
                words = f"{term_meaning(name, term)} ({alike[family]} of them)"
                table.add_row(escape(family), "", "", escape(words))
            continue
        opening, ending = (f"{each:g}" for each in evaluation[term])
        table.add_row(escape(term), opening, ending, escape(term_meaning(name, term)))
    out.print(table)
    if shown:
        out.print("--all lists each of those with *, with its weights", style="dim", markup=False)


def _family(term: str) -> str:
    """Return the term without its square and its numbers.

    >>> _family("pawn_on_a2"), _family("pawn_own_king_beside_0_behind_5")
    ('pawn_on_*', 'pawn_own_king_beside_*')
    """
    return re.sub(r"_([a-d]?[0-9]).*$", "_*", term)


_SHOWN: Final = 20


def book_make_command(
    context: typer.Context,
    files: Files,
    output: Annotated[
        Path,
        Output(("book",)),
        option("--output", metavar="FILE"),
    ] = Path("opening.book"),
    game: Annotated[
        str | None,
        option("--game", metavar="GAME"),
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
) -> None:
    """Make an opening book from game records.

    A search uses it: `uct:book=FILE` searches only the book's moves while there are any;
    `book_pick=frequency` draws one with probability proportional to its count. Transpositions are
    merged. The exit code is 3 if a file, or a part of one, could not be read.
    """
    with progress_bars() as progress:
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
    if wants_json():
        about = {"file": str(output), "game": book.game, **origin.counts, **origin.choices}
        print_json({**about, "refused": stream.faults})
    else:
        out.print(
            f"{len(book):,} positions with {book.moves_in_all:,} moves, from {games.count:,} games",
            markup=False,
        )
        hint = (
            f"use it: hyoka position search {book.game} --with uct:book={shlex.quote(str(output))}"
        )
        out.print(hint, style="dim", markup=False)
    exit_if_unread(stream.unread)


class _GamesOfOneKind:
    """Read the games whose moves count; records must be of one kind unless one is named."""

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


def book_show_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A book, or records.", show_default=False)
    ],
    moves: Moves = "",
    text: PositionText = None,
    game: Annotated[
        str | None,
        option("--game", metavar="GAME"),
    ] = None,
) -> None:
    """Show the moves of an opening book in a position."""
    name = game or read_model_file(file, "book").game
    if name is None:
        raise Error(f"{file} does not say for which game it is: --game")
    book = Book.from_file(name, file)
    line = played(position(name, text).line(), moves)
    counts = sorted(book.moves(line.position).items(), key=lambda each: -each[1])
    total = sum(count for _, count in counts)
    if wants_json():
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
