# SPDX-License-Identifier: Apache-2.0
"""All experiments by name."""

from typing import Final

from hyoka.errors import NotationError, nearest
from hyoka.reproduction import go_records, nakamura_2007, weight_records
from hyoka.reproduction.go_records import MC_BY_MOVES, OURS, GoExperiment
from hyoka.reproduction.takeuchi_2010 import (
    BISHOP_FACTORS,
    CHESS_MATCHES,
    KING_WEIGHTS,
    SHOGI_MATCHES,
)
from hyoka.reproduction.weight_records import Adjusted, RecordsScale, WeightExperiment
from hyoka.reproduction.workshop import Experiment

_MONTE_CARLO: Final = ("UCT", MC_BY_MOVES, "MC")
_ALL: Final = (OURS, "GNU Go", *_MONTE_CARLO, "MC-Score")
_GO_NOTES: Final = (
    "Records: OGS 9×9, both players 3k or better as in the paper, but komi 5.5 to 7.5, not 0.5. "
    "PUCT, with rated moves and light playouts, is ours and stands where the paper has Fuego. UCT "
    "explores as libego does; MC ÷ moves has N / 58 playouts in all, 58 being the mean number of "
    "legal moves, and MC has N in all."
)
_LADDER_NOTES: Final = (
    "Level: how much more often Black won than the curve of all says at the same value; the split "
    "is the one gap less the other. By the paper Black wins more where White's stones are in "
    "danger, and the split shrinks with more playouts."
)
_BISHOPS: Final = Adjusted(
    "chess",
    ("chess/twic_human.pgn.xz",),
    "first_rank >= 2200 and second_rank >= 2200 and plies >= 40 and result is not null",
    ("bishop_mobility", "bishop_development"),
    "factor",
    (("chess/twic_human.pgn.xz", 8),),
    "original",
    CHESS_MATCHES,
    BISHOP_FACTORS,
    trait="bishop evaluation",
)
_KINGS: Final = Adjusted(
    "shogi",
    ("shogi/floodgate2016.csa.xz",),
    "plies >= 60 and result is not null",
    ("king_attackers", "king_defenders"),
    "ending",
    (("shogi/pro_title.csa.xz", 30), ("shogi/pro_psn.csa.xz", 30)),
    "hand",
    SHOGI_MATCHES,
    KING_WEIGHTS,
    others=("shogi/pro_title.csa.xz", "shogi/pro_psn.csa.xz"),
)
_CHESS_SCALES: Final = {
    "small": RecordsScale(10, 1_000, 2_000),
    "medium": RecordsScale(20, 4_000, 2_000),
    "paper": RecordsScale(None, 1_000, 200_000),
}
_SHOGI_SCALES: Final = {
    "small": RecordsScale(4, 1_000, 2_000),
    "medium": RecordsScale(10, 4_000, 2_000),
    "paper": RecordsScale(None, 1_000, 200_000),
}
_CHESS_NOTES: Final = (
    "Our alpha-beta's evaluation stands where the paper has Crafty's, TWIC's games of players "
    "rated 2200 or more where it has correspondence games. Splits are of games that the weights "
    "were not fitted to; a position is where a quiescence search comes to rest."
)
_SHOGI_NOTES: Final = (
    "Our alpha-beta stands where the paper has GPS Shogi, programs' games on floodgate where it "
    "has people's. `off` is their original, `hand` our built-in weights (in splits those of the "
    "ending alone). Our terms count attackers around the other king and defenders of one's own as "
    "good."
)

EXPERIMENTS: Final[dict[str, Experiment]] = {
    experiment.id: experiment
    for experiment in (
        GoExperiment(
            "000-table1",
            "Go: metrics of programs on people's 9×9 games",
            go_records.table_1,
            _ALL,
            go_records.SCALES,
            f"{_GO_NOTES} Their LFT can be neither the formula they give nor the usual lift; ours "
            "is the usual one.",
        ),
        GoExperiment(
            "000-table2",
            "Go: Kendall's τ and the expected value of values",
            go_records.table_2,
            _ALL,
            go_records.SCALES,
            _GO_NOTES,
        ),
        GoExperiment(
            "000-fig4",
            "Go: the strongest program's curves by move number",
            go_records.by_move_number,
            (OURS,),
            go_records.SCALES,
            _GO_NOTES,
        ),
        GoExperiment(
            "000-fig5",
            "Go: curves of UCT and MC by move number",
            go_records.by_move_number,
            _MONTE_CARLO,
            go_records.SCALES,
            _GO_NOTES,
        ),
        GoExperiment(
            "000-fig6",
            "Go: curves of GNU Go by move number",
            go_records.by_move_number,
            ("GNU Go",),
            go_records.SCALES,
            _GO_NOTES,
        ),
        GoExperiment(
            "000-fig7",
            "Go: the strongest program at ladders",
            go_records.at_ladders,
            (OURS,),
            go_records.SCALES,
            _LADDER_NOTES,
        ),
        GoExperiment(
            "000-fig8",
            "Go: UCT and MC at ladders",
            go_records.at_ladders,
            _MONTE_CARLO,
            go_records.SCALES,
            _LADDER_NOTES,
        ),
        GoExperiment(
            "000-fig9",
            "Go: programs at ko",
            go_records.at_ko,
            _ALL,
            go_records.SCALES,
            "Level: Black won more often than the curve of all says; lean: the side that is ahead "
            "by the curve did. Kos come late: the last column compares late positions only. The "
            "paper's figure 10 (MC-Score, GNU Go) is here, too.",
        ),
        WeightExperiment(
            "000-fig11",
            "Chess: the evaluation's curve without and with quiescence search",
            _BISHOPS,
            weight_records.quiescence,
            _CHESS_SCALES,
            _CHESS_NOTES,
        ),
        WeightExperiment(
            "000-fig12",
            "Chess: the curve with draws as half wins and without them",
            _BISHOPS,
            weight_records.draws,
            _CHESS_SCALES,
            _CHESS_NOTES,
        ),
        WeightExperiment(
            "000-fig13",
            "Chess: bishop evaluation off, fitted, and as it was",
            _BISHOPS,
            weight_records.splits,
            _CHESS_SCALES,
            _CHESS_NOTES,
        ),
        WeightExperiment(
            "000-table3",
            "Chess: self-play after adjusting the bishops' weights",
            _BISHOPS,
            weight_records.self_play,
            _CHESS_SCALES,
            "The paper gave ten minutes a game. " + _CHESS_NOTES,
        ),
        WeightExperiment(
            "000-table4",
            "Chess: the bishops' weights by MLM and LS",
            _BISHOPS,
            weight_records.weights,
            _CHESS_SCALES,
            _CHESS_NOTES,
        ),
        WeightExperiment(
            "000-fig14",
            "Shogi: king unsafety off, fitted (figure 15), and built in",
            _KINGS,
            weight_records.splits,
            _SHOGI_SCALES,
            _SHOGI_NOTES,
        ),
        WeightExperiment(
            "000-table5",
            "Shogi: self-play after adjusting king unsafety",
            _KINGS,
            weight_records.self_play,
            _SHOGI_SCALES,
            "The paper gave ten minutes a game. " + _SHOGI_NOTES,
        ),
        WeightExperiment(
            "000-table6",
            "Shogi: the weights of king unsafety",
            _KINGS,
            weight_records.weights,
            _SHOGI_SCALES,
            _SHOGI_NOTES,
        ),
        WeightExperiment(
            "000-fig16",
            "Shogi: the same on professionals' games",
            _KINGS,
            weight_records.other_records,
            _SHOGI_SCALES,
            _SHOGI_NOTES,
        ),
        *nakamura_2007.EXPERIMENTS,
    )
}


def experiment_named(name: str) -> Experiment:
    """An experiment by its name; a wrong one gets the nearest right one.

    >>> experiment_named("003-table1").title
    "Blokus Duo: UCT against alpha-beta with Bouzy's 4/0"
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    hint = nearest(name, EXPERIMENTS) or f"there are {', '.join(EXPERIMENTS)}"
    raise NotationError(f"no experiment '{name}'; {hint}")
