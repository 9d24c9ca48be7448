# SPDX-License-Identifier: Apache-2.0
"""Searches by spec: Monte Carlo, UCT, alpha-beta, mate and endgame solvers."""

from hyoka.games.lines import as_line
from hyoka.models.book import Book
from hyoka.models.linear import (
    LinearEvaluation,
    MoveStrengths,
    has_features,
    has_terms,
    linear_evaluation,
    move_strengths,
)
from hyoka.models.loading import static_evaluation
from hyoka.models.model import StaticEvaluation
from hyoka.models.networks import Convolution, Network
from hyoka.models.ply_perceptrons import PlyPerceptrons
from hyoka.models.python_evaluator import PythonEvaluator
from hyoka.models.sparse import SparseEvaluation, feature_sets
from hyoka.search.difficulty import Difficulty, measure_difficulty
from hyoka.search.search_result import MoveStats, SearchLimits, SearchResult
from hyoka.search.searcher import Searcher, play_game, search_line, search_once
from hyoka.search.settings import KINDS, Setting
from hyoka.search.solvers import EXACT_METHODS, Ending, Mate, find_mate, solve_ending
from hyoka.search.spec import SearchSpec, ab, mc, mc_score, uct
from hyoka.search.tree_view import SearchTree, TreeNode, TreeStep, search_tree

__all__ = [
    "EXACT_METHODS",
    "KINDS",
    "Book",
    "Convolution",
    "Difficulty",
    "Ending",
    "LinearEvaluation",
    "Mate",
    "MoveStats",
    "MoveStrengths",
    "Network",
    "PlyPerceptrons",
    "PythonEvaluator",
    "SearchLimits",
    "SearchResult",
    "SearchSpec",
    "SearchTree",
    "Searcher",
    "Setting",
    "SparseEvaluation",
    "StaticEvaluation",
    "TreeNode",
    "TreeStep",
    "ab",
    "as_line",
    "feature_sets",
    "find_mate",
    "has_features",
    "has_terms",
    "linear_evaluation",
    "mc",
    "mc_score",
    "measure_difficulty",
    "move_strengths",
    "play_game",
    "search_line",
    "search_once",
    "search_tree",
    "solve_ending",
    "static_evaluation",
    "uct",
]
