# SPDX-License-Identifier: Apache-2.0
"""Specs of searches: `KIND` or `KIND:NAME=VALUE,…`.

uct:playouts=5000,widening=on
ab:depth=6,quiescence=off
mc:playouts=500
"""

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from hyoka.foundation.errors import NotationError
from hyoka.foundation.fingerprint import fingerprint
from hyoka.foundation.text import DefaultTitle, limit_title
from hyoka.games import FACTS
from hyoka.models.book import Book
from hyoka.models.bundled import default_evaluation, default_strengths, has_network, named_network
from hyoka.models.model import StaticEvaluation
from hyoka.models.python_evaluator import name_of_function
from hyoka.search.settings import (
    Options,
    Setting,
    Value,
    options_of,
    preset_names,
    preset_settings,
    setting_named,
    settings_of,
)
from hyoka.storage.model_file import LEARNED, NETWORK, ModelFile

_CUSTOM: Final = "custom evaluation"
_TITLES: Final = {
    "uct": "UCT",
    "mc": "Monte Carlo",
    "mc-score": "Monte Carlo by score",
    "ab": "Alpha-beta",
    "mate": "Mate search",
    "exact": "Exact solver",
    "random": "Random",
    "ranking": "Move ranking",
}


@dataclass(frozen=True)
class SearchSpec:
    """A search with its settings and limits.

    Equivalent specs share an id: ineffective and default settings are ignored; files are compared
    by content, functions by fingerprint. Equal specs also have the same text. `for_game` fills in
    per-game default settings, unless the spec has `preset=paper`.

    >>> spec = SearchSpec.from_text("uct:playouts=5000,widening=on")
    >>> spec.kind, spec["playouts"], spec["killer"]
    ('uct', 5000, False)
    >>> spec.text, spec.id
    ('uct:playouts=5000,widening=on', 'uct-playouts5000-widening_on-1a210b0e')
    >>> spec.title
    'UCT, 5,000 playouts'
    """

    kind: str
    chosen: tuple[tuple[str, Value], ...] = ()
    """The settings of the text that may differ from the defaults, in the order of the table."""
    parts: dict[str, Any] = field(default_factory=dict)
    """Python objects: `evaluator`, `evaluation`, `book`."""
    game: str | None = None
    """The name of the game, if it is set; None for games written in Python."""
    title: str = field(default="", compare=False)
    """A name for people; by default the kind, the limits and the evaluation."""

    def __post_init__(self) -> None:
        if not self.title or isinstance(self.title, DefaultTitle):
            object.__setattr__(self, "title", DefaultTitle(self._default_title))

    @classmethod
    def of(
        cls, kind: str, *, parts: dict[str, Any] | None = None, title: str = "", **settings: Any
    ) -> "SearchSpec":
        """Create a spec from settings by name; None leaves a default.

        Raises NotationError, also for a setting that has no effect in any game, and SourceError
        for a file that can't be read.
        """
        spec = cls._of(kind, settings, dict(parts or {}), title)
        _refuse(spec.ineffective_everywhere)
        return spec

    @classmethod
    def _of(
        cls, kind: str, settings: dict[str, Any], parts: dict[str, Any], title: str
    ) -> "SearchSpec":
        values = {}
        for name, value in settings.items():
            setting = setting_named(kind, name)
            if value is not None:
                values[name] = setting.validate(value)
        options = options_of(kind, values.items())
        # Defaults of settings in presets differ by game, so these are not dropped.
        in_presets = preset_names(kind)
        chosen = tuple(
            (setting.name, value)
            for setting in settings_of(kind)
            if (value := values.get(setting.name)) is not None
            and (
                setting.name in in_presets
                or not value == setting.default == options.default(setting.name)
            )
        )
        return cls(kind, chosen, parts, title=title)

    def for_game(self, game: str | None) -> "SearchSpec":
        """The same search with the game's default settings.

        >>> spec = SearchSpec.from_text("uct")
        >>> spec["formula"], spec.for_game("go9")["formula"]
        ('ucb1', 'puct')
        >>> SearchSpec.from_text("uct:preset=paper").for_game("go9")["formula"]
        'ucb1'
        """
        return dataclasses.replace(self, game=game)

    def validated_for(self, game: str | None) -> "SearchSpec":
        """The same as `for_game`, validated.

        Raises NotationError for a setting that has an effect with other games' presets only.
        """
        spec = self.for_game(game)
        everywhere = self.ineffective_everywhere
        _refuse({name: why for name, why in spec.ineffective.items() if name not in everywhere})
        return spec

    @cached_property
    def resolved(self) -> dict[str, Value]:
        """The chosen settings and those that the game's preset adds."""
        chosen = dict(self.chosen)
        resolved = preset_settings(self.kind, self.game, chosen, self.parts) | chosen
        if self.game is None:
            return resolved
        return {
            name: _bundled(name, value, self.game) if value in (LEARNED, NETWORK) else value
            for name, value in resolved.items()
        }

    @classmethod
    def from_text(cls, text: str) -> "SearchSpec":
        """Parse `KIND` or `KIND:NAME=VALUE,…`; raises NotationError with the nearest name."""
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
    def settings_for(kind: str) -> list[Setting]:
        """The settings of a kind of search."""
        return settings_of(kind)

    def has(self, name: str) -> bool:
        """Whether searches of this kind have a setting of this name."""
        return any(setting.name == name for setting in settings_of(self.kind))

    def is_file(self, name: str) -> bool:
        """Whether a setting names a file."""
        return setting_named(self.kind, name).kind == "file"

    def __getitem__(self, name: str) -> Any:
        setting = setting_named(self.kind, name)
        if name in self.resolved or setting.default is None or setting.kind == "file":
            return self.resolved.get(name, setting.default)
        return self.options.get(name)

    @property
    def options(self) -> Options:
        """The options of the compiled core, with defaults that depend on other settings."""
        return options_of(self.kind, self.resolved.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchSpec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        try:
            parts: tuple[Any, ...] = self._part_fingerprints
        except NotationError:  # without a fingerprint, parts are compared by identity
            parts = tuple(sorted((name, id(part)) for name, part in self.parts.items()))
        return self.kind, self.chosen, parts, self.game

    @property
    def _distinguishing(self) -> tuple[tuple[str, Value], ...]:
        """The settings that make this search differ from the default without a preset."""
        options, ignored = self.options, self._without_effect
        return tuple(
            (setting.name, value)
            for setting in settings_of(self.kind)
            if (value := self.resolved.get(setting.name)) is not None
            and setting.name not in ignored
            and setting.name != "preset"
            and value
            != (self[setting.same_as] if setting.same_as else options.default(setting.name))
        )

    @property
    def ineffective(self) -> dict[str, str]:
        """Settings and parts that have no effect beside the others, and why."""
        # Default values are harmless.
        names = [
            name for name, value in self.chosen if value != setting_named(self.kind, name).default
        ]
        reasons = self._without_effect
        return {name: reasons[name] for name in [*names, *self.parts] if name in reasons}

    @property
    def _without_effect(self) -> dict[str, str]:
        """All settings and parts without effect, whether they are chosen or not, and why."""
        objects = {
            name: "weights" if hasattr(part, "weights") else "function"
            for name, part in self.parts.items()
        }
        files = {name: "FILE" for name in self.resolved if self.is_file(name)}
        return self.options.ineffective(objects | files)

    @property
    def ineffective_everywhere(self) -> dict[str, str]:
        """Settings and parts that have no effect with any game's preset, and why."""
        reasons = self.ineffective
        for game in FACTS if reasons else ():
            of_game = self.for_game(game).ineffective
            reasons = {name: why for name, why in reasons.items() if name in of_game}
        return reasons

    @cached_property
    def _part_fingerprints(self) -> tuple[tuple[str, str], ...]:
        """A fingerprint of each part; raises NotationError for a part that has none."""
        return tuple((name, fingerprint(part)) for name, part in sorted(self.parts.items()))

    @property
    def fingerprint(self) -> str:
        """A short hash of the search; raises NotationError for a part that has none."""
        settings = [f"{name}={self._content(name, value)}" for name, value in self._distinguishing]
        text = f"{self.kind}:{','.join(settings)}" if settings else self.kind
        parts = [f"{name}={content}" for name, content in self._part_fingerprints]
        return hashlib.sha256(" ".join([text, *parts]).encode()).hexdigest()[:12]

    @property
    def dependencies(self) -> dict[str, str]:
        """Hashes of files and parts by name, and the preset."""
        chosen = dict(self.chosen)
        files = {
            name: value.sha256
            for name, value in self.resolved.items()
            if name in chosen and isinstance(value, ModelFile)
        }
        presets = [
            f"{name}={value.fingerprint if isinstance(value, ModelFile) else value}"
            for name, value in self.resolved.items()
            if name not in chosen
        ]
        preset = {"preset": ",".join(presets)} if presets else {}
        return preset | files | dict(self._part_fingerprints)

    def _content(self, name: str, value: Value) -> str:
        if isinstance(value, ModelFile):
            return value.sha256
        return setting_named(self.kind, name).text(value)

    def __str__(self) -> str:
        """Return the text, followed by the names of the parts."""
        parts = [f"{name}={_name_of(part)}" for name, part in sorted(self.parts.items())]
        return " ".join([self.text, *parts])

    def with_settings(self, **settings: Any) -> "SearchSpec":
        """The same search with some settings changed; None restores a default.

        Ineffective settings stay: later changes may give them an effect.
        """
        spec = SearchSpec._of(self.kind, dict(self.chosen) | settings, dict(self.parts), self.title)
        return spec.for_game(self.game)

    @property
    def text(self) -> str:
        """The text that `from_text` parses to this search."""
        settings = [
            f"{name}={setting_named(self.kind, name).text(value)}" for name, value in self.chosen
        ]
        return f"{self.kind}:{','.join(settings)}" if settings else self.kind

    @property
    def _default_title(self) -> str:
        chosen = dict(self.chosen)
        kind = "PUCT" if chosen.get("formula") == "puct" else _TITLES.get(self.kind, self.kind)
        limits = [
            limit_title(setting.name, self[setting.name])
            for setting in settings_of(self.kind)
            if setting.is_limit and chosen.get(setting.name)
        ]
        names = [
            name_of_function(part) if callable(part) else _CUSTOM
            for name, part in self.parts.items()
            if name != "book"
        ]
        evaluations = [_CUSTOM if name == "<lambda>" else name for name in names]
        if isinstance(file := chosen.get("eval"), ModelFile):
            evaluations.append(Path(file.path).name if file.path else _CUSTOM)
        elif file in (LEARNED, NETWORK):
            evaluations.append("network" if file == NETWORK else "learned evaluation")
        return ", ".join([kind, *limits, *evaluations])

    @property
    def id(self) -> str:
        """A readable identifier for files, unique to the settings, files and parts.

        Raises NotationError for a part without a fingerprint.
        """
        words = [self.kind]
        chosen = dict(self.chosen)
        for name, value in [each for each in self._distinguishing if each[0] in chosen][:5]:
            separator = "" if isinstance(value, int | float) and value is not True else "_"
            words.append(f"{name}{separator}{self._content(name, value)[:24]}")
        safe = [re.sub(r"[^a-z0-9.]+", "_", word.lower()).strip("_.")[:24] for word in words]
        return "-".join([*safe, self.fingerprint[:8]])


def _bundled(name: str, value: Value, game: str) -> Value:
    """The bundled model that `learned` or `network` stands for."""
    if value == NETWORK:
        # Without a network, loading the model raises the error.
        return named_network(game) if has_network(game) else value
    return default_evaluation(game) if name == "eval" else default_strengths(game)


def _refuse(ineffective_settings: Mapping[str, str]) -> None:
    for name, why in ineffective_settings.items():
        raise NotationError(f"'{name}' has no effect {why}")


def _name_of(part: Any) -> str:
    return name_of_function(part) if callable(part) else str(getattr(part, "fingerprint", part))


def uct(**settings: Any) -> SearchSpec:
    """Monte-Carlo tree search; `SearchSpec.settings_for("uct")` lists the settings.

    `evaluator` may be a function that takes a list of positions and returns their values for the
    first player (0 to 1), or these and the strengths of each position's legal moves; it replaces
    playouts. `evaluation` (a `StaticEvaluation`, or a function that returns values) serves
    `eval_visits`, `eval_weight` and `cutoff`; `book` is a `Book`.

    >>> uct(playouts=5000, widening=True).text
    'uct:playouts=5000,widening=on'
    """
    return _with_parts("uct", settings, ("evaluator", "evaluation", "book"))


def mc(**settings: Any) -> SearchSpec:
    """Flat Monte Carlo."""
    return _with_parts("mc", settings, ("evaluation",))


def mc_score(**settings: Any) -> SearchSpec:
    """Flat Monte Carlo by the mean final score."""
    return _with_parts("mc-score", settings, ("evaluation",))


def ab(**settings: Any) -> SearchSpec:
    """Alpha-beta; `evaluation` may be a `StaticEvaluation` or a function that returns scores.

    `book` is a `Book`.

    >>> ab(depth=6, quiescence=False).text
    'ab:depth=6,quiescence=off'
    """
    return _with_parts("ab", settings, ("evaluation", "book"))


def _with_parts(kind: str, settings: dict[str, Any], names: Iterable[str]) -> SearchSpec:
    # Files are settings.
    parts = {
        name: settings.pop(name)
        for name in names
        if settings.get(name) is not None and not isinstance(settings[name], str | Path | ModelFile)
    }
    for name, part in parts.items():
        if name == "book":
            fits = isinstance(part, Book)
            expected = "a hyoka.Book, or the name of a file with one"
        else:
            is_evaluation = name == "evaluation" and isinstance(part, StaticEvaluation)
            fits = callable(part) or is_evaluation
            expected = "a function" if name == "evaluator" else "a StaticEvaluation or a function"
        if not fits:
            raise NotationError(f"'{name}' is {expected}, not {part!r}")
    return SearchSpec.of(kind, parts=parts, **settings)
