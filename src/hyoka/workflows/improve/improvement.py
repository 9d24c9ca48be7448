# SPDX-License-Identifier: Apache-2.0
"""The plan of an improvement, and the results of its steps, stored as JSON in a folder."""

import hashlib
import json
import typing
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from hyoka.agents import ImportedEvaluations, agent_of, spec_of
from hyoka.agents.comments import ByPlayer
from hyoka.analysis.gaps import Kind
from hyoka.analysis.sample import DrawnGames
from hyoka.arena import Sprt
from hyoka.foundation.errors import NotationError, StudyError
from hyoka.foundation.math import Estimate
from hyoka.foundation.options import WHERE_HELP, check_options, option
from hyoka.learning.examples import PositionSelection
from hyoka.models.linear import has_terms
from hyoka.search import LinearEvaluation, SearchSpec, linear_evaluation, static_evaluation
from hyoka.storage.files import read_regular, write_text
from hyoka.storage.result import plain_json
from hyoka.storage.run_folder import from_json, to_json
from hyoka.study import COMMENTS, Study

T = TypeVar("T")

Verdict = Literal["nothing found", "no better on paper", "not proven", "not played", "gain"]
"""No slice; a fit that held-out games do not confirm; a match that does not; no match, because the
evaluator has no weights; a gain."""


@dataclass(frozen=True)
class ExamplePosition:
    """A position with its evaluation and its game's result."""

    game_id: int
    ply: int
    values: str
    result: float


@dataclass(frozen=True)
class BiasedSlice:
    """A slice where the evaluation is biased, found in fitting games, checked in held-out games."""

    words: str
    sql: str
    kind: Kind
    sentence: str
    effect: Estimate
    """In the fitting games; the interval is widened for selection."""
    q_value: float
    positions: int
    games: int
    confirmed: Estimate
    """The effect in the held-out games."""
    p_value: float
    """The p-value of `confirmed`."""

    @property
    def is_confirmed(self) -> bool:
        """Whether the held-out effect is significant in the same direction."""
        ends = self.confirmed
        return ends.low > 0 if self.effect.value > 0 else ends.high < 0


@dataclass(frozen=True)
class SliceFindings:
    """All significant slices that no control explains."""

    slices: tuple[BiasedSlice, ...]
    tried: int
    fitted_games: int
    fitted_positions: int
    held_out_games: int
    held_out_positions: int
    shown: tuple[ExamplePosition, ...] = ()
    """Positions of the first slice with the largest evaluation errors."""


@dataclass(frozen=True)
class SelectedTerm:
    """A term, or a condition, that describes a slice."""

    name: str
    split: str
    """The slice in words."""
    likeness: float
    """Correlation of the term with the slice's condition at equal scores."""
    pull: float | None
    """Score-test statistic of the weight, clustered by game; None for a condition."""
    opening: float | None
    """The current weight; None for a condition."""
    ending: float | None


@dataclass(frozen=True)
class TermSelection:
    """The terms that describe the slices."""

    terms: tuple[SelectedTerm, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct names, in order."""
        return tuple(dict.fromkeys(term.name for term in self.terms))


@dataclass(frozen=True)
class WeightChange:
    """A weight that was fitted."""

    name: str
    weight: Estimate
    former: float | None


@dataclass(frozen=True)
class MetricChange:
    """The change of a metric on held-out games."""

    title: str
    name: str
    before: float
    after: float
    change: Estimate


@dataclass(frozen=True)
class SliceChange:
    """A slice's gap on held-out games, before and after."""

    words: str
    before: Estimate
    after: Estimate


@dataclass(frozen=True)
class Candidate:
    """New weights and their effects on held-out games."""

    name: str
    about: str
    weights: tuple[WeightChange, ...]
    """The most changed weights."""
    free: int
    """The number of fitted weights."""
    games: int
    positions: int
    metrics: tuple[MetricChange, ...]
    slices: tuple[SliceChange, ...]
    charts: dict[str, dict[str, Any]] = field(repr=False)
    """Curves before and after, as Vega-Lite specs."""
    file: str
    """The new weights, in the folder."""

    @property
    def loss(self) -> MetricChange:
        """The change of log-loss, the fitted objective; smaller is better."""
        return next(each for each in self.metrics if each.name == "log_loss")

    @property
    def is_better_on_paper(self) -> bool:
        """Whether log-loss on held-out games improves significantly."""
        return self.loss.change.high < 0


@dataclass(frozen=True)
class Verification:
    """A match of new weights against the old ones."""

    candidate: str
    new: str
    old: str
    openings: str
    sprt: str
    verdict: str | None
    """The decision of the sequential test: `H0`, `H1`, or None."""
    wins: int
    draws: int
    losses: int
    pairs: tuple[int, ...]
    elo: Estimate
    rate: Estimate
    llr: float
    bounds: tuple[float, float]

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.wins + self.draws + self.losses

    def __str__(self) -> str:
        taken = {
            "H1": "the sequential test accepts it",
            "H0": "the sequential test rejects it",
            None: "the sequential test has not decided",
        }[self.verdict]
        return (
            f"+{self.wins} ={self.draws} −{self.losses} in {self.games:,} games, "
            f"{self.rate.text('.1%')} of the points, Elo {self.elo.text('+.0f')}: {taken} "
            f"({self.sprt})"
        )


@dataclass(frozen=True)
class Improvement:
    """The slices, terms, fits and matches of an improvement, and its verdict."""

    folder: Path
    game: str
    study: str
    evaluator: str
    findings: SliceFindings
    named: TermSelection
    candidates: tuple[Candidate, ...]
    proofs: tuple[Verification, ...]
    verdict: Verdict
    start: str = ""
    """Describe the difference of the initial evaluation from the bundled one; empty if none."""

    @property
    def page(self) -> Path:
        """The path of the report."""
        return self.folder / PAGE

    @property
    def gain(self) -> Verification | None:
        """The match that verified a gain."""
        return next((each for each in self.proofs if each.verdict == "H1"), None)

    @property
    def weights(self) -> Path | None:
        """The weight file with a verified gain, for `eval=FILE`; None without one."""
        proof = self.gain
        if proof is None:
            return None
        return self.folder / next(c.file for c in self.candidates if c.name == proof.candidate)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> tuple[str, ...]:
        """Summarize the improvement, the outcome first."""
        start = (self.start,) if self.start else ()
        return (self.outcome, *start, *self._steps())

    @property
    def outcome(self) -> str:
        """The outcome in one sentence."""
        match self.verdict:
            case "nothing found":
                return (
                    f"Nothing was found: none of {self.findings.tried:,} conditions defines a "
                    f"significant slice of {self.evaluator} that no control explains."
                )
            case "no better on paper":
                return (
                    "No gain: none of the fits improves log-loss on held-out games significantly, "
                    "so no match was played."
                )
            case "not played":
                sure = any(each.is_better_on_paper for each in self.candidates)
                doubt = "" if sure else " Held-out games do not confirm the fit."
                return (
                    f"No match: the evaluation of {self.evaluator} has no weights that "
                    "Hyoka can change. The corrections of its scores are listed below; add them to "
                    f"the evaluator and verify them with `hyoka match run`.{doubt}"
                )
            case "gain":
                proof = self.gain
                assert proof is not None
                return f"Verified gain: {proof}."
            case "not proven":
                last = self.proofs[-1]
                return f"No verified gain. The last match: {last}."

    def _steps(self) -> typing.Iterator[str]:
        if self.findings.slices:
            worst = self.findings.slices[0]
            held = worst.confirmed.text("+.3f")
            says = "confirm it" if worst.is_confirmed else "do not confirm it"
            yield f"{worst.sentence} Held-out games {says}: {held}."
        if self.named.terms:
            yield f"Terms that describe the slices: {', '.join(self.named.names)}."
        for each in self.candidates:
            change = each.loss.change.text("+.4f")
            yield (
                f"Fitted, {each.about}: log-loss on {self.findings.held_out_games:,} held-out "
                f"games {each.loss.before:.4f}, then {each.loss.after:.4f}: {change}."
            )
        for proof in self.proofs:
            if f"{proof}" not in self.outcome:
                yield f"Match of {proof.candidate}: {proof}."

    def as_json(self) -> dict[str, Any]:
        """The improvement as JSON, without the charts."""
        plain = asdict(self) | {
            "folder": str(self.folder),
            "page": str(self.page),
            "weights": None if self.weights is None else str(self.weights),
            "outcome": self.outcome,
        }
        for candidate in plain["candidates"]:
            del candidate["charts"]
        # JSON turns tuples into lists, in which plain_json replaces non-finite numbers.
        finite: dict[str, Any] = plain_json(json.loads(json.dumps(plain)))
        return finite


PAGE = "report.html"


def load_or_compute(path: Path, kind: type[T], compute: Callable[[], T]) -> T:
    """Load a step's result from its file, or compute and store it."""
    if path.exists():
        try:
            restored: T = from_json(kind, json.loads(read_regular(path)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StudyError(
                f"{path}: cannot be read ({error}); remove it to compute it again"
            ) from None
        return restored
    result = compute()
    write_text(path, json.dumps(to_json(result), indent=1, allow_nan=False))
    return result


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
    where: str | None = option(None, WHERE_HELP, metavar="SQL")
    sample: int = option(16, "Positions of each game.", min=1)
    draws: DrawnGames = option("half", "Count drawn games as half a win, or leave them out.")
    hold_out: float = option(0.2, "Share of held-out games.", above=0, max=0.9)
    freedom: float = option(
        0.01, "Prior standard deviation of weight changes, as a share of the scale.", above=0, max=9
    )
    games: int = option(
        2000, "Number of games, at most, in a match of new against old weights.", min=1
    )
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
        evaluation = static_evaluation(game, spec["eval"])
        return evaluation if isinstance(evaluation, LinearEvaluation) else None

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
