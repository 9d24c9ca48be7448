# SPDX-License-Identifier: Apache-2.0
"""Boards as text and SVG against files kept in `diagrams/`; see the README there."""

from pathlib import Path
from typing import Any

import pytest

import hyoka as hk

FOLDER = Path(__file__).parent / "diagrams"
LINES = {
    "go9": "E5 C3 G3 C7 G7 pass D2",
    "othello": "d3 c3 c4 e3 f4 d6",
    "chess": "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O",
    "shogi": "7g7f 3c3d 8h2b+ 3a2b B*4e",
    "blokus_duo": "e10,f10,g10,f11,f9 j5,j4,j3,i4,k4 h11,i11,h12",
}


def drawings(name: str) -> dict[str, str]:
    line: Any = hk.position(name).line()
    for move in LINES[name].split():
        line = line.play(move)
    return {
        f"{name}.txt": hk.terminal(line) + "\n",
        f"{name}.ascii.txt": hk.terminal(line, ascii=True) + "\n",
        f"{name}.svg": hk.svg(line) + "\n",
    }


@pytest.mark.parametrize("name", LINES)
def test_boards_are_drawn_as_before(name: str) -> None:
    for file, drawn in drawings(name).items():
        assert drawn == (FOLDER / file).read_text(encoding="utf-8"), file


def test_every_golden_file_is_used() -> None:
    used = {file for name in LINES for file in drawings(name)}
    assert {path.name for path in FOLDER.iterdir()} == used | {"README.md"}


if __name__ == "__main__":
    for game in LINES:
        for file, drawn in drawings(game).items():
            (FOLDER / file).write_text(drawn, encoding="utf-8")
