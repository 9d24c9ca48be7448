# SPDX-License-Identifier: Apache-2.0
"""Figures for papers, and results as notebooks and data frames have them."""

import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hyoka as hk
from hyoka.analysis import NO_INTERVALS, Curves, FixedBins, Sample, measure_curve
from hyoka.foundation.errors import ParameterError
from hyoka.reporting.charts import Dot, dots, specification


@pytest.fixture(scope="module")
def curves() -> Curves:
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 200, 4000)
    won = rng.random(4000) < 1 / (1 + np.exp(-scores / 100))
    parts = []
    for name in ("<one>", "other"):
        sample = Sample.of(name, scores, results=won, games=np.arange(4000), unit="centipawns")
        parts.append(measure_curve(sample, binning=FixedBins(50), resampling=NO_INTERVALS))
    return Curves(tuple(parts))


def test_a_figure_follows_its_options(curves: Curves) -> None:
    figure = hk.Figure(
        title="Mine",
        width=321,
        height=123,
        x_range=(-150, 150),
        x_title="pawns",
        legend="right",
        labels={"<one>": "first"},
    )
    spec = figure.applied(specification(curves.chart()))
    upper, strip = spec["vconcat"]
    assert (spec["title"], upper["width"], upper["height"], strip["width"]) == (
        "Mine", 321, 123, 321,
    )  # fmt: skip
    assert strip["height"] < 60
    assert strip["encoding"]["x"]["title"] == "pawns"
    assert strip["encoding"]["x"]["scale"]["domain"] == [-150, 150]
    assert spec["config"]["legend"]["orient"] == "right"
    text = str(spec["vconcat"])
    assert "'first'" in text
    assert "<one>" not in text
    assert hk.Figure(legend="none").applied(specification(curves.chart()))["config"]["legend"] == {
        "disable": True
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"legend": "middle"},
        {"width": 3},
        {"x_range": (1, 1)},
        {"x_range": (0, float("inf"))},
    ],
)
def test_invalid_figures_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        hk.Figure(**wrong)


def test_a_label_of_nothing_is_refused(curves: Curves, tmp_path: Path) -> None:
    said = "name no part of the figure: nobody; names: <one>, other$"
    with pytest.raises(ParameterError, match=said):
        curves.save(tmp_path / "x.svg", hk.Figure(labels={"nobody": "x"}))


def test_an_evaluator_has_its_label_beside_its_parts() -> None:
    rows = [Dot(name, 0.5, 0.4, 0.6) for name in ("one, early", "one, late", "someone, late")]
    figure = hk.Figure(labels={"one": "first", "late": "ending", "one, early": "opening"})
    spec = figure.applied(specification(dots(rows, x="x", reference=0)))
    (data,) = (rows for rows in spec["datasets"].values() if "name" in rows[0])
    assert [row["name"] for row in data] == ["opening", "first, ending", "someone, ending"]


def test_a_legend_inside_is_in_the_view_that_has_room(curves: Curves, tmp_path: Path) -> None:
    curves.save(tmp_path / "x.svg", hk.Figure(legend="inside", labels={"other": "unlike"}))
    svg = (tmp_path / "x.svg").read_text()
    assert svg.count(">unlike<") == 1
    places = {}
    for text in ("unlike", "100%", "0%"):
        above = svg[: svg.index(f">{text}</text>") + 1]
        places[text] = sum(float(y) for y in _open_groups(above))
    assert places["100%"] < places["unlike"] < places["0%"]


def _open_groups(svg: str) -> list[str]:
    """How far down each element is moved that the end of a text lies in."""
    down: list[str] = []
    for tag in re.findall(r"<(/?\w+)([^>]*?)(/?)>", svg):
        name, attributes, closed = tag
        if name.startswith("/"):
            down.pop()
        elif not closed:
            moved = re.search(r"translate\([^,)]*,([^)]*)\)", attributes)
            down.append(moved[1] if moved else "0")
    return down


def test_figures_are_saved_as_papers_take_them(curves: Curves, tmp_path: Path) -> None:
    for ending, begin in ((".pdf", b"%PDF"), (".png", b"\x89PNG"), (".svg", b"<!--")):
        curves.save(tmp_path / f"figure{ending}", hk.Figure(width=200, height=100))
        assert (tmp_path / f"figure{ending}").read_bytes().startswith(begin)


def test_results_show_themselves_in_a_line_and_in_notebooks(curves: Curves) -> None:
    assert "\n" not in repr(curves)
    assert len(repr(curves)) < 120
    html = curves._repr_html_()
    assert "&lt;one&gt;" in html
    assert "<one>" not in html
    assert html.count("<tr>") == min(61, len(curves.lines()))


def test_results_are_data_frames(curves: Curves, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(hk.Error, match=f"pip install {library}"):
            getattr(curves, f"to_{library}")()
    frames = types.ModuleType("polars")
    frames.from_arrow = lambda table: table  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "polars", frames)
    assert isinstance(curves.to_polars(), pa.Table)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_real_data_frames_have_the_lines(curves: Curves, library: str) -> None:
    pytest.importorskip(library)
    frame = getattr(curves, f"to_{library}")()
    table = curves.table()
    assert list(frame.columns) == table.column_names
    assert len(frame) == len(table) > 0
    assert list(frame["positions"]) == table["positions"].to_pylist()
