# SPDX-License-Identifier: Apache-2.0
"""Requests and folders that mean harm get a sentence, never a traceback or a page that hangs."""

import errno
import itertools
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

import hyoka as hk
from e2e.studio import furnished
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, pages, runs, studio_app
from hyoka.apps.studio import access as safety
from hyoka.apps.studio.rooms import ROOMS
from hyoka.apps.studio.runs import Run, Runs
from hyoka.study.verify import check_study

OURS = "http://127.0.0.1"
TOKEN = "a-token-that-nobody-guesses"
OWN_PAGE = {"origin": OURS, "sec-fetch-site": "same-origin"}
NUMBERS = ("9" * 5000, "0" * 12 + "9" * 5000, "-1", "1e999", "nan", "٣", "9" * 18)
BOARD = ("ply", "number", "to", "switch", "drop", "shown", "seconds", "left_out", "line")


def app_on(folder: Path, **engines: str) -> Starlette:
    return studio_app(Studio.on(Folder(folder), Engines(engines), COMMANDS), token=TOKEN)


def client_of(app: Starlette) -> TestClient:
    return TestClient(
        app,
        OURS,
        cookies={"hyoka-studio-80": TOKEN},
        follow_redirects=False,
        raise_server_exceptions=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("studio") / "folder")


@pytest.fixture
def client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    async def gone(_request: Request) -> bool:
        return True

    monkeypatch.setattr(Request, "is_disconnected", gone)  # event streams end after one look
    return client_of(app_on(folder))


def routes() -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        for route in room.routes:
            assert isinstance(route, Route)
            yield "POST" if "POST" in (route.methods or ()) else "GET", route.path


# Numbers in addresses and forms


@pytest.mark.parametrize(("method", "path"), [each for each in routes() if "{" in each[1]])
def test_a_number_in_a_path_that_is_too_long_is_not_found(
    client: TestClient, method: str, path: str
) -> None:
    for digits in ("9" * 16, "9" * 5000):
        place = re.sub(r"\{[^}]*\}", digits, path)
        assert client.request(method, place, headers=OWN_PAGE).status_code == 404
    for text in ("-1", "1.5", "nan", "٣", "1e9"):
        place = re.sub(r"\{[^}]*\}", text, path)
        assert client.request(method, place, headers=OWN_PAGE).status_code == 404
    place = re.sub(r"\{[^}]*\}", "9" * 15, path)
    assert client.request(method, place, headers=OWN_PAGE).status_code in (200, 400)  # unknown


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("/board?game=chess&moves=e2e4", BOARD),
        ("/board/new?game=go9", BOARD),
        ("/board/export?as=sgf&game=go9", BOARD),
        ("/board?path=games.pgn", ("number", "ply")),
        ("/board?path=a study", ("number", "ply")),
        ("/board?path=matches/short", ("number", "ply")),
        ("/board/games?path=games.pgn", ("from",)),
        ("/board/games?path=a study", ("from",)),
        ("/board/games?path=matches/short", ("from",)),
        ("/board/setup?game=shogi&was=x", ("hand-P", "turn", "start")),
        ("/board/setup?game=go9&was=x", ("komi", "turn", "start")),
        ("/study/game?path=a study", ("game", "ply")),
        ("/study?path=a study&view=games", ("page", "game")),
        (
            "/study?path=a study&view=curves&engine=comments&at=comments&low=0",
            ("low", "high", "draw", "resamples"),
        ),
        ("/study?path=a study&view=slices", ("slice",)),
        ("/study/save?path=a study&result=curves&as=csv", ("resamples",)),
        ("/match/game?path=matches/short&game=0", ("game", "ply")),
        ("/match?path=matches/short&view=games", ("page",)),
    ],
)
def test_a_number_that_makes_no_sense_is_answered_in_words(
    client: TestClient, place: str, names: tuple[str, ...]
) -> None:
    path, _, query = place.partition("?")
    for name in names:
        for number in (*NUMBERS, " "):
            asked = dict(pair.split("=") for pair in query.split("&")) | {name: number}
            answer = client.get(path, params=asked, headers={"hx-request": "true"})
            assert answer.status_code in (200, 303, 400), (place, name, number[:40])


@pytest.mark.parametrize("path", ["/board/reply", "/board/analyze", "/board/graph", "/board/solve"])
def test_a_number_in_a_form_that_makes_no_sense_is_answered_in_words(
    client: TestClient, path: str
) -> None:
    for name in ("ply", "seconds", "number", "left_out", "line"):
        for number in ("9" * 5000, "nan", "1e999", "-1"):
            form = {"game": "chess", "moves": "e2e4", name: number}
            answer = client.post(path, data=form, headers=OWN_PAGE)
            assert answer.status_code == 400, (name, number[:40])


def test_pieces_of_a_position_have_short_numbers(client: TestClient) -> None:
    long = "9" * 5000
    for start in (f"{long}/8/8/8/8/8/8/8 w - - 0 1", f"lnsgkgsnl/9/9/9/9/9/9/9/9 b {long}P 1"):
        for game in ("chess", "shogi"):
            answer = client.get("/board/setup", params={"game": game, "start": start})
            assert answer.status_code == 400


def test_numbers_of_a_run_that_make_no_sense_are_not_shown(tmp_path: Path) -> None:
    place = tmp_path / ".hyoka-studio" / "runs" / "1"
    place.mkdir(parents=True)
    for made in ("1e999", "-1e300", "1" + "0" * 400, "NaN"):
        (place / "run.json").write_text(
            f'{{"command": "match run", "values": {{}}, "words": ["match"], "made": {made}}}'
        )
        works = [{"what": "x", "done": 10**400, "total": 1, "at": 2.0, "began": 1.0}]
        works.append({"what": "y", "done": 1, "total": 2, "at": float("inf"), "began": 10**400})
        (place / "progress.json").write_text(json.dumps({"works": works}))
        (place / "ended.json").write_text('{"status": 0, "at": Infinity}')
        client = client_of(app_on(tmp_path))
        for page in ("/", "/runs", "/runs/1"):
            assert client.get(page).status_code == 200, (made, page)


# Uploads


def test_a_run_that_ends_while_its_page_is_made_changes_by_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the page would show it as stopping forever."""
    place = tmp_path / ".hyoka-studio" / "runs" / "1"
    place.mkdir(parents=True)
    stored = {"command": "match run", "values": {}, "words": ["match"], "made": 1.0}
    (place / "run.json").write_text(json.dumps(stored))
    looks = itertools.chain([True, True], itertools.repeat(False))
    monkeypatch.setattr(Run, "is_alive", property(lambda _run: next(looks)))
    text = client_of(app_on(tmp_path)).get("/runs/1").text
    assert ">running<" in text
    assert 'sse-connect="/runs/1/events"' in text


def posted(app: Starlette, path: str, body: Iterator[bytes]) -> tuple[int, dict[bytes, bytes], int]:
    """Post a body whose stated length is wrong; gives the answer and how many parts were read.

    With `Transfer-Encoding: chunked` a server hands on whatever comes.
    """
    headers = {
        **{"host": "127.0.0.1", "origin": OURS, "cookie": f"hyoka-studio-80={TOKEN}"},
        **{"content-length": "10", "transfer-encoding": "chunked"},
        "content-type": "multipart/form-data; boundary=b",
    }
    scope = {
        **{"type": "http", "method": "POST", "path": path, "query_string": b"", "scheme": "http"},
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        **{"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 5), "http_version": "1.1"},
        **{"raw_path": path.encode(), "root_path": ""},
    }
    read, messages = 0, list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        nonlocal read
        part = next(body, None)
        read += part is not None
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}

    async def send(message: Any) -> None:
        messages.append(message)

    anyio.run(app, scope, receive, send)
    return messages[0]["status"], dict(messages[0]["headers"]), read


@pytest.mark.parametrize("path", ["/records", "/runs", "/board/analyze"])
def test_a_body_is_counted_as_it_arrives_whatever_length_it_states(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safety, "LARGEST", 1000)
    monkeypatch.setitem(safety.UPLOADS, "/records", 1000)
    head = b'--b\r\nContent-Disposition: form-data; name="command"\r\n\r\n'
    body = itertools.chain([head], itertools.repeat(b"x" * 100, 10_000))
    status, headers, read = posted(app_on(tmp_path), path, body)
    assert status == 413
    assert headers[b"connection"] == b"close"
    assert read <= 11
    assert list(tmp_path.iterdir()) == []


def test_a_content_length_of_thousands_of_digits_is_refused(client: TestClient) -> None:
    headers = OWN_PAGE | {"content-length": "9" * 5000}
    assert client.post("/records", headers=headers).status_code == 413


# Files that are none, and links


def special_file(place: Path, kind: str) -> None:
    """A pipe that nobody writes to, or a socket."""
    if kind == "pipe":
        os.mkfifo(place)
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(place))


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_pipe_in_the_folder_blocks_nothing(tmp_path: Path, kind: str) -> None:
    folder = furnished(tmp_path / "folder")
    pipe = folder / "model.json"
    special_file(pipe, kind)
    special_file(folder / "games.sgf", kind)
    special_file(folder / "report.html", kind)
    (folder / "odd").mkdir()
    special_file(folder / "odd" / "study.toml", kind)
    client = client_of(app_on(folder))
    listed = client.get("/")
    assert listed.status_code == 200
    assert "model.json" not in listed.text
    assert "games.sgf" not in listed.text
    places = ("/board", "/board/games", "/study", "/match", "/learning", "/report", "/file")
    for place in places:
        for path in ("model.json", "games.sgf", "odd", "odd/study.toml", "report.html"):
            answer = client.get(place, params={"path": path})
            assert answer.status_code in (400, 404), (place, path)
    form = {"command": "study create", "study": "made", "files": "model.json"}
    refused = client.post("/runs", data=form, headers=OWN_PAGE)
    assert refused.status_code == 400
    assert "a pipe, a socket or a device" in refused.text


STUDY_FILES = (
    *("study.toml", "games/part-000000.parquet", "positions/part-000000.parquet"),
    *("evaluations/engine=comments/engine.toml", "evaluations/engine=comments/part-000000.parquet"),
)


@pytest.mark.parametrize("name", STUDY_FILES)
def test_a_pipe_in_a_study_blocks_nothing(tmp_path: Path, name: str) -> None:
    folder = furnished(tmp_path / "folder")
    file = folder / "a study" / name
    file.unlink()
    os.mkfifo(file)
    client = client_of(app_on(folder))
    assert client.get("/").status_code == 200
    for place in ("/study?path=a study&view=curves", "/study/game?path=a study&game=0"):
        answer = client.get(place)
        assert answer.status_code == 400
        assert "regular file" in answer.text, answer.text
    with pytest.raises(hk.errors.StudyError, match="regular file"):
        hk.Study.open(folder / "a study").sql("select count(*) from positions, evaluations")
    assert check_study(folder / "a study").damage


def test_a_pipe_in_a_match_blocks_nothing(tmp_path: Path) -> None:
    for name in ("match.toml", "journal.jsonl", "playing.json"):
        folder = furnished(tmp_path / name)
        file = folder / "matches" / "short" / name
        file.unlink(missing_ok=True)
        os.mkfifo(file)
        client = client_of(app_on(folder))
        assert client.get("/").status_code == 200
        answer = client.get("/match?path=matches/short")
        assert answer.status_code == (200 if name == "playing.json" else 400)


def linked(file: Path, target: Path) -> Path:
    """A file or folder moved elsewhere, with a link in its place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    file.rename(target)
    file.symlink_to(target)
    return target


@pytest.mark.parametrize(
    "name", [*STUDY_FILES, "games", "evaluations", "evaluations/engine=comments"]
)
def test_a_study_in_the_studio_follows_no_link_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = furnished(tmp_path / "folder")
    linked(folder / "a study" / name, tmp_path / "outside" / Path(name).name)
    client = client_of(app_on(folder))
    assert client.get("/").status_code == 200
    for place in ("/study?path=a study", "/study/game?path=a study&game=0", "/board?path=a study"):
        answer = client.get(place)
        assert answer.status_code == 400
        assert "is not in the studio&#39;s folder" in answer.text
    form = {"command": "report", "study": "a study"}
    assert client.post("/runs", data=form, headers=OWN_PAGE).status_code == 400
    assert hk.Study.open(folder / "a study").record(0)  # the library follows links


def test_links_within_the_folder_are_followed_and_what_they_reach_is_checked(
    tmp_path: Path,
) -> None:
    folder = furnished(tmp_path / "folder")
    study = folder / "a study"
    games = linked(study / "games", folder / "elsewhere" / "games")
    client = client_of(app_on(folder))
    assert client.get("/study/game?path=a study&game=0").status_code == 200
    (games / "around").symlink_to(study)  # a loop
    (games / "itself").symlink_to(games / "itself")
    assert client.get("/study/game?path=a study&game=0").status_code in (200, 400)
    (games / "itself").unlink()
    assert client.get("/study/game?path=a study&game=0").status_code == 200
    linked(games / "part-000000.parquet", tmp_path / "outside.parquet")
    answer = client.get("/study/game?path=a study&game=0")
    assert (answer.status_code, "is not in the studio" in answer.text) == (400, True)


def test_an_evaluator_behind_a_link_is_not_named(tmp_path: Path) -> None:
    folder = furnished(tmp_path / "folder")
    place = folder / "a study" / "evaluations" / "engine=comments"
    outside = tmp_path / "outside.toml"
    outside.write_text('name = "the secret outside"\n')
    (place / "engine.toml").unlink()
    (place / "engine.toml").symlink_to(outside)
    assert "the secret" not in client_of(app_on(folder)).get("/").text


def test_tables_of_names_beside_a_record_are_not_read_through_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "games.wtb").write_bytes(bytes(100))
    (tmp_path / "secret").write_text("the secret outside")
    (folder / "players.jou").symlink_to(tmp_path / "secret")
    client = client_of(app_on(folder))
    for place in ("/board", "/board/games"):
        answer = client.get(place, params={"path": "games.wtb"})
        assert (answer.status_code, "is not in the studio" in answer.text) == (400, True)


@pytest.mark.parametrize("name", ["log", "run.json", "progress.json", ".lock"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_run_has_regular_files_only(tmp_path: Path, name: str, kind: str) -> None:
    folder = tmp_path / "folder"
    place = folder / ".hyoka-studio" / "runs" / "1"
    place.mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text('{"command": "the secret", "values": {}, "words": [], "made": 1}')
    values = '{"players": ["random\\nrandom"]}'
    text = f'{{"command": "match run", "values": {values}, "words": [], "made": 1}}'
    (place / "run.json").write_text(text)
    (place / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(place / name)
    else:
        (place / name).symlink_to(secret)
    before = secret.read_text()
    client = client_of(app_on(folder))
    for page in ("/", "/runs", "/runs/1"):
        assert "the secret" not in client.get(page).text
    assert client.post("/runs/1/resume", headers=OWN_PAGE).status_code == 400
    assert secret.read_text() == before


def test_runs_are_not_kept_behind_a_link(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / ".hyoka-studio").symlink_to(outside)
    client = client_of(app_on(folder))
    form = {"command": "match run", "players": "random\nrandom"}
    answer = client.post("/runs", data=form, headers=OWN_PAGE)
    assert (answer.status_code, "is a link" in answer.text) == (400, True)
    assert list(outside.iterdir()) == []


# Names, and disks that are full or read-only


def upload(client: TestClient, name: str) -> Any:
    content = b"(;GM[1]SZ[9];B[ee];W[gc])"
    return client.post("/records", files={"files": (name, content)}, headers=OWN_PAGE)


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are listed but not started."""

    def launch(_runs: Runs, run: Run) -> None:
        stored = {"command": run.command, "values": run.values, "words": run.words, "made": 1.0}
        (run.place / "run.json").write_text(json.dumps(stored))

    monkeypatch.setattr(Runs, "_launch", launch)


@pytest.mark.parametrize(
    ("name", "stem", "suffix"),
    [
        ("棋" * 100 + ".sgf", "棋" * 40, ".sgf"),
        ("é" * 200 + ".sgf.gz", "é" * 60, ".sgf.gz"),
        ("a" * 300 + ".pgn", "a" * 120, ".pgn"),
        ("a." + "b" * 300, "a." + "b" * 118, ""),
        ("x." + "碁" * 30 + ".sgf", "x." + "碁" * 30, ".sgf"),
        ("." * 50 + "sgf", "sgf", ""),
        ("𠮷" * 70, "𠮷" * 30, ""),
    ],
)
@pytest.mark.usefixtures("no_process")
def test_names_of_uploads_are_cut_by_bytes(
    tmp_path: Path, name: str, stem: str, suffix: str
) -> None:
    client = client_of(app_on(tmp_path))
    for _ in range(2):
        assert upload(client, name).status_code == 303
    found = {path.name for path in (tmp_path / "records").iterdir()}
    assert found == {f"{stem}{suffix}", f"{stem}-2{suffix}"}


@pytest.mark.parametrize("name", ["records", "studies"])
@pytest.mark.usefixtures("no_process")
def test_a_file_where_uploads_need_a_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("not a folder")
    answer = upload(client_of(app_on(tmp_path)), "games.sgf")
    assert answer.status_code == 409
    assert f"&#39;{name}&#39; in the studio&#39;s folder is a file" in answer.text
    assert not (tmp_path / "records" / "games.sgf").exists()


def test_a_file_where_runs_need_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".hyoka-studio").write_text("not a folder")
    client = client_of(app_on(tmp_path))
    assert client.get("/").status_code == 200
    form = {"command": "match run", "players": "random\nrandom"}
    answer = client.post("/runs", data=form, headers=OWN_PAGE)
    assert (answer.status_code, "is a file" in answer.text) == (400, True)


PROBLEMS = [
    (errno.ENOSPC, 507, "No space left on device"),
    (errno.EDQUOT, 507, "Disk quota exceeded"),
    (errno.EROFS, 403, "Read-only file system"),
    (errno.EACCES, 403, "Permission denied"),
]


@pytest.mark.parametrize(("number", "status", "words"), PROBLEMS)
def test_an_upload_that_the_disk_refuses_says_why(
    tmp_path: Path, number: int, status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_content: Any, kept: Any) -> None:
        kept.write(b"half of it")
        raise OSError(number, os.strerror(number), kept.name)

    monkeypatch.setattr(shutil, "copyfileobj", refuse)
    answer = upload(client_of(app_on(tmp_path)), "games.sgf")
    assert answer.status_code == status
    assert f"records/games.sgf&#39;: {words}: " in answer.text
    assert str(tmp_path) not in answer.text
    assert list((tmp_path / "records").iterdir()) == []
    assert not (tmp_path / ".hyoka-studio").exists()


def test_a_folder_that_can_not_be_made_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    client = client_of(app_on(tmp_path))
    form = {"command": "match run", "players": "random\nrandom"}
    for answer in (
        upload(client, "games.sgf"),
        client.post("/runs", data=form, headers=OWN_PAGE),
    ):
        assert answer.status_code == 403
        assert "Read-only file system: the studio needs a folder" in answer.text
    assert "random" in answer.text  # what was filled in stays


@pytest.mark.parametrize(("number", "status", "words"), PROBLEMS)
def test_a_run_that_the_disk_refuses_says_why_and_leaves_nothing(
    tmp_path: Path, number: int, status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, _text: str) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(runs, "write_text", refuse)
    client = client_of(app_on(tmp_path))
    form = {"command": "match run", "players": "random\nrandom"}
    answer = client.post("/runs", data=form, headers=OWN_PAGE)
    assert (answer.status_code, words in answer.text) == (status, True)
    assert list((tmp_path / ".hyoka-studio" / "runs").iterdir()) == []


def test_a_full_disk_while_an_upload_is_spooled_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_self: UploadFile, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(UploadFile, "write", refuse)
    answer = upload(client_of(app_on(tmp_path)), "games.sgf")
    assert (answer.status_code, "No space left on device" in answer.text) == (507, True)


def test_only_a_stamp_makes_a_static_file_immutable(client: TestClient) -> None:
    """Modules import one another without a stamp: browsers must ask for a newer one each time."""
    stamped = re.findall(r'(?:src|href)="(/static/[^"]+\?[^"]+)"', client.get("/").text)
    assert len(stamped) >= 5
    assert all("immutable" in client.get(each).headers["cache-control"] for each in stamped)
    for path in ("/static/studio/tell.js", "/static/blocks.css", "/static/studio.js?old"):
        answer = client.get(path)
        assert answer.headers["cache-control"] == "no-cache"
        again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert path == "/static/blocks.css" or again.status_code == 304


def test_modules_import_modules_that_exist() -> None:
    static = Path(pages.__file__).parent / "static"
    for module in static.rglob("*.js"):
        text = module.read_text(encoding="utf-8")
        for name in re.findall(r"^import .*?\"([^\"]+)\";$", text, re.MULTILINE):
            target = (
                static / name.removeprefix("/static/") if name[0] == "/" else module.parent / name
            )
            assert target.is_file(), f"{module.name} imports {name}"


def test_samples_are_copied_once(tmp_path: Path) -> None:
    client = client_of(app_on(tmp_path))

    def place_of(game: str, then: str) -> str:
        answer = client.post("/samples", data={"game": game, "then": then}, headers=OWN_PAGE)
        return answer.headers.get("location", str(answer.status_code))

    review = "/review?path=records%2Fchess.pgn.xz&number=0"
    assert [place_of("chess", "review") for _ in range(2)] == [review] * 2
    assert place_of("/etc/passwd", "review") == "400"
    (tmp_path / "records" / "chess.pgn.xz").write_text("mine")
    assert place_of("chess", "review") == review.replace("chess", "chess-2")
    assert (tmp_path / "records" / "chess.pgn.xz").read_text() == "mine"


def test_an_uploaded_record_is_reviewed(tmp_path: Path) -> None:
    answer = client_of(app_on(tmp_path)).post(
        "/records",
        data={"then": "review"},
        files={"files": ("g.pgn", b"1. e4 *")},
        headers=OWN_PAGE,
    )
    assert answer.headers["location"] == "/review?path=records%2Fg.pgn"
    assert not (tmp_path / "studies").exists()
