# SPDX-License-Identifier: Apache-2.0
"""Write requirements.lock: the versions in this environment, which `make build` installs."""

import re
from importlib.metadata import distributions
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
UNLOCKED = re.compile(r"hyoka|pip|setuptools|wheel|torch|nvidia.*|triton")
"""The project itself, what every environment has, and what is installed apart."""


def main() -> None:
    versions = {
        each.metadata["Name"].lower().replace("_", "-"): each.version for each in distributions()
    }
    lines = [
        f"{name}=={version}\n"
        for name, version in sorted(versions.items())
        if not UNLOCKED.fullmatch(name)
    ]
    LOCK.write_text(
        "# Versions of the development environment: `make lock` writes them.\n" + "".join(lines)
    )


if __name__ == "__main__":
    main()
