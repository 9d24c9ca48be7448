# SPDX-License-Identifier: Apache-2.0
"""The studio as people meet it: in a browser, in two windows, and after a crash."""

import concurrent.futures
import contextlib
import importlib.util
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from hyoka.apps.studio import Studio, allowed_engines, server
from hyoka.apps.studio.rooms import ROOMS

from .browser import (
    COLOR_RULES,
    PHONE,
    Opened,
    headings_out_of_order,
    hidden_focus,
    offences,
    style,
    unnamed_pictures,
    width_of_content,
)
from .commands import hyoka_here
from .studio import StudioProcess, furnished, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DARK_GROUND = "rgb(20, 23, 21)"
NOWHERE = "/nothing"
PLACES = [*(room.path for room in ROOMS), "/runs/new?command=match+run", NOWHERE]
ENDLESS = {"command": "match run", "players": "uct:time=3600\nmc:time=3600", "games": "2"}
"""Nobody moves for an hour: it is under way whenever one looks."""
READ = [
    *("/", "/runs", NOWHERE, "/runs/preview?command=match+run", "/static/studio.css", "/learning"),
    *("/match?path=matches/short", "/match/game?path=matches/short&game=0", "/study"),
    *("/board?game=go9&moves=E5", "/board?game=chess&moves=e2e4", "/board?game=othello&play=d3"),
    *("/board/export?game=chess&moves=e2e4&as=pgn", "/board/games?path=games.pgn"),
]
READ_SELDOM = [
    *("/study?path=a+study", "/study?path=a+study&engine=comments&where=ply+%3E+1"),
    *("/study?path=a+study&view=games", "/learning?path=weights.json"),
]
"""Something of every room, and what takes longer."""
OpenAt = Callable[..., Opened]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioProcess]:
    folder = furnished(tmp_path_factory.mktemp("studio") / "folder")
    with StudioProcess(folder) as process:
        yield process


@pytest.fixture
def open_at(browser: "Browser", studio: StudioProcess) -> Iterator[OpenAt]:
    """Open an address of the studio; the test fails if a page complains or asks for more."""
    pages: list[Opened] = []
    missing: list[str] = []

    def opening(path: str = "/", *, width: int = 1000) -> Opened:
        pages.append(open_studio(browser, studio, path, width=width))
        if path == NOWHERE:  # the browser says so to the console as well
            missing.append(f"status of 404 (Not Found) {studio.origin}{path}")
        return pages[-1]

    yield opening
    complaints = [complaint for opened in pages for complaint in opened.complaints]
    for opened in pages:
        opened.page.context.close()
    assert [each for each in complaints if not each.endswith(tuple(missing))] == []


@pytest.mark.parametrize("place", PLACES)
def test_a_page_is_for_everybody(place: str, open_at: OpenAt) -> None:
    opened = open_at(place)
    assert offences(opened) == []
    assert unnamed_pictures(opened) == []
    assert headings_out_of_order(opened) == []
    assert hidden_focus(opened) == []
    opened.page.emulate_media(color_scheme="dark")
    assert style(opened, "body", "background-color") == DARK_GROUND
    assert offences(opened, COLOR_RULES) == []
    opened.page.set_viewport_size({"width": PHONE, "height": 700})
    assert width_of_content(opened) <= PHONE


def test_the_menu_and_the_content_are_reached_by_keys(open_at: OpenAt) -> None:
    page = open_at().page
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#main")
    page.get_by_role("navigation").get_by_role("link", name="Runs").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs")


def test_dark_or_light_is_kept(open_at: OpenAt) -> None:
    opened = open_at()
    opened.page.get_by_role("button", name="Dark or light").click()
    assert style(opened, "body", "background-color") == DARK_GROUND
    opened.page.reload()
    assert style(opened, "body", "background-color") == DARK_GROUND


def test_home_shows_what_is_there(open_at: OpenAt) -> None:
    page = open_at().page
    for name in ("a study", "matches/short", "weights.json", "games.pgn"):
        assert page.get_by_text(name, exact=True).first.is_visible()


def test_a_run_from_its_form_to_its_end_in_two_windows(open_at: OpenAt) -> None:
    page = open_at("/runs/new?command=match+run").page
    page.get_by_label("Random moves").check()
    page.get_by_text("Others", exact=True).click()
    page.get_by_label("Other players").fill("random")
    page.get_by_label("Game --game", exact=True).select_option("go5")
    page.wait_for_url("**game=go5**")  # what one may choose depends on the game
    page.get_by_label("--games").fill("4")
    page.get_by_label("--output").fill("matches/ours")
    page.get_by_text("The command", exact=True).click()
    command = "hyoka match run --game go5 --games 4 --output matches/ours random random"
    page.get_by_text(command).wait_for()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/runs/\d+$"))
    other = open_at(page.url.partition("/runs")[1] + page.url.rpartition("/runs")[2]).page
    for window in (page, other):  # by events, without a reload
        window.get_by_text("done", exact=True).wait_for()
        window.get_by_role("link", name="matches/ours", exact=True).wait_for()
        window.reload()
        assert window.get_by_text("4 of 4 games").is_visible()
    assert offences(Opened(page)) == []


def test_a_form_says_what_is_wrong_before_it_is_sent(open_at: OpenAt) -> None:
    page = open_at("/runs/new?command=match+run").page
    page.get_by_text("Others", exact=True).click()
    page.get_by_label("Other players").fill("uci:anything")
    page.get_by_text("hyoka studio --engine NAME=SPEC").wait_for()


def test_a_run_is_paused_resumed_and_cancelled(open_at: OpenAt, studio: StudioProcess) -> None:
    place = studio.post("/runs", ENDLESS)
    page = open_at(place).page
    for button, state in (("Pause", "paused"), ("Resume", "running"), ("Cancel", "cancelled")):
        page.get_by_role("button", name=button).click()
        page.get_by_text(state, exact=True).wait_for()
    page.get_by_role("button", name="Remove from the list").click()
    page.wait_for_url("**/runs")


def test_a_window_that_was_out_of_sight_catches_up(open_at: OpenAt, studio: StudioProcess) -> None:
    page = open_at("/runs").page
    look = """(hidden) => {
        Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(look, True)
    place = studio.post("/runs", {"command": "records samples", "to": "samples of mine"})
    page.evaluate(look, False)
    page.get_by_text("Copy the sample records to samples of mine").wait_for()
    studio.post(f"{place}/cancel", {"x": "1"})


def test_records_are_dropped_and_chosen(open_at: OpenAt, tmp_path: Path) -> None:
    file = tmp_path / "mine.pgn"
    file.write_text('[White "a"]\n[Black "b"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n')
    page = open_at().page
    page.get_by_label("Records to make a study of").set_input_files(file)
    page.get_by_role("button", name="Make a study", exact=True).click()
    page.get_by_role("link", name="studies/mine", exact=True).wait_for()
    page.goto(page.url.partition("/runs")[0] + "/board")
    drop(page, "body", "dropped.pgn", file.read_text())
    page.get_by_role("link", name="studies/dropped", exact=True).wait_for()
    page.goto(page.url.partition("/runs")[0])
    drop(page, "[data-then=review]", "reviewed.pgn", file.read_text())
    page.wait_for_url("**/review?path=records%2Freviewed.pgn")


def drop(page: "Page", place: str, name: str, text: str) -> None:
    """Drop a file on an element."""
    page.evaluate(
        """([place, name, text]) => {
            const files = new DataTransfer();
            files.items.add(new File([text], name));
            const event = new DragEvent("drop", {dataTransfer: files, bubbles: true});
            document.querySelector(place).dispatchEvent(event);
        }""",
        [place, name, text],
    )


def test_an_empty_folder_has_something_to_do(browser: "Browser", tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with StudioProcess(folder) as studio:
        opened = open_studio(browser, studio)
        assert offences(opened) == []
        tiles = opened.page.locator(".tiles h2").all_inner_texts()
        assert tiles == ["Review a game", "Study my records", "Play or compare engines"]
        assert opened.page.get_by_role("button", name="Run the demo").is_visible()
        opened.page.get_by_role("button", name="Make a study of samples: Othello").click()
        opened.page.get_by_text("done", exact=True).wait_for()
        opened.page.get_by_role("navigation").get_by_role("link", name="Home").click()
        assert opened.page.get_by_role("link", name="studies/othello", exact=True).is_visible()
        assert opened.page.get_by_text("records/othello.sgf.xz", exact=True).is_visible()
        opened.page.goto(f"{studio.origin}/review")
        opened.page.get_by_role("link", name="records/othello.sgf.xz").click()
        opened.page.get_by_role("heading", name="records/othello.sgf.xz").wait_for()
        opened.page.goto(f"{studio.origin}/runs")  # until its scripts are loaded
        studio.kill()
        opened.page.get_by_text("does not answer").wait_for()  # the page says so, and stays
        opened.page.context.close()


def test_invalid_records_are_refused(
    studio: StudioProcess, open_at: OpenAt, tmp_path: Path
) -> None:
    file = tmp_path / "<b>no<b> record.sgf"
    file.write_bytes(b"(;GM[1]SZ[9" + bytes(range(256)) * 40)
    page = open_at().page
    page.get_by_label("Records to make a study of").set_input_files(file)
    page.get_by_role("button", name="Make a study", exact=True).click()
    page.get_by_text("failed", exact=True).wait_for()
    assert "records/b_no_b_record.sgf:1: " in page.locator("pre.log").inner_text()


def test_a_run_survives_the_server(studio: StudioProcess, browser: "Browser") -> None:
    place = studio.post("/runs", ENDLESS)
    number = int(place.rpartition("/")[2])
    opened = open_studio(browser, studio, place)
    studio.kill()
    studio.start()
    assert studio.state(number) == "running"
    opened.page.reload()  # the window is let in as before
    for button, state in (("Pause", "paused"), ("Resume", "running"), ("Cancel", "cancelled")):
        opened.page.get_by_role("button", name=button).click()
        opened.page.get_by_text(state, exact=True).wait_for()
    opened.page.context.close()


def test_fifty_read_while_a_match_is_played(studio: StudioProcess) -> None:
    place = studio.post("/runs", ENDLESS)

    def read(reader: int) -> int:
        return sum(
            len(studio.get(path)) > 500 for path in ("/", place, "/runs", "/static/studio.css")
        )

    with concurrent.futures.ThreadPoolExecutor(50) as readers:
        assert list(readers.map(read, range(50))) == [4] * 50
    assert studio.state(int(place.rpartition("/")[2])) == "running"
    studio.post(f"{place}/cancel", {"x": "1"})


def test_memory_stays_flat(studio: StudioProcess) -> None:
    connection = studio.connect()

    def ask(times: int) -> int:
        for each in range(times):
            often, rest = divmod(each, 25)
            path = READ[each % len(READ)] if rest else READ_SELDOM[often % len(READ_SELDOM)]
            connection.request("GET", path, headers=studio.headers())
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 400 or path == NOWHERE
        status = Path(f"/proc/{studio.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        return int(found[1])

    with contextlib.closing(connection):
        before = ask(600)  # threads and caches are there by then
        assert ask(900) - before < 50_000  # kB; the attack on the studio asks for longer


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nowhere"], "nowhere: no such folder; make it first: mkdir nowhere"),
        ([".", "--engine", "uci:stockfish"], "--engine is NAME=SPEC, as sf=uci:stockfish"),
        ([".", "--config", "none.toml"], "none.toml: "),
        ([".", "--host", "192.0.2.7"], "is no address of this machine"),
    ],
)
def test_paths_that_cannot_be_opened_are_named(
    options: list[str], said: str, tmp_path: Path
) -> None:
    answer = hyoka_here("studio", *options, cwd=tmp_path)
    assert (answer.returncode, said in answer.stderr) == (2, True)


def test_found_engines_are_allowed_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "stockfish"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(allowed_engines, "_GAMES", ())
    served: list[Studio] = []

    def serve(studio: Studio, sock: socket.socket, *_: str) -> None:
        served.append(studio)
        sock.close()

    monkeypatch.setattr(server, "serve", serve)
    said = hyoka_here("studio", "--no-browser", cwd=tmp_path).stdout
    words = "Found, not allowed: stockfish. To allow all: hyoka studio --allow-found\n"
    assert (said.endswith(words), dict(served[0].engines.allowed)) == (True, {})
    said = hyoka_here("studio", "--no-browser", "--allow-found", cwd=tmp_path).stdout
    assert said.splitlines()[2:] == ["Engine stockfish: uci:stockfish"]
    assert served[1].engines.allowed == {"stockfish": "uci:stockfish"}
    # A program in a relative folder may be somebody else's.
    monkeypatch.setenv("PATH", "bin")
    monkeypatch.chdir(tmp_path)
    assert allowed_engines.found_engines() == {}
    monkeypatch.setenv("PATH", f":{program.parent}")
    assert allowed_engines.found_engines() == {"stockfish": f"uci:{program}"}


def test_without_its_packages_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    answer = hyoka_here("studio", str(tmp_path))
    assert answer.stderr == 'hyoka: the studio needs more packages: pip install "hyoka[web]"\n'


def test_it_ends_at_once_although_somebody_watches(tmp_path: Path) -> None:
    # One of its own: the others' goes on.
    with StudioProcess(tmp_path) as studio:
        connection = studio.connect()
        connection.request("GET", "/runs/events", headers=studio.headers())
        assert connection.getresponse().read(5) == b"event"
        assert studio.stop() in (0, 130)  # or raises, if it does not end
        connection.close()


def test_a_repeated_message_does_not_replace_the_content(
    open_at: OpenAt, studio: StudioProcess
) -> None:
    place = studio.post("/runs", ENDLESS)
    page = open_at(place).page
    # A connection that is opened anew hears everything again.
    page.evaluate("""() => {
        document.querySelector("#state button").mine = true;
        const heard = new EventSource(location.pathname + "/events");
        window.again = new Promise((done) => heard.addEventListener("state", (event) => {
            const message_event = new CustomEvent("htmx:sseBeforeMessage", {
                bubbles: true, cancelable: true, detail: {data: event.data}});
            heard.close();
            done(document.querySelector("#state").dispatchEvent(message_event));
        }));
    }""")
    assert page.evaluate("window.again") is False  # the page has no use for it
    assert page.evaluate("document.querySelector('#state button').mine") is True
    studio.post(f"{place}/cancel", {"x": "1"})
