# SPDX-License-Identifier: Apache-2.0
"""Study, Match and Learning in a real browser: without a mouse, on a phone, in the dark."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import numpy as np

import hyoka as hk
from hyoka.storage.model_file import ModelFile
from hyoka.study.evaluating import evaluate

from .browser import (
    COLOR_RULES,
    PHONE,
    Opened,
    headings_out_of_order,
    hidden_focus,
    offences,
    unnamed_pictures,
    width_of_content,
)
from .studio import HOSTILE, StudioProcess, open_studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STUDY = "/study?path=study"
CURVES = STUDY + "&view=curves&engine=comments"
PAGES = [
    "/study",
    STUDY,
    CURVES + "&where=ply+%3E+2&at=comments&low=-50.0&high=50.0",
    STUDY + "&view=slices",
    STUDY + "&view=games",
    "/study/game?path=study&game=0&ply=2",
    "/match",
    "/match?path=match",
    "/match?path=match&view=games",
    "/match?path=match&view=report",
    "/learning",
    "/learning?path=weights.json",
]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioProcess]:
    folder = tmp_path_factory.getbasetemp() / "rooms"
    folder.mkdir()
    rng = np.random.default_rng(3)
    pawns = [f"{file}{steps}" for file in "abcdegh" for steps in (3, 4)]
    games = []
    for number in range(150):
        won = rng.random() < 0.5
        said = [f"{{[%eval {v:.2f}]}}" for v in rng.normal(0.8 if won else -0.8, 1.2, 4)]
        one, other = pawns[number % 14], pawns[number // 14]
        white = HOSTILE if number == 0 else f"player {number % 5}"
        games.append(
            f'[White "{white}"]\n[Black "b"]\n[Result "{"1-0" if won else "0-1"}"]\n\n1. {one} '
            f"{said[0]} {other[0]}{9 - int(other[1])} {said[1]} 2. Nf3 {said[2]} Nf6 {said[3]} "
            f"{'1-0' if won else '0-1'}\n"
        )
    (folder / "games.pgn").write_text("\n".join(games))
    evaluate(hk.Study.create(folder / "study", records=[folder / "games.pgn"]), ["comments"])
    plan = hk.plan_match(f"{HOSTILE}=random", "b=random", game="go5", max_plies=20)
    hk.play_match(plan, folder / "match", games=2)
    weights = {"game": "othello", "weights": {"mobility": 1, HOSTILE: 2}}
    ModelFile.of("weights", weights).save(folder / "weights.json")
    with StudioProcess(folder) as started:
        yield started


def settle(opened: Opened) -> None:
    """Until what the page asks for is there."""
    opened.page.wait_for_function("() => !document.querySelector('.loading, .htmx-request')")


def test_pages_are_for_everybody(browser: "Browser", studio: StudioProcess) -> None:
    opened = open_studio(browser, studio)
    opened.page.emulate_media(reduced_motion="reduce")  # what fades has no contrast meanwhile
    for path in PAGES:
        opened.page.goto(studio.origin + path)
        settle(opened)
        assert offences(opened) == [], path
        opened.page.emulate_media(color_scheme="dark")
        assert offences(opened, COLOR_RULES) == [], path
        opened.page.emulate_media(color_scheme="light")
        assert unnamed_pictures(opened) == [], path
        assert headings_out_of_order(opened) == [], path
        assert hidden_focus(opened, 15) == [], path
        opened.page.set_viewport_size({"width": PHONE, "height": 700})
        assert width_of_content(opened) <= PHONE, path
        opened.page.set_viewport_size({"width": 1000, "height": 800})
    assert opened.complaints == []


def test_a_condition_is_checked_while_typing(browser: "Browser", studio: StudioProcess) -> None:
    opened = open_studio(browser, studio, CURVES)
    settle(opened)
    page = opened.page
    page.get_by_role("button", name="SQL").click()
    page.keyboard.type("first_to")
    offer = page.get_by_role("option", name="first_to_play")
    offer.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value("#where") == "first_to_play"
    page.locator(".gaps").get_by_text("Level").wait_for()
    page.wait_for_url("**where=first_to_play**")
    page.reload()
    settle(opened)
    assert page.input_value("#where") == "first_to_play"
    page.locator(".gaps").get_by_text("Level").wait_for()
    # Another tab at the same address shows the same, whatever is typed in the first.
    other = open_studio(browser, studio, page.url.removeprefix(studio.origin))
    settle(other)
    page.get_by_role("button", name="SQL").click()
    page.fill("#where", "first_to_play and ply > 1 + 0")
    page.locator(".gaps").get_by_text("and ply > 1 + 0").wait_for()
    assert other.page.locator(".gaps code").inner_text() == "first_to_play"
    assert other.complaints == []
    assert opened.complaints == []
    page.get_by_role("button", name="Rows").click()
    page.get_by_text("Rows cannot say this").wait_for()
    page.fill("#where", "no_such_column = 1")
    page.locator("#problem .error").wait_for()
    assert "no_such_column" in page.locator("#problem .error").inner_text()
    assert page.locator("#answer .gaps").is_visible(), "what stood there stays"


SAMPLES = [
    ("ply >= 2 and not first_to_play", "ply >= 2 and not first_to_play"),
    ("PLY<3 AND first_to_play", "ply < 3 and first_to_play"),
    ("ply > 2 and rules <> ''", None),
    ("contains(rules, 'it''s')", "contains(rules, 'it''s')"),
    ('"a ""b"" <i>" != -1.5e3', '"a ""b"" <i>" <> -1.5e3'),
    ("ply > 2 or ply < 1", None),
    ("ply > 1 + 1", None),
    ("not ply = 1", None),
    ("ply > 'x'", None),
    ("unknown = 1", None),
    ("", ""),
]
"""Conditions, and what rows of them write; None if rows cannot say them."""


def test_a_condition_is_built_by_keys(browser: "Browser", studio: StudioProcess) -> None:
    opened = open_studio(browser, studio, CURVES)
    settle(opened)
    page = opened.page
    page.get_by_role("button", name="+ Condition").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("ply")
    page.get_by_label("Operator of condition 1").wait_for()
    page.get_by_label("Value of condition 1").focus()
    page.wait_for_selector("#values-1 option[value='4']", state="attached")
    page.keyboard.type("two")
    page.get_by_text("ply is compared with a number, not with “two”").wait_for()
    page.get_by_label("Value of condition 1").fill("2")
    page.locator(".gaps code", has_text="ply >= 2").wait_for()
    page.get_by_role("button", name="+ Condition").click()
    page.get_by_label("Column of condition 2").select_option("first_to_play")
    page.locator(".gaps code", has_text="ply >= 2 and first_to_play").wait_for()
    assert offences(opened) == []
    page.reload()
    settle(opened)
    assert page.get_by_label("Column of condition 2").input_value() == "first_to_play"
    page.get_by_role("button", name="Remove condition 1").click()
    page.wait_for_url("**where=first_to_play*")
    written = opened.page.evaluate(
        """async (texts) => {
            const {fromSql, toSql} = await import("/static/study/condition.js");
            const columns = new Map([["ply", "number"], ["first_to_play", "boolean"],
                ["rules", "text"], ['a "b" <i>', "number"]]);
            return texts.map((text) => {
                const terms = fromSql(text, columns);
                return terms && toSql(terms, columns);
            });
        }""",
        [text for text, _ in SAMPLES],
    )
    assert written == [said for _, said in SAMPLES]
    assert opened.complaints == []


def test_a_range_is_brushed_or_chosen_by_keys(browser: "Browser", studio: StudioProcess) -> None:
    opened = open_studio(browser, studio, STUDY)
    page = opened.page
    page.get_by_role("img", name="Curve of comments").wait_for()
    for direction in ("descending", "ascending"):
        page.get_by_role("button", name="Accuracy").click()
        page.locator(f'th[aria-sort="{direction}"]').wait_for()
    page.get_by_role("checkbox", name="Choose comments").check()
    page.get_by_role("button", name="Curves of the chosen").click()
    page.wait_for_url("**engine=comments**")
    assert page.get_by_role("checkbox", name="comments").is_checked()
    settle(opened)
    plot = page.locator("svg.plot")
    place = plot.bounding_box()
    assert place is not None
    middle = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + place["width"] * 0.4, middle)
    page.locator("[data-legend='0'] [data-share]", has_text="%").wait_for()
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.7, middle, steps=3)
    page.mouse.up()
    page.locator("#range .to-game").first.wait_for()
    page.wait_for_url("**at=comments&low=**")
    settle(opened)
    assert offences(opened) == []
    page.reload()
    settle(opened)
    brushed = page.locator("#range h2").inner_text()
    assert page.locator(".brush").get_attribute("width") != "0"
    page.locator(".curve-chart").focus()
    for key in ("Home", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function(
        "(text) => document.querySelector('#range h2').innerText !== text", arg=brushed
    )
    assert page.evaluate("document.activeElement.id") == "range"
    chosen = page.locator("#range h2").inner_text()
    page.get_by_role("button", name="+ Condition").click()
    page.get_by_label("Column of condition 1").select_option("first_to_play")
    page.locator("#range .code", has_text="first_to_play").wait_for()
    assert page.locator("#range h2").inner_text() == chosen, "the range stays"
    page.locator(".curve-chart").focus()
    page.keyboard.press("Escape")
    page.get_by_text("Drag over the chart").wait_for()
    assert "low=" not in page.url
    assert opened.complaints == []


def test_a_point_leads_to_boards_and_they_to_games(
    browser: "Browser", studio: StudioProcess
) -> None:
    opened = open_studio(browser, studio, CURVES)
    settle(opened)
    page = opened.page
    page.locator("#answer svg.plot circle").first.click()
    page.locator("#range .to-game").first.click()
    page.wait_for_url("**/study/game**")
    place = page.locator("[data-place]")
    page.keyboard.press("Home")
    page.wait_for_selector('[data-place="0"]')
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('[data-place="1"]')
    page.keyboard.press("End")
    page.wait_for_selector('[data-place="4"]')
    page.reload()
    assert place.get_attribute("data-place") == "4"
    page.get_by_role("link", name="Back to the study").click()
    page.locator("#range .to-game").first.wait_for()
    page.go_back()
    place.get_by_role("link", name="Play on, analyze").click()
    page.wait_for_url("**/board?**")
    assert opened.complaints == []


def test_a_match_is_watched_while_it_is_played(
    browser: "Browser", studio: StudioProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    opened = open_studio(browser, studio, "/match?path=match")
    page = opened.page
    page.locator(".duel").get_by_text("+").first.wait_for()
    assert page.get_by_text("Game 1:").count() == 1
    plan = hk.plan_match(f"{HOSTILE}=random", "b=random", game="go5", max_plies=20)
    hk.play_match(plan, tmp_path_factory.getbasetemp() / "rooms" / "match", games=4)
    page.get_by_text("Game 3:").wait_for()
    page.get_by_role("link", name="From the start").click()
    page.wait_for_selector('[data-place="0"]')
    assert opened.complaints == []
