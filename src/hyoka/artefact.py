# SPDX-License-Identifier: Apache-2.0
"""A file that a spec names, read once, whole: what it holds counts from then on, not its name.

Whoever keeps or sends a spec keeps the content with it: a file that changes later, or that another
machine doesn't have, changes nothing. The hash of the content is what tells two files apart.
"""

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hyoka.errors import NotationError, SourceError

_LARGEST: Final = 1 << 28
_SHORT: Final = 12


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file as it was when its name was read; equal contents are equal, whatever their names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "weights.json"
    ...     _ = path.write_text('{"bishop_pair": 30}')
    ...     file = Artefact.read(path)
    >>> file.json_object(), file.fingerprint
    ({'bishop_pair': 30}, '38b774392332')
    """

    path: str = field(compare=False)
    """As it was given."""
    sha256: str
    content: bytes = field(compare=False, repr=False)

    @classmethod
    def read(cls, path: str | Path) -> "Artefact":
        """Read a file whole; raises SourceError."""
        name = str(path)
        if not name.strip():
            raise NotationError("no file is named")
        try:
            with Path(path).open("rb") as file:
                content = file.read(_LARGEST + 1)
        except (OSError, ValueError) as error:  # the second: a name that no file can have
            raise SourceError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
        if len(content) > _LARGEST:
            raise SourceError(f"{name}: too large: more than {_LARGEST >> 20} MiB")
        return cls(name, hashlib.sha256(content).hexdigest(), content)

    def __str__(self) -> str:
        return self.path

    @property
    def fingerprint(self) -> str:
        """Some characters that tell this content from others."""
        return self.sha256[:_SHORT]

    def json_object(self) -> dict[str, Any]:
        """The content as a JSON object with each name once; raises SourceError."""
        try:
            content = json.loads(self.content.decode("utf-8-sig"), object_pairs_hook=_each_once)
        except UnicodeDecodeError:
            raise SourceError(f"{self.path}: no JSON: it is not UTF-8") from None
        except RecursionError:
            raise SourceError(f"{self.path}: no JSON that can be read: nested too deeply") from None
        except ValueError as error:
            raise SourceError(f"{self.path}: no JSON: {error}") from None
        if not isinstance(content, dict):
            raise SourceError(f"{self.path}: not an object with names and numbers")
        return content


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{twice}' stands there twice")
    return found


def number_of(value: object) -> float:
    """A number that JSON holds, as a float; NaN if it is none or too large to be one.

    >>> number_of(3), number_of("3"), number_of(True), number_of(10**400)
    (3.0, nan, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
