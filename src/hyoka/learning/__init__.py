# SPDX-License-Identifier: Apache-2.0
"""Learning of evaluations, move models and networks from games."""

from hyoka.learning.examples import (
    SHAPES,
    Examples,
    PositionSelection,
    Shape,
    Weight,
    chosen_terms,
    column_examples,
    term_examples,
)
from hyoka.learning.feature_tables import FeatureTable, TableColumns, feature_table
from hyoka.learning.sigmoid import METHODS, Method, SigmoidFit, fit_sigmoid
from hyoka.learning.tuner import TunedFeature, TunedWeights, TuningPlan, read_weights, tune_weights
from hyoka.learning.weights import (
    FittedWeight,
    GapChange,
    HeldOut,
    WeightFit,
    fit_weights,
    held_out_rows,
    is_held_out,
)

__all__ = [
    "METHODS",
    "SHAPES",
    "Examples",
    "FeatureTable",
    "FittedWeight",
    "GapChange",
    "HeldOut",
    "Method",
    "PositionSelection",
    "Shape",
    "SigmoidFit",
    "TableColumns",
    "TunedFeature",
    "TunedWeights",
    "TuningPlan",
    "Weight",
    "WeightFit",
    "chosen_terms",
    "column_examples",
    "feature_table",
    "fit_sigmoid",
    "fit_weights",
    "held_out_rows",
    "is_held_out",
    "read_weights",
    "term_examples",
    "tune_weights",
]
