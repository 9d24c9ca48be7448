# SPDX-License-Identifier: Apache-2.0
"""Matches between agents, and their statistics.

A `MatchPlan` defines a match, `play_match` plays it, `Standing` and `DuelSummary` summarize it;
`score`, `elo` and `ratings` are pure functions of results.
"""

from hyoka.arena.ablation import AblationPlan, Contest, ablate, contests
from hyoka.arena.adjudication import adjudicator_of
from hyoka.arena.elo import (
    FEW,
    Sprt,
    binomial_p_value,
    elo,
    likelihood_of_superiority,
    normalized_elo,
    permutation_p_value,
    rate,
    too_few_reason,
)
from hyoka.arena.journal import Pairing, PlayedGame, export_match
from hyoka.arena.match import MatchResult, match_so_far, open_match, play_match
from hyoka.arena.openings import Opening, openings_of
from hyoka.arena.plan import MatchPlan, MatchRules, PlayerSpec, TimeControl, plan_match
from hyoka.arena.ratings import (
    DuelSummary,
    RatingList,
    Standing,
    match_ratings,
    rate_players,
    repeated_games,
)
from hyoka.arena.referee import odd_workers
from hyoka.arena.score import MatchScore, PairScores, Score, match_score
from hyoka.arena.whole_history import PlayerHistory, RatingHistory, rating_history

__all__ = [
    "FEW",
    "AblationPlan",
    "Contest",
    "DuelSummary",
    "MatchPlan",
    "MatchResult",
    "MatchRules",
    "MatchScore",
    "Opening",
    "PairScores",
    "Pairing",
    "PlayedGame",
    "PlayerHistory",
    "PlayerSpec",
    "RatingHistory",
    "RatingList",
    "Score",
    "Sprt",
    "Standing",
    "TimeControl",
    "ablate",
    "adjudicator_of",
    "binomial_p_value",
    "contests",
    "elo",
    "export_match",
    "likelihood_of_superiority",
    "match_ratings",
    "match_score",
    "match_so_far",
    "normalized_elo",
    "odd_workers",
    "open_match",
    "openings_of",
    "permutation_p_value",
    "plan_match",
    "play_match",
    "rate",
    "rate_players",
    "rating_history",
    "repeated_games",
    "too_few_reason",
]
