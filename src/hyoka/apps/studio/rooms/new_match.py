# SPDX-License-Identifier: Apache-2.0
"""A new match: players as cards, thinking time, openings, and what it will cost in time."""

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

import hyoka as hk
from hyoka.agents import Agent
from hyoka.apps.studio.folder import RECORDS, keep_sample
from hyoka.apps.studio.forms import (
    AgentChoice,
    SettingField,
    agent_choices,
    command_text,
    setting_fields,
    spec_text,
    whole_number,
)
from hyoka.apps.studio.pages import (
    Room,
    Studio,
    address,
    duration,
    fragment,
    page,
    status_and_words,
    studio_of,
)
from hyoka.arena import Sprt
from hyoka.arena.elo import rate_of_elo
from hyoka.arena.plan import TimeControl
from hyoka.foundation.text import counted
from hyoka.games import DEFAULT_GAME, FACTS
from hyoka.records.samples import SAMPLES, sample_path
from hyoka.search import SearchSpec

TESTS: Final = {
    "0,50": "Clearly stronger: +50 Elo rather than 0",
    "0,20": "Stronger: +20 Elo rather than 0",
    "0,5": "A small gain: +5 Elo rather than 0",
    "-10,0": "Not weaker: 0 Elo rather than −10",
}
"""Bounds of sequential tests by what they ask."""
_PER_SECOND: Final = {"uct": 25_000, "mc": 100_000, "mc-score": 100_000, "ab": 500_000}
"""Playouts, or nodes of alpha-beta, per second on one core: means over the games."""
_ENGINE_NODES: Final = 1_000_000
_DEPTH_S: Final = 0.05
"""Time of a search to a depth, whatever the depth: an order of magnitude."""
_MOST_PLAYERS: Final = 12
_MOST_GAMES: Final = 1_000_000
_MOST_FIELDS: Final = 2_000
_FIELD: Final = re.compile(r"p(\d{1,2})(?:\.(level|name|set)(?:\.(\w{1,40}))?)?")
_NAME_SIGNS: Final = re.compile(r"[:=@\\/~\x00-\x1f\x7f]|^[.\s]")
_MOST_OFFERED: Final = 50


@dataclass
class PlayerCard:
    """A player as the form has it."""

    number: int
    base: str = ""
    """What its spec begins with; the name of an allowed engine."""
    level: str = ""
    name: str = ""
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NewMatch:
    """What is filled in."""

    studio: Studio
    cards: tuple[PlayerCard, ...]
    values: Mapping[str, str]

    @classmethod
    def of(cls, studio: Studio, pairs: Iterable[tuple[str, object]]) -> "NewMatch":
        """Read the fields of an address or a form; raises ParameterError."""
        cards: dict[int, PlayerCard] = {}
        values: dict[str, str] = {}
        for name, value in pairs:
            if not isinstance(value, str) or not (value := value.strip()):
                continue
            match = _FIELD.fullmatch(name)
            if match is None:
                values[name] = value
                continue
            number, what, setting = int(match[1]), match[2], match[3]
            card = cards.setdefault(number, PlayerCard(number))
            if what == "set" and setting:
                card.settings[setting] = value
            elif what == "level":
                card.level = value
            elif what == "name":
                card.name = value
            else:
                card.base = value
        chosen = [cards[number] for number in sorted(cards) if cards[number].base]
        if len(chosen) > _MOST_PLAYERS:
            raise hk.errors.ParameterError("players", f"are {_MOST_PLAYERS} at most here")
        return cls(studio, tuple(chosen), values)

    @cached_property
    def game(self) -> str:
        """The game; raises ParameterError for an unknown one."""
        game = self.values.get("game", DEFAULT_GAME)
        if game not in FACTS:
            raise hk.errors.ParameterError("game", f"is one of {', '.join(FACTS)}")
        return game

    @cached_property
    def choices(self) -> list[AgentChoice]:
        """The agents that play the game."""
        return agent_choices(self.studio.folder, self.studio.engines, self.game)

    def choice(self, card: PlayerCard) -> AgentChoice:
        """The agent of a card, which may be of another game or of an address."""
        found = next((each for each in self.choices if each.text == card.base), None)
        if found is not None:
            return found
        kind = card.base.partition(":")[0]
        same = next((each for each in self.choices if each.kind and each.kind == kind), None)
        if same is None:
            return AgentChoice(card.base, card.base, "", "")
        return AgentChoice(card.base, same.title, same.about, same.kind, same.levels)

    @property
    def think(self) -> str:
        """How long players think: `level`, `time` or `clock`."""
        return self.values.get("think", "level")

    def spec(self, card: PlayerCard) -> str:
        """The text of a player's spec."""
        kind = self.choice(card).kind
        if not kind:
            return card.base
        settings = dict(card.settings)
        fields = {each.name: each for each in SearchSpec.settings_for(kind)}
        limits = {name for name, each in fields.items() if each.is_limit}
        timed = self.think in ("time", "clock") and "time" in fields
        if timed:
            settings = {name: value for name, value in settings.items() if name not in limits}
            if self.think == "time":
                settings["time"] = self.values.get("seconds", "0.1")
        elif not limits & settings.keys() and not _has_limit(card.base, limits):
            levels = [text for text, _ in self.choice(card).levels]
            level = card.level or (levels[1] if len(levels) > 1 else "")
            name, _, value = level.partition("=")
            if name in limits:
                settings[name] = value
        return spec_text(card.base, settings)

    def player(self, card: PlayerCard) -> str:
        """A player as the command has it."""
        if _NAME_SIGNS.search(card.name):
            raise hk.errors.ParameterError("name", "is letters, digits and blanks, without : = @ /")
        clock = ""
        if self.think == "clock" and (self.choice(card).kind or self.is_engine(card)):
            clock = f"@{TimeControl.from_text(self.values.get('clock', '60+0.6')).text}"
        return f"{card.name}{'=' if card.name else ''}{self.spec(card)}{clock}"

    def is_engine(self, card: PlayerCard) -> bool:
        """Whether the player is an allowed engine."""
        return card.base in self.studio.engines.allowed

    def agent(self, card: PlayerCard) -> Agent[Any]:
        """The agent of a card; raises Error."""
        agent = self.studio.engines.agent(self.spec(card), self.studio.folder)
        if "player" not in self.studio.engines.roles(card.base, self.game):
            raise hk.Error(f"{card.base} does not play {FACTS[self.game].title}")
        if isinstance(agent.spec, SearchSpec):
            agent.spec.validated_for(self.game)
        return agent

    @property
    def test(self) -> Sprt | None:
        """The sequential test, if one decides; raises NotationError."""
        if self.values.get("length") != "sprt":
            return None
        text = self.values.get("test", "0,20")
        if text == "own":
            text = f"{self.values.get('elo0', '0')},{self.values.get('elo1', '20')}"
        return Sprt.from_text(text)

    @property
    def games(self) -> int:
        """The number of games of a pair of players, at most for a sequential test."""
        default = "20000" if self.values.get("length") == "sprt" else "200"
        return whole_number(self.values.get("games", default), "games", 1, _MOST_GAMES)

    @property
    def jobs(self) -> int:
        """The number of parallel games."""
        agents = [self.agent(card) for card in self.cards]
        most = max((agent.threads for agent in agents), default=1)
        if text := self.values.get("jobs"):
            return whole_number(text, "parallel games", 1, 256)
        return max(1, _cores() // most)

    @property
    def uses_samples(self) -> bool:
        """Whether games begin with those of the bundled samples."""
        return self.values.get("openings") == "samples" and "openings_file" not in self.values

    @property
    def samples(self) -> str:
        """Where the bundled games are once the match is started; raises SourceError."""
        return f"{RECORDS}/{sample_path(self.game).name}"

    @property
    def openings(self) -> str:
        """The openings as the command has them."""
        plies = self.values.get("plies", "")
        text = self.values.get("openings_file") or self.values.get("openings", "random")
        if self.uses_samples:
            text = self.samples
        if text == "start" or not plies:
            return "" if text == "random" else text
        return f"{text}:{whole_number(plies, 'plies', 0, 1000)}"

    @property
    def folder(self) -> str:
        """A folder for the match that nothing has yet; a chosen one may have a match to go on."""
        if own := self.values.get("folder"):
            return own
        titles = [card.name or self.spec(card) for card in self.cards[:2]]
        words = f"{self.game}-{'-v-'.join(titles)}".lower()
        stem = re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:70].strip("-")
        for number in range(1, 10_000):
            name = f"matches/{stem}{'' if number == 1 else f'-{number}'}"
            if not self.studio.folder.path(name, must_exist=False).exists():
                return name
        raise hk.errors.ParameterError("folder", "needs a name: choose one under More options")

    def run_values(self) -> dict[str, list[str]]:
        """Values of the form of `match run`; raises Error."""
        if len(self.cards) < 2:
            raise hk.Error("a match needs two players: add one")
        for card in self.cards:
            self.agent(card)
        texts = {
            "players": "\n".join(self.player(card) for card in self.cards),
            "game": self.game,
            "openings": self.openings,
            "games": str(self.games),
            "folder": self.folder,
            "jobs": str(self.jobs),
            "tournament": self.values.get("tournament", ""),
            "adjudicate": self.values.get("adjudicate", ""),
            "max_plies": self.values.get("max_plies", ""),
            "seed": self.values.get("seed", ""),
        }
        if (test := self.test) is not None:
            if len(self.cards) != 2:
                raise hk.Error("a sequential test is for two players: remove the others")
            texts["sprt"] = f"{test.elo0:g},{test.elo1:g}"
        return {name: [text] for name, text in texts.items() if text}

    def canonical(self) -> str:
        """The address without what is empty."""
        query: dict[str, str] = dict(self.values)
        for number, card in enumerate(self.cards, 1):
            query |= {f"p{number}": card.base, f"p{number}.level": card.level}
            query[f"p{number}.name"] = card.name
            query |= {f"p{number}.set.{name}": value for name, value in card.settings.items()}
        return address("/match/new", **query)


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _room(request: Request) -> Room:
    rooms: list[Room] = request.app.state.rooms
    return next(room for room in rooms if room.name == "match")


def _has_limit(base: str, limits: set[str]) -> bool:
    parts = base.partition(":")[2].split(",")
    return any(part.partition("=")[0] in limits for part in parts)


def expected_games(test: Sprt, draw_rate: float, elo: float) -> float:
    """The mean number of games of a sequential test for a difference, as Wald approximates it.

    Games count as independent; pairs from one opening need fewer.
    """
    low, high = rate_of_elo(test.elo0), rate_of_elo(test.elo1)
    variance = (1 - draw_rate) / 4
    step = (high - low) / variance
    drift = step * (rate_of_elo(elo) - (low + high) / 2)
    if abs(drift) < 1e-12:
        return -test.lower * test.upper / (step * step * variance)
    tilt = -2 * drift / (step * step * variance)
    ends = math.exp(tilt * test.lower), math.exp(tilt * test.upper)
    up = (1 - ends[0]) / (ends[1] - ends[0])
    return (up * test.upper + (1 - up) * test.lower) / drift


def seconds_a_move(agent: Agent[Any], game: str, clock: TimeControl | None) -> float | None:
    """The mean time of a move; None if the agent's own settings decide."""
    plies = FACTS[game].search.game_plies
    if clock is not None:
        return clock.main_s / (clock.moves or plies / 2) + clock.increment_s + clock.period_s
    spec = agent.spec
    if not isinstance(spec, SearchSpec):
        limits = getattr(spec, "limits", None)
        if limits is None or (limits.time_s is None and limits.nodes is None):
            return None
        return float(limits.time_s if limits.time_s is not None else limits.nodes / _ENGINE_NODES)
    kind = spec.kind
    if kind not in _PER_SECOND:
        return 0.001
    spec = spec.for_game(game)
    times = [float(spec["time"])] if spec.has("time") and spec["time"] else []
    counts = [spec[name] for name in ("playouts", "nodes") if spec.has(name) and spec[name]]
    times += [count / _PER_SECOND[kind] for count in counts]
    if not times and spec.has("depth") and spec["depth"]:
        return _DEPTH_S
    default = max((each.default_limit for each in SearchSpec.settings_for(kind)), default=0)
    return min(times, default=default / _PER_SECOND[kind])


def cost(match: NewMatch) -> dict[str, str]:
    """What the match costs, in a sentence, and on what the estimate rests; raises Error."""
    clock = None
    if match.think == "clock":
        clock = TimeControl.from_text(match.values.get("clock", "60+0.6"))
    plies = FACTS[match.game].search.game_plies
    times = [seconds_a_move(match.agent(card), match.game, clock) for card in match.cards]
    known = [time for time in times if time is not None]
    count, jobs = len(match.cards), match.jobs
    duels = count - 1 if match.values.get("tournament") == "gauntlet" else count * (count - 1) // 2
    games = duels * 2 * ((match.games + 1) // 2)
    words = []
    if (test := match.test) is not None:
        draws = FACTS[match.game].search.draw_rate
        one, middle = (
            2 * math.ceil(expected_games(test, draws, elo) / 2)
            for elo in (test.elo1, (test.elo0 + test.elo1) / 2)
        )
        words.append(
            f"The test needs about {_rounded(one)} games if the difference is {test.elo1:+g} Elo, "
            f"{_rounded(middle)} if it is halfway between the bounds; it ends at {games:,}."
        )
        games = min(games, one)
    mean = sum(known) / len(known) if known else 0.0
    total = games * plies * mean / min(jobs, max(games, 1))
    at_once = f"with {counted(jobs, 'game')} at once" if jobs != 1 else "one game after another"
    if known:
        total_words = ": less than a minute" if total < 60 else f" ≈ {duration(total)}"
        words.append(
            f"About {_rounded(games) if test else f'{games:,}'} games × {plies} moves × "
            f"{_seconds_text(mean)}{total_words}, {at_once}."
        )
    unknown = [match.choice(card).title for card, time in zip(match.cards, times, strict=True)
               if time is None]  # fmt: skip
    if unknown:
        words.append(f"How long {', '.join(unknown)} thinks is set in its own spec.")
    return {"sentence": " ".join(words)}


def _rounded(count: float) -> str:
    """A number with two digits, as estimates are.

    >>> _rounded(6421)
    '6,400'
    """
    digits = max(0, len(str(int(count))) - 2)
    return f"{round(count, -digits):,.0f}"


def _seconds_text(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 0.01 else f"{seconds * 1000:.2g} ms"


def _card(match: NewMatch, card: PlayerCard, number: int) -> dict[str, Any]:
    """What the card of a player shows."""
    choice = match.choice(card)
    fields: list[SettingField] = []
    title, problem, spec = choice.title, "", card.base
    try:
        spec = match.spec(card)
        agent = match.agent(card)
        title = agent.spec.title if isinstance(agent.spec, SearchSpec) else choice.title
        if isinstance(agent.spec, SearchSpec):
            fields = setting_fields(agent.spec, match.game, match.studio.folder)
    except hk.Error as error:
        problem = str(error)
        if choice.kind:
            fields = setting_fields(SearchSpec(choice.kind), match.game, match.studio.folder)
    limits = {each.name for each in fields if each.is_limit}
    return {
        "number": number,
        "base": card.base,
        "choice": choice,
        "name": card.name,
        "title": title,
        "spec": spec,
        "problem": problem,
        "level": card.level or (choice.levels[1][0] if choice.levels else ""),
        "has_own_limit": bool(limits & card.settings.keys()),
        "fields": fields,
        "settings": card.settings,
        "levels": choice.levels,
    }


def _summary(match: NewMatch) -> dict[str, Any]:
    """The cost, the command, and what is wrong with the match."""
    values: dict[str, Any] = {
        "sentence": "",
        "command": "",
        "problem": "",
        "specs": [],
        "all_options": "",
    }
    for number, card in enumerate(match.cards, 1):
        try:
            values["specs"].append((number, match.spec(card)))
        except hk.Error:
            values["specs"].append((number, card.base))
    try:
        filled = match.run_values()
        values["command"] = command_text(match.studio.words("match run", filled))
        values["all_options"] = address("/runs/new", command="match run", **filled)
        values |= cost(match)
    except hk.Error as error:
        values["problem"] = str(error)
    return values


def show(request: Request) -> Response:
    """The form, filled in as the address says."""
    pairs = request.query_params.multi_items()
    match = NewMatch.of(studio_of(request), pairs)
    add, remove = match.values.get("add"), match.values.get("remove")
    values = {name: value for name, value in match.values.items() if name not in ("add", "remove")}
    cards = [card for card in match.cards if str(card.number) != remove]
    if add:
        cards.append(PlayerCard(100, add))
    if not (match.cards or add or remove):
        kinds = [each.text for each in match.choices if each.kind]
        cards = [PlayerCard(1, kinds[0]), PlayerCard(2, kinds[0], level="playouts=50")]
    changed = NewMatch(match.studio, tuple(cards), values)
    has_empty = any(not str(value).strip() for _, value in pairs)
    if add or remove or has_empty:
        return RedirectResponse(changed.canonical(), HTTPStatus.SEE_OTHER)
    return _form(request, changed)


def _form(
    request: Request, match: NewMatch, problem: str = "", status: int = HTTPStatus.OK
) -> Response:
    records = [each.path for each in match.studio.folder.items("records")][:_MOST_OFFERED]
    return page(
        request,
        _room(request),
        "match/new.html",
        games=[(name, facts.title) for name, facts in FACTS.items()],
        game=match.game,
        cards=[_card(match, card, number) for number, card in enumerate(match.cards, 1)],
        choices=match.choices,
        values=match.values,
        think=match.think,
        has_samples=match.game in SAMPLES,
        records=records,
        record_names=[Path(path).name for path in records],
        tests=TESTS,
        summary=_summary(match) | ({"problem": problem} if problem else {}),
        is_refused=bool(problem),
        cores=_cores(),
        busy=len(match.studio.runs.under_way()),
        status=status,
    )


def summary(request: Request) -> Response:
    """What the match costs, and its command, while the form is filled in."""
    match = NewMatch.of(studio_of(request), request.query_params.multi_items())
    return fragment("match/cost.html", live=True, **_summary(match))


async def start(request: Request) -> Response:
    """Start the match; what cannot be started is the form again."""
    form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    pairs = form.multi_items()

    def begin() -> Response:
        studio = studio_of(request)
        match = NewMatch.of(studio, pairs)
        try:
            values = match.run_values()
            if match.uses_samples:
                kept = keep_sample(studio.folder, sample_path(match.game))
                values["openings"] = [values["openings"][0].replace(match.samples, kept, 1)]
            run = studio.runs.start("match run", values, wait="wait" in form)
        except (hk.Error, OSError) as error:
            status, words = status_and_words(error, studio.folder)
            return _form(request, match, words, status)
        return RedirectResponse(
            address("/match", path=run.values["folder"][0]), HTTPStatus.SEE_OTHER
        )

    return await anyio.to_thread.run_sync(begin)


ROUTES: Final[list[BaseRoute]] = [
    Route("/match/new", show),
    Route("/match/new", start, methods=["POST"]),
    Route("/match/new/cost", summary),
]
