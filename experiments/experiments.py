# SPDX-License-Identifier: Apache-2.0
"""All experiments by name."""

from typing import Final

from experiments import (
    go_analyses,
    metric_strength,
    nakamura_2007,
    nakamura_2007_network,
    sato_2010,
    sato_2013,
    strength,
    weight_records,
    yoshii_1998,
    yoshii_1998_player,
)
from experiments.context import Experiment
from experiments.go_kos import KoExperiment
from experiments.go_programs import (
    FUEGO,
    FUEGO_SCALES,
    MC_SCORE,
    OURS,
    POSITIONS_SCALES,
    SCALES,
    SCORE_UNDIVIDED,
    UNDIVIDED,
    UNDIVIDED_SCALES,
    GoExperiment,
)
from experiments.go_ranks import RANKS, RULES, RanksExperiment
from experiments.go_ranks import SCALES as RANKS_SCALES
from experiments.gps_shogi import Amount, GpsExperiment
from experiments.takeuchi_2010 import BISHOP_FACTORS, CHESS_MATCHES, KING_WEIGHTS, SHOGI_MATCHES
from experiments.weight_records import Adjusted, RecordsScale, WeightExperiment
from hyoka.foundation.errors import NotationError, nearest

_MONTE_CARLO: Final = ("UCT", "MC")
_ALL: Final = (OURS, "GNU Go", *_MONTE_CARLO, MC_SCORE, UNDIVIDED)
_GO_NOTES: Final = (
    "Records: OGS 9×9, both players 3k or better as in the paper, but komi 5.5 to 7.5, not 0.5; "
    "three fifths by Japanese rules, while the programs count area. PUCT, with rated moves and "
    "light playouts, is ours and stands where the paper has Fuego; GNU Go is 3.8, not 3.7.12. UCT "
    "explores as libego does (by √(ln n / n_i) on values from -1 to 1, moves joining a leaf after "
    "100 visits): a reading chosen after formula (1) had been seen to do worse than MC. MC and "
    "MC-Score divide the playouts by the number of legal moves, as the text says; undivided MC has "
    "all of them."
)
_LADDER_NOTES: Final = (
    "A ladder that runs: a chain with two liberties gets back to two out of the first atari and is "
    "driven on to its end by the side to move. The paper's ladders are 11 % of its positions. "
    "Level: how much more often Black won than the curve of all says at the same value; the split "
    "is the one gap less the other. By the paper Black wins more where White's stones are in "
    "danger, and the split shrinks with more playouts."
)
_FUEGO_NOTES: Final = (
    "Fuego is built from its public source and found on the PATH as `fuego`; the page is of "
    "version 0.4.1, as in the paper. It searches at every move (no book, no forced opening moves) "
    "and plays no early pass, so that the value is that of the position: the mean of all playouts "
    "(`uct_value_black`); the paper takes the best move's. Records: OGS 9×9, both players 3k or "
    "better as in the paper, but komi 5.5 to 7.5, not 0.5."
)
_IMPLIED_NOTES: Final = (
    "Least E(v) on y = x: 3 p (1 - p) (2 ROC - 1)², with Black's share p of wins; no distribution "
    "of values on y = x has less. Slope in the middle: if the values of wins and of losses are "
    "normal with one variance; 1 on y = x, per point for scores. "
)
_RANKS_NOTES: Final = (
    "One curve: within 0.05 in every bin of 0.05 that has 100 positions of either, intervals for "
    "all bins together. The paper's curves lie below y = x, probably since the stronger player has "
    "White on KGS."
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
    absent=(
        "king_attackers_3",
        "king_attackers_4",
        "king_attackers_5",
        "king_zone_open",
        "king_zone_guarded",
        "king_exits",
    ),
    winners_by_mate=True,
)
_LENGTH: Final = (
    "The small scale's thousand games were planned, cut to 400 for want of time, and then played "
    "to their end after the 400 had been seen. "
)
_CHESS_SCALES: Final = {
    "tiny": RecordsScale(4, 2, 30, every=20),
    "small": RecordsScale(10, 1_000, 2_000),
    "medium": RecordsScale(20, 4_000, 2_000),
    "paper": RecordsScale(None, 1_000, 200_000),
}
_SHOGI_SCALES: Final = {
    "tiny": RecordsScale(4, 2, 30, every=1_000, every_other=20),
    "small": RecordsScale(16, 1_000, 2_000, every=8),
    "medium": RecordsScale(10, 4_000, 2_000),
    "paper": RecordsScale(None, 1_000, 200_000),
}
_CHESS_NOTES: Final = (
    "Our alpha-beta's evaluation stands where the paper has Crafty's, TWIC's games of players "
    "rated 2200 or more where it has correspondence games. Slices are of games that the weights "
    "were not fitted to; a position is where a quiescence search comes to rest."
)
_SHOGI_NOTES: Final = (
    "Our alpha-beta stands where the paper has GPS Shogi, programs' games on floodgate where it "
    "has people's (every eighth at the small scale). A record goes to the side that could mate "
    "first by a search of 10,000 nodes, as in the paper. `off` is their original: of what we say "
    "of kings only their places and those of the other pieces beside them stay, as in the paper's "
    "ending; attackers, defenders, and the open, guarded and free squares around a king are off, "
    "and all but the first two stay so throughout. `hand` has our built-in weights of these two "
    "(in splits those of the ending alone). Our terms count attackers around the other king and "
    "defenders of the own king as good."
)

_TAKEUCHI_2010: Final[tuple[Experiment, ...]] = (
    GoExperiment(
        "000-fig2",
        "Go: the curves of all programs at all sizes (figures 2 and 3)",
        go_analyses.all_curves,
        _ALL,
        SCALES,
        "Bins of 0.05, and of five points for scores, with 100 positions at least; intervals "
        "are for all bins together. Near y = x: within 0.05 of it in every bin but the "
        "outermost, as the paper looks away from values below 0.05 and above 0.95. " + _GO_NOTES,
    ),
    GoExperiment(
        "000-table1",
        "Go: metrics of programs on people's 9×9 games",
        go_analyses.table_1,
        _ALL,
        SCALES,
        f"{_GO_NOTES} Their LFT can be neither the formula they give nor the usual lift; ours "
        "is the standard lift.",
    ),
    GoExperiment(
        "000-table2",
        "Go: Kendall's τ and the expected value of values",
        go_analyses.table_2,
        _ALL,
        SCALES,
        _GO_NOTES,
    ),
    GoExperiment(
        "000-fig4",
        "Go: the strongest program's curves by move number",
        go_analyses.by_move_number,
        (OURS,),
        SCALES,
        _GO_NOTES,
    ),
    GoExperiment(
        "000-fig5",
        "Go: curves of UCT and MC by move number",
        go_analyses.by_move_number,
        _MONTE_CARLO,
        SCALES,
        _GO_NOTES,
    ),
    GoExperiment(
        "000-fig6",
        "Go: curves of GNU Go by move number",
        go_analyses.by_move_number,
        ("GNU Go",),
        SCALES,
        _GO_NOTES,
    ),
    GoExperiment(
        "000-fig7",
        "Go: the strongest program at ladders",
        go_analyses.at_ladders,
        (OURS,),
        SCALES,
        _LADDER_NOTES,
    ),
    GoExperiment(
        "000-fig8",
        "Go: UCT and MC at ladders",
        go_analyses.at_ladders,
        _MONTE_CARLO,
        SCALES,
        _LADDER_NOTES,
    ),
    GoExperiment(
        "000-fig9",
        "Go: programs at ko",
        go_analyses.at_ko,
        _ALL,
        SCALES,
        "Ko: the side to move may not retake one, 2.0 % of positions as in the paper. Level: "
        "Black won more often than the curve of all says; lean: the side that is ahead by the "
        "curve did. Kos come late, where some programs are too cautious anyway: so the same "
        "among late positions only. The paper's figure 10 (MC-Score, GNU Go) is here, too.",
    ),
    GoExperiment(
        "000-section5c",
        "Go: accuracy at ko positions beside all (section V-C)",
        go_analyses.accuracy_at_ko,
        _ALL,
        SCALES,
        "The paper finds ACC higher at ko, against what is known of tactics, and explains it "
        "by kos coming late. With phases as in all, each tenth of the move numbers counts as "
        "much among the positions with a ko as among all.",
    ),
    GoExperiment(
        "000-fig2-fuego",
        "Go: Fuego's curves (figure 2), with its rows of tables I and II",
        go_analyses.curves_and_tables,
        (FUEGO,),
        FUEGO_SCALES,
        _IMPLIED_NOTES + _FUEGO_NOTES,
    ),
    GoExperiment(
        "000-fig4-fuego",
        "Go: Fuego by move number (figure 4)",
        go_analyses.by_move_number,
        (FUEGO,),
        FUEGO_SCALES,
        _FUEGO_NOTES,
    ),
    GoExperiment(
        "000-fig7-fuego",
        "Go: Fuego at ladders (figure 7)",
        go_analyses.at_ladders,
        (FUEGO,),
        FUEGO_SCALES,
        f"{_LADDER_NOTES} {_FUEGO_NOTES}",
    ),
    GoExperiment(
        "000-fig3-undivided",
        "Go: MC and MC-Score with divided and with undivided playouts (figures 2c and 3)",
        go_analyses.curves_and_tables,
        ("MC", MC_SCORE, UNDIVIDED, SCORE_UNDIVIDED),
        UNDIVIDED_SCALES,
        "The paper divides the playouts of MC, and so of MC-Score, by the number of legal moves; "
        "its MC-Score has one curve at all numbers of playouts. Undivided: all playouts are of "
        "the position. " + _IMPLIED_NOTES + _GO_NOTES,
    ),
    GoExperiment(
        "000-table1-positions",
        "Go: tables I and II on more positions of each game",
        go_analyses.both_tables,
        _ALL,
        POSITIONS_SCALES,
        "Of each game 20 positions (10 at the small scale), by programs that are quick enough. "
        + _IMPLIED_NOTES
        + _GO_NOTES,
    ),
    KoExperiment(
        "000-fig9-kos",
        "Go: programs at all positions with a ko (figures 9 and 10, section V-C)",
        notes="All positions where the side to move may not retake a ko, and one position of each "
        "game for the curve of all; weights give kos their share of all positions. Level: Black "
        "won more often than the curve of all says; lean: the side that is ahead by the curve "
        "did. Phases: as in 000-section5c. " + _FUEGO_NOTES,
    ),
    RanksExperiment(
        "000-fig17",
        "Go: curves of the strongest program on games of strong and of weak players (figures "
        "17 and 18, table VII)",
        RANKS,
        RANKS_SCALES,
        "OGS has few games of players between 9k and 11k, and none at komi 0.5: figure "
        "18 is out of reach, and weak players are 15k to 20k here. " + _RANKS_NOTES,
    ),
    RanksExperiment(
        "000-fig19",
        "Go: curves of the strongest program by rules (figure 19)",
        RULES,
        RANKS_SCALES,
        "Both players 6k or better, komi 5.5 to 7.5. " + _RANKS_NOTES,
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
        "A draw moves the curve toward 0.5: left out minus half is d (p - 1/2), with the share d "
        "of draws and the share p of wins among decided games. Draws would have little effect "
        "(0.05) at p = 0.9 only if d were below 1/8. " + _CHESS_NOTES,
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
        "The paper gave ten minutes a game. " + _LENGTH + _CHESS_NOTES,
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
        "The paper gave ten minutes a game. " + _LENGTH + _SHOGI_NOTES,
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
    GpsExperiment(
        "000-fig14-gps",
        "Shogi: GPS Shogi itself where one king is less safe (figures 14 and 16)",
        ("shogi/floodgate2016.csa.xz",),
        ("shogi/pro_title.csa.xz", "shogi/pro_psn.csa.xz"),
        {
            "tiny": Amount(every=1_000, sample=2, depth=1, every_professional=20),
            "small": Amount(every=40, sample=10, depth=1),
            "medium": Amount(every=4, sample=10, depth=1),
            "paper": Amount(every=1, sample=10, depth=1),
        },
        "Debian's GPS Shogi (gpsusi) is a later revision than the paper's, whose evaluation was "
        "learned from professionals' games since. At depth 1 it plays each move and looks at "
        "captures; the paper takes its evaluation unchanged. Large: the one king has two attackers "
        "more around it, or two defenders fewer, than the other. The paper's original splits.",
    ),
)
EXPERIMENTS: Final[dict[str, Experiment]] = {
    experiment.id: experiment
    for experiment in (
        *_TAKEUCHI_2010,
        *yoshii_1998.EXPERIMENTS,
        *yoshii_1998_player.EXPERIMENTS,
        *nakamura_2007.EXPERIMENTS,
        *nakamura_2007_network.EXPERIMENTS,
        *sato_2010.EXPERIMENTS,
        *sato_2013.EXPERIMENTS,
        *strength.EXPERIMENTS,
        *metric_strength.EXPERIMENTS,
    )
}


def experiment_named(name: str) -> Experiment:
    """Find an experiment by name; an error suggests the nearest name.

    >>> experiment_named("003-table1").title
    "Blokus Duo: UCT against alpha-beta with Bouzy's 4/0"
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    hint = nearest(name, EXPERIMENTS) or f"there are {', '.join(EXPERIMENTS)}"
    raise NotationError(f"no experiment '{name}'; {hint}")
