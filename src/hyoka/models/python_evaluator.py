# SPDX-License-Identifier: Apache-2.0
"""Functions in Python as evaluators: with a name for people and a fingerprint for their values."""

import functools
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hyoka.foundation.errors import NotationError
from hyoka.foundation.fingerprint import fingerprint

_UNITS: Final = ("centipawns", "points")


@dataclass(frozen=True)
class PythonEvaluator:
    """A function with a name, and what tells it from others.

    As an evaluator of a study it takes a position and gives the first player's expected result, 0
    to 1, or an `Evaluation`. As `evaluator` or `evaluation` of a search it takes a list of
    positions and gives a list.

    The name is the function's own unless given; a lambda needs one. The fingerprint is made of its
    code and of everything that it uses (see `hyoka.fingerprint`); where that can't be seen, a
    trained network, say, give one: some text that changes when the answers do.

    >>> def middle(position):
    ...     return 0.5
    >>> PythonEvaluator(middle).name, PythonEvaluator(lambda p: 0.5, "even").name
    ('middle', 'even')
    """

    function: Callable[..., Any] = field(compare=False)
    name: str = ""
    fingerprint: str = ""
    unit: str = ""
    """Of a study's evaluator that gives the first player's score: `centipawns` or `points`; it
    gives expected results, 0 to 1, unless a unit is said."""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise NotationError(f"no function, nor a spec: {self.function!r}")
        name = self.name.strip() or name_of_function(self.function)
        if name == "<lambda>":
            raise NotationError(
                'a lambda has no name; give it one: hyoka.PythonEvaluator(function, name="…")'
            )
        if not name.isprintable():
            raise NotationError(f"a name is one printable line, not {name!r}")
        object.__setattr__(self, "name", name)
        if self.unit not in ("", *_UNITS):
            raise NotationError(f"a unit of scores is {' or '.join(_UNITS)}, not '{self.unit}'")
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", fingerprint(self.function))

    def __call__(self, *arguments: Any) -> Any:
        """Ask the function."""
        return self.function(*arguments)

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name

    @property
    def text(self) -> str:
        """Its name: no text says what a function does."""
        return self.name

    @property
    def contents(self) -> dict[str, str]:
        """What its name does not tell."""
        return {"function": self.fingerprint, **({"unit": self.unit} if self.unit else {})}

    @property
    def model_files(self) -> dict[str, object]:
        """None."""
        return {}

    @property
    def slug(self) -> str:
        """A readable name for a folder, unique to the name and the fingerprint."""
        safe = re.sub(r"[^a-z0-9.]+", "_", self.name.lower()).strip("_.")[:24]
        identity = "\n".join(filter(None, [self.name, self.fingerprint, self.unit]))
        digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
        return "-".join(filter(None, ["python", safe, digest]))


def name_of_function(function: object) -> str:
    """What a function is called, or the class of an object that can be called.

    >>> name_of_function(functools.partial(max, 1))
    'max'
    """
    if isinstance(function, PythonEvaluator):
        return function.name
    if isinstance(function, functools.partial):
        return name_of_function(function.func)
    return str(getattr(function, "__name__", None) or type(function).__name__)
