# SPDX-License-Identifier: Apache-2.0
"""Caveats at the end of reports, from the docs page of known limits."""

import re
from importlib.resources import files


def caveats(*headings: str) -> list[str]:
    """The caveats under these headings, a sentence or two each.

    >>> caveats("Searches")
    ['What is proven is a result, not a score. Playouts know neither superko nor repetition.']
    """
    text = (files("hyoka.reporting") / "caveats.md").read_text(encoding="utf-8")
    limits: list[str] = []
    wanted = False
    for line in text.splitlines():
        if line.startswith("## "):
            wanted = line[3:] in headings
        elif wanted and line.startswith("- "):
            limits.append(line[2:])
        elif wanted and line.startswith("  "):
            limits[-1] += " " + line.strip()
    return [_plain(each) for each in limits]


def _plain(markdown: str) -> str:
    """Remove Markdown markup."""
    without_links = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"\*\*|`", "", without_links)
