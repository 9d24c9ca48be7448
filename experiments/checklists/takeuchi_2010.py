# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010, evaluation curves, item by item."""

from typing import Final

from experiments.checklists.checklist import Checklist, Item, RunTime

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
        Item(
            "figure 2 and tables I and II: Fuego itself",
            _GO,
            "000-fig2-fuego",
            "needs Fuego 0.4.1",
            run_time=RunTime("medium", "half an hour"),
        ),
        Item(
            "figures 2 and 3: MC and MC-Score, playouts divided by the legal moves or not",
            _GO,
            "000-fig3-undivided",
            run_time=RunTime("small", "15 minutes"),
        ),
        Item("table I", _GO, "000-table1"),
        Item("table II", _GO, "000-table2"),
        Item(
            "tables I and II on more positions of each game",
            _GO,
            "000-table1-positions",
            run_time=RunTime("small", "half an hour"),
        ),
        Item("figure 4: Fuego by move number", _GO, "000-fig4", "PUCT in Fuego's place"),
        Item(
            "figure 4: Fuego itself",
            _GO,
            "000-fig4-fuego",
            "needs Fuego 0.4.1",
            run_time=RunTime("medium", "half an hour"),
        ),
        Item("figure 5: UCT and MC by move number", _GO, "000-fig5"),
        Item("figure 6: GNU Go by move number", _GO, "000-fig6"),
        Item(
            "ladder",
            ("core/features/ladder.cpp",),
            None,
            "`running_ladder`; its share on figure 8's page",
        ),
        Item("figure 7: Fuego at ladders", _GO, "000-fig7", "PUCT in Fuego's place"),
        Item(
            "figure 7: Fuego itself",
            _GO,
            "000-fig7-fuego",
            "needs Fuego 0.4.1",
            run_time=RunTime("medium", "half an hour"),
        ),
        Item("figure 8: UCT and MC at ladders", _GO, "000-fig8"),
        Item("ko", ("core/features/go.cpp",), None, "`ko_forbidden`; its share on figure 9's page"),
        Item("figures 9 and 10: all programs at ko", _GO, "000-fig9"),
        Item(
            "figures 9 and 10 and section V-C, on all positions with a ko",
            ("experiments/go_kos.py",),
            "000-fig9-kos",
            run_time=RunTime("small", "15 minutes"),
        ),
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
