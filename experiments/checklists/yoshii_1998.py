# SPDX-License-Identifier: Apache-2.0
"""Yoshii 1998, METS, item by item."""

from typing import Final

from experiments.checklists.checklist import Checklist, Item, RunTime

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
        Item("figure 1: nodes, leaves, null nodes", ("core/mets/tree.h",)),
        Item("steps 1 to 3: the threshold", _GROWING, None, "`--min-patterns`"),
        Item("figure 2, the range constraint: rings", _GROWING),
        Item(
            "the entropy constraint",
            _GROWING,
            None,
            "the smallest entropy first: the paper does not say which, and its sizes tell",
        ),
        Item("the score: negative by positive count", ("core/bulk/mets.h", "core/mets/odds.cpp")),
        Item("table 1: leaves and bytes by threshold; mean depth", _YOSHII, "001-table1"),
        Item(
            "figure 3: the area that a leaf asks about",
            ("src/hyoka/learning/mets.py",),
            None,
            "`hyoka position show go19 --model FILE --area MOVE`",
        ),
        Item("figure 4: cumulative recognition", _YOSHII, "001-fig4"),
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
        ),
        Item(
            "strength of groups, life and death: what the author misses",
            ("core/mets/go_tactical.cpp", "core/mets/top.cpp"),
            "001-fig4",
            "ours: `--tactics`",
        ),
    ),
)
