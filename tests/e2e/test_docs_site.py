# SPDX-License-Identifier: Apache-2.0
"""The docs as a site: every page is in the index, every link leads somewhere, the search finds."""

import re
from pathlib import Path

import pytest

from docs_site.markdown import Document
from docs_site.site import BrokenLinkError, groups_of, write_site

from .browser import PHONE, Opening, check_page, width_of_content

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INDEX = "# All\n\n## Start\n\n- [One](one.md)\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    write_site(DOCS, folder)  # raises for a link that leads nowhere
    return folder


def document(name: str) -> Document:
    return Document((ROOT / name).read_text(encoding="utf-8"))


def test_every_page_is_in_the_index_once() -> None:
    groups = groups_of(document("docs/index.md"))
    assert [group.title for group in groups] == ["Start", "Guides", "Reference", "Results"]
    listed = [name for group in groups for name, _ in group.pages]
    assert sorted(listed) == sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index")


def test_links_of_other_pages_lead_to_files() -> None:
    for name in ("README.md", "CHANGELOG.md"):
        for link in document(name).links:
            path, _, anchor = link.partition("#")
            if "://" not in link:
                assert (ROOT / path).is_file(), f"{name}: {link}"
                assert not anchor or anchor in document(path).anchors, f"{name}: {link}"


@pytest.mark.parametrize(
    "link", ["gone.md", "one.md#gone", "#gone", "images/gone.png", "../README.md"]
)
def test_a_link_that_leads_nowhere_is_told(tmp_path: Path, link: str) -> None:
    docs = tmp_path / "docs"
    (docs / "images").mkdir(parents=True)
    (docs / "index.md").write_text(INDEX)
    (docs / "one.md").write_text(f"# One\n\nSee [there]({link}).\n")
    with pytest.raises(BrokenLinkError, match=r"one\.md: .*" + link.replace(".", r"\.")):
        write_site(docs, tmp_path / "site")


def test_headings_have_the_places_that_github_gives_them() -> None:
    page = Document("# `core/`: C++20, *knows*\n\n## How\n\n## How\n\ntext `code`\n")
    assert [heading.anchor for heading in page.headings] == ["core-c20-knows", "how", "how-1"]
    assert [part.text for part in page.parts()] == ["", "", "text code"]


def test_html_in_a_page_is_read_for_links() -> None:
    page = Document('# A\n\n<picture><img src="a.png"></picture>\n\n![b](b.png)\n')
    assert page.links == ["a.png", "b.png"]


def test_the_papers_page_names_places_that_are_there() -> None:
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    places = re.findall(r"`((?:core|src)/[^`]+)`", text)
    assert places
    assert [place for place in places if not list(ROOT.glob(place))] == []


def test_papers_are_cited_by_name() -> None:
    known = set(re.findall(r"^\| (\w+ \d{4}) \|", (DOCS / "papers.md").read_text("utf-8"), re.M))
    assert len(known) == 5
    for folder in ("src", "core", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in {".py", ".pyi", ".h", ".cpp", ".md"} or path.name == "papers.md":
                continue
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\b[Pp]aper 00\d", text), path
            cited = set(re.findall(r"\b(?:Takeuchi|Yoshii|Sato|Nakamura) \d{4}\b", text))
            assert cited <= known, path


@pytest.mark.parametrize("name", ["index", "search"])
def test_a_page_of_the_site_is_well_made(site: Path, open_page: Opening, name: str) -> None:
    check_page(site / f"{name}.html", open_page, folder=True)


def test_no_page_is_wider_than_a_phone(site: Path, open_page: Opening) -> None:
    opened = open_page(site / "index.html", width=PHONE, folder=True)
    for path in sorted(site.glob("*.html")):
        opened.page.goto(path.as_uri())
        assert width_of_content(opened) <= PHONE, path.name


def test_the_search_finds_a_section_and_goes_there(site: Path, open_page: Opening) -> None:
    opened = open_page(site / "index.html", folder=True)
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("superko lines")
    found = page.locator(".found a")
    assert "Positions and lines" in found.first.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**/games.html#positions-and-lines")
    page.get_by_label("Search").fill("no such words anywhere")
    assert page.locator(".found").inner_text() == "Nothing found."
    page.keyboard.press("Escape")
    assert not page.locator(".found").is_visible()


def test_the_pages_can_be_read_without_scripts(site: Path, open_page: Opening) -> None:
    opened = open_page(site / "games.html", scripts=False, folder=True)
    assert not opened.page.get_by_label("Search").is_visible()
    opened.page.get_by_role("link", name="Known limits").first.click()
    assert opened.page.locator("h1").inner_text() == "Known limits"
