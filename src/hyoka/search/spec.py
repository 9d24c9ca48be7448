# SPDX-License-Identifier: Apache-2.0
"""Searches named by a text, the same everywhere: `KIND` or `KIND:NAME=VALUE,…`.

uct:playouts=5000,widening=on
ab:depth=6,quiescence=off
mc:playouts=500
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from hyoka.errors import NotationError
from hyoka.search.settings import KINDS, Setting, Value, setting_named, settings_of

_LIMITS: Final = ("playouts", "a_move", "nodes", "depth", "time")


@dataclass(frozen=True)
class SearchSpec:
    """A search, and how much it may think.

    >>> spec = SearchSpec.from_text("uct:playouts=5000,widening=on")
    >>> spec.kind, spec["playouts"], spec["killer"]
    ('uct', 5000, False)
    >>> spec.text, spec.slug
    ('uct:playouts=5000,widening=on', 'uct-playouts5000-widening_on-1a210b0e')
    """

    kind: str
    chosen: tuple[tuple[str, Value], ...] = ()
    """What differs from the defaults, in the order of the table."""
    parts: dict[str, Any] = field(default_factory=dict)
    """Objects that have no text: `evaluator`, `evaluation`, `book`."""

    @classmethod
    def of(cls, kind: str, *, parts: dict[str, Any] | None = None, **settings: Any) -> "SearchSpec":
        """A spec from settings by name; None leaves a default. Raises NotationError."""
        known = {}
        for name, value in settings.items():
            setting = setting_named(kind, name)
            if value is not None:
                known[name] = setting.checked(value)
        table = settings_of(kind)
        chosen = tuple(
            (setting.name, known[setting.name])
            for setting in table
            if setting.name in known and known[setting.name] != setting.default
        )
        return cls(kind, chosen, dict(parts or {}))

    @classmethod
    def from_text(cls, text: str) -> "SearchSpec":
        """Read `KIND` or `KIND:NAME=VALUE,…`; raises NotationError with the nearest right name."""
        kind, _, rest = text.strip().partition(":")
        settings_of(kind)
        settings: dict[str, Any] = {}
        for part in filter(None, (part.strip() for part in rest.split(","))):
            name, equals, value = part.partition("=")
            setting = setting_named(kind, name.strip())
            if not equals:
                if setting.kind != "flag":
                    raise NotationError(f"'{part}' in '{text}' needs a value: {part}=…")
                value = "on"
            if setting.name in settings:
                raise NotationError(f"'{setting.name}' is set twice in '{text}'")
            settings[setting.name] = setting.read(value.strip())
        return cls.of(kind, **settings)

    @staticmethod
    def is_search(text: str) -> bool:
        """Whether a text begins with the name of a search, not of an engine's protocol."""
        return text.strip().partition(":")[0] in KINDS

    @staticmethod
    def settings_for(kind: str) -> list[Setting]:
        """What can be set about a kind of search."""
        return settings_of(kind)

    def has(self, name: str) -> bool:
        """Whether searches of this kind have a setting of this name."""
        return any(setting.name == name for setting in settings_of(self.kind))

    def __getitem__(self, name: str) -> Any:
        return dict(self.chosen).get(name, setting_named(self.kind, name).default)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchSpec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        parts = sorted((name, id(part)) for name, part in self.parts.items())
        return self.kind, self.chosen, tuple(parts)

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The text, and after it the parts that have none, by what they are called."""
        parts = [f"{name}={_called(part)}" for name, part in sorted(self.parts.items())]
        return " ".join([self.text, *parts])

    def with_settings(self, **settings: Any) -> "SearchSpec":
        """The same search with some settings changed; None brings a default back."""
        return SearchSpec.of(self.kind, parts=self.parts, **(dict(self.chosen) | settings))

    @property
    def text(self) -> str:
        """The text that `from_text` reads as this search."""
        settings = [
            f"{name}={setting_named(self.kind, name).text(value)}" for name, value in self.chosen
        ]
        return f"{self.kind}:{','.join(settings)}" if settings else self.kind

    @property
    def title(self) -> str:
        """What people call it: its kind and its limits."""
        limits = [f"{name} {self[name]:,}" for name in self._limits()]
        return " ".join([self.kind, *limits])

    @property
    def slug(self) -> str:
        """A readable name for a folder, unique to the settings and to what parts are called."""
        words = [self.kind]
        for name, value in self.chosen[:5]:
            separator = "" if isinstance(value, int | float) and value is not True else "_"
            words.append(f"{name}{separator}{setting_named(self.kind, name).text(value)}")
        safe = [re.sub(r"[^a-z0-9.]+", "_", word.lower()).strip("_.")[:24] for word in words]
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:8]
        return "-".join([*safe, digest])

    def _limits(self) -> Iterable[str]:
        names = {setting.name for setting in settings_of(self.kind)}
        return [name for name in _LIMITS if name in names and self[name]]


def _called(part: Any) -> str:
    """What a part made in Python is called: by its content where it has one, else by its name."""
    content = getattr(part, "fingerprint", None)
    if content is not None:
        return str(content)
    return str(getattr(part, "__qualname__", type(part).__qualname__))


def uct(**settings: Any) -> SearchSpec:
    """Monte-Carlo tree search; see `hyoka.search.settings.UCT_SETTINGS` for what can be set.

    `evaluator` may be a function that takes a list of positions and gives their values for the
    first player (0 to 1), or these and the strengths of each position's legal moves; it takes the
    place of playouts. `evaluation` (a `LinearEvaluation`, or a function that gives values) serves
    `prior` and `cut`; `book` is a `Book`.

    >>> uct(playouts=5000, widening=True).text
    'uct:playouts=5000,widening=on'
    """
    return _with_parts("uct", settings, ("evaluator", "evaluation", "book"))


def mc(**settings: Any) -> SearchSpec:
    """Flat Monte Carlo, the papers' classical model."""
    return _with_parts("mc", settings, ("evaluation",))


def mc_score(**settings: Any) -> SearchSpec:
    """Flat Monte Carlo by the mean final score."""
    return _with_parts("mc-score", settings, ("evaluation",))


def ab(**settings: Any) -> SearchSpec:
    """Alpha-beta; `evaluation` may be a `LinearEvaluation` or a function that gives scores.

    >>> ab(depth=6, quiescence=False).text
    'ab:depth=6,quiescence=off'
    """
    return _with_parts("ab", settings, ("evaluation",))


def _with_parts(kind: str, settings: dict[str, Any], names: Iterable[str]) -> SearchSpec:
    # A text (a file of records, say) is a setting like any other.
    parts = {
        name: settings.pop(name)
        for name in names
        if settings.get(name) is not None and not isinstance(settings[name], str)
    }
    return SearchSpec.of(kind, parts=parts, **settings)
