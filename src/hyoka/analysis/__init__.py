# SPDX-License-Identifier: Apache-2.0
"""What evaluations are worth: curves, metrics, splits and disagreements of samples of positions.

Pure functions of columns of numbers: `Sample` in, typed results out. Start with `sample`; `curves`,
`metrics` and `splits` are what people come for.
"""

from hyoka.analysis.binning import AdaptiveBins, Binning, FixedBins, open_bins
from hyoka.analysis.calibration import (
    CALIBRATION_HEADINGS,
    WIN_PROBABILITIES,
    Calibration,
    CalibrationRow,
    Logistic,
    PlainLogistic,
    WinDrawLoss,
    calibrate,
    calibration_texts,
    fit_logistic,
    fit_plain,
    fit_win_draw_loss,
    probabilities,
)
from hyoka.analysis.comparison import Comparison, Difference, compare, compare_measured
from hyoka.analysis.conditions import Condition, conditions, partition
from hyoka.analysis.confidence import Confidence, confidence
from hyoka.analysis.controls import Control, Explanation
from hyoka.analysis.coverage import MIN_GAMES, TOO_FEW, Coverage, CoveredGroup
from hyoka.analysis.curves import (
    Curve,
    CurvePoint,
    Curves,
    Monotonicity,
    about_curve,
    curve,
    value_text,
)
from hyoka.analysis.disagreement import Disagreement, Disputed, disagreement
from hyoka.analysis.gaps import (
    ConditionGap,
    Departure,
    Distance,
    Equals,
    Gaps,
    NamedGap,
    condition_gap,
    curve_distance,
    named_gap,
)
from hyoka.analysis.link import STRAIGHT, Link
from hyoka.analysis.metrics import (
    METRICS,
    Metric,
    Metrics,
    MetricsTable,
    measure,
    number_text,
)
from hyoka.analysis.resampling import NO_INTERVALS, Resampling, interval, mean_by_games
from hyoka.analysis.result import FORMATS, Result
from hyoka.analysis.sample import VALUE, DrawnGames, Sample, game_numbers
from hyoka.analysis.splits import Split, Splits, find_splits
from hyoka.analysis.wdl import Stages, WdlModel, fit_wdl_model
from hyoka.analysis.wdl_models import WdlModels

__all__ = [
    "CALIBRATION_HEADINGS",
    "FORMATS",
    "METRICS",
    "MIN_GAMES",
    "NO_INTERVALS",
    "STRAIGHT",
    "TOO_FEW",
    "VALUE",
    "WIN_PROBABILITIES",
    "AdaptiveBins",
    "Binning",
    "Calibration",
    "CalibrationRow",
    "Comparison",
    "Condition",
    "ConditionGap",
    "Confidence",
    "Control",
    "Coverage",
    "CoveredGroup",
    "Curve",
    "CurvePoint",
    "Curves",
    "Departure",
    "Difference",
    "Disagreement",
    "Disputed",
    "Distance",
    "DrawnGames",
    "Equals",
    "Explanation",
    "FixedBins",
    "Gaps",
    "Link",
    "Logistic",
    "Metric",
    "Metrics",
    "MetricsTable",
    "Monotonicity",
    "NamedGap",
    "PlainLogistic",
    "Resampling",
    "Result",
    "Sample",
    "Split",
    "Splits",
    "Stages",
    "WdlModel",
    "WdlModels",
    "WinDrawLoss",
    "about_curve",
    "calibrate",
    "calibration_texts",
    "compare",
    "compare_measured",
    "condition_gap",
    "conditions",
    "confidence",
    "curve",
    "curve_distance",
    "disagreement",
    "find_splits",
    "fit_logistic",
    "fit_plain",
    "fit_wdl_model",
    "fit_win_draw_loss",
    "game_numbers",
    "interval",
    "mean_by_games",
    "measure",
    "named_gap",
    "number_text",
    "open_bins",
    "partition",
    "probabilities",
    "value_text",
]
