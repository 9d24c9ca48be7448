# SPDX-License-Identifier: Apache-2.0
"""Learned models that searches use: evaluations, move models and opening books."""

from hyoka.models.book import Book as Book
from hyoka.models.bundled import bundled_model_file as bundled_model_file
from hyoka.models.calibration_model import CalibrationModel as CalibrationModel
from hyoka.models.linear import LinearEvaluation as LinearEvaluation
from hyoka.models.linear import MoveStrengths as MoveStrengths
from hyoka.models.linear import linear_evaluation as linear_evaluation
from hyoka.models.linear import move_strengths as move_strengths
from hyoka.models.loading import static_evaluation as static_evaluation
from hyoka.models.model import StaticEvaluation as StaticEvaluation
from hyoka.models.networks import Convolution as Convolution
from hyoka.models.networks import Network as Network
from hyoka.models.ply_perceptrons import PlyPerceptrons as PlyPerceptrons
from hyoka.models.python_evaluator import PythonEvaluator as PythonEvaluator
from hyoka.models.sparse import SparseEvaluation as SparseEvaluation
from hyoka.models.sparse import feature_sets as feature_sets
from hyoka.storage.model_file import ModelFile as ModelFile
from hyoka.storage.model_file import Origin as Origin
from hyoka.storage.model_file import read_model_file as read_model_file
