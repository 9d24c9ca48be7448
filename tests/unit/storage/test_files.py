# SPDX-License-Identifier: Apache-2.0
import os
import socket
import threading
from pathlib import Path

import pytest

from hyoka.storage.files import check_regular, open_regular, read_regular, write_text


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


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "folder", "link to a pipe"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
        path = path if "link" in kind else tmp_path / "pipe"
    with pytest.raises(OSError, match="folder" if kind == "folder" else "not a regular file"):
        open_regular(path)
    with pytest.raises(OSError, match="folder" if kind == "folder" else "not a regular file"):
        check_regular(path)


def test_a_file_that_becomes_a_pipe_meanwhile_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    regular = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(os, "stat", lambda *_, **__: regular)
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(path)


def test_links_are_followed_by_default(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_regular(tmp_path / "link") == b"content"
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(tmp_path / "link", follow_links=False)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing")
