# SPDX-License-Identifier: Apache-2.0
"""The README's and the docs' examples looked at as numbers: what they print must hold together."""

import json
import math
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .commands import hyoka_here as hyoka
from .test_docs import AS_NUMBERS, NOT_HERE, blocks

STUDIES = list(zip(AS_NUMBERS, ("go9", "chess", "chess"), strict=True))


def commands(page: str) -> Iterator[list[str]]:
    """The lines of a page, which make a study and speak about it."""
    for path, code in blocks("sh"):
        if path.name != page:
            continue
        for line in code.splitlines():
            command = line.split("#")[0].strip()
            if command and not command.startswith(NOT_HERE):
                yield shlex.split(command)[1:]


def rows(answer: Any) -> Iterator[dict[str, Any]]:
    """Every row of numbers in an answer, however deep."""
    if isinstance(answer, dict):
        if any(isinstance(value, float | int) for value in answer.values()):
            yield answer
        answer = list(answer.values())
    if isinstance(answer, list):
        for each in answer:
            yield from rows(each)


def intervals(row: dict[str, Any]) -> Iterator[tuple[str, float, float, float]]:
    """What a row measures, with the ends of its interval."""
    own = next((n for n in ("share", "effect", "difference", "value") if n in row), "")
    for name, value in row.items():
        ends = ("low", "high") if name == own else (f"{name}_low", f"{name}_high")
        if all(isinstance(each, float) for each in (value, *map(row.get, ends))):
            yield name, value, row[ends[0]], row[ends[1]]


def check_row(row: dict[str, Any]) -> None:
    for name, value, low, high in intervals(row):
        assert low <= value <= high, row
        of_shares = name == "share" or row.get("metric") in ("accuracy", "roc", "break_even")
        assert low < high or not of_shares or value not in (0, 1), row
    for name in ("share", "p_value", "q_value", "wins", "ties"):
        if isinstance(row.get(name), float):
            assert 0 <= row[name] <= 1, row
    if "scale" in row and "verdict" in row:
        assert (row["scale"] is not None) == (row["verdict"] == "fits"), row


def check_sentence(text: str) -> None:
    """A finding's interval never holds zero, and what it says lies inside."""
    for said, low, high in re.findall(
        r"(-?[\d.]+) percentage points \w+ often[^(]*\((-?[\d.]+) to (-?[\d.]+)\)", text
    ):
        assert 0 < float(low) <= float(said) <= float(high), text
    for said, low, high in re.findall(r"([\d.]+)%[^()%]*\(([\d.]+)% to ([\d.]+)%", text):
        assert float(low) <= float(said) <= float(high), text
        assert float(low) < float(high), text


@pytest.mark.parametrize(("page", "game"), STUDIES, ids=lambda value: value)
def test_examples_hold_together_as_numbers(
    page: str, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = 0
    for words in commands(page):
        speaks = words[0] in ("report", "analyze")
        as_json = ["--json"] if speaks and "--json" not in words else []
        result = hyoka(*words, *as_json, cwd=tmp_path)
        assert result.returncode == 0, f"{words}: {result.stderr}"
        if not speaks:
            continue
        answer = json.loads(result.stdout)
        for row in rows(answer):
            check_row(row)
            looked_at += 1
        for finding in answer.get("findings", []):
            check_sentence(finding["text"])
            if finding["kind"] == "slice":
                _, low, high = finding["effect"]
                assert low > 0 or high < 0
        metrics = [row for each in answer.get("metrics", []) for row in each.get("rows", [each])]
        for row in metrics:
            if row["metric"] == "roc" and row["condition"] == "":
                # The players of the samples are no beginners, and their records are their own.
                assert 0.8 < row["value"] < 0.99, row
            if row["metric"] in ("brier_loss", "log_loss"):
                assert row["value"] is not None, row
                assert row["value"] < (0.25 if row["metric"] == "brier_loss" else math.log(2))
    assert looked_at > 20
    assert game in (tmp_path / "study" / "study.toml").read_text(encoding="utf-8")
    if page == "README.md":
        # Readers try the Python block in the folder where they tried the commands.
        script = tmp_path / "readme.py"
        script.write_text("\n".join(code for path, code in blocks("python") if path.name == page))
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(script), run_name="__main__")
