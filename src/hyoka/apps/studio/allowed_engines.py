# SPDX-License-Identifier: Apache-2.0
"""Allowed agents: Hyoka's searches and engines of the user's list, never a request's own.

An engine is named on the command line (`--engine NAME=SPEC`) or in a settings file that the user
points to or keeps among their own settings. A request says its name, and no more.
"""

import os
import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import hyoka as hk
from hyoka.apps.studio.folder import Folder
from hyoka.search import KINDS

_KNOWN: Final = {
    "stockfish": "uci:stockfish",
    "fairy-stockfish": "uci:fairy-stockfish",
    "toga2": "uci:toga2",
    "glaurung": "uci:glaurung",
    "gnugo": "gtp:gnugo --mode gtp",
    "pachi": "gtp:pachi",
    "leela_zero": "gtp:leela_zero --gtp",
    "katago": "gtp:katago gtp",
    "gtp-rhino": "gtp:gtp-rhino",
    "gpsusi": "usi:gpsusi",
    "YaneuraOu": "usi:YaneuraOu",
    "gnuchess": "cecp:gnuchess -x",
    "gnushogi": "cecp:gnushogi",
}
"""Programs that many people have, and the spec to allow them by."""
_NAME: Final = re.compile(r"\w[\w.+-]{0,63}")


@dataclass(frozen=True)
class Engines:
    """The engines that may be started, by name."""

    allowed: Mapping[str, str] = field(default_factory=dict)

    def spec(self, text: str, folder: Folder) -> str:
        """The spec that a text of a request stands for; raises ParameterError or NotationError.

        An allowed engine's name stands for its spec. Anything else must be a search of Hyoka, and
        whatever it reads must be in the folder.
        """
        text = text.strip()
        if text in self.allowed:
            return self.allowed[text]
        kind = text.partition(":")[0]
        if kind not in KINDS:
            known = ", ".join([*KINDS, *self.allowed])
            raise hk.NotationError(
                f"no search or engine '{kind}' here; there are {known}. An engine is allowed when "
                "the studio is started: hyoka studio --engine NAME=SPEC"
            )
        folder.check_text(text.partition(":")[2])
        return text

    def choices(self) -> list[str]:
        """Choices of a form: engines by name, then searches."""
        return [*self.allowed, *KINDS]


def engines_on_path() -> dict[str, str]:
    """Programs found on this machine that are known to be engines, and specs to allow them by."""
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games", "/usr/local/games"])
    return {
        name: spec for name, spec in _KNOWN.items() if shutil.which(name, path=places) is not None
    }


def named_engines(given: Iterable[str]) -> dict[str, str]:
    """Engines from texts `NAME=SPEC`; raises ParameterError."""
    engines = {}
    for text in given:
        name, equals, spec = text.partition("=")
        if not equals:
            raise hk.ParameterError("engine", f"is NAME=SPEC, as sf=uci:stockfish, not '{text}'")
        engines[name] = _checked(name, spec)
    return engines


def engines_from_settings(file: Path) -> dict[str, str]:
    """The table `engines` of a settings file in TOML; raises SourceError."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("engines", {})
    except (OSError, ValueError) as error:
        raise hk.SourceError(f"{file}: {error}") from error
    if not isinstance(table, dict) or not all(isinstance(spec, str) for spec in table.values()):
        raise hk.SourceError(f'{file}: [engines] holds lines such as sf = "uci:stockfish"')
    return {name: _checked(name, spec) for name, spec in table.items()}


def default_settings() -> Path:
    """Path of the user's studio settings, which may not exist."""
    place = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(place) / "hyoka" / "studio.toml"


def _checked(name: str, spec: str) -> str:
    if not _NAME.fullmatch(name) or name in KINDS:
        raise hk.ParameterError("engine", f"has a name of letters and digits, not '{name}'")
    if spec.partition(":")[0] not in KINDS:
        hk.EngineSpec.from_text(spec)
    return spec
