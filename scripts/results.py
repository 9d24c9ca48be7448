#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of results: make them, list those whose code has changed, write the papers' checklists.

scripts/results.py make [EXPERIMENT …] [--scale SCALE] [-- OPTIONS OF hyoka experiment list]
scripts/results.py stale
scripts/results.py checklists
"""

import argparse
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":  # experiments are not installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from experiments import EXPERIMENTS, LEGEND
from experiments.checklists import CHECKLISTS, Checklist
from experiments.checklists.checklist import (
    STATUS_LEGEND,
    claim_rows,
    item_rows,
    markdown_table,
)
from experiments.results_page import ResultsPage, is_current, read_results_page
from hyoka.storage.files import write_text

TOP = Path(__file__).resolve().parent.parent
RESULTS = TOP / "docs" / "results"
BEHIND = ("core", "src/hyoka/analysis", "src/hyoka/learning", "src/hyoka/models", "experiments",
          "src/hyoka/search", "src/hyoka/study")  # fmt: skip
"""What figures are made by."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="run experiments and write their pages")
    make.add_argument("names", nargs="*", metavar="EXPERIMENT", help="all those that have a page")
    make.add_argument("--scale", help="the page's, or small")
    make.add_argument("--options", default="", help="of hyoka experiment list, in one text")
    commands.add_parser("stale", help="pages whose experiment or code has changed since")
    commands.add_parser("checklists", help="write a page for each paper")
    given = parser.parse_args()
    if given.command == "make":
        make_pages(given.names or sorted(pages()), given.scale, given.options.split())
    elif given.command == "stale":
        sys.exit(stale())
    write_checklists()


def pages() -> dict[str, ResultsPage]:
    """What the pages say of themselves, by experiment."""
    read = (read_results_page(file.read_text()) for file in sorted(RESULTS.glob("*.md")))
    return {page.experiment: page for page in read if page is not None}


def make_pages(names: list[str], scale: str | None, options: list[str]) -> None:
    """Run experiments, each at its page's scale unless another is given."""
    RESULTS.mkdir(exist_ok=True)
    known = pages()
    for name in names:
        chosen = scale or (known[name].scale if name in known else "small")
        file = RESULTS / f"{name}.md"
        for old in RESULTS.glob(f"{name}.*.svg"):
            old.unlink()
        words = ["experiment", "run", name, "--scale", chosen, "--markdown", str(file), *options]
        print(f"hyoka {' '.join(words)}", flush=True)
        subprocess.run([sys.executable, "-m", "hyoka", *words], check=True)


def stale() -> int:
    """Say which pages are older than what they speak of; how many."""
    found = 0
    for name, page in pages().items():
        reasons = []
        if not is_current(page, EXPERIMENTS[name]):
            reasons.append("its definition is another one")
        log = subprocess.run(
            ["git", "log", "--oneline", f"{page.made.commit.rstrip('+')}..HEAD", "--", *BEHIND],
            cwd=TOP, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if commits := log.stdout.splitlines():
            reasons.append(f"{len(commits)} commits have changed the code behind it")
        if reasons:
            found += 1
            print(f"{name} ({page.scale}, {page.made.date}): {'; '.join(reasons)}")
    return int(found > 0)


def write_checklists() -> None:
    """A page for each paper, from its items and the pages of results."""
    known = pages()
    for checklist in CHECKLISTS:
        name = checklist.name.lower().replace(" ", "-")
        write_text(TOP / "docs" / f"{name}.md", checklist_page(checklist, known))


def checklist_page(checklist: Checklist, known: dict[str, ResultsPage]) -> str:
    """The page of a paper: its items, then its claims."""
    outdated = {name for name, page in known.items() if not is_current(page, EXPERIMENTS[name])}
    rows = item_rows(checklist, known, outdated)
    items = markdown_table(("what", "where", "command", "result"), rows)
    claims = markdown_table(("item", "claim", "result", "cause", "shown by"), claim_rows(checklist))
    blocks = [
        f"# {checklist.name}, item by item",
        "Every definition, formula, table and figure of the paper ([which "
        "one](explanation/papers.md)): where it is in the code, the command that reproduces it, "
        "and our verdicts; the links lead to our figures beside the paper's. Written by "
        "`scripts/results.py checklists`.",
        LEGEND,
        items,
    ]
    if checklist.claims:
        blocks += ["## Claims", f"{checklist.summary}.", STATUS_LEGEND, claims]
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    main()
