# SPDX-License-Identifier: Apache-2.0
"""Where the evaluation is wrong: splits found in some games and looked at again in the others."""

from typing import Final

import numpy as np

from hyoka.analysis import Resampling, Split, condition_gap, find_splits
from hyoka.improving.evidence import Evidence
from hyoka.improving.story import Found, FoundSplit, Shown
from hyoka.progress import OnProgress
from hyoka.report.examples import NOT_ON_THE_BOARD, examples_against
from hyoka.study.analysing import column_words, first_player

_MOST: Final = 6
"""Splits that are told and mended."""
_RESAMPLES: Final = 200
_BOARDS: Final = 3


def look(evidence: Evidence, seed: int, progress: OnProgress | None) -> Found:
    """The splits that are surely there and that nothing else explains, the worst first."""
    fitted = ~evidence.apart
    game = evidence.study.game
    splits = find_splits(
        evidence.sample.where(fitted),
        evidence.columns,
        first_player=first_player(game),
        words=column_words(game),
        controls=evidence.controls,
        resampling=Resampling(_RESAMPLES, seed),
        progress=progress,
    )
    sure = [each for each in splits if each.is_sure and _is_described(each)][:_MOST]
    games = evidence.positions.game_ids
    return Found(
        tuple(_found(evidence, each) for each in sure),
        splits.tried,
        len(np.unique(games[fitted])),
        int(fitted.sum()),
        len(np.unique(games[evidence.apart])),
        int(evidence.apart.sum()),
        _shown(evidence, sure[0]) if sure else (),
    )


def _is_described(split: Split) -> bool:
    """Whether a condition says more than how far the game has come."""
    return bool(split.condition.columns - {"ply"})


def _found(evidence: Evidence, split: Split) -> FoundSplit:
    condition = split.condition
    apart = evidence.apart
    gap = condition_gap(evidence.sample.where(apart), evidence.holds(condition.sql)[apart])
    confirmed = gap.departure(split.departure.kind)
    return FoundSplit(
        condition.words,
        condition.sql,
        split.departure.kind,
        split.sentence,
        split.effect,
        split.q_value,
        split.gap.positions,
        split.gap.games,
        confirmed.effect,
        confirmed.p_value,
    )


def _shown(evidence: Evidence, split: Split) -> tuple[Shown, ...]:
    """Positions of the worst split where the evaluation was most wrong."""
    table = evidence.study.sql("select game_id, ending from games order by game_id")
    ids = table["game_id"].to_numpy().astype(np.int64)
    on_the_board = np.zeros(int(ids.max()) + 1, bool)
    on_the_board[ids] = ~np.isin(table["ending"].to_numpy(zero_copy_only=False), NOT_ON_THE_BOARD)
    sample = evidence.sample.where(~evidence.apart)
    chosen = examples_against(evidence.positions, sample, split, on_the_board, _BOARDS)
    return tuple(Shown(each.game_id, each.ply, each.values, each.result) for each in chosen)
