# SPDX-License-Identifier: Apache-2.0
"""Commands about studies: evaluate, adjudicate, query with SQL, list columns."""

import contextlib
import dataclasses
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.markup import escape

from hyoka import _core
from hyoka.apps.cli.command_options import (
    FORMATTED_OUTPUT,
    Cluster,
    Output,
    Plan,
    StudyPath,
    Where,
    option,
)
from hyoka.apps.cli.output import (
    answered,
    complain,
    err,
    hint,
    kept_when_interrupted,
    out,
    plain_table,
    print_columns,
    print_json,
    progress_bars,
    tell,
    wants_json,
)
from hyoka.foundation.errors import ConditionError, Error, ParameterError
from hyoka.games import game_facts
from hyoka.parallel import cluster
from hyoka.search import EXACT_METHODS
from hyoka.search.difficulty import SEARCH
from hyoka.storage.outputs import TABLE
from hyoka.storage.result import TABLES, write_table
from hyoka.study import COMMENTS, ColumnSummary, Study, columns_of
from hyoka.study.derived_columns import CategoriesSummary, categorize, rank_moves
from hyoka.study.evaluating import EvaluationPlan, EvaluationSummary, evaluate
from hyoka.study.exact_results import adjudicate, adjudicate_records
from hyoka.study.exporting import export_positions
from hyoka.study.sampling import EVALUATION_COLUMNS, evaluator_titles
from hyoka.study.verify import check_study


def study_info_command(study: StudyPath) -> None:
    """Show a study's games, positions, evaluators and columns."""
    opened = Study.open(study)
    [counts] = opened.sql(
        "select (select count(*) from games) as games, count(*) as positions from positions"
    ).to_pylist()
    evaluated = opened.sql(
        "select engine, count(*) as n from evaluations group by engine"
    ).to_pylist()
    titles = evaluator_titles(opened, [row["engine"] for row in evaluated])
    info: dict[str, Any] = {
        "study": str(opened.path),
        "game": opened.game,
        **counts,
        "evaluators": [
            {"title": title, "id": row["engine"], "positions": row["n"]}
            for title, row in zip(titles, evaluated, strict=True)
        ],
        "columns": opened.condition_columns(),
    }
    if answered(info):
        return
    info["evaluators"] = {each["title"]: each["positions"] for each in info["evaluators"]}
    table = plain_table("", "")
    table.show_header = False
    for key, value in info.items():
        if isinstance(value, dict):
            text = "\n".join(f"{name}: {count:,} positions" for name, count in value.items())
        elif isinstance(value, list):
            text = ", ".join(map(str, value))
        else:
            text = f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(key, escape(text))
    out.print(table)


def study_columns_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME|STUDY", help="A game, or a study.", show_default=False)
    ],
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add",
            metavar="[NAME=]FILE",
            help="Add a column to a study, repeatable: a CSV or Parquet file with the values, and "
            "with game_id and ply or with position (FEN, SFEN …). Without NAME, add all its "
            "other columns.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="NAME", help="Remove an added column, repeatable."),
    ] = None,
) -> None:
    """List the columns of a game or study; add columns of your own.

    --add stores your own columns in a study, for use with --where, --by and slices.
    """
    if add or drop:
        _change_columns(Study.open(game), add or [], drop or [])
        return
    if Path(game).is_dir():
        study = Study.open(game)
        core_columns = {column.name: column for column in _core.columns(study.game)}
        names = study.condition_columns()
        if answered(names):
            return
        table = plain_table("column", "meaning")
        own = dict.fromkeys(
            study.user_columns, "Added by hyoka study columns --add, or add_column."
        )
        for name in names:
            doc = (
                core_columns[name].doc
                if name in core_columns
                else _OF_GAMES.get(name, own.get(name, ""))
            )
            table.add_row(name, doc)
        out.print(table)
        extra = ", ".join(extra for extra in EVALUATION_COLUMNS if extra not in names)
        hint(f"Analyses of evaluators also have {extra}, and evaluator: its name.")
        return
    columns = _core.columns(game_facts(game).name)
    if answered(
        [
            {
                "name": column.name,
                "kind": column.kind,
                "costly": column.costly,
                "labels": list(column.labels),
                "doc": column.doc,
            }
            for column in columns
        ]
    ):
        return
    table = plain_table("column", "kind", "", "meaning")
    for column in columns:
        labels = f" One of {', '.join(column.labels)}." if column.labels else ""
        cost = "costly" if column.costly else ""
        table.add_row(column.name, column.kind, cost, column.doc + labels)
    out.print(table)
    hint("Every position also has game_id, ply, first_to_play and its game's columns.")


def _change_columns(study: Study, add: list[str], drop: list[str]) -> None:
    for name in drop:
        study.drop_column(name)
    reports: list[ColumnSummary] = []
    for text in add:
        name, equals, file = text.partition("=")
        if equals:
            reports.append(study.add_column(name, file))
        else:
            reports += [study.add_column(each, text, column=each) for each in columns_of(text)]
    if answered([dataclasses.asdict(report) for report in reports]):
        return
    table = plain_table("column", "kind", "positions", "known", right=[2, 3])
    for report in reports:
        table.add_row(report.name, report.kind, f"{report.positions:,}", f"{report.known:,}")
    if reports:
        out.print(table)
    for report in reports:
        if report.lost:
            err.print(f"{report.name}: {report.lost:,} rows match no position of the study")


_OF_GAMES = {
    "game_id": "The game's number in the study.",
    "ply": "Moves played before the position.",
    "first_to_play": "Whether the first player is to move.",
    "source": "The file that the record came from.",
    "line": "Line of the file at which the game begins.",
    "number": "Number of the game in the file.",
    "first_rank": "The first player's rating; or rank as a number: 30k = 0, 1d = 30, 1p = 39.",
    "second_rank": "The second player's rating; or rank as a number: 30k = 0, 1d = 30, 1p = 39.",
    "date": "Year-month-day, as far as known; sorts chronologically.",
    "komi": "Komi; null if the record has none.",
    "handicap": "Handicap stones or pieces.",
    "result": "The first player's result: 1, 0.5, 0; null if unknown.",
    "ending": "unknown, normal, resigned, time, illegal, adjudicated, forfeit or unfinished.",
    "margin": "Points by which the first player won.",
    "plies": "Number of moves of the game.",
    "duplicate_of": "The first copy of a duplicate game; duplicates have no positions.",
    "tags": "All headers of the record by name, such as tags['ECO']; null if missing.",
    "adjudicated": "The first player's exact result; null if no method determined it.",
    "progress_eighth": "Progress of the game in eighths of its moves: 0 to 7.",
    "best_move_changes": "Number of changes of the best move from depth 1 to 3: 0 to 2.",
    "correct_depth": "Depth from which the move played is the best: 1 to 3; 4 if it never is.",
}


def study_evaluate_command(
    study: StudyPath,
    evaluators: Annotated[list[str] | None, option("--with", metavar="SPEC")] = None,
    plan: Annotated[Callable[..., EvaluationPlan], Plan(EvaluationPlan)] = EvaluationPlan,
    jobs: Annotated[
        int, option("--jobs", "Number of parallel engines or searches.", min=1, max=1024)
    ] = 1,
    cluster_address: Cluster = None,
) -> None:
    """Evaluate positions with searches, engines, comments, tables.

    Without --with, the values in the records are stored.
    """
    opened = Study.open(study)
    chosen = plan()
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(progress_bars())
        executor = None
        if cluster_address is not None:
            executor, jobs = stack.enter_context(cluster(cluster_address))
        stack.enter_context(kept_when_interrupted("evaluated"))
        reports = evaluate(
            opened,
            evaluators or [COMMENTS],
            chosen,
            jobs=jobs,
            executor=executor,
            progress=progress,
        )
    if not answered([dataclasses.asdict(report) for report in reports]):
        _print_evaluations(reports)
    if not any(report.wanted for report in reports):
        condition = f" that meets {chosen.where}" if chosen.where else ""
        silent = ", or the records have no values" if not evaluators else ""
        complain(f"nothing was evaluated: there is no position{condition}{silent}")
        raise typer.Exit(1)
    useless = (report.wanted and not report.known for report in reports)
    all_failed = (report.failed and report.failed == report.done for report in reports)
    if any(useless) or any(all_failed):
        raise typer.Exit(1)


def _print_evaluations(reports: list[EvaluationSummary]) -> None:
    table = plain_table(
        "evaluator",
        "positions",
        "already done",
        "evaluated",
        "failed",
        "per second",
        right=range(1, 6),
    )
    for report in reports:
        rate = f"{report.done / report.seconds:,.0f}" if report.done and report.seconds else ""
        table.add_row(
            escape(report.title),
            f"{report.wanted:,}",
            f"{report.found:,}",
            f"{report.done - report.failed:,}",
            f"{report.failed:,}",
            rate,
        )
    out.print(table)
    if any(report.engine == COMMENTS and report.wanted == 0 for report in reports):
        err.print("the records have no values for these positions")
    for report in reports:
        for note in report.notes:
            complain(note)
        for failure in report.failures[:3]:
            complain(f"failed ({failure.reason}): {failure.message}")
            complain(failure.detail)
        if report.failed_before:
            complain(
                f"{report.title}: {report.failed_before:,} of {report.wanted:,} "
                "positions failed before; --retry-failed evaluates them again"
            )


def _method_help(name: str) -> str:
    about = (EXACT_METHODS[name].__doc__ or "").strip()
    return f"{name}: {about[:1].lower()}{about[1:]}"


def study_annotate_command(
    study: StudyPath,
    model: Annotated[str | None, option("--model", metavar="FILE")] = None,
    name: Annotated[
        str,
        typer.Option(
            "--prefix",
            metavar="NAME",
            help="With --model: prefix of the new columns, as in NAME_rank.",
        ),
    ] = "model",
    spec: Annotated[str | None, option("--search", metavar="SPEC")] = None,
    jobs: Annotated[int, option("--jobs", "Number of parallel threads.", min=1, max=1024)] = 1,
) -> None:
    """Add columns of move ranks or position difficulty for slices.

    With --model: NAME_rank is the rank of the move played, NAME_surprise is -log of its
    probability, NAME_entropy the entropy of the model's distribution. For games from which the
    model was fitted, the surprise is too low.

    With --search (Sato 2013): progress_eighth is the progress of the game, best_move_changes the
    number of changes of the best move, and correct_depth the depth from which the move played is
    the best, 4 if it never is. A new run replaces the columns.
    """
    if (model is None) == (spec is None):
        raise Error("annotate by a move model (--model) or by a search (--search)")
    opened = Study.open(study)
    with progress_bars() as progress:
        if model is not None:
            ranks = rank_moves(opened, model, name, progress=progress)
        else:
            difficulty = categorize(opened, spec=spec or SEARCH, threads=jobs, progress=progress)
    if wants_json():
        print_json(dataclasses.asdict(difficulty if model is None else ranks))
    elif model is None:
        _print_categories(difficulty)
        by = f"hyoka analyze summary {shlex.quote(str(study))} --by best_move_changes"
        hint(f"use them: {by}")
    else:
        if ranks.note:
            note = f"among the study's {ranks.games:,} games: {ranks.note}"
            tell(note)
        tell(
            f"{ranks.first:.1%} of {ranks.ranked:,} moves played are ranked first; columns "
            f"{', '.join(ranks.columns)}"
        )


def _print_categories(report: CategoriesSummary) -> None:
    table = plain_table("column", "category", "positions", "share", right=range(1, 4))
    for column, counts in report.counts.items():
        rows = {str(category): count for category, count in counts.items()}
        if unknown := report.positions - sum(counts.values()):
            rows["unknown"] = unknown
        for category, count in rows.items():
            table.add_row(column, category, f"{count:,}", f"{count / report.positions:.1%}")
    out.print(table)


def study_adjudicate_command(
    study: StudyPath,
    method: Annotated[
        str | None,
        typer.Option(
            "--exact",
            metavar="METHOD",
            help=" ".join(map(_method_help, EXACT_METHODS))
            + " The default is rules; with --record, mate.",
            show_default=False,
        ),
    ] = None,
    where: Where = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Search each game for its first position with an exact result, and store its "
            "winner for the whole game. If interrupted, the same command resumes.",
        ),
    ] = False,
    jobs: Annotated[int, option("--jobs", "Number of parallel threads.", min=1, max=1024)] = 1,
) -> None:
    """Store exact results beside the results of the records.

    By default, the positions at the end of each game are adjudicated. Conditions can then use the
    column `adjudicated`, and all analyses use it instead of the record's result.
    """
    if record and where is not None:
        raise ParameterError(
            "where", "selects positions, but with --record all positions are searched"
        )
    opened = Study.open(study)
    if record:
        _adjudicate_records(opened, method or "mate", jobs)
        return
    with progress_bars() as progress:
        report = adjudicate(opened, method or "rules", where=where, progress=progress)
    if answered(dataclasses.asdict(report)):
        return
    out.print(
        f"{report.method}: exact results for {report.known:,} of {report.asked:,} positions, "
        f"{report.differing:,} different from the record"
    )


def _adjudicate_records(study: Study, method: str, jobs: int) -> None:
    with progress_bars() as progress, kept_when_interrupted("adjudicated"):
        report = adjudicate_records(study, method, jobs=jobs, progress=progress)
    if answered(dataclasses.asdict(report)):
        return
    out.print(
        f"{report.method}: exact winners of {report.known:,} of {report.records:,} games, "
        f"{report.changed:,} different from the record, {report.new:,} not in the record"
    )


def study_verify_command(
    study: StudyPath,
    seal: Annotated[
        bool,
        typer.Option(
            "--seal",
            help="Add checksums to an older study, accept a study.toml that was changed by hand, "
            "and drop damaged evaluations; `hyoka study evaluate` computes them again.",
        ),
    ] = False,
) -> None:
    """Verify the checksums and tables of a study."""
    check = check_study(study, seal=seal)
    if not answered({**dataclasses.asdict(check), "is_whole": check.is_whole}):
        for damage in check.damage:
            complain(f"damaged: {damage}")
        if check.is_whole:
            tell(
                f"{study} is intact: {check.games:,} games, {check.positions:,} positions, "
                f"{check.evaluations:,} evaluations in {check.parts:,} parts, "
                f"{check.bytes / 1e6:,.1f} MB"
            )
        if not check.sealed:
            err.print("its parts have no checksums; --seal adds them")
        if check.leftovers:
            err.print(
                f"{len(check.leftovers)} files are no longer needed; the next writer clears them"
            )
    if not check.is_whole:
        raise typer.Exit(1)


def study_sql_command(
    study: StudyPath,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="A SELECT over games, positions, tags, remarks, evaluations and more, such as "
            '"select ending, count(*) from games group by ending". position_text(game_id, ply) '
            "returns a position as text.",
            show_default=False,
        ),
    ],
    limit: Annotated[int | None, option("--limit", "Maximum number of rows.", min=1)] = None,
    output: Annotated[
        Path | None, Output((TABLE,), TABLES), option("--output", FORMATTED_OUTPUT, metavar="FILE")
    ] = None,
) -> None:
    """Query a study with SQL, read-only."""
    answer = Study.open(study).sql(query)
    if output is not None:
        _check_names(answer)
        written = answer.slice(0, limit)
        write_table(written, output)
        if not answered({"path": str(output), "rows": len(written)}):
            complain(f"wrote {output}: {len(written):,} rows")
        return
    if wants_json():
        rows = _rows(answer.slice(0, limit))
        print_json(
            [
                {
                    name: value.hex() if isinstance(value, bytes) else value
                    for name, value in row.items()
                }
                for row in rows
            ]
        )
        return
    limit = limit or 50
    rows = _rows(answer.slice(0, limit))
    print_columns(answer.column_names, [[*map(_cell, row.values())] for row in rows])
    if len(answer) > limit:
        complain(f"{limit} of {len(answer):,} rows; --limit shows more")


def _check_names(answer: pa.Table) -> None:
    for name in answer.column_names:
        if answer.column_names.count(name) > 1:
            raise ConditionError(f"two columns are called '{name}'; rename one with AS")


def _rows(answer: pa.Table) -> list[dict[str, object]]:
    """Convert an answer's rows to Python values, which support fewer dates than SQL."""
    _check_names(answer)
    try:
        return list(answer.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException) as error:
        raise ConditionError(
            f"a value of the answer can't be shown ({error}); cast it to text"
        ) from error


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def study_export_command(
    study: StudyPath,
    output: Annotated[
        Path,
        Output((TABLE,)),
        option("--output", FORMATTED_OUTPUT, metavar="FILE", show_default=False),
    ],
    evaluator: Annotated[
        str | None, option("--evaluator", metavar="NAME", show_default=False)
    ] = None,
    where: Where = None,
    games: Annotated[
        bool, typer.Option("--by-game", help="In tables, a row for each game with its moves.")
    ] = False,
) -> None:
    """Export positions with results and evaluations, or games.

    Endings of record files, such as .pgn, write the games of the positions. Adjudications replace
    the records' results. Positions without the data that a format needs (a result, a score, a move
    played) are excluded.
    """
    opened = Study.open(study)
    with progress_bars() as progress:
        report = export_positions(
            opened, output, evaluator=evaluator, where=where, games=games, progress=progress
        )
    if answered(dataclasses.asdict(report)):
        return
    complain(report.sentence)
