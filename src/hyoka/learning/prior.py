# SPDX-License-Identifier: Apache-2.0
"""Virtual visits from an evaluation in UCT, tuned on self-play: sigmoid scale and visit count.

Nakamura 2007 initializes a new node as if it had been simulated n times with the result
σ(evaluation). The scale of σ is fitted to simulation results at new nodes; n is chosen by matches.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.journal import PlayedGame
from hyoka.arena.match import MatchResult
from hyoka.arena.openings import openings_of
from hyoka.arena.plan import MatchPlan, PlayerSpec, plan_match
from hyoka.arena.ratings import Rated, RatingList, match_ratings
from hyoka.foundation.errors import NotationError, StudyError
from hyoka.foundation.math import Estimate
from hyoka.foundation.options import check_options, option, read_integers
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import Position, game_facts
from hyoka.learning.sigmoid import fit_sigmoid
from hyoka.records.bulk import GameTable
from hyoka.search import SearchSpec, StaticEvaluation, static_evaluation
from hyoka.search.playouts import playouts

_Z95: Final = NormalDist().inv_cdf(0.975)
_PLAYOUTS: Final = 50
_MOST: Final = 2000
"""Maximum number of new nodes: those of one game are correlated, and chess playouts are slow."""


@dataclass(frozen=True, eq=False)
class NewNodes:
    """Samples of new search-tree nodes, with the results of random playouts.

    They are a random move away from self-play games, since new nodes mostly follow moves that are
    not played in games. The playouts estimate the win rate that σ approximates.
    """

    positions: Sequence[Position] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    """The first player's mean result of random playouts."""
    pairs: NDArray[np.int64] = field(repr=False)
    """Pair ids: games from the same opening share theirs, as they are not independent."""
    games: int

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def beside(
        cls,
        games: Sequence[PlayedGame],
        *,
        most: int | None = None,
        seed: int = 0,
        progress: OnProgress | None = None,
    ) -> "NewNodes":
        """Sample a node for each searched move, or `most` of them at random."""
        table = GameTable.from_records(game.record for game in games)
        chance = random.Random(seed)
        nodes: list[Position] = []
        pairs: list[int] = []
        rows = zip(table.positions(), table.game_ids.tolist(), table.plies.tolist(), strict=True)
        for position, number, ply in rows:
            if ply < sum(remark.book for remark in games[number].record.remarks):
                continue
            move = position.random_move(chance.getrandbits(63))
            if move is None:
                continue
            node = position.play(move)
            if node.outcome is None:
                nodes.append(node)
                pairs.append(games[number].pairing.pair_id)
        rows_used: Sequence[int] = range(len(nodes))
        if most is not None and most < len(nodes):
            rows_used = sorted(chance.sample(rows_used, most))
        tally = Tally(progress, "playouts beside the games", len(rows_used), "positions")
        values = []
        for place in rows_used:
            values.append(playouts(nodes[place], _PLAYOUTS, seed=seed + place).value)
            tally.add()
        return cls(
            [nodes[place] for place in rows_used],
            np.array(values),
            np.array([pairs[place] for place in rows_used], np.int64),
            len(games),
        )

    def scale(self, evaluation: StaticEvaluation) -> Estimate:
        """Fit the scale with which an evaluation's sigmoid matches the playouts' results.

        A score s is worth 1 / (1 + exp(-s / scale)). The interval is clustered by pairs of games.
        The sigmoid has no constant, like the search's. Raises StudyError if higher scores do not go
        with more wins.
        """
        scores = evaluation.score(self.positions).astype(np.float64)
        fit = fit_sigmoid(scores[:, None], self.values, self.pairs, names=["the evaluation"])
        slope, error = float(fit.coefficients[0]), float(np.sqrt(fit.covariance[0, 0]))
        if slope <= 0:
            raise StudyError(
                f"at {len(self):,} positions a higher score does not go with more wins: there is "
                "no scale to fit; play more games, or give other weights"
            )
        flattest = slope - _Z95 * error
        highest = 1 / flattest if flattest > 0 else float("inf")
        return Estimate(1 / slope, 1 / (slope + _Z95 * error), highest)


@dataclass(frozen=True)
class TunedPrior:
    """The fitted scale, and the strength of the search with each number of virtual visits."""

    game: str
    search: SearchSpec
    """The search without virtual visits."""
    nodes: NewNodes
    """Nodes that the scale was fitted to."""
    scale: Estimate
    ratings: RatingList
    """Ratings; player names are settings such as `eval_visits=40`."""

    @property
    def best(self) -> Rated:
        """The highest-rated player; ties within the error are decided by chance."""
        return self.ratings.players[0]

    def behind_best(self, name: str) -> Estimate:
        """Elo difference of a player to the best.

        Since the games selected the best, the interval is simultaneous over all pairs.
        """
        players = len(self.ratings.players)
        pairs = players * (players - 1) // 2
        return self.ratings.difference(self.best.name, name, comparisons=pairs)

    @property
    def as_strong(self) -> tuple[str, ...]:
        """Players not significantly weaker than the best."""
        others = (each.name for each in self.ratings.players[1:])
        return tuple(name for name in others if self.behind_best(name).low <= 0)

    def player(self, name: str) -> SearchSpec:
        """The search of a player."""
        return _with_prior(self.search, int(name.partition("=")[2]), self.scale)

    def as_json(self) -> dict[str, object]:
        """The scale and the players as plain values."""
        return {
            "game": self.game,
            "search": self.search.text,
            "scale": self.scale.as_json(),
            "self_play": self.nodes.games,
            "positions": len(self.nodes),
            "best": self.player(self.best.name).text,
            "as_strong": [self.player(name).text for name in self.as_strong],
            "players": [
                {
                    "name": each.name,
                    "search": self.player(each.name).text,
                    "wins": each.score.wins,
                    "draws": each.score.draws,
                    "losses": each.score.losses,
                    "elo": Estimate(each.elo, each.low, each.high).as_json(),
                    "behind_best": None
                    if each is self.best
                    else self.behind_best(each.name).as_json(),
                }
                for each in self.ratings.players
            ],
        }


@dataclass(frozen=True, kw_only=True)
class PriorSettings:
    """Options of `tune_prior`."""

    priors: Sequence[int] = option(
        (0, 5, 10, 20, 40, 80, 160),
        "Numbers of virtual visits to compare; by default 0,5,10,20,40,80,160.",
        name="visits",
        metavar="N,N,…",
        parse=read_integers,
    )
    games: int = option(40, "Number of games per pair of numbers of virtual visits.", min=2)
    self_play: int = option(200, "Number of self-play games to which the scale is fitted.", min=2)
    openings: str | None = option(None, "Openings as in matches.", metavar="OPENINGS")
    seed: int = option(0, "Seed of games and playouts.", min=0)

    def __post_init__(self) -> None:
        check_options(self)


def tune_prior(
    search: SearchSpec,
    game: str,
    play: Callable[[MatchPlan, int], MatchResult],
    settings: PriorSettings,
    *,
    progress: OnProgress | None = None,
) -> TunedPrior:
    """Fit the scale on self-play games, then compare numbers of virtual visits in matches.

    `search` is a UCT with the weights of its evaluation and a limit. `play` plays a number of games
    of a match: if it resumes matches, so does this.
    """
    plain, seed = _without_prior(search), settings.seed
    if len(set(settings.priors)) < 2:
        raise NotationError("give two different weights of the prior at least, to compare them")
    kind = game_facts(game).name
    evaluation = static_evaluation(kind, plain["eval"])
    starts = openings_of(settings.openings, kind, seed=seed)
    twins = (PlayerSpec("one", plain), PlayerSpec("other", plain))
    own_games = plan_match(*twins, game=kind, openings=starts, seed=seed)
    own = play(own_games, settings.self_play).games
    nodes = NewNodes.beside(own, most=_MOST, seed=seed, progress=progress)
    scale = nodes.scale(evaluation)
    players = [
        PlayerSpec(f"eval_visits={prior}", _with_prior(plain, prior, scale))
        for prior in dict.fromkeys(settings.priors)
    ]
    league = plan_match(*players, game=kind, openings=starts, seed=seed)
    names = [player.title for player in league.players]
    ratings = match_ratings(play(league, settings.games).games, names)
    return TunedPrior(kind, plain, nodes, scale, ratings)


def _without_prior(search: SearchSpec) -> SearchSpec:
    if not search.has("eval_visits"):
        raise NotationError(f"{search.kind} has no prior; uct has one")
    stated = [name for name, _ in search.chosen if name in ("eval_visits", "scale")]
    if stated:
        raise NotationError(f"'{stated[0]}' is what is fitted: leave it out of {search.text}")
    return search.with_settings(eval_visits=0)


def _with_prior(search: SearchSpec, prior: int, scale: Estimate) -> SearchSpec:
    """Set virtual visits and scale, rounded to three digits so that all machines agree."""
    if not prior:
        return search
    return search.with_settings(eval_visits=prior, scale=float(f"{scale.value:.3g}"))
