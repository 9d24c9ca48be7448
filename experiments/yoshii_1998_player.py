# SPDX-License-Identifier: Apache-2.0
"""Yoshii 1998: METS as a player ("Monkey Jump"), and where in a game it predicts moves."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from experiments.claims import not_shown_if_few, verdict
from experiments.context import Experiment, ExperimentContext
from experiments.nakamura_2007_network import mean_by_game
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from experiments.yoshii_1998 import PLAIN, Amount, Games
from hyoka.analysis import Resampling, mean_by_games
from hyoka.arena import MatchScore, plan_match, rate
from hyoka.foundation.math import Estimate
from hyoka.learning.mets import Mets
from hyoka.records.bulk import GameTable

_GAME: Final = "go19"
_STAGES: Final = (0, 50, 100, 150, 200, 1_000)
"""Bounds of the stages of a game, in plies."""
_WITHIN: Final = (1, 10)


@dataclass(frozen=True, slots=True)
class PlayerScale:
    """Games to grow the tree from, and games of each match."""

    records: Amount
    games: int


@dataclass(frozen=True)
class PlayerExperiment:
    """METS A plays the point with the lowest score, against random moves and short searches."""

    id: str
    title: str
    opponents: Mapping[str, str]
    """Specs by name."""
    scales: Mapping[str, PlayerScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Grow the tree, predict moves by stage, and play."""
        amount = self.scales[scale]
        games = Games.read(context, amount.records)
        learned, unseen = (GameTable.from_records(each) for each in (games.learned, games.unseen))
        tree = PLAIN[0].grown(learned)
        stages, decline = _by_stage(tree, unseen)
        file = context.place(self.id) / f"{scale}.tree"
        tree.save(file)
        rows: list[tuple[Value, ...]] = []
        for name, opponent in self.opponents.items():
            score = self._match(context, file, name, opponent, amount.games)
            rows.append((name, f"`{opponent}`", score.score, rate(score)))
        return Outcome(
            f"METS A grown from {int((learned.played >= 0).sum()):,} moves of "
            f"{len(games.learned):,} games; {len(games.unseen):,} other games predicted; "
            f"{amount.games} games of 19×19 Go against each opponent, from random openings with "
            "the sides exchanged",
            (
                stages,
                OutcomeTable(("opponent", "spec", "+−=", "points"), tuple(rows), "matches"),
            ),
            (decline,),
        )

    def _match(
        self, context: ExperimentContext, tree: Path, name: str, opponent: str, games: int
    ) -> MatchScore:
        plan = plan_match(
            f"METS=ranking:strengths={tree}",
            f"{name}={opponent}",
            game=_GAME,
            seed=context.seed,
        )
        return context.play(plan, context.place(self.id) / plan.id, games).standing.duel(0, 1)


def _by_stage(tree: Mets, unseen: GameTable) -> tuple[OutcomeTable, Verdict]:
    """Prediction accuracy by stage, and whether it falls from the opening to the middle game."""
    ranks = unseen.predictions(tree.model()).ranks
    lengths = np.diff(unseen.row_offsets)
    games = np.repeat(np.arange(len(lengths)), lengths)
    plies = np.arange(len(ranks)) - np.repeat(unseen.row_offsets[:-1], lengths)
    moves = (ranks > 0) & (unseen.played < 361)  # excludes passes

    def accuracy(first: int, end: int, n: int) -> Estimate:
        rows = moves & (plies >= first) & (plies < end)
        return mean_by_games(ranks[rows] <= n, games[rows], Resampling())

    rows: tuple[tuple[Value, ...], ...] = tuple(
        (f"{first} to {end - 1}", *(accuracy(first, end, n) for n in _WITHIN))
        for first, end in pairwise(_STAGES)
        if (moves & (plies >= first) & (plies < end)).any()
    )
    opening, middle = (
        moves & (plies >= first) & (plies < end) for first, end in (_STAGES[:2], _STAGES[2:4])
    )
    decline = verdict(
        "METS predicts more moves in the opening than in the middle game",
        mean_by_game((ranks == 1).astype(np.float64), games, opening, middle),
        f"plies {_STAGES[0]} to {_STAGES[1] - 1} and {_STAGES[2]} to {_STAGES[3] - 1}",
    )
    return (
        OutcomeTable(
            ("plies", *(f"within {n}" for n in _WITHIN)), rows, "prediction accuracy by stage"
        ),
        not_shown_if_few(decline, len(np.unique(games[middle]))),
    )


EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    PlayerExperiment(
        "001-player",
        "Go: METS as a player",
        {
            "random moves": "random",
            "UCT": "uct:preset=paper,playouts=200",
            "UCT, light playouts": "uct:preset=paper,playouts=200,c=0.2,policy=light",
            "MCTS with learned strengths": "uct:playouts=20",
        },
        {
            "tiny": PlayerScale(Amount(40, 8), 2),
            "small": PlayerScale(Amount(4_000, 300), 40),
            "medium": PlayerScale(Amount(12_000, 600), 200),
            "paper": PlayerScale(Amount(34_266, 346), 400),
        },
        "The paper's program Monkey Jump won 4 and lost 6 games of the third FOST cup against the "
        "programs of 1997, which are not available. The opponents here are short searches; "
        "the last one has our bundled move strengths as priors and in playouts. METS passes when "
        "only its own eyes are left.",
    ),
)
