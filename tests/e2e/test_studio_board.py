# SPDX-License-Identifier: Apache-2.0
"""The board room in a real browser: whole games by clicks, one by keys alone, and what thinks."""

import random
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import hyoka as hk

from .browser import COLOR_RULES, PHONE, Opened, headings_out_of_order, offences, width_of_content
from .studio import StudioProcess, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

FIVE = ("go9", "othello", "chess", "shogi", "blokus_duo")
FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")
WIPE_OUT = ("e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5")
MATED_BY_A_DROP = (
    *("2h1h", "5a5b", "5i6h", "3c3d", "4i5i", "2b7g+", "8h7g", "7a6b", "7g3c+", "4c4d", "B*4c"),
)
"""Bishops are exchanged and promoted; it ends with one from the hand."""
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 0 1"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioProcess]:
    folder = tmp_path_factory.mktemp("board") / "folder"
    folder.mkdir()
    with StudioProcess(folder) as started:
        yield started


@pytest.fixture
def opened(browser: "Browser", studio: StudioProcess) -> Iterator[Opened]:
    found = open_studio(browser, studio, "/board")
    found.page.set_default_timeout(20_000)
    yield found
    found.page.context.close()
    assert found.complaints == []


def show(opened: Opened, studio: StudioProcess, query: str) -> "Page":
    opened.page.goto(f"{studio.origin}/board?{query}")
    return opened.page


def at_ply(page: "Page", ply: int) -> None:
    page.wait_for_selector(f'#table[data-ply="{ply}"]')


def click(page: "Page", *cells: str) -> None:
    for cell in cells:
        page.locator(f'[data-cell="{cell}"]').click()


def drag(page: "Page", source: str, target: str) -> None:
    """Drag from an element to another, with targets shown on the way."""
    page.locator(source).hover()
    page.mouse.down()
    page.locator(target).hover()
    assert page.locator(".over .target").count() > 0
    assert page.locator(".drag use").count() > 0
    page.mouse.up()


def is_over(page: "Page") -> bool:
    return page.locator("#table").get_attribute("data-over") == "1"


def test_a_whole_game_of_chess_by_clicks(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=chess")
    for ply, move in enumerate(FOOLS_MATE, 1):
        click(page, move[:2], move[2:])
        at_ply(page, ply)
    assert is_over(page)
    assert "moves=f2f3+e7e5+g2g4+d8h4" in page.url
    assert "Black wins by checkmate" in (page.locator("#table").get_attribute("aria-label") or "")
    assert page.locator("#said").text_content() == "Black wins by checkmate. Last move: d8h4."
    # A reload, the way back, and a variation.
    page.reload()
    at_ply(page, 4)
    page.go_back()
    at_ply(page, 3)
    page.go_forward()
    at_ply(page, 4)
    page.get_by_role("button", name="Back one move").click()
    at_ply(page, 3)
    click(page, "d7", "d5")
    at_ply(page, 4)
    page.get_by_role("button", name=re.compile("^Variation Qh4")).wait_for()
    page.get_by_role("button", name="Undo").click()
    at_ply(page, 3)
    for ply in (2, 1):  # the focus stays on a button that was pressed
        page.get_by_role("button", name="Back one move").press("Enter")
        at_ply(page, ply)
    assert page.evaluate("document.activeElement.id") == "step-back"


def test_a_pawn_becomes_what_is_chosen(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, f"game=chess&start={PROMOTION}")
    click(page, "a7", "a8")
    page.get_by_role("button", name="Knight").click()
    at_ply(page, 1)
    assert "moves=a7a8n" in page.url


def test_pieces_are_dragged(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=chess")
    drag(page, '[data-cell="g1"]', '[data-cell="e4"]')  # put back: a knight does not move so
    assert page.locator(".over .target").count() == 0
    drag(page, '[data-cell="g1"]', '[data-cell="f3"]')
    at_ply(page, 1)
    assert "moves=g1f3" in page.url
    page = show(opened, studio, "game=shogi&start=4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    drag(page, '[data-drop="G"]', '[data-cell="5b"]')
    at_ply(page, 1)
    assert is_over(page)


def test_a_move_is_drawn_before_the_server_answers(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=go9")
    held: list[Route] = []
    page.route("**/board?*play=*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright inspects it
    click(page, "E5")
    page.wait_for_selector(".preview use")
    assert page.locator("#table").get_attribute("data-ply") == "0"
    held[0].continue_()
    at_ply(page, 1)
    assert page.locator(".preview use").count() == 0


def test_a_whole_game_of_othello_by_clicks(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=othello")
    for ply, square in enumerate(WIPE_OUT, 1):
        click(page, square)
        at_ply(page, ply)
    assert is_over(page)
    assert f"moves={'+'.join(WIPE_OUT)}" in page.url


def test_an_ending_of_othello_against_a_search(opened: Opened, studio: StudioProcess) -> None:
    start = "O" * 30 + "XXXX" + "O" * 20 + "X" * 6 + "----"
    page = show(opened, studio, f"game=othello&start={start} X&against=uct:playouts=1&level=own")
    for _ in range(8):
        if is_over(page):
            break
        assert page.locator(".thinking").count() == 0
        ply = int(page.locator("#table").get_attribute("data-ply") or 0)
        if page.locator("[data-offered=pass]").count():
            page.locator("[data-offered=pass]").click()
        else:
            page.locator(".hit.can").first.click()
        page.wait_for_function(
            "ply => Number(document.querySelector('#table').dataset.ply) > ply"
            " && !document.querySelector('.thinking')",
            arg=ply,
        )
    assert is_over(page)


def test_a_whole_go_game_with_keys_alone(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=go3")
    page.locator("#table").focus()
    keys = page.keyboard
    keys.press("Enter")  # the middle, where the cursor begins
    at_ply(page, 1)
    assert page.evaluate("document.activeElement.id") == "table"
    keys.press("p")
    at_ply(page, 2)
    keys.press("ArrowUp")
    assert page.locator("#said").text_content() == "B3 empty"
    keys.press("Enter")
    at_ply(page, 3)
    keys.press("u")
    at_ply(page, 2)
    keys.press("Home")
    at_ply(page, 0)
    keys.press("End")
    at_ply(page, 2)
    keys.press("PageUp")
    at_ply(page, 1)
    keys.press("PageDown")
    at_ply(page, 2)
    keys.press("m")
    keys.type("pass")
    keys.press("Enter")
    at_ply(page, 3)
    assert is_over(page)
    assert "moves=B2+pass+pass" in page.url


def test_a_whole_go_game_with_clicks(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=go5")
    for ply, point in enumerate(("C3", "C4", "B4", "D4"), 1):
        click(page, point)
        at_ply(page, ply)
    click(page, "C3")  # taken: nothing happens
    for ply in (5, 6):
        page.get_by_role("button", name="Pass", exact=True).click()
        at_ply(page, ply)
    assert is_over(page)
    assert "moves=C3+C4+B4+D4+pass+pass" in page.url


def test_a_whole_game_of_shogi_by_clicks(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=shogi")
    for ply, move in enumerate(MATED_BY_A_DROP, 1):
        if "*" in move:
            page.locator(f'[data-drop="{move[0]}"]').click()
            click(page, move[2:])
        else:
            click(page, move[:2], move[2:4])
        if move.endswith("+"):
            page.get_by_role("button", name="Promote").click()
        at_ply(page, ply)
    assert is_over(page)
    assert "checkmate" in (page.locator("#said").text_content() or "")


def test_pieces_of_shogi_are_dropped_and_promoted(opened: Opened, studio: StudioProcess) -> None:
    start = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
    page = show(opened, studio, f"game=shogi&start={start}")
    page.locator('[data-drop="G"]').click()
    click(page, "5b")
    at_ply(page, 1)
    assert is_over(page)
    assert "moves=G*5b" in page.url or "moves=G%2A5b" in page.url
    page = show(opened, studio, "game=shogi&start=4k4/9/9/4S4/9/9/9/9/4K4 b - 1")
    click(page, "5d", "5c")
    page.get_by_role("button", name="Promote").click()
    at_ply(page, 1)
    pieces = page.locator("#table").get_attribute("data-pieces") or ""
    assert "Black promoted silver" in pieces


def test_a_whole_game_of_blokus_duo_by_clicks_and_keys(
    opened: Opened, studio: StudioProcess
) -> None:
    line, choose = hk.BlokusDuo().line(), random.Random(3)
    while line.outcome is None:
        line = line.play(choose.choice(line.legal_moves))
    words = [move.short_code() for move in line.moves]
    last = max(ply for ply, move in enumerate(line.moves) if str(move) != "pass")
    page = show(opened, studio, "game=blokus_duo")
    for ply, word in enumerate(words[:last], 1):  # typed, all but the last piece
        page.locator("#typed").fill(word)
        page.keyboard.press("Enter")
        at_ply(page, ply)
    page.locator("#table").focus()
    cells = set(str(line.moves[last]).split(","))
    for _ in range(21):  # the right piece, by keys
        if (
            page.locator('[data-piece][aria-pressed="true"]').get_attribute("data-piece")
            == words[last][2]
        ):
            break
        page.keyboard.press(".")
    for turn in range(8):  # turned until a ghost fits where it was laid
        for cell in cells:
            page.locator(f'[data-cell="{cell}"]').hover()
            ghost = page.locator(".ghost:not(.not)").count()
            if ghost and ghost == len(cells):
                break
        else:
            page.keyboard.press("f" if turn == 3 else "r")
            continue
        break
    page.keyboard.press("Enter")
    at_ply(page, last + 1)
    for ply in range(last + 1, len(words)):
        page.locator("[data-offered=pass]").click()
        at_ply(page, ply + 1)
    assert is_over(page)


def test_live_analysis_draws_on_the_board(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=go9&with=uct&with=mc&seconds=0.3")
    page.locator("#live").check()
    page.wait_for_selector('.evaluations[data-over="1"]')
    assert "live=1" in page.url
    assert page.locator(".evaluation").count() == 2
    assert page.locator(".over .heat").count() > 5
    bar = page.get_by_role("meter")
    assert (bar.get_attribute("aria-valuetext") or "").endswith(" percent")
    page.locator(".evaluation details.tree summary").first.click()
    page.wait_for_selector("ul.tree li")
    assert offences(opened) == []
    page.locator(".pv-move").nth(1).click()  # the second move of what is expected
    at_ply(page, 2)
    page.wait_for_selector('.analysis[data-ply="2"] .evaluations[data-over="1"]')  # it restarts
    page.locator("#live").uncheck()
    assert "live" not in page.url
    page.get_by_role("button", name="Undo").click()
    at_ply(page, 1)
    assert page.locator(".analysis").get_attribute("data-ply") == "2", "no other is begun"
    assert not page.locator(".move-lines").first.is_visible()
    page.get_by_role("button", name="Evaluate the game").click()
    page.wait_for_selector("#graph path.s2", state="attached")
    page.wait_for_selector("#graph-progress [data-over]", state="attached")
    page.locator("#graph").click(position={"x": 2, "y": 20})
    at_ply(page, 0)
    assert not page.locator("#stop").is_visible()
    page.locator("#graph").press("ArrowRight")
    at_ply(page, 1)
    assert page.locator("#graph path.s1").get_attribute("d"), "the values are still known"


def test_a_search_is_stopped(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=chess&seconds=60&live=1")
    page.wait_for_selector(".move-lines li")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector('.evaluations[data-over="1"]')
    assert page.locator(".move-lines li").count() == 4
    assert page.locator("#live").is_checked()
    assert not page.locator("#stop").is_visible()


def test_agents_are_picked_and_set(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=othello")
    page.get_by_label("Opponent", exact=True).select_option(label="Alpha-beta")
    page.get_by_role("button", name="Settings: Opponent").click()
    page.get_by_label("Depth").fill("2")
    page.get_by_label("Depth").press("Tab")
    page.locator("#agent-text").get_by_text("ab:depth=2").wait_for()
    assert offences(opened) == []
    page.get_by_role("button", name="Use these settings").click()
    page.get_by_label("Level").select_option("own")
    page.get_by_role("radio", name="White").check()
    page.locator("#begin").click()
    at_ply(page, 1)
    assert "against=ab%3Adepth%3D2&level=own&you=second" in page.url
    assert "Alpha-beta" in (page.locator(".strip").last.text_content() or "")


def test_everything_is_on_one_screen(opened: Opened, studio: StudioProcess) -> None:
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 800})
    show(opened, studio, "game=chess&moves=e2e4 e7e5 g1f3&live=1")
    page.wait_for_selector(".move-lines li")
    shown = """name => {
        const { left, top, right, bottom } = document.querySelector(name).getBoundingClientRect();
        return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    }"""
    for name in ("#table", ".value-bar", "#graph", ".lines", ".move-list", "#begin", ".tabs"):
        assert page.evaluate(shown, name), name
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
    assert page.locator("#table").bounding_box()["height"] > 500  # type: ignore[index]
    page.set_viewport_size({"width": PHONE, "height": 800})
    tops = [
        page.locator(name).first.bounding_box()["y"]  # type: ignore[index]
        for name in ("#table", ".value-bar", ".lines", "#graph", ".move-list", ".tabs")
    ]
    assert tops == sorted(tops)


def test_a_panel_is_in_the_address(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=chess&moves=e2e4")
    page.get_by_role("tab", name="Export").click()
    assert page.locator("#position").is_visible()
    page.reload()
    assert page.locator("#position").is_visible()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Export").press("ArrowRight")
    assert page.get_by_role("tab", name="New game").get_attribute("aria-selected") == "true"
    page.get_by_role("button", name="Back one move").click()
    at_ply(page, 0)
    assert "tab=new" in page.url


def test_sounds_are_off_until_they_are_switched_on(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=go9")
    button = page.get_by_role("button", name="Sound")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    click(page, "E5")
    at_ply(page, 1)
    page.reload()
    assert button.get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("game", FIVE)
def test_the_page_is_for_everybody(
    browser: "Browser", opened: Opened, studio: StudioProcess, game: str
) -> None:
    model = "" if game == "blokus_duo" else "&model=built-in&tab=analyze"
    page = show(opened, studio, f"game={game}{model}")
    assert offences(opened) == []
    assert headings_out_of_order(opened) == []
    page.emulate_media(color_scheme="dark")
    assert offences(opened, COLOR_RULES) == []
    page.set_viewport_size({"width": PHONE, "height": 700})
    assert width_of_content(opened) <= PHONE


def test_a_mistake_leaves_the_board(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=othello")
    page.locator("#typed").fill("a1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem .error")
    page.get_by_label("Opponent", exact=True).select_option(label="Other…")
    page.locator("#against").fill("uci:evil")
    click(page, "d3")
    page.locator("#problem").get_by_text("no search or engine").wait_for()
    assert page.locator("#table").get_attribute("data-ply") == "0"
    assert page.locator(".thinking").count() == 0
    click(page, "d3")
    at_ply(page, 1)


def test_a_reply_that_comes_too_late_changes_nothing(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=othello&against=uct:time=1&level=own")
    click(page, "d3")
    page.wait_for_selector(".thinking")
    with page.expect_response("**/board/reply"):
        page.get_by_role("button", name="Undo").click()
        at_ply(page, 0)
    page.wait_for_load_state("networkidle")
    assert page.locator("#table").get_attribute("data-ply") == "0"
    assert "moves" not in page.url
