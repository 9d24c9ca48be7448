# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: words that the project avoids, counted in code and documentation."""

import re
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
    r"|UCI_AnalyseMode|aria-labelledby|engine\.analyse|GNU Go"  # names of others
    r"|hyoka analyze summary"  # commands and options
)
"""Names that cannot change here."""
LIMITS = {"src": 0, "core": 0, "docs": 0, "scripts": 0, "benchmarks": 0}
"""The words left in each folder. A limit only ever goes down."""
SUFFIXES = {".py", ".pyi", ".h", ".cpp", ".md", ".html", ".js", ".css", ".toml"}
PATTERN = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(WORDS)})(?![A-Za-z])", re.IGNORECASE)
LINE_BREAK = re.compile(r"\s*\n[\s/#*>]*")


def occurrences(text: str) -> list[str]:
    """The words to avoid in a text, also across the lines of a paragraph."""
    plain = LINE_BREAK.sub(" ", STORED.sub("", text)).replace("_", " ")
    return [match.group() for match in PATTERN.finditer(plain)]


def counts_by_file(folder: Path) -> dict[str, list[str]]:
    """The words to avoid in the files of a folder, without results and generated files."""
    counts = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or "results" in path.parts or ".min." in path.name:
            continue
        if words := occurrences(path.read_text(encoding="utf-8")):
            counts[str(path.relative_to(ROOT))] = words
    return counts


@pytest.mark.parametrize("folder", LIMITS)
def test_words_to_avoid_do_not_increase(folder: str) -> None:
    counts = counts_by_file(ROOT / folder)
    assert sum(map(len, counts.values())) <= LIMITS[folder], counts


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
