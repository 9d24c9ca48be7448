# SPDX-License-Identifier: Apache-2.0
"""The room Match: scores, ratings and games, live while a match runs."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.apps.studio.blocks import board, render
from hyoka.apps.studio.forms import agent_title, is_whole_number, whole_number
from hyoka.apps.studio.pages import (
    LruCache,
    Room,
    Studio,
    address,
    html,
    moment,
    page,
    result_text,
    studio_of,
    wants_part,
    watch,
)
from hyoka.apps.studio.rooms import new_match
from hyoka.apps.studio.rooms.viewer import VALUE, GameView, Line, ply_of, result_of, show_game
from hyoka.apps.studio.runs import Run
from hyoka.arena import PlayedGame, Sprt
from hyoka.arena.elo import elo, too_few_reason
from hyoka.arena.journal import GameInPlay, games_in_play
from hyoka.arena.match import DESCRIPTION, JOURNAL, titles_in
from hyoka.arena.ratings import DuelSummary
from hyoka.foundation.math import Estimate
from hyoka.games import FACTS
from hyoka.reporting import Table
from hyoka.reporting.match_report import match_page
from hyoka.reporting.match_report.match_facts import MatchFacts, match_facts, shown_names
from hyoka.reporting.match_report.match_ratings import (
    elo_text,
    ratings_of,
    ratings_section,
    scores_section,
    signed,
)

_cache: Final[LruCache["MatchState"]] = LruCache(4)


@dataclass(frozen=True)
class MatchState:
    """The games of a match so far."""

    path: str
    """Within the studio's folder."""
    manifest: dict[str, Any]
    """The match's manifest."""
    titles: list[str]
    """The players' titles; empty in matches of early versions."""
    games: Sequence[PlayedGame]
    changed: float

    @cached_property
    def players(self) -> list[str]:
        """The players' names by their numbers."""
        texts = self.manifest.get("players", [])
        names = dict(enumerate(self.titles or map(str, texts if isinstance(texts, list) else ())))
        for game in self.games:
            names[game.pairing.first] = game.record.first
            names[game.pairing.second] = game.record.second
        numbers = range(max(names, default=-1) + 1)
        return list(shown_names([names.get(number, "") for number in numbers]))

    @cached_property
    def test(self) -> Sprt | None:
        """The sequential test that the match is played by."""
        text = self.manifest.get("sprt")
        try:
            return Sprt.from_text(text) if isinstance(text, str) and text else None
        except hk.Error:
            return None

    @cached_property
    def duels(self) -> list[DuelSummary]:
        """Scores of each pair of players."""
        test = self.test if len(self.players) == 2 else None
        return [
            DuelSummary.of(self.facts.standing, *duel, test) for duel in self.facts.standing.duels()
        ]

    @cached_property
    def facts(self) -> MatchFacts:
        """The games in columns."""
        return match_facts(self.games, self.players)

    @cached_property
    def course(self) -> "EloCourse | None":
        """Elo over the games of a match of two; None before the third game."""
        return EloCourse.of([(games, elo(score)) for games, score in self.facts.duel_course])

    @property
    def when(self) -> str:
        """When the last game ended."""
        return f"{moment(self.changed, UTC)} UTC"

    def game(self, number: int) -> PlayedGame:
        """A game by its number; raises StudyError."""
        for game in self.games:
            if game.pairing.number == number:
                return game
        raise hk.errors.StudyError(f"this match has no game {number} yet")


def match_in(folder: Path, path: str, run: Run | None = None) -> MatchState:
    """The match in a folder; raises StudyError. One that a run has just begun has no games."""
    journal = folder / JOURNAL
    try:
        state = (journal if journal.exists() else folder / DESCRIPTION).stat()
    except OSError:
        if run is not None:
            return _begun(path, run)
        raise hk.errors.StudyError(f"{path} is no match (it has no {DESCRIPTION})") from None

    def read() -> MatchState:
        manifest, games = hk.open_match(folder)
        values = manifest.get("match", {})
        return MatchState(path, values, titles_in(manifest), games, state.st_mtime)

    return _cache.get((str(folder), state.st_mtime_ns, state.st_size), read)


def _begun(path: str, run: Run) -> MatchState:
    """A match whose folder is not made yet, as its run is filled in."""
    values = {name: texts[-1] for name, texts in run.values.items()}
    players = [
        agent_title(line.strip()) for line in values.get("players", "").splitlines() if line.strip()
    ]
    manifest = {"game": values.get("game"), "players": players, "sprt": values.get("sprt")}
    return MatchState(path, manifest, [], [], run.made)


def _run_of(studio: Studio, path: str) -> Run | None:
    """The newest run that plays the match in a folder."""
    runs = (run for run in studio.runs.all() if run.command == "match run")
    return next((run for run in runs if run.values.get("folder") == [path]), None)


_STEPS: Final = (1, 2, 5)
_SETTLED: Final = 20
"""Games after which an interval sets the range of the chart."""


@dataclass(frozen=True)
class EloCourse:
    """Elo over the games of a match, as the chart has it: places in percent, from the top left."""

    line: str
    """Points of a polyline."""
    band: str
    """Points of the polygon of the intervals."""
    zero: float
    marks: tuple[tuple[float, float, str], ...]
    """Place, width and words of each moment."""
    ticks: tuple[str, ...]
    """Elo at the top, a quarter below it, …"""
    games: int
    words: str

    @classmethod
    def of(cls, moments: Sequence[tuple[int, Estimate]]) -> "EloCourse | None":
        """The chart of estimates by the number of games; None for fewer than three games."""
        if not moments or moments[-1][0] < 3:
            return None
        games = moments[-1][0]
        settled = [each for n, each in moments if n >= min(_SETTLED, games)]
        ends = [abs(end) for each in settled for end in (each.low, each.high)]
        reach = _nice(max((end for end in ends if math.isfinite(end)), default=400.0))

        def x(count: int) -> float:
            return round(100 * count / games, 2)

        def y(value: float) -> float:
            return round(50 - 50 * min(max(value / reach, -1.0), 1.0), 2)

        places = [0, *(count for count, _ in moments)]
        low, high = (
            [f"{x(count)},{y(end)}" for count, end in ends]
            for ends in (
                [(count, each.low) for count, each in moments],
                [(count, each.high) for count, each in moments],
            )
        )
        return cls(
            " ".join(f"{x(count)},{y(each.value)}" for count, each in moments),
            " ".join([*high, *reversed(low)]),
            y(0),
            tuple(
                (x(before), round(x(count) - x(before), 2), f"{count:,} games; {elo_text(each)}")
                for before, (count, each) in zip(places, moments, strict=False)
            ),
            tuple(signed(reach * share) for share in (1, 0.5, 0, -0.5, -1)),
            games,
            f"Elo over {games:,} games: {elo_text(moments[-1][1])}",
        )


def _nice(value: float) -> float:
    """The least of 1, 2, 5, 10, … that is as large.

    >>> _nice(37), _nice(50), _nice(0.0)
    (50.0, 50.0, 1.0)
    """
    power = 10.0 ** max(0, math.floor(math.log10(max(value, 1.0))))
    return next((step * power for step in _STEPS if step * power >= value), 10 * power)


@dataclass(frozen=True)
class Gauge:
    """The state of a sequential test, as a gauge between its bounds."""

    llr: float
    low: float
    high: float
    words: str

    @property
    def place(self) -> float:
        """Where the LLR is, in percent from the lower bound."""
        share = (self.llr - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 1)

    @property
    def zero(self) -> float:
        """Where the test began."""
        return round(-100 * self.low / (self.high - self.low), 1)


def gauge_of(duel: DuelSummary, test: Sprt | None) -> Gauge | None:
    """The gauge of a duel under a sequential test; None without one."""
    if test is None or duel.llr is None or duel.bounds is None or math.isnan(duel.llr):
        return None
    low, high = duel.bounds
    words = {
        "H1": f"Decided: {test.elo1:+g} Elo rather than {test.elo0:+g} (H1).",
        "H0": f"Decided: {test.elo0:+g} Elo rather than {test.elo1:+g} (H0).",
    }.get(duel.verdict or "", "Undecided so far.")
    return Gauge(duel.llr, low, high, words.replace("-", "−"))


def duel_facts(duel: DuelSummary) -> list[tuple[str, str]]:
    """What is known of two players: score, Elo, superiority and pairs."""
    elo_words, pairs = elo_text(duel.elo), duel.score.pairs
    if duel.score.games and (few := too_few_reason(duel.score)):
        elo_words += f"; {few}: too few to trust an interval"
    counts = ", ".join(f"{count:,}" for count in pairs.counts)
    facts = [
        ("Elo", elo_words),
        ("Score", duel.rate.text(".1%")),
        ("Games", str(duel.score.score).replace("-", "−")),
        ("Superiority", f"{duel.superiority:.1%} likely, p {duel.permutation_p:.2g}"),
        ("Pairs", f"{pairs.pairs:,} ({counts} with 0, ½, 1, 1½, 2 points)" if pairs.pairs else "0"),
    ]
    return [(name, text) for name, text in facts if text]


_VIEWS: Final = {"standing": "Score", "games": "Games", "report": "Report"}
_GAMES_A_PAGE: Final = 50
_MOST_DUELS: Final = 30
_EVERY_S: Final = 1.0
_REST: Final = 5
"""Time between two looks at the games, as a multiple of the processor time of a look."""
_MOST_BOARDS: Final = 6
_NEWEST: Final = 12


def show(request: Request) -> Response:
    """All matches, or one."""
    query = request.query_params
    if not query.get("path"):
        studio = studio_of(request)
        alive = [run.values.get("folder", [""])[-1] for run in studio.runs.under_way()]
        matches = studio.folder.items("match")
        return page(request, ROOM, "match/index.html", matches=matches, alive=alive)
    studio = studio_of(request)
    run = _run_of(studio, query["path"])
    match = _match(studio, query["path"], run)
    view = query.get("view") or "standing"
    if view not in _VIEWS:
        raise hk.errors.ParameterError("view", f"is one of {', '.join(_VIEWS)}")
    values: dict[str, Any] = {"match": match, "views": _VIEWS, "view_name": view}
    if view == "standing":
        folder = studio.folder.path(match.path, must_exist=False)
        values |= _standing(match) | _boards(match, folder) | _state(run)
    elif view == "games":
        values |= _games(request, match)
    elif wants_part(request):
        report = match_page(match.path, match.games, match.players)
        return HTMLResponse(render(report))
    return page(request, ROOM, "match/match.html", **values)


def _match(studio: Studio, path: str, run: Run | None = None) -> MatchState:
    return match_in(studio.folder.path(path, must_exist=run is None), path, run)


def events(request: Request) -> Response:
    """Stream of the match's state, of its score after each game, and of the games in play."""
    studio, path = studio_of(request), request.query_params.get("path", "")
    run = _run_of(studio, path)
    folder = studio.folder.path(path, must_exist=run is None)
    match, due = match_in(folder, path, run), 0.0
    shown: dict[str, str] = {}

    def look() -> dict[str, str]:
        nonlocal match, due
        now, began = time.monotonic(), time.thread_time()
        if now >= due:
            match = match_in(folder, path, run)
            values = _standing(match)
            shown["standing"] = html("match/standing.html", match=match, **values)
            shown["newest"] = html("match/newest.html", match=match, **values)
            # Thousands of games take seconds to read, which the players need.
            due = now + _REST * (time.thread_time() - began)
        return shown | {
            "state": html("match/state.html", **_state(run)),
            "boards": html("match/boards.html", match=match, **_boards(match, folder)),
        }

    return watch(request, look, every_s=_EVERY_S)


def _state(run: Run | None) -> dict[str, Any]:
    """The run that plays a match, if the studio started one."""
    if run is None:
        return {"run": None, "run_state": "", "work": None}
    works = run.works
    return {"run": run, "run_state": run.state, "work": works[-1] if works else None}


def _standing(match: MatchState) -> dict[str, Any]:
    """Live values: scores, Elo, the test, faults and the newest games."""
    tables: list[Table] = []
    if match.games and len(match.facts.present) > 2:
        rated = ratings_section(ratings_of(match.facts))
        sections = [scores_section(match.facts), *([rated] if rated is not None else [])]
        tables = [
            block for section in sections for block in section.blocks if isinstance(block, Table)
        ]
    newest = sorted(match.games[-_NEWEST:], key=lambda game: -game.pairing.number)
    return {
        "duels": [
            {
                "one": duel.player,
                "other": duel.opponent,
                "points": f"{duel.score.points:g}",
                "lost_points": f"{duel.score.games - duel.score.points:g}",
                "score": duel.score.score,
                "facts": duel_facts(duel),
                "gauge": gauge_of(duel, match.test),
            }
            for duel in match.duels[:_MOST_DUELS]
        ],
        "left_out": max(0, len(match.duels) - _MOST_DUELS),
        "course": match.course if len(match.duels) == 1 else None,
        "reasons": match.facts.standing.reasons.most_common(),
        "faults": match.facts.standing.faults.most_common(),
        "tables": tables,
        "newest_games": _games_table("The newest games", match, newest),
    }


def _boards(match: MatchState, folder: Path) -> dict[str, Any]:
    """Boards of the games in play, or else of the newest game."""
    games = games_in_play(folder)
    shown = [
        {"game": each, "plies": len(each.moves), "picture": picture}
        for each in games[:_MOST_BOARDS]
        if (picture := _picture(each)) is not None
    ]
    newest = match.games[-1] if match.games and not shown else None
    return {
        "boards": shown,
        "others_in_play": len(games) - len(shown),
        "newest": None if newest is None else _newest(match, newest),
    }


def _picture(game: GameInPlay) -> Any:
    """The board of a game in play; None for a game in Python or a file that is none of ours."""
    if game.game not in FACTS:
        return None
    try:
        line = hk.position(game.game, game.start or None).line()
        for move in game.moves:
            line = line.play(move)
        return board(line, size=300)
    except hk.Error:
        return None


def _newest(match: MatchState, game: PlayedGame) -> dict[str, Any]:
    record = game.record
    picture = None
    if record.game in FACTS:
        last = record.move_list[-1] if len(record) else None
        picture = board(hk.diagram(record.position(), last=last), size=360)
    return {
        "number": game.pairing.number,
        "players": f"{record.first} – {record.second}",
        "words": f"{result_of(record)}: {game.reason}, {len(record)} plies",
        "picture": picture,
        "to": _game_address(match, game),
        "from_start": _game_address(match, game, ply=0),
    }


def _game_address(match: MatchState, game: PlayedGame, ply: int | None = None) -> str:
    return address("/match/game", path=match.path, game=game.pairing.number, ply=ply)


def _games_table(title: str, match: MatchState, games: Sequence[PlayedGame]) -> Table:
    """A table of games that leads to them."""
    return Table(
        title,
        ("Game", "Pair", "First player", "Second player", "Result", "How", "Plies", "Seconds"),
        [
            (
                f"{game.pairing.number:,}",
                f"{game.pairing.pair_id:,}",
                game.record.first,
                game.record.second,
                result_text(game.result),
                f"{game.reason}; fault: {game.fault}" if game.fault else game.reason,
                f"{len(game.record):,}",
                f"{game.seconds:.1f}",
            )
            for game in games
        ],
        [_game_address(match, game) for game in games],
    )


def _games(request: Request, match: MatchState) -> dict[str, Any]:
    query = request.query_params
    player, only = query.get("player", ""), query.get("only", "")
    chosen = [
        game
        for game in sorted(match.games, key=lambda game: game.pairing.number)
        if (not player or player in (game.record.first, game.record.second))
        and (only != "faults" or game.is_fault or game.fault)
    ]
    text = query.get("page") or "1"
    number = int(text) if is_whole_number(text) else 1
    pages = max(1, math.ceil(len(chosen) / _GAMES_A_PAGE))
    number = min(max(number, 1), pages)
    here = {"path": match.path, "view": "games", "player": player, "only": only}
    listed = chosen[(number - 1) * _GAMES_A_PAGE : number * _GAMES_A_PAGE]
    return {
        "games": _games_table("Games", match, listed),
        "players": sorted({each.record.first for each in match.games}
                          | {each.record.second for each in match.games}),
        "player": player,
        "only": only,
        "count": len(chosen),
        "page_number": number,
        "before": address("/match", **here, page=number - 1) if number > 1 else "",
        "after": address("/match", **here, page=number + 1) if number < pages else "",
    }  # fmt: skip


def game(request: Request) -> Response:
    """A game of a match with what its players said."""
    match = _match(studio_of(request), request.query_params.get("path", ""))
    played = match.game(whole_number(request.query_params.get("game", ""), "game", 0, 10**12))
    record = played.record
    numbers = sorted(each.pairing.number for each in match.games)
    place = numbers.index(played.pairing.number)
    others = [("Previous game", place - 1), ("Next game", place + 1)]
    facts = [
        ("Players", f"{record.first} – {record.second}"),
        ("Result", f"{result_of(record)}: {played.reason}"),
        ("Fault", played.fault),
        ("Pair", str(played.pairing.pair_id)),
        ("Opening", record.opening or f"number {played.pairing.opening_id}"),
        ("Time", f"{played.seconds:.1f} s"),
    ]
    view = GameView(
        f"Game {played.pairing.number:,} of {match.path}",
        record,
        ply_of(request, record),
        _lines(record),
        lambda ply: _game_address(match, played, ply),
        [(name, text) for name, text in facts if text],
        ("Back to the match", address("/match", path=match.path)),
        [
            (words, _game_address(match, match.game(numbers[other])))
            for words, other in others
            if 0 <= other < len(numbers)
        ],
        source=(match.path, played.pairing.number),
    )
    return show_game(request, ROOM, view)


def _lines(record: hk.Record) -> list[Line]:
    """Each player's evaluations after its moves."""
    lines = []
    for name, author in ((record.first, "first"), (record.second, "second")):
        remarks = [each for each in record.remarks if each.author == author]
        if values := [(each.ply, each.value) for each in remarks if each.value is not None]:
            lines.append(Line(name, VALUE, values))
        elif scores := [(each.ply, each.score) for each in remarks if each.score is not None]:
            lines.append(Line(name, "score", scores))
    if len(lines) == 2 and lines[0].name == lines[1].name:
        lines = [Line(f"{line.name} ({side})", line.unit, line.points)
                 for line, side in zip(lines, ("first", "second"), strict=True)]  # fmt: skip
    return lines


ROOM = Room(
    "match",
    "Match",
    "Who is stronger, and with what confidence: games live.",
    [
        Route("/match", show),
        Route("/match/events", events),
        Route("/match/game", game),
        *new_match.ROUTES,
    ],
    style=True,
)
