# SPDX-License-Identifier: Apache-2.0
"""How fast comparison training is, how much memory it takes, and what learned evaluations cost.

    python benchmarks/comparison.py DATA [--games 1000] [--features terms] [--no-speed]

DATA is the folder that has shogi, chess and othello in it.
"""

import argparse
import itertools
import resource
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

import hyoka as hk
from hyoka.learning.comparison_training import Lessons, Training, TrainingSettings
from hyoka.learning.objective_optimizers import Pbilc
from hyoka.learning.objective_search import ObjectiveSearch, SearchPlan
from hyoka.learning.objectives import VECTOR_SIZE
from hyoka.models.sparse import SparseEvaluation, feature_sets
from hyoka.records.bulk import GameTable
from hyoka.search import Searcher

RECORDS: Final = {
    "shogi": "shogi/floodgate2016.csa.xz",
    "chess": "chess/twic_human.pgn.xz",
    "othello": "othello/wthor_1977-2020.zip",
}


def records_of(data: Path, game: str, count: int) -> list[hk.Record]:
    """The first games of a game's records."""
    return list(itertools.islice(hk.read_records(data / RECORDS[game]), count))


def one_pass(data: Path, game: str, features: str | None, games: int) -> None:
    """A pass over all positions of some games, and the memory that it took."""
    lessons = Lessons.of_records(records_of(data, game, games))
    start = SparseEvaluation.starting(game, features)
    training = Training(lessons, settings=TrainingSettings(), start=start, threads=2)
    begun = time.perf_counter()
    training.run_pass()
    taken = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{game} {training.features.name}: a pass over {lessons.moves:,} positions of "
        f"{games:,} games in {taken:.1f} s; {memory:.2f} GiB"
    )


def speed(spec: str, game: str, positions: list[hk.games.Position]) -> float:
    """Nodes a second."""
    searcher = Searcher(spec, game)
    found = [searcher.search(position) for position in positions]
    return sum(each.nodes for each in found) / sum(each.time_s for each in found)


def speeds(data: Path) -> None:
    """Alpha-beta with evaluations over each set of features, taking turns with the built-in."""
    rng = np.random.default_rng(1)
    for game in RECORDS:
        positions = []
        for record in records_of(data, game, 6):
            all_positions = list(GameTable.from_records([record]).positions())
            positions += [all_positions[len(all_positions) * k // 3] for k in (1, 2)]
        for features in feature_sets(game):
            weights = features.starting().copy()
            free = weights[features.anchored :]
            free += rng.normal(0, 0.3, len(free)).astype(np.float32)
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "random.eval"
                SparseEvaluation(features, weights, features.scale).save(file)
                specs = ["ab:nodes=200000,eval=built-in", f"ab:nodes=200000,eval={file}"]
                runs = [[speed(spec, game, positions) for spec in specs] for _ in range(3)]
            before, after = np.max(runs, axis=0)
            print(
                f"{game} {features.name}: {after / 1e3:,.0f} k nodes a second, "
                f"{after / before:.2f} of the built-in evaluation's"
            )


def step_of_search(data: Path) -> None:
    """What a step of PBILc costs beyond trainings and games, at the small scale."""
    plan = SearchPlan("patterns", population=12, games=264, nodes=300, rate=0.05, best=5)
    with tempfile.TemporaryDirectory() as folder:
        lessons = Lessons.of_records(records_of(data, "othello", 2))
        search = ObjectiveSearch(plan, lessons, Path(folder))
        rng = np.random.default_rng(2)
        for one, other in itertools.combinations(search.population, 2):
            results = rng.integers(-1, 2, 2 * plan.pairs).tolist()
            search._results[one, other] = results
        begun = time.perf_counter()
        for _ in range(5):
            search.elo()
            Pbilc(VECTOR_SIZE).ask()
        print(f"a step of PBILc: {200 * (time.perf_counter() - begun):.1f} ms")


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--game", default="shogi")
    parser.add_argument("--features")
    parser.add_argument("--no-speed", action="store_true")
    given = parser.parse_args()
    one_pass(given.data, given.game, given.features, given.games)
    if not given.no_speed:
        speeds(given.data)
        step_of_search(given.data)


if __name__ == "__main__":
    main()
