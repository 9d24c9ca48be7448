# SPDX-License-Identifier: Apache-2.0
"""Rooms of a studio, and their answers: pages, parts of pages, server-sent events, errors."""

import datetime
import errno
import functools
import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, urlencode

import anyio
import anyio.to_thread
import jinja2
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import BaseRoute

import hyoka as hk
import hyoka.reporting
from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.blocks import render
from hyoka.apps.studio.folder import Folder, FolderItem
from hyoka.apps.studio.forms import Allow, CommandEntry, Forms
from hyoka.apps.studio.runs import Runs, Values
from hyoka.foundation.errors import escape_control_chars
from hyoka.foundation.text import counted
from hyoka.games import FACTS
from hyoka.reporting.charts import BLOCKS_CSS

T = TypeVar("T")


@dataclass(frozen=True)
class Room:
    """A part of the studio, with a place in its menu."""

    name: str
    """In addresses and in the names of its templates, styles and script: `board`."""
    title: str
    purpose: str
    """A sentence: what one does there."""
    routes: Sequence[BaseRoute]
    """The first is where the menu leads."""
    style: bool = False
    """Whether there is a `static/NAME.css`."""
    script: bool = False
    """Whether there is a `static/NAME.js`."""

    @property
    def path(self) -> str:
        """Target of the menu entry."""
        return "/" if self.name == "home" else f"/{self.name}"


@dataclass(frozen=True)
class Studio:
    """A folder, and what may be done with it."""

    folder: Folder
    engines: Engines
    forms: Forms
    """The commands that can be run, as forms."""

    @classmethod
    def on(cls, folder: Folder, engines: Engines, commands: Iterable[CommandEntry]) -> "Studio":
        """A studio that runs those of the commands that are runs."""
        return cls(folder, engines, Forms.of(commands))

    @property
    def runs(self) -> Runs:
        """Running and finished runs."""
        return Runs(self.folder, self.words)

    def words(self, command: str, values: Values) -> list[str]:
        """A command's words for what was filled in; raises Error if they may not be run."""
        return self.forms.words(command, values, Allow(self.folder, self.engines))


def studio_of(request: Request) -> Studio:
    """The studio that a request is for."""
    studio: Studio = request.app.state.studio
    return studio


class LruCache(Generic[T]):
    """LRU cache; concurrent requests for one key compute it once.

    >>> cache = LruCache(2)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, computed if missing."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                with self._lock:
                    if key in self._values:
                        return self._values[key]
                value = make()
                with self._lock:
                    self._values[key] = value
                    while len(self._values) > self._most:
                        self._values.popitem(last=False)
                return value
        finally:
            with self._lock:
                self._making.pop(key, None)


END: Final = "end"
"""The name of an event after which nothing more comes."""
_QUIET_S: Final = 15.0


def watch(
    request: Request, look: Callable[[], Mapping[str, str]], *, every_s: float = 0.5
) -> Response:
    """A stream of events: `look()` gives HTML by event name, and what has changed is sent.

    `look` runs in a thread, again and again until the browser goes or it gives an event `END`.
    """

    async def stream() -> AsyncIterator[str]:
        sent: dict[str, str] = {}
        silent_s = 0.0
        while True:
            try:
                seen = await anyio.to_thread.run_sync(look)
            except Exception:  # what is no longer there is no longer watched
                yield event(END, "")
                return
            news = {name: text for name, text in seen.items() if sent.get(name) != text}
            for name, text in news.items():
                yield event(name, text)
            if END in seen or await request.is_disconnected():
                return
            sent.update(news)
            silent_s = 0.0 if news else silent_s + every_s
            if silent_s >= _QUIET_S:  # detects closed connections
                silent_s = 0.0
                yield ": still here\n\n"
            await anyio.sleep(every_s)

    return StreamingResponse(stream(), media_type="text/event-stream")


def event(name: str, text: str) -> str:
    r"""An event as it goes over the line.

    >>> event("progress", "<p>\n1 of 2")
    'event: progress\ndata: <p>\ndata: 1 of 2\n\n'
    """
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


HERE: Final = Path(__file__).parent
THEMES: Final = ("light", "dark")
_FREE: Final = "free some disk space, and try again"
_READ_ONLY: Final = "the studio needs a folder that it may write to"
_DENIED: Final = "the user who started the studio needs the right to read and write there"
_DISK_PROBLEMS: Final[Mapping[int, tuple[int, str]]] = {
    errno.ENOSPC: (HTTPStatus.INSUFFICIENT_STORAGE, _FREE),
    errno.EDQUOT: (HTTPStatus.INSUFFICIENT_STORAGE, _FREE),
    errno.EROFS: (HTTPStatus.FORBIDDEN, _READ_ONLY),
    errno.EACCES: (HTTPStatus.FORBIDDEN, _DENIED),
    errno.EPERM: (HTTPStatus.FORBIDDEN, _DENIED),
}
"""Advice and HTTP status for disk errors."""
_log: Final = logging.getLogger("hyoka.apps.studio")


@functools.cache
def environment() -> jinja2.Environment:
    """The templates, and what all of them may use."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals["address"] = address
    templates.globals["version"] = hk.__version__
    templates.filters["html"] = render
    templates.filters["count"] = count_text
    templates.filters["counted"] = counted_or_dash
    templates.filters["game"] = game_title
    templates.filters["duration"] = duration
    templates.filters["moment"] = moment
    templates.filters["escape_control_chars"] = escape_control_chars
    templates.filters["size"] = size_text
    templates.filters["where"] = where_to_look
    templates.filters["coded"] = coded
    return templates


def address(path: str, /, **query: object) -> str:
    """An address in the studio: a path, and all that it is about; None and "" are left out.

    >>> address("/study", path="my games", where="ply > 3", at=None)
    '/study?path=my+games&where=ply+%3E+3'
    """
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        values: Iterable[object] = value if isinstance(value, list | tuple) else [value]
        pairs += [(name, str(each)) for each in values if each not in (None, "")]
    return quote(path) + (f"?{urlencode(pairs)}" if pairs else "")


def page(
    request: Request, room: Room, template: str, /, *, status: int = HTTPStatus.OK, **values: Any
) -> Response:
    """A whole page of a room, by a template that extends `layout.html`."""
    theme = request.cookies.get("hyoka-theme")
    around = {
        "room": room,
        "rooms": request.app.state.rooms,
        "theme": theme if theme in THEMES else None,
        "folder_name": studio_of(request).folder.root.resolve().name or "/",
        "here": request.url.path,
        "stamp": stamp(),
    }
    return HTMLResponse(environment().get_template(template).render(around | values), status)


def fragment(template: str, /, *, status: int = HTTPStatus.OK, **values: Any) -> Response:
    """A part of a page, for htmx to put in its place."""
    return HTMLResponse(html(template, **values), status)


def html(template: str, /, **values: Any) -> str:
    """A template's text, as for `watch`."""
    return environment().get_template(template).render(values)


def wants_part(request: Request) -> bool:
    """Whether htmx asks, for a part of the page that is open."""
    return "hx-request" in request.headers and "hx-history-restore-request" not in request.headers


async def failure(request: Request, error: Exception) -> Response:
    """Response to an error: a fragment for fragment requests, else a page."""
    status, words = status_and_words(error, studio_of(request).folder)
    answer = _failure_page(request, status, words)
    if isinstance(error, HTTPException):
        answer.headers.update(error.headers or {})
    return answer


def _failure_page(request: Request, status: int, words: str) -> Response:
    if wants_part(request):
        return fragment("error_part.html", status=status, words=words)
    first = request.url.path.split("/")[1]
    rooms = {each.name: each for each in request.app.state.rooms}
    room = rooms.get(first, request.app.state.rooms[0])
    return page(request, room, "error.html", status=status, words=words, code=status)


def status_and_words(error: Exception, folder: Folder) -> tuple[int, str]:
    """The status of an answer, and what went wrong as a sentence."""
    if isinstance(error, HTTPException):
        words = {
            404: "There is nothing at this address.",
            405: "This address is not for that: open a page and use its buttons.",
            413: "That is larger than the studio takes.",
        }
        return error.status_code, words.get(error.status_code, str(error.detail))
    if isinstance(error, hk.Error | MemoryError):
        return HTTPStatus.BAD_REQUEST, sentence(error)
    number = (error.errno or 0) if isinstance(error, OSError) else 0
    if isinstance(error, OSError) and number in _DISK_PROBLEMS:
        status, advice = _DISK_PROBLEMS[number]
        name = f"'{escape_control_chars(folder.shown(error.filename))}': " if error.filename else ""
        return status, f"{name}{os.strerror(number)}: {advice}."
    _log.error("%s", type(error).__name__, exc_info=error)
    return HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong; the terminal says what."


def sentence(error: Exception) -> str:
    """An error's message as a sentence."""
    words = " ".join(str(error).split()) or "there is not enough memory for this"
    words = re.sub(r"`(\w+)`", r"\1", words)
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "?", "!")) else ".")


@functools.cache
def stamp() -> str:
    """Changes when a script or style does, so that browsers may keep them."""
    files = [*(HERE / "static").rglob("*.*"), Path(hyoka.reporting.__file__).with_name(BLOCKS_CSS)]
    newest = max(file.stat().st_mtime_ns for file in files)
    return f"{newest:x}"


def where_to_look(file: FolderItem) -> str:
    """The address of the room, or the file, that shows something in the folder."""
    places = {"study": "/study", "match": "/match", "model": "/learning", "report": "/report"}
    return address(places.get(file.kind, "/file"), path=file.path)


def count_text(number: object) -> str:
    """A whole number with its thousands apart; what a file does not tell is a dash."""
    return f"{number:,}" if isinstance(number, int) else "–"


def counted_or_dash(number: object, what: str) -> str:
    """A count with its noun; what a file does not tell is a dash."""
    return counted(number, what) if isinstance(number, int) else f"– {what}s"


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(42), duration(130), duration(8000)
    ('42 s', '2 min', '2 h 13 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def moment(seconds: float, zone: datetime.tzinfo | None = None) -> str:
    """Format a time since 1970, in the local time zone by default; a dash if no clock shows it.

    >>> moment(1e300)
    '–'
    """
    try:
        time = datetime.datetime.fromtimestamp(seconds, zone)
    except (OverflowError, ValueError, OSError):
        return "–"
    return time.strftime("%Y-%m-%d %H:%M:%S")


def coded(words: str) -> Markup:
    """Words in which what stands between backticks is code.

    >>> coded("`uct` & <others>")
    Markup('<code>uct</code> &amp; &lt;others&gt;')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))


def size_text(count: int) -> str:
    """A number of bytes as people say it.

    >>> size_text(512), size_text(20_000)
    ('512 bytes', '20 kB')
    """
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def result_text(result: float | None, ending: str = "") -> str:
    """A game's result, and how it ended unless that is usual.

    >>> result_text(1.0), result_text(0.5, "normal"), result_text(0.0, "time")
    ('1–0', '½–½', '0–1, time')
    """
    points = {1.0: "1–0", 0.5: "½–½", 0.0: "0–1"}
    text = "–" if result is None else points.get(result, "–")
    return text if ending in ("", "unknown", "normal") else f"{text}, {ending}"


def game_title(name: str | None) -> str:
    """A game as people call it."""
    if name is None:
        return "any game"
    facts = FACTS.get(name)
    return name if facts is None else facts.title
