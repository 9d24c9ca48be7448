# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007, Blokus Duo, item by item."""

from typing import Final

from experiments.checklists.checklist import Checklist, Item, RunTime

_NETWORK: Final = ("experiments/nakamura_2007_network.py",)
NAKAMURA_2007: Final = Checklist(
    "003",
    "Nakamura 2007",
    (
        Item("Blokus Duo", ("core/games/blokus_duo.cpp",)),
        Item("Bouzy's 4/0", ("core/features/blokus_duo.cpp", "core/evaluation/blokus_duo.cpp")),
        Item(
            "which reading of it",
            ("experiments/nakamura_2007.py",),
            "003-readings",
            "the strongest is built in",
        ),
        Item("αβ with Bouzy's 4/0", ("core/search/alphabeta.h",), None, "`ab`"),
        Item("UCT", ("core/search/mcts.h",), None, "`uct`"),
        Item("a prior of n simulations", ("core/search/leaves.h",), None, "`uct:eval_visits=N`"),
        Item(
            "the prior's weight and scale",
            ("src/hyoka/learning/prior.py",),
            None,
            "`hyoka learn prior`: the paper gives neither",
        ),
        Item("table 1", ("experiments/matches.py",), "003-table1", "our strong αβ"),
        Item(
            "table 1, by the text",
            ("experiments/nakamura_2007.py",),
            "003-table1-text",
            "a plain αβ with the influence that the text describes first",
        ),
        Item("table 2", ("experiments/matches.py",), "003-table2"),
        Item(
            "1×1, 2×2 and 3×3 patterns, rotations and mirrors merged",
            ("core/network/blokus_patterns.cpp",),
            None,
            "2,886 counts, in the view of the side to move",
        ),
        Item(
            "a three-layer perceptron for each ply",
            ("core/network/ply_perceptrons.cpp",),
            None,
            "`uct:eval_visits=N,eval=FILE`; a ply is a number of pieces laid",
        ),
        Item(
            "training data, equal positions merged; training",
            ("src/hyoka/learning/perceptrons.py",),
            None,
            "`hyoka learn perceptrons`",
        ),
        Item("table 3", _NETWORK, "003-table3"),
        Item(
            "table 3: which opponent",
            _NETWORK,
            "003-table3-opponents",
            "the text names UCT + Bouzy, the table and the conclusion UCT",
            run_time=RunTime("small", "3 hours"),
        ),
        Item("figure 3: the network's error by ply", _NETWORK, "003-fig3"),
        Item("figure 4: squares by ply", _NETWORK, "003-fig4"),
        Item(
            "what the author blames: pieces in hand, late positions",
            _NETWORK,
            "003-ablation",
            "ours: one by one, with a control that tells nothing",
        ),
    ),
)
