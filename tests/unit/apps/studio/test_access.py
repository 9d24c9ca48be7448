# SPDX-License-Identifier: Apache-2.0
"""The studio lets nobody in who may not, reaches nothing that it may not, and says no more."""

import gzip
import html
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

import hyoka as hk
from e2e.studio import HOSTILE, furnished
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, allowed_engines, studio_app
from hyoka.apps.studio.access import AccessControl, is_loopback
from hyoka.apps.studio.forms import Allow, Field, Forms
from hyoka.apps.studio.rooms import ROOMS
from hyoka.apps.studio.rooms.study_views import VIEWS
from hyoka.storage.model_file import ModelFile

OURS = "http://127.0.0.1"
TOKEN = "a-token-that-nobody-guesses"
OWN_PAGE = {"origin": OURS, "sec-fetch-site": "same-origin"}
FORMS = Forms.of(COMMANDS)
PAGES = [
    *(room.path for room in ROOMS),
    "/runs/new?command=match+run",
    "/runs/new?command=learn+weights",
    "/nothing",
    "/runs/99",
    "/file?path=nothing",
]
READINGS = [
    *(f"/study?path=a+study&view={view}" for view in VIEWS),
    "/study?path=a+study&view=curves&engine=comments&where=ply+%3E+1",
    "/study/row?path=a+study&of=comments",
    "/study/range?path=a+study&engine=comments&at=comments&low=0&high=1",
    "/study/values?path=a+study&column=ply",
    "/study/game?path=a+study&game=0&ply=2",
    "/study/save?path=a+study&engine=comments&view=metrics&result=metrics&as=csv",
    "/match?path=matches/short",
    "/match?path=matches/short&view=games",
    "/match?path=matches/short&view=report",
    "/match/game?path=matches/short&game=0",
    "/match/events?path=matches/short",
    "/learning?path=weights.json",
    "/board?game=go9&moves=E5+C3",
    "/board/export?game=chess&moves=e2e4&as=pgn",
    "/board/games?path=games.pgn",
    "/runs/events",
    "/runs/preview?command=match+run&players=uct",
    "/file?path=games.pgn",
]
"""What can be read, events and files to keep among it."""


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
def client(folder: Path) -> TestClient:
    return client_of(app_on(folder, sf="uci:nodes=1:stockfish"))


@pytest.fixture
def stranger(client: TestClient) -> TestClient:
    client.cookies.clear()
    return client


def everything_in(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_without_the_token_nothing_is_shown(stranger: TestClient, folder: Path) -> None:
    for page in [*PAGES, "/?token=wrong", "/?token="]:
        answer = stranger.get(page)
        assert answer.status_code == 403
        assert "token" in answer.text
        assert "a study" not in answer.text
    assert stranger.post("/runs", headers=OWN_PAGE).status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    answer = stranger.get(f"/study?path=a+study&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/study?path=a+study")
    assert {"HttpOnly", "SameSite=strict"} <= set(answer.headers["set-cookie"].split("; "))
    assert stranger.get("/").status_code == 200


def test_a_link_from_elsewhere_leads_in_by_one_step_more(stranger: TestClient) -> None:
    answer = stranger.get('/study?path=a+study&x="><script>')
    assert answer.status_code == 403
    assert 'href="/study?path=a+study&amp;x=' in answer.text
    assert "<script>" not in answer.text
    assert 'href="/elsewhere' in stranger.get(f"{OURS}//elsewhere.example/").text


def test_the_token_leads_to_no_other_host(stranger: TestClient) -> None:
    answer = stranger.get(f"{OURS}//elsewhere.example/?token={TOKEN}")
    assert answer.headers["location"] == "/elsewhere.example/"


@pytest.mark.parametrize(
    "host",
    [
        *("elsewhere.example", "127.0.0.1.elsewhere.example", "127.0.0.1:99", "localhost:8080"),
        *("127.0.0.1@elsewhere.example", "192.168.0.7", "", "127.0.0.1:", "[::1]:99", "0.0.0.0"),
    ],
)
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 403
    assert client.get("/static/studio.css", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.0.0.1:80"])
def test_this_machine_has_three_names(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


def test_a_studio_for_others_knows_addresses_but_no_names() -> None:
    async def nothing(*_: Any) -> None: ...

    doors = AccessControl(nothing, token=TOKEN, host="0.0.0.0", port=8620)
    assert doors._is_ours("192.168.0.7:8620")
    assert doors._is_ours("localhost:8620")
    assert not doors._is_ours("rebound.example:8620")
    assert [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost")] == [True] * 3
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.0.7", "elsewhere.example")))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://elsewhere.example"},
        {"origin": "http://127.0.0.1:8080"},
        {"origin": "https://127.0.0.1"},
        {"origin": OURS, "sec-fetch-site": "cross-site"},
        {"origin": OURS, "sec-fetch-site": "same-site"},
    ],
)
def test_another_page_changes_nothing(
    client: TestClient, folder: Path, headers: dict[str, str]
) -> None:
    before = everything_in(folder)
    for path in ("/runs", "/records", "/runs/1/cancel"):
        answer = client.post(path, data={"command": "records samples"}, headers=headers)
        assert answer.status_code == 403
    assert everything_in(folder) == before


def test_reading_changes_nothing(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(_request: Request) -> bool:
        return True

    monkeypatch.setattr(Request, "is_disconnected", gone)  # events end after the first
    before = everything_in(folder)
    for page in PAGES:
        client.get(page)
    for page in READINGS:
        answer = client.get(page)
        assert (page, answer.status_code) == (page, 200)
        assert answer.text
    for room in ROOMS:
        for route in room.routes:
            if isinstance(route, Route) and "POST" in (route.methods or ()):
                path = re.sub(r"\{[^}]*\}", "1", route.path)
                reads = [each for each in room.routes if getattr(each, "path", "") == route.path]
                if len(reads) == 1:
                    assert client.get(path).status_code == 405
    assert everything_in(folder) == before


@pytest.mark.parametrize("page", PAGES)
def test_pages_hold_no_script_and_no_style_of_their_own(client: TestClient, page: str) -> None:
    answer = client.get(page)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert HOSTILE not in answer.text
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", answer.text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", answer.text))
    assert set(re.findall(r'(?:src|href)="(https?:)?//', answer.text)) == set()


def test_names_from_files_are_text(client: TestClient) -> None:
    assert "&lt;script&gt;alert(1)" in client.get("/").text


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.txt", "/etc/passwd", "a study/../../secret.txt", ".hyoka-studio/x", "link"),
        *("linked/secret.txt", "", "a\0b", "~/x", "....//secret.txt", "matches/../.hidden"),
        "x" * 5000,
    ],
)
def test_what_is_not_in_the_folder_is_not_served(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    (folder / "a study").mkdir(parents=True)
    (folder / ".hidden").write_text("SECRET")
    (tmp_path / "secret.txt").write_text("SECRET")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    client = client_of(app_on(folder))
    for place in ("/file", "/report", "/study", "/match", "/learning", "/board"):
        answer = client.get(place, params={"path": path})
        assert "SECRET" not in answer.text
        assert "root:" not in answer.text
        if place in ("/file", "/report"):
            assert answer.status_code in (400, 404)


@pytest.mark.parametrize("path", ["/static/../safety.py", "/static/%2e%2e/safety.py", "/static/"])
def test_static_files_are_those_of_the_package(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in (400, 403, 404)


def test_a_report_stands_alone(client: TestClient, folder: Path) -> None:
    (folder / "report.html").write_text("<script>alert(1)</script>")
    policy = client.get("/report?path=report.html").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert client.get("/report?path=games.pgn").status_code == 404
    answer = client.get("/file?path=report.html")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("command", "values"),
    [
        ("match run", {"players": "uci:evil"}),
        ("match run", {"players": "x=uci:evil"}),
        ("match run", {"players": "cecp:evil"}),
        ("match run", {"players": "uct\nGTP:evil --now"}),
        ("match run", {"players": "sf@ --outfile /tmp/x"}),
        ("match run", {"players": "sf@60 --outfile x"}),
        ("match run", {"players": "best=sf@ -x"}),
        ("match run", {"players": "best=sf -x"}),
        ("match run", {"players": "sf@60@ -x"}),
        ("study evaluate", {"study": "a study", "evaluators": "sf@ --outfile x"}),
        ("study evaluate", {"study": "a study", "evaluators": "sf@60"}),
        ("study evaluate", {"study": "a study", "evaluators": "x=sf"}),
        ("match run", {"players": "  usi:nodes=1:evil@60"}),
        ("match run", {"players": "uct:eval=/etc/passwd"}),
        ("match run", {"players": "uct:eval=../secret"}),
        ("match run", {"players": "uct:book=.hyoka-studio/x"}),
        ("match run", {"openings": "/etc/passwd:8"}),
        ("match run", {"folder": "../elsewhere"}),
        ("match run", {"folder": "/tmp/elsewhere"}),
        ("match run", {"folder": ".hidden"}),
        ("match run", {"cluster_address": "tcp://elsewhere.example:8786"}),
        ("match run", {"games": "many"}),
        ("study evaluate", {"study": "a study", "evaluators": "gtp:evil"}),
        ("study evaluate", {"study": "../elsewhere", "evaluators": "uct"}),
        ("learn comparison", {"sources": "games.pgn", "objective": "/etc/passwd"}),
        ("learn selfplay", {"game": "go5", "search": "uci:evil"}),
        ("study create", {"study": "made", "files": "/etc/*"}),
        ("study create", {"study": "made", "files": "*.pgn"}),
        ("study create", {"study": "made", "files": "**"}),
        ("study create", {"study": "made", "files": "game?.pgn"}),
        ("study create", {"study": "made", "files": "games.[p]gn"}),
        ("match run", {"openings": "*.pgn:8", "players": "random\nrandom"}),
        ("learn mets", {"records": "*.pgn"}),
        ("reproduce", {"name": "x", "data": "/etc"}),
        ("engine uci", {}),
        ("studio", {}),
        ("study sql", {"study": "a study"}),
        ("", {}),
    ],
)
def test_a_form_reaches_nothing_that_was_not_allowed(
    client: TestClient, folder: Path, command: str, values: dict[str, str]
) -> None:
    answer = client.post("/runs", data={"command": command, **values}, headers=OWN_PAGE)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert not (folder / ".hyoka-studio").exists()


SPECS = [
    (name, field) for name in FORMS.commands for field in FORMS.form(name).fields if field.is_spec
]


@pytest.mark.parametrize(("command", "field"), SPECS, ids=[f"{c} {f.name}" for c, f in SPECS])
def test_nothing_is_added_to_an_engine_that_was_allowed(
    folder: Path, command: str, field: Field
) -> None:
    engines = Engines({"sf": "uci:stockfish", "gnu": "gtp:gnugo --mode gtp"})
    studio = Studio.on(Folder(folder), engines, COMMANDS)

    def words(text: str) -> list[str]:
        values = {field.name: [text]}
        return FORMS.words(command, values, Allow(studio.folder, engines), check=False)

    added = ("gnu@ --outfile /tmp/x", "gnu@ -x", "x=gnu@60 -x", "gnu -x", "gnu@60;x", " x= gnu@x")
    on_clocks = ("gnu@60", "x=gnu", "gnu@")
    for text in (*added, *(() if field.is_player else on_clocks)):
        with pytest.raises(hk.errors.ParameterError, match="by its name alone"):
            words(text)
    plain = words("gnu")[-1]
    assert plain == ("gnu=gtp:gnugo --mode gtp" if field.is_player else "gtp:gnugo --mode gtp")
    assert words("uct:playouts=5")[-1] == "uct:playouts=5"  # a search is as it was


def test_a_link_out_of_the_folder_is_not_read_by_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "games" / "deeper").mkdir(parents=True)
    (tmp_path / "secret.pgn").write_text("1. e4 *")
    (folder / "own.pgn").write_text("1. e4 *")
    (folder / "games" / "own.pgn").symlink_to(folder / "own.pgn")
    (folder / "games" / ".hidden.pgn").symlink_to(tmp_path / "secret.pgn")  # nobody reads it
    studio = Studio.on(Folder(folder), Engines(), COMMANDS)
    # Names of existing files stay so, whatever signs they have.
    (folder / "games [1].pgn").write_text("1. e4 *")
    asked = ["games\n.\ngames [1].pgn"]
    assert studio.words("study create", {"study": "made", "files": asked})[-3:] == [
        "games",
        ".",
        "games [1].pgn",
    ]
    studio.words("match run", {"players": ["uct:eval=games:8"], "openings": ["games:8"]})
    (folder / "games" / "deeper" / "link.pgn").symlink_to(tmp_path / "secret.pgn")
    (folder / "a, link=b").symlink_to(tmp_path / "secret.pgn")
    for command, values in (
        ("study create", {"study": "made", "files": ["games"]}),
        ("study create", {"study": "made", "files": ["."]}),
        ("study create", {"study": "made", "files": ["a, link=b"]}),
        ("learn comparison", {"sources": ["games"]}),
        ("match run", {"openings": ["games:8"]}),
        ("match run", {"openings": ["a, link=b"]}),
        ("match run", {"players": ["uct:eval=a, link=b"]}),
    ):
        with pytest.raises(hk.errors.SourceError, match="not in the studio's folder"):
            studio.forms.words(command, values, Allow(studio.folder, studio.engines), check=False)
    with pytest.raises(hk.errors.SourceError, match="not in the studio's folder"):
        studio.engines.agent("uct:eval=a, link=b", studio.folder)


def test_an_engine_is_known_by_the_name_that_the_user_gave(folder: Path) -> None:
    studio = Studio.on(Folder(folder), Engines({"sf": "uci:nodes=1:stockfish"}), COMMANDS)
    words = studio.words("match run", {"players": ["sf\nbest=sf@60+1", "uct:playouts=5"]})
    specs = ["sf=uci:nodes=1:stockfish", "best=uci:nodes=1:stockfish@60+1", "uct:playouts=5"]
    assert words == ["match", "run", *specs]
    assert studio.engines.agent("sf", studio.folder).spec.text == "uci:nodes=1:stockfish"
    for text in ("uci:stockfish", "uct:eval=/etc/passwd", "uct:eval=../x", ""):
        with pytest.raises(hk.Error):
            studio.engines.agent(text, studio.folder)


def test_files_of_a_search_are_those_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The studio may run in another folder than the one that it shows."""
    inside, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    for place, value in ((inside, 30), (elsewhere, 77)):
        place.mkdir()
        model = ModelFile.of("weights", {"game": "chess", "weights": {"bishop_pair": value}})
        model.save(place / "w.json")
    (elsewhere / "secret.json").write_bytes((elsewhere / "w.json").read_bytes())
    monkeypatch.chdir(elsewhere)
    given = {"mine": f"ab:eval={elsewhere / 'secret.json'}", "near": "ab:eval=w.json"}
    engines, folder = Engines(given), Folder(inside)

    def path_of(text: str) -> str:
        return str(engines.agent(text, folder).spec["eval"].path)

    for text in ("ab:eval=w.json", "ab:depth=2,eval= w.json", "near"):
        assert path_of(text) == str(inside / "w.json")
    assert path_of("mine") == str(elsewhere / "secret.json")
    assert engines.agent("ab:eval=built-in", folder).spec["eval"] == "built-in"
    table = engines.agent("table:name=mine,view=mover:w.json", folder).spec
    assert table.text == f"table:name=mine,view=mover:{inside / 'w.json'}"
    for text in (
        *("ab:eval=secret.json", "ab:depth=2,eval= secret.json", "uct:book=built-in"),
        *("table:secret.json", "table:view=mover:secret.json", "Table: secret.json"),
    ):
        with pytest.raises(hk.errors.SourceError, match="there is no"):
            engines.agent(text, folder)


def test_a_search_reads_no_pipe_in_the_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for text in ("ab:eval=pipe.json", "uct:book=pipe.json", "table:pipe.json"):
        with pytest.raises(hk.errors.SourceError, match="is a pipe"):
            Engines({}).agent(text, Folder(tmp_path))


def test_a_kept_run_is_checked_again_before_it_goes_on(tmp_path: Path) -> None:
    place = tmp_path / ".hyoka-studio" / "runs" / "1"
    place.mkdir(parents=True)
    (place / "run.json").write_text(
        '{"command": "match run", "values": {"players": ["uci:evil"]}, "words": [], "made": 1}'
    )
    client = client_of(app_on(tmp_path))
    assert "interrupted" in client.get("/runs/1").text
    assert client.post("/runs/1/resume", headers=OWN_PAGE, data={"x": "1"}).status_code == 400
    assert sorted(path.name for path in place.iterdir()) == ["run.json"]


def test_what_a_kept_run_says_is_text(tmp_path: Path) -> None:
    place = tmp_path / ".hyoka-studio" / "runs" / "1"
    place.mkdir(parents=True)
    (place / "run.json").write_text(
        '{"command": "<u>", "values": {"<i>": ["x"]}, "words": ["<s>"], "made": 1}'
    )
    (place / "log").write_text("\x1b[31m<b>red</b>")
    (place / "progress.json").write_text('{"works": [{"what": "<s>", "done": 1, "total": 2}, 7]}')
    text = client_of(app_on(tmp_path)).get("/runs/1").text
    assert not re.search("<[isu]>", text)
    assert r"\x1b[31m&lt;b&gt;red" in text


@pytest.mark.parametrize("name", ["../../up.sgf", "C:\\dir\\up.sgf", "...up.sgf", "up.sgf"])
def test_an_upload_stays_where_uploads_go(tmp_path: Path, name: str) -> None:
    from hyoka.apps.studio import folder as uploads  # noqa: PLC0415 - needs the extra

    with (tmp_path / "content").open("wb+") as content:
        assert uploads.keep(Folder(tmp_path), name, content) == "records/up.sgf"
        assert uploads.keep(Folder(tmp_path), name, content) == "records/up-2.sgf"


def test_a_bomb_that_is_uploaded_does_not_go_off(tmp_path: Path) -> None:
    client = client_of(app_on(tmp_path))
    bomb = gzip.compress(b"(;GM[1]SZ[9]C[" + b" " * (256 << 20))
    answer = client.post("/records", files={"files": ("bomb.sgf.gz", bomb)}, headers=OWN_PAGE)
    assert answer.status_code == 303
    run = Studio.on(Folder(tmp_path), Engines(), COMMANDS).runs.get(1)
    deadline = time.monotonic() + 60
    while run.is_alive and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (run.state, "rejected (too large)" in run.log) == ("failed", True), run.log
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) < 1 << 21


def test_a_request_is_no_larger_than_its_address_takes(client: TestClient) -> None:
    long = {"content-length": str(300 << 20)} | OWN_PAGE
    assert client.post("/records", headers=long).status_code == 413
    assert (
        client.post("/runs", content=b"x" * (1 << 20) + b"x", headers=OWN_PAGE).status_code == 413
    )
    unknown = client.post("/runs", content=iter([b"command=demo"]), headers=OWN_PAGE)
    assert unknown.status_code == 413


def test_what_goes_wrong_inside_stays_inside(folder: Path) -> None:
    def broken(_request: Request) -> Response:
        raise ValueError("the secret reason")

    app = app_on(folder)
    app.router.routes.append(Route("/broken", broken))
    answer = client_of(app).get("/broken")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.text
    assert "content-security-policy" in answer.headers
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_an_error_is_a_part_for_who_asked_for_a_part(client: TestClient) -> None:
    answer = client.get("/runs/99", headers={"hx-request": "true"})
    assert answer.status_code == 400
    assert answer.text.startswith('<div class="error" role="alert">')


def test_no_request_allows_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says how to allow engines that are found; only the terminal does so."""
    known = {"stockfish": "uci:stockfish"}
    monkeypatch.setattr(allowed_engines, "found_engines", lambda: known)
    studio = Studio.on(Folder(tmp_path), Engines({}, "hyoka studio 'my games'"), COMMANDS)
    client = client_of(studio_app(studio, token=TOKEN))
    names = ("engine", "engines", "allow", "allow_found", "allow-found", "settings", "x")
    asked = dict.fromkeys(names, "stockfish=uci:stockfish")
    for room in ROOMS:
        for route in room.routes:
            path = re.sub(r"{.*?}", "1", getattr(route, "path", ""))
            client.get(path, params=asked) if "events" not in path else None
            client.post(path, data=asked, params=asked, headers=OWN_PAGE)
    assert studio.engines.allowed == {}
    with pytest.raises(TypeError):
        studio.engines.allowed["stockfish"] = "uci:stockfish"  # type: ignore[index]
    for text in ("stockfish", "uci:stockfish"):
        with pytest.raises(hk.errors.NotationError, match="only when the studio is started"):
            studio.engines.agent(text, studio.folder)
    shown = html.unescape(client.get("/").text)
    assert "<code>hyoka studio 'my games' --allow-found</code>" in shown
    assert "hyoka studio 'my games' --engine 'stockfish=uci:stockfish'" in shown
