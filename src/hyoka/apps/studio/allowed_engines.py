# SPDX-License-Identifier: Apache-2.0
"""Allowed agents: those that execute no program, and engines of the user's list.

An engine is named on the command line (`--engine NAME=SPEC`) or in a settings file that the user
points to or keeps among their own settings. A request contains its name only.
"""

import contextlib
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import hyoka as hk
from hyoka.agents import Agent, agent_of, kind_of, roles_of, spec_of
from hyoka.agents.imported_evaluations import TABLE, ImportedEvaluations
from hyoka.agents.kinds import AGENT_KINDS
from hyoka.apps.studio.folder import Folder
from hyoka.search import KINDS
from hyoka.search.settings import setting_named

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
_GAMES: Final = ("/usr/games", "/usr/local/games")
_MAX_MEMORY_MIB: Final = 2048
_NAME: Final = re.compile(r"\w[\w.+-]{0,63}")


@dataclass(frozen=True)
class Engines:
    """The engines that may be started, by name."""

    allowed: Mapping[str, str] = field(default_factory=dict)
    start: str = "hyoka studio"
    """The command that starts this studio, without its engines."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", MappingProxyType(dict(self.allowed)))

    def agent(self, text: str, folder: Folder) -> Agent[Any]:
        """The agent that a text of a request names; raises ParameterError or NotationError.

        An allowed engine's name stands for its spec. Any other text must not name a program; the
        files that it names must be in the folder.
        """
        text = text.strip()
        if text in self.allowed:
            spec = self.allowed[text]
            if kind_of(spec).names_program:
                return agent_of(spec)
            # The user's own files may be outside of the folder.
            spec = _with_files(spec, lambda name: folder.root / name)
        else:
            _check_names_no_program(text, self.choices())
            folder.check_text(text)
            spec = _with_files(text, folder.path)
        agent = agent_of(spec)
        for name, size, limit in (
            ("threads", agent.threads, os.cpu_count() or 1),
            ("memory", agent.memory_mib, _MAX_MEMORY_MIB),
        ):
            if size > limit:
                raise hk.errors.ParameterError(name, f"is {limit} at most here, not {size}")
        return agent

    def found_others(self) -> dict[str, str]:
        """Known engines of this machine that are not allowed, and their specs."""
        specs = self.allowed.values()
        found = found_engines().items()
        return {name: spec for name, spec in found if not any(name in each for each in specs)}

    def roles(self, name: str, game: str) -> frozenset[str]:
        """The roles in a game of an allowed engine or of a text's agent."""
        return roles_of(self.allowed.get(name, name), game)

    def choices(self) -> list[str]:
        """Choices of a form: engines by name, then searches."""
        kinds = [kind for kind in AGENT_KINDS if not kind.names_program]
        own = [word for kind in kinds if kind.takes("evaluator") for word in kind.prefixes]
        return [*self.allowed, *own]


def _check_names_no_program(text: str, names: Sequence[str]) -> None:
    with contextlib.suppress(hk.errors.NotationError):
        if not kind_of(text).names_program:
            return
    raise hk.errors.NotationError(
        f"no search or engine '{text}' here; known: {', '.join(names)}. "
        "An engine is allowed only when the studio is started: hyoka studio --engine NAME=SPEC, "
        "or --allow-found for all known engines of this machine"
    )


def _with_files(spec: str, path_of: Callable[[str], Path]) -> str:
    """Return a spec with full names of files: the current folder may be another one."""
    agent = kind_of(spec)
    spec, calibration = agent.split_calibration(spec)
    if calibration is not None:
        return agent.join_calibration(_with_files(spec, path_of), str(path_of(calibration)))
    kind, colon, settings = spec.partition(":")
    if kind.lower() == TABLE:
        table = ImportedEvaluations.from_text(spec)
        return replace(table, table=str(path_of(str(table.table)))).text
    if kind not in KINDS:
        return spec
    parts = []
    for part in settings.split(","):
        name, equals, value = part.partition("=")
        if equals and setting_named(kind, name.strip()).names_file(value.strip()):
            value = str(path_of(value.strip()))
        parts.append(name + equals + value)
    return kind + colon + ",".join(parts)


def found_engines() -> dict[str, str]:
    """Known engines that are installed on this machine, and their specs.

    Relative folders of `PATH` are not searched, and where there are some, specs name programs by
    their paths: the studio's folder may be somebody else's, and has a program of any name.
    """
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    places = [entry for entry in entries if os.path.isabs(entry)]
    engines = {}
    for name, spec in _KNOWN.items():
        program = shutil.which(name, path=os.pathsep.join([*places, *_GAMES]))
        if program is not None:
            command = name if places == entries else shlex.quote(program)
            engines[name] = spec.replace(name, command, 1)
    return engines


def named_engines(options: Iterable[str]) -> dict[str, str]:
    """Engines from texts `NAME=SPEC`; raises ParameterError."""
    engines = {}
    for text in options:
        name, equals, spec = text.partition("=")
        if not equals:
            raise hk.errors.ParameterError(
                "engine", f"is NAME=SPEC, as sf=uci:stockfish, not '{text}'"
            )
        engines[name] = _checked(name, spec)
    return engines


def engines_from_settings(file: Path) -> dict[str, str]:
    """The table `engines` of a settings file in TOML; raises SourceError."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("engines", {})
    except (OSError, ValueError) as error:
        raise hk.errors.SourceError(f"{file}: {error}") from error
    if not isinstance(table, dict) or not all(isinstance(spec, str) for spec in table.values()):
        raise hk.errors.SourceError(f'{file}: [engines] holds lines such as sf = "uci:stockfish"')
    return {name: _checked(name, spec) for name, spec in table.items()}


def default_settings() -> Path:
    """Path of the user's studio settings, which may not exist."""
    place = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(place) / "hyoka" / "studio.toml"


def _checked(name: str, spec: str) -> str:
    if not _NAME.fullmatch(name) or any(name in kind.prefixes for kind in AGENT_KINDS):
        raise hk.errors.ParameterError("engine", f"has a name of letters and digits, not '{name}'")
    if kind_of(spec).names_program:
        spec_of(spec)
    return spec
