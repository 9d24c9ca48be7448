# SPDX-License-Identifier: Apache-2.0
"""Sato 2010, MCTS for shogi, item by item."""

from typing import Final

from experiments.checklists.checklist import (
    Checklist,
    Item,
    RunTime,
    cannot_be_asked,
    confirmed,
)

_SELECTION: Final = ("core/search/selection.h",)
_SATO: Final = ("experiments/sato_2010.py",)
SATO_2010: Final = Checklist(
    "004",
    "Sato 2010",
    (
        Item("UCB1, formula (1)", _SELECTION, None, "`uct:preset=paper`"),
        Item("the most visited move is played", ("core/search/mcts.h",)),
        Item("playouts end after 256 moves", ("core/games/shogi.h",), None, "a draw, 0.5"),
        Item(
            "Bradley-Terry, Elo ratings of moves",
            ("src/hyoka/learning/bradley_terry.py", "core/strengths/move_features.h"),
            None,
            "`hyoka learn strengths`",
        ),
        Item(
            "the features of moves",
            ("core/strengths/shogi.cpp",),
            None,
            "`hyoka model features shogi`; the tables by kings' squares are learned, not KIRI's",
        ),
        Item("figure 1: a table of KIRI", (), None, "it is not free; ours is in its place"),
        Item("playouts by ratings", ("core/playouts/by_strength.h",), None, "`policy=strengths`"),
        Item("progressive widening", _SELECTION, None, "`widening=on`"),
        Item("killer moves", ("core/search/statistics.h",), None, "`killer=on`"),
        Item("history", ("core/search/statistics.h",), None, "`history=on`"),
        Item("parallel", ("core/search/mcts.h",), None, "`threads=N`"),
        Item(
            "information of checkmate (check)",
            ("core/search/mcts.h",),
            None,
            "`proofs=on`; off in the bare program. A df-pn search at leaves, `mate=N`, is ours",
        ),
        Item(
            "quiescence search at the root",
            ("core/search/mcts.h",),
            None,
            "`root_quiescence=on`",
        ),
        Item(
            "a book by UCT",
            ("src/hyoka/models/book.py", "core/search/mcts.h"),
            None,
            "`hyoka book make`, `uct:book=FILE`",
        ),
        Item(
            "a book by frequency, equation (2)",
            ("src/hyoka/search/players.py",),
            None,
            "`book_pick=frequency`",
        ),
        Item("table 2: the machine", (), None, "each page of results names its own"),
        Item(
            "table 3: ratings",
            _SATO,
            "004-table3",
            claims=(
                confirmed(
                    "A recapture is rated above other captures.",
                    "log of the ratio +1.087 (+0.981 to +1.194)",
                ),
                confirmed(
                    "Winning an exchange is rated above an even one, and that above losing.",
                    "a rook +3.163 (+2.967 to +3.358) and +5.347 (+4.845 to +5.848)",
                ),
                confirmed(
                    "Moves near the last move are rated above others.", "+1.049 (+1.020 to +1.078)"
                ),
                confirmed("A check is rated above 1.", "+2.034 (+1.955 to +2.113)"),
                cannot_be_asked(
                    "A return to the previous square is rated below 1.",
                    "616 returns are in the records: too few.",
                    "+0.014 (-0.113 to +0.141)",
                ),
            ),
        ),
        Item(
            "table 4: playouts",
            _SATO,
            "004-table4",
            "any game: `hyoka position playouts GAME RECORDS`",
            claims=(
                confirmed(
                    "Ratings draw the move of the record more often than chance.",
                    "learned ratings +0.121 (+0.117 to +0.124)",
                ),
                confirmed("With ratings, more playouts end.", "+0.694 (+0.672 to +0.716)"),
            ),
        ),
        Item(
            "table 5: problems",
            ("experiments/ladders.py",),
            "004-table5",
            claims=(
                confirmed(
                    "Information of checkmate solves more problems.", "+0.095 (+0.045 to +0.149)"
                ),
                confirmed(
                    "Progressive widening solves more problems.", "+0.165 (+0.095 to +0.235)"
                ),
                confirmed(
                    "All enhancements together solve more than the bare search.",
                    "+0.260 (+0.195 to +0.323), without mates +0.189 (+0.095 to +0.290)",
                ),
                confirmed(
                    "αβ solves most.", "139 / 200; more than MCTS by +0.330 (+0.270 to +0.405)"
                ),
            ),
        ),
        Item(
            "table 5 at equal playouts, with a mate search",
            ("experiments/ladders.py",),
            "004-table5-playouts",
            "30,000 playouts; with 3,000, 20 of 240 problems by the bare search, 78 by all of it, "
            "146 with a mate search",
            run_time=RunTime("medium", "an hour and a half"),
            claims=(
                confirmed(
                    "Ratings solve more problems: those that are no mates.",
                    "+0.050 (+0.008 to +0.100); +0.117 (+0.042 to +0.192) without mates",
                ),
                confirmed(
                    "Progressive widening solves more problems.", "+0.113 (+0.050 to +0.171)"
                ),
                cannot_be_asked(
                    "Killer moves and history solve more problems.",
                    "at equal playouts they bring less than these problems can tell, as do the 2 "
                    "and 6 of 98 problems that the paper gains",
                    "-0.004 (-0.042 to +0.033); -0.013 (-0.054 to +0.025)",
                ),
                confirmed(
                    "Ours: rated playouts miss mates, since a mate begins with moves that lose "
                    "material; a mate search at the leaves finds them.",
                    "+0.583 (+0.483 to +0.667)",
                ),
            ),
        ),
        Item(
            "table 6: matches",
            _SATO,
            "004-table6",
            "our αβ in TOHMI's place",
            claims=(
                cannot_be_asked(
                    "MCTS scores 0.040 against a conventional program, 0.320 with quiescence at "
                    "the root.",
                    "fewer than 20 pairs; at equal time more games take hours",
                    "1-9-0; 0-10-0",
                ),
            ),
        ),
        Item(
            "table 6: readings of the reduction by 5 to 15 %",
            _SATO,
            "004-table6-readings",
            "subtracted or multiplied; by material lost or the balance of material",
            run_time=RunTime("small", "2 hours"),
            claims=(
                cannot_be_asked(
                    "MCTS loses to αβ (0.040).",
                    "here αβ has few nodes, so that the readings can differ; at equal time, "
                    "004-table6 has too few games",
                    "19-21-0",
                ),
                confirmed(
                    "With quiescence at the root, it does better: with a penalty that is "
                    "subtracted, by the material lost.",
                    "+0.325 (+0.124 to +0.492)",
                ),
            ),
        ),
        Item(
            "table 6 against a program of the time",
            _SATO,
            "004-table6-gps",
            "needs Debian's `gpsshogi`",
        ),
        Item(
            "table 7: books",
            _SATO,
            "004-table7",
            claims=(
                cannot_be_asked(
                    "A book's moves chosen by UCT beat moves drawn by frequency (0.610).",
                    "in 200 games neither leads beyond chance; the paper's lead of 0.110 is beyond "
                    "our interval. Our book has the winners' moves of strong programs only, so "
                    "that few bad moves are left to avoid; the paper's is of people's games.",
                    "105-93-2; +0.030 (-0.041 to +0.100)",
                ),
            ),
        ),
        Item(
            "figure 2, table 8",
            ("experiments/ladders.py",),
            "004-table8",
            "the position is a picture that the text does not give: siblings of it",
        ),
        Item(
            "table 8 at the paper's playouts",
            ("experiments/ladders.py",),
            "004-table8-playouts",
            run_time=RunTime("small", "an hour"),
            claims=(
                cannot_be_asked(
                    "In endings with kings in a bear-in-the-hole, MCTS finds moves that αβ does "
                    "not.",
                    "the paper's position is a picture; over 60 siblings neither leads beyond "
                    "chance",
                    "-0.083 (-0.217 to +0.050)",
                ),
            ),
        ),
        Item(
            "figure 3, table 9",
            _SATO,
            "004-table9",
            "the position is a picture that the text does not give: siblings of it",
            run_time=RunTime("small", "half an hour"),
            claims=(
                confirmed(
                    "MCTS sees who wins in endings that αβ takes for even.",
                    "+0.093 (+0.062 to +0.126) of 1,973 positions",
                ),
            ),
        ),
    ),
)
