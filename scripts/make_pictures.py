# SPDX-License-Identifier: Apache-2.0
"""Take the README's pictures of the demo's report anew, in the light and in the dark.

Needs playwright and Chromium. The demo's studies are kept in build/pictures: run again, the script
computes nothing twice.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, sync_playwright

from hyoka.demo import run_demo
from hyoka.report import write_report

ROOT: Final = Path(__file__).parents[1]
IMAGES: Final = ROOT / "docs" / "images"
WIDTH, HEIGHT = 960, 1080
SCALE: Final = 1.5  # dots to a pixel: sharp enough, and the file stays small


def main() -> None:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("pictures are taken by Chromium, which is not installed")
    folder = ROOT / "build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.html"
    write_report(run_demo(folder, jobs=os.cpu_count() or 1).go, report, splits=5)
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for light in ("light", "dark"):
            take(browser, report, light, IMAGES / f"report-{light}.png")
        browser.close()


def take(browser: Browser, page: Path, light: Literal["light", "dark"], to: Path) -> None:
    """Save the top of a page, once its charts are drawn."""
    window = browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=light, device_scale_factor=SCALE
    )
    window.goto(page.as_uri())
    window.wait_for_function("() => document.querySelector('[data-chart] svg') !== null")
    window.screenshot(path=to)
    print(f"{to.relative_to(ROOT)}: {to.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
