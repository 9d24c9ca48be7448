# SPDX-License-Identifier: Apache-2.0
"""The searches: Monte Carlo, UCT, alpha-beta, mates and endings, all named by one kind of text."""

from hyoka.search.book import Book
from hyoka.search.convolutions import Convolution, convolution
from hyoka.search.difficulty import Difficulty, difficulty
from hyoka.search.evaluations import (
    LinearEvaluation,
    has_features,
    has_terms,
    linear_evaluation,
    move_strengths,
    strengths_artefact,
)
from hyoka.search.line_sample import line_sample
from hyoka.search.lines import as_line
from hyoka.search.networks import Network, network
from hyoka.search.playing import play_game, search_line, search_once
from hyoka.search.ply_perceptrons import PlyPerceptrons
from hyoka.search.python_evaluator import PythonEvaluator
from hyoka.search.result import MoveReport, SearchLimits, SearchResult
from hyoka.search.searcher import Searcher
from hyoka.search.settings import KINDS, Setting
from hyoka.search.solvers import Ending, Mate, find_mate, solve_ending
from hyoka.search.sparse_evaluations import SparseEvaluation, feature_sets, sparse_evaluation
from hyoka.search.spec import SearchSpec, ab, mc, mc_score, uct
from hyoka.search.static_evaluations import StaticEvaluation, static_evaluation
from hyoka.search.tree_files import write_tree
from hyoka.search.tree_view import SearchTree, TreeNode, TreeStep, search_tree

__all__ = [
    "KINDS",
    "Book",
    "Convolution",
    "Difficulty",
    "Ending",
    "LinearEvaluation",
    "Mate",
    "MoveReport",
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
    "convolution",
    "difficulty",
    "feature_sets",
    "find_mate",
    "has_features",
    "has_terms",
    "line_sample",
    "linear_evaluation",
    "mc",
    "mc_score",
    "move_strengths",
    "network",
    "play_game",
    "search_line",
    "search_once",
    "search_tree",
    "solve_ending",
    "sparse_evaluation",
    "static_evaluation",
    "strengths_artefact",
    "uct",
    "write_tree",
]
