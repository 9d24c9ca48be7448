# SPDX-License-Identifier: Apache-2.0
"""Settings of searches: their tables, per-game defaults, and which of them have an effect.

The tables come from the compiled core.
"""

import functools
import math
import re
from collections.abc import Callable, Collection, Mapping
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
Value = int | float | bool | str | ModelFile

_NOT_IN_SPECS: Final = re.compile(r"[,\x00-\x1f\x7f]")
_OLD_NAMES: Final = {"ratings": "strengths", "rated": "ordered", "weights": "eval"}
"""Old names of settings, for hints."""
_BUILT_IN: Final = ("eval", "strengths")
"""Settings that default to `built-in`; others of these kinds default to these settings."""
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

    def read(self, text: str) -> Value:
        """Parse a value; raises NotationError with a hint.

        A file is read at once; raises SourceError if it can't be read or is of another kind.
        """
        if self.kind == "file":
            if text in _WITHOUT_FILE and self.model_files != _MODEL_FILES["book"]:
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
            hint = renamed or nearest(text, self.choices) or f"there are {choices}"
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


_MODEL_FILES: Final = {
    "eval": ("weights", "evaluation", "perceptrons", "network", "convolution"),
    "strengths": ("strengths", "mets", "latent", "combined", "network", "convolution"),
    "book": ("book",),
}
"""The kinds of models in files, by the last word of the setting's name."""


class Options(Protocol):
    """Options of a search in the compiled core."""

    def get(self, setting: str) -> bool | int | float | str | None:
        """The value of a setting; None if it is not set."""

    def set(self, setting: str, value: bool | int | float | str | None) -> None:
        """Set an allowed value."""

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


def _setting(setting: _core.Setting, default: Value | None) -> Setting:
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
    return [_setting(each, options.get(each.name)) for each in options.settings()]


KINDS: Final[dict[str, tuple[str, list[Setting]]]] = {
    kind: (title, _settings(kind)) for kind, title in _TITLES.items()
}
"""The kinds of searches: title and settings."""


def settings_of(kind: str) -> list[Setting]:
    """The settings of a kind of search; raises NotationError with the nearest kind."""
    if kind not in KINDS:
        hint = nearest(kind, KINDS) or f"there are {', '.join(KINDS)}"
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
        hint = nearest(name, settings) or f"there are {', '.join(settings)}"
    raise NotationError(f"{kind} has no setting '{name}'; {hint}")


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
        if name == "cut" and chosen.get("mix"):
            return False  # a mix needs playouts
        if name == "mix" and chosen.get("cut") is not None:
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


Get = Callable[[str], object]
"""Looks up the value of a setting."""
_PRESETS: Final = ("exact", "plain")
"""Settings of alpha-beta that set others."""
_STRENGTHS: Final = (
    "strengths",
    "prior_strengths",
    "widening_strengths",
    "playout_strengths",
)
_LIMITS: Final = ("playouts", "a_move", "nodes", "depth", "time")


def dependent_defaults(kind: str, chosen: Mapping[str, Value]) -> dict[str, Value]:
    """The defaults that depend on other settings.

    >>> dependent_defaults("ab", {"exact": True})["null_move"]
    False
    """
    presets = [name for name in _PRESETS if chosen.get(name)] if kind == "ab" else []
    if not presets:
        return {}
    options, plain = _core.AlphaBetaOptions(), _core.AlphaBetaOptions()
    for name in presets:
        options.set(name, True)
    options.apply_presets()
    names = [setting.name for setting in options.settings() if setting.kind != "file"]
    return {
        name: value
        for name in names
        if name not in _PRESETS and (value := options.get(name)) not in (None, plain.get(name))
    }


def is_default(kind: str, name: str, value: Value, get: Get) -> bool:
    """Whether a value equals what an unset setting means beside the others."""
    if name in _LIMITS:
        # Solvers have a node limit by default, which 0 lifts.
        return value == 0 and not (name == "nodes" and kind in ("mate", "exact"))
    if kind != "uct":
        return False
    puct = get("formula") == "puct"
    if name == "c":
        return bool(value == (1.5 if puct else 1.0))
    if name in _STRENGTHS and name != "strengths":
        return bool(value == get("strengths"))
    return name == "ordered" and value == (puct or get("widening"))


def ineffective(
    kind: str, names: Collection[str], get: Get, parts: Mapping[str, object]
) -> dict[str, str]:
    """The named settings and parts that have no effect beside the others, and why.

    >>> ineffective("uct", ["widening_c"], {"widening": False}.get, {})
    {'widening_c': 'without widening=on'}
    """
    rules = {"uct": _in_uct, "mc": _in_mc, "mc-score": _in_mc, "ab": _in_ab}
    if kind not in rules:
        return {}
    reasons = rules[kind](get, parts)
    return {name: reasons[name] for name in names if name in reasons}


def _in_uct(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if not get("widening"):
        reasons |= dict.fromkeys(("widening_d", "widening_c", "widening_e"), "without widening=on")
    if not get("killer"):
        reasons["killer_c"] = "without killer=on"
    if not get("history"):
        reasons["history_threshold"] = "without history=on"
    if get("formula") != "puct":
        reasons["reduction"] = "without formula=puct"
    elif get("widening"):
        reasons["reduction"] = "with widening=on"
    if not get("prior"):
        reasons["prior_when"] = "without prior=…"
    reasons |= _without_book(get, parts)
    if "evaluator" in parts:
        chosen = ("policy", "epsilon", "cut", "mix", *_STRENGTHS, "ordered")
        reasons |= dict.fromkeys(chosen, "with an evaluator instead of playouts")
    else:
        reasons["batch"] = "without an evaluator in Python"
        reasons |= _strengths_without_use(get)
    has_playouts = "evaluator" not in parts
    if get("cut") == 0:
        reasons["mix"] = "with cut=0: there are no playouts to mix with"
    evaluated = get("cut") is not None or get("minimax") or get("mix")
    if not get("prior") and not (has_playouts and evaluated):
        of_evaluation = ("eval", "scale", "evaluation", "quiescence")
        reasons |= dict.fromkeys(of_evaluation, "without prior=…, cut=…, mix=… or minimax=…")
    return reasons | _beside_evaluation(parts, "scale")


def _strengths_without_use(get: Get) -> dict[str, str]:
    """Strengths serve playouts, the order of moves with its priors, and widening."""
    reasons = _in_playouts(get)
    default = get("formula") == "puct" or get("widening")
    if get("ordered") if get("ordered") is not None else default:
        reasons.pop("strengths", None)
    else:
        reasons["prior_strengths"] = "without moves tried by strength"
    if not get("widening"):
        reasons["widening_strengths"] = "without widening=on"
    return reasons


def _in_mc(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    reasons = _in_playouts(get)
    if get("a_move"):
        reasons |= dict.fromkeys(("playouts", "divide"), "with a_move=…")
    if get("cut") is None:
        of_evaluation = ("eval", "scale", "evaluation", "quiescence")
        reasons |= dict.fromkeys(of_evaluation, "without cut=…")
    return reasons | _beside_evaluation(parts, "scale")


def _in_playouts(get: Get) -> dict[str, str]:
    reasons = {}
    if get("policy") == "uniform":
        reasons["epsilon"] = "with policy=uniform"
    if get("policy") != "strengths":
        reasons["strengths"] = "without policy=strengths, or moves tried by strength"
        reasons["playout_strengths"] = "without policy=strengths"
    return reasons


def _in_ab(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    reasons = {}
    if get("plain"):
        reasons["exact"] = "with plain=on"
    if not get("principal_variation"):
        reasons["late_move_reductions"] = "without principal_variation=on"
    reasons |= _without_book(get, parts)
    if "book_pick" in reasons or get("book_pick") == "search":
        reasons["seed"] = "without a book to draw from"
    return reasons | _beside_evaluation(parts)


def _without_book(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    if get("book") is not None:
        return {}
    reasons = {"book_plies": "without book=FILE"}
    if "book" not in parts:
        reasons["book_pick"] = "without book=FILE"
    return reasons


def _beside_evaluation(parts: Mapping[str, object], *more: str) -> dict[str, str]:
    """An evaluation object has its own weights; a function has no scale, either."""
    if "evaluation" not in parts:
        return {}
    names = ("eval",) if hasattr(parts["evaluation"], "weights") else ("eval", *more)
    return dict.fromkeys(names, "beside evaluation=…")
