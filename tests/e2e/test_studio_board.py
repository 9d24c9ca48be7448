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
    from playwright.sync_api import Browser, Page

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
    page.get_by_role("button", name=re.compile("^after 3: ")).wait_for()
    page.get_by_role("button", name="Undo").click()
    at_ply(page, 3)


def test_a_pawn_becomes_what_is_chosen(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, f"game=chess&start={PROMOTION}")
    click(page, "a7", "a8")
    page.get_by_role("button", name="Knight").click()
    at_ply(page, 1)
    assert "moves=a7a8n" in page.url


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
    assert page.locator("#picture").text_content() is not None
    assert "+S" in (page.locator("#picture").text_content() or "")


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


def test_who_thinks_draws_on_the_board(opened: Opened, studio: StudioProcess) -> None:
    page = show(opened, studio, "game=go9&with=uct&with=mc&seconds=0.3&live=1")
    page.locator("#analyze").click()
    page.wait_for_selector('.evaluations[data-over="1"]')
    assert page.locator(".evaluation").count() == 2
    assert page.locator(".over .heat").count() > 5
    page.locator(".evaluation details.tree summary").first.click()
    page.wait_for_selector("ul.tree li")
    assert offences(opened) == []
    page.locator("ul.tree button").first.click()
    at_ply(page, 1)
    page.wait_for_selector('.evaluations[data-over="1"]')  # it continues automatically
    page.get_by_role("button", name="Draw the curve").click()
    page.wait_for_selector("#curve svg a")


@pytest.mark.parametrize("game", FIVE)
def test_the_page_is_for_everybody(
    browser: "Browser", opened: Opened, studio: StudioProcess, game: str
) -> None:
    model = "" if game == "blokus_duo" else "&model=built-in"
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
