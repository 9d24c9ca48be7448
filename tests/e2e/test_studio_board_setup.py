# SPDX-License-Identifier: Apache-2.0
"""The studio's board in a real browser: positions set up by hand, and analyses that stay."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from .browser import COLOR_RULES, PHONE, Opened, headings_out_of_order, offences, width_of_content
from .studio import StudioProcess, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioProcess]:
    folder = tmp_path_factory.mktemp("board") / "folder"
    folder.mkdir()
    with StudioProcess(folder) as started:
        yield started


@pytest.fixture
def opened(browser: "Browser", studio: StudioProcess) -> Iterator[Opened]:
    found = open_studio(browser, studio, "/board")
    yield found
    found.page.context.close()
    assert found.complaints == []


def text_is(page: "Page", start: str) -> None:
    page.wait_for_function("text => document.querySelector('#start').value === text", arg=start)


def test_a_position_by_clicks_and_by_keys(opened: Opened, studio: StudioProcess) -> None:
    page = opened.page
    page.goto(f"{studio.origin}/board?game=chess&moves=e2e4")
    page.get_by_role("link", name="Set up", exact=True).click()
    page.get_by_role("button", name="Clear the board").click()
    text_is(page, "8/8/8/8/8/8/8/8 b - - 0 1")
    page.get_by_role("radio", name="White king").check()
    page.locator('.hit[data-cell="e1"]').click()
    text_is(page, "8/8/8/8/8/8/8/4K3 b - - 0 1")
    assert "Black must have exactly one king" in (page.locator("#verdict").text_content() or "")
    assert page.locator("#use").is_disabled()
    # The board has the focus and the cursor is where the click was: the rest by keys.
    page.locator("#table").focus()
    page.keyboard.press("k")
    for _ in range(7):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    text_is(page, "4k3/8/8/8/8/8/8/4K3 b - - 0 1")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("R")
    page.keyboard.press("Enter")
    text_is(page, "3Rk3/8/8/8/8/8/8/4K3 b - - 0 1")
    page.keyboard.press("Delete")
    text_is(page, "4k3/8/8/8/8/8/8/4K3 b - - 0 1")
    page.get_by_label("To move").select_option("White")
    text_is(page, "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    page.reload()
    text_is(page, "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    page.get_by_role("link", name="Put it on the board").click()
    page.wait_for_selector('#table[data-ply="0"]')
    assert page.locator("#position").text_content() == "4k3/8/8/8/8/8/8/4K3 w - - 0 1"


@pytest.mark.parametrize("game", ["go9", "othello", "chess", "shogi"])
def test_the_page_fits_phones_and_everybody(
    browser: "Browser", studio: StudioProcess, game: str
) -> None:
    opened = open_studio(browser, studio, f"/board/setup?game={game}", width=PHONE)
    assert width_of_content(opened) <= PHONE
    assert offences(opened) == []
    assert headings_out_of_order(opened) == []
    opened.page.emulate_media(color_scheme="dark")
    assert offences(opened, COLOR_RULES) == []
    opened.page.context.close()
    assert opened.complaints == []


def test_an_analysis_stays_while_its_tree_is_looked_at(
    opened: Opened, studio: StudioProcess
) -> None:
    page = opened.page
    query = "game=go9&moves=E5+C3&model=built-in&with=uct&with=mc&seconds=0.3&tab=analyze"
    page.goto(f"{studio.origin}/board?{query}")
    page.locator("#live").check()
    page.wait_for_selector('.evaluations[data-over="1"]')
    page.locator("#live").uncheck()
    assert page.locator(".over .heat").count() > 0
    assert page.locator(".over .share").count() == 0, "the model's ranks stand there"
    page.locator("#model").select_option("")
    page.wait_for_selector(".over .share")
    [first, second] = page.get_by_role("button", name="on the board").all()[:2]
    second.click()
    assert [each.get_attribute("aria-pressed") for each in (first, second)] == ["false", "true"]
    page.locator("details.tree > summary").first.click()
    page.locator(".below .chip").first.click()
    page.wait_for_selector('#table[data-ply="3"]')
    assert page.locator(".below .chip").count() > 1, "the tree is still open"
    assert page.locator(".over .heat").count() == 0, "it is of another position"
    page.locator(".below .chip").nth(1).click()
    page.wait_for_selector(".variation")
    page.get_by_role("button", name="Back to it").click()
    page.wait_for_selector('#table[data-ply="2"]')
    page.wait_for_selector(".over .heat")
    assert not page.get_by_role("button", name="Back to it").is_visible()


def test_arrows_go_with_a_turned_board(opened: Opened, studio: StudioProcess) -> None:
    page = opened.page
    page.goto(f"{studio.origin}/board?game=chess&with=ab:depth=1&seconds=0.1&live=1")
    page.wait_for_selector('.evaluations[data-over="1"]')
    page.wait_for_selector(".over .arrow")
    glowing = page.locator(".over .heat").first
    before = int(glowing.get_attribute("y") or "")
    page.locator("#table").focus()
    page.keyboard.press("t")
    page.wait_for_selector("#table[data-turned]")
    page.wait_for_selector(".over .heat")
    after = int(page.locator(".over .heat").first.get_attribute("y") or "")
    assert before + after == 7 * 40
    # Cells are touched where they are seen.
    page.locator('.hit[data-cell="e2"]').click()
    page.locator('.hit[data-cell="e4"]').click()
    page.wait_for_selector('#table[data-ply="1"]')
    assert "moves=e2e4" in page.url
    assert "flip=1" in page.url
