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
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.foundation.errors import NotationError, StudyError, nearest
from hyoka.foundation.text import (
    OR,
    check_patterns,
    matches,
    merge_names,
    program_name,
    split_patterns,
)
from hyoka.games import facts_named
from hyoka.study.comment_authors import AUTHORS, PLAYER, PlayersOf, leanings, take_turns
from hyoka.study.evaluation_store import Chosen, EvaluationReport, store
from hyoka.study.study import Study
from hyoka.study.tables import COMMENTS

_LEAST_GAMES: Final = 30
"""The minimum for meaningful intervals."""
_MOST_PLAYERS: Final = 24
_SETTINGS: Final = (
    "by", "player", "program", "without", "players", "merge", "versions", "games", "most",
)  # fmt: skip
_NAMED: Final = 4


@dataclass(frozen=True)
class Everybody:
    """All comments of the records as one evaluator."""


@dataclass(frozen=True)
class OnePlayer:
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
    def id(self) -> str:
        """A readable, unique name for a folder."""
        safe = re.sub(r"[^a-z0-9.]+", "_", self.pattern.lower()).strip("_.")[:24]
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:8]
        return "-".join(filter(None, [COMMENTS, safe, digest]))


@dataclass(frozen=True)
class ByPlayer:
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

    def evaluators_by_name(self, names: Sequence[str]) -> dict[str, OnePlayer]:
        """Map the chosen names to their evaluators.

        Patterns of `merge` take precedence over versions. A player whose full name is in
        `players`, or whose pattern does not match its program's name, is not merged with other
        versions.
        """
        by_pattern = merge_names(names, self.merge)
        programs = self._programs(names)
        known = [*by_pattern, *names, *programs.values()]
        check_patterns(self.players, known)
        evaluators = {}
        for name, group in zip(names, by_pattern, strict=True):
            if group in self.merge:
                voice = OnePlayer(group, self.merge[: self.merge.index(group)])
            elif name in programs and self._wants(programs[name]):
                voice = OnePlayer(programs[name], is_program=True)
            else:
                voice = OnePlayer(name)
            if self._wants(voice.pattern):
                evaluators[name] = voice
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


Comments = Everybody | OnePlayer | ByPlayer


def is_comments(text: object) -> bool:
    """Whether a spec names comments of records."""
    return isinstance(text, str) and text.partition(":")[0].strip() == COMMENTS


def comments_of(text: str) -> Comments:
    """Parse a spec of comments; raises NotationError.

    >>> comments_of("comments:by=player,merge=Stockfish*")
    ByPlayer(players=(), merge=('Stockfish*',), versions='merged', games=None, most=None)
    >>> comments_of("comments:player=Carlsen, Magnus").text
    'comments:player=Carlsen, Magnus'
    """
    _, colon, rest = text.strip().partition(":")
    if not colon:
        return Everybody()
    # Names contain commas, so only a comma before a setting separates.
    parts = re.split(rf",(?=\s*(?:{OR.join(_SETTINGS)})\s*=)", rest)
    given: dict[str, str] = {}
    for part in parts:
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in _SETTINGS or not value:
            hint = nearest(name, _SETTINGS) or f"there are {', '.join(_SETTINGS)}"
            raise NotationError(f"{COMMENTS}: no setting '{part.strip()}'; {hint}")
        given[name] = value
    if "player" in given:
        if set(given) - {"player", "without"}:
            raise NotationError(f"{COMMENTS}: player=NAME is one evaluator, and takes only without")
        return OnePlayer(
            given["player"], split_patterns(given["without"]) if "without" in given else ()
        )
    if "program" in given:
        if len(given) > 1:
            raise NotationError(f"{COMMENTS}: program=NAME is one evaluator, and takes no more")
        return OnePlayer(given["program"], is_program=True)
    if given.get("by") != "player":
        raise NotationError(f"{COMMENTS}: by=player is the only way to part them, not '{rest}'")
    versions = given.get("versions", "merged")
    if versions not in ("merged", "apart"):
        raise NotationError(f"{COMMENTS}: versions is merged or apart, not '{versions}'")
    return ByPlayer(
        split_patterns(given["players"]) if "players" in given else (),
        split_patterns(given["merge"]) if "merge" in given else (),
        "apart" if versions == "apart" else "merged",
        *(_count(name, given[name]) if name in given else None for name in ("games", "most")),
    )


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise NotationError(f"{COMMENTS}: {name} is a number from 1 on, not '{text}'")
    return int(text)


def take_comments(study: Study, text: str, chosen: Chosen) -> list[EvaluationReport]:
    """Store comments of the records as evaluations."""
    spec = comments_of(text)
    if isinstance(spec, Everybody):
        return [_take_all(study, chosen)]
    authored = _AuthoredRemarks.load(study)
    if not len(authored.rows):
        raise StudyError(f"{study.path}: the records hold no values, so no player has said any")
    evaluators, notes = authored.evaluators(spec)
    reports = []
    for voice, names in evaluators.items():
        identity = {"spec": voice.text, "name": f"what {voice.pattern} said", PLAYER: voice.pattern}
        reports.append(store(study, voice.id, authored.by(names), chosen, identity))
        reports[-1].title = voice.pattern
    reports[0].notes += notes
    return reports


def _take_all(study: Study, chosen: Chosen) -> EvaluationReport:
    started = time.monotonic()
    remarks, inferred = _with_authors(_remarks(study))
    identity = {"spec": COMMENTS, "name": "the records' own values"}
    identity |= {AUTHORS: "the movers, as the values show"} if inferred else {}
    remarks = _one_per_position(remarks)
    report = store(study, COMMENTS, remarks, chosen, identity)
    if report.wanted:
        players = PlayersOf.load(study, remarks["game_id"].to_numpy())
        authors = pc.index_in(remarks["author"], pa.array(["first", "second"]))
        codes = pc.add(pc.fill_null(authors, -1), 1).to_numpy().astype(np.int8)
        if (comment_authors := players.comment_authors(codes, inferred=inferred)) is not None:
            report.notes.append(comment_authors.caveat(COMMENTS))
    elif not len(remarks):
        report.notes.append(f"{COMMENTS}: the records hold no values")
    report.seconds = time.monotonic() - started
    return report


def _remarks(study: Study) -> pa.Table:
    """All remarks with evaluations, with the player who moved last."""
    rows = study.sql(
        "select r.game_id, r.ply, value, score, mate, depth, spent_s as time_s, author, "
        "case when first_to_play then 'second' else 'first' end as mover "
        "from remarks r join positions p on p.game_id = r.game_id and p.ply = r.ply "
        "where value is not null or score is not null or mate is not null "
        "order by r.game_id, r.ply, author"
    )
    return rows.append_column("unit", pa.array([facts_named(study.game).naming.unit] * len(rows)))


def _with_authors(remarks: pa.Table) -> tuple[pa.Table, bool]:
    """Add authors to remarks; whether they were inferred from the values."""
    authors, movers = remarks["author"], remarks["mover"]
    without = remarks.drop_columns(["mover"])
    if authors.null_count < len(authors) or not len(authors) or not _in_turn(remarks):
        return without, False
    return _authored(without, pc.if_else(_moved(remarks), movers, None)), True


def _one_per_position(remarks: pa.Table) -> pa.Table:
    """Keep the first remark on each position if several authors commented on it."""
    games, plies = (remarks[name].to_numpy() for name in ("game_id", "ply"))
    again = (games[1:] == games[:-1]) & (plies[1:] == plies[:-1])
    return remarks.filter(pa.array(np.append(True, ~again)[: len(remarks)]))


def _in_turn(remarks: pa.Table) -> bool:
    """Whether the values show two authors who alternate."""
    leaning = leanings(*(_numbers(remarks[name]) for name in ("value", "score")))
    return take_turns(leaning, *(remarks[name].to_numpy() for name in ("game_id", "ply")))


def _moved(remarks: pa.Table) -> pa.Array:
    """Whether a move precedes the position."""
    return pc.greater(remarks["ply"], 0)


def _authored(remarks: pa.Table, authors: pa.ChunkedArray) -> pa.Table:
    return remarks.set_column(remarks.schema.get_field_index("author"), "author", authors)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy())


@dataclass(frozen=True, eq=False)
class _AuthoredRemarks:
    """Remarks with the names of their authors."""

    rows: pa.Table
    names: tuple[str, ...]
    """The names of all authors."""
    comment_author: NDArray[np.int64]
    """The index of each remark's author; -1 if unknown."""
    notes: tuple[str, ...]

    @classmethod
    def load(cls, study: Study) -> "_AuthoredRemarks":
        """Load all remarks of a study; by default the mover is the author."""
        remarks = _remarks(study)
        authors = remarks["author"]
        notes = []
        if authors.null_count:
            notes.append(
                f"{authors.null_count:,} of {len(authors):,} comments do not say whose they are: "
                "each is taken as that of the player who had just moved"
            )
            if authors.null_count == len(authors) and not _in_turn(remarks):
                notes[-1] += (
                    "; nothing in the values shows that the players speak in turn, so they may be "
                    "one evaluator's: then take plain comments"
                )
            movers = pc.if_else(_moved(remarks), remarks["mover"], None)
            remarks = _authored(remarks, pc.coalesce(authors, movers))
        players = PlayersOf.load(study, remarks["game_id"].to_numpy())
        by_first = np.asarray(pc.fill_null(pc.equal(remarks["author"], "first"), False))
        by_second = np.asarray(pc.fill_null(pc.equal(remarks["author"], "second"), False))
        comment_author = np.select(
            [by_first, by_second], [players.first[players.game], players.second[players.game]], -1
        )
        return cls(
            remarks.drop_columns(["mover"]),
            players.names,
            comment_author.astype(np.int64),
            tuple(notes),
        )

    def evaluators(
        self, spec: OnePlayer | ByPlayer
    ) -> tuple[dict[OnePlayer, list[str]], list[str]]:
        """The evaluators of a spec with their names, and notes."""
        names = [
            self.names[code] for code in np.unique(self.comment_author[self.comment_author >= 0])
        ]
        names = [name for name in names if name]
        if isinstance(spec, OnePlayer):
            check_patterns(
                [spec.pattern], [*names, *(map(program_name, names) if spec.is_program else ())]
            )
            return {spec: [name for name in names if spec.matches_name(name)]}, list(self.notes)
        if not names:
            raise StudyError("no comment is by a player with a name")
        merged_names = spec.evaluators_by_name(names)
        played = self._games_of(merged_names)
        least = spec.games or (1 if spec.players else _LEAST_GAMES)
        enough = [voice for voice, games in played if games >= least]
        most = spec.most or (len(enough) if spec.players else _MOST_PLAYERS)
        if not enough:
            raise StudyError(
                f"no player spoke in {least} games or more; the most, {played[0][0].pattern}, in "
                f"{played[0][1]}: {COMMENTS}:by=player,games=1 takes all"
            )
        evaluators: dict[OnePlayer, list[str]] = {voice: [] for voice in enough[:most]}
        for name, voice in merged_names.items():
            if voice in evaluators:
                evaluators[voice].append(name)
        left_out = _left_out(len(played), least, enough, most)
        return evaluators, [*self.notes, *_merged_versions(evaluators), *left_out]

    def _games_of(self, merged_names: Mapping[str, OnePlayer]) -> list[tuple[OnePlayer, int]]:
        """Evaluators with their numbers of commented games, in descending order."""
        evaluators = list(dict.fromkeys(merged_names.values()))
        place = {voice: i for i, voice in enumerate(evaluators)}
        of_name = [place[merged_names[n]] if n in merged_names else -1 for n in self.names]
        voice = np.array([*of_name, -1])[self.comment_author]
        games = self.rows["game_id"].to_numpy()[voice >= 0]
        pairs = np.unique(np.stack([voice[voice >= 0], games]), axis=1)
        counts = np.bincount(pairs[0], minlength=len(evaluators)).tolist()
        return sorted(zip(evaluators, counts, strict=True), key=lambda v: (-v[1], v[0].pattern))

    def by(self, names: Sequence[str]) -> pa.Table:
        """The remarks of the named players."""
        spoke = np.array([*(name in names for name in self.names), False])
        return _one_per_position(self.rows.filter(pa.array(spoke[self.comment_author])))


def _merged_versions(evaluators: Mapping[OnePlayer, Sequence[str]]) -> Iterator[str]:
    """A note on merged versions, and how to separate them."""
    programs = [
        f"{voice.pattern} ({len(names):,} versions)"
        for voice, names in evaluators.items()
        if voice.is_program
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
            "at least N, merge=PATTERN counts those whose names fit as one"
        )
    if others := [voice.pattern for voice in enough[most:]]:
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        yield (
            f"the {most} players with the most games of {len(enough):,} are taken, without "
            f"{', '.join(others[:_NAMED])}{more}: most=N takes N, players=NAME*|… names them"
        )
