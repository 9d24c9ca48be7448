# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: words that the project avoids, counted in code and documentation."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = (
    # Words of riddles: the field has its own terms.
    r"mend(?:s|ed|ing)?",
    r"foretell(?:s|ing)?",
    "foretold",
    "told",
    "whoever",
    "surely",
    "lies there",
    r"go(?:es|ing)? by",
    "went by",
    r"com(?:e|es|ing) about",
    "came about",
    "be it",
    "so many",
    "as it is",
    "who asks",
    "what is said",
    "of one's own",
    "from here",
    r"by (?:itself|themselves)",
    "in short",
    "the usual one",
    # British spellings.
    r"artefacts?",
    r"analyse[dr]?",
    "analysing",
    r"\w*(?:colour|neighbour|behaviour|favour|honour)\w*",
    r"(?:\w*centre[sd]?)",
    r"labell(?:ed|ing)",
    r"judgements?",
    r"grey",
    r"(?:un|de|re)?(?:optimi|normali|recogni|initiali|seriali|quanti|speciali|generali|minimi|maximi)"
    r"s(?:e|es|ed|er|ers|ing|ation|ations)",
)
"""As regular expressions; the underscores of identifiers count as spaces."""
STORED = re.compile(
    r"distance_to_centre|\"centre\"|hyoka-artefact|\boptimiser\b"  # names in formats
    r"|UCI_AnalyseMode|aria-labelledby|\b\w+\.(?:analyse|serialise)\(|GNU Go"  # names of others
    r"|hyoka analyze summary"  # commands and options
)
"""Names that cannot change here."""
FOLDERS = ("src", "core", "docs", "scripts", "benchmarks", "experiments", "tests")
PAGES = sorted(path.name for path in ROOT.glob("*.md"))
SUFFIXES = {".py", ".pyi", ".h", ".cpp", ".md", ".html", ".js", ".css", ".toml"}
PATTERN = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(WORDS)})(?![A-Za-z])", re.IGNORECASE)
LINE_BREAK = re.compile(r"\s*\n[\s/#*>]*")


def occurrences(text: str) -> list[str]:
    """The words to avoid in a text, also across the lines of a paragraph."""
    plain = LINE_BREAK.sub(" ", STORED.sub("", text)).replace("_", " ")
    return [match.group() for match in PATTERN.finditer(plain)]


def texts_of(folder: Path) -> Iterator[Path]:
    """The files of a folder, without results, generated files and this list of words."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or "results" in path.parts or ".min." in path.name:
            continue
        if path != Path(__file__):
            yield path


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_has_words_to_avoid(folder: str) -> None:
    by_file = {path: occurrences(path.read_text("utf-8")) for path in texts_of(ROOT / folder)}
    assert {str(path.relative_to(ROOT)): words for path, words in by_file.items() if words} == {}


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_words_to_avoid(page: str) -> None:
    assert occurrences((ROOT / page).read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Whoever asks is told so.", ["Whoever", "told"]),
        ("def by_itself(): ...", ["by itself"]),
        ("// as it\n/// is", ["as it is"]),
        ("neighbours, analyses and colors", ["neighbours"]),
        ("amend, stolid, optimistic, analyses, hyoka-artefact 1", []),
    ],
)
def test_words_are_matched_alone(text: str, words: list[str]) -> None:
    assert occurrences(text) == words
