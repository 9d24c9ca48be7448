# SPDX-License-Identifier: Apache-2.0
"""Ten tasks in the studio, from Home, each in at most five clicks.

With HYOKA_PICTURES=FOLDER, the last screen of each task is kept there.
"""

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import hyoka as hk
from hyoka.records import record_text
from hyoka.records.samples import sample_path
from hyoka.study.evaluating import evaluate

from .browser import Opened
from .studio import StudioProcess, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

MOST_CLICKS = 5
SCREEN = 1280


@dataclass
class Task:
    """A window in which somebody clicks."""

    opened: Opened
    clicks: int = 0
    done: list[str] = field(default_factory=list)

    def click(self, name: str, role: str = "link", *, exact: bool = False) -> None:
        """Click something by its role and name."""
        target = self.opened.page.get_by_role(role, name=name, exact=exact).first  # type: ignore[arg-type]
        self.click_on(target, name)

    def click_on(self, target: "Locator", name: str) -> None:
        self.opened.page.wait_for_load_state()
        target.click()
        self.clicks += 1
        self.done.append(name)

    def choose(self, label: str, option: str) -> None:
        """Choose in a list: a click, and a choice by eye or letter."""
        self.opened.page.get_by_role("combobox", name=label, exact=True).select_option(label=option)
        self.clicks += 1
        self.done.append(f"{label}: {option}")

    def give(self, selector: str, file: Path) -> None:
        """Choose a file: a click, and the system's own window."""
        self.opened.page.set_input_files(selector, file)
        self.clicks += 1
        self.done.append(file.name)

    def see(self, text: str) -> None:
        """Wait until a text is seen."""
        self.opened.page.get_by_text(text).first.wait_for()

    def end(self, name: str) -> None:
        """At most five clicks and no complaint of the browser; keep a picture if wanted."""
        if folder := os.environ.get("HYOKA_PICTURES"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.opened.page.screenshot(path=Path(folder) / f"task-{name}.png")
        assert self.opened.complaints == []
        assert self.clicks <= MOST_CLICKS, self.done
        self.opened.page.context.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioProcess]:
    folder = tmp_path_factory.mktemp("tasks") / "games"
    folder.mkdir()
    records = list(itertools.islice(hk.read_records(sample_path("chess")), 40))
    (folder / "mine.pgn").write_text("\n".join(record_text(each, "pgn") for each in records))
    (folder / "one.pgn").write_text("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0")
    study = hk.Study.create(folder / "study", folder / "mine.pgn")
    evaluate(study, ["comments"])
    evaluate(study, ["ab:depth=1"], limit=300)
    plan = hk.plan_match("uct:playouts=5", "random", game="go5", max_plies=30)
    hk.play_match(plan, folder / "matches" / "first", games=2)
    with StudioProcess(folder) as running:
        running.folder = folder  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def task(browser: "Browser", studio: StudioProcess) -> Task:
    return Task(open_studio(browser, studio, width=SCREEN))


def test_review_a_game_and_take_it_along(task: Task, studio: StudioProcess) -> None:
    task.give("input[type=file] >> nth=0", studio.folder / "one.pgn")  # type: ignore[attr-defined]
    task.click("Review it", "button")
    task.see("accuracy")
    task.see("mean loss")
    page = task.opened.page
    with page.expect_download() as download:
        task.click("PGN")
    assert "1. " in Path(download.value.path()).read_text(encoding="utf-8")
    task.end("review")


def test_find_where_an_evaluator_is_wrong(task: Task) -> None:
    task.click("study", exact=True)
    task.click("Slices", exact=True)
    task.see("conditions tried")
    task.end("slices")


def test_see_a_curve(task: Task) -> None:
    task.click("study", exact=True)
    task.click("comments", exact=True)
    task.opened.page.get_by_role("img", name="Curves of").wait_for()
    task.end("curve")


def test_compare_two_evaluators(task: Task) -> None:
    task.click("study", exact=True)
    for number in (0, 1):
        task.click_on(task.opened.page.get_by_role("checkbox").nth(number), "an evaluator")
    task.click("Compare two", "button")
    task.see("Brier")
    task.end("compare")


def test_make_a_study_of_records(task: Task, studio: StudioProcess) -> None:
    task.give("input[type=file] >> nth=1", studio.folder / "mine.pgn")  # type: ignore[attr-defined]
    task.click("Make a study", "button")
    task.see("40 games")
    task.end("make-a-study")


def test_start_a_sequential_test_and_end_it(task: Task) -> None:
    task.click("New match")
    task.click("Until a sequential test", "radio")
    task.click("Start the match", "button")
    task.see("LLR")
    task.click("Stop", "button")
    task.end("sprt")


def test_look_at_a_game_of_a_match(task: Task) -> None:
    task.click("Match", exact=True)
    task.click("UCT, 5 playouts – Random")
    task.click("Open game")
    task.opened.page.locator("main svg").first.wait_for()
    task.end("match-game")


def test_play_against_a_search(task: Task) -> None:
    task.click("Play", exact=True)
    task.choose("Opponent", "Alpha-beta")
    task.choose("Level", "Beginner")
    task.click_on(
        task.opened.page.get_by_role("tabpanel").get_by_role("button", name="Play"), "Play"
    )
    task.end("play")


def test_analyze_a_position_live(task: Task) -> None:
    task.click("Board", exact=True)
    task.click_on(task.opened.page.get_by_text("Live analysis").first, "Live analysis")
    task.see("depth")
    task.click("Stop", "button")
    task.end("live")


def test_see_what_was_played_in_a_study(task: Task) -> None:
    task.click("Board", exact=True)
    task.click("New game", "tab")
    task.choose("Game", "Chess")
    task.click("Begin", "button")
    task.click("Explorer", "tab")
    task.opened.page.get_by_role("region", name="Moves played").get_by_text("e4").wait_for()
    task.end("explorer")
