# SPDX-License-Identifier: Apache-2.0
"""What an address asks of a study: all of a page's state, so that the address can be kept."""

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from starlette.requests import Request

import hyoka as hk
from hyoka.analysis import DrawnGames
from hyoka.studio.pages import address
from hyoka.studio.parameters import whole_number
from hyoka.studio.state import studio_of

_MOST_RESAMPLES: Final = 2000
_LONGEST: Final = 4000
"""Characters of a condition."""
_AT_FIRST: Final = 4
"""Evaluators whose curves are drawn before any is chosen."""


@dataclass(frozen=True)
class Asked:
    """A study, and what is to be seen of it."""

    path: str
    """Within the folder."""
    study: hk.Study
    values: Mapping[str, tuple[str, ...]]
    """The address's other fields, those that are not empty."""

    @classmethod
    def of(cls, request: Request) -> "Asked":
        """What a request asks; raises Error if there is no such study."""
        query = request.query_params
        path = query.get("path", "")
        study = hk.Study.open(studio_of(request).folder.path(path))
        names = [name for name in query if name not in ("path", "token")]
        values = {name: tuple(filter(str.strip, query.getlist(name))) for name in names}
        return cls(path, study, {name: found for name, found in values.items() if found})

    def __getitem__(self, name: str) -> str:
        """A field; "" if the address has none."""
        found = self.values.get(name, ())
        return found[0] if found else ""

    def to(self, place: str = "/study", /, **changes: object) -> str:
        """The address of the same with something changed; None leaves a field out."""
        query: dict[str, Any] = {"path": self.path, **self.values, **changes}
        return address(place, **query)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A field that is a whole number; raises ParameterError."""
        text = self[name]
        if not text:
            return default
        return whole_number(text, name, least, most)

    @functools.cached_property
    def engines(self) -> list[str]:
        """The evaluators chosen, by the study's names; the first few if none is."""
        known = self.study.engines
        chosen = self.values.get("engine", ())
        for name in chosen:
            if name not in known:
                raise hk.StudyError(f"this study has no evaluator '{name}'")
        return [name for name in known if name in chosen] or known[:_AT_FIRST]

    @property
    def where(self) -> str | None:
        """A condition on positions."""
        text = self["where"].strip()
        if len(text) > _LONGEST:
            raise hk.ConditionError(f"a condition has at most {_LONGEST:,} characters")
        return text or None

    @property
    def by(self) -> str | None:
        """What parts the positions."""
        return self["by"].strip()[:_LONGEST] or None

    @property
    def draws(self) -> DrawnGames:
        """What becomes of drawn games."""
        chosen = self["draws"] or "drop"
        for known in get_args(DrawnGames):
            if chosen == known:
                return known  # type: ignore[no-any-return]
        raise hk.ParameterError("draws", "is drop or half")

    @property
    def resampling(self) -> hk.Resampling:
        """How often games are drawn again: not at all unless the address says so."""
        return hk.Resampling(self.number("resamples", 0, 0, _MOST_RESAMPLES))

    @property
    def question(self) -> hk.Question:
        """All of it, as the library asks."""
        return hk.Question(
            where=self.where, by=self.by, draws=self.draws, resampling=self.resampling
        )

    def command(self, name: str, *more: str, evaluators: Sequence[str] | None = None) -> str:
        """The command that gives the same."""
        words = ["hyoka", name, self.path, *more]
        chosen = self.engines if evaluators is None else evaluators
        if list(chosen) != self.study.engines:
            words += [word for engine in chosen for word in ("-e", engine)]
        if self.draws != "drop":
            words += ["--draws", self.draws]
        return shlex.join(words)

    @property
    def stamp(self) -> tuple[object, ...]:
        """Another one when the study has changed."""
        return stamp_of(self.study.path)


def stamp_of(folder: Path) -> tuple[object, ...]:
    """Tells a study from what it was before: when and how large its descriptions were written."""
    found = sorted([*folder.glob("*.toml"), *folder.glob("*/*/*.toml")])
    states = [(file, file.stat()) for file in found]
    return tuple((str(file), state.st_mtime_ns, state.st_size) for file, state in states)
