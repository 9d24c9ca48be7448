# SPDX-License-Identifier: Apache-2.0
"""How a move model ranks the moves played in a study: columns by which curves can be split."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from hyoka.artefact import Artefact
from hyoka.errors import ParameterError
from hyoka.game_ids import game_id
from hyoka.progress import OnProgress, Tally
from hyoka.search.learned_games import LearnedGames
from hyoka.search.move_models import move_model
from hyoka.study.layout import now
from hyoka.study.manifest import MODEL, changing
from hyoka.study.study import Study
from hyoka.study.tables import RANKING_SCHEMA, ranking_columns

_PART_ROWS: Final = 500_000
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class RankingReport:
    """What a move model said of the moves played."""

    name: str
    positions: int
    ranked: int
    """Positions with a move that it could rank."""
    first: float
    """The share of those in which it was ranked first."""
    columns: tuple[str, ...]
    """What conditions can use from now on."""
    games: int
    learned_games: int
    """Games that the model learned from, or may have: their moves surprise it less."""
    note: str
    """How that is known; empty if it learned from none of them."""


def rank_moves(
    study: Study,
    model: str | Path | Artefact,
    name: str,
    *,
    progress: OnProgress | None = None,
) -> RankingReport:
    """Ask a move model about every position, and keep what it says as columns of the study.

    `NAME_rank` is the rank of the move played, 1 for the best; `NAME_surprise` -log of the chance
    that it was given; `NAME_entropy` how unsure the model is, in nats, whatever was played. Null
    where no move was played. What the model said before under this name is replaced.
    """
    if not _NAME.fullmatch(name):
        raise ParameterError("name", "is small letters, digits and _, a letter first")
    ranking = move_model(study.game, model)
    taken = set(study.condition_columns()) - set(_columns_there(study, name))
    if clash := taken & set(ranking_columns(name)):
        raise ParameterError("name", f"would give a second column {min(clash)}; choose another")
    chosen = study.select(None)
    table = study.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())
    tally = Tally(progress, name, len(table), "positions")
    found = table.predictions(ranking, progress=tally.reach)
    tally.reach(len(table))
    known = found.ranks > 0
    rows = pa.table(
        [
            pa.array(chosen["game_id"].to_numpy()),
            pa.array(chosen["ply"].to_numpy().astype(np.int32)),
            pa.array(found.ranks, mask=~known),
            pa.array(found.losses, mask=~known),
            pa.array(found.entropies, mask=np.isnan(found.entropies)),
        ],
        schema=RANKING_SCHEMA,
    )
    with changing(study.path / "rankings" / f"model={name}" / MODEL, "ranking") as change:
        starts = range(0, max(1, len(rows)), _PART_ROWS)
        change.parts = [change.write(rows.slice(start, _PART_ROWS)) for start in starts]
        change.values = {"name": name, "model": str(model), "created": now()}
        change.commit()
    first = float((found.ranks[known] == 1).mean()) if known.any() else 0.0
    ids = np.array([game_id(record.moves) for _, record in study.records()], np.uint64)
    learned = LearnedGames.of_model(study.game, model)
    return RankingReport(
        name,
        len(table),
        int(known.sum()),
        first,
        ranking_columns(name),
        len(ids),
        int(learned.contains(ids).sum()),
        learned.note(ids),
    )


def _columns_there(study: Study, name: str) -> tuple[str, ...]:
    there = (study.path / "rankings" / f"model={name}" / MODEL).exists()
    return ranking_columns(name) if there else ()
