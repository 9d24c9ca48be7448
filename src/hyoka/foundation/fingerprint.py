# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of Python code and of everything that it uses.

Two functions have the same fingerprint if their bytecode, constants, defaults, captured values and
used globals are the same; comments, local names and line numbers do not count. Python's own
objects and those of installed packages count as their name and the package's version. Nothing
depends on addresses or hash order, so each process computes the same fingerprints. Another version
of Python compiles other bytecode and gives another fingerprint.

A value whose content is not accessible (an open file, an object of a compiled class) is an error,
unless its owner gives it an attribute `fingerprint`.
"""

import collections
import dis
import enum
import functools
import hashlib
import inspect
import re
import struct
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np

from hyoka.foundation.errors import NotationError

_LENGTH: Final = 12
_MOST_DEEP: Final = 100
_INSTALLED: Final = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_NOT_CODE: Final = frozenset(
    (
        "__abstractmethods__",
        "__annotations__",
        "__dataclass_fields__",  # their generated methods contain what they do
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__qualname__",
        "__slots__",
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",
    )
)
"""Names in a class that do not affect what it computes."""

_FLAGS_THAT_COUNT: Final = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_OF_COMPILED_CLASSES: Final = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
_PLACES_OF_VALUES: Final = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    type(collections.namedtuple("_Pair", "one").one),  # type: ignore[attr-defined]
)
"""The class attributes that hold its objects' values."""


def fingerprint(value: Any) -> str:
    """Compute a short text that identifies a function or any other value.

    Raises NotationError if something that it uses has no fingerprint.

    >>> def half(game): return game.score / 2
    >>> fingerprint(half) == fingerprint(lambda game: game.score / 2)
    True
    >>> fingerprint(half) == fingerprint(lambda game: game.score / 3)
    False
    """
    declared = _declared(value)
    return declared if declared is not None else _Traversal(_name(value)).digest(value)[:_LENGTH]


def _declared(value: Any) -> str | None:
    """Return a value's own fingerprint; a class's is only for its objects."""
    if isinstance(value, type | types.ModuleType):
        return None
    declared = getattr(value, "fingerprint", None)
    return declared if isinstance(declared, str) and declared else None


def _name(value: Any) -> str:
    return str(getattr(value, "__qualname__", None) or type(value).__qualname__)


class _Traversal:
    """A traversal of a value and everything that it uses.

    Functions, classes and objects are written once each, in sequence, and referred to by number.
    So cycles end, and nothing is deeply nested.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._hash = hashlib.sha256()
        self._numbers: dict[int, int] = {}
        """Numbers by id; the objects are kept alive, so that ids stay unique."""
        self._described: list[tuple[Any, str]] = []

    def digest(self, value: Any, where: str = "") -> str:
        self._add_value(value, where, 0)
        for item, place in self._described:  # the list grows meanwhile
            self._add_content(item, place)
        return self._hash.hexdigest()

    def _add(self, kind: str, content: bytes | str = b"") -> None:
        data = content.encode(errors="surrogatepass") if isinstance(content, str) else content
        self._hash.update(f"{kind} {len(data)} ".encode())
        self._hash.update(data)

    def _add_value(self, value: Any, where: str, depth: int) -> None:
        if depth > _MOST_DEEP:
            raise self._refusal(where, "is nested too deeply")
        if (declared := _declared(value)) is not None:
            self._add("said", declared)
        elif (name := _installed_name(value)) is not None:
            self._add("installed", name)
        elif not self._add_plain(value) and not self._add_compound(value, where, depth + 1):
            self._add("number", str(self._numbers.setdefault(id(value), len(self._described))))
            if self._numbers[id(value)] == len(self._described):
                self._described.append((value, where))

    def _add_plain(self, value: Any) -> bool:
        """Add a simple value such as a number or text; return whether it was one."""
        kind = type(value)
        if value is None or value is Ellipsis or value is NotImplemented:
            self._add("constant", repr(value))
        elif kind in (bool, int, str):
            self._add(kind.__name__, hex(value) if kind is int else str(value))
        elif kind is float:
            self._add("float", struct.pack("<d", value))
        elif kind is complex:
            self._add("complex", struct.pack("<dd", value.real, value.imag))
        elif kind in (bytes, bytearray):
            self._add(kind.__name__, bytes(value))
        elif kind in (range, slice):
            self._add(kind.__name__, repr(value))
        elif kind is re.Pattern:
            self._add("pattern", f"{value.flags} {value.pattern!r}")
        elif isinstance(value, PurePath):
            self._add("path", str(value))
        elif (numbers := _numpy_bytes(value)) is not None:
            self._add("numpy", numbers)
        elif isinstance(value, _OF_COMPILED_CLASSES):
            self._add("compiled", f"{value.__objclass__.__module__}.{value.__qualname__}")
        elif kind.__module__.startswith("hyoka") and isinstance(getattr(value, "text", None), str):
            self._add(kind.__qualname__, value.text)  # a position, a move, a line
        else:
            return False
        return True

    def _add_compound(self, value: Any, where: str, depth: int) -> bool:
        """Add a container and its values; return whether it was one."""
        kind = type(value)
        if kind in (set, frozenset):
            digests = (_Traversal(self._name).digest(each, where) for each in value)
            self._add("set", " ".join(sorted(digests)))
            return True
        if kind in (dict, types.MappingProxyType):
            self._add_dict(value, where, depth)
            return True
        parts = value if kind in (tuple, list) else _parts_of(value)
        if parts is None:
            return False
        self._add_each(kind.__name__, parts, where, depth)
        return True

    def _add_each(self, kind: str, values: Iterable[Any], where: str, depth: int = 0) -> None:
        items = tuple(values)
        self._add(kind, str(len(items)))
        for value in items:
            self._add_value(value, where, depth)

    def _add_dict(self, values: Any, where: str, depth: int) -> None:
        digests = {_Traversal(self._name).digest(key, where): key for key in values}
        self._add("dict", str(len(values)))
        for digest, key in sorted(digests.items(), key=lambda item: item[0]):
            self._add("key", digest)
            self._add_value(values[key], f"{where}[{key!r}]", depth)

    def _add_content(self, value: Any, where: str) -> None:
        if isinstance(value, types.FunctionType):
            self._tell_function(value)
        elif isinstance(value, type):
            self._tell_class(value)
        elif isinstance(value, types.ModuleType):
            self._tell_module(value, where)
        else:
            self._tell_object(value, where)

    def _tell_function(self, function: types.FunctionType) -> None:
        where = function.__qualname__
        self._add("function")
        used = (function.__code__, function.__defaults__, function.__kwdefaults__)
        self._add_each("used", used, where)
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                self._add("nothing captured")
            else:
                self._add("captured")
                self._add_value(content, f"'{name}' in {where}", 0)
        for name in sorted(_globals_of(function.__code__)):
            if name in function.__globals__:
                self._add("global", name)
                self._add_value(function.__globals__[name], f"'{name}' in {where}", 0)
        attributes = {k: v for k, v in vars(function).items() if k != "__wrapped__"}
        self._add_value(attributes, where, 0)

    def _tell_class(self, kind: type) -> None:
        self._add("class", kind.__name__)
        self._add_each("bases", kind.__bases__, kind.__qualname__)
        own = {name: value for name, value in vars(kind).items() if name not in _NOT_CODE}
        if issubclass(kind, enum.Enum):
            own = {name: value for name, value in own.items() if not name.startswith("_")}
            own |= {member.name: member.value for member in kind}
        for name in sorted(own):
            if not isinstance(own[name], _PLACES_OF_VALUES):
                self._add("own", name)
                self._add_value(own[name], f"{kind.__qualname__}.{name}", 0)

    def _tell_module(self, module: types.ModuleType, where: str) -> None:
        """Add a module: by name and version, or a user's own by its source and imports."""
        self._add("module", module.__name__)
        if _is_installed(module.__name__):
            self._add("version", _version(module.__name__))
            return
        file = getattr(module, "__file__", None)
        if file is None or not file.endswith(".py"):
            raise self._refusal(where, f"is the module {module.__name__}, whose text can't be read")
        self._add("text", Path(file).read_bytes())
        for name in sorted(vars(module)):
            value = vars(module)[name]
            used = value if isinstance(value, types.ModuleType) else _own_module(value)
            if used is not None and used is not module:
                self._add_value(used, f"'{name}' in {module.__name__}", 0)

    def _tell_object(self, value: Any, where: str) -> None:
        """Add an object of a Python class: the class and its attributes' values."""
        kind = type(value)
        others = [each for each in kind.__mro__ if each not in (object, tuple)]
        if any(_is_installed(each.__module__) and not _is_empty(each) for each in others):
            raise self._refusal(where, f"is an object of {kind.__module__}.{kind.__qualname__}")
        self._add("object")
        self._add_value(kind, where, 0)
        if isinstance(value, tuple):
            self._add_each("tuple", tuple(value), where)
        places = [
            name
            for each in kind.__mro__
            for name, own in vars(each).items()
            if isinstance(own, types.MemberDescriptorType)
        ]
        attributes = {name: getattr(value, name) for name in places if hasattr(value, name)}
        attributes |= getattr(value, "__dict__", {})
        for name in sorted(attributes):
            self._add("attribute", name)
            self._add_value(attributes[name], f"'{name}' in {where or kind.__qualname__}", 0)

    def _refusal(self, where: str, why: str) -> NotationError:
        return NotationError(
            f"what tells '{self._name}' from others can't be seen: {where or 'it'} {why}; "
            'add fingerprint="…", some text that you change when its answers change '
            '(an attribute, or hyoka.PythonEvaluator(function, fingerprint="…"))'
        )


def _numpy_bytes(value: Any) -> bytes | None:
    """Return the content of NumPy arrays, numbers and types; None for others."""
    kind = type(value)
    if isinstance(value, np.dtype):
        shape = None
        dtype, content = value, b""
    elif kind in (np.ndarray, np.memmap) or isinstance(value, np.generic):
        shape = value.shape
        dtype, content = value.dtype, value.tobytes()
    else:
        return None
    if dtype.hasobject:
        return None
    return f"{np.lib.format.dtype_to_descr(dtype)} {shape} ".encode() + content


def _parts_of(value: Any) -> tuple[Any, ...] | None:
    """Return the components of some kinds of values; None for others."""
    for kind, parts in _MADE_OF:
        if isinstance(value, kind):
            return parts(value)
    return None


def _parts_of_code(code: types.CodeType) -> tuple[Any, ...]:
    return (
        sys.version_info[:2],
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        code.co_flags & _FLAGS_THAT_COUNT,
        # A caller may give arguments by name.
        code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
        code.co_code,
        code.co_exceptiontable,
        code.co_names,
        code.co_consts,
    )


_MADE_OF: Final[tuple[tuple[Any, Callable[[Any], tuple[Any, ...]]], ...]] = (
    (enum.Enum, lambda member: (member.name, type(member))),
    (functools.partial, lambda partial: (partial.func, partial.args, partial.keywords)),
    (types.MethodType, lambda method: (method.__func__, method.__self__)),
    (
        types.BuiltinMethodType | types.MethodWrapperType,
        lambda method: (method.__name__, method.__self__),
    ),
    (staticmethod | classmethod, lambda method: (method.__func__,)),
    (property, lambda each: (each.fget, each.fset, each.fdel)),
    (functools.cached_property, lambda each: (each.func,)),
    (functools._lru_cache_wrapper, lambda cached: (cached.__wrapped__,)),
    (types.CodeType, _parts_of_code),
)


def _globals_of(code: types.CodeType) -> set[str]:
    """List the globals that code names, including nested functions and classes."""
    names = {
        each.argval
        for each in dis.get_instructions(code)
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _globals_of(constant)
    return names


def _is_empty(kind: type) -> bool:
    """Whether a base class holds no values of its own."""
    return kind.__module__ in ("abc", "typing", "enum")


def _own_module(value: Any) -> types.ModuleType | None:
    """Return the user's own module that a function or class comes from."""
    if not isinstance(value, types.FunctionType | type):
        return None
    module = sys.modules.get(value.__module__ or "")
    return None if module is None or _is_installed(module.__name__) else module


def _installed_name(value: Any) -> str | None:
    """Return an installed package's name for an object, with the package's version."""
    module = getattr(value, "__module__", None)
    if isinstance(value, types.BuiltinFunctionType) and isinstance(
        value.__self__, types.ModuleType
    ):
        module = value.__self__.__name__
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if isinstance(value, np.ufunc):
        module = "numpy"
    if not isinstance(module, str) or not isinstance(name, str) or not _is_installed(module):
        return None
    part_value: Any = sys.modules.get(module)
    for part in name.split("."):
        part_value = getattr(part_value, part, None)
    return f"{module}.{name} {_version(module)}" if part_value is value else None


@functools.cache
def _is_installed(module: str) -> bool:
    """Whether a module belongs to Python, Hyoka or an installed package."""
    top = module.partition(".")[0]
    if top == "__main__":
        return False
    if top in (*sys.builtin_module_names, *sys.stdlib_module_names, "hyoka"):
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return False
    return any(place in Path(file).resolve().parents for place in _INSTALLED)


def _version(module: str) -> str:
    top = module.partition(".")[0]
    return str(getattr(sys.modules.get(top), "__version__", ""))
