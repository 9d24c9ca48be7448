# SPDX-License-Identifier: Apache-2.0
"""The table of measures in docs/design.md agrees with the source."""

import re
import sys
import types
from pathlib import Path

import pytest

from measures import ADDITIONS, MEASURES, TASKS, Addition, ExecutedModules

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
LIMITS = {"modules": 250, "repeated-names": 10, "loaded": 90, "report": 45}
"""The goals that are met. The others are in the table, as missed."""


def cells_of(pattern: str) -> list[str]:
    """The cells of the only row of the page's tables that a pattern matches."""
    [row] = [line for line in PAGE.splitlines() if re.match(pattern, line)]
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_what_the_page_states(name: str) -> None:
    """Tasks are not run again, which takes long; their goals are those of the page."""
    _, _, now, goal, _ = cells_of(rf"\|.*\| `{name}` \|$")
    stated = int(now.replace(",", ""))
    measured = stated if name in TASKS else MEASURES[name]()
    assert abs(measured - stated) <= max(2, 0.03 * stated), f"docs/design.md: {name}: {measured}"
    assert goal.endswith("(missed)") != (name in LIMITS)
    if name in LIMITS:
        assert int(goal) == LIMITS[name]
        assert measured <= LIMITS[name]


@pytest.mark.parametrize("addition", ADDITIONS, ids=lambda addition: addition.part)
def test_a_new_part_needs_the_files_that_the_page_states(addition: Addition) -> None:
    _, _, now, goal, files = cells_of(rf"\| {addition.part}[^|]*\| \d")
    assert int(now) == len(addition.files) <= int(goal)
    for file in addition.files:
        assert re.search(addition.example, (ROOT / file).read_text(encoding="utf-8"))
    named = set(re.findall(r"`([^`]+)`", files))
    assert all(file in named or str(Path(file).parent) + "/" in named for file in addition.files)


def test_functions_count_and_imports_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of modules like `hyoka.run`, one is imported while another runs."""
    module = types.ModuleType("hyoka.imported")
    body = compile("def helper(): pass\nhelper()", "imported.py", "exec")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    task: dict[str, object] = {"__name__": "hyoka.run", "body": body, "names": vars(module)}
    exec(compile("def task(): exec(body, names)", "run.py", "exec"), task)
    with ExecutedModules() as executed:
        task["task"]()  # type: ignore[operator]
    assert executed.names == {"hyoka.run"}


def test_every_task_is_measured() -> None:
    assert set(TASKS) < set(MEASURES)
