# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010, evaluation curves, item by item."""

from typing import Final

from experiments.checklists.checklist import (
    Checklist,
    Item,
    cannot_be_asked,
    confirmed,
    contradicted,
)

_METRICS: Final = ("src/hyoka/analysis/metrics.py", "core/analysis/ranking.cpp")
_CURVES: Final = ("src/hyoka/analysis/curves.py", "src/hyoka/analysis/curves.py")
_GAPS: Final = ("src/hyoka/analysis/gaps.py", "src/hyoka/analysis/slices.py")
_SIGMOID: Final = ("src/hyoka/learning/sigmoid.py",)
_TERMS: Final = ("src/hyoka/learning/examples.py", "core/bulk/terms.h")
_GO: Final = ("experiments/go_analyses.py",)
_WEIGHTS: Final = ("experiments/weight_records.py",)

_POSITIONS: Final = "more positions: [000-table1-positions](results/000-table1-positions.md)"
_FEW_POSITIONS: Final = (
    "6,361 positions are here, 111,946 in the paper: the error of the widest bin is 0.1."
)

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
        Item(
            "figures 2 and 3: all curves",
            _GO,
            "000-fig2",
            claims=(
                confirmed(
                    "The curves of UCT and MC with 500 playouts differ from the others.",
                    "largest difference from 5,000 playouts -0.333 (-0.428 to -0.238) for UCT, "
                    "+0.217 (+0.090 to +0.345) for MC",
                ),
                cannot_be_asked(
                    "The curves of UCT with 5,000 and 50,000 playouts are similar.",
                    "The paper's program, libego, is not here. Our UCT is a reading of it: its "
                    "ROC at 500 playouts is lower than theirs and rises faster with the playouts "
                    "(table I), so that its curve is flatter at few playouts.",
                    "largest difference -0.131 (-0.189 to -0.072)",
                ),
                cannot_be_asked(
                    "The curves of MC with 5,000 and 50,000 playouts are similar.",
                    _FEW_POSITIONS,
                    "largest difference +0.073 (-0.027 to +0.172)",
                ),
                cannot_be_asked(
                    "GNU Go's curve does not rise everywhere.",
                    _FEW_POSITIONS,
                    "largest fall of level 4 -0.001 (-0.099 to +0.097)",
                ),
            ),
        ),
        Item(
            "figure 2 and tables I and II: Fuego itself",
            _GO,
            "000-fig2-fuego",
            "needs Fuego 0.4.1",
            claims=(
                contradicted(
                    "Fuego's curves are very close to y = x.",
                    "farthest -0.210 (-0.288 to -0.132) with 5,000 playouts, -0.182 (-0.257 to "
                    "-0.108) with 500",
                    "Fuego's values are too close to 0.5. The paper's tables I and II say so, "
                    "too: with its ROC, E(v) on y = x is at least 0.264, and the table has 0.176.",
                    "000-fig2-fuego",
                    "slope in the middle 1.892 here, 1.978 by the paper's tables; E(v) smaller "
                    "than on y = x by +0.085 (+0.068 to +0.103)",
                ),
                confirmed(
                    "Fuego's ACC, ROC, τ and E(v) grow with the playouts.",
                    "+0.013 (+0.003 to +0.022), +0.013 (+0.007 to +0.018), +0.025 (+0.014 to "
                    "+0.037) and +0.015 (+0.012 to +0.018)",
                ),
            ),
        ),
        Item(
            "figures 2 and 3: MC and MC-Score, playouts divided by the legal moves or not",
            _GO,
            "000-fig3-undivided",
            claims=(
                contradicted(
                    "MC-Score has almost the same curve at all numbers of playouts.",
                    "5,000 and 500 playouts differ by -0.218 (-0.331 to -0.105)",
                    "500 playouts, divided by the legal moves, are about ten. The paper's tables "
                    "imply two curves, too: its ROC and E(v) give slopes of 0.014 with 5,000 and "
                    "0.007 with 500 playouts. Undivided, the curve is one.",
                    "000-fig3-undivided",
                    "scale 15.58 ±2.043 and 51.75 ±9.494 divided, 12.39 ±1.656 and 12.91 ±1.705 "
                    "undivided; difference undivided -0.007 (-0.082 to +0.067)",
                ),
            ),
        ),
        Item(
            "table I",
            _GO,
            "000-table1",
            _POSITIONS,
            claims=(
                confirmed(
                    "By ROC, UCT comes before MC, and MC before MC-Score.",
                    "at 50,000 playouts 0.716 ±0.017, 0.702 ±0.018 and 0.659 ±0.018; differences "
                    "+0.014 (+0.004 to +0.025) and +0.042 (+0.033 to +0.052)",
                ),
                cannot_be_asked(
                    "By ACC, GNU Go comes before UCT.",
                    "The paper's difference, 0.022, is as large as the error here.",
                    "+0.002 (-0.019 to +0.024)",
                ),
                confirmed(
                    "UCT and MC with more playouts have a higher ACC.",
                    "UCT 50,000 and 5,000 +0.023 (+0.013 to +0.034), 5,000 and 500 +0.050 (+0.040 "
                    "to +0.060); MC 5,000 and 500 +0.045 (+0.030 to +0.059)",
                ),
                cannot_be_asked(
                    "GNU Go with a higher level has a higher ACC.",
                    "Level 4 is ahead of level 2; levels 2 and 0 differ by 0.003 in the paper, "
                    "less than the error here.",
                    "levels 4 and 2 +0.008 (+0.003 to +0.013), 2 and 0 -0.003 (-0.008 to +0.003)",
                ),
            ),
        ),
        Item(
            "table II",
            _GO,
            "000-table2",
            _POSITIONS,
            claims=(
                confirmed(
                    "UCT and MC with more playouts have a larger τ.",
                    "UCT 50,000 and 5,000 +0.071 (+0.061 to +0.081), MC 50,000 and 5,000 +0.041 "
                    "(+0.026 to +0.057)",
                ),
                confirmed(
                    "UCT with more playouts has a larger E(v), and UCT has a larger E(v) than MC.",
                    "UCT 50,000 and 5,000 +0.011 (+0.009 to +0.013); UCT and MC 50,000 +0.017 "
                    "(+0.013 to +0.021)",
                ),
            ),
        ),
        Item(
            "tables I and II on more positions of each game",
            _GO,
            "000-table1-positions",
            claims=(
                confirmed(
                    "By ROC, MC is ahead of MC-Score, and both are better with more playouts.",
                    "+0.038 (+0.030 to +0.046); MC 50,000 and 5,000 +0.015 (+0.010 to +0.020), "
                    "MC-Score +0.014 (+0.008 to +0.019)",
                ),
                cannot_be_asked(
                    "By ACC, MC-Score with 50,000 playouts is better than with 5,000.",
                    "The paper's difference, 0.005, is less than the error on 15,920 positions.",
                    "+0.005 (-0.001 to +0.012)",
                ),
            ),
        ),
        Item("figure 4: Fuego by move number", _GO, "000-fig4", "PUCT in Fuego's place"),
        Item(
            "figure 4: Fuego itself",
            _GO,
            "000-fig4-fuego",
            "needs Fuego 0.4.1",
            claims=(
                confirmed(
                    "Fuego's curves by move number almost fit into one.",
                    "before move 20 within 0.05: +0.002 (-0.008 to +0.013) with 5,000 playouts, "
                    "-0.007 (-0.017 to +0.003) with 500",
                ),
            ),
        ),
        Item(
            "figure 5: UCT and MC by move number",
            _GO,
            "000-fig5",
            claims=(
                confirmed(
                    "The curves of UCT and MC vary with the move number.",
                    "level before move 20: UCT 50,000 +0.025 (+0.011 to +0.039), MC 50,000 +0.027 "
                    "(+0.012 to +0.041)",
                ),
                confirmed(
                    "With 500 playouts, UCT and MC are not useful in the opening.",
                    "τ-b before move 20: UCT +0.051 (+0.017 to +0.082), MC +0.001 (-0.032 to "
                    "+0.035)",
                ),
            ),
        ),
        Item(
            "figure 6: GNU Go by move number",
            _GO,
            "000-fig6",
            claims=(
                confirmed(
                    "GNU Go's curves split by move number.",
                    "lean before move 20: level 4 -0.075 (-0.089 to -0.061), level 0 -0.077 "
                    "(-0.091 to -0.064)",
                ),
            ),
        ),
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
            claims=(
                cannot_be_asked(
                    "Fuego's curves at ladders almost fit into one.",
                    "682 ladders run in our positions, so that the error is larger than the bound "
                    "of 0.05. MC splits by 0.15 to 0.18 at the same ladders (figure 8).",
                    "split +0.015 (-0.041 to +0.077) with 5,000 playouts, +0.031 (-0.029 to "
                    "+0.090) with 500",
                ),
            ),
        ),
        Item(
            "figure 8: UCT and MC at ladders",
            _GO,
            "000-fig8",
            claims=(
                confirmed(
                    "MC's curves split at ladders, in favor of the side that captures.",
                    "MC 50,000 0.182 ±0.075, MC 500 0.152 ±0.079",
                ),
                cannot_be_asked(
                    "UCT's curves split at ladders.",
                    "683 ladders run in our positions, 12,388 in the paper's; with chains in "
                    "atari counted in, UCT splits, too.",
                    "UCT 500 0.009 ±0.075, counted in 0.082 ±0.050",
                ),
                contradicted(
                    "The split is largest with few playouts.",
                    "MC 50,000 splits more than MC 5,000: -0.023 (-0.035 to -0.008)",
                    "MC does not search, so that more playouts do not read a ladder. PUCT, which "
                    "searches, splits less with more playouts.",
                    "000-fig7",
                    "+0.038 (+0.016 to +0.054)",
                ),
            ),
        ),
        Item("ko", ("core/features/go.cpp",), None, "`ko_forbidden`; its share on figure 9's page"),
        Item("figures 9 and 10: all programs at ko", _GO, "000-fig9"),
        Item(
            "figures 9 and 10 and section V-C, on all positions with a ko",
            ("experiments/go_kos.py",),
            "000-fig9-kos",
            claims=(
                confirmed(
                    "UCT, MC and MC-Score split at kos.",
                    "lean UCT 500 -0.061 (-0.101 to -0.020), MC 50,000 -0.044 (-0.084 to -0.004), "
                    "MC-Score 50,000 -0.091 (-0.132 to -0.051)",
                ),
                confirmed(
                    "GNU Go splits at kos, too: from move 30 on.", "-0.097 (-0.142 to -0.052)"
                ),
                confirmed(
                    "Fuego splits, but less.",
                    "with 500 playouts -0.038 (-0.067 to -0.009); from move 30 on -0.065 ±0.029, "
                    "UCT 500 -0.155 ±0.036",
                ),
                confirmed(
                    "ACC is higher at kos.",
                    "UCT 5,000 +0.112 (+0.076 to +0.152), GNU Go +0.129 (+0.094 to +0.167)",
                ),
                cannot_be_asked(
                    "Kos come late, which is why ACC is higher: with phases as in all positions, "
                    "it is not.",
                    "All 1,660 kos of the records are used. The error is larger than the bound of "
                    "0.05; GNU Go has a higher ACC with equal phases, too.",
                    "UCT 500 -0.009 (-0.059 to +0.041), MC 50,000 +0.060 (-0.014 to +0.135), GNU "
                    "Go +0.085 (+0.023 to +0.145)",
                ),
            ),
        ),
        Item(
            "figure 11: quiescence",
            _WEIGHTS,
            "000-fig11",
            "our evaluation in Crafty's place",
            claims=(
                confirmed(
                    "Without quiescence, the curve does not rise everywhere.",
                    "largest fall +0.166 (+0.108 to +0.224)",
                ),
                cannot_be_asked(
                    "With quiescence, the curve rises everywhere.",
                    "1,244,285 positions are here, 1,872,381 in the paper. With far bins merged, "
                    "a fall of 0.055 is not excluded; the bound is 0.05.",
                    "largest fall +0.025 (+0.000 to +0.055)",
                ),
            ),
        ),
        Item(
            "figure 12: draws",
            _WEIGHTS,
            "000-fig12",
            claims=(
                contradicted(
                    "Draws have little effect on the curve.",
                    "largest difference +0.094 (+0.088 to +0.099)",
                    "A draw counts half, which pulls the curve toward one half by the share of "
                    "draws.",
                    "000-fig12",
                    "38% of the positions are of drawn games: 0.424 from 0 to 100 centipawns, "
                    "0.230 from 200 to 300, where the curve is at 0.813 with draws and at 0.906 "
                    "without",
                ),
            ),
        ),
        Item(
            "figure 13: bishops",
            _WEIGHTS,
            "000-fig13",
            claims=(
                confirmed("Without the bishop evaluation, the curve splits by it.", "0.076 ±0.024"),
                confirmed(
                    "Adjusted by MLM or LS, it splits less.",
                    "less by +0.071 (+0.023 to +0.084) with MLM, +0.074 (+0.028 to +0.078) with LS",
                ),
            ),
        ),
        Item(
            "table III: chess self-play",
            _WEIGHTS,
            "000-table3",
            claims=(
                confirmed(
                    "The program adjusted by MLM beats the one without bishop evaluation.",
                    "473-404-123, +0.034 (+0.005 to +0.064)",
                ),
                cannot_be_asked(
                    "So does the program adjusted by LS.",
                    "Our bishop evaluation is worth less than Crafty's: the original beats the "
                    "program without it by 0.025 points a game here, by 0.100 in the paper. A "
                    "thousand games show 0.03.",
                    "+0.008 (-0.020 to +0.037)",
                ),
            ),
        ),
        Item(
            "table IV: bishops' weights",
            _WEIGHTS,
            "000-table4",
            claims=(
                cannot_be_asked(
                    "MLM and LS give the bishops more weight than Crafty.",
                    "The weights are relative to those of another program.",
                    "MLM 0.851 ±0.127, LS 0.791 ±0.126",
                ),
            ),
        ),
        Item("king unsafety in the ending, (5) and (6)", _TERMS, None, "`--as ending`"),
        Item(
            "figures 14 and 15: king unsafety",
            _WEIGHTS,
            "000-fig14",
            claims=(
                confirmed(
                    "The curve splits by the attackers of a king.", "0.182 (+0.109 to +0.242)"
                ),
                confirmed(
                    "Adjusted by MLM, it splits less by attackers.",
                    "less by +0.140 (+0.003 to +0.226)",
                ),
                cannot_be_asked(
                    "The same for the defenders of a king.",
                    "Programs' games show no split by defenders that could shrink; professionals' "
                    "games do (figure 16).",
                    "+0.005 (-0.060 to +0.070)",
                ),
            ),
        ),
        Item(
            "table V: shogi self-play",
            _WEIGHTS,
            "000-table5",
            claims=(
                confirmed(
                    "The program adjusted by MLM beats the original.",
                    "582-415-3, +0.084 (+0.053 to +0.113)",
                ),
                confirmed(
                    "So does the program adjusted by hand.", "607-391-2, +0.108 (+0.077 to +0.138)"
                ),
                cannot_be_asked(
                    "MLM and the adjustment by hand are equals.",
                    "Our hand-made weights are not theirs. The interval crosses the bound of 0.05.",
                    "+0.045 (+0.015 to +0.074)",
                ),
            ),
        ),
        Item(
            "table VI: king unsafety's weights",
            _WEIGHTS,
            "000-table6",
            claims=(
                cannot_be_asked(
                    "MLM and the adjustment by hand give similar weights.",
                    "The weights are of other terms in another program, and the hand-made ones "
                    "are not theirs.",
                    "attackers 548.8 ±76.17 by MLM, 90 by hand",
                ),
            ),
        ),
        Item(
            "figure 16: professionals' games",
            _WEIGHTS,
            "000-fig16",
            claims=(
                confirmed(
                    "The curve of professionals' games rises more gradually.",
                    "scale larger by +747.053 (+17.667 to +1476.439) centipawns",
                ),
                confirmed(
                    "It splits by king unsafety, too.",
                    "attackers +0.277 (+0.177 to +0.386), defenders +0.108 (+0.019 to +0.186)",
                ),
                confirmed(
                    "With weights from other games, it splits less.",
                    "less by +0.116 (+0.076 to +0.150) and +0.017 (+0.009 to +0.024)",
                ),
            ),
        ),
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
            claims=(
                cannot_be_asked(
                    "The players' ranks hardly change the curve.",
                    "The error of the widest bin is larger than the bound of 0.05; 1,508 "
                    "positions of strong players' games are here.",
                    "+0.046 (-0.077 to +0.169)",
                ),
                cannot_be_asked(
                    "The curves lie below y = x, probably since on KGS the stronger player has "
                    "White.",
                    "Our records are of OGS.",
                    "strong players 0.009 ±0.022 above y = x",
                ),
            ),
        ),
        Item(
            "figure 18: ranks at komi 0.5",
            (),
            None,
            "no records at komi 0.5 here",
            claims=(
                cannot_be_asked(
                    "The players' ranks hardly change the curve at komi 0.5.",
                    "No records at komi 0.5 are here.",
                ),
            ),
        ),
        Item(
            "figure 19: rules",
            ("experiments/go_ranks.py",),
            "000-fig19",
            claims=(
                cannot_be_asked(
                    "The rules hardly change the curve.",
                    "623 positions of games by Chinese rules are here: too few for bins of 0.05.",
                    "-0.040 (-0.176 to +0.096)",
                ),
            ),
        ),
        Item("section V-B: choosing δ", _CURVES, None, "bins from the data unless `--delta`"),
        Item("section V-B: equal phases", ("src/hyoka/study/sampling.py",), None, "`--balance`"),
        Item(
            "section V-C: ACC at ko",
            _GO,
            "000-section5c",
            claims=(
                confirmed(
                    "ACC is higher at kos.",
                    "UCT 50,000 +0.134 (+0.042 to +0.217), MC 5,000 +0.129 (+0.041 to +0.221)",
                ),
            ),
        ),
        Item("appendix: MLM and LS", _SIGMOID, None, "`hyoka learn weights --method mlm`, `ls`"),
    ),
)
