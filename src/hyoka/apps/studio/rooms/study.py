# SPDX-License-Identifier: Apache-2.0
"""Study: where evaluations are wrong: curves, conditions, slices, games."""

import math
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.pages import html, page, sentence, wants_part
from hyoka.apps.studio.rooms.study_query import StudyQuery
from hyoka.apps.studio.rooms.study_views import SAVED, VIEWS, game_address
from hyoka.apps.studio.rooms.viewer import VALUE, GameView, Line, ply_of, result_of, show_game
from hyoka.apps.studio.state import Room, studio_of
from hyoka.study.sampling import evaluator_titles

_FIRST = "curves"
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
    values: dict[str, Any] = {"query": query, "view": view, "view_name": name}
    is_judged = bool(query.study.engines)
    values["views"] = VIEWS
    if wants_part(request):
        return _part(request, name, values)
    values |= {
        "is_judged": is_judged,
        "columns": _columns(query.study),
        "labels": dict(
            zip(
                query.study.engines,
                evaluator_titles(query.study, query.study.engines),
                strict=True,
            )
        ),
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


def _columns(study: hk.Study) -> list[tuple[str, str]]:
    """The columns that a condition may use, and what they hold."""
    words = {"int64": "number", "float": "number", "double": "number", "bool": "true or false"}
    schema = study.condition_schema()
    return [(column.name, words.get(str(column.type), "text")) for column in schema]


def save(request: Request) -> Response:
    """A result as a file: the same that the library's `save` writes."""
    query = StudyQuery.of(request)
    ending, result = query["as"], query["result"]
    if ending not in SAVED:
        raise hk.errors.ParameterError("as", f"is one of {', '.join(SAVED)}")
    view = VIEWS.get(query["view"] or _FIRST)
    results = {} if view is None or view.results is None else view.results(query)
    if result not in results:
        raise hk.errors.ParameterError("result", f"is one of {', '.join(results) or 'none here'}")
    with tempfile.TemporaryDirectory(prefix="hyoka-studio-") as folder:
        file = Path(folder) / f"{result}.{ending}"
        results[result].save(file)
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
    [Route("/study", show), Route("/study/save", save), Route("/study/game", game)],
    script=True,
)
