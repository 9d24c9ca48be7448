# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007's network as virtual visits in UCT: does it lose, where does it err, what helps."""

import dataclasses
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.claims import not_shown_if_few, verdict
from experiments.context import Experiment, ExperimentContext
from experiments.matches import TheirScore, lead_verdict, order_verdict
from experiments.nakamura_2007 import text_reading
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from hyoka._core import Player
from hyoka.arena import MatchPlan, MatchResult, MatchScore, PlayedGame, Score, plan_match, rate
from hyoka.arena.journal import records_name
from hyoka.foundation.math import Estimate
from hyoka.learning.perceptrons import (
    LabeledPositions,
    PerceptronSettings,
    errors_by_ply,
    learn_perceptrons,
    squared_errors,
)
from hyoka.models.ply_perceptrons import PlyPerceptrons
from hyoka.search import linear_evaluation
from hyoka.storage.model_file import Origin
from hyoka.study import Study

_GAME: Final = PlyPerceptrons.game
_UCT: Final = "uct:preset=paper"
_PRIOR: Final = 40
"""Virtual visits of the network in all experiments here; the paper does not say."""
_Z95: Final = NormalDist().inv_cdf(0.975)
_EARLY: Final = 10
"""Piece count below which a position belongs to the opening."""
_LATE: Final = 20
"""Piece count from which on a position belongs to the ending."""
_LATE_PLY: Final = 14
"""First ply of positions drawn from random games."""
_THEIRS: Final = TheirScore(Score(11, 26, 63), Score(7, 3, 90))
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Variant:
    """A network variant: its inputs and its training data."""

    name: str
    hands: bool = False
    """Whether pieces in hand are inputs."""
    late: bool = False
    """Whether the training data includes late positions of random games."""
    to_the_end: bool = False
    """Whether training continues when validation games get worse."""
    says: Literal["what it learned", "nothing", "the other side's"] = "what it learned"
    """Output: the trained win rates, always one half, or those of the wrong side."""

    @property
    def slug(self) -> str:
        """The name as part of a file name."""
        return re.sub(r"[^a-z]+", "-", self.name)


PAPERS: Final = Variant("the paper's")
VARIANTS: Final = (
    PAPERS,
    Variant("pieces in hand", hands=True),
    Variant("late positions", late=True),
    Variant("both", hands=True, late=True),
    Variant("trained to the end", to_the_end=True),
    Variant("tells nothing", says="nothing"),
    Variant("turned round", says="the other side's"),
)
"""The author's suspected causes, separately and together, then other possible errors."""


@dataclass(frozen=True, slots=True)
class NetworkScale:
    """Sizes of self-play, training and matches."""

    games: int
    """Self-play games of UCT for training."""
    test_games: int
    playouts: int
    """Playouts per move in self-play."""
    random_games: int
    """Random games whose late positions UCT evaluates."""
    of_each: int
    """Positions per random game."""
    simulations: int
    """Simulations per move in matches."""
    priors: tuple[int, ...]
    """Virtual visits of the network in table 3; figure 4 uses the first."""
    table_games: int
    """Games for each number of virtual visits, in both orders of play."""
    ablation_games: int
    """Games per match of the ablation."""
    training: PerceptronSettings = field(default_factory=PerceptronSettings)

    @property
    def judge(self) -> str:
        """Spec of the search that evaluates positions: its win rate over all simulations."""
        return f"{_UCT},playouts={self.playouts},value=root"

    @property
    def search(self) -> str:
        """Spec of the search in matches."""
        return f"{_UCT},playouts={self.simulations}"


@dataclass(frozen=True)
class Laboratory:
    """Shared training data, networks and matches of the experiments."""

    context: ExperimentContext
    amount: NetworkScale

    @cached_property
    def lessons(self) -> LabeledPositions:
        """Training positions from self-play."""
        return self._self_play(self.amount.games, self.context.seed)

    @cached_property
    def tests(self) -> LabeledPositions:
        """Positions of other games, without duplicates."""
        return self._self_play(self.amount.test_games, self.context.seed + 1).merged()

    @cached_property
    def late(self) -> LabeledPositions:
        """Late positions of random games, with values from UCT."""
        players = ("one=random", "other=random")
        plan = plan_match(*players, game=_GAME, openings="start", seed=self.context.seed)
        played = self._play(plan, self.amount.random_games)
        place = self.context.folder / f"{played.folder.name}-{self.amount.random_games}"
        if (place / "study.toml").exists():
            study = Study.open(place)
        else:
            study = Study.create(place, played.folder / records_name(_GAME), columns="none")
        where = f"ply >= {_LATE_PLY} and ply < plies"
        [name] = self.context.evaluate(study, [self.amount.judge], self.amount.of_each, where=where)
        return LabeledPositions.of_study(study, name)

    def networks(self, variant: Variant) -> Path:
        """File of a variant's networks, trained if missing."""
        made_of = dataclasses.replace(
            self.amount, simulations=0, priors=(), table_games=0, ablation_games=0, test_games=0
        )
        settings = dataclasses.replace(self.amount.training, hands=variant.hands)
        if variant.to_the_end:
            settings = dataclasses.replace(
                settings, patience=settings.epochs, decay=0.0, stops_early=False
            )
        key_text = repr((made_of, variant, settings, self.context.seed))
        key = hashlib.sha256(key_text.encode()).hexdigest()[:8]
        file = self.context.place("003-network") / f"{variant.slug}-{key}.eval"
        if file.exists():
            return file
        if variant.says == "nothing":
            PlyPerceptrons.untrained((0,), hidden=1).save(file, Origin("hyoka experiment run"))
        elif variant.says == "the other side's":
            turned = _turned(PlyPerceptrons.load("blokus_duo", self.networks(PAPERS)))
            turned.save(file, Origin("hyoka experiment run"))
        else:
            lessons = self.lessons + self.late if variant.late else self.lessons
            trained = learn_perceptrons(
                lessons,
                settings,
                seed=self.context.seed,
                jobs=self.context.jobs,
                progress=self.context.progress,
            )
            origin = trained.origin(
                "hyoka experiment list", self.context.seed, self.amount.games, what=variant.name
            )
            trained.networks.save(file, origin)
        return file

    def with_network(self, file: Path, prior: int = _PRIOR) -> str:
        """The search of matches with virtual visits from networks."""
        return f"{self.amount.search},eval_visits={prior},eval={file}"

    def match(self, one: str, other: str, games: int) -> MatchResult:
        """Play games from the start between two players given by specs."""
        plan = plan_match(one, other, game=_GAME, openings="start", seed=self.context.seed)
        return self._play(plan, games)

    def table_match(self, prior: int) -> MatchResult:
        """The paper's networks against plain UCT, for table 3 and figure 4."""
        player = self.with_network(self.networks(PAPERS), prior)
        return self.match(
            f"UCT + NN={player}", f"UCT={self.amount.search}", self.amount.table_games
        )

    @property
    def about(self) -> str:
        """Description of the training data."""
        amount = self.amount
        return (
            f"networks of {amount.training.hidden} hidden units from {amount.games:,} games of UCT "
            f"against itself with {amount.playouts:,} simulations a move"
        )

    def _self_play(self, games: int, seed: int) -> LabeledPositions:
        players = (f"one={self.amount.judge}", f"other={self.amount.judge}")
        plan = plan_match(*players, game=_GAME, openings="start", seed=seed)
        return LabeledPositions.of_records(
            [game.record for game in _in_order(self._play(plan, games))]
        )

    def _play(self, plan: MatchPlan, games: int) -> MatchResult:
        return self.context.play(plan, self.context.place("003-network") / plan.id, games)


def _turned(networks: PlyPerceptrons) -> PlyPerceptrons:
    """Copy of the networks that outputs the other side's win rates."""
    weights = networks.weights.copy()
    weights[:, -networks.hidden - 1 :] *= -1  # all weights into the output
    return dataclasses.replace(networks, weights=weights)


def _in_order(match: MatchResult) -> list[PlayedGame]:
    """Games sorted by number, since the order of completion is random."""
    return sorted(match.games, key=lambda game: game.pairing.number)


def mean_by_game(
    values: _Array, games: NDArray[np.int64], rows: NDArray[np.bool_], less: NDArray[np.bool_]
) -> Estimate:
    """Mean difference between two sets of rows, with an interval clustered by game.

    If all rows are from one game, the interval is NaN.

    >>> values, games = np.array([1.0, 3.0, 2.0, 2.0]), np.array([0, 0, 1, 1])
    >>> some = np.array([True, True, True, True])
    >>> mean_by_game(values, games, some, ~some)
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    pulls = np.zeros(len(values))
    mean = 0.0
    for chosen, sign in ((rows, 1), (less, -1)):
        if count := int(chosen.sum()):
            own = float(values[chosen].mean())
            mean += sign * own
            pulls[chosen] += sign * (values[chosen] - own) / count
    by_game = np.bincount(games, pulls)
    enough = len(np.unique(games[rows])) > 1
    reach = _Z95 * math.sqrt(float(by_game @ by_game)) if enough else math.nan
    return Estimate(mean, mean - reach, mean + reach)


@dataclass(frozen=True)
class TableExperiment:
    """Table 3: UCT with virtual visits from the network against UCT, in both orders of play."""

    id: str
    title: str
    scales: Mapping[str, NetworkScale]
    theirs: TheirScore = _THEIRS
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Play, train, and play matches."""
        amount = self.scales[scale]
        laboratory = Laboratory(context, amount)
        rows: list[tuple[Value, ...]] = []
        verdicts = []
        for prior in amount.priors:
            score = laboratory.table_match(prior).standing.duel(0, 1)
            for order, theirs, ours in (
                ("UCT + NN first", self.theirs.as_first, score.as_first),
                ("UCT + NN second", self.theirs.as_second, score.as_second),
            ):
                at = f"eval_visits={prior}"
                rows.append((at, order, theirs, theirs.rate, ours, rate(ours)))
                verdicts.append(order_verdict("UCT + NN", "UCT", theirs, ours, f"{at}, {order}, "))
        headings = ("", "", "theirs +−=", "points", "ours +−=", "points")
        return Outcome(
            f"{laboratory.about}; {amount.table_games} games from the start for each weight of the "
            f"prior, {amount.simulations:,} simulations a move",
            (OutcomeTable(headings, tuple(rows)),),
            tuple(verdicts),
        )


@dataclass(frozen=True, slots=True)
class OpponentsScale:
    """Training data, exploration constants and games of the matches."""

    trainings: tuple[NetworkScale, ...]
    explorations: tuple[float, ...]
    games: int
    """Games of each match, half of them in each order of play."""


@dataclass(frozen=True)
class OpponentsExperiment:
    """Table 3 by opponent, exploration constant and training data.

    The paper's text says that the opponent was UCT with Bouzy's influence; its table and its
    conclusion say that it was plain UCT.
    """

    id: str
    title: str
    scales: Mapping[str, OpponentsScale]
    theirs: TheirScore = _THEIRS
    notes: str = ""

    @property
    def built_in(self) -> str:
        """The evaluation of one opponent, which is not in its spec."""
        return linear_evaluation(_GAME).fingerprint

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Train, then play every match."""
        amount = self.scales[scale]
        rows: list[tuple[Value, ...]] = []
        verdicts = []
        for training in amount.trainings:
            laboratory = Laboratory(context, training)
            file = laboratory.networks(PAPERS)
            data = f"{training.playouts:,}-simulation data"
            for c in amount.explorations:
                search = f"{training.search},c={c:g}"
                network = f"{search},eval_visits={_PRIOR},eval={file}"
                for opponent, spec in _opponents(context, search).items():
                    match = laboratory.match(
                        f"UCT + NN={network}", f"{opponent}={spec}", amount.games
                    )
                    score = match.standing.duel(0, 1)
                    for order, theirs, ours in (
                        ("first", self.theirs.as_first, score.as_first),
                        ("second", self.theirs.as_second, score.as_second),
                    ):
                        rows.append((opponent, c, data, order, theirs, ours, rate(ours)))
                    verdicts.append(
                        lead_verdict(f"UCT + NN behind {opponent}, c={c:g}, {data}", ~score)
                    )
        one, other = max(amount.explorations), min(amount.explorations)
        search = amount.trainings[0].search
        flat = Laboratory(context, amount.trainings[0]).match(
            f"small c={search},c={other:g}", f"large c={search},c={one:g}", amount.games
        )
        score = flat.standing.duel(0, 1)
        rows.append((f"UCT, c={one:g}", other, "plain UCT", "both", None, score.score, rate(score)))
        headings = (
            "opponent",
            "c",
            "network",
            "UCT + NN moves",
            "theirs +−=",
            "ours +−=",
            "points",
        )
        return Outcome(
            f"{amount.games} games from the start in each match, "
            f"{amount.trainings[0].simulations:,} simulations a move, {_PRIOR} virtual visits; "
            "networks from "
            + " and ".join(
                f"{each.games:,} games with {each.playouts:,} simulations a move"
                for each in amount.trainings
            )
            + ". The last row is UCT with the smaller c against UCT with the larger one, both "
            "without a network",
            (OutcomeTable(headings, tuple(rows)),),
            tuple(verdicts),
        )


def _opponents(context: ExperimentContext, search: str) -> dict[str, str]:
    """Specs of the possible opponents by name."""
    return {
        "UCT": search,
        "UCT + Bouzy": f"{search},eval_visits={_PRIOR}",
        "UCT + Bouzy as in the text": f"{search},eval_visits={_PRIOR},eval={text_reading(context)}",
    }


@dataclass(frozen=True)
class ErrorExperiment:
    """Figure 3: the network's error on held-out games, by ply."""

    id: str
    title: str
    scales: Mapping[str, NetworkScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Play, train, and measure errors."""
        laboratory = Laboratory(context, self.scales[scale])
        tests = laboratory.tests
        networks = PlyPerceptrons.load("blokus_duo", laboratory.networks(PAPERS))
        squares, plies = squared_errors(networks, tests), tests.plies
        rows: list[tuple[Value, ...]] = []
        for each in errors_by_ply(networks, tests):
            error = mean_by_game(squares, tests.games, plies == each.ply, plies < 0)
            explained = 1 - each.squared / each.variance if each.variance > 0 else None
            rows.append((each.ply, each.positions, error, each.variance, explained))
        early, late = plies < _EARLY, plies >= _LATE
        more = mean_by_game(squares, tests.games, late, early)
        gains = _off_the_mean(tests) - squares
        return Outcome(
            f"{laboratory.about}; {len(tests):,} different positions of "
            f"{laboratory.amount.test_games:,} other games",
            (
                OutcomeTable(
                    ("pieces laid", "positions", "MSE", "of the mean", "explained"),
                    tuple(rows),
                ),
            ),
            (
                not_shown_if_few(
                    verdict("the error grows from the opening to the ending", more, "MSE"),
                    min(_game_count(tests, early), _game_count(tests, late)),
                ),
                not_shown_if_few(
                    verdict(
                        "the opening is predicted better than by its mean",
                        mean_by_game(gains, tests.games, early, plies < 0),
                        "less MSE",
                    ),
                    _game_count(tests, early),
                ),
            ),
            (self._picture(context, scale, rows),),
        )

    def _picture(
        self, context: ExperimentContext, scale: str, rows: Sequence[tuple[Value, ...]]
    ) -> Path:
        drawn: dict[str, list[tuple[float, float]]] = {"network": [], "mean of the ply": []}
        for ply, _, error, variance, _ in rows:
            assert isinstance(ply, int)
            assert isinstance(error, Estimate)
            assert isinstance(variance, float)
            drawn["network"].append((ply, error.value))
            drawn["mean of the ply"].append((ply, variance))
        file = context.place(self.id) / f"{scale}-errors.svg"
        return _drawn(drawn, "pieces laid", "mean squared error", file)


def _game_count(labeled: LabeledPositions, rows: NDArray[np.bool_]) -> int:
    return len(np.unique(labeled.games[rows]))


def _off_the_mean(labeled: LabeledPositions) -> _Array:
    """Squared deviation of each win rate from the mean of its ply, in the mover's view."""
    plies, rates = labeled.plies, labeled.for_mover
    counts = np.maximum(np.bincount(plies), 1)
    squares: _Array = (rates - (np.bincount(plies, rates) / counts)[plies]) ** 2
    return squares


@dataclass(frozen=True)
class TerritoryExperiment:
    """Figure 4: territory of UCT, moving first, and of UCT with the network, by ply."""

    id: str
    title: str
    scales: Mapping[str, NetworkScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Count the squares in table 3's games."""
        laboratory = Laboratory(context, self.scales[scale])
        match = laboratory.table_match(laboratory.amount.priors[0])
        games = [game for game in _in_order(match) if game.record.second == "UCT + NN"]
        uct, network = _territories(games)
        rows: list[tuple[Value, ...]] = [
            (ply, _mean(uct[:, ply]), _mean(network[:, ply]), _mean(uct[:, ply] - network[:, ply]))
            for ply in range(2, uct.shape[1], 2)
        ]
        last = uct.shape[1] - 1
        file = context.place(self.id) / f"{scale}-territory.svg"
        lines = {
            name: [(ply, float(squares[:, ply].mean())) for ply in range(last + 1)]
            for name, squares in (("UCT", uct), ("UCT + NN", network))
        }
        return Outcome(
            f"{laboratory.about}; {len(games)} games of table 3 with eval_visits="
            f"{laboratory.amount.priors[0]}, UCT first, {laboratory.amount.simulations:,} "
            "simulations a move; a game that is over keeps its squares",
            (OutcomeTable(("ply", "UCT", "UCT + NN", "UCT ahead"), tuple(rows)),),
            tuple(
                not_shown_if_few(
                    verdict(
                        f"{when}, UCT has more squares than UCT + NN",
                        _mean(uct[:, ply] - network[:, ply]),
                        "squares",
                    ),
                    len(games),
                )
                for when, ply in (
                    ("ply 10", min(10, last)),
                    ("ply 20", min(20, last)),
                    ("the end", last),
                )
            ),
            (_drawn(lines, "ply", "squares", file),),
        )


def _territories(games: Sequence[PlayedGame]) -> tuple[_Array, _Array]:
    """Squares of the first and the second player, by game and ply."""
    longest = max(len(game.record) for game in games)
    found = np.zeros((2, len(games), longest + 1))
    for row, game in enumerate(games):
        for ply, position in enumerate(game.record.positions()):
            cells = position.cells
            found[:, row, ply:] = [[(cells > 0).sum()], [(cells < 0).sum()]]
    return found[Player.first.value], found[Player.second.value]


def _lead(games: Sequence[PlayedGame], name: str, ply: int | None) -> _Array:
    """Lead in squares of a player after a ply or at the end, by game."""
    first, second = _territories(games)
    place = first.shape[1] - 1 if ply is None else min(ply, first.shape[1] - 1)
    signs = np.array([1 if game.record.first == name else -1 for game in games])
    lead: _Array = signs * (first - second)[:, place]
    return lead


def _mean(values: _Array) -> Estimate:
    every = np.ones(len(values), bool)
    return mean_by_game(values, np.arange(len(values)), every, ~every)


@dataclass(frozen=True)
class AblationExperiment:
    """The suspected causes of the loss, separately: pieces in hand, and late positions."""

    id: str
    title: str
    scales: Mapping[str, NetworkScale]
    variants: tuple[Variant, ...] = VARIANTS
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Train each variant, measure its error, and match it with UCT and the paper's network."""
        laboratory = Laboratory(context, self.scales[scale])
        amount, tests = laboratory.amount, laboratory.tests
        papers = laboratory.networks(PAPERS)
        squares = {
            each: squared_errors(
                PlyPerceptrons.load("blokus_duo", laboratory.networks(each)), tests
            )
            for each in self.variants
        }
        points: dict[Variant, MatchScore] = {}
        ahead: dict[Variant, MatchScore] = {}
        rows: list[tuple[Value, ...]] = []
        everything, late = tests.plies >= 0, tests.plies >= _LATE
        for each, errors in squares.items():
            player = laboratory.with_network(laboratory.networks(each))
            match = laboratory.match(f"NN={player}", f"UCT={amount.search}", amount.ablation_games)
            score = points[each] = match.standing.duel(0, 1)
            row: list[Value] = [
                each.name,
                mean_by_game(errors, tests.games, everything, ~everything),
                mean_by_game(errors, tests.games, late, ~everything),
                score.score,
                rate(score),
                *(_mean(_lead(_in_order(match), "NN", ply)) for ply in (_EARLY, None)),
            ]
            if each == PAPERS:
                row += [None, None]
            else:
                home = f"paper={laboratory.with_network(papers)}"
                direct = laboratory.match(f"NN={player}", home, amount.ablation_games)
                score = ahead[each] = direct.standing.duel(0, 1)
                row += [score.score, rate(score)]
            rows.append(tuple(row))
        headings = (
            "network",
            "MSE",
            "MSE, ending",
            "v UCT +−=",
            "points",
            f"squares ahead, ply {_EARLY}",
            "at the end",
            "v the paper's +−=",
            "points",
        )
        return Outcome(
            f"{laboratory.about}; late positions: {amount.of_each} of each of "
            f"{amount.random_games:,} games of random moves, judged by as many simulations. "
            f"{amount.ablation_games} games a match, {amount.simulations:,} simulations a move, "
            f"eval_visits={_PRIOR}; MSE on {len(tests):,} positions of {amount.test_games:,} other "
            f"games, {int(late.sum()):,} of them with {_LATE} pieces laid or more",
            (OutcomeTable(headings, tuple(rows)),),
            tuple(self._verdicts(tests, squares, points, ahead)),
        )

    def _verdicts(
        self,
        tests: LabeledPositions,
        squares: Mapping[Variant, _Array],
        points: Mapping[Variant, MatchScore],
        ahead: Mapping[Variant, MatchScore],
    ) -> list[Verdict]:
        late, nowhere = tests.plies >= _LATE, tests.plies < 0
        found = [
            lead_verdict(f"{each.name}: loses to UCT", ~points[each]) for each in self.variants
        ]
        for each in self.variants:
            if each.hands or each.late:
                found += [
                    not_shown_if_few(
                        verdict(
                            f"{each.name}: predicts the ending better than the paper's",
                            mean_by_game(
                                squares[PAPERS] - squares[each], tests.games, late, nowhere
                            ),
                            "less MSE",
                        ),
                        _game_count(tests, late),
                    ),
                    lead_verdict(f"{each.name}: plays better than the paper's", ahead[each]),
                ]
        return found


def _drawn(lines: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str, file: Path) -> Path:
    from hyoka.reporting.charts import Spot, save_chart  # noqa: PLC0415
    from hyoka.reporting.charts import lines as lines_chart  # noqa: PLC0415

    spots = [Spot(name, *point) for name, points in lines.items() for point in points]
    save_chart(lines_chart(spots, x=x, y=y), file)
    return file


SCALES: Final = {
    "tiny": NetworkScale(
        games=6,
        test_games=4,
        playouts=4,
        random_games=2,
        of_each=3,
        simulations=6,
        priors=(_PRIOR,),
        table_games=4,
        ablation_games=2,
        training=PerceptronSettings(hidden=2, epochs=1, least=4),
    ),
    "small": NetworkScale(
        games=1_000,
        test_games=200,
        playouts=500,
        random_games=1_000,
        of_each=6,
        simulations=1_000,
        priors=(_PRIOR, 5, 1_000),
        table_games=120,
        ablation_games=100,
    ),
    "medium": NetworkScale(
        games=1_800,
        test_games=200,
        playouts=4_000,
        random_games=3_000,
        of_each=6,
        simulations=1_000,
        priors=(_PRIOR, 5, 1_000),
        table_games=200,
        ablation_games=400,
    ),
    "paper": NetworkScale(
        games=1_800,
        test_games=200,
        playouts=18_000,
        random_games=9_000,
        of_each=6,
        simulations=1_000,
        priors=(_PRIOR, 5, 1_000),
        table_games=200,
        ablation_games=400,
    ),
}
_OPPONENTS_SCALES: Final = {
    "tiny": OpponentsScale((SCALES["tiny"],), (1.0, 0.2), 2),
    "small": OpponentsScale(
        (
            dataclasses.replace(SCALES["small"], games=300),
            dataclasses.replace(SCALES["small"], games=60, playouts=18_000),
        ),
        (1.0, 0.2),
        48,
    ),
    "medium": OpponentsScale(
        (SCALES["small"], dataclasses.replace(SCALES["small"], games=600, playouts=18_000)),
        (1.0, 0.2),
        200,
    ),
    "paper": OpponentsScale((SCALES["small"], SCALES["paper"]), (1.0, 0.2), 200),
}
_NOTES: Final = (
    "The paper gives neither hidden units, nor how networks were trained, nor the prior's weight. "
    "Ours see the board from the side to move; counts are scaled by how much they vary; Adam goes "
    "down the squared error until the prediction of a tenth of the games no longer improves. A "
    "position's win rate is the mean of all simulations of the search that had to move there. A "
    "ply is the number of pieces laid. The paper's games have 18,000 simulations a move, and 1,800 "
    "were learned from."
)
EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    TableExperiment(
        "003-table3",
        "Blokus Duo: UCT with the network as a prior against UCT",
        SCALES,
        notes=_NOTES,
    ),
    OpponentsExperiment(
        "003-table3-opponents",
        "Blokus Duo: the network against each possible opponent of table 3",
        _OPPONENTS_SCALES,
        notes=f"{_NOTES} At c = 1 the paper's UCT spreads its visits almost evenly over some "
        "hundred moves; the last row shows what that costs.",
    ),
    ErrorExperiment(
        "003-fig3",
        "Blokus Duo: the network's error by ply",
        SCALES,
        notes=f"{_NOTES} The mean is that of the test positions of a ply: what nobody who sees the "
        "ply alone could better. Win rates spread as games are decided, so that any error grows.",
    ),
    TerritoryExperiment(
        "003-fig4",
        "Blokus Duo: squares laid by ply, UCT against UCT with the network",
        SCALES,
        notes=_NOTES,
    ),
    AblationExperiment(
        "003-ablation",
        "Blokus Duo: what the author blames for the network's loss, one by one",
        SCALES,
        notes=f"{_NOTES} Random positions are those that the author proposes: games of random "
        f"moves, from ply {_LATE_PLY} on. Trained to the end: all epochs on all games, and "
        "nothing pulls weights to 0. Tells nothing: all positions are worth one half, so that the "
        "prior only dilutes what simulations say. Turned round: the paper's network with the win "
        "rates of the wrong side; tests of a network alone, such as figure 3, don't see "
        "such an error of the search.",
    ),
)
