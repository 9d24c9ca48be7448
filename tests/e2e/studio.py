# SPDX-License-Identifier: Apache-2.0
"""A studio as a process of its own, and pages of it in a browser or by hand."""

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlencode

import hyoka as hk
from hyoka.storage.model_file import ModelFile
from hyoka.study.evaluating import evaluate

from .browser import DESKTOP, Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

HOSTILE = "<script>alert(1)</script>"


class StudioProcess:
    """`hyoka studio` on a folder; the same port again when it is started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self._port = 0
        self._runs: list[str] = []
        self.start()

    def start(self) -> None:
        """Start it, and wait for its address."""
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "hyoka", "studio", str(self._folder), "--no-browser"),
                *("--port", str(self._port), *self._options),
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"XDG_STATE_HOME": str(self._folder.parent / "state")},
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().split()[-1]
        self.origin, self.token = self.address.split("/?token=")
        self._port = int(self.origin.rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it as Ctrl-C would; gives its exit status."""
        return self._end(signal.SIGINT)

    def _end(self, number: int) -> int:
        self._process.send_signal(number)
        status = self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            # Runs outlive a studio, and those of a test that failed would go on for hours.
            for place in self._runs:
                with contextlib.suppress(AssertionError, OSError, http.client.HTTPException):
                    self.post(f"{place}/cancel", {"x": "1"})
            self.kill()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)

    def headers(self) -> dict[str, str]:
        """Those of a page of its own."""
        return {"Cookie": f"hyoka-studio-{self._port}={self.token}", "Origin": self.origin}

    def get(self, path: str) -> str:
        """A page, which must be there."""
        connection = self.connect()
        connection.request("GET", path, headers=self.headers())
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200, (path, answer.status, text[:500])
        return text

    def post(self, path: str, values: Mapping[str, str]) -> str:
        """Where an order leads to."""
        connection = self.connect()
        headers = self.headers() | {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", path, urlencode(values), headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 303, (path, answer.status)
        place = answer.headers["location"]
        if path == "/runs":
            self._runs.append(place)
        return place

    def state(self, number: int) -> str:
        """The state of a run, as its page says."""
        found = re.search(r'<span class="tag [a-z]*">([a-z]+)<', self.get(f"/runs/{number}"))
        assert found is not None
        return found[1]


def open_studio(
    browser: "Browser", studio: StudioProcess, path: str = "/", *, width: int = DESKTOP
) -> Opened:
    """A page of a studio in a window of its own, which may ask nobody else for anything."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme="light")
    context.set_default_timeout(60_000)
    opened = Opened(context.new_page())

    def judge(route: "Route") -> None:
        if route.request.url.startswith((studio.origin + "/", "data:")):
            route.continue_()
        else:
            opened.complaints.append(f"asks for {route.request.url}")
            route.abort()

    context.route("**/*", judge)
    opened.page.on(
        "console",
        lambda said: opened.complaints.append(f"{said.type}: {said.text} {said.location['url']}"),
    )
    opened.page.on("pageerror", lambda error: opened.complaints.append(f"error: {error}"))
    opened.page.goto(studio.address)
    if path != "/":
        opened.page.goto(studio.origin + path)
    return opened


def furnished(folder: Path) -> Path:
    """A folder with something of every kind, and names that would like to be markup."""
    folder.mkdir(exist_ok=True)
    records = folder / "games.pgn"
    records.write_text(
        f'[White "{HOSTILE}"]\n[Black "b"]\n[Result "1-0"]\n\n'
        "1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Qh5 Ke7 3. Qxe5# 1-0\n"
    )
    study = hk.Study.create(folder / "a study", records=[records])
    evaluate(study, ["comments"])
    plan = hk.plan_match(f"{HOSTILE}=random", "b=random", game="go5", max_plies=20)
    hk.play_match(plan, folder / "matches" / "short", games=2)
    weights = {"game": "othello", "weights": {"mobility": 1}}
    ModelFile.of("weights", weights).save(folder / "weights.json")
    return folder
