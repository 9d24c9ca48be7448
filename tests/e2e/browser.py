# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser, and what every page of ours must be there."""

import importlib.resources
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

DESKTOP, PHONE, PAPER = 1000, 375, 673
"""Widths in pixels; paper is A4 without the margins."""
COLOR_RULES = ("color-contrast", "link-in-text-block")
LIGHT_GROUND, DARK_GROUND = "rgb(253, 253, 252)", "rgb(21, 23, 26)"


@dataclass
class Opened:
    """A page in the browser, and whatever it complained of or tried to load."""

    page: "Page"
    complaints: list[str] = field(default_factory=list)

    def wait_for_charts(self) -> None:
        """Until every chart that is not folded away is drawn."""
        self.page.wait_for_function(
            """() => [...document.querySelectorAll("[data-chart]")]
                .filter((box) => !box.closest("details:not([open])"))
                .every((box) => box.getAttribute("role") === "img" && box.querySelector("svg"))"""
        )

    def unfold(self) -> None:
        """Open all details, and wait for what is in them."""
        self.page.evaluate(
            "() => { for (const d of document.querySelectorAll('details')) d.open = true; }"
        )
        self.wait_for_charts()


class Opening(Protocol):
    """What the fixture `open_page` gives."""

    def __call__(
        self, path: Path, *, width: int = DESKTOP, scripts: bool = True, folder: bool = False
    ) -> Opened: ...


def open_in(
    browser: "Browser", path: Path, *, width: int, scripts: bool, folder: bool = False
) -> Opened:
    """A file in a window of its own that has no network, in the light.

    It may ask for nothing, or for files in its own folder where that is allowed.
    """
    allowed = path.parent.as_uri() + "/" if folder else path.as_uri()
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="light", java_script_enabled=scripts
    )
    context.set_default_timeout(60_000)
    context.set_offline(True)
    opened = Opened(context.new_page())

    def judge(route: "Route") -> None:
        if route.request.url.startswith(allowed):
            route.continue_()
        else:
            opened.complaints.append(f"asks for {route.request.url}")
            route.abort()

    context.route("**/*", judge)
    opened.page.on("console", lambda said: opened.complaints.append(f"{said.type}: {said.text}"))
    opened.page.on("pageerror", lambda error: opened.complaints.append(f"error: {error}"))
    opened.page.goto(path.as_uri())
    if scripts:
        opened.wait_for_charts()
    return opened


def check_page(path: Path, open_page: Opening, *, folder: bool = False) -> None:
    """All that holds for every page: offline, quiet, readable by everybody, on any screen."""
    opened = open_page(path, folder=folder)
    opened.unfold()
    assert style(opened, "body", "background-color") == LIGHT_GROUND
    assert offences(opened) == []
    opened.page.emulate_media(color_scheme="dark")
    assert style(opened, "body", "background-color") == DARK_GROUND
    assert offences(opened, COLOR_RULES) == []  # all else is as it was in the light
    assert unnamed_pictures(opened) == []
    assert hidden_focus(opened) == []
    assert headings_out_of_order(opened) == []
    assert wide_tables_on_paper(opened) == []
    phone = open_page(path, width=PHONE, folder=folder)
    phone.unfold()
    assert width_of_content(phone) <= PHONE
    assert wide_charts(phone) == []


def style(opened: Opened, selector: str, name: str) -> str:
    found: str = opened.page.locator(selector).first.evaluate(
        "(element, name) => getComputedStyle(element).getPropertyValue(name)", name
    )
    return found


def width_of_content(opened: Opened) -> int:
    """Wider than the window if one must scroll sideways."""
    found: int = opened.page.evaluate("() => document.documentElement.scrollWidth")
    return found


def wide_charts(opened: Opened) -> list[str]:
    """Charts that are wider than their place, so that the browser shrinks their letters."""
    found: list[str] = opened.page.evaluate(
        """() => [...document.querySelectorAll(".chart svg")]
            .filter((svg) => svg.getAttribute("width") > svg.parentElement.clientWidth + 1)
            .map((svg) => `${svg.getAttribute("width")}: ${svg.parentElement.ariaLabel}`)"""
    )
    return found


def wide_tables_on_paper(opened: Opened) -> list[str]:
    """Tables that the paper cuts off; the page is of the paper's width afterwards."""
    opened.page.emulate_media(media="print")
    opened.page.set_viewport_size({"width": PAPER, "height": 950})
    found: list[str] = opened.page.evaluate(
        """(width) => [...document.querySelectorAll("table")]
            .filter((table) => table.getBoundingClientRect().right > width)
            .map((table) => table.caption?.innerText ?? table.innerText)""",
        PAPER,
    )
    opened.page.emulate_media(media="screen")
    return found


def unnamed_pictures(opened: Opened) -> list[str]:
    """Pictures that are neither named nor hidden from who cannot see them."""
    found: list[str] = opened.page.evaluate(
        """() => [...document.querySelectorAll("svg")]
            .filter((svg) => !svg.closest("[aria-hidden=true]"))
            .filter((svg) => svg.getAttribute("role") !== "img" || !svg.ariaLabel?.trim())
            .map((svg) => svg.outerHTML.slice(0, 200))"""
    )
    return found


def headings_out_of_order(opened: Opened) -> list[str]:
    """Headings that skip a level; the first must be the page's only first-level one."""
    found: list[str] = opened.page.evaluate(
        """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
            .map((heading) => [Number(heading.tagName[1]), heading.textContent])
            .filter(([level], i, all) =>
                i === 0 ? level !== 1 : level === 1 || level > all[i - 1][0] + 1)
            .map(([level, text]) => `h${level} ${text}`)"""
    )
    return found


def hidden_focus(opened: Opened, most: int = 60) -> list[str]:
    """Whatever the keyboard reaches without showing where it is."""
    found = []
    for _ in range(most):
        opened.page.keyboard.press("Tab")
        element, outline = opened.page.evaluate(
            """() => {
                const element = document.activeElement, style = getComputedStyle(element);
                const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
                return [element === document.body ? "" : element.outerHTML.slice(0, 80), shown];
            }"""
        )
        if not element:
            break
        if not outline:
            found.append(element)
    return found


def offences(opened: Opened, rules: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds against WCAG and good practice, or these rules of it, however grave."""
    try:
        axe = importlib.resources.files("axe_playwright_python") / "axe.min.js"
    except ModuleNotFoundError:
        missing = "needs axe-playwright-python, which brings axe-core"
        if os.environ.get("HYOKA_NO_SKIPS"):
            pytest.fail(missing)
        pytest.skip(missing)
    opened.page.evaluate(axe.read_text(encoding="utf-8"))
    result: dict[str, Any] = opened.page.evaluate(
        "(rules) => axe.run({resultTypes: ['violations'], preload: false,"
        " ...(rules.length && {runOnly: {type: 'rule', values: rules}})})",
        list(rules),
    )
    return [
        f"{broken['impact']} {broken['id']}: {node['html'][:200]} {node['failureSummary']}"
        for broken in result["violations"]
        for node in broken["nodes"]
    ]
