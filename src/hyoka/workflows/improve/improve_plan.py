# SPDX-License-Identifier: Apache-2.0
"""What is to be improved, by which positions, and how the gain is to be proven."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypedDict

from hyoka.agents import agent_of, spec_of
from hyoka.analysis.sample import DrawnGames
from hyoka.arena import Sprt
from hyoka.foundation.errors import NotationError, ParameterError, SourceError
from hyoka.models.linear import has_terms
from hyoka.search import LinearEvaluation, SearchSpec, linear_evaluation, static_evaluation
from hyoka.study import COMMENTS, Study
from hyoka.study.comments import ByPlayer, comments_of, is_comments
from hyoka.study.imported_evaluations import TABLE, ImportedEvaluations, is_table

_DEFAULT_NODES: Final = 1000
"""Of a search that says no limit of its own: as many on a busy machine as on a free one."""
_LIMITS: Final = ("nodes", "depth", "time")
_OURS: Final = "ab"
"""The search whose evaluation can be given other weights."""


@dataclass(frozen=True, kw_only=True)
class ImprovePlan:
    """What decides an improvement beside the study: the same plan goes on where it was stopped."""

    evaluator: str = "ab:eval=built-in"
    """A search of ours, whose weights are fitted; of any other evaluator, what its scores lack."""
    where: str | None = None
    """An SQL condition on positions; all of them unless given."""
    sample: int = 16
    """So many positions of each game."""
    draws: DrawnGames = "half"
    hold_out: float = 0.2
    """Of the games, how many nothing is chosen or fitted by."""
    freedom: float = 0.01
    """How far weights may go from where they are: as `fit_proximal` takes it. More of it suits an
    evaluation that does not weigh some of its terms at all yet."""
    games: int = 2000
    """At most, in a match of a new evaluation against the old one."""
    sprt: Sprt = field(default_factory=lambda: Sprt(0, 10))
    """Its risk of taking what is no gain is shared by all evaluations that are tried."""
    openings: str | None = None
    """As `plan_match` takes them; the first moves of the games held out unless given."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("sample", "games"):
            if getattr(self, name) < 1:
                raise ParameterError(name, f"is at least 1, not {getattr(self, name)}")
        if not 0 < self.freedom < 10:
            raise ParameterError("freedom", f"is a share of the scale, not {self.freedom:g}")
        if not 0 < self.hold_out < 1:
            raise ParameterError("hold_out", f"is a share of the games, not {self.hold_out:g}")

    @cached_property
    def spec(self) -> Any:
        """The evaluator as `evaluate` takes it: a spec, or a text of comments or a table.

        Raises NotationError.
        """
        text = self.evaluator.strip()
        if is_comments(text):
            if isinstance(comments_of(text), ByPlayer):
                raise NotationError(
                    f"'{text}' is several evaluators, and one is improved at a time: "
                    f"{COMMENTS}:player=NAME*"
                )
            return text
        return text if self.is_table else spec_of(text, [COMMENTS, TABLE])

    @property
    def is_table(self) -> bool:
        """Whether the evaluator is a table of evaluations."""
        return is_table(self.evaluator.strip())

    def player(self, game: str) -> SearchSpec:
        """The search that plays: as it was asked for, with a limit if it says none."""
        spec: SearchSpec = self.spec.for_game(game)
        if any(spec[name] for name in _LIMITS):
            return spec
        return spec.with_settings(nodes=_DEFAULT_NODES)

    def own_evaluation(self, game: str) -> LinearEvaluation | None:
        """The evaluation whose weights can be fitted; None for any other evaluator."""
        if not isinstance(self.spec, SearchSpec) or self.spec.kind != _OURS or not has_terms(game):
            return None
        spec = self.spec.for_game(game)
        if "evaluation" in spec.parts:
            part = spec.parts["evaluation"]
            return part if isinstance(part, LinearEvaluation) else None
        found = static_evaluation(game, spec["eval"])
        return found if isinstance(found, LinearEvaluation) else None

    def start(self, game: str) -> str:
        """How the evaluation to begin with differs from the built-in one, in a sentence."""
        own = self.own_evaluation(game)
        if own is None:
            return ""
        built_in = linear_evaluation(game)
        differing = [name for name in own.names if own[name] != built_in[name]]
        off = [name for name in differing if not any(own[name])]
        if not differing:
            return ""
        more = f" and {len(off) - 3} more" if len(off) > 3 else ""
        turned_off = f"; {len(off)} have no weight: {', '.join(off[:3])}{more}" if off else ""
        return (
            f"The evaluation to begin with is not the built-in one: {len(differing)} of its "
            f"{len(own):,} terms are weighed otherwise{turned_off}. A gain over it is none over "
            "the built-in one."
        )

    def _table_contents(self) -> dict[str, str]:
        """What a table says, by the hash of its file; nothing of comments."""
        if not self.is_table:
            return {}
        file = Path(ImportedEvaluations.from_text(self.evaluator).table)
        try:
            return {TABLE: hashlib.sha256(file.read_bytes()).hexdigest()}
        except OSError as error:
            raise SourceError(f"{file}: can't be read: {error.strerror}") from error

    def text(self, study: Study) -> str:
        """The same text for the same work: what was asked for, and of which games."""
        if isinstance(self.spec, str):
            text, contents = self.spec, self._table_contents()
        else:
            engine = agent_of(self.spec).spec_for(study.game)
            text, contents = engine.text, dict(engine.contents)
        count = study.sql("select count(*) as games, sum(plies) as plies from games").to_pylist()[0]
        plain = {
            "study": study.path.resolve().name,
            **count,
            "added": _added_to(study),
            "evaluator": text,
            "contents": contents,
            "where": self.where,
            "sample": self.sample,
            "draws": self.draws,
            "hold_out": self.hold_out,
            "freedom": self.freedom,
            "sprt": str(self.sprt),
            "openings": self.openings,
            "seed": self.seed,
        }
        return json.dumps(plain, sort_keys=True, indent=1, default=str)


def _added_to(study: Study) -> dict[str, str]:
    """What conditions and results go by beside the records, by its hash."""
    return {
        str(file.parent.relative_to(study.path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for kind in ("columns", "adjudications", "winners")
        for file in sorted((study.path / kind).glob("*/*.toml"))
    }


class Planned(TypedDict, total=False):
    """A plan's parts as keywords; see `ImprovePlan`."""

    where: str | None
    sample: int
    draws: DrawnGames
    hold_out: float
    freedom: float
    games: int
    sprt: Sprt
    openings: str | None
    seed: int
