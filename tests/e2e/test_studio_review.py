# SPDX-License-Identifier: Apache-2.0
"""The review of a game in a real browser: it fills in, and the board follows keys and graph."""

from pathlib import Path
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
from .studio import StudioProcess, furnished, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_a_review_fills_in_and_the_board_follows(browser: "Browser", tmp_path: Path) -> None:
    folder = furnished(tmp_path / "folder")
    with StudioProcess(folder) as studio:
        opened = open_studio(browser, studio, "/review?path=games.pgn&with=ab:depth=2&pace=0")
        page = opened.page
        page.get_by_role("heading", name="Key moments").wait_for()
        assert page.locator("[data-place]").get_attribute("data-place") == "5"
        page.wait_for_selector('[data-place="5"] .bar-of-value .first')  # said at the end
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector('[data-place="4"]')
        assert "ply=4" in page.url
        assert page.locator("[data-moves] a[aria-current]").get_attribute("data-ply") == "4"
        box = page.locator(".graph svg").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 2, box["y"] + 10)
        page.wait_for_selector('[data-place="0"]')
        page.locator(".moments a").first.click()
        page.wait_for_selector('[data-place="3"] .better')
        assert offences(opened) == []
        page.emulate_media(color_scheme="dark")
        assert offences(opened, COLOR_RULES) == []
        assert unnamed_pictures(opened) == []
        assert headings_out_of_order(opened) == []
        assert hidden_focus(opened) == []
        page.set_viewport_size({"width": PHONE, "height": 800})
        assert width_of_content(opened) <= PHONE
        assert opened.complaints == []
        page.context.close()
