# SPDX-License-Identifier: Apache-2.0
"""Objectives evolved: the optimizers, and a search that goes on wherever it was killed."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka.arena import play_match
from hyoka.learning.comparison_training import Lessons, TrainingSettings
from hyoka.learning.objective_optimizers import CmaEs, Optimizer, Pbilc, RandomSearch
from hyoka.learning.objective_search import (
    JOURNAL,
    ObjectiveSearch,
    SearchPlan,
    openings_for,
    verify,
)
from hyoka.learning.objectives import VECTOR_SIZE
from hyoka.records import read_records
from hyoka.records.samples import sample_path
from hyoka.reporting.learning_report import objective_page
from hyoka.storage.run_folder import Journal, journal_lines, locked

TINY = SearchPlan(
    features="patterns",
    training=TrainingSettings(passes=1, steps=2, batches=2, rate=20.0),
    population=4,
    steps=3,
    games=12,
    nodes=30,
    rate=0.1,
    best=2,
)


@pytest.fixture(scope="module")
def lessons() -> Lessons:
    records = [record for record, _ in zip(read_records(sample_path("othello")), range(20))]  # noqa: B905
    return Lessons.of_records(records, positions=400).with_categories()


def test_pbilc_moves_as_worked_out_by_hand() -> None:
    pbilc = Pbilc(2, rate=0.1, best=3)
    vectors = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0], [2.0, 5.0]])
    pbilc.tell(vectors, np.array([10.0, 40.0, 20.0, 30.0]), np.zeros(4, bool))
    # The best is (3, 0), the second (2, 5), the worst (1, 2): together (4, 3).
    assert pbilc.mean == pytest.approx([0.9 + 0.1 * 4, 0.9 + 0.1 * 3])
    # The three best are (3, 0), (2, 5), (0, 1).
    spread = [np.sqrt(14 / 9), np.sqrt(14 / 3)]
    assert pbilc.deviation == pytest.approx([0.27 + 0.1 * each for each in spread])


def test_asked_again_it_draws_the_same() -> None:
    one, other = Pbilc(5, seed=3), Pbilc(5, seed=3)
    assert np.array_equal(one.ask(), other.ask())
    assert not np.array_equal(one.ask(), Pbilc(5, seed=4).ask())


@pytest.mark.parametrize(
    ("made", "steps", "near"),
    [
        (lambda: Pbilc(6, rate=0.05, best=5, seed=1), 400, 0.25),
        (lambda: CmaEs(6, batch=8, seed=1), 60, 0.25),
        (lambda: RandomSearch(6, seed=1), 400, 0.5),
    ],
)
def test_the_optimum_of_a_noisy_function_is_found(made, steps: int, near: float) -> None:  # type: ignore[no-untyped-def]
    """Fitness is minus the squared distance from 1.4, with noise a tenth as large as its range."""
    optimizer: Optimizer = made()
    rng = np.random.default_rng(2)
    target = np.full(6, 1.4)

    def fitness(rows: np.ndarray) -> np.ndarray:
        return np.asarray(-((rows - target) ** 2).sum(axis=1) + rng.normal(0, 0.1, len(rows)))

    population = np.concatenate([optimizer.ask() for _ in range(16 // optimizer.batch)])
    values = fitness(population)
    new = np.zeros(len(population), bool)
    for _ in range(steps):
        optimizer.tell(population, values, new)
        asked = optimizer.ask()
        kept = np.argsort(values)[len(asked) :]
        population = np.concatenate([population[kept], asked])
        values = np.concatenate([values[kept], fitness(asked)])
        new = np.arange(len(population)) >= len(kept)
    assert np.abs(optimizer.mean - target).mean() < near


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(hk.errors.ParameterError, match="population"):
        SearchPlan("patterns", population=2)
    with pytest.raises(hk.errors.ParameterError, match="games"):
        SearchPlan("patterns", population=20, games=10)
    with pytest.raises(hk.errors.ParameterError, match="optimiser"):
        SearchPlan("patterns", optimiser="pbil")
    with pytest.raises(hk.errors.ParameterError, match="rate"):
        Pbilc(2, rate=1.5)


def test_openings_are_legal_and_drawn_by_their_seed() -> None:
    one = openings_for("othello", 6, 5, seed=1)
    assert one == openings_for("othello", 6, 5, seed=1) != openings_for("othello", 6, 5, seed=2)
    for codes in one:
        line = hk.Othello().line()
        for code in codes:
            line = line.play(next(move for move in line.legal_moves if move.code == code))


class KilledError(Exception):
    pass


def killed_after(lines: int, search: ObjectiveSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run until the journal has a number of lines."""

    class KilledJournal(Journal):
        def add(self, *lines_: bytes) -> None:
            super().add(*lines_)
            if len(journal_lines(self.path)) >= lines:
                raise KilledError

    with monkeypatch.context() as context:
        context.setattr("hyoka.learning.objective_search.Journal", KilledJournal)
        search.run()


@pytest.fixture(scope="module")
def whole(lessons: Lessons, tmp_path_factory: pytest.TempPathFactory) -> ObjectiveSearch:
    search = ObjectiveSearch(TINY, lessons, tmp_path_factory.mktemp("whole"))
    search.run(jobs=2)
    return search


def test_a_search_keeps_its_population_and_replaces_one_a_step(whole: ObjectiveSearch) -> None:
    assert [step.number for step in whole.steps] == [1, 2, 3]
    for before, after in zip(whole.steps, whole.steps[1:], strict=False):
        assert set(after.elo) == set(before.elo) - set(before.dropped) | set(before.new)
    for step in whole.steps:
        assert len(step.elo) == 4
        assert step.dropped[0] == min(step.elo, key=lambda each: (step.elo[each], each))
        assert sum(step.elo.values()) == pytest.approx(0, abs=0.01)
    # Each newcomer plays those that are there, and their games stay.
    assert whole.games == (6 + 3 * 3) * 2 * TINY.pairs
    assert whole.mean.vector() == pytest.approx(np.array(whole.steps[-1].mean))


@pytest.mark.parametrize("lines", [2, 5, 9, 12, 15])
def test_killed_anywhere_it_goes_on_to_the_same_end(
    lines: int,
    whole: ObjectiveSearch,
    lessons: Lessons,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(KilledError):
        killed_after(lines, ObjectiveSearch(TINY, lessons, tmp_path), monkeypatch)
    # Half a line was written when it died.
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"games": [0,')
    again = ObjectiveSearch(TINY, lessons, tmp_path)
    again.run(jobs=2)
    assert again.steps == whole.steps
    for each in again.population:
        assert again.file_of(each).read_bytes() == whole.file_of(each).read_bytes()


def test_killed_before_the_plan_is_there_it_begins_again(
    whole: ObjectiveSearch, lessons: Lessons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, content: str) -> None:
        raise KilledError

    folder = tmp_path / "search"
    with monkeypatch.context() as context:
        context.setattr("hyoka.storage.run_folder.write_text", killed)
        with pytest.raises(KilledError):
            ObjectiveSearch(TINY, lessons, folder).run()
    assert [path.name for path in folder.iterdir()] == [".lock"]
    again = ObjectiveSearch(TINY, lessons, folder)
    again.run(jobs=2)
    assert again.steps == whole.steps


def test_a_second_search_in_a_folder_is_refused_and_writes_nothing(
    lessons: Lessons, tmp_path: Path
) -> None:
    with (
        locked(tmp_path, "searching for an objective"),
        pytest.raises(hk.errors.StudyError, match=r"another process is writing here .*searching"),
    ):
        ObjectiveSearch(TINY, lessons, tmp_path).run()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.parametrize("line", [b"no JSON\n", b"[]\n", b'{"games": [0, 1]}\n'])
def test_a_damaged_journal_is_refused(line: bytes, lessons: Lessons, tmp_path: Path) -> None:
    ObjectiveSearch(TINY, lessons, tmp_path).run(steps=1)
    journal = tmp_path / JOURNAL
    journal.write_bytes(line + journal.read_bytes())
    with pytest.raises(hk.errors.StudyError, match=r"journal\.jsonl.*damaged"):
        ObjectiveSearch(TINY, lessons, tmp_path).run()


def test_another_plan_or_a_changed_journal_is_refused(
    whole: ObjectiveSearch, lessons: Lessons, tmp_path: Path
) -> None:
    other = SearchPlan("patterns", population=5, games=12, nodes=30)
    with pytest.raises(hk.errors.StudyError, match="another search"):
        ObjectiveSearch(other, lessons, whole.folder).run()
    search = ObjectiveSearch(TINY, lessons, tmp_path)
    search.run(steps=1)
    lines = (tmp_path / JOURNAL).read_text().splitlines()
    changed = [json.loads(line) for line in lines]
    for line in changed:
        if "results" in line:
            line["results"] = [1] * len(line["results"])
    (tmp_path / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in changed))
    with pytest.raises(hk.errors.StudyError, match="other games"):
        ObjectiveSearch(TINY, lessons, tmp_path).run()


def test_what_was_found_is_verified_and_drawn(
    whole: ObjectiveSearch, lessons: Lessons, tmp_path: Path
) -> None:
    matches = verify(whole.mean, lessons, TINY, tmp_path, partial(play_match, games=4))
    assert [match.standing.names for match in matches] == [
        ("proposed", "comparison"),
        ("proposed", "combination"),
        ("proposed", "start"),
        ("combination", "comparison"),
    ]
    assert all(match.standing.games == 4 for match in matches)
    page = objective_page(whole, matches).html()
    assert "proposed v comparison" in page
    assert len(objective_page(whole).charts) == 6
    assert whole.mean.vector().shape == (VECTOR_SIZE,)
