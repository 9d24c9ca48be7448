# SPDX-License-Identifier: Apache-2.0
"""Asks the studio for whatever comes to mind, and looks at what it answers.

    .venv/bin/python scripts/attack/studio.py --inputs 10000 --seed 1

Nothing may go wrong inside, nothing from outside the folder may be shown, no word of a request or a
file may become markup, no command may be started that was not allowed, nothing may be written
outside, and memory stays flat.

Three more attacks: engines on the board that misbehave (`hostile_engine.py`) leave no process and
no control character on a page; archives that are uploaded are stored as they are and read within
limits; links and pipes inside studies, matches and loops lead nowhere.
"""

import atexit
import functools
import io
import itertools
import json
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urlencode

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from starlette.routing import Route
from starlette.testclient import TestClient

import hyoka as hk
from attack.mutations import LONGEST_S, Try, main, mutated
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.rooms import ROOMS
from hyoka.apps.studio.rooms.board import board_agents as thinking
from hyoka.apps.studio.runs import Run, Runs
from hyoka.study.evaluating import evaluate

OURS, TOKEN = "http://127.0.0.1", "a-token-that-nobody-guesses"
MARKUP, SECRET = "<script>alert(1)</script>", "the secret outside"
THEN = ("review", "study", "../x", "")
WORDS = (
    *("a study", "matches/short", "weights.json", "games.pgn", "../secret.txt", "link", "."),
    *("/etc/passwd", "a\0b", "%00", "..%2fsecret.txt", ".hyoka-studio/runs", "\u202e", "\ud7ff"),
    *(MARKUP, '"><b onload=x>', "{{7*7}}", "${7*7}", "'; drop table games; --", "1e999", "-1"),
    *("0", "1", "2", "99999999999999999999", "nan", "", " ", "true", "on", "x" * 5000),
    *("9" * 5000, "0" * 12 + "9" * 5000, "-1e999", "٣", "棋" * 300, "pipe.sgf", "around"),
    *("chess", "shogi", "go9", "go19", "othello", "blokus_duo", "startpos", "e2e4", "e4", "4k3/8"),
    *("uct:playouts=2", "uct:eval=/etc/passwd", "uci:evil", "gtp:evil", "comments", "random"),
    *("ply > 3", "ply >", "(select 1)", "read_csv('/etc/passwd')", "ply", "game_id", "1/0"),
    *(
        "match run",
        "study create",
        "study evaluate",
        "learn weights",
        "demo",
        "engine uci",
        "json",
        "svg",
        "csv",
    ),
)
NAMES = (
    *("path", "where", "by", "game", "command", "players", "study", "evaluator", "evaluators"),
    *("ply", "game_id", "number", "moves", "move", "position", "at", "view", "id", "format", "x"),
    *("spec", "search", "search2", "model", "bin", "part", "n", "top", "token", "show", "name"),
    *("from", "draw", "low", "shown", "left_out", "resamples", "drop", "node", "of", "split"),
    *("start", "line", "with", "against", "level", "play", "to", "switch", "as", "area", "seconds"),
    *("pace", "tab", "slot", "filled", "set-depth", "set-eval"),
    *("high", "column", "one", "other", "result", "slice"),
    *("p1", "p2", "p1.level", "p2.name", "p1.set.eval", "p2.set.threads", "add", "remove"),
    *(
        "think",
        "clock",
        "length",
        "test",
        "elo0",
        "elo1",
        "games",
        "openings",
        "plies",
        "jobs",
        "run",
    ),
)
FIELDS = (
    *("players", "evaluators", "evaluator", "search", "spec", "study", "files", "records", "to"),
    *("folder", "openings", "objective", "sources", "models", "model", "where", "columns", "game"),
)
DEFAULT = {
    "match run": {"players": "random\nuct:playouts=2"},
    "study evaluate": {"study": "a study", "evaluators": "comments"},
    "study create": {"study": "made", "files": "games.pgn"},
    "improve": {"study": "a study", "evaluator": "uct"},
    "match ablate": {"search": "uct:playouts=2"},
    "study annotate": {"study": "a study", "model": "weights.json"},
    "learn weights": {"study": "a study"},
    "nothing": {},
}
"""What may be run, by command."""
ENGINE = "uci:nodes=1:no-such-engine --quietly"
ENGINE_WORDS = ("sf", "sf@60", "sf@ --outfile x", "me=sf@1+1 -x", "sf -x", "me=sf", "a*", "games.*")
ENGINES = re.compile(r"\b(uci|usi|gtp|cecp)\s*:")
ALLOWED = re.compile(rf"([^=:]*=)?{re.escape(ENGINE)}(@[\d./+b]*)?")
WARM, MOST_MORE = 2000, 200 << 20
"""Requests before the measurement, and the bytes by which memory may grow."""
OWN_PAGE = {"origin": OURS, "sec-fetch-site": "same-origin"}
OWN_PART = OWN_PAGE | {"hx-request": "true"}
HOSTILE_ENGINE = Path(__file__).with_name("hostile_engine.py")
TIMEOUT_S = 0.4
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MOST_GAMES = 5000
SPEC_OPTIONS = ("--with", "--evaluator", "--search")
counted = itertools.count()
started: list[list[str]] = []


class NeverRuns(Runs):
    """Runs as they are kept, without a process."""

    def _launch(self, run: Run) -> None:
        started.append(run.words)
        stored = {
            "command": run.command,
            "values": run.values,
            "words": run.words,
            "made": run.made,
        }
        (run.place / "run.json").write_text(json.dumps(stored))


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
    (folder / "around").symlink_to(folder)
    os.mkfifo(folder / "pipe.sgf")
    records = folder / "games.pgn"
    records.write_text(
        f'[White "{MARKUP}"]\n[Black "b"]\n[Result "1-0"]\n\n'
        "1. e4 {[%eval 0.3] <b>} e5 {[%eval 0.2]} 2. Qh5 Ke7 3. Qxe5# 1-0\n"
    )
    evaluate(hk.Study.create(folder / "a study", records=[records]), ["comments"])
    plan = hk.plan_match(f"{MARKUP}=random", "b=random", game="go5", max_plies=20)
    hk.play_match(plan, folder / "matches" / "short", games=2)
    studio = QuietStudio.on(Folder(folder), Engines({"sf": ENGINE}), COMMANDS)
    return client_of(studio)


def client_of(studio: Studio) -> TestClient:
    """Somebody who has been let in to a studio."""
    return TestClient(
        studio_app(studio, token=TOKEN),
        OURS,
        cookies={"hyoka-studio-80": TOKEN},
        raise_server_exceptions=False,
    )


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
        path = re.sub(
            r"\{[^}]*\}", lambda _: draw.choice(("0", "1", "7", "x", "9" * 5000)), pattern
        )
        headers = {"hx-request": "true"} if draw.random() < 0.3 else {}
        if method:
            headers |= {"origin": OURS, "sec-fetch-site": "same-origin"}
            said = order(draw, path)
            # What is exact takes ten seconds where nothing is found.
            with patch("hyoka.apps.studio.rooms.board._SOLVE_S", 0.05):
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
        return {"files": files or {"files": ("", b"")}, "data": {"then": draw.choice(THEN)}}
    if path == "/samples":
        return {"data": {"game": draw.choice(("chess", *WORDS)), "then": draw.choice(THEN)}}
    if path == "/match/new":
        pairs = {draw.choice(NAMES): word(draw) for _ in range(draw.randrange(4))}
        return {"data": {"p1": "random", "p2": draw.choice(("uct", "sf")), "game": "go5"} | pairs}
    if path == "/runs":
        words = [draw.choice(ENGINE_WORDS) if draw.random() < 0.4 else word(draw) for _ in range(4)]
        command, usual = draw.choice(list(DEFAULT.items()))
        fields = {draw.choice([*usual, *FIELDS]): text for text in words[: draw.randrange(4)]}
        return {"data": {"command": command} | usual | fields}
    pairs = {draw.choice(NAMES): word(draw) for _ in range(draw.randrange(6))}
    game, move = draw.choice((("chess", "e2e4"), ("othello", "d3"), ("go9", "E5")))
    who = draw.choice(("random", "uct:playouts=2", "sf"))
    usual = {"game": game, "moves": move, "against": who, "with": who, "seconds": "0.05"}
    return {"data": usual | pairs}


def attack_engines(draw: random.Random) -> str:
    """An engine that misbehaves is asked for moves and opinions on the board."""
    protocol, game, moves = draw.choice(
        (("uci", "chess", "e2e4 e7e5"), ("usi", "shogi", "7g7f 3c3d"), ("gtp", "go9", "E5 C3"))
    )
    seed = draw.randrange(1 << 30)
    with tempfile.TemporaryDirectory() as place, patch.object(thinking, "_START_S", 1.0):
        children = Path(place) / "children"
        words = [sys.executable, "-S", str(HOSTILE_ENGINE), protocol, str(seed), str(children)]
        spec = f"{protocol}:timeout={TIMEOUT_S}:{shlex.join(words)}"
        folder = Path(place) / "folder"
        folder.mkdir()
        asking = client_of(QuietStudio.on(Folder(folder), Engines({"evil": spec}), COMMANDS))
        played = moves.split()[: draw.randrange(3)]
        table = {"game": game, "moves": " ".join(played), "seconds": "0.1", "level": "beginner"}
        table |= {"against": "evil", "with": "evil", "you": ("second", "first")[len(played) % 2]}
        order = draw.choice(("reply", "reply", "analyze", "graph"))
        before = our_processes()
        answers = [asking.post(f"/board/{order}", data=table, headers=OWN_PART)]
        answers += looked_at(asking, order)
        asked = f"{order} of {protocol} engine {seed}:"
        for answer in answers:
            if wrong := wrong_with(answer) or unseemly(answer):
                return f"{asked} {wrong}"
        left = our_processes() - before
        left |= {int(each) for each in read_words(children) if Path(f"/proc/{each}").exists()}
        if running := [each for each in left if is_running(each)]:
            return f"{asked} leaves processes {running}"
        if wrong := grown():
            return f"{asked} {wrong}"
    return ""


def looked_at(asking: TestClient, order: str) -> list[Any]:
    """What a page shows of an analysis once everybody has answered, and of a node of its tree."""
    analyses = getattr(asking.app.state, "analyses", None)  # type: ignore[attr-defined]
    if analyses is None or not analyses._jobs:
        return []
    [(number, job)] = analyses._jobs.items()
    for worker in job.workers:
        worker.join(LONGEST_S / 2)
    kind = "graph" if order == "graph" else "analysis"
    answers = [asking.get(f"/board/{kind}/{number}/events")]
    if kind == "analysis":
        answers.append(asking.get(f"/board/analysis/{number}/node?node=0"))
    return answers


def our_processes() -> set[int]:
    """The processes that this one has started, and those that they have."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = (line.split() for line in found.stdout.splitlines())
    parents = {int(pid): int(parent) for pid, parent in pairs}
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours


def read_words(file: Path) -> list[str]:
    """The words of a file; none if it is not there."""
    return file.read_text().split() if file.exists() else []


def is_running(pid: int) -> bool:
    """Whether a process runs on, for longer than it takes to end it."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state in "ZX":
            return False
        time.sleep(0.1)
    return True


def unseemly(answer: Any) -> str:
    """Whether a page has control characters, which no HTML may have."""
    found = CONTROLS.search(answer.text)
    return "" if found is None else f"shows {answer.text[max(0, found.start() - 99) :][:200]!a}"


def attack_archives(draw: random.Random) -> str:
    """An archive that means harm is uploaded, and read as the run that follows would."""
    name, content = draw.choice(list(hostile_archives().items()))
    if draw.random() < 0.5:
        content = mutated(draw, content, [b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"\xff" * 4])
    names = ("games.zip", "../../up.zip", "a" * 300 + ".zip", "棋" * 100 + ".sgf.zip", "\0.zip")
    file = draw.choice(names)
    answer = client().post(
        "/records",
        files={"files": (file, content)},
        headers=OWN_PAGE,
        follow_redirects=False,
    )
    if wrong := wrong_with(answer) or ("" if answer.status_code == 303 else "is refused"):
        return f"{name}, {len(content)} bytes, {wrong}"
    kept = list((place() / "folder" / "records").iterdir())
    stored = kept[0].read_bytes() if len(kept) == 1 else b""
    records = hk.read_records(kept[0])
    games = sum(1 for record in records if record.first != SECRET)
    wrong = done_wrong() or grown()
    if stored != content:
        wrong = "is not stored unchanged"
    if games > MOST_GAMES or any(SECRET in str(each) for each in records.refused):
        wrong = f"gives {games} games"
    return f"{name}, {len(content)} bytes, {wrong}" if wrong else ""


@functools.cache
def hostile_archives() -> dict[str, bytes]:
    """Zips that unpack to too much, name files outside, hold links, lie about themselves."""
    game = b"(;GM[1]SZ[9]PB[a];B[ee];W[gc];B[cc];W[cg];B[gg])\n"
    bomb = zipped({"b.sgf": b"(;GM[1]SZ[9]C[" + b" " * (64 << 20)})
    start, end = bomb.index(b"PK\x01\x02"), bomb.rindex(b"PK\x05\x06")
    many = struct.pack("<HHHHIIH", 0, 0, 999, 999, (end - start) * 999, start, 0)
    nested, linked = zipped({"a.sgf": game}), io.BytesIO()
    for number in range(9):
        nested = zipped({f"{number}.zip": nested, "x.sgf": game, "y.zip": nested})
    with zipfile.ZipFile(linked, "w") as archive:
        for name, kind in (("l.sgf", 0o120777), ("p.sgf", 0o010777), ("d.sgf", 0o020777)):
            member = zipfile.ZipInfo(name)
            member.create_system, member.external_attr = 3, kind << 16
            archive.writestr(member, str(place() / "secret.txt"))
    sealed = bytearray(zipped({"a.sgf": game, "b.sgf": game}))
    sealed[sealed.index(b"PK\x03\x04") + 6] |= 1
    sealed[sealed.index(b"PK\x01\x02") + 8] |= 1
    false = bytearray(zipped({"a.sgf": game}, zipfile.ZIP_STORED))
    false[false.index(b"PB[a]") + 3] = ord("z")
    outside = ("../../evil.sgf", "/etc/cron.d/evil.sgf", "C:\\evil.sgf", f"{MARKUP}\x1b[2J.sgf")
    return {
        "a bomb": bomb,
        "one member 999 times": bomb[:start] + bomb[start:end] * 999 + b"PK\x05\x06" + many,
        "archives in archives": nested,
        "links": linked.getvalue(),
        "names outside": zipped(dict.fromkeys(outside, game)),
        "a password": bytes(sealed),
        "a wrong checksum": bytes(false),
        "many members": zipped({f"{number}.sgf": game for number in range(3000)}),
        "empty members": zipped({f"{number}.sgf": b"" for number in range(3000)}),
        "a long name": zipped({"a" * 60_000 + ".sgf": game}),
    }


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return sink.getvalue()


def attack_links(draw: random.Random) -> str:
    """A file or folder in a study or a match becomes a link, a loop or a pipe; all pages look."""
    folder = place() / "folder"
    client()
    with tempfile.TemporaryDirectory() as kept:
        copies = {name: Path(kept) / name for name in ("a study", "matches")}
        for name, copy in copies.items():
            shutil.copytree(folder / name, copy)
        inside = [path for name in copies for path in sorted((folder / name).rglob("*"))]
        changed = [draw.choice(inside) for _ in range(draw.randrange(1, 4))]
        kinds = [
            draw.choice(("secret", "outside", "loop", "pipe", "passwd", "up")) for _ in changed
        ]
        try:
            for path, kind in zip(changed, kinds, strict=True):
                replace_by(path, kind, copies)
            asked = ["/", "/study", "/match", "/learning", "/runs"]
            asked += [f"{room}?path=a+study" for room in ("/board", "/study", "/board/games")]
            asked += [f"{room}?path=matches/short" for room in ("/board", "/match", "/board/games")]
            asked += ["/study/game?path=a+study&game=0", "/match/game?path=matches/short&game=0"]
            asked += [
                "/study/row?path=a+study&of=comments",
                "/study/values?path=a+study&column=ply",
            ]
            asked += ["/study?path=a+study&view=games", "/match?path=matches/short&view=report"]
            for address in asked:
                if wrong := wrong_with(client().get(address)):
                    names = [str(path.relative_to(folder)) for path in changed]
                    return f"{dict(zip(names, kinds, strict=True))}: {address} {wrong}"
        finally:
            for name, copy in copies.items():
                shutil.rmtree(folder / name)
                shutil.copytree(copy, folder / name)
    return done_wrong()


def replace_by(path: Path, kind: str, copies: dict[str, Path]) -> None:
    """Put something else in the place of a file or folder."""
    if not os.path.lexists(path) or any(parent.is_symlink() for parent in path.parents):
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    folder = place() / "folder"
    own = path.relative_to(folder)
    targets = {
        "secret": place() / "secret.txt",
        "outside": copies[own.parts[0]].joinpath(*own.parts[1:]),
        "loop": path,
        "passwd": Path("/etc/passwd"),
        "up": folder,
    }
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(targets[kind])


def wrong_with(answer: Any) -> str:
    """What no answer may have."""
    if answer.status_code >= 500 and answer.status_code != 503:
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
            is_match = words[0] == "match" and not before.startswith("--")
            is_spec = is_match or before in SPEC_OPTIONS
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


OTHERS: Final = {
    "engines": attack_engines,
    "archives": attack_archives,
    "links": attack_links,
}
"""Attacks that are no single request."""

if __name__ == "__main__":
    main({each: attack(each) for each in places()} | OTHERS)
