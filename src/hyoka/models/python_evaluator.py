# SPDX-License-Identifier: Apache-2.0
"""Python functions as evaluators, with a name and a fingerprint."""

import functools
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hyoka.foundation.errors import NotationError
from hyoka.foundation.fingerprint import fingerprint
from hyoka.foundation.text import DefaultTitle

_UNITS: Final = ("centipawns", "points")


@dataclass(frozen=True)
class PythonEvaluator:
    """A function with a title and a fingerprint.

    As an evaluator of a study it takes a position and returns the first player's expected result,
    0 to 1, or an `Evaluation`. As `evaluator` or `evaluation` of a search it takes a list of
    positions and returns a list.

    The title defaults to the function's name; a lambda needs one. The fingerprint is computed from
    its code and everything that the code uses (see `hyoka.fingerprint`). Where that is not
    possible, as for a trained network, pass one: a text that changes when the results do.

    >>> def middle(position):
    ...     return 0.5
    >>> PythonEvaluator(middle).title, PythonEvaluator(lambda p: 0.5, "even").title
    ('middle', 'even')
    """

    function: Callable[..., Any] = field(compare=False)
    title: str = ""
    fingerprint: str = ""
    unit: str = ""
    """The unit of a study's evaluator that returns scores: `centipawns` or `points`; empty for
    expected results, 0 to 1."""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise NotationError(f"no function, nor a spec: {self.function!r}")
        title = self.title.strip() or DefaultTitle(name_of_function(self.function))
        if title == "<lambda>":
            raise NotationError(
                'a lambda has no name; add a title: hyoka.PythonEvaluator(function, title="…")'
            )
        if not title.isprintable():
            raise NotationError(f"a title is one printable line, not {title!r}")
        object.__setattr__(self, "title", title)
        if self.unit not in ("", *_UNITS):
            raise NotationError(f"a unit of scores is {' or '.join(_UNITS)}, not '{self.unit}'")
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", fingerprint(self.function))

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self.function(*arguments)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The title."""
        return self.title

    @property
    def dependencies(self) -> dict[str, str]:
        """The fingerprint and the unit."""
        return {"function": self.fingerprint, **({"unit": self.unit} if self.unit else {})}

    @property
    def id(self) -> str:
        """A readable identifier for files, unique to the title and the fingerprint."""
        safe = re.sub(r"[^a-z0-9.]+", "_", self.title.lower()).strip("_.")[:24]
        identity = "\n".join(filter(None, [self.title, self.fingerprint, self.unit]))
        digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
        return "-".join(filter(None, ["python", safe, digest]))


def name_of_function(function: object) -> str:
    """The name of a function, or the class of a callable object.

    >>> name_of_function(functools.partial(max, 1))
    'max'
    """
    if isinstance(function, PythonEvaluator):
        return function.title
    if isinstance(function, functools.partial):
        return name_of_function(function.func)
    return str(getattr(function, "__name__", None) or type(function).__name__)
