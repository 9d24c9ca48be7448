# SPDX-License-Identifier: Apache-2.0
"""Pictures of what a tutorial's commands write, for the end of the tutorial.

Each tutorial is run as its page shows it, in a new folder; Chromium then takes the page that it
wrote, in the light and in the dark, as WebP.
"""

import base64
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, Literal, NamedTuple

from playwright.sync_api import Browser, Page

TUTORIALS: Final = Path(__file__).parents[1] / "docs" / "tutorials"
BLOCK: Final = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SCALE: Final = 1.3
QUALITY: Final = 0.8
PATIENCE_MS: Final = 60_000
MARGIN: Final = 24
TO_WEBP: Final = """
async ([png, quality]) => {
    const bitmap = await createImageBitmap(await (await fetch(png)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    const blob = await canvas.convertToBlob({type: "image/webp", quality});
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
}
"""


class Picture(NamedTuple):
    """The page that a tutorial writes, and the part of it to show."""

    page: str
    until: str
    """The picture ends below the first element of this CSS selector."""
    hide: str = ""
    """CSS selector of what is left out."""
    width: int = 900


BOARD_TEXT: Final = "figure details"
WIDE: Final = 1280
"""Width of a report whose contents stand beside it."""
REPORT_HEAD: Final = (
    ".part-1, .findings .cards li:nth-child(n + 4), .findings > ul:not(.cards), "
    f".explorer select, .explorer button, .explorer label, {BOARD_TEXT}"
)
PICTURES: Final = {
    "first-study": Picture("study/report.html", ".explorer", REPORT_HEAD, WIDE),
    "chess-engine": Picture("study/report.html", ".explorer", REPORT_HEAD, WIDE),
    "go-research": Picture("curves.html", "figure", "nav, main p"),
    "shogi-engine": Picture(
        "games/report.html",
        ".part-7",
        f"nav, .part-2, .part-3, .part-4, .part-5, .part-6, {BOARD_TEXT}",
    ),
    "new-game": Picture(
        "tree.html", ".part-3", f"nav, .part-2, .part-1 details details, {BOARD_TEXT}"
    ),
}
"""The picture of each tutorial."""


def take_tutorials(browser: Browser, folder: Path, images: Path) -> None:
    """Run each tutorial in a new subfolder of `folder`, and save its pictures."""
    for name, picture in PICTURES.items():
        run_tutorial(name, folder / name)
        take_tutorial(browser, name, picture, folder / name, images)


def run_tutorial(name: str, folder: Path) -> None:
    """Run a tutorial's shell lines, except make, and then its Python blocks as one program."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    blocks = BLOCK.findall((TUTORIALS / f"{name}.md").read_text(encoding="utf-8"))
    lines = [line for kind, code in blocks if kind == "sh" for line in code.splitlines()]
    shell = "\n".join(line for line in lines if line.startswith("hyoka"))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-e"], input=shell, text=True, cwd=folder, env=environment, check=True)
    if not shell:
        program = "\n".join(code for kind, code in blocks if kind == "python")
        (folder / "tutorial.py").write_text(program, encoding="utf-8")
        subprocess.run([sys.executable, "tutorial.py"], cwd=folder, check=True)


def take_tutorial(
    browser: Browser, name: str, picture: Picture, folder: Path, images: Path
) -> None:
    """Save the picture of a tutorial that has run, in the light and in the dark."""
    for light in ("light", "dark"):
        file = images / f"tutorial-{name}-{light}.webp"
        file.write_bytes(_webp(browser, folder / picture.page, picture, light))
        print(f"{file.name}: {file.stat().st_size // 1024} KiB")


def _webp(browser: Browser, page: Path, picture: Picture, light: Literal["light", "dark"]) -> bytes:
    window = browser.new_page(
        viewport={"width": picture.width, "height": 1200},
        color_scheme=light,
        device_scale_factor=SCALE,
    )
    window.set_default_timeout(PATIENCE_MS)
    window.goto(page.resolve().as_uri())
    if picture.hide:
        window.add_style_tag(content=f"{picture.hide} {{ display: none }}")
    last = window.locator(picture.until).first
    last.locator("xpath=descendant-or-self::*[name()='svg']").first.wait_for()
    box = last.bounding_box()
    assert box is not None
    png = window.screenshot(
        full_page=True,
        clip={
            "x": 0,
            "y": 0,
            "width": picture.width,
            "height": box["y"] + box["height"] + MARGIN,
        },
    )
    window.close()
    return _converted(browser.new_page(), png)


def _converted(window: Page, png: bytes) -> bytes:
    data = "data:image/png;base64," + base64.b64encode(png).decode()
    webp = base64.b64decode(window.evaluate(TO_WEBP, [data, QUALITY]))
    window.close()
    return webp
