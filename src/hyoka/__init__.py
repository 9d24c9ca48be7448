# SPDX-License-Identifier: Apache-2.0
"""Hyoka (評価, "evaluation"): a laboratory for game-tree search on game records.

>>> import hyoka as hk
>>> game = hk.Chess().play("e4").play("c5")
>>> game.to_play
Player.first
>>> hk.playouts(hk.Go9(komi=6.5), 1000, seed=1).value > 0.3
True

Public names are loaded on first access (PEP 562).
"""

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hyoka._core import BlokusDuo as BlokusDuo
    from hyoka._core import Chess as Chess
    from hyoka._core import Go3 as Go3
    from hyoka._core import Go4 as Go4
    from hyoka._core import Go5 as Go5
    from hyoka._core import Go6 as Go6
    from hyoka._core import Go7 as Go7
    from hyoka._core import Go9 as Go9
    from hyoka._core import Go13 as Go13
    from hyoka._core import Go19 as Go19
    from hyoka._core import Othello as Othello
    from hyoka._core import Outcome as Outcome
    from hyoka._core import Player as Player
    from hyoka._core import Reason as Reason
    from hyoka._core import Shogi as Shogi
    from hyoka.agents import ImportedEvaluations as ImportedEvaluations
    from hyoka.analysis import AdaptiveBins as AdaptiveBins
    from hyoka.analysis import FixedBins as FixedBins
    from hyoka.analysis import Resampling as Resampling
    from hyoka.analysis import Sample as Sample
    from hyoka.analysis import compare as compare
    from hyoka.analysis import condition_gap as condition_gap
    from hyoka.analysis import curve as curve
    from hyoka.analysis import disagreement as disagreement
    from hyoka.analysis import find_slices as find_slices
    from hyoka.analysis import fit_logistic as fit_logistic
    from hyoka.analysis import fit_wdl_model as fit_wdl_model
    from hyoka.analysis import fit_win_draw_loss as fit_win_draw_loss
    from hyoka.analysis import measure as measure
    from hyoka.arena import MatchPlan as MatchPlan
    from hyoka.arena import MatchResult as MatchResult
    from hyoka.arena import PlayedGame as PlayedGame
    from hyoka.arena import Score as Score
    from hyoka.arena import Sprt as Sprt
    from hyoka.arena import match_ratings as match_ratings
    from hyoka.arena import open_match as open_match
    from hyoka.arena import plan_match as plan_match
    from hyoka.arena import play_match as play_match
    from hyoka.arena import rate_players as rate_players
    from hyoka.arena.elo import elo as elo
    from hyoka.engines import EnginePosition as EnginePosition
    from hyoka.engines import EngineSession as EngineSession
    from hyoka.engines import EngineSpec as EngineSpec
    from hyoka.engines import Limits as Limits
    from hyoka.engines import check_engine as check_engine
    from hyoka.foundation.errors import ConditionError as ConditionError
    from hyoka.foundation.errors import EngineError as EngineError
    from hyoka.foundation.errors import Error as Error
    from hyoka.foundation.errors import IllegalMoveError as IllegalMoveError
    from hyoka.foundation.errors import NotationError as NotationError
    from hyoka.foundation.errors import OutOfMemoryError as OutOfMemoryError
    from hyoka.foundation.errors import OutputError as OutputError
    from hyoka.foundation.errors import ParallelError as ParallelError
    from hyoka.foundation.errors import ParameterError as ParameterError
    from hyoka.foundation.errors import RefusedError as RefusedError
    from hyoka.foundation.errors import SourceError as SourceError
    from hyoka.foundation.errors import StudyError as StudyError
    from hyoka.foundation.figure import Figure as Figure
    from hyoka.foundation.math import Estimate as Estimate
    from hyoka.foundation.progress import Progress as Progress
    from hyoka.games import GAMES as GAMES
    from hyoka.games import AnyGame as AnyGame
    from hyoka.games import Game as Game
    from hyoka.games import GameFacts as GameFacts
    from hyoka.games import Line as Line
    from hyoka.games import Move as Move
    from hyoka.games import Position as Position
    from hyoka.games import PythonLine as PythonLine
    from hyoka.games import game_facts as game_facts
    from hyoka.games import game_type as game_type
    from hyoka.games import name_of as name_of
    from hyoka.games import position as position
    from hyoka.games import register_game as register_game
    from hyoka.games.diagram import Diagram as Diagram
    from hyoka.games.diagram import diagram as diagram
    from hyoka.games.diagram import svg as svg
    from hyoka.games.diagram import terminal as terminal
    from hyoka.games.evaluation import Evaluation as Evaluation
    from hyoka.learning import FeatureTable as FeatureTable
    from hyoka.learning import TableColumns as TableColumns
    from hyoka.learning import TunedWeights as TunedWeights
    from hyoka.learning import TuningPlan as TuningPlan
    from hyoka.learning import WeightFit as WeightFit
    from hyoka.learning import column_examples as column_examples
    from hyoka.learning import feature_table as feature_table
    from hyoka.learning import fit_weights as fit_weights
    from hyoka.learning import term_examples as term_examples
    from hyoka.learning import tune_weights as tune_weights
    from hyoka.learning.comparison_training import Lessons as Lessons
    from hyoka.learning.comparison_training import Training as Training
    from hyoka.learning.comparison_training import TrainingSettings as TrainingSettings
    from hyoka.learning.comparison_training import learn_comparison as learn_comparison
    from hyoka.learning.objectives import Combination as Combination
    from hyoka.learning.objectives import Comparison as Comparison
    from hyoka.learning.objectives import Parameterized as Parameterized
    from hyoka.learning.objectives import objective_from as objective_from
    from hyoka.learning.perceptrons import LabeledPositions as LabeledPositions
    from hyoka.learning.perceptrons import PerceptronSettings as PerceptronSettings
    from hyoka.learning.perceptrons import learn_perceptrons as learn_perceptrons
    from hyoka.models.bundled import bundled_model_file as bundled_model_file
    from hyoka.parallel import cluster as cluster
    from hyoka.records import Record as Record
    from hyoka.records import RecordStream as RecordStream
    from hyoka.records import Refused as Refused
    from hyoka.records import Remark as Remark
    from hyoka.records import parse_records as parse_records
    from hyoka.records import read_record as read_record
    from hyoka.records import read_records as read_records
    from hyoka.records import record_text as record_text
    from hyoka.records import write_records as write_records
    from hyoka.records.bulk import GameTable as GameTable
    from hyoka.records.problems import Problem as Problem
    from hyoka.records.problems import ProblemSet as ProblemSet
    from hyoka.records.problems import read_problems as read_problems
    from hyoka.reporting.match_report import write_match_report as write_match_report
    from hyoka.reporting.search_tree import write_tree as write_tree
    from hyoka.reporting.study_report import write_report as write_report
    from hyoka.search import Book as Book
    from hyoka.search import Convolution as Convolution
    from hyoka.search import Ending as Ending
    from hyoka.search import LinearEvaluation as LinearEvaluation
    from hyoka.search import Mate as Mate
    from hyoka.search import MoveReport as MoveReport
    from hyoka.search import Network as Network
    from hyoka.search import PlyPerceptrons as PlyPerceptrons
    from hyoka.search import PythonEvaluator as PythonEvaluator
    from hyoka.search import Searcher as Searcher
    from hyoka.search import SearchLimits as SearchLimits
    from hyoka.search import SearchResult as SearchResult
    from hyoka.search import SearchSpec as SearchSpec
    from hyoka.search import SearchTree as SearchTree
    from hyoka.search import SparseEvaluation as SparseEvaluation
    from hyoka.search import TreeNode as TreeNode
    from hyoka.search import TreeStep as TreeStep
    from hyoka.search import ab as ab
    from hyoka.search import feature_sets as feature_sets
    from hyoka.search import find_mate as find_mate
    from hyoka.search import linear_evaluation as linear_evaluation
    from hyoka.search import mc as mc
    from hyoka.search import mc_score as mc_score
    from hyoka.search import move_strengths as move_strengths
    from hyoka.search import play_game as play_game
    from hyoka.search import search_line as search_line
    from hyoka.search import search_once as search_once
    from hyoka.search import search_tree as search_tree
    from hyoka.search import solve_ending as solve_ending
    from hyoka.search import static_evaluation as static_evaluation
    from hyoka.search import strengths_model_file as strengths_model_file
    from hyoka.search import uct as uct
    from hyoka.search.difficulty import Difficulty as Difficulty
    from hyoka.search.difficulty import difficulty as difficulty
    from hyoka.search.playouts import Playouts as Playouts
    from hyoka.search.playouts import playouts as playouts
    from hyoka.storage.model_file import ModelFile as ModelFile
    from hyoka.storage.model_file import Origin as Origin
    from hyoka.storage.model_file import read_model_file as read_model_file
    from hyoka.study import ColumnReport as ColumnReport
    from hyoka.study import Question as Question
    from hyoka.study import Study as Study
    from hyoka.study import append_to_study as append_to_study
    from hyoka.study import make_study as make_study
    from hyoka.study.derived_columns import categorize as categorize
    from hyoka.study.evaluating import evaluate as evaluate
    from hyoka.study.evaluating import line_sample as line_sample
    from hyoka.study.exact_results import adjudicate as adjudicate
    from hyoka.study.exact_results import adjudicate_records as adjudicate_records
    from hyoka.study.exporting import ExportReport as ExportReport
    from hyoka.study.exporting import export_positions as export_positions
    from hyoka.study.verify import check_study as check_study
    from hyoka.workflows.improve import Improvement as Improvement
    from hyoka.workflows.improve import improve as improve

__version__ = "0.1.0"


def _has_x86_64_v3() -> bool:
    """Whether the processor has AVX2, BMI and FMA; False if the system does not say."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        return False
    return {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}.issubset(flags)


# Wheels hold the core a second time, for newer processors (CMakeLists.txt).
_V3_FOLDER: Final = os.path.join(__path__[0], "_v3")
if os.path.isdir(_V3_FOLDER) and _has_x86_64_v3():
    __path__.insert(0, _V3_FOLDER)

_PUBLIC_NAMES: Final = {
    "hyoka._core": (
        "BlokusDuo Chess Go3 Go4 Go5 Go6 Go7 Go9 Go13 Go19 Othello Outcome Player Reason Shogi"
    ),
    "hyoka.analysis": (
        "AdaptiveBins FixedBins Resampling Sample compare condition_gap curve disagreement "
        "find_slices fit_logistic fit_wdl_model fit_win_draw_loss measure"
    ),
    "hyoka.arena": (
        "MatchPlan MatchResult PlayedGame Score Sprt match_ratings open_match plan_match "
        "play_match rate_players"
    ),
    "hyoka.arena.elo": "elo",
    "hyoka.engines": "EnginePosition EngineSession EngineSpec Limits check_engine",
    "hyoka.foundation.errors": (
        "ConditionError EngineError Error IllegalMoveError NotationError OutOfMemoryError "
        "OutputError ParallelError ParameterError RefusedError SourceError StudyError"
    ),
    "hyoka.foundation.figure": "Figure",
    "hyoka.foundation.math": "Estimate",
    "hyoka.foundation.progress": "Progress",
    "hyoka.games": (
        "GAMES AnyGame Game GameFacts Line Move Position PythonLine game_facts game_type "
        "name_of position register_game"
    ),
    "hyoka.games.diagram": "Diagram diagram svg terminal",
    "hyoka.games.evaluation": "Evaluation",
    "hyoka.learning": (
        "FeatureTable TableColumns TunedWeights TuningPlan WeightFit column_examples "
        "feature_table fit_weights term_examples tune_weights"
    ),
    "hyoka.learning.comparison_training": "Lessons Training TrainingSettings learn_comparison",
    "hyoka.learning.objectives": "Combination Comparison Parameterized objective_from",
    "hyoka.learning.perceptrons": "LabeledPositions PerceptronSettings learn_perceptrons",
    "hyoka.models.bundled": "bundled_model_file",
    "hyoka.parallel": "cluster",
    "hyoka.records": (
        "Record RecordStream Refused Remark parse_records read_record read_records record_text "
        "write_records"
    ),
    "hyoka.records.bulk": "GameTable",
    "hyoka.records.problems": "Problem ProblemSet read_problems",
    "hyoka.reporting.match_report": "write_match_report",
    "hyoka.reporting.search_tree": "write_tree",
    "hyoka.reporting.study_report": "write_report",
    "hyoka.search": (
        "Book Convolution Ending LinearEvaluation Mate MoveReport Network PlyPerceptrons "
        "PythonEvaluator Searcher SearchLimits SearchResult SearchSpec SearchTree "
        "SparseEvaluation TreeNode TreeStep ab feature_sets find_mate "
        "linear_evaluation mc mc_score move_strengths play_game search_line search_once "
        "search_tree solve_ending static_evaluation strengths_model_file uct"
    ),
    "hyoka.search.difficulty": "Difficulty difficulty",
    "hyoka.search.playouts": "Playouts playouts",
    "hyoka.storage.model_file": "ModelFile Origin read_model_file",
    "hyoka.study": "ColumnReport Question Study append_to_study make_study",
    "hyoka.study.derived_columns": "categorize",
    "hyoka.study.evaluating": "evaluate line_sample",
    "hyoka.study.exact_results": "adjudicate adjudicate_records",
    "hyoka.study.exporting": "ExportReport export_positions",
    "hyoka.agents": "ImportedEvaluations",
    "hyoka.study.verify": "check_study",
    "hyoka.workflows.improve": "Improvement improve",
}
"""Public names by module, separated by spaces; they agree with the imports above."""

_MODULE_OF: Final = {
    name: module for module, names in _PUBLIC_NAMES.items() for name in names.split()
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - a list

    def __getattr__(name: str) -> object:
        if module := _MODULE_OF.get(name):
            return globals().setdefault(name, getattr(importlib.import_module(module), name))
        if not name.startswith("_") and importlib.util.find_spec(f"hyoka.{name}"):
            return importlib.import_module(f"hyoka.{name}")
        raise AttributeError(f"module 'hyoka' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULE_OF})
