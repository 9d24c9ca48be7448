# SPDX-License-Identifier: Apache-2.0
"""What an improvement has come to, step by step, as plain values that a folder keeps."""

import json
import math
import types
import typing
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from hyoka.analysis.gaps import Kind
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import Estimate
from hyoka.storage.files import read_regular, write_text
from hyoka.storage.result import plain_json

T = TypeVar("T")

Verdict = Literal["nothing found", "no better on paper", "not proven", "not played", "gain"]
"""No split; a fit that games held out don't confirm; a match that doesn't; no match, since the
evaluator takes no weights; a gain."""


@dataclass(frozen=True)
class Shown:
    """A position to be shown, with what was said of it."""

    game_id: int
    ply: int
    values: str
    result: float


@dataclass(frozen=True)
class FoundSlice:
    """A condition under which the evaluation is wrong, found in some games, looked at in others."""

    words: str
    sql: str
    kind: Kind
    sentence: str
    effect: Estimate
    """In the games that it was found in, the interval widened for having been selected."""
    q_value: float
    positions: int
    games: int
    confirmed: Estimate
    """In the games held out, where nothing was selected."""
    p_value: float
    """Of that."""

    @property
    def is_confirmed(self) -> bool:
        """Whether the games held out say the same, surely."""
        ends = self.confirmed
        return ends.low > 0 if self.effect.value > 0 else ends.high < 0


@dataclass(frozen=True)
class Found:
    """All splits that are surely there and that nothing else explains."""

    slices: tuple[FoundSlice, ...]
    tried: int
    fitted_games: int
    fitted_positions: int
    held_out_games: int
    held_out_positions: int
    shown: tuple[Shown, ...] = ()
    """Positions of the first split where the evaluation was most wrong."""


@dataclass(frozen=True)
class NamedTerm:
    """A term, or a column, that describes a split."""

    name: str
    split: str
    """In words."""
    likeness: float
    """Correlation of the term with the split's condition at equal scores."""
    pull: float | None
    """Standard errors by which the results would have the weight greater, by games."""
    opening: float | None
    """Its weight as it is; None, as the pull, for a condition, which has none."""
    ending: float | None


@dataclass(frozen=True)
class Named:
    """The terms that describe what was found."""

    terms: tuple[NamedTerm, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Each once."""
        return tuple(dict.fromkeys(term.name for term in self.terms))


@dataclass(frozen=True)
class WeightChange:
    """A weight that was fitted."""

    name: str
    weight: Estimate
    former: float | None


@dataclass(frozen=True)
class MetricChange:
    """A metric on the games held out."""

    title: str
    name: str
    before: float
    after: float
    change: Estimate


@dataclass(frozen=True)
class SliceChange:
    """How far a split's curve lies from the curve of all on the games held out."""

    words: str
    before: Estimate
    after: Estimate


@dataclass(frozen=True)
class Candidate:
    """New weights, and what they change on games that they were not fitted to."""

    name: str
    about: str
    weights: tuple[WeightChange, ...]
    """The most changed first, not all of many."""
    free: int
    """Weights that were fitted."""
    games: int
    positions: int
    metrics: tuple[MetricChange, ...]
    slices: tuple[SliceChange, ...]
    charts: dict[str, dict[str, Any]] = field(repr=False)
    """Curves before and after, as Vega-Lite has them."""
    file: str
    """The new weights, in the folder."""

    @property
    def loss(self) -> MetricChange:
        """The change of what was fitted: log-loss, better where it is smaller."""
        return next(each for each in self.metrics if each.name == "log_loss")

    @property
    def is_better_on_paper(self) -> bool:
        """Whether results of the games held out are surely foretold better."""
        return self.loss.change.high < 0


@dataclass(frozen=True)
class Proof:
    """A match of new weights against the old ones."""

    candidate: str
    new: str
    old: str
    openings: str
    sprt: str
    verdict: str | None
    """What the sequential test has decided: `H0`, `H1`, or None."""
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
        """How many were played."""
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
    """The whole story: what was found, named, fitted, measured and proven."""

    folder: Path
    game: str
    study: str
    evaluator: str
    found: Found
    named: Named
    candidates: tuple[Candidate, ...]
    proofs: tuple[Proof, ...]
    verdict: Verdict
    start: str = ""
    """How the evaluation to begin with differs from the one that is built in; empty if not."""

    @property
    def page(self) -> Path:
        """Where all of it is told."""
        return self.folder / PAGE

    @property
    def gain(self) -> Proof | None:
        """The match that proves a gain."""
        return next((each for each in self.proofs if each.verdict == "H1"), None)

    @property
    def weights(self) -> Path | None:
        """The file whose gain is proven, for `eval=FILE`; None without one."""
        proof = self.gain
        if proof is None:
            return None
        return self.folder / next(c.file for c in self.candidates if c.name == proof.candidate)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> tuple[str, ...]:
        """The story in a few sentences, the outcome first."""
        start = (self.start,) if self.start else ()
        return (self.outcome, *start, *self._steps())

    @property
    def outcome(self) -> str:
        """What has come of it, in a sentence."""
        match self.verdict:
            case "nothing found":
                return (
                    f"Nothing was found: none of {self.found.tried:,} conditions surely splits the "
                    f"curve of {self.evaluator} that nothing else explains."
                )
            case "no better on paper":
                return (
                    "Nothing was gained: on the games held out, results are not surely foretold "
                    "better by any of the fits, so none was played."
                )
            case "not played":
                sure = any(each.is_better_on_paper for each in self.candidates)
                doubt = "" if sure else " Games held out do not surely confirm the fit."
                return (
                    f"No match: the evaluation of {self.evaluator} can't be given other weights "
                    "from here. What its scores lack is below, to be built in and proven by "
                    f"`hyoka match`.{doubt}"
                )
            case "gain":
                proof = self.gain
                assert proof is not None
                return f"A gain, proven: {proof}."
            case "not proven":
                last = self.proofs[-1]
                return f"No gain is proven. The last match: {last}."

    def _steps(self) -> typing.Iterator[str]:
        if self.found.slices:
            worst = self.found.slices[0]
            held = worst.confirmed.text("+.3f")
            says = "confirm it" if worst.is_confirmed else "do not confirm it"
            yield f"{worst.sentence} Games held out {says}: {held}."
        if self.named.terms:
            yield f"What describes the splits: {', '.join(self.named.names)}."
        for each in self.candidates:
            change = each.loss.change.text("+.4f")
            yield (
                f"Fitted, {each.about}: log-loss on {self.found.held_out_games:,} games held out "
                f"{each.loss.before:.4f}, then {each.loss.after:.4f}: {change}."
            )
        for proof in self.proofs:
            if f"{proof}" not in self.outcome:
                yield f"Tried, {proof.candidate}: {proof}."

    def as_json(self) -> dict[str, Any]:
        """Everything but the charts, as JSON has it."""
        plain = asdict(self) | {
            "folder": str(self.folder),
            "page": str(self.page),
            "weights": None if self.weights is None else str(self.weights),
            "outcome": self.outcome,
        }
        for candidate in plain["candidates"]:
            del candidate["charts"]
        # As lists, which are searched for what JSON does not know.
        finite: dict[str, Any] = plain_json(json.loads(json.dumps(plain)))
        return finite


PAGE = "report.html"


def kept(path: Path, kind: type[T], make: Callable[[], T]) -> T:
    """What a step came to: as the folder has it or, if it does not yet, made and kept."""
    if path.exists():
        try:
            restored: T = _restored(kind, json.loads(read_regular(path)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StudyError(
                f"{path}: can't be read ({error}); remove it, and it is made anew"
            ) from None
        return restored
    made = make()
    assert is_dataclass(made)
    assert not isinstance(made, type)
    write_text(path, json.dumps(_plain(asdict(made)), indent=1, allow_nan=False))
    return made


def _plain(value: Any) -> Any:
    """Numbers that JSON has no words for: null is none, and infinities are texts."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _restored(kind: Any, value: Any) -> Any:
    """A value of dataclasses, tuples and plain things from what JSON made of it."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return _restored(next(each for each in arguments if each is not type(None)), value)
    if origin is tuple:
        inner = arguments[0]
        return tuple(_restored(inner, each) for each in value)
    if kind is float and (value is None or isinstance(value, str)):
        return math.nan if value is None else float(value)
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        names = [each.name for each in fields(kind)]
        made: Any = kind
        return made(**{name: _restored(hints[name], value[name]) for name in names})
    return value
