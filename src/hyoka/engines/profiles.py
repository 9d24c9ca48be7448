# SPDX-License-Identifier: Apache-2.0
"""Profiles of GTP engines: the commands that evaluate, and how to read the answers."""

import functools
import importlib.resources
import re
import string
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from hyoka.engines.spec import KEYS
from hyoka.foundation.errors import NotationError, nearest
from hyoka.storage.model_file import ModelFile

UNITS: Final = {"probability": 1.0, "percent": 100.0, "permyriad": 10_000.0}
"""The units of a pattern's `value`, and the number that means certainty in each."""
GROUPS: Final = frozenset({"value", "score", "winner", "best", "nodes"})
_CHOICES: Final = {
    "view": ("black", "white", "mover"),
    "unit": tuple(UNITS),
    "read": ("answers", "stderr"),
}
_DEFAULT_LIMITS: Final = {"level": "level {level}", "time": "time_settings 0 {seconds} 1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Commands that evaluate with one kind of GTP engine: see `docs/reference/engines.md`."""

    name: str
    match: str = ""
    needs: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    """`go` for all sizes, `othello`, `blokus_duo`; empty for any."""
    start: tuple[str, ...] = ()
    ask: tuple[str, ...] = ("{genmove}",)
    pattern: str = ""
    read: str = "answers"
    view: str = "mover"
    unit: str = "probability"
    undo: bool = False
    passes: bool = True
    option: str = ""
    limit: Mapping[str, str] = field(default_factory=dict)
    forget: tuple[str, ...] = ()

    def fits(self, names: Sequence[str], commands: Collection[str]) -> bool:
        """Whether the profile fits an engine with these names and commands."""
        supported = all(command in commands for command in self.needs)
        return supported and any(re.search(self.match, name) for name in names)

    def limit_command(self, key: str) -> str | None:
        """Return the template of the command that sets a limit; None if there is no such limit."""
        return {**_DEFAULT_LIMITS, **self.limit}.get(key)


def read_profiles(text: str, source: str) -> tuple[Profile, ...]:
    """Read the profiles in a TOML text, in order. Raises NotationError."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise NotationError(f"{source}: nested too deeply") from None
    except ValueError as error:  # overlong numbers raise ValueError too
        raise NotationError(f"{source}: {error}") from error
    if not tables:
        raise NotationError(f"{source}: there is no profile in it")
    return tuple(_profile(name, table, f"{source}, [{name}]") for name, table in tables.items())


def _profile(name: str, table: object, where: str) -> Profile:
    if not isinstance(table, dict):
        raise NotationError(f"{where}: a profile is a table")
    keys = [each.name for each in fields(Profile) if each.name != "name"]
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key not in keys:
            hint = nearest(key, keys) or f"known: {', '.join(keys)}"
            raise NotationError(f"{where}: no key '{key}'; {hint}")
        settings[key] = _setting(key, value, f"{where}, {key}")
    return Profile(name=name, **settings)


def _setting(key: str, value: object, where: str) -> Any:
    if key in ("undo", "passes"):
        if not isinstance(value, bool):
            raise NotationError(f"{where}: true or false, not {value!r}")
        return value
    if key in ("needs", "games", "start", "ask", "forget"):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise NotationError(f"{where}: a list of texts, not {value!r}")
        if key == "ask":
            _check_templates(value, {"color", "genmove"}, where)
        return tuple(value)
    if key == "limit":
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise NotationError(f"{where}: a table of texts, not {value!r}")
        for limit in value.keys() - KEYS.keys():
            raise NotationError(f"{where}: no limit '{limit}'; known: {', '.join(KEYS)}")
        _check_templates(value.values(), {*KEYS, "seconds"}, where)
        return value
    if not isinstance(value, str):
        raise NotationError(f"{where}: a text, not {value!r}")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise NotationError(f"{where}: one of {', '.join(_CHOICES[key])}, not '{value}'")
    if key in ("match", "pattern"):
        _check_pattern(value, where)
    if key == "option":
        _check_templates([value], {"name", "value"}, where)
    return value


def _check_pattern(text: str, where: str) -> None:
    try:
        groups = re.compile(text).groupindex
    except re.error as error:
        raise NotationError(f"{where}: {error}") from None
    for group in groups.keys() - GROUPS:
        raise NotationError(f"{where}: no group '{group}'; known: {', '.join(sorted(GROUPS))}")


def _check_templates(templates: Iterable[str], allowed: set[str], where: str) -> None:
    for template in templates:
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(template)} - {None}
        except ValueError as error:
            raise NotationError(f"{where}: '{template}': {error}") from None
        for name in names - allowed:
            placeholders = ", ".join(f"{{{each}}}" for each in sorted(allowed))
            raise NotationError(f"{where}: '{template}': no {{{name}}}; known: {placeholders}")


def bundled_profile_text() -> str:
    """Return the bundled profiles as TOML."""
    path = importlib.resources.files("hyoka.engines") / "profiles.toml"
    return path.read_text(encoding="utf-8")


@functools.cache
def bundled_profiles() -> tuple[Profile, ...]:
    """Return the bundled profiles; the last one fits every engine."""
    return read_profiles(bundled_profile_text(), "profiles.toml")


def choose_profile(
    choice: str | ModelFile | None, names: Sequence[str], commands: Collection[str]
) -> Profile:
    """Choose the profile for an engine by its names and commands.

    `choice` is a bundled profile's name, or a TOML file: its only profile, or the first that fits.
    """
    if choice is None:
        return next(profile for profile in bundled_profiles() if profile.fits(names, commands))
    if isinstance(choice, ModelFile):
        try:
            text = choice.content.decode()
        except UnicodeError as error:
            raise NotationError(f"cannot read profiles from {choice}: {error}") from error
        profiles = read_profiles(text, choice.path)
        fitting = [profile for profile in profiles if profile.fits(names, commands)]
        if len(profiles) > 1 and not fitting:
            raise NotationError(f"{choice}: no profile matches {' or '.join(names)}")
        return fitting[0] if fitting else profiles[0]
    by_name = {profile.name: profile for profile in bundled_profiles()}
    if choice not in by_name:
        hint = nearest(choice, by_name) or f"known: {', '.join(by_name)}"
        raise NotationError(f"no profile '{choice}'; {hint}")
    return by_name[choice]
