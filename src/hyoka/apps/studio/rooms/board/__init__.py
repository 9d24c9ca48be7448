# SPDX-License-Identifier: Apache-2.0
"""Board: any position of any game, for play and analysis.

The whole state is in the address (`board_state.BoardState`); only running analyses
(`live_analyses`) live on the server.
"""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.forms import (
    agent_choices,
    setting_fields,
    spec_text,
    whole_number,
)
from hyoka.apps.studio.pages import (
    END,
    LruCache,
    Room,
    Studio,
    address,
    fragment,
    html,
    page,
    sentence,
    studio_of,
    wants_part,
    watch,
)
from hyoka.apps.studio.rooms.board.board_agents import (
    AgentSlot,
    analysis_slot,
    in_thread,
    level_titles,
    measured_levels,
    refusal,
    reply,
    value_of,
)
from hyoka.apps.studio.rooms.board.board_state import (
    OWN,
    TABS,
    BoardState,
    played,
    shared_moves,
    table_of,
    usual,
    word_of,
)
from hyoka.apps.studio.rooms.board.explorer import ROUTE as EXPLORER
from hyoka.apps.studio.rooms.board.live_analyses import (
    MOST,
    Analyses,
    Job,
    ValueCurve,
    evaluators,
    line_key,
    marks,
)
from hyoka.apps.studio.rooms.board.picture import models_for, picture, ranking, seen, words_of
from hyoka.apps.studio.rooms.board.setup import EMPTY, Draft, can_be_set_up, palette
from hyoka.arena import PlayedGame
from hyoka.games import FACTS, game_facts
from hyoka.records import WRITERS, record_text
from hyoka.reporting import Table
from hyoka.search import Ending, SearchSpec
from hyoka.study.sampling import evaluator_titles

_LISTED: Final = 200
_SOLVE_S: Final = 10.0
_MOST_FIELDS: Final = 100
_LINES: Final = (5, 4, 3, 3)
"""Moves shown of each evaluator, by the number of evaluators."""
_FIRST_S: Final = 0.08
"""The answer to a new analysis waits so long for its first lines."""
_QUICK_S: Final = 1.0
_SLOW_S: Final = 0.4
"""An analysis is shown as it changes at first, then after this time."""
_SETTING: Final = "set-"
"""Before the names of settings in the fields of their form."""
_making: Final = threading.Lock()

__all__ = ["ROOM", "table_of"]


def analyses_of(request: Request) -> Analyses:
    """The analyses of the running studio."""
    with _making:
        analyses: Analyses | None = getattr(request.app.state, "analyses", None)
        if analyses is None:
            analyses = request.app.state.analyses = Analyses()
    return analyses


def show(request: Request) -> Response:
    """The board that the address describes, or after what was just done to it."""
    query = request.query_params
    if query.get("path") and "moves" not in query:
        return RedirectResponse(_from_folder(request).address, HTTPStatus.SEE_OTHER)
    table = BoardState.of(query)
    if refused := refusal(studio_of(request), table):
        return _answer(request, replace(table, against=""), refused)
    done = [(do, text) for name, do in _ACTIONS.items() for text in query.getlist(name) if text]
    if steps := query.get("shown"):
        done = [(lambda table, text: _shown(request, table, text), steps)]
    if not done:
        return _answer(request, table)
    do, text = done[0]
    try:
        table = replace(do(table, text), area="")  # another position, other questions
    except hk.Error as error:
        if not wants_part(request):
            raise
        return _answer(request, table, str(error))
    if wants_part(request):
        return _answer(request, table)
    return RedirectResponse(table.address, HTTPStatus.SEE_OTHER)


def _shown(request: Request, table: BoardState, steps: str) -> BoardState:
    """At the position that an analysis is of, or one that it looked at: its number, then moves."""
    count, *words = steps.split() or [""]
    of = analyses_of(request).get(whole_number(count, "shown", 0, 10**9)).table
    if (of.game, of.start) != (table.game, table.start):
        raise hk.Error("this analysis is of another game: analyze again")
    moves = table.whole_words([*of.moves[: of.ply], *words])
    return table.follow(moves, len(moves))


_ACTIONS: Final[dict[str, Callable[[BoardState, str], BoardState]]] = {
    "to": lambda table, text: table.at(whole_number(text, "to", 0, 10**6)),
    "undo": lambda table, _: table.undone(),
    "switch": lambda table, text: table.switched(whole_number(text, "switch", 0, 10**6)),
    "drop": lambda table, text: table.dropped(whole_number(text, "drop", 0, 10**6)),
    "play": BoardState.play,
}
"""Actions of a page's buttons; a request with one redirects to the address without it."""


def _answer(request: Request, table: BoardState, note: str = "", *, asks: bool = True) -> Response:
    """The page of a table, or the part of it that changes."""
    values = _values(request, table, note) | {"asks": asks}
    if not wants_part(request):
        return page(request, ROOM, "board/index.html", **values)
    answer = fragment("board/room.html", **values)
    answer.headers["HX-Push-Url"] = table.address
    return answer


def _values(request: Request, table: BoardState, note: str) -> dict[str, Any]:
    studio = studio_of(request)
    rank = ranking(table, studio.folder)
    facts, here = table.facts, studio.folder.items()
    curves, players = _curves(request, table)
    solver = ""
    if facts.search.mate_solver or facts.search.ending_solver:
        solver = "mate" if facts.search.mate_solver else "ending"
    return {
        "table": table,
        "board": picture(table, None if rank is None else rank.board),
        "rank": rank,
        "note": note,
        "games": list(FACTS.values()),
        "opponent": _slot(studio, table, "against", "player", table.against),
        "evaluators": [
            _slot(studio, table, f"with-{index}", "evaluator", text)
            for index, text in enumerate([*evaluators(table), ""][:MOST])
        ],
        "can_be_set_up": can_be_set_up(facts),
        "levels": level_titles(
            table.game, table.against, is_engine=table.against in studio.engines.allowed
        ),
        "measured": measured_levels().get(table.game),
        "own": OWN,
        "tabs": {name: title for name, title in TABS.items() if name != "solve" or solver},
        "review": address("/review", **table.query()),
        "models": models_for(table.game, here),
        "formats": formats(table),
        "solver": solver,
        "records": [each for each in here if each.kind in ("records", "study", "match")][:20],
        "players": players,
        "curves": curves,
        "line_key": line_key(table),
        "marks": marks(table, curves),
    }


def _slot(studio: Studio, table: BoardState, name: str, role: str, text: str) -> AgentSlot:
    """A place for an agent, with those to choose from."""
    choices = agent_choices(studio.folder, studio.engines, table.game, role)
    return AgentSlot(name, text, choices)


def _curves(request: Request, table: BoardState) -> tuple[list[ValueCurve], tuple[str, str]]:
    """Values over the line on the board, first those of its record; and the record's players."""
    known = analyses_of(request).curves(table)
    if not table.path:
        return known, ("", "")
    try:
        stored = _stored_game(studio_of(request).folder, table)
    except (hk.Error, OSError):  # the record is gone, the game is in the address
        return known, ("", "")
    plies = range(len(table.moves) + 1)
    shared = shared_moves(table.moves, stored.moves)
    own = [
        ValueCurve(name, [values.get(ply) if ply <= shared else None for ply in plies])
        for name, values in stored.values.items()
    ]
    return own + known, stored.players


@dataclass(frozen=True)
class _StoredGame:
    """A game of the folder with the values that are stored with it."""

    moves: tuple[str, ...]
    players: tuple[str, str]
    values: dict[str, dict[int, float]]
    """By evaluator and ply."""


_stored: Final[LruCache[_StoredGame]] = LruCache(16)


def _stored_game(folder: Folder, table: BoardState) -> _StoredGame:
    path = folder.path(table.path)

    def read() -> _StoredGame:
        record = record_from(folder, table.path, table.number)
        values: dict[str, dict[int, float]] = {}
        for name, ply, evaluation in _stored_evaluations(path, table.number, record):
            if (value := value_of(evaluation, table.game)) is not None:
                values.setdefault(name, {})[ply] = value
        return _StoredGame(table_of(record).moves, (record.first, record.second), values)

    return _stored.get((str(path), path.stat().st_mtime_ns, table.number), read)


def _stored_evaluations(
    path: Path, number: int, record: hk.Record
) -> Iterator[tuple[str, int, hk.Evaluation]]:
    """Evaluations of a game's positions: those of a study, or the remarks of a record."""
    if path.is_dir() and not _is_match(path):
        study = hk.Study.open(path)
        titles = dict(zip(study.engines, evaluator_titles(study, study.engines), strict=True))
        rows = study.sql(
            "select engine, ply, value, score, mate, unit from evaluations "
            f"where game_id = {int(number)} and failed is null order by engine, ply"
        )
        for row in rows.to_pylist():
            name, ply = titles[row.pop("engine")], row.pop("ply")
            yield name, ply, hk.Evaluation(**row | {"unit": row["unit"] or ""})
        return
    unit = game_facts(record.game).naming.unit
    for each in record.remarks:
        name = {"first": record.first, "second": record.second}.get(each.author or "", "Record")
        score = hk.Evaluation(value=each.value, score=each.score, mate=each.mate, unit=unit)
        yield name or "Record", each.ply, score


def _from_folder(request: Request) -> BoardState:
    """A game of a file, a study or a match on the table."""
    query = request.query_params
    which = whole_number(query.get("number") or 0, "number", 0, 10**9)
    record = record_from(studio_of(request).folder, query["path"], which)
    ply = whole_number(query.get("ply") or len(record), "ply", 0, len(record))
    return table_of(
        record,
        ply,
        path=query["path"],
        number=which,
        kanji=query.get("pieces") != "letters",
        live=query.get("live") == "1",
        tab=tab if (tab := query.get("tab", "")) in TABS else BoardState.tab,
    )


def games(request: Request) -> Response:
    """The games of a file, a study or a match, to take one of them."""
    name = request.query_params.get("path", "")
    first = whole_number(request.query_params.get("from") or 0, "from", 0, 10**9)
    rows = games_of(studio_of(request).folder, name, first, _LISTED + 1)
    more = first + _LISTED if len(rows) > _LISTED else None
    table = Table(
        "Games",
        ("Game", "First", "Second", "Date", "Moves"),
        [
            (f"{number:,}", one or "?", other or "?", date or "", f"{plies:,}")
            for number, one, other, date, plies in rows[:_LISTED]
        ],
        [address("/board", path=name, number=number) for number, *_ in rows[:_LISTED]],
    )
    return page(request, ROOM, "board/games.html", path=name, rows=table, more=more)


Work = Callable[[Request, BoardState], Response]


def _posted(work: Work) -> Callable[[Request], Any]:
    """An address that takes a table from a form and works on it in a thread."""

    async def endpoint(request: Request) -> Response:
        form = await request.form(max_files=0, max_fields=_MOST_FIELDS)

        def do() -> Response:
            return work(request, BoardState.of(form))

        return await in_thread(do)

    return endpoint


def _reply(request: Request, table: BoardState) -> Response:
    """The other side moves, if it is to move."""
    if not table.awaits_reply:
        return _answer(request, table)
    try:
        response = reply(studio_of(request), table)
    except hk.Error as error:
        return _answer(request, table, str(error), asks=False)
    if isinstance(response, str):
        return _answer(request, table, response, asks=False)
    if not wants_part(request):
        return RedirectResponse(response.address, HTTPStatus.SEE_OTHER)
    return _answer(request, response)


def _analyze(request: Request, table: BoardState) -> Response:
    """Begin to think about what is on the board."""
    job = analyses_of(request).analyze(studio_of(request), table)
    job.has_news.wait(_FIRST_S)
    answer = fragment("board/analysis.html", job=job, lines=Markup(_lines_of(job)))
    answer.headers["HX-Replace-Url"] = table.address
    return answer


def _graph(request: Request, table: BoardState) -> Response:
    """Begin to evaluate all positions of the game."""
    job = analyses_of(request).evaluate_game(studio_of(request), table)
    return fragment("board/graph.html", job=job, curves=[], marks=[], line_key=line_key(table))


def analysis_events(request: Request) -> Response:
    """Stream of an analysis."""
    job = _job(request)
    shown_at, lines = 0.0, ""

    def look() -> dict[str, str]:
        nonlocal shown_at, lines
        now, is_over = time.monotonic(), job.is_over
        is_due = now - job.begun < _QUICK_S or now - shown_at >= _SLOW_S
        if is_due or is_over:
            shown_at, lines = now, _lines_of(job)
        return _looked_at(job, {"lines": lines}, is_over)

    return watch(request, look, every_s=0.1)


def _lines_of(job: Job) -> str:
    return html("board/lines.html", job=job, most=_LINES[len(job.analysis_lines) - 1])


def graph_events(request: Request) -> Response:
    """Stream of the values of a game, as they are found."""
    job = _job(request)

    def look() -> dict[str, str]:
        is_over = job.is_over
        curves, _ = _curves(request, job.table)
        part = html(
            "board/graph_part.html",
            job=job,
            curves=curves,
            marks=marks(job.table, curves),
            line_key=line_key(job.table),
        )
        return _looked_at(job, {"graph": part}, is_over)

    return watch(request, look, every_s=0.3)


def _looked_at(job: Job, parts: dict[str, str], is_over: bool) -> dict[str, str]:
    job.look()
    return parts | ({END: ""} if is_over else {})


def agent_settings(request: Request) -> Response:
    """The settings of a search as a form, and the text of the spec that it stands for."""
    query, studio = request.query_params, studio_of(request)
    game, slot = game_facts(query.get("game", "")).name, query.get("slot", "")
    text = query.get("spec", "").strip() or usual(game)
    values = {
        name.removeprefix(_SETTING): value.strip()
        for name, value in query.items()
        if name.startswith(_SETTING) and value.strip()
    }
    problem = ""
    if query.get("filled"):
        text = spec_text(text.partition(":")[0], values)
    try:
        spec = studio.engines.agent(text, studio.folder).spec
    except hk.Error as error:
        problem = sentence(error)
        spec = SearchSpec.from_text(text.partition(":")[0])
    if not isinstance(spec, SearchSpec):
        return fragment("board/agent.html", fields=[], text=text, slot=slot, game=game, spec=spec)
    if not query.get("filled"):
        parts = filter(None, text.partition(":")[2].split(","))
        values = dict(part.partition("=")[::2] for part in parts)
    return fragment(
        "board/agent.html",
        fields=setting_fields(spec, game, studio.folder),
        values=values,
        text=text,
        title=spec.title,
        problem=problem,
        slot=slot,
        game=game,
        spec=spec,
    )


def _job(request: Request) -> Job:
    return analyses_of(request).get(request.path_params["number"])


def stop(request: Request) -> Response:
    """End an analysis; what it has found stays."""
    job = _job(request)
    job.stop()
    return Response(status_code=HTTPStatus.NO_CONTENT)


def node(request: Request) -> Response:
    """Children of a node of a search tree."""
    job, query = _job(request), request.query_params
    analysis_lines = job.analysis_lines
    which = whole_number(query.get("of") or 0, "of", 0, max(0, len(analysis_lines) - 1))
    path = query.get("node", "")
    analysis_line = analysis_lines[which]
    shown = analysis_line.node(path)
    if shown is None:
        raise hk.Error("there is no such node in this tree")
    way = analysis_line.way(path)
    below = [
        (f"{path}.{i}".strip("."), " ".join([*way, word_of(child.move)]), child)
        for i, child in enumerate(shown.children)
    ]
    return fragment("board/node.html", job=job, of=which, node=shown, below=below)


def _solve(request: Request, table: BoardState) -> Response:
    """Ask the exact solver that the game has."""
    line = table.line
    if line.outcome is not None:
        raise hk.Error("the game is over: nothing is left to solve")
    if table.facts.search.mate_solver is not None:
        with analysis_slot():
            mate = hk.find_mate(line, nodes=0, time_s=_SOLVE_S)
        words = {
            "mate": f"Mate in {len(mate.line)} {'ply' if len(mate.line) == 1 else 'plies'}.",
            "no mate": "No mate by checks alone.",
            "unknown": f"No mate found within {_SOLVE_S:g} seconds.",
        }[mate.verdict]
        effort, moves = (mate.nodes, mate.time_s), mate.line
    else:
        with analysis_slot():
            ending = hk.solve_ending(line, time_s=_SOLVE_S)
        words = _ending_words(table, ending)
        effort, moves = (ending.nodes, ending.time_s), ending.line if ending.solved else ()
    return fragment(
        "board/solved.html", words=words, effort=effort, line=words_of(line, moves), table=table
    )


def _ending_words(table: BoardState, ending: Ending) -> str:
    if not ending.solved:
        return f"Not solved within {_SOLVE_S:g} seconds: too many squares are empty."
    if ending.score == 0:
        return "A draw by best play."
    winner = table.facts.naming.colors[0 if ending.score > 0 else 1]
    return f"{winner} wins by {abs(ending.score)} by best play."


def compose(request: Request) -> Response:
    """A position under construction."""
    query = request.query_params
    draft, kanji = Draft.of(query), query.get("pieces") != "letters"
    signs = palette(draft.game, kanji=kanji)
    put = query.get("put", "")
    if put not in [EMPTY, *(sign for sign, _, _ in signs)]:
        put = signs[0][0]
    facts, problem = FACTS[draft.game], draft.problem
    values: dict[str, Any] = {
        "draft": draft,
        "board": draft.picture(kanji=kanji),
        "facts": facts,
        "palette": signs,
        "put": put,
        "empty": EMPTY,
        "kanji": kanji,
        "problem": problem,
        "games": [each for each in FACTS.values() if can_be_set_up(each)],
        "to": "" if problem else BoardState(draft.game, draft.text, kanji=kanji).address,
        "usual": Draft.read(draft.game, "").address(put, kanji=kanji),
    }
    if not wants_part(request):
        return page(request, ROOM, "board/setup.html", **values)
    answer = fragment("board/setup_room.html", **values)
    answer.headers["HX-Replace-Url"] = draft.address(put, kanji=kanji)
    return answer


def export(request: Request) -> Response:
    """The game, or what is on the board, as a file."""
    table = BoardState.of(request.query_params)
    export_format = exported(table, request.query_params.get("as", ""))
    name = f"hyoka-{table.game}{export_format.suffix}"
    return Response(
        export_format.text(table),
        media_type=export_format.media_type,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


def setup(request: Request) -> Response:
    """A new game as a form says: another game, another start, somebody to play against."""
    table = BoardState.of(request.query_params)
    return RedirectResponse(
        replace(table, path="", number=0, left_out=0).address, HTTPStatus.SEE_OTHER
    )


def record_from(folder: Folder, name: str, number: int) -> hk.Record:
    """A game by its number, from 0; raises Error if it is not there."""
    path = folder.path(name)
    if path.is_dir() and not _is_match(path):
        return hk.Study.open(path).record(number)
    if path.is_dir():
        record = next((game.record for game in _match(path) if _number(game) == number), None)
    else:
        record = next(itertools.islice(hk.read_records(path), number, None), None)
    if record is None:
        raise hk.errors.SourceError(f"{name} has no game {number}")
    return record


def games_of(folder: Folder, name: str, first: int, most: int) -> list[tuple[Any, ...]]:
    """Number, players, date and plies of some games of a source; raises Error."""
    path = folder.path(name)
    if path.is_dir() and not _is_match(path):
        rows = hk.Study.open(path).sql(
            "select game_id as number, first, second, date, plies from games order by game_id "
            f"limit {most} offset {first}"
        )
        return [tuple(row.values()) for row in rows.to_pylist()]
    numbered = (
        ((_number(game), game.record) for game in sorted(_match(path), key=_number))
        if path.is_dir()
        else enumerate(hk.read_records(path))
    )
    return [
        (number, record.first, record.second, record.date, len(record))
        for number, record in itertools.islice(numbered, first, first + most)
    ]


def _is_match(path: Path) -> bool:
    return (path / "match.toml").is_file()


def _match(path: Path) -> list[PlayedGame]:
    return hk.open_match(path).games


def _number(game: PlayedGame) -> int:
    return game.pairing.number


@dataclass(frozen=True)
class Format:
    """A way to take a game along."""

    title: str
    suffix: str
    media_type: str
    text: Callable[[BoardState], str]


def record_of(table: BoardState) -> hk.Record:
    """The line on the table, to its end, as a record."""
    line = played(table.first_position.line(), table.moves)
    outcome = line.outcome
    ours, theirs = ("You", table.against) if table.against else ("", "")
    if table.you == "second":
        ours, theirs = theirs, ours
    return hk.Record(
        table.game,
        np.array([move.code for move in line.moves], dtype=np.uint16),
        start=table.start,
        first=ours,
        second=theirs,
        event="Hyoka Studio",
        komi=getattr(table.first_position, "komi", None),
        result=None if outcome is None else float(outcome.value),
        ending="unfinished" if outcome is None else "normal",
        margin=float(line.score) if outcome is not None and table.facts.by_points else None,
    )


def _notation(name: str) -> Callable[[BoardState], str]:
    return lambda table: record_text(record_of(table), name)


_ALL: Final = {
    **{
        name: Format(each.title, each.suffixes[0], each.media_type, _notation(name))
        for name, each in WRITERS.items()
    },
    "svg": Format(
        "Picture (SVG)",
        ".svg",
        "image/svg+xml",
        lambda table: hk.svg(seen(table), pieces=table.lettering),
    ),
    "text": Format(
        "Board as text",
        "-board.txt",
        "text/plain",
        lambda table: f"{hk.terminal(table.line)}\n{table.line.position.text}\n",
    ),
}


def formats(table: BoardState) -> dict[str, Format]:
    """Download formats of the game."""
    notations = set(table.facts.formats.notations)
    return {
        name: each for name, each in _ALL.items() if name in notations or name in ("svg", "text")
    }


def exported(table: BoardState, name: str) -> Format:
    """A format by its name; raises ParameterError if the game has none of it."""
    choices = formats(table)
    if name not in choices:
        raise hk.errors.ParameterError("as", f"is one of {', '.join(choices)}, not '{name}'")
    return choices[name]


ROOM = Room(
    "board",
    "Board",
    "Any position of any game: play, look ahead, compare who says what.",
    [
        Route("/board", show),
        Route("/board/games", games),
        Route("/board/new", setup),
        Route("/board/setup", compose),
        Route("/board/export", export),
        Route("/board/reply", _posted(_reply), methods=["POST"]),
        Route("/board/analyze", _posted(_analyze), methods=["POST"]),
        Route("/board/graph", _posted(_graph), methods=["POST"]),
        Route("/board/agent", agent_settings),
        Route("/board/solve", _posted(_solve), methods=["POST"]),
        Route("/board/analysis/{number:number}/events", analysis_events),
        Route("/board/graph/{number:number}/events", graph_events),
        Route("/board/analysis/{number:number}/stop", stop, methods=["POST"]),
        Route("/board/analysis/{number:number}/node", node),
        EXPLORER,
    ],
    style=True,
    script=True,
)
