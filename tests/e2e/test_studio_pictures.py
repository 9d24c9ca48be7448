# SPDX-License-Identifier: Apache-2.0
"""The pictures of the docs, as `make pictures` takes them, of a smaller folder."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import hyoka as hk
import studio_pictures
from hyoka.records import record_text
from hyoka.records.samples import sample_path
from hyoka.study.evaluating import evaluate

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_rooms_have_pictures_in_the_light_and_in_the_dark(
    browser: "Browser", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, images = tmp_path / "folder", tmp_path / "images"
    images.mkdir()
    records = itertools.islice(hk.read_records(sample_path("go9")), 20)
    folder.mkdir()
    (folder / "games.sgf").write_text("\n".join(record_text(each, "sgf") for each in records))
    evaluate(hk.Study.create(folder / "go9", folder / "games.sgf"), ["comments"])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(studio_pictures, "SETTLED_S", 0.2)
    monkeypatch.setattr(studio_pictures, "THOUGHT_S", 0.5)
    for room in ("review", "study", "match"):  # enough with Home and the board
        monkeypatch.delitem(studio_pictures.ROOMS, room)
    studio_pictures.take_studio(browser, folder, images, games=2)
    for room in studio_pictures.ROOMS:
        light, dark = ((images / f"studio-{room}-{how}.png") for how in ("light", "dark"))
        assert len(light.read_bytes()) > 10_000
        assert light.read_bytes() != dark.read_bytes()
