# SPDX-License-Identifier: Apache-2.0
"""Texts of the real records, of which most tests need but a few games."""

import lzma
from pathlib import Path
from typing import Final

SGF, CSA, PGN = "\n", "\n/\n", "\n[Event "
"""What stands between two games of a file; a game starts after its first line feed."""
_MOST: Final = 1 << 23


def text_of(path: Path, between: str, *, whole: bool = False) -> str:
    """The first eight megabytes of games of a packed file, or all: to unpack takes a while."""
    with lzma.open(path) as file:
        data = file.read(-1 if whole else _MOST)
        if file.read(1):
            data = data[: data.rindex(between.encode()) + 1]
    return data.decode()
