# SPDX-License-Identifier: Apache-2.0
"""Hyoka (評価, "evaluation"): a laboratory for game-tree search on game records.

>>> import hyoka as hk
>>> game = hk.Chess().play("e4").play("c5")
>>> game.to_play
Player.first
>>> hk.playouts(hk.Go9(komi=6.5), 1000, seed=1).value > 0.3
True
"""

from hyoka._core import (
    BlokusDuo,
    Chess,
    Go3,
    Go4,
    Go5,
    Go6,
    Go7,
    Go9,
    Go13,
    Go19,
    Othello,
    Outcome,
    Player,
    Reason,
    Shogi,
)
from hyoka.diagram import Diagram, diagram, svg, terminal
from hyoka.engines import EnginePosition, EngineSession, EngineSpec, Limits, check_engine
from hyoka.errors import (
    ConditionError,
    EngineError,
    Error,
    IllegalMoveError,
    NotationError,
    RefusedError,
    SourceError,
    StudyError,
)
from hyoka.evaluation import Evaluation
from hyoka.games import GAMES, Game, game_type, name_of, position
from hyoka.playouts import Playouts, playouts
from hyoka.problems import Problem, ProblemSet, read_problems
from hyoka.records import (
    Record,
    RecordStream,
    Refused,
    Remark,
    parse_records,
    read_record,
    read_records,
    record_text,
    write_records,
)
from hyoka.study import Study, adjudicate, append_to_study, cluster, evaluate, make_study

__version__ = "0.1.0"

__all__ = [
    "GAMES",
    "BlokusDuo",
    "Chess",
    "ConditionError",
    "Diagram",
    "EngineError",
    "EnginePosition",
    "EngineSession",
    "EngineSpec",
    "Error",
    "Evaluation",
    "Game",
    "Go3",
    "Go4",
    "Go5",
    "Go6",
    "Go7",
    "Go9",
    "Go13",
    "Go19",
    "IllegalMoveError",
    "Limits",
    "NotationError",
    "Othello",
    "Outcome",
    "Player",
    "Playouts",
    "Problem",
    "ProblemSet",
    "Reason",
    "Record",
    "RecordStream",
    "Refused",
    "RefusedError",
    "Remark",
    "Shogi",
    "SourceError",
    "Study",
    "StudyError",
    "adjudicate",
    "append_to_study",
    "check_engine",
    "cluster",
    "diagram",
    "evaluate",
    "game_type",
    "make_study",
    "name_of",
    "parse_records",
    "playouts",
    "position",
    "read_problems",
    "read_record",
    "read_records",
    "record_text",
    "svg",
    "terminal",
    "write_records",
]
