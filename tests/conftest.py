# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The path of a file of real records beside the checkout; a test that asks without it skips."""

    def path_of(name: str) -> Path:
        path = SHARED_DATA / name
        if not path.exists():
            pytest.skip(f"needs ../shared/data/{name}")
        return path

    return path_of
