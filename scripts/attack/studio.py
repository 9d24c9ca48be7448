# SPDX-License-Identifier: Apache-2.0
"""Asks the studio for whatever comes to mind, and looks at what it answers.

    .venv/bin/python scripts/attack/studio.py --inputs 10000 --seed 1

Nothing may go wrong inside, nothing from outside the folder may be shown, no word of a request or a
file may become markup, no command may be started that was not allowed, nothing may be written
outside, and memory stays flat.
"""

import atexit
import functools
import itertools
import json
import os
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from starlette.routing import Route
from starlette.testclient import TestClient

import hyoka as hk
from attack.mutations import Try, main, mutated
from hyoka.cli.commands import COMMANDS
from hyoka.studio import Engines, Folder, Studio, studio_app
from hyoka.studio.rooms import ROOMS
from hyoka.studio.runs import Run, Runs

OURS, TOKEN = "http://127.0.0.1", "a-token-that-nobody-guesses"
MARKUP, SECRET = "<script>alert(1)</script>", "the secret outside"
WORDS = (
    *("a study", "matches/short", "weights.json", "games.pgn", "../secret.txt", "link", "."),
    *("/etc/passwd", "a\0b", "%00", "..%2fsecret.txt", ".hyoka-studio/runs", "\u202e", "\ud7ff"),
    *(MARKUP, '"><b onload=x>', "{{7*7}}", "${7*7}", "'; drop table games; --", "1e999", "-1"),
    *("0", "1", "2", "99999999999999999999", "nan", "", " ", "true", "on", "x" * 5000),
    *("chess", "shogi", "go9", "go19", "othello", "blokus_duo", "startpos", "e2e4", "e4", "4k3/8"),
    *("uct:playouts=2", "uct:eval=/etc/passwd", "uci:evil", "gtp:evil", "comments", "random"),
    *("ply > 3", "ply >", "(select 1)", "read_csv('/etc/passwd')", "ply", "game_id", "1/0"),
    *("match", "records", "evaluate", "learn weights", "demo", "engine uci", "json", "svg", "csv"),
)
NAMES = (
    *("path", "where", "by", "game", "command", "players", "study", "evaluator", "evaluators"),
    *("ply", "game_id", "number", "moves", "move", "position", "at", "view", "id", "format", "x"),
    *("spec", "search", "search2", "model", "bin", "part", "n", "top", "token", "show", "name"),
    *("start", "line", "with", "against", "level", "play", "to", "switch", "as", "area", "seconds"),
)
FIELDS = (
    *("players", "evaluators", "evaluator", "search", "spec", "study", "files", "records", "to"),
    *("folder", "openings", "objective", "sources", "models", "model", "where", "columns", "game"),
)
USUAL = {
    "match": {"players": "random\nuct:playouts=2"},
    "evaluate": {"study": "a study", "evaluators": "comments"},
    "records": {"files": "games.pgn"},
    "improve": {"study": "a study", "evaluator": "uct"},
    "ablate": {"search": "uct:playouts=2"},
    "rank": {"study": "a study", "model": "weights.json"},
    "learn weights": {"study": "a study"},
    "nothing": {},
}
"""What may be run, by command."""
ENGINE = "uci:nodes=1:no-such-engine --quietly"
ENGINE_WORDS = ("sf", "sf@60", "sf@ --outfile x", "me=sf@1+1 -x", "sf -x", "me=sf", "a*", "games.*")
ENGINES = re.compile(r"\b(uci|usi|gtp|cecp)\s*:")
ALLOWED = re.compile(rf"([^=:]*=)?{re.escape(ENGINE)}(@[\d./+b]*)?")
WARM, MOST_MORE = 2000, 200 << 20
"""After so many requests memory may grow by so many bytes."""
SPEC_OPTIONS = ("--with", "--evaluator", "--search")
counted = itertools.count()
started: list[list[str]] = []


class NeverRuns(Runs):
    """Runs as they are kept, without a process."""

    def _launch(self, run: Run) -> None:
        started.append(run.words)
        told = {"command": run.command, "values": run.values, "words": run.words, "made": run.made}
        (run.place / "run.json").write_text(json.dumps(told))


class QuietStudio(Studio):
    """A studio that starts nothing, but says what it would."""

    @property
    def runs(self) -> Runs:
        """Runs that are not run."""
        return NeverRuns(self.folder, self.words)


@functools.cache
def place() -> Path:
    """Where the folder is, and what is outside of it."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


@functools.cache
def client() -> TestClient:
    """Somebody who has been let in, to a folder with something of every kind."""
    folder = place() / "folder"
    folder.mkdir()
    (folder.parent / "secret.txt").write_text(SECRET)
    (folder / "link").symlink_to(folder.parent / "secret.txt")
    records = folder / "games.pgn"
    records.write_text(
        f'[White "{MARKUP}"]\n[Black "b"]\n[Result "1-0"]\n\n'
        "1. e4 {[%eval 0.3] <b>} e5 {[%eval 0.2]} 2. Qh5 Ke7 3. Qxe5# 1-0\n"
    )
    hk.evaluate(hk.Study.create(folder / "a study", records=[records]), ["comments"])
    plan = hk.plan_match(f"{MARKUP}=random", "b=random", game="go5", max_plies=20)
    hk.play_match(plan, folder / "matches" / "short", games=2)
    studio = QuietStudio.on(Folder(folder), Engines({"sf": ENGINE}), COMMANDS)
    app = studio_app(studio, token=TOKEN)
    return TestClient(app, OURS, cookies={"hyoka-studio-80": TOKEN}, raise_server_exceptions=False)


def places() -> list[str]:
    """Every address, those for reading if they have an end; `POST` before those for orders."""
    routes = [route for room in ROOMS for route in room.routes if isinstance(route, Route)]
    return [
        f"POST {route.path}" if "POST" in (route.methods or ()) else route.path
        for route in routes
        if not route.path.endswith("events")
    ]


def word(draw: random.Random) -> str:
    """Something to say, at times damaged."""
    said = draw.choice(WORDS)
    if draw.random() < 0.2:
        data = mutated(draw, said.encode("utf-8", "replace"), [b"<", b"&", b'"', b"'", b"\0", b"/"])
        said = data.decode("utf-8", "replace")
    return said


def attack(address: str) -> Try:
    """An address with parameters that may or may not make sense."""
    method, _, pattern = address.rpartition(" ")

    def attempt(draw: random.Random) -> str:
        path = re.sub(r"\{[^}]*\}", lambda _: draw.choice(("0", "1", "7", "x")), pattern)
        headers = {"hx-request": "true"} if draw.random() < 0.3 else {}
        if method:
            headers |= {"origin": OURS, "sec-fetch-site": "same-origin"}
            said = order(draw, path)
            # What is exact takes ten seconds where nothing is found.
            with patch("hyoka.studio.rooms.board._SOLVE_S", 0.05):
                answer = client().post(path, headers=headers, **said)
            asked = f"POST {path} {str(said)[:2000]}"
        else:
            query = [(draw.choice(NAMES), word(draw)) for _ in range(draw.randrange(6))]
            if draw.random() < 0.7:  # what most rooms are about comes first
                query.insert(0, ("path", draw.choice(WORDS[:4])))
            asked = f"{path}?{urlencode(query)}"
            answer = client().get(asked, headers=headers)
        if wrong := wrong_with(answer) or done_wrong() or grown():
            return f"{asked} {wrong}"
        return ""

    return attempt


def order(draw: random.Random, path: str) -> dict[str, Any]:
    """What is sent with an order: files, a form, or what a board's page sends."""
    if path == "/records":
        content = client().get("/file?path=games.pgn").content
        names = [draw.choice(WORDS)[:200] or "x" for _ in range(draw.randrange(3))]
        files = [("files", (name, mutated(draw, content, [b"\0", b"{", b"PK"]))) for name in names]
        return {"files": files or {"files": ("", b"")}}
    if path == "/runs":
        words = [draw.choice(ENGINE_WORDS) if draw.random() < 0.4 else word(draw) for _ in range(4)]
        command, usual = draw.choice(list(USUAL.items()))
        fields = {draw.choice([*usual, *FIELDS]): text for text in words[: draw.randrange(4)]}
        return {"data": {"command": command} | usual | fields}
    pairs = {draw.choice(NAMES): word(draw) for _ in range(draw.randrange(6))}
    game, move = draw.choice((("chess", "e2e4"), ("othello", "d3"), ("go9", "E5")))
    who = draw.choice(("random", "uct:playouts=2", "sf"))
    usual = {"game": game, "moves": move, "against": who, "with": who, "seconds": "0.05"}
    return {"data": usual | pairs}


def wrong_with(answer: Any) -> str:
    """What no answer may have."""
    if answer.status_code >= 500:
        return f"goes wrong: {answer.status_code}"
    if SECRET in answer.text or "root:x:" in answer.text:
        return "shows what is outside"
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    if is_page and (MARKUP in answer.text or "<b onload" in answer.text):
        return "makes markup of words"
    if "content-security-policy" not in answer.headers:
        return "comes without a policy"
    return ""


def done_wrong() -> str:
    """What no request may have done; what it may have is cleared away."""
    folder = place() / "folder"
    if {path.name for path in place().iterdir()} - {"folder", "secret.txt"}:
        return "has written outside"
    asked, started[:] = list(started), []
    for words in asked:
        for before, each in itertools.pairwise(words):
            # Other words are files in the folder, or conditions for a locked database.
            by_itself = words[0] in ("match", "ablate") and not before.startswith("--")
            is_spec = by_itself or before in SPEC_OPTIONS
            if is_spec and ENGINES.search(each) and not ALLOWED.fullmatch(each):
                return f"would run {words}"
    runs = folder / ".hyoka-studio"
    for kept in ("records", "studies", *([runs.name] if len([*runs.glob("runs/*")]) > 9 else [])):
        shutil.rmtree(folder / kept, ignore_errors=True)
    return ""


def grown() -> str:
    """Whether memory has grown since everything was there."""
    number = next(counted)
    if number < WARM:
        return ""
    more = resident() - resident_when_warm()
    return f"is one of {number:,}: {more >> 20} MiB more than before" if more > MOST_MORE else ""


@functools.cache
def resident_when_warm() -> int:
    """What `resident` said when this was first asked."""
    return resident()


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main({each: attack(each) for each in places()})
