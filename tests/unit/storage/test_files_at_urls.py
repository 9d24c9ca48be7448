# SPDX-License-Identifier: Apache-2.0
"""Studies at URLs are read from copies."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.foundation.errors import StudyError
from hyoka.storage.files import copy_of, is_url
from hyoka.study.tables import GameChoice

pytest.importorskip("fsspec", reason="needs fsspec")
PGN = "1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Qh5 {[%eval -0.4]} Ke7 3. Qxe5# 1-0\n\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hk.Study:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "game.pgn").write_text(PGN, encoding="utf-8")
    study = hk.Study.create(tmp_path / "far away", tmp_path / "game.pgn")
    study.evaluate(["comments"])
    return study


def test_a_study_at_a_url_is_that_study_and_read_only(made: hk.Study, tmp_path: Path) -> None:
    url = f"file://{made.path}"
    study = hk.Study.open(url)
    assert study.path.is_relative_to(tmp_path / "cache")
    query = "select * exclude (engine) from evaluations order by game_id, ply"
    assert study.sql(query).equals(made.sql(query))
    assert study.verify().is_whole
    for change in (lambda: study.evaluate("ab:depth=1"), study.adjudicate):
        with pytest.raises(StudyError, match="a study at a URL is read-only"):
            change()


def test_later_only_changes_are_copied(made: hk.Study) -> None:
    url = f"file://{made.path}"
    folder = copy_of(url)
    old = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    made.evaluate(["ab:depth=1"], limit=2)
    assert copy_of(url) == folder
    new = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    assert len(new) > len(old)
    assert {path: new[path] for path in old} == old
    assert len(hk.Study.open(url).engines) == 2
    # A part of which only the start was copied is copied again.
    damaged = next(iter(old))
    damaged.write_bytes(b"PAR1")
    assert hk.Study.open(url).verify().is_whole


def test_workers_make_their_own_copies(
    made: hk.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = replace(hk.Study.open(f"file://{made.path}"), chosen=GameChoice(0, 1))
    sent = pickle.dumps(study)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "worker"))
    received = pickle.loads(sent)
    assert received.path.is_relative_to(tmp_path / "worker")
    assert received.chosen == study.chosen
    assert pickle.loads(pickle.dumps(made)) == made


def test_what_cannot_be_read_is_an_error(tmp_path: Path, made: hk.Study) -> None:
    for url, words in (
        (f"file://{tmp_path}/nowhere", "there is no study"),
        ("nothing://bucket/study", "Protocol not known"),
    ):
        with pytest.raises(StudyError, match=words):
            hk.Study.open(url)
    assert not is_url("study")
    assert not is_url("/a://b")
    # Only a study's own files are copied.
    (made.path / "evil.sh").write_text("exit 1", encoding="utf-8")
    assert not list(copy_of(f"file://{made.path}").rglob("*.sh"))
