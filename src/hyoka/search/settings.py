# SPDX-License-Identifier: Apache-2.0
"""What can be set about each search, as specs, help and engine options need it.

The compiled core has the tables: what a setting is called, what it may be, and what it does.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, cast, get_args

from hyoka import _core
from hyoka.foundation.errors import NotationError, nearest
from hyoka.storage.model_file import BUILT_IN, LEARNED, NETWORK, ModelFile, read_model_file

SettingKind = Literal["int", "float", "flag", "choice", "file"]
Value = int | float | bool | str | ModelFile

_UNSPEAKABLE: Final = re.compile(r"[,\x00-\x1f\x7f]")
_FORMER_NAMES: Final = {"ratings": "strengths", "rated": "ordered", "weights": "eval"}
"""A rating is a player's, and an evaluation may be more than weights of terms; texts and files of
former times still say so."""
_BUILT_IN: Final = ("eval", "strengths")
"""Settings that are what is built in for a game, if nobody says otherwise; others that take the
same kinds of artefacts are what those say."""
_WITHOUT_FILE: Final = (BUILT_IN, LEARNED, NETWORK)
"""What may stand in the place of a file of these kinds."""
_TRUTHS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set about a search."""

    name: str
    kind: SettingKind
    default: Value | None
    """None: not set, or the game's own."""
    doc: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    model_files: tuple[str, ...] = ()
    """What kinds of artefact a file may hold; without a header it is taken for the first."""

    def read(self, text: str) -> Value:
        """The value that a text names; raises NotationError with what would be right.

        A file is read at once; raises SourceError if it can't be, or holds something else.
        """
        if self.kind == "file":
            if text in _WITHOUT_FILE and self.model_files != _MODEL_FILES["book"]:
                return text
            if not text:
                raise NotationError(f"'{self.name}' names no file: {self.name}=…")
            if _UNSPEAKABLE.search(text) or text != text.strip():
                raise NotationError(f"a spec can't say a file's name with commas: {text!r}")
            found = read_model_file(text)
            if found.version is None:  # no header: what it is used as tells what it is
                return ModelFile.from_bytes(found.content, path=text, kind=self.model_files[0])
            return self.checked(found)
        if self.kind == "choice":
            if text in self.choices:
                return text
            known = ", ".join(self.choices)
            former = "did you mean strengths?" if text == "rated" else None
            hint = former or nearest(text, self.choices) or f"there are {known}"
            raise NotationError(f"no {self.name} '{text}'; {hint}")
        if self.kind == "flag":
            if text.lower() in _TRUTHS:
                return _TRUTHS[text.lower()]
            raise NotationError(f"'{self.name}' is on or off, not '{text}'")
        return self._number(text)

    def _number(self, text: str) -> Value:
        try:
            plain = text.replace("_", "")
            number = int(plain) if self.kind == "int" else float(plain)
        except ValueError:
            what = "a whole number" if self.kind == "int" else "a number"
            raise NotationError(f"'{self.name}' is {what}, not '{text}'") from None
        return self.checked(number)

    def checked(self, value: Value | Path) -> Value:
        """The value itself, if it may be; raises NotationError if not."""
        if self.kind in ("int", "float"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise NotationError(f"'{self.name}' is a number, not {value!r}")
            if self.kind == "int" and isinstance(value, float) and not value.is_integer():
                raise NotationError(f"'{self.name}' is a whole number, not {value}")
            low = self.minimum is not None and value < self.minimum
            high = self.maximum is not None and value > self.maximum
            if low or high or math.isnan(value):
                raise NotationError(f"'{self.name}' is {self.range}, not {value}")
            return int(value) if self.kind == "int" else float(value) + 0.0  # and no -0
        if self.kind == "flag" and isinstance(value, bool):
            return value
        if self.kind == "file" and isinstance(value, ModelFile):
            if value.kind not in self.model_files[1:]:
                value.check(self.model_files[0])
            return value
        return self.read(str(value))

    @property
    def range(self) -> str:
        """What numbers are allowed, in words."""
        if self.minimum is not None and self.maximum is not None:
            return f"{self.minimum:.12g} to {self.maximum:.12g}"
        if self.minimum is not None:
            return f"at least {self.minimum:.12g}"
        return "a number" if self.maximum is None else f"at most {self.maximum:.12g}"

    def text(self, value: Value) -> str:
        """The text that `read` reads as this value."""
        if isinstance(value, bool):
            return "on" if value else "off"
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


_MODEL_FILES: Final = {
    "eval": ("weights", "evaluation", "perceptrons", "network", "convolution"),
    "strengths": ("strengths", "mets", "latent", "combined", "network", "convolution"),
    "book": ("book",),
}
"""What a file may hold, by the last word of its setting's name."""


class Options(Protocol):
    """What the compiled core makes a search from."""

    def get(self, setting: str) -> bool | int | float | str | None:
        """A setting's value; None: not set."""

    def set(self, setting: str, value: bool | int | float | str | None) -> None:
        """Set it to what it may be."""

    @staticmethod
    def settings() -> list[_core.Setting]:
        """All that can be set, in order."""


OPTIONS: Final[dict[str, type[Options]]] = {
    "uct": _core.UctOptions,
    "mc": _core.MonteCarloOptions,
    "mc-score": _core.MonteCarloOptions,
    "ab": _core.AlphaBetaOptions,
    "mate": _core.MateOptions,
    "exact": _core.ExactOptions,
    "random": _core.RandomOptions,
    "ranking": _core.RankingOptions,
}
"""By kind of search, what the compiled core makes it from; it knows what can be set."""
_TITLES: Final = {
    "uct": "Monte-Carlo tree search, with enhancements that are switched one by one",
    "mc": "flat Monte Carlo: the same number of playouts for each move",
    "mc-score": "the same by the mean final score instead of wins",
    "ab": "alpha-beta with quiescence and a linear evaluation",
    "mate": "df-pn search for a mate by checks (chess, shogi)",
    "exact": "exact solving of endings (Othello)",
    "random": "any legal move",
    "ranking": "the move that a move model ranks first; nothing is searched",
}


def _described(setting: _core.Setting, default: Value | None) -> Setting:
    if setting.kind == "file":
        built_in = BUILT_IN if setting.name in _BUILT_IN else None
        holds = _MODEL_FILES[setting.name.rpartition("_")[2]]
        return Setting(setting.name, "file", built_in, setting.help, model_files=holds)
    if setting.kind in ("int", "float"):
        low, high = setting.minimum, setting.maximum
        return Setting(setting.name, _kind(setting), default, setting.help, low, high)
    choices = tuple(setting.choices)
    return Setting(setting.name, _kind(setting), default, setting.help, choices=choices)


def _kind(setting: _core.Setting) -> SettingKind:
    (kind,) = (kind for kind in get_args(SettingKind) if kind == setting.kind)
    return cast(SettingKind, kind)


def _settings(kind: str) -> list[Setting]:
    options = OPTIONS[kind]()
    return [_described(each, options.get(each.name)) for each in options.settings()]


KINDS: Final[dict[str, tuple[str, list[Setting]]]] = {
    kind: (title, _settings(kind)) for kind, title in _TITLES.items()
}
"""What searches there are, in words, and what can be set about each."""


def settings_of(kind: str) -> list[Setting]:
    """What can be set about a kind of search; a wrong kind gets the nearest right one."""
    if kind not in KINDS:
        hint = nearest(kind, KINDS) or f"there are {', '.join(KINDS)}"
        raise NotationError(f"no search '{kind}'; {hint}")
    return KINDS[kind][1]


def setting_named(kind: str, name: str) -> Setting:
    """One setting by its name; a wrong one gets the nearest right one."""
    settings = {setting.name: setting for setting in settings_of(kind)}
    if name in settings:
        return settings[name]
    if _FORMER_NAMES.get(name) in settings:
        hint = f"did you mean {_FORMER_NAMES[name]}?"
    else:
        hint = nearest(name, settings) or f"there are {', '.join(settings)}"
    raise NotationError(f"{kind} has no setting '{name}'; {hint}")
