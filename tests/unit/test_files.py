# SPDX-License-Identifier: Apache-2.0
import os
import threading
from pathlib import Path

import pytest

from hyoka.files import write_text


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    write_text(target, "old")
    write_text(target, "評価")
    assert target.read_text(encoding="utf-8") == "評価"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_text, args=(pipe, "through"))
    writer.start()
    assert pipe.read_text() == "through"
    writer.join()
    assert pipe.is_fifo()


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no such folder"):
        write_text(tmp_path / "nowhere" / "page.html", "")
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "")
