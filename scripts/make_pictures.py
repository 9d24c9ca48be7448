# SPDX-License-Identifier: Apache-2.0
"""Take the pictures of the report, the studio and the tutorials, in the light and in the dark.

Needs playwright and Chromium. The demo's studies stay in build/pictures, so the next run reuses
them.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, sync_playwright

from hyoka.reporting.study_report import ReportOptions, write_report
from hyoka.workflows.demo import run_demo
from studio_pictures import take_studio
from tutorial_pictures import take_tutorials

ROOT: Final = Path(__file__).parents[1]
IMAGES: Final = ROOT / "docs" / "images"
WIDTH, HEIGHT, MARGIN = 1280, 1200, 24
SCALE: Final = 1.0  # dots to a pixel: sharp enough, and the file stays small
PATIENCE_MS: Final = 120_000
# What stands before the curves, but for the contents and the first findings.
LEFT_OUT: Final = (
    ".part-1, .findings .cards li:nth-child(n + 4), .findings > ul:not(.cards) { display: none }"
)


def main() -> None:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("pictures are taken by Chromium, which is not installed")
    folder = ROOT / "build" / "pictures" / "my-games"
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.html"
    found = run_demo(folder, jobs=os.cpu_count() or 1)
    write_report(found.go, report, ReportOptions(evaluators=list(found.engines.values())))
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for light in ("light", "dark"):
            take(browser, report, light, IMAGES / f"report-{light}.png")
        take_studio(browser, folder, IMAGES)
        take_tutorials(browser, folder.parent / "tutorials", IMAGES)
        browser.close()


def take(browser: Browser, page: Path, light: Literal["light", "dark"], to: Path) -> None:
    """Save a report's findings and curves, with boards, once they are drawn."""
    window = browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=light, device_scale_factor=SCALE
    )
    window.set_default_timeout(PATIENCE_MS)
    window.goto(page.as_uri())
    window.add_style_tag(content=LEFT_OUT)
    curves = window.locator(".explorer").first
    curves.locator(".chart svg").wait_for()
    box = curves.bounding_box()
    assert box is not None
    window.screenshot(
        path=to,
        full_page=True,
        clip={"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + MARGIN},
    )
    print(f"{to.relative_to(ROOT)}: {to.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
