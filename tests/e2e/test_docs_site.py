# SPDX-License-Identifier: Apache-2.0
"""The documentation: every page is in the index, links and citations lead somewhere."""

import functools
import importlib
import pkgutil
import re
import runpy
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import hyoka as hk
from check_site import of_other_hosts

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = MarkdownIt("commonmark").enable("table")
GENERATED = re.compile(r"docs/reference/(api/|(commands|settings)\.md)")
"""Pages that `make docs` generates."""
PAGES = [
    *(path.relative_to(ROOT) for path in ROOT.glob("*.md")),
    *(
        path.relative_to(ROOT)
        for path in DOCS.rglob("*.md")
        if not GENERATED.match(path.relative_to(ROOT).as_posix())
    ),
]


def tokens(page: Path) -> Iterator[Token]:
    for token in MARKDOWN.parse((ROOT / page).read_text(encoding="utf-8")):
        yield token
        yield from token.children or []


def links(page: Path) -> Iterator[str]:
    """Targets of links and pictures, also of those in HTML."""
    for token in tokens(page):
        if token.type in {"html_block", "html_inline"}:
            yield from re.findall(r'(?:href|src|srcset)="([^"]+)"', token.content)
        else:
            yield from (str(token.attrs[name]) for name in ("href", "src") if name in token.attrs)


@functools.cache
def configuration() -> dict[str, Any]:
    """The functions and tables of the site's configuration."""
    return runpy.run_path(str(DOCS / "conf.py"))


@functools.cache
def generated() -> dict[str, str]:
    """The texts that `make docs` generates, by path."""
    return {f"docs/{name}": text for name, text in configuration()["reference_pages"]().items()}


def anchors(text: str) -> set[str]:
    """The anchors of headings, as GitHub and MyST name them."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_a_table_of_contents() -> None:
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    listed = {
        line.strip().rpartition("<")[2].rstrip(">")
        for toctree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.S)
        for line in toctree.splitlines()
    }
    names = {
        str(page.relative_to("docs").with_suffix("")) for page in PAGES if page.parts[0] == "docs"
    }
    pages = {name for name in names if not GENERATED.match(f"docs/{name}.md")}
    assert sorted(pages - listed - {"index"} - {n for n in pages if n.startswith("results/")}) == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path if path else ROOT / page).resolve()
        name = target.relative_to(ROOT.resolve()).as_posix()
        if GENERATED.match(name):
            assert name in generated(), link
        else:
            assert target.exists(), link
        if anchor:
            text = generated().get(name) or target.read_text(encoding="utf-8")
            assert anchor in anchors(text), link


def test_the_api_reference_covers_every_public_package() -> None:
    packages = {module.name for module in pkgutil.iter_modules(hk.__path__)}
    listed = {package.partition(".")[0] for package in configuration()["PACKAGES"]}
    assert packages - listed == {"_core", "__main__", "apps", "storage"}


def test_the_api_reference_lists_every_name_of_the_top() -> None:
    page = generated()["docs/reference/api/index.md"]
    names: list[str] = getattr(hk, "__all__")  # noqa: B009
    assert [name for name in names if f"{{py:obj}}`hk.{name} <" not in page] == []


def of_case_only(names: Iterable[str]) -> list[set[str]]:
    """Names that differ from one another by case only."""
    alike: dict[str, set[str]] = {}
    for name in names:
        alike.setdefault(name.lower(), set()).add(name)
    return [each for each in alike.values() if len(each) > 1]


@pytest.mark.parametrize("package", ["", *configuration()["PACKAGES"]])
def test_no_public_names_differ_by_case_only(package: str) -> None:
    module = importlib.import_module(f"hyoka.{package}".rstrip("."))
    assert of_case_only(configuration()["public_names"](module)) == []


@pytest.mark.parametrize("package", configuration()["PACKAGES"])
def test_every_public_name_of_a_package_is_documented(package: str) -> None:
    module = importlib.import_module(f"hyoka.{package}")
    page = generated()[f"docs/reference/api/{package}.md"]
    names = configuration()["public_names"](module)
    assert names
    assert [name for name in names if not re.search(rf"hyoka\.{package}\.{name}\b", page)] == []
    documentation = configuration()["documentation"]
    assert [name for name in names if not documentation(module, name)] == []


def test_the_papers_page_names_places_that_are_there() -> None:
    text = PAPERS.read_text(encoding="utf-8")
    places = re.findall(r"`((?:core|src)/[^`]+)`", text)
    assert places
    assert [place for place in places if not list(ROOT.glob(place))] == []


[PAPERS] = DOCS.rglob("papers.md")


def test_papers_are_cited_by_name() -> None:
    papers = set(re.findall(r"^\| (\w+ \d{4}) \|", PAPERS.read_text("utf-8"), re.M))
    assert len(papers) == 5
    for folder in ("src", "core", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in {".py", ".pyi", ".h", ".cpp", ".md"} or path.name == "papers.md":
                continue
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\b[Pp]aper 00\d", text), path
            cited = set(re.findall(r"\b(?:Takeuchi|Yoshii|Sato|Nakamura) \d{4}\b", text))
            assert cited <= papers, path


def test_the_page_of_limits_is_that_of_reports() -> None:
    page = (DOCS / "explanation" / "limits.md").read_text(encoding="utf-8")
    assert page == (ROOT / "src/hyoka/reporting/caveats.md").read_text(encoding="utf-8")


def test_requests_of_other_hosts_are_found() -> None:
    page = """<link rel="stylesheet" href="https://host/a.css"><link rel="canonical" href="//host">
        <script src="//host/b.js"></script><script>fetch("https://host/c")</script>
        <img src="data:image/png;base64,x" srcset="d.png, http://host/e.png 2x"><a href="//host">
        <p style="background: url('https://host/f.png')"><style>@import "//host/g.css";</style>"""
    assert of_other_hosts("page.html", page) == [
        "https://host/a.css",
        "//host/b.js",
        "https://host/c",
        "http://host/e.png",
        "https://host/f.png",
        "//host/g.css",
    ]
    styles = "a { background: url(data:image/svg+xml,//host) } @font-face { src: url(//host/h) }"
    assert of_other_hosts("style.css", styles) == ["//host/h"]
    script = 'fetch(base + "searchindex.js"); import x from "https://host/i"; // http://www.w3.org/'
    assert of_other_hosts("script.js", script) == ["https://host/i"]
