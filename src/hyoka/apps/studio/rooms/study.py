# SPDX-License-Identifier: Apache-2.0
"""Study: where evaluations are wrong: curves, conditions, slices, games."""

import math
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.blocks import in_columns
from hyoka.apps.studio.pages import Room, fragment, html, page, sentence, studio_of, wants_part
from hyoka.apps.studio.rooms.study_query import StudyQuery, columns_of, suggested_values
from hyoka.apps.studio.rooms.study_views import (
    RESULTS,
    SAVED,
    VIEWS,
    figures_of,
    game_address,
    overview_row,
    range_of,
)
from hyoka.apps.studio.rooms.viewer import VALUE, GameView, Line, ply_of, result_of, show_game
from hyoka.storage.manifest import DESCRIPTION, read_manifest
from hyoka.study.sampling import evaluator_titles

_FIRST = "overview"
_MEDIA = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html",
}


def show(request: Request) -> Response:
    """All studies, or what an address asks of one."""
    if not request.query_params.get("path"):
        studies = studio_of(request).folder.items("study")
        return page(request, ROOM, "study/index.html", studies=studies)
    query = StudyQuery.of(request)
    name = query["view"] or _FIRST
    if name not in VIEWS:
        raise hk.errors.ParameterError("view", f"is one of {', '.join(VIEWS)}")
    view = VIEWS[name]
    values: dict[str, Any] = {"query": query, "view": view, "view_name": name, "views": VIEWS}
    names = query.study.engines
    titles = evaluator_titles(query.study, names)
    values["labels"] = dict(zip(names, titles, strict=True))
    in_columns(view.columns)
    if wants_part(request):
        return _part(request, name, values)
    is_judged = bool(names)
    values |= {
        "is_judged": is_judged,
        "facts": read_manifest(query.study.path / DESCRIPTION).values,
        "columns": columns_of(query) if view.has_condition else [],
        "answer": None,
        "problem": "",
    }
    if (is_judged or name == "games") and view.is_quick(query):
        try:
            values |= {"answer": f"study/{name}.html"} | view.values(query)
        except hk.Error as error:  # keeps the typed text for correction
            values |= {"answer": None, "problem": sentence(error)}
    status = HTTPStatus.BAD_REQUEST if values["problem"] else HTTPStatus.OK
    return page(request, ROOM, "study/study.html", status=status, **values)


def _part(request: Request, name: str, values: dict[str, Any]) -> Response:
    """An answer, and tabs that lead on with what was typed.

    While a condition is typed it is often wrong for a moment: what stood there before then stays.
    """
    view, query = values["view"], values["query"]
    try:
        answer, problem = html(f"study/{name}.html", **values, **view.values(query)), ""
    except hk.Error as error:
        answer, problem = "", sentence(error)
    aside = html("study/aside.html", **values, problem=problem)
    if not problem:
        return HTMLResponse(answer + aside)
    stays = {"HX-Reswap": "none"} if request.headers.get("hx-trigger") == "ask" else None
    return HTMLResponse(aside, HTTPStatus.BAD_REQUEST, stays)


def row(request: Request) -> Response:
    """An evaluator's row of the overview, with its figures."""
    query = StudyQuery.of(request)
    name = query["of"]
    if name not in query.study.engines:
        raise hk.errors.StudyError(f"this study has no evaluator '{name}'")
    [title] = evaluator_titles(query.study, [name])
    figures, problem = None, ""
    try:
        figures = figures_of(query, name)
    except hk.Error as error:
        problem = sentence(error)
    shown = overview_row(query, name, title, figures, problem)
    return fragment("study/row.html", query=query, row=shown)


def chosen_range(request: Request) -> Response:
    """Figures and boards of a range of values, for beside the chart."""
    query = StudyQuery.of(request)
    chosen = range_of(query) if query["at"] else None
    return fragment("study/range.html", query=query, chosen=chosen)


def values(request: Request) -> Response:
    """Values of a column, as suggestions for a condition."""
    query = StudyQuery.of(request)
    return JSONResponse(suggested_values(query, query["column"]))


def save(request: Request) -> Response:
    """A result as a file: the same that the library's `save` writes."""
    query = StudyQuery.of(request)
    ending, result = query["as"], query["result"]
    if ending not in SAVED:
        raise hk.errors.ParameterError("as", f"is one of {', '.join(SAVED)}")
    if result not in RESULTS:
        raise hk.errors.ParameterError("result", f"is one of {', '.join(RESULTS)}")
    with tempfile.TemporaryDirectory(prefix="hyoka-studio-") as folder:
        file = Path(folder) / f"{result}.{ending}"
        RESULTS[result](query).save(file)
        content = file.read_bytes()
    name = f"{query.study.path.name}-{result}.{ending}"
    plain = "".join(
        letter if letter.isascii() and letter.isalnum() else "-" for letter in name[:80]
    )
    return Response(
        content,
        media_type=_MEDIA[ending],
        headers={
            "content-disposition": f'attachment; filename="{plain[: -len(ending) - 1]}.{ending}"'
        },
    )


def game(request: Request) -> Response:
    """A game of a study with what every evaluator said of it."""
    query = StudyQuery.of(request)
    number = query.number("game", 0, 0, 2**40)
    record = query.study.record(number)
    count = int(query.study.sql("select max(game_id) as last from games")["last"][0].as_py()) + 1
    facts = [
        ("Players", f"{record.first or '?'} – {record.second or '?'}"),
        ("Result", result_of(record)),
        ("Event", record.event),
        ("Date", record.date),
        ("Ratings", " – ".join(filter(None, (record.first_rating, record.second_rating)))),
    ]
    neighbors = [("Previous game", number - 1), ("Next game", number + 1)]
    view = GameView(
        f"Game {number:,} of {query.path}",
        record,
        ply_of(request, record),
        _lines(query.study, number),
        lambda ply: query.to("/study/game", ply=ply),
        [(name, text) for name, text in facts if text],
        ("Back to the study", query.to(game=None, ply=None)),
        [(words, game_address(query, other)) for words, other in neighbors if 0 <= other < count],
        source=(query.path, number),
    )
    return show_game(request, ROOM, view)


def _lines(study: hk.Study, game: int) -> list[Line]:
    """Each evaluator's values of a game, or its scores if it has some."""
    rows = study.sql(
        "select engine, ply, value, score, mate, unit from evaluations "
        f"where game_id = {int(game)} and failed is null order by engine, ply"
    ).to_pylist()
    names = study.engines
    lines = []
    for name, label in zip(names, evaluator_titles(study, names), strict=True):
        own = [row for row in rows if row["engine"] == name]
        by_score = any(row["unit"] == "centipawns" for row in own) or all(
            row["value"] is None for row in own
        )
        points = [
            (row["ply"], value) for row in own if (value := _value(row, by_score)) is not None
        ]
        unit = next((row["unit"] for row in own if row["unit"]), "points") if by_score else VALUE
        if points:
            lines.append(Line(label, unit, points))
    return lines


def _value(row: dict[str, Any], by_score: bool) -> float | None:
    mate = row["mate"]
    if not by_score:
        value: float | None = row["value"]
        return value if value is not None or mate is None else float(mate > 0)
    if mate is not None:
        return math.inf if mate > 0 else -math.inf
    score: float | None = row["score"]
    return score


ROOM = Room(
    "study",
    "Study",
    "Where evaluations are wrong: curves, conditions, games.",
    [
        Route("/study", show),
        Route("/study/row", row),
        Route("/study/range", chosen_range),
        Route("/study/values", values),
        Route("/study/save", save),
        Route("/study/game", game),
    ],
    style=True,
    script=True,
)
