# SPDX-License-Identifier: Apache-2.0
"""Requests and folders that mean harm get a sentence, never a traceback or a page that hangs."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from e2e.studio import furnished
from hyoka.cli.commands import COMMANDS
from hyoka.studio import Engines, Folder, Studio, safety, studio_app
from hyoka.studio.rooms import ROOMS

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
        ("/study?path=a study&engine=comments&at=comments&low=0", ("low", "draw", "resamples")),
        ("/study?path=a study&view=splits", ("split",)),
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


@pytest.mark.parametrize("path", ["/board/reply", "/board/analyse", "/board/curve", "/board/solve"])
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
            f'{{"command": "match", "values": {{}}, "words": ["match"], "made": {made}}}'
        )
        works = [{"what": "x", "done": 10**400, "total": 1, "at": 2.0, "began": 1.0}]
        works.append({"what": "y", "done": 1, "total": 2, "at": float("inf"), "began": 10**400})
        (place / "progress.json").write_text(json.dumps({"works": works}))
        (place / "ended.json").write_text('{"status": 0, "at": Infinity}')
        client = client_of(app_on(tmp_path))
        for page in ("/", "/runs", "/runs/1"):
            assert client.get(page).status_code == 200, (made, page)


# Uploads


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
    read, told = 0, list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        nonlocal read
        part = next(body, None)
        read += part is not None
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}

    async def send(message: Any) -> None:
        told.append(message)

    anyio.run(app, scope, receive, send)
    return told[0]["status"], dict(told[0]["headers"]), read


@pytest.mark.parametrize("path", ["/records", "/runs", "/board/analyse"])
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
