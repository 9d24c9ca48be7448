# SPDX-License-Identifier: Apache-2.0
"""Groups of evaluators that are measured on common positions.

Evaluators are compared on the positions that all of them evaluated. If samples differ, few
positions may be common to all, so evaluators are grouped (`comparison_groups`):

1. A set of two or more evaluators is useful if it has at least 500 common positions, or at least
   half of those of its smallest member; and at least 20 common games, or at least half of those of
   its smallest member.
2. From each evaluator as a seed, a set grows greedily by the evaluator that keeps the most common
   positions. Of all useful sets found, the one with the largest product of evaluators × common
   positions becomes a group; positions beyond 1,000 do not count in this product, since another
   evaluator is worth more. Ties are broken by common positions, then by the evaluators' order.
3. This is repeated for the remaining evaluators. Those in no useful set stand alone, each on its
   own positions, the one with the most games first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.storage.result import MIN_GAMES
from hyoka.study.condensing import RANGE_ROWS, is_too_large, ranges_of
from hyoka.study.sampling import (
    EVALUATION_COLUMNS,
    EVALUATOR,
    Question,
    evaluated_positions,
    evaluation_columns_in,
    is_player,
    nothing_evaluated,
    quoted,
)
from hyoka.study.sql import check_condition

if TYPE_CHECKING:
    from hyoka.study.study import Study

MIN_POSITIONS: Final = 500
"""The number of common positions that suffices for a comparison."""
ENOUGH_POSITIONS: Final = 1000
"""Common positions beyond this number do not justify leaving out an evaluator."""
_HALF: Final = 0.5
_BITS: Final = 60
"""The number of evaluators in one column of bits."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Counts of positions by game and by the set of evaluators that evaluated them."""

    names: tuple[str, ...]
    members: NDArray[np.bool_] = field(repr=False)
    """Membership of evaluators (columns) in each set (rows)."""
    games: NDArray[np.int64] = field(repr=False)
    """The game of each row."""
    counts: NDArray[np.int64] = field(repr=False)
    """The number of the game's positions that exactly this set evaluated."""
    alike: NDArray[np.int64] | None = field(default=None, repr=False)
    """If games with the same sets are counted together, the number of such games by `games`."""

    @classmethod
    def load(cls, study: "Study", names: Sequence[str], question: Question) -> "Evaluated":
        """Load the counts for a question; of large studies in ranges of games."""
        if not any(is_too_large(study, [name], question) for name in names):
            return cls._load(study, names, question)
        ranges = ranges_of(study, RANGE_ROWS)
        loaded = (cls._load(replace(study, chosen=some), names, question) for some in ranges)
        return cls._joined([each._alike() for each in loaded])

    @classmethod
    def _joined(cls, parts: "Sequence[Evaluated]") -> "Evaluated":
        """Join the counts of disjoint games."""
        weights = [part.alike for part in parts if part.alike is not None]
        starts = np.cumsum([0, *map(len, weights)])
        return cls(
            parts[0].names,
            np.concatenate([part.members for part in parts]),
            np.concatenate(
                [part.games + start for part, start in zip(parts, starts[:-1], strict=True)]
            ),
            np.concatenate([part.counts for part in parts]),
            np.concatenate(weights),
        )

    def _alike(self) -> "Evaluated":
        """Count games with the same sets together."""
        sets, number = np.unique(self.members, axis=0, return_inverse=True)
        game = np.unique(self.games, return_inverse=True)[1]
        has = np.zeros((int(game.max(initial=-1)) + 1, len(sets)), bool)
        has[game, number.reshape(-1)] = True
        kinds, kind, alike = np.unique(has, axis=0, return_inverse=True, return_counts=True)
        cells = kind.reshape(-1)[game] * len(sets) + number.reshape(-1)
        counts = np.bincount(cells, self.counts, len(kinds) * len(sets)).astype(np.int64)
        rows = np.flatnonzero(counts)
        of_kind, of_set = np.divmod(rows, max(len(sets), 1))
        return Evaluated(self.names, sets[of_set], of_kind, counts[rows], alike.astype(np.int64))

    @classmethod
    def _load(cls, study: "Study", names: Sequence[str], question: Question) -> "Evaluated":
        usable = [*study.condition_columns(), EVALUATOR, *EVALUATION_COLUMNS]
        condition = "true" if question.where is None else check_condition(question.where, usable)
        result = "coalesce(adjudicated, result)"
        counts = f"{result} in (0, 1)" if question.draws == "drop" else f"{result} is not null"
        columns = range((len(names) + _BITS - 1) // _BITS)
        bits = ", ".join(f"coalesce(bit_or({_bits(names, i)}), 0) as set_{i}" for i in columns)
        sets = ", ".join(f"set_{i}" for i in columns)
        rows = study.sql(
            f"select game_id, {sets}, count(*) as positions from (select game_id, ply, {bits} "
            f"from {evaluated_positions(study, names)} where {condition} and {counts} "
            f"group by game_id, ply) "
            f"group by game_id, {sets} order by game_id, {sets}"
        )
        masks = [rows[f"set_{i}"].to_numpy().astype(np.int64) for i in columns]
        members = [masks[i // _BITS] >> (i % _BITS) & 1 for i in range(len(names))]
        return cls(
            tuple(names),
            np.array(members, dtype=bool).T.reshape(len(rows), len(names)),
            rows["game_id"].to_numpy().astype(np.int64),
            rows["positions"].to_numpy().astype(np.int64),
        )

    def positions(self, some: Sequence[str]) -> int:
        """Count the positions that some evaluators have in common."""
        return int(self.counts[self._common(some)].sum())

    def game_count(self, some: Sequence[str]) -> int:
        """Count the games with such positions."""
        games = np.unique(self.games[self._common(some)])
        return len(games) if self.alike is None else int(self.alike[games].sum())

    def _common(self, some: Sequence[str]) -> NDArray[np.bool_]:
        places = [self.names.index(name) for name in some]
        return np.asarray(self.members[:, places].all(axis=1))

    def is_useful(self, some: Sequence[str]) -> bool:
        """Whether evaluators have enough common positions for a comparison."""
        fewest = min(self.positions([name]) for name in some)
        fewest_games = min(self.game_count([name]) for name in some)
        return self.positions(some) >= max(
            1, min(MIN_POSITIONS, _HALF * fewest)
        ) and self.game_count(some) >= max(1, min(MIN_GAMES, _HALF * fewest_games))

    def groups(self, names: Sequence[str]) -> list[list[str]]:
        """Return the useful sets among some evaluators, then each of the others alone."""
        left, groups = list(names), []
        while (group := self._best_group(left)) is not None:
            groups.append(group)
            left = [name for name in left if name not in group]
        return [*groups, *([name] for name in self.most_games_first(left))]

    def most_games_first(self, names: Sequence[str]) -> list[str]:
        """Sort evaluators by their games, then by their positions."""
        return sorted(names, key=lambda name: (-self.game_count([name]), -self.positions([name])))

    def _best_group(self, names: Sequence[str]) -> list[str] | None:
        places = [self.names.index(name) for name in names]
        sets, number = np.unique(self.members[:, places], axis=0, return_inverse=True)
        counts = np.bincount(number.reshape(-1), self.counts, len(sets))
        shared_by: dict[tuple[int, ...], int] = {}
        for seed in range(len(names)):
            chosen, common = [seed], sets[:, seed].copy()
            rest = [i for i in range(len(names)) if i != seed]
            while rest:
                shared = (counts * common) @ sets[:, rest]
                nearest = int(np.argmax(shared))
                if not shared[nearest]:
                    break
                chosen.append(rest.pop(nearest))
                common &= sets[:, chosen[-1]]
                shared_by[tuple(sorted(chosen))] = int(shared[nearest])

        def rank(some: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
            return -len(some) * min(shared_by[some], ENOUGH_POSITIONS), -shared_by[some], some

        best_first = sorted(shared_by, key=rank)
        groups = ([names[i] for i in some] for some in best_first)
        return next((group for group in groups if self.is_useful(group)), None)


def _bits(names: Sequence[str], column: int) -> str:
    some = names[column * _BITS : (column + 1) * _BITS]
    cases = " ".join(f"when {quoted(name)} then {1 << i}::bigint" for i, name in enumerate(some))
    return f"case engine_ {cases} end"


@dataclass(frozen=True)
class EvaluatorGroup:
    """Evaluators that are measured on their common positions."""

    names: tuple[str, ...]
    own_positions: tuple[int, ...] = ()
    """The number of positions of each evaluator alone; empty for a single evaluator."""
    common_positions: int = 0
    """For an evaluator alone, the number of positions common with the largest group."""


def comparison_groups(
    study: "Study", names: Sequence[str], question: Question
) -> list[EvaluatorGroup]:
    """Group evaluators that are measured on the same positions; see the module.

    Players who comment on their own moves have no common positions, so each stands alone. So does
    every evaluator if the question depends on evaluations.
    """
    if not names:
        raise nothing_evaluated(study)
    if len(names) < 2:
        return [EvaluatorGroup((name,)) for name in names]
    evaluated = Evaluated.load(study, names, question)
    players = [name for name in names if is_player(study, name)]
    texts = [text for text in (question.where, question.expression) if text is not None]
    if evaluation_columns_in(texts, study.condition_columns()):
        groups = [[name] for name in evaluated.most_games_first(names)]
    elif len(players) < 2:
        groups = evaluated.groups(names)
    else:
        others = [name for name in names if name not in players]
        groups = [
            *evaluated.groups(others),
            *([name] for name in evaluated.most_games_first(players)),
        ]
    largest = groups[0] if len(groups[0]) > 1 else []
    return [
        EvaluatorGroup(
            tuple(group),
            tuple(evaluated.positions([name]) for name in group),
            evaluated.positions([*largest, *group]) if largest and len(group) == 1 else 0,
        )
        for group in groups
    ]
