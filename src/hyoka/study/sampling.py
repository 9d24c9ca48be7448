# SPDX-License-Identifier: Apache-2.0
"""Sampling from a study: positions with evaluations and results."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.analysis import (
    MIN_GAMES,
    VALUE,
    Control,
    DrawnGames,
    Link,
    Resampling,
    Sample,
    game_numbers,
)
from hyoka.foundation.errors import (
    ConditionError,
    ParameterError,
    StudyError,
    named,
    nearest,
)
from hyoka.foundation.options import WHERE_HELP, check_options, option, read_numbers
from hyoka.foundation.text import distinct_titles, matches, prefix_of, shorten
from hyoka.games import facts_named
from hyoka.games.evaluation import MATE_SCORE
from hyoka.storage.manifest import (
    AUTHORS,
    CALIBRATION,
    COMMENTS,
    PLAYER,
    derived_file,
    read_manifest,
)
from hyoka.storage.result import CoveredGroup
from hyoka.study.comment_authors import PlayersOf
from hyoka.study.sql import check_condition, installed_memory, read_size
from hyoka.study.tables import GameChoice

if TYPE_CHECKING:
    from hyoka.study.study import Study


Axis = Literal["auto", "value", "score"]
"""The quantity of an evaluation to analyze; `auto` takes the evaluator's primary one."""
Balance = Literal["ply"]
"""The strata to balance: early, middle and late positions by ply."""
PHASE: Final = "phase"
"""Divides positions into early, middle and late thirds of the plies."""

_NAMED: Final = re.compile(r"\s*([^\W\d][\w %./+-]*?)\s*:(?!:)\s*(\S.*?)\s*", re.DOTALL)
"""A name, a colon (two of them are a cast in SQL) and an expression."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The options common to all analyses of a study.

    >>> asked = Question(where="ply >= 20")
    >>> asked.also(by="phase").where
    'ply >= 20'
    """

    where: str | None = option(None, WHERE_HELP, metavar="SQL")
    by: str | None = option(
        None,
        "Column or SQL expression that divides the positions, optionally named (`name: "
        "expression`); `phase` divides into thirds of the plies. A column of evaluations divides "
        "the evaluations of each evaluator.",
        metavar="COLUMN",
    )
    bins: Sequence[float] | None = option(
        None, "Boundaries of the bins of the --by column.", metavar="NUMBERS", parse=read_numbers
    )
    largest: int | None = option(
        None,
        "Number of most frequent values of the --by column that become slices, plus one for the "
        "rest; by default 6 for text.",
        min=1,
    )
    balance: Balance | None = option(
        None, "Weight the phases in each slice as among all positions."
    )
    draws: DrawnGames = option("drop", "Leave out drawn games, or count them as half a win.")
    axis: Axis = option("auto", "Quantity of an evaluation to analyze; auto: its primary one.")
    link: Link | None = None
    """The link from scores to probabilities; None: chosen on held-out games."""
    resampling: Resampling = field(default_factory=Resampling)
    """The cluster bootstrap over games for intervals; none without resamples."""
    min_games: int = option(MIN_GAMES, "Minimum number of games per reported figure.", min=1)
    memory: str | None = option(
        None,
        "Memory for an analysis, such as 4G; by default half of the machine's. Positions that need "
        "more are condensed, or a random sample of the games is used.",
        metavar="SIZE",
    )
    cluster: str | None = option(
        None,
        "Address of a Dask scheduler whose workers condense the positions.",
        metavar="ADDRESS",
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.memory is not None and read_size(self.memory) is None:
            raise ParameterError("memory", f"is a size such as 500M or 8G, not '{self.memory}'")
        some = self.largest
        if some is not None and (self.by is None or self.bins is not None):
            raise ParameterError(
                "largest", f"needs {named('by')} and cannot be combined with {named('bins')}"
            )
        if self.balance is not None and self.expression in (PHASE, self.balance):
            by = named("by")
            raise ParameterError(
                "balance", f"cannot balance the phases that {by} separates; use another {by}"
            )
        if self.bins is not None and self.by is None:
            raise ParameterError("bins", f"needs a column: add {named('by')}")
        if self.bins is not None and self.expression == PHASE:
            raise ParameterError("bins", f"does not apply to phases; use {named('by', 'ply')}")

    @property
    def expression(self) -> str | None:
        """The expression that divides the positions, without its name.

        >>> Question(by="pawns: material / 100").expression
        'material / 100'
        """
        return None if self.by is None else _named_part(self.by)[1]

    @property
    def called(self) -> str | None:
        """The name of that expression, or the expression.

        >>> Question(by="pawns: material / 100").called, Question(by="ply::text").called
        ('pawns', 'ply::text')
        """
        return None if self.by is None else _named_part(self.by)[0]

    @property
    def max_bytes(self) -> int:
        """The memory for an analysis in bytes."""
        size = None if self.memory is None else read_size(self.memory)
        return installed_memory() // 2 if size is None else size

    def also(self, **options: Any) -> "Question":
        """Return the question with some fields replaced."""
        return replace(self, **options)


def _named_part(by: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(by)
    return (match[1], match[2]) if match else (by, by)


OUTCOMES: Final = frozenset(
    ["result", "margin", "ending", "plies", "adjudicated", "duplicate_of", "game_id"]
)
"""Columns that depend on the result, or only count: unsuitable as explanations."""
GAME_COLUMNS: Final = ("komi", "handicap", "rules")
"""Game columns that slice discovery searches, beside position columns."""
_BY_POINTS: Final = ("ab", "mc-score")
"""Searches that derive values from scores."""
CENTIPAWNS: Final = "centipawns"
EVALUATOR: Final = "evaluator"
_LONGEST_TITLE: Final = 60
_ROW_BYTES: Final = 300
"""The memory of a position of one evaluator while it is loaded and measured."""
_COLUMN_BYTES: Final = 50
"""The memory of a column of a position; an evaluator has two."""
EVALUATION_COLUMNS: Final = (
    "value",
    "score",
    "mate",
    "win",
    "draw",
    "loss",
    "best",
    "depth",
    "nodes",
    "time_s",
)
"""The columns of evaluations that conditions may use, beside those of positions."""
THE_PHASE: Final = "the phase of the game"
"""Descriptions of what is held equal."""
_PLY_STRATA: Final = 10


Quantity = tuple[Literal["value", "score"], str]
"""The analyzed column of an evaluator, and its unit."""


class NoPositionsError(StudyError):
    """No position has all that a question requires."""

    def __init__(self, text: str, joint_games: NDArray[Any], drawn_games: NDArray[Any]) -> None:
        super().__init__(text)
        self.joint_games, self.drawn_games = joint_games, drawn_games


def _no_games() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


def first_player(game: str) -> str:
    """Return the game's name of its first player."""
    return facts_named(game).naming.players[0]


@dataclass(frozen=True, eq=False)
class Measured:
    """Positions of a study that all of several evaluators evaluated."""

    study: "Study"
    samples: tuple[Sample, ...]
    """One sample per evaluator under its requested name, over the same positions in the same
    order.
    """
    game_ids: NDArray[np.int64] = field(repr=False)
    plies: NDArray[np.int32] = field(repr=False)
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    """The requested columns of the positions, and the one that divides them."""
    changed: int
    """The number of positions whose recorded result an exact method replaces."""
    authors: tuple[NDArray[np.int8], ...] = field(repr=False)
    """The author of each value in the records: 1 the first player, 2 the second, 0 unknown."""
    inferred: tuple[bool, ...]
    """For each evaluator, whether authors were inferred from values."""
    joint_games: NDArray[np.int64] = field(default_factory=_no_games, repr=False)
    """The number of evaluated games with a result, including dropped draws."""
    drawn_games: NDArray[np.int64] = field(default_factory=_no_games, repr=False)
    """The number of drawn games."""
    note: str = ""
    """The random sample of games, if not all are loaded."""

    def __len__(self) -> int:
        return len(self.game_ids)

    def sample(self, name: str) -> Sample:
        """Return the sample of one evaluator."""
        return next(sample for sample in self.samples if sample.name == name)

    def group(self, own_positions: Sequence[int] = (), common_positions: int = 0) -> CoveredGroup:
        """Return the evaluators with the numbers of their positions and games."""
        names = tuple(sample.name for sample in self.samples)
        games = len(np.unique(self.game_ids))
        return CoveredGroup(names, len(self), games, tuple(own_positions), common_positions)

    @cached_property
    def _players(self) -> PlayersOf:
        return PlayersOf.load(self.study, self.game_ids)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """Caveats about evaluators with several comment authors."""
        caveats = []
        for sample, authors, inferred in zip(
            self.samples, self.authors, self.inferred, strict=True
        ):
            if not authors.any():
                continue
            if (
                comment_authors := self._players.comment_authors(authors, inferred=inferred)
            ) is not None:
                caveats.append(comment_authors.caveat(sample.name))
        return tuple(caveats)

    def controls(self, name: str) -> list[Control]:
        """Return controls that may explain an evaluator's slices: author, players and phase."""
        index = next(i for i, sample in enumerate(self.samples) if sample.name == name)
        return [*self._players.controls(self.authors[index]), self.phase]

    @cached_property
    def phase(self) -> Control:
        """The phase of the game, in tenths of the plies."""
        return Control(THE_PHASE, self.strata()[0], frozenset(["ply"]))

    def strata(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return each position's tenth of the plies, and the distribution over the tenths."""
        cuts = np.quantile(self.plies, np.linspace(0, 1, _PLY_STRATA + 1)[1:-1])
        strata = np.searchsorted(cuts, self.plies, side="right").astype(np.int64)
        shares = np.bincount(strata, minlength=_PLY_STRATA) / max(len(strata), 1)
        return strata, shares


def measured(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    *,
    columns: Sequence[str] = (),
    quantities: Sequence[Quantity] | None = None,
) -> Measured:
    """Load evaluations of a study's positions with the results of the games.

    By default all evaluators of the study, on the positions that all of them evaluated. Positions
    of games without a result, and failed evaluations, are left out. Exact results replace the
    results of records. `columns` may be SQL expressions. If the positions need more memory than the
    question allows, those of a random sample of games are loaded.

    `quantities` of the evaluators are by default chosen from the positions; if they are given, the
    positions come in any order.
    """
    chosen = question or Question()
    names = chosen_evaluators(study, evaluators)
    loaded = list(columns)
    study, note = _fitting(study, names, chosen, len(columns))
    by = chosen.expression
    if by is not None and by not in (PHASE, *columns):
        loaded.append(by)
    in_order = quantities is None
    table = _joined(study, names, chosen.where, loaded, in_order=in_order)
    results = column_values(table, "result").astype(np.float32)
    all_game_ids = column_values(table, "game_id").astype(np.int64)
    decided = (results == 0) | (results == 1)
    drawn_games = np.unique(all_game_ids[~decided])
    rows = np.flatnonzero(decided) if chosen.draws == "drop" else np.arange(len(results))
    values, units = [], []
    for index, name in enumerate(names):
        kind = prefix_of(evaluator_text(study, name))
        by_points = kind in _BY_POINTS and "source" not in identity(study, name)
        axis = chosen.axis
        if axis == "auto" and is_calibrated(study, name):
            axis = "value"
        quantity = (
            _quantity(table, index, axis, name, by_points)
            if quantities is None
            else quantities[index]
        )
        numbers, unit = _numbers(table, index, quantity), quantity[1]
        rows = rows[~np.isnan(numbers[rows])]
        values.append(numbers)
        units.append(unit)
    if not len(rows):
        nothing = _nothing(study, names, chosen, len(table))
        raise NoPositionsError(nothing, np.unique(all_game_ids), drawn_games)
    game_ids = all_game_ids[rows]
    games, count = game_numbers(game_ids)
    samples = [
        Sample(
            title,
            unit,
            numbers[rows],
            results[rows],
            games,
            count,
            rows=np.arange(len(rows)),
            link=chosen.link,
            first_player=first_player(study.game),
        )
        for title, unit, numbers in zip(evaluator_titles(study, names), units, values, strict=True)
    ]
    changed = column_values(table, "changed")[rows]
    return Measured(
        study,
        tuple(samples),
        game_ids,
        column_values(table, "ply").astype(np.int32)[rows],
        {name: column_values(table, f"column_{i}")[rows] for i, name in enumerate(loaded)},
        int(np.nansum(changed.astype(np.float64))),
        tuple(
            # A single player is the only author.
            column_values(table, f"author_{i}").astype(np.int8)[rows] * (not is_player(study, name))
            for i, name in enumerate(names)
        ),
        tuple(AUTHORS in identity(study, name) for name in names),
        np.unique(all_game_ids),
        drawn_games,
        note,
    )


def memory_needed(study: "Study", names: Sequence[str], columns: int = 0) -> int:
    """Estimate the memory of the positions that some evaluators evaluated, in bytes."""
    manifests = [read_manifest(derived_file(study.path, "evaluations", name)) for name in names]
    rows = min((sum(part.rows for part in manifest.parts) for manifest in manifests), default=0)
    return rows * (_ROW_BYTES + (2 * len(names) - 2 + columns) * _COLUMN_BYTES)


def _size(number: int) -> str:
    """A size in bytes as text, rounded up."""
    if number < 10**9:
        return f"{-(-number // 10**6)}M"
    return f"{-(-number // 10**8) / 10:g}G"


def _fitting(
    study: "Study", names: Sequence[str], question: Question, columns: int
) -> tuple["Study", str]:
    """Choose a random sample of games whose positions fit in memory, if all games do not."""
    needed = memory_needed(study, names, columns)
    if study.chosen is not None or needed <= question.max_bytes:
        return study, ""
    share = question.max_bytes / needed
    more = named("memory", _size(needed))
    note = (
        f"Measured on a random {share:.3g} of the games, which fits in {_size(question.max_bytes)} "
        f"({more} takes all)"
    )
    return replace(study, chosen=GameChoice(share=share)), note


def chosen_evaluators(study: "Study", evaluators: Sequence[str] | str | None) -> list[str]:
    """Resolve evaluators to their stored names.

    An evaluator is named by its stored name, its title, its spec or the name of a player, or a
    pattern of these.
    """
    stored = study.engines
    if not stored:
        raise nothing_evaluated(study)
    if evaluators is None:
        return stored
    patterns = [evaluators] if isinstance(evaluators, str) else list(evaluators)
    texts: dict[str, list[str]] = {}
    for name, title in zip(stored, evaluator_titles(study, stored), strict=True):
        for text in {title, evaluator_text(study, name), _called(study, name)}:
            texts.setdefault(text, []).append(name)
    chosen = []
    for name in patterns:
        if name not in stored and name not in texts:
            by_text = {n for text, names in texts.items() if matches(name, text) for n in names}
            fitting = [n for n in stored if n in by_text or matches(name, n)]
            if not fitting:
                hint = nearest(name, [*stored, *texts]) or f"known: {titles_text(study, stored)}"
                raise StudyError(f"{study.path}: no evaluator '{name}'; {hint}")
            chosen += fitting
            continue
        matching = [name] if name in stored else texts[name]
        if len(matching) > 1:
            raise StudyError(
                f"{study.path}: '{name}' is ambiguous: {', '.join(matching)}; "
                "use one of these names"
            )
        chosen += matching
    return list(dict.fromkeys(chosen))


def nothing_evaluated(study: "Study") -> StudyError:
    """The error for a study without evaluations."""
    return StudyError(f"{study.path}: no evaluations yet; run: hyoka study evaluate {study.path}")


def chosen_evaluator(study: "Study", evaluator: str) -> str:
    """Resolve one evaluator to its stored name; raises StudyError if several match."""
    names = chosen_evaluators(study, evaluator)
    if len(names) > 1:
        raise StudyError(
            f"{study.path}: '{evaluator}' matches {len(names)} evaluators, "
            f"{titles_text(study, names[:3])}{' …' if len(names) > 3 else ''}; choose one"
        )
    return names[0]


def evaluator_text(study: "Study", name: str) -> str:
    """Return the spec of an evaluator; its name if unknown."""
    return str(identity(study, name).get("spec", name))


def evaluator_titles(study: "Study", names: Sequence[str]) -> list[str]:
    """Return the titles of evaluators, unique in the study."""
    stored = study.engines
    texts = [evaluator_text(study, name) for name in stored]
    titles = [
        str(identity(study, name).get("title", f"{COMMENTS} by {_called(study, name)}"))
        if is_player(study, name)
        else str(identity(study, name).get("title", text))
        for name, text in zip(stored, texts, strict=True)
    ]
    shown = [shorten(title, _LONGEST_TITLE) for title in titles]
    by_name = dict(zip(stored, distinct_titles(shown, texts), strict=True))
    return [by_name.get(name, name) for name in names]


def titles_text(study: "Study", names: Sequence[str]) -> str:
    """List evaluators in a message."""
    return "; ".join(evaluator_titles(study, names))


def _called(study: "Study", name: str) -> str:
    """The name of an evaluator in SQL, which no title changes: a player's name or the spec."""
    text = evaluator_text(study, name)
    return text if is_calibrated(study, name) else str(identity(study, name).get(PLAYER, text))


def is_player(study: "Study", name: str) -> bool:
    """Whether an evaluator is the comments of one player."""
    return PLAYER in identity(study, name)


def is_calibrated(study: "Study", name: str) -> bool:
    """Whether a calibration model maps the values of an evaluator."""
    values = identity(study, name)
    return CALIBRATION in values or CALIBRATION in (values.get("contents") or {})


def identity(study: "Study", name: str) -> dict[str, Any]:
    """Return an evaluator's manifest values."""
    return read_manifest(derived_file(study.path, "evaluations", name)).values


def slice_columns(study: "Study") -> list[str]:
    """The default columns of slice discovery."""
    existing = set(study.condition_columns())
    names = ["ply", "first_to_play", *study.columns, *GAME_COLUMNS]
    names += [*study.ranking_columns, *study.category_columns, *study.user_columns]
    return [name for name in names if name in existing]


def evaluation_columns_in(expressions: Iterable[str], columns: Sequence[str]) -> set[str]:
    """Return the evaluation columns for expressions; a study's own columns take precedence."""
    words: set[str] = set()
    for expression in expressions:
        words |= set(re.findall(r"\w+", re.sub(r"'(?:[^']|'')*'", "", expression).lower()))
    return (words & {EVALUATOR, *EVALUATION_COLUMNS}) - {column.lower() for column in columns}


def evaluated_positions(study: "Study", names: Sequence[str]) -> str:
    """Build the SQL of the positions with evaluations, one row per evaluation."""
    existing = study.condition_columns()
    columns = ", ".join(f"e.{column}" for column in EVALUATION_COLUMNS if column not in existing)
    texts = [_called(study, name) for name in names]
    labels = " ".join(
        f"when {quoted(name)} then {quoted(text if texts.count(text) == 1 else name)}"
        for name, text in zip(names, texts, strict=True)
    )
    called = "" if EVALUATOR in existing else f", case e.engine {labels} end as {EVALUATOR}"
    return (
        f"(select p.*, {columns}{called}, e.engine as engine_ from positions p join evaluations e "
        f"using (game_id, ply) where e.failed is null and e.engine in "
        f"({', '.join(map(quoted, names))}))"
    )


def quoted(text: str) -> str:
    """Quote a text for SQL."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def _joined(
    study: "Study",
    names: Sequence[str],
    where: str | None,
    columns: Sequence[str],
    *,
    in_order: bool,
) -> pa.Table:
    existing = study.condition_columns()
    usable = [
        *existing,
        EVALUATOR,
        *(column for column in EVALUATION_COLUMNS if column not in existing),
    ]
    condition = "true" if where is None else check_condition(where, usable)
    own = evaluation_columns_in([] if where is None else [where], existing)
    of_positions: list[str] = []
    of_evaluators: list[str] = []
    for i, column in enumerate(columns):
        expression = f'"{column}"' if column in existing else check_condition(column, usable)
        (of_evaluators if evaluation_columns_in([column], existing) else of_positions).append(
            f"{expression} as column_{i}"
        )
    if of_evaluators and len(names) > 1:
        raise StudyError("conditions on evaluations need a single evaluator")
    joins, evaluated = [], []
    for i, name in enumerate(names):
        joins.append(
            f"join (select game_id, ply, value, score, mate, unit, author from evaluations where "
            f"engine = {quoted(name)} and failed is null) e{i} using (game_id, ply)"
        )
        if own or of_evaluators:
            more = "".join(f", {each}" for each in of_evaluators)
            joins.append(
                f"join (select game_id, ply{more} from {evaluated_positions(study, [name])} "
                f"where {condition if own else 'true'}) s{i} using (game_id, ply)"
            )
        evaluated += [f"e{i}.{part} as {part}_{i}" for part in ("value", "score", "mate", "unit")]
        evaluated.append(
            f"case e{i}.author when 'first' then 1 when 'second' then 2 else 0 end as author_{i}"
        )
    inner = ", ".join(
        [
            "game_id",
            "ply",
            "coalesce(adjudicated, result) as result",
            "adjudicated is not null and result is not null and adjudicated <> result as changed",
            *of_positions,
        ]
    )
    outer = ", ".join(["p.*", *evaluated, *(e.rpartition(" as ")[2] for e in of_evaluators)])
    try:
        return study.sql(
            f"select {outer} from (select {inner} from positions where "
            f"{'true' if own else condition} "
            f"and coalesce(adjudicated, result) is not null) p {' '.join(joins)}"
            f"{' order by game_id, ply' if in_order else ''}"
        )
    except ConditionError as error:
        raise ConditionError(f"{error} (in: {', '.join([where or '', *columns])})") from error


def column_values(table: pa.Table, name: str) -> NDArray[Any]:
    """Convert a column to a NumPy array; nulls of numbers and Booleans become NaN."""
    column = table[name].combine_chunks()
    kind = column.type
    counted = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if (counted and column.null_count) or pa.types.is_decimal(kind):
        column = pc.cast(column, pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _quantity(table: pa.Table, index: int, axis: Axis, name: str, by_points: bool) -> Quantity:
    """Choose the analyzed column of an evaluator.

    Centipawn scores take precedence over values, which engines derive from them, and so do point
    scores of searches; otherwise values take precedence.
    """
    mated = _is_known(table[f"mate_{index}"])
    has_value, has_score = (_is_known(table[f"{each}_{index}"]) for each in ("value", "score"))
    units = [unit for unit in pc.unique(table[f"unit_{index}"]).to_pylist() if unit]
    if axis == "auto":
        by_score = has_score and (by_points or CENTIPAWNS in units)
        axis = "score" if by_score or not has_value else "value"
    if not ((has_score if axis == "score" else has_value) or mated) and len(table):
        raise StudyError(f"{name} has no {axis}s")
    if axis == "value":
        return "value", VALUE
    return "score", CENTIPAWNS if CENTIPAWNS in units else (units or ["points"])[0]


def _is_known(column: pa.ChunkedArray) -> bool:
    """Whether any number of a column is finite."""
    return bool(pc.any(pc.is_finite(column.cast(pa.float64()))).as_py())


def _numbers(table: pa.Table, index: int, quantity: Quantity) -> NDArray[np.float32]:
    """Return an evaluator's values; mates and proofs are infinite scores."""
    value = column_values(table, f"value_{index}").astype(np.float32)
    mate = column_values(table, f"mate_{index}").astype(np.float32)
    if quantity[0] == "value":
        values = np.where(np.isnan(value) & ~np.isnan(mate), mate > 0, value)
        return values.astype(np.float32)
    score = column_values(table, f"score_{index}").astype(np.float32)
    most = MATE_SCORE if quantity[1] == CENTIPAWNS else np.inf
    unscored = np.isnan(score)
    won = (mate > 0) | (score >= most) | (unscored & (value == 1))
    lost = (mate < 0) | (score <= -most) | (unscored & (value == 0))
    return np.select([won, lost], [np.inf, -np.inf], score).astype(np.float32)


def _nothing(study: "Study", names: Sequence[str], question: Question, joined: int) -> str:
    if joined:
        half = named("draws", "half")
        more = f"; all games are drawn, and {half} counts them"
        hint = more if question.draws == "drop" else ""
        return f"{study.path}: no position has a value and a decided result{hint}"
    which = f" that satisfies {question.where}" if question.where else ""
    if len(names) > 1:
        return (
            f"{study.path}: no position{which} has a result and evaluations by all of "
            f"{', '.join(names)}; choose with {named('evaluators')}"
        )
    return f"{study.path}: no position{which} has a result and an evaluation by {names[0]}"
