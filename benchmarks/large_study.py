# SPDX-License-Identifier: Apache-2.0
"""Metrics, a curve and calibration of studies of any size: seconds and memory by positions.

    .venv/bin/python benchmarks/large_study.py write STUDY --games 200000
    .venv/bin/python benchmarks/large_study.py measure STUDY --memory 4G

`write` makes a study of chess games of 50 positions with centipawn scores and values between 0 and
1 by the evaluator `engine`. `measure` prints the positions, the processor and wall seconds and the
peak memory of the process after each step: all metrics, the curve and the calibration, with
intervals from 1,000 resamples (`--resamples`). `--axis value` measures the values, which are all
distinct.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from hyoka.analysis import Resampling
from hyoka.records import read_records
from hyoka.records.samples import sample_path
from hyoka.storage.manifest import DESCRIPTION, Change, derived_file
from hyoka.study import Question, Study
from hyoka.study.tables import EVALUATION_SCHEMA

PLIES = 50
PART_GAMES = 10_000
SCALE = 150
"""Centipawns that multiply the odds of the true curve by e."""
EVALUATOR = "engine"


def write(folder: Path, games: int) -> None:
    """Write a study with the project's own storage code."""
    folder.mkdir(parents=True)
    study = Change(folder / DESCRIPTION, {}, [], 0)
    file = derived_file(folder, "evaluations", EVALUATOR)
    file.parent.mkdir(parents=True)
    evaluations = Change(file, {}, [], 0)
    evaluations.values = {"created": "2026-01-01", "spec": EVALUATOR, "name": EVALUATOR}
    moves = _moves()
    for number, first in enumerate(range(0, games, PART_GAMES)):
        count = min(PART_GAMES, games - first)
        tables = _part(np.random.Generator(np.random.SFC64([1, number])), first, count, moves)
        study.parts += [study.write(tables[name], name, number) for name in ("games", "positions")]
        evaluations.parts.append(evaluations.write(tables["evaluations"], number=number))
    evaluations.commit()
    study.values = {
        "game": "chess",
        "columns": [],
        "created": "2026-01-01",
        "sources": ["synthetic"],
        "refused": {},
    }
    study.commit()


def _moves() -> bytes:
    """The first moves of a sample game, which all games have."""
    records = read_records(sample_path("chess"))
    record = next(record for record in records if len(record.moves) >= PLIES)
    return record.moves[: PLIES - 1].astype("<u2").tobytes()


def _part(rng: np.random.Generator, first: int, count: int, moves: bytes) -> dict[str, pa.Table]:
    lead = rng.standard_normal(count, np.float32)
    chance = rng.random(count, np.float32)
    win = 1 / (1 + np.exp(-2 * lead))
    results = np.where(chance < 0.25, 0.5, chance < 0.25 + 0.75 * win).astype(np.float32)
    ids = np.arange(first, first + count)
    texts = pa.array([""] * count, pa.string())
    tables = {
        "games": pa.table(
            {
                "game_id": ids,
                "source": pa.array(["synthetic"] * count),
                "line": ids + 1,
                "number": ids + 1,
                "first": pa.array(["white"] * count),
                "second": pa.array(["black"] * count),
                **{f"{side}_rating": texts for side in ("first", "second")},
                **{f"{side}_rank": pa.nulls(count, pa.float32()) for side in ("first", "second")},
                **dict.fromkeys(("event", "round", "place", "date", "rules"), texts),
                "time_control": texts,
                "opening": texts,
                "komi": pa.nulls(count, pa.float64()),
                "handicap": pa.array(np.zeros(count, np.int16)),
                "result": results,
                "ending": pa.array(["resigned"] * count).dictionary_encode(),
                "margin": pa.nulls(count, pa.float32()),
                "plies": pa.array(np.full(count, PLIES - 1, np.int32)),
                "start": texts,
                "moves": pa.array([moves] * count, pa.binary()),
                "duplicate_of": pa.nulls(count, pa.int64()),
            }
        )
    }
    rows = count * PLIES
    game_ids, plies = np.repeat(ids, PLIES), np.tile(np.arange(PLIES, dtype=np.int32), count)
    # Scores learn the result during the game; a pawn's worth of noise is on each.
    seen = np.repeat(lead, PLIES) * (plies / PLIES).astype(np.float32)
    scores = SCALE * (2 * seen + rng.standard_normal(rows, np.float32))
    values = (1 / (1 + np.exp(-scores / SCALE))).astype(np.float32)
    columns: dict[str, object] = {
        "game_id": game_ids,
        "ply": plies,
        "value": values,
        "score": np.rint(scores),
        "unit": pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), ["centipawns"]).cast(
            pa.string()
        ),
    }
    for column in EVALUATION_SCHEMA:
        columns.setdefault(column.name, pa.nulls(rows, column.type))
    tables["evaluations"] = pa.table(
        {name: columns[name] for name in EVALUATION_SCHEMA.names}, EVALUATION_SCHEMA
    )
    tables["positions"] = pa.table(
        {"game_id": game_ids, "ply": plies, "first_to_play": plies % 2 == 0}
    )
    return tables


def measure(folder: Path, question: Question) -> None:
    """Print the costs of the analyses, which share one pass over the study."""
    wall, processor = time.perf_counter(), time.process_time()
    study = Study.open(folder)

    def tell(step: str) -> None:
        seconds = time.process_time() - processor, time.perf_counter() - wall
        costs = f"{seconds[0]:8.1f} s of processor {seconds[1]:8.1f} s {peak_mib():8,.0f} MiB"
        print(f"{step:12} {costs}", flush=True)

    tell("open")
    metrics = study.metrics(question=question)
    print(metrics.coverage)
    tell("metrics")
    curve = study.curve(question=question)
    tell("curve")
    calibration = study.calibration(question=question)
    tell("calibration")
    [part] = metrics.parts
    scale = calibration.parts[0].logistic.scale
    print(f"ROC {part['roc']}, ECE {part['calibration_error']}, scale {scale}, ", end="")
    print(f"{len(curve.parts[0].points)} bins, {part.positions:,} positions")


def peak_mib() -> float:
    """The peak memory of this process; that of `getrusage` can be its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [peak] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peak) / 1024


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["write", "measure"])
    parser.add_argument("study", type=Path)
    parser.add_argument("--games", type=int, default=200_000)
    parser.add_argument("--memory")
    parser.add_argument("--axis", choices=["auto", "value"], default="auto")
    parser.add_argument("--cluster")
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    if given.step == "write":
        write(given.study, given.games)
    else:
        resampling = Resampling(given.resamples)
        question = Question(
            memory=given.memory, axis=given.axis, cluster=given.cluster, resampling=resampling
        )
        measure(given.study, question)


if __name__ == "__main__":
    main()
