# SPDX-License-Identifier: Apache-2.0
"""Learning from the games of a study: the weights of an evaluation."""

from hyoka.learning.columns import column_examples
from hyoka.learning.examples import Examples, Weight
from hyoka.learning.feature_reading import TableColumns, feature_table
from hyoka.learning.feature_tables import FeatureTable
from hyoka.learning.gaps import GapChange
from hyoka.learning.sigmoid import METHODS, Method, SigmoidFit, fit_sigmoid
from hyoka.learning.terms import SHAPES, Shape, chosen_terms, term_examples
from hyoka.learning.tuned import TunedFeature, TunedWeights, read_weights
from hyoka.learning.tuning import tune_weights
from hyoka.learning.tuning_plan import TuningPlan
from hyoka.learning.weights import (
    FittedWeight,
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
