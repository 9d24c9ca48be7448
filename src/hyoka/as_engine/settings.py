# SPDX-License-Identifier: Apache-2.0
"""The settings of a search, as protocols offer and change them."""

from dataclasses import dataclass
from typing import Any, Final

from hyoka.errors import NotationError
from hyoka.search import SearchLimits, SearchSpec, Setting

_MOST: Final = 2**31 - 1
_USUAL_NAMES: Final = {
    "hash": "Hash",
    "memory": "Hash",
    "threads": "Threads",
    "multipv": "MultiPV",
}
"""UCI's names for what many engines have. No search has both a table and a tree."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option as UCI and USI declare it."""

    name: str
    declaration: str
    """From `type` on."""
    setting: str | None = None
    """The setting of the search that it changes."""


def options_of(spec: SearchSpec) -> list[Option]:
    """The settings of a search as options whose defaults are the spec's own values.

    >>> [option.name for option in options_of(SearchSpec.from_text("mate"))]
    ['nodes', 'time', 'Hash']
    """
    return [
        Option(
            _USUAL_NAMES.get(setting.name, setting.name),
            _declaration(setting, spec[setting.name]),
            setting.name,
        )
        for setting in SearchSpec.settings_for(spec.kind)
    ]


def _declaration(setting: Setting, value: Any) -> str:
    whole = setting.kind == "int" or setting.name == "memory"
    if whole and value is not None:
        least = -_MOST if setting.minimum is None else int(setting.minimum)
        most = _MOST if setting.maximum is None else min(_MOST, int(setting.maximum))
        return f"type spin default {int(value)} min {least} max {max(most, int(value))}"
    if setting.kind == "flag" and value is not None:
        return f"type check default {str(value).lower()}"
    if setting.kind == "choice" and value is not None:
        return f"type combo default {value} " + " ".join(f"var {each}" for each in setting.choices)
    # UCI has no option for a number with a fraction, or for one that may be left open.
    text = "" if value is None else setting.text(value)
    return f"type string default {text or '<empty>'}"


def with_setting(spec: SearchSpec, name: str, value: str) -> SearchSpec:
    """The spec with one setting changed; an empty value is the default. Raises NotationError.

    >>> with_setting(SearchSpec.from_text("uct:playouts=50"), "playouts", "80").text
    'uct:playouts=80'
    """
    known = {setting.name: setting for setting in SearchSpec.settings_for(spec.kind)}
    if name not in known:
        raise NotationError(f"{spec.kind} has no setting '{name}'; there are {', '.join(known)}")
    # A spec's text could not say these.
    if any(mark in value for mark in ",\n"):
        raise NotationError(f"no value of a setting: '{value}'")
    chosen = None if value in ("", "<empty>") else known[name].read(value)
    return spec.with_settings(**{name: chosen})


def counted(spec: SearchSpec, count: int) -> SearchLimits:
    """A limit that a protocol calls nodes, in what the search counts: playouts if it has some."""
    names = [setting.name for setting in SearchSpec.settings_for(spec.kind)]
    return SearchLimits(playouts=count) if "playouts" in names else SearchLimits(nodes=count)
