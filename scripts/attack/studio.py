# SPDX-License-Identifier: Apache-2.0
"""Asks the studio for whatever comes to mind, and looks at what it answers.

    .venv/bin/python scripts/attack/studio.py --inputs 10000 --seed 1

Nothing may go wrong inside, nothing from outside the folder may be shown, and no word of a request
or a file may become markup.
"""

import atexit
import functools
import random
import re
import sys
import tempfile
from pathlib import Path
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


@functools.cache
def client() -> TestClient:
    """Somebody who has been let in, to a folder with something of every kind."""
    place = tempfile.TemporaryDirectory()
    atexit.register(place.cleanup)
    folder = Path(place.name) / "folder"
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
    app = studio_app(Studio.on(Folder(folder), Engines(), COMMANDS), token=TOKEN)
    return TestClient(app, OURS, cookies={"hyoka-studio-80": TOKEN}, raise_server_exceptions=False)


def places() -> list[str]:
    """Every address that is for reading and has an end."""
    routes = [route for room in ROOMS for route in room.routes if isinstance(route, Route)]
    return [
        route.path
        for route in routes
        if "GET" in (route.methods or ()) and not route.path.endswith("events")
    ]


def word(draw: random.Random) -> str:
    """Something to say, at times damaged."""
    said = draw.choice(WORDS)
    if draw.random() < 0.2:
        data = mutated(draw, said.encode("utf-8", "replace"), [b"<", b"&", b'"', b"'", b"\0", b"/"])
        said = data.decode("utf-8", "replace")
    return said


def attack(place: str) -> Try:
    """An address with parameters that may or may not make sense."""

    def attempt(draw: random.Random) -> str:
        path = re.sub(r"\{[^}]*\}", lambda _: draw.choice(("0", "1", "7", "x")), place)
        query = [(draw.choice(NAMES), word(draw)) for _ in range(draw.randrange(6))]
        if draw.random() < 0.7:  # what most rooms are about comes first
            query.insert(0, ("path", draw.choice(WORDS[:4])))
        headers = {"hx-request": "true"} if draw.random() < 0.3 else {}
        asked = f"{path}?{urlencode(query)}"
        answer = client().get(asked, headers=headers)
        if answer.status_code >= 500:
            return f"{asked} goes wrong: {answer.status_code}"
        if SECRET in answer.text or "root:x:" in answer.text:
            return f"{asked} shows what is outside"
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        if is_page and (MARKUP in answer.text or "<b onload" in answer.text):
            return f"{asked} makes markup of words"
        if "content-security-policy" not in answer.headers:
            return f"{asked} comes without a policy"
        return ""

    return attempt


if __name__ == "__main__":
    main({place: attack(place) for place in places()})
