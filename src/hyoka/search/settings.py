# SPDX-License-Identifier: Apache-2.0
"""Settings of searches and their per-game defaults.

Names, ranges, defaults, effects and help come from the tables of the compiled core.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, cast, get_args

from hyoka import _core
from hyoka.foundation.errors import NotationError, nearest
from hyoka.games import FACTS, game_facts
from hyoka.models.bundled import (
    bundled_evaluation,
    bundled_move_model,
    bundled_network,
    bundled_prior_model,
)
from hyoka.storage.model_file import BUILT_IN, LEARNED, NETWORK, ModelFile, read_model_file

SettingKind = Literal["int", "float", "flag", "choice", "file"]
PlainValue = bool | int | float | str
Value = PlainValue | ModelFile

_NOT_IN_SPECS: Final = re.compile(r"[,\x00-\x1f\x7f]")
_OLD_NAMES: Final = {
    "ratings": "strengths",
    "prior": "eval_visits",
    "prior_when": "eval_when",
    "mix": "eval_weight",
    "cut": "cutoff",
}
"""Old names of settings, for hints."""
_WITHOUT_FILE: Final = (BUILT_IN, LEARNED, NETWORK)
"""Values that name no file."""
_TRUTHS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a kind of search."""

    name: str
    kind: SettingKind
    default: Value | None
    """None: not set, or it depends on the game."""
    doc: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    model_files: tuple[str, ...] = ()
    """The kinds of models a file may hold; a file without a header is of the first."""
    same_as: str = ""
    """The setting whose value is the default."""
    is_limit: bool = False
    default_limit: int = 0
    """The limit of a search without any limit; 0: none."""

    def names_file(self, text: str) -> bool:
        """Whether a value in a spec is the name of a file."""
        return self.kind == "file" and (text not in _WITHOUT_FILE or self.model_files == ("book",))

    def read(self, text: str) -> Value:
        """Parse a value; raises NotationError with a hint.

        A file is read at once; raises SourceError if it can't be read or is of another kind.
        """
        if self.kind == "file":
            if not self.names_file(text):
                return text
            if not text:
                raise NotationError(f"'{self.name}' names no file: {self.name}=…")
            if _NOT_IN_SPECS.search(text) or text != text.strip():
                raise NotationError(f"a spec can't say a file's name with commas: {text!r}")
            file = read_model_file(text)
            if file.version is None:  # no header: the setting determines its kind
                return ModelFile.from_bytes(file.content, path=text, kind=self.model_files[0])
            return self.validate(file)
        if self.kind == "choice":
            if text in self.choices:
                return text
            renamed = "did you mean strengths?" if text == "rated" else None
            choices = ", ".join(self.choices)
            hint = renamed or nearest(text, self.choices) or f"known: {choices}"
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
        return self.validate(number)

    def validate(self, value: Value | Path) -> Value:
        """The value in the setting's type; raises NotationError if it is not allowed."""
        if self.kind in ("int", "float"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise NotationError(f"'{self.name}' is a number, not {value!r}")
            if self.kind == "int" and isinstance(value, float) and not value.is_integer():
                raise NotationError(f"'{self.name}' is a whole number, not {value}")
            low = self.minimum is not None and value < self.minimum
            high = self.maximum is not None and value > self.maximum
            if low or high or math.isnan(value):
                raise NotationError(f"'{self.name}' is {self.range}, not {value}")
            return int(value) if self.kind == "int" else float(value) + 0.0  # -0.0 becomes 0.0
        if self.kind == "flag" and isinstance(value, bool):
            return value
        if self.kind == "file" and isinstance(value, ModelFile):
            if value.kind not in self.model_files[1:]:
                value.check(self.model_files[0])
            return value
        return self.read(str(value))

    @property
    def range(self) -> str:
        """The allowed numbers, in words."""
        if self.minimum is not None and self.maximum is not None:
            return f"{self.minimum:.12g} to {self.maximum:.12g}"
        if self.minimum is not None:
            return f"at least {self.minimum:.12g}"
        return "a number" if self.maximum is None else f"at most {self.maximum:.12g}"

    def text(self, value: Value) -> str:
        """The text that `read` parses to this value."""
        if isinstance(value, bool):
            return "on" if value else "off"
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


class Options(Protocol):
    """Options of a search in the compiled core."""

    def __init__(self, chosen: dict[str, PlainValue]) -> None:
        """Options with the chosen settings; the others have their defaults beside these."""

    def get(self, setting: str) -> PlainValue | None:
        """The value of a setting; None if it is not set."""

    def default(self, setting: str) -> PlainValue | None:
        """The default of a setting beside the others."""

    def ineffective(self, inputs: dict[str, str]) -> dict[str, str]:
        """The settings that have no effect beside the others and the files and objects, and why."""

    @staticmethod
    def settings() -> list[_core.Setting]:
        """All settings, in order."""


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
"""The compiled core's options by kind of search."""
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


def _setting(setting: _core.Setting) -> Setting:
    (kind,) = (kind for kind in get_args(SettingKind) if kind == setting.kind)
    is_file = kind == "file"
    return Setting(
        setting.name,
        cast(SettingKind, kind),
        setting.default,
        setting.help,
        setting.minimum,
        setting.maximum,
        () if is_file else tuple(setting.choices),
        tuple(setting.choices) if is_file else (),
        setting.same_as,
        setting.is_limit,
        setting.default_limit,
    )


KINDS: Final[dict[str, tuple[str, list[Setting]]]] = {
    kind: (title, [_setting(each) for each in OPTIONS[kind].settings()])
    for kind, title in _TITLES.items()
}
"""The kinds of searches: title and settings."""


def settings_of(kind: str) -> list[Setting]:
    """The settings of a kind of search; raises NotationError with the nearest kind."""
    if kind not in KINDS:
        hint = nearest(kind, KINDS) or f"known: {', '.join(KINDS)}"
        raise NotationError(f"no search '{kind}'; {hint}")
    return KINDS[kind][1]


def setting_named(kind: str, name: str) -> Setting:
    """A setting by its name; raises NotationError with the nearest name."""
    settings = {setting.name: setting for setting in settings_of(kind)}
    if name in settings:
        return settings[name]
    if _OLD_NAMES.get(name) in settings:
        hint = f"did you mean {_OLD_NAMES[name]}?"
    else:
        hint = nearest(name, settings) or f"known: {', '.join(settings)}"
    raise NotationError(f"{kind} has no setting '{name}'; {hint}")


def options_of(kind: str, values: Iterable[tuple[str, Value]]) -> Options:
    """The core's options with these settings; files are models, not options.

    >>> options_of("ab", [("exact", True)]).get("null_move")
    False
    """
    files = {setting.name for setting in settings_of(kind) if setting.kind == "file"}
    return _options(kind, tuple((name, value) for name, value in values if name not in files))


@functools.lru_cache(maxsize=256)
def _options(kind: str, values: tuple[tuple[str, PlainValue], ...]) -> Options:
    return OPTIONS[kind](dict(values))


_WITH_MOVE_MODEL: Final = ("uct", "mc", "mc-score", "ranking")
"""Searches that use the bundled move model by default."""
_WITH_EVALUATION: Final = ("ab",)
"""Searches that use the bundled evaluation by default."""
_WITH_NETWORK: Final = ("uct",)
"""Searches that use the bundled network by default, for values and moves."""
_TUNED_WITH: Final = {
    "c": "formula",
    "reduction": "formula",
    "prior_strengths": "formula",
    "epsilon": "policy",
}
"""Constants of presets that were tuned with one value of another setting only."""


def preset_settings(
    kind: str, game: str | None, chosen: Mapping[str, Value], parts: Mapping[str, object]
) -> dict[str, Value]:
    """Per-game default settings, where `chosen` does not set them.

    >>> preset_settings("uct", "go9", {"preset": "paper"}, {})
    {}
    """
    # Presets were measured with playouts, which an evaluator in Python replaces.
    if game is None or chosen.get("preset") == "paper" or "evaluator" in parts:
        return {}
    preset: dict[str, Value] = dict(game_facts(game).search.presets.get(kind, {}))
    model = bundled_move_model(game)
    if model is not None and kind in _WITH_MOVE_MODEL:
        preset["strengths"] = model
    prior_model = bundled_prior_model(game)
    if prior_model is not None and kind in _WITH_NETWORK and "strengths" not in chosen:
        preset["prior_strengths"] = prior_model
    evaluation = bundled_evaluation(game)
    if evaluation is not None and kind in _WITH_EVALUATION and "evaluation" not in parts:
        preset["eval"] = evaluation
    network = bundled_network(game)
    if network is not None and kind in _WITH_NETWORK:
        preset["strengths"] = network
        if "evaluation" not in parts:
            preset["eval"] = network

    def fits(name: str) -> bool:
        if name == "cutoff" and chosen.get("eval_weight"):
            return False  # a mix needs playouts
        if name == "eval_weight" and chosen.get("cutoff") is not None:
            return False  # the cutoff uses the evaluation already
        other = _TUNED_WITH.get(name)
        return other is None or other not in chosen or chosen[other] == preset.get(other)

    return {name: value for name, value in preset.items() if name not in chosen and fits(name)}


@functools.cache
def preset_names(kind: str) -> frozenset[str]:
    """The settings that some game's preset changes."""
    names = {name for facts in FACTS.values() for name in facts.search.presets.get(kind, ())}
    names |= {"strengths"} if kind in _WITH_MOVE_MODEL else set()
    names |= {"prior_strengths"} if kind in _WITH_NETWORK else set()
    return frozenset(names | ({"eval"} if kind in (*_WITH_EVALUATION, *_WITH_NETWORK) else set()))
