# SPDX-License-Identifier: Apache-2.0
"""The site: a page for each Markdown file that the index names, in the index's order."""

import json
import posixpath
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Final

from docs_site.commands import commands_page
from docs_site.markdown import Document

INDEX: Final = "index"
COMMANDS: Final = "commands"


class BrokenLinkError(Exception):
    """A link leads nowhere."""


@dataclass(frozen=True)
class Group:
    """Pages that stand together in the index, by name and title."""

    title: str
    pages: tuple[tuple[str, str], ...]


def groups_of(index: Document) -> list[Group]:
    """The index's second-level headings with the pages linked below each."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    heading = False
    for token in index.tokens:
        heading = token.tag == "h2" if token.type == "heading_open" else heading
        if token.type != "inline":
            continue
        if heading:
            found.append((token.content, []))
            heading = False
        children = token.children or []
        for link, text in pairwise(children):
            target = str(link.attrs.get("href", ""))
            if found and target.endswith(".md"):
                found[-1][1].append((target.removesuffix(".md"), text.content))
    return [Group(title, tuple(pages)) for title, pages in found]


def write_site(docs: Path, to: Path) -> int:
    """Write the site anew into a folder, and give the number of pages.

    Raises BrokenLinkError for links that lead to no page, no place on one or no picture.
    """
    pages = {
        str(path.relative_to(docs).with_suffix("")): Document(path.read_text(encoding="utf-8"))
        for path in docs.rglob("*.md")
    }
    pages[COMMANDS] = commands_page()
    groups = _with_commands(groups_of(pages[INDEX]))
    for name, page in pages.items():
        for link in page.links:
            _check(docs, pages, name, link)
    if to.exists():
        shutil.rmtree(to)
    shutil.copytree(docs / "images", to / "images")
    for notebook in docs.glob("*.ipynb"):
        shutil.copy(notebook, to)
    if (docs / "results").is_dir():
        shutil.copytree(docs / "results", to / "results", ignore=shutil.ignore_patterns("*.md"))
    for name, page in pages.items():
        (to / f"{name}.html").write_text(_html(name, page, groups), encoding="utf-8")
    for file in ("page.css", "search.js"):
        (to / file).write_text(files(__package__).joinpath(file).read_text("utf-8"), "utf-8")
    known = json.dumps(list(_entries(pages)), ensure_ascii=False, separators=(",", ":"))
    (to / "search-index.js").write_text(f"const SEARCH_INDEX = {known};\n", encoding="utf-8")
    return len(pages)


def _with_commands(groups: list[Group]) -> list[Group]:
    """The commands' page, which is made of the commands themselves, under Reference."""
    return [
        Group(group.title, (*group.pages, (COMMANDS, "Commands")))
        if group.title == "Reference"
        else group
        for group in groups
    ]


def _check(docs: Path, pages: dict[str, Document], name: str, link: str) -> None:
    if "://" in link:
        return
    target, _, anchor = link.partition("#")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if target.endswith(".md") or not target:
        page = pages.get(place.removesuffix(".md") if target else name)
        if page is None or (anchor and anchor not in page.anchors):
            raise BrokenLinkError(f"{name}.md: nothing is at {link}")
    elif not (docs / place).is_file():
        raise BrokenLinkError(f"{name}.md: no file {link}")


def _entries(pages: dict[str, Document]) -> Iterator[tuple[str, str, str, str]]:
    """What a search looks at: address, page, heading, text."""
    for name, page in pages.items():
        for part in page.parts():
            first = part.heading.text == page.title
            address = f"{name}.html" if first else f"{name}.html#{part.heading.anchor}"
            yield address, page.title, "" if first else part.heading.text, part.text


def _target(link: str) -> str:
    """Where a link of the Markdown leads on the site."""
    if "://" in link:
        return link
    path, mark, anchor = link.partition("#")
    return f"{path.removesuffix('.md')}.html{mark}{anchor}" if path.endswith(".md") else link


def _html(name: str, page: Document, groups: list[Group]) -> str:
    top = "../" * name.count("/")  # where the site begins, seen from this page
    title = escape(page.title)
    whole_title = title if name == INDEX else f"{title} · Hyoka"
    return f"""<!doctype html>
<html lang="en" data-top="{top}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{whole_title}</title>
<link rel="stylesheet" href="{top}page.css">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header>
<a class="name" href="{top}{INDEX}.html">Hyoka</a>
<form class="search" role="search" hidden>
<label for="search">Search</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false">
<ul class="found" aria-live="polite" hidden></ul>
</form>
</header>
<details class="menu">
<summary>Pages</summary>
{_menu(name, groups, "Pages", top)}
</details>
<div class="columns">
<aside>
{_menu(name, groups, "All pages", top)}
</aside>
<main id="main">
{page.html(_target)}</main>
</div>
<script src="{top}search-index.js"></script>
<script src="{top}search.js"></script>
</body>
</html>
"""


def _menu(current: str, groups: list[Group], label: str, top: str) -> str:
    lists = []
    for group in groups:
        links = "".join(
            f'<li><a href="{top}{name}.html"{_here(name, current)}>{escape(title)}</a></li>'
            for name, title in group.pages
        )
        lists.append(f"<li><span>{escape(group.title)}</span><ul>{links}</ul></li>")
    return f'<nav aria-label="{label}"><ul>{"".join(lists)}</ul></nav>'


def _here(name: str, current: str) -> str:
    return ' aria-current="page"' if name == current else ""
