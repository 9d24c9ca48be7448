# SPDX-License-Identifier: Apache-2.0
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.register_assert_rewrite("e2e.browser")

from .browser import DESKTOP, Opened, Opening, open_in  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser


# A session would keep Playwright's event loop running under everybody else's tests.
@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A headless Chromium of the system's for a module; a test that asks without it skips."""
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs chromium")
    with driver.sync_playwright() as playwright:
        # Chromium has no sandbox where root or a container runs it.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: "Browser") -> Iterator[Opening]:
    """Open a file without a network; the test fails if a page complains or asks for more."""
    pages: list[Opened] = []

    def opening(
        path: Path, *, width: int = DESKTOP, scripts: bool = True, folder: bool = False
    ) -> Opened:
        pages.append(open_in(browser, path, width=width, scripts=scripts, folder=folder))
        return pages[-1]

    yield opening
    complaints = [complaint for opened in pages for complaint in opened.complaints]
    for opened in pages:
        opened.page.context.close()
    assert complaints == []
