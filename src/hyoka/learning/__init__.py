# SPDX-License-Identifier: Apache-2.0
"""Learning of evaluations, move models and networks from games."""

from hyoka.learning.examples import SHAPES as SHAPES
from hyoka.learning.examples import Examples as Examples
from hyoka.learning.examples import PositionSelection as PositionSelection
from hyoka.learning.examples import Shape as Shape
from hyoka.learning.examples import Weight as Weight
from hyoka.learning.examples import chosen_terms as chosen_terms
from hyoka.learning.examples import column_examples as column_examples
from hyoka.learning.examples import term_examples as term_examples
from hyoka.learning.feature_tables import FeatureTable as FeatureTable
from hyoka.learning.feature_tables import TableColumns as TableColumns
from hyoka.learning.feature_tables import feature_table as feature_table
from hyoka.learning.sigmoid import METHODS as METHODS
from hyoka.learning.sigmoid import Method as Method
from hyoka.learning.sigmoid import SigmoidFit as SigmoidFit
from hyoka.learning.sigmoid import fit_sigmoid as fit_sigmoid
from hyoka.learning.tuner import TunedFeature as TunedFeature
from hyoka.learning.tuner import TunedWeights as TunedWeights
from hyoka.learning.tuner import TuningPlan as TuningPlan
from hyoka.learning.tuner import read_weights as read_weights
from hyoka.learning.tuner import tune_weights as tune_weights
from hyoka.learning.weights import FittedWeight as FittedWeight
from hyoka.learning.weights import GapChange as GapChange
from hyoka.learning.weights import HeldOut as HeldOut
from hyoka.learning.weights import WeightFit as WeightFit
from hyoka.learning.weights import fit_weights as fit_weights
from hyoka.learning.weights import held_out_rows as held_out_rows
from hyoka.learning.weights import is_held_out as is_held_out
