# SPDX-License-Identifier: Apache-2.0
"""Checklists of a paper's definitions, formulas, tables and figures, with code and results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from experiments.results_page import ResultsPage


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a paper."""

    what: str
    code: tuple[str, ...]
    """Source files, relative to the repository root."""
    experiment: str | None = None
    """The experiment that reproduces it, for a table or figure."""
    remark: str = ""
    """Our differing interpretation, or the reason for its omission."""


@dataclass(frozen=True, slots=True)
class Checklist:
    """A paper with its items."""

    number: str
    name: str
    """Citation name."""
    items: tuple[Item, ...]


_METRICS: Final = ("src/hyoka/analysis/metrics.py", "core/analysis/ranking.cpp")
_CURVES: Final = ("src/hyoka/analysis/curves.py", "src/hyoka/analysis/curves.py")
_GAPS: Final = ("src/hyoka/analysis/gaps.py", "src/hyoka/analysis/slices.py")
_SIGMOID: Final = ("src/hyoka/learning/sigmoid.py",)
_TERMS: Final = ("src/hyoka/learning/examples.py", "core/bulk/terms.h")
_GO: Final = ("experiments/go_analyses.py",)
_WEIGHTS: Final = ("experiments/weight_records.py",)

TAKEUCHI_2010: Final = Checklist(
    "000",
    "Takeuchi 2010",
    (
        Item("UCB1, formula (1)", ("core/search/selection.h",), None, "`uct:preset=paper,c=1`"),
        Item("UCB1-tuned, formula (2)", ("core/search/selection.h",), None, "`formula=tuned`"),
        Item("win probability of a bin, (3) and (4)", _CURVES, None, "`--delta` is δ"),
        Item(
            "the winner of a record, by the first mate found",
            ("src/hyoka/study/exact_results.py",),
            None,
            "`hyoka study adjudicate --record`",
        ),
        Item("ACC, FSC, ROC, APR, BEP", _METRICS),
        Item("LFT", _METRICS, None, "the formula is `precision_at_25`; `lift` divides it"),
        Item("evaluation curve, total and conditioned", _CURVES),
        Item("splits", _GAPS),
        Item("Kendall's τ", _METRICS, None, "pairs of a win and a loss, ties right (a footnote)"),
        Item("E(v)", _METRICS),
        Item("figures 2 and 3: all curves", _GO, "000-fig2"),
        Item("table I", _GO, "000-table1"),
        Item("table II", _GO, "000-table2"),
        Item("figure 4: Fuego by move number", _GO, "000-fig4", "PUCT in Fuego's place"),
        Item("figure 5: UCT and MC by move number", _GO, "000-fig5"),
        Item("figure 6: GNU Go by move number", _GO, "000-fig6"),
        Item(
            "ladder",
            ("core/features/ladder.cpp",),
            None,
            "`running_ladder`; its share on figure 8's page",
        ),
        Item("figure 7: Fuego at ladders", _GO, "000-fig7", "PUCT in Fuego's place"),
        Item("figure 8: UCT and MC at ladders", _GO, "000-fig8"),
        Item("ko", ("core/features/go.cpp",), None, "`ko_forbidden`; its share on figure 9's page"),
        Item("figures 9 and 10: all programs at ko", _GO, "000-fig9"),
        Item("figure 11: quiescence", _WEIGHTS, "000-fig11", "our evaluation in Crafty's place"),
        Item("figure 12: draws", _WEIGHTS, "000-fig12"),
        Item("figure 13: bishops", _WEIGHTS, "000-fig13"),
        Item("table III: chess self-play", _WEIGHTS, "000-table3"),
        Item("table IV: bishops' weights", _WEIGHTS, "000-table4"),
        Item("king unsafety in the ending, (5) and (6)", _TERMS, None, "`--as ending`"),
        Item("figures 14 and 15: king unsafety", _WEIGHTS, "000-fig14"),
        Item("table V: shogi self-play", _WEIGHTS, "000-table5"),
        Item("table VI: king unsafety's weights", _WEIGHTS, "000-table6"),
        Item("figure 16: professionals' games", _WEIGHTS, "000-fig16"),
        Item(
            "figures 14 and 16: GPS Shogi itself",
            ("experiments/gps_shogi.py",),
            "000-fig14-gps",
            "a later revision; needs Debian's `gpsshogi`",
        ),
        Item(
            "table VII, figure 17: ranks",
            ("experiments/go_ranks.py",),
            "000-fig17",
            "9k to 11k are 15k to 20k here",
        ),
        Item("figure 18: ranks at komi 0.5", (), None, "no records at komi 0.5 here"),
        Item("figure 19: rules", ("experiments/go_ranks.py",), "000-fig19"),
        Item("section V-B: choosing δ", _CURVES, None, "bins from the data unless `--delta`"),
        Item("section V-B: equal phases", ("src/hyoka/study/sampling.py",), None, "`--balance`"),
        Item("section V-C: ACC at ko", _GO, "000-section5c"),
        Item("appendix: MLM and LS", _SIGMOID, None, "`hyoka learn weights --method mlm`, `ls`"),
    ),
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
        Item("table 1", ("experiments/matches.py",), "003-table1"),
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
            ("src/hyoka/search/players.py",),
            None,
            "`ranking:strengths=FILE`",
        ),
        Item(
            "strength of groups, life and death: what the author misses",
            ("core/mets/go_tactical.cpp", "core/mets/top.cpp"),
            "001-fig4",
            "ours: `--tactics`",
        ),
    ),
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
            ("src/hyoka/search/book_player.py",),
            None,
            "`book_pick=frequency`",
        ),
        Item("table 2: the machine", (), None, "each page of results names its own"),
        Item("table 3: ratings", _SATO, "004-table3"),
        Item(
            "table 4: playouts",
            _SATO,
            "004-table4",
            "any game: `hyoka position playouts GAME RECORDS`",
        ),
        Item("table 5: problems", ("experiments/ladders.py",), "004-table5"),
        Item("table 6: matches", _SATO, "004-table6", "our αβ in TOHMI's place"),
        Item(
            "table 6 against a program of the time",
            _SATO,
            "004-table6-gps",
            "needs Debian's `gpsshogi`",
        ),
        Item("table 7: books", _SATO, "004-table7"),
        Item(
            "figure 2, table 8",
            ("experiments/ladders.py",),
            "004-table8",
            "the position is a picture that the text does not give: siblings of it",
        ),
        Item(
            "figure 3, table 9",
            _SATO,
            "004-table9",
            "the position is a picture that the text does not give: siblings of it",
        ),
    ),
)
_COMPARISONS: Final = ("core/bulk/comparisons.cpp",)
_OBJECTIVES: Final = ("src/hyoka/learning/objectives.py",)
_EVOLVING: Final = ("src/hyoka/learning/objective_search.py",)
_SATO_2013: Final = ("experiments/sato_2013.py",)
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
            "`--optimizer pbilc`; CMA-ES and random search beside it",
        ),
        Item("figure 1: the procedure", _EVOLVING, None, "`hyoka learn objective`"),
        Item("Elo ratings as fitness", ("src/hyoka/arena/ratings.py",)),
        Item("table 1: the machines", (), None, "each page of results names its own"),
        Item("table 2: against the baselines", _SATO_2013, "002-table2"),
        Item("table 3: against Bonanza", _SATO_2013, "002-table3", "our αβ in Bonanza's place"),
        Item("figures 2 and 3: progress", _SATO_2013, "002-fig2"),
        Item("figure 4: best-move change", _SATO_2013, "002-fig4"),
        Item("figure 5: correct depth", _SATO_2013, "002-fig5"),
        Item("table 4: other features and records", _SATO_2013, "002-table4"),
        Item("table 5: the same against Bonanza", _SATO_2013, "002-table5"),
    ),
)
CHECKLISTS: Final = (TAKEUCHI_2010, YOSHII_1998, SATO_2013, NAKAMURA_2007, SATO_2010)


def checklist_rows(
    checklist: Checklist, pages: Mapping[str, ResultsPage]
) -> list[tuple[str, str, str, str]]:
    """Rows of item, source files, command and result."""
    rows = []
    for item in checklist.items:
        code = ", ".join(f"`{file}`" for file in item.code)
        command = f"`hyoka experiment run {item.experiment}`" if item.experiment else ""
        found = item.remark
        page = pages.get(item.experiment or "")
        if page is not None:
            link = f"[{page.summary or 'figures'}](results/{item.experiment}.md)"
            found = f"{link}, {page.scale}" + (f"; {item.remark}" if item.remark else "")
        rows.append((item.what, code, command, found))
    return rows
