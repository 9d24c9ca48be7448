# SPDX-License-Identifier: Apache-2.0
"""Simulates studies and matches whose truth is known, and counts how often we are right about it.

    python scripts/simulations.py [CLAIM ...] [--runs N] [--seed N]

Each claim of coverage or power on a page of the docs names the one that makes it. Prints a Markdown
table with the numbers of runs; all claims take some ten minutes on one core.
"""

import argparse
import functools
import itertools
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from hyoka.analysis import (
    METRICS,
    NO_INTERVALS,
    Control,
    Equals,
    Resampling,
    Sample,
    SliceSettings,
    Stages,
    compare,
    condition_gap,
    find_slices,
    fit_wdl_model,
    measure,
    measure_curve,
    measure_reliability,
    named_gap,
)
from hyoka.arena import (
    PairScores,
    Score,
    Sprt,
    elo,
    normalized_elo,
    rate,
    rating_history,
    too_few_reason,
)
from hyoka.arena.elo import NORMALIZED_ELO, elo_of_rate
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.learning import fit_map
from hyoka.models import CalibrationModel

Reals = NDArray[np.float64]
Studies = Callable[[np.random.Generator, int], Sample]
POSITIONS: Final = 50
"""Of each game."""
MANY: Final = 20_000
"""Games that tell the truth, nearly."""
PAIR_RATES: Final = np.linspace(0, 1, 5)
WDL_STAGES: Final = Stages(name="move", reference=30, low=5, high=80)
WDL_A: Final = np.array([60.0, 50, -20, 10])
"""Of 1, x, x², x³ with x = stage / reference: 100 wins half of the games there."""
WDL_SPREAD: Final = 0.45
"""b as a share of a."""


@dataclass(frozen=True)
class Row:
    """Counts of cases and runs."""

    what: str
    found: str
    runs: int


def share(hits: list[bool]) -> str:
    """In percent."""
    return f"{100 * float(np.mean(hits)):.1f} %"


def few(seed: int) -> Resampling:
    return Resampling(200, seed=seed, threads=1)


def noisy_leads(rng: np.random.Generator, games: int) -> Sample:
    """Games decided by a lead that the evaluator sees through noise that wanders."""
    lead = rng.normal(0, 1, games)
    won = rng.random(games) < 1 / (1 + np.exp(-lead))
    noise = rng.normal(0, 1, (games, POSITIONS))
    for ply in range(1, POSITIONS):
        noise[:, ply] = 0.9 * noise[:, ply - 1] + math.sqrt(1 - 0.81) * noise[:, ply]
    return as_sample(1 / (1 + np.exp(-(0.8 * lead[:, None] + 0.7 * noise))), won)


def right_values(rng: np.random.Generator, games: int) -> Sample:
    """Games that wander to their end, and an evaluator that knows each position's true chance."""
    left = 10
    walk = np.cumsum(rng.normal(0, 1, (games, POSITIONS + left)), axis=1)
    to_go = POSITIONS + left - np.arange(1, POSITIONS + 1)
    return as_sample(norm.cdf(walk[:, :POSITIONS] / np.sqrt(to_go)), walk[:, -1] > 0)


def too_sure(rng: np.random.Generator, games: int) -> Sample:
    """The same with odds that are too large."""
    sample = right_values(rng, games)
    odds = np.log(np.clip(sample.values, 1e-6, 1 - 1e-6) / np.clip(1 - sample.values, 1e-6, 1))
    values = 1 / (1 + np.exp(-1.7 * odds))
    return Sample.of("too sure", values, results=sample.results, games=sample.games)


def too_cautious_late(rng: np.random.Generator, games: int) -> Sample:
    """The same with odds that are too small, the more so the later it is."""
    sample = right_values(rng, games)
    odds = np.log(np.clip(sample.values, 1e-6, 1 - 1e-6) / np.clip(1 - sample.values, 1e-6, 1))
    values = 1 / (1 + np.exp(-(1 - 0.6 * lateness(sample)) * odds))
    return Sample.of("cautious", values, results=sample.results, games=sample.games)


def lateness(sample: Sample) -> Reals:
    """From 0 at the start to 1 at the end, most of it late."""
    return (plies(sample) / (POSITIONS - 1)) ** 2


def as_sample(values: Reals, won: NDArray[np.bool_]) -> Sample:
    games = np.repeat(np.arange(len(won)), POSITIONS)
    return Sample.of("simulated", values.ravel(), results=won[games], games=games)


def plies(sample: Sample) -> NDArray[np.int64]:
    return np.arange(len(sample)) % POSITIONS


def phase(sample: Sample) -> Control:
    """The phase of the game as studies have it: tenths of the plies."""
    strata = plies(sample) * 10 // POSITIONS
    return Control("the phase of the game", strata, frozenset(["ply"]))


def columns_of(rng: np.random.Generator, sample: Sample) -> dict[str, NDArray[np.generic]]:
    """Columns that have nothing to do with who won: of positions, of games, and of both."""
    games, count = sample.games, sample.game_count
    return {
        "ply": plies(sample),
        "capture": rng.random(len(sample)) < 0.2,
        "stage": rng.integers(0, 4, len(sample)),
        "material": np.round(rng.normal(0, 2, len(sample))).astype(int),
        "tempo": rng.normal(0, 1, count)[games] + rng.normal(0, 0.3, len(sample)),
        "komi": rng.choice([5.5, 6.5, 7.5], count)[games],
        "opening": rng.choice(list("abcde"), count)[games].astype(object),
    }


def outcomes_by_stage(rng: np.random.Generator, games: int) -> tuple[Sample, Reals]:
    """Scores and stages whose wins, draws and losses follow the model above at every position.

    Positions of one game share its outcome, and most of them its lead. Scores grow as a and b do,
    so that the shares of outcomes are the same at every stage, as one outcome a game must have it.
    """
    leads = np.linspace(-8, 8, 20_001)
    win, loss = (1 / (1 + np.exp((1 - side) / WDL_SPREAD)) for side in (leads, -leads))
    chances = norm.pdf(leads / 1.3) * np.stack([loss, 1 - win - loss, win])
    shares = chances.sum(axis=1) / chances.sum()
    results = rng.choice([0.0, 0.5, 1.0], games, p=shares)
    stages = np.tile(np.linspace(WDL_STAGES.low, WDL_STAGES.high, POSITIONS).round(), games)
    lead = np.empty((games, POSITIONS))
    for result, chance in zip((0.0, 0.5, 1.0), chances, strict=True):
        which, up_to = np.flatnonzero(results == result), np.cumsum(chance) / chance.sum()
        own = np.interp(rng.random((len(which), 1)), up_to, leads)
        others = np.interp(rng.random((len(which), POSITIONS)), up_to, leads)
        lead[which] = np.where(rng.random(others.shape) < 0.5, own, others)
    scores = np.round(lead.ravel() * np.polyval(WDL_A[::-1], stages / WDL_STAGES.reference))
    sample = Sample.of(
        "simulated",
        scores,
        results=np.repeat(results, POSITIONS),
        games=np.repeat(np.arange(games), POSITIONS),
        unit="centipawns",
    )
    return sample, stages


def wdl(runs: int, seed: int) -> Iterator[Row]:
    """Intervals of a model of wins, draws and losses."""
    truth = {"half": 100.0, "spread": 100 * WDL_SPREAD, "draws": math.tanh(0.5 / WDL_SPREAD)}
    for games in (100, 400):
        held: dict[str, list[bool]] = {name: [] for name in (*truth, "coefficients")}
        for run in range(runs):
            sample, stages = outcomes_by_stage(np.random.default_rng([seed, run]), games)
            model = fit_wdl_model(sample, stages, WDL_STAGES, most=400, resampling=few(run))
            for name, real in truth.items():
                found = getattr(model, name)
                held[name].append(found.low <= real <= found.high)
            for side, share_of_a in ((model.a, 1), (model.b, WDL_SPREAD)):
                for found, real in zip(side, share_of_a * WDL_A, strict=True):
                    held["coefficients"].append(found.low <= real <= found.high)
        for name, hits in held.items():
            what = f"intervals of a WDL model's {name} that hold the truth, {games} games"
            yield Row(what, share(hits), runs)


def bands(runs: int, seed: int) -> Iterator[Row]:
    """Bands of evaluation curves."""
    truth = measure_curve(noisy_leads(np.random.default_rng(seed), MANY), resampling=NO_INTERVALS)
    real = {point.lower: point.share for point in truth.points}
    ours, naive = [], []
    for run in range(runs):
        sample = noisy_leads(np.random.default_rng([seed, run]), 200)
        for point in measure_curve(sample, resampling=few(run)).points:
            ours.append(point.low <= real[point.lower] <= point.high)
            naive.append(point.naive_low <= real[point.lower] <= point.naive_high)
    yield Row("bins whose band by games holds the truth, 200 games", share(ours), runs)
    yield Row("bins whose naive band does", share(naive), runs)


def metrics(runs: int, seed: int) -> Iterator[Row]:
    """Intervals of metrics other than the calibration error."""
    real = measure(noisy_leads(np.random.default_rng(seed), MANY))
    held: dict[str, list[bool]] = {name: [] for name in METRICS if name != "calibration_error"}
    for run in range(runs):
        sample = noisy_leads(np.random.default_rng([seed, run]), 200)
        found = measure(sample, resampling=few(run))
        for name, hits in held.items():
            hits.append(found[name].low <= real[name].value <= found[name].high)
    for name, hits in held.items():
        yield Row(f"intervals of {METRICS[name].title} that hold the truth, 200 games",
                  share(hits), runs)  # fmt: skip


def ece(runs: int, seed: int) -> Iterator[Row]:
    """The interval of the calibration error."""
    for studies in (noisy_leads, right_values, too_sure):
        real = measure(studies(np.random.default_rng(seed), MANY))["ECE"].value
        for games in (100, 200):
            held = []
            for run in range(runs):
                sample = studies(np.random.default_rng([seed, run]), games)
                found = measure(sample, resampling=few(run))["ECE"]
                held.append(found.low <= real <= found.high)
            what = f"intervals of ECE that hold {real:.3f} ({studies.__name__}), {games} games"
            yield Row(what, share(held), runs)


def reliability(runs: int, seed: int) -> Iterator[Row]:
    """The intervals of the parts of the Brier loss."""
    parts = ("miscalibration", "discrimination", "uncertainty")
    for studies in (noisy_leads, right_values, too_sure):
        many = studies(np.random.default_rng(seed), MANY)
        real = measure_reliability(many, resampling=NO_INTERVALS).losses["brier_loss"]
        for games in (100, 400):
            hits: dict[str, list[bool]] = {part: [] for part in parts}
            for run in range(runs):
                sample = studies(np.random.default_rng([seed, run]), games)
                diagram = measure_reliability(sample, resampling=few(run))
                for part in parts:
                    each = getattr(diagram.losses["brier_loss"], part)
                    hits[part].append(each.low <= getattr(real, part).value <= each.high)
            for part, held in hits.items():
                truth = getattr(real, part).value
                what = (
                    f"intervals of {part} that hold {truth:.4f} ({studies.__name__}), {games} games"
                )
                yield Row(what, share(held), runs)


def recalibration(runs: int, seed: int) -> Iterator[Row]:
    """The change in log-loss by Platt scaling that was fitted to 70 % of the games."""
    for studies in (right_values, too_sure):
        many = studies(np.random.default_rng(seed), MANY)
        for games in (100, 400):
            held: list[bool] = []
            gains: list[bool] = []
            harms: list[bool] = []
            for run in range(runs):
                sample = studies(np.random.default_rng([seed, run]), games)
                inside = sample.games < 0.7 * games
                fitting, apart = sample.where(inside), sample.where(~inside)
                mapped = fit_map(
                    "platt", fitting.values, results=fitting.results, games=fitting.games
                )
                model = CalibrationModel("simulated", "value", mapped)
                comparison = compare(_mapped(apart, model), apart, resampling=few(run))
                [change] = (
                    each.difference
                    for each in comparison.differences
                    if each.metric.name == "log_loss"
                )
                truth = _log_loss(_mapped(many, model)) - _log_loss(many)
                held.append(change.low <= truth <= change.high)
                gains.append(change.high < 0)
                harms.append(change.low > 0)
            what = f"({studies.__name__}), {games} games"
            yield Row(f"intervals that hold the change in log-loss {what}", share(held), runs)
            yield Row(f"intervals below 0, a gain {what}", share(gains), runs)
            yield Row(f"intervals above 0, a loss {what}", share(harms), runs)


def _mapped(sample: Sample, model: CalibrationModel) -> Sample:
    return replace(sample, values=model.expected(sample.values).astype(np.float32))


def _log_loss(sample: Sample) -> float:
    claims = np.clip(sample.values.astype(np.float64), 1e-4, 1 - 1e-4)
    return float(-np.log(np.where(sample.results == 1, claims, 1 - claims)).mean())


def monotonicity(runs: int, seed: int) -> Iterator[Row]:
    """The test of whether a curve rises all the way."""
    called: dict[str, list[bool]] = {"flat": [], "rising": []}
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        rising = noisy_leads(rng, 200)
        flat = Sample.of(
            "flat",
            rising.values,
            results=(rng.random(200) < 0.5)[rising.games],
            games=rising.games,
        )
        for name, sample in (("flat", flat), ("rising", rising)):
            called[name].append(
                measure_curve(sample, resampling=few(run)).monotonicity.p_value < 0.05
            )
    for name, hits in called.items():
        yield Row(f"curves of a {name} truth with p < 0.05, 200 games", share(hits), runs)


def gaps(runs: int, seed: int) -> Iterator[Row]:
    """Tests of a single condition that has no effect."""
    for games in (60, 100, 200, 1000):
        of: dict[str, dict[str, list[bool]]] = {}
        for run in range(runs):
            for studies in (noisy_leads, right_values):
                rng = np.random.default_rng([seed, run])
                sample = studies(rng, games)
                conditions = {
                    "late": plies(sample) >= 40,
                    "of positions": rng.random(len(sample)) < 0.2,
                    "of games": (rng.random(games) < 0.3)[sample.games],
                    "from a ply on": plies(sample) >= rng.integers(20, 70, games)[sample.games],
                }
                for words, holds in conditions.items():
                    ways = {"": Equals(sample)}
                    if words != "late":
                        ways[" at equal phases"] = Equals(sample, phase(sample).strata)
                    for how, equals in ways.items():
                        for test, below in _tests(equals, holds, run).items():
                            cases = of.setdefault(test + how, {})
                            cases.setdefault(studies.__name__ + words, []).append(below)
        for test, cases in of.items():
            shares = [100 * float(np.mean(hits)) for hits in cases.values()]
            found = f"{np.mean(shares):.1f} % (of {len(shares)} kinds at most {max(shares):.1f} %)"
            yield Row(f"p < 0.05 of {test} where there is none, {games} games", found, runs)


def _tests(equals: Equals, holds: NDArray[np.bool_], seed: int) -> dict[str, bool]:
    """Whether each test of a gap is below 0.05."""
    named = named_gap(equals, "", holds, resampling=few(seed))
    tests = {
        "a level": named.gap.level.p_value < 0.05,
        "a lean": named.gap.lean.p_value < 0.05,
    }
    if named.distance is not None:
        tests["the largest gap"] = named.distance.p_value < 0.05
    return tests


def slices(runs: int, seed: int) -> Iterator[Row]:
    """A search where there is no weakness, and where one was planted."""
    for games in (150, 200, 400):
        none = []
        for run in range(runs):
            rng = np.random.default_rng([seed, run])
            sample = noisy_leads(rng, games)
            found = find_slices(sample, columns_of(rng, sample), resampling=NO_INTERVALS)
            none.append(len(found) == 0)
        yield Row(f"searches that find none where there is none, {games} games", share(none), runs)
    first = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        sample = noisy_leads(rng, 300)
        planted = rng.random(len(sample)) < np.where(sample.results == 1, 0.22, 0.10)
        columns = columns_of(rng, sample) | {"planted": planted}
        found = find_slices(sample, columns, resampling=NO_INTERVALS)
        first.append(len(found) > 0 and found[0].condition.sql == "planted")
    yield Row("searches that list a planted weakness first, 300 games", share(first), runs)


def confirmed(runs: int, seed: int) -> Iterator[Row]:
    """The slices that held-out games confirm, where one condition and a conjunction are planted.

    Studies are drawn from a population of games, so that the effect of any slice is known.
    """
    rng = np.random.default_rng(seed)
    everything, columns = planted_slices(rng, MANY)
    database = duckdb.connect()
    database.register("columns", pa.table(columns))
    for games in (400, 1000):
        single, triple, held, false = [], [], [], []
        for run in range(runs):
            drawn = np.zeros(MANY, bool)
            chosen = np.random.default_rng([seed, run])
            drawn[chosen.choice(MANY, min(games, MANY), replace=False)] = True
            rows = drawn[everything.games]
            sample = Sample.of(
                "simulated",
                everything.values[rows],
                results=everything.results[rows],
                games=everything.games[rows],
            )
            here = {name: column[rows] for name, column in columns.items()}
            found = find_slices(sample, here, resampling=Resampling(0, seed=run))
            of_columns = [each.condition.columns for each in found]
            single.append({"planted"} in of_columns)
            triple.append({"a", "b", "c"} in of_columns)
            for each in found:
                query = f"select {each.condition.sql} as holds from columns"
                holds = database.execute(query).fetchnumpy()["holds"]
                gap = condition_gap(everything, np.asarray(holds, bool))
                real = gap.departure(each.departure.kind)
                held.append(each.effect.low <= real.effect.value <= each.effect.high)
                false.append(real.p_value > 0.05)
        of = f"confirmed slices, {games} games"
        yield Row(f"searches with the planted condition among the {of}", share(single), runs)
        yield Row(f"searches with the planted conjunction of three among the {of}",
                  share(triple), runs)  # fmt: skip
        yield Row(f"{of}, without an effect in {MANY:,} games", share(false), len(false))
        yield Row(f"intervals of {of} that hold the effect", share(held), len(held))


def planted_slices(
    rng: np.random.Generator, games: int
) -> tuple[Sample, dict[str, NDArray[np.generic]]]:
    """An evaluator that is wrong under one condition and under the conjunction of three."""
    sample = noisy_leads(rng, games)
    columns = columns_of(rng, sample)
    a, b, c, planted = (rng.random(len(sample)) < each for each in (0.5, 0.5, 0.5, 0.15))
    odds = np.log(sample.values / (1 - sample.values)) - 0.9 * (a & b & c) + 0.6 * planted
    return replace(sample, values=(1 / (1 + np.exp(-odds))).astype(np.float32)), {
        **columns,
        "a": a,
        "b": b,
        "c": c,
        "planted": planted,
    }


def late(runs: int, seed: int) -> Iterator[Row]:
    """Conditions that come late, of an evaluator that is too cautious late."""
    merely, own, missed = [], [], []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        sample = too_cautious_late(rng, 400)
        when = 0.4 * lateness(sample)
        idle = rng.random(len(sample)) < when
        telling = np.where(sample.results == 1, 1.5, 0.5)
        weak = rng.random(len(sample)) < when * telling
        columns = {"ply": plies(sample), "idle": idle, "weak": weak}
        found = find_slices(
            sample,
            columns,
            SliceSettings(depth=1),
            controls=[phase(sample)],
            resampling=NO_INTERVALS,
        )
        sure = {split.condition.sql for split in found if split.is_sure}
        merely.append("idle" in sure)
        own.append("weak" in sure)
        plain = find_slices(sample, {"idle": idle}, SliceSettings(depth=1), resampling=NO_INTERVALS)
        missed.append(any(split.is_sure for split in plain))
    yield Row("conditions that merely come late and pass for findings, 400 games",
              share(merely), runs)  # fmt: skip
    yield Row("such conditions without the control by phase", share(missed), runs)
    yield Row("conditions that come late, with an effect of their own, found", share(own), runs)


def pair_chances(difference: float, draws: float, bias: float, alike: float) -> Reals:
    """A pair's results: openings that favor one side by -bias, 0 or bias Elo; Davidson's draws."""

    def game(strength: float) -> Reals:
        weights = 10 ** (np.array([-strength, 0, strength]) / 800)
        weights[1] = 2 * draws / (1 - draws)
        return np.asarray(weights / weights.sum())

    openings = [np.convolve(game(difference + b), game(difference - b)) for b in (-bias, 0, bias)]
    repeated = np.zeros(5)
    repeated[::2] = game(difference)
    return np.asarray((1 - alike) * sum(openings) / 3 + alike * repeated)


def elo_interval(runs: int, seed: int) -> Iterator[Row]:
    """The intervals of Elo and of normalized Elo in a match."""
    kinds = ((0, 0, 0), (0.4, 0, 0.3), (0.4, 400, 0), (0.7, 200, 0), (0.9, 0, 0))
    rng = np.random.default_rng(seed)
    for pairs in (30, 100, 500):
        held: dict[str, list[float]] = {"Elo's": [], "normalized Elo's": [], "the textbook's": []}
        for difference in (0, 50, 200, 300):
            for draws, bias, alike in kinds:
                chances = pair_chances(difference, draws, bias, alike)
                truth = _Rate(chances)
                matches = rng.multinomial(pairs, chances, size=runs).tolist()
                hits = [truth.held_by(PairScores(tuple(five))) for five in matches]
                for name, shares in zip(held, np.mean(hits, axis=0).tolist(), strict=True):
                    held[name].append(shares)
        for name, of in held.items():
            found = f"{100 * min(of):.1f} to {100 * max(of):.1f} %"
            what = f"matches of {pairs} pairs whose truth {name} interval holds, {len(of)} kinds"
            yield Row(what, found, runs)


class _Rate:
    """What the results of pairs would be in the long run."""

    def __init__(self, chances: Reals) -> None:
        self._rate = float(chances @ PAIR_RATES)
        deviation = math.sqrt(chances @ (PAIR_RATES - self._rate) ** 2)
        self._normalized = (self._rate - 0.5) / deviation / math.sqrt(2) * NORMALIZED_ELO

    def held_by(self, match: PairScores) -> tuple[bool, bool, bool]:
        """Whether the intervals of Elo, of normalized Elo and the textbook's hold it."""
        plain, normalized = elo(match), normalized_elo(match)
        counts = np.array(match.counts)
        mean = float(np.average(PAIR_RATES, weights=counts))
        spread = float(np.average((PAIR_RATES - mean) ** 2, weights=counts))
        reach = 1.96 * math.sqrt(spread / (counts.sum() - 1))
        return (
            plain.low <= elo_of_rate(self._rate) <= plain.high,
            normalized.low <= self._normalized <= normalized.high,
            abs(mean - self._rate) <= reach,
        )


@functools.lru_cache(maxsize=100_000)
def _elo(five: tuple[int, int, int, int, int]) -> tuple[float, float]:
    estimate = elo(PairScores(five))
    return estimate.low, estimate.high


def sprt(runs: int, seed: int) -> Iterator[Row]:
    """Errors of the sequential test."""
    test = Sprt(0, 80)
    rng = np.random.default_rng(seed)
    for draws, bias in ((0.2, 0), (0.5, 300)):
        for claim, wrong in ((0.0, "H1"), (80.0, "H0")):

            def beyond(
                strength: float, claim: float = claim, draws: float = draws, bias: float = bias
            ) -> float:
                chances = pair_chances(strength, draws, bias, 0)
                return elo_of_rate(float(chances @ PAIR_RATES)) - claim

            chances = pair_chances(brentq(beyond, -500, 500), draws, bias, 0)
            running = np.zeros((runs, 5))
            taken = {"H0": 0, "H1": 0}
            while len(running):
                running = running + rng.multinomial(1, chances, size=len(running))
                llrs = test.llrs(running)
                taken["H1"] += int((llrs >= test.upper).sum())
                taken["H0"] += int((llrs <= test.lower).sum())
                running = running[(llrs < test.upper) & (llrs > test.lower)]
            wrongly = [True] * taken[wrong] + [False] * (runs - taken[wrong])
            what = f"tests of 0 against 80 Elo that take {wrong} wrongly, {draws:.0%} draws"
            yield Row(what, share(wrongly), runs)


def looks(runs: int, seed: int) -> Iterator[Row]:
    """What it costs to look after every pair and to stop when it looks good."""
    rng = np.random.default_rng(seed)
    chances = pair_chances(0, 0.4, 0, 0)
    misled = []
    for _ in range(runs):
        results = np.cumsum(rng.multinomial(1, chances, size=500), axis=0)[19:]
        intervals = (_elo(tuple(five)) for five in results.tolist())
        misled.append(any(low > 0 or high < 0 for low, high in intervals))
    yield Row("matches of equals whose interval leaves 0 out after some pair of 20 to 500",
              share(misled), runs)  # fmt: skip


def verdicts(runs: int, seed: int) -> Iterator[Row]:
    """Verdicts on scores of players who are equal: against a half, and two scores compared."""
    rng = np.random.default_rng(seed)
    for unit, kinds, result in (
        ("games", list(_game_kinds()), _score_of_game_counts),
        ("pairs", list(_pair_kinds()), _score_of_pair_counts),
    ):
        for count in (10, 20, 40, 100):
            wrong: dict[str, list[list[bool]]] = {"one score": [], "two scores compared": []}
            for chances in kinds:
                truth = float(chances @ np.linspace(0, 1, len(chances)))
                one, other = rng.multinomial(count, chances, size=(2, runs)).tolist()
                ours, theirs = (
                    [_interval(result(tuple(n))) for n in each] for each in (one, other)
                )
                wrong["one score"].append([_leaves_out(each, truth) for each in ours])
                differences = itertools.starmap(
                    independent_difference, zip(ours, theirs, strict=True)
                )
                wrong["two scores compared"].append([_leaves_out(each, 0) for each in differences])
            for what, of in wrong.items():
                worst = max(of, key=np.mean)
                yield Row(
                    f"false verdicts on {what}, {count} {unit}, the worst of {len(of)} kinds",
                    share(worst),
                    runs,
                )


def _game_kinds() -> Iterator[Reals]:
    """Chances of a loss, a draw and a win: strengths and shares of draws."""
    for expected, draws in itertools.product((0.5, 0.6, 0.75, 0.9, 0.97), (0, 0.3, 0.6, 0.9)):
        drawn = 2 * draws * min(expected, 1 - expected)
        yield np.array([1 - expected - drawn / 2, drawn, expected - drawn / 2])


def _pair_kinds() -> Iterator[Reals]:
    kinds = ((0, 0, 0), (0.4, 0, 0.3), (0.4, 400, 0), (0.7, 200, 0), (0.9, 0, 0))
    for difference, kind in itertools.product((0, 50, 200, 300), kinds):
        yield pair_chances(difference, *kind)


def _score_of_game_counts(counts: tuple[int, int, int]) -> Score:
    losses, draws, wins = counts
    return Score(wins, draws, losses)


def _score_of_pair_counts(counts: tuple[int, int, int, int, int]) -> PairScores:
    return PairScores(counts)


@functools.lru_cache(maxsize=1_000_000)
def _interval(result: Score | PairScores) -> Estimate:
    """The interval that verdicts are made from; no ends where games are too few for one."""
    if too_few_reason(result):
        return Estimate(result.rate, -math.inf, math.inf)
    return rate(result, continuity=True)


def _leaves_out(interval: Estimate, truth: float) -> bool:
    return not interval.low - 1e-12 <= truth <= interval.high + 1e-12


def history(runs: int, seed: int) -> Iterator[Row]:
    """Intervals of ratings over time, and the estimate of their drift, by the number of players."""
    rng, days, drift, draws = np.random.default_rng(seed), 200, 60.0, 0.3
    for players, games in ((2, 600), (4, 900), (10, 1500), (30, 3000)):
        held: list[bool] = []
        drifts = []
        for _ in range(runs):
            steps = rng.normal(0, math.sqrt(drift), (players, days)).cumsum(axis=1)
            truth = rng.normal(0, 150, (players, 1)) + steps
            day, first = rng.integers(0, days, games), rng.integers(0, players, games)
            second = (first + rng.integers(1, players, games)) % players
            d = (truth[first, day] - truth[second, day]) * math.log(10) / 400 / (1 - draws)
            odds = np.stack([np.exp(-d / 2), np.full(games, 2 * draws / (1 - draws)),
                             np.exp(d / 2)]).cumsum(axis=0)  # fmt: skip
            result = (rng.random(games) * odds[-1] > odds[:2]).sum(axis=0) / 2
            start = np.datetime64("2020-01-01")
            names = [str(number) for number in range(players)]
            found = rating_history(first, second, result, names, dates=start + day)
            drifts.append(found.drift.value)
            true = [truth[int(p.name), (p.dates - start).astype(int)] for p in found.players]
            zero = np.mean([np.mean(ratings) for ratings in true])
            for player, ratings in zip(found.players, true, strict=True):
                inside = (player.low <= ratings - zero) & (ratings - zero <= player.high)
                held += inside.tolist()
        yield Row(f"days whose rating the interval holds, {players} players, {games:,} games",
                  share(held), runs)  # fmt: skip
        low, middle, high = np.quantile(drifts, [0.1, 0.5, 0.9])
        yield Row(f"drift of {drift:g} Elo² per day, as estimated with {players} players",
                  f"{middle:.0f}, in 80 % {low:.0f} to {high:.0f}", runs)  # fmt: skip


CLAIMS: Final[dict[str, tuple[Callable[[int, int], Iterator[Row]], int]]] = {
    "bands": (bands, 1000),
    "metrics": (metrics, 1000),
    "reliability": (reliability, 200),
    "ece": (ece, 200),
    "recalibration": (recalibration, 200),
    "monotonicity": (monotonicity, 600),
    "gaps": (gaps, 100),
    "splits": (slices, 300),
    "confirmed": (confirmed, 200),
    "late": (late, 200),
    "elo": (elo_interval, 1000),
    "sprt": (sprt, 2000),
    "verdicts": (verdicts, 20_000),
    "looks": (looks, 1000),
    "history": (history, 50),
    "wdl": (wdl, 300),
}
"""Simulations and their default counts."""


def main() -> None:
    """Simulate what was asked for."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    asked.add_argument("claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(CLAIMS)}; all")
    asked.add_argument("--runs", type=int, help="how often; by default what suits the claim")
    asked.add_argument("--seed", type=int, default=1)
    chosen = asked.parse_args()
    if unknown := set(chosen.claims) - set(CLAIMS):
        asked.error(f"no claim {', '.join(sorted(unknown))}: there are {', '.join(CLAIMS)}")
    if chosen.runs is not None and chosen.runs < 1:
        asked.error("--runs are one or more")
    print(f"`python scripts/simulations.py {shlex.join(sys.argv[1:])}`, seed {chosen.seed}\n")
    print("| claim | simulated | found | runs |\n|---|---|---|---|")
    for name in chosen.claims or CLAIMS:
        simulate, usual = CLAIMS[name]
        for row in simulate(chosen.runs or usual, chosen.seed):
            print(f"| {name} | {row.what} | {row.found} | {row.runs:,} |", flush=True)


if __name__ == "__main__":
    main()
