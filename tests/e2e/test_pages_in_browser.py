# SPDX-License-Identifier: Apache-2.0
"""Our pages as a reader meets them: in a browser, from a file, without a network."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import pytest

import hyoka as hk
from hyoka.reporting import (
    INK,
    PICKED,
    Board,
    Boards,
    Card,
    Chart,
    Details,
    Explorer,
    Page,
    Pick,
    Section,
    Table,
    write_page,
)
from hyoka.reporting.match_report import write_match_report
from hyoka.reporting.search_tree import write_tree
from hyoka.search import search_tree
from unit.reporting.test_match_report import played_games

from .browser import DESKTOP, PHONE, Opened, Opening, check_page, open_in, style

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVALUATORS = ("uct with 10,000 playouts", "ab with a depth of 4", "comments in the records")
HOSTILE = "</script><img src=x onerror=alert(1)>&amp;'\""
BINS = 5


@cache
def board(seed: int) -> Board:
    line = hk.position("go5").line()
    while line.outcome is None and len(line) < 12:
        line = line.play(line.random_move(100 * seed + len(line)))
    return Board(hk.diagram(line), f"Board {seed}")


def curves() -> Any:
    """A line an evaluator, with points to pick, above a strip of counts."""
    rows = [
        {"series": name, "x": (b + 0.5) / BINS, "y": (b + 1) / 10 + n / 4, "pick": f"{n} {b}"}
        for n, name in enumerate(EVALUATORS)
        for b in range(BINS)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(color="series:N")
    across = alt.X("x:Q", title="value", scale=alt.Scale(domain=[0, 1]))
    up = alt.Y("y:Q", title="win probability", scale=alt.Scale(domain=[0, 1]))
    is_picked = alt.datum.pick == PICKED
    points = base.mark_point().encode(
        x=across,
        y=up,
        stroke=alt.when(is_picked).then(alt.value(INK)).otherwise(alt.value("transparent")),
        tooltip=[alt.Tooltip("series:N", title=" "), alt.Tooltip("y:Q", title="won", format=".0%")],
    )
    strip = base.mark_bar(size=4).encode(x=across, y=alt.Y("y:Q", title="n", stack=None))
    return (
        alt.vconcat(
            alt.layer(base.mark_line().encode(x=across, y=up), points).properties(
                width="container", height=200
            ),
            strip.properties(width="container", height=40),
        )
        .resolve_scale(x="shared")
        .add_params(PICKED)
    )


def bars() -> Any:
    data = alt.InlineData(values=[{"name": HOSTILE, "games": 3}, {"name": "b", "games": 5}])
    return (
        alt.Chart(data)
        .mark_bar()
        .encode(x="games:Q", y=alt.Y("name:N", title=None), tooltip=["name:N", "games:Q"])
        .properties(width="container", height=60)
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    picks = tuple(
        Pick(
            f"{n} {b}",
            f"bin {b}",
            f"{10 * n + b} games.",
            tuple(board(10 * n + b + i) for i in range(4)),
            name,
        )
        for n, name in enumerate(EVALUATORS)
        for b in range(BINS)
    )
    table = Table("Counts of a long name", ("what", "how many"), (("games", "10"),))
    page = Page(
        "A page with everything",
        "For the browser",
        (
            Card("It works.", "Result", Chart(bars(), "Small"), "More"),
            Card("On a board.", picture=board(1)),
            "Mostly.",
        ),
        (
            Section(
                "Curves",
                ("Pick a point.",),
                (
                    Explorer(Chart(curves(), "Values and results"), picks, shown="0 1"),
                    Details("Numbers", ("All.",), (table, Chart(bars(), "Folded away"))),
                ),
            ),
            Section(
                "More",
                (),
                (
                    Chart(bars(), "Left", narrow=True),
                    Chart(bars(), "Right", narrow=True),
                    Boards((board(1), board(2))),
                    table,
                ),
            ),
        ),
        ("Carefully.",),
    )
    file = tmp_path_factory.mktemp("page") / "page.html"
    write_page(page, file)
    return file


@pytest.fixture(scope="module")
def kept_open(browser: "Browser", path: Path) -> Iterator[Opened]:
    opened = open_in(browser, path, width=DESKTOP, scripts=True)
    yield opened
    opened.page.context.close()


@pytest.fixture
def opened(kept_open: Opened) -> Iterator[Opened]:
    """The page as a reader has it on a desk, the second pick shown; opened once for all tests."""
    page = kept_open.page
    page.emulate_media(media="screen", color_scheme="light")
    page.mouse.move(0, 0)
    page.locator("select").select_option(index=1)
    yield kept_open
    assert kept_open.complaints == []


def point(opened: Opened, pick: str) -> tuple[float, float]:
    """Where in the window the middle of a pick's point is."""
    number = BINS * int(pick[0]) + int(pick[2])
    shape = opened.page.locator(".explorer .mark-symbol.role-mark path").nth(number)
    shape.scroll_into_view_if_needed()
    box = shape.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def shown(opened: Opened) -> tuple[str, list[str]]:
    """The words and the boards' words that are to be seen below the chart."""
    region = opened.page.locator(".picked")
    return region.locator("p").inner_text(), region.locator("figcaption").all_inner_texts()


def expect(opened: Opened, pick: str) -> None:
    series, number = int(pick[0]), int(pick[2])
    first = 10 * series + number
    opened.page.wait_for_function(
        "(text) => document.querySelector('.picked').innerText.includes(text)", arg=f"{first} games"
    )
    assert shown(opened) == (
        f"{EVALUATORS[series]}: bin {number}. {first} games.",
        [f"Board {first + i}" for i in range(4)],
    )
    chosen = opened.page.locator("select").evaluate("(list) => list.selectedIndex")
    assert chosen == BINS * series + number
    rings = opened.page.locator('.explorer .mark-symbol.role-mark path[stroke="var(--ink)"]')
    assert rings.count() == 1
    points = opened.page.locator(".explorer .mark-symbol.role-mark path")
    strokes = points.evaluate_all("(all) => all.map((point) => point.getAttribute('stroke'))")
    assert strokes.index("var(--ink)") == chosen


def test_a_page_is_well_made(path: Path, open_page: Opening) -> None:
    check_page(path, open_page)


def test_the_report_of_a_match_is_well_made(tmp_path: Path, open_page: Opening) -> None:
    write_match_report(
        tmp_path / "match.html", "A match", played_games(20), ["uct with a long name", HOSTILE]
    )
    check_page(tmp_path / "match.html", open_page)


def test_a_tree_opens_and_closes_by_keyboard_and_without_scripts(
    tmp_path: Path, open_page: Opening
) -> None:
    tree = search_tree(hk.Othello(), "uct:playouts=150", least=8)
    write_tree(tree, tmp_path / "tree.html")
    check_page(tmp_path / "tree.html", open_page)
    page = open_page(tmp_path / "tree.html", scripts=False).page
    opened = page.locator(".outline details[open]")
    before = opened.count()
    page.locator("details:not([open]) > summary.row:visible").first.focus()
    page.keyboard.press("Enter")
    assert opened.count() == before + 1
    page.keyboard.press("Enter")
    assert opened.count() == before


def test_a_click_on_a_mark_shows_its_boards(opened: Opened) -> None:
    for pick in ("2 3", "0 0"):
        opened.page.mouse.click(*point(opened, pick))
        expect(opened, pick)


def test_a_click_near_a_mark_is_enough(opened: Opened) -> None:
    x, y = point(opened, "1 2")
    opened.page.mouse.click(x + 9, y + 9)
    expect(opened, "1 2")


def test_a_click_far_from_all_marks_changes_nothing(opened: Opened) -> None:
    x, y = point(opened, "2 0")
    opened.page.mouse.click(x, y - 60)
    opened.page.wait_for_timeout(50)
    expect(opened, "0 1")


def test_marks_of_the_chart_below_can_be_picked_too(opened: Opened) -> None:
    drawn = opened.page.locator(".explorer .mark-rect.role-mark path").nth(2 * BINS + 4)
    drawn.scroll_into_view_if_needed()
    bar = drawn.bounding_box()
    assert bar is not None
    opened.page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + 2)
    expect(opened, "2 4")


def test_a_phone_shows_boards_and_values(path: Path, open_page: Opening) -> None:
    opened = open_page(path, width=PHONE)
    expect(opened, "0 1")
    check_tip(opened, PHONE)
    x, y = point(opened, "1 3")
    opened.page.mouse.click(x, y + 8)
    expect(opened, "1 3")


def test_the_keyboard_is_enough(opened: Opened) -> None:
    choice = opened.page.get_by_label("Click into the chart, or choose here:")
    choice.focus()
    opened.page.keyboard.press("ArrowDown")
    expect(opened, "0 2")
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    expect(opened, "0 1")
    opened.page.keyboard.press("Tab")
    for _ in range(4):
        opened.page.keyboard.press("Space")
    expect(opened, "1 0")


def test_the_first_follows_the_last(opened: Opened) -> None:
    previous, following = (opened.page.get_by_role("button", name=n) for n in ("Previous", "Next"))
    previous.click(click_count=2)
    expect(opened, "2 4")
    following.click()
    expect(opened, "0 0")


def test_picks_are_announced_to_screen_readers(opened: Opened) -> None:
    assert opened.page.locator(".picked").get_attribute("aria-live") == "polite"
    boards = opened.page.locator(".picked").get_by_role("img")
    assert boards.count() == 4
    assert "Go 5x5" in str(boards.first.get_attribute("aria-label"))
    assert opened.page.get_by_role("img", name="Values and results").count() == 1


def check_tip(opened: Opened, width: int) -> None:
    tip = opened.page.locator(".tip")
    assert not tip.is_visible()
    opened.page.mouse.move(*point(opened, "1 4"))
    tip.wait_for(state="visible")
    assert tip.inner_text().split("\n")[-3:] == [EVALUATORS[1], "won", "75%"]
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    opened.page.mouse.move(2, 2)
    tip.wait_for(state="hidden")


def test_the_pointer_shows_values(opened: Opened) -> None:
    check_tip(opened, DESKTOP)


def test_hostile_values_are_shown_as_they_are(opened: Opened) -> None:
    opened.page.locator(".charts .mark-rect.role-mark path").first.hover()
    assert HOSTILE in opened.page.locator(".tip").inner_text()
    assert opened.page.locator(".tip img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_values_can_be_read_in_both_lights(opened: Opened, scheme: Any) -> None:
    opened.page.emulate_media(color_scheme=scheme)
    for name in ("color", "background-color"):
        assert style(opened, ".tip", name) == style(opened, "body", name)


def test_charts_above_one_another_are_as_wide_as_the_page(opened: Opened) -> None:
    for width in (DESKTOP, 500, DESKTOP):
        opened.page.set_viewport_size({"width": width, "height": 800})
        opened.page.wait_for_function(
            """() => {
                const box = document.querySelector(".explorer .chart");
                const drawn = Number(box.querySelector("svg").getAttribute("width"));
                return Math.abs(drawn - box.clientWidth) <= 2;
            }"""
        )
    frame = ".explorer .concat_{}_group > g > .background"
    above, below = (opened.page.locator(frame.format(n)).bounding_box() for n in (0, 1))
    assert above is not None
    assert below is not None
    assert (above["x"], above["width"]) == (below["x"], below["width"])


def test_folded_charts_are_drawn_when_they_are_opened(opened: Opened) -> None:
    chart = opened.page.locator("details [data-chart]")
    assert chart.locator("svg").count() == 0
    opened.page.get_by_text("Numbers", exact=True).click()
    opened.wait_for_charts()
    box = chart.locator("svg").bounding_box()
    assert box is not None
    assert box["width"] > 500


def test_without_scripts_the_first_boards_are_there(path: Path, open_page: Opening) -> None:
    opened = open_page(path, scripts=False)
    assert [text for text in shown(opened)[1] if text] == [f"Board {n}" for n in (1, 2, 3, 4)]
    assert opened.page.locator(".boards svg").first.is_visible()
    assert not opened.page.locator(".choice").is_visible()
    assert opened.page.locator("noscript").first.is_visible()


def test_paper_has_what_is_picked_and_nothing_to_click(opened: Opened) -> None:
    opened.page.emulate_media(color_scheme="dark")
    opened.page.mouse.click(*point(opened, "2 2"))
    expect(opened, "2 2")
    opened.page.emulate_media(media="print")
    assert opened.page.locator(".picked svg").count() == 4
    assert opened.page.locator(".picked svg").first.is_visible()
    for selector in (".choice", "nav", ".tip"):
        assert not opened.page.locator(selector).is_visible()
    assert style(opened, "body", "color") == "rgb(28, 30, 33)"


def test_links_lead_to_their_places(opened: Opened) -> None:
    opened.page.get_by_role("navigation").get_by_role("link", name="More").click()
    assert opened.page.evaluate("() => window.scrollY") > 200
    contents = opened.page.get_by_role("navigation")
    contents.locator("a[aria-current]", has_text="More").wait_for()
    box = contents.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 100  # it stays where the reader is
    opened.page.get_by_role("link", name="To the top").click()
    assert opened.page.evaluate("() => window.scrollY") == 0


def test_contents_are_folded_on_a_phone(path: Path, open_page: Opening) -> None:
    page = open_page(path, width=PHONE).page
    link = page.get_by_role("navigation").get_by_role("link", name="More")
    assert not link.is_visible()
    page.get_by_text("Contents", exact=True).click()
    link.click()
    assert page.evaluate("() => window.scrollY") > 200
    assert not link.is_visible()


def test_pictures_of_findings_need_no_script(path: Path, open_page: Opening) -> None:
    page = open_page(path, scripts=False).page
    assert page.locator(".findings svg:visible").count() == 2
    assert page.get_by_role("navigation").get_by_role("link", name="More").is_visible()
