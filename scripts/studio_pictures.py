# SPDX-License-Identifier: Apache-2.0
"""Pictures of the studio's rooms for the docs, on the folder of the demo."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Final, Literal, NamedTuple

from playwright.sync_api import Browser

WIDTH, HEIGHT = 1280, 800
SCALE: Final = 1.0
PATIENCE_MS: Final = 60_000
SETTLED_S: Final = 1.5  # until what a page asks for has come
THOUGHT_S: Final = 4.5  # how long an analysis thinks
PLAYERS: Final = "uct:playouts=60\nmc:playouts=400"


class Picture(NamedTuple):
    """Where a picture is taken, and what is waited for."""

    place: str
    wait_for: str = ""
    """A selector of what has to come first."""


ROOMS: Final = {
    "home": Picture("/"),
    "board": Picture(
        "/board?game=chess&moves=e2e4+e7e5+g1f3+b8c6+f1b5+a7a6+b5a4+g8f6&live=1", ".move-lines"
    ),
    "review": Picture("/review?path=matches/small/games.sgf&number=0&ply=40", ".bad-moves"),
    "study": Picture("/study?path=go9&view=curves&at=comments&low=0.525&high=0.725"),
    "match": Picture("/match?path=matches/small"),
}
"""The rooms that have a picture."""


def take_studio(browser: Browser, folder: Path, images: Path, *, games: int = 40) -> None:
    """Save a picture of each room, in the light and in the dark."""
    play = ["match", "run", *PLAYERS.split("\n"), "--game", "go9", "--games", str(games)]
    hyoka = [sys.executable, "-m", "hyoka"]
    subprocess.run([*hyoka, *play, "--output", "matches/small", "--quiet"], cwd=folder, check=True)
    studio = [*hyoka, "studio", "--no-browser", "--port", "0"]
    with subprocess.Popen(studio, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            for light in ("light", "dark"):
                _take(browser, address, light, images)
        finally:
            server.terminate()


def _take(browser: Browser, address: str, light: Literal["light", "dark"], images: Path) -> None:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=light, device_scale_factor=SCALE
    )
    context.set_default_timeout(PATIENCE_MS)
    window = context.new_page()
    window.goto(address)
    for name, picture in ROOMS.items():
        window.goto(address.partition("/?")[0] + picture.place)
        time.sleep(SETTLED_S)
        window.wait_for_function("() => !document.querySelector('.htmx-request')")
        if picture.wait_for:
            window.wait_for_selector(picture.wait_for)
            time.sleep(THOUGHT_S)
        time.sleep(SETTLED_S)
        file = images / f"studio-{name}-{light}.png"
        window.screenshot(path=file)
        print(f"{file.name}: {file.stat().st_size // 1024} KiB")
    context.close()
