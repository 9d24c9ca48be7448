# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007, Blokus Duo, item by item."""

from typing import Final

from experiments.checklists.checklist import (
    Checklist,
    Item,
    RunTime,
    cannot_be_asked,
    confirmed,
    contradicted,
)

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
        Item(
            "table 1",
            ("experiments/matches.py",),
            "003-table1",
            "our strong αβ",
            claims=(
                contradicted(
                    "UCT beats αβ with Bouzy's 4/0: 89-11-0 as first, 55-40-5 as second player.",
                    "at 0.1 s UCT has 20-57-3 as first and 13-67-0 as second player",
                    "Our αβ is stronger than one of 2007: it has the strongest reading of Bouzy's "
                    "4/0, a transposition table and pruning. Against a plain αβ with the reading "
                    "that the text describes first, UCT wins.",
                    "003-table1-text",
                    "at depth 2 47-3-0 and 45-5-0, at depth 3 45-5-0 and 35-15-0",
                ),
            ),
        ),
        Item(
            "table 1, by the text",
            ("experiments/nakamura_2007.py",),
            "003-table1-text",
            "a plain αβ with the influence that the text describes first",
            claims=(
                confirmed(
                    "UCT beats a plain αβ with the text's reading.",
                    "at depth 2 +0.440 (+0.325 to +0.484) and +0.400 (+0.274 to +0.463), "
                    "at depth 3 +0.400 (+0.274 to +0.463) and +0.200 (+0.052 to +0.317)",
                ),
            ),
        ),
        Item(
            "table 2",
            ("experiments/matches.py",),
            "003-table2",
            claims=(
                confirmed(
                    "UCT + Bouzy beats UCT at equal simulations.",
                    "at 2,000 simulations 73-6-1 as first and 68-10-2 as second player",
                ),
                confirmed(
                    "It does at equal time, too (ours).",
                    "at 0.1 s +0.338 (+0.191 to +0.424) and +0.262 (+0.107 to +0.371)",
                ),
            ),
        ),
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
        Item(
            "table 3",
            _NETWORK,
            "003-table3",
            claims=(
                contradicted(
                    "UCT + NN loses to UCT: 11-63-26 as first, 7-90-3 as second player.",
                    "with 40 virtual visits 59-1-0 and 55-5-0",
                    "At c = 1, UCT spreads its visits so evenly that even a network that tells "
                    "nothing beats it. Only the network with the win rates of the wrong side "
                    "loses as the paper's does.",
                    "003-ablation",
                    "tells nothing 77-21-2; wrong side 14-84-2",
                ),
            ),
        ),
        Item(
            "table 3: which opponent",
            _NETWORK,
            "003-table3-opponents",
            "the text names UCT + Bouzy, the table and the conclusion UCT",
            run_time=RunTime("small", "20 minutes"),
            claims=(
                confirmed(
                    "UCT + NN loses to UCT + Bouzy, as the text says.",
                    "18,000-simulation data: +0.323 (+0.202 to +0.403) at c = 1, "
                    "+0.469 (+0.364 to +0.495) at 0.2",
                ),
                contradicted(
                    "It loses to UCT, as the table and the conclusion say.",
                    "18,000-simulation data: -0.146 (-0.241 to -0.039) at c = 1, "
                    "-0.031 (-0.171 to +0.113) at 0.2",
                    "The figures are those of a match against UCT + Bouzy. At c = 1, UCT is close "
                    "to flat: c = 0.2 beats it.",
                    "003-table3-opponents",
                    "1-22-1 and 0-24-0 against UCT + Bouzy; 39-7-2",
                ),
            ),
        ),
        Item(
            "figure 3: the network's error by ply",
            _NETWORK,
            "003-fig3",
            claims=(
                confirmed(
                    "The error grows with the ply.",
                    "+0.134 (+0.125 to +0.144) from the opening to the ending",
                ),
                confirmed(
                    "The opening is learned.", "better than its mean by +0.003 (+0.002 to +0.003)"
                ),
            ),
        ),
        Item(
            "figure 4: squares by ply",
            _NETWORK,
            "003-fig4",
            claims=(
                contradicted(
                    "UCT lays more squares than UCT + NN from the opening on.",
                    "UCT behind by -1.550 (-1.878 to -1.222) at ply 10, -9.800 (-12.302 to "
                    "-7.298) at the end",
                    "As in table 3: the network with the win rates of the wrong side is behind "
                    "from the opening on.",
                    "003-ablation",
                    "squares ahead at ply 10: the paper's network 1.810 ±0.299, wrong side -5.430 "
                    "±0.540",
                ),
            ),
        ),
        Item(
            "what the author blames: pieces in hand, late positions",
            _NETWORK,
            "003-ablation",
            "ours: one by one, with a control that tells nothing",
            claims=(
                confirmed(
                    "Pieces in hand as an input predict the ending better.",
                    "+0.004 (+0.002 to +0.007) less MSE",
                ),
                cannot_be_asked(
                    "With them, UCT + NN plays better.",
                    "100 games show differences above 0.09 points a game only.",
                    "49-48-3, +0.005 (-0.088 to +0.097)",
                ),
                cannot_be_asked(
                    "With late positions of random games in the training data, UCT + NN "
                    "plays better.",
                    "100 games show differences above 0.09 points a game only.",
                    "49-49-2, +0.000 (-0.099 to +0.099)",
                ),
            ),
        ),
    ),
)
