# SPDX-License-Identifier: Apache-2.0
"""Engine specs `PROTOCOL:SETTINGS:COMMAND`, search limits, and positions for engines."""

import hashlib
import math
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from hyoka._core import Player, Reason
from hyoka.foundation.errors import EngineError, NotationError, nearest
from hyoka.foundation.text import DefaultTitle, limit_title
from hyoka.games import Position, game_facts, games_with
from hyoka.games.evaluation import Evaluation
from hyoka.games.registry import position
from hyoka.storage.model_file import ModelFile, read_model_file

KEYS: Final = {
    "time": "time_s",
    "nodes": "nodes",
    "depth": "depth",
    "playouts": "playouts",
    "level": "level",
}
"""The keys of limits in a spec's text, and their fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on one evaluation; the engine stops at the first it reaches.

    >>> Limits(nodes=100, time_s=0.5).text
    'time=0.5,nodes=100'
    """

    time_s: float | None = None
    nodes: int | None = None
    depth: int | None = None
    playouts: int | None = None
    level: int | None = None

    def __post_init__(self) -> None:
        for key, name in KEYS.items():
            number = getattr(self, name)
            least = 0 if key == "level" else 1
            if number is None:
                continue
            if key == "time":
                if not (math.isfinite(number) and number > 0):
                    raise NotationError(f"a time limit is some seconds, not {number}")
            elif number < least:
                raise NotationError(f"the limit {key} is at least {least}, not {number}")

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))

    @property
    def text(self) -> str:
        """The limits as in a spec's text."""
        pairs = ((key, getattr(self, name)) for key, name in KEYS.items())
        return ",".join(f"{key}={number:.12g}" for key, number in pairs if number is not None)

    @property
    def title(self) -> str:
        """The limits for people.

        >>> Limits(nodes=10_000, time_s=0.5).title
        '0.5 s, 10,000 nodes'
        """
        pairs = ((key, getattr(self, name)) for key, name in KEYS.items())
        return ", ".join(limit_title(key, number) for key, number in pairs if number is not None)

    @property
    def milliseconds(self) -> int | None:
        """The time limit in whole milliseconds, at least 1."""
        return None if self.time_s is None else max(1, round(self.time_s * 1000))


def limit_from_text(key: str, text: str) -> float | int:
    """Read a limit's number.

    >>> limit_from_text("time", "0.5"), limit_from_text("nodes", "1_000")
    (0.5, 1000)
    """
    try:
        return float(text) if key == "time" else int(text)
    except ValueError:
        kind = "a number of seconds" if key == "time" else "a whole number"
        raise NotationError(f"the limit {key} is {kind}, not '{text}'") from None


@dataclass(frozen=True, slots=True)
class Protocol:
    """An engine protocol; its client is listed in `client/session.py`."""

    greeting: str
    sign: re.Pattern[str]
    """Matches lines that only its engines write."""
    game_protocols: tuple[str, ...]
    """Its games are those whose engines speak one of these protocols."""
    whole_seconds: bool = False
    """Whether time limits are whole seconds."""

    @property
    def games(self) -> list[str]:
        """The games that its engines play."""
        return games_with(lambda facts: facts.formats.protocol in self.game_protocols)


PROTOCOLS: Final = {
    "uci": Protocol("uci\n", re.compile(r"uciok\b"), ("uci",)),
    "usi": Protocol("usi\n", re.compile(r"usiok\b"), ("usi",)),
    "gtp": Protocol("name\n", re.compile(r"[=?]\d*(?:\s|$)"), ("gtp",), whole_seconds=True),
    "cecp": Protocol(
        "xboard\nprotover 2\nping 1\n",
        re.compile(r"feature \w+=|pong 1\b|(?:Illegal|Invalid) move\b|Error \("),
        ("uci", "usi"),
        whole_seconds=True,
    ),
}
"""The engine protocols by name."""
DEFAULT_TIMEOUT_S: Final = 60.0
DEFAULT_GRACE_S: Final = 10.0
# Debian installs engines in folders that only a user's shell searches.
_MORE_PLACES: Final = ("/usr/games", "/usr/local/games")
# Words separated by single spaces (UCI has `Skill Level`). Words that begin with a dash are options
# of the command, so that `katago gtp -model a=b:c` is a command.
_KEY: Final = re.compile(r"\w[\w().+/-]*(?: \w[\w().+/-]*)*")
_SETTING: Final = re.compile(rf"({_KEY.pattern})=((?:[^\\,:]|\\.)*)", re.DOTALL)
_SETTINGS: Final = re.compile(rf"(?:{_SETTING.pattern}(?:,{_SETTING.pattern})*)?:", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_OUR_KEYS: Final = frozenset(
    [*KEYS, "name", "profile", "timeout", "grace", "fresh", "stderr", "cwd"]
)
_ENV: Final = "env."
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """An engine: protocol, command, limits and options.

    >>> spec = EngineSpec.from_text("uci:nodes=1,Hash=16:stockfish")
    >>> spec.limits.nodes, spec.options, spec.command
    (1, (('Hash', '16'),), 'stockfish')
    >>> spec.text, spec.id
    ('uci:nodes=1,Hash=16:stockfish', 'stockfish-nodes1-hash16-f95bd6be')
    """

    protocol: str
    command: str
    """Split into words as in a shell, but not run by one."""
    limits: Limits = field(default_factory=Limits)
    options: tuple[tuple[str, str], ...] = ()
    """The engine's own options, in the order in which they are set."""
    title: str = ""
    """A name for people, `name` in the text; by default the command's name with the limits."""
    profile: str | ModelFile | None = None
    """For GTP: a bundled profile's name, or a TOML file with profiles, which is read at once."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """The timeout of an answer where no time limit applies."""
    grace_s: float | None = None
    """The time beyond the time limit before a search counts as hung; None: 10 s, or `timeout_s` if
    shorter.
    """
    fresh: bool = False
    """Whether the engine is reset before each position."""
    stderr: bool = False
    """Whether error reports (journals, tables, pages) include the engine's standard error."""
    cwd: str | None = None
    """The working directory; a relative command is resolved in it."""
    env: tuple[tuple[str, str], ...] = ()
    """Additional environment variables."""

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            protocols = ", ".join(PROTOCOLS)
            raise NotationError(f"no protocol '{self.protocol}'; known: {protocols}")
        object.__setattr__(self, "command", self.command.strip())
        values = [value for _, value in (*self.options, *self.env)]
        texts = (self.command, self.title, str(self.profile or ""), self.cwd or "")
        for text in (*texts, *values):
            if _CONTROL.search(text):
                raise NotationError(f"an engine's text is one printable line, not {text!r}")
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise NotationError(f"cannot split the command '{self.command}': {error}") from None
        if not words:
            raise NotationError(f"'{self.protocol}:' names no command; write uci:stockfish, say")
        if not self.title or isinstance(self.title, DefaultTitle):
            title = DefaultTitle(self.titled(self.program_name))
            object.__setattr__(self, "title", title)
        _check_seconds("timeout", self.timeout_s)
        _check_seconds("grace", self.grace_s)
        profile = self.profile or ""
        if isinstance(profile, ModelFile) or profile.endswith(".toml"):
            object.__setattr__(self, "profile", read_model_file(profile, "profile"))
        for name, _ in self.env:
            if not _VARIABLE.fullmatch(name):
                raise NotationError(f"no environment variable is called {name!r}")
        for key, _ in self.options:
            if key in _OUR_KEYS or key.startswith(_ENV):
                raise NotationError(
                    f"'{key}' is our setting; write the engine's as '{key.title()}'"
                )
            if not _KEY.fullmatch(key):
                raise NotationError(f"no option of an engine is called {key!r}")

    @classmethod
    def from_text(cls, text: str) -> "EngineSpec":
        """Read `PROTOCOL:COMMAND` or `PROTOCOL:KEY=VALUE,…:COMMAND`."""
        protocol, colon, rest = text.strip().partition(":")
        if not colon:
            raise NotationError(f"'{text}' is no engine: write PROTOCOL:COMMAND, as uci:stockfish")
        head = _SETTINGS.match(rest)
        settings = head.group() if head else ""
        arguments: dict[str, Any] = {}
        limits: dict[str, Any] = {}
        options: dict[str, str] = {}
        env: dict[str, str] = {}
        for setting in _SETTING.finditer(settings.removesuffix(":")):
            key = setting[1]
            value = re.sub(r"\\(.)", r"\1", setting[2], flags=re.DOTALL)
            if key in KEYS:
                limits[KEYS[key]] = limit_from_text(key, value)
            elif key in ("name", "profile", "cwd"):
                arguments["title" if key == "name" else key] = value
            elif key.startswith(_ENV):
                env[key.removeprefix(_ENV)] = value
            elif key in ("timeout", "grace"):
                arguments[f"{key}_s"] = _seconds(key, value)
            elif key in ("fresh", "stderr"):
                arguments[key] = _truth(key, value)
            else:
                options[key] = value
        return cls(
            protocol=protocol.strip().lower(),
            command=rest[len(settings) :].strip(),
            limits=Limits(**limits),
            options=tuple(options.items()),
            env=tuple(env.items()),
            **arguments,
        )

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The text that `from_text` reads."""
        profile = None if self.profile is None else str(self.profile)
        texts = {"name": self._chosen_title, "profile": profile, "cwd": self.cwd}
        pairs = [(key, value) for key, value in texts.items() if value is not None]
        if self.timeout_s != DEFAULT_TIMEOUT_S:
            pairs.append(("timeout", f"{self.timeout_s:.12g}"))
        if self.grace_s is not None:
            pairs.append(("grace", f"{self.grace_s:.12g}"))
        pairs += [(key, "true") for key in ("fresh", "stderr") if getattr(self, key)]
        pairs += [(_ENV + name, value) for name, value in self.env]
        settings = [self.limits.text] if self.limits else []
        settings += [f"{key}={_escaped(value)}" for key, value in [*pairs, *self.options]]
        if settings:
            return f"{self.protocol}:{','.join(settings)}:{self.command}"
        ambiguous = _SETTINGS.match(self.command)
        return f"{self.protocol}:{':' if ambiguous else ''}{self.command}"

    def wait_s(self, thinking_s: float | None) -> float:
        """Return the timeout of an answer; `thinking_s` is the search's time limit, if any."""
        if thinking_s is None:
            return self.timeout_s
        grace_s = min(DEFAULT_GRACE_S, self.timeout_s) if self.grace_s is None else self.grace_s
        return thinking_s + grace_s

    @property
    def _chosen_title(self) -> str | None:
        return None if isinstance(self.title, DefaultTitle) else self.title or None

    @property
    def program_name(self) -> str:
        """The chosen title, or the command's name, for an engine that reports no name."""
        return self._chosen_title or Path(shlex.split(self.command)[0]).name

    def titled(self, program: str) -> str:
        """Return the title with another name for the program, as the engine reports it."""
        return self._chosen_title or ", ".join(filter(None, [program, self.limits.title]))

    @property
    def id(self) -> str:
        """A readable identifier for files, unique to engine, command, options and limits.

        It ignores timeout, grace and `stderr`, which change no answer.
        """
        limits = self.limits.text.replace("=", "").split(",")
        options = [f"{key}{value}" for key, value in self.options[:3]]
        words = [self.program_name, *limits, *options]
        safe = [re.sub(r"[^a-z0-9.]+", "_", word.lower()).strip("_.")[:24] for word in words]
        place = (self.cwd, tuple(sorted(self.env))) if self.cwd or self.env else ()
        what = (
            self.protocol,
            self.command,
            self.limits.text,
            tuple(sorted((key.lower(), value) for key, value in self.options)),
            self._chosen_title,
            self.profile.sha256 if isinstance(self.profile, ModelFile) else self.profile,
            self.fresh,
            *place,
        )
        digest = hashlib.sha256(repr(what).encode()).hexdigest()[:8]
        return "-".join([*filter(None, safe), digest])

    @property
    def dependencies(self) -> dict[str, str]:
        """The hash of the file of profiles, which the text does not determine."""
        return {"profile": self.profile.sha256} if isinstance(self.profile, ModelFile) else {}

    def folder(self) -> Path | None:
        """Return the working directory, None for the current one. Raises EngineError."""
        if self.cwd is None:
            return None
        folder = Path(self.cwd).expanduser()
        if not folder.is_dir():
            raise EngineError(
                self.program_name, f"there is no folder '{self.cwd}' to run in", reason="missing"
            )
        return folder.absolute()

    def program(self) -> list[str]:
        """Return the command's words with the program's full path. Raises EngineError."""
        words = shlex.split(self.command)
        folder = self.folder()
        if folder is not None and os.sep in words[0]:
            words[0] = str(folder / words[0])
        places = os.pathsep.join([os.environ.get("PATH", os.defpath), *_MORE_PLACES])
        path = shutil.which(words[0], path=places)
        if path is None:
            raise EngineError(self.program_name, _missing(words[0], places), reason="missing")
        return [os.path.abspath(path), *words[1:]]


def _missing(word: str, places: str) -> str:
    if os.sep in word:
        if Path(word).is_file():
            return f"'{word}' is not executable; chmod +x makes it so"
        return f"there is no program '{word}'"
    names = {
        entry.name
        for place in places.split(os.pathsep)
        if os.path.isdir(place)
        for entry in os.scandir(place)
    }
    hint = nearest(word, sorted(names)) or "install it, or write its full path"
    return f"no program '{word}' is on the PATH; {hint}"


def _escaped(value: str) -> str:
    return re.sub(r"([\\,:])", r"\\\1", value)


def _check_seconds(key: str, seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds < 1e6:
        raise NotationError(f"{key} must be a positive number of seconds, not {seconds}")


def _seconds(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise NotationError(f"{key} must be a number of seconds, not '{text}'") from None


def _truth(key: str, text: str) -> bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise NotationError(f"'{key}' is true or false, not '{text}'")


@dataclass(frozen=True, slots=True)
class EnginePosition:
    """A start and the moves since, in the notation of `hyoka.games`.

    >>> EnginePosition("chess", moves=["e2e4", "e7e5"]).replay().last.to_play
    Player.first
    """

    game: str
    """A name of `hyoka.games.GAMES` or an alias (`go`, `reversi`)."""
    start: str | None = None
    """The first position's text; None for the standard start."""
    moves: Sequence[str] = ()
    """Any notation that `parse` reads; engines get `str(move)`."""
    komi: float = 7.5
    """For Go from the standard start; another start's text has its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", game_facts(self.game).name)

    def replay(self) -> "Replay":
        """Replay the moves under the movement rules alone.

        No count of moves or lack of material ends the game, since records go on where a draw could
        be claimed. Illegal moves raise before an engine gets them: UCI engines silently drop an
        illegal move and all moves after it.
        """
        return Replayer()(self)

    def describe(self) -> str:
        """Return the position on one line, for messages."""
        start = self.start if self.start is not None else "start"
        return f"{self.game} {start} moves {' '.join(self.moves)}".removesuffix(" moves ")


class Replay(NamedTuple):
    """A replayed position: the first and the last position, and the moves between."""

    first: Position
    last: Position
    moves: tuple[str, ...]


class Replayer:
    """Replays positions; an extension of the last one costs only its new moves."""

    def __init__(self) -> None:
        self._start: tuple[str, str | None] | None = None
        self._texts: tuple[str, ...] = ()
        self._replay: Replay | None = None

    def __call__(self, request: EnginePosition) -> Replay:
        """Replay a position; see `EnginePosition.replay`."""
        start = (request.game, request.start)
        if start != self._start or self._replay is None:
            first = position(request.game, request.start).movement_only()
            self._start, self._texts, self._replay = start, (), Replay(first, first, ())
        texts = tuple(request.moves)
        count = len(self._texts)
        first, last, moves = self._replay
        if texts[:count] != self._texts:
            last, moves, count = first, (), 0
        new = []
        for text in texts[count:]:
            move = last.parse(text)
            last = last.play(move)
            new.append(str(move))
        self._texts, self._replay = texts, Replay(first, last, (*moves, *new))
        return self._replay


def evaluate_finished(game: str, last: Position) -> Evaluation | None:
    """Return the value of a finished game by the rules; None while it goes on.

    Always None for Go: after two passes, engines know more than the rules about dead stones.
    """
    outcome = last.outcome
    facts = game_facts(game)
    if outcome is None or facts.disputed_ends:
        return None
    if outcome.reason is Reason.checkmate:
        return Evaluation(mate=0).from_view(last.to_play)
    value = outcome.value
    return Evaluation(
        win=float(value == 1),
        draw=float(value == 0.5),
        loss=float(value == 0),
        score=float(last.score) if facts.by_points else 0.0 if value == 0.5 else None,
        unit=facts.naming.unit,
    ).from_view(Player.first)
