# SPDX-License-Identifier: Apache-2.0
"""The room Match: standings, ratings and games, live while a match runs."""

import math
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
from hyoka.apps.studio.forms import is_whole_number, whole_number
from hyoka.apps.studio.pages import (
    address,
    html,
    moment,
    page,
    result_text,
    wants_part,
    watch,
)
from hyoka.apps.studio.rooms import new_match
from hyoka.apps.studio.rooms.viewer import VALUE, GameView, Line, ply_of, result_of, show_game
from hyoka.apps.studio.state import LruCache, Room, studio_of
from hyoka.arena import PlayedGame, Sprt
from hyoka.arena.elo import too_few_reason
from hyoka.arena.journal import games_in_play
from hyoka.arena.match import DESCRIPTION, JOURNAL, titles_in
from hyoka.arena.ratings import DuelSummary
from hyoka.games import FACTS
from hyoka.reporting import Table
from hyoka.reporting.match_report import match_page
from hyoka.reporting.match_report.match_facts import MatchFacts, match_facts, shown_names
from hyoka.reporting.match_report.match_ratings import (
    elo_text,
    ratings_of,
    ratings_section,
    scores_section,
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


def match_in(folder: Path, path: str) -> MatchState:
    """The match in a folder; raises StudyError."""
    journal = folder / JOURNAL
    try:
        state = (journal if journal.exists() else folder / DESCRIPTION).stat()
    except OSError:
        raise hk.errors.StudyError(f"{path} is no match (it has no {DESCRIPTION})") from None

    def read() -> MatchState:
        manifest, games = hk.open_match(folder)
        values = manifest.get("match", {})
        return MatchState(path, values, titles_in(manifest), games, state.st_mtime)

    return _cache.get((str(folder), state.st_mtime_ns, state.st_size), read)


def llr_words(duel: DuelSummary) -> str:
    """State of a sequential test."""
    if duel.llr is None or duel.bounds is None or math.isnan(duel.llr):
        return ""
    words = f"{duel.llr:+.2f} (from {duel.bounds[0]:.2f} to {duel.bounds[1]:.2f})"
    verdicts = {"H1": "H1 is accepted: a gain", "H0": "H0 is accepted: no gain"}
    return f"{words}: {verdicts[duel.verdict]}" if duel.verdict in verdicts else words


def duel_facts(duel: DuelSummary) -> list[tuple[str, str]]:
    """What is known of two players: score, Elo, superiority, pairs and a sequential test."""
    elo, pairs = elo_text(duel.elo), duel.score.pairs
    if duel.score.games and (few := too_few_reason(duel.score)):
        elo += f"; {few}: too few to trust an interval"
    counts = ", ".join(f"{count:,}" for count in pairs.counts)
    facts = [
        ("Games", str(duel.score.score)),
        ("Elo", elo),
        ("Superiority", f"{duel.superiority:.1%} likely, p {duel.permutation_p:.2g}"),
        ("Pairs", f"{pairs.pairs:,} ({counts} with 0, ½, 1, 1½, 2 points)" if pairs.pairs else "0"),
        ("LLR", llr_words(duel)),
    ]
    return [(name, text) for name, text in facts if text]


_VIEWS: Final = {"standing": "Standing", "games": "Games", "report": "Report"}
_GAMES_A_PAGE: Final = 50
_MOST_DUELS: Final = 30
_EVERY_S: Final = 1.0


def show(request: Request) -> Response:
    """All matches, or one."""
    query = request.query_params
    if not query.get("path"):
        matches = studio_of(request).folder.items("match")
        return page(request, ROOM, "match/index.html", matches=matches)
    match = _match(request)
    view = query.get("view") or "standing"
    if view not in _VIEWS:
        raise hk.errors.ParameterError("view", f"is one of {', '.join(_VIEWS)}")
    values: dict[str, Any] = {"match": match, "views": _VIEWS, "view_name": view}
    if view == "standing":
        values |= _standing(match) | _playing(studio_of(request).folder.path(match.path))
    elif view == "games":
        values |= _games(request, match)
    elif wants_part(request):
        report = match_page(match.path, match.games, match.players)
        return HTMLResponse(render(report))
    return page(request, ROOM, "match/match.html", **values)


def _match(request: Request) -> MatchState:
    path = request.query_params.get("path", "")
    return match_in(studio_of(request).folder.path(path), path)


def events(request: Request) -> Response:
    """Stream of the match's score after each game, and of the game in progress."""
    path = request.query_params.get("path", "")
    folder = studio_of(request).folder.path(path)
    match_in(folder, path)

    def look() -> dict[str, str]:
        match = match_in(folder, path)
        standing = html("match/standing.html", match=match, **_standing(match))
        return {"standing": standing, "playing": html("match/playing.html", **_playing(folder))}

    return watch(request, look, every_s=_EVERY_S)


def _standing(match: MatchState) -> dict[str, Any]:
    """Live values: scores, Elo, the test, faults and the newest game."""
    newest = match.games[-1] if match.games else None
    tables: list[Table] = []
    if match.games:
        sections = [scores_section(match.facts)]
        if len(match.facts.present) > 2:
            rated = ratings_section(ratings_of(match.facts))
            sections += [rated] if rated is not None else []
        tables = [
            block for section in sections for block in section.blocks if isinstance(block, Table)
        ]
    return {
        "duels": [
            {
                "one": duel.player,
                "other": duel.opponent,
                "points": f"{duel.score.points:g} : {duel.score.games - duel.score.points:g}",
                "facts": duel_facts(duel),
            }
            for duel in match.duels[:_MOST_DUELS]
        ],
        "left_out": max(0, len(match.duels) - _MOST_DUELS),
        "reasons": match.facts.standing.reasons.most_common(),
        "faults": match.facts.standing.faults.most_common(),
        "tables": tables,
        "newest": None if newest is None else _newest(match, newest),
    }


def _playing(folder: Path) -> dict[str, Any]:
    """The game that was begun first of those under way."""
    games = games_in_play(folder)
    shown = games[0] if games else None
    picture = None
    if shown is not None and shown.game in FACTS:
        try:
            line = hk.position(shown.game, shown.start or None).line()
            for move in shown.moves:
                line = line.play(move)
            picture = board(line, size=360)
        except hk.Error:  # a file that nobody of ours has written
            shown = None
    return {"in_play": shown, "in_play_picture": picture, "others_in_play": len(games) - 1}


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
        "games": Table(
            "Games",
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
                for game in listed
            ],
            [_game_address(match, game) for game in listed],
        ),
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
    match = _match(request)
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
