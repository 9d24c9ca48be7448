# SPDX-License-Identifier: Apache-2.0
"""Learning: pages of runs that learn, of improvements, and what one can do with a model."""

import html
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.testclient import TestClient

from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.pages import address
from hyoka.foundation.math import Estimate
from hyoka.storage.model_file import ModelFile
from hyoka.storage.run_folder import to_json
from hyoka.workflows.improve.improvement import (
    BiasedSlice,
    Candidate,
    MetricChange,
    SliceFindings,
)

TOKEN = "a-token-that-nobody-guesses"
HOSTILE = "<script>alert(1)</script>"
LOG = """$ hyoka learn comparison
pass 1: J 0.9 = moves 0.5 + outcomes 0.4; 20 weights; held-out: first 20.0%, within 3 40.0%
pass 2: J 0.8 = moves 0.5 + outcomes 0.3; 21 weights; held-out: first 25.0%, within 3 45.0%
"""


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    weights = {"game": "othello", "weights": {"mobility": 1}}
    ModelFile.of("weights", weights).save(tmp_path / "weights.json")
    app = studio_app(Studio.on(Folder(tmp_path), Engines({}), COMMANDS), token=TOKEN)
    return TestClient(app, "http://127.0.0.1", cookies={"hyoka-studio-80": TOKEN})


def keep_run(folder: Path, command: str, values: dict[str, list[str]], log: str) -> None:
    place = folder / ".hyoka-studio" / "runs" / "1"
    place.mkdir(parents=True)
    stored = {"command": command, "values": values, "words": command.split(), "made": 1.0}
    (place / "run.json").write_text(json.dumps(stored))
    (place / "log").write_text(log)
    (place / "ended.json").write_text('{"status": 0, "at": 2.0}')


def test_a_run_that_learns_has_curves_settings_and_its_command(
    client: TestClient, tmp_path: Path
) -> None:
    values = {"sources": [HOSTILE], "passes": ["2"]}
    keep_run(tmp_path, "learn comparison", values, LOG + HOSTILE)
    page = client.get("/learning?run=1").text
    shown = html.unescape(page)
    assert HOSTILE not in page
    assert f"Train by the moves of {HOSTILE}" in shown
    assert "<dt>Passes</dt><dd>2</dd>" in shown
    assert "hyoka learn comparison" in shown
    rows = re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", page)
    assert ("2", "J", "0.8") in rows
    assert ("2", "first", "25.0%") in rows
    stream = client.get("/learning/events?run=1").text
    assert stream.startswith("event: curves\n")
    assert "<svg" in stream
    assert HOSTILE not in stream
    assert "event: end" in stream, "the run is over"
    listed = client.get("/learning").text
    assert 'href="/learning?run=1"' in listed
    assert "<polyline points=" in listed


def test_a_run_that_learns_nothing_has_no_page_here(client: TestClient, tmp_path: Path) -> None:
    keep_run(tmp_path, "match run", {}, "")
    assert client.get("/learning?run=1").status_code == 400
    assert client.get("/learning?run=x").status_code == 400
    assert "/learning?run=1" not in client.get("/learning").text


def test_a_model_is_compared_with_the_default_and_played(client: TestClient) -> None:
    page = html.unescape(client.get("/learning?path=weights.json").text)
    text = "ab:eval=weights.json"
    compare = address("/match/new", game="othello", p1=text, p2="ab")
    assert f'href="{compare}"' in page
    assert address("/board", game="othello", against=text) in page
    assert f"{text},nodes=2000" in client.get(compare).text


def test_an_improvement_shows_its_steps_so_far(client: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "better"
    folder.mkdir()
    some = Estimate(0.1, 0.05, 0.15)
    biased = BiasedSlice(
        words=HOSTILE,
        sql="ply > 3",
        kind="level",
        sentence="",
        effect=some,
        q_value=0.01,
        positions=50,
        games=9,
        confirmed=some,
        p_value=0.02,
    )
    findings = SliceFindings((biased,), 190, 9, 50, 3, 20)
    (folder / "slices.json").write_text(json.dumps(to_json(findings)))
    fit = Candidate(
        name="all",
        about="all weights",
        weights=(),
        free=2,
        games=9,
        positions=50,
        metrics=(MetricChange("Log-loss", "log_loss", 0.5, 0.4, some),),
        slices=(),
        charts={},
        file="weights-all.json",
    )
    (folder / "fit-all.json").write_text(json.dumps(to_json(fit)))
    (folder / "report.html").write_text("a report")
    page = client.get("/learning?path=better").text
    assert HOSTILE not in page
    assert HOSTILE in html.unescape(page)
    assert "190 conditions were tried; 1 slice is significant." in page
    assert ">0.5000</td>" in page
    assert "/report?path=better%2Freport.html" in page
    assert 'href="/learning?path=better"' in client.get("/learning").text
    (folder / "fit-all.json").write_text("[]")
    assert client.get("/learning?path=better").status_code == 400
