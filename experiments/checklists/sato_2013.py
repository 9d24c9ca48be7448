# SPDX-License-Identifier: Apache-2.0
"""Sato 2013, objective search, item by item."""

from typing import Final

from experiments.checklists.checklist import (
    Checklist,
    Item,
    RunTime,
    cannot_be_asked,
    confirmed,
)

_COMPARISONS: Final = ("core/bulk/comparisons.cpp",)
_OBJECTIVES: Final = ("src/hyoka/learning/objectives.py",)
_EVOLVING: Final = ("src/hyoka/learning/objective_search.py",)
_SATO_2013: Final = ("experiments/sato_2013.py",)
_OTHELLO: Final = RunTime("small", "10 minutes")
_SHOGI: Final = RunTime("medium", "half an hour")
_WITHIN_CHANCE: Final = (
    "within the null band of searches in which all individuals play equally well; the paper has "
    "one search and no such band"
)
SATO_2013: Final = Checklist(
    "002",
    "Sato 2013",
    (
        Item("values after quiescence, and their leaves", ("core/search/quiescence.h",)),
        Item("J1, equations (1) and (3)", _COMPARISONS, None, "`--objective comparison`"),
        Item(
            "J2, equations (2) and (4)",
            _COMPARISONS,
            None,
            "a draw counts as half won and half lost",
        ),
        Item(
            "J, equation (5)",
            (*_OBJECTIVES, "src/hyoka/learning/comparison_training.py"),
            None,
            "`--objective combination`; L1 by proximal steps",
        ),
        Item("factors by category, equation (6)", _OBJECTIVES, None, "`--objective FILE`"),
        Item(
            "progress ratio, best-move change, correct depth",
            ("src/hyoka/search/difficulty.py", "core/search/best_move_change.h"),
            None,
            "`hyoka study annotate STUDY --search ab`",
        ),
        Item(
            "gradient descent",
            ("src/hyoka/learning/comparison_training.py",),
            None,
            "`hyoka learn comparison`; steps adapt unless `--descent plain`",
        ),
        Item(
            "pieces, pieces and kings, patterns of pieces",
            ("core/sparse/shogi_relations.h",),
            None,
            "`--features relations`: 365,621 weights; its patterns are not listed, ours are "
            "all pairs of pieces",
        ),
        Item("Bonanza's features", ("core/sparse/shogi_kpp.h",), None, "`--features kpp`"),
        Item(
            "PBILc, equations (7) and (8)",
            ("src/hyoka/learning/objective_optimizers.py",),
            None,
            "`--optimizer pbilc`; CMA-ES, SPSA and random search beside it",
        ),
        Item("figure 1: the procedure", _EVOLVING, None, "`hyoka learn objective`"),
        Item("Elo ratings as fitness", ("src/hyoka/arena/ratings.py",)),
        Item("table 1: the machines", (), None, "each page of results names its own"),
        Item(
            "table 2: against the baselines",
            _SATO_2013,
            "002-table2",
            run_time=_SHOGI,
            claims=(
                confirmed("The proposed objective beats comparison.", "+0.355 (+0.317 to +0.386)"),
                confirmed("The proposed objective beats combination.", "+0.230 (+0.184 to +0.272)"),
            ),
        ),
        Item(
            "table 3: against Bonanza",
            _SATO_2013,
            "002-table3",
            "our αβ in Bonanza's place",
            run_time=_SHOGI,
            claims=(
                confirmed(
                    "Against a third program, combination does better than comparison, and the "
                    "proposed objective better than both.",
                    "+0.294 (+0.234 to +0.351); +0.180 (+0.109 to +0.249)",
                ),
            ),
        ),
        Item(
            "figures 2 and 3: progress",
            _SATO_2013,
            "002-fig2",
            run_time=_OTHELLO,
            claims=(
                cannot_be_asked(
                    "The slope falls with the progress.",
                    _WITHIN_CHANCE,
                    "-0.012 (-0.343 to +0.310)",
                ),
                cannot_be_asked(
                    "The margin grows with the progress.",
                    _WITHIN_CHANCE,
                    "-0.186 (-0.572 to +0.182)",
                ),
                cannot_be_asked(
                    "The weights of moves and of the outcome grow with the progress.",
                    _WITHIN_CHANCE,
                    "+0.053 (-0.275 to +0.398); -0.080 (-0.449 to +0.250)",
                ),
            ),
        ),
        Item(
            "figure 4: best-move change",
            _SATO_2013,
            "002-fig4",
            run_time=_OTHELLO,
            claims=(
                cannot_be_asked(
                    "The weights of moves and of the outcome fall with the best-move changes.",
                    _WITHIN_CHANCE,
                    "+0.065 (-0.289 to +0.494); +0.250 (-0.258 to +0.640)",
                ),
            ),
        ),
        Item(
            "figure 5: correct depth",
            _SATO_2013,
            "002-fig5",
            run_time=_OTHELLO,
            claims=(
                confirmed(
                    "The weight of moves falls from correct depth 1 to 3.",
                    "+0.409 (+0.027 to +0.800)",
                ),
                cannot_be_asked(
                    "It is larger for positions without a correct depth.",
                    _WITHIN_CHANCE,
                    "+0.070 (-0.327 to +0.505)",
                ),
            ),
        ),
        Item(
            "table 4: other features and records",
            _SATO_2013,
            "002-table4",
            "shogi: named terms and relations, professionals' games",
            run_time=_SHOGI,
            claims=(
                confirmed(
                    "With other features and records, the proposed objective beats comparison.",
                    "+0.415 (+0.384 to +0.439)",
                ),
                confirmed("It beats combination.", "+0.330 (+0.288 to +0.365)"),
            ),
        ),
        Item(
            "table 5: the same against Bonanza",
            _SATO_2013,
            "002-table5",
            "our αβ in Bonanza's place",
            run_time=_SHOGI,
            claims=(
                confirmed(
                    "Against a third program, combination does better than comparison.",
                    "+0.130 (+0.082 to +0.178)",
                ),
                confirmed(
                    "The proposed objective does better than combination.",
                    "+0.277 (+0.211 to +0.341)",
                ),
            ),
        ),
        Item(
            "c1 to c4, equation (6)",
            ("experiments/objective_searches.py",),
            "002-constants",
            "by a grid search in each game",
            run_time=RunTime("small", "10 minutes"),
            claims=(
                confirmed(
                    "Constants are chosen for a program: in chess, the best of a grid beat the "
                    "paper's.",
                    "+0.084 (+0.047 to +0.121)",
                ),
                cannot_be_asked(
                    "The same in Othello.",
                    "the best of the grid plays like the paper's within these games",
                    "+0.007 (-0.031 to +0.044)",
                ),
            ),
        ),
        Item(
            "other optimizers in PBILc's place",
            _SATO_2013,
            "002-optimizers",
            "ours: CMA-ES, SPSA and random search at equal games",
            run_time=_OTHELLO,
        ),
    ),
)
