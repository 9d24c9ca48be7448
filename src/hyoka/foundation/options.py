# SPDX-License-Identifier: Apache-2.0
"""Options declared once, as fields of a plan dataclass.

A field declared by `option` has a default, a help text and a range. The command line, the studio's
forms and the docs read them with `options_of`; `make_plan` builds the plan from their values. A
plan checks its ranges with `check_options` in `__post_init__`. Other fields are no options.

>>> @dataclass(frozen=True, kw_only=True)
... class Plan:
...     passes: int = option(3, "Passes over the training games.", min=1)
...     rate: float = option(0.5, "Learning rate.", above=0)
...     descent: Literal["adaptive", "plain"] = option("adaptive", "Step sizes.")
...     terms: Sequence[str] = option((), "A term, repeatable.", name="term")
...     def __post_init__(self) -> None:
...         check_options(self)
>>> [each.name for each in options_of(Plan)]
['passes', 'rate', 'descent', 'term']
>>> make_plan(Plan, {"passes": "5", "terms": ["material"]})
Plan(passes=5, rate=0.5, descent='adaptive', terms=['material'])
>>> Plan(passes=0)
Traceback (most recent call last):
hyoka.foundation.errors.ParameterError: `passes` is at least 1, not 0
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, Union, overload

from hyoka.foundation.errors import NotationError, ParameterError

_KEY: Final = "option"
_SCALARS: Final = (bool, int, float, str, Path)
WHERE_HELP: Final = (
    'SQL condition on positions, such as "ply >= 20 and not in_check"; `hyoka study columns` lists '
    "the names."
)
"""The help of options with a condition on a study's positions."""
P = TypeVar("P")
N = TypeVar("N", int, float)


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a plan: the declaration by `option` and the type of its field."""

    field: str = ""
    """The field of the plan."""
    name: str = ""
    """The name in command lines and forms; by default the field's."""
    help: str = ""
    type: Any = str
    """bool, int, float, str or Path; str also if `parse` reads the value."""
    default: Any = ...
    """`...` if the option is required."""
    min: float | None = None
    max: float | None = None
    above: float | None = None
    """A minimum that is not itself allowed."""
    choices: tuple[str, ...] = ()
    metavar: str = ""
    """A placeholder for the value, such as ELO0,ELO1."""
    is_optional: bool = False
    """Whether None is a value."""
    is_repeatable: bool = False
    parse: Callable[[Any], Any] | None = None
    """Reads the value from a text, or from the list of texts if it is repeatable."""

    def check(self, value: Any) -> None:
        """Raise ParameterError for a value outside the range or choices."""
        if isinstance(value, bool) or value is None or self.parse is not None:
            return
        if self.choices and value not in self.choices:
            choices = ", ".join(self.choices)
            raise ParameterError(self.field, f"is one of {choices}, not '{value}'")
        if isinstance(value, int | float):
            if isinstance(value, float) and not math.isfinite(value):
                raise ParameterError(self.field, f"is a finite number, not {value}")
            if self.above is not None and value <= self.above:
                raise ParameterError(self.field, f"is above {self.above:g}, not {value:g}")
            if self.min is not None and value < self.min:
                raise ParameterError(self.field, f"is at least {self.min:g}, not {value:g}")
            if self.max is not None and value > self.max:
                raise ParameterError(self.field, f"is at most {self.max:g}, not {value:g}")

    def read(self, value: Any) -> Any:
        """Convert a text of a form, or a value of the command line, to the field's value."""
        if self.parse is not None:
            return self.parse(value) if isinstance(value, str | list) else value
        if self.is_repeatable and not isinstance(value, str):
            return value
        if not isinstance(value, str) or self.type is str:
            return value
        if self.type is bool:
            return value in ("true", "on", "1", "yes")
        try:
            return self.type(value)
        except ValueError:
            kind = "an integer" if self.type is int else "a number"
            raise ParameterError(self.field, f"is {kind}, not '{value}'") from None


def option(
    default: Any = MISSING, help: str = "", *, default_factory: Any = MISSING, **declared: Any
) -> Any:
    """Declare a field of a plan as an option.

    `declared` are attributes of `Option`: `min`, `max`, `above`, `choices`, `metavar`, `name`,
    `parse`. Types other than bool, int, float, str, Path, their optional and repeatable forms, and
    literals need `parse`.
    """
    metadata = {_KEY: Option(help=help, **declared)}
    if default_factory is not MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    if default is MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def options_of(plan: Any) -> tuple[Option, ...]:
    """Return the options of a plan's class; of a plan itself, with its values as defaults."""
    cls = plan if isinstance(plan, type) else type(plan)
    hints = typing.get_type_hints(cls)
    options = []
    for field in dataclasses.fields(cls):
        declared: Option | None = field.metadata.get(_KEY)
        if declared is None:
            continue
        default = ... if field.default is MISSING else field.default
        if not isinstance(plan, type):
            default = getattr(plan, field.name)
        elif field.default_factory is not MISSING:
            default = field.default_factory()
        kind, is_optional, is_repeatable, choices = _type_of(hints[field.name])
        if declared.parse is not None:
            kind, is_repeatable, choices = str, declared.is_repeatable, ()
        if kind not in _SCALARS:
            raise TypeError(f"{cls.__name__}.{field.name} needs parse=…")
        options.append(
            dataclasses.replace(
                declared,
                field=field.name,
                name=declared.name or field.name,
                type=kind,
                default=default,
                choices=tuple(declared.choices) or choices,
                is_optional=is_optional,
                is_repeatable=is_repeatable,
            )
        )
    return tuple(options)


@overload
def make_plan(plan: type[P], values: Mapping[str, Any], **others: Any) -> P: ...
@overload
def make_plan(plan: P, values: Mapping[str, Any], **others: Any) -> P: ...
def make_plan(plan: Any, values: Mapping[str, Any], **others: Any) -> Any:
    """Build a plan from options by field; unset ones keep the defaults of the class or plan.

    `others` are values of further fields.
    """
    options = {each.field: each for each in options_of(plan)}
    read = {name: options[name].read(value) for name, value in values.items()}
    if isinstance(plan, type):
        return plan(**read, **others)
    return dataclasses.replace(plan, **read, **others)


def check_options(plan: Any) -> None:
    """Raise ParameterError for an option outside its range or choices."""
    for each in options_of(type(plan)):
        value = getattr(plan, each.field)
        for item in value if isinstance(value, list | tuple) else (value,):
            each.check(item)


def read_numbers(text: str) -> list[float]:
    """Read finite numbers separated by commas.

    >>> read_numbers("20,30.5")
    [20.0, 30.5]
    """
    return _finite(text, float, "list of numbers such as 20,30,40")


def read_integers(text: str) -> list[int]:
    """Read integers separated by commas.

    >>> read_integers("0,10,20")
    [0, 10, 20]
    """
    return _finite(text, int, "list of integers such as 20,30,40")


def read_range(text: str) -> tuple[float, float]:
    """Read two finite numbers separated by a comma."""
    what = "range such as -300,300"
    numbers = _finite(text, float, what)
    if len(numbers) != 2:
        raise NotationError(f"'{text}' is no {what}")
    return numbers[0], numbers[1]


def read_number(text: str) -> float:
    """Read a finite number."""
    (number,) = _finite(text, float, "finite number", separator=None)
    return number


def _finite(text: str, kind: Callable[[str], N], what: str, separator: str | None = ",") -> list[N]:
    """Read finite numbers; raises NotationError."""
    try:
        numbers = [kind(part) for part in (text.split(separator) if separator else [text])]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise NotationError(f"'{text}' is no {what}")
    return numbers


def _type_of(hint: Any) -> tuple[Any, bool, bool, tuple[str, ...]]:
    """Return a type's scalar, whether it is optional or repeatable, and its choices."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType) and type(None) in arguments:
        rest = [each for each in arguments if each is not type(None)]
        kind, _, is_repeatable, choices = _type_of(rest[0] if len(rest) == 1 else object)
        return kind, True, is_repeatable, choices
    if origin is Literal:
        return str, False, False, tuple(arguments)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        kind, _, _, choices = _type_of(arguments[0])
        return kind, False, True, choices
    return hint, False, False, ()
