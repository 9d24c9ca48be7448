# SPDX-License-Identifier: Apache-2.0
"""Searches named by a text, the same everywhere: `KIND` or `KIND:NAME=VALUE,…`.

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
from hyoka.games import FACTS
from hyoka.models.book import Book
from hyoka.models.bundled import default_evaluation, default_strengths, has_network, named_network
from hyoka.models.model import StaticEvaluation
from hyoka.models.python_evaluator import name_of_function
from hyoka.search.effects import idle, is_default, usual
from hyoka.search.presets import names_in_presets, preset_settings
from hyoka.search.settings import KINDS, Setting, Value, setting_named, settings_of
from hyoka.storage.model_file import LEARNED, NETWORK, ModelFile

_LIMITS: Final = ("playouts", "a_move", "nodes", "depth", "time")


@dataclass(frozen=True)
class SearchSpec:
    """A search, and how much it may think.

    Specs that mean the same have one slug: what has no effect, or only says what is usual, does not
    count, and a file counts by its content, a function by its fingerprint. They are equal if they
    also say the same. Once its game is known (`for_game`), what a spec does not say is what plays
    that game best, unless it says `preset=paper`.

    >>> spec = SearchSpec.from_text("uct:playouts=5000,widening=on")
    >>> spec.kind, spec["playouts"], spec["killer"]
    ('uct', 5000, False)
    >>> spec.text, spec.slug
    ('uct:playouts=5000,widening=on', 'uct-playouts5000-widening_on-1a210b0e')
    """

    kind: str
    chosen: tuple[tuple[str, Value], ...] = ()
    """What was said and may differ from what is usual, in the order of the table."""
    parts: dict[str, Any] = field(default_factory=dict)
    """Objects that have no text: `evaluator`, `evaluation`, `book`."""
    game: str | None = None
    """What it searches, once that is known; None also for games written in Python."""

    @classmethod
    def of(cls, kind: str, *, parts: dict[str, Any] | None = None, **settings: Any) -> "SearchSpec":
        """A spec from settings by name; None leaves a default.

        Raises NotationError, also for a setting that has no effect beside the others in whatever
        game, and SourceError for a file that can't be read.
        """
        spec = cls._made(kind, settings, dict(parts or {}))
        _refuse(spec.idle_everywhere)
        return spec

    @classmethod
    def _made(cls, kind: str, settings: dict[str, Any], parts: dict[str, Any]) -> "SearchSpec":
        known = {}
        for name, value in settings.items():
            setting = setting_named(kind, name)
            if value is not None:
                known[name] = setting.checked(value)
        beside = usual(kind, known)
        # What is usual in one game need not be in another: what presets are about is kept.
        varied = names_in_presets(kind)
        chosen = tuple(
            (setting.name, value)
            for setting in settings_of(kind)
            if (value := known.get(setting.name)) is not None
            and (
                setting.name in varied
                or not value == setting.default == beside.get(setting.name, setting.default)
            )
        )
        return cls(kind, chosen, parts)

    def for_game(self, game: str | None) -> "SearchSpec":
        """The same search of a game: what is not said is what is known to play it best.

        >>> spec = SearchSpec.from_text("uct")
        >>> spec["formula"], spec.for_game("go9")["formula"]
        ('ucb1', 'puct')
        >>> SearchSpec.from_text("uct:preset=paper").for_game("go9")["formula"]
        'ucb1'
        """
        return dataclasses.replace(self, game=game)

    def validated_for(self, game: str | None) -> "SearchSpec":
        """The same for a spec that somebody wrote for this game.

        Raises NotationError for a setting that has an effect in other games' presets only.
        """
        spec = self.for_game(game)
        _refuse({name: why for name, why in spec.idle.items() if name not in self.idle_everywhere})
        return spec

    @cached_property
    def settled(self) -> dict[str, Value]:
        """What was said, and what the game's preset adds to it."""
        said = dict(self.chosen)
        settled = preset_settings(self.kind, self.game, said, self.parts) | said
        if self.game is None:
            return settled
        return {
            name: _bundled(name, value, self.game) if value in (LEARNED, NETWORK) else value
            for name, value in settled.items()
        }

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

    def is_file(self, name: str) -> bool:
        """Whether a setting names a file."""
        return setting_named(self.kind, name).kind == "file"

    def __getitem__(self, name: str) -> Any:
        default = usual(self.kind, self.settled).get(name, setting_named(self.kind, name).default)
        return self.settled.get(name, default)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchSpec) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        try:
            parts: tuple[Any, ...] = self.fingerprints
        except NotationError:  # what can't be told from others by its content is so by itself
            parts = tuple(sorted((name, id(part)) for name, part in self.parts.items()))
        return self.kind, self.chosen, parts, self.game

    @property
    def _that_count(self) -> tuple[tuple[str, Value], ...]:
        """The settings that make this search another one than the papers' own."""
        beside = usual(self.kind, self.settled)
        ignored = idle(self.kind, list(self.settled), self.__getitem__, self.parts)
        return tuple(
            (name, value)
            for name in (setting.name for setting in settings_of(self.kind))
            if (value := self.settled.get(name)) is not None
            and name not in ignored
            and name != "preset"
            and value != beside.get(name, setting_named(self.kind, name).default)
            and not is_default(self.kind, name, value, self.__getitem__)
        )

    @property
    def idle(self) -> dict[str, str]:
        """Settings and parts that have no effect beside the others, and why."""
        # To say what is usual anyway does no harm.
        names = [
            name for name, value in self.chosen if value != setting_named(self.kind, name).default
        ]
        return idle(self.kind, [*names, *self.parts], self.__getitem__, self.parts)

    @property
    def idle_everywhere(self) -> dict[str, str]:
        """The same whatever the game: where one's preset gives them an effect, they are not."""
        found = self.idle
        for game in FACTS if found else ():
            here = self.for_game(game).idle
            found = {name: why for name, why in found.items() if name in here}
        return found

    @cached_property
    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """What tells each part from others; raises NotationError where one can't be told."""
        return tuple((name, fingerprint(part)) for name, part in sorted(self.parts.items()))

    @property
    def fingerprint(self) -> str:
        """Some characters that tell this search from others; raises as `fingerprints`."""
        settings = [f"{name}={self._content(name, value)}" for name, value in self._that_count]
        text = f"{self.kind}:{','.join(settings)}" if settings else self.kind
        parts = [f"{name}={content}" for name, content in self.fingerprints]
        return hashlib.sha256(" ".join([text, *parts]).encode()).hexdigest()[:12]

    @property
    def model_files(self) -> dict[str, ModelFile]:
        """The files among the settings, as they were when the spec was read."""
        return {name: value for name, value in self.chosen if isinstance(value, ModelFile)}

    @property
    def contents(self) -> dict[str, str]:
        """What its text does not tell: files and parts by name, each by what tells it."""
        said = dict(self.chosen)
        files = {
            name: value.sha256
            for name, value in self.settled.items()
            if name in said and isinstance(value, ModelFile)
        }
        presets = [
            f"{name}={value.fingerprint if isinstance(value, ModelFile) else value}"
            for name, value in self.settled.items()
            if name not in said
        ]
        preset = {"preset": ",".join(presets)} if presets else {}
        return preset | files | dict(self.fingerprints)

    def _content(self, name: str, value: Value) -> str:
        if isinstance(value, ModelFile):
            return value.sha256
        return setting_named(self.kind, name).text(value)

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The text, and after it the parts that have none, by what they are called."""
        parts = [f"{name}={_called(part)}" for name, part in sorted(self.parts.items())]
        return " ".join([self.text, *parts])

    def with_settings(self, **settings: Any) -> "SearchSpec":
        """The same search with some settings changed; None brings a default back.

        Settings that have no effect yet are kept: others may follow.
        """
        made = SearchSpec._made(self.kind, dict(self.chosen) | settings, dict(self.parts))
        return made.for_game(self.game)

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
        """A readable name for a folder, unique to the settings, files and parts.

        Raises NotationError if a part can't be told from others.
        """
        words = [self.kind]
        said = dict(self.chosen)
        for name, value in [each for each in self._that_count if each[0] in said][:5]:
            separator = "" if isinstance(value, int | float) and value is not True else "_"
            words.append(f"{name}{separator}{self._content(name, value)[:24]}")
        safe = [re.sub(r"[^a-z0-9.]+", "_", word.lower()).strip("_.")[:24] for word in words]
        return "-".join([*safe, self.fingerprint[:8]])

    def _limits(self) -> Iterable[str]:
        names = {setting.name for setting in settings_of(self.kind)}
        return [name for name in _LIMITS if name in names and self[name]]


def _bundled(name: str, said: Value, game: str) -> Value:
    """What a setting is that says: what was learned for the game, or the network."""
    if said == NETWORK:
        # Where there is none, whoever asks for it says so.
        return named_network(game) if has_network(game) else said
    return default_evaluation(game) if name == "eval" else default_strengths(game)


def _refuse(idle_settings: Mapping[str, str]) -> None:
    for name, why in idle_settings.items():
        raise NotationError(f"'{name}' has no effect {why}")


def _called(part: Any) -> str:
    """What a part made in Python is called: a function by its name, else by its content."""
    return name_of_function(part) if callable(part) else str(getattr(part, "fingerprint", part))


def uct(**settings: Any) -> SearchSpec:
    """Monte-Carlo tree search; see `SearchSpec.settings_for("uct")` for what can be set.

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

    `book` is a `Book`.

    >>> ab(depth=6, quiescence=False).text
    'ab:depth=6,quiescence=off'
    """
    return _with_parts("ab", settings, ("evaluation", "book"))


def _with_parts(kind: str, settings: dict[str, Any], names: Iterable[str]) -> SearchSpec:
    # A file (of records, say) is a setting like any other.
    parts = {
        name: settings.pop(name)
        for name in names
        if settings.get(name) is not None and not isinstance(settings[name], str | Path | ModelFile)
    }
    for name, part in parts.items():
        if name == "book":
            fits = isinstance(part, Book)
            wanted = "a hyoka.Book, or the name of a file with one"
        else:
            ours = name == "evaluation" and isinstance(part, StaticEvaluation)
            fits = callable(part) or ours
            wanted = "a function" if name == "evaluator" else "an evaluation of ours or a function"
        if not fits:
            raise NotationError(f"'{name}' is {wanted}, not {part!r}")
    return SearchSpec.of(kind, parts=parts, **settings)
