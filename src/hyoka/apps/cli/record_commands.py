# SPDX-License-Identifier: Apache-2.0
"""Commands about records: read them into a study, count them, write them in another notation."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hyoka.apps.cli.command_options import FORMATTED_OUTPUT, Output, OutputFolder, StudyPath, option
from hyoka.apps.cli.output import (
    answered,
    complain,
    out,
    plain_table,
    print_json,
    progress_bars,
    say,
    wants_json,
)
from hyoka.foundation.errors import Error
from hyoka.records import Record, Refused, UnreadableNumber, batches, read_records, write_records
from hyoka.records.summary import Summary, summarize
from hyoka.records.writing import format_of_path
from hyoka.storage.outputs import STUDY
from hyoka.study import ImportSummary, append_to_study, games_where, make_study

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...",
        help="Files, folders, patterns, archives (.zip, .tar.*), compressed or not (.gz .bz2 .xz "
        ".zst); - is standard input. The content determines the notation.",
        show_default=False,
    ),
]
Format = Annotated[str | None, option("--format", metavar="NAME")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad game.")]


GamesWhere = Annotated[
    str | None,
    option("--where", 'SQL condition on games, such as "plies >= 40".', metavar="SQL"),
]


def study_create_command(
    study: Annotated[
        Path,
        OutputFolder(STUDY, "a study"),
        typer.Argument(metavar="STUDY", help="The new folder.", show_default=False),
    ],
    files: Files,
    where: GamesWhere = None,
    columns: Annotated[
        str,
        typer.Option(
            "--derived",
            metavar="NAMES",
            help="Derived columns to compute for each position: all, cheap, none, or names "
            "(`hyoka study columns GAME` lists them).",
        ),
    ] = "all",
    format: Format = None,
    strict: Strict = False,
) -> None:
    """Create a study from game records.

    Bad games are skipped and counted, and the study lists them. The exit code is 3 if a file or a
    part of one, such as a damaged archive, could not be read.
    """
    with progress_bars() as progress:
        _, report = make_study(
            study,
            files,
            where=where,
            columns=columns,
            format=format,
            strict=strict,
            progress=progress,
        )
    _print_report(report, study, "")
    exit_if_unread(report.unread)


def study_append_command(
    study: StudyPath,
    files: Files,
    where: GamesWhere = None,
    format: Format = None,
    strict: Strict = False,
) -> None:
    """Add records to a study; known games are marked as duplicates."""
    with progress_bars() as progress:
        _, report = append_to_study(
            study, files, where=where, format=format, strict=strict, progress=progress
        )
    _print_report(report, study, "added ")
    exit_if_unread(report.unread)


def records_info_command(
    files: Files, where: GamesWhere = None, format: Format = None, strict: Strict = False
) -> None:
    """Count and describe game records.

    The exit code is 3 if a file or a part of one, such as a damaged archive, could not be read.
    """
    with progress_bars() as progress:
        games_read = batches(files, format=format, strict=strict, progress=progress)
        summary = summarize(games_read, partial(games_where, where) if where else None)
    _print_summary(summary)
    if not summary.games:
        raise typer.Exit(1)
    exit_if_unread(summary.unread)


def exit_if_unread(unread: int) -> None:
    """The exit code tells programs whether all games were read."""
    if unread:
        complain(f"{unread:,} files or parts of files could not be read")
        raise typer.Exit(3)


def records_convert_command(
    files: Files,
    output: Annotated[
        Path, Output(), option("--output", FORMATTED_OUTPUT, metavar="FILE", show_default=False)
    ],
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to-format", metavar="NAME", help="Output format: sgf, pgn, csa, kif or lines."
        ),
    ] = None,
    format: Format = None,
    strict: Strict = False,
    engine_comments: Annotated[
        bool | None,
        typer.Option(
            "--engine-comments/--no-engine-comments",
            help="In PGN, write evaluations as match runners do, {+0.35/12 1.2s}, or as commands; "
            "by default, comments stay as they are.",
            metavar="",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Convert records to another format of the same game."""
    stream = read_records(*files, format=format, strict=strict)

    def records() -> Iterator[Record]:
        yield from stream

    if to_format is None:
        format_of_path(output)  # raise early if the file type is unknown
    games = list(records())
    if not games:
        total = sum(stream.faults.values())
        why = f" ({total:,} refused; the first: {stream.refused[0]})" if stream.refused else ""
        raise Error(
            f"no games were read from {' '.join(files)}{why}; nothing is written to {output}"
        )
    count = write_records(games, output, format=to_format, engine_comments=engine_comments)
    if wants_json():
        values = {"file": str(output), "games": count, "refused": stream.faults}
        print_json({**values, "unreadable": stream.unreadable, "unread": stream.unread})
    else:
        say(f"wrote {count:,} games to {output}")
        _print_unreadable(stream.unreadable, stream.first_unreadable)
        _print_refused(stream.refused, stream.faults)
    exit_if_unread(stream.unread)


def _print_refused(first: list[Refused], faults: dict[str, int]) -> None:
    if not faults:
        return
    total = sum(faults.values())
    kinds = ", ".join(f"{count:,} {fault}" for fault, count in faults.items())
    complain(f"refused {total:,}: {kinds}")
    for refused in first[:5]:
        complain(f"  {refused}")
    if total > 5:
        complain(f"  and {total - 5:,} more")


def _print_unreadable(count: int, first: list[UnreadableNumber]) -> None:
    if not count:
        return
    complain(f"{count:,} numbers in comments could not be read and are ignored, e.g.")
    for each in first[:5]:
        complain(f"  {each}")


def _print_report(report: ImportSummary, study: Path, added: str) -> None:
    if wants_json():
        values = vars(report) | {"refused": dict(report.refused)}
        del values["first_refused"], values["first_unreadable"]
        print_json({"study": str(study), **values, "unread": report.unread})
        return
    out.print(
        f"{added}[bold]{report.games:,}[/] games of {report.game}, {report.positions:,} positions "
        f"{'to' if added else 'in'} {study}"
    )
    if report.duplicates:
        out.print(
            f"{report.duplicates:,} exact duplicates are marked and have no positions; "
            f"{report.merged_duplicates:,} of them added comments, evaluations or tags to the "
            "first copy of the game"
        )
    if report.values:
        out.print(
            f"{report.values:,} values in the records; hyoka study evaluate {study} stores them"
        )
    if report.left_out:
        out.print(f"{report.left_out:,} games excluded by the condition")
    _print_unreadable(report.unreadable, report.first_unreadable)
    _print_refused(report.first_refused, dict(report.refused))


def _print_summary(summary: Summary) -> None:
    if answered(summary.as_json()):
        return
    for name, one in summary.games.items():
        table = plain_table("", "", right=[])
        table.show_header = False
        table.add_row("games", f"[bold]{one.games:,}[/] of {name}")
        table.add_row("moves", f"{one.moves:,}")
        low, high, mean = one.plies.low, one.plies.high, one.plies.mean
        table.add_row("length", f"{low:.0f} to {high:.0f} plies, mean {mean:.1f}")
        table.add_row("results", _counts(dict(one.results.most_common())))
        table.add_row("endings", _counts(dict(one.endings.most_common())))
        ranks, ratings = one.standings.ranks, one.standings.ratings
        if ranks.count:
            table.add_row("ranks", f"{ranks.text} ({ranks.count:,})")
        if ratings.count:
            table.add_row(
                "ratings", f"{ratings.text} Elo, mean {ratings.mean:.0f} ({ratings.count:,})"
            )
        if one.komi.count:
            table.add_row(
                "komi", f"{one.komi.low:g} to {one.komi.high:g} ({one.komi.count:,} games)"
            )
        if one.first_date:
            table.add_row("dates", f"{one.first_date} to {one.last_date}")
        if one.handicap_games:
            table.add_row("handicap", f"{one.handicap_games:,} games")
        if one.set_up_games:
            table.add_row("set up", f"{one.set_up_games:,} games")
        if one.values:
            table.add_row("values", f"{one.values:,} positions evaluated in the records")
        table.add_row("notation", _counts(dict(one.formats.most_common())))
        out.print(table)
    if not summary.games:
        out.print("no games")
    _print_unreadable(summary.unreadable, summary.first_unreadable)
    _print_refused(summary.first_refused, dict(summary.refused))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())
