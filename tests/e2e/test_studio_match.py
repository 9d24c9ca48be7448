# SPDX-License-Identifier: Apache-2.0
"""Match, Learning and Runs in a real browser: set up, watched, stopped, on a phone, in the dark."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from .browser import (
    COLOR_RULES,
    PHONE,
    headings_out_of_order,
    hidden_focus,
    offences,
    unnamed_pictures,
    width_of_content,
)
from .studio import StudioProcess, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .browser import Opened


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioProcess]:
    folder = tmp_path_factory.getbasetemp() / "matches"
    folder.mkdir()
    with StudioProcess(folder) as started:
        yield started


def check(opened: "Opened") -> None:
    """A page is for everybody: by axe, in the dark, by the keyboard, on a phone."""
    page = opened.page
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    assert offences(opened) == [], page.url
    page.emulate_media(color_scheme="dark")
    assert offences(opened, COLOR_RULES) == [], page.url
    page.emulate_media(color_scheme="light")
    assert unnamed_pictures(opened) == [], page.url
    assert headings_out_of_order(opened) == [], page.url
    assert hidden_focus(opened, 15) == [], page.url
    page.set_viewport_size({"width": PHONE, "height": 700})
    assert width_of_content(opened) <= PHONE, page.url
    page.set_viewport_size({"width": 1000, "height": 800})


def test_a_match_is_set_up_by_cards_watched_and_stopped(
    browser: "Browser", studio: StudioProcess
) -> None:
    opened = open_studio(browser, studio, "/match/new")
    page = opened.page
    page.get_by_label("Game", exact=True).select_option("go5")
    page.wait_for_url("**game=go5**")
    page.get_by_role("button", name="Remove player 2").click()
    page.get_by_role("button", name="Random moves").click()
    page.wait_for_url("**p2=random**")
    check(opened)
    page.get_by_label("Level", exact=True).select_option("playouts=50")
    page.locator("#games").fill("100000")
    page.get_by_text("About 100,000 games").wait_for()
    page.get_by_role("button", name="Settings of player 1").click()
    page.get_by_label("Policy").select_option("uniform")
    page.keyboard.press("Escape")
    page.locator("#p1-spec").get_by_text("policy=uniform").wait_for()
    page.get_by_role("button", name="Start the match").click()
    page.wait_for_url("**/match?path=matches**")
    page.locator(".duel").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").wait_for()
    check(opened)
    assert "of 100,000 games" in page.locator(".match-state").inner_text()
    page.get_by_role("link", name="log and command").click()
    page.get_by_role("button", name="Cancel").click()
    assert opened.complaints == []
