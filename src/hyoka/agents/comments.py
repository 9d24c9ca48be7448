# SPDX-License-Identifier: Apache-2.0
"""Comments of records as evaluations: of all authors, of one player, or per player.

comments                                    one evaluator, of all authors
comments:by=player                          each player is an evaluator, each program too,
                                            whatever its version
comments:by=player,versions=apart           each version of a program is an evaluator
comments:by=player,merge=Stock*|LCZero*     those whose names fit a pattern are one
comments:by=player,players=Stock*           only these, each alone
comments:player=Stockfish*                  one evaluator: those whose names fit
comments:player=Stockfish*,without=*Simul   the same, but for these
comments:program=Stockfish                  one evaluator: all versions of a program
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.agents.agent import Agent, EvaluationSource, RecordedEvaluations
from hyoka.foundation.errors import NotationError, StudyError, nearest
from hyoka.foundation.text import (
    OR,
    check_patterns,
    matches,
    merge_names,
    program_name,
    split_patterns,
)
from hyoka.storage.manifest import AUTHORS, COMMENTS, PLAYER

_LEAST_GAMES: Final = 30
"""The minimum for meaningful intervals."""
_MOST_PLAYERS: Final = 24
_SETTINGS: Final = (
    "by", "player", "program", "without", "players", "merge", "versions", "games", "most",
)  # fmt: skip
_COUNTS: Final = ("games", "most")
_NAMED: Final = 4
_OPEN: Final = 0.03
"""A game is open while each side has at least this chance,"""
_OPEN_SCORE: Final = 4.0
"""or while the score is below this multiple of the median."""
_LEAST_PLIES: Final = 12
_LEAST_TURNS: Final = 30
"""The minimum number of games to test whether two authors alternate."""
_AGREEMENT: Final = 0.15
_SURE: Final = 4.0
"""The minimum effect, in standard errors."""


class CommentsSpec:
    """Comments of records; `from_text` returns the subclass that a text names."""

    dependencies: Mapping[str, str] = {}

    @classmethod
    def from_text(cls, text: str) -> "CommentsSpec":
        """Read a spec; raises NotationError.

        >>> CommentsSpec.from_text("comments:by=player,merge=Stockfish*").text
        'comments:by=player,merge=Stockfish*'
        >>> CommentsSpec.from_text("comments:player=Carlsen, Magnus")
        OnePlayer(pattern='Carlsen, Magnus', without=(), is_program=False)
        """
        _, colon, rest = text.strip().partition(":")
        if not colon:
            return AllComments()
        settings = _settings_of(rest)
        if "player" in settings:
            if set(settings) - {"player", "without"}:
                raise NotationError(f"{COMMENTS}: player=NAME takes no setting but without")
            return OnePlayer(settings["player"], _patterns(settings, "without"))
        if "program" in settings:
            if len(settings) > 1:
                raise NotationError(f"{COMMENTS}: program=NAME takes no other settings")
            return OnePlayer(settings["program"], is_program=True)
        if settings.get("by") != "player":
            expected = "by=player, player=NAME or program=NAME"
            raise NotationError(f"{COMMENTS}: expected {expected}, not '{rest}'")
        versions = settings.get("versions", "merged")
        if versions not in ("merged", "apart"):
            raise NotationError(f"{COMMENTS}: versions is merged or apart, not '{versions}'")
        return ByPlayer(
            _patterns(settings, "players"),
            _patterns(settings, "merge"),
            "apart" if versions == "apart" else "merged",
            *(_count(name, settings[name]) if name in settings else None for name in _COUNTS),
        )

    @property
    def text(self) -> str:
        """The text that `from_text` reads."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text

    @property
    def title(self) -> str:
        """The text."""
        return self.text

    @property
    def id(self) -> str:
        """A readable, unique name for a folder."""
        return _id_of(self.text.partition(":")[2], self.text)

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations]:
        """Read the comments of a study's records as evaluations."""
        raise NotImplementedError


def _settings_of(rest: str) -> dict[str, str]:
    # Names contain commas, so only a comma before a setting separates.
    parts = re.split(rf",(?=\s*(?:{OR.join(_SETTINGS)})\s*=)", rest)
    settings: dict[str, str] = {}
    for part in parts:
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in _SETTINGS or not value:
            hint = nearest(name, _SETTINGS) or f"known: {', '.join(_SETTINGS)}"
            raise NotationError(f"{COMMENTS}: no setting '{part.strip()}'; {hint}")
        settings[name] = value
    return settings


def _patterns(settings: Mapping[str, str], name: str) -> tuple[str, ...]:
    return split_patterns(settings[name]) if name in settings else ()


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise NotationError(f"{COMMENTS}: {name} is a number from 1 on, not '{text}'")
    return int(text)


def _id_of(words: str, text: str) -> str:
    safe = re.sub(r"[^a-z0-9.]+", "_", words.lower()).strip("_.")[:24]
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return "-".join(filter(None, [COMMENTS, safe, digest]))


@dataclass(frozen=True)
class AllComments(CommentsSpec):
    """All comments of the records as one evaluator."""

    @property
    def text(self) -> str:
        """The spec."""
        return COMMENTS

    @property
    def id(self) -> str:
        """The same."""
        return COMMENTS

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations]:
        """Read all comments; authors that the records do not name are inferred from the values."""
        remarks = source.remarks()
        authors = remarks["author"]
        inferred = authors.null_count == len(authors) > 0 and _in_turn(remarks)
        if inferred:
            remarks = _with_authors(remarks, remarks["mover"])
        identity = {"spec": COMMENTS, "name": "the records' own values"}
        if inferred:
            identity[AUTHORS] = "the movers, as the values show"
        notes = () if len(remarks) else (f"{COMMENTS}: the records contain no evaluations",)
        rows = _one_per_position(remarks)
        return [RecordedEvaluations(self, rows, identity, notes)]


@dataclass(frozen=True)
class OnePlayer(CommentsSpec):
    """The comments of players whose names match a pattern, as one evaluator."""

    pattern: str
    without: tuple[str, ...] = ()
    """Patterns of names to exclude."""
    is_program: bool = False
    """Whether the pattern is a program's name, for all its versions."""

    def matches_name(self, name: str) -> bool:
        """Whether a player's name matches."""
        if self.is_program:
            return program_name(name) == self.pattern
        return matches(self.pattern, name) and not any(matches(p, name) for p in self.without)

    @property
    def text(self) -> str:
        """The spec."""
        more = f",without={OR.join(self.without)}" if self.without else ""
        kind = "program" if self.is_program else "player"
        return f"{COMMENTS}:{kind}={self.pattern}{more}"

    @property
    def title(self) -> str:
        """The pattern's name for people."""
        return f"{COMMENTS} by {self.pattern}"

    @property
    def id(self) -> str:
        """A readable, unique name for a folder."""
        return _id_of(self.pattern, self.text)

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations]:
        """Read the comments of the players."""
        remarks = _NamedRemarks.load(source)
        programs = map(program_name, remarks.names) if self.is_program else ()
        check_patterns([self.pattern], [*remarks.names, *programs])
        names = [name for name in remarks.names if self.matches_name(name)]
        return [remarks.evaluations(self, names, remarks.notes)]


@dataclass(frozen=True)
class ByPlayer(CommentsSpec):
    """Each player as an evaluator."""

    players: tuple[str, ...] = ()
    """Patterns of the players, by their merged names; by default all."""
    merge: tuple[str, ...] = ()
    """Patterns of players to merge; the first match counts."""
    versions: Literal["merged", "apart"] = "merged"
    """Whether the versions of a program are one evaluator."""
    games: int | None = None
    """The minimum number of games: by default 30, or 1 with `players`."""
    most: int | None = None
    """The maximum number of players, by games: by default 24, or all of `players`."""

    @property
    def text(self) -> str:
        """The spec."""
        settings = {
            "players": OR.join(self.players),
            "merge": OR.join(self.merge),
            "versions": "" if self.versions == "merged" else self.versions,
            "games": self.games,
            "most": self.most,
        }
        words = [f"{name}={value}" for name, value in settings.items() if value]
        return f"{COMMENTS}:{','.join(['by=player', *words])}"

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations]:
        """Read the comments of each player as evaluations of its own."""
        remarks = _NamedRemarks.load(source)
        if not remarks.names:
            raise StudyError("no comment has a named author")
        merged_names = self.evaluators_by_name(remarks.names)
        played = remarks.games_of(merged_names)
        least = self.games or (1 if self.players else _LEAST_GAMES)
        enough = [evaluator for evaluator, games in played if games >= least]
        most = self.most or (len(enough) if self.players else _MOST_PLAYERS)
        if not enough:
            raise StudyError(
                f"no player commented {least} games or more; the maximum is {played[0][1]}, by "
                f"{played[0][0].pattern}: {COMMENTS}:by=player,games=1 takes all"
            )
        names_of: dict[OnePlayer, list[str]] = {evaluator: [] for evaluator in enough[:most]}
        for name, evaluator in merged_names.items():
            if evaluator in names_of:
                names_of[evaluator].append(name)
        left_out = _left_out(len(played), least, enough, most)
        notes = [*remarks.notes, *_merged_versions(names_of), *left_out]
        evaluations = [remarks.evaluations(*each) for each in names_of.items()]
        return [replace(evaluations[0], notes=notes), *evaluations[1:]]

    def evaluators_by_name(self, names: Sequence[str]) -> dict[str, OnePlayer]:
        """Map the chosen names to their evaluators.

        Patterns of `merge` take precedence over versions. A player whose full name is in
        `players`, or whose pattern does not match its program's name, is not merged with other
        versions.
        """
        by_pattern = merge_names(names, self.merge)
        programs = self._programs(names)
        all_names = [*by_pattern, *names, *programs.values()]
        check_patterns(self.players, all_names)
        evaluators = {}
        for name, group in zip(names, by_pattern, strict=True):
            if group in self.merge:
                evaluator = OnePlayer(group, self.merge[: self.merge.index(group)])
            elif name in programs and self._wants(programs[name]):
                evaluator = OnePlayer(programs[name], is_program=True)
            else:
                evaluator = OnePlayer(name)
            if self._wants(evaluator.pattern):
                evaluators[name] = evaluator
        return evaluators

    def _wants(self, called: str) -> bool:
        return not self.players or any(matches(p, called) for p in self.players)

    def _programs(self, names: Sequence[str]) -> dict[str, str]:
        """The programs of the names with several versions."""
        if self.versions == "apart":
            return {}
        programs = {name: program_name(name) for name in names}
        count = Counter(programs.values())
        return {name: program for name, program in programs.items() if count[program] > 1}


class CommentsAgent(Agent[CommentsSpec]):
    """Comments of records: evaluations by their authors."""

    prefixes = (COMMENTS,)
    spec_type = CommentsSpec

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations]:
        """Read the comments of a study's records as evaluations."""
        return self.spec.evaluations_in(source)


def _one_per_position(remarks: pa.Table) -> pa.Table:
    """Keep the first remark on each position if several authors commented on it."""
    games, plies = (remarks[name].to_numpy() for name in ("game_id", "ply"))
    again = (games[1:] == games[:-1]) & (plies[1:] == plies[:-1])
    return remarks.filter(pa.array(np.append(True, ~again)[: len(remarks)]))


def _in_turn(remarks: pa.Table) -> bool:
    """Whether the values show two authors who alternate."""
    leaning = leanings(*(_numbers(remarks[name]) for name in ("value", "score")))
    return take_turns(leaning, *(remarks[name].to_numpy() for name in ("game_id", "ply")))


def _with_authors(remarks: pa.Table, authors: pa.ChunkedArray) -> pa.Table:
    return remarks.set_column(remarks.schema.get_field_index("author"), "author", authors)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy())


def leanings(values: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return evaluations as scores or log-odds; NaN where the game is decided."""
    if np.isfinite(scores).any():
        sizes = np.abs(scores[np.isfinite(scores) & (scores != 0)])
        most = _OPEN_SCORE * np.median(sizes) if len(sizes) else 1.0
        return np.where(np.abs(scores) < most, scores, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = np.log(values / (1 - values))
    return np.where((values > _OPEN) & (values < 1 - _OPEN), log_odds, np.nan)


def take_turns(leaning: NDArray[Any], games: NDArray[Any], plies: NDArray[Any]) -> bool:
    """Test whether two authors alternate, from values alone (`leanings`, by game and ply).

    Each value is compared with the mean of its neighbors, which estimates the difference between
    the movers' evaluations. The bias of one evaluator for the side to move is the same in all
    games. Two authors who evaluate a game differently have a difference specific to the game,
    which its first and second halves share. In TCEC's and floodgate's records the halves correlate
    with 0.62 and 0.57; for one evaluator on such games with 0.07 and -0.14.
    """
    at = np.arange(1, len(leaning) - 1)
    beside = (games[at - 1] == games[at + 1]) & (plies[at + 1] - plies[at - 1] == 2)
    apart = leaning[at] - (leaning[at - 1] + leaning[at + 1]) / 2
    is_finite = beside & np.isfinite(apart)
    at, apart = at[is_finite], apart[is_finite]
    lean = apart * np.where(plies[at] % 2 == 1, 1, -1)
    _, number, count = np.unique(games[at], return_inverse=True, return_counts=True)
    place = np.arange(len(at)) - (np.cumsum(count) - count)[number]
    late = place >= count[number] / 2
    long_enough = count >= _LEAST_PLIES
    if long_enough.sum() < _LEAST_TURNS:
        return False
    halves = [
        np.bincount(number[half], lean[half], len(count))[long_enough]
        / np.bincount(number[half], minlength=len(count))[long_enough]
        for half in (~late, late)
    ]
    if min(half.std() for half in halves) == 0:
        return False
    agreement = float(np.corrcoef(halves[0], halves[1])[0, 1])
    beyond_chance = np.arctanh(min(agreement, 0.999)) * np.sqrt(len(halves[0]) - 3)
    return bool(agreement >= _AGREEMENT and beyond_chance >= _SURE)


@dataclass(frozen=True, eq=False)
class _NamedRemarks:
    """Remarks with the names of their authors."""

    rows: pa.Table
    authors: pa.Array
    """The name of each remark's author; empty if unknown."""
    names: tuple[str, ...]
    """The names of all authors."""
    notes: tuple[str, ...]

    @classmethod
    def load(cls, source: EvaluationSource) -> "_NamedRemarks":
        """Load all remarks of a study; by default the mover is the author."""
        remarks = source.remarks()
        if not len(remarks):
            raise StudyError(f"{source.path}: the records contain no evaluations by players")
        authors = remarks["author"]
        notes = []
        if authors.null_count:
            notes.append(
                f"{authors.null_count:,} of {len(authors):,} comments name no author: each is "
                "attributed to the player who has just moved"
            )
            if authors.null_count == len(authors) and not _in_turn(remarks):
                notes[-1] += (
                    "; the values do not show that two authors alternate, so they may be by one "
                    "evaluator: then use plain comments"
                )
            authors = pc.coalesce(authors, remarks["mover"])
            remarks = _with_authors(remarks, authors)
        named = pc.if_else(pc.equal(authors, "first"), remarks["first"], remarks["second"])
        named = pc.fill_null(named, "").combine_chunks()
        names = tuple(name for name in pc.unique(named).to_pylist() if name)
        return cls(remarks, named, names, tuple(notes))

    def evaluations(
        self, spec: OnePlayer, names: Sequence[str], notes: Sequence[str] = ()
    ) -> RecordedEvaluations:
        """Return the remarks of the named players."""
        by_names = pc.is_in(self.authors, pa.array(names, pa.string()))
        identity = {"spec": spec.text, "name": f"what {spec.pattern} said", PLAYER: spec.pattern}
        rows = _one_per_position(self.rows.filter(by_names))
        return RecordedEvaluations(spec, rows, identity, notes)

    def games_of(self, merged_names: Mapping[str, OnePlayer]) -> list[tuple[OnePlayer, int]]:
        """Return evaluators with their numbers of commented games, in descending order."""
        evaluators = list(dict.fromkeys(merged_names.values()))
        place = {evaluator: i for i, evaluator in enumerate(evaluators)}
        coded = self.authors.dictionary_encode()
        places = [
            place[merged_names[name]] if name in merged_names else -1
            for name in coded.dictionary.to_pylist()
        ]
        of_remark = np.array(places)[coded.indices.to_numpy()]
        games = self.rows["game_id"].to_numpy()[of_remark >= 0]
        pairs = np.unique(np.stack([of_remark[of_remark >= 0], games]), axis=1)
        counts = np.bincount(pairs[0], minlength=len(evaluators)).tolist()
        return sorted(zip(evaluators, counts, strict=True), key=lambda v: (-v[1], v[0].pattern))


def _merged_versions(evaluators: Mapping[OnePlayer, Sequence[str]]) -> Iterator[str]:
    """A note on merged versions, and how to separate them."""
    programs = [
        f"{evaluator.pattern} ({len(names):,} versions)"
        for evaluator, names in evaluators.items()
        if evaluator.is_program
    ]
    if programs:
        more = f" and {len(programs) - _NAMED:,} more" if len(programs) > _NAMED else ""
        yield (
            f"the versions of a program are one evaluator: {', '.join(programs[:_NAMED])}{more}; "
            "versions=apart keeps them apart"
        )


def _left_out(players: int, least: int, enough: Sequence[OnePlayer], most: int) -> Iterator[str]:
    """Notes on players left out, and how to include them."""
    if few := players - len(enough):
        yield (
            f"{few:,} players of fewer than {least} games are left out: games=N takes those with "
            "at least N, merge=PATTERN merges players"
        )
    if others := [evaluator.pattern for evaluator in enough[most:]]:
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        yield (
            f"the {most} players with the most games of {len(enough):,} are taken, without "
            f"{', '.join(others[:_NAMED])}{more}: most=N takes N, players=NAME*|… names them"
        )
