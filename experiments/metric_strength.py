# SPDX-License-Identifier: Apache-2.0
"""Which metric of an evaluator predicts its playing strength: rank correlations with Elo."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.claims import verdict
from experiments.context import Experiment, ExperimentContext
from experiments.go_programs import RECORDS, STRONG
from experiments.outcome import Outcome, OutcomeTable, Value
from hyoka.analysis import METRICS, NO_INTERVALS, Resampling, interval, measure
from hyoka.arena import match_ratings, plan_match
from hyoka.foundation.math import Estimate
from hyoka.models import linear_evaluation
from hyoka.study.sampling import Question, measured

Reals = NDArray[np.float64]
_RESAMPLES: Final = 2_000
_POSITIONS: Final = 2
"""Positions of each record."""
_SHOWN: Final = tuple(name for name in METRICS if name != "precision_at_25")


@dataclass(frozen=True, slots=True)
class Family:
    """A game, its records, and the evaluators of different quality, which are also players."""

    game: str
    files: tuple[str, ...]
    where: str
    every: int
    """Distance of the chosen records; a scale divides it."""
    nodes: tuple[int, ...] = (50, 200, 1_000, 5_000)
    noises: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Standard deviations of the logarithms of factors on the weights of αβ's evaluation."""
    noisy_nodes: int = 1_000
    playouts: tuple[int, ...] = (30, 120, 500)

    def specs(self, context: ExperimentContext, name: str, tenth: bool) -> dict[str, str]:
        """Specs by the names of players."""
        divided = 10 if tenth else 1
        players = {
            f"αβ {nodes:,}": f"ab:nodes={max(1, nodes // divided)},eval=built-in"
            for nodes in self.nodes
        }
        built_in = linear_evaluation(self.game)
        for number, noise in enumerate(self.noises):
            random = np.random.default_rng([context.seed, number])
            factors = np.exp(noise * random.normal(size=built_in.weights.shape))
            file = context.place(name) / f"{self.game}-{noise:g}.json"
            built_in.with_weights(built_in.weights * factors).save(file)
            nodes = max(1, self.noisy_nodes // divided)
            players[f"αβ {self.noisy_nodes:,}, noise {noise:g}"] = f"ab:nodes={nodes},eval={file}"
        for playouts in self.playouts:
            players[f"UCT {playouts}"] = f"uct:playouts={max(1, playouts // divided)},threads=1"
        return players


@dataclass(frozen=True, slots=True)
class FamilyScale:
    """How many times the records of the small scale, and games of each two players."""

    times: int
    games: int
    families: int | None = None
    """Only the first families."""


@dataclass(frozen=True)
class Measured:
    """Metrics and ratings of the players of a game, in the same order."""

    family: Family
    records: str
    """The game and its number of records."""
    names: tuple[str, ...]
    elo: tuple[Estimate, ...]
    metrics: Mapping[str, Reals]
    """Higher is better: metrics of which lower is better have their signs changed."""

    @property
    def ratings(self) -> Reals:
        """The ratings without their intervals."""
        return np.array([each.value for each in self.elo])

    def correlation(self, metric: str, players: NDArray[np.int64] | None = None) -> float:
        """Spearman's rank correlation of a metric with Elo; NaN if either is constant."""
        chosen = np.arange(len(self.names)) if players is None else players
        return rank_correlation(self.metrics[metric][chosen], self.ratings[chosen])


def rank_correlation(one: Reals, other: Reals) -> float:
    """Spearman's rank correlation; NaN if either is constant.

    >>> rank_correlation(np.array([1.0, 2.0, 9.0]), np.array([0.1, 0.2, 0.3]))
    1.0
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    ranks = [rankdata(each) - (len(each) + 1) / 2 for each in (one, other)]
    size = math.sqrt(float(ranks[0] @ ranks[0]) * float(ranks[1] @ ranks[1]))
    return float(ranks[0] @ ranks[1]) / size if size > 0 else math.nan


def correlation_interval(correlations: Sequence[float], players: int) -> Estimate:
    """The mean of rank correlations over as many players each, with Fisher's interval.

    Of ranks, the variance of the transformed correlation is 1.06 / (players - 3) (Fieller 1957).

    >>> found = correlation_interval([0.9], 10)
    >>> round(found.low, 2), round(found.high, 2)
    (0.61, 0.98)
    """
    clipped = np.clip(np.array(correlations, np.float64), -0.999, 0.999)
    middle = float(np.arctanh(clipped).mean())
    half = NormalDist().inv_cdf(0.975) * math.sqrt(1.06 / (players - 3) / len(clipped))
    return Estimate(*(math.tanh(each) for each in (middle, middle - half, middle + half)))


@dataclass(frozen=True)
class MetricStrengthExperiment:
    """Metrics of evaluators on records, against the Elo of a league of the same evaluators."""

    id: str
    title: str
    families: tuple[Family, ...]
    scales: Mapping[str, FamilyScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Evaluate the records, play the leagues, and correlate."""
        amount = self.scales[scale]
        families = self.families[: amount.families]
        found = [self._measured(context, each, amount, scale) for each in families]
        players = len(found[0].names)
        pooled = {
            metric: correlation_interval([each.correlation(metric) for each in found], players)
            for metric in _SHOWN
        }
        order = sorted(_SHOWN, key=lambda metric: -pooled[metric].value)
        behind = {metric: self._behind(found, order[0], metric, context.seed) for metric in order}
        rows: list[tuple[Value, ...]] = [
            (
                METRICS[metric].title,
                *(each.correlation(metric) for each in found),
                pooled[metric],
                None if metric == order[0] else behind[metric],
            )
            for metric in order
        ]
        ratings: list[tuple[Value, ...]] = [
            (each.family.game, name, elo, abs(roc), abs(loss))
            for each in found
            for name, elo, roc, loss in zip(
                each.names, each.elo, each.metrics["roc"], each.metrics["log_loss"], strict=True
            )
        ]
        return Outcome(
            f"{players} evaluators of each game on {_POSITIONS} positions of each record "
            f"({', '.join(each.records for each in found)}); {amount.games} games of each two "
            "evaluators; correlations are Spearman's, signed so that more is "
            "better",
            (
                OutcomeTable(
                    (
                        "metric",
                        *(each.family.game for each in found),
                        "all games",
                        f"minus {METRICS[order[0]].title}",
                    ),
                    tuple(rows),
                ),
                OutcomeTable(
                    ("game", "evaluator", "Elo", METRICS["roc"].title, METRICS["log_loss"].title),
                    tuple(ratings),
                    "the evaluators",
                ),
            ),
            tuple(
                verdict(f"{METRICS[metric].title} predicts strength", pooled[metric], "ours")
                for metric in order
            ),
        )

    def _measured(
        self, context: ExperimentContext, family: Family, amount: FamilyScale, scale: str
    ) -> Measured:
        specs = family.specs(context, self.id, scale == "tiny")
        study = context.study(
            f"{self.id}-{family.game}-{scale}",
            family.files,
            where=f"{family.where} and number % {max(1, family.every // amount.times)} = 0",
            columns="none",
        )
        engines = context.evaluate(study, list(specs.values()), _POSITIONS)
        samples = measured(study, engines, Question(resampling=NO_INTERVALS)).samples
        values = [measure(sample, resampling=NO_INTERVALS) for sample in samples]
        plan = plan_match(
            *(f"{name}={text}" for name, text in specs.items()),
            game=family.game,
            seed=context.seed,
        )
        result = context.play(plan, context.place(self.id) / plan.id, amount.games)
        ratings = match_ratings(result.games, list(specs))
        rated = [ratings[name] for name in specs]
        signs = {name: 1 if METRICS[name].better == "higher" else -1 for name in _SHOWN}
        return Measured(
            family,
            f"{family.game} {samples[0].game_count:,}",
            tuple(specs),
            tuple(Estimate(each.elo, each.low, each.high) for each in rated),
            {
                name: signs[name] * np.array([each[name].value for each in values])
                for name in _SHOWN
            },
        )

    def _behind(self, found: Sequence[Measured], best: str, metric: str, seed: int) -> Estimate:
        """The difference of the mean correlations, with an interval that resamples players."""
        random = np.random.default_rng(seed)

        def difference(chosen: Sequence[NDArray[np.int64] | None]) -> float:
            pairs = [
                each.correlation(metric, some) - each.correlation(best, some)
                for each, some in zip(found, chosen, strict=True)
            ]
            return float(np.mean(pairs))

        value = difference([None] * len(found))
        players = [len(each.names) for each in found]
        drawn = [
            difference([random.integers(count, size=count) for count in players])
            for _ in range(_RESAMPLES)
        ]
        confidence = Resampling().confidence
        return interval(value, np.array(drawn), sum(players), confidence)


EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    MetricStrengthExperiment(
        "strength-metrics",
        "Which metric of an evaluator predicts its strength",
        (
            Family("othello", ("othello/wthor_1977-2020.zip",), "result in (0, 1)", 100),
            Family("go9", (RECORDS,), STRONG, 2, playouts=(50, 200, 1_000)),
            Family("chess", ("chess/twic_human.pgn.xz",), "result in (0, 1) and plies >= 40", 35),
            Family(
                "shogi", ("shogi/floodgate2016.csa.xz",), "result in (0, 1) and plies >= 60", 25
            ),
        ),
        {
            "tiny": FamilyScale(1, 2, families=1),
            "small": FamilyScale(1, 6),
            "medium": FamilyScale(4, 20),
            "paper": FamilyScale(100, 100),
        },
        "Not an experiment of a paper. The evaluators of a game are αβ with limits of nodes, αβ "
        "whose weights are multiplied by lognormal noise, and UCT with limits of playouts. "
        "The evaluation of a search is measured, not the static one. Intervals of correlations are "
        "for evaluators like these; noise of metrics and of ratings is part of them.",
    ),
)
