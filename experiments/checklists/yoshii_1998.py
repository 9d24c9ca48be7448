# SPDX-License-Identifier: Apache-2.0
"""Yoshii 1998, METS, item by item."""

from typing import Final

from experiments.checklists.checklist import (
    Checklist,
    Item,
    RunTime,
    cannot_be_asked,
    confirmed,
)

_GROWING: Final = ("core/mets/grow.cpp",)
_YOSHII: Final = ("experiments/yoshii_1998.py",)
YOSHII_1998: Final = Checklist(
    "001",
    "Yoshii 1998",
    (
        Item(
            "patterns: points within Manhattan distance 17, in four states",
            ("core/mets/questions.h", "core/mets/board.h"),
        ),
        Item(
            "figure 1: nodes, leaves, null nodes",
            ("core/mets/tree.h",),
            None,
            "ours skips the paper's root, which asks about the move's own point: it is always "
            "empty. Leaves are the same, depths one less",
        ),
        Item("steps 1 to 3: the threshold", _GROWING, None, "`--min-patterns`"),
        Item("figure 2, the range constraint: rings", _GROWING),
        Item(
            "the entropy constraint",
            _GROWING,
            None,
            "the smallest entropy first: the paper does not say which, and its sizes tell",
        ),
        Item(
            "the score: negative by positive count",
            ("core/bulk/mets.h", "core/mets/odds.cpp"),
            None,
            "leaves without negatives all have score 0 in the paper; ours count half a negative, "
            "so that more positives rank higher",
        ),
        Item(
            "table 1: leaves and bytes by threshold; mean depth",
            _YOSHII,
            "001-table1",
            claims=(
                confirmed(
                    "The number of leaves is inversely proportional to the threshold.",
                    "slope of log leaves by log threshold within 0.1 of -1: off by +0.001 (-0.001 "
                    "to +0.003)",
                ),
                cannot_be_asked(
                    "558,785, 70,705 and 7,022 leaves with a mean depth of 46.86.",
                    "The paper's records are not here. From as many games of another collection, "
                    "there are almost as many leaves.",
                    "556,500, 67,388 and 6,990 leaves; mean depth 44.31",
                ),
            ),
        ),
        Item(
            "figure 3: the area that a leaf asks about",
            ("src/hyoka/learning/mets.py",),
            None,
            "`hyoka position show go19 --model FILE --area MOVE`",
        ),
        Item(
            "figure 4: cumulative recognition",
            _YOSHII,
            "001-fig4",
            claims=(
                confirmed(
                    "A lower threshold recognizes more moves: METS A more than B, and B more than "
                    "C.",
                    "+0.038 (+0.035 to +0.042) and +0.052 (+0.048 to +0.056)",
                ),
                cannot_be_asked(
                    "METS A's first point is the move in 25 % of the positions.",
                    "With as many moves as the paper's (7,182,225 and 7,067,744) ours is the move "
                    "in 22.5 %, and in 17.6 % with 842,246. The records of the paper, and the "
                    "games that it predicted, are not here; ours are of all eras.",
                    "0.225 ±0.005",
                ),
            ),
        ),
        Item(
            "the time of a ranking",
            ("benchmarks/mets.py",),
            None,
            "milliseconds then; see [move-models.md](guides/move-models.md)",
        ),
        Item(
            "Monkey Jump, which plays the lowest score",
            ("src/hyoka/search/players.py", "experiments/yoshii_1998_player.py"),
            "001-player",
            "`ranking:strengths=FILE`",
            run_time=RunTime("small", "half an hour"),
            claims=(
                cannot_be_asked(
                    "Monkey Jump won 4 and lost 6 games against the programs of 1997.",
                    "Those programs are not here.",
                ),
                confirmed(
                    "METS plays well at the beginning of a game, but gives wrong moves in its "
                    "middle: it predicts more moves of plies 0 to 49 than of 100 to 149.",
                    "+0.155 (+0.143 to +0.167)",
                ),
            ),
        ),
        Item(
            "strength of groups, life and death: what the author misses",
            ("core/mets/go_tactical.cpp", "core/mets/top.cpp"),
            "001-fig4",
            "ours: `--tactics`",
        ),
    ),
)
