# SPDX-License-Identifier: Apache-2.0
"""The plan of an improvement: the evaluator, the positions, and the match."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from hyoka.agents import ImportedEvaluations, agent_of, spec_of
from hyoka.agents.comments import ByPlayer
from hyoka.analysis.sample import DrawnGames
from hyoka.arena import Sprt
from hyoka.foundation.errors import NotationError
from hyoka.foundation.options import check_options, option
from hyoka.learning.examples import PositionSelection
from hyoka.models.linear import has_terms
from hyoka.search import LinearEvaluation, SearchSpec, linear_evaluation, static_evaluation
from hyoka.study import COMMENTS, Study

_DEFAULT_NODES: Final = 1000
"""Default limit of a search without one; node counts do not depend on the machine's load."""
_LIMITS: Final = ("nodes", "depth", "time")
_OURS: Final = "ab"
"""The kind of search whose evaluation can be fitted."""


@dataclass(frozen=True, kw_only=True)
class ImprovePlan:
    """The options of an improvement; an equal plan resumes an interrupted one."""

    evaluator: str = option(
        "ab:eval=built-in",
        "Evaluator: of a Hyoka search the weights are fitted, of others the scores corrected.",
        metavar="SPEC",
    )
    where: str | None = option(None, "Only positions that meet this SQL condition.", metavar="SQL")
    sample: int = option(16, "Positions of each game.", min=1)
    draws: DrawnGames = option("half", "Count drawn games as half a win, or leave them out.")
    hold_out: float = option(0.2, "Share of held-out games.", above=0, max=0.9)
    freedom: float = option(
        0.01, "How far weights may move, as a share of the scale.", above=0, max=9
    )
    games: int = option(2000, "Maximum number of games in a match of new against old.", min=1)
    sprt: Sprt = option(
        Sprt(0, 10), "Sequential test of a match.", metavar="ELO0,ELO1", parse=Sprt.from_text
    )
    """Its alpha is divided among all candidates that are played."""
    openings: str | None = option(
        None,
        "Openings of matches; by default the first moves of held-out games.",
        metavar="FILE[:PLIES]|random[:PLIES]|start",
    )
    seed: int = option(0, "Seed of positions, held-out games and openings.", min=0)

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def selection(self) -> PositionSelection:
        """The positions that are evaluated and fitted."""
        return PositionSelection(
            where=self.where, sample=self.sample, draws=self.draws, seed=self.seed
        )

    @cached_property
    def spec(self) -> Any:
        """The spec of the evaluator. Raises NotationError."""
        spec = spec_of(self.evaluator)
        if isinstance(spec, ByPlayer):
            raise NotationError(
                f"'{spec.text}' names several evaluators; improve one at a time: "
                f"{COMMENTS}:player=NAME*"
            )
        return spec

    @property
    def is_table(self) -> bool:
        """Whether the evaluator is a table of evaluations."""
        return isinstance(self.spec, ImportedEvaluations)

    def player(self, game: str) -> SearchSpec:
        """The playing search, with a default limit if it has none."""
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
        """Describe how the initial evaluation differs from the bundled one."""
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
            f"The initial evaluation differs from the bundled one in {len(differing)} of its "
            f"{len(own):,} terms{turned_off}. A gain over it is no gain over the bundled one."
        )

    def text(self, study: Study) -> str:
        """The plan and its study as text; equal texts mean equal work."""
        spec = agent_of(self.spec).spec_for(study.game)
        count = study.sql("select count(*) as games, sum(plies) as plies from games").to_pylist()[0]
        plain = {
            "study": study.path.resolve().name,
            **count,
            "added": _added_to(study),
            "evaluator": spec.text,
            "contents": dict(spec.dependencies),
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
    """Hashes of the study's additional columns, adjudications and winners."""
    return {
        str(file.parent.relative_to(study.path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for kind in ("columns", "adjudications", "winners")
        for file in sorted((study.path / kind).glob("*/*.toml"))
    }
