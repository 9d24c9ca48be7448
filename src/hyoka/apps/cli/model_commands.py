# SPDX-License-Identifier: Apache-2.0
"""Commands about models: contents of model files, terms of evaluations, opening books."""

import fnmatch
import itertools
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.markup import escape

from hyoka import _core
from hyoka.analysis import FORMATS, Resampling
from hyoka.apps.cli.analyze_commands import print_results
from hyoka.apps.cli.command_options import (
    FORMATTED_OUTPUT,
    HoldOut,
    Output,
    Plan,
    Sources,
    option,
)
from hyoka.apps.cli.output import (
    answered,
    command_line,
    hint,
    out,
    plain_table,
    print_json,
    print_table,
    progress_bars,
    tell,
    wants_json,
)
from hyoka.apps.cli.position_commands import GameName, Moves, PositionText, played
from hyoka.apps.cli.record_commands import Files, exit_if_unread
from hyoka.foundation.errors import Error
from hyoka.foundation.progress import OnProgress
from hyoka.games import game_facts
from hyoka.games.feature_descriptions import meaning_of, move_features, term_meaning
from hyoka.games.registry import position
from hyoka.learning.mets import THRESHOLD, learn_mets
from hyoka.learning.prediction import (
    POSITIONS,
    JudgedGames,
    Recognitions,
    combine,
    compared,
    held_out,
    ids_in,
    ids_of,
    judged_games,
    learned_origin,
    predict,
    table_of,
)
from hyoka.learning.recalibration import CalibrationTable
from hyoka.learning.strengths import (
    Latent,
    Strengths,
    StrengthSettings,
    learn_latent,
    learn_strengths,
)
from hyoka.models.book import PLIES, WHOSE, Whose
from hyoka.models.bundled import bundled_model_file, bundled_names
from hyoka.models.calibration_model import LANGUAGES, CalibrationModel
from hyoka.models.loading import move_model
from hyoka.models.training_games import LearnedGames
from hyoka.records import Record, RecordStream, batches, read_records
from hyoka.search import Book, linear_evaluation
from hyoka.storage.model_file import BUILT_IN, KINDS, ModelFile, Origin, read_model_file
from hyoka.storage.outputs import CODE, PAGE, PICTURE, TABLE


def model_show_command(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|NAME]",
            help="A model file, or the name of a bundled model; without one, all bundled models.",
            show_default=False,
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        Output((PAGE, PICTURE, TABLE, CODE), (*FORMATS, *LANGUAGES)),
        option(
            "--output",
            "Output file of a calibration model, repeatable: its curve (.html, .png, .svg, .pdf), "
            "a table (.csv, .parquet), its constants (.json) or a function (.c, .h, .py).",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Show the contents and provenance of a model file.

    A damaged file is an error. Without a file, the bundled models are listed. Calibration models
    are shown as a table, and exported by -o: hyoka model show calibration.json -o calibration.c
    """
    if source is None:
        if files:
            raise Error("name the calibration model to export")
        built_in = [bundled_model_file(name) for name in bundled_names()]
        if not answered([model_file.as_json() for model_file in built_in]):
            _print_list(built_in)
        return
    is_name = source.startswith(f"{BUILT_IN}:")
    model_file = bundled_model_file(source) if is_name else read_model_file(source)
    if model_file.kind == CalibrationModel.kind:
        _show_calibration(model_file, files or [])
        return
    if files:
        raise Error(f"{source}: -o exports calibration models, and it holds {model_file.kind}")
    if not answered(model_file.as_json()):
        _print_facts(model_file)


def _show_calibration(model_file: ModelFile, files: list[Path]) -> None:
    table = CalibrationTable(CalibrationModel.from_model_file(model_file))
    for file in files:
        table.save(file)
    if answered(model_file.as_json() | {"rows": table.rows()}):
        return
    _print_facts(model_file)
    print_results([table])


def _print_list(model_files: list[ModelFile]) -> None:
    table = plain_table("", "kind", "bytes", "SHA-256", right=[2])
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
        str, typer.Argument(metavar="[PATTERN]", help="Only terms that match, such as 'king_*'.")
    ] = "*",
    weights: Annotated[Path | None, option("--from", metavar="FILE")] = None,
    every: Annotated[
        bool, typer.Option("--expand", help="List each term of a family such as pawn_on_*.")
    ] = False,
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
    table = plain_table("term", "opening", "ending", "meaning", right=(1, 2))
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
        hint("--expand lists each term of the families, with its weights")


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
        Path, Output(("book",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("opening.book"),
    game: Annotated[str | None, option("--game", metavar="GAME")] = None,
    whose: Annotated[
        Whose,
        typer.Option(
            help="Moves to include. winners: those of each game's winner, as in Sato 2010; "
            "decided: those of both players in games with a winner; all: those of all games."
        ),
    ] = WHOSE[0],
    plies: Annotated[int, typer.Option(min=1, help="Maximum number of moves per game.")] = PLIES,
    least: Annotated[
        int,
        typer.Option("--min-count", min=1, help="Minimum number of times that a move was played."),
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
        tell(
            f"{len(book):,} positions with {book.moves_in_all:,} moves, from {games.count:,} games"
        )
        book_name = shlex.quote(str(output))
        hint(f"use it: hyoka position search {book.game} --with uct:book={book_name}")
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
    game: Annotated[str | None, option("--game", metavar="GAME")] = None,
) -> None:
    """Show the moves of an opening book in a position."""
    name = game or read_model_file(file, "book").game
    if name is None:
        raise Error(f"{file} does not name its game: set it with --game")
    book = Book.from_file(name, file)
    line = played(position(name, text).line(), moves)
    counts = sorted(book.moves(line.position).items(), key=lambda each: -each[1])
    total = sum(count for _, count in counts)
    if wants_json():
        book_moves = [
            {"move": str(move), "count": count, "share": count / total} for move, count in counts
        ]
        about = {"file": str(file), "game": book.game, "positions": len(book)}
        print_json({**about, "position": line.position.text, "moves": book_moves})
        return
    words = f"{book.game}: {len(book):,} positions with {book.moves_in_all:,} moves"
    hint(words)
    if not counts:
        out.print("the position is not in the book")
        return
    rows = [(str(move), f"{count:,}", f"{count / total:.1%}") for move, count in counts[:_SHOWN]]
    print_table(("move", "played", "share"), rows, right=[1, 2])
    if len(counts) > _SHOWN:
        hint(f"and {len(counts) - _SHOWN} more")


HOLD_OUT = 0.1


def learn_mets_command(
    context: typer.Context,
    records: Sources,
    output: Annotated[
        Path, Output(("mets",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("mets.bin"),
    threshold: Annotated[
        int,
        typer.Option(
            "--min-patterns", min=1, help="A node that fewer patterns reach becomes a leaf."
        ),
    ] = THRESHOLD,
    symmetric: Annotated[
        bool, typer.Option("--symmetric", help="Train on all eight orientations of each pattern.")
    ] = False,
    tactics: Annotated[
        bool,
        typer.Option(
            "--tactics",
            help="First split on liberties, captures, ladders and recent moves, as long as these "
            "splits are informative.",
        ),
    ] = False,
    smoothing: Annotated[
        float,
        typer.Option(
            min=0,
            help="Smooth each leaf with this many virtual points at the odds of its ancestors; 0: "
            "no smoothing, as in the paper.",
        ),
    ] = 0,
    hold_out: HoldOut = HOLD_OUT,
) -> None:
    """Grow a METS tree, a move model of patterns (Go, Othello).

    Then report how well it predicts the moves of held-out games.
    """
    learned, held_out_games = split(games_of(records), hold_out)
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
    with progress_bars() as progress:
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
        held_out = judged(tree.model(), held_out_games, output, progress)
    about = {
        "game": tree.game,
        "games": len(learned),
        "moves": origin.counts["moves"],
        "leaves": tree.leaves,
        "mean_depth": tree.mean_depth,
        "bytes": tree.size,
        "file": str(output),
    }
    if answered({**about, "held_out": None if held_out is None else held_out.rows()}):
        return
    tell(
        f"{tree.leaves:,} leaves at a mean depth of {tree.mean_depth:.1f}, {tree.size:,} bytes, "
        f"from {about['moves']:,} moves of {len(learned):,} games"
    )
    print_accuracy(held_out, output)


def model_predict_command(
    models: Annotated[list[str], option("--model", metavar="FILE")],
    records: Sources,
    every_game: Annotated[bool, option("--all")] = False,
    resamples: Annotated[int, option("--resamples", min=0)] = 1000,
    output: Annotated[
        Path | None,
        Output((PAGE, PICTURE, TABLE), FORMATS),
        option("--output", FORMATTED_OUTPUT, metavar="FILE"),
    ] = None,
) -> None:
    """Measure the prediction accuracy of move models.

    Games from which a model was fitted are excluded; the first line reports how many. Model files
    list those games.
    """
    games = games_of(records)
    rankings = {name: move_model(games[0].game, name) for name in models}
    learned = [LearnedGames.of_model(games[0].game, name) for name in models]
    judges = judged_games(games, learned, every_game=every_game)
    table = table_of(judges.records)
    results = []
    with progress_bars() as progress:
        for name, model in rankings.items():
            results.append(
                predict(
                    table, model, name=name, resampling=Resampling(resamples), progress=progress
                )
            )
    if output is not None:
        results[0].save(output)
    if answered(
        [{"model": each.name, "moves": each.rows()} | judges.as_json() for each in results]
    ):
        return
    tell_judges(judges)
    for each in results:
        _print(each)
    if len(results) > 1:
        _print_rows(compared(results))


def games_of(sources: list[Path]) -> list[Record]:
    """Read the games of records, which must be of one kind."""
    games = [record for source in sources for record in read_records(source)]
    kinds = sorted({record.game for record in games})
    if len(kinds) > 1:
        raise Error(f"records of several games ({', '.join(kinds)}): give those of one")
    if not games:
        raise Error("no games are in these records")
    return games


def judged(
    model: _core.Model, games: list[Record], file: Path, progress: OnProgress | None
) -> Recognitions | None:
    """Measure a new model on held-out games; None without any."""
    if not games:
        return None
    return predict(table_of(games), model, name=str(file), progress=progress)


def print_accuracy(accuracy: Recognitions | None, file: Path) -> None:
    """Print the table of held-out games, and the next step for the file."""
    if accuracy is not None:
        _print(accuracy)
    hint(f"use it: hyoka model predict RECORDS --model {shlex.quote(str(file))}")


def split(
    games: list[Record], hold_out: float, start: LearnedGames | None = None
) -> tuple[list[Record], list[Record]]:
    """Divide games into fitting and held-out games, without those that `start` was fitted to."""
    apart = held_out(games, hold_out, start)
    return (
        [record for record, out_ in zip(games, apart, strict=True) if not out_],
        [record for record, out_ in zip(games, apart, strict=True) if out_],
    )


def tell_judges(judges: JudgedGames, verb: str = "judged by") -> None:
    """Print the number of test games, and why others are excluded."""
    tell(judges.sentence(verb))


def _print(result: Recognitions) -> None:
    tell(f"\n{result.title}")
    _print_rows(result.lines())
    for note in result.notes():
        hint(note)


def _print_rows(rows: tuple[tuple[str, ...], ...]) -> None:
    heading, *others = rows
    print_table(heading, others, right=range(1, len(heading)))


def learn_combine_command(
    context: typer.Context,
    models: Annotated[list[Path], option("--model", metavar="FILE")],
    records: Sources,
    output: Annotated[
        Path, Output(("combined",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("combined.bin"),
    positions: Annotated[int, option("--positions", min=1)] = POSITIONS,
) -> None:
    """Combine several move models into one.

    The weights are fitted to half of the games that no model learned from, and tested on the other
    half.
    """
    if len(models) < 2:
        raise Error("give two models or more: -m FILE -m FILE")
    parts = [read_model_file(model) for model in models]
    sources = [LearnedGames.of_origin(part.origin, part.path) for part in parts]
    if unknown := [source.model for source in sources if not source.is_known]:
        raise Error(
            f"{unknown[0]} does not list its training games: give models made by `hyoka learn …`"
        )
    judges = judged_games(games_of(records), sources, every_game=False)
    # The parity of an id is random, and independent of the parts' own hash rule.
    odd = (ids_of(judges.records) & np.uint64(1)).astype(bool)
    learned = [record for record, own in zip(judges.records, odd, strict=True) if own]
    held_out_games = [record for record, own in zip(judges.records, odd, strict=True) if not own]
    table = table_of(learned)
    origin = Origin(
        command_line(context),
        counts={"games": len(learned)},
        parents={str(model): part.sha256 for model, part in zip(models, parts, strict=True)},
    )
    origin = learned_origin(origin, ids_in(table), sources)
    with progress_bars() as progress:
        combined = combine(table, parts, positions=positions, origin=origin, progress=progress)
        combined.save(output)
        held_out = judged(combined.model(), held_out_games, output, progress)
    if answered(
        {
            "game": combined.game,
            "weights": dict(zip(map(str, models), combined.weights, strict=True)),
            "log_losses": list(combined.log_losses),
            "file": str(output),
            "held_out": None if held_out is None else held_out.rows(),
        }
    ):
        return
    tell_judges(judges, "learned from and judged by")
    shown = plain_table("model", "power", "log-loss alone", right=(1, 2))
    for model, weight, loss in zip(models, combined.weights, combined.log_losses, strict=False):
        shown.add_row(escape(str(model)), f"{weight:.3f}", f"{loss:.3f}")
    shown.add_row("all", "", f"{combined.log_losses[-1]:.3f}")
    out.print(shown)
    print_accuracy(held_out, output)


def learn_strengths_command(
    context: typer.Context,
    records: Sources,
    output: Annotated[
        Path, Output(("strengths", "latent")), option("--output", "Output file.", metavar="FILE")
    ] = Path("strengths.json"),
    settings: Annotated[Callable[..., StrengthSettings], Plan(StrengthSettings)] = StrengthSettings,
    hold_out: HoldOut = HOLD_OUT,
    rows: Annotated[
        int,
        typer.Option(
            "--rows",
            min=0,
            help="Number of features to print, of the strongest and of the weakest.",
        ),
    ] = 20,
    table: Annotated[
        Path | None,
        Output((PAGE, PICTURE, TABLE), FORMATS),
        typer.Option(
            "--table", metavar="FILE", help="Write all features: .csv, .json, .html, .png or .svg."
        ),
    ] = None,
) -> None:
    """Fit strengths of move features (Bradley-Terry).

    A move's strength is the product of its features' strengths (γ). Intervals are clustered by
    game.
    """
    chosen = settings()
    learned, held_out_games = split(games_of(records), hold_out)
    games = table_of(learned)
    positions = min(chosen.positions or sys.maxsize, int((games.played >= 0).sum()))
    origin = Origin(
        command_line(context),
        seed=chosen.seed,
        counts={"games": len(learned), "positions": positions},
        choices={
            "optimiser": chosen.optimizer,
            "prior": f"{chosen.prior:g}",
            "hold_out": f"{hold_out:g}",
            "shapes": str(chosen.shapes),
            "rank": str(chosen.rank),
        },
        learned_games=ids_in(games),
    )
    with progress_bars() as progress:
        strengths = learn_strengths(games, chosen, origin=origin, progress=progress)
        model: Strengths | Latent = strengths
        if chosen.rank:
            model = learn_latent(games, strengths, chosen, origin=origin, progress=progress)
        model.model_file().save(output)
        if table is not None:
            strengths.save(table)
        held_out = judged(model.model(), held_out_games, output, progress)
    if answered(
        {
            "game": strengths.game,
            "games": len(learned),
            "positions": strengths.positions,
            "converged": strengths.converged,
            "rounds": strengths.rounds,
            "log_loss": strengths.log_loss,
            "random_log_loss": strengths.random_log_loss,
            "features": strengths.rows(),
            "file": str(output),
            "held_out": None if held_out is None else held_out.rows(),
        }
    ):
        return
    _print_strengths(strengths, rows)
    print_accuracy(held_out, output)


def _print_strengths(strengths: Strengths, rows: int) -> None:
    heading, *lines = strengths.lines()
    tell(strengths.title)
    table = plain_table(*map(escape, heading), right=range(1, len(heading)))
    few = len(lines) <= 2 * rows
    for line in lines if few else lines[:rows]:
        table.add_row(*map(escape, line))
    if not few:
        table.add_row(f"… {len(lines) - 2 * rows:,} more", *[""] * (len(heading) - 1))
        for line in lines[-rows:] if rows else []:
            table.add_row(*map(escape, line))
    out.print(table)
    for note in strengths.notes():
        out.print(note, style="dim" if strengths.converged else None, markup=False)


def model_features_command(
    game: GameName,
    with_patterns: Annotated[
        bool, typer.Option("--patterns", help="Also list the stone patterns (Go: 1,107).")
    ] = False,
) -> None:
    """List the move features of a game, with strengths."""
    name = game_facts(game).name
    strengths = move_features(name)
    if not strengths:
        raise Error(f"moves of {name} have no features")
    if answered(
        [
            {"feature": feature, "strength": strength, "meaning": meaning_of(feature)}
            for feature, strength in strengths.items()
        ]
    ):
        return
    table = plain_table("feature", "built-in γ", "meaning", right=(1,))
    hidden = 0
    for feature, strength in strengths.items():
        if feature.startswith("pattern_") and not with_patterns:
            hidden += 1
            continue
        table.add_row(escape(feature), f"{strength:.3g}", escape(meaning_of(feature)))
    out.print(table)
    if hidden:
        hint(f"and {hidden:,} stone patterns: --patterns")
