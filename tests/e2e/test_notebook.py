# SPDX-License-Identifier: Apache-2.0
"""The notebook of the docs is run, cell by cell, as Jupyter would: what ends a cell is shown."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
VIEWS = ("_repr_html_", "_repr_svg_")


def code_cells() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(text: str, names: dict[str, Any]) -> Any:
    """The value of a cell's last line, if that is an expression."""
    tree = ast.parse(text)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, NOTEBOOK.name, "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), NOTEBOOK.name, "exec"), names)
    return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)


def test_the_notebook_runs_and_shows_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [run_cell(cell, names) for cell in code_cells()]
    kinds = {type(each).__name__ for each in shown}
    assert {"Study", "MetricsTable", "Picture", "Record", "MatchResult"} <= kinds
    for each in shown:
        if not isinstance(each, int | None):
            [view] = [view for view in VIEWS if hasattr(each, view)]
            assert "var(--" not in getattr(each, view)().replace("var(--hk-dim", "")
    assert (names["folder"] / "curves.pdf").read_bytes().startswith(b"%PDF")


def test_the_notebook_is_kept_without_outputs() -> None:
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
