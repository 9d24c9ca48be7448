# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

import hyoka as hk

from .record_texts import Read, Reading


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The records of some text in a file, and the games that were refused."""

    def records_of(data: str | bytes, format: str | None = None) -> Reading:
        path = tmp_path / "games"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        stream = hk.read_records(path, format=format)
        return list(stream), stream.refused

    return records_of
