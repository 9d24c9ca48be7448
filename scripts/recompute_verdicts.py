#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recompute the verdicts on match scores of the results pages from the counts on the pages.

    scripts/recompute_verdicts.py [--check] [PAGE ...]

For when the rule for verdicts changes, but not the games: nothing is played again. A page tells the
wins, losses and draws of each match. Where games come in pairs, how well the score is known follows
from the width of its interval, which has three places: there the ends of a lead may differ by 0.001
from those computed from the games. With --check, pages are only compared; the exit status is 1 if
one has a verdict that the rule does not give.
"""

import argparse
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if __name__ == "__main__":  # experiments are not installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from experiments.claims import LITTLE, not_shown_if, same_within, verdict
from experiments.outcome import Verdict
from hyoka.arena import FEW, Score, rate
from hyoka.arena.elo import wilson_rate
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.storage.files import write_text

RESULTS: Final = Path(__file__).resolve().parent.parent / "docs" / "results"
NOTE: Final = (
    "Verdicts on scores were recomputed from the counts above by a newer rule, without new games "
    "(`scripts/recompute_verdicts.py`)."
)
HEADING: Final = "\n## Verdicts\n\n"
_COUNTS: Final = re.compile(r"(\d+)-(\d+)-(\d+)")
_SYMMETRIC: Final = re.compile(r"[\d.]+ ±([\d.]+)")
_BOTH_ENDS: Final = re.compile(r"[\d.]+ \(([\d.]+) to ([\d.]+)\)")

BY_ORDER: Final = frozenset({"003-table1", "003-table2", "003-table3"})
"""A verdict for each row, which is one order of play: games without pairs."""
BY_DUEL: Final = frozenset({"000-table3", "000-table5"})
"""A verdict for each row, in pairs."""
BY_NAME: Final = frozenset(
    {
        *("002-constants", "002-table2", "002-table3", "002-table4", "002-table5"),
        *("003-ablation", "004-table6", "004-table6-gps", "004-table6-readings", "004-table7"),
    }
)
"""Verdicts name the players, in pairs."""


@dataclass(frozen=True)
class Played:
    """A score on a page: its interval for verdicts, and why it has too few games for one."""

    points: Estimate
    too_few: str

    @property
    def lead(self) -> Estimate:
        """Points a game above a half."""
        ends = (self.points.value, self.points.low, self.points.high)
        return Estimate(*(end - 0.5 for end in ends))


@dataclass(frozen=True)
class Row:
    """A row of a table and the scores in it, in their order."""

    cells: tuple[str, ...]
    scores: tuple[Played, ...]


def recomputed(name: str, text: str) -> str:
    """A page with the verdicts that the rule gives; the same text if there is nothing to change."""
    if name not in BY_ORDER | BY_DUEL | BY_NAME or HEADING not in text:
        return text
    tables, rest = text.split(HEADING)
    rows = [row for row in map(_row(name), tables.splitlines()) if row is not None]
    lines = [line for line in rest.splitlines() if line != NOTE]
    number = 0
    for at, line in enumerate(lines):
        cells = _cells(line)
        if len(cells) != 4 or cells[0].startswith(("as in", "---")):
            continue
        judged = _judged(name, rows, number, cells[0], cells[3].partition("; fewer than")[0])
        if judged is not None:
            found = cells[2] if math.isnan(judged.found.value) else judged.found.text("+.3f")
            cells = (judged.claim, judged.words, found, judged.detail)
            lines[at] = f"| {' | '.join(cells)} |"
        number += 1
    changed = lines != [line for line in rest.splitlines() if line != NOTE]
    if not changed:
        return text
    body = "\n".join(lines).strip("\n")
    return f"{tables}{HEADING}{NOTE}\n\n{body}\n"


def answers(text: str) -> list[tuple[str, str]]:
    """The claims of a page with their answers."""
    rows = map(_cells, text.partition(HEADING)[2].splitlines())
    return [(cells[0], cells[1]) for cells in rows if len(cells) == 4]


def _cells(line: str) -> tuple[str, ...]:
    if not line.startswith("|"):
        return ()
    return tuple(cell.strip() for cell in line.strip().strip("|").split(" | "))


def _row(name: str) -> Callable[[str], Row | None]:
    def read(line: str) -> Row | None:
        cells = _cells(line)
        scores = [
            _played(Score(*map(int, (m[1], m[3], m[2]))), cells[at + 1], name not in BY_ORDER)
            for at, cell in enumerate(cells)
            if (m := _COUNTS.fullmatch(cell)) and _width(cells[at + 1]) is not None
        ]
        return Row(cells, tuple(scores)) if scores else None

    return read


def _width(cell: str) -> float | None:
    if symmetric := _SYMMETRIC.fullmatch(cell):
        return 2 * float(symmetric[1])
    ends = _BOTH_ENDS.fullmatch(cell)
    return float(ends[2]) - float(ends[1]) if ends else None


def _played(score: Score, interval: str, in_pairs: bool) -> Played:
    if not in_pairs:
        few = f"fewer than {FEW} games" if score.games < FEW else ""
        return Played(rate(score, continuity=True), few)
    width = _width(interval)
    assert width is not None
    step = 0.5 if score.draws else 1.0
    points = wilson_rate(score.rate, _flips(score.rate, width), correction=step / 2 / score.games)
    return Played(points, f"fewer than {FEW} pairs" if score.games < 2 * FEW else "")


def _flips(mean: float, width: float) -> float:
    """How many coin flips give Wilson's interval of a mean this width."""
    low, high = 1e-3, 1e9
    for _ in range(200):
        middle = (low * high) ** 0.5
        interval = wilson_rate(mean, middle)
        low, high = (middle, high) if interval.high - interval.low > width else (low, middle)
    return low


def _judged(name: str, rows: Sequence[Row], number: int, claim: str, detail: str) -> Verdict | None:
    """The verdict on a claim; None where it is no claim about scores."""
    if name in BY_ORDER | BY_DUEL:
        played = rows[number].scores[-1]
        if claim.endswith("are equals"):
            judged = same_within(LITTLE, claim, [played.lead], detail)
            return not_shown_if(played.too_few, judged)
        return _leading(claim, played, detail, behind=" behind " in claim)
    return _judged_by_name(rows, claim, detail)


def _judged_by_name(rows: Sequence[Row], claim: str, detail: str) -> Verdict | None:
    by_name = {row.cells[0]: row.scores for row in rows}
    if claim == "the evaluation is even where the book ends":
        nothing = Verdict(claim, Estimate(math.nan, math.nan, math.nan), "not shown", detail)
        return not_shown_if(rows[0].scores[0].too_few, nothing)
    if m := re.fullmatch(r"(.*) does better than (.*)", claim):
        one, other = by_name[m[1]][0], by_name[m[2]][0]
        more = independent_difference(one.points, other.points)
        return not_shown_if(one.too_few or other.too_few, verdict(claim, more, detail))
    if m := re.fullmatch(r"(.*): loses to UCT", claim):
        return _leading(claim, by_name[m[1]][0], detail, behind=True)
    if m := re.fullmatch(r"(.*): plays better than the paper's", claim):
        return _leading(claim, by_name[m[1]][1], detail)
    return _judged_against(rows, claim, detail)


def _judged_against(rows: Sequence[Row], claim: str, detail: str) -> Verdict | None:
    m = re.fullmatch(r"(.*) (ahead of|beats|behind) (.*)", claim)
    if m is None:
        return None
    if len(rows) == 1:
        row = rows[0]
    else:
        opponents = (m[3], f"v {m[3]}")
        row = next(r for r in rows if r.cells[0] == m[1] and r.cells[1] in opponents)
    return _leading(claim, row.scores[0], detail, behind=m[2] == "behind")


def _leading(claim: str, played: Played, detail: str, *, behind: bool = False) -> Verdict:
    lead = -played.lead if behind else played.lead
    return not_shown_if(played.too_few, verdict(claim, lead, detail))


def main() -> int:
    """Recompute pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="by default all results pages")
    parser.add_argument("--check", action="store_true", help="write nothing")
    chosen = parser.parse_args()
    changed = wrong = 0
    for page in chosen.pages or sorted(RESULTS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = recomputed(page.stem, text)
        if new != text:
            changed += 1
            if answers(new) != answers(text):
                wrong += 1
                print(page)
            if not chosen.check:
                write_text(page, new)
    print(f"{wrong} of {changed} pages have other verdicts")
    return int(chosen.check and wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
