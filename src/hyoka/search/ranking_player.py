# SPDX-License-Identifier: Apache-2.0
"""A player that does not search: it plays what a move model ranks first."""

from hyoka import _core
from hyoka.artefact import BUILT_IN
from hyoka.errors import NotationError
from hyoka.games import AnyMove, game_facts
from hyoka.search.evaluations import has_features
from hyoka.search.move_models import move_model, ranked
from hyoka.search.request import SearchRequest
from hyoka.search.result import MoveReport, SearchResult
from hyoka.search.spec import SearchSpec


class RankingPlayer:
    """Always the best-ranked legal move, as Yoshii's "Monkey Jump" played.

    It passes when only senseless moves are left (in Go, its own eyes).
    """

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        if game is None or not (spec["strengths"] != BUILT_IN or has_features(game)):
            raise NotationError(
                "'ranking' needs a game whose moves have features, or strengths=FILE"
            )
        self._is_senseless = game_facts(game).is_senseless
        self._model: _core.Model = move_model(game, spec["strengths"])

    def search(self, request: SearchRequest) -> SearchResult:
        """Rank the moves; nothing is known of their values."""
        line = request.line
        allowed = set(request.only or line.legal_moves)
        moves = [(move, share) for move, share in ranked(line, self._model) if move in allowed]
        # What is senseless comes last, a pass before it: so a game ends.
        moves.sort(key=lambda each: self._is_senseless(line.position, each[0]))
        reports = tuple(MoveReport(move, prior=share) for move, share in moves)
        best: AnyMove = moves[0][0]
        return SearchResult(
            best, None, pv=(best,), moves=reports, order="prior", stopped_by="solved"
        )

    def stop(self) -> None:
        """Nothing: it is done at once."""

    def clear(self) -> None:
        """Nothing is kept."""
